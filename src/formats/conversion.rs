//! Reads another format as the bytes of a reel, so that whatever reads reels reads it, too.

use super::import::{ImportError, Importer};
use crate::trace::{ReelWriter, WriterOptions};
use std::io::{self, Read};

/// The size of a segment, which stays in the processor's cache until it was read.
const SEGMENT_BYTES: usize = 64 << 10;

/// A reel that is written while it is read. Nothing but the segment that is being read is in memory.
pub(crate) struct Conversion {
    importer: Box<dyn Importer>,
    /// Writes the reel; `None` at its end.
    writer: Option<ReelWriter<Vec<u8>>>,
    /// What was written, and how much of it was read.
    written: Vec<u8>,
    taken: usize,
}

impl Conversion {
    /// Begins the reel.
    ///
    /// # Errors
    ///
    /// The header is too long.
    pub(crate) fn new(importer: Box<dyn Importer>) -> io::Result<Self> {
        let options = WriterOptions { level: 1, segment_bytes: SEGMENT_BYTES, ..WriterOptions::default() };
        let mut writer = ReelWriter::create(Vec::new(), importer.header(), options)?;
        // It is read at once, so compressing it would be wasted.
        writer.store_payloads(true);
        Ok(Self { importer, writer: Some(writer), written: Vec::new(), taken: 0 })
    }

    /// Converts events until there is something to read. Returns whether there is.
    fn go_on(&mut self) -> io::Result<bool> {
        self.written.clear();
        self.taken = 0;
        while let Some(writer) = &mut self.writer {
            if !writer.get_ref().is_empty() {
                std::mem::swap(writer.get_mut(), &mut self.written);
                return Ok(true);
            }
            match self.importer.next_event().map_err(invalid)? {
                Some(event) => writer.append(event)?,
                None => self.end()?,
            }
        }
        Ok(!self.written.is_empty())
    }

    fn end(&mut self) -> io::Result<()> {
        if let Some(writer) = self.writer.take() {
            self.written = writer.finish()?.0;
        }
        Ok(())
    }
}

impl Read for Conversion {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.written.len() && !self.go_on()? {
            return Ok(0);
        }
        let length = (self.written.len() - self.taken).min(into.len());
        into[..length].copy_from_slice(&self.written[self.taken..self.taken + length]);
        self.taken += length;
        Ok(length)
    }
}

/// What is wrong with a text, as an error of the kind `InvalidData`.
pub(crate) fn invalid(error: ImportError) -> io::Error {
    match error {
        ImportError::Io(error) => error,
        error @ ImportError::Line { .. } => io::Error::new(io::ErrorKind::InvalidData, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats;
    use crate::trace::{Item, ReelReader};

    const HEADER: &str = r#"{"reel":{"version":1,"created":"2026-11-23T10:00:00Z","tool":"t","label":"l"}}"#;

    fn line(seq: usize, text: &str) -> String {
        format!(
            r#"{{"seq":{seq},"time":"2026-11-23T10:00:01Z","stream":1,"dir":"c2s","event":"stderr","text":"{text}"}}"#
        )
    }

    fn conversion(text: String) -> Conversion {
        let importer = (formats::jsonl::IMPORT.open)(Box::new(io::Cursor::new(text.into_bytes()))).expect("a header");
        Conversion::new(importer).expect("a short header")
    }

    #[test]
    fn a_reader_of_reels_gets_every_event_while_few_are_in_memory() {
        let long = "x".repeat(10_000);
        let lines: Vec<String> = (0..200).map(|seq| line(seq, &format!("{seq} {long}"))).collect();
        let conversion = conversion(format!("{HEADER}\n{}\n", lines.join("\n")));
        let mut reader = ReelReader::from_stream(Box::new(conversion)).expect("a reel").with_payloads();
        assert_eq!(reader.header().label.as_deref(), Some("l"));
        let (mut payloads, mut blocks) = (Vec::new(), 0);
        while let Some(item) = reader.next().expect("no error") {
            let Item::Block(block) = item else { panic!("damage") };
            blocks += 1;
            payloads.extend(block.events().map(|event| event.payload.to_vec()));
        }
        assert!(blocks > 4, "{blocks}");
        let expected: Vec<Vec<u8>> = (0..200).map(|seq| format!("{seq} {long}").into_bytes()).collect();
        assert_eq!(payloads, expected);
    }

    #[test]
    fn a_file_that_cannot_be_read_further_is_an_error() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("the disk is gone"))
            }
        }
        let beginning = io::Cursor::new(format!("{HEADER}\n{}\n", line(0, "x")));
        let input = io::BufReader::new(beginning.chain(Failing));
        let importer = (formats::jsonl::IMPORT.open)(Box::new(input)).expect("a header");
        let read = Conversion::new(importer).expect("a short header").read_to_end(&mut Vec::new());
        let error = read.expect_err("reading fails").to_string();
        assert!(error.contains("the disk is gone"), "{error}");
    }
}
