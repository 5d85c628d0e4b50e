//! Reads `WWW-Authenticate` (RFC 9110 §11.6.1): the parameters of its Bearer challenges (RFC 6750 §3, RFC 9728 §5.1).

use super::error::quoted;
use std::fmt;

/// The parameters of a server's Bearer challenge that decide how to log in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    /// Where the server's metadata is.
    pub resource_metadata: Option<String>,
    /// The scopes that the request needs.
    pub scopes: Option<Vec<String>>,
    /// The error code, such as `insufficient_scope`.
    pub error: Option<String>,
}

impl Challenge {
    /// Reads the values of all `WWW-Authenticate` headers; `None` without a Bearer challenge. The first value of each
    /// parameter counts.
    pub fn read<'a>(headers: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut found = None;
        for header in headers {
            let mut is_bearer = false;
            for item in items(header) {
                let (scheme, parameter) = parts(item);
                if let Some(scheme) = scheme {
                    is_bearer = scheme.eq_ignore_ascii_case("bearer");
                }
                if is_bearer {
                    let challenge: &mut Self = found.get_or_insert_default();
                    parameter.into_iter().for_each(|(name, value)| challenge.take(name, value));
                }
            }
        }
        found
    }

    fn take(&mut self, name: &str, value: String) {
        match name.to_ascii_lowercase().as_str() {
            "resource_metadata" => drop(self.resource_metadata.get_or_insert(value)),
            "scope" => drop(self.scopes.get_or_insert_with(|| split_scopes(&value))),
            "error" => drop(self.error.get_or_insert(value)),
            _ => {}
        }
    }
}

impl fmt::Display for Challenge {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scopes = self.scopes.as_ref().map(|scopes| scopes.join(" "));
        let known = [("error", &self.error), ("scope", &scopes), ("resource_metadata", &self.resource_metadata)];
        let given = known.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let given: Vec<String> = given.map(|(name, value)| format!("{name}={:?}", quoted(value))).collect();
        write!(out, "Bearer {}", given.join(", "))
    }
}

/// The scopes in a text, in order and without duplicates.
pub(crate) fn split_scopes(text: &str) -> Vec<String> {
    let mut scopes: Vec<String> = Vec::new();
    for scope in text.split_ascii_whitespace() {
        if !scopes.iter().any(|known| known == scope) {
            scopes.push(scope.to_owned());
        }
    }
    scopes
}

/// The parts between the commas that are outside quoted strings.
fn items(header: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    header
        .split(move |found: char| {
            let is_end = found == ',' && !is_quoted;
            is_quoted ^= found == '"' && !is_escaped;
            is_escaped = found == '\\' && is_quoted && !is_escaped;
            is_end
        })
        .map(str::trim)
        .filter(|item| !item.is_empty())
}

/// The scheme with which an item begins, if any, and its parameter, if any.
fn parts(item: &str) -> (Option<&str>, Option<(&str, String)>) {
    let end = item.find([' ', '\t', '=']).unwrap_or(item.len());
    let (word, rest) = item.split_at(end);
    match rest.trim_start().strip_prefix('=') {
        Some(value) => (None, Some((word, unquoted(value)))),
        None => {
            let parameter = rest.trim().split_once('=').filter(|(name, _)| !name.trim().is_empty());
            (Some(word), parameter.map(|(name, value)| (name.trim(), unquoted(value))))
        }
    }
}

/// The text of a token or quoted string.
fn unquoted(value: &str) -> String {
    let value = value.trim();
    let Some(inner) = value.strip_prefix('"') else { return value.to_owned() };
    let mut text = String::new();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
        text.extend(if letter == '\\' { letters.next() } else { Some(letter) });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(headers: &[&str]) -> Option<(Option<String>, Option<String>, Option<String>)> {
        let Challenge { resource_metadata, scopes, error } = Challenge::read(headers.iter().copied())?;
        Some((resource_metadata, scopes.map(|scopes| scopes.join(" ")), error))
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn the_examples_of_the_specifications_are_read() {
        // MCP 2025-11-25, Protected Resource Metadata Discovery Requirements.
        let challenge = "Bearer resource_metadata=\"https://mcp.example.com/.well-known/oauth-protected-resource\",\n   \
            scope=\"files:read\"";
        let metadata = some("https://mcp.example.com/.well-known/oauth-protected-resource");
        assert_eq!(read(&[challenge]), Some((metadata, some("files:read"), None)));
        // RFC 6750 §3.
        let expired = r#"Bearer realm="example", error="invalid_token", error_description="The access token expired""#;
        assert_eq!(read(&[expired]), Some((None, None, some("invalid_token"))));
        let shown = Challenge::read([expired]).map(|challenge| challenge.to_string());
        assert_eq!(shown, some("Bearer error=\"invalid_token\""));
        // RFC 9110 §11.6.1: two challenges in one header.
        let two = r#"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#;
        assert_eq!(read(&[two]), None);
    }

    #[test]
    fn only_bearer_challenges_count_in_whatever_order_and_spelling() {
        let none = Some((None, None, None));
        for (headers, expected) in [
            (&["bEARER"][..], none.clone()),
            (&["Basic realm=x", "Bearer scope=a"], Some((None, some("a"), None))),
            (&["Basic scope=b, Bearer scope = \"a  b a\" , Digest scope=c"], Some((None, some("a b"), None))),
            (&["Bearer error=x, error=y, SCOPE=\"\""], Some((None, some(""), some("x")))),
            (&[r#"Bearer error="a,b \" c=\\d", scope=s"#], Some((None, some("s"), some(r#"a,b " c=\d"#)))),
            (&["Negotiate YWJj==, Bearer scope=s"], Some((None, some("s"), None))),
            (&["Bearer YWJj==, scope=s"], Some((None, some("s"), None))),
            (&["Bearer scope=\"open"], Some((None, some("open"), None))),
            (&["", ",,", "=", "Basic"], None),
        ] {
            assert_eq!(read(headers), expected, "{headers:?}");
        }
    }
}
