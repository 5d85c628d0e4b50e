//! The sessions and reels that can be opened.

use super::effect::{Choice, Target};
use super::keys::Motion;

/// The picker.
#[derive(Debug, Default)]
pub(crate) struct Picker {
    choices: Option<Vec<Choice>>,
    cursor: usize,
    top: usize,
    height: usize,
}

impl Picker {
    /// Takes what can be opened.
    pub(crate) fn take(&mut self, choices: Vec<Choice>) {
        self.choices = Some(choices);
        if self.target().is_none() {
            self.cursor = 0;
            self.go(Motion::Lines(0));
        }
    }

    fn all(&self) -> &[Choice] {
        self.choices.as_deref().unwrap_or_default()
    }

    /// Whether the choices are known.
    pub(crate) fn is_ready(&self) -> bool {
        self.choices.is_some()
    }

    /// Whether there is nothing that can be opened.
    pub(crate) fn is_empty(&self) -> bool {
        self.choices.as_ref().is_some_and(|choices| choices.iter().all(|choice| choice.target.is_none()))
    }

    /// The lines on the screen, each with whether it can be opened and whether it has the cursor.
    pub(crate) fn visible(&self) -> impl Iterator<Item = (&str, bool, bool)> {
        let shown = self.all().iter().enumerate().skip(self.top).take(self.height);
        shown.map(|(at, choice)| (choice.line.as_str(), choice.target.is_some(), at == self.cursor))
    }

    /// What the cursor is at.
    pub(crate) fn target(&self) -> Option<&Target> {
        self.all().get(self.cursor)?.target.as_ref()
    }

    pub(crate) fn resize(&mut self, height: usize) {
        self.height = height;
        self.scroll();
    }

    /// Moves, past lines that cannot be opened.
    pub(crate) fn go(&mut self, motion: Motion) {
        let place = motion.from(self.cursor, self.all().len(), self.height);
        let can_open = |at: &usize| self.all()[*at].target.is_some();
        let (after, before) = ((place..self.all().len()).find(can_open), (0..place).rev().find(can_open));
        let is_backwards = place < self.cursor;
        let found = if is_backwards { before_or(place, before, after, &can_open) } else { after.or(before) };
        self.cursor = found.unwrap_or(self.cursor);
        self.scroll();
    }

    fn scroll(&mut self) {
        let height = self.height.max(1);
        self.top = self.top.min(self.cursor).max((self.cursor + 1).saturating_sub(height));
        // The headings above the first choice stay on the screen.
        if self.all().iter().take(self.cursor).all(|choice| choice.target.is_none()) && self.cursor < height {
            self.top = 0;
        }
    }
}

/// The place itself if it can be opened, else the one before it, else the one after it.
fn before_or(
    place: usize,
    before: Option<usize>,
    after: Option<usize>,
    can_open: &impl Fn(&usize) -> bool,
) -> Option<usize> {
    if can_open(&place) { Some(place) } else { before.or(after) }
}
