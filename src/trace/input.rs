//! The input of a reader: a file, which can be read at any place, or a pipe, which can be read forward only.

use super::format::read_up_to;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

/// The maximum length of one read, in bytes.
const STEP: usize = 1 << 20;

/// The source of the bytes.
pub(super) enum Input {
    File(File),
    /// A pipe: bytes are kept until their segment was processed.
    Stream {
        source: Box<dyn Read + Send>,
        buffer: Vec<u8>,
        start: u64,
        ended: bool,
    },
}

impl Input {
    /// Reads up to `len` bytes at `offset` into `into`.
    ///
    /// # Errors
    ///
    /// If reading fails.
    pub(super) fn read_at(&mut self, offset: u64, len: usize, into: &mut Vec<u8>) -> io::Result<()> {
        into.clear();
        match self {
            Self::File(file) => {
                let mut got = 0;
                while got < len {
                    // A claimed length is trusted only as far as there are bytes.
                    into.resize(len.min(got + STEP), 0);
                    match file.read_at(&mut into[got..], offset + got as u64) {
                        Ok(0) => break,
                        Ok(more) => got += more,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                into.truncate(got);
            }
            Self::Stream { source, buffer, start, ended } => {
                let needed = (offset - *start) as usize + len;
                while buffer.len() < needed && !*ended {
                    let at = buffer.len();
                    // Read exactly what is needed, so that a reader that follows a pipe never waits for more.
                    buffer.resize(needed.min(at + STEP), 0);
                    let got = read_up_to(source, &mut buffer[at..])?;
                    *ended = at + got < buffer.len();
                    buffer.truncate(at + got);
                }
                let from = ((offset - *start) as usize).min(buffer.len());
                into.extend_from_slice(&buffer[from..needed.min(buffer.len())]);
            }
        }
        Ok(())
    }

    /// Notes that nothing before `offset` will be read again.
    pub(super) fn forget_before(&mut self, offset: u64) {
        if let Self::Stream { buffer, start, .. } = self {
            let gone = ((offset - *start) as usize).min(buffer.len());
            buffer.drain(..gone);
            *start += gone as u64;
        }
    }

    /// Returns whether a pipe has ended. A file may always grow.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self, Self::Stream { ended: true, .. })
    }

    /// Returns whether payload parts can be read again later.
    pub(super) fn is_seekable(&self) -> bool {
        matches!(self, Self::File(_))
    }
}

/// Reads an input from a place on, for the file header.
pub(super) struct InputCursor<'a> {
    pub(super) input: &'a mut Input,
    pub(super) at: u64,
    pub(super) chunk: Vec<u8>,
}

impl Read for InputCursor<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.input.read_at(self.at, into.len(), &mut self.chunk)?;
        into[..self.chunk.len()].copy_from_slice(&self.chunk);
        self.at += self.chunk.len() as u64;
        Ok(self.chunk.len())
    }
}
