//! The network as a drawing, in the language of Graphviz.

use std::fmt::{self, Write};

use crate::{LayerId, Network, TensorId, TensorSource};

impl Network {
    /// The network as a Graphviz digraph: a record for each layer with its type, number, name and
    /// backend, and an edge for each tensor it reads, labelled with data type and shape.
    ///
    /// `backend` answers the backend of a layer, if it has one. Constants are drawn where they are
    /// read. Text from the model is escaped.
    #[doc(alias = "SerializeToDot")]
    pub fn to_dot<'a>(&self, backend: impl Fn(LayerId) -> Option<&'a str>) -> String {
        let mut dot = String::new();
        // Writing to a String does not fail.
        let _ = self.write_dot(&mut dot, &backend);
        dot
    }

    fn write_dot<'a>(
        &self,
        dot: &mut String,
        backend: &dyn Fn(LayerId) -> Option<&'a str>,
    ) -> fmt::Result {
        dot.push_str("digraph Network {\n    node [shape = \"record\"];\n");
        for &id in self.inputs() {
            write_data_node(dot, id, "Input", &self.tensor(id).name)?;
        }
        let mut drawn = vec![false; self.tensors().len()];
        for (index, layer) in self.layers().iter().enumerate() {
            for id in layer.present_inputs() {
                self.write_constant(dot, id, &mut drawn)?;
            }
            let id = LayerId(index as u32);
            write!(
                dot,
                "    layer_{id} [label = \"{{{}|LayerId : {id}\\lLayerName : {}\\l",
                Escaped(&layer.type_name()),
                Escaped(&layer.name)
            )?;
            if let Some(backend) = backend(id) {
                write!(dot, "BackendID : {}\\l", Escaped(backend))?;
            }
            dot.push_str("}\"];\n");
            for input in layer.present_inputs() {
                self.write_edge(dot, input, format_args!("layer_{id}"))?;
            }
        }
        for (index, output) in self.outputs().iter().enumerate() {
            self.write_constant(dot, output.tensor, &mut drawn)?;
            writeln!(
                dot,
                "    output_{index} [label = \"{{Output|LayerName : {}\\l}}\"];",
                Escaped(&output.name)
            )?;
            self.write_edge(dot, output.tensor, format_args!("output_{index}"))?;
        }
        dot.push_str("}\n");
        Ok(())
    }

    fn write_constant(&self, dot: &mut String, id: TensorId, drawn: &mut [bool]) -> fmt::Result {
        let tensor = self.tensor(id);
        if tensor.constant().is_some() && !std::mem::replace(&mut drawn[id.index()], true) {
            write_data_node(dot, id, "Constant", &tensor.name)?;
        }
        Ok(())
    }

    fn write_edge(&self, dot: &mut String, from: TensorId, to: fmt::Arguments<'_>) -> fmt::Result {
        let tensor = self.tensor(from);
        match tensor.source {
            TensorSource::Layer(layer) => write!(dot, "    layer_{layer}")?,
            _ => write!(dot, "    tensor_{from}")?,
        }
        writeln!(
            dot,
            " -> {to} [label = \"{}\"];",
            Escaped(&match &tensor.value_type {
                Some(value_type) => value_type.to_string(),
                None => tensor.info.to_string(),
            })
        )
    }
}

fn write_data_node(dot: &mut String, id: TensorId, kind: &str, name: &str) -> fmt::Result {
    writeln!(
        dot,
        "    tensor_{id} [label = \"{{{kind}|LayerName : {}\\l}}\"];",
        Escaped(name)
    )
}

/// Text that stands for itself in a record's label.
///
/// The quotes that end the string, the characters that divide a record, backslashes and
/// ampersands (which start an entity) are escaped; what cannot be printed is shown as Rust shows
/// it. The rules are those of Graphviz's "node shapes" and "string" pages.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '"' | '\\' | '{' | '}' | '|' | '<' | '>' => write!(f, "\\{c}")?,
                '&' => f.write_str("&amp;")?,
                c if c.is_control() => write!(f, "\\{}", c.escape_default())?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, TensorInfo};
    use bytes::Bytes;

    use crate::NetworkBuilder;

    #[test]
    fn a_layer_is_a_record_and_a_tensor_an_edge() {
        let mut builder = NetworkBuilder::new();
        let info = TensorInfo::new(DataType::Float32, [-1, 2]);
        let x = builder.add_input_layer("x", info).unwrap();
        let bias = TensorInfo::new(DataType::Float32, [2]);
        let bias = builder
            .add_constant_layer("b", bias, Bytes::from(vec![0; 8]))
            .unwrap();
        let sum = builder.add_addition_layer(x, bias, "sum").unwrap();
        builder.add_output_layer("y", sum).unwrap();
        let dot = builder.finish().unwrap().to_dot(|_| Some("CpuRef"));
        assert_eq!(
            dot,
            r#"digraph Network {
    node [shape = "record"];
    tensor_0 [label = "{Input|LayerName : x\l}"];
    tensor_1 [label = "{Constant|LayerName : b\l}"];
    layer_0 [label = "{ElementwiseBinary|LayerId : 0\lLayerName : sum\lBackendID : CpuRef\l}"];
    tensor_0 -> layer_0 [label = "Float32[?, 2]"];
    tensor_1 -> layer_0 [label = "Float32[2]"];
    output_0 [label = "{Output|LayerName : y\l}"];
    layer_0 -> output_0 [label = "Float32[?, 2]"];
}
"#
        );
    }

    #[test]
    fn names_cannot_break_out_of_their_label() {
        let mut builder = NetworkBuilder::new();
        let info = TensorInfo::new(DataType::Float32, [1]);
        let x = builder.add_input_layer("a\"b|{c}\\<d>&e\n", info).unwrap();
        builder.add_output_layer("y", x).unwrap();
        let dot = builder.finish().unwrap().to_dot(|_| None);
        let expected = r#"{Input|LayerName : a\"b\|\{c\}\\\<d\>&amp;e\\n\l}"#;
        assert!(dot.contains(expected), "{dot}");
    }
}
