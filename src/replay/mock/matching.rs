//! Decides which recorded requests a live request repeats.

use crate::diff::Options;
use crate::diff::normalise::Normaliser;
use crate::diff::report::UnitSide;
use crate::proposals;
use crate::protocol::methods;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// When a request repeats a recorded one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matching {
    /// Method and params are equal as JSON, apart from `_meta`.
    #[default]
    Exact,
    /// The same, but times, UUIDs and ids that the protocol creates may differ.
    Normalised,
    /// Method and subject (the tool, the resource) are equal.
    Method,
    /// It comes at the same position, with the same method and subject.
    Sequence,
}

/// Computes what is compared.
#[derive(Clone, Debug)]
pub(super) struct RequestKeys {
    matching: Matching,
    options: Options,
}

impl RequestKeys {
    pub(super) fn new(matching: Matching, ignored: &[String]) -> Self {
        let strict = matching != Matching::Normalised;
        let mut ignore = ignored.to_vec();
        // Progress tokens, the client's name and its capabilities.
        ignore.push("/params/_meta".to_owned());
        Self { matching, options: Options { exact: false, order: false, keep_times: strict, keep_ids: strict, ignore } }
    }

    pub(super) fn matching(&self) -> Matching {
        self.matching
    }

    /// Returns the options with which two requests are compared.
    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the key of a request, and of all requests of the same method for the same subject.
    pub(super) fn of(&self, method: &str, params: Option<&[u8]>) -> (u64, u32) {
        let mut hasher = DefaultHasher::new();
        method.hash(&mut hasher);
        let subject = params.and_then(|params| methods::subject(proposals::method_spec(method)?, params));
        // Of a handle, every value is alike.
        let subject = subject.filter(|_| !matches!(method, "initialize" | "server/discover" | "logging/setLevel"));
        subject.hash(&mut hasher);
        let kin = hasher.finish();
        let key = match self.matching {
            Matching::Method | Matching::Sequence => kin,
            Matching::Exact | Matching::Normalised => {
                let normaliser = Normaliser::new(&self.options);
                let node = normaliser.read(UnitSide::Params, Some(method), params.unwrap_or(b"{}"));
                let mut hasher = DefaultHasher::new();
                (method, normaliser.fingerprint(&node, &mut Vec::new())).hash(&mut hasher);
                hasher.finish()
            }
        };
        (key, kin as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(matching: Matching, one: &str, other: &str) -> bool {
        let keys = RequestKeys::new(matching, &["/params/arguments/now".to_owned()]);
        let of = |params: &str| keys.of("tools/call", Some(params.as_bytes())).0;
        of(one) == of(other)
    }

    #[test]
    fn each_mode_is_as_strict_as_it_says() {
        use Matching::{Exact, Method, Normalised};
        let base = r#"{"name":"t","arguments":{"a":1,"at":"2026-01-01T00:00:00Z"},"_meta":{"progressToken":1}}"#;
        for (other, exact, normalised, method) in [
            (r#"{"arguments":{"at":"2026-01-01T00:00:00Z","a":1.0},"name":"t"}"#, true, true, true),
            (r#"{"name":"t","arguments":{"a":1,"at":"2026-01-01T00:00:00Z","now":5}}"#, true, true, true),
            (r#"{"name":"t","arguments":{"a":1,"at":"2027-05-05T00:00:00Z"}}"#, false, true, true),
            (r#"{"name":"t","arguments":{"a":2,"at":"2026-01-01T00:00:00Z"}}"#, false, false, true),
            (r#"{"name":"u","arguments":{"a":1,"at":"2026-01-01T00:00:00Z"}}"#, false, false, false),
        ] {
            let found = [Exact, Normalised, Method].map(|mode| alike(mode, base, other));
            assert_eq!(found, [exact, normalised, method], "{other}");
        }
    }
}
