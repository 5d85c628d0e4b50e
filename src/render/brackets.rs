//! Brackets beside the lines of a list: `┌` at a request, `└` at its response, `│` between them.

use std::fmt::Write;

/// At most this many requests have a bracket at a time.
const MAX_LANES: usize = 4;
/// A bracket without an end makes space for others after this many lines.
const MAX_LINES: u64 = 500;

/// What is drawn in a place.
const SHAPES: [char; 4] = [' ', '┌', '│', '└'];

/// Returns the brackets of a line from their number, with a space after them.
pub(crate) fn unpacked(number: u8) -> String {
    let lanes = (0..MAX_LANES).map(|at| SHAPES[usize::from(number >> (2 * at) & 3)]);
    let drawn: String = lanes.collect();
    let drawn = drawn.trim_end();
    format!("{drawn}{}", if drawn.is_empty() { "  " } else { " " })
}

/// A bracket that is open.
#[derive(Clone, Copy, Debug)]
struct Lane {
    /// The number of the event with the request, and its stream.
    request: u64,
    stream: u32,
    /// The line where it begins.
    line: u64,
}

/// What a line is for the brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A request: the number of its event, and its stream.
    Request(u64, u32),
    /// The response to the request with this number.
    Response(u64),
    /// The end of a stream: its requests get no responses any more.
    End(u32),
    /// Anything else.
    Between,
}

/// The open brackets.
#[derive(Debug, Default)]
pub(crate) struct Brackets {
    lanes: Vec<Option<Lane>>,
    line: u64,
}

impl Brackets {
    /// Writes the brackets of the next line into `out`, with a space after them. Returns whether one ends there.
    pub(crate) fn next(&mut self, place: Place, out: &mut String) -> bool {
        out.clear();
        self.line += 1;
        let oldest = self.line.saturating_sub(MAX_LINES);
        for lane in &mut self.lanes {
            let is_over = |lane: &mut Lane| lane.line < oldest || place == Place::End(lane.stream);
            lane.take_if(is_over);
        }
        let opened = self.open(place);
        for (at, lane) in self.lanes.iter_mut().enumerate() {
            let is_end = lane.is_some_and(|lane| place == Place::Response(lane.request));
            let shown = match lane {
                Some(_) if opened == Some(at) => '┌',
                Some(_) if is_end => '└',
                Some(_) => '│',
                None => ' ',
            };
            out.push(shown);
            lane.take_if(|_| is_end);
        }
        out.truncate(out.trim_end().len());
        let _ = write!(out, "{}", if out.is_empty() { "  " } else { " " });
        while self.lanes.last().is_some_and(Option::is_none) {
            self.lanes.pop();
        }
        out.contains('└')
    }

    /// Returns the brackets of a line as a number, for [`unpacked`].
    pub(crate) fn packed(drawn: &str) -> u8 {
        let lanes = drawn.trim_end().chars().take(MAX_LANES).enumerate();
        lanes.fold(0, |sum, (at, drawn)| {
            sum | (SHAPES.iter().position(|shape| *shape == drawn).unwrap_or(0) << (2 * at)) as u8
        })
    }

    /// Opens a bracket for a request in the first free place. Returns the place.
    fn open(&mut self, place: Place) -> Option<usize> {
        let Place::Request(request, stream) = place else { return None };
        let at = self.lanes.iter().position(Option::is_none).unwrap_or(self.lanes.len());
        if at == MAX_LANES {
            return None;
        }
        if at == self.lanes.len() {
            self.lanes.push(None);
        }
        self.lanes[at] = Some(Lane { request, stream, line: self.line });
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::Place::{Between, End, Request, Response};
    use super::*;

    fn drawn(places: &[Place]) -> Vec<String> {
        let (mut brackets, mut out) = (Brackets::default(), String::new());
        let next = |place: &Place| {
            brackets.next(*place, &mut out);
            out.clone()
        };
        places.iter().map(next).collect()
    }

    #[test]
    fn a_response_closes_the_bracket_of_its_request() {
        let places = [Between, Request(1, 0), Between, Response(1), Between, Response(9)];
        assert_eq!(drawn(&places), ["  ", "┌ ", "│ ", "└ ", "  ", "  "]);
    }

    #[test]
    fn brackets_are_kept_as_numbers() {
        for drawn in ["  ", "┌ ", "│┌ ", "└│ ", " │ │ ", " └ │ ", "││││ ", "│││┌ "] {
            assert_eq!(unpacked(Brackets::packed(drawn)), drawn);
        }
    }

    #[test]
    fn requests_that_overlap_stand_side_by_side() {
        let places = [Request(1, 0), Request(2, 0), Response(1), Request(3, 0), Response(2), Response(3), Between];
        assert_eq!(drawn(&places), ["┌ ", "│┌ ", "└│ ", "┌│ ", "│└ ", "└ ", "  "]);
    }

    #[test]
    fn only_some_have_brackets_and_the_end_of_a_stream_closes_its_own() {
        let mut places: Vec<Place> = (0..6).map(|seq| Request(seq, (seq % 2) as u32)).collect();
        places.extend([Response(5), End(0), Between, Response(1)]);
        let got = drawn(&places);
        assert_eq!(got[3..], ["│││┌ ", "││││ ", "││││ ", "││││ ", " │ │ ", " │ │ ", " └ │ "]);
    }

    #[test]
    fn a_request_that_is_never_answered_does_not_keep_its_place() {
        let mut places = vec![Request(1, 0)];
        places.extend(vec![Between; MAX_LINES as usize + 1]);
        assert_eq!(drawn(&places).last().map(String::as_str), Some("  "));
    }
}
