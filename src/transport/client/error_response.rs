//! Describes an HTTP response that is not the expected message.

use crate::wire::text::excerpt;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderMap, LOCATION, WWW_AUTHENTICATE};
use std::fmt;

/// The maximum length of a shown body, in characters.
const MAX_OF_BODY: usize = 200;
/// How many bytes of a body are searched for text: a page may begin with long styles.
const MAX_READ: usize = 256 << 10;
/// The maximum length of a shown header, in characters.
const MAX_OF_HEADER: usize = 500;

/// What to do about a server that requires authentication.
pub(crate) const TOKEN_ADVICE: &str = "the server requires a valid token: log in with --login, or set one with -H 'Authorization: Bearer …' or \
     MCPREEL_TOKEN";

/// What to do about a server that does not accept the token of a login.
pub(crate) const REFUSED_LOGIN: &str = "the server does not accept the token of your login; `mcpreel login URL` logs in again, \
     and `mcpreel logins` shows for which resource and scopes the token is";

/// What to do if the token of a login does not have the scopes of a request, even after a login with more of them.
pub(crate) const MISSING_SCOPES: &str = "your login does not have the scopes that this request needs: `mcpreel logins` shows \
     those that it has, and `mcpreel login URL --scope SCOPES` requests others";

/// The content of such a response. Its text contains the status, the challenge and the beginning of the body, on one
/// line and with control characters made visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    status: StatusCode,
    challenge: String,
    location: String,
    media_type: String,
    body: String,
}

impl Refusal {
    /// Reads the head, and the body as far as it was received.
    pub(crate) fn read(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let header = |name| {
            let values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
            excerpt(&values.collect::<Vec<_>>().join(", "), MAX_OF_HEADER)
        };
        Self {
            status,
            challenge: header(WWW_AUTHENTICATE),
            location: header(LOCATION),
            media_type: header(CONTENT_TYPE),
            body: in_words(body),
        }
    }

    /// Whether the token does not have the scopes of the request.
    pub(crate) fn lacks_scopes(&self) -> bool {
        self.challenge.contains("insufficient_scope")
    }

    /// What to do next, if known.
    pub(crate) fn advice(&self) -> Option<String> {
        Some(match self.status.as_u16() {
            401 => TOKEN_ADVICE.to_owned(),
            403 => "the server denies access: is the token right, and is it valid for this machine?".to_owned(),
            300..=399 if !self.location.is_empty() => {
                format!("mcpreel does not follow this redirect with a POST; it points to {}", self.location)
            }
            405 => "is the path right? It is often /mcp or /sse".to_owned(),
            429 | 503 => "the server is busy; try again later".to_owned(),
            _ => return None,
        })
    }

    /// The status and the challenge, without the body.
    pub(crate) fn head(&self) -> String {
        let mut text = format!("HTTP {}", self.status);
        if self.status.is_success() {
            let kind = self.media_type.split(';').next().map(str::trim).filter(|kind| !kind.is_empty());
            let kind = kind.unwrap_or("no content type");
            text.push_str(&format!(" and {kind}, but no usable message"));
        }
        if !self.challenge.is_empty() {
            text.push_str(&format!(" (WWW-Authenticate: {})", self.challenge));
        }
        text
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.head())?;
        if !self.body.is_empty() {
            write!(out, ": {}", self.body)?;
        }
        Ok(())
    }
}

/// The beginning of a body on one line; for a web page, only its text.
pub fn in_words(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(MAX_READ)]);
    let start = text.trim_start().get(..9).unwrap_or_default().to_ascii_lowercase();
    let is_page = start.starts_with("<html") || start == "<!doctype";
    excerpt(&if is_page { text_of_page(&text) } else { text.into_owned() }, MAX_OF_BODY)
}

/// The text between the tags of a page, without scripts and styles.
fn text_of_page(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, behind)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        let (tag, after) = behind.split_once('>').unwrap_or((behind, ""));
        rest = ["script", "style"]
            .into_iter()
            .find(|hidden| tag.get(..hidden.len()).is_some_and(|name| name.eq_ignore_ascii_case(hidden)))
            .map_or(after, |hidden| after.find(&format!("</{hidden}")).map_or("", |end| &after[end..]));
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_page_only_its_text_is_reported() {
        let page = b"<!DOCTYPE html>\n<html><head><style>p { a > b }</style><title>Not  found</title>\n</head>
            <body><h1 class=\"a\">404</h1><script>if (1 < 2) x()</script> <p>nothing\nhere</p></body></html>\n";
        assert_eq!(in_words(page), "Not found 404 nothing here");
        assert_eq!(in_words(b" no <such> thing\r\nhere "), "no <such> thing here");
        assert_eq!(in_words("<html>\u{e9}<b".as_bytes()), "\u{e9}");
        assert_eq!(in_words("\u{e9}".repeat(300).as_bytes()).chars().count(), 201);
    }

    #[test]
    fn an_answer_that_is_no_message_is_one_visible_line_with_its_challenges() {
        let mut headers = HeaderMap::new();
        for challenge in [&b"Bearer error=\"invalid_token\""[..], b"Basic realm=\"\xc3\xa9\xe2\x80\xae\""] {
            headers.append(WWW_AUTHENTICATE, challenge.try_into().expect("a value"));
        }
        let read = |status, body: &[u8]| Refusal::read(status, &headers, body);
        let refused = read(StatusCode::UNAUTHORIZED, b"{\"error\":\n \"invalid_token\x1b\"}");
        assert_eq!(
            refused.to_string(),
            "HTTP 401 Unauthorized (WWW-Authenticate: Bearer error=\"invalid_token\", Basic realm=\"é\u{fffd}\"): \
             {\"error\": \"invalid_token␛\"}"
        );
        assert_eq!(refused.advice().as_deref(), Some(TOKEN_ADVICE));
        assert!(read(StatusCode::OK, b"").to_string().starts_with("HTTP 200 OK and no content type, but no usable"));
        assert!(read(StatusCode::BAD_GATEWAY, &[b'x'; 1 << 20]).to_string().len() < 1000);
    }
}
