//! Decides which recorded requests a live request repeats.

use crate::diff::Options;
use crate::diff::build::Digest;
use crate::diff::compare::params_changes;
use crate::diff::normalise::{Normaliser, Source};
use crate::diff::report::{Change, UnitSide};
use crate::diff::volatile::{Lookup, Origins, ValueKey};
use crate::proposals;
use crate::protocol::revision::meta;
use crate::protocol::{MethodSpec, Revision, http, methods};
use crate::wire::{Envelope, json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// When a request repeats a recorded one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matching {
    /// Method and params are equal as JSON, apart from `_meta`.
    #[default]
    Exact,
    /// The same, but times, ids, ports, temporary paths and other volatile values may differ.
    Normalised,
    /// Method and subject (the tool, the resource) are equal.
    Method,
    /// It comes at the same position, with the same method and subject.
    Sequence,
}

/// Makes requests comparable with those of a redacted recording: replaces secrets, and what stands for them, alike.
pub(crate) type Disguise = Arc<dyn Fn(&[u8]) -> Vec<u8> + Send + Sync>;

/// Ids that a client makes and sends in the params of a proposal's request. Each has its own in every session.
pub(super) const CLIENT_IDS: [&str; 3] = ["messageId", "inferenceId", "conversationId"];

/// Members with which a client sends a request again, after the server asked for input.
const RETRY: [&str; 2] = ["requestState", "inputResponses"];

/// What is wrong with the `_meta` of a request of the modern era, for which servers refuse it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum MetaFault {
    UnknownVersion,
    NoCapabilities,
}

impl MetaFault {
    fn of(envelope: &Envelope<'_>) -> Option<Self> {
        let version = http::modern_version(envelope)?;
        let capabilities = json::at_path(envelope.params?, &["_meta", meta::CLIENT_CAPABILITIES]);
        match (Revision::parse(&version), capabilities) {
            (None, _) => Some(Self::UnknownVersion),
            (_, None) => Some(Self::NoCapabilities),
            _ => None,
        }
    }
}

/// Computes what is compared.
#[derive(Clone)]
pub(super) struct RequestKeys {
    matching: Matching,
    options: Options,
    /// How many of the places to ignore the user named; they come first.
    ignored: usize,
    disguise: Option<Disguise>,
    /// Where the server and the client worked.
    folders: Origins,
}

impl std::fmt::Debug for RequestKeys {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:?} keys", self.matching)
    }
}

impl RequestKeys {
    pub(super) fn new(matching: Matching, ignored: &[String]) -> Self {
        let strict = matching != Matching::Normalised;
        let mut ignore = ignored.to_vec();
        // Progress tokens, the client's name and its capabilities.
        ignore.push("/params/_meta".to_owned());
        ignore.extend(CLIENT_IDS.iter().map(|name| format!("/params/{name}")));
        let (keep_times, keep_ids, ignores_own_items) = (strict, strict, true);
        let options = Options { keep_times, keep_ids, ignore, ignores_own_items, ..Options::default() };
        Self { matching, options, ignored: ignored.len(), disguise: None, folders: Origins::default() }
    }

    /// Compares requests in this disguise.
    pub(super) fn disguised(self, disguise: Disguise) -> Self {
        Self { disguise: Some(disguise), ..self }
    }

    /// Compares requests without the folders in which the server and the client work; no effect unless volatile values may
    /// differ.
    pub(super) fn learn_folders(&mut self, learn: impl FnOnce(&mut Origins)) {
        if self.matching == Matching::Normalised {
            learn(&mut self.folders);
        }
    }

    pub(super) fn matching(&self) -> Matching {
        self.matching
    }

    /// Returns a request as it is compared; `None` if that is how it is.
    pub(super) fn comparable(&self, request: &[u8]) -> Option<Vec<u8>> {
        self.disguise.as_ref().map(|disguise| disguise(request))
    }

    /// Returns the key of a comparable request, and of all requests of the same method for the same subject.
    pub(super) fn of(&self, envelope: &Envelope<'_>) -> (u64, u32) {
        let (key, kin) = self.of_content(envelope);
        match MetaFault::of(envelope) {
            Some(fault) if self.matching != Matching::Sequence => {
                let mut hasher = DefaultHasher::new();
                (key, fault).hash(&mut hasher);
                (hasher.finish(), kin)
            }
            _ => (key, kin),
        }
    }

    /// Returns the key of the same request with all that the modern era requires; `None` if it has that.
    pub(super) fn without_fault(&self, envelope: &Envelope<'_>) -> Option<u64> {
        MetaFault::of(envelope).map(|_| self.of_content(envelope).0)
    }

    fn of_content(&self, envelope: &Envelope<'_>) -> (u64, u32) {
        let (method, params) = (envelope.method.as_deref().unwrap_or_default(), envelope.params);
        let mut hasher = DefaultHasher::new();
        method.hash(&mut hasher);
        // Of a handle, every value is alike.
        let has_subject = |spec: &&MethodSpec| {
            !matches!(method, "initialize" | "server/discover" | "logging/setLevel")
                && spec.about.last().is_none_or(|name| !CLIENT_IDS.contains(name))
        };
        let spec = proposals::method_spec(method).filter(has_subject);
        let subject = params.and_then(|params| methods::subject(spec?, params));
        subject.hash(&mut hasher);
        let kin = hasher.finish();
        let key = match self.matching {
            Matching::Sequence => kin,
            Matching::Method => {
                for given in RETRY.iter().filter_map(|name| json::first_member(params?, name)) {
                    self.digest(method, given).hash.hash(&mut hasher);
                }
                hasher.finish()
            }
            Matching::Exact | Matching::Normalised => {
                let mut hasher = DefaultHasher::new();
                (method, self.digest(method, params.unwrap_or(b"{}")).hash).hash(&mut hasher);
                hasher.finish()
            }
        };
        (key, kin as u32)
    }

    /// Returns the values of a comparable request that may differ from those of a recorded one, but must correspond to
    /// the same ones in the whole session.
    pub(super) fn values(&self, request: &[u8]) -> Box<[ValueKey]> {
        let envelope = Envelope::scan(request);
        let (Matching::Normalised, Some(params)) = (self.matching, envelope.params) else { return Box::default() };
        let method = envelope.method.as_deref().unwrap_or_default();
        let values = self.digest(method, params).values;
        values.into_iter().filter(|key| !key.kind().is_measured()).collect()
    }

    /// Returns the text of one of these values.
    pub(super) fn value_text(&self, request: &[u8], place: usize) -> String {
        let envelope = Envelope::scan(request);
        let wanted = self.values(request).get(place).copied();
        let params = envelope.params.unwrap_or(b"{}");
        let method = envelope.method.as_deref().unwrap_or_default();
        let subject = subject(method, params);
        let source = source(method, subject.as_deref());
        let texts = Normaliser::new(&self.options).value_texts(source, params, &mut self.lookup());
        texts.into_iter().find(|(key, _)| Some(*key) == wanted).map(|(_, text)| text.into()).unwrap_or_default()
    }

    /// Returns the places at which a comparable request differs from a recorded one.
    pub(super) fn changes(&self, recorded: &Envelope<'_>, asked: &Envelope<'_>) -> Vec<Change> {
        let sides = (recorded.params.unwrap_or(b"{}"), asked.params.unwrap_or(b"{}"));
        let method = asked.method.as_deref().unwrap_or_default();
        let subject = subject(method, sides.1);
        params_changes(source(method, subject.as_deref()), sides, &self.options, &mut self.lookup())
    }

    fn digest(&self, method: &str, params: &[u8]) -> Digest {
        let subject = subject(method, params);
        Normaliser::new(&self.options).digest(source(method, subject.as_deref()), params, &mut self.lookup())
    }

    /// Returns for each place that the user ignores whether a request has something there.
    pub(super) fn used(&self, request: &Envelope<'_>) -> Vec<bool> {
        let (method, params) = (request.method.as_deref().unwrap_or_default(), request.params.unwrap_or(b"{}"));
        let (normaliser, subject) = (Normaliser::new(&self.options), subject(method, params));
        normaliser.digest(source(method, subject.as_deref()), params, &mut self.lookup());
        let mut used = normaliser.used();
        used.truncate(self.ignored);
        used
    }

    /// The client chose what it sent, unless the user says that such values differ.
    fn lookup(&self) -> Lookup<'_> {
        match self.matching {
            Matching::Normalised => Lookup::Anyones(&self.folders),
            _ => Lookup::Known(&self.folders),
        }
    }
}

/// Where the params of a client's request are.
fn source<'m>(method: &'m str, subject: Option<&'m str>) -> Source<'m> {
    Source { side: UnitSide::Params, method: Some(method), subject, from_server: false }
}

/// The tool, prompt or resource that a request is about.
fn subject<'p>(method: &str, params: &'p [u8]) -> Option<Cow<'p, str>> {
    methods::subject(proposals::method_spec(method)?, params)
}

/// The limit on values that are remembered for a session, and on recorded requests whose values are.
const MAX_VALUES: usize = 1 << 16;

/// Which recorded value each volatile value of a live client stands for.
#[derive(Debug, Default)]
pub(super) struct LiveValues {
    recorded: HashMap<ValueKey, ValueKey>,
    live: HashMap<ValueKey, ValueKey>,
    /// The values of recorded requests, by the numbers of their exchanges.
    requests: HashMap<u32, Box<[ValueKey]>>,
}

impl LiveValues {
    /// Returns the values of a recorded request, which `read` reads.
    pub(super) fn of_request(&mut self, number: u32, read: impl FnOnce() -> Box<[ValueKey]>) -> Box<[ValueKey]> {
        if self.requests.len() >= MAX_VALUES {
            self.requests.clear();
        }
        self.requests.entry(number).or_insert_with(read).clone()
    }

    /// Returns the place of the first value that stands for another one than this recorded one.
    pub(super) fn conflict(&self, live: &[ValueKey], recorded: &[ValueKey]) -> Option<usize> {
        live.iter().zip(recorded).position(|(live, recorded)| {
            self.recorded.get(live).is_some_and(|known| known != recorded)
                || self.live.get(recorded).is_some_and(|known| known != live)
        })
    }

    /// Remembers which values stand for which.
    pub(super) fn learn(&mut self, live: &[ValueKey], recorded: &[ValueKey]) {
        for (live, recorded) in live.iter().zip(recorded) {
            if self.recorded.len() < MAX_VALUES {
                self.recorded.entry(*live).or_insert(*recorded);
                self.live.entry(*recorded).or_insert(*live);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(matching: Matching, method: &str, one: &str, other: &str) -> bool {
        let keys = RequestKeys::new(matching, &["/params/arguments/now".to_owned()]);
        let of = |params: &str| {
            keys.of(&Envelope::scan(format!(r#"{{"id":1,"method":"{method}","params":{params}}}"#).as_bytes())).0
        };
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
            let found = [Exact, Normalised, Method].map(|mode| alike(mode, "tools/call", base, other));
            assert_eq!(found, [exact, normalised, method], "{other}");
        }
    }

    #[test]
    fn volatile_values_of_each_kind_are_normalised_and_settings_are_not() {
        for (one, other, is_normalised) in [
            (r#""/tmp/tmp.AbCdEf12/x""#, r#""/tmp/tmp.GhIjKl34/x""#, true),
            (r#""http://localhost:40123/x""#, r#""http://localhost:51234/x""#, true),
            (r#""note 123e4567-e89b-12d3-a456-426614174000""#, r#""note 00000000-e89b-12d3-a456-426614174111""#, true),
            (r#""key-5f3a9c1d77e0aa""#, r#""key-a03b9c1d77e0bb""#, true),
            (r#"{"createdAt":1718700000}"#, r#"{"createdAt":1718799999}"#, true),
            (r#"{"pid":17}"#, r#"{"pid":4711}"#, true),
            (r#""/home/me/notes""#, r#""/home/me/letters""#, false),
            (r#""timeout 30s""#, r#""timeout 60s""#, false),
            (r#"{"took":"12ms"}"#, r#"{"took":"13ms"}"#, false),
            (r#"{"count":17}"#, r#"{"count":18}"#, false),
            (r#""2026-01-01T00:00:00Z""#, r#""tomorrow""#, false),
        ] {
            let call = |value: &str| format!(r#"{{"name":"t","arguments":{{"to":{value}}}}}"#);
            let found =
                [Matching::Exact, Matching::Normalised].map(|mode| alike(mode, "tools/call", &call(one), &call(other)));
            assert_eq!(found, [false, is_normalised], "{one} {other}");
        }
        let cursors = |mode| alike(mode, "tools/list", r#"{"cursor":"page-1"}"#, r#"{"cursor":"page-2"}"#);
        assert_eq!([Matching::Exact, Matching::Normalised].map(cursors), [false, true]);
    }

    #[test]
    fn a_retry_is_another_request_even_if_only_the_method_counts() {
        let base = r#"{"name":"t","arguments":{}}"#;
        let retry = |answer: &str| {
            format!(
                r#"{{"name":"t","arguments":{{}},"requestState":"s","inputResponses":{{"k":{{"action":"{answer}"}}}}}}"#
            )
        };
        let alike = |one: &str, other: &str| alike(Matching::Method, "tools/call", one, other);
        assert!(!alike(base, &retry("accept")) && !alike(&retry("accept"), &retry("decline")));
        assert!(alike(&retry("accept"), &retry("accept").replace("{}", r#"{"other":1}"#)));
    }

    #[test]
    fn a_request_without_what_the_modern_era_requires_is_another_one() {
        let of = |meta: &str| {
            let text = format!(r#"{{"id":1,"method":"tools/list","params":{{"_meta":{{{meta}}}}}}}"#);
            let keys = RequestKeys::new(Matching::Exact, &[]);
            let envelope = Envelope::scan(text.as_bytes());
            (keys.of(&envelope).0, keys.without_fault(&envelope))
        };
        let version = |version: &str| format!(r#""{}":"{version}""#, meta::PROTOCOL_VERSION);
        let whole = of(&format!(r#"{},"{}":{{"roots":{{}}}}"#, version("2026-07-28"), meta::CLIENT_CAPABILITIES));
        assert_eq!(whole, (of("").0, None), "a client of the legacy era asks for the same");
        let bare = of(&version("2026-07-28"));
        let unknown = of(&version("2999-01-01"));
        assert!(bare.0 != whole.0 && unknown.0 != whole.0 && bare.0 != unknown.0);
        assert_eq!([bare.1, unknown.1], [Some(whole.0); 2]);
    }

    #[test]
    fn ids_that_the_client_makes_do_not_count() {
        let message = |id: &str, text: &str| format!(r#"{{"messageId":"{id}","content":"{text}"}}"#);
        let alike = |one: &str, other: &str| alike(Matching::Exact, "conversation/userMessage", one, other);
        assert!(alike(&message("a", "hi"), &message("b", "hi")));
        assert!(!alike(&message("a", "hi"), &message("a", "ho")));
    }
}
