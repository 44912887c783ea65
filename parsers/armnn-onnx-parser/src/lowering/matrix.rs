//! Products of matrices.

use armnn_backend_api::{
    BatchMatMulDescriptor, BinaryOperation as Binary, DetDescriptor, ElementwiseBinaryDescriptor,
    FullyConnectedDescriptor, ReduceOperation,
};
use armnn_network::TensorId;

use super::context::Context;
use super::problem::{Problem, Result};

/// As NumPy does it: a vector is a matrix of one row (first input) or one column (second), and that
/// dimension is taken away from the product again.
pub(super) fn mat_mul(c: &mut Context<'_, '_>) -> Result {
    let (x_shape, y_shape) = (c.input_shape(0)?, c.input_shape(1)?);
    let descriptor = BatchMatMulDescriptor::new(false, false);
    if x_shape.rank() == 0 || y_shape.rank() == 0 {
        return Err(Problem::malformed(format!(
            "its inputs are {x_shape} and {y_shape}"
        )));
    }
    let (x_is_vector, y_is_vector) = (x_shape.rank() == 1, y_shape.rank() == 1);
    let x = c.padded_input(0, usize::from(x_is_vector), 0)?;
    let y = c.padded_input(1, 0, usize::from(y_is_vector))?;
    let is_integer = !c.info(x)?.data_type.is_float() && !c.info(x)?.data_type.is_quantized();
    if !x_is_vector && !y_is_vector && !is_integer {
        return c.emit(descriptor, &[x, y]);
    }
    let product = match is_integer {
        true => integer_product(c, x, y)?,
        false => c.step(descriptor, &[x, y])?,
    };
    if !x_is_vector && !y_is_vector {
        return c.bind_tensor(0, product);
    }
    let output = without_vectors(c, product, x_is_vector, y_is_vector)?;
    c.bind_tensor(0, output)
}

/// The product of matrices of integers, which wrap around: products of all pairs, added up. Models
/// compute indices with it, of small matrices.
pub(super) fn integer_product(
    c: &mut Context<'_, '_>,
    x: TensorId,
    y: TensorId,
) -> Result<TensorId> {
    // [.., m, k, 1] times [.., 1, k, n]
    let (x_rank, y_rank) = (c.shape(x)?.rank(), c.shape(y)?.rank());
    let rank = x_rank.max(y_rank) + 1;
    let mut groups: Vec<Vec<usize>> = (0..x_rank).map(|axis| vec![axis]).collect();
    groups.push(Vec::new());
    let x = c.merge_step(x, &groups)?;
    let mut groups: Vec<Vec<usize>> = (0..y_rank).map(|axis| vec![axis]).collect();
    groups.insert(y_rank.saturating_sub(2), Vec::new());
    let y = c.merge_step(y, &groups)?;
    let products = c.binary(Binary::Mul, x, y)?;
    c.reduce(ReduceOperation::Sum, products, &[rank - 2], false)
}

/// Takes the dimensions of size 1 away that vectors have got; writes the first output.
pub(super) fn without_vectors(
    c: &mut Context<'_, '_>,
    product: TensorId,
    x_is_vector: bool,
    y_is_vector: bool,
) -> Result<TensorId> {
    let rank = c.shape(product)?.rank();
    let groups: Vec<Vec<usize>> = (0..rank)
        .filter(|axis| !(x_is_vector && axis + 2 == rank || y_is_vector && axis + 1 == rank))
        .map(|axis| vec![axis])
        .collect();
    c.last().merge_step(product, &groups)
}

/// alpha A B + beta C, with A and B transposed as the attributes say.
pub(super) fn gemm(c: &mut Context<'_, '_>) -> Result {
    let output = product(c, true)?;
    c.bind_tensor(0, output)
}

/// The same as a step; `last` says whether it writes the first output.
pub(super) fn product(c: &mut Context<'_, '_>, last: bool) -> Result<TensorId> {
    let alpha = c.attributes.float("alpha", 1.0)?;
    let beta = c.attributes.float("beta", 1.0)?;
    let transpose_a = c.attributes.flag("transA", false)?;
    let transpose_b = c.attributes.flag("transB", false)?;
    // Shapes say whether C broadcasts.
    c.attributes.ignore("broadcast");
    let (a, b) = (c.input(0)?, c.input(1)?);
    let (a_shape, b_shape) = (c.shape(a)?, c.shape(b)?);
    if a_shape.rank() != 2 || b_shape.rank() != 2 {
        return Err(Problem::malformed(format!(
            "its matrices are {a_shape} and {b_shape}"
        )));
    }
    let data_type = c.info(a)?.data_type;
    let outputs = b_shape.dims()[usize::from(!transpose_b)];
    let inner = b_shape.dims()[usize::from(transpose_b)];
    let bias = match c.has_input(2) && beta != 0.0 {
        true => Some(c.input_shape(2)?),
        false => None,
    };
    let is_bias = bias.is_none_or(|bias| match bias.dims() {
        &[n] | &[1, n] => n >= 0 && n == outputs,
        _ => false,
    });
    let is_layer = data_type.is_float()
        && !transpose_a
        && inner > 0
        && a_shape.dims()[1] == inner
        && alpha == 1.0
        && (beta == 1.0 || bias.is_none())
        && is_bias;
    if is_layer {
        let mut inputs = vec![a, b];
        if bias.is_some() {
            let rank = c.input_shape(2)?.rank();
            inputs.push(c.merged_input(2, &[(0..rank).collect()])?);
        }
        c.is_last = last;
        return c.step(FullyConnectedDescriptor::new(transpose_b), &inputs);
    }
    if !data_type.is_float() && !data_type.is_quantized() {
        return integer_gemm(
            c,
            [transpose_a, transpose_b],
            [alpha, beta],
            bias.is_some(),
            last,
        );
    }
    let product = BatchMatMulDescriptor::new(transpose_a, transpose_b);
    let Some(_) = bias else {
        if alpha == 1.0 {
            c.is_last = last;
            return c.step(product, &[a, b]);
        }
        let product = c.step(product, &[a, b])?;
        let inputs = scale_inputs(c, product, alpha)?;
        c.is_last = last;
        return c.step(ElementwiseBinaryDescriptor::new(Binary::Mul), &inputs);
    };
    let product = c.step(product, &[a, b])?;
    let product = scaled(c, product, alpha)?;
    let addend = c.input(2)?;
    let addend = scaled(c, addend, beta)?;
    c.is_last = last;
    c.binary(Binary::Add, product, addend)
}

/// Of integers, which wrap around; factors are integers.
fn integer_gemm(
    c: &mut Context<'_, '_>,
    transposed: [bool; 2],
    [alpha, beta]: [f32; 2],
    has_addend: bool,
    last: bool,
) -> Result<TensorId> {
    let mut matrices = [c.input(0)?, c.input(1)?];
    for (matrix, is_transposed) in matrices.iter_mut().zip(transposed) {
        if is_transposed {
            *matrix = c.transpose(*matrix, &[1, 0])?;
        }
    }
    let product = integer_product(c, matrices[0], matrices[1])?;
    if !has_addend {
        c.is_last = last && alpha != 1.0;
        return scaled(c, product, alpha);
    }
    let product = scaled(c, product, alpha)?;
    let addend = c.input(2)?;
    let addend = scaled(c, addend, beta)?;
    c.is_last = last;
    c.binary(Binary::Add, product, addend)
}

fn scaled(c: &mut Context<'_, '_>, input: TensorId, factor: f32) -> Result<TensorId> {
    if factor == 1.0 {
        return Ok(input);
    }
    let inputs = scale_inputs(c, input, factor)?;
    c.step(ElementwiseBinaryDescriptor::new(Binary::Mul), &inputs)
}

fn scale_inputs(c: &mut Context<'_, '_>, input: TensorId, factor: f32) -> Result<[TensorId; 2]> {
    let data_type = c.info(input)?.data_type;
    if !data_type.is_float() && factor.fract() != 0.0 {
        return Err(Problem::unsupported(format!(
            "elements of type {data_type} multiplied by {factor} (alpha, beta)"
        )));
    }
    Ok([input, c.number(data_type, &[], &[factor.into()])?])
}

/// The determinant of matrices.
pub(super) fn det(c: &mut Context<'_, '_>) -> Result {
    let input = c.input(0)?;
    c.emit(DetDescriptor::new(), &[input])
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{FullyConnectedDescriptor, LayerType as L};

    use crate::test_model::{
        TestModel, assert_refused, descriptors, float, int, output_dims, single, types, zeros,
    };

    #[test]
    fn a_vector_is_a_row_or_a_column_that_vanishes_again() {
        for (x, y, expected, layers) in [
            (&[2, 3][..], &[3, 4][..], &[2, 4][..], &[L::BatchMatMul][..]),
            (&[7, 2, 3], &[5, 1, 3, 4], &[5, 7, 2, 4], &[L::BatchMatMul]),
            (
                &[3],
                &[3, 4],
                &[4],
                &[L::Reshape, L::BatchMatMul, L::Reshape],
            ),
            (&[7, 2, 3], &[3], &[7, 2], &[L::BatchMatMul, L::Reshape]),
            (
                &[3],
                &[7, 3, 4],
                &[7, 4],
                &[L::Reshape, L::BatchMatMul, L::Reshape],
            ),
            (&[3], &[3], &[], &[L::Reshape, L::BatchMatMul, L::Reshape]),
        ] {
            let network = single(13, "MatMul", x, &[zeros("b", y)], &[]).unwrap();
            assert_eq!(output_dims(&network), expected, "{x:?} {y:?}");
            assert_eq!(types(&network), layers, "{x:?} {y:?}");
        }
        let scalar = single(13, "MatMul", &[], &[zeros("b", &[3])], &[]);
        assert_refused(scalar, "its inputs are [] and [3]");
    }

    #[test]
    fn a_plain_product_with_a_bias_is_one_layer() {
        let constants = [zeros("b", &[3, 4]), zeros("c", &[4])];
        let network = single(13, "Gemm", &[2, 3], &constants, &[]).unwrap();
        assert_eq!(
            descriptors(&network),
            [FullyConnectedDescriptor::new(false).into()]
        );
        let constants = [zeros("b", &[4, 3]), zeros("c", &[1, 4])];
        let network = single(13, "Gemm", &[2, 3], &constants, &[int("transB", 1)]).unwrap();
        assert_eq!(
            descriptors(&network),
            [FullyConnectedDescriptor::new(true).into()]
        );
        assert_eq!(output_dims(&network), [2, 4]);
    }

    #[test]
    fn other_products_are_multiplied_scaled_and_added() {
        let transposed = TestModel::new(13)
            .input("a", &[3, 2])
            .input("b", &[3, 4])
            .input("c", &[2, 1])
            .node(
                "Gemm",
                &["a", "b", "c"],
                &["y"],
                &[int("transA", 1), float("alpha", 0.5), float("beta", 2.0)],
            )
            .output("y")
            .parse()
            .unwrap();
        let expected = [
            L::BatchMatMul,
            L::ElementwiseBinary,
            L::ElementwiseBinary,
            L::ElementwiseBinary,
        ];
        assert_eq!(types(&transposed), expected);
        assert_eq!(output_dims(&transposed), [2, 4]);
        // What is multiplied by 0 is left out.
        let constants = [zeros("b", &[3, 4]), zeros("c", &[4])];
        let network = single(13, "Gemm", &[2, 3], &constants, &[float("beta", 0.0)]).unwrap();
        assert_eq!(network.layers()[0].inputs.len(), 2);
    }
}
