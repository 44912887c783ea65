mod elementwise;
mod movement;

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, ArgMinMaxDescriptor, ArgMinMaxFunction,
    BinaryOperation as Binary, BroadcastToDescriptor, CastDescriptor, ComparisonDescriptor,
    ComparisonOperation as Comparison, ConcatDescriptor, CumulativeDescriptor, CumulativeOperation,
    ElementwiseBinaryDescriptor, ElementwiseUnaryDescriptor, FillDescriptor, GatherDescriptor,
    GatherElementsDescriptor, GatherNdDescriptor, LogicalBinaryDescriptor,
    LogicalBinaryOperation as Logical, OneHotDescriptor, PadDescriptor, PaddingMode,
    QuantizeDescriptor, RangeDescriptor, ReduceDescriptor, ReduceOperation as Op,
    ReshapeDescriptor, ReverseV2Descriptor, SelectDescriptor, SoftmaxDescriptor, SplitDescriptor,
    StackDescriptor, StridedSliceDescriptor, TileDescriptor, TopKDescriptor, TransposeDescriptor,
    UnaryOperation as Unary,
};

use super::*;

const I32: DataType = DataType::Signed32;
const I64: DataType = DataType::Signed64;
const F32: DataType = DataType::Float32;
const F64: DataType = DataType::Float64;
const BOOL: DataType = DataType::Boolean;

/// Integers of a type, of which -999 stands for one that is not known.
fn typed(data_type: DataType, dims: &[i64], values: &[i64]) -> KnownValue {
    KnownValue {
        data_type,
        shape: Shape::new(dims).unwrap(),
        elements: integers(values),
    }
}

fn integers(values: &[i64]) -> KnownElements {
    let known = values.iter().map(|&value| (value != -999).then_some(value));
    KnownElements::Integers(known.collect())
}

fn ints(dims: &[i64], values: &[i64]) -> KnownValue {
    typed(I64, dims, values)
}

fn list(values: &[i64]) -> KnownValue {
    ints(&[values.len() as i64], values)
}

fn reals(data_type: DataType, dims: &[i64], values: &[f64]) -> KnownValue {
    KnownValue {
        data_type,
        shape: Shape::new(dims).unwrap(),
        elements: KnownElements::Reals(values.iter().copied().map(Some).collect()),
    }
}

fn floats(values: &[f32]) -> KnownValue {
    let values: Vec<f64> = values.iter().map(|&value| value.into()).collect();
    reals(F32, &[values.len() as i64], &values)
}

fn all(
    descriptor: impl Into<D>,
    inputs: &[KnownValue],
    outputs: &[(DataType, &[i64])],
) -> Option<Vec<KnownElements>> {
    let descriptor = descriptor.into();
    let inputs: Vec<Option<&KnownValue>> = inputs.iter().map(Some).collect();
    let outputs: Vec<(DataType, Shape)> = outputs
        .iter()
        .map(|&(data_type, dims)| (data_type, Shape::new(dims).unwrap()))
        .collect();
    let found = evaluate(&descriptor, &inputs, &outputs)?;
    assert!(is_evaluated(&descriptor), "{descriptor:?}");
    Some(found.into_iter().map(|value| value.elements).collect())
}

fn single(
    descriptor: impl Into<D>,
    inputs: &[KnownValue],
    data_type: DataType,
    dims: &[i64],
) -> Option<KnownElements> {
    all(descriptor, inputs, &[(data_type, dims)]).map(|mut found| found.remove(0))
}

/// Of integers of type Signed64.
fn of(descriptor: impl Into<D>, inputs: &[KnownValue], dims: &[i64]) -> Option<KnownElements> {
    single(descriptor, inputs, I64, dims)
}

fn some(values: &[i64]) -> Option<KnownElements> {
    Some(integers(values))
}

fn some_floats(values: &[f32]) -> Option<KnownElements> {
    Some(floats(values).elements)
}

/// A layer of each kind that may be evaluated, and of some that are not; with inputs, and the type of
/// the outputs.
fn samples() -> Vec<(D, Vec<KnownValue>, DataType)> {
    let number = || list(&[2, 1]);
    let real = || floats(&[0.5, 0.25]);
    let two = || vec![number(), number()];
    let boolean = || typed(BOOL, &[2], &[1, 0]);
    let mut cases: Vec<(D, Vec<KnownValue>, DataType)> = vec![
        (BroadcastToDescriptor::new().into(), vec![number()], I64),
        (CastDescriptor::new().into(), vec![number()], F32),
        (FillDescriptor::new().into(), vec![list(&[7])], I64),
        (
            GatherDescriptor { axis: 0 }.into(),
            two().into_iter().map(|_| list(&[1, 0])).collect(),
            I64,
        ),
        (
            GatherElementsDescriptor { axis: 0 }.into(),
            vec![number(), list(&[1, 0])],
            I64,
        ),
        (
            GatherNdDescriptor { batch_dims: 0 }.into(),
            vec![number(), ints(&[2, 1], &[1, 0])],
            I64,
        ),
        (
            RangeDescriptor::new().into(),
            vec![list(&[0]), list(&[2]), list(&[1])],
            I64,
        ),
        (
            ReshapeDescriptor::new().into(),
            vec![ints(&[1, 2], &[3, 4])],
            I64,
        ),
        (
            ReverseV2Descriptor::new(&[0]).unwrap().into(),
            vec![number()],
            I64,
        ),
        (
            SelectDescriptor::new().into(),
            vec![boolean(), number(), number()],
            I64,
        ),
        (SplitDescriptor { axis: 0 }.into(), vec![number()], I64),
        (
            StridedSliceDescriptor::new(&[0], &[2], &[1])
                .unwrap()
                .into(),
            vec![number()],
            I64,
        ),
        (
            TileDescriptor::new(&[1]).unwrap().into(),
            vec![number()],
            I64,
        ),
        (
            TransposeDescriptor::new(&[0]).unwrap().into(),
            vec![number()],
            I64,
        ),
        (
            ConcatDescriptor { axis: 0 }.into(),
            vec![list(&[1]), list(&[2])],
            I64,
        ),
        (
            StackDescriptor { axis: 0 }.into(),
            vec![ints(&[], &[1]), ints(&[], &[2])],
            I64,
        ),
        (
            OneHotDescriptor {
                axis: 0,
                wrap_negative: 0,
            }
            .into(),
            vec![ints(&[], &[1]), list(&[5]), list(&[6])],
            I64,
        ),
        (
            SoftmaxDescriptor { beta: 1.0, axis: 0 }.into(),
            vec![real()],
            F32,
        ),
        (
            QuantizeDescriptor::new().into(),
            vec![real()],
            DataType::Int8,
        ),
    ];
    for &operation in Binary::ALL {
        let inputs = if operation == Binary::Atan2 {
            vec![real(), real()]
        } else {
            two()
        };
        let data_type = inputs[0].data_type;
        cases.push((
            ElementwiseBinaryDescriptor::new(operation).into(),
            inputs,
            data_type,
        ));
    }
    for &operation in Unary::ALL {
        let (input, to) = match operation {
            Unary::LogicalNot => (boolean(), BOOL),
            Unary::BitwiseNot => (number(), I64),
            Unary::IsNan | Unary::IsInf | Unary::IsPosInf | Unary::IsNegInf => (real(), BOOL),
            _ => (real(), F32),
        };
        cases.push((
            ElementwiseUnaryDescriptor::new(operation).into(),
            vec![input],
            to,
        ));
    }
    for &operation in Comparison::ALL {
        cases.push((ComparisonDescriptor::new(operation).into(), two(), BOOL));
    }
    for &operation in Logical::ALL {
        let inputs = vec![boolean(), boolean()];
        cases.push((LogicalBinaryDescriptor::new(operation).into(), inputs, BOOL));
    }
    for &operation in Op::ALL {
        let descriptor = ReduceDescriptor::new(operation, &[0], true).unwrap();
        cases.push((descriptor.into(), vec![ints(&[1, 2], &[1, 1])], I64));
    }
    for &operation in ActivationFunction::ALL {
        let descriptor = ActivationDescriptor::new(operation, 1.0, 1.0);
        cases.push((descriptor.into(), vec![real()], F32));
    }
    for &function in ArgMinMaxFunction::ALL {
        let descriptor = ArgMinMaxDescriptor::new(function, 0, false);
        cases.push((descriptor.into(), vec![ints(&[1, 2], &[1, 1])], I64));
    }
    for &operation in CumulativeOperation::ALL {
        cases.push((
            CumulativeDescriptor::new(operation, 0).into(),
            vec![number()],
            I64,
        ));
    }
    for &mode in PaddingMode::ALL {
        let descriptor = PadDescriptor::new(mode, 0.0, &[0], &[0]).unwrap();
        cases.push((descriptor.into(), vec![number()], I64));
    }
    for number in [999, u32::MAX] {
        let descriptor = ElementwiseBinaryDescriptor::new(Binary(number));
        cases.push((descriptor.into(), two(), I64));
        let descriptor = ElementwiseUnaryDescriptor::new(Unary(number));
        cases.push((descriptor.into(), vec![real()], F32));
        let descriptor = ReduceDescriptor::new(Op(number), &[0], true).unwrap();
        cases.push((descriptor.into(), vec![ints(&[1, 2], &[1, 1])], I64));
        let descriptor = PadDescriptor::new(PaddingMode(number), 0.0, &[1], &[0]).unwrap();
        cases.push((descriptor.into(), vec![list(&[1])], I64));
    }
    cases
}

#[test]
fn what_is_said_to_be_evaluated_is() {
    for (descriptor, inputs, data_type) in samples() {
        let inputs: Vec<Option<&KnownValue>> = inputs.iter().map(Some).collect();
        let outputs = match descriptor {
            D::OneHot(_) | D::Range(_) => Shape::from([2]),
            D::Reduce(_) => Shape::from([1, 2]),
            _ => Shape::from([2]),
        };
        let found = evaluate(&descriptor, &inputs, &[(data_type, outputs)]);
        let complete = found.is_some_and(|found| found.iter().all(KnownValue::is_complete));
        assert_eq!(complete, is_evaluated(&descriptor), "{descriptor:?}");
    }
    let k = TopKDescriptor::new(0, true);
    assert!(all(k, &[list(&[2, 1])], &[(I64, &[1]), (I64, &[1])]).is_some());
}

#[test]
fn types_that_are_not_held_and_large_tensors_are_not_evaluated() {
    let cast = CastDescriptor::new();
    for data_type in [DataType::Float16, DataType::BFloat16, DataType::QAsymmU8] {
        assert_eq!(single(cast, &[list(&[1])], data_type, &[1]), None);
    }
    assert_eq!(
        single(BroadcastToDescriptor::new(), &[list(&[1])], I64, &[4097]),
        None
    );
    assert_eq!(
        single(BroadcastToDescriptor::new(), &[list(&[1])], I64, &[-1]),
        None
    );
    let huge = [i64::MAX, i64::MAX];
    assert_eq!(
        single(BroadcastToDescriptor::new(), &[list(&[1])], I64, &huge),
        None
    );
}

/// Layers are checked before, but what an evaluation finds must not depend on that.
#[test]
fn nothing_panics_where_shapes_do_not_fit() {
    let shapes: [&[i64]; 9] = [
        &[],
        &[0],
        &[1],
        &[2],
        &[3, 2],
        &[1, 0, 2],
        &[0, i64::MAX, i64::MAX],
        &[2, 1, 2, 1, 2, 1, 2, 1],
        &[i64::MAX, 0],
    ];
    let value = |shape: &[i64], number: i64, is_real: bool| {
        let shape = Shape::new(shape).unwrap();
        let count = shape.num_elements().unwrap() as usize;
        KnownValue {
            data_type: if is_real { F32 } else { I64 },
            shape,
            elements: match is_real {
                true => KnownElements::Reals(vec![Some(number as f64); count]),
                false => KnownElements::Integers(vec![Some(number); count]),
            },
        }
    };
    let mut descriptors: Vec<D> = samples().into_iter().map(|(d, ..)| d).collect();
    for axis in [1, 7, 8, u32::MAX] {
        descriptors.push(GatherDescriptor { axis }.into());
        descriptors.push(GatherElementsDescriptor { axis }.into());
        descriptors.push(GatherNdDescriptor { batch_dims: axis }.into());
        descriptors.push(ConcatDescriptor { axis }.into());
        descriptors.push(StackDescriptor { axis }.into());
        descriptors.push(SplitDescriptor { axis }.into());
        descriptors.push(ReverseV2Descriptor::new(&[axis]).unwrap().into());
        descriptors.push(TransposeDescriptor::new(&[axis]).unwrap().into());
        descriptors.push(TopKDescriptor::new(axis, true).into());
        descriptors.push(CumulativeDescriptor::new(CumulativeOperation::Sum, axis).into());
        descriptors.push(
            ReduceDescriptor::new(Op::Sum, &[axis], false)
                .unwrap()
                .into(),
        );
        let wrap_negative = 1;
        descriptors.push(
            OneHotDescriptor {
                axis,
                wrap_negative,
            }
            .into(),
        );
    }
    for number in [i64::MIN, -1, i64::MAX] {
        let slice = StridedSliceDescriptor::new(&[number], &[number], &[number]);
        descriptors.push(slice.unwrap().into());
        for &mode in PaddingMode::ALL {
            let pad = PadDescriptor::new(mode, 0.0, &[number], &[number]);
            descriptors.push(pad.unwrap().into());
        }
    }
    for descriptor in &descriptors {
        for from in shapes {
            for to in shapes {
                for (number, is_real) in [(i64::MIN, false), (1, false), (-1, true)] {
                    let inputs = [from, to, from].map(|shape| value(shape, number, is_real));
                    let inputs: Vec<Option<&KnownValue>> = inputs.iter().map(Some).collect();
                    let data_type = if is_real { F32 } else { I64 };
                    let output = (data_type, Shape::new(to).unwrap());
                    for outputs in [&[output][..], &[output; 2]] {
                        for count in 0..=3 {
                            evaluate(descriptor, &inputs[..count], outputs);
                        }
                    }
                }
            }
        }
    }
}
