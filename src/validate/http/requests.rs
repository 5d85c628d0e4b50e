//! What a client sends over HTTP: `Accept`, the version, and headers that repeat parts of the body.

use super::{Exchange, RequestHead};
use crate::proposals::Findings;
use crate::proposals::findings::rules;
use crate::protocol::http::{self, ToolMarks};
use crate::protocol::revision::{Revision, meta};
use crate::validate::subject::Message;

rules! {
    ACCEPT = Error "http/accept",
        "The client must send each POST request with `Accept: application/json, text/event-stream`.",
        "MCP 2025-11-25, Transports, Sending Messages to the Server",
        fix "Send the header Accept: application/json, text/event-stream.";
    GET_ACCEPT = Error "http/get-accept",
        "The client must send each GET request of a session with `Accept: text/event-stream`.",
        "MCP 2025-11-25, Transports, Listening for Messages from the Server",
        fix "Send the header Accept: text/event-stream.";
    VERSION_MISSING = Error "http/version-missing",
        "After `initialize`, the client must send the header `MCP-Protocol-Version` with each request, in the revisions from 2025-06-18 to 2025-11-25.",
        "MCP 2025-11-25, Transports, Protocol Version Header",
        fix "Send the revision on which client and server agreed.";
    VERSION_NEGOTIATED = Warning "http/version-negotiated",
        "The client sends in `MCP-Protocol-Version` the revision on which client and server agreed in `initialize`.",
        "MCP 2025-11-25, Transports, Protocol Version Header",
        fix "Take the value from `protocolVersion` in the result of `initialize`.";
    MODERN_VERSION_MISSING = Error "http/modern-version-missing",
        "In revision 2026-07-28, the client must send the header `MCP-Protocol-Version` with each POST request.",
        "MCP 2026-07-28, Streamable HTTP, Protocol Version Header",
        fix "Send the header MCP-Protocol-Version: 2026-07-28.";
    VERSION_CONTRADICTS = Error "http/version-contradicts",
        "In revision 2026-07-28, the client must name the same revision in the header `MCP-Protocol-Version` and in `_meta` of the request in the body.",
        "MCP 2026-07-28, Streamable HTTP, Protocol Version Header",
        fix "Set the header and `_meta` from the same value.";
    METHOD_HEADER = Error "http/method-header",
        "In revision 2026-07-28, the client must repeat the request's `method` in the header `Mcp-Method`.",
        "MCP 2026-07-28, Streamable HTTP, Standard Request Headers",
        fix "Send the header Mcp-Method with the request's `method`, unchanged.";
    NAME_HEADER = Error "http/name-header",
        "In revision 2026-07-28, the client must repeat the name of the tool or prompt, or the URI of the resource, in the header `Mcp-Name`.",
        "MCP 2026-07-28, Streamable HTTP, Standard Request Headers",
        fix "Send the name as the header's value. Encode one with other characters than visible ASCII as =?base64?...?=.";
    PARAMETER_HEADER = Error "http/parameter-header",
        "In revision 2026-07-28, a client that calls a tool must repeat each argument that the tool's `inputSchema` marks with `x-mcp-header` in its header `Mcp-Param-…`.",
        "MCP 2026-07-28, Streamable HTTP, Custom Headers from Tool Parameters",
        fix "Read the tool's `inputSchema`, and send a header for each marked argument.";
    SUPERFLUOUS_PARAMETER = Error "http/superfluous-parameter-header",
        "In revision 2026-07-28, a client that calls a tool must send a header `Mcp-Param-…` only for an argument that the call contains.",
        "MCP 2026-07-28, Streamable HTTP, Server Behavior for Custom Headers",
        fix "Send the header only when you send the argument.";
}

/// Checks a request that has no message in its body: GET or DELETE.
pub(super) fn check_without_body(seq: u64, head: &RequestHead, revision: Option<Revision>, findings: &mut Findings) {
    // Without a session id, it may be about anything.
    if head.method == "GET" && head.session.is_some() {
        let accepts = head.accepts("text/event-stream");
        findings.check(&GET_ACCEPT, seq, accepts, || format!("the client sent GET with Accept: {}", head.accept));
    }
    if head.session.is_some() {
        check_version(seq, head, revision, findings);
    }
}

/// Checks a message of a session.
pub(super) fn check_legacy(message: &Message<'_>, exchange: &Exchange, findings: &mut Findings) {
    let (seq, head) = (message.seq(), &exchange.request);
    check_accept(seq, head, findings);
    if message.method() != "initialize" {
        check_version(seq, head, message.revision(), findings);
    }
}

fn check_accept(seq: u64, head: &RequestHead, findings: &mut Findings) {
    let accepts = head.accepts("application/json") && head.accepts("text/event-stream");
    findings.check(&ACCEPT, seq, accepts, || match head.accept.as_str() {
        "" => "the client sent no Accept header".to_owned(),
        accept => format!("the client sent Accept: {accept}"),
    });
}

fn check_version(seq: u64, head: &RequestHead, revision: Option<Revision>, findings: &mut Findings) {
    let Some(agreed) = revision.filter(|revision| *revision >= Revision::V2025_06_18) else { return };
    findings.check(&VERSION_MISSING, seq, head.version.is_some(), || {
        format!("the client sent {} without MCP-Protocol-Version", head.method)
    });
    if let Some(version) = &head.version {
        findings.check(&VERSION_NEGOTIATED, seq, version == agreed.as_str(), || {
            format!("the header names {version}, but the session has revision {}", agreed.as_str())
        });
    }
}

/// Checks a message of the modern era.
pub(super) fn check_modern(message: &Message<'_>, exchange: &mut Exchange, marks: &ToolMarks, findings: &mut Findings) {
    check_accept(message.seq(), &exchange.request, findings);
    if message.is_request() {
        let fits = [
            check_modern_version(message, &exchange.request, findings),
            check_mirrors(message, &exchange.request, marks, findings),
            check_superfluous(message, &exchange.request, marks, findings),
        ];
        exchange.contradicts = fits.contains(&false);
    }
}

/// Returns whether the server may accept the version: it may assume one that is missing.
fn check_modern_version(message: &Message<'_>, head: &RequestHead, findings: &mut Findings) -> bool {
    let seq = message.seq();
    findings.check(&MODERN_VERSION_MISSING, seq, head.version.is_some(), || {
        "the client sent POST without MCP-Protocol-Version".to_owned()
    });
    let said = message.content()["_meta"][meta::PROTOCOL_VERSION].as_str();
    let (Some(header), Some(said)) = (head.version.as_deref(), said) else { return true };
    findings.check(&VERSION_CONTRADICTS, seq, header == said, || {
        format!("the header names revision {header}, the body {said}")
    });
    header == said
}

/// Checks the headers that the body requires. Returns whether they are right.
fn check_mirrors(message: &Message<'_>, head: &RequestHead, marks: &ToolMarks, findings: &mut Findings) -> bool {
    let mut fits = true;
    for (name, expected) in http::modern_headers(message.observed.envelope, marks) {
        let rule = match name.as_str() {
            http::METHOD => &METHOD_HEADER,
            http::NAME => &NAME_HEADER,
            _ => &PARAMETER_HEADER,
        };
        let found = head.mirrored(&name);
        let same = found.is_some_and(|found| http::repeats(&name, found, &expected));
        findings.check(rule, message.seq(), same, || match found {
            Some(found) => format!("the header {name} is {found:?}, but the body says {expected:?}"),
            None => format!("the client sent {} without the header {name}", message.method()),
        });
        fits &= same;
    }
    fits
}

fn check_superfluous(message: &Message<'_>, head: &RequestHead, marks: &ToolMarks, findings: &mut Findings) -> bool {
    let tool = message.content()["name"].as_str().unwrap_or_default();
    if message.method() != "tools/call" {
        return true;
    }
    let expected = http::modern_headers(message.observed.envelope, marks);
    let known = |name: &str| expected.iter().any(|(expected, _)| expected.eq_ignore_ascii_case(name));
    let mut fits = true;
    for name in head.parameters().filter(|name| marks.asks_for(tool, name)) {
        findings.check(&SUPERFLUOUS_PARAMETER, message.seq(), known(name), || {
            format!("the client sent the header {name}, but the call has no such argument")
        });
        fits &= known(name);
    }
    fits
}
