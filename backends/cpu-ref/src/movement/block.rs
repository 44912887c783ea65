//! Layers that trade batch or channels for rows and columns: BatchToSpaceNd, DepthToSpace,
//! SpaceToBatchNd, SpaceToDepth.

use armnn_backend_api::{
    BatchToSpaceNdDescriptor, DataLayout, DepthToSpaceDescriptor, DepthToSpaceMode, LayerView,
    Result, SpaceToBatchNdDescriptor, SpaceToDepthDescriptor, Workload,
};

use crate::{
    loops::loop_nest::{LoopNest, dense_strides},
    movement::pad::pad_bytes,
    workloads::{
        copy::{self, BoxCopy, copy_workload},
        layer_checks::{
            dims, dims_of_rank, input, invalid, output, require_image_layout, require_named,
        },
    },
};

pub(crate) fn check_batch_to_space_nd(
    layer: LayerView<'_>,
    _: &BatchToSpaceNdDescriptor,
) -> Result<()> {
    copy::check(layer)
}

pub(crate) fn batch_to_space_nd_workload(
    layer: LayerView<'_>,
    d: &BatchToSpaceNdDescriptor,
) -> Result<Box<dyn Workload>> {
    let deep = dims(layer, input(layer, 0)?)?;
    let wide = dims(layer, output(layer, 0)?)?;
    let blocks = Blocks::new(d.axis, d.block_shape(), d.crop_before(), &deep, &wide)?;
    let copies = blocks.copies().map(|(deep, wide, sizes)| BoxCopy {
        input: 0,
        output: 0,
        nest: LoopNest::new(
            &sizes,
            [&blocks.deep_strides, &blocks.wide_strides],
            [deep, wide],
        ),
    });
    copy_workload(layer, copies.collect(), None)
}

pub(crate) fn check_space_to_batch_nd(
    layer: LayerView<'_>,
    _: &SpaceToBatchNdDescriptor,
) -> Result<()> {
    copy::check(layer)?;
    pad_bytes(output(layer, 0)?, 0.0).map(|_| ())
}

pub(crate) fn space_to_batch_nd_workload(
    layer: LayerView<'_>,
    d: &SpaceToBatchNdDescriptor,
) -> Result<Box<dyn Workload>> {
    let wide = dims(layer, input(layer, 0)?)?;
    let deep = dims(layer, output(layer, 0)?)?;
    let blocks = Blocks::new(d.axis, d.block_shape(), d.pad_before(), &deep, &wide)?;
    let copies = blocks.copies().map(|(deep, wide, sizes)| BoxCopy {
        input: 0,
        output: 0,
        nest: LoopNest::new(
            &sizes,
            [&blocks.wide_strides, &blocks.deep_strides],
            [wide, deep],
        ),
    });
    let fill = pad_bytes(output(layer, 0)?, 0.0)?;
    copy_workload(layer, copies.collect(), Some(fill))
}

/// A tensor with a deep batch, and one with wide dimensions.
struct Blocks {
    first: usize,
    block_shape: Vec<usize>,
    /// Elements at the beginning of each wide dimension that are not there.
    before: Vec<usize>,
    deep: Vec<usize>,
    wide: Vec<usize>,
    deep_strides: Vec<isize>,
    /// Of one element of the deep tensor to the next.
    wide_strides: Vec<isize>,
    /// Positions in a block.
    n_positions: usize,
}

impl Blocks {
    fn new(
        axis: u32,
        block_shape: &[u32],
        before: &[u32],
        deep: &[usize],
        wide: &[usize],
    ) -> Result<Self> {
        let mismatch = || {
            invalid(format_args!(
                "blocks {block_shape:?} do not lead from {deep:?} to {wide:?}, or back"
            ))
        };
        let first = axis as usize;
        let last = first.checked_add(block_shape.len()).ok_or_else(mismatch)?;
        if deep.len() != wide.len() || first == 0 || last > deep.len() {
            return Err(mismatch());
        }
        let block_shape: Vec<usize> = block_shape.iter().map(|&b| b as usize).collect();
        let n_positions = block_shape
            .iter()
            .try_fold(1usize, |n, &b| n.checked_mul(b));
        let n_positions = n_positions.filter(|&n| n > 0).ok_or_else(mismatch)?;
        if wide[0].checked_mul(n_positions) != Some(deep[0]) {
            return Err(mismatch());
        }
        let is_block = |axis: usize| (first..last).contains(&axis);
        let others_fit = (1..deep.len()).all(|axis| is_block(axis) || deep[axis] == wide[axis]);
        if !others_fit {
            return Err(mismatch());
        }
        let mut wide_strides = dense_strides(wide);
        for (i, &block) in block_shape.iter().enumerate() {
            let stride = &mut wide_strides[first + i];
            *stride = stride.saturating_mul(isize::try_from(block).unwrap_or(isize::MAX));
        }
        Ok(Self {
            first,
            before: before.iter().map(|&n| n as usize).collect(),
            deep_strides: dense_strides(deep),
            wide_strides,
            block_shape,
            deep: deep.to_vec(),
            wide: wide.to_vec(),
            n_positions,
        })
    }

    /// For each position in a block, where its elements start in the deep and in the wide tensor,
    /// and how many there are along each dimension.
    fn copies(&self) -> impl Iterator<Item = (usize, usize, Vec<usize>)> + '_ {
        // Where nothing is copied there may be more positions than could be gone through.
        let n_positions = match self.wide.contains(&0) || self.deep.contains(&0) {
            true => 0,
            false => self.n_positions,
        };
        (0..n_positions).filter_map(|position| self.copy(position))
    }

    fn copy(&self, position: usize) -> Option<(usize, usize, Vec<usize>)> {
        let wide_dense = dense_strides(&self.wide);
        let mut sizes = self.deep.clone();
        sizes[0] = self.wide[0];
        let batch = self.wide[0] * position;
        let mut start_deep = batch.checked_mul(usize::try_from(self.deep_strides[0]).ok()?)?;
        let mut start_wide = 0usize;
        let mut rest = position;
        for i in (0..self.block_shape.len()).rev() {
            let axis = self.first + i;
            let block = self.block_shape[i];
            let in_block = rest % block;
            rest /= block;
            // Element p of the deep dimension is at p block + in_block - before.
            let skipped = self.before[i].saturating_sub(in_block).div_ceil(block);
            let reach = (self.wide[axis] + self.before[i]).saturating_sub(in_block);
            let end = reach.div_ceil(block).min(self.deep[axis]);
            sizes[axis] = end.saturating_sub(skipped);
            if sizes[axis] == 0 {
                return None;
            }
            start_deep += skipped * usize::try_from(self.deep_strides[axis]).ok()?;
            let at = skipped * block + in_block - self.before[i];
            start_wide += at * usize::try_from(wide_dense[axis]).ok()?;
        }
        Some((start_deep, start_wide, sizes))
    }
}

pub(crate) fn check_depth_to_space(layer: LayerView<'_>, d: &DepthToSpaceDescriptor) -> Result<()> {
    require_image_layout(d.data_layout())?;
    require_named(d.mode(), d.mode().name())?;
    copy::check(layer)
}

pub(crate) fn depth_to_space_workload(
    layer: LayerView<'_>,
    d: &DepthToSpaceDescriptor,
) -> Result<Box<dyn Workload>> {
    let deep = dims_of_rank(layer, input(layer, 0)?)?;
    let wide = dims_of_rank(layer, output(layer, 0)?)?;
    let depth = Depth::new(d.block_size, d.data_layout(), d.mode(), deep, wide)?;
    let strides = [&depth.deep_strides[..], &depth.wide_strides];
    let nest = LoopNest::new(&depth.sizes, strides, [0, 0]);
    copy_workload(
        layer,
        vec![BoxCopy {
            input: 0,
            output: 0,
            nest,
        }],
        None,
    )
}

pub(crate) fn check_space_to_depth(layer: LayerView<'_>, d: &SpaceToDepthDescriptor) -> Result<()> {
    require_image_layout(d.data_layout())?;
    copy::check(layer)
}

pub(crate) fn space_to_depth_workload(
    layer: LayerView<'_>,
    d: &SpaceToDepthDescriptor,
) -> Result<Box<dyn Workload>> {
    let wide = dims_of_rank(layer, input(layer, 0)?)?;
    let deep = dims_of_rank(layer, output(layer, 0)?)?;
    let mode = DepthToSpaceMode::Dcr;
    let depth = Depth::new(d.block_size, d.data_layout(), mode, deep, wide)?;
    let strides = [&depth.wide_strides[..], &depth.deep_strides];
    let nest = LoopNest::new(&depth.sizes, strides, [0, 0]);
    copy_workload(
        layer,
        vec![BoxCopy {
            input: 0,
            output: 0,
            nest,
        }],
        None,
    )
}

/// An image with deep channels, and one with wide rows and columns, both as
/// [N, rows, rows in a block, columns, columns in a block, channels].
struct Depth {
    sizes: [usize; 6],
    deep_strides: [isize; 6],
    wide_strides: [isize; 6],
}

impl Depth {
    fn new(
        block: u32,
        layout: DataLayout,
        mode: DepthToSpaceMode,
        deep: [usize; 4],
        wide: [usize; 4],
    ) -> Result<Self> {
        let block = block as usize;
        let (y, x, c) = match layout {
            DataLayout::Nhwc => (1, 2, 3),
            _ => (2, 3, 1),
        };
        let is_multiple = |large: usize, small: usize| small.checked_mul(block) == Some(large);
        let elements = block.checked_mul(block).filter(|&n| n > 0);
        let fits = deep[0] == wide[0]
            && is_multiple(wide[y], deep[y])
            && is_multiple(wide[x], deep[x])
            && elements.and_then(|n| n.checked_mul(wide[c])) == Some(deep[c]);
        if !fits {
            return Err(invalid(format_args!(
                "blocks of {block} do not lead from {deep:?} to {wide:?}, or back"
            )));
        }
        let (d, w) = (dense_strides(&deep), dense_strides(&wide));
        // How far apart the channels are of a row and a column in the block, and of a channel.
        let (in_row, in_column, channel) = match mode {
            DepthToSpaceMode::Crd => (block, 1, block * block),
            _ => (block * wide[c], wide[c], 1),
        };
        let times = |stride: isize, n: usize| stride.saturating_mul(n as isize);
        Ok(Self {
            sizes: [deep[0], deep[y], block, deep[x], block, wide[c]],
            deep_strides: [
                d[0],
                d[y],
                times(d[c], in_row),
                d[x],
                times(d[c], in_column),
                times(d[c], channel),
            ],
            wide_strides: [
                w[0],
                times(w[y], block),
                w[y],
                times(w[x], block),
                w[x],
                w[c],
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, LayerDescriptor, Quantization, Shape};

    use super::*;
    use crate::test_harness::{Call, Tensor, f32s, typed};

    fn moved(d: impl Into<LayerDescriptor>, input: Tensor, out: &[i64]) -> Call {
        let mut info = input.info.clone();
        info.shape = Shape::new(out).unwrap();
        Call::new(d).input(input).output_info(info)
    }

    fn counting(shape: &[i64]) -> Tensor {
        let len: i64 = shape.iter().product();
        let values: Vec<f32> = (1..=len).map(|i| i as f32).collect();
        f32s(Shape::new(shape).unwrap(), &values)
    }

    /// The examples of TensorFlow's documentation of batch_to_space and space_to_batch.
    #[test]
    fn a_batch_becomes_space_and_space_a_batch() {
        let d = BatchToSpaceNdDescriptor::new(1, &[2, 2]).unwrap();
        let back = SpaceToBatchNdDescriptor::new(1, &[2, 2]).unwrap();
        let deep = f32s(
            [4, 2, 2, 1],
            &[
                1.0, 3.0, 9.0, 11.0, 2.0, 4.0, 10.0, 12.0, 5.0, 7.0, 13.0, 15.0, 6.0, 8.0, 14.0,
                16.0,
            ],
        );
        let wide = counting(&[1, 4, 4, 1]);
        let found = moved(d, deep, &[1, 4, 4, 1]).run().f32s();
        assert_eq!(found, (1..=16).map(|i| i as f32).collect::<Vec<_>>());
        let found = moved(back, wide, &[4, 2, 2, 1]).run().f32s();
        assert_eq!(
            found,
            [
                1.0, 3.0, 9.0, 11.0, 2.0, 4.0, 10.0, 12.0, 5.0, 7.0, 13.0, 15.0, 6.0, 8.0, 14.0,
                16.0,
            ]
        );
        // [2, 4] padded with two columns in front, to batches of [2, 3] columns each.
        let mut padded = SpaceToBatchNdDescriptor::new(1, &[2, 2]).unwrap();
        padded.pad_before[1] = 2;
        let input = counting(&[2, 2, 4, 1]);
        let found = moved(padded, input, &[8, 1, 3, 1]).run().f32s();
        let expected = [
            0.0, 1.0, 3.0, 0.0, 9.0, 11.0, 0.0, 2.0, 4.0, 0.0, 10.0, 12.0, 0.0, 5.0, 7.0, 0.0,
            13.0, 15.0, 0.0, 6.0, 8.0, 0.0, 14.0, 16.0,
        ];
        assert_eq!(found, expected);
        let mut cropped = BatchToSpaceNdDescriptor::new(1, &[2, 2]).unwrap();
        cropped.crop_before[1] = 2;
        let input = f32s([8, 1, 3, 1], &expected);
        let found = moved(cropped, input, &[2, 2, 4, 1]).run().f32s();
        assert_eq!(found, (1..=16).map(|i| i as f32).collect::<Vec<_>>());
    }

    #[test]
    fn without_elements_there_may_be_any_number_of_blocks() {
        let large = 1u32 << 31;
        let back = SpaceToBatchNdDescriptor::new(1, &[large]).unwrap();
        let deep = i64::from(large);
        let found = moved(back, f32s([1, 0, 3], &[]), &[deep, 0, 3]).run();
        assert!(found.f32s().is_empty());
        let d = BatchToSpaceNdDescriptor::new(1, &[large]).unwrap();
        let found = moved(d, f32s([deep, 0, 3], &[]), &[1, 0, 3]).run();
        assert!(found.f32s().is_empty());
        // Of padding alone, all is 0.
        let mut padded = SpaceToBatchNdDescriptor::new(1, &[2]).unwrap();
        padded.pad_before[0] = 2;
        let found = moved(padded, f32s([1, 0, 2], &[]), &[2, 1, 2]).run().f32s();
        assert_eq!(found, [0.0; 4]);
    }

    #[test]
    fn padding_of_quantized_numbers_is_their_zero_point() {
        let mut d = SpaceToBatchNdDescriptor::new(1, &[2]).unwrap();
        d.pad_before[0] = 1;
        let input = typed(DataType::QAsymmS8, [1, 3], &[1i8, 2, 3])
            .quantized(Quantization::per_tensor(0.5, -7));
        let found = moved(d, input, &[2, 2]).run().elements::<i8>(0);
        assert_eq!(found, [-7, 2, 1, 3]);
    }

    #[test]
    fn depth_becomes_space_in_either_order_and_space_depth() {
        let nhwc = DataLayout::Nhwc;
        // One pixel of eight channels to two by two of two.
        let dcr = DepthToSpaceDescriptor::new(2, DepthToSpaceMode::Dcr, nhwc);
        let found = moved(dcr, counting(&[1, 1, 1, 8]), &[1, 2, 2, 2])
            .run()
            .f32s();
        assert_eq!(found, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        let crd = DepthToSpaceDescriptor::new(2, DepthToSpaceMode::Crd, nhwc);
        let found = moved(crd, counting(&[1, 1, 1, 8]), &[1, 2, 2, 2])
            .run()
            .f32s();
        assert_eq!(found, [1.0, 5.0, 2.0, 6.0, 3.0, 7.0, 4.0, 8.0]);
        let nchw = DepthToSpaceDescriptor::new(2, DepthToSpaceMode::Dcr, DataLayout::Nchw);
        let found = moved(nchw, counting(&[1, 8, 1, 1]), &[1, 2, 2, 2])
            .run()
            .f32s();
        assert_eq!(found, [1.0, 3.0, 5.0, 7.0, 2.0, 4.0, 6.0, 8.0]);
        let back = SpaceToDepthDescriptor::new(2, DataLayout::Nchw);
        let input = f32s([1, 2, 2, 2], &found);
        let found = moved(back, input, &[1, 8, 1, 1]).run().f32s();
        assert_eq!(found, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        let wrong = moved(back, counting(&[1, 2, 2, 2]), &[1, 4, 1, 2]);
        assert!(wrong.error().contains("do not lead"));
    }
}
