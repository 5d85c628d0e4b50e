//! mcpreel as a client of an authorization server: registered by the user, known by a metadata document, or registered
//! on the spot (RFC 7591).

use super::address::wrong_with_client_id;
use super::challenge::split_scopes;
use super::discovery::AuthorizationServer;
use super::error::quoted;
use super::{Exchanges, HttpRequest, HttpResponse, OAuthError};
use hyper::Method;
use hyper::header::{ACCEPT, CONTENT_TYPE};
use oauth2::ClientSecret;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

/// Who mcpreel is for an authorization server.
#[derive(Clone, Debug, Default)]
pub enum Identity {
    /// A client that mcpreel registers itself.
    #[default]
    Dynamic,
    /// A client that the user has registered, with its secret if it has one, and the name of the environment variable
    /// with that secret.
    Registered(String, Option<ClientSecret>, Option<String>),
}

impl Identity {
    /// Whether the id is the URL of a client id metadata document.
    fn is_document(id: &str) -> bool {
        Self::is_url(id) && wrong_with_client_id(id).is_none()
    }

    fn is_url(id: &str) -> bool {
        let scheme = id.split("://").next().unwrap_or_default().to_ascii_lowercase();
        id.contains("://") && matches!(scheme.as_str(), "http" | "https")
    }

    /// Checks a client id that the user names.
    ///
    /// # Errors
    /// It is a URL, but cannot be that of a client id metadata document.
    pub(crate) fn check(id: &str) -> Result<(), &'static str> {
        wrong_with_client_id(id).filter(|_| Self::is_url(id)).map_or(Ok(()), Err)
    }
}

/// How a client got its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Registration {
    /// mcpreel registered it.
    Dynamic,
    /// The user registered it.
    Registered,
    /// Its id is the URL of its metadata document.
    Document,
}

/// A client of one authorization server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Client {
    /// Its id.
    pub id: String,
    /// Its secret; public clients have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<ClientSecret>,
    /// The environment variable with the secret, if the user named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_variable: Option<String>,
    /// The secret is sent in the body of requests, rather than as HTTP Basic.
    #[serde(default)]
    pub secret_in_body: bool,
    /// How it got its id.
    pub registration: Registration,
    /// Where responses to logins go.
    pub redirect_uri: String,
    /// The scopes that it was registered with.
    #[serde(default)]
    pub scopes: Vec<String>,
}

impl Client {
    /// Whether it can be used for another login.
    fn serves(&self, redirect_uri: &str, scopes: &[String]) -> bool {
        match self.registration {
            Registration::Dynamic => {
                self.redirect_uri == redirect_uri && scopes.iter().all(|scope| self.scopes.contains(scope))
            }
            Registration::Registered | Registration::Document => true,
        }
    }
}

/// The client for a login at `server` (MCP 2025-11-25, Client Registration Approaches). `known` is a client of the same
/// authorization server, which is used again if possible. `scopes` are those to request now, `supported` all that the
/// server names.
///
/// # Errors
/// There is no way to become a client.
pub async fn client(
    exchanges: &dyn Exchanges,
    server: &AuthorizationServer,
    (identity, known): (&Identity, Option<&Client>),
    redirect_uri: &str,
    scopes: &[String],
    supported: &[String],
) -> Result<Client, OAuthError> {
    if let Identity::Registered(id, secret, variable) = identity {
        let client = registered(server, id, secret.clone(), redirect_uri)?;
        return Ok(Client { secret_variable: variable.clone(), ..client });
    }
    if let Some(known) = known.filter(|known| known.serves(redirect_uri, scopes)) {
        if known.registration == Registration::Document && !server.accepts_documents {
            return Err(OAuthError::NoDocuments(quoted(&server.issuer)));
        }
        return Ok(Client { redirect_uri: redirect_uri.to_owned(), ..known.clone() });
    }
    // With all scopes of the server, so that this client can ask for more of them later.
    let more = supported.iter().filter(|scope| !scopes.is_empty() && !scopes.contains(scope));
    let scopes: Vec<String> = scopes.iter().chain(more).cloned().collect();
    register(exchanges, server, redirect_uri, &scopes).await
}

fn registered(
    server: &AuthorizationServer,
    id: &str,
    secret: Option<ClientSecret>,
    redirect_uri: &str,
) -> Result<Client, OAuthError> {
    let is_document = Identity::is_document(id);
    if is_document && !server.accepts_documents {
        return Err(OAuthError::NoDocuments(quoted(&server.issuer)));
    }
    Ok(Client {
        id: id.to_owned(),
        secret_in_body: auth_method(server)? == "client_secret_post",
        secret,
        secret_variable: None,
        registration: if is_document { Registration::Document } else { Registration::Registered },
        redirect_uri: redirect_uri.to_owned(),
        scopes: Vec::new(),
    })
}

/// How to authenticate at the token endpoint: not at all if possible, because a program on a user's machine keeps no
/// secrets. Without a list, the default is Basic (RFC 8414 §2), but public clients must be supported (OAuth 2.1 §2.1).
fn auth_method(server: &AuthorizationServer) -> Result<&'static str, OAuthError> {
    let Some(methods) = server.auth_methods.as_ref().filter(|methods| !methods.is_empty()) else { return Ok("none") };
    let known = ["none", "client_secret_post", "client_secret_basic"];
    let found = known.into_iter().find(|known| methods.iter().any(|method| method == known));
    found.ok_or_else(|| OAuthError::NoAuthMethod(quoted(&server.issuer), quoted(&methods.join(", "))))
}

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<ClientSecret>,
    token_endpoint_auth_method: Option<String>,
    scope: Option<String>,
}

async fn register(
    exchanges: &dyn Exchanges,
    server: &AuthorizationServer,
    redirect_uri: &str,
    scopes: &[String],
) -> Result<Client, OAuthError> {
    let endpoint = server.registration_endpoint.as_ref();
    let endpoint = endpoint.ok_or_else(|| OAuthError::NoRegistration(quoted(&server.issuer)))?;
    let asked = auth_method(server)?;
    let request = registration(endpoint, asked, redirect_uri, scopes)?;
    let response = exchanges.send(request).await.map_err(|error| OAuthError::Exchange(error.0))?;
    let Registered { client_id, client_secret, token_endpoint_auth_method, scope } = match response.status().as_u16() {
        200 | 201 => serde_json::from_slice(response.body())
            .map_err(|_| OAuthError::Registration("its response contains no client id".to_owned()))?,
        _ => return Err(OAuthError::Registration(refusal(&response))),
    };
    let method = token_endpoint_auth_method.as_deref().unwrap_or(asked);
    Ok(Client {
        id: client_id,
        secret: client_secret.filter(|_| method != "none"),
        secret_variable: None,
        secret_in_body: method == "client_secret_post",
        registration: Registration::Dynamic,
        redirect_uri: redirect_uri.to_owned(),
        scopes: scope.map_or_else(|| scopes.to_vec(), |scope| split_scopes(&scope)),
    })
}

fn registration(
    endpoint: &Url,
    auth_method: &str,
    redirect_uri: &str,
    scopes: &[String],
) -> Result<HttpRequest, OAuthError> {
    let mut about = json!({
        "client_name": "mcpreel",
        "application_type": "native",
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": auth_method,
    });
    if !scopes.is_empty() {
        about["scope"] = scopes.join(" ").into();
    }
    let request = hyper::Request::builder().method(Method::POST).uri(endpoint.as_str());
    let request = request.header(CONTENT_TYPE, "application/json").header(ACCEPT, "application/json");
    request
        .body(about.to_string().into_bytes())
        .map_err(|error| OAuthError::Exchange(format!("cannot request {endpoint}: {error}")))
}

/// The error in a response (RFC 6749 §5.2, RFC 7591 §3.2.2), else its status.
pub(super) fn refusal(response: &HttpResponse) -> String {
    let body: Value = serde_json::from_slice(response.body()).unwrap_or_default();
    let member = |name: &str| body[name].as_str().map(quoted);
    match (member("error"), member("error_description")) {
        (Some(error), Some(description)) => format!("{error} ({description})"),
        (Some(error), None) => error,
        _ => format!("HTTP {}", response.status()),
    }
}
