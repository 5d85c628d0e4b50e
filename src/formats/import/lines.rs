//! Imports plain files with the lines of one side each, such as two `tee`s leave behind. Nothing in them says when a
//! line was sent, and in which order those of the two sides were.
//!
//! The reel has them in an order that can have been: each side's own order is kept, a response comes after its request,
//! and while the client waits for a response, the server's lines come first.

use super::reading::{Events, Format, Lines, Next, Place, Reader, Unit, Units};
use super::{ImportError, Opened};
use crate::trace::{EventKind, Flags};
use crate::wire::{Direction, Envelope, Framing, IdKey};
use std::collections::HashSet;
use std::io::BufRead;

/// What such files lack.
pub(crate) const LACKS: &str = "times, the order between the two sides, HTTP heads, standard error";

/// Reads the lines of the client, of the server, or of both.
///
/// # Errors
/// Reading failed, or there is no line.
pub(crate) fn open(client: Option<Box<dyn BufRead + Send>>, server: Option<Box<dyn BufRead + Send>>) -> Opened {
    let sides = [Side::new(client), Side::new(server)];
    let merge = Merge { sides, unanswered: HashSet::new(), line: Vec::new() };
    Ok(Box::new(Reader::open(merge, LinesOfSides, "lines")?))
}

const CLIENT: usize = 0;
const SERVER: usize = 1;

/// The file of a side.
struct Side {
    lines: Option<Lines<Box<dyn BufRead + Send>>>,
    next: Option<Line>,
}

/// The next line of a side, with its end.
struct Line {
    number: u64,
    text: Vec<u8>,
    request: Option<IdKey>,
    response: Option<IdKey>,
}

impl Side {
    fn new(input: Option<Box<dyn BufRead + Send>>) -> Self {
        Self { lines: input.map(Lines::new), next: None }
    }

    fn peek(&mut self) -> Result<Option<&Line>, ImportError> {
        if self.next.is_none()
            && let Some(lines) = &mut self.lines
        {
            self.next = lines.next_with_end()?.map(|(number, text)| Line::new(number, text));
        }
        Ok(self.next.as_ref())
    }
}

impl Line {
    fn new(number: u64, text: &[u8]) -> Self {
        let envelope = Envelope::scan(text.trim_ascii());
        let id = envelope.id.map(|id| id.key());
        let (request, response) = match (envelope.method.is_some(), envelope.kind.is_response()) {
            (true, _) => (id, None),
            (false, true) => (None, id),
            (false, false) => (None, None),
        };
        Self { number, text: text.to_vec(), request, response }
    }
}

/// Merges the lines of two sides.
struct Merge {
    sides: [Side; 2],
    /// Requests without a response so far, and the side that sent each.
    unanswered: HashSet<(usize, IdKey)>,
    line: Vec<u8>,
}

/// This number of requests without a response is remembered.
const MAX_UNANSWERED: usize = 100_000;

impl Merge {
    /// Returns the side whose line comes next.
    fn choose(&mut self) -> Result<Option<usize>, ImportError> {
        let mut is_ready = [false; 2];
        let mut is_there = [false; 2];
        for side in [CLIENT, SERVER] {
            if let Some(line) = self.sides[side].peek()? {
                is_there[side] = true;
                let asked = |id: &IdKey| self.unanswered.contains(&(1 - side, id.clone()));
                is_ready[side] = line.response.as_ref().is_none_or(asked);
            }
        }
        let waits = self.unanswered.iter().any(|(side, _)| *side == CLIENT);
        Ok(match is_there {
            [false, false] => None,
            [true, false] => Some(CLIENT),
            [false, true] => Some(SERVER),
            [true, true] if is_ready[SERVER] && (waits || !is_ready[CLIENT]) => Some(SERVER),
            [true, true] => Some(CLIENT),
        })
    }

    fn remember(&mut self, side: usize, line: &Line) {
        if let Some(id) = &line.response {
            self.unanswered.remove(&(1 - side, id.clone()));
        }
        if let Some(id) = line.request.as_ref().filter(|_| self.unanswered.len() < MAX_UNANSWERED) {
            self.unanswered.insert((side, id.clone()));
        }
    }
}

impl Units for Merge {
    fn next(&mut self) -> Result<(u64, Next<'_>), ImportError> {
        let Some(side) = self.choose()? else { return Ok((1, Next::End)) };
        let Some(line) = self.sides[side].next.take() else { return Ok((1, Next::End)) };
        self.remember(side, &line);
        self.line = line.text;
        let key = if side == CLIENT { "client" } else { "server" };
        Ok((line.number, Next::Unit(Unit { key, text: &self.line })))
    }
}

struct LinesOfSides;

impl Format for LinesOfSides {
    fn take(&mut self, unit: Unit<'_>, out: &mut Events) -> Result<(), String> {
        let direction = if unit.key == "client" { Direction::ClientToServer } else { Direction::ServerToClient };
        let (text, framing) = match (unit.text.strip_suffix(b"\r\n"), unit.text.strip_suffix(b"\n")) {
            (Some(text), _) => (text, Framing::CrLf),
            (None, Some(text)) => (text, Framing::Lf),
            (None, None) => (unit.text, Framing::Unterminated),
        };
        out.push(Place::default(), EventKind::Message, Flags::toward(direction), framing, text.to_vec());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn merged(client: &str, server: &str) -> Vec<(Direction, Framing, String)> {
        let input =
            |text: &str| -> Option<Box<dyn BufRead + Send>> { Some(Box::new(Cursor::new(text.as_bytes().to_vec()))) };
        let mut importer = open(input(client), input(server)).expect("lines");
        assert_eq!(importer.header().notes["times"], "none");
        let mut found = Vec::new();
        while let Some(event) = importer.next_event().expect("memory reads") {
            assert_eq!(event.time, 0);
            let text = String::from_utf8_lossy(event.payload).into_owned();
            found.push((event.flags.direction(), event.framing, text));
        }
        found
    }

    /// The order, as the first letters of the sides.
    fn order(client: &str, server: &str) -> String {
        let letter = |direction| if direction == Direction::ClientToServer { 'c' } else { 's' };
        merged(client, server).iter().map(|line| letter(line.0)).collect()
    }

    #[test]
    fn responses_come_after_requests_and_the_server_goes_first_while_the_client_waits() {
        let client = "{\"id\":1,\"method\":\"a\"}\n{\"method\":\"n\"}\n{\"id\":2,\"method\":\"b\"}\n{\"id\":\"s\",\"result\":{}}\n";
        let server = "{\"id\":1,\"result\":{}}\n{\"method\":\"m\"}\n{\"id\":\"s\",\"method\":\"ask\"}\n{\"id\":2,\"result\":{}}\n";
        assert_eq!(order(client, server), "csccsssc");
        assert_eq!(order("{\"id\":1,\"method\":\"a\"}\n", "{\"id\":9,\"result\":{}}\n"), "cs");
        assert_eq!(order("{\"id\":8,\"result\":{}}\n", "{\"id\":9,\"result\":{}}\n"), "cs");
        assert_eq!(order("", "{\"method\":\"m\"}\n"), "s");
    }

    #[test]
    fn every_byte_of_a_line_is_kept() {
        let found = merged("{ \"id\" : 1.0 }\r\n\nnot JSON", "");
        let (client, text) = (Direction::ClientToServer, str::to_owned);
        assert_eq!(
            found,
            [
                (client, Framing::CrLf, text("{ \"id\" : 1.0 }")),
                (client, Framing::Lf, text("")),
                (client, Framing::Unterminated, text("not JSON")),
            ]
        );
    }
}
