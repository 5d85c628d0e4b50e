//! Splits streamed text into rows: a terminal on which the user is typing accepts whole rows only.

/// A streamed text.
#[derive(Debug)]
pub(crate) struct Rows {
    width: usize,
    waiting: String,
}

impl Rows {
    /// Creates a splitter for rows of at most `width` characters.
    pub(crate) fn new(width: usize) -> Self {
        Self { width: width.max(1), waiting: String::new() }
    }

    /// Adds a piece. Returns the rows that are complete: up to a line break, or as much as fits, split between words.
    pub(crate) fn take(&mut self, piece: &str) -> Vec<String> {
        self.waiting.push_str(piece);
        let mut rows = Vec::new();
        while let Some((end, next)) = self.cut() {
            rows.push(self.waiting[..end].to_owned());
            self.waiting.drain(..next);
        }
        rows
    }

    /// Returns the last, incomplete row.
    pub(crate) fn rest(&mut self) -> Option<String> {
        Some(std::mem::take(&mut self.waiting)).filter(|rest| !rest.is_empty())
    }

    /// Returns where the first row ends, and where the next one begins.
    fn cut(&self) -> Option<(usize, usize)> {
        let full = self.waiting.char_indices().nth(self.width).map(|(at, _)| at);
        let line = self.waiting.find('\n').filter(|line| full.is_none_or(|full| *line <= full));
        line.map(|line| (line, line + 1)).or_else(|| {
            let full = full?;
            let fits = if self.waiting[full..].starts_with(' ') { full + 1 } else { full };
            let space = self.waiting[..fits].rfind(' ').filter(|space| *space > 0);
            Some(space.map_or((full, full), |space| (space, space + 1)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_with_lines_or_between_words() {
        let mut rows = Rows::new(7);
        assert_eq!(rows.take("one t"), Vec::<String>::new());
        assert_eq!(rows.take("wo three\n"), ["one two", "three"]);
        assert_eq!(rows.take("longest-word\n\nüüüüüüüü"), ["longest", "-word", "", "üüüüüüü"]);
        assert_eq!((rows.rest().as_deref(), rows.rest()), (Some("ü"), None));
    }
}
