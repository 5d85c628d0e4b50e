//! Colours. The plain palette writes only the text.

use anstyle::{Ansi256Color, Style};

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

    /// Returns a palette of the 256 colours that every terminal shows alike. Its themes change the first sixteen, and no
    /// choice of these can be read on dark and on light terminals. Ours differ from black and from white by a contrast
    /// of at least 3.9.
    pub fn coloured() -> Self {
        let colour = |number: u8| Ansi256Color(number).on_default();
        Self {
            faint: colour(GREY),
            bold: Style::new().bold(),
            to_server: colour(TEAL),
            to_client: colour(MAUVE),
            error: colour(RED).bold(),
            warning: colour(ORANGE),
            good: colour(GREEN),
            key: Style::new().bold(),
            string: colour(GREEN),
            number: colour(ORANGE),
            literal: colour(MAUVE),
        }
    }

    /// Returns whether the palette writes only the text.
    pub fn is_plain(&self) -> bool {
        self.bold == Style::default()
    }
}

const GREY: u8 = 243;
const TEAL: u8 = 31;
const MAUVE: u8 = 133;
const RED: u8 = 161;
const ORANGE: u8 = 130;
const GREEN: u8 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of full light, for a colour of the cube or a grey.
    fn light(number: u8) -> f64 {
        let levels = [0, 95, 135, 175, 215, 255].map(f64::from);
        let rgb = match number {
            232.. => [8.0 + 10.0 * f64::from(number - 232); 3],
            _ => [(number - 16) / 36, (number - 16) / 6 % 6, (number - 16) % 6].map(|at| levels[usize::from(at)]),
        };
        let linear = |level: f64| {
            let part = level / 255.0;
            if part <= 0.03928 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        rgb.into_iter().zip([0.2126, 0.7152, 0.0722]).map(|(level, weight)| linear(level) * weight).sum()
    }

    #[test]
    fn every_colour_can_be_read_on_black_and_on_white() {
        for number in [GREY, TEAL, MAUVE, RED, ORANGE, GREEN] {
            let (on_black, on_white) = ((light(number) + 0.05) / 0.05, 1.05 / (light(number) + 0.05));
            assert!(on_black >= 3.9 && on_white >= 3.9, "{number}: {on_black:.1} {on_white:.1}");
        }
    }
}
