//! `login`: logs in to a server that requires OAuth.

use crate::cli::login::{BrowserOptions, remaining};
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::oauth::{Grant, Identity};
use crate::redact::redact_url;
use crate::runtime;
use crate::runtime::login::{LoginSettings, UserLogin, now};
use crate::transport::Remote;
use crate::wire::units::parse_time;
use clap::Args;
use oauth2::ClientSecret;
use std::path::PathBuf;
use std::time::Duration;

/// Log in to a server that requires OAuth, in your browser, and keep the token for --login.
///
/// mcpreel asks the server which authorization server it uses, registers there as a client, opens its login page, and
/// waits for the response on a port of this machine. Afterwards, `call`, `fire`, `host`, `replay` and `record` use the
/// token with --login, and refresh it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel login https://host/mcp
  mcpreel call tools/list --url https://host/mcp --login
  mcpreel login https://host/mcp --no-browser
  mcpreel login https://host/mcp --scope 'files:read files:write'
  mcpreel login https://host/mcp --client-id ID --client-secret-env SECRET

If the authorization server does not register clients by itself, register one there with the redirect address \
http://127.0.0.1:PORT/callback, and give its id and the port. An id that is an https URL names a client id metadata document.

Exit codes: 0 logged in; 2 there can be no login at this URL; 4 the login failed; 5 nobody logged in in time.")]
pub(crate) struct LoginArgs {
    /// The server's URL.
    url: String,
    #[command(flatten)]
    browser: BrowserOptions,
    /// Request exactly these scopes, separated by spaces (repeatable; default: those that the server names, and those of
    /// your last login).
    #[arg(long = "scope", value_name = "SCOPES")]
    scopes: Vec<String>,
    /// Use a client that you have registered with the authorization server, or the URL of a client id metadata document
    /// (default: the client that you named in your last login at this server, else register a new one).
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// The environment variable with the client's secret, if it has one.
    #[arg(long, value_name = "VARIABLE", requires = "client_id")]
    client_secret_env: Option<String>,
    /// The port of the redirect address (default: a free one).
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// How long to wait for you, such as 90s or 10m (default: 5m).
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "5m", hide_default_value = true)]
    timeout: Duration,
    /// Trust the certificates in this PEM file in addition to the system's.
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &LoginArgs, context: &Context) -> Result<Outcome, CommandError> {
    let remote = Remote { url: args.url.clone(), cacert: args.cacert.clone(), ..Remote::default() };
    let settings = LoginSettings {
        browser: args.browser.browser(),
        identity: args.identity()?,
        secret_variables: args.client_secret_env.iter().cloned().collect(),
        scopes: args.scopes.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect(),
        port: args.port,
        time: args.timeout,
    };
    let login = UserLogin::new(&remote, settings, context.notices())?;
    let grant = runtime::block_on(login.log_in())?;
    context.printer.note(&described(&grant));
    Ok(Outcome::Clean)
}

impl LoginArgs {
    fn identity(&self) -> Result<Identity, CommandError> {
        let Some(id) = &self.client_id else { return Ok(Identity::Dynamic) };
        Identity::check(id).map_err(|why| CommandError::usage(format!("--client-id {id:?} cannot be used: {why}")))?;
        let secret = self.client_secret_env.as_ref().map(|name| {
            let unset =
                || CommandError::usage(format!("--client-secret-env: the environment variable {name} is not set"));
            std::env::var(name).map(ClientSecret::new).map_err(|_| unset())
        });
        Ok(Identity::Registered(id.clone(), secret.transpose()?, self.client_secret_env.clone()))
    }
}

/// The login in words.
fn described(grant: &Grant) -> String {
    let scopes = match grant.scopes.as_slice() {
        [] => String::new(),
        [scope] => format!(" with the scope {scope}"),
        scopes => format!(" with the scopes {}", scopes.join(" ")),
    };
    let expires = match (grant.expires_at, grant.can_refresh()) {
        (_, true) => "mcpreel refreshes the token when it expires".to_owned(),
        (Some(at), false) => {
            format!("the token expires in {}, then you log in again", remaining(at.saturating_sub(now())))
        }
        (None, false) => "the authorization server does not say when the token expires".to_owned(),
    };
    format!("logged in to {} at {}{scopes}; {expires}", redact_url(&grant.server), grant.issuer)
}
