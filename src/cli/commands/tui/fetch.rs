//! Formats single events in any order: lines of the list, and whole messages.

use super::reel::Reel;
use crate::error::CommandError;
use crate::render::brackets::unpacked;
use crate::render::event::{Clock, Described, EventLines, full_layout, write_full};
use crate::render::line;
use crate::render::output_buffer::OutputBuffer;
use crate::render::pretty::Layout;
use crate::render::text::printable;
use crate::session::summary::Depth;
use crate::session::view::{Placed, Viewer, Words, method_name};
use crate::sessions::injection::MARK;
use crate::trace::{Block, Event, Item, ReelReader};
use crate::tui::effect::{DetailForm, DetailText, Lines, WantedLine};
use crate::wire::Direction;
use crate::wire::mask::masked;
use crate::wire::text::visible_text;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io;

/// Of a longer message, only the beginning is shown, in bytes.
const MAX_SHOWN: usize = 1 << 20;
/// Of a longer message, only the beginning is shown in hexadecimal, in bytes.
const MAX_HEX: usize = 128 << 10;
/// The number of requests that are remembered for the lines of their responses.
const MAX_ASKED: usize = 4096;
/// A reader reads on to an event that is at most this many events away, and seeks for others.
const NEAR: u64 = 2000;

/// What the line of a response says about its request.
#[derive(Clone)]
struct Asked {
    seq: u64,
    time: i64,
    method: Option<Box<str>>,
    about: Box<str>,
    subject: usize,
    tool: Option<Box<str>>,
}

/// Reads and formats events.
pub(super) struct Fetcher<'a> {
    reel: &'a Reel,
    reader: ReelReader,
    block: Option<Block>,
    lines: EventLines,
    words: Words,
    asked: HashMap<u32, Asked>,
}

impl<'a> Fetcher<'a> {
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(super) fn new(reel: &'a Reel) -> Result<Self, CommandError> {
        let reader = reel.reader()?.with_payloads();
        let clock = if reader.header().has_times() { Clock::Offset } else { Clock::Missing };
        let lines = EventLines::new(clock, reader.header().created, MARK);
        let words = Words::knowing(reel.registry);
        Ok(Self { reel, reader, block: None, lines, words, asked: HashMap::new() })
    }

    /// Formats lines of the list.
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(super) fn lines(&mut self, layout: u64, width: usize, wanted: &[WantedLine]) -> io::Result<Lines> {
        let mut requests: Vec<u32> = wanted.iter().filter_map(|line| line.asked).collect();
        requests.sort_unstable();
        for seq in requests {
            self.learn(seq)?;
        }
        let mut lines = Lines { layout, ..Lines::default() };
        for line in wanted {
            let (text, headings) = self.line(*line, Some(width))?;
            lines.headings = lines.headings.or(headings);
            lines.lines.push((line.seq, text));
        }
        Ok(lines)
    }

    /// Formats a line. Also returns the headings for its columns, if a width is given.
    fn line(&mut self, wanted: WantedLine, width: Option<usize>) -> io::Result<(String, Option<String>)> {
        let asked = wanted.asked.and_then(|seq| self.asked.get(&seq).cloned());
        let (palette, brackets) = (self.reel.palette, unpacked(wanted.brackets));
        let (mut out, mut headings) = (Vec::new(), Vec::new());
        let is_there = self.visit(wanted.seq, |event, methods, words, lines| {
            let placed = Placed { outcome: wanted.outcome, ..placed(event, methods, asked) };
            let method = placed.method(event.header, methods);
            words.report(event, method, &placed, Depth::Details);
            let described = Described { event: *event, method, placed: &placed, words };
            let brackets = if width.is_some() { brackets.as_str() } else { "" };
            lines.line(&described, brackets, |line| {
                line::write(line, &palette, width, &mut out);
                line::write_headings(line, &palette, width, &mut headings);
            });
        })?;
        if is_there.is_none() {
            return Ok((format!("{:>5} cannot be read: the reel is damaged here", wanted.seq), None));
        }
        let text = |bytes: &[u8]| masked(String::from_utf8_lossy(bytes).trim_end_matches('\n')).into_owned();
        Ok((text(&out), Some(text(&headings)).filter(|_| width.is_some())))
    }

    /// Remembers a request for the line of its response.
    fn learn(&mut self, seq: u32) -> io::Result<()> {
        if self.asked.contains_key(&seq) {
            return Ok(());
        }
        let asked = self.visit(seq, |event, methods, words, _| {
            let method = method_name(event.header.message.as_ref(), None, methods);
            words.report(event, method, &Placed::default(), Depth::Details);
            Asked {
                seq: event.header.seq,
                time: event.header.time,
                method: method.map(Into::into),
                about: words.about.as_str().into(),
                subject: words.subject,
                tool: words.tool.as_deref().map(Into::into),
            }
        })?;
        if self.asked.len() >= MAX_ASKED {
            self.asked.clear();
        }
        self.asked.extend(asked.map(|asked| (seq, asked)));
        Ok(())
    }

    /// Formats a message.
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(super) fn detail(&mut self, wanted: WantedLine, form: DetailForm, width: usize) -> io::Result<DetailText> {
        if let Some(asked) = wanted.asked {
            self.learn(asked)?;
        }
        let (head, _) = self.line(wanted, None)?;
        let palette = self.reel.palette;
        let content = self.visit(wanted.seq, |event, _, _, _| {
            let mut text = match form {
                DetailForm::Json => full(event, &full_layout(palette, true)),
                DetailForm::WholeJson => full(event, &full_layout(palette, false)),
                DetailForm::Text => as_text(event.payload),
                DetailForm::Hex => as_hex(event.payload, width),
            };
            let limit = if form == DetailForm::Hex { MAX_HEX } else { MAX_SHOWN };
            if event.payload.len() > limit {
                let size = line::bytes(event.payload.len() as u64);
                let _ =
                    write!(text, "… the message has {size}; `mcpreel show --seq {} -n 1 --raw` prints all", wanted.seq);
            }
            text
        })?;
        // On its own, it needs no columns.
        let mut lines = vec![head.split_whitespace().collect::<Vec<_>>().join(" ")];
        lines.extend(content.unwrap_or_default().lines().map(str::to_owned));
        Ok(DetailText { seq: wanted.seq, form, lines })
    }

    /// Passes the direction and the text of a message to `look`. Returns `None` if it cannot be read.
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(super) fn message<R>(&mut self, seq: u32, look: impl FnOnce(Direction, &[u8]) -> R) -> io::Result<Option<R>> {
        self.visit(seq, |event, _, _, _| look(event.header.direction(), event.body()))
    }

    /// Passes an event to `look`. Returns `None` if it cannot be read.
    fn visit<R>(
        &mut self,
        seq: u32,
        look: impl FnOnce(&Event<'_>, &[Box<str>], &mut Words, &mut EventLines) -> R,
    ) -> io::Result<Option<R>> {
        let seq = u64::from(seq);
        if !self.block.as_ref().is_some_and(|block| has(block, seq)) {
            self.load(seq)?;
        }
        let Some(block) = &self.block else { return Ok(None) };
        let Some(header) = block.headers.iter().find(|header| header.seq == seq) else { return Ok(None) };
        Ok(Some(look(&block.event(header), self.reader.methods(), &mut self.words, &mut self.lines)))
    }

    /// Loads the block with an event.
    fn load(&mut self, seq: u64) -> io::Result<()> {
        let last = self.block.as_ref().and_then(|block| block.headers.last()).map(|header| header.seq);
        if !last.is_some_and(|last| last < seq && seq - last <= NEAR) {
            self.reader.seek_seq(seq)?;
        }
        if let Some(block) = self.block.take() {
            self.reader.recycle(block);
        }
        while let Some(item) = self.reader.next()? {
            let Item::Block(block) = item else { continue };
            if block.headers.last().is_some_and(|last| last.seq >= seq) {
                self.block = Some(block);
                return Ok(());
            }
            self.reader.recycle(block);
        }
        Ok(())
    }
}

fn has(block: &Block, seq: u64) -> bool {
    let (first, last) = (block.headers.first(), block.headers.last());
    first.is_some_and(|first| first.seq <= seq) && last.is_some_and(|last| seq <= last.seq)
}

/// What the line of an event says about its request.
fn placed(event: &Event<'_>, methods: &[Box<str>], asked: Option<Asked>) -> Placed {
    let header = event.header;
    if header.is_batch() {
        return Viewer::default().place(event, methods);
    }
    match asked {
        None => Placed { method: header.message.as_ref().and_then(|message| message.method), ..Placed::default() },
        Some(Asked { seq, time, method, about, subject, tool }) => Placed {
            method: None,
            batched: method,
            latency: Some(header.time - time),
            asked: Some(seq),
            about,
            subject,
            tool,
            ..Placed::default()
        },
    }
}

/// The content of an event, as the full format of `show` has it.
fn full(event: &Event<'_>, layout: &Layout) -> String {
    let layout = Layout { margin: 0, ..*layout };
    let payload = &event.payload[..event.payload.len().min(MAX_SHOWN)];
    let mut out = Vec::new();
    let mut buffer = OutputBuffer::new(&mut out);
    write_full(&Event { header: event.header, payload }, &layout, &mut buffer);
    // Writing to memory cannot fail.
    let _ = buffer.flush();
    drop(buffer);
    printable(&String::from_utf8_lossy(&out), true).into_owned()
}

/// Bytes as text; control characters are visible.
fn as_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_SHOWN)]);
    let lines = text.split_inclusive('\n').map(|line| visible_text(line) + "\n");
    lines.collect()
}

/// Bytes in hexadecimal, as many in a row as fit.
fn as_hex(bytes: &[u8], width: usize) -> String {
    let columns = if width >= 76 { 16 } else { 8 };
    let mut out = String::new();
    for (row, bytes) in bytes[..bytes.len().min(MAX_HEX)].chunks(columns).enumerate() {
        let _ = write!(out, "{:06x} ", row * columns);
        for byte in bytes {
            let _ = write!(out, " {byte:02x}");
        }
        let letter = |byte: &u8| if (b' '..=b'~').contains(byte) { char::from(*byte) } else { '·' };
        let text: String = bytes.iter().map(letter).collect();
        let _ = writeln!(out, "{}  {text}", "   ".repeat(columns - bytes.len()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stand_in_rows_that_fit() {
        assert_eq!(
            as_hex(b"{\"a\":1}\n\x1b", 60),
            "000000  7b 22 61 22 3a 31 7d 0a  {\"a\":1}·\n000008  1b                       ·\n"
        );
        assert_eq!(as_hex(&[0; 17], 78).lines().count(), 2);
    }

    #[test]
    fn text_shows_its_control_characters() {
        assert_eq!(as_text(b"a\x1b[2J\r\nb\xff"), "a␛[2J␍␊\nb\u{fffd}\n");
    }
}
