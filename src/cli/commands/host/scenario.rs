//! `host --scenario`: plays a scenario and reports the result.

use super::{ClockArg, Format, HostArgs, setup};
use crate::cli::hosting::play;
use crate::cli::hosting::verdict::{self, Junit};
use crate::cli::{Context, Outcome, client_session};
use crate::error::CommandError;
use crate::host::client::EraChoice;
use crate::host::engine::HostConfig;
use crate::proposals::host::ServerView;
use crate::record::recording::Need;
use crate::render;
use crate::runtime::model::Model;
use crate::scenario::Observation;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Plays a scenario and reports the result.
///
/// # Errors
///
/// The scenario cannot be read, its servers cannot be reached, or the reel or report cannot be written.
pub(super) fn run(path: &Path, model: &Model, args: &HostArgs, context: &Context) -> Result<Outcome, CommandError> {
    let scenario = play::read(path)?;
    let junit = args.junit.as_deref().map(Junit::open).transpose()?;
    let servers: Vec<ServerView> =
        scenario.servers.iter().map(|plan| ServerView { name: plan.name.clone(), ..ServerView::default() }).collect();
    let mut observe = |at: Duration, seen: &Observation<'_>| match args.trace {
        true => show_seen(at, seen, &servers, args, context),
        false => Ok(()),
    };
    let is_virtual = play::is_virtual(&scenario, args.clock.map(|clock| clock == ClockArg::Virtual));
    let (mut report, reel) = if is_virtual {
        let reel = args.client.reel("host")?;
        (play::play_virtual(&scenario, &reel, model, &mut observe)?, reel)
    } else {
        client_session::block_on(async {
            let recording = args.client.recording("host", Need::ToBegin)?;
            let lay_over = |config: &mut HostConfig| {
                for server in &mut config.servers {
                    let own = std::mem::replace(&mut server.client, args.client.with_handshake().config(json!({})));
                    if own.era != EraChoice::Auto {
                        server.client.era = own.era;
                    }
                }
                args.client.timeout_given().map_or(Ok(()), |time| setup::bound_answers(&mut config.policies, time))
            };
            let played = play::play_real(
                (&scenario, args.target.limits),
                lay_over,
                (recording.recorder(), model),
                &mut observe,
                context,
            )
            .await;
            let (_, end) = recording.finish();
            Ok((played?, end.place()))
        })?
    };
    report.validated(&play::errors(&reel)?);
    let file = path.display().to_string();
    if let Some(junit) = junit {
        junit.write(&report, &file)?;
    }
    match args.format {
        Format::Json => context.printer.json(&play::to_json(&report, Some(&reel)))?,
        Format::Human => {
            let text = verdict::text(&report, &file, context.verbose > 0, &context.printer.palette);
            context.printer.text(&text)?;
            context.printer.note(&format!("the session was recorded in {}", reel.display()));
        }
    }
    Ok(verdict::outcome(&report))
}

fn show_seen(
    at: Duration,
    seen: &Observation<'_>,
    servers: &[ServerView],
    args: &HostArgs,
    context: &Context,
) -> Result<(), CommandError> {
    let palette = &context.printer.palette;
    let line = match (seen, args.format) {
        (Observation::HostEvent(event), Format::Human) => render::host::event_line(event, servers, palette),
        (Observation::HostEvent(event), Format::Json) => {
            render::text::json(&render::host::event_value(event, servers, at))
        }
        (Observation::Prompt(prompt), Format::Human) if args.prompts => render::host::prompt(prompt, palette),
        (Observation::Prompt(prompt), Format::Json) => render::text::json(&render::host::prompt_value(prompt, at)),
        (Observation::OrderResult(done), Format::Human) => render::host::done(done, palette),
        (Observation::OrderResult(done), Format::Json) => render::text::json(&render::host::done_value(done, at)),
        _ => return Ok(()),
    };
    if line.is_empty() { Ok(()) } else { context.printer.line(&line) }
}
