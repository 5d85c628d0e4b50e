//! Faults over a recording: `METHOD: ACTION [ARGUMENT] [PERCENT%]`, such as `tools/call: delay 2s 10%`.

use crate::wire::units::parse_time;
use globset::{Glob, GlobMatcher};
use std::str::FromStr;
use std::time::Duration;

/// What happens to an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FaultAction {
    /// It comes later.
    Delay(Duration),
    /// It never comes.
    Drop,
    /// It comes twice.
    Duplicate,
    /// It comes after the next message.
    Reorder,
    /// It is an error with this code.
    Error(i64),
    /// Only its first half comes.
    Truncate,
    /// It is not JSON.
    Malformed,
    /// The connection ends in its place.
    Disconnect,
}

/// A fault; see the module.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The text as it was given.
    pub(crate) text: String,
    methods: GlobMatcher,
    pub(super) action: FaultAction,
    /// How many of a hundred answers it hits.
    percent: f64,
}

/// JSON-RPC: an internal error.
const INTERNAL_ERROR: i64 = -32603;

impl Fault {
    /// Returns whether it can hit answers to this method.
    pub(crate) fn is_for(&self, method: &str) -> bool {
        self.methods.is_match(method)
    }

    /// Returns whether it hits, by a random number from 0 to 1.
    pub(super) fn hits(&self, random: f64) -> bool {
        random * 100.0 < self.percent
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "expected METHOD: ACTION [PERCENT%], as in 'tools/call: delay 2s 10%'";
        let (methods, rest) = text.rsplit_once(": ").or_else(|| text.rsplit_once(':')).ok_or(form)?;
        let methods = Glob::new(methods.trim()).map_err(|error| format!("invalid pattern: {error}"))?.compile_matcher();
        let mut words: Vec<&str> = rest.split_whitespace().collect();
        let percent = match words.last().and_then(|word| word.strip_suffix('%')) {
            None => 100.0,
            Some(number) => {
                words.pop();
                let percent = number.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
                percent.ok_or_else(|| format!("invalid percentage {number:?}: expected 0 to 100"))?
            }
        };
        let action = match &words[..] {
            ["delay", time] => FaultAction::Delay(parse_time(time)?),
            ["drop"] => FaultAction::Drop,
            ["duplicate"] => FaultAction::Duplicate,
            ["reorder"] => FaultAction::Reorder,
            ["error"] => FaultAction::Error(INTERNAL_ERROR),
            ["error", code] => FaultAction::Error(code.parse().map_err(|_| format!("invalid error code {code:?}"))?),
            ["truncate"] => FaultAction::Truncate,
            ["malformed"] => FaultAction::Malformed,
            ["disconnect"] => FaultAction::Disconnect,
            _ => {
                return Err(format!(
                    "unknown fault {:?}: use delay TIME, drop, duplicate, reorder, error [CODE], truncate, malformed \
                     or disconnect",
                    words.join(" ")
                ));
            }
        };
        Ok(Self { text: text.to_owned(), methods, action, percent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_methods_an_action_and_a_rate() {
        let fault: Fault = "tools/*: delay 2s 10%".parse().expect("a fault");
        assert_eq!((fault.action, fault.percent), (FaultAction::Delay(Duration::from_secs(2)), 10.0));
        assert!(fault.is_for("tools/call") && !fault.is_for("ping"));
        assert!(fault.hits(0.0999) && !fault.hits(0.1));
        let action = |text: &str| text.parse::<Fault>().map(|fault| fault.action);
        assert_eq!(action("ping:drop"), Ok(FaultAction::Drop));
        assert_eq!(action("ping: error -1"), Ok(FaultAction::Error(-1)));
        for (text, reason) in [
            ("drop", "expected METHOD"),
            ("ping: drop 101%", "0 to 100"),
            ("ping: vanish", "unknown fault"),
            ("ping: delay soon", "invalid time"),
        ] {
            assert!(action(text).expect_err("refused").contains(reason), "{text}");
        }
    }
}
