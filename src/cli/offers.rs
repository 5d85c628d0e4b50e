//! What a server offers: its tools, prompts, resources and templates, requested with all pages.

use super::Context;
use super::client_session::{self, ClientOptions};
use super::target::Target;
use crate::diff::surface::{List, ListKind, Surface};
use crate::error::CommandError;
use crate::host::client::{Handshake, Output, Params};
use crate::protocol::errors;
use crate::runtime::{Connection, Failure};
use crate::wire::tree::{self, Budget};
use crate::wire::{Envelope, json};
use serde_json::{Value, json};

/// At most this many pages of a list are requested.
const MAX_PAGES: usize = 1000;

/// How often the lists are requested if the server says that they changed meanwhile.
const MAX_LISTINGS: usize = 3;

/// The capabilities to declare: some servers offer tools only to clients that have them.
fn capabilities() -> Value {
    json!({"roots": {"listChanged": true}, "sampling": {}, "elicitation": {}})
}

/// Starts or reaches a server, and requests everything that it lists. `take` gets that before the server ends.
///
/// # Errors
///
/// The server cannot be reached, or does not answer with lists; or that of `take`.
pub(super) async fn of_server(
    target: &Target,
    options: &ClientOptions,
    context: &Context,
    take: impl FnOnce(&Surface) -> Result<(), CommandError>,
) -> Result<Surface, CommandError> {
    let (link, server) = client_session::start(target, options, context).await?;
    let opened = client_session::open(&server, link, options, capabilities(), context).await;
    let (mut connection, handshake) = match opened {
        Ok(opened) => opened,
        Err(error) => return Err(server.end_after(error, context.notices()).await),
    };
    // The client of a session that was joined is another one.
    let client = if server.is_joined() { Value::Null } else { options.asked(handshake.era, &capabilities()) };
    let listed = list_all(&mut connection, handshake, context).await.map(|surface| Surface { client, ..surface });
    let listed = listed.map_err(|failure| client_session::failed(failure, &connection.runner.said));
    match listed {
        Ok(surface) => {
            let taken = take(&surface);
            server.end_answered(connection.runner, context.notices(), |_| ()).await?;
            taken.map(|()| surface)
        }
        Err(error) => {
            connection.runner.close().await;
            Err(server.end_after(error, context.notices()).await)
        }
    }
}

async fn list_all(connection: &mut Connection, handshake: Handshake, context: &Context) -> Result<Surface, Failure> {
    let mut surface = Surface {
        server: handshake.server_info,
        revision: Some(handshake.version_text),
        capabilities: handshake.server_capabilities,
        instructions: handshake.instructions,
        ..Surface::default()
    };
    let declared = |kind: &ListKind| !surface.capabilities[kind.capability()].is_null();
    let kinds: Vec<ListKind> = ListKind::ALL.into_iter().filter(declared).collect();
    let mut progress = context.printer.progress_of("listing", kinds.len() as u64);
    // A server that has just begun may still be adding tools.
    for _ in 0..MAX_LISTINGS {
        let mut has_changed = false;
        for (done, kind) in kinds.iter().enumerate() {
            let on_page = || progress.reach(done as u64);
            let found = list(connection, *kind, &mut has_changed, on_page, context).await;
            let found = found.inspect_err(|_| progress.finish())?;
            surface.lists.extend(found.map(|list| (*kind, list)));
        }
        if !has_changed {
            break;
        }
    }
    progress.finish();
    Ok(surface)
}

fn is_list_change(output: &Output) -> bool {
    let Output::Notification { message } = output else { return false };
    Envelope::scan(message).method.is_some_and(|method| method.ends_with("/list_changed"))
}

/// Requests all pages of a list, and calls `on_page` before each; `None` if the server does not know the method.
async fn list(
    connection: &mut Connection,
    kind: ListKind,
    has_changed: &mut bool,
    mut on_page: impl FnMut(),
    context: &Context,
) -> Result<Option<List>, Failure> {
    let (mut list, mut cursor, mut budget) = (List::default(), None, Budget::new(tree::MAX_BYTES));
    for _ in 0..MAX_PAGES {
        on_page();
        let params = cursor.as_ref().map_or(Params::Absent, |cursor| Params::Value(json!({ "cursor": cursor })));
        let report = |output: &Output| {
            *has_changed |= is_list_change(output);
            client_session::report(output, context);
        };
        let answer = connection.request(kind.method(), params, report).await?;
        let envelope = Envelope::scan(&answer.message);
        if envelope.error_code() == Some(errors::METHOD_NOT_FOUND) && cursor.is_none() {
            return Ok(None);
        }
        // The pages of a list are in memory together.
        if let Some(Err(too_large)) = envelope.result.map(|result| budget.take(result)) {
            return Err(Failure::Failed(format!("{}: the list was not read: {too_large}", kind.method()).into()));
        }
        let Some(result) = envelope.result.map(json::value_of).filter(|result| !result.is_null()) else {
            let error = String::from_utf8_lossy(envelope.error.unwrap_or(&answer.message)).into_owned();
            let error = crate::wire::text::excerpt(&error, 300);
            return Err(Failure::Failed(format!("the server returned no list for {}: {error}", kind.method()).into()));
        };
        let next = list.add_page(kind, &result);
        if next.is_none() || next == cursor {
            return Ok(Some(list));
        }
        cursor = next;
    }
    context.printer.note(&format!("{}: read only the first {MAX_PAGES} pages", kind.method()));
    Ok(Some(list))
}
