//! Whole lines out of chunks, for a relay that may have to take some of them out: what is surely none of those goes
//! on at once and together, an incomplete line is held. Pure; order and bytes stay.

use crate::sessions::injection::may_be_answer;
use crate::wire::Framing;

/// A line longer than this is not held: it goes on unlooked at (64 MiB).
const LONGEST_HELD: usize = 64 << 20;

/// A piece of the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum StreamPiece<'a> {
    /// Goes on as it is.
    Pass(&'a [u8]),
    /// One line that may have to be taken out: with its end, and as a frame.
    Suspect {
        /// As it stands in the stream.
        whole: &'a [u8],
        /// Without its end.
        payload: &'a [u8],
        /// What its end is.
        framing: Framing,
    },
}

/// Cuts one direction. See the module.
#[derive(Debug, Default)]
pub struct AnswerFilter {
    held: Vec<u8>,
    /// The beginning of the line that comes in went on already.
    within_line: bool,
}

impl AnswerFilter {
    /// Whether the beginning of a line is held back.
    pub fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Takes a chunk of which nothing is to be taken out; what was held goes on in front of it.
    pub fn pass(&mut self, chunk: &[u8], mut out: impl FnMut(StreamPiece<'_>)) {
        if !self.held.is_empty() {
            out(StreamPiece::Pass(&std::mem::take(&mut self.held)));
        }
        if let Some(last) = chunk.last() {
            out(StreamPiece::Pass(chunk));
            self.within_line = *last != b'\n';
        }
    }

    /// Takes a chunk that may hold, begin or end a line to be taken out.
    pub fn push(&mut self, mut chunk: &[u8], mut out: impl FnMut(StreamPiece<'_>)) {
        if self.within_line {
            let end = memchr::memchr(b'\n', chunk).map_or(chunk.len(), |at| at + 1);
            let (begun, rest) = chunk.split_at(end);
            self.within_line = !begun.ends_with(b"\n");
            if !begun.is_empty() {
                out(StreamPiece::Pass(begun));
            }
            chunk = rest;
        }
        let whole = memchr::memrchr(b'\n', chunk).map_or(0, |at| at + 1);
        let (lines, rest) = chunk.split_at(whole);
        if !lines.is_empty() {
            if self.held.is_empty() {
                cut(lines, &mut out);
            } else {
                let mut held = std::mem::take(&mut self.held);
                held.extend_from_slice(lines);
                cut(&held, &mut out);
            }
        }
        self.held.extend_from_slice(rest);
        if self.held.len() > LONGEST_HELD {
            self.pass(&[], &mut out);
            self.within_line = true;
        }
    }

    /// The stream's end: what is held may be a line without its end.
    pub fn finish(&mut self, mut out: impl FnMut(StreamPiece<'_>)) {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            out(piece(&held));
        }
    }
}

/// Gives out lines: those that are no suspects together.
fn cut(lines: &[u8], out: &mut impl FnMut(StreamPiece<'_>)) {
    if !may_be_answer(lines) {
        return out(StreamPiece::Pass(lines));
    }
    let (mut passed, mut at) = (0, 0);
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let end = at + line.len();
        if may_be_answer(line) {
            if passed < at {
                out(StreamPiece::Pass(&lines[passed..at]));
            }
            out(piece(line));
            passed = end;
        }
        at = end;
    }
    if passed < at {
        out(StreamPiece::Pass(&lines[passed..at]));
    }
}

fn piece(whole: &[u8]) -> StreamPiece<'_> {
    let (payload, framing) = match whole {
        [payload @ .., b'\r', b'\n'] => (payload, Framing::CrLf),
        [payload @ .., b'\n'] => (payload, Framing::Lf),
        _ => (whole, Framing::Unterminated),
    };
    if may_be_answer(payload) { StreamPiece::Suspect { whole, payload, framing } } else { StreamPiece::Pass(whole) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_stream() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"{\"id\":1}\n".to_vec()),
            Just(b"{\"id\":\"mcpreel-0123abcd-1\"}\n".to_vec()),
            Just(b"mcpreel-\r\n".to_vec()),
            Just(b"\n".to_vec()),
            Just(b"mcpreel-".to_vec()),
            prop::collection::vec(any::<u8>(), 0..20),
        ];
        prop::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn pieces_in_order_are_the_stream_and_candidates_are_whole_lines(
            stream in any_stream(),
            cuts in prop::collection::vec((1usize..12, any::<bool>()), 1..8),
        ) {
            let mut answer_filter = AnswerFilter::default();
            let (mut all, mut rest, mut turn) = (Vec::new(), &stream[..], cuts.iter().cycle());
            let mut take = |piece: StreamPiece<'_>| match piece {
                StreamPiece::Pass(bytes) => all.extend_from_slice(bytes),
                StreamPiece::Suspect { whole, payload, framing } => {
                    assert!(all.is_empty() || all.ends_with(b"\n"), "a suspect begins a line");
                    assert_eq!([payload, framing.terminator()].concat(), whole);
                    assert!(!payload.contains(&b'\n'));
                    all.extend_from_slice(whole);
                }
            };
            while !rest.is_empty() {
                let (length, looks) = *turn.next().expect("a cycle");
                let (chunk, after) = rest.split_at(length.min(rest.len()));
                rest = after;
                if looks { answer_filter.push(chunk, &mut take) } else { answer_filter.pass(chunk, &mut take) }
            }
            answer_filter.finish(&mut take);
            prop_assert_eq!(all, stream);
        }

        #[test]
        fn every_answer_is_a_candidate_whatever_the_chunks(stream in any_stream(), length in 1usize..12) {
            let mut answer_filter = AnswerFilter::default();
            let mut candidates = Vec::new();
            let mut take = |piece: StreamPiece<'_>| match piece {
                StreamPiece::Suspect { payload, .. } => candidates.push(payload.to_vec()),
                StreamPiece::Pass(bytes) => assert!(!may_be_answer(bytes)),
            };
            stream.chunks(length).for_each(|chunk| answer_filter.push(chunk, &mut take));
            answer_filter.finish(&mut take);
            let wanted: Vec<Vec<u8>> = stream
                .split(|byte| *byte == b'\n')
                .filter(|line| may_be_answer(line))
                .map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec())
                .collect();
            // A carriage return at the stream's very end belongs to no line end.
            let last_is_bare = !stream.ends_with(b"\n") && stream.ends_with(b"\r");
            prop_assert!(candidates == wanted || last_is_bare);
        }
    }

    #[test]
    fn a_line_that_does_not_end_is_not_held_for_ever() {
        let mut answer_filter = AnswerFilter::default();
        let chunk = vec![b'x'; 1 << 20];
        let mut passed = 0;
        for _ in 0..65 {
            answer_filter.push(&chunk, |piece| {
                if let StreamPiece::Pass(bytes) = piece {
                    passed += bytes.len();
                }
            });
        }
        assert_eq!(passed, 65 << 20);
        answer_filter.push(b"end mcpreel-\n{", |piece| assert_eq!(piece, StreamPiece::Pass(b"end mcpreel-\n")));
        assert_eq!(answer_filter.held, b"{");
    }
}
