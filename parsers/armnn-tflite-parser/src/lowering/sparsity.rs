//! Sparse constants, unpacked.
//!
//! A sparse tensor is stored along its dimensions in some order, the last of which may be blocks of
//! earlier ones. Each of these is dense (all indices) or compressed: for each element of what is
//! before it, a segment of the indices that there are (`SparsityParameters` in the schema).

use armnn_backend_api::TensorInfo;
use bytes::Bytes;

use super::constants::charge;
use super::problem::{Problem, Result};
use crate::model::{Sparsity, StoredDimension, Tensor};

/// The elements of a sparse tensor, dense and row-major; those that are not stored are 0.
pub(super) fn dense(
    tensor: &Tensor<'_>,
    sparsity: &Sparsity,
    info: &TensorInfo,
    budget: &mut usize,
) -> Result<Bytes> {
    let damaged = |what: &str| Problem::malformed(format!("its sparsity is damaged: {what}"));
    if !info.quantization.is_none() && info.quantization.zero_points().iter().any(|&z| z != 0) {
        return Err(Problem::unsupported(
            "a sparse constant with a zero point other than 0",
        ));
    }
    let bits = info.data_type.bits().unwrap_or(0) as usize;
    if bits == 0 || !bits.is_multiple_of(8) {
        let what = format!("a sparse constant of type {}", info.data_type);
        return Err(Problem::unsupported(what));
    }
    let size = bits / 8;
    let total = info.byte_len().ok_or_else(|| damaged("an endless shape"))?;
    let layout = Layout::of(info.shape.dims(), sparsity).ok_or_else(|| damaged("its order"))?;
    charge(budget, total)?;
    let data = tensor.data.clone().unwrap_or_default();
    let mut dense = vec![0; total];
    let mut walk = Walk {
        layout: &layout,
        elements: data.chunks_exact(size),
        dense: &mut dense,
        size,
        // Each element is at most 16 levels deep; segments may be empty.
        steps: total.saturating_mul(17).saturating_add(1024),
    };
    walk.level(0, 0, &mut vec![0; layout.levels.len()])
        .ok_or_else(|| damaged("its segments or indices reach beyond the tensor"))?;
    if walk.elements.next().is_some() {
        return Err(damaged("more elements than indices"));
    }
    Ok(dense.into())
}

/// How a sparse tensor is stored.
struct Layout<'s> {
    /// In the order of storage: size of the dimension, and how it is stored.
    levels: Vec<(usize, &'s StoredDimension)>,
    /// For each level, by how many elements of the dense tensor an index of it moves.
    strides: Vec<usize>,
}

impl<'s> Layout<'s> {
    fn of(dims: &[i64], sparsity: &'s Sparsity) -> Option<Self> {
        let rank = dims.len();
        let count = rank.checked_add(sparsity.block_map.len())?;
        let order = &sparsity.traversal_order;
        if order.len() != count || sparsity.dimensions.len() != count || count > 16 {
            return None;
        }
        let mut seen = vec![false; count];
        // Sizes of blocks along each dimension of the tensor.
        let mut block_sizes = vec![1usize; rank];
        let mut levels = Vec::with_capacity(count);
        for (stored, &named) in sparsity.dimensions.iter().zip(order) {
            let named = usize::try_from(named).ok()?;
            if std::mem::replace(seen.get_mut(named)?, true) {
                return None;
            }
            let block_of = named.checked_sub(rank);
            if let Some(block) = block_of {
                let of = usize::try_from(*sparsity.block_map.get(block)?).ok()?;
                let StoredDimension::Dense(size) = stored else {
                    return None;
                };
                let size = usize::try_from(*size).ok().filter(|&size| size > 0)?;
                if std::mem::replace(block_sizes.get_mut(of)?, size) != 1 {
                    return None;
                }
            }
            levels.push((0, stored));
        }
        // By how many elements a step along each dimension moves.
        let mut moves = vec![1usize; rank];
        for axis in (1..rank).rev() {
            moves[axis - 1] = moves[axis].checked_mul(usize::try_from(dims[axis]).ok()?)?;
        }
        let mut strides = Vec::with_capacity(count);
        for (level, &named) in levels.iter_mut().zip(order) {
            let named = usize::try_from(named).ok()?;
            let (size, stride) = match named.checked_sub(rank) {
                None => {
                    let dim = usize::try_from(*dims.get(named)?).ok()?;
                    let block = block_sizes[named];
                    if dim % block != 0 {
                        return None;
                    }
                    (dim / block, moves[named].checked_mul(block)?)
                }
                Some(block) => {
                    let of = usize::try_from(*sparsity.block_map.get(block)?).ok()?;
                    (block_sizes[of], moves[of])
                }
            };
            if let StoredDimension::Dense(stored) = level.1
                && usize::try_from(*stored) != Ok(size)
            {
                return None;
            }
            level.0 = size;
            strides.push(stride);
        }
        Some(Self { levels, strides })
    }
}

/// A walk through what is stored.
struct Walk<'w> {
    layout: &'w Layout<'w>,
    elements: std::slice::ChunksExact<'w, u8>,
    dense: &'w mut [u8],
    size: usize,
    /// How many more there may be, so that damaged segments do not cost without end.
    steps: usize,
}

impl Walk<'_> {
    /// What is stored below the element `position` of the level before this one. At most 16 levels
    /// deep.
    fn level(&mut self, level: usize, position: usize, indices: &mut Vec<usize>) -> Option<()> {
        self.steps = self.steps.checked_sub(1)?;
        let Some(&(size, stored)) = self.layout.levels.get(level) else {
            let strides = self.layout.strides.iter();
            let at = indices.iter().zip(strides).map(|(i, stride)| i * stride);
            let start = at.sum::<usize>().checked_mul(self.size)?;
            let to = self.dense.get_mut(start..start.checked_add(self.size)?)?;
            to.copy_from_slice(self.elements.next()?);
            return Some(());
        };
        match stored {
            StoredDimension::Dense(_) => {
                let first = position.checked_mul(size)?;
                for index in 0..size {
                    indices[level] = index;
                    self.level(level + 1, first.checked_add(index)?, indices)?;
                }
            }
            StoredDimension::Compressed {
                segments,
                indices: stored,
            } => {
                let bound = |at: usize| usize::try_from(*segments.get(at)?).ok();
                let (from, to) = (bound(position)?, bound(position.checked_add(1)?)?);
                for at in from..to {
                    let index = usize::try_from(*stored.get(at)?).ok()?;
                    if index >= size {
                        return None;
                    }
                    indices[level] = index;
                    self.level(level + 1, at, indices)?;
                }
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;

    fn unpack(data: &[u8], dims: &[i64], sparsity: &Sparsity) -> Result<Vec<u8>> {
        let info = TensorInfo::new(DataType::Int8, armnn_backend_api::Shape::new(dims).unwrap());
        let tensor = Tensor {
            data: Some(data.to_vec().into()),
            ..super::super::tensor_info::tests::tensor(
                crate::schema_generated::TensorType::Int8,
                &[],
                &[],
            )
        };
        dense(&tensor, sparsity, &info, &mut 1000).map(|bytes| bytes.to_vec())
    }

    #[test]
    fn rows_hold_the_columns_that_there_are() {
        // [[1, 0, 2], [0, 0, 0], [0, 3, 0]]
        let sparsity = Sparsity {
            traversal_order: vec![0, 1],
            block_map: vec![],
            dimensions: vec![
                StoredDimension::Dense(3),
                StoredDimension::Compressed {
                    segments: vec![0, 2, 2, 3],
                    indices: vec![0, 2, 1],
                },
            ],
        };
        let dense = unpack(&[1, 2, 3], &[3, 3], &sparsity).unwrap();
        assert_eq!(dense, [1, 0, 2, 0, 0, 0, 0, 3, 0]);
        assert!(unpack(&[1, 2], &[3, 3], &sparsity).is_err());
        assert!(unpack(&[1, 2, 3, 4], &[3, 3], &sparsity).is_err());
        assert!(unpack(&[1, 2, 3], &[3, 2], &sparsity).is_err());
    }

    #[test]
    fn blocks_are_stored_whole() {
        // Blocks of 2 x 2 of a 4 x 4 matrix: those at (0, 1) and (1, 0).
        let sparsity = Sparsity {
            traversal_order: vec![0, 1, 2, 3],
            block_map: vec![0, 1],
            dimensions: vec![
                StoredDimension::Dense(2),
                StoredDimension::Compressed {
                    segments: vec![0, 1, 2],
                    indices: vec![1, 0],
                },
                StoredDimension::Dense(2),
                StoredDimension::Dense(2),
            ],
        };
        let dense = unpack(&[1, 2, 3, 4, 5, 6, 7, 8], &[4, 4], &sparsity).unwrap();
        let expected = [
            [0, 0, 1, 2], //
            [0, 0, 3, 4],
            [5, 6, 0, 0],
            [7, 8, 0, 0],
        ];
        assert_eq!(dense, expected.as_flattened());
    }

    #[test]
    fn damaged_segments_do_not_cost_without_end() {
        let sparsity = Sparsity {
            traversal_order: vec![0, 1],
            block_map: vec![],
            dimensions: vec![
                StoredDimension::Dense(3),
                StoredDimension::Compressed {
                    segments: vec![0, i32::MAX, 0, -1],
                    indices: vec![0; 100],
                },
            ],
        };
        assert!(unpack(&[0; 1000], &[3, 3], &sparsity).is_err());
        assert!(unpack(&[0; 9], &[30, 300], &sparsity).is_err());
    }
}
