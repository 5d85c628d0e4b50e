//! `logout`: forgets logins.

use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::logins::Logins;
use crate::oauth::Grant;
use crate::redact::redact_url;
use crate::runtime;
use crate::runtime::login::{revoke, server_url};
use crate::transport::Remote;
use clap::Args;
use std::path::PathBuf;
use url::Url;

/// Forget a login, and revoke its tokens if the authorization server supports that.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel logout https://host/mcp
  mcpreel logout --all

Exit codes: 0 forgotten; 2 there is no such login; 3 the logins cannot be read.")]
pub(crate) struct LogoutArgs {
    /// The server's URL; `mcpreel logins` lists your logins.
    url: Option<String>,
    /// Forget all logins.
    #[arg(long, conflicts_with = "url")]
    all: bool,
    /// Trust the certificates in this PEM file in addition to the system's.
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &LogoutArgs, context: &Context) -> Result<Outcome, CommandError> {
    let logins = Logins::here()?;
    if args.url.is_none() && !args.all {
        return Err(without_url(&logins)?);
    }
    let wanted = args.url.as_deref().map(server_url).transpose()?;
    let forgotten = forget(&logins, wanted.as_ref().map(Url::as_str))?;
    if let Some(wanted) = wanted.filter(|_| forgotten.is_empty()) {
        let error = CommandError::usage(format!("you are not logged in to {}", redact_url(wanted.as_str())));
        return Err(error.hint("`mcpreel logins` lists your logins"));
    }
    let remote = Remote { cacert: args.cacert.clone(), ..Remote::default() };
    for grant in forgotten {
        let revoked = runtime::block_on(revoke(&grant, &remote));
        context.printer.note(&described(&grant, &revoked));
    }
    Ok(Outcome::Clean)
}

/// The error if the user names no login, with the commands that forget one.
fn without_url(logins: &Logins) -> Result<CommandError, CommandError> {
    /// At most as many logins are named.
    const MAX: usize = 5;
    let all = logins.all().map_err(|error| CommandError::reading(logins.path(), &error))?;
    let error = CommandError::usage("no URL: which login should be forgotten?");
    if all.is_empty() {
        return Ok(error.hint("you have no logins"));
    }
    let commands = all.iter().take(MAX).map(|grant| format!("mcpreel logout {}", redact_url(&grant.server)));
    let error = commands.fold(error, CommandError::hint);
    Ok(error.hint("`mcpreel logins` lists your logins; --all forgets all of them"))
}

/// Forgets the login at a server, or all logins. Waits until no other process refreshes a token, which would bring its
/// login back.
fn forget(logins: &Logins, server: Option<&str>) -> Result<Vec<Grant>, CommandError> {
    let reading = |error| CommandError::reading(logins.path(), &error);
    if logins.all().map_err(reading)?.is_empty() {
        return Ok(Vec::new());
    }
    let lock = logins.lock().map_err(|error| CommandError::writing(logins.path(), &error))?;
    logins.remove(&lock, server).map_err(|error| CommandError::writing(logins.path(), &error))
}

/// What happened to a login, in words.
fn described(grant: &Grant, revoked: &Result<bool, CommandError>) -> String {
    let Grant { issuer, .. } = grant;
    let tokens = match revoked {
        Ok(true) => "its tokens are revoked".to_owned(),
        Ok(false) => format!("{issuer} cannot revoke its tokens, which are valid until they expire"),
        Err(error) => format!("its tokens may still be valid ({})", error.message),
    };
    format!("logged out of {}; {tokens}", redact_url(&grant.server))
}
