//! Decides which recorded requests a live request repeats.

use crate::diff::Options;
use crate::diff::normalise::{Normaliser, Source};
use crate::diff::report::UnitSide;
use crate::diff::volatile::{Lookup, Origins};
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
    /// The same, but ids that the protocol creates, and temporary paths, may differ.
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
        Self { matching, options: Options { keep_times: strict, keep_ids: strict, ignore, ..Options::default() } }
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
                // The client chose its arguments, so none of them is taken for a value of the run.
                let source = Source { side: UnitSide::Params, method: Some(method), from_server: false };
                let origins = Origins::default();
                let digest = normaliser.digest(source, params.unwrap_or(b"{}"), &mut Lookup::Known(&origins));
                let mut hasher = DefaultHasher::new();
                (method, digest.hash).hash(&mut hasher);
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
            (r#"{"name":"t","arguments":{"a":1,"at":"2027-05-05T00:00:00Z"}}"#, false, false, true),
            (r#"{"name":"t","arguments":{"a":2,"at":"2026-01-01T00:00:00Z"}}"#, false, false, true),
            (r#"{"name":"u","arguments":{"a":1,"at":"2026-01-01T00:00:00Z"}}"#, false, false, false),
        ] {
            let found = [Exact, Normalised, Method].map(|mode| alike(mode, base, other));
            assert_eq!(found, [exact, normalised, method], "{other}");
        }
    }

    #[test]
    fn ids_of_the_protocol_and_temporary_paths_are_normalised() {
        let exact_and_normalised = |method: &str, one: &str, other: &str| {
            [Matching::Exact, Matching::Normalised].map(|mode| {
                let keys = RequestKeys::new(mode, &[]);
                let of = |params: &str| keys.of(method, Some(params.as_bytes())).0;
                of(one) == of(other)
            })
        };
        let (one, other) = (r#"{"cursor":"page-1"}"#, r#"{"cursor":"page-2"}"#);
        assert_eq!(exact_and_normalised("tools/list", one, other), [false, true]);
        let call = |path: &str| format!(r#"{{"name":"t","arguments":{{"to":"{path}"}}}}"#);
        let (one, other) = (call("/tmp/tmp.AbCdEf12"), call("/tmp/tmp.GhIjKl34"));
        assert_eq!(exact_and_normalised("tools/call", &one, &other), [false, true]);
        let (one, other) = (call("/home/me/notes"), call("/home/me/letters"));
        assert_eq!(exact_and_normalised("tools/call", &one, &other), [false, false]);
    }
}
