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

#[test]
fn what_is_said_to_be_evaluated_is() {
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
    for (descriptor, inputs, data_type) in cases {
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
    assert!(all(k, &[number()], &[(I64, &[1]), (I64, &[1])]).is_some());
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

fn binary(operation: Binary, x: KnownValue, y: KnownValue) -> Option<KnownElements> {
    let (data_type, dims) = (x.data_type, [x.elements.len().max(y.elements.len()) as i64]);
    single(
        ElementwiseBinaryDescriptor::new(operation),
        &[x, y],
        data_type,
        &dims,
    )
}

#[test]
fn integers_of_pairs() {
    for (operation, x, y, expected) in [
        (Binary::Add, 7, -2, 5),
        (Binary::Sub, 7, -2, 9),
        (Binary::Mul, 7, -2, -14),
        // -7 / 2 = -3.5
        (Binary::Div, -7, 2, -3),
        (Binary::FloorDiv, -7, 2, -4),
        (Binary::FloorDiv, 7, -2, -4),
        (Binary::FloorDiv, -8, 2, -4),
        // -7 - 2 (-4) = 1; 7 - (-2) (-4) = -1; -7 - 2 (-3) = -1
        (Binary::FloorMod, -7, 2, 1),
        (Binary::FloorMod, 7, -2, -1),
        (Binary::TruncateMod, -7, 2, -1),
        (Binary::Maximum, 7, -2, 7),
        (Binary::Minimum, 7, -2, -2),
        (Binary::SqDiff, 7, -2, 81),
        (Binary::Power, 3, 4, 81),
        (Binary::Power, 3, -1, 0),
        (Binary::Power, -1, -3, -1),
        (Binary::Power, 0, 0, 1),
        (Binary::BitwiseAnd, 6, 3, 2),
        (Binary::BitwiseOr, 6, 3, 7),
        (Binary::BitwiseXor, 6, -1, -7),
    ] {
        let found = binary(operation, list(&[x]), list(&[y]));
        assert_eq!(found, some(&[expected]), "{x} {operation} {y}");
    }
}

#[test]
fn integers_that_would_wrap_around_are_not_known() {
    let (most, least) = (i64::MAX, i64::MIN);
    for (operation, x, y) in [
        (Binary::Add, most, 1),
        (Binary::Sub, least, 1),
        (Binary::Mul, most, 2),
        (Binary::Div, least, -1),
        (Binary::Div, 1, 0),
        (Binary::FloorDiv, 1, 0),
        (Binary::FloorMod, 1, 0),
        (Binary::Power, 2, 63),
        (Binary::Power, 2, most),
        (Binary::SqDiff, most, least),
    ] {
        let found = binary(operation, list(&[x]), list(&[y]));
        assert_eq!(found, some(&[-999]), "{x} {operation} {y}");
    }
    let narrow = |value| typed(I32, &[1], &[value]);
    let found = binary(Binary::Add, narrow(i32::MAX.into()), narrow(1));
    assert_eq!(found, some(&[-999]));
    let unsigned = |value| typed(DataType::UInt8, &[1], &[value]);
    assert_eq!(binary(Binary::Sub, unsigned(1), unsigned(2)), some(&[-999]));
}

#[test]
fn pairs_broadcast_and_may_be_partly_known() {
    let add = ElementwiseBinaryDescriptor::new(Binary::Add);
    let (column, row) = (ints(&[2, 1], &[10, 20]), list(&[1, -999, 3]));
    let expected = some(&[11, -999, 13, 21, -999, 23]);
    assert_eq!(of(add, &[column, row], &[2, 3]), expected);
    let found = of(add, &[ints(&[], &[1]), list(&[2, 3])], &[2]);
    assert_eq!(found, some(&[3, 4]));
}

#[test]
fn real_numbers_are_rounded_to_their_type() {
    // 2^24 + 1 is no Float32: to even, 2^24; in Float64 it is exact.
    let x = 16_777_216.0;
    let found = binary(Binary::Add, floats(&[x as f32]), floats(&[1.0]));
    assert_eq!(found, some_floats(&[16_777_216.0]));
    let wide = |value| reals(F64, &[1], &[value]);
    let found = binary(Binary::Add, wide(x), wide(1.0));
    assert_eq!(found, Some(wide(16_777_217.0).elements));
    // 10 0.1 is 1 in Float32, although its 0.1 is above it.
    let found = binary(Binary::Mul, floats(&[10.0]), floats(&[0.1]));
    assert_eq!(found, some_floats(&[1.0]));
    // -7 - 2 floor(-3.5) = 1
    let found = binary(Binary::FloorMod, floats(&[-7.0, 7.0]), floats(&[2.0, -2.0]));
    assert_eq!(found, some_floats(&[1.0, -1.0]));
    let found = binary(Binary::Div, floats(&[1.0]), floats(&[0.0]));
    assert_eq!(found, some_floats(&[f32::INFINITY]));
    let nan = |found: Option<KnownElements>| match found {
        Some(KnownElements::Reals(values)) => values[0].unwrap().is_nan(),
        other => panic!("{other:?}"),
    };
    for operation in [Binary::Maximum, Binary::Minimum] {
        assert!(nan(binary(operation, floats(&[f32::NAN]), floats(&[1.0]))));
        assert!(nan(binary(operation, floats(&[1.0]), floats(&[f32::NAN]))));
    }
}

#[test]
fn functions_of_elements() {
    let unary = |operation, x: KnownValue, to| {
        let dims = x.shape.dims().to_vec();
        single(ElementwiseUnaryDescriptor::new(operation), &[x], to, &dims)
    };
    assert_eq!(
        unary(Unary::Neg, list(&[3, i64::MIN]), I64),
        some(&[-3, -999])
    );
    assert_eq!(
        unary(Unary::Abs, list(&[-3, i64::MIN]), I64),
        some(&[3, -999])
    );
    assert_eq!(unary(Unary::Square, list(&[-3]), I64), some(&[9]));
    assert_eq!(unary(Unary::Sign, list(&[-3, 0]), I64), some(&[-1, 0]));
    let boolean = typed(BOOL, &[3], &[1, 0, -999]);
    assert_eq!(unary(Unary::LogicalNot, boolean, BOOL), some(&[0, 1, -999]));
    assert_eq!(unary(Unary::BitwiseNot, list(&[5]), I64), some(&[-6]));
    let byte = typed(DataType::UInt8, &[1], &[5]);
    assert_eq!(
        unary(Unary::BitwiseNot, byte, DataType::UInt8),
        some(&[250])
    );
    let x = || floats(&[-1.5, 2.5]);
    assert_eq!(unary(Unary::Floor, x(), F32), some_floats(&[-2.0, 2.0]));
    assert_eq!(unary(Unary::Ceil, x(), F32), some_floats(&[-1.0, 3.0]));
    assert_eq!(unary(Unary::Round, x(), F32), some_floats(&[-2.0, 2.0]));
    assert_eq!(unary(Unary::Sign, x(), F32), some_floats(&[-1.0, 1.0]));
    let found = unary(Unary::Sqrt, floats(&[2.25]), F32);
    assert_eq!(found, some_floats(&[1.5]));
    let found = unary(Unary::Exp, floats(&[1.0]), F32);
    assert_eq!(found, some_floats(&[std::f32::consts::E]));
    let found = unary(Unary::IsInf, floats(&[f32::INFINITY, 1.0]), BOOL);
    assert_eq!(found, some(&[1, 0]));

    let activation = |function, a, b| {
        let descriptor = ActivationDescriptor::new(function, a, b);
        single(descriptor, &[floats(&[-2.0, 0.5, 9.0])], F32, &[3])
    };
    let found = activation(ActivationFunction::ReLu, 0.0, 0.0);
    assert_eq!(found, some_floats(&[0.0, 0.5, 9.0]));
    let found = activation(ActivationFunction::BoundedReLu, 6.0, -1.0);
    assert_eq!(found, some_floats(&[-1.0, 0.5, 6.0]));
    let found = activation(ActivationFunction::Linear, 2.0, 1.0);
    assert_eq!(found, some_floats(&[-3.0, 2.0, 19.0]));
}

#[test]
fn casts_go_towards_zero_and_saturate() {
    let cast = |input: KnownValue, to| {
        let dims = input.shape.dims().to_vec();
        single(CastDescriptor::new(), &[input], to, &dims)
    };
    let x = || floats(&[-1.75, 2.5, f32::NAN, 1e30]);
    assert_eq!(cast(x(), I64), some(&[-1, 2, 0, i64::MAX]));
    assert_eq!(cast(x(), DataType::UInt8), some(&[0, 2, 0, 255]));
    assert_eq!(cast(x(), BOOL), some(&[1, 1, 1, 1]));
    assert_eq!(
        cast(list(&[300, -300, -999]), DataType::Int8),
        some(&[127, -128, -999])
    );
    assert_eq!(cast(list(&[300, 0]), BOOL), some(&[1, 0]));
    assert_eq!(
        cast(typed(BOOL, &[2], &[1, 0]), F32),
        some_floats(&[1.0, 0.0])
    );
    // 2^24 + 1 is no Float32.
    assert_eq!(cast(list(&[16_777_217]), F32), some_floats(&[16_777_216.0]));
    let tenth = cast(reals(F64, &[1], &[0.1]), F32);
    assert_eq!(tenth, some_floats(&[0.1]));
    assert_eq!(cast(floats(&[1e30]), DataType::UInt64), some(&[-999]));
}

#[test]
fn comparisons_and_choices() {
    let equal = ComparisonDescriptor::new(Comparison::Equal);
    let found = single(equal, &[list(&[3, -1, -999]), list(&[-1])], BOOL, &[3]);
    assert_eq!(found, some(&[0, 1, -999]));
    let less = ComparisonDescriptor::new(Comparison::Less);
    let found = single(
        less,
        &[floats(&[1.0, f32::NAN]), floats(&[2.0])],
        BOOL,
        &[2],
    );
    assert_eq!(found, some(&[1, 0]));
    let xor = LogicalBinaryDescriptor::new(Logical::LogicalXor);
    let (x, y) = (typed(BOOL, &[2], &[1, 1]), typed(BOOL, &[2], &[0, 1]));
    assert_eq!(single(xor, &[x, y], BOOL, &[2]), some(&[1, 0]));
    // Where both are the same, the condition need not be known.
    let condition = typed(BOOL, &[4], &[1, 0, -999, -999]);
    let (x, y) = (list(&[1, 2, 3, 4]), list(&[5, 6, 3, -999]));
    let found = of(SelectDescriptor::new(), &[condition, x, y], &[4]);
    assert_eq!(found, some(&[1, 6, 3, -999]));
}

#[test]
fn elements_stand_elsewhere() {
    let x = || ints(&[2, 3], &[1, 2, 3, 4, 5, 6]);
    let transpose = TransposeDescriptor::new(&[1, 0]).unwrap();
    assert_eq!(of(transpose, &[x()], &[3, 2]), some(&[1, 4, 2, 5, 3, 6]));
    let reverse = ReverseV2Descriptor::new(&[1]).unwrap();
    assert_eq!(of(reverse, &[x()], &[2, 3]), some(&[3, 2, 1, 6, 5, 4]));
    assert_eq!(
        of(ReshapeDescriptor::new(), &[x()], &[6]),
        some(&[1, 2, 3, 4, 5, 6])
    );
    let tile = TileDescriptor::new(&[1, 2]).unwrap();
    let expected = some(&[1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6]);
    assert_eq!(of(tile, &[x()], &[2, 6]), expected);
    let column = ints(&[2, 1], &[1, -999]);
    let found = of(BroadcastToDescriptor::new(), &[column], &[2, 2]);
    assert_eq!(found, some(&[1, 1, -999, -999]));
    let found = of(
        ConcatDescriptor { axis: 1 },
        &[x(), ints(&[2, 1], &[7, 8])],
        &[2, 4],
    );
    assert_eq!(found, some(&[1, 2, 3, 7, 4, 5, 6, 8]));
    let none = ints(&[0], &[]);
    let found = of(
        ConcatDescriptor { axis: 0 },
        &[none.clone(), list(&[-999]), none],
        &[1],
    );
    assert_eq!(found, some(&[-999]));
    let scalars = [1, 2].map(|value| ints(&[], &[value]));
    assert_eq!(
        of(StackDescriptor { axis: 0 }, &scalars, &[2]),
        some(&[1, 2])
    );
    let rows = [list(&[1, 2]), list(&[3, 4])];
    assert_eq!(
        of(StackDescriptor { axis: 1 }, &rows, &[2, 2]),
        some(&[1, 3, 2, 4])
    );
}

#[test]
fn padding_is_a_value_or_elements_of_the_input() {
    let padded = |mode| {
        let pad = PadDescriptor::new(mode, 9.0, &[2], &[3]).unwrap();
        of(pad, &[list(&[1, 2, 3, 4])], &[9])
    };
    for (mode, expected) in [
        (PaddingMode::Constant, [9, 9, 1, 2, 3, 4, 9, 9, 9]),
        (PaddingMode::Edge, [1, 1, 1, 2, 3, 4, 4, 4, 4]),
        (PaddingMode::Symmetric, [2, 1, 1, 2, 3, 4, 4, 3, 2]),
        (PaddingMode::Reflect, [3, 2, 1, 2, 3, 4, 3, 2, 1]),
        (PaddingMode::Wrap, [3, 4, 1, 2, 3, 4, 1, 2, 3]),
    ] {
        assert_eq!(padded(mode), some(&expected), "{mode}");
    }
    // Around and around: from the end backwards 2, 1, 2, and from the start on 1, 2, 1.
    let pad = PadDescriptor::new(PaddingMode::Wrap, 0.0, &[3], &[3]).unwrap();
    let found = of(pad, &[list(&[1, 2])], &[8]);
    assert_eq!(found, some(&[2, 1, 2, 1, 2, 1, 2, 1]));
    // No number of the type.
    let pad = PadDescriptor::new(PaddingMode::Constant, 0.5, &[1], &[0]).unwrap();
    assert_eq!(of(pad, &[list(&[1])], &[2]), some(&[-999, 1]));
    let pad = PadDescriptor::new(PaddingMode::Constant, 0.1, &[1], &[0]).unwrap();
    let found = single(pad, &[floats(&[1.0])], F32, &[2]);
    assert_eq!(found, some_floats(&[0.1, 1.0]));
}

#[test]
fn elements_are_chosen() {
    let x = || ints(&[2, 3], &[1, 2, 3, 4, 5, 6]);
    let slice = StridedSliceDescriptor::new(&[1, 2], &[2, -1], &[1, -2]).unwrap();
    assert_eq!(of(slice, &[x()], &[1, 2]), some(&[6, 4]));
    let parts = all(
        SplitDescriptor { axis: 1 },
        &[x()],
        &[(I64, &[2, 1]), (I64, &[2, 2])],
    );
    assert_eq!(
        parts,
        Some(vec![integers(&[1, 4]), integers(&[2, 3, 5, 6])])
    );

    let gather = |axis, indices: KnownValue, dims: &[i64]| {
        of(GatherDescriptor { axis }, &[x(), indices], dims)
    };
    assert_eq!(gather(0, ints(&[], &[1]), &[3]), some(&[4, 5, 6]));
    assert_eq!(gather(1, list(&[2, 0]), &[2, 2]), some(&[3, 1, 6, 4]));
    assert_eq!(
        gather(1, list(&[2, -999]), &[2, 2]),
        some(&[3, -999, 6, -999])
    );
    let in_rows = gather(0, ints(&[1, 2], &[1, 0]), &[1, 2, 3]);
    assert_eq!(in_rows, some(&[4, 5, 6, 1, 2, 3]));
    // What is outside is an error when executed; from the end, too.
    assert_eq!(gather(0, list(&[2]), &[1, 3]), None);
    assert_eq!(gather(0, list(&[-1]), &[1, 3]), None);

    let elements = |axis, indices: KnownValue, dims: &[i64]| {
        of(GatherElementsDescriptor { axis }, &[x(), indices], dims)
    };
    let indices = ints(&[2, 2], &[2, 0, -1, -3]);
    assert_eq!(elements(1, indices, &[2, 2]), some(&[3, 1, 6, 4]));
    assert_eq!(
        elements(0, ints(&[1, 3], &[1, -999, 0]), &[1, 3]),
        some(&[4, -999, 3])
    );
    assert_eq!(elements(0, ints(&[1, 1], &[2]), &[1, 1]), None);

    let by_vectors = |batch_dims, indices: KnownValue, dims: &[i64]| {
        of(GatherNdDescriptor { batch_dims }, &[x(), indices], dims)
    };
    assert_eq!(
        by_vectors(0, ints(&[2, 2], &[0, 1, -1, -1]), &[2]),
        some(&[2, 6])
    );
    assert_eq!(
        by_vectors(0, ints(&[1, 1], &[1]), &[1, 3]),
        some(&[4, 5, 6])
    );
    assert_eq!(by_vectors(1, ints(&[2, 1], &[2, 0]), &[2]), some(&[3, 4]));
    assert_eq!(
        by_vectors(0, ints(&[1, 2], &[0, -999]), &[1]),
        some(&[-999])
    );
    assert_eq!(by_vectors(0, ints(&[1, 2], &[0, 3]), &[1]), None);
}

#[test]
fn dimensions_are_reduced() {
    let reduce = |operation, axes: &[u32], dims: &[i64]| {
        let descriptor = ReduceDescriptor::new(operation, axes, false).unwrap();
        of(descriptor, &[ints(&[2, 3], &[1, 2, 3, 4, -5, 7])], dims)
    };
    assert_eq!(reduce(Op::Sum, &[0], &[3]), some(&[5, -3, 10]));
    assert_eq!(reduce(Op::Prod, &[1], &[2]), some(&[6, -140]));
    assert_eq!(reduce(Op::Max, &[0, 1], &[]), some(&[7]));
    assert_eq!(reduce(Op::Min, &[1], &[2]), some(&[1, -5]));
    // 6 / 3, 6 / 3
    assert_eq!(reduce(Op::Mean, &[1], &[2]), some(&[2, 2]));
    assert_eq!(reduce(Op::SumSquare, &[1], &[2]), some(&[14, 90]));
    assert_eq!(reduce(Op::L1, &[1], &[2]), some(&[6, 16]));
    assert_eq!(reduce(Op::Sum, &[], &[2, 3]), some(&[1, 2, 3, 4, -5, 7]));

    let sum = ReduceDescriptor::new(Op::Sum, &[1], true).unwrap();
    let partly = ints(&[2, 2], &[1, -999, 3, 4]);
    assert_eq!(of(sum, &[partly], &[2, 1]), some(&[-999, 7]));
    assert_eq!(of(sum, &[ints(&[2, 0], &[])], &[2, 1]), some(&[0, 0]));
    let huge = ints(&[1, 2], &[i64::MAX, 1]);
    assert_eq!(of(sum, &[huge], &[1, 1]), some(&[-999]));
    let any = ReduceDescriptor::new(Op::Any, &[0], false).unwrap();
    let found = single(any, &[typed(BOOL, &[2], &[0, 1])], BOOL, &[]);
    assert_eq!(found, some(&[1]));
    // 2^24 + 1 + 1: each sum is rounded to Float32.
    let sum = ReduceDescriptor::new(Op::Sum, &[0], false).unwrap();
    let found = single(sum, &[floats(&[16_777_216.0, 1.0, 1.0])], F32, &[]);
    assert_eq!(found, some_floats(&[16_777_216.0]));
    let mean = ReduceDescriptor::new(Op::Mean, &[0], false).unwrap();
    let found = single(mean, &[floats(&[1.0, 2.0])], F32, &[]);
    assert_eq!(found, some_floats(&[1.5]));
}

#[test]
fn the_best_elements_are_found() {
    let best = |function, last: u32, values: &[i64]| {
        let descriptor = ArgMinMaxDescriptor {
            select_last_index: last,
            ..ArgMinMaxDescriptor::new(function, 0, false)
        };
        of(descriptor, &[list(values)], &[])
    };
    assert_eq!(best(ArgMinMaxFunction::Max, 0, &[3, 7, 7, 1]), some(&[1]));
    assert_eq!(best(ArgMinMaxFunction::Max, 1, &[3, 7, 7, 1]), some(&[2]));
    assert_eq!(best(ArgMinMaxFunction::Min, 0, &[3, 1, 7]), some(&[1]));
    assert_eq!(best(ArgMinMaxFunction::Min, 0, &[3, -999]), some(&[-999]));
    assert_eq!(best(ArgMinMaxFunction::Min, 0, &[]), some(&[-999]));

    let top = |largest, values: KnownValue, data_type| {
        let outputs: [(_, &[i64]); 2] = [(data_type, &[2]), (I32, &[2])];
        all(TopKDescriptor::new(0, largest), &[values], &outputs)
    };
    let expected = Some(vec![integers(&[9, 5]), integers(&[3, 0])]);
    assert_eq!(top(true, list(&[5, 1, 5, 9]), I64), expected);
    let expected = Some(vec![integers(&[1, 5]), integers(&[1, 0])]);
    assert_eq!(top(false, list(&[5, 1, 5, 9]), I64), expected);
    assert_eq!(top(true, list(&[5, -999, 5]), I64), None);
    assert_eq!(top(true, floats(&[1.0, f32::NAN, 2.0]), F32), None);
    // Of each row.
    let rows = ints(&[2, 3], &[1, 3, 2, 6, 5, 4]);
    let outputs: [(_, &[i64]); 2] = [(I64, &[2, 1]), (I64, &[2, 1])];
    let found = all(TopKDescriptor::new(1, true), &[rows], &outputs);
    assert_eq!(found, Some(vec![integers(&[3, 6]), integers(&[1, 0])]));
}

#[test]
fn running_sums_and_products() {
    let run = |operation, exclusive, reverse, values: &[i64]| {
        let descriptor = CumulativeDescriptor {
            exclusive,
            reverse,
            ..CumulativeDescriptor::new(operation, 0)
        };
        of(descriptor, &[list(values)], &[values.len() as i64])
    };
    let sum = CumulativeOperation::Sum;
    assert_eq!(run(sum, 0, 0, &[1, 2, 4]), some(&[1, 3, 7]));
    assert_eq!(run(sum, 1, 0, &[1, 2, 4]), some(&[0, 1, 3]));
    assert_eq!(run(sum, 0, 1, &[1, 2, 4]), some(&[7, 6, 4]));
    assert_eq!(run(sum, 1, 1, &[1, 2, 4]), some(&[6, 4, 0]));
    assert_eq!(run(sum, 0, 0, &[1, -999, 4]), some(&[1, -999, -999]));
    let product = CumulativeOperation::Prod;
    assert_eq!(run(product, 0, 0, &[2, 3, 4]), some(&[2, 6, 24]));
    assert_eq!(run(product, 1, 0, &[2, 3, 4]), some(&[1, 2, 6]));
}

#[test]
fn elements_that_are_no_inputs() {
    assert_eq!(
        of(FillDescriptor::new(), &[list(&[7])], &[2]),
        some(&[7, 7])
    );
    let range = |start, delta, count| {
        let inputs = [start, 0, delta].map(|value| list(&[value]));
        of(RangeDescriptor::new(), &inputs, &[count])
    };
    assert_eq!(range(3, -2, 3), some(&[3, 1, -1]));
    assert_eq!(range(0, 1, 0), some(&[]));
    assert_eq!(range(i64::MAX, 1, 2), some(&[i64::MAX, -999]));
    // 3 0.1 in Float32 is 0.3, rounded up.
    let inputs = [0.0, 1.0, 0.1].map(|value| floats(&[value]));
    let found = single(RangeDescriptor::new(), &inputs, F32, &[4]);
    assert_eq!(found, some_floats(&[0.0, 0.1, 0.2, 3.0 * 0.1]));

    let one_hot = |axis, wrap_negative, indices: &[i64], dims: &[i64]| {
        let descriptor = OneHotDescriptor {
            axis,
            wrap_negative,
        };
        of(descriptor, &[list(indices), list(&[5]), list(&[0])], dims)
    };
    let expected = some(&[0, 5, 0, 0, 0, 0]);
    assert_eq!(one_hot(1, 0, &[1, -1], &[2, 3]), expected);
    let expected = some(&[0, 5, 0, 0, 0, 5]);
    assert_eq!(one_hot(1, 1, &[1, -1], &[2, 3]), expected);
    let expected = some(&[0, 0, 5, 0, 0, 0]);
    assert_eq!(one_hot(0, 0, &[1, 7], &[3, 2]), expected);
}
