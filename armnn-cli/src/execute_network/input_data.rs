//! Files that hold the data of an input.

use std::{
    fs::File,
    io::{BufReader, Read as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail, ensure};
use armnn_runtime::{Shape, TensorInfo};
use zip::ZipArchive;

use super::images::{self, Normalisation};
use crate::{
    model::expect_regular_file,
    npy::{self, ElementType, Header},
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
            Some("pb") => bail!(
                "'{}': ONNX tensors (.pb) are not supported yet by this version",
                path.display()
            ),
            _ => bail!(
                "'{}': the ending tells what an input file is, and this one is unknown; known are \
                 .npy, .npz, .bin, .png and .jpg",
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
}

impl std::fmt::Display for DataSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Array { archive, name } => write!(f, "{}[{name}]", archive.display()),
        }
    }
}

/// Reads the data of the input `name`, whose type and shape are `info`, and tells its shape, which
/// is known where that in `info` may not be.
///
/// # Errors
/// When the file cannot be read, or its data are not what the input takes: both are named.
pub fn read(
    source: &DataSource,
    name: &str,
    info: &TensorInfo,
    normalisation: &Normalisation,
) -> anyhow::Result<(Shape, Vec<u8>)> {
    let outcome = match source {
        DataSource::File(path) => read_file(path, info, normalisation),
        DataSource::Array { archive, name } => read_array(archive, name, info),
    };
    outcome.with_context(|| format!("cannot use '{source}' as input '{name}' ({info})"))
}

fn read_file(
    path: &Path,
    info: &TensorInfo,
    normalisation: &Normalisation,
) -> anyhow::Result<(Shape, Vec<u8>)> {
    let size = expect_regular_file(path, "the file")?;
    match FileKind::of(path)? {
        FileKind::Image => images::read(path, info, normalisation),
        FileKind::Npy => read_npy(&mut BufReader::new(File::open(path)?), info),
        FileKind::Bin => {
            let Some(expected) = info.byte_len() else {
                bail!(
                    "raw data have no shape, and that of the input is not known: give it with \
                     --input-tensor-shape"
                );
            };
            ensure!(
                size == expected as u64,
                "the input takes {expected} bytes, the file has {size}"
            );
            let mut bytes = Vec::new();
            File::open(path)?.take(size).read_to_end(&mut bytes)?;
            ensure!(
                bytes.len() == expected,
                "the file changed while it was read"
            );
            if cfg!(target_endian = "big") {
                npy::swap_bytes(&mut bytes, info.data_type.size().unwrap_or(1));
            }
            Ok((info.shape, bytes))
        }
        FileKind::Npz => bail!("an archive holds several arrays; this is a fault of the command"),
    }
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
    ZipArchive::new(BufReader::new(file))
        .with_context(|| format!("'{}' is no .npz file: not a ZIP archive", path.display()))
}

fn read_array(path: &Path, name: &str, info: &TensorInfo) -> anyhow::Result<(Shape, Vec<u8>)> {
    let mut archive = open_archive(path)?;
    let in_archive = format!("{name}.npy");
    let in_archive = match archive.index_for_name(&in_archive) {
        Some(_) => in_archive.as_str(),
        None => name,
    };
    let mut file = archive
        .by_name(in_archive)
        .context("cannot read the array")?;
    read_npy(&mut file, info)
}

fn read_npy(
    reader: &mut impl std::io::Read,
    info: &TensorInfo,
) -> anyhow::Result<(Shape, Vec<u8>)> {
    let header = Header::read(reader)?;
    let found = format!("{} {:?}", header.element_type, header.shape);
    let expected = ElementType::of(info.data_type)
        .with_context(|| format!("elements of type {} have no .npy form", info.data_type))?;
    ensure!(
        header.element_type.means(expected),
        "the input takes elements of type {} ('{expected}'), the array holds {found}; convert it, \
         for instance with astype('{expected}') of NumPy",
        info.data_type
    );
    let dims: Option<Vec<i64>> = header
        .shape
        .iter()
        .map(|&dim| i64::try_from(dim).ok())
        .collect();
    let shape = dims.and_then(|dims| Shape::new(&dims).ok());
    let shape = match shape {
        Some(shape) if info.shape.accepts(&shape) => shape,
        _ => bail!(
            "the input takes the shape {}, the array holds {found}; reshape it",
            info.shape
        ),
    };
    let mut bytes = header.read_elements(reader)?;
    if info.data_type == armnn_runtime::DataType::Boolean {
        // Any other byte than 0 counts as true there, and only 1 does here.
        bytes
            .iter_mut()
            .for_each(|byte| *byte = u8::from(*byte != 0));
    }
    if info.data_type.bits().is_some_and(|bits| bits < 8) {
        bail!(
            "elements of type {} have no .npy form; give them as .bin",
            info.data_type
        );
    }
    Ok((shape, bytes))
}
