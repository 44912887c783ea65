//! Values of operators on small inputs, through CpuRef. Expected ones are worked out in the test, or
//! from what it names.

mod one_node;
mod test_data;

use std::slice::from_ref;

use armnn_onnx_parser::model::ElementType;
use armnn_onnx_parser::proto::*;
use armnn_runtime::{DataType, HostTensor, Value};

use one_node::*;

#[test]
fn matrices_of_integers_are_multiplied_and_wrap_around() {
    // 1 3 + 2 5 = 13, 1 4 + 2 6 = 16; 2^62 3 + 0 = 3 2^62 - 2^64 = -2^62, 2^62 4 = 2^64 = 0
    let x = integers(&[2, 2], &[1, 2, 1 << 62, 0]);
    let y = integers(&[2, 2], &[3, 4, 5, 6]);
    let y = outputs("", 13, "MatMul", vec![x, y], &[], 1);
    let values = found(&y[0]).elements::<i64>().unwrap();
    assert_eq!(values, [13, 16, -(1 << 62), 0]);
}

#[test]
fn functions_of_float64_that_no_layer_has_are_computed_in_it() {
    // log(1 / 4) and log(3 / 4)
    let x = doubles(&[1, 2], &[0.0, 3f64.ln()]);
    let y = outputs("", 13, "LogSoftmax", vec![x], &[], 1);
    let values = found(&y[0]).elements::<f64>().unwrap();
    for (found, expected) in values.iter().zip([0.25f64.ln(), 0.75f64.ln()]) {
        assert!((found - expected).abs() < 1e-15, "{found} for {expected}");
    }
    let x = doubles(&[3], &[-2.0, 0.5, -0.25]);
    let slope = doubles(&[1], &[0.1]);
    let y = outputs("", 16, "PRelu", vec![x, slope], &[], 1);
    assert_eq!(found(&y[0]).elements::<f64>().unwrap(), [-0.2, 0.5, -0.025]);
}

#[test]
fn norms_of_integers_are_the_whole_part_of_the_real_ones() {
    // sqrt(9 + 16) = 5; log(2 + 6) = 2.08; log(e + e^2) = 2.31
    for (op_type, values, expected) in [
        ("ReduceL2", [3, 4], 5),
        ("ReduceLogSum", [2, 6], 2),
        ("ReduceLogSumExp", [1, 2], 2),
    ] {
        let y = outputs("", 18, op_type, vec![integers(&[2], &values)], &[], 1);
        assert_eq!(
            found(&y[0]).elements::<i64>().unwrap(),
            [expected],
            "{op_type}"
        );
    }
}

#[test]
fn an_exponent_alone_is_rounded_as_the_attribute_says() {
    // 1.5 lies between 2^0 and 2^1, whose bits are 127 and 128; 4 is 2^2; -0.75 counts as 0.75,
    // between 2^-1 and 2^0; infinity is NaN; what lies beyond 2^127 stays that, or is NaN.
    let values = [1.5, 4.0, -0.75, f32::INFINITY, 3e38];
    for (mode, saturate, expected) in [
        ("up", 1, [128, 129, 127, 255, 254]),
        ("up", 0, [128, 129, 127, 255, 255]),
        ("down", 1, [127, 129, 126, 255, 254]),
    ] {
        let to = int("to", ElementType::FLOAT8E8M0.0.into());
        let attributes = [to, text("round_mode", mode), int("saturate", saturate)];
        let y = outputs("", 25, "Cast", vec![floats(&[5], &values)], &attributes, 1);
        assert_eq!(found(&y[0]).bytes(), expected, "{mode} {saturate}");
    }
}

#[test]
fn blocks_go_to_depth_channel_by_channel_if_so_asked() {
    // Two channels of one block of 2 x 2 each.
    let with = |mode| {
        let x = floats(&[1, 2, 2, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        let attributes = [int("blocksize", 2), text("mode", mode)];
        let y = outputs("", 28, "SpaceToDepth", vec![x], &attributes, 1);
        found(&y[0]).elements::<f32>().unwrap().to_vec()
    };
    assert_eq!(with("CRD"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    assert_eq!(with("DCR"), [0.0, 4.0, 1.0, 5.0, 2.0, 6.0, 3.0, 7.0]);
}

#[test]
fn dropout_in_training_draws_the_numbers_of_numpy() {
    // numpy.random.RandomState(0).rand(4) is 0.549, 0.715, 0.603, 0.545: at least 0.6 are the second
    // and the third, which are divided by 0.4.
    let yes = tensor(DataType::Boolean, &[], &[1u8], |byte| [byte]);
    let inputs = vec![
        floats(&[4], &[1.0, 2.0, 3.0, 4.0]),
        floats(&[], &[0.6]),
        (ElementType::BOOL, yes),
    ];
    let y = outputs("", 13, "Dropout", inputs, &[int("seed", 0)], 2);
    let values = found(&y[0]).elements::<f32>().unwrap();
    for (found, expected) in values.iter().zip([0.0, 5.0, 7.5, 0.0]) {
        assert!((found - expected).abs() < 1e-5, "{values:?}");
    }
    assert_eq!(found(&y[1]).bytes(), [0, 1, 1, 0]);
}

#[test]
fn samples_are_classes_as_often_as_their_probability_says() {
    // Class 1 has all of it.
    let x = floats(&[2, 3], &[-1e9, 0.0, -1e9, -1e9, 5.0, -1e9]);
    let y = outputs("", 22, "Multinomial", vec![x], &[int("sample_size", 4)], 1);
    assert_eq!(found(&y[0]).elements::<i32>().unwrap(), [1; 8]);
    let half = outputs(
        "",
        22,
        "Bernoulli",
        vec![floats(&[1000], &[0.5; 1000])],
        &[],
        1,
    );
    let ones: f32 = found(&half[0]).elements::<f32>().unwrap().iter().sum();
    // Outside once in 10^15 times: eight standard deviations of 15.8.
    assert!((374.0..626.0).contains(&ones), "{ones}");
}

#[test]
fn trees_lead_to_leaves_and_a_target_without_votes_is_0() {
    // x0 <= 1: target 0 gets 2; else x1 > 0 or NaN: target 1 gets 3, and without that, target 0 -1.
    let attributes = [
        ints("nodes_treeids", &[0; 5]),
        ints("nodes_nodeids", &[0, 1, 2, 3, 4]),
        ints("nodes_featureids", &[0, 0, 1, 0, 0]),
        texts(
            "nodes_modes",
            &["BRANCH_LEQ", "LEAF", "BRANCH_GT", "LEAF", "LEAF"],
        ),
        reals("nodes_values", &[1.0, 0.0, 0.0, 0.0, 0.0]),
        ints("nodes_truenodeids", &[1, 0, 3, 0, 0]),
        ints("nodes_falsenodeids", &[2, 0, 4, 0, 0]),
        ints("nodes_missing_value_tracks_true", &[0, 0, 1, 0, 0]),
        ints("target_treeids", &[0; 3]),
        ints("target_nodeids", &[1, 3, 4]),
        ints("target_ids", &[0, 1, 0]),
        reals("target_weights", &[2.0, 3.0, -1.0]),
        int("n_targets", 2),
        text("aggregate_function", "MAX"),
    ];
    let x = floats(&[4, 2], &[1.0, 5.0, 2.0, 5.0, 2.0, f32::NAN, 2.0, -5.0]);
    let y = outputs(
        "ai.onnx.ml",
        3,
        "TreeEnsembleRegressor",
        vec![x],
        &attributes,
        1,
    );
    let values = found(&y[0]).elements::<f32>().unwrap();
    assert_eq!(values, [2.0, 0.0, 0.0, 3.0, 0.0, 3.0, -1.0, 0.0]);
}

#[test]
fn features_are_scaled_filled_in_and_normalized() {
    let ml = |op_type, x: &[f32], attributes: &[AttributeProto]| {
        let y = ml(op_type, 1, floats(&[1, 2], x), attributes);
        found(&y[0]).elements::<f32>().unwrap().to_vec()
    };
    let scaled = [reals("offset", &[1.0]), reals("scale", &[2.0, 3.0])];
    assert_eq!(ml("Scaler", &[2.0, 5.0], &scaled), [2.0, 12.0]);
    let filled = [
        reals("imputed_value_floats", &[7.0, 8.0]),
        attribute("replaced_value_float", |a| {
            a.r#type = attribute_type::FLOAT;
            a.f = f32::NAN;
        }),
    ];
    assert_eq!(ml("Imputer", &[1.0, f32::NAN], &filled), [1.0, 8.0]);
    assert_eq!(
        ml("Normalizer", &[3.0, -4.0], &[text("norm", "L2")]),
        [0.6, -0.8]
    );
    assert_eq!(
        ml("Normalizer", &[0.0, 0.0], &[text("norm", "L1")]),
        [0.0, 0.0]
    );
    // 3 1 + 5 2 + 0.5
    let linear = [
        reals("coefficients", &[1.0, 2.0]),
        reals("intercepts", &[0.5]),
    ];
    assert_eq!(ml("LinearRegressor", &[3.0, 5.0], &linear), [13.5]);
}

fn ml(
    op_type: &str,
    version: i64,
    x: (ElementType, HostTensor),
    attributes: &[AttributeProto],
) -> Vec<Value> {
    let n_outputs = 1 + usize::from(op_type.ends_with("Classifier"));
    outputs(
        "ai.onnx.ml",
        version,
        op_type,
        vec![x],
        attributes,
        n_outputs,
    )
}

/// A tree: x <= 0 leads to the first leaf, else the second, with these votes for a class.
fn voting(votes: [(i64, f32); 2], labels: &[i64], transform: &str) -> Vec<Value> {
    let attributes = [
        ints("nodes_treeids", &[0; 3]),
        ints("nodes_nodeids", &[0, 1, 2]),
        ints("nodes_featureids", &[0; 3]),
        texts("nodes_modes", &["BRANCH_LEQ", "LEAF", "LEAF"]),
        reals("nodes_values", &[0.0; 3]),
        ints("nodes_truenodeids", &[1, 0, 0]),
        ints("nodes_falsenodeids", &[2, 0, 0]),
        ints("class_treeids", &[0; 2]),
        ints("class_nodeids", &[1, 2]),
        ints("class_ids", &votes.map(|vote| vote.0)),
        reals("class_weights", &votes.map(|vote| vote.1)),
        ints("classlabels_int64s", labels),
        text("post_transform", transform),
    ];
    let x = floats(&[2, 1], &[-1.0, 1.0]);
    ml("TreeEnsembleClassifier", 3, x, &attributes)
}

/// ONNX Runtime 1.32 gives the same.
#[test]
fn trees_vote_for_classes() {
    let check = |y: Vec<Value>, labels: [i64; 2], scores: &[f32]| {
        assert_eq!(found(&y[0]).elements::<i64>(), Some(&labels[..]));
        let found = found(&y[1]).elements::<f32>().unwrap();
        let pairs = found.iter().zip(scores);
        assert!(
            pairs.clone().all(|(a, b)| (a - b).abs() < 1e-6),
            "{found:?}"
        );
        assert_eq!(found.len(), scores.len());
    };
    // Of two classes, with a probability of the second: above a half.
    let y = voting([(0, 0.25), (0, 0.75)], &[5, 7], "NONE");
    check(y, [5, 7], &[0.75, 0.25, 0.25, 0.75]);
    // With something else: above 0.
    let y = voting([(0, -0.25), (0, 0.25)], &[5, 7], "NONE");
    check(y, [5, 7], &[0.25, -0.25, -0.25, 0.25]);
    // 1 / (1 + exp(-1)) = 0.7310586.
    let y = voting([(0, -1.0), (0, 1.0)], &[5, 7], "LOGISTIC");
    let (less, more) = (0.268_941_4, 0.731_058_6);
    check(y, [5, 7], &[more, less, less, more]);
    // Classes without votes are not chosen, even where a vote is below 0.
    let y = voting([(1, -0.5), (2, 0.5)], &[5, 6, 7], "NONE");
    check(y, [6, 7], &[0.0, -0.5, 0.0, 0.0, 0.0, 0.5]);
}

#[test]
fn support_vectors_are_weighted_by_their_kernels() {
    let with = |kernel: &str, one_class: i64| {
        let attributes = [
            text("kernel_type", kernel),
            reals("kernel_params", &[0.5, 1.0, 2.0]),
            reals("support_vectors", &[1.0, 2.0, 3.0, 0.0]),
            int("n_supports", 2),
            reals("coefficients", &[2.0, -1.0]),
            reals("rho", &[0.25]),
            int("one_class", one_class),
        ];
        let y = ml("SVMRegressor", 1, floats(&[1, 2], &[1.0, 1.0]), &attributes);
        found(&y[0]).elements::<f32>().unwrap()[0]
    };
    let close = |found: f32, expected: f64| {
        assert!(
            (f64::from(found) - expected).abs() < 1e-5,
            "{found} for {expected}"
        );
    };
    // Products 3 and 3: 6 - 3 + 0.25.
    close(with("LINEAR", 0), 3.25);
    assert_eq!(with("LINEAR", 1), 1.0);
    // (0.5 3 + 1)^2 = 6.25 of both.
    close(with("POLY", 0), 6.5);
    // Squares of distances 1 and 5.
    close(
        with("RBF", 0),
        2.0 * (-0.5f64).exp() - (-2.5f64).exp() + 0.25,
    );
    close(with("SIGMOID", 0), 2.5f64.tanh() + 0.25);
}

#[test]
fn categories_become_numbers() {
    let x = || integers(&[2, 2], &[3, 1, 9, 2]);
    let encoder = [ints("cats_int64s", &[1, 2, 3])];
    let y = ml("OneHotEncoder", 1, x(), &encoder);
    let y = found(&y[0]);
    assert_eq!(y.info().shape.dims(), [2, 2, 3]);
    let expected = [0., 0., 1., 1., 0., 0., 0., 0., 0., 0., 1., 0.];
    assert_eq!(y.elements::<f32>(), Some(&expected[..]));
    // What no category is may be an error; of others it is none.
    let known = [encoder[0].clone(), int("zeros", 0)];
    let y = ml("OneHotEncoder", 1, floats(&[2], &[2.5, 1.0]), &known);
    let expected = [0.0, 1.0, 0.0, 1.0, 0.0, 0.0];
    assert_eq!(found(&y[0]).elements::<f32>(), Some(&expected[..]));

    let labels = [
        ints("keys_int64s", &[1, 2, 1, 3]),
        reals("values_floats", &[0.5, 1.5, 2.5, 3.5]),
    ];
    let y = ml("LabelEncoder", 2, x(), &labels);
    let expected = [3.5, 0.5, -0.0, 1.5];
    assert_eq!(found(&y[0]).elements::<f32>(), Some(&expected[..]));
    // Keys are compared bit by bit, the standard says.
    let labels = [
        reals("keys_floats", &[1.0, f32::NAN]),
        ints("values_int64s", &[10, 20]),
        int("default_int64", 30),
    ];
    let x = floats(&[3], &[f32::NAN, 1.0, 2.0]);
    let y = ml("LabelEncoder", 2, x, &labels);
    assert_eq!(found(&y[0]).elements::<i64>(), Some(&[20, 10, 30][..]));
}

/// Windows of 3 with a stride of 2 over 2 elements: (2 - 3) / 2 + 1 = 0.5, rounded up 1.
#[test]
fn a_window_that_is_larger_than_the_input_is_one_where_sizes_are_rounded_up() {
    let x = || vec![floats(&[1, 1, 2], &[2.0, 5.0])];
    let attributes = [
        ints("kernel_shape", &[3]),
        ints("strides", &[2]),
        int("ceil_mode", 1),
    ];
    let pooled = |op_type| outputs("", 19, op_type, x(), &attributes, 1).remove(0);
    assert_eq!(
        found(&pooled("MaxPool")).elements::<f32>(),
        Some(&[5.0][..])
    );
    // (2 + 5) / 2.
    let mean = pooled("AveragePool");
    assert_eq!(found(&mean).elements::<f32>(), Some(&[3.5][..]));
    let both = outputs("", 12, "MaxPool", x(), &attributes, 2);
    assert_eq!(found(&both[0]).elements::<f32>(), Some(&[5.0][..]));
    assert_eq!(found(&both[1]).elements::<i64>(), Some(&[1][..]));
}

/// Weights of 1 and no recurrence: tanh(0.5). The standard's default names a function for each of two
/// directions; of one direction, the first is meant.
#[test]
fn a_recurrent_layer_of_one_direction_takes_the_first_of_two_functions() {
    let inputs = || {
        vec![
            floats(&[1, 1, 1], &[0.5]),
            floats(&[1, 1, 1], &[1.0]),
            floats(&[1, 1, 1], &[0.0]),
        ]
    };
    let both = [texts("activations", &["Tanh", "Relu"])];
    let y = outputs("", 14, "RNN", inputs(), &both, 1).remove(0);
    let found = found(&y).elements::<f32>().unwrap()[0];
    assert!((found - 0.462_117_16).abs() < 1e-6, "{found}");
}

/// Numbers that count up from 1 in matrices of 2 by n and n by 2.
#[test]
fn einsum_sums_over_sizes_that_are_not_known_and_over_one_against_many() {
    let equation = attribute("equation", |a| a.s = "ij,jk->ik".into());
    let counted = |dims: &[i64]| {
        let count = dims.iter().product::<i64>();
        floats(dims, &(1..=count).map(|n| n as f32).collect::<Vec<_>>())
    };
    let run = |x: &[i64], y: &[i64], declared| {
        let inputs = vec![counted(x), counted(y)];
        let outputs = outputs_of("", 12, "Einsum", inputs, from_ref(&equation), 1, declared);
        found(&outputs[0]).elements::<f32>().unwrap().to_vec()
    };
    // [1 2 3; 4 5 6] by [1 2; 3 4; 5 6].
    let product = [22.0, 28.0, 49.0, 64.0];
    assert_eq!(run(&[2, 3], &[3, 2], |_| None), product);
    let known = |size| Some(DimensionValue::Value(size));
    assert_eq!(run(&[2, 3], &[3, 2], known), product);
    // [1; 2] by the sums of the columns of [1 2; 3 4; 5 6], which are 9 and 12.
    assert_eq!(run(&[2, 1], &[3, 2], known), [9.0, 12.0, 18.0, 24.0]);
    // The sums of the rows of [1 2 3; 4 5 6], 6 and 15, by [1 2].
    assert_eq!(run(&[2, 3], &[1, 2], known), [6.0, 12.0, 15.0, 30.0]);
    // The same where that is found out while running.
    let unknown = |_| None;
    assert_eq!(run(&[2, 1], &[3, 2], unknown), [9.0, 12.0, 18.0, 24.0]);
    assert_eq!(run(&[2, 3], &[1, 2], unknown), [6.0, 12.0, 15.0, 30.0]);
    assert_eq!(run(&[2, 0], &[1, 2], unknown), [0.0; 4]);
}

/// Of two dimensions that are summed over, one is 1 in each of the tensors: 10, 20 and 30 for rows, 1
/// and 2 for columns.
#[test]
fn einsum_sums_over_several_sizes_that_are_not_known() {
    let equation = attribute("equation", |a| a.s = "ij,ij->".into());
    let inputs = vec![
        floats(&[3, 1], &[10.0, 20.0, 30.0]),
        floats(&[1, 2], &[1.0, 2.0]),
    ];
    let outputs = outputs_of("", 12, "Einsum", inputs, &[equation], 1, |_| None);
    // 60 by 3.
    assert_eq!(found(&outputs[0]).elements::<f32>().unwrap(), [180.0]);
}

/// [1 2; 3 4] by the same, beyond what Float64 tells apart: 2^53 more in one product.
#[test]
fn einsum_multiplies_integers() {
    let equation = attribute("equation", |a| a.s = "ij,jk->ik".into());
    let inputs = || {
        vec![
            integers(&[2, 2], &[1, 2, 3, 4]),
            integers(&[2, 2], &[(1 << 53) + 1, 2, 3, 4]),
        ]
    };
    for declared in [|_| None, |size| Some(DimensionValue::Value(size))] {
        let outputs = outputs_of("", 12, "Einsum", inputs(), from_ref(&equation), 1, declared);
        let expected = [(1 << 53) + 7, 10, 3 * (1 << 53) + 15, 22];
        assert_eq!(found(&outputs[0]).elements::<i64>().unwrap(), expected);
    }
}
