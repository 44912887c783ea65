//! Files that hold the data of an input.

use std::{
    fs::File,
    io::{BufReader, Read as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail, ensure};
use armnn_network::ValueType;
use armnn_runtime::{DataType, Shape, TensorInfo, Value};
use zip::ZipArchive;

use super::{
    images::{self, Normalisation},
    values,
};
use crate::{
    elements,
    model::expect_regular_file,
    npy::{self, ElementType},
    tensor_file::{StoredTensor, split_steps},
    value_file::{StoredValue, any_tensor},
};

/// A kind of file, told by the ending of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// One array of NumPy.
    Npy,
    /// A ZIP archive of arrays of NumPy.
    Npz,
    /// The elements alone, row-major and little-endian.
    Bin,
    /// One value of ONNX.
    Pb,
    /// A picture.
    Image,
}

impl FileKind {
    /// The kind of the file of this name.
    ///
    /// # Errors
    /// When the ending is not known.
    pub fn of(path: &Path) -> anyhow::Result<Self> {
        let ending = path
            .extension()
            .map(|e| e.to_string_lossy().to_ascii_lowercase());
        Ok(match ending.as_deref() {
            Some("npy") => Self::Npy,
            Some("npz") => Self::Npz,
            Some("bin" | "raw") => Self::Bin,
            Some("png" | "jpg" | "jpeg") => Self::Image,
            Some("pb") => Self::Pb,
            _ => bail!(
                "'{}': the ending tells what an input file is, and this one is unknown; known are \
                 .npy, .npz, .bin, .pb, .png and .jpg",
                path.display()
            ),
        })
    }
}

/// Where the data of an input comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataSource {
    /// A file.
    File(PathBuf),
    /// An array in a ZIP archive.
    Array {
        /// The archive.
        archive: PathBuf,
        /// The array's name in it.
        name: String,
    },
    /// Nowhere: every element is 0.
    Zeros,
    /// Nowhere: it is an optional without a value.
    Absent,
}

impl std::fmt::Display for DataSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Array { archive, name } => write!(f, "{}[{name}]", archive.display()),
            Self::Zeros => f.write_str("zeros"),
            Self::Absent => f.write_str("absent"),
        }
    }
}

/// What the first axis of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstAxis {
    /// One of the input's own.
    OfInput,
    /// It counts steps.
    Steps,
    /// It counts steps if the file has one dimension more than the input; only the first step is
    /// used.
    FirstOfSteps,
}

/// How files become inputs.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// How images are normalised.
    pub normalisation: &'a Normalisation,
    /// Whether floating-point numbers are quantized for inputs that are.
    pub quantize: bool,
    /// What the first axis is.
    pub first_axis: FirstAxis,
}

/// The data of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputData {
    /// Its shape in one step; known where that of the input may not be.
    pub shape: Shape,
    /// How many steps there are, where the first axis counts them.
    pub steps: Option<usize>,
    /// The elements, of all steps.
    pub bytes: Vec<u8>,
}

/// Reads the data of the input `name`, whose type and shape are `info`.
///
/// # Errors
/// When the file cannot be read, or its data are not what the input takes: both are named.
pub fn read(
    source: &DataSource,
    name: &str,
    info: &TensorInfo,
    reading: Reading<'_>,
) -> anyhow::Result<InputData> {
    let outcome = match source {
        DataSource::File(path) => read_file(path, info, reading),
        DataSource::Array { archive, name } => read_array(archive, name, info, reading),
        DataSource::Zeros => zeros(info),
        DataSource::Absent => Err(anyhow::anyhow!("it is no tensor of numbers")),
    };
    outcome.with_context(|| format!("cannot use '{source}' as input '{name}' ({info})"))
}

/// Reads the value of the input `name` of this type, which is no tensor of numbers.
///
/// # Errors
/// When there is no file, it cannot be read, or it does not hold what the input takes.
pub fn read_other(
    source: Option<&DataSource>,
    name: &str,
    of: &ValueType,
) -> anyhow::Result<Value> {
    let path = match (source, of) {
        (Some(DataSource::File(path)), _) => path,
        (None | Some(DataSource::Absent), ValueType::Optional(_)) => {
            return Ok(Value::Optional(None));
        }
        (Some(source), _) => {
            bail!(
                "input '{name}' ({of}) is no tensor of numbers: give it as a .pb file, not as '{source}'"
            )
        }
        (None, _) => bail!(
            "input '{name}' ({of}) has no data, and there are no random ones for it: give a .pb file \
             with --input-tensor-data"
        ),
    };
    let read = || {
        ensure!(
            FileKind::of(path)? == FileKind::Pb,
            "it is no tensor of numbers, which only a .pb file can hold"
        );
        StoredValue::read_pb_file(path, of)?.to_value(of)
    };
    read().with_context(|| format!("cannot use '{}' as input '{name}' ({of})", path.display()))
}

fn zeros(info: &TensorInfo) -> anyhow::Result<InputData> {
    let Some(len) = info.byte_len() else {
        bail!("its shape is not known: give it with --input-tensor-shape, or give its data");
    };
    // What is allocated here is what a runtime would allocate, and limit.
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(len)
        .with_context(|| format!("{len} bytes of memory cannot be had"))?;
    bytes.resize(len, 0);
    Ok(InputData {
        shape: info.shape,
        steps: None,
        bytes,
    })
}

fn read_file(path: &Path, info: &TensorInfo, reading: Reading<'_>) -> anyhow::Result<InputData> {
    let size = expect_regular_file(path, "the file")?;
    match FileKind::of(path)? {
        FileKind::Image => {
            ensure!(
                reading.first_axis != FirstAxis::Steps,
                "an image is one step; with --steps, give an array whose first axis counts them"
            );
            let (shape, bytes) = images::read(path, info, reading.normalisation)?;
            Ok(InputData {
                shape,
                steps: None,
                bytes,
            })
        }
        FileKind::Npy => read_npy(&mut BufReader::new(File::open(path)?), info, reading),
        FileKind::Pb => {
            let stored = StoredValue::read_pb_file(path, &any_tensor())?;
            from_stored(stored.into_tensor()?, info, reading)
        }
        FileKind::Bin => read_raw(path, size, info, reading),
        FileKind::Npz => bail!("an archive holds several arrays; this is a fault of the command"),
    }
}

fn read_raw(
    path: &Path,
    size: u64,
    info: &TensorInfo,
    reading: Reading<'_>,
) -> anyhow::Result<InputData> {
    // With --quantize-input, the elements are those of Float32.
    let quantize = reading.quantize && is_quantized(info);
    let in_file = if quantize {
        TensorInfo::new(DataType::Float32, info.shape)
    } else {
        info.clone()
    };
    let Some(expected) = in_file.byte_len() else {
        bail!(
            "raw data have no shape, and that of the input is not known: give it with \
             --input-tensor-shape"
        );
    };
    let expected = expected as u64;
    let steps = match reading.first_axis {
        FirstAxis::Steps => {
            ensure!(
                size > 0 && expected > 0 && size.is_multiple_of(expected),
                "the input takes {expected} bytes in each step, and the file has {size}, which is \
                 no multiple of that"
            );
            Some(usize::try_from(size / expected)?)
        }
        _ => {
            ensure!(
                size == expected,
                "the input takes {expected} bytes, the file has {size}: give the elements of \
                 {in_file} alone, row-major and little-endian"
            );
            None
        }
    };
    let mut bytes = Vec::new();
    File::open(path)?.take(size).read_to_end(&mut bytes)?;
    ensure!(
        bytes.len() as u64 == size,
        "the file changed while it was read"
    );
    if cfg!(target_endian = "big") {
        npy::swap_bytes(&mut bytes, in_file.data_type.size().unwrap_or(1));
    }
    if quantize {
        bytes = quantized(DataType::Float32, bytes.len() / 4, &bytes, info)?;
    }
    Ok(InputData {
        shape: info.shape,
        steps,
        bytes,
    })
}

/// The names of the arrays in an archive.
///
/// # Errors
/// When it is none.
pub fn array_names(path: &Path) -> anyhow::Result<Vec<String>> {
    let archive = open_archive(path)?;
    let mut names = Vec::new();
    for name in archive.file_names() {
        let name =
            name.with_context(|| format!("cannot read the names in '{}'", path.display()))?;
        names.push(name.strip_suffix(".npy").unwrap_or(&name).to_owned());
    }
    names.sort_unstable();
    ensure!(
        !names.is_empty(),
        "there is no array in '{}'",
        path.display()
    );
    Ok(names)
}

fn open_archive(path: &Path) -> anyhow::Result<ZipArchive<BufReader<File>>> {
    expect_regular_file(path, "the archive")?;
    let file = File::open(path).with_context(|| format!("cannot read '{}'", path.display()))?;
    ZipArchive::new(BufReader::new(file)).with_context(|| {
        format!(
            "'{}' is no .npz file: not a ZIP archive; write one with numpy.savez",
            path.display()
        )
    })
}

fn read_array(
    path: &Path,
    name: &str,
    info: &TensorInfo,
    reading: Reading<'_>,
) -> anyhow::Result<InputData> {
    let mut archive = open_archive(path)?;
    let in_archive = format!("{name}.npy");
    let in_archive = match archive.index_for_name(&in_archive) {
        Some(_) => in_archive.as_str(),
        None => name,
    };
    let mut file = archive
        .by_name(in_archive)
        .context("cannot read the array")?;
    read_npy(&mut file, info, reading)
}

fn read_npy(
    reader: &mut impl std::io::Read,
    info: &TensorInfo,
    reading: Reading<'_>,
) -> anyhow::Result<InputData> {
    if info.data_type.bits().is_none_or(|bits| bits < 8) {
        bail!(
            "elements of type {} have no .npy form; give them as .bin or .pb",
            info.data_type
        );
    }
    from_stored(StoredTensor::read_npy(reader)?, info, reading)
}

/// The data of an input from a file that tells type and shape.
fn from_stored(
    stored: StoredTensor,
    info: &TensorInfo,
    reading: Reading<'_>,
) -> anyhow::Result<InputData> {
    let (steps, shape) = shape_of_step(&stored, info, reading.first_axis)?;
    let is_float = stored.element.data_type().is_some_and(DataType::is_float);
    let mut bytes = if stored.element.holds(info.data_type) {
        stored.bytes
    } else if let Some(data_type) = stored.element.data_type()
        && is_float
        && reading.quantize
        && is_quantized(info)
    {
        quantized(data_type, stored.count(), &stored.bytes, info)?
    } else {
        let hint = match ElementType::of(info.data_type) {
            _ if is_float && is_quantized(info) => {
                "; --quantize-input quantizes floating-point numbers".to_owned()
            }
            Some(expected) if !stored.element.to_string().starts_with(char::is_alphabetic) => {
                format!("; convert it, for instance with astype('{expected}') of NumPy")
            }
            _ => "; convert it".to_owned(),
        };
        bail!(
            "the input takes elements of type {}, the file holds {}{hint}",
            info.data_type,
            stored.element
        );
    };
    let mut counted = steps;
    if reading.first_axis == FirstAxis::FirstOfSteps
        && let Some(steps) = counted.take()
    {
        bytes.truncate(bytes.len() / steps);
    }
    Ok(InputData {
        shape,
        steps: counted,
        bytes,
    })
}

/// How many steps a file holds, if its first axis counts them, and the shape of each.
fn shape_of_step(
    stored: &StoredTensor,
    info: &TensorInfo,
    first_axis: FirstAxis,
) -> anyhow::Result<(Option<usize>, Shape)> {
    let accepted = |dims: &[u64]| {
        let dims: Option<Vec<i64>> = dims.iter().map(|&dim| i64::try_from(dim).ok()).collect();
        let shape = dims.and_then(|dims| Shape::new(&dims).ok());
        shape.filter(|shape| info.shape.accepts(shape))
    };
    let whole = match first_axis {
        FirstAxis::OfInput | FirstAxis::FirstOfSteps => accepted(&stored.dims),
        FirstAxis::Steps => None,
    };
    if let Some(shape) = whole {
        return Ok((None, shape));
    }
    if first_axis == FirstAxis::OfInput {
        bail!(
            "the input takes the shape {}, the file holds {stored}; reshape it",
            info.shape
        );
    }
    let (steps, dims) = split_steps(&stored.dims)?;
    match accepted(dims) {
        Some(shape) => Ok((Some(steps), shape)),
        None => bail!(
            "the input takes the shape {} in each step, the file holds {stored}; with --steps, its \
             first axis counts steps, and the others are the input's",
            info.shape
        ),
    }
}

fn is_quantized(info: &TensorInfo) -> bool {
    info.data_type.is_quantized() && !info.quantization.is_none()
}

/// Quantizes floating-point numbers for an input.
fn quantized(
    from: DataType,
    count: usize,
    bytes: &[u8],
    info: &TensorInfo,
) -> anyhow::Result<Vec<u8>> {
    let mut numbers = Vec::new();
    elements::for_each(from, count, bytes, &mut |element| {
        numbers.push(element.to_f64());
    });
    values::encode(info, numbers.into_iter())
        .with_context(|| format!("there are no quantized numbers of type {}", info.data_type))
}
