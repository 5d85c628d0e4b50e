//! Keys, and what they do.

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A character.
    Char(char),
    /// A character with Ctrl.
    Control(char),
    /// Return.
    Enter,
    /// Esc.
    Escape,
    /// Tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// The arrow up.
    Up,
    /// The arrow down.
    Down,
    /// The arrow to the left.
    Left,
    /// The arrow to the right.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
}

/// How far a key moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// This many lines, downwards if positive.
    Lines(isize),
    /// This many screens.
    Pages(isize),
    /// To the beginning.
    Start,
    /// To the end.
    End,
}

impl Motion {
    /// Returns how far a key moves, if it moves.
    pub(crate) fn of(key: Key) -> Option<Self> {
        Some(match key {
            Key::Up | Key::Char('k') => Self::Lines(-1),
            Key::Down | Key::Char('j') => Self::Lines(1),
            Key::PageUp | Key::Control('b') => Self::Pages(-1),
            Key::PageDown | Key::Control('f') => Self::Pages(1),
            Key::Home | Key::Char('g') => Self::Start,
            Key::End | Key::Char('G') => Self::End,
            _ => return None,
        })
    }

    /// Returns the place after a motion from `at`, among `count` places of which `height` are on the screen.
    pub(crate) fn from(self, at: usize, count: usize, height: usize) -> usize {
        let last = count.saturating_sub(1);
        let by = |lines: isize| at.saturating_add_signed(lines).min(last);
        match self {
            Self::Lines(lines) => by(lines),
            Self::Pages(pages) => by(pages.saturating_mul(isize::try_from(height.max(2) - 1).unwrap_or(1))),
            Self::Start => 0,
            Self::End => last,
        }
    }
}

/// A group of keys in the help: its title, and keys with what they do.
pub(crate) type KeyGroup = (&'static str, &'static [(&'static str, &'static str)]);

/// All keys, as the help lists them.
pub(crate) const KEYS: &[KeyGroup] = &[
    (
        "Views",
        &[
            ("1", "messages"),
            ("2", "sequence diagram"),
            ("3", "timeline: who waited for what"),
            ("4", "statistics"),
            ("5", "findings, as `mcpreel validate` reports them"),
            ("o", "open another session or reel"),
            ("?", "these keys"),
            ("Esc", "back"),
            ("q", "back; from the messages: quit (Ctrl-C: quit from anywhere)"),
        ],
    ),
    (
        "Move",
        &[
            ("↑ ↓ j k", "by one line"),
            ("PgUp PgDn", "by one screen"),
            ("Home End g G", "to the beginning, to the end"),
            ("#", "to the event with a number"),
            ("p", "to the counterpart: from a request to its response, and back"),
            ("e E", "to the next, to the previous failure"),
            ("F", "follow: stay at the newest message; G does so, too, while the session runs"),
        ],
    ),
    (
        "Find",
        &[
            ("f", "filter the messages, as in `mcpreel show`; an empty filter shows all"),
            ("/", "search for a text; n and N: the next and the previous match"),
        ],
    ),
    (
        "One message",
        &[
            ("Enter", "open the message; in a sequence diagram or a finding: go to its message"),
            ("Tab", "between the list and the message"),
            ("z", "the message on the whole screen, and back"),
            ("Space", "fold or unfold this part of the message"),
            ("a", "fold or unfold all parts"),
            ("w", "show long strings as a whole, and shorten them again"),
            ("b", "bytes: as JSON, as text, in hexadecimal"),
            ("y", "copy the message (of a text: this line) to the clipboard"),
        ],
    ),
    (
        "Send",
        &[
            ("r", "send this request of the client again, after you have edited its params ($EDITOR) and said yes"),
            (":", "run a `mcpreel fire` command in the live session"),
        ],
    ),
];

/// Returns what keys do as lines of at most this many columns.
pub(crate) fn described(keys: &str, meaning: &str, width: usize) -> Vec<String> {
    let mut lines = vec![format!("  {keys:<13}")];
    for word in meaning.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => *line += &format!(" {word}"),
            _ => lines.push(format!("{:16}{word}", "")),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keys_do_fits_the_width() {
        let lines = described("F", "follow: stay at the newest message", 34);
        assert_eq!(lines, ["  F             follow: stay at", "                the newest message"]);
    }
}
