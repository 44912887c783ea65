//! STABLEHLO_DOT_GENERAL: products over any dimensions, as a product of matrices
//! (<https://openxla.org/stablehlo/spec#dot_general>).

use armnn_backend_api::{BatchMatMulDescriptor, Shape, TransposeDescriptor};
use armnn_network::{OutputDeclaration, TensorId};

use super::context::{Context, axis, described};
use super::problem::{Problem, Result};
use super::stablehlo::list;
use crate::schema_generated::StablehloDotGeneralOptionsRef;

/// The output has the dimensions of batches, then the others of the left side, then of the right.
pub(super) fn dot_general(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StablehloDotGeneralOptionsRef<'_>>()?;
    let left = Side::new(
        context,
        0,
        list(options.lhs_batching_dimensions()?)?,
        list(options.lhs_contracting_dimensions()?)?,
    )?;
    let right = Side::new(
        context,
        1,
        list(options.rhs_batching_dimensions()?)?,
        list(options.rhs_contracting_dimensions()?)?,
    )?;
    if left.batch != right.batch || left.contracted != right.contracted {
        return Err(Problem::malformed(
            "the dimensions of batches, or those that are multiplied, differ in size",
        ));
    }
    let x = left.matrices(context)?;
    let y = right.matrices(context)?;
    // [B, M, K] with [B, N, K].
    let product = BatchMatMulDescriptor::new(false, true);
    let declaration = OutputDeclaration {
        name: None,
        shape: None,
        ..context.declaration(0)?
    };
    let products = context.step(0, product, &[Some(x), Some(y)], declaration)?;
    let target = [left.batch, left.free, right.free].concat();
    if target.len() > Shape::MAX_RANK {
        return Err(Problem::unsupported("an output of more than 8 dimensions"));
    }
    context.emit_reshape(0, products, &target)
}

/// One of both operands, with the sizes of its dimensions by what they are for.
struct Side {
    input: TensorId,
    /// Batches, then those that stay, then those that are multiplied.
    permutation: Vec<u32>,
    batch: Vec<i64>,
    free: Vec<i64>,
    contracted: Vec<i64>,
}

impl Side {
    fn new(
        context: &mut Context<'_, '_, '_>,
        position: usize,
        batch: Vec<i64>,
        contracted: Vec<i64>,
    ) -> Result<Self> {
        let input = context.input(position)?;
        let shape = context.shape(input)?;
        if !shape.is_known() {
            return Err(Problem::unsupported(format!(
                "an operand of shape {shape}; give the model fixed input shapes"
            )));
        }
        let dims = shape.dims();
        let axes = |list: Vec<i64>| -> Result<Vec<usize>> {
            list.into_iter().map(|at| axis(at, dims.len())).collect()
        };
        let (batch, contracted) = (axes(batch)?, axes(contracted)?);
        let is_named = |at: &usize| batch.contains(at) || contracted.contains(at);
        let free: Vec<usize> = (0..dims.len()).filter(|at| !is_named(at)).collect();
        let order = [&batch[..], &free, &contracted].concat();
        if order.len() != dims.len() {
            return Err(Problem::malformed("a dimension that is named twice"));
        }
        let sizes = |axes: &[usize]| axes.iter().map(|&at| dims[at]).collect();
        Ok(Self {
            input,
            permutation: order.iter().map(|&at| at as u32).collect(),
            batch: sizes(&batch),
            free: sizes(&free),
            contracted: sizes(&contracted),
        })
    }

    /// The operand as [B, M, K].
    fn matrices(&self, context: &mut Context<'_, '_, '_>) -> Result<TensorId> {
        let mut id = self.input;
        if !self.permutation.is_sorted() {
            let transpose = described(TransposeDescriptor::new(&self.permutation))?;
            let none = OutputDeclaration::default();
            id = context.step(0, transpose, &[Some(id)], none)?;
        }
        let product = |dims: &[i64]| dims.iter().try_fold(1i64, |n, &dim| n.checked_mul(dim));
        let sizes = [&self.batch, &self.free, &self.contracted].map(|dims| product(dims));
        let [Some(b), Some(m), Some(k)] = sizes else {
            return Err(Problem::malformed("an operand of more than 2^63 elements"));
        };
        context.reshape_step(0, id, &[b, m, k])
    }
}

#[cfg(test)]
mod tests {
    use crate::schema_generated::BuiltinOperator as Op;
    use crate::schema_writer_generated as write;
    use crate::test_model::{assert_refused, float, lower_second, run};

    fn options(lhs: [Vec<i64>; 2], rhs: [Vec<i64>; 2]) -> write::BuiltinOptions2 {
        let [lhs_batching_dimensions, lhs_contracting_dimensions] = lhs.map(Some);
        let [rhs_batching_dimensions, rhs_contracting_dimensions] = rhs.map(Some);
        write::BuiltinOptions2::StablehloDotGeneralOptions(Box::new(
            write::StablehloDotGeneralOptions {
                lhs_batching_dimensions,
                rhs_batching_dimensions,
                lhs_contracting_dimensions,
                rhs_contracting_dimensions,
                ..write::StablehloDotGeneralOptions::default()
            },
        ))
    }

    #[test]
    fn any_dimensions_are_multiplied() {
        // Batches of the last and the first dimension; the first of the left with the last of the
        // right: sum over k of x[k, m, b] y[b, n, k].
        let options = options([vec![2], vec![0]], [vec![0], vec![2]]);
        let inputs = [float(&[2, 1, 2]), float(&[2, 2, 2])];
        let network = lower_second(
            Op::StablehloDotGeneral,
            &inputs,
            &[float(&[2, 1, 2])],
            options,
        )
        .unwrap();
        let x = [1.0, 2.0, 3.0, 4.0];
        let y = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 0.5];
        let found = run(network, &[(&[2, 1, 2], &x), (&[2, 2, 2], &y)]).remove(0);
        // Batch 0 has x of 1 and 3; batch 1 has 2 and 4.
        assert_eq!(found, (vec![2, 1, 2], vec![1.0, 3.0, 6.0, 6.0]));
    }

    #[test]
    fn sizes_that_differ_are_an_error() {
        let options = options([vec![], vec![1]], [vec![], vec![0]]);
        let inputs = [float(&[2, 3]), float(&[2, 2])];
        let lowered = lower_second(Op::StablehloDotGeneral, &inputs, &[float(&[2, 2])], options);
        assert_refused(lowered, "differ in size");
    }
}
