//! Dimensions put into the batch, and back.

use armnn_backend_api::{BatchToSpaceNdDescriptor, Shape, SpaceToBatchNdDescriptor};

use super::arguments::Arguments;
use super::{Resolved, Result, bad, described, known, product, shown_list};

/// The parameters of either.
struct Blocks {
    input: Shape,
    /// The sizes of a block, if all are known.
    sizes: Option<Vec<i64>>,
    /// What is added to or taken away from each dimension, if all is known.
    amounts: Option<Vec<[i64; 2]>>,
    /// How many dimensions there are blocks along.
    count: usize,
}

impl Blocks {
    fn of(first: u32, what: &'static str, arguments: &Arguments<'_>) -> Result<Self> {
        let input = arguments.data(0)?;
        let sizes = arguments.list(0, "block_shape")?;
        let amounts = arguments.pairs(1, what)?;
        let count = sizes.len();
        let room = input.rank().saturating_sub(first as usize);
        if first == 0 || room == 0 || count > room {
            let rule = format!("one for each of at most {room} dimensions from {first} on");
            return Err(bad("block_shape", shown_list(&sizes), rule));
        }
        let fits = |size: i64| (1..=i64::from(u32::MAX)).contains(&size);
        if !sizes.iter().flatten().all(|&size| fits(size)) {
            return Err(bad("block_shape", shown_list(&sizes), "from 1 to 2^32 - 1"));
        }
        let flat = amounts.as_flattened();
        let fits = |amount: i64| (0..=i64::from(u32::MAX)).contains(&amount);
        if amounts.len() != count || !flat.iter().flatten().all(|&amount| fits(amount)) {
            let rule = format!("two from 0 to 2^32 - 1 for each of {count} dimensions");
            return Err(bad(what, shown_list(flat), rule));
        }
        Ok(Self {
            input,
            sizes: sizes.into_iter().collect(),
            amounts: amounts
                .into_iter()
                .map(|[before, after]| Some([before?, after?]))
                .collect(),
            count,
        })
    }

    /// The number of elements of a block.
    fn elements(&self) -> Result<Option<i64>> {
        let product = self.sizes.clone().map(product).transpose()?;
        Ok(product)
    }

    /// The size of each block and what goes on at each dimension, as the descriptor holds them.
    fn lists(&self) -> [Vec<u32>; 3] {
        let small = |value: i64| u32::try_from(value).unwrap_or(0);
        let side = |side: usize| match &self.amounts {
            Some(amounts) => amounts.iter().map(|pair| small(pair[side])).collect(),
            None => vec![0; self.count],
        };
        let sizes = match &self.sizes {
            Some(sizes) => sizes.iter().map(|&size| small(size)).collect(),
            None => vec![1; self.count],
        };
        [sizes, side(0), side(1)]
    }

    fn complete(&self) -> bool {
        self.sizes.is_some() && self.amounts.is_some()
    }

    /// The size of a block along its dimension `position`, and what is added or taken away there.
    fn at(&self, position: usize) -> (Option<i64>, Option<[i64; 2]>) {
        let at = |list: &Option<Vec<i64>>| list.as_ref().and_then(|l| l.get(position).copied());
        let amounts = self.amounts.as_ref();
        (
            at(&self.sizes),
            amounts.and_then(|list| list.get(position).copied()),
        )
    }
}

pub(super) fn space_to_batch(first: u32, arguments: &Arguments<'_>) -> Result<Resolved> {
    let blocks = Blocks::of(first, "paddings", arguments)?;
    let mut dims = blocks.input.dims().to_vec();
    dims[0] = match blocks.elements()? {
        Some(elements) => product([dims[0], elements])?,
        None => Shape::UNKNOWN,
    };
    for position in 0..blocks.count {
        let to = &mut dims[first as usize + position];
        *to = match (known(*to), blocks.at(position)) {
            (Some(dim), (Some(block), Some([before, after]))) => {
                // Each is below 2^32.
                let padded = dim.checked_add(before + after);
                let padded = padded.filter(|padded| padded % block == 0);
                padded.ok_or_else(|| {
                    let value = format!("{dim} + {before} + {after}");
                    bad("padded dimension", value, format!("a multiple of {block}"))
                })? / block
            }
            _ => Shape::UNKNOWN,
        };
    }
    let [sizes, before, after] = blocks.lists();
    let mut descriptor = described(SpaceToBatchNdDescriptor::new(first, &sizes))?;
    descriptor.pad_before[..before.len()].copy_from_slice(&before);
    descriptor.pad_after[..after.len()].copy_from_slice(&after);
    Resolved::single(descriptor, &dims, blocks.complete())
}

pub(super) fn batch_to_space(first: u32, arguments: &Arguments<'_>) -> Result<Resolved> {
    let blocks = Blocks::of(first, "crops", arguments)?;
    let mut dims = blocks.input.dims().to_vec();
    dims[0] = match (known(dims[0]), blocks.elements()?) {
        (Some(batch), Some(elements)) if batch % elements == 0 => batch / elements,
        (Some(batch), Some(elements)) => {
            let rule = format!("a multiple of {elements}, the elements of a block");
            return Err(bad("batch", batch, rule));
        }
        _ => Shape::UNKNOWN,
    };
    for position in 0..blocks.count {
        let to = &mut dims[first as usize + position];
        *to = match (known(*to), blocks.at(position)) {
            (Some(dim), (Some(block), Some([before, after]))) => {
                let grown = dim.checked_mul(block);
                let cropped = grown.map(|grown| grown - before - after);
                cropped.filter(|&size| size >= 0).ok_or_else(|| {
                    let value = format!("{before}, {after}");
                    bad("crops", value, format!("at most {dim} {block} together"))
                })?
            }
            _ => Shape::UNKNOWN,
        };
    }
    let [sizes, before, after] = blocks.lists();
    let mut descriptor = described(BatchToSpaceNdDescriptor::new(first, &sizes))?;
    descriptor.crop_before[..before.len()].copy_from_slice(&before);
    descriptor.crop_after[..after.len()].copy_from_slice(&after);
    Resolved::single(descriptor, &dims, blocks.complete())
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::LayerDescriptor;

    use super::super::ParameterRule as Rule;
    use super::super::tests::{ints, output, pairs, resolved, unknown};

    #[test]
    fn blocks_go_into_the_batch() {
        let rule = Rule::SpaceToBatchNd { axis: 1 };
        let parameters = || [ints(&[2, 3]), pairs(&[[0, 1], [2, 0]])];
        let resolved = resolved(&rule, [2, 5, 7, 4], &parameters()).unwrap();
        // 2 2 3 = 12, (5 + 1) / 2 = 3, (7 + 2) / 3 = 3
        assert_eq!(resolved.outputs[0].dims(), [12, 3, 3, 4]);
        let LayerDescriptor::SpaceToBatchNd(d) = resolved.descriptor else {
            panic!("{resolved:?}");
        };
        assert_eq!((d.axis, d.block_shape()), (1, &[2, 3][..]));
        assert_eq!((d.pad_before(), d.pad_after()), (&[0, 2][..], &[1, 0][..]));
        let open = output(&rule, [-1, -1, 7, 4], &parameters());
        assert_eq!(open, Some((vec![-1, -1, 3, 4], true)));
        let open = output(&rule, [2, 5, 7, 4], &[unknown([2]), unknown([2, 2])]);
        assert_eq!(open, Some((vec![-1, -1, -1, 4], false)));
        assert_eq!(output(&rule, [2, 4, 7, 4], &parameters()), None);
        assert_eq!(output(&rule, [2, 5], &parameters()), None);
        for (block, amounts) in [
            (ints(&[0]), pairs(&[[0, 0]])),
            (ints(&[i64::MAX]), pairs(&[[0, 0]])),
            (ints(&[1]), pairs(&[[-1, 0]])),
            (ints(&[1]), pairs(&[[0, i64::MAX]])),
            (ints(&[1]), pairs(&[[0, 0], [0, 0]])),
            (ints(&[1]), ints(&[0, 0])),
            (ints(&[u32::MAX.into(); 3]), pairs(&[[0, 0]; 3])),
        ] {
            assert_eq!(output(&rule, [2, 5, 7, 4], &[block, amounts]), None);
        }
    }

    #[test]
    fn blocks_come_out_of_the_batch() {
        let rule = Rule::BatchToSpaceNd { axis: 1 };
        let parameters = || [ints(&[2, 3]), pairs(&[[0, 1], [2, 0]])];
        // 12 / 6 = 2, 3 2 - 1 = 5, 3 3 - 2 = 7
        let found = output(&rule, [12, 3, 3, 4], &parameters());
        assert_eq!(found, Some((vec![2, 5, 7, 4], true)));
        assert_eq!(output(&rule, [13, 3, 3, 4], &parameters()), None);
        let crops = [ints(&[2]), pairs(&[[4, 3]])];
        assert_eq!(output(&rule, [12, 3], &crops), None);
        let huge = [ints(&[2]), pairs(&[[0, 0]])];
        assert_eq!(output(&rule, [12, i64::MAX], &huge), None);
    }
}
