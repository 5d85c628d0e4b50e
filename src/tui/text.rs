//! A text that can be scrolled, folded and searched: a message, or a view.

use super::ansi;
use super::effect::PageLine;
use super::keys::Motion;
use std::collections::BTreeMap;

/// Longer texts are folded at first, in lines.
const LONG: usize = 40;
/// The depth from which they are folded, in columns of indentation.
const FOLDED_DEPTH: usize = 4;

/// A row on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRow {
    /// The line that it shows, or a part of it.
    pub line: usize,
    /// Its text, with colours.
    pub text: String,
}

/// A text.
#[derive(Clone, Debug, Default)]
pub struct Text {
    lines: Vec<PageLine>,
    /// What can be folded: the first line and the last one of each part.
    parts: BTreeMap<usize, usize>,
    /// What is folded: the first lines.
    folded: std::collections::BTreeSet<usize>,
    rows: Vec<TextRow>,
    width: usize,
    /// The row with the cursor, the first row on the screen, and how many fit there.
    cursor: usize,
    top: usize,
    height: usize,
}

impl Text {
    /// A text of lines. If it is JSON, its parts can be folded.
    pub fn new(lines: Vec<PageLine>, is_json: bool, (width, height): (usize, usize)) -> Self {
        let parts = if is_json { parts(&lines) } else { BTreeMap::new() };
        let is_deep = |at: &usize| indentation(&ansi::plain(&lines[*at].text)) >= FOLDED_DEPTH;
        let folded = match lines.len() > LONG {
            true => parts.keys().copied().filter(is_deep).collect(),
            false => std::collections::BTreeSet::new(),
        };
        let mut text = Self { lines, parts, folded, width, height, ..Self::default() };
        text.lay_out();
        text
    }

    /// The rows on the screen.
    pub fn visible(&self) -> &[TextRow] {
        &self.rows[self.top.min(self.rows.len())..(self.top + self.height).min(self.rows.len())]
    }

    /// The place of the cursor on the screen.
    pub fn cursor_on_screen(&self) -> usize {
        self.cursor - self.top.min(self.cursor)
    }

    /// How far the text is scrolled, in rows: the first one on the screen, and the number of all.
    pub fn extent(&self) -> (usize, usize) {
        (self.top, self.rows.len())
    }

    /// The line with the cursor.
    pub fn line(&self) -> Option<&PageLine> {
        self.lines.get(self.rows.get(self.cursor)?.line)
    }

    /// Fits the text to the screen.
    pub fn resize(&mut self, width: usize, height: usize) {
        self.height = height;
        if self.width != width {
            self.width = width;
            self.lay_out();
        }
        self.scroll();
    }

    /// Keeps the place of another text that had the same lines, as far as possible.
    pub fn stay_at(&mut self, other: &Self) {
        self.cursor = other.cursor.min(self.rows.len().saturating_sub(1));
        self.top = other.top;
        self.scroll();
    }

    /// Goes to the first line that is about an event.
    pub fn go_to_first_event(&mut self) {
        if let Some(line) = self.lines.iter().position(|line| line.seq.is_some()) {
            self.cursor = self.rows.partition_point(|row| row.line < line);
            self.scroll();
        }
    }

    /// Moves the cursor.
    pub fn go(&mut self, motion: Motion) {
        self.cursor = motion.from(self.cursor, self.rows.len(), self.height);
        self.scroll();
    }

    /// Folds or unfolds the part that begins at the cursor, or the one around it. Returns whether there is one.
    pub fn fold(&mut self) -> bool {
        let Some(line) = self.rows.get(self.cursor).map(|row| row.line) else { return false };
        let around = |(start, end): (&usize, &usize)| (*start <= line && line <= *end).then_some(*start);
        let Some(start) = self.parts.range(..=line).rev().find_map(around) else { return false };
        if !self.folded.remove(&start) {
            self.folded.insert(start);
        }
        self.lay_out_at(start);
        true
    }

    /// Unfolds all parts if any is folded; else folds all but the outermost.
    pub fn fold_all(&mut self) {
        let line = self.rows.get(self.cursor).map_or(0, |row| row.line);
        if self.folded.is_empty() {
            let outermost: Vec<usize> = self.parts.keys().copied().take(1).collect();
            self.folded = self.parts.keys().copied().filter(|start| !outermost.contains(start)).collect();
        } else {
            self.folded.clear();
        }
        self.lay_out_at(line);
    }

    /// Goes to the next row with a text, in lower case, or to the previous one. Continues at the other end. Returns whether there is
    /// one.
    pub fn search(&mut self, needle: &str, forward: bool) -> bool {
        let count = self.lines.len();
        let from = self.rows.get(self.cursor).map_or(0, |row| row.line);
        let nth = |step: usize| if forward { (from + step) % count } else { (from + count - step) % count };
        let matches = |at: &usize| ansi::plain(&self.lines[*at].text).to_lowercase().contains(needle);
        let Some(found) = (1..=count).map(nth).find(matches) else { return false };
        // A match in a folded part opens it.
        let around = self.parts.range(..=found).filter(|(_, end)| found <= **end);
        for (start, _) in around {
            self.folded.remove(start);
        }
        self.lay_out_at(found);
        true
    }

    /// Goes to the first line about an event with this number or a later one.
    pub fn go_to_event(&mut self, seq: u64) {
        let found = self.lines.iter().position(|line| line.seq.is_some_and(|of| of >= seq));
        if let Some(found) = found {
            self.lay_out_at(found);
        }
    }

    /// Makes the rows anew, and puts the cursor on a line.
    fn lay_out_at(&mut self, line: usize) {
        self.lay_out();
        self.cursor = self.rows.partition_point(|row| row.line < line).min(self.rows.len().saturating_sub(1));
        self.scroll();
    }

    fn lay_out(&mut self) {
        let line = self.rows.get(self.cursor).map(|row| row.line);
        self.rows.clear();
        let mut at = 0;
        while let Some(shown) = self.lines.get(at) {
            let end = self.folded.get(&at).and_then(|start| self.parts.get(start));
            let folded = end.map(|end| {
                let last = ansi::plain(&self.lines[*end].text);
                let hidden = crate::wire::text::counted((end - at - 1) as u64, "line");
                format!("{}… {hidden} {}", shown.text, last.trim_start())
            });
            let text = folded.as_ref().unwrap_or(&shown.text);
            self.rows.extend(ansi::wrapped(text, self.width).into_iter().map(|text| TextRow { line: at, text }));
            at = end.map_or(at, |end| *end) + 1;
        }
        if let Some(line) = line {
            self.cursor = self.rows.partition_point(|row| row.line < line);
        }
        self.cursor = self.cursor.min(self.rows.len().saturating_sub(1));
    }

    /// Keeps the cursor on the screen.
    fn scroll(&mut self) {
        let height = self.height.max(1);
        self.top = self.top.min(self.cursor).max((self.cursor + 1).saturating_sub(height));
        self.top = self.top.min(self.rows.len().saturating_sub(height));
    }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Finds what can be folded in JSON with indentation: from a line that ends with a bracket to the line with its
/// counterpart, which has the same indentation.
fn parts(lines: &[PageLine]) -> BTreeMap<usize, usize> {
    let (mut open, mut found) = (Vec::<(usize, usize)>::new(), BTreeMap::new());
    for (at, line) in lines.iter().enumerate() {
        let line = ansi::plain(&line.text);
        let depth = indentation(&line);
        if line.trim_start().starts_with(['}', ']'])
            && let Some(place) = open.iter().rposition(|(_, of)| *of == depth)
        {
            open.truncate(place + 1);
            found.extend(open.pop().map(|(start, _)| (start, at)));
        }
        if line.ends_with(['{', '[']) {
            open.push((at, depth));
        }
    }
    found.retain(|start, end| *end > *start + 1);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(lines: &str, size: (usize, usize)) -> Text {
        let lines = lines.lines().map(|line| PageLine { text: line.to_owned(), seq: None }).collect();
        Text::new(lines, true, size)
    }

    fn shown(text: &Text) -> Vec<&str> {
        text.visible().iter().map(|row| row.text.as_str()).collect()
    }

    const JSON: &str = "{\n  \"a\": {\n    \"b\": [\n      1,\n      2\n    ]\n  },\n  \"c\": \"x {\"\n}";

    #[test]
    fn parts_are_folded_and_unfolded() {
        let mut text = made(JSON, (40, 20));
        assert_eq!(shown(&text).len(), 9);
        text.go(Motion::Lines(2));
        assert!(text.fold());
        assert_eq!(shown(&text)[1..4], ["  \"a\": {", "    \"b\": [… 2 lines ]", "  },"]);
        text.go(Motion::Lines(1));
        assert!(text.fold(), "the closing line belongs to its part");
        assert_eq!(shown(&text)[1..3], ["  \"a\": {… 4 lines },", "  \"c\": \"x {\""]);
        assert_eq!(text.cursor_on_screen(), 1);
        text.fold_all();
        assert_eq!(shown(&text).len(), 9);
        text.fold_all();
        assert_eq!(shown(&text), ["{", "  \"a\": {… 4 lines },", "  \"c\": \"x {\"", "}"]);
    }

    #[test]
    fn a_search_opens_what_is_folded_and_continues_at_the_other_end() {
        let mut text = made(JSON, (40, 4));
        text.fold_all();
        assert!(text.search("2", true));
        assert_eq!(text.line().map(|line| line.text.trim()), Some("2"));
        assert!(text.search("\"a\"", true) && text.line().is_some_and(|line| line.text.contains("\"a\"")));
        assert!(text.search("\"c\"", false) && text.line().is_some_and(|line| line.text.contains("\"c\"")));
        assert!(!text.search("nothing", true));
        assert!(!made("", (10, 2)).search("a", true));
    }

    #[test]
    fn the_cursor_stays_on_the_screen_at_any_size() {
        let mut text = made(&"0123456789\n".repeat(30), (10, 5));
        for (width, height) in [(10, 5), (3, 5), (3, 1), (1, 0), (80, 50), (0, 3)] {
            text.resize(width, height);
            for motion in [Motion::End, Motion::Lines(-7), Motion::Pages(-1), Motion::Pages(3), Motion::Start] {
                text.go(motion);
                let (at, count) = (text.cursor_on_screen(), text.visible().len());
                assert!(at < count || height == 0, "{width}×{height} {motion:?}: {at} of {count}");
            }
        }
    }

    #[test]
    fn long_messages_are_folded_at_first() {
        let inner: String = (0..50).map(|number| format!("      {number},\n")).collect();
        let long = format!("{{\n  \"a\": {{\n    \"b\": [\n{inner}    ]\n  }}\n}}");
        assert_eq!(shown(&made(&long, (40, 20)))[2], "    \"b\": [… 50 lines ]");
    }
}
