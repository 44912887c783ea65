//! Sequences.

use armnn_network::{NetworkBuilder, RuntimeOperation, SequenceOperation, ValueType};
use armnn_runtime::{DataType, Shape, TensorInfo, Value};

use super::{f32, load, tensor, values};

#[test]
fn sequences_go_into_a_network_and_come_out() {
    let mut builder = NetworkBuilder::new();
    let of = ValueType::Tensor(f32(&[-1]));
    let all = ValueType::Sequence(Box::new(of));
    let all = builder.add_value_input("all", all).unwrap();
    let last = TensorInfo::new(DataType::Signed64, Shape::SCALAR);
    let bytes = (-1i64).to_ne_bytes().to_vec();
    let last = builder
        .add_constant_layer("last", last, bytes.into())
        .unwrap();
    let at = RuntimeOperation::Sequence(SequenceOperation::At);
    let value = builder
        .add_runtime_layer("at", at, &[Some(all), Some(last)])
        .unwrap();
    let value = builder.add_abs_layer(value[0], "abs").unwrap();
    let insert = RuntimeOperation::Sequence(SequenceOperation::Insert);
    let longer = builder
        .add_runtime_layer("insert", insert, &[Some(all), Some(value)])
        .unwrap();
    let concat = RuntimeOperation::Sequence(SequenceOperation::Concat {
        axis: 0,
        new_axis: false,
    });
    let joined = builder
        .add_runtime_layer("concat", concat, &[Some(longer[0])])
        .unwrap();
    builder.add_output_layer("longer", longer[0]).unwrap();
    builder.add_output_layer("joined", joined[0]).unwrap();
    let loaded = load(builder.finish().unwrap());
    let all = vec![
        tensor(&[1], &[1.0]).into(),
        tensor(&[2], &[-2.0, -3.0]).into(),
    ];
    let outputs = loaded.run_values(vec![Value::from(all)]).unwrap();
    assert_eq!(outputs[0].as_sequence().unwrap().len(), 3);
    let joined = outputs[1].as_tensor().unwrap();
    assert_eq!(values(joined), [1.0, -2.0, -3.0, 2.0, 3.0]);
    let error = loaded
        .run_values(vec![tensor(&[1], &[1.0]).into()])
        .unwrap_err();
    assert!(
        error.to_string().starts_with("input 'all' is sequence of"),
        "{error}"
    );
}
