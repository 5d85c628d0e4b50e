//! Error codes. The same number can mean different things in different places, so the method that was answered matters.

/// JSON-RPC: the text was not JSON.
pub(crate) const PARSE_ERROR: i64 = -32700;
/// JSON-RPC: not a valid request.
pub(crate) const INVALID_REQUEST: i64 = -32600;
/// JSON-RPC: no such method.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
/// JSON-RPC: invalid params.
pub(crate) const INVALID_PARAMS: i64 = -32602;
/// JSON-RPC: the receiver failed.
pub(crate) const INTERNAL_ERROR: i64 = -32603;
/// MCP 2025-11-25: the user must first open a URL, which the error's data contains.
pub(crate) const URL_ELICITATION_REQUIRED: i64 = -32042;
/// MCP 2026-07-28: a header is missing or contradicts the body.
pub(crate) const HEADER_MISMATCH: i64 = -32020;
/// MCP 2026-07-28: the request needs a capability that the client did not declare.
pub(crate) const MISSING_CLIENT_CAPABILITY: i64 = -32021;
/// MCP 2026-07-28: the revision is not supported.
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;

/// Returns the name of a code in JSON-RPC and in MCP itself.
pub(crate) fn name(code: i64) -> Option<&'static str> {
    Some(match code {
        PARSE_ERROR => "parse error",
        INVALID_REQUEST => "invalid request",
        METHOD_NOT_FOUND => "method not found",
        INVALID_PARAMS => "invalid params",
        INTERNAL_ERROR => "internal error",
        URL_ELICITATION_REQUIRED => "URL elicitation required",
        HEADER_MISMATCH => "header mismatch",
        MISSING_CLIENT_CAPABILITY => "missing client capability",
        UNSUPPORTED_VERSION => "unsupported protocol version",
        _ => return None,
    })
}

/// Returns whether an error response to `server/discover` shows that the peer speaks the modern era.
pub(crate) fn reports_modern_era(code: i64) -> bool {
    matches!(code, HEADER_MISMATCH | MISSING_CLIENT_CAPABILITY | UNSUPPORTED_VERSION)
}
