//! Subscriptions of revision 2026-07-28: what `subscriptions/listen` asks for, and what the server sends because of it.

use crate::proposals::Findings;
use crate::proposals::findings::rules;
use crate::proposals::recent::Recent;
use crate::protocol::Revision;
use crate::protocol::revision::meta;
use crate::validate::subject::{Message, Subject, SubjectEntry};
use crate::wire::{IdKey, MessageKind};
use serde_json::Value;

rules! {
    ACKNOWLEDGED_FIRST = Error "subscriptions/acknowledged-first",
        "The server must send `notifications/subscriptions/acknowledged` as the first message of a subscription.",
        "MCP 2026-07-28, Subscriptions, Acknowledgment",
        fix "Send the acknowledgment before you connect the subscription to its events.";
    ACKNOWLEDGED_MORE = Error "subscriptions/acknowledged-more",
        "In `notifications/subscriptions/acknowledged`, the server must name only notifications that the client asked for in `subscriptions/listen`.",
        "MCP 2026-07-28, Subscriptions, Acknowledgment",
        fix "Acknowledge only what is both in the request and supported.";
    UNREQUESTED = Error "subscriptions/unrequested",
        "For a subscription, the server must send only notifications that the client asked for in `subscriptions/listen`.",
        "MCP 2026-07-28, Subscriptions, Opening a Stream",
        fix "Filter notifications by what the subscription's request asked for.";
    ID_MISSING = Error "subscriptions/id-missing",
        "The server must name the subscription in `_meta` of each notification about a change, such as `notifications/tools/list_changed`.",
        "MCP 2026-07-28, Subscriptions, Receiving Notifications",
        fix "Write the `id` of the `subscriptions/listen` request as io.modelcontextprotocol/subscriptionId into `_meta`.";
    UNKNOWN_ID = Error "subscriptions/unknown-id",
        "In `_meta` of a notification, the server must name as subscription only the `id` of a `subscriptions/listen` of the client.",
        "MCP 2026-07-28, Subscriptions, Receiving Notifications",
        fix "Copy the `id` of the `subscriptions/listen`, with its type.";
    AFTER_END = Error "subscriptions/after-end",
        "After a subscription was answered or cancelled, the server must send no more notifications for it.",
        "MCP 2026-07-28, Subscriptions, Cancellation",
        fix "Remove the subscription before you answer it, and when its cancellation comes.";
    OTHER_KIND = Error "subscriptions/other-kind",
        "The server must not name a subscription in `notifications/progress` and `notifications/message`, which belong to the request that they are about.",
        "MCP 2026-07-28, Streamable HTTP, Receiving Messages",
        fix "Leave the subscription out of `_meta`, and send the message with its own request.";
    RESULT_ID = Error "subscriptions/result-id",
        "If the server names a subscription in its result of `subscriptions/listen`, it must be that of the same request.",
        "MCP 2026-07-28, Schema, SubscriptionsListenResult",
        fix "Copy the `id` of the request that you answer.";
    SERVER_CANCELLED = Error "subscriptions/server-cancelled",
        "In revision 2026-07-28, the server must send `notifications/cancelled` only for a subscription.",
        "MCP 2026-07-28, Cancellation",
        fix "Answer other requests with an error instead.";
}

pub(in crate::validate) const ENTRY: SubjectEntry = SubjectEntry {
    rules: RULES,
    revisions: (Revision::V2026_07_28, Revision::V2026_07_28),
    begin: || Box::<Subscriptions>::default(),
};

/// Subscriptions that are remembered.
const SUBSCRIPTIONS: usize = 256;
/// URIs of a subscription that are remembered.
const MAX_URIS: usize = 256;
/// A notification may be on its way for this long after the client ended its subscription (in nanoseconds).
const ON_ITS_WAY: i64 = 100_000_000;
/// The members of a filter, and the notifications that they ask for.
const KINDS: [(&str, &str); 3] = [
    ("toolsListChanged", "notifications/tools/list_changed"),
    ("promptsListChanged", "notifications/prompts/list_changed"),
    ("resourcesListChanged", "notifications/resources/list_changed"),
];
const UPDATED: &str = "notifications/resources/updated";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// What a subscription asks for.
#[derive(Debug, Default)]
struct Filter {
    methods: Vec<&'static str>,
    uris: Vec<String>,
    /// It has more URIs than are remembered.
    has_more: bool,
}

/// A subscription.
#[derive(Debug)]
struct Listen {
    filter: Filter,
    acknowledged: bool,
    /// The time from which nothing more may come.
    ended: Option<i64>,
}

/// The subscriptions of one connection.
#[derive(Debug)]
struct Subscriptions(Recent<IdKey, Listen>);

impl Default for Subscriptions {
    fn default() -> Self {
        Self(Recent::new(SUBSCRIPTIONS))
    }
}

impl Subject for Subscriptions {
    fn observe(&mut self, message: &Message<'_>, findings: &mut Findings) {
        if !message.is_modern() {
            return;
        }
        match (message.observed.envelope.kind, message.method()) {
            (MessageKind::Request, "subscriptions/listen") => {
                let filter = Filter::read(&message.content()["notifications"]);
                if let Some(id) = message.observed.envelope.id {
                    self.0.insert(id.key(), Listen { filter, acknowledged: false, ended: None });
                }
            }
            (MessageKind::Notification, "notifications/cancelled") => self.cancelled(message, findings),
            (MessageKind::Notification, method) if !message.is_clients() => self.notified(message, method, findings),
            (MessageKind::Result, _) if message.result_of() == "subscriptions/listen" => self.ended(message, findings),
            (MessageKind::Error, _) => {
                // A subscription that was refused has no notifications.
                if let Some(listen) = self.answered(message) {
                    listen.ended = Some(message.observed.time);
                }
            }
            _ => {}
        }
    }
}

impl Filter {
    fn read(filter: &Value) -> Self {
        let methods = KINDS.iter().filter(|(name, _)| filter[*name] == true).map(|(_, method)| *method).collect();
        let all = || filter["resourceSubscriptions"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let uris = all().take(MAX_URIS).map(str::to_owned).collect();
        Self { methods, uris, has_more: all().count() > MAX_URIS }
    }

    /// Returns whether it asks for a notification. A resource may be a part of another one.
    fn asks_for(&self, method: &str, params: &Value) -> bool {
        match (method, params["uri"].as_str()) {
            (UPDATED, Some(uri)) => self.uris.iter().any(|asked| uri.starts_with(asked.as_str())),
            _ => self.methods.contains(&method),
        }
    }

    /// Returns whether it asks for everything that the other one asks for.
    fn covers(&self, other: &Self) -> bool {
        other.methods.iter().all(|method| self.methods.contains(method))
            && other.uris.iter().all(|uri| self.uris.contains(uri))
    }
}

impl Subscriptions {
    fn answered(&mut self, message: &Message<'_>) -> Option<&mut Listen> {
        message.observed.request.filter(|request| request.method == "subscriptions/listen")?;
        self.0.get_mut(&message.observed.envelope.id?.key())
    }

    fn cancelled(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let listen = IdKey::of_value(&message.content()["requestId"]).and_then(|id| self.0.get_mut(&id));
        let is_known = listen.is_some();
        if let Some(listen) = listen {
            let grace = if message.is_clients() { ON_ITS_WAY } else { 0 };
            listen.ended = Some(message.observed.time + grace);
        }
        if !message.is_clients() && (is_known || message.saw_all()) {
            findings.check(&SERVER_CANCELLED, message.seq(), is_known, || {
                format!("the server cancelled request {}, which is no subscription", message.content()["requestId"])
            });
        }
    }

    fn notified(&mut self, message: &Message<'_>, method: &str, findings: &mut Findings) {
        let seq = message.seq();
        let named = message.content()["_meta"].get(meta::SUBSCRIPTION_ID);
        let is_change = method == UPDATED || method == ACKNOWLEDGED || KINDS.iter().any(|(_, it)| *it == method);
        if is_change {
            findings.check(&ID_MISSING, seq, named.is_some(), || format!("{method} names no subscription"));
        } else if matches!(method, "notifications/progress" | "notifications/message") {
            findings.check(&OTHER_KIND, seq, named.is_none(), || format!("{method} names a subscription"));
        }
        let Some(id) = named.and_then(IdKey::of_value).filter(|_| is_change) else { return };
        let may_be_unknown = !message.saw_all() || self.0.has_forgotten();
        match self.0.get_mut(&id) {
            Some(listen) => listen.check(message, method, findings),
            None if may_be_unknown => findings.give_up(&UNKNOWN_ID),
            None => findings.note(&UNKNOWN_ID, seq, format!("{method} names subscription {id}")),
        }
    }

    fn ended(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let named = message.content()["_meta"].get(meta::SUBSCRIPTION_ID).and_then(IdKey::of_value);
        let own = message.observed.envelope.id.map(|id| id.key());
        findings.check(&RESULT_ID, message.seq(), named.is_none() || named == own, || {
            "the result names another subscription".to_owned()
        });
        if let Some(listen) = self.answered(message) {
            let is_due = listen.acknowledged || !message.saw_all();
            findings.check(&ACKNOWLEDGED_FIRST, message.seq(), is_due, || {
                "the subscription ended before it was acknowledged".to_owned()
            });
            listen.ended = Some(message.observed.time);
        }
    }
}

impl Listen {
    fn check(&mut self, message: &Message<'_>, method: &str, findings: &mut Findings) {
        let (seq, params) = (message.seq(), message.content());
        findings.hold(&UNKNOWN_ID);
        let is_over = self.ended.is_some_and(|ended| message.observed.time > ended);
        findings.check(&AFTER_END, seq, !is_over, || format!("the server sent {method} after the subscription ended"));
        if method == ACKNOWLEDGED {
            self.acknowledged = true;
            let fits = self.filter.covers(&Filter::read(&params["notifications"]));
            if !fits && self.filter.has_more {
                return findings.give_up(&ACKNOWLEDGED_MORE);
            }
            findings.check(&ACKNOWLEDGED_MORE, seq, fits, || {
                format!("the server acknowledged {}", params["notifications"])
            });
            return;
        }
        findings.check(&ACKNOWLEDGED_FIRST, seq, self.acknowledged || !message.saw_all(), || {
            format!("the server sent {method} before it acknowledged the subscription")
        });
        let is_asked = self.filter.asks_for(method, params);
        if !is_asked && self.filter.has_more && method == UPDATED {
            return findings.give_up(&UNREQUESTED);
        }
        findings.check(&UNREQUESTED, seq, is_asked, || {
            format!("the server sent {method}, which the subscription does not ask for")
        });
    }
}

#[cfg(test)]
pub(in crate::validate) mod cases {
    /// A subscription to the list of tools and one resource, with what follows.
    macro_rules! listen {
        ($rest:literal) => {
            concat!(
                r#"c>s {"id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,
                    "resourceSubscriptions":["a://b"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities":{}}}}"#, "\n", $rest
            )
        };
    }
    /// The same, acknowledged.
    macro_rules! acknowledged {
        ($rest:literal) => {
            concat!(
                listen!(
                    r#"s>c {"method":"notifications/subscriptions/acknowledged","params":{"notifications":
                        {"toolsListChanged":true,"resourceSubscriptions":["a://b"]},
                        "_meta":{"io.modelcontextprotocol/subscriptionId":1}}}"#
                ),
                "\n",
                $rest
            )
        };
    }

    pub(in crate::validate) const CASES: &[(&str, &str)] = &[
        (
            "subscriptions/acknowledged-first",
            listen!(
                r#"s>c {"method":"notifications/tools/list_changed","params":{
                    "_meta":{"io.modelcontextprotocol/subscriptionId":1}}}"#
            ),
        ),
        (
            "subscriptions/acknowledged-more",
            listen!(
                r#"s>c {"method":"notifications/subscriptions/acknowledged","params":{"notifications":
                    {"promptsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}"#
            ),
        ),
        (
            "subscriptions/unrequested",
            acknowledged!(
                r#"s>c {"method":"notifications/prompts/list_changed","params":{
                    "_meta":{"io.modelcontextprotocol/subscriptionId":1}}}"#
            ),
        ),
        (
            "subscriptions/unrequested",
            acknowledged!(
                r#"s>c {"method":"notifications/resources/updated","params":{"uri":"c://d",
                    "_meta":{"io.modelcontextprotocol/subscriptionId":1}}}"#
            ),
        ),
        ("subscriptions/id-missing", acknowledged!(r#"s>c {"method":"notifications/tools/list_changed"}"#)),
        (
            "subscriptions/unknown-id",
            acknowledged!(
                r#"s>c {"method":"notifications/tools/list_changed","params":{
                    "_meta":{"io.modelcontextprotocol/subscriptionId":"1"}}}"#
            ),
        ),
        (
            "subscriptions/after-end",
            acknowledged!(
                r#"s>c {"method":"notifications/cancelled","params":{"requestId":1}}
                   s>c {"method":"notifications/tools/list_changed","params":{
                    "_meta":{"io.modelcontextprotocol/subscriptionId":1}}}"#
            ),
        ),
        (
            "subscriptions/after-end",
            acknowledged!(
                r#"@1000 c>s {"method":"notifications/cancelled","params":{"requestId":1}}
                   @1200 s>c {"method":"notifications/tools/list_changed","params":{
                    "_meta":{"io.modelcontextprotocol/subscriptionId":1}}}"#
            ),
        ),
        (
            "subscriptions/other-kind",
            acknowledged!(
                r#"s>c {"method":"notifications/message","params":{"level":"info","data":"x",
                    "_meta":{"io.modelcontextprotocol/subscriptionId":1}}}"#
            ),
        ),
        (
            "subscriptions/result-id",
            acknowledged!(
                r#"s>c {"id":1,"result":{"resultType":"complete","_meta":{
                    "io.modelcontextprotocol/subscriptionId":2}}}"#
            ),
        ),
        (
            "subscriptions/server-cancelled",
            acknowledged!(r#"s>c {"method":"notifications/cancelled","params":{"requestId":7}}"#),
        ),
    ];

    pub(in crate::validate) const QUIET: &[&str] = &[
        acknowledged!(
            r#"s>c {"method":"notifications/tools/list_changed","params":{
                "_meta":{"io.modelcontextprotocol/subscriptionId":1}}}
               s>c {"method":"notifications/resources/updated","params":{"uri":"a://b/part",
                "_meta":{"io.modelcontextprotocol/subscriptionId":1}}}
               s>c {"id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":1}}}"#
        ),
        acknowledged!(
            r#"@1000 c>s {"method":"notifications/cancelled","params":{"requestId":1}}
               @1050 s>c {"method":"notifications/tools/list_changed","params":{
                "_meta":{"io.modelcontextprotocol/subscriptionId":1}}}"#
        ),
        acknowledged!(r#"s>c {"method":"notifications/cancelled","params":{"requestId":1}}"#),
        acknowledged!(
            r#"c>s {"id":2,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":5,
                "io.modelcontextprotocol/protocolVersion":"2026-07-28",
                "io.modelcontextprotocol/clientCapabilities":{}}}}
               s>c {"method":"notifications/progress","params":{"progressToken":5,"progress":1}}"#
        ),
    ];
}
