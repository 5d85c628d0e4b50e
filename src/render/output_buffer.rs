//! Buffers output: collects small pieces, and writes large ones directly, so that memory use stays small. Webhook secrets
//! in it are hidden, and no line of it is a command to a build server.

use crate::wire::log_lines::LogLines;
use crate::wire::mask::Mask;
use std::io::{self, Write};

/// The buffer is written when it reaches this length, in bytes.
const FLUSH_BYTES: usize = 64 << 10;

/// A buffered writer that remembers write errors; [`OutputBuffer::failure`] returns them.
#[derive(Debug)]
pub struct OutputBuffer<W> {
    gathered: Vec<u8>,
    to: W,
    /// Hides secrets; `None` if the exact bytes are wanted.
    mask: Option<Mask>,
    /// Guards the lines; `None` if they may be commands.
    lines: Option<LogLines>,
    failed: Option<io::Error>,
}

impl<W: Write> OutputBuffer<W> {
    /// Creates a buffer for `to`, which gets everything in larger pieces.
    pub fn new(to: W) -> Self {
        Self { gathered: Vec::new(), to, mask: Some(Mask::default()), lines: Some(LogLines::default()), failed: None }
    }

    /// Writes the exact bytes from now on, with secrets.
    pub(crate) fn be_exact(&mut self) {
        self.allow_commands();
        self.mask = None;
    }

    /// Writes lines as they are from now on, also those that are commands to a build server.
    pub(crate) fn allow_commands(&mut self) {
        self.pass_on();
        self.lines = None;
    }

    /// Returns the buffer, to append small pieces. Call [`OutputBuffer::relieve`] regularly to limit its size.
    pub fn gathered(&mut self) -> &mut Vec<u8> {
        &mut self.gathered
    }

    /// Returns what the buffer writes to.
    pub fn writer(&mut self) -> &mut W {
        &mut self.to
    }

    /// Writes the buffer if it is large enough.
    #[inline]
    pub fn relieve(&mut self) {
        if self.gathered.len() >= FLUSH_BYTES {
            self.pass_on();
        }
    }

    /// Appends bytes. Long ones are not copied.
    pub fn append(&mut self, bytes: &[u8]) {
        if bytes.len() < FLUSH_BYTES {
            self.gathered.extend_from_slice(bytes);
            return self.relieve();
        }
        self.pass_on();
        if self.mask.as_mut().is_none_or(|mask| mask.passes(bytes)) {
            return self.write_out(bytes);
        }
        self.gathered.extend_from_slice(bytes);
        self.pass_on();
    }

    /// Writes the whole buffer.
    ///
    /// # Errors
    /// If something could not be written, now or before.
    pub fn flush(&mut self) -> io::Result<()> {
        self.pass_on();
        self.failure()
    }

    /// Returns whether something could not be written.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Reports a write error, once.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn failure(&mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    fn pass_on(&mut self) {
        let mut gathered = std::mem::take(&mut self.gathered);
        if let Some(mask) = &mut self.mask {
            mask.hide(&mut gathered);
        }
        if !gathered.is_empty() {
            self.write_out(&gathered);
        }
        self.gathered = gathered;
        self.gathered.clear();
        self.gathered.shrink_to(2 * FLUSH_BYTES);
    }

    /// Writes bytes without secrets.
    fn write_out(&mut self, bytes: &[u8]) {
        let bytes = self.lines.as_mut().map_or(bytes.into(), |lines| lines.guarded(bytes));
        if self.failed.is_none() {
            self.failed = self.to.write_all(&bytes).err();
        }
    }
}

/// For writers of other crates, which stop when writing has failed.
impl<W: Write> Write for OutputBuffer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.append(bytes);
        self.failed.as_ref().map_or(Ok(bytes.len()), |error| Err(error.kind().into()))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_comes_out_in_order_and_little_waits() {
        let mut written = Vec::new();
        let mut wanted = Vec::new();
        let mut output_buffer = OutputBuffer::new(&mut written);
        for number in 0..300 {
            let piece =
                vec![b'a' + (number % 26) as u8; if number % 7 == 0 { FLUSH_BYTES + number } else { number * 3 }];
            match number % 2 {
                0 => output_buffer.append(&piece),
                _ => {
                    output_buffer.gathered().extend_from_slice(&piece);
                    output_buffer.relieve();
                }
            }
            assert!(output_buffer.gathered.len() < FLUSH_BYTES && output_buffer.gathered.capacity() <= 3 * FLUSH_BYTES);
            wanted.extend_from_slice(&piece);
        }
        output_buffer.flush().expect("a Vec takes all");
        assert!(written == wanted);
    }

    #[test]
    fn what_could_not_be_written_is_reported_once_and_nothing_after_it_is_tried() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                self.0 += 1;
                Err(io::ErrorKind::StorageFull.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut output_buffer = OutputBuffer::new(Full(0));
        (0..5).for_each(|_| output_buffer.append(&[b'x'; FLUSH_BYTES]));
        assert_eq!(output_buffer.to.0, 1);
        assert!(output_buffer.flush().is_err());
        assert!(output_buffer.flush().is_ok());
    }
}
