//! How a server answers over HTTP: statuses, media types and bodies.

use super::head::looks_like_revision;
use super::{Asks, Exchange, ResponseHead};
use crate::proposals::Findings;
use crate::proposals::findings::rules;
use crate::protocol::{Revision, errors};
use crate::validate::subject::Message;
use crate::wire::MessageKind;

rules! {
    ACCEPTED_STATUS = Error "http/accepted-status",
        "The server must answer a POST with a notification or a response with status 202 if it accepts it, and with an error status otherwise.",
        "MCP 2025-11-25, Transports, Sending Messages to the Server",
        fix "Answer with 202 Accepted and no body, or with an error status.";
    ACCEPTED_BODY = Error "http/accepted-body",
        "The server must send no body with status 202.",
        "MCP 2025-11-25, Transports, Sending Messages to the Server",
        fix "End the response after its head.";
    MEDIA_TYPE = Error "http/media-type",
        "The server must answer a POST with a request, if it succeeds, with the `Content-Type` `application/json` or `text/event-stream`.",
        "MCP 2025-11-25, Transports, Sending Messages to the Server",
        fix "Set the Content-Type that belongs to the form of your answer.";
    GET_ANSWER = Error "http/get-answer",
        "The server must answer a GET request of a session with `text/event-stream`, or with an error status such as 405.",
        "MCP 2025-11-25, Transports, Listening for Messages from the Server",
        fix "Answer with status 405 if you offer no such stream.";
    BAD_VERSION = Error "http/bad-version-accepted",
        "The server must refuse a request whose `MCP-Protocol-Version` is not the name of a revision (such as 2025-11-25) with status 400.",
        "MCP 2025-11-25, Transports, Protocol Version Header",
        fix "Compare the header with the revisions that you support before you read the body.";
    FOREIGN_ORIGIN = Warning "http/foreign-origin",
        "A server on the local machine refuses a request whose `Origin` is another machine with status 403.",
        "MCP 2025-11-25, Transports, Security Warning",
        fix "Compare the Origin header with a list of allowed origins, to prevent DNS rebinding.";
    CONTRADICTION = Error "http/contradiction-accepted",
        "In revision 2026-07-28, the server must refuse a request whose headers contradict its body with status 400 and error -32020.",
        "MCP 2026-07-28, Streamable HTTP, Server Validation",
        fix "Compare the headers with the body, and answer -32020 with status 400 if they differ.";
    ERROR_STATUS = Error "http/error-status",
        "In revision 2026-07-28, the server must send error -32601 with status 404, and errors -32020, -32021 and -32022 with status 400.",
        "MCP 2026-07-28, Streamable HTTP, Protocol Version Header",
        fix "Answer -32601 with status 404; -32020, -32021 and -32022 with status 400.";
    MODERN_SESSION = Warning "http/modern-session",
        "In revision 2026-07-28, the server sends no header `Mcp-Session-Id`.",
        "MCP 2026-07-28, Streamable HTTP, Earlier Streamable HTTP Revisions",
        fix "Leave the header out, and keep state in handles that tools return.";
    OTHER_RESPONSE = Error "http/other-response",
        "The server must answer a POST with a request with the response to that request, not with the response to another one.",
        "MCP 2025-11-25, Transports, Sending Messages to the Server",
        fix "Send each response on the stream of the POST with its request.";
    AFTER_RESPONSE = Warning "http/after-response",
        "The server ends the stream that answers a POST after the response to the request, and sends no further message on it.",
        "MCP 2025-11-25, Transports, Sending Messages to the Server",
        fix "Send later messages on a stream that the client opened with GET.";
}

/// Checks the head of a response.
pub(super) fn check_head(seq: u64, exchange: &Exchange, head: &ResponseHead, findings: &mut Findings) {
    match (&exchange.asks, exchange.request.method.as_str()) {
        (Some(Asks::Nothing), _) => check_accepted(seq, head, findings),
        (Some(_), _) => check_media_type(seq, head, findings),
        // Without a session id, it may be about anything.
        (None, "GET") if exchange.request.session.is_some() => check_get(seq, head, findings),
        (None, _) => return,
    }
    check_bad_version(seq, exchange, head, findings);
    check_origin(seq, exchange, head, findings);
    if exchange.is_modern() {
        findings.check(&MODERN_SESSION, seq, head.session.is_none(), || {
            "the server sent Mcp-Session-Id in its response".to_owned()
        });
    }
}

fn check_accepted(seq: u64, head: &ResponseHead, findings: &mut Findings) {
    let fits = head.status == 202 || !head.succeeded();
    findings.check(&ACCEPTED_STATUS, seq, fits, || format!("the server answered with status {}", head.status));
}

fn check_media_type(seq: u64, head: &ResponseHead, findings: &mut Findings) {
    if head.succeeded() {
        let fits = head.is_stream() || head.media_type == "application/json";
        findings.check(&MEDIA_TYPE, seq, fits, || match head.media_type.as_str() {
            "" => format!("the server answered with status {} without a Content-Type", head.status),
            other => format!("the server answered with {other}"),
        });
    }
}

fn check_get(seq: u64, head: &ResponseHead, findings: &mut Findings) {
    let fits = !head.succeeded() || head.is_stream();
    findings.check(&GET_ANSWER, seq, fits, || format!("the server answered with {} {}", head.status, head.media_type));
}

fn check_bad_version(seq: u64, exchange: &Exchange, head: &ResponseHead, findings: &mut Findings) {
    let since = exchange.revision.is_none_or(|revision| revision >= Revision::V2025_06_18);
    if let Some(version) = exchange.request.version.as_deref().filter(|_| since) {
        findings.check(&BAD_VERSION, seq, looks_like_revision(version) || !head.succeeded(), || {
            format!("the server accepted MCP-Protocol-Version: {version} with status {}", head.status)
        });
    }
}

fn check_origin(seq: u64, exchange: &Exchange, head: &ResponseHead, findings: &mut Findings) {
    let (Some(origin), Some(host)) = (&exchange.request.origin, &exchange.request.host) else { return };
    if is_loopback(host) {
        findings.check(&FOREIGN_ORIGIN, seq, is_loopback(origin) || !head.succeeded(), || {
            format!("the server at {host} answered a request from {origin} with status {}", head.status)
        });
    }
}

/// Whether a host with a port, or the URL of an origin, is this machine.
fn is_loopback(place: &str) -> bool {
    let host = place.split_once("://").map_or(place, |(_, host)| host);
    let name =
        host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|it| it.is_ascii_digit())).map_or(host, |it| it.0);
    let name = name.trim_end_matches('/');
    matches!(name, "localhost" | "[::1]") || name.parse::<std::net::Ipv4Addr>().is_ok_and(|it| it.is_loopback())
}

/// Checks a body that is not a message.
pub(super) fn check_body(seq: u64, exchange: &Exchange, has_bytes: bool, findings: &mut Findings) {
    if let (Some(ResponseHead { status: 202, .. }), Some(_)) = (&exchange.response, &exchange.asks) {
        findings.check(&ACCEPTED_BODY, seq, !has_bytes, || "the response with status 202 has a body".to_owned());
    }
}

/// Checks a message of the server.
pub(super) fn check_message(message: &Message<'_>, exchange: &Exchange, findings: &mut Findings) {
    let seq = message.seq();
    let Some(head) = &exchange.response else { return };
    if exchange.asks == Some(Asks::Nothing) && head.status == 202 {
        findings.note(&ACCEPTED_BODY, seq, "the response with status 202 contains a message");
    }
    // A batch of requests has several responses.
    let is_single = matches!(exchange.asks, Some(Asks::Request(_) | Asks::Nothing));
    if is_single && exchange.revision.is_none_or(|revision| revision >= Revision::V2025_06_18) {
        findings.check(&AFTER_RESPONSE, seq, !exchange.answered, || {
            "the server sent another message on the stream after the response".to_owned()
        });
    }
    if message.observed.envelope.kind.is_response() {
        check_place(message, exchange, findings);
        if exchange.is_modern() {
            check_contradiction(message, exchange, head, findings);
            check_error_status(message, head, findings);
        }
    }
}

fn check_place(message: &Message<'_>, exchange: &Exchange, findings: &mut Findings) {
    let (Some(Asks::Request(asked)), Some(id)) = (&exchange.asks, message.observed.envelope.id) else { return };
    if !id.is_null() {
        findings.check(&OTHER_RESPONSE, message.seq(), id.key() == *asked, || {
            format!("the server answered request {} in the exchange of request {asked}", id.key())
        });
    }
}

fn check_contradiction(message: &Message<'_>, exchange: &Exchange, head: &ResponseHead, findings: &mut Findings) {
    if exchange.contradicts {
        let refused = head.status == 400 && message.content()["code"] == errors::HEADER_MISMATCH;
        let kind = if message.observed.envelope.kind == MessageKind::Error { "an error" } else { "a result" };
        findings.check(&CONTRADICTION, message.seq(), refused, || {
            format!("the server answered with status {} and {kind}", head.status)
        });
    }
}

/// The status that belongs to an error code (2026-07-28).
fn status_of(code: i64) -> Option<u16> {
    match code {
        errors::METHOD_NOT_FOUND => Some(404),
        errors::HEADER_MISMATCH | errors::MISSING_CLIENT_CAPABILITY | errors::UNSUPPORTED_VERSION => Some(400),
        _ => None,
    }
}

fn check_error_status(message: &Message<'_>, head: &ResponseHead, findings: &mut Findings) {
    if message.observed.envelope.kind != MessageKind::Error {
        return;
    }
    let code = message.content()["code"].as_i64().unwrap_or_default();
    // A server of the legacy era does not know the method with which a client looks for the modern one.
    if message.observed.method == Some("server/discover") && code == errors::METHOD_NOT_FOUND {
        return;
    }
    if let Some(status) = status_of(code) {
        findings.check(&ERROR_STATUS, message.seq(), head.status == status, || {
            format!("the server sent error {code} with status {} instead of {status}", head.status)
        });
    }
}
