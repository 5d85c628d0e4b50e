//! `logins`: the user's logins at servers.

use crate::cli::login::remaining;
use crate::cli::printer::Format;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::logins::Logins;
use crate::oauth::Grant;
use crate::redact::redact_url;
use crate::render::line::visible_text;
use crate::render::table::{BLANK, fitted};
use crate::runtime::login::now;
use clap::Args;
use jiff::Timestamp;
use serde_json::{Value, json};
use tabled::settings::Style;

/// List your logins at servers that require OAuth.
///
/// Tokens are never printed. A login ends when its token expires and cannot be refreshed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel logins
  mcpreel logins --format json | jq -r '.logins[].server'

The logins are in $MCPREEL_HOME/logins.json, else $XDG_STATE_HOME/mcpreel/, else ~/.local/state/mcpreel/; only you can read the file.")]
pub(crate) struct LoginsArgs {
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &LoginsArgs, context: &Context) -> Result<Outcome, CommandError> {
    let logins = Logins::here()?;
    let all = logins.all().map_err(|error| CommandError::reading(logins.path(), &error))?;
    match args.format {
        Format::Json => {
            let all: Vec<Value> = all.iter().map(to_json).collect();
            context.printer.json(&json!({"logins": all}))?;
        }
        Format::Human if all.is_empty() => context.printer.note("no logins; `mcpreel login URL` logs in to a server"),
        Format::Human => context.printer.line(&table(&all, context.printer.width))?,
    }
    Ok(Outcome::Clean)
}

fn to_json(grant: &Grant) -> Value {
    json!({
        "server": redact_url(&grant.server),
        "resource": grant.resource,
        "issuer": grant.issuer,
        "client_id": grant.client.id,
        "registration": grant.client.registration,
        "scopes": grant.scopes,
        "expires": expires(grant).map(|at| at.to_string()),
        "can_refresh": grant.can_refresh(),
        "refused": grant.is_refused,
    })
}

fn expires(grant: &Grant) -> Option<Timestamp> {
    grant.expires_at.and_then(|at| Timestamp::from_second(i64::try_from(at).ok()?).ok())
}

fn table(logins: &[Grant], width: Option<usize>) -> String {
    let header = ["server", "authorization server", "scopes", "token"].map(str::to_owned).to_vec();
    let row = |grant: &Grant| {
        let scopes = visible_text(&grant.scopes.join(" "));
        vec![visible_text(&redact_url(&grant.server)), visible_text(&grant.issuer), scopes, state(grant)]
    };
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(logins.iter().map(row)).collect();
    let mut table = fitted(rows, BLANK, &[0, 1, 2], width);
    table.with(Style::empty());
    table.to_string()
}

/// The state of the access token in words.
fn state(grant: &Grant) -> String {
    let left = grant.expires_at.map(|at| at.saturating_sub(now()));
    match (left, grant.can_refresh()) {
        _ if grant.is_refused => "refused by the server; log in again".to_owned(),
        (_, true) => "refreshed when it expires".to_owned(),
        (Some(0), false) => "expired".to_owned(),
        (Some(left), false) => format!("expires in {}", remaining(left)),
        (None, false) => "no known end".to_owned(),
    }
}
