//! The inputs of a run: which file is for which input, their shapes, and random data where there
//! are none.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

use anyhow::{Context as _, bail, ensure};
use armnn_network::{Network, ValueType};
use armnn_runtime::{DataType, Shape, TensorInfo, Value};

use super::{
    images::Normalisation,
    input_data::{self, DataSource, FileKind, FirstAxis, InputData, Reading},
    values,
};
use crate::steps::StepValues;

/// An input that is ready.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its type and shape; every dimension is known.
    pub info: TensorInfo,
    /// Its elements; of all steps, where there are steps.
    pub bytes: Vec<u8>,
    /// Where they come from; `None`: they are random.
    pub source: Option<DataSource>,
    /// How many steps the elements are of, if there is one value for each.
    pub steps: Option<usize>,
    /// The index of the output that is its next value.
    pub feedback: Option<usize>,
    /// What it is, if it is no tensor of numbers; type, shape and elements are empty then.
    pub other: Option<Value>,
}

impl Input {
    /// What it is in each step.
    pub fn values(&self) -> StepValues<'_> {
        if let Some(value) = &self.other {
            return StepValues::Other(value);
        }
        match (self.feedback, self.steps) {
            (Some(output), _) => StepValues::Feedback {
                first: &self.bytes,
                output,
            },
            (None, Some(_)) => StepValues::Each(&self.bytes),
            (None, None) => StepValues::Same(&self.bytes),
        }
    }
}

/// What is asked for about inputs.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// `[NAME=]FILE`.
    pub files: &'a [String],
    /// Shapes of inputs that leave them open.
    pub shapes: &'a [NamedShape],
    /// How images are normalised.
    pub normalisation: &'a Normalisation,
    /// Whether floating-point numbers are quantized for inputs that are.
    pub quantize: bool,
    /// Whether the first axis of each file counts steps.
    pub steps: bool,
    /// `OUTPUT=INPUT`: outputs that become the next value of an input.
    pub feedback: &'a [String],
}

/// `NAME=DIMENSIONS`, as it is written on the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedShape {
    /// The input.
    pub name: String,
    /// Its shape.
    pub shape: Shape,
}

impl FromStr for NamedShape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Names may contain '=', dimensions do not.
        let Some((name, dims)) = text.rsplit_once('=') else {
            return Err("a shape has the form NAME=1,224,224,3; there is no '=' here".into());
        };
        let dims = match dims.trim() {
            "" => Vec::new(),
            dims => dims.split(',').map(dimension).collect::<Result<_, _>>()?,
        };
        let shape = Shape::new(&dims).map_err(|e| e.to_string())?;
        Ok(Self {
            name: name.to_owned(),
            shape,
        })
    }
}

fn dimension(text: &str) -> Result<i64, String> {
    match text.trim().parse() {
        Ok(dim @ 0..) => Ok(dim),
        _ => Err(format!(
            "'{text}' is no dimension; a shape has the form NAME=1,224,224,3"
        )),
    }
}

/// Makes the inputs of a network ready.
///
/// Files with a name go to the input of that name, the others to the remaining inputs in the
/// model's order. The arrays of a `.npz` file without a name go to the inputs that have their
/// names, or, named `arr_0`, `arr_1`, …, to those at these places. Inputs that an output is fed
/// back to begin with what their file holds, or with zeros.
///
/// # Errors
/// When a name is that of no input, two files are for one input, a shape is not one that the model
/// takes, a file does not hold what its input takes, or files hold different numbers of steps.
pub fn prepare(network: &Network, request: Request<'_>) -> anyhow::Result<Vec<Input>> {
    let mut declared: Vec<(String, TensorInfo)> = network
        .inputs()
        .iter()
        .map(|&id| {
            (
                network.tensor(id).name.clone(),
                network.tensor(id).info.clone(),
            )
        })
        .collect();
    let takes = takes(network);
    set_shapes(&mut declared, request.shapes, &takes)?;
    let feedback = feedback::resolve(network, request.feedback)?;
    let sources = Assignment::new(&declared, request.files, &takes)?.sources;
    if request.quantize
        && !declared
            .iter()
            .any(|(_, info)| info.data_type.is_quantized())
    {
        log::warn!("--quantize-input changes nothing: {takes}");
    }
    let mut inputs = Vec::new();
    for (index, ((name, info), mut source)) in declared.into_iter().zip(sources).enumerate() {
        let feedback = feedback[index];
        if let Some(
            of @ (ValueType::Strings(_) | ValueType::Sequence(_) | ValueType::Optional(_)),
        ) = &network.tensor(network.inputs()[index]).value_type
        {
            ensure!(
                feedback.is_none(),
                "--feedback to input '{name}' ({of}) cannot be used: only tensors of numbers are fed \
                 back"
            );
            let value = input_data::read_other(source.as_ref(), &name, of)?;
            inputs.push(Input {
                name,
                info: TensorInfo::new(DataType::UInt8, [0]),
                bytes: Vec::new(),
                source: source.or(Some(DataSource::Absent)),
                steps: None,
                feedback: None,
                other: Some(value),
            });
            continue;
        }
        if source.is_none() && feedback.is_some() {
            source = Some(DataSource::Zeros);
        }
        let first_axis = match (request.steps, feedback) {
            (false, _) => FirstAxis::OfInput,
            (true, None) => FirstAxis::Steps,
            (true, Some(_)) => FirstAxis::FirstOfSteps,
        };
        let reading = Reading {
            normalisation: request.normalisation,
            quantize: request.quantize,
            first_axis,
        };
        if source.is_none() && !info.shape.is_known() {
            bail!(
                "input '{name}' is {}{}: give its data with --input-tensor-data, or its shape with \
                 --input-tensor-shape",
                info.data_type,
                network.input_shape_text(index)
            );
        }
        let data = match &source {
            Some(source) => input_data::read(source, &name, &info, reading)?,
            None => InputData {
                shape: info.shape,
                steps: None,
                bytes: random(&name, &info, index)?,
            },
        };
        inputs.push(Input {
            info: TensorInfo {
                shape: data.shape,
                ..info
            },
            name,
            bytes: data.bytes,
            source,
            steps: data.steps,
            feedback,
            other: None,
        });
    }
    if request.steps {
        expect_equal_steps(&inputs)?;
    }
    Ok(inputs)
}

/// Checks that every input is there for the same number of steps.
fn expect_equal_steps(inputs: &[Input]) -> anyhow::Result<()> {
    let mut counted = inputs.iter().filter(|input| input.steps.is_some());
    let Some(first) = counted.next() else {
        bail!(
            "--steps takes the number of steps from the first axis of files, and no input has one: \
             give data with --input-tensor-data"
        );
    };
    for other in counted {
        ensure!(
            other.steps == first.steps,
            "input '{}' has {} steps, input '{}' has {}: the first axis of each file counts the \
             same steps",
            first.name,
            first.steps.unwrap_or(0),
            other.name,
            other.steps.unwrap_or(0)
        );
    }
    Ok(())
}

fn set_shapes(
    declared: &mut [(String, TensorInfo)],
    shapes: &[NamedShape],
    takes: &str,
) -> anyhow::Result<()> {
    for (index, given) in shapes.iter().enumerate() {
        let NamedShape { name, shape } = given;
        ensure!(
            !shapes[..index].iter().any(|other| other.name == *name),
            "--input-tensor-shape is given twice for input '{name}'"
        );
        let at = position(declared, name, takes)
            .with_context(|| format!("--input-tensor-shape {name}=… cannot be used"))?;
        let info = &mut declared[at].1;
        ensure!(
            info.shape.accepts(shape),
            "--input-tensor-shape gives input '{name}' the shape {shape}; the model takes {}; \
             only dimensions that are shown as ? can be chosen",
            info.shape
        );
        info.shape = *shape;
    }
    Ok(())
}

fn position(declared: &[(String, TensorInfo)], name: &str, takes: &str) -> anyhow::Result<usize> {
    declared
        .iter()
        .position(|(other, _)| other == name)
        .with_context(|| format!("the model has no input '{name}'; {takes}"))
}

/// What inputs a network takes, with the names of their dimensions.
fn takes(network: &Network) -> String {
    if network.inputs().is_empty() {
        return "it has no inputs".to_owned();
    }
    let inputs = network.inputs().iter().enumerate().map(|(index, &id)| {
        let tensor = network.tensor(id);
        match &tensor.value_type {
            Some(of) => format!("'{}' {of}", tensor.name),
            None => {
                let shape = network.input_shape_text(index);
                format!("'{}' {}{shape}", tensor.name, tensor.info.data_type)
            }
        }
    });
    format!("its inputs are {}", inputs.collect::<Vec<_>>().join(", "))
}

/// Which data are for which input.
struct Assignment<'a> {
    declared: &'a [(String, TensorInfo)],
    takes: &'a str,
    sources: Vec<Option<DataSource>>,
}

impl<'a> Assignment<'a> {
    fn new(
        declared: &'a [(String, TensorInfo)],
        files: &[String],
        takes: &'a str,
    ) -> anyhow::Result<Self> {
        let mut this = Self {
            declared,
            takes,
            sources: vec![None; declared.len()],
        };
        let mut unnamed: Vec<&Path> = Vec::new();
        for file in files {
            match this.named(file)? {
                Some((at, path)) => {
                    let source = this.source_for(at, path)?;
                    this.set(at, source)?;
                }
                None if FileKind::of(Path::new(file))? == FileKind::Npz => {
                    this.set_arrays(Path::new(file))?;
                }
                None => unnamed.push(Path::new(file)),
            }
        }
        for path in unnamed {
            let free = this.sources.iter().position(Option::is_none);
            let at = free.with_context(|| {
                format!(
                    "there is no input left for '{}': {} files are given, and the model takes fewer: {}",
                    path.display(),
                    files.len(),
                    takes
                )
            })?;
            this.set(at, DataSource::File(path.to_owned()))?;
        }
        Ok(this)
    }

    /// The input and the file of `NAME=FILE`; `None` for a file alone. Both names and paths may
    /// contain '=', so that the names of the inputs decide, and then the files that there are.
    fn named<'t>(&self, text: &'t str) -> anyhow::Result<Option<(usize, &'t Path)>> {
        let splits = text
            .match_indices('=')
            .map(|(at, _)| (&text[..at], &text[at + 1..]));
        for (name, path) in splits.clone() {
            if let Some(at) = self.declared.iter().position(|(other, _)| other == name) {
                return Ok(Some((at, Path::new(path))));
            }
        }
        let mut splits = splits;
        match splits.next() {
            Some((name, _)) if !Path::new(text).exists() => {
                position(self.declared, name, self.takes)
                    .with_context(|| format!("--input-tensor-data {text} cannot be used"))?;
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// The data for one input in a file that is named for it.
    fn source_for(&self, at: usize, path: &Path) -> anyhow::Result<DataSource> {
        if FileKind::of(path)? != FileKind::Npz {
            return Ok(DataSource::File(path.to_owned()));
        }
        let input = &self.declared[at].0;
        let names = input_data::array_names(path)?;
        let name = match &names[..] {
            [only] => only,
            _ => names.iter().find(|name| *name == input).with_context(|| {
                format!(
                    "'{}' holds several arrays, and none is named '{input}': {}",
                    path.display(),
                    names.join(", ")
                )
            })?,
        };
        Ok(DataSource::Array {
            archive: path.to_owned(),
            name: name.clone(),
        })
    }

    /// Gives the arrays of an archive to the inputs that have their names.
    fn set_arrays(&mut self, path: &Path) -> anyhow::Result<()> {
        let names = input_data::array_names(path)?;
        let mut unused = Vec::new();
        for name in &names {
            let by_name = self.declared.iter().position(|(other, _)| other == name);
            let by_place = || name.strip_prefix("arr_")?.parse().ok();
            match by_name
                .or_else(by_place)
                .filter(|&at| at < self.declared.len())
            {
                Some(at) => {
                    let (archive, name) = (PathBuf::from(path), name.clone());
                    self.set(at, DataSource::Array { archive, name })?;
                }
                None => unused.push(name.as_str()),
            }
        }
        let takes = self.takes;
        if unused.len() == names.len() {
            bail!(
                "no array in '{}' has the name of an input: it holds {}; {takes}",
                path.display(),
                names.join(", ")
            );
        }
        if !unused.is_empty() {
            let unused = unused.join(", ");
            log::warn!(
                "'{}': no input is named {unused}: not used; {takes}",
                path.display()
            );
        }
        Ok(())
    }

    fn set(&mut self, at: usize, source: DataSource) -> anyhow::Result<()> {
        if let Some(other) = &self.sources[at] {
            bail!(
                "both '{other}' and '{source}' are for input '{}'; give one of them",
                self.declared[at].0
            );
        }
        self.sources[at] = Some(source);
        Ok(())
    }
}

/// The seed of random data; the same in every run, so that runs can be compared.
pub const RANDOM_SEED: u64 = 0x41_72_6d_4e_4e;

/// Random elements: floating-point numbers from -1 to 1, quantized ones over all they can hold, and
/// other integers, which may be indices, 0 or 1. Of large inputs, the first ones again and again.
fn random(name: &str, info: &TensorInfo, index: usize) -> anyhow::Result<Vec<u8>> {
    let count = info.shape.num_elements().unwrap_or(0);
    let len = info
        .byte_len()
        .filter(|&len| len <= MAX_RANDOM)
        .with_context(|| {
            format!("input '{name}' of {info} is too large to be filled with random data")
        })?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).with_context(|| {
        format!(
            "there is no memory for random data of {len} bytes for input '{name}' of {info}; give a \
             smaller shape with --input-tensor-shape, or a smaller model"
        )
    })?;
    let mut generator = SplitMix64(RANDOM_SEED.wrapping_add(index as u64));
    if info.data_type.is_quantized() {
        let different = len.min(MOST_DIFFERENT);
        bytes.extend((0..different).map(|_| (generator.next() >> 56) as u8));
        repeat(&mut bytes, len);
        return Ok(bytes);
    }
    let is_float = info.data_type.is_float();
    let numbers = (0..count.min(MOST_DIFFERENT as u64)).map(|_| {
        // 53 random bits are a number from 0 to below 1.
        let unit = (generator.next() >> 11) as f64 / (1u64 << 53) as f64;
        if is_float {
            unit * 2.0 - 1.0
        } else {
            (unit * 2.0).floor()
        }
    });
    values::encode_into(&mut bytes, info, numbers).with_context(|| {
        format!(
            "there are no random numbers of type {} for input '{name}'; give data with \
             --input-tensor-data",
            info.data_type
        )
    })?;
    repeat(&mut bytes, len);
    Ok(bytes)
}

/// Appends what is there again, until there are so many bytes.
fn repeat(bytes: &mut Vec<u8>, len: usize) {
    while bytes.len() < len && !bytes.is_empty() {
        bytes.extend_from_within(..bytes.len().min(len - bytes.len()));
    }
}

/// The most bytes that are filled with random numbers.
const MAX_RANDOM: usize = 1 << 33;

/// So many numbers are made: more would take their time, and show nothing else. Of types smaller than a
/// byte they fill whole bytes.
const MOST_DIFFERENT: usize = 1 << 20;

/// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

mod feedback;
#[cfg(test)]
mod tests;
