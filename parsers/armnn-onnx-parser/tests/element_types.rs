//! Operators with elements of other types than Float32. What is expected was computed by ONNX Runtime
//! 1.32 from the same numbers, or, where it is said, by the reference implementation of ONNX 1.23 or
//! in the test.

mod one_node;
mod test_data;

use armnn_onnx_parser::model::ElementType;
use armnn_onnx_parser::proto::AttributeProto;
use armnn_runtime::{DataType, HostTensor, Value};

use one_node::*;

/// 1/7, 2/7, 4/7, 8/7, 3/7, 5/7
fn sevenths(dims: &[i64]) -> (ElementType, HostTensor) {
    doubles(dims, &[1.0, 2.0, 4.0, 8.0, 3.0, 5.0].map(|n| n / 7.0))
}

/// So many numbers from one to another, each as far from the next, through 3.
fn thirds(dims: &[i64], from: f64, to: f64) -> (ElementType, HostTensor) {
    let last = dims.iter().product::<i64>() - 1;
    let numbers: Vec<f64> = (0..=last)
        .map(|i| (from + (to - from) * i as f64 / last as f64) / 3.0)
        .collect();
    doubles(dims, &numbers)
}

/// Fails unless the first output has these numbers, to more digits than Float32 has.
fn check(
    op_type: &str,
    version: i64,
    inputs: Vec<(ElementType, HostTensor)>,
    attributes: &[AttributeProto],
    expected: &[f64],
) {
    let outputs = outputs("", version, op_type, inputs, attributes, 1);
    let values = found(&outputs[0]).elements::<f64>().unwrap();
    assert_eq!(values.len(), expected.len(), "{op_type}");
    for (found, expected) in values.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-13, "{op_type}: {values:?}");
    }
}

#[test]
fn normalizations_of_float64_are_computed_in_it() {
    let scale = || doubles(&[3], &[1.0, 2.0, 3.0].map(|n| n / 3.0));
    let bias = doubles(&[3], &[0.1, 0.2, 0.3]);
    check(
        "LayerNormalization",
        17,
        vec![sevenths(&[2, 3]), scale(), bias],
        &[],
        &[
            -0.256292210946533,
            0.021853894526733,
            1.6360957910495,
            0.532565356903528,
            -0.556989374581174,
            0.137787991161177,
        ],
    );
    check(
        "RMSNormalization",
        23,
        vec![sevenths(&[2, 3]), scale()],
        &[],
        &[
            0.125983748315825,
            0.5039349932633,
            1.511804979789901,
            0.466565975584237,
            0.349924481688178,
            0.874811204220444,
        ],
    );
    let factors = || {
        [
            doubles(&[2], &[1.0 / 3.0, 2.0 / 3.0]),
            doubles(&[2], &[0.1, 0.2]),
        ]
    };
    // By NumPy: ONNX Runtime computes moments in FLOAT.
    let [scale, bias] = factors();
    check(
        "GroupNormalization",
        21,
        vec![sevenths(&[1, 2, 3]), scale, bias],
        &[int("num_groups", 1)],
        &[
            -0.3166017578901368,
            -0.16956584334067668,
            0.12450598575824337,
            1.425299287912167,
            -0.04505985758243333,
            0.543083800615407,
        ],
    );
    // By the reference implementation.
    let [scale, bias] = factors();
    check(
        "InstanceNormalization",
        6,
        vec![sevenths(&[1, 2, 3]), scale, bias],
        &[],
        &[
            -0.256292210946533,
            0.010926947263367,
            0.545365263683167,
            1.065130713807056,
            -0.556989374581174,
            0.091858660774118,
        ],
    );
    // Squares of neighbouring channels: 1 + 4, 1 + 4 + 16, 4 + 16.
    let alpha = f64::from(0.5f32 / 3.0);
    let lrn = |x: f64, squares: f64| x / (1.0 + alpha * squares).powf(0.75);
    check(
        "LRN",
        13,
        vec![doubles(&[1, 3, 1, 1], &[1.0, 2.0, 4.0])],
        &[int("size", 3), real("alpha", 0.5)],
        &[lrn(1.0, 5.0), lrn(2.0, 21.0), lrn(4.0, 20.0)],
    );
    let parameters = [[1.0 / 3.0, 2.0 / 3.0], [0.1, 0.2], [0.3, 0.4], [0.5, 0.6]];
    let mut inputs = vec![sevenths(&[1, 2, 3])];
    inputs.extend(parameters.map(|p| doubles(&[2], &p)));
    check(
        "BatchNormalization",
        15,
        inputs,
        &[],
        &[
            0.02592288750024,
            0.093265717045476,
            0.227951376135948,
            0.83934430390801,
            0.224590165534923,
            0.470491820884158,
        ],
    );
}

#[test]
fn signals_and_losses_of_float64_are_computed_in_it() {
    // 23/7; 1 + 2 w + 4 w^2 and so on with the sixth root of unity, by NumPy.
    let (a, b, c) = (0.247435829652697, 0.285714285714286, 0.494871659305393);
    check(
        "DFT",
        17,
        vec![sevenths(&[1, 6, 1])],
        &[int("axis", 1)],
        &[23.0 / 7.0, 0.0, -1.0, a, b, c, -1.0, 0.0, b, -c, -1.0, -a],
    );
    check(
        "STFT",
        17,
        vec![
            sevenths(&[1, 6, 1]),
            integers(&[], &[2]),
            doubles(&[4], &[1.0; 4]),
        ],
        &[],
        &[
            15.0, 0.0, -3.0, 6.0, -5.0, 0.0, 20.0, 0.0, 1.0, -3.0, -6.0, 0.0,
        ]
        .map(|n| n / 7.0),
    );
    // (1 5 - 2 3) / 49
    check(
        "Det",
        11,
        vec![doubles(&[2, 2], &[1.0, 2.0, 3.0, 5.0].map(|n| n / 7.0))],
        &[],
        &[-1.0 / 49.0],
    );
    check(
        "SoftmaxCrossEntropyLoss",
        13,
        vec![sevenths(&[2, 3]), integers(&[2], &[2, 0])],
        &[],
        &[0.818973574408253],
    );
}

#[test]
fn images_of_float64_are_sampled_in_it() {
    check(
        "GridSample",
        20,
        vec![
            doubles(&[1, 1, 2, 2], &[1.0, 2.0, 4.0, 8.0].map(|n| n / 7.0)),
            doubles(&[1, 1, 2, 2], &[-0.3, 0.1, 0.7, -0.9]),
        ],
        &[],
        &[0.48, 0.137142857142857],
    );
    check(
        "RoiAlign",
        16,
        vec![
            sevenths(&[1, 1, 2, 3]),
            doubles(&[1, 4], &[0.1, 0.2, 2.3, 1.7]),
            integers(&[1], &[0]),
        ],
        &[
            int("output_height", 1),
            int("output_width", 2),
            int("sampling_ratio", 2),
        ],
        &[0.54125, 0.428035714285714],
    );
    // By the reference implementation; quarters are weights that Float32 has.
    let (none, sizes) = (|| floats(&[0], &[]), || integers(&[4], &[1, 1, 2, 6]));
    check(
        "Resize",
        19,
        vec![sevenths(&[1, 1, 2, 3]), none(), none(), sizes()],
        &[text("mode", "linear")],
        &[
            1.0, 1.25, 1.75, 2.5, 3.5, 4.0, 8.0, 6.75, 4.25, 3.5, 4.5, 5.0,
        ]
        .map(|n| n / 7.0),
    );
    check(
        "Resize",
        19,
        vec![sevenths(&[1, 1, 2, 3]), none(), none(), sizes()],
        &[text("mode", "cubic")],
        &[
            0.127790178571429,
            0.165178571428571,
            0.223214285714286,
            0.365513392857143,
            0.51171875,
            0.6015625,
            1.218191964285714,
            0.970982142857143,
            0.560267857142857,
            0.41796875,
            0.624441964285714,
            0.744419642857143,
        ],
    );
}

// By the reference implementation: ONNX Runtime has no such layers.
#[test]
fn recurrent_layers_of_float64_are_computed_in_it() {
    for (op_type, gates, expected) in [
        (
            "LSTM",
            4,
            [
                0.045293276217227,
                0.06732515292907,
                0.082216602223145,
                0.135832651745274,
            ],
        ),
        (
            "GRU",
            3,
            [
                0.108603933781478,
                0.162639210693981,
                0.262278008362379,
                0.389837029363803,
            ],
        ),
        (
            "RNN",
            1,
            [
                -0.141893193766933,
                0.251621214619991,
                -0.488147586219877,
                0.320219951750571,
            ],
        ),
    ] {
        let inputs = vec![
            sevenths(&[2, 1, 3]),
            thirds(&[1, 2 * gates, 3], -1.0, 1.0),
            thirds(&[1, 2 * gates, 2], 1.0, -1.0),
        ];
        check(op_type, 14, inputs, &[int("hidden_size", 2)], &expected);
    }
}

/// A Resize of integers to these sizes.
fn resized<T: Copy, const N: usize>(
    (data_type, element_type): (DataType, ElementType),
    bytes: fn(T) -> [u8; N],
    (from, values): ([i64; 4], [T; 4]),
    to: [i64; 4],
    attributes: &[AttributeProto],
) -> Value {
    let inputs = vec![
        (element_type, tensor(data_type, &from, &values, bytes)),
        floats(&[0], &[]),
        floats(&[0], &[]),
        integers(&[4], &to),
    ];
    outputs("", 19, "Resize", inputs, attributes, 1).remove(0)
}

#[test]
fn integers_are_resized_towards_zero_or_to_the_nearest_with_cubic_and_antialias() {
    let unsigned = |of, to, attributes: &[AttributeProto]| {
        let kind = (DataType::UInt8, ElementType::UINT8);
        let values = [1u8, 4, 2, 8];
        let y = resized(kind, u8::to_ne_bytes, (of, values), to, attributes);
        found(&y).elements::<u8>().unwrap().to_vec()
    };
    let signed = |of, to, attributes: &[AttributeProto]| {
        let values = [-5, 4, 2, -8];
        let kind = (DataType::Int8, ElementType::INT8);
        let bytes = i8::to_ne_bytes;
        let narrow = resized(kind, bytes, (of, values), to, attributes);
        let kind = (DataType::Signed32, ElementType::INT32);
        let values = values.map(i32::from);
        let wide = resized(kind, i32::to_ne_bytes, (of, values), to, attributes);
        let wide = found(&wide).elements::<i32>().unwrap().to_vec();
        let narrow = found(&narrow).elements::<i8>().unwrap();
        let widened: Vec<i32> = narrow.iter().map(|&n| n.into()).collect();
        assert_eq!(widened, wide);
        wide
    };
    let (row, column, square) = ([1, 1, 1, 4], [1, 1, 4, 1], [1, 1, 2, 2]);
    let linear = [text("mode", "linear")];
    let (longer, shorter, larger) = ([1, 1, 1, 7], [1, 1, 3, 1], [1, 1, 3, 3]);
    assert_eq!(unsigned(row, longer, &linear), [1, 2, 3, 3, 2, 5, 8]);
    assert_eq!(unsigned(column, shorter, &linear), [1, 3, 6]);
    let y = unsigned(square, larger, &linear);
    assert_eq!(y, [1, 2, 4, 1, 3, 6, 2, 5, 8]);
    assert_eq!(signed(row, longer, &linear), [-5, -1, 3, 3, 1, -4, -8]);
    assert_eq!(signed(column, shorter, &linear), [-3, 3, -6]);
    let y = signed(square, larger, &linear);
    assert_eq!(y, [-5, 0, 4, -1, -1, -2, 2, -3, -8]);
    let asymmetric = [
        text("mode", "linear"),
        text("coordinate_transformation_mode", "asymmetric"),
    ];
    assert_eq!(unsigned(row, longer, &asymmetric), [1, 2, 3, 2, 3, 7, 8]);
    let y = unsigned(square, larger, &asymmetric);
    assert_eq!(y, [1, 3, 4, 1, 5, 6, 2, 6, 8]);
    let y = signed(square, larger, &asymmetric);
    assert_eq!(y, [-5, 1, 4, 0, -2, -4, 2, -4, -8]);
    // ONNX Runtime takes INT8 for UINT8 in what follows, so that it is compared with INT32.
    let antialias = [text("mode", "linear"), int("antialias", 1)];
    assert_eq!(unsigned(row, longer, &antialias), [1, 2, 4, 3, 2, 6, 8]);
    assert_eq!(unsigned(column, shorter, &antialias), [2, 3, 6]);
    assert_eq!(signed(row, longer, &antialias), [-5, -2, 3, 3, 1, -4, -8]);
    assert_eq!(signed(column, shorter, &antialias), [-3, 3, -5]);
    let y = signed(square, larger, &antialias);
    assert_eq!(y, [-5, -1, 4, -2, -2, -2, 2, -3, -8]);
    // What it gives for FLOAT, 0.68 2.28 3.89, 1.11 3.75 6.39, 1.54 5.22 8.89; and -6.53 -0.28 5.96,
    // -1.46 -1.75 -2.04, 3.62 -3.22 -10.05. Integers it rounds after each direction.
    let cubic = [text("mode", "cubic")];
    let y = unsigned(square, larger, &cubic);
    assert_eq!(y, [1, 2, 4, 1, 4, 6, 2, 5, 9]);
    let y = signed(square, larger, &cubic);
    assert_eq!(y, [-7, 0, 6, -1, -2, -2, 4, -3, -10]);
}

#[test]
fn resized_integers_of_64_bits_keep_more_than_float32_has_and_results_saturate() {
    let inputs = vec![
        integers(&[1, 1, 1, 2], &[1 << 40, (1 << 40) + 4]),
        floats(&[0], &[]),
        floats(&[0], &[]),
        integers(&[4], &[1, 1, 1, 4]),
    ];
    // Quarters of the way from one to the other, which is 4.
    let y = outputs("", 19, "Resize", inputs, &[text("mode", "linear")], 1);
    let base = 1i64 << 40;
    let values = found(&y[0]).elements::<i64>().unwrap();
    assert_eq!(values, [base, base + 1, base + 3, base + 4]);
    // 0 255 255 0: a cubic kernel swings beyond both.
    let kind = (DataType::UInt8, ElementType::UINT8);
    let of = ([1, 1, 1, 4], [0, 255, 255, 0]);
    let cubic = [text("mode", "cubic")];
    let y = resized(kind, u8::to_ne_bytes, of, [1, 1, 1, 8], &cubic);
    let values = found(&y).elements::<u8>().unwrap();
    assert_eq!((values[0], values[3], values[7]), (0, 255, 0));
}

#[test]
fn products_and_sums_of_integers_are_exact_and_wrap_around() {
    let int32s = |dims: &[i64], values: &[i32]| {
        let tensor = tensor(DataType::Signed32, dims, values, i32::to_ne_bytes);
        (ElementType::INT32, tensor)
    };
    let inputs = || {
        vec![
            int32s(&[2, 2], &[1, 2, 1 << 30, 0]),
            int32s(&[2, 2], &[3, 4, 5, 6]),
            int32s(&[2], &[100, 200]),
        ]
    };
    let gemm = |inputs, attributes: &[AttributeProto]| {
        let y = outputs("", 13, "Gemm", inputs, attributes, 1);
        found(&y[0]).elements::<i32>().unwrap().to_vec()
    };
    // 13 16 over 3 2^30 - 2^32 = -2^30 and 2^32 - 2^32 = 0.
    let product = [13, 16, -(1 << 30), 0];
    let mut two = inputs();
    two.truncate(2);
    assert_eq!(gemm(two, &[]), product);
    // Twice that: 26 32 over -2^31 and 0; plus 300 and 600.
    let y = gemm(inputs(), &[real("alpha", 2.0), real("beta", 3.0)]);
    assert_eq!(y, [326, 632, i32::MIN + 300, 600]);
    // 1 3 + 2^30 4 = 3, 1 5 + 2^30 6 = 5 + 2^31 + 2^32; 2 3 and 2 5.
    let transposed = gemm(inputs(), &[int("transA", 1), int("transB", 1)]);
    assert_eq!(transposed, [103, i32::MIN + 205, 106, 210]);
}

// By the reference implementation: ONNX Runtime has fewer types of indices.
#[test]
fn indices_of_any_integers_are_encoded() {
    let values = || {
        (
            ElementType::INT32,
            tensor(DataType::Signed32, &[2], &[2, 5], i32::to_ne_bytes),
        )
    };
    let encoded = |indices| {
        let inputs = vec![indices, integers(&[], &[3]), values()];
        let y = outputs("", 11, "OneHot", inputs, &[], 1);
        found(&y[0]).elements::<i32>().unwrap().to_vec()
    };
    let bytes = tensor(DataType::UInt8, &[3], &[1, 0, 255], u8::to_ne_bytes);
    let expected = [2, 5, 2, 5, 2, 2, 2, 2, 2];
    assert_eq!(encoded((ElementType::UINT8, bytes)), expected);
    let shorts = tensor(DataType::Int16, &[3], &[1, 0, -1], i16::to_ne_bytes);
    let from_end = [2, 5, 2, 5, 2, 2, 2, 2, 5];
    assert_eq!(encoded((ElementType::INT16, shorts)), from_end);
    let longs = tensor(DataType::UInt64, &[3], &[1, 0, u64::MAX], u64::to_ne_bytes);
    assert_eq!(encoded((ElementType::UINT64, longs)), expected);
}

#[test]
fn numbers_of_8_bits_are_infinite_or_none_as_their_format_says() {
    let bytes = |data_type, values: &[u8]| tensor(data_type, &[4], values, u8::to_ne_bytes);
    let e5m2 = || {
        let values = [0x3c, 0x7c, 0xfc, 0x7e];
        // 1, infinity, negative infinity, NaN
        (
            ElementType::FLOAT8E5M2,
            bytes(DataType::Float8E5M2, &values),
        )
    };
    let e4m3 = || {
        // 256, 448, NaN, 1; there are no infinities.
        let values = [0x78, 0x7e, 0x7f, 0x38];
        (
            ElementType::FLOAT8E4M3FN,
            bytes(DataType::Float8E4M3FN, &values),
        )
    };
    let tested = |op_type, input, attributes: &[AttributeProto]| {
        let y = outputs("", 20, op_type, vec![input], attributes, 1);
        found(&y[0]).elements::<u8>().unwrap().to_vec()
    };
    assert_eq!(tested("IsNaN", e5m2(), &[]), [0, 0, 0, 1]);
    assert_eq!(tested("IsInf", e5m2(), &[]), [0, 1, 1, 0]);
    let positive = [int("detect_negative", 0)];
    assert_eq!(tested("IsInf", e5m2(), &positive), [0, 1, 0, 0]);
    assert_eq!(tested("IsNaN", e4m3(), &[]), [0, 0, 1, 0]);
    assert_eq!(tested("IsInf", e4m3(), &[]), [0, 0, 0, 0]);
}
