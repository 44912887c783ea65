//! Tensors as files hold them: NumPy's arrays (`.npy`), and the tensors of ONNX.

use std::{
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

use anyhow::{bail, ensure};
use armnn_onnx_parser::model::Tensor;
use armnn_runtime::DataType;

use crate::{
    elements::storage_type,
    model::expect_regular_file,
    npy::{self, ElementType, Header},
};

/// A tensor as a file holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTensor {
    /// What its elements are.
    pub element: StoredElement,
    /// Its dimensions, outermost first.
    pub dims: Vec<u64>,
    /// Its elements: dense, row-major, in the byte order of this machine; packed where they are
    /// smaller than a byte.
    pub bytes: Vec<u8>,
}

/// What the elements of a file are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredElement {
    /// The type; `None` for NumPy's opaque bytes, which any type of their size may have written.
    data_type: Option<DataType>,
    /// Bits of an element.
    bits: u32,
    /// The name of the type in the format of the file.
    name: String,
}

impl StoredElement {
    /// Whether elements of `data_type` are stored so.
    pub fn holds(&self, data_type: DataType) -> bool {
        match self.data_type {
            Some(stored) => stored == storage_type(data_type),
            None => {
                !data_type.is_quantized()
                    && data_type.bits() == Some(self.bits)
                    && ElementType::of(data_type).is_some_and(|e| e.kind == 'V')
            }
        }
    }

    /// The type, where the file says which one it is.
    pub fn data_type(&self) -> Option<DataType> {
        self.data_type
    }
}

/// The name of the type in the format of the file.
impl std::fmt::Display for StoredElement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// Type and shape, as in `<f4 [1, 3]`.
impl std::fmt::Display for StoredTensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?}", self.element, self.dims)
    }
}

impl StoredTensor {
    /// Reads a `.npy` file.
    ///
    /// # Errors
    /// When it cannot be read, or is none of plain numbers.
    pub fn read_npy_file(path: &Path) -> anyhow::Result<Self> {
        expect_regular_file(path, "the file")?;
        Self::read_npy(&mut BufReader::new(File::open(path)?))
    }

    /// Reads an array in the format of `.npy` files, to the end.
    ///
    /// # Errors
    /// When it cannot be read, or is none of plain numbers.
    pub fn read_npy(reader: &mut impl Read) -> anyhow::Result<Self> {
        let header = Header::read(reader)?;
        let element = numpy_element(header.element_type)?;
        let mut bytes = header.read_elements(reader)?;
        if element.data_type == Some(DataType::Boolean) {
            make_boolean(&mut bytes);
        }
        Ok(Self {
            element,
            dims: header.shape,
            bytes,
        })
    }

    /// A tensor of an ONNX file.
    ///
    /// # Errors
    /// When the runtime knows no such elements.
    pub fn from_onnx(tensor: &Tensor) -> anyhow::Result<Self> {
        let element = tensor.element_type;
        let (Some(data_type), Some(bits), Some(data)) =
            (element.data_type(), element.bits(), &tensor.data)
        else {
            let name = element.name().unwrap_or("a type that is not known");
            return Err(UnknownElements(name).into());
        };
        let mut bytes = data.to_vec();
        if cfg!(target_endian = "big") {
            npy::swap_bytes(&mut bytes, data_type.size().unwrap_or(1));
        }
        if data_type == DataType::Boolean {
            make_boolean(&mut bytes);
        }
        Ok(Self {
            element: StoredElement {
                data_type: Some(data_type),
                bits,
                name: element.name().unwrap_or("?").to_owned(),
            },
            // None is negative.
            dims: tensor.dims.iter().map(|dim| dim.unsigned_abs()).collect(),
            bytes,
        })
    }

    /// How many elements there are.
    pub fn count(&self) -> usize {
        // The bytes are there, so that the product does not overflow.
        self.dims.iter().fold(1u64, |n, &dim| n.saturating_mul(dim)) as usize
    }

    /// The dimensions as those of a shape.
    pub fn signed_dims(&self) -> Option<Vec<i64>> {
        let dims = self.dims.iter().map(|&dim| i64::try_from(dim).ok());
        dims.collect()
    }
}

/// Elements that no tensor has here.
#[derive(Debug)]
pub struct UnknownElements(&'static str);

impl std::fmt::Display for UnknownElements {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "its elements are {}, which no tensor has here", self.0)
    }
}

impl std::error::Error for UnknownElements {}

fn numpy_element(found: ElementType) -> anyhow::Result<StoredElement> {
    let data_type = match (found.kind, found.size) {
        ('f', 2) => Some(DataType::Float16),
        ('f', 4) => Some(DataType::Float32),
        ('f', 8) => Some(DataType::Float64),
        ('u', 1) => Some(DataType::UInt8),
        ('u', 2) => Some(DataType::UInt16),
        ('u', 4) => Some(DataType::UInt32),
        ('u', 8) => Some(DataType::UInt64),
        ('i', 1) => Some(DataType::Int8),
        ('i', 2) => Some(DataType::Int16),
        ('i', 4) => Some(DataType::Signed32),
        ('i', 8) => Some(DataType::Signed64),
        ('b', 1) => Some(DataType::Boolean),
        ('V', 1 | 2) => None,
        _ => bail!("elements of type '{found}' are none that a tensor can have"),
    };
    Ok(StoredElement {
        data_type,
        bits: u32::try_from(found.size)?.saturating_mul(8),
        name: found.to_string(),
    })
}

/// Any other byte than 0 counts as true in files, and only 1 does in a tensor.
fn make_boolean(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = u8::from(*byte != 0);
    }
}

/// The most steps that are executed in a row.
const MAX_STEPS: u64 = 1 << 24;

/// Splits off the first axis, which counts steps: how many, and the dimensions of each.
///
/// # Errors
/// When there is no first axis, or it is empty.
pub fn split_steps(dims: &[u64]) -> anyhow::Result<(usize, &[u64])> {
    let [steps, of_each @ ..] = dims else {
        bail!("it has no first axis that could count steps: it is a single element");
    };
    ensure!(*steps > 0, "its first axis counts steps, and is empty");
    // Steps of no elements take no room in a file.
    ensure!(
        *steps <= MAX_STEPS,
        "its first axis counts {steps} steps; at most {MAX_STEPS} can be executed"
    );
    Ok((usize::try_from(*steps)?, of_each))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_as_many_as_can_be_executed() {
        assert_eq!(split_steps(&[3, 2]).unwrap(), (3, &[2][..]));
        for dims in [&[][..], &[0, 2], &[1 << 40, 0]] {
            assert!(split_steps(dims).is_err(), "{dims:?}");
        }
    }

    #[test]
    fn opaque_bytes_hold_types_of_their_size_that_numpy_does_not_know() {
        let opaque = |size| {
            numpy_element(ElementType {
                big_endian: false,
                kind: 'V',
                size,
            })
        };
        let two = opaque(2).unwrap();
        assert!(two.holds(DataType::BFloat16) && !two.holds(DataType::Float16));
        let one = opaque(1).unwrap();
        assert!(one.holds(DataType::Float8E5M2) && !one.holds(DataType::QAsymmS8));
        assert!(opaque(3).is_err());
    }
}
