//! Colours, in one place. The plain palette writes nothing but the text.

use anstyle::{AnsiColor, Style};

/// What each part of an output looks like.
#[derive(Clone, Copy, Debug, Default)]
pub struct Palette {
    /// Secondary text: times, numbers, sizes.
    pub faint: Style,
    /// What stands out.
    pub bold: Style,
    /// From the client to the server.
    pub to_server: Style,
    /// From the server to the client.
    pub to_client: Style,
    /// What went wrong.
    pub error: Style,
    /// What may go wrong.
    pub warning: Style,
    /// What went well; added.
    pub good: Style,
    /// An object's member name.
    pub key: Style,
    /// A string.
    pub string: Style,
    /// A number.
    pub number: Style,
    /// true, false and null.
    pub literal: Style,
}

impl Palette {
    /// No colours.
    pub fn plain() -> Self {
        Self::default()
    }

    /// The terminal's own sixteen colours.
    pub fn coloured() -> Self {
        let colour = |colour: AnsiColor| colour.on_default();
        Self {
            faint: Style::new().dimmed(),
            bold: Style::new().bold(),
            to_server: colour(AnsiColor::Cyan),
            to_client: colour(AnsiColor::Magenta),
            error: colour(AnsiColor::Red).bold(),
            warning: colour(AnsiColor::Yellow),
            good: colour(AnsiColor::Green),
            key: colour(AnsiColor::Blue).bold(),
            string: colour(AnsiColor::Green),
            number: colour(AnsiColor::Yellow),
            literal: colour(AnsiColor::Magenta),
        }
    }

    /// Whether it writes nothing but the text.
    pub fn is_plain(&self) -> bool {
        self.bold == Style::default()
    }
}
