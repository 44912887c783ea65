use super::*;

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
    // Each element by itself, as ONNX Runtime 1.32 has it, too.
    assert_eq!(reduce(Op::Sum, &[], &[2, 3]), some(&[1, 2, 3, 4, -5, 7]));
    assert_eq!(
        reduce(Op::SumSquare, &[], &[2, 3]),
        some(&[1, 4, 9, 16, 25, 49])
    );
    assert_eq!(reduce(Op::L1, &[], &[2, 3]), some(&[1, 2, 3, 4, 5, 7]));

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
