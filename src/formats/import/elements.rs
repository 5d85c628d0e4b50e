//! Reads a JSON document with a list of items, item by item: only one is in memory. What stands beside the list on the
//! way to it is passed on, too.

use super::ImportError;
use super::reading::{MAX_UNIT_BYTES, Next, Unit, Units};
use crate::wire::json;
use std::io::{self, BufRead};

/// Reads the items of the list at a path, and the members beside it.
pub(super) struct Elements<R> {
    input: R,
    /// The names of the members that lead to the list; none if the document is the list.
    path: &'static [&'static str],
    state: State,
    /// The number of the current line, from 1.
    line: u64,
    key: String,
    value: Vec<u8>,
}

/// Where the next value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    /// In the object at this depth of the path.
    Object(usize),
    List,
    End,
}

/// Why the document cannot be read on.
enum Stop {
    Io(io::Error),
    Malformed(String),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn malformed<T>(reason: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Malformed(reason.into()))
}

/// What comes when the document ends too early.
const CUT: &str = "the file ends in the middle";

impl<R: BufRead> Elements<R> {
    pub(super) fn new(input: R, path: &'static [&'static str]) -> Self {
        Self { input, path, state: State::Start, line: 1, key: String::new(), value: Vec::new() }
    }

    /// Reads the next value into `self.value`, and its key. Returns its line, or `None` at the end.
    fn step(&mut self) -> Result<Option<u64>, Stop> {
        loop {
            match self.state {
                State::Start => self.begin()?,
                State::Object(depth) => {
                    if let Some(line) = self.member(depth)? {
                        return Ok(Some(line));
                    }
                }
                State::List => match self.delimiter(b']')? {
                    true => self.state = self.outside(self.path.len()),
                    false => {
                        self.key.clear();
                        return self.read_value().map(Some);
                    }
                },
                State::End => return Ok(None),
            }
        }
    }

    fn begin(&mut self) -> Result<(), Stop> {
        if self.peek()? == Some(0xef) {
            self.take(3)?;
        }
        self.skip_space()?;
        let (opening, state) = if self.path.is_empty() { (b'[', State::List) } else { (b'{', State::Object(0)) };
        if self.peek()? != Some(opening) {
            return malformed(format!("expected {:?}", char::from(opening)));
        }
        self.take(1)?;
        self.state = state;
        Ok(())
    }

    /// The state after the object or list at this depth.
    fn outside(&self, depth: usize) -> State {
        depth.checked_sub(1).map_or(State::End, State::Object)
    }

    /// Reads a member of an object on the path. Returns its line, unless it leads to the list.
    fn member(&mut self, depth: usize) -> Result<Option<u64>, Stop> {
        if self.delimiter(b'}')? {
            self.state = self.outside(depth);
            return Ok(None);
        }
        if self.peek()? != Some(b'"') {
            return malformed("expected a member");
        }
        self.read_value()?;
        let name = json::as_str(&self.value).unwrap_or_default().into_owned();
        self.skip_space()?;
        if self.peek()? != Some(b':') {
            return malformed("expected \":\"");
        }
        self.take(1)?;
        self.skip_space()?;
        let is_list = depth + 1 == self.path.len();
        let leads = self.path.get(depth) == Some(&name.as_str());
        if leads && self.peek()? == Some(if is_list { b'[' } else { b'{' }) {
            self.take(1)?;
            self.state = if is_list { State::List } else { State::Object(depth + 1) };
            return Ok(None);
        }
        self.key = self.path[..depth].iter().copied().chain([name.as_str()]).collect::<Vec<_>>().join(".");
        self.read_value().map(Some)
    }

    /// Skips white space and commas. Returns whether the closing bracket followed, which is taken.
    fn delimiter(&mut self, closing: u8) -> Result<bool, Stop> {
        loop {
            self.skip_space()?;
            match self.peek()? {
                Some(b',') => self.take(1)?,
                Some(byte) if byte == closing => return self.take(1).map(|()| true),
                Some(_) => return Ok(false),
                None => return malformed(CUT),
            }
        }
    }

    /// Copies the value that begins here to `self.value`. Returns its line.
    fn read_value(&mut self) -> Result<u64, Stop> {
        self.value.clear();
        let line = self.line;
        let mut scan = ValueScan::default();
        loop {
            let chunk = self.input.fill_buf()?;
            if chunk.is_empty() {
                return if scan.is_scalar && !self.value.is_empty() { Ok(line) } else { malformed(CUT) };
            }
            let (used, done) = scan.push(chunk);
            self.value.extend_from_slice(&chunk[..used]);
            self.take(used)?;
            if done {
                return if self.value.is_empty() { malformed("expected a value") } else { Ok(line) };
            }
            if self.value.len() as u64 > MAX_UNIT_BYTES {
                return malformed("longer than 1 GiB");
            }
        }
    }

    fn skip_space(&mut self) -> Result<(), Stop> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek()? {
            let chunk = self.input.fill_buf()?;
            let length = json::skip_space(chunk, 0);
            self.take(length)?;
        }
        Ok(())
    }

    fn peek(&mut self) -> Result<Option<u8>, Stop> {
        Ok(self.input.fill_buf()?.first().copied())
    }

    /// Takes bytes, and counts their lines. All but a byte order mark are in the buffer.
    fn take(&mut self, mut length: usize) -> Result<(), Stop> {
        while length > 0 {
            let chunk = self.input.fill_buf()?;
            let used = chunk.len().min(length);
            if used == 0 {
                break;
            }
            self.line += memchr::memchr_iter(b'\n', &chunk[..used]).count() as u64;
            self.input.consume(used);
            length -= used;
        }
        Ok(())
    }
}

impl<R: BufRead + Send> Units for Elements<R> {
    fn next(&mut self) -> Result<(u64, Next<'_>), ImportError> {
        match self.step() {
            Ok(Some(line)) => Ok((line, Next::Unit(Unit { key: &self.key, text: &self.value }))),
            Ok(None) => Ok((self.line, Next::End)),
            Err(Stop::Io(error)) => Err(error.into()),
            Err(Stop::Malformed(reason)) => {
                self.state = State::End;
                Ok((self.line, Next::Malformed(format!("{reason}; what follows was not read"))))
            }
        }
    }
}

/// Finds the end of a value in chunks.
#[derive(Default)]
struct ValueScan {
    has_begun: bool,
    is_scalar: bool,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

impl ValueScan {
    /// Returns how many bytes of the chunk belong to the value, and whether it is complete.
    fn push(&mut self, chunk: &[u8]) -> (usize, bool) {
        for (at, byte) in chunk.iter().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return (at + 1, true);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' if !self.is_scalar => self.in_string = true,
                b'{' | b'[' if !self.is_scalar => self.depth += 1,
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return (at + 1, true);
                    }
                }
                b',' | b'}' | b']' | b':' | b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'{' | b'[' if self.depth == 0 => {
                    return (at, true);
                }
                _ => self.is_scalar |= !self.has_begun,
            }
            self.has_begun = true;
        }
        (chunk.len(), false)
    }
}

/// Returns the paths of the members that a document begins with, as deep as two objects, and as far as the text goes.
/// The members of a list's first item are those of `[]`.
pub(super) fn outline(start: &[u8]) -> Vec<String> {
    let start = &start[json::skip_space(start, 0)..];
    let (prefix, object) = match start.first() {
        Some(b'[') => ("[].", &start[json::skip_space(start, 1)..]),
        _ => ("", start),
    };
    let mut found = Vec::new();
    for (key, value) in json::member_tails(object).take(MAX_OUTLINED) {
        let key = format!("{prefix}{}", String::from_utf8_lossy(key));
        let inner = json::member_tails(value).take(MAX_OUTLINED);
        found.extend(inner.map(|(inner, _)| format!("{key}.{}", String::from_utf8_lossy(inner))));
        found.push(key);
    }
    found
}

/// This number of members of an object is looked at to recognise a format.
const MAX_OUTLINED: usize = 32;

/// Returns whether a document begins with all these members; see [`outline`].
pub(super) fn has_members(start: &[u8], names: &[&str]) -> bool {
    if !matches!(start.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return false;
    }
    let found = outline(start);
    names.iter().all(|name| found.iter().any(|found| found == name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    /// What is read in chunks of this size: line, key and text, or what is wrong.
    fn read(path: &'static [&'static str], text: &str, chunk: usize) -> Vec<String> {
        let mut elements = Elements::new(BufReader::with_capacity(chunk, text.as_bytes()), path);
        let mut found = Vec::new();
        loop {
            match elements.next().expect("memory reads") {
                (line, Next::Unit(unit)) => {
                    found.push(format!("{line} {} {}", unit.key, String::from_utf8_lossy(unit.text)));
                }
                (line, Next::Malformed(reason)) => found.push(format!("{line} ! {reason}")),
                (_, Next::End) => return found,
            }
        }
    }

    fn read_anyhow(path: &'static [&'static str], text: &str) -> Vec<String> {
        let found = read(path, text, 4096);
        for chunk in [1, 2, 7] {
            assert_eq!(read(path, text, chunk), found, "chunks of {chunk}");
        }
        found
    }

    #[test]
    fn items_and_the_members_beside_their_list_come_in_order() {
        let text = "\u{feff}{ \"v\":1,\n\"log\": {\"a\":{\"x\":[1,{}]},\n \"entries\":[ {\"t\":\"}]\\\"\"},\n 5 ,\"s\"],\n\"b\":null},\"z\":[]}";
        let expected =
            ["1 v 1", "2 log.a {\"x\":[1,{}]}", "3  {\"t\":\"}]\\\"\"}", "4  5", "4  \"s\"", "5 log.b null", "5 z []"];
        assert_eq!(read_anyhow(&["log", "entries"], text), expected);
        assert_eq!(read_anyhow(&[], " [1,[2],\n{}]"), ["1  1", "1  [2]", "2  {}"]);
    }

    #[test]
    fn a_broken_document_is_read_as_far_as_it_goes() {
        let cut = "! the file ends in the middle; what follows was not read";
        assert_eq!(read_anyhow(&["m"], "{\"m\":[1,\n{\"a\":"), ["1  1".to_owned(), format!("2 {cut}")]);
        assert_eq!(read_anyhow(&["m"], "{\"m\":[1"), ["1  1".to_owned(), format!("1 {cut}")]);
        assert_eq!(read_anyhow(&["m"], "{\"m\":[1 : 2]}")[1], "1 ! expected a value; what follows was not read");
        assert_eq!(read_anyhow(&["m"], "{m}"), ["1 ! expected a member; what follows was not read"]);
        assert_eq!(read_anyhow(&["m"], "5"), ["1 ! expected '{'; what follows was not read"]);
        assert_eq!(read_anyhow(&["m"], "{\"m\" 5}"), ["1 ! expected \":\"; what follows was not read"]);
        assert_eq!(read_anyhow(&["m"], "{\"m\":{\"x\":1}}"), ["1 m {\"x\":1}"], "the list is missing");
    }

    #[test]
    fn the_outline_of_a_beginning_goes_as_far_as_the_text() {
        assert_eq!(
            outline(b"{\"a\":1,\"log\":{\"version\":\"1.2\",\"entries\":[{"),
            ["a", "log.version", "log.entries", "log",]
        );
        assert_eq!(outline(b" [ {\"id\":1,\"message\":{\"method\":"), ["[].id", "[].message.method", "[].message"]);
        assert!(has_members(b"{\"a\":{\"b\":1}}", &["a", "a.b"]) && !has_members(b"{\"a\":1}", &["b"]));
    }
}
