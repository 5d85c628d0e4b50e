//! Text that comes in pieces, given out row by row: a terminal on which somebody types takes whole rows only.

/// A text on its way.
#[derive(Debug)]
pub struct Rows {
    width: usize,
    waiting: String,
}

impl Rows {
    /// Rows of so many characters at most.
    pub fn new(width: usize) -> Self {
        Self { width: width.max(1), waiting: String::new() }
    }

    /// Takes a piece; gives out the rows that are whole now: up to a line's end, or as much as fits, cut between words.
    pub fn take(&mut self, piece: &str) -> Vec<String> {
        self.waiting.push_str(piece);
        let mut rows = Vec::new();
        while let Some((end, next)) = self.cut() {
            rows.push(self.waiting[..end].to_owned());
            self.waiting.drain(..next);
        }
        rows
    }

    /// The last row: what is no whole one.
    pub fn rest(&mut self) -> Option<String> {
        Some(std::mem::take(&mut self.waiting)).filter(|rest| !rest.is_empty())
    }

    /// Where the first row ends, and where the next begins.
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
