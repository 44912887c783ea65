//! NumPy's files: `.npy`, one array, and `.npz`, a ZIP archive of them.
//!
//! Written from the description of the format in NumPy's documentation (`numpy.lib.format`): the
//! magic number, a version, the length of the header, the header, which is a Python dictionary in
//! plain text, and the elements. Files are not trusted: the header has a bounded length, is parsed
//! without recursion, and nothing is allocated on the strength of a number in it.

use std::io::{Read, Write};

use anyhow::{Context as _, bail, ensure};
use armnn_runtime::DataType;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// More than any array needs; NumPy itself takes at most 10 000.
const MAX_HEADER: u32 = 1 << 16;
/// The elements begin at a multiple of this.
const ALIGNMENT: usize = 64;

/// What a `.npy` file says about its array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The type of the elements.
    pub element_type: ElementType,
    /// Whether the first axis is the one that changes fastest.
    pub fortran_order: bool,
    /// The dimensions, outermost first.
    pub shape: Vec<u64>,
}

/// A type of elements, such as `<f4`: byte order, kind and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementType {
    /// Whether the most significant byte comes first.
    pub big_endian: bool,
    /// `f` floating point, `i` signed, `u` unsigned, `b` Boolean, `V` opaque.
    pub kind: char,
    /// Bytes.
    pub size: usize,
}

impl ElementType {
    /// How elements of a tensor are stored: types that NumPy does not know as opaque bytes, and
    /// packed ones byte by byte.
    pub fn of(data_type: DataType) -> Option<Self> {
        let (kind, size) = match data_type {
            DataType::Float16 => ('f', 2),
            DataType::Float32 => ('f', 4),
            DataType::Float64 => ('f', 8),
            DataType::QAsymmU8 | DataType::UInt8 => ('u', 1),
            DataType::QAsymmS8 | DataType::QSymmS8 | DataType::Int8 => ('i', 1),
            DataType::QSymmS16 | DataType::Int16 => ('i', 2),
            DataType::UInt16 => ('u', 2),
            DataType::Signed32 => ('i', 4),
            DataType::UInt32 => ('u', 4),
            DataType::Signed64 => ('i', 8),
            DataType::UInt64 => ('u', 8),
            DataType::Boolean => ('b', 1),
            other => ('V', other.bits()?.div_ceil(8) as usize),
        };
        Some(Self {
            big_endian: cfg!(target_endian = "big") && size > 1,
            kind,
            size,
        })
    }

    /// Whether the elements mean the same as those of `other`, apart from the byte order.
    pub fn means(self, other: Self) -> bool {
        (self.kind, self.size) == (other.kind, other.size)
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let mut characters = text.chars();
        let order = characters.next();
        let kind = characters.next();
        let size = characters.as_str().parse::<usize>();
        match (order, kind, size) {
            (Some(order @ ('<' | '>' | '|' | '=')), Some(kind @ 'A'..='z'), Ok(size))
                if (1..=16).contains(&size) =>
            {
                let native = cfg!(target_endian = "big");
                Ok(Self {
                    big_endian: order == '>' || (order == '=' && native),
                    kind,
                    size,
                })
            }
            _ => bail!("elements of type '{text}' are none that a tensor can have"),
        }
    }
}

impl std::fmt::Display for ElementType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let order = match (self.size, self.kind, self.big_endian) {
            (1, ..) | (_, 'V', _) => '|',
            (_, _, true) => '>',
            (_, _, false) => '<',
        };
        write!(f, "{order}{}{}", self.kind, self.size)
    }
}

impl Header {
    /// Reads everything before the elements.
    ///
    /// # Errors
    /// When this is no `.npy` file, or the array is none of plain numbers.
    pub fn read(reader: &mut impl Read) -> anyhow::Result<Self> {
        let mut start = [0; 8];
        let not_npy =
            "this is no .npy file: it does not begin with \\x93NUMPY; write one with numpy.save";
        reader.read_exact(&mut start).context(not_npy)?;
        ensure!(start.starts_with(MAGIC), not_npy);
        let length = match start[6] {
            1 => {
                let mut length = [0; 2];
                reader
                    .read_exact(&mut length)
                    .context("the file ends in its header")?;
                u32::from(u16::from_le_bytes(length))
            }
            2 | 3 => {
                let mut length = [0; 4];
                reader
                    .read_exact(&mut length)
                    .context("the file ends in its header")?;
                u32::from_le_bytes(length)
            }
            version => bail!("version {version} of the .npy format is unknown"),
        };
        ensure!(
            length <= MAX_HEADER,
            "the header of the .npy file would have {length} bytes; the file is damaged"
        );
        let mut text = vec![0; length as usize];
        reader
            .read_exact(&mut text)
            .context("the file ends in its header")?;
        let text = std::str::from_utf8(&text).context("the header of the .npy file is no text")?;
        Self::parse(text).with_context(|| format!("the header of the .npy file is {}", text.trim()))
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let mut literal = Literal(text);
        let (mut element_type, mut fortran_order, mut shape) = (None, None, None);
        literal.expect('{')?;
        while !literal.take('}') {
            let key = literal.string()?;
            literal.expect(':')?;
            match key {
                "descr" => {
                    ensure!(!literal.starts_with('['), "the elements are structures");
                    element_type = Some(ElementType::parse(literal.string()?)?);
                }
                "fortran_order" => fortran_order = Some(literal.boolean()?),
                "shape" => shape = Some(literal.tuple()?),
                _ => bail!("the key '{key}' is unknown"),
            }
            if !literal.take(',') {
                literal.expect('}')?;
                break;
            }
        }
        Ok(Self {
            element_type: element_type.context("the key 'descr' is missing")?,
            fortran_order: fortran_order.context("the key 'fortran_order' is missing")?,
            shape: shape.context("the key 'shape' is missing")?,
        })
    }

    /// Bytes of all elements.
    fn data_size(&self) -> Option<u64> {
        if self.shape.contains(&0) {
            return Some(0);
        }
        let size = self.element_type.size as u64;
        self.shape
            .iter()
            .try_fold(size, |n, &dim| n.checked_mul(dim))
    }

    /// Reads the elements, which follow the header: row-major, in the byte order of this machine.
    ///
    /// # Errors
    /// When there are fewer or more than the header says.
    pub fn read_elements(&self, reader: &mut impl Read) -> anyhow::Result<Vec<u8>> {
        let size = self
            .data_size()
            .context("the array is larger than any memory")?;
        let mut bytes = Vec::new();
        reader
            .take(size)
            .read_to_end(&mut bytes)
            .context("cannot read the elements")?;
        ensure!(
            bytes.len() as u64 == size,
            "the file ends early: an array of {} {:?} has {size} bytes, there are {}",
            self.element_type,
            self.shape,
            bytes.len()
        );
        let more = reader
            .take(1)
            .read_to_end(&mut Vec::new())
            .context("cannot read on")?;
        ensure!(
            more == 0,
            "there is more in the file than one array of {:?}",
            self.shape
        );
        if self.element_type.big_endian != cfg!(target_endian = "big") {
            swap_bytes(&mut bytes, self.element_type.size);
        }
        if self.fortran_order && self.shape.len() > 1 {
            bytes = to_row_major(&bytes, &self.shape, self.element_type.size);
        }
        Ok(bytes)
    }
}

/// Writes an array: `bytes` are its elements, row-major, in the byte order of this machine.
///
/// # Errors
/// When it cannot be written.
pub fn write(
    writer: &mut impl Write,
    element_type: ElementType,
    shape: &[i64],
    bytes: &[u8],
) -> std::io::Result<()> {
    let dims: Vec<String> = shape.iter().map(i64::to_string).collect();
    // A tuple of one has a comma after it.
    let comma = if dims.len() == 1 { "," } else { "" };
    let mut header = format!(
        "{{'descr': '{element_type}', 'fortran_order': False, 'shape': ({}{comma}), }}",
        dims.join(", ")
    );
    // The magic number, the version and the length before it, a line end after it.
    let before = MAGIC.len() + 4;
    let padded = (before + header.len() + 1).next_multiple_of(ALIGNMENT);
    header.extend(std::iter::repeat_n(' ', padded - before - header.len() - 1));
    header.push('\n');
    // Eight dimensions of at most 19 digits are far below the limit of version 1.
    let length = u16::try_from(header.len()).map_err(std::io::Error::other)?;
    writer.write_all(MAGIC)?;
    writer.write_all(&[1, 0])?;
    writer.write_all(&length.to_le_bytes())?;
    writer.write_all(header.as_bytes())?;
    writer.write_all(bytes)
}

/// Reverses the bytes of each element of `size` bytes.
pub fn swap_bytes(bytes: &mut [u8], size: usize) {
    for element in bytes.chunks_exact_mut(size.max(1)) {
        element.reverse();
    }
}

/// Copies an array whose first axis changes fastest into one whose last does.
fn to_row_major(bytes: &[u8], shape: &[u64], size: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    // The bytes are there, so that no dimension and no product of them exceeds `usize`.
    let shape: Vec<usize> = shape.iter().map(|&dim| dim as usize).collect();
    let mut index = vec![0; shape.len()];
    while out.len() < bytes.len() {
        let from = (index.iter().zip(&shape).rev()).fold(0, |n, (i, dim)| n * dim + i) * size;
        out.extend_from_slice(&bytes[from..from + size]);
        for (i, dim) in index.iter_mut().zip(&shape).rev() {
            *i += 1;
            if *i < *dim {
                break;
            }
            *i = 0;
        }
    }
    out
}

/// What is left to be read of a Python literal.
struct Literal<'a>(&'a str);

impl<'a> Literal<'a> {
    fn skip_space(&mut self) {
        self.0 = self.0.trim_start();
    }

    fn starts_with(&mut self, character: char) -> bool {
        self.skip_space();
        self.0.starts_with(character)
    }

    fn take(&mut self, character: char) -> bool {
        self.skip_space();
        match self.0.strip_prefix(character) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, character: char) -> anyhow::Result<()> {
        ensure!(self.take(character), "'{character}' is missing");
        Ok(())
    }

    fn string(&mut self) -> anyhow::Result<&'a str> {
        let quote = if self.take('\'') {
            '\''
        } else {
            self.expect('"')?;
            '"'
        };
        let (text, rest) = self.0.split_once(quote).context("a text has no end")?;
        self.0 = rest;
        Ok(text)
    }

    fn boolean(&mut self) -> anyhow::Result<bool> {
        self.skip_space();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.0.strip_prefix(word) {
                self.0 = rest;
                return Ok(value);
            }
        }
        bail!("'fortran_order' is neither True nor False")
    }

    fn tuple(&mut self) -> anyhow::Result<Vec<u64>> {
        let mut numbers = Vec::new();
        self.expect('(')?;
        while !self.take(')') {
            self.skip_space();
            let end = self
                .0
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(self.0.len());
            let (digits, rest) = self.0.split_at(end);
            numbers.push(digits.parse().context("a dimension is no number")?);
            // Python 2 wrote long integers with an L.
            self.0 = rest.strip_prefix('L').unwrap_or(rest);
            if !self.take(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&u16::try_from(header.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    fn read(mut bytes: &[u8]) -> anyhow::Result<(Header, Vec<u8>)> {
        let header = Header::read(&mut bytes)?;
        let elements = header.read_elements(&mut bytes)?;
        Ok((header, elements))
    }

    #[test]
    fn a_header_is_read_whatever_its_order_and_spaces() {
        let bytes = file(
            "{ 'shape':(2L, 3,) ,\"fortran_order\": False,'descr':'|u1'}",
            b"abcdef",
        );
        let (header, elements) = read(&bytes).unwrap();
        assert_eq!(header.shape, [2, 3]);
        assert_eq!(header.element_type.to_string(), "|u1");
        assert_eq!(elements, b"abcdef");
    }

    #[test]
    fn big_endian_elements_are_turned() {
        let bytes = file(
            "{'descr': '>u2', 'fortran_order': False, 'shape': (2,)}",
            &[1, 2, 3, 4],
        );
        let (_, elements) = read(&bytes).unwrap();
        let numbers = [0x0102u16, 0x0304].map(u16::to_ne_bytes).concat();
        assert_eq!(elements, numbers);
    }

    #[test]
    fn arrays_in_fortran_order_become_row_major() {
        // Element (i, j, k) of shape (2, 3, 2) is the letter with index i + 2 j + 6 k.
        let bytes = file(
            "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3, 2)}",
            b"abcdefghijkl",
        );
        let (_, elements) = read(&bytes).unwrap();
        assert_eq!(elements, b"agciekbhdjfl");
    }

    #[test]
    fn an_independent_reader_reads_what_is_written() {
        let numbers = [1.5f32, -2.0, 0.0, 3.25, 4.0, 5.0];
        let elements = numbers.map(f32::to_ne_bytes).concat();
        for shape in [&[2, 3][..], &[6], &[1, 1, 6, 1]] {
            let mut bytes = Vec::new();
            let element_type = ElementType::of(DataType::Float32).unwrap();
            write(&mut bytes, element_type, shape, &elements).unwrap();
            let file = npyz::NpyFile::new(&bytes[..]).unwrap();
            let dims: Vec<i64> = file.shape().iter().map(|&d| d as i64).collect();
            assert_eq!(dims, shape);
            assert_eq!(file.into_vec::<f32>().unwrap(), numbers);
            // The elements are where they can be mapped.
            assert_eq!((bytes.len() - elements.len()) % ALIGNMENT, 0);
            assert_eq!(read(&bytes).unwrap().1, elements);
        }
    }

    #[test]
    fn a_scalar_has_an_empty_shape() {
        let mut bytes = Vec::new();
        let element_type = ElementType::of(DataType::Signed64).unwrap();
        write(&mut bytes, element_type, &[], &7i64.to_ne_bytes()).unwrap();
        let file = npyz::NpyFile::new(&bytes[..]).unwrap();
        assert_eq!(file.shape(), &[] as &[u64]);
        assert_eq!(read(&bytes).unwrap().0.shape, [] as [u64; 0]);
    }

    #[test]
    fn faulty_files_are_refused_with_the_reason() {
        let good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
        for (bytes, reason) in [
            (b"hello, world".to_vec(), "no .npy file"),
            (b"\x93NUMPY".to_vec(), "no .npy file"),
            (b"\x93NUMPY\x09\0\x01\0{".to_vec(), "version 9"),
            (
                b"\x93NUMPY\x02\0\xff\xff\xff\xff{".to_vec(),
                "4294967295 bytes",
            ),
            (b"\x93NUMPY\x01\0\xff\xff{".to_vec(), "ends in its header"),
            (file(good, &[0; 7]), "ends early"),
            (file(good, &[0; 9]), "more in the file"),
            (file(&good.replace("<f4", "|O"), &[]), "type '|O'"),
            (
                file(&good.replace("'<f4'", "[('a', '<f4')]"), &[]),
                "structures",
            ),
            (file(&good.replace("(2,)", "(-2,)"), &[]), "no number"),
            (file(&good.replace("(2,)", "(2"), &[]), "no number"),
            (
                file(&good.replace("(2,)", "(99999999999999999999,)"), &[]),
                "no number",
            ),
            (
                file(&good.replace("(2,)", "(9999999999, 9999999999)"), &[]),
                "larger than any",
            ),
            (
                file(&good.replace("False", "Maybe"), &[]),
                "neither True nor False",
            ),
            (
                file("{'descr': '<f4', 'shape': ()}", &[0; 4]),
                "'fortran_order' is missing",
            ),
            (file(&"(".repeat(60000), &[]), "'{' is missing"),
        ] {
            let error = format!("{:#}", read(&bytes).unwrap_err());
            assert!(error.contains(reason), "{reason}: {error}");
        }
    }
}
