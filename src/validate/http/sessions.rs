//! Sessions over HTTP, up to 2025-11-25: the server assigns an id, and the client returns it.

use super::{Exchange, RequestHead, ResponseHead};
use crate::proposals::Findings;
use crate::proposals::findings::rules;
use crate::proposals::recent::Recent;
use crate::protocol::Revision;
use crate::validate::subject::Message;

rules! {
    ID_CHARACTERS = Error "http/session-id-characters",
        "A server that assigns a session id (`Mcp-Session-Id`) must build it from visible ASCII characters only.",
        "MCP 2025-11-25, Transports, Session Management",
        fix "Use a random UUID, for example.";
    ID_MISSING = Error "http/session-id-missing",
        "After the server assigned an `Mcp-Session-Id` in its answer to `initialize`, the client must send this header with each message.",
        "MCP 2025-11-25, Transports, Session Management",
        fix "Send the header Mcp-Session-Id with the value from the response to initialize.";
    ID_CHANGED = Error "http/session-id-changed",
        "The client must send the `Mcp-Session-Id` exactly as the server assigned it.",
        "MCP 2025-11-25, Transports, Session Management",
        fix "Take the id from the response to `initialize`, and send it unchanged.";
    ID_ON_INITIALIZE = Error "http/session-id-on-initialize",
        "The client must send `initialize` without an `Mcp-Session-Id`.",
        "MCP 2025-11-25, Transports, Session Management",
        fix "Forget the old id before you begin a new session.";
    AFTER_404 = Error "http/session-after-404",
        "After the server answered a request with status 404, the client must no longer use that request's `Mcp-Session-Id`, but begin a new session.",
        "MCP 2025-11-25, Transports, Session Management",
        fix "Send initialize without a session id.";
    ENDED = Error "http/ended-session-answered",
        "After the client ended a session with DELETE, the server must answer requests with its `Mcp-Session-Id` with status 404.",
        "MCP 2025-11-25, Transports, Session Management",
        fix "Forget the session on DELETE, and answer 404 for ids that you do not know.";
}

/// The maximum number of ended sessions that are remembered.
const MAX_ENDED: usize = 1024;
/// The maximum number of streams with HTTP+SSE that are remembered before their first message.
const MAX_OLD: usize = 1024;

/// What the connections of a reel share: a request without a session id is on a stream of its own.
#[derive(Debug)]
pub(in crate::validate) struct SharedHttp {
    /// The server assigned an id to a session.
    assigns: bool,
    /// Some session has no id, or may have none because traffic is missing.
    omits: bool,
    /// The sessions that the server ended.
    ended: Recent<String>,
    /// The streams that use HTTP+SSE.
    old_transports: Recent<u32>,
}

impl Default for SharedHttp {
    fn default() -> Self {
        Self { assigns: false, omits: false, ended: Recent::new(MAX_ENDED), old_transports: Recent::new(MAX_OLD) }
    }
}

impl SharedHttp {
    /// Notes that traffic is missing, which may have begun a session without an id.
    pub(in crate::validate) fn lose_track(&mut self) {
        self.omits = true;
    }

    /// Notes that a stream uses HTTP+SSE.
    pub(in crate::validate) fn note_old_transport(&mut self, stream: u32) {
        self.old_transports.insert(stream, ());
    }

    pub(super) fn is_old_transport(&self, stream: u32) -> bool {
        self.old_transports.contains(&stream)
    }
}

/// The session of one connection.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    /// The id that the server assigned.
    id: Option<String>,
    /// The revision that it agreed on.
    revision: Option<Revision>,
    /// The event of status 404 in response to this id.
    gone: Option<(String, u64)>,
}

impl Sessions {
    /// Returns the revision of the session.
    pub(super) fn revision(&self) -> Option<Revision> {
        self.revision
    }

    /// Checks the session id of a request without a body.
    pub(super) fn check_named(&self, seq: u64, head: &RequestHead, findings: &mut Findings) {
        if let (Some(assigned), Some(named)) = (&self.id, &head.session) {
            findings.check(&ID_CHANGED, seq, assigned == named, || "the client sent another session id".to_owned());
        }
        // A DELETE may end what is gone already.
        if head.method == "GET" {
            self.check_gone(seq, head, findings);
        }
    }

    /// Checks the session id of a message.
    pub(super) fn check_sent(
        &self,
        message: &Message<'_>,
        head: &RequestHead,
        shared: &SharedHttp,
        findings: &mut Findings,
    ) {
        let seq = message.seq();
        if message.method() == "initialize" {
            return findings.check(&ID_ON_INITIALIZE, seq, head.session.is_none(), || {
                "the client sent initialize with Mcp-Session-Id".to_owned()
            });
        }
        let elsewhere = !message.before.initialize_asked && shared.assigns && !shared.omits;
        if self.id.is_some() || elsewhere {
            findings.check(&ID_MISSING, seq, head.session.is_some(), || {
                format!("the client sent {} without Mcp-Session-Id", describe(message))
            });
        }
        if let (Some(assigned), Some(named)) = (&self.id, &head.session) {
            findings.check(&ID_CHANGED, seq, assigned == named, || "the client sent another session id".to_owned());
        }
        self.check_gone(seq, head, findings);
    }

    fn check_gone(&self, seq: u64, head: &RequestHead, findings: &mut Findings) {
        let Some((gone, at)) = &self.gone else { return };
        findings.check(&AFTER_404, seq, head.session.as_ref() != Some(gone), || {
            format!("the client used the session id again that got status 404 in event {at}")
        });
    }

    /// Learns from the response to a request whether its session goes on.
    pub(super) fn check_answer(
        &mut self,
        seq: u64,
        exchange: &Exchange,
        head: &ResponseHead,
        shared: &mut SharedHttp,
        findings: &mut Findings,
    ) {
        if let Some(id) = &head.session {
            let visible = !id.is_empty() && id.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
            findings.check(&ID_CHARACTERS, seq, visible, || format!("the server assigned the session id {id:?}"));
        }
        let Some(named) = &exchange.request.session else { return };
        if shared.ended.contains(named) {
            findings
                .check(&ENDED, seq, !head.succeeded(), || format!("the server answered with status {}", head.status));
        }
        if exchange.request.method == "DELETE" && head.succeeded() {
            shared.ended.insert(named.clone(), ());
        } else if head.status == 404 && !exchange.is_modern() {
            self.gone = Some((named.clone(), seq));
        }
    }

    /// Learns the session id from the response to `initialize`.
    pub(super) fn note_result(
        &mut self,
        message: &Message<'_>,
        exchange: Option<&Exchange>,
        shared: &mut SharedHttp,
        findings: &mut Findings,
    ) {
        if message.result_of() != "initialize" {
            return;
        }
        self.revision = message.content()["protocolVersion"].as_str().and_then(Revision::parse);
        let Some(head) = exchange.and_then(|exchange| exchange.response.as_ref()) else {
            shared.omits = true;
            return;
        };
        self.id.clone_from(&head.session);
        match &self.id {
            Some(_) => {
                shared.assigns = true;
                [&ID_CHARACTERS, &ID_ON_INITIALIZE].into_iter().for_each(|rule| findings.hold(rule));
            }
            None => shared.omits = true,
        }
    }
}

fn describe<'a>(message: &Message<'a>) -> &'a str {
    match message.method() {
        "" => "a response",
        method => method,
    }
}
