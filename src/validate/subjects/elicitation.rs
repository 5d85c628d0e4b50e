//! Questions to the user: URLs, their ids, and what a form asks for and gets.

use crate::proposals::Findings;
use crate::proposals::findings::rules;
use crate::proposals::recent::Recent;
use crate::protocol::{Revision, errors};
use crate::validate::foreign_schema::{ForeignSchema, Verdict};
use crate::validate::subject::{Message, Subject, SubjectEntry};
use crate::validate::subjects::capabilities::declares_mode;
use crate::wire::{IdKey, MessageKind};
use serde_json::Value;

rules! {
    URL = Error "elicitation/url",
        "The server must send a valid URL as the `url` that the user is asked to open.",
        "MCP 2025-11-25, Elicitation, URL Mode Elicitation Requests",
        fix "Send an absolute URL, and escape its parts.";
    INSECURE = Warning "elicitation/insecure-url",
        "The server sends an `https://` URL as the `url` that the user is asked to open; `http://` only for the local machine.",
        "MCP 2025-11-25, Elicitation, Safe URL Handling",
        fix "Serve the page over TLS, and send its `https://` URL.";
    SENSITIVE = Warning "elicitation/sensitive",
        "The server does not ask for passwords, keys or other secrets in a form. Checked by the names of the form's fields.",
        "MCP 2025-11-25, Elicitation, User Interaction Model",
        fix "Ask in URL mode, so that the secret does not pass through the client.";
    UNKNOWN_ID = Error "elicitation/unknown-id",
        "In `notifications/elicitation/complete`, the server must name an `elicitationId` that it sent before.",
        "MCP 2025-11-25, Elicitation, Completion Notifications for URL Mode Elicitation",
        fix "Store the `elicitationId` of each request, and copy it.";
    REQUIRED_DATA = Error "elicitation/required-data",
        "A server that sends error -32042 must list in `data.elicitations` at least one elicitation in URL mode, each with an `elicitationId`, a `url` and a `message`.",
        "MCP 2025-11-25, Elicitation, URL Elicitation Required Error",
        fix "Add the URL, a new id and a message for the user to `data.elicitations`.";
    REQUIRED_UNDECLARED = Error "elicitation/required-undeclared",
        "The server must send error -32042 only to a client that declared `elicitation.url`.",
        "MCP 2025-11-25, Elicitation, Capabilities",
        fix "Send another error to a client that cannot open URLs.";
    SUBMITTED = Warning "elicitation/content",
        "In its result of `elicitation/create`, the client returns `content` that conforms to the `requestedSchema` of the form, if the user accepted.",
        "MCP 2025-11-25, Elicitation, Response Actions",
        fix "Validate the user's input against the `requestedSchema` before you return it.";
    URL_CONTENT = Warning "elicitation/url-content",
        "In its result of an `elicitation/create` in URL mode, the client returns no `content`.",
        "MCP 2025-11-25, Elicitation, Response Actions",
        fix "Return the `action` alone.";
}

pub(in crate::validate) const ENTRY: SubjectEntry = SubjectEntry {
    rules: RULES,
    revisions: (Revision::V2025_06_18, Revision::V2026_07_28),
    begin: || Box::<Elicitation>::default(),
};

/// Ids of elicitations that are remembered.
const IDS: usize = 1024;
/// Forms without a response that are remembered.
const FORMS: usize = 64;
/// Words in the name of a field that mean a secret.
const SECRETS: [&str; 6] = ["password", "passwd", "passphrase", "secret", "apikey", "creditcard"];

/// The questions of one connection.
#[derive(Debug)]
struct Elicitation {
    ids: Recent<String>,
    /// The schema of each pending form; `Null` for a question in URL mode.
    pending: Recent<IdKey, Value>,
}

impl Default for Elicitation {
    fn default() -> Self {
        Self { ids: Recent::new(IDS), pending: Recent::new(FORMS) }
    }
}

impl Subject for Elicitation {
    fn observe(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let (seq, content) = (message.seq(), message.content());
        match message.observed.envelope.kind {
            MessageKind::Request if message.method() == "elicitation/create" => {
                self.check_question(seq, content, findings);
                if let Some(id) = message.observed.envelope.id {
                    self.pending.insert(id.key(), content["requestedSchema"].clone());
                }
            }
            MessageKind::Result if message.result_of() == "elicitation/create" => self.answered(message, findings),
            MessageKind::Result if message.is_modern() => {
                let asked = content["inputRequests"].as_object().into_iter().flatten().map(|(_, request)| request);
                for request in asked.filter(|request| request["method"] == "elicitation/create") {
                    self.check_question(seq, &request["params"], findings);
                }
            }
            MessageKind::Error if content["code"] == errors::URL_ELICITATION_REQUIRED && !message.is_modern() => {
                self.required(message, findings);
            }
            MessageKind::Notification if message.method() == "notifications/elicitation/complete" => {
                self.completed(message, findings);
            }
            _ => {}
        }
    }
}

impl Elicitation {
    fn check_question(&mut self, seq: u64, params: &Value, findings: &mut Findings) {
        if let Some(id) = params["elicitationId"].as_str() {
            self.ids.insert(id.to_owned(), ());
        }
        if params["mode"] == "url" {
            check_url(seq, params["url"].as_str().unwrap_or_default(), findings);
        } else if let Some(fields) = params["requestedSchema"]["properties"].as_object() {
            for name in fields.keys() {
                let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
                let plain = plain.to_ascii_lowercase();
                let is_secret = SECRETS.iter().any(|secret| plain.contains(secret));
                findings.check(&SENSITIVE, seq, !is_secret, || format!("the form has a field {name:?}"));
            }
        }
    }

    fn answered(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let schema = message.observed.envelope.id.and_then(|id| self.pending.remove(&id.key()));
        findings.give_up_if(schema.is_none(), &[&SUBMITTED, &URL_CONTENT]);
        let Some(schema) = schema else { return };
        let (seq, content) = (message.seq(), message.content());
        if content["action"] != "accept" {
            return;
        }
        let given = content.get("content");
        if schema.is_null() {
            return findings.check(&URL_CONTENT, seq, given.is_none(), || "the response has content".to_owned());
        }
        let missing = Verdict::Differs("the content is missing".to_owned());
        match given.map_or(missing, |given| ForeignSchema::new(schema).judge(given)) {
            Verdict::Conforms => findings.hold(&SUBMITTED),
            Verdict::Differs(why) => findings.note(&SUBMITTED, seq, why),
            Verdict::Unknown => findings.give_up(&SUBMITTED),
        }
    }

    fn required(&mut self, message: &Message<'_>, findings: &mut Findings) {
        if !message.is_since(Revision::V2025_11_25) {
            return;
        }
        let seq = message.seq();
        let listed = message.content()["data"]["elicitations"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_whole = |it: &Value| {
            it["mode"] == "url" && ["elicitationId", "url", "message"].iter().all(|name| it[*name].is_string())
        };
        let fits = !listed.is_empty() && listed.iter().all(is_whole);
        findings.check(&REQUIRED_DATA, seq, fits, || "the data of the error is incomplete".to_owned());
        let client = &message.observed.declared.client;
        if client.is_object() {
            findings.check(&REQUIRED_UNDECLARED, seq, declares_mode(client, "url"), || {
                "the client did not declare `elicitation.url`".to_owned()
            });
        }
        listed.iter().for_each(|it| self.check_question(seq, it, findings));
    }

    fn completed(&self, message: &Message<'_>, findings: &mut Findings) {
        let id = message.content()["elicitationId"].as_str().unwrap_or_default();
        let is_known = self.ids.contains(&id.to_owned());
        if is_known || message.saw_all() && !self.ids.has_forgotten() {
            findings.check(&UNKNOWN_ID, message.seq(), is_known, || format!("no elicitation has the id {id:?}"));
        } else {
            findings.give_up(&UNKNOWN_ID);
        }
    }
}

fn check_url(seq: u64, text: &str, findings: &mut Findings) {
    let parsed = url::Url::parse(text);
    findings.check(&URL, seq, parsed.is_ok(), || format!("the url is {text:?}"));
    if let Ok(url) = parsed {
        let host = url.host_str().unwrap_or_default();
        let is_local = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        findings.check(&INSECURE, seq, url.scheme() == "https" || is_local, || format!("the url is {text:?}"));
    }
}

#[cfg(test)]
pub(in crate::validate) mod cases {
    /// A client that can show forms and open URLs, and what follows.
    macro_rules! asks {
        ($params:literal, $rest:literal) => {
            concat!(
                r#"hello 2025-11-25 {"elicitation":{"form":{},"url":{}}} | {"tools":{}}
                   s>c {"id":1,"method":"elicitation/create","params":{"message":"?","#,
                $params,
                "}}\n",
                $rest
            )
        };
    }
    /// A form that asks for a number.
    macro_rules! form {
        ($rest:literal) => {
            asks!(
                r#""requestedSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#,
                $rest
            )
        };
    }

    pub(in crate::validate) const CASES: &[(&str, &str)] = &[
        ("elicitation/url", asks!(r#""mode":"url","elicitationId":"e","url":"not a url""#, "")),
        ("elicitation/insecure-url", asks!(r#""mode":"url","elicitationId":"e","url":"http://h/""#, "")),
        (
            "elicitation/sensitive",
            asks!(r#""requestedSchema":{"type":"object","properties":{"api_key":{"type":"string"}}}"#, ""),
        ),
        (
            "elicitation/unknown-id",
            asks!(
                r#""mode":"url","elicitationId":"e","url":"https://h/""#,
                r#"s>c {"method":"notifications/elicitation/complete","params":{"elicitationId":"f"}}"#
            ),
        ),
        (
            "elicitation/required-data",
            form!(
                r#"c>s {"id":2,"method":"tools/call","params":{"name":"t"}}
                   s>c {"id":2,"error":{"code":-32042,"message":"open it","data":{"elicitations":[]}}}"#
            ),
        ),
        (
            "elicitation/required-undeclared",
            r#"hello 2025-11-25 {"elicitation":{}} | {"tools":{}}
               c>s {"id":2,"method":"tools/call","params":{"name":"t"}}
               s>c {"id":2,"error":{"code":-32042,"message":"open it","data":{"elicitations":[{"mode":"url",
                   "elicitationId":"e","url":"https://h/","message":"m"}]}}}"#,
        ),
        ("elicitation/content", form!(r#"c>s {"id":1,"result":{"action":"accept","content":{"n":"x"}}}"#)),
        ("elicitation/content", form!(r#"c>s {"id":1,"result":{"action":"accept"}}"#)),
        (
            "elicitation/url-content",
            asks!(
                r#""mode":"url","elicitationId":"e","url":"https://h/""#,
                r#"c>s {"id":1,"result":{"action":"accept","content":{}}}"#
            ),
        ),
    ];

    pub(in crate::validate) const QUIET: &[&str] = &[
        form!(r#"c>s {"id":1,"result":{"action":"accept","content":{"n":1}}}"#),
        asks!(
            r#""mode":"url","elicitationId":"e","url":"https://h/""#,
            r#"c>s {"id":1,"result":{"action":"accept"}}
               s>c {"method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}
               c>s {"id":2,"method":"tools/call","params":{"name":"t"}}
               s>c {"id":2,"error":{"code":-32042,"message":"open it","data":{"elicitations":[{"mode":"url",
                   "elicitationId":"f","url":"http://localhost:1/","message":"m"}]}}}
               s>c {"method":"notifications/elicitation/complete","params":{"elicitationId":"f"}}"#
        ),
    ];
}
