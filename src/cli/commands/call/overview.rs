//! `call` without a method: what the server offers.

use super::{CallArgs, Format, JqOption};
use crate::cli::{Context, Outcome, offers};
use crate::diff::surface::Surface;
use crate::error::CommandError;
use crate::render::offers::text;
use crate::runtime;

/// Lists what the server offers.
///
/// # Errors
///
/// An option needs a method, the server cannot be reached, or it does not answer.
pub(super) fn run(args: &CallArgs, context: &Context) -> Result<Outcome, CommandError> {
    let given = [
        ("--notify", args.notify),
        ("--save", args.save.is_some()),
        ("--expect", args.repeating.expect.is_some()),
        ("--repeat", args.repeating.repeat != 1),
        ("--format envelope", args.format == Format::Envelope),
    ];
    if let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        return Err(CommandError::usage(format!("{option} needs a method"))
            .hint("name it: mcpreel call tools/list; without one, mcpreel lists what the server offers"));
    }
    let jq = JqOption::of(args.jq.as_deref(), context)?;
    runtime::block_on(offers::of_server(&args.target, &args.client, context, |surface| {
        for kind in surface.incomplete() {
            context.printer.note(&format!("the last page of {} is missing", kind.method()));
        }
        print(surface, jq, args.format, context)?;
        // A server may take its time to end.
        context.printer.flush().map_err(CommandError::output)
    }))?;
    Ok(Outcome::Clean)
}

fn print(surface: &Surface, jq: Option<JqOption>, format: Format, context: &Context) -> Result<(), CommandError> {
    let lock = surface.to_lock();
    match jq {
        Some(mut jq) => jq.run(lock.as_bytes(), context),
        None if context.printer.is_terminal && format == Format::Human => {
            let (palette, width) = (context.printer.palette, context.printer.width);
            context.printer.text(&text(surface, &palette, width))
        }
        None => context.printer.write(lock.as_bytes()),
    }
}
