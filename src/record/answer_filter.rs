//! Splits one direction's chunks into lines, for a relay that may have to remove some of them. Bytes that cannot be an
//! answer to remove pass at once and together; an incomplete line is held back.
//!
//! Pure; keeps order and bytes.

use crate::sessions::injection::may_be_answer;
use crate::wire::Framing;

/// A longer line is not held back; it passes unexamined (64 MiB).
const MAX_HELD_BYTES: usize = 64 << 20;

/// A piece of the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum StreamPiece<'a> {
    /// Passes unchanged.
    Pass(&'a [u8]),
    /// A line that the relay may have to remove.
    Candidate {
        /// The line with its terminator.
        whole: &'a [u8],
        /// The line without its terminator.
        payload: &'a [u8],
        /// The line's terminator.
        framing: Framing,
    },
}

/// The splitter for one direction. See the module.
#[derive(Debug, Default)]
pub struct AnswerFilter {
    held: Vec<u8>,
    /// The beginning of the current line has already passed.
    within_line: bool,
}

impl AnswerFilter {
    /// The beginning of a line that is held back.
    pub fn held(&self) -> &[u8] {
        &self.held
    }

    /// Whether the beginning of a line is held back.
    pub fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Passes a chunk from which nothing is to be removed, after anything that was held back.
    pub fn pass(&mut self, chunk: &[u8], mut out: impl FnMut(StreamPiece<'_>)) {
        if !self.held.is_empty() {
            out(StreamPiece::Pass(&std::mem::take(&mut self.held)));
        }
        if let Some(last) = chunk.last() {
            out(StreamPiece::Pass(chunk));
            self.within_line = *last != b'\n';
        }
    }

    /// Takes a chunk in which a line to be removed may begin, lie or end.
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
        if self.held.len() > MAX_HELD_BYTES {
            self.pass(&[], &mut out);
            self.within_line = true;
        }
    }

    /// Ends the stream. What was held back may be a line without a terminator.
    pub fn finish(&mut self, mut out: impl FnMut(StreamPiece<'_>)) {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            out(piece(&held));
        }
    }
}

/// Emits lines; adjacent lines that cannot be answers are emitted together.
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
    if may_be_answer(payload) { StreamPiece::Candidate { whole, payload, framing } } else { StreamPiece::Pass(whole) }
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
                StreamPiece::Candidate { whole, payload, framing } => {
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
                StreamPiece::Candidate { payload, .. } => candidates.push(payload.to_vec()),
                StreamPiece::Pass(bytes) => assert!(!may_be_answer(bytes)),
            };
            stream.chunks(length).for_each(|chunk| answer_filter.push(chunk, &mut take));
            answer_filter.finish(&mut take);
            let wanted: Vec<Vec<u8>> = stream
                .split(|byte| *byte == b'\n')
                .filter(|line| may_be_answer(line))
                .map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec())
                .collect();
            // A carriage return at the very end of the stream is not a line terminator.
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
