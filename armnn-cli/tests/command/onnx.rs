//! Small files of ONNX, byte by byte: the numbers of fields are those of `onnx.proto`.

/// A message of Protocol Buffers: fields, one after the other.
pub fn message(fields: &[&[u8]]) -> Vec<u8> {
    fields.concat()
}

/// A field that holds bytes, of fewer than 128.
pub fn bytes_field(number: u8, value: &[u8]) -> Vec<u8> {
    let length = u8::try_from(value.len()).unwrap();
    assert!(length < 128);
    [&[number << 3 | 2, length], value].concat()
}

/// A field that holds a small number.
pub fn number_field(number: u8, value: u8) -> Vec<u8> {
    assert!(value < 128);
    vec![number << 3, value]
}

/// An ONNX model of one node with two Float32 inputs and one output of two elements.
pub fn model(operator: &str) -> Vec<u8> {
    let info = |name: &str| {
        let dim = bytes_field(1, &number_field(1, 2));
        let tensor = message(&[&number_field(1, 1), &bytes_field(2, &dim)]);
        let of_type = bytes_field(1, &tensor);
        message(&[&bytes_field(1, name.as_bytes()), &bytes_field(2, &of_type)])
    };
    let node = message(&[
        &bytes_field(1, b"a"),
        &bytes_field(1, b"b"),
        &bytes_field(2, b"y"),
        &bytes_field(4, operator.as_bytes()),
    ]);
    let graph = message(&[
        &bytes_field(1, &node),
        &bytes_field(11, &info("a")),
        &bytes_field(11, &info("b")),
        &bytes_field(12, &info("y")),
    ]);
    // The version of the format, the graph, and that of the operators.
    message(&[
        &number_field(1, 8),
        &bytes_field(7, &graph),
        &bytes_field(8, &number_field(2, 17)),
    ])
}

/// A tensor of ONNX: two elements of Float32.
pub fn tensor(values: [f32; 2]) -> Vec<u8> {
    let raw: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    message(&[
        &number_field(1, 2),
        &number_field(2, 1),
        &bytes_field(9, &raw),
    ])
}

/// A sequence of such tensors, in a file of its own.
pub fn sequence(values: &[[f32; 2]]) -> Vec<u8> {
    let tensors = values.iter().map(|&value| bytes_field(3, &tensor(value)));
    [number_field(2, 1), tensors.collect::<Vec<_>>().concat()].concat()
}

/// A model that chooses one of a sequence of such tensors: inputs `s` and `i`, output `y`.
pub fn choosing_model() -> Vec<u8> {
    let dim = bytes_field(1, &number_field(1, 2));
    let tensor = message(&[&number_field(1, 1), &bytes_field(2, &dim)]);
    let floats = bytes_field(1, &tensor);
    // Of no dimensions.
    let number = message(&[&number_field(1, 7), &bytes_field(2, &[])]);
    let info = |name: &[u8], of: &[u8]| message(&[&bytes_field(1, name), &bytes_field(2, of)]);
    let node = message(&[
        &bytes_field(1, b"s"),
        &bytes_field(1, b"i"),
        &bytes_field(2, b"y"),
        &bytes_field(4, b"SequenceAt"),
    ]);
    let sequence = bytes_field(4, &bytes_field(1, &floats));
    let graph = message(&[
        &bytes_field(1, &node),
        &bytes_field(11, &info(b"s", &sequence)),
        &bytes_field(11, &info(b"i", &bytes_field(1, &number))),
        &bytes_field(12, &info(b"y", &floats)),
    ]);
    message(&[
        &number_field(1, 8),
        &bytes_field(7, &graph),
        &bytes_field(8, &number_field(2, 17)),
    ])
}
