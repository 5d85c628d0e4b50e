//! Sends a recording of the legacy era to a server of the modern era (MCP 2026-07-28). `initialize` becomes
//! `server/discover`. Every request carries the revision, the client and its capabilities. What has no equivalent is left
//! out, with the reason. [`Folded`] makes the live session comparable with the recording again.

use super::conversation::{Conversation, Entry};
use super::replies::with_id;
use crate::protocol::revision::{Revision, meta};
use crate::protocol::{errors, methods};
use crate::wire::{Direction, Envelope, Framing, Id, IdKey, MessageKind, edit, json};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

/// The revision that is spoken.
const REVISION: Revision = Revision::NEWEST;

/// Members of results that only the modern era has; so is the server's name in `_meta`.
const NEW_MEMBERS: &[&str] = &["resultType", "ttlMs", "cacheScope"];

/// What has no equivalent of the same form, and why.
const WITHOUT_EQUIVALENT: &[(&str, &str)] = &[
    ("elicitation/create", ASKED_IN_RESULTS),
    ("logging/setLevel", "every later request carries its level"),
    ("notifications/elicitation/complete", "revision 2026-07-28 does not announce the end of an elicitation"),
    ("notifications/initialized", "revision 2026-07-28 has no handshake"),
    ("notifications/prompts/list_changed", ONLY_LISTENERS),
    ("notifications/resources/list_changed", ONLY_LISTENERS),
    ("notifications/resources/updated", ONLY_LISTENERS),
    ("notifications/tools/list_changed", ONLY_LISTENERS),
    ("resources/subscribe", LISTENING),
    ("resources/unsubscribe", LISTENING),
    ("roots/list", ASKED_IN_RESULTS),
    ("sampling/createMessage", ASKED_IN_RESULTS),
    ("server/discover", "initialize becomes server/discover"),
    ("tasks/cancel", TASKS),
    ("tasks/get", TASKS),
    ("tasks/list", TASKS),
    ("tasks/result", TASKS),
];
const ASKED_IN_RESULTS: &str =
    "a server of revision 2026-07-28 asks in the result of a request; it gets the recorded answer";
const ONLY_LISTENERS: &str = "a server of revision 2026-07-28 sends it only to subscriptions/listen";
const LISTENING: &str = "revision 2026-07-28 has subscriptions/listen instead";
const TASKS: &str = "revision 2026-07-28 has other tasks, as an extension";
const NO_LOG_LEVEL: &str = "a server of revision 2026-07-28 logs only if a request asks for it";
const NO_METHOD: &str = "revision 2026-07-28 does not have it";
const NO_BATCH: &str = "revision 2026-07-28 has no batches";

/// What became of a conversation.
#[derive(Debug, Default)]
pub(super) struct Translation {
    /// The entries of both sides that have no equivalent, and why.
    pub without: BTreeMap<usize, &'static str>,
    /// The entries that are sent or awaited, but are not comparable: `server/discover` and its answer.
    pub incomparable: HashSet<usize>,
}

/// Returns whether a conversation is of the legacy era: no request of it carries a revision, or the client began with
/// `initialize`.
pub(super) fn is_legacy(conversation: &Conversation) -> bool {
    let has_revision = |entry: &Entry| {
        let place = ["_meta", meta::PROTOCOL_VERSION];
        entry.content().is_some_and(|params| json::at_path(params, &place).is_some())
    };
    conversation.of_client().any(|entry| entry.is("initialize")) || !conversation.of_client().any(has_revision)
}

/// Translates the client's messages.
pub(super) fn translate(conversation: &mut Conversation) -> Translation {
    let mut members = client_members(conversation);
    let mut found = Translation::default();
    for (number, entry) in conversation.entries.iter_mut().enumerate() {
        let asks_for_logs = members.iter().any(|(name, _)| *name == meta::LOG_LEVEL);
        if let Some(why) = objection(entry, asks_for_logs) {
            found.without.insert(number, why);
            members.extend(log_level(entry).map(|level| (meta::LOG_LEVEL, level)));
        } else if entry.is("initialize") {
            discover(entry, &members);
            let answer = entry.requests.first().and_then(|request| request.answer);
            found.incomparable.extend([number].into_iter().chain(answer));
        } else if entry.is_clients() && entry.kind == MessageKind::Request {
            let body = entry.body();
            let params = edit::with_meta(Envelope::scan(body).params.unwrap_or(b"{}"), &members);
            let message = edit::with_member(body, "params", &params);
            rewrite(entry, message);
        }
    }
    found
}

/// Returns why a message has no equivalent.
fn objection(entry: &Entry, asks_for_logs: bool) -> Option<&'static str> {
    if entry.kind == MessageKind::Batch {
        return Some(NO_BATCH);
    }
    let method = entry.method.as_deref().filter(|_| entry.is_initiated())?;
    if method == "initialize" {
        return None;
    }
    if method == "notifications/message" && !asks_for_logs {
        return Some(NO_LOG_LEVEL);
    }
    if let Some((_, why)) = WITHOUT_EQUIVALENT.iter().find(|(known, _)| *known == method) {
        return Some(why);
    }
    methods::lookup(method).filter(|spec| !spec.is_in(REVISION)).map(|_| NO_METHOD)
}

/// The members of `_meta` of every request.
fn client_members(conversation: &Conversation) -> Vec<(&'static str, Value)> {
    let initialize = conversation.of_client().find(|entry| entry.is("initialize"));
    let params = initialize.and_then(Entry::content).map(json::value_of).unwrap_or_default();
    let or = |value: &Value, other: Value| if value.is_object() { value.clone() } else { other };
    let own = json!({"name": "mcpreel", "version": env!("CARGO_PKG_VERSION")});
    vec![
        (meta::PROTOCOL_VERSION, REVISION.as_str().into()),
        (meta::CLIENT_INFO, or(&params["clientInfo"], own)),
        (meta::CLIENT_CAPABILITIES, or(&params["capabilities"], json!({}))),
    ]
}

fn log_level(entry: &Entry) -> Option<Value> {
    let params = entry.content().filter(|_| entry.is("logging/setLevel"))?;
    json::str_member(params, "level").map(|level| Value::from(level.as_ref()))
}

fn discover(entry: &mut Entry, members: &[(&str, Value)]) {
    let params = edit::with_meta(b"{}", members);
    let message = edit::with_member(br#"{"jsonrpc":"2.0","method":"server/discover"}"#, "params", &params);
    let id = Envelope::scan(entry.body()).id.map_or(&b"null"[..], |id| id.0);
    let message = edit::with_member(&message, "id", id);
    entry.method = Some("server/discover".into());
    rewrite(entry, message);
}

fn rewrite(entry: &mut Entry, message: Vec<u8>) {
    entry.header.framing = Framing::Lf;
    entry.payload = message.into();
}

/// Returns the error that a modern server answers `initialize` with, if this is one.
pub(crate) fn refuses_handshake(answer: &[u8]) -> bool {
    let code = Envelope::scan(answer).error.and_then(|error| json::member(error, "code"));
    let code = code.and_then(|code| std::str::from_utf8(code).ok()?.parse::<i64>().ok());
    code.is_some_and(|code| [errors::METHOD_NOT_FOUND, errors::UNSUPPORTED_VERSION].contains(&code))
}

/// The id of a request that is sent again with input is this, the number of the round, and the first id.
const AGAIN: &str = "mcpreel-again-";

/// Returns the id of the given round of a request.
pub(super) fn id_of_round(first: Id<'_>, round: usize) -> String {
    Value::from(format!("{AGAIN}{round}:{}", String::from_utf8_lossy(first.0))).to_string()
}

/// Returns the id of the first round, if this is the id of a later one.
fn first_id(id: Id<'_>) -> Option<String> {
    let text = json::as_str(id.0)?;
    text.strip_prefix(AGAIN)?.split_once(':').map(|(_, first)| first.to_owned())
}

/// Returns whether a response asks for input.
pub(super) fn wants_input(envelope: &Envelope<'_>) -> bool {
    let kind = envelope.result.and_then(|result| json::str_member(result, "resultType"));
    kind.as_deref() == Some("input_required")
}

/// Makes the live session comparable with a recording of the legacy era: without `server/discover`, and with one
/// exchange where a request was sent several times because the server asked for input.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    discovering: Option<IdKey>,
}

impl Folded {
    /// Returns what to compare in place of a live message; `None` if it has no equivalent in the recording.
    pub(crate) fn take<'m>(&mut self, direction: Direction, message: &'m [u8]) -> Option<Cow<'m, [u8]>> {
        let envelope = Envelope::scan(message);
        let Some(id) = envelope.id else { return Some(Cow::Borrowed(message)) };
        if direction == Direction::ClientToServer {
            let is_discovery = envelope.method.as_deref() == Some("server/discover");
            if is_discovery {
                self.discovering = Some(id.key());
            }
            return (!is_discovery && first_id(id).is_none()).then_some(Cow::Borrowed(message));
        }
        if wants_input(&envelope) || self.discovering.take_if(|discovering| *discovering == id.key()).is_some() {
            return None;
        }
        let message = match envelope.result {
            Some(result) => Cow::Owned(edit::with_member(message, "result", &without_new_members(result))),
            None => Cow::Borrowed(message),
        };
        Some(match first_id(id) {
            Some(first) => Cow::Owned(with_id(&message, Id(first.as_bytes()))),
            None => message,
        })
    }
}

/// Returns a result without what only the modern era has.
fn without_new_members(result: &[u8]) -> Vec<u8> {
    let result = edit::without_members(result, NEW_MEMBERS);
    let Some(members) = json::member(&result, "_meta") else { return result };
    match &edit::without_members(members, &[meta::SERVER_INFO])[..] {
        b"{}" => edit::without_members(&result, &["_meta"]),
        rest => edit::with_member(&result, "_meta", rest),
    }
}
