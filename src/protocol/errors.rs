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

/// What a code means in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meaning {
    /// The code.
    pub code: i64,
    /// Its name there.
    pub name: &'static str,
    /// What happened, as a sentence.
    pub about: &'static str,
    /// Who gives it this meaning.
    pub source: &'static str,
}

const fn meaning(code: i64, name: &'static str, about: &'static str, source: &'static str) -> Meaning {
    Meaning { code, name, about, source }
}

/// The meanings of codes in JSON-RPC, MCP and its official SDKs. Proposals have theirs in `Proposal::error_name`.
pub(crate) const MEANINGS: &[Meaning] = &[
    meaning(PARSE_ERROR, "parse error", "The receiver could not read the message as JSON.", "JSON-RPC 2.0 §5.1"),
    meaning(INVALID_REQUEST, "invalid request", "The message is JSON, but not a valid request.", "JSON-RPC 2.0 §5.1"),
    meaning(METHOD_NOT_FOUND, "method not found", "The receiver does not have this method.", "JSON-RPC 2.0 §5.1"),
    meaning(INVALID_PARAMS, "invalid params", "The params do not fit the method.", "JSON-RPC 2.0 §5.1"),
    meaning(INTERNAL_ERROR, "internal error", "The receiver failed.", "JSON-RPC 2.0 §5.1"),
    meaning(
        -32000,
        "connection closed",
        "The connection ended before the response came; the SDK reports this itself.",
        "official MCP SDKs",
    ),
    meaning(
        -32001,
        "request timed out",
        "No response came in time; the SDK reports this itself.",
        "official TypeScript SDK",
    ),
    meaning(
        -32001,
        "header mismatch",
        "A header contradicts the body. The published revision uses -32020 instead.",
        "drafts of MCP 2026-07-28",
    ),
    meaning(
        -32001,
        "subscription not found",
        "There is no subscription with this id.",
        "MCPE, its reference documentation",
    ),
    meaning(
        -32002,
        "resource not found",
        "The server has no resource with this URI. From 2026-07-28 on, this is -32602.",
        "MCP up to 2025-11-25, Resources",
    ),
    meaning(-32002, "limit reached", "The server accepts no more subscriptions.", "MCPE, its reference documentation"),
    meaning(
        HEADER_MISMATCH,
        "header mismatch",
        "An HTTP header is missing, or contradicts the body.",
        "MCP 2026-07-28, Transports",
    ),
    meaning(
        MISSING_CLIENT_CAPABILITY,
        "missing client capability",
        "The request needs a capability that the client did not declare.",
        "MCP 2026-07-28, Capabilities",
    ),
    meaning(
        UNSUPPORTED_VERSION,
        "unsupported protocol version",
        "The server does not support the revision of the request.",
        "MCP 2026-07-28, Versioning",
    ),
    meaning(
        URL_ELICITATION_REQUIRED,
        "URL elicitation required",
        "The user must first open a URL, which the error's data contains.",
        "MCP 2025-11-25, Elicitation",
    ),
];

/// Returns whether an error response to `server/discover` shows that the peer speaks the modern era.
pub(crate) fn reports_modern_era(code: i64) -> bool {
    matches!(code, HEADER_MISMATCH | MISSING_CLIENT_CAPABILITY | UNSUPPORTED_VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_with_a_name_has_a_meaning_with_that_name() {
        let named: Vec<(i64, &str)> = (-33_000..=0).filter_map(|code| Some((code, name(code)?))).collect();
        assert_eq!(named.len(), 9);
        for (code, name) in named {
            assert!(MEANINGS.iter().any(|meaning| (meaning.code, meaning.name) == (code, name)), "{code}");
        }
    }
}
