//! How much numbers may differ.

use super::places::Pattern;
use std::str::FromStr;

/// How much numbers may differ, at one place or everywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Tolerance {
    place: Option<Pattern>,
    amount: f64,
    is_relative: bool,
}

impl FromStr for Tolerance {
    type Err = String;

    /// Parses `0.5`, `1%` or `/result/score=0.5`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (place, number) = match text.rsplit_once('=') {
            Some((place, number)) => (Some(Pattern::new(place)), number),
            None => (None, text),
        };
        let (number, is_relative) = number.strip_suffix('%').map_or((number, false), |number| (number, true));
        match number.trim().parse::<f64>() {
            Ok(amount) if amount.is_finite() && amount >= 0.0 => {
                Ok(Self { place, amount: if is_relative { amount / 100.0 } else { amount }, is_relative })
            }
            _ => Err(format!("{text} is not a tolerance; expected a number such as 0.5, 1% or /result/score=0.5")),
        }
    }
}

impl Tolerance {
    /// Returns whether two numbers at this place are close enough.
    pub(super) fn allows(&self, place: &str, left: &str, right: &str) -> bool {
        let (Ok(left), Ok(right)) = (left.parse::<f64>(), right.parse::<f64>()) else { return false };
        let applies = self.place.as_ref().is_none_or(|pattern| pattern.covers(place));
        let most = if self.is_relative { self.amount * left.abs().max(right.abs()) } else { self.amount };
        applies && (left - right).abs() <= most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_differ_by_an_amount_or_a_part() {
        let allows =
            |text: &str, left, right| text.parse::<Tolerance>().expect("valid").allows("/result/a", left, right);
        assert!(allows("0.5", "1", "1.5") && !allows("0.5", "1", "1.6"));
        assert!(allows("1%", "100", "101") && !allows("1%", "100", "102"));
        assert!(allows("/result/a=2", "1", "3") && !allows("/result/b=2", "1", "3"));
        assert!(!allows("1", "x", "1"));
        for text in ["", "x", "-1", "NaN", "/a=", "inf"] {
            assert!(text.parse::<Tolerance>().is_err(), "{text}");
        }
    }
}
