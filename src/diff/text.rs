//! Compares texts: which lines changed, and how far two lines differ in nothing but volatile values.

use super::node::{Piece, masked, pieces};
use super::report::{Hunk, HunkLine, LineTag};
use super::volatile::Span;
use similar::{DiffOp, DiffTag, TextDiff};
use std::ops::Range;

/// The number of unchanged lines shown around changed ones.
const CONTEXT: usize = 2;

/// A text with its volatile parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'t> {
    /// The text.
    pub text: &'t str,
    /// Its volatile parts, in order.
    pub spans: &'t [Span],
}

impl<'t> Text<'t> {
    /// A text whose parts are all compared.
    pub(super) fn plain(text: &'t str) -> Self {
        Self { text, spans: &[] }
    }

    /// Returns the bytes of each line, without its line ending.
    fn lines(self) -> Vec<Range<usize>> {
        let start = |line: &str| line.as_ptr() as usize - self.text.as_ptr() as usize;
        self.text.lines().map(|line| start(line)..start(line) + line.len()).collect()
    }

    /// Returns a line, with the volatile parts that are in it.
    fn line(self, at: Range<usize>) -> (&'t str, Vec<Span>) {
        let spans = self.spans.iter().filter(|span| at.start <= span.start && span.end <= at.end);
        let spans = spans.map(|span| Span { start: span.start - at.start, end: span.end - at.start, ..*span });
        (&self.text[at.clone()], spans.collect())
    }
}

/// Returns how many bytes at the beginning of two texts differ in nothing but volatile values: up to the last of these
/// values that differs. 0 if none of them does.
pub(super) fn alike(left: Text<'_>, right: Text<'_>) -> [usize; 2] {
    let mut found = [0; 2];
    let (one, other) = (pieces(left.text, left.spans), pieces(right.text, right.spans));
    let same = one.iter().zip(&other).take_while(|(one, other)| one == other);
    let volatile = same.filter(|(one, _)| matches!(one, Piece::Volatile(..))).count();
    for (one, other) in left.spans.iter().zip(right.spans).take(volatile) {
        if one.of(left.text) != other.of(right.text) {
            found = [one.end, other.end];
        }
    }
    found
}

/// Returns the changed lines of two texts; none if only line endings differ.
pub(super) fn hunks(left: Text<'_>, right: Text<'_>) -> Vec<Hunk> {
    let lines = [left.lines(), right.lines()];
    let plain = [left, right].map(|side| masked(side.text, side.spans));
    let [mut one, mut other]: [Vec<&str>; 2] = plain.each_ref().map(|text| text.lines().collect());
    // Volatile parts may contain line ends.
    if [one.len(), other.len()] != lines.each_ref().map(Vec::len) {
        (one, other) = (left.text.lines().collect(), right.text.lines().collect());
    }
    let diff = TextDiff::from_slices(&one, &other);
    diff.grouped_ops(CONTEXT).iter().map(|ops| hunk(ops, [left, right], &lines)).collect()
}

fn hunk(ops: &[DiffOp], [left, right]: [Text<'_>; 2], [in_left, in_right]: &[Vec<Range<usize>>; 2]) -> Hunk {
    let first = ops.first().map_or((0, 0), |op| (op.old_range().start, op.new_range().start));
    let mut lines = Vec::new();
    for op in ops {
        let (tag, one, other) = op.as_tag_tuple();
        let sides = [(left, &in_left[one]), (right, &in_right[other])];
        match tag {
            DiffTag::Equal => lines.extend(put(LineTag::Both, sides[0], &[])),
            _ => {
                let alike: Vec<[usize; 2]> = sides[0].1.iter().zip(sides[1].1).map(|at| alike_at(at, sides)).collect();
                let of_side = |side: usize| alike.iter().map(|both| both[side]).collect::<Vec<_>>();
                lines.extend(put(LineTag::Removed, sides[0], &of_side(0)));
                lines.extend(put(LineTag::Added, sides[1], &of_side(1)));
            }
        }
    }
    Hunk { left_line: first.0 + 1, right_line: first.1 + 1, lines }
}

type Side<'s> = (Text<'s>, &'s [Range<usize>]);

/// Returns how far two lines are alike.
fn alike_at((one, other): (&Range<usize>, &Range<usize>), [left, right]: [Side<'_>; 2]) -> [usize; 2] {
    let ((one, in_one), (other, in_other)) = (left.0.line(one.clone()), right.0.line(other.clone()));
    alike(Text { text: one, spans: &in_one }, Text { text: other, spans: &in_other })
}

fn put(tag: LineTag, (text, lines): Side<'_>, alike: &[usize]) -> impl Iterator<Item = HunkLine> {
    let alike = alike.iter().copied().chain(std::iter::repeat(0));
    lines.iter().zip(alike).map(move |(at, alike)| HunkLine { tag, text: text.text[at.clone()].to_owned(), alike })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::volatile::Kind;

    fn times(text: &str) -> Vec<Span> {
        let times =
            text.match_indices(':').map(|(at, _)| Span { start: at - 2, end: at + 3, kind: Kind::Time, form: 0 });
        times.collect()
    }

    fn both<R>(left: &str, right: &str, then: impl FnOnce(Text<'_>, Text<'_>) -> R) -> R {
        let (one, other) = (times(left), times(right));
        then(Text { text: left, spans: &one }, Text { text: right, spans: &other })
    }

    #[test]
    fn texts_are_alike_up_to_the_last_volatile_value_before_the_first_difference() {
        let cases = [
            ("at 10:00 one 11:00", "at 12:00 two 13:00", [8, 8]),
            ("at 10:00, 11:00 one", "at 10:00, 12:00 two", [15, 15]),
            ("at 10:00 one", "at 10:00 two", [0, 0]),
            ("on 10:00 one", "at 11:00 one", [0, 0]),
            ("one", "two", [0, 0]),
        ];
        for (left, right, expected) in cases {
            assert_eq!(both(left, right, alike), expected, "{left}");
        }
    }

    #[test]
    fn each_changed_line_says_how_far_it_is_like_the_other_one() {
        let hunks = both("a\nat 10:00 one\n11:00", "a\nat 12:00 two\n13:00", hunks);
        let lines: Vec<_> = hunks[0].lines.iter().map(|line| (line.tag, line.text.as_str(), line.alike)).collect();
        let expected = [
            (LineTag::Both, "a", 0),
            (LineTag::Removed, "at 10:00 one", 8),
            (LineTag::Added, "at 12:00 two", 8),
            (LineTag::Both, "11:00", 0),
        ];
        assert_eq!(lines, expected);
    }
}
