//! The page of ONNX's operators, made from the parser's table, and from what becomes of a small model
//! of each operator with each type of elements.
//!
//! `onnx_operators.tsv` has a line for each operator: domain, name, the versions in which the
//! standard has changed it; then the model: version, number of outputs, the types that the standard
//! allows for its first input (`-` for none), inputs, attributes. They come from the `onnx` package
//! (1.23.2): its schemas and its test cases; those of com.microsoft from the schemas of ONNX Runtime
//! 1.32 and from the parser's own test cases. An input is `T[2,3]`, of the type in question; or
//! `INT64[2]=4,5`, of one type, perhaps constant (`=0`: all zeros); or `-`, absent. Operators of which
//! no model of tensors can be made have none.

use std::fmt::Write as _;

use armnn_onnx_parser::proto::*;
use armnn_runtime::{CreationOptions, OptimizerOptions, Runtime, StaticBackend};
use prost::Message as _;

use super::generated::{NOTE, Row, onnx_rows};
use super::page;

/// Names of the format's types, by their numbers.
const TYPES: [&str; 27] = [
    "-",
    "FLOAT",
    "UINT8",
    "INT8",
    "UINT16",
    "INT16",
    "INT32",
    "INT64",
    "STRING",
    "BOOL",
    "FLOAT16",
    "DOUBLE",
    "UINT32",
    "UINT64",
    "COMPLEX64",
    "COMPLEX128",
    "BFLOAT16",
    "FLOAT8E4M3FN",
    "FLOAT8E4M3FNUZ",
    "FLOAT8E5M2",
    "FLOAT8E5M2FNUZ",
    "UINT4",
    "INT4",
    "FLOAT4E2M1",
    "FLOAT8E8M0",
    "UINT2",
    "INT2",
];

/// Names for types that mostly go together.
const GROUPS: [(&str, &[&str]); 4] = [
    ("floating-point", &["FLOAT", "FLOAT16", "BFLOAT16"]),
    (
        "integers",
        &[
            "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64",
        ],
    ),
    (
        "FLOAT8",
        &[
            "FLOAT8E4M3FN",
            "FLOAT8E4M3FNUZ",
            "FLOAT8E5M2",
            "FLOAT8E5M2FNUZ",
            "FLOAT8E8M0",
        ],
    ),
    ("smaller integers", &["INT4", "UINT4", "INT2", "UINT2"]),
];

/// A line of `onnx_operators.tsv`.
struct Sample<'t> {
    domain: &'t str,
    name: &'t str,
    versions: &'t str,
    model: Option<Model<'t>>,
}

struct Model<'t> {
    version: i64,
    n_outputs: usize,
    types: Vec<&'t str>,
    inputs: &'t str,
    attributes: &'t str,
}

fn samples(text: &str) -> Vec<Sample<'_>> {
    text.lines()
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            Sample {
                domain: fields[0],
                name: fields[1],
                versions: fields[2],
                model: fields.get(3).map(|version| Model {
                    version: version.parse().unwrap(),
                    n_outputs: fields[4].parse().unwrap(),
                    types: fields[5].split(',').collect(),
                    inputs: fields[6],
                    attributes: fields.get(7).copied().unwrap_or(""),
                }),
            }
        })
        .collect()
}

fn list<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> Vec<T> {
    let entries = text.split(',').filter(|entry| !entry.is_empty());
    entries.map(|entry| entry.parse().unwrap()).collect()
}

impl Sample<'_> {
    /// The model, as a file.
    fn bytes(&self, model: &Model<'_>, element_type: &str) -> Option<Vec<u8>> {
        let number = |name: &str| {
            let name = if name == "T" { element_type } else { name };
            let number = TYPES.iter().position(|known| *known == name)?;
            i32::try_from(number).ok()
        };
        // `i:T` is the number of the type.
        let of_type = format!("i:{}", number("T")?);
        let attributes = model.attributes.replace("i:T", &of_type);
        let mut graph = GraphProto::default();
        let mut names = Vec::new();
        let inputs = model.inputs.split(' ').filter(|_| model.inputs != "-");
        for (index, input) in inputs.enumerate() {
            if input == "-" {
                names.push(String::new());
                continue;
            }
            let name = format!("input{index}");
            let (kind, values) = input.split_once('=').unwrap_or((input, ""));
            let (of, dims) = kind.trim_end_matches(']').split_once('[').unwrap();
            let of = if of == "T" { element_type } else { of };
            let (data_type, dims) = (number(of)?, list::<i64>(dims));
            if input.contains('=') {
                let mut tensor = TensorProto {
                    name: name.clone(),
                    dims,
                    data_type,
                    ..TensorProto::default()
                };
                match of {
                    "STRING" => {
                        let count = tensor.dims.iter().product::<i64>();
                        tensor.string_data =
                            vec![Default::default(); usize::try_from(count).unwrap()];
                    }
                    _ if values == "0" => tensor.raw_data = Some(zeros(&tensor.dims, of).into()),
                    "INT64" => tensor.int64_data = list::<i64>(values).into(),
                    _ => tensor.int32_data = list::<i32>(values).into(),
                }
                graph.initializer.push(tensor);
            } else {
                graph.input.push(value(&name, data_type, &dims));
            }
            names.push(name);
        }
        let outputs: Vec<String> = (0..model.n_outputs)
            .map(|at| format!("output{at}"))
            .collect();
        graph.output = outputs
            .iter()
            .map(|name| ValueInfoProto {
                name: name.clone(),
                r#type: None,
            })
            .collect();
        let domain = match self.domain {
            "ai.onnx" => "",
            domain => domain,
        };
        graph.node.push(NodeProto {
            input: names,
            output: outputs,
            op_type: self.name.to_owned(),
            domain: domain.to_owned(),
            attribute: attributes
                .split(' ')
                .filter_map(|text| attribute(text, element_type, number("T")?))
                .collect(),
            ..NodeProto::default()
        });
        let model = ModelProto {
            ir_version: Some(10),
            graph: Some(graph),
            opset_import: vec![OperatorSetIdProto {
                domain: domain.to_owned(),
                version: model.version,
            }],
            ..ModelProto::default()
        };
        Some(model.encode_to_vec())
    }
}

/// The bytes of a constant of zeros.
fn zeros(dims: &[i64], of: &str) -> Vec<u8> {
    let bits = match of {
        "INT2" | "UINT2" => 2,
        "INT4" | "UINT4" | "FLOAT4E2M1" => 4,
        "BOOL" | "INT8" | "UINT8" => 8,
        _ if of.starts_with("FLOAT8") => 8,
        "INT16" | "UINT16" | "FLOAT16" | "BFLOAT16" => 16,
        "INT64" | "UINT64" | "DOUBLE" => 64,
        _ => 32,
    };
    let bytes = (dims.iter().product::<i64>() * bits + 7) / 8;
    vec![0; usize::try_from(bytes).unwrap()]
}

fn value(name: &str, elem_type: i32, dims: &[i64]) -> ValueInfoProto {
    let dims = dims.iter().map(|&dim| Dimension {
        value: Some(DimensionValue::Value(dim)),
    });
    let tensor = TensorTypeProto {
        elem_type,
        shape: Some(TensorShapeProto {
            dim: dims.collect(),
        }),
    };
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto {
            value: Some(TypeValue::Tensor(tensor)),
        }),
    }
}

/// `name=i:3`, and so on; `name@FLOAT=i:3` for that type alone. `t:1,2` is a list of elements of the
/// type, which has the number `data_type`.
fn attribute(text: &str, element_type: &str, data_type: i32) -> Option<AttributeProto> {
    let (name, rest) = text.split_once('=')?;
    let name = match name.split_once('@') {
        Some((_, of)) if of != element_type => return None,
        Some((name, _)) => name,
        None => name,
    };
    let (kind, text) = rest.split_once(':').unwrap();
    let mut attribute = AttributeProto {
        name: name.to_owned(),
        ..AttributeProto::default()
    };
    match kind {
        "i" => {
            attribute.r#type = attribute_type::INT;
            attribute.i = text.parse().unwrap();
        }
        "f" => {
            attribute.r#type = attribute_type::FLOAT;
            attribute.f = text.parse().unwrap();
        }
        "s" => {
            attribute.r#type = attribute_type::STRING;
            attribute.s = text.as_bytes().to_vec().into();
        }
        "is" => {
            attribute.r#type = attribute_type::INTS;
            attribute.ints = list(text);
        }
        "fs" => {
            attribute.r#type = attribute_type::FLOATS;
            attribute.floats = list(text);
        }
        "t" => {
            let numbers = list::<i32>(text);
            attribute.r#type = attribute_type::TENSOR;
            attribute.t = Some(Box::new(TensorProto {
                dims: vec![i64::try_from(numbers.len()).unwrap()],
                data_type,
                double_data: numbers.iter().map(|&n| f64::from(n)).collect(),
                int32_data: numbers.into(),
                ..TensorProto::default()
            }));
        }
        "ss" => {
            attribute.r#type = attribute_type::STRINGS;
            attribute.strings = text
                .split(',')
                .map(|s| s.as_bytes().to_vec().into())
                .collect();
        }
        other => panic!("an attribute of kind {other}"),
    }
    Some(attribute)
}

/// Types, those that go together by their common name.
fn grouped(types: &[&str]) -> String {
    let mut rest = types.to_vec();
    let mut names = Vec::new();
    for (name, members) in GROUPS {
        if members.iter().all(|member| rest.contains(member)) {
            rest.retain(|left| !members.contains(left));
            names.push(name);
        }
    }
    names.extend(rest);
    names.join(", ")
}

pub(super) fn onnx_page() -> String {
    let tables = [
        ("ai.onnx", onnx_rows("operators.rs", "fn entry(")),
        ("ai.onnx.ml", onnx_rows("operators.rs", "fn ml_entry(")),
        (
            "ai.onnx.preview",
            onnx_rows("operators.rs", "fn preview_entry("),
        ),
        (
            "ai.onnx.preview.training",
            onnx_rows("operators.rs", "fn training_entry("),
        ),
    ];
    let microsoft = onnx_rows("microsoft/mod.rs", "fn microsoft_entry(");
    let n = tables.iter().map(|(_, rows)| rows.len()).sum::<usize>() + microsoft.len();
    let mut text = format!(
        "# ONNX operators\n\n{NOTE}\n{n} operators are read, in each version of the standard that is \
         named, as it is defined there, from the first one on that is not in parentheses. An \
         attribute is honoured or refused, and a model with other operators is refused with a list \
         of them. Functions that a model defines are read as what they consist of.\n\nTypes are those \
         of the first input with which a small model of the operator, in its newest version, is read \
         and taken by `CpuRef`; behind \u{201c}not\u{201d} stand those that the standard allows \
         besides. Where it runs: on backends, as one or several layers; or in the runtime, to which \
         sequences, strings, random numbers and control flow belong, while the bodies of control flow \
         run on backends. Where strings are only moved, backends move their positions. What follows from constants and known shapes is computed when the model is \
         read.\n\n"
    );
    for (name, members) in GROUPS {
        writeln!(text, "- {name}: {}", members.join(", ")).unwrap();
    }
    let lines = page("docs/examples/tests/pages/onnx_operators.tsv");
    let samples = samples(&lines);
    let options = CreationOptions::new().static_backend(StaticBackend::new::<cpu_ref::CpuRef>());
    let runtime = Runtime::create(options).unwrap();
    for (domain, rows) in &tables {
        write!(
            text,
            "\n## {domain}\n\n| operator | versions | types | runs on |\n|---|---|---|---|\n"
        )
        .unwrap();
        for row in rows {
            let sample = sample(&samples, domain, &row.name);
            let types = types(&runtime, sample);
            let versions = versions(sample.versions, row);
            writeln!(
                text,
                "| {} | {versions} | {types} | {} |",
                row.name, row.place
            )
            .unwrap();
        }
    }
    text.push_str(
        "\n## com.microsoft\n\nOf ONNX Runtime's own operators, which its tools write into quantized \
         and fused models; there is one version of each. \u{201c}Not\u{201d} are types that its \
         schemas allow besides, whether or not it has a kernel for them.\n\n\
         | operator | types | runs on |\n|---|---|---|\n",
    );
    for row in &microsoft {
        let types = types(&runtime, sample(&samples, "com.microsoft", &row.name));
        writeln!(text, "| {} | {types} | {} |", row.name, row.place).unwrap();
    }
    let names: Vec<&str> = tables[0].1.iter().map(|row| row.name.as_str()).collect();
    assert!(!names.contains(&"ImageDecoder") && !names.contains(&"MaxRoiPool"));
    text.push_str(OTHER_NUMBERS);
    text.push_str(
        "\n## Not read\n\nOf ai.onnx: ImageDecoder, MaxRoiPool. Of ai.onnx.ml: CastMap, \
         CategoryMapper, DictVectorizer, SVMClassifier, ZipMap. Of ai.onnx.preview.training: Gradient.\n",
    );
    text
}

const OTHER_NUMBERS: &str = "\n## Where ONNX Runtime gives other numbers\n\n\
    Where the two differ, operators do what the standard and its own cases say:\n\n\
    - Resize with `align_corners` or a crop, by scales that give no whole size: the size that goes into \
      the positions is not rounded. ONNX Runtime and PyTorch round it; with sizes in place of scales, \
      all agree.\n\
    - Slice backwards to 2147483647: there is nothing between. ONNX Runtime goes to the beginning.\n\
    - Pooling with dilations and `auto_pad` SAME: sizes are those of the input divided by the stride, \
      rounded up.\n\
    - MatMulNBits with `accuracy_level` 4: computed in Float32, of which ONNX Runtime makes integers of 8 \
      bits first.\n\
    - Random numbers with a seed are NumPy's; ONNX Runtime has a generator of its own.\n";

/// The line of an operator.
fn sample<'s, 't>(samples: &'s [Sample<'t>], domain: &str, name: &str) -> &'s Sample<'t> {
    let mut found = samples.iter();
    let sample = found.find(|sample| sample.domain == domain && sample.name == name);
    sample.unwrap_or_else(|| panic!("{name} has no line"))
}

/// The versions of an operator, with those in parentheses that are not read.
fn versions(all: &str, row: &Row) -> String {
    let since: i64 = row.since.parse().unwrap();
    let all = list::<i64>(all);
    // The version in force at the first one that is read.
    let first = all
        .iter()
        .copied()
        .filter(|&version| version <= since)
        .max();
    let shown = all.iter().map(|&version| match first {
        Some(first) if version < first => format!("({version})"),
        _ => version.to_string(),
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn types(runtime: &Runtime, sample: &Sample<'_>) -> String {
    let Some(model) = &sample.model else {
        return "any".to_owned();
    };
    let (mut taken, mut refused) = (Vec::new(), Vec::new());
    for &element_type in &model.types {
        let is_taken = sample.bytes(model, element_type).is_some_and(|bytes| {
            let network = armnn_onnx_parser::parse_bytes(bytes.into(), "a model of one operator");
            network.is_ok_and(|network| {
                let options = OptimizerOptions::default();
                runtime.optimize(network, &options).is_ok()
            })
        });
        match is_taken {
            true => taken.push(element_type),
            false => refused.push(element_type),
        }
    }
    match (taken.as_slice(), refused.as_slice()) {
        (["-"], _) => "none".to_owned(),
        ([], _) => panic!("{} is taken with no type", sample.name),
        (_, []) => grouped(&taken),
        _ => format!("{}; not {}", grouped(&taken), grouped(&refused)),
    }
}
