//! The heads of HTTP requests and responses, as far as MCP says something about them.

use crate::protocol::{Era, http};

/// The lowest status of a failure.
pub(in crate::validate) const FIRST_FAILURE: u16 = 400;
/// The prefix of headers that repeat arguments of a tool.
const PARAMETER: &str = "mcp-param-";

/// The head of a request.
#[derive(Debug, Default)]
pub(in crate::validate) struct RequestHead {
    /// Its HTTP method, in capital letters.
    pub method: String,
    /// `Accept`, in small letters.
    pub accept: String,
    /// `MCP-Protocol-Version`.
    pub version: Option<String>,
    /// `Mcp-Session-Id`.
    pub session: Option<String>,
    /// `Last-Event-ID`.
    pub last_event: Option<String>,
    /// `Origin`.
    pub origin: Option<String>,
    /// `Host`.
    pub host: Option<String>,
    /// `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*`, with their names in small letters.
    pub mirrored: Vec<(String, String)>,
}

impl RequestHead {
    /// Reads the method and the headers as they are recorded.
    pub(in crate::validate) fn read(method: &str, headers: Vec<(String, String)>) -> Self {
        let mut head = Self { method: method.to_ascii_uppercase(), ..Self::default() };
        for (name, value) in headers {
            head.take(name.to_ascii_lowercase(), value);
        }
        head
    }

    fn take(&mut self, name: String, value: String) {
        let is = |header: &str| name.eq_ignore_ascii_case(header);
        if is("accept") {
            let comma = if self.accept.is_empty() { "" } else { ", " };
            self.accept = format!("{}{comma}{}", self.accept, value.to_ascii_lowercase());
        } else if is(http::PROTOCOL_VERSION) {
            self.version = Some(value);
        } else if is(http::SESSION_ID) {
            self.session = Some(value);
        } else if is("last-event-id") {
            self.last_event = Some(value);
        } else if is("origin") {
            self.origin = Some(value);
        } else if is("host") {
            self.host = Some(value);
        } else if is(http::METHOD) || is(http::NAME) || name.starts_with(PARAMETER) {
            self.mirrored.push((name, value));
        }
    }

    /// Returns the value of a header that repeats a part of the body.
    pub(in crate::validate) fn mirrored(&self, name: &str) -> Option<&str> {
        self.mirrored.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns the names of the headers that repeat arguments.
    pub(in crate::validate) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.mirrored.iter().map(|(name, _)| name.as_str()).filter(|name| name.starts_with(PARAMETER))
    }

    /// Returns whether the request accepts this media type, or all.
    pub(in crate::validate) fn accepts(&self, media_type: &str) -> bool {
        let group = media_type.split('/').next().unwrap_or_default();
        let ranges = self.accept.split(',').map(|range| range.split(';').next().unwrap_or_default().trim());
        ranges.into_iter().any(|range| range == media_type || range == "*/*" || range == format!("{group}/*"))
    }

    /// Returns whether it names a revision of the modern era.
    pub(in crate::validate) fn names_modern(&self) -> bool {
        let version = self.version.as_deref().filter(|version| looks_like_revision(version));
        version.is_some_and(|version| Era::of_version(version) == Era::Modern)
    }
}

/// Returns whether a text is a date or names a draft of one, as all revisions do.
pub(super) fn looks_like_revision(version: &str) -> bool {
    version.len() >= 8 && version.bytes().filter(u8::is_ascii_digit).count() >= 4
}

/// The head of a response.
#[derive(Debug, Default)]
pub(in crate::validate) struct ResponseHead {
    /// Its status.
    pub status: u16,
    /// Its media type without parameters, in small letters.
    pub media_type: String,
    /// `Mcp-Session-Id`.
    pub session: Option<String>,
}

impl ResponseHead {
    /// Reads the status and the headers as they are recorded.
    pub(in crate::validate) fn read(status: u16, headers: &[(String, String)]) -> Self {
        let value = |header: &str| headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(header)).map(|(_, it)| it);
        let media_type = value("content-type").and_then(|value| value.split(';').next()).unwrap_or_default();
        Self { status, media_type: media_type.trim().to_ascii_lowercase(), session: value(http::SESSION_ID).cloned() }
    }

    /// Returns whether the status means success.
    pub(in crate::validate) fn succeeded(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns whether the body is a stream of events.
    pub(in crate::validate) fn is_stream(&self) -> bool {
        self.media_type == "text/event-stream"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_are_accepted_by_name_by_group_or_all() {
        let accepts = |accept: &str, media_type| {
            RequestHead::read("post", vec![("Accept".to_owned(), accept.to_owned())]).accepts(media_type)
        };
        assert!(accepts("application/json;q=0.9, text/event-stream", "application/json"));
        assert!(accepts("Application/JSON", "application/json") && accepts("*/*", "text/event-stream"));
        assert!(accepts("text/*", "text/event-stream") && !accepts("text/*", "application/json"));
        assert!(!accepts("application/jsonl", "application/json") && !accepts("", "application/json"));
    }

    #[test]
    fn several_accept_headers_are_one_list() {
        let headers = ["application/json", "text/event-stream"].map(|it| ("Accept".to_owned(), it.to_owned()));
        let head = RequestHead::read("post", headers.to_vec());
        assert!(head.accepts("application/json") && head.accepts("text/event-stream") && !head.accepts("text/html"));
        assert_eq!(RequestHead::read("post", headers[..1].to_vec()).accept, "application/json");
    }

    #[test]
    fn a_revision_is_a_date_or_names_a_draft() {
        for text in ["2025-06-18", "20250618", "DRAFT-2026-v1", "draft2025"] {
            assert!(looks_like_revision(text), "{text}");
        }
        for text in ["", "1.0", "2025-06", "latest-one", "draft-202"] {
            assert!(!looks_like_revision(text), "{text}");
        }
    }
}
