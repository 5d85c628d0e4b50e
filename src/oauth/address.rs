//! Which URLs may receive secrets, and which resource a server's URL belongs to.

use super::OAuthError;
use url::{Host, Url};

/// Whether a URL leads to this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

/// A URL that `server` or its metadata names. It must use https; http is allowed only on this machine, and only if the
/// server is there as well, so that a server elsewhere cannot make mcpreel send requests to programs on this machine.
///
/// # Errors
/// It is not such a URL.
pub(super) fn named(text: &str, what: &'static str, server: &Url) -> Result<Url, OAuthError> {
    let refused = |why| OAuthError::Address { what, url: text.to_owned(), why };
    let url = Url::parse(text).map_err(|_| refused("it is not a URL"))?;
    match url.scheme() {
        "https" => {}
        "http" if is_loopback(&url) && is_loopback(server) => {}
        "http" => return Err(refused("it must use https")),
        _ => return Err(refused("it is not an HTTP URL")),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("it contains a user name or password"));
    }
    if url.fragment().is_some() {
        return Err(refused("it contains a fragment"));
    }
    Ok(url)
}

/// Whether a resource is the server, or contains it: the origin is the same, and its path leads to the server's.
pub(super) fn covers(resource: &Url, server: &Url) -> bool {
    let path = resource.path().strip_suffix('/').unwrap_or(resource.path());
    let is_below = server.path().strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let has_query = resource.query().is_none() || resource.query() == server.query();
    resource.origin() == server.origin() && is_below && has_query
}

/// Whether the path of a URL has the segments `.` or `..`, which its parsed form no longer shows.
pub(super) fn has_dot_segments(text: &str) -> bool {
    let path = text.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase().replace("%2e", ".");
    path.split('/').any(|segment| segment == "." || segment == "..")
}

/// A URL as others may put it into a command of a shell: without the characters that do something there, even between
/// quotation marks.
pub(super) fn harmless(url: &Url) -> Url {
    let escaped = url.as_str().chars().fold(String::new(), |mut text, letter| {
        match letter {
            '$' | '(' | ')' | ';' | '`' | '\'' | '"' | '\\' | '|' | '<' | '>' | '{' | '}' => {
                text.push_str(&format!("%{:02X}", u32::from(letter)));
            }
            letter => text.push(letter),
        }
        text
    });
    Url::parse(&escaped).unwrap_or_else(|_| url.clone())
}

/// What is wrong with a URL as a client id (OAuth Client ID Metadata Document, Client Identifier URL).
pub(super) fn wrong_with_client_id(text: &str) -> Option<&'static str> {
    let Ok(url) = Url::parse(text) else { return Some("it is not a valid URL") };
    if url.scheme() != "https" {
        return Some("the URL of a client id metadata document must use https");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Some("the URL of a client id metadata document must not contain a user name or password");
    }
    if url.path().len() <= 1 {
        return Some("the URL of a client id metadata document must have a path");
    }
    if text.contains('#') {
        return Some("the URL of a client id metadata document must not contain a fragment");
    }
    has_dot_segments(text)
        .then_some("the URL of a client id metadata document must not contain the path segments `.` and `..`")
}

/// A URL as a resource identifier: without a fragment, and without the slash of an empty path (MCP 2025-11-25, Canonical
/// Server URI).
pub(super) fn canonical(server: &Url) -> String {
    let mut url = server.clone();
    url.set_fragment(None);
    let text = url.to_string();
    match url.path() == "/" && url.query().is_none() {
        true => text.trim_end_matches('/').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    #[test]
    fn a_resource_is_the_server_or_contains_it() {
        for (resource, server, does) in [
            ("https://h/mcp", "https://h/mcp", true),
            ("https://h/mcp/", "https://h/mcp", true),
            ("https://H:443/", "https://h/mcp", true),
            ("https://h/a", "https://h/a/mcp", true),
            ("https://h/a", "https://h/ab", false),
            ("https://h/mcp/deeper", "https://h/mcp", false),
            ("https://h:8443/mcp", "https://h/mcp", false),
            ("http://h/mcp", "https://h/mcp", false),
            ("https://other/mcp", "https://h/mcp", false),
            ("https://h/mcp?tenant=1", "https://h/mcp", false),
            ("https://h/mcp?tenant=1", "https://h/mcp?tenant=1", true),
        ] {
            assert_eq!(covers(&url(resource), &url(server)), does, "{resource} {server}");
        }
    }

    #[test]
    fn only_encrypted_urls_are_used_except_on_this_machine() {
        let (far, near) = (url("https://h/mcp"), url("http://localhost:3000/mcp"));
        let is_named = |text: &str, server: &Url| named(text, "the token endpoint", server).is_ok();
        for secure in ["https://auth/token", "https://127.0.0.1/token"] {
            assert!(is_named(secure, &far) && is_named(secure, &near), "{secure}");
        }
        for here in ["http://127.0.0.1:1/", "http://[::1]:1/", "http://localhost/", "http://a.localhost/"] {
            assert!(is_named(here, &near) && !is_named(here, &far), "{here}");
        }
        for refused in ["http://auth/", "http://10.0.0.1/", "ftp://auth/", "auth", "https://u:p@auth/", "https://a/#x"]
        {
            assert!(!is_named(refused, &near), "{refused}");
        }
    }

    #[test]
    fn a_client_id_that_is_a_url_can_be_the_address_of_a_document() {
        for right in ["https://app/client.json", "https://app:8443/a/b?c=d", "HTTPS://app/..a/b."] {
            assert_eq!(wrong_with_client_id(right), None, "{right}");
        }
        for (wrong, why) in [
            ("http://app/client.json", "must use https"),
            ("https://app", "must have a path"),
            ("https://app/", "must have a path"),
            ("https://u@app/c", "user name"),
            ("https://u:p@app/c", "user name"),
            ("https://app/c#", "fragment"),
            ("https://app/a/../c", "path segments"),
            ("https://app/./c", "path segments"),
            ("https://app/a/%2E%2e/c", "path segments"),
            ("https://", "not a valid URL"),
        ] {
            assert!(wrong_with_client_id(wrong).is_some_and(|said| said.contains(why)), "{wrong}");
        }
    }

    #[test]
    fn a_login_page_cannot_be_a_command_of_a_shell() {
        let page = url("https://auth/a;b/(c)?x=$(touch$IFS/tmp/x)&y='`id`'&z=1%202");
        let shown = harmless(&page);
        assert_eq!(shown.as_str(), "https://auth/a%3Bb/%28c%29?x=%24%28touch%24IFS/tmp/x%29&y=%27%60id%60%27&z=1%202");
        assert!(shown.query_pairs().eq(page.query_pairs()), "the authorization server reads the same");
        let ipv6 = url("https://[::1]:8443/authorize?a=b");
        assert_eq!(harmless(&ipv6), ipv6);
    }

    #[test]
    fn an_identifier_has_no_slash_of_its_own() {
        for (server, identifier) in [
            ("https://H/", "https://h"),
            ("https://h:8443/", "https://h:8443"),
            ("https://h/mcp/", "https://h/mcp/"),
            ("https://h/mcp#x", "https://h/mcp"),
            ("https://h/?a=b", "https://h/?a=b"),
        ] {
            assert_eq!(canonical(&url(server)), identifier);
        }
    }
}
