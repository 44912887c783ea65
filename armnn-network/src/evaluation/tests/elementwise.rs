use super::*;

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
fn casts_go_towards_zero_and_saturate_or_keep_the_lowest_bits() {
    let cast = |input: KnownValue, to| {
        let dims = input.shape.dims().to_vec();
        single(CastDescriptor::new(), &[input], to, &dims)
    };
    let x = || floats(&[-1.75, 2.5, f32::NAN, 1e30]);
    assert_eq!(cast(x(), I64), some(&[-1, 2, 0, i64::MAX]));
    assert_eq!(cast(x(), DataType::UInt8), some(&[0, 2, 0, 255]));
    assert_eq!(cast(x(), BOOL), some(&[1, 1, 1, 1]));
    // Of integers the lowest bits: 300 - 256 and 256 - 300.
    assert_eq!(
        cast(list(&[300, -300, -999]), DataType::Int8),
        some(&[44, -44, -999])
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
