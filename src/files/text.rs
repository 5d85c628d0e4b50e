//! Reading files that a user names, with a limit: a device or a log that was named by mistake must not fill the memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The maximum size of a file that a user writes by hand, in bytes.
pub(crate) const SMALL: u64 = 1 << 20;
/// The maximum size of a file that a program may have written, in bytes.
pub(crate) const LARGE: u64 = 64 << 20;

/// Reads a file with at most `max` bytes.
///
/// # Errors
/// It cannot be read, is larger, or is not UTF-8.
pub(crate) fn read_text(path: &Path, max: u64) -> io::Result<String> {
    text_of(File::open(path)?, max)
}

/// Reads a file with at most `max` bytes.
///
/// # Errors
/// It cannot be read, or is larger.
pub(crate) fn read_bytes(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    bytes_of(File::open(path)?, max)
}

/// Reads everything, at most `max` bytes.
///
/// # Errors
/// It cannot be read, is larger, or is not UTF-8.
pub(crate) fn text_of(input: impl Read, max: u64) -> io::Result<String> {
    String::from_utf8(bytes_of(input, max)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

/// Reads everything, at most `max` bytes.
///
/// # Errors
/// It cannot be read, or is larger.
pub(crate) fn bytes_of(input: impl Read, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(max + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > max {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {} MiB", max >> 20))),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_larger_than_the_limit_is_not_read() {
        assert_eq!(text_of(io::repeat(b'a').take(SMALL), SMALL).expect("read").len() as u64, SMALL);
        let error = bytes_of(io::repeat(b'a'), SMALL).expect_err("endless");
        assert_eq!((error.kind(), error.to_string().as_str()), (io::ErrorKind::FileTooLarge, "larger than 1 MiB"));
        assert_eq!(text_of(&b"\xff"[..], SMALL).expect_err("no text").kind(), io::ErrorKind::InvalidData);
        assert!(read_bytes(Path::new("/dev/zero"), SMALL).is_err());
    }
}
