//! A compliance server (MCPL 0.4 §15.2): declares `afterInference` as blocking, and redacts what matches its patterns.

use regex::Regex;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The feature set of its responses.
pub(super) const REDACTION: &str = "compliance.redaction";

const MARK: &str = "[REDACTED]";

/// The patterns with the kind of text that they find. Without any, nothing is redacted, and the hook does not block.
#[derive(Clone, Debug, Default)]
pub(super) struct Redactor(Vec<(String, Regex)>);

impl Redactor {
    /// Compiles regular expressions, given by the kind of text that they find.
    ///
    /// # Errors
    /// A pattern is invalid, or matches the empty text.
    pub(super) fn new(patterns: &BTreeMap<String, String>) -> Result<Self, String> {
        let read = |(kind, pattern): (&String, &String)| match Regex::new(pattern) {
            Ok(regex) if regex.is_match("") => Err(format!("redact.{kind}: {pattern:?} matches the empty text")),
            Ok(regex) => Ok((kind.clone(), regex)),
            Err(error) => Err(format!("redact.{kind}: {error}")),
        };
        patterns.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Whether there is a pattern.
    pub(super) fn is_on(&self) -> bool {
        !self.0.is_empty()
    }

    /// The result of a blocking `context/afterInference` (MCPL 0.4 §10.5). The `position` of a redaction is a
    /// half-open range of characters in the original response, from 0. Overlapping matches become one redaction.
    pub(super) fn answer(&self, response: &str) -> Value {
        let hits = self.find(response);
        let mut answer = json!({"featureSet": REDACTION});
        if hits.is_empty() {
            return answer;
        }
        let characters = |end: usize| response[..end].chars().count();
        let (mut modified, mut from) = (String::new(), 0);
        let mut redactions = Vec::new();
        for (start, end, kind) in hits {
            modified.push_str(&response[from..start]);
            modified.push_str(MARK);
            from = end;
            redactions.push(json!({"type": kind, "position": [characters(start), characters(end)]}));
        }
        modified.push_str(&response[from..]);
        answer["modifiedResponse"] = json!(modified);
        answer["metadata"] = json!({"redactions": redactions});
        answer
    }

    /// The matches as byte ranges, in order and without overlaps.
    fn find(&self, text: &str) -> Vec<(usize, usize, &str)> {
        let mut hits: Vec<(usize, usize, &str)> = Vec::new();
        for (kind, regex) in &self.0 {
            let here = regex.find_iter(text).filter(|hit| !hit.is_empty());
            hits.extend(here.map(|hit| (hit.start(), hit.end(), kind.as_str())));
        }
        hits.sort_unstable();
        let mut apart: Vec<(usize, usize, &str)> = Vec::new();
        for hit in hits {
            match apart.last_mut() {
                Some(last) if hit.0 < last.1 => last.1 = last.1.max(hit.1),
                _ => apart.push(hit),
            }
        }
        apart
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::SCHEMAS;
    use super::*;

    fn redactor(patterns: &[(&str, &str)]) -> Result<Redactor, String> {
        let patterns = patterns.iter().map(|(kind, pattern)| ((*kind).to_owned(), (*pattern).to_owned()));
        Redactor::new(&patterns.collect())
    }

    #[test]
    fn c48_what_matches_is_taken_out_and_reported() {
        let redactor = redactor(&[("api_key", r"sk-\w+"), ("email", r"\w+@\w+\.\w+")]).expect("patterns");
        let answer = redactor.answer("Schlüssel: sk-123 and sk-456, a@b.de");
        assert_eq!(answer["modifiedResponse"], "Schlüssel: [REDACTED] and [REDACTED], [REDACTED]");
        let reported = json!([{"type": "api_key", "position": [11, 17]}, {"type": "api_key", "position": [22, 28]},
            {"type": "email", "position": [30, 36]}]);
        assert_eq!(answer["metadata"]["redactions"], reported);
        assert_eq!(SCHEMAS.check("context/afterInference:result", &answer), Some(vec![]));
        assert_eq!(redactor.answer("nothing"), json!({"featureSet": REDACTION}));
    }

    #[test]
    fn what_overlaps_is_one_and_patterns_must_match_something() {
        let two = redactor(&[("a", "bcd"), ("b", "cde")]).expect("patterns");
        let answer = two.answer("abcdef");
        assert_eq!(answer["modifiedResponse"], "a[REDACTED]f");
        assert_eq!(answer["metadata"]["redactions"], json!([{"type": "a", "position": [1, 5]}]));
        assert!(redactor(&[("a", "x*")]).is_err_and(|why| why.contains("empty")));
        assert!(redactor(&[("a", "(")]).is_err_and(|why| why.starts_with("redact.a")));
        assert!(!Redactor::default().is_on());
    }
}
