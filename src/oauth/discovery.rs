//! Finds a server's metadata (RFC 9728) and that of its authorization server (RFC 8414, OpenID Connect Discovery 1.0),
//! and refuses metadata that does not belong to them.

use super::address::{canonical, covers, has_dot_segments, named};
use super::error::quoted;
use super::{Challenge, Exchanges, HttpRequest, HttpResponse, OAuthError};
use hyper::Method;
use hyper::header::ACCEPT;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

/// A server that requires a token, and where to get one.
#[derive(Clone, Debug)]
pub struct ProtectedServer {
    /// Its URL.
    pub server: Url,
    /// Its resource identifier, for which tokens are requested (RFC 8707).
    pub resource: String,
    /// The scopes to request: those of the challenge, else those of the metadata.
    pub scopes: Vec<String>,
    /// All scopes that the metadata names.
    pub supported: Vec<String>,
    /// The authorization server.
    pub authorization: AuthorizationServer,
}

/// An authorization server, according to its own validated metadata.
#[derive(Clone, Debug)]
pub struct AuthorizationServer {
    /// Its identifier, exactly as in its metadata.
    pub issuer: String,
    /// Where the user logs in.
    pub authorization_endpoint: Url,
    /// Where codes are exchanged for tokens.
    pub token_endpoint: Url,
    /// Where clients register (RFC 7591).
    pub registration_endpoint: Option<Url>,
    /// Where tokens are revoked (RFC 7009).
    pub revocation_endpoint: Option<Url>,
    /// How clients may authenticate at the token endpoint.
    pub auth_methods: Option<Vec<String>>,
    /// Its responses always contain its identifier (RFC 9207).
    pub identifies_itself: bool,
    /// It accepts client id metadata documents.
    pub accepts_documents: bool,
    /// It has the scope `offline_access`.
    pub offers_offline_access: bool,
}

#[derive(Deserialize)]
struct ResourceMetadata {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    scopes_supported: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct IssuerMetadata {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    registration_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    #[serde(default)]
    code_challenge_methods_supported: Vec<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
    #[serde(default)]
    client_id_metadata_document_supported: bool,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

/// Finds out where to get a token for `server`, from the challenge of its 401 response if there was one. Of several
/// authorization servers, `preferred` is used if it is among them, else the first.
///
/// # Errors
/// There is no metadata, or it must not be used.
pub async fn discover(
    exchanges: &dyn Exchanges,
    server: &Url,
    challenge: &Challenge,
    preferred: Option<&str>,
) -> Result<ProtectedServer, OAuthError> {
    let places = match &challenge.resource_metadata {
        Some(place) => vec![named(place, "the address of the server's metadata", server)?],
        None => resource_places(server),
    };
    let resource: Option<ResourceMetadata> = match fetch(exchanges, &places).await? {
        Ok(found) => Some(found),
        Err(why) if challenge.resource_metadata.is_some() => {
            return Err(OAuthError::NoMetadata { of: format!("the server {server}"), why });
        }
        // Servers of 2025-03-26 have no metadata of their own: their origin is the authorization server.
        Err(_) => None,
    };
    let is_guessed = resource.is_none();
    let (identifier, issuers, supported) = match resource {
        None => (canonical(server), vec![server.origin().ascii_serialization()], None),
        Some(ResourceMetadata { resource, authorization_servers, scopes_supported }) => {
            check_resource(&resource, server)?;
            (resource, authorization_servers, scopes_supported)
        }
    };
    let issuer = issuers.iter().find(|issuer| preferred == Some(issuer)).or(issuers.first());
    let issuer = issuer.ok_or(OAuthError::NoAuthorizationServer)?;
    let authorization = authorization_server(exchanges, issuer, server).await.map_err(|error| match error {
        OAuthError::NoMetadata { of, why } if is_guessed => OAuthError::NoMetadata {
            of,
            why: format!(
                "{why}; the server has no metadata that names one, so its own address was tried (MCP 2025-03-26)"
            ),
        },
        error => error,
    })?;
    let scopes = challenge.scopes.clone().or_else(|| supported.clone()).unwrap_or_default();
    let supported = supported.unwrap_or_default();
    Ok(ProtectedServer { server: server.clone(), resource: identifier, scopes, supported, authorization })
}

/// Whether the metadata's resource is the server (RFC 9728 §3.3).
fn check_resource(resource: &str, server: &Url) -> Result<(), OAuthError> {
    let is_plain = !has_dot_segments(resource);
    let is_ours = is_plain && Url::parse(resource).is_ok_and(|url| url.fragment().is_none() && covers(&url, server));
    let wrong = || OAuthError::WrongResource { named: quoted(resource), server: server.to_string() };
    is_ours.then_some(()).ok_or_else(wrong)
}

async fn authorization_server(
    exchanges: &dyn Exchanges,
    issuer: &str,
    server: &Url,
) -> Result<AuthorizationServer, OAuthError> {
    let place = named(issuer, "the authorization server", server)?;
    let fetched = fetch(exchanges, &issuer_places(&place)).await?;
    let of = format!("the authorization server {}", quoted(issuer));
    let found: IssuerMetadata = fetched.map_err(|why| OAuthError::NoMetadata { of, why })?;
    // RFC 8414 §3.3 asks for identical texts. The slash after a host is not part of what a URL says (RFC 3986 §6.2.3), and
    // servers that use a URL type for their metadata add it, as those of the Python SDK.
    let without_slash = |text: &str| text.strip_suffix('/').unwrap_or(text).to_owned();
    let is_same =
        found.issuer == issuer || place.path() == "/" && without_slash(&found.issuer) == without_slash(issuer);
    if !is_same {
        return Err(OAuthError::WrongIssuer { expected: quoted(issuer), found: quoted(&found.issuer) });
    }
    if !found.code_challenge_methods_supported.iter().any(|method| method == "S256") {
        return Err(OAuthError::NoPkce(quoted(issuer)));
    }
    let optional = |text: Option<String>, what| text.map(|text| named(&text, what, server)).transpose();
    Ok(AuthorizationServer {
        authorization_endpoint: named(&found.authorization_endpoint, "the authorization endpoint", server)?,
        token_endpoint: named(&found.token_endpoint, "the token endpoint", server)?,
        registration_endpoint: optional(found.registration_endpoint, "the registration endpoint")?,
        revocation_endpoint: optional(found.revocation_endpoint, "the revocation endpoint")?,
        issuer: found.issuer,
        auth_methods: found.token_endpoint_auth_methods_supported,
        identifies_itself: found.authorization_response_iss_parameter_supported,
        accepts_documents: found.client_id_metadata_document_supported,
        offers_offline_access: found.scopes_supported.iter().any(|scope| scope == "offline_access"),
    })
}

/// The first document at these places; else the result of the last attempt, in words. A place that redirects, or fails
/// otherwise, is passed over, but is the error if there is no document elsewhere.
async fn fetch<T: DeserializeOwned>(
    exchanges: &dyn Exchanges,
    places: &[Url],
) -> Result<Result<T, String>, OAuthError> {
    let (mut last, mut failed) = (String::new(), None);
    for place in places {
        match exchanges.send(get(place)?).await.map(|response| read(&response)) {
            Ok(Ok(found)) => return Ok(Ok(found)),
            Ok(Err(why)) => last = format!("{place}: {why}"),
            Err(error) => failed = failed.or(Some(error.0)),
        }
    }
    failed.map_or(Ok(Err(last)), |failed| Err(OAuthError::Exchange(failed)))
}

fn read<T: DeserializeOwned>(response: &HttpResponse) -> Result<T, String> {
    match response.status().as_u16() {
        200 => serde_json::from_slice(response.body()).map_err(|error| format!("no valid metadata: {error}")),
        _ => Err(format!("HTTP {}", response.status())),
    }
}

fn get(place: &Url) -> Result<HttpRequest, OAuthError> {
    let request = hyper::Request::builder().method(Method::GET).uri(place.as_str()).header(ACCEPT, "application/json");
    request.body(Vec::new()).map_err(|error| OAuthError::Exchange(format!("cannot request {place}: {error}")))
}

/// Where a server's metadata can be, in order (MCP 2025-11-25, Protected Resource Metadata Discovery Requirements).
fn resource_places(server: &Url) -> Vec<Url> {
    const NAME: &str = "oauth-protected-resource";
    let mut root = well_known(server, NAME, "");
    root.set_query(None);
    match server.path() {
        "/" if server.query().is_none() => vec![root],
        "/" => vec![well_known(server, NAME, ""), root],
        path => vec![well_known(server, NAME, path), root],
    }
}

/// Where an authorization server's metadata can be, in order (MCP 2025-11-25, Authorization Server Metadata Discovery).
fn issuer_places(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let mut places =
        vec![well_known(issuer, "oauth-authorization-server", path), well_known(issuer, "openid-configuration", path)];
    if !path.is_empty() {
        let mut appended = issuer.clone();
        appended.set_path(&format!("{path}/.well-known/openid-configuration"));
        places.push(appended);
    }
    places
}

/// The well-known URI of this name, with the path behind it.
fn well_known(url: &Url, name: &str, path: &str) -> Url {
    let mut place = url.clone();
    place.set_fragment(None);
    place.set_path(&format!("/.well-known/{name}{path}"));
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(of: fn(&Url) -> Vec<Url>, url: &str) -> Vec<String> {
        of(&Url::parse(url).expect("a URL")).into_iter().map(String::from).collect()
    }

    #[test]
    fn a_servers_metadata_is_below_its_path_then_at_the_root() {
        assert_eq!(
            places(resource_places, "https://example.com/public/mcp"),
            [
                "https://example.com/.well-known/oauth-protected-resource/public/mcp",
                "https://example.com/.well-known/oauth-protected-resource"
            ]
        );
        for root in ["https://example.com", "https://example.com/"] {
            assert_eq!(places(resource_places, root), ["https://example.com/.well-known/oauth-protected-resource"]);
        }
        assert_eq!(
            places(resource_places, "https://h/mcp?tenant=1#x"),
            [
                "https://h/.well-known/oauth-protected-resource/mcp?tenant=1",
                "https://h/.well-known/oauth-protected-resource"
            ]
        );
    }

    #[test]
    fn an_authorization_servers_metadata_is_where_the_specification_lists_it() {
        for tenant in ["https://auth.example.com/tenant1", "https://auth.example.com/tenant1/"] {
            assert_eq!(
                places(issuer_places, tenant),
                [
                    "https://auth.example.com/.well-known/oauth-authorization-server/tenant1",
                    "https://auth.example.com/.well-known/openid-configuration/tenant1",
                    "https://auth.example.com/tenant1/.well-known/openid-configuration"
                ]
            );
        }
        assert_eq!(
            places(issuer_places, "https://auth.example.com"),
            [
                "https://auth.example.com/.well-known/oauth-authorization-server",
                "https://auth.example.com/.well-known/openid-configuration"
            ]
        );
    }
}
