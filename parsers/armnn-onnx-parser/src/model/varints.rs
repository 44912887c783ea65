//! Integers that a file has as varints: seven bits in each byte, lowest first, and a top bit that
//! says that another byte follows.
//!
//! What has been read is given back to the system, as the numbers take its place in memory.

use bytes::Bytes;

use super::external::ExternalFiles;
use crate::error::Fault;

/// How many bytes are read before their pages are given back.
const RELEASED_AT_ONCE: usize = 1 << 20;
/// The most bytes of a number: of one with 64 bits.
const LONGEST: usize = 10;

/// How many numbers there are.
pub(super) fn count(varints: &[u8], files: &ExternalFiles) -> Result<usize, Fault> {
    if varints.last().is_some_and(|&last| last >= 0x80) {
        return Err(broken("the last of its numbers"));
    }
    let mut count = 0;
    for piece in varints.chunks(RELEASED_AT_ONCE) {
        count += piece.iter().filter(|&&byte| byte < 0x80).count();
        has_been_read(piece, varints, files);
    }
    Ok(count)
}

/// The low `width` bytes of each of `count` numbers, little-endian. `width` is at most 8.
pub(super) fn decode(
    varints: &[u8],
    width: usize,
    count: usize,
    files: &ExternalFiles,
) -> Result<Bytes, Fault> {
    let mut numbers = Vec::new();
    numbers
        .try_reserve_exact(count.saturating_mul(width))
        .map_err(|_| Fault::new(format!("there is no memory for its {count} numbers")))?;
    let (mut number, mut length) = (0u64, 0usize);
    for piece in varints.chunks(RELEASED_AT_ONCE) {
        for &byte in piece {
            if length == LONGEST {
                return Err(broken("a number in it"));
            }
            // Of the tenth byte, one bit is left.
            number |= u64::from(byte & 0x7f) << (7 * length);
            length += 1;
            if byte < 0x80 {
                numbers.extend_from_slice(&number.to_le_bytes()[..width]);
                (number, length) = (0, 0);
            }
        }
        has_been_read(piece, varints, files);
    }
    Ok(numbers.into())
}

fn has_been_read(piece: &[u8], varints: &[u8], files: &ExternalFiles) {
    // Pages of few numbers are needed again for what is beside them.
    if varints.len() >= RELEASED_AT_ONCE {
        files.has_been_read(piece);
    }
}

fn broken(what: &str) -> Fault {
    Fault::new(format!("{what} is no varint; fetch the file again"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(varints: &[u8], width: usize) -> Result<Vec<u8>, Fault> {
        let files = ExternalFiles::new(None, None);
        let count = count(varints, &files)?;
        decode(varints, width, count, &files).map(|bytes| bytes.to_vec())
    }

    #[test]
    fn numbers_are_cut_to_their_width() {
        // 300 is 0b10_0101100; -1 has all 64 bits.
        let minus_one = [&[0xff; 9][..], &[1]].concat();
        let varints = [&[0xac, 0x02, 0x05][..], &minus_one].concat();
        assert_eq!(decoded(&varints, 1).unwrap(), [44, 5, 255]);
        assert_eq!(decoded(&varints, 2).unwrap(), [44, 1, 5, 0, 255, 255]);
        let wide = decoded(&varints, 8).unwrap();
        assert_eq!(wide[16..], [0xff; 8]);
        assert_eq!(wide[..8], 300u64.to_le_bytes());
        assert!(decoded(&[], 4).unwrap().is_empty());
    }

    #[test]
    fn a_number_may_lie_across_pieces() {
        let mut varints = vec![1; RELEASED_AT_ONCE - 1];
        varints.extend([0xac, 0x02, 0x07]);
        let numbers = decoded(&varints, 2).unwrap();
        assert_eq!(numbers[numbers.len() - 4..], [44, 1, 7, 0]);
        assert_eq!(numbers.len(), 2 * (RELEASED_AT_ONCE + 1));
    }

    #[test]
    fn what_is_no_varint_is_an_error() {
        assert!(decoded(&[0x01, 0x80], 4).is_err());
        let too_long = [&[0xff; 10][..], &[1]].concat();
        assert!(decoded(&too_long, 8).is_err());
    }
}
