//! Colours. The plain palette writes only the text.

use anstyle::{AnsiColor, Style};

/// The styles of an output's parts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Palette {
    /// Secondary text: times, numbers, sizes.
    pub faint: Style,
    /// Emphasised text.
    pub bold: Style,
    /// Messages from the client to the server.
    pub to_server: Style,
    /// Messages from the server to the client.
    pub to_client: Style,
    /// Errors.
    pub error: Style,
    /// Warnings.
    pub warning: Style,
    /// Success; added parts.
    pub good: Style,
    /// The name of an object's member.
    pub key: Style,
    /// A string.
    pub string: Style,
    /// A number.
    pub number: Style,
    /// true, false and null.
    pub literal: Style,
}

impl Palette {
    /// Returns the palette without colours.
    pub fn plain() -> Self {
        Self::default()
    }

    /// Returns a palette of the terminal's sixteen colours.
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

    /// Returns whether the palette writes only the text.
    pub fn is_plain(&self) -> bool {
        self.bold == Style::default()
    }
}
