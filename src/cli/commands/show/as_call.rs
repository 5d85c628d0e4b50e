//! `show --as-call`: prints the command that repeats each selected request of the client.

use super::ShowArgs;
use crate::cli::printer::note;
use crate::cli::recordings;
use crate::cli::secret_warning::SecretWarning;
use crate::cli::selecting::parse_filter;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::reels;
use crate::formats::commands::Commands;
use crate::session::filter::FilterInput;
use crate::wire::{Envelope, json};
use std::path::Path;

pub(super) fn run(
    args: &ShowArgs,
    path: Option<&Path>,
    terms: &str,
    context: &Context,
) -> Result<Outcome, CommandError> {
    let filter = parse_filter(terms, args.packs.registry()?, path.is_some())?;
    let path = recordings::path_or_newest(path)?;
    let (reader, path) = args.redact.open_whole(Some(&path))?;
    let mut warning = SecretWarning::of_output(&args.redact, &context.printer)?;
    let limit = args.limit.unwrap_or(u64::MAX);
    let (mut commands, mut left) = (Commands::default(), limit);
    let damaged = reels::each_event(
        reader,
        &path,
        note,
        |_| {},
        |event| {
            // What opens a stream says which server it is, even if it is not selected.
            let Some(command) = commands.take(event) else { return Ok(()) };
            let envelope = Envelope::scan(event.body());
            let method = envelope.method.as_deref();
            let tool = envelope.params.filter(|_| method == Some("tools/call"));
            let tool = tool.and_then(|params| json::str_member(params, "name"));
            let (tool, body) = (tool.as_deref(), Some(event.body()));
            let facts = FilterInput { method, tool, body, ..FilterInput::of(event.header) };
            let is_wanted = args.seq.is_none_or(|seq| event.header.seq >= seq) && filter.decide(&facts) == Some(true);
            if !is_wanted || left == 0 {
                return Ok(());
            }
            left -= 1;
            warning.take_text(&command);
            context.printer.line(&command)
        },
    )?;
    warning.print();
    if left == limit && limit > 0 {
        note("no selected event is a request or notification of the client that `call` can repeat");
    }
    Ok(if damaged { Outcome::Findings } else { Outcome::Clean })
}
