//! `host --scenario`: plays a scenario and reports the result.

use super::{ClockArg, Format, HostArgs, setup};
use crate::cli::target::{Limits, Target};
use crate::cli::verdict::{self, Junit};
use crate::cli::{Context, Outcome};
use crate::clock;
use crate::error::CommandError;
use crate::host::client::EraChoice;
use crate::host::engine::HostConfig;
use crate::proposals::host::ServerView;
use crate::record::recording::Need;
use crate::render;
use crate::runtime;
use crate::runtime::host_servers::{NamedServer, ServerLocation};
use crate::runtime::model::Model;
use crate::runtime::play;
use crate::runtime::play::real_time::RealTimePlay;
use crate::runtime::play::virtual_time::record_play;
use crate::scenario::{Clock, Observation, Player, Report, Scenario, ServerKind, ServerPlan};
use crate::share::Learner;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Plays a scenario and reports the result.
///
/// # Errors
///
/// The scenario cannot be read, its servers cannot be reached, or the reel or report cannot be written.
pub(super) fn run(path: &Path, model: &Model, args: &HostArgs, context: &Context) -> Result<Outcome, CommandError> {
    let junit = args.junit.as_deref().map(Junit::open).transpose()?;
    let is_only_seen = junit.is_none() && context.printer.is_terminal;
    let played = play::read(path).and_then(|scenario| {
        let (mut report, reel) = played(&scenario, model, args, context)?;
        verdict::redact(&mut report, Some(&reel), &args.redact, is_only_seen)?;
        Ok((report, reel))
    });
    let ((report, reel), junit) = Junit::unless_broken(junit, path, played)?;
    let file = path.display().to_string();
    if let Some(junit) = junit {
        junit.write(&report, &file)?;
    }
    match args.format {
        Format::Json => context.printer.json(&verdict::to_json(&report, Some(&reel)))?,
        Format::Human => {
            let text = verdict::text(&report, &file, context.verbose > 0, &context.printer.palette);
            context.printer.text(&text)?;
            context.printer.note(&format!("the session was recorded in {}", reel.display()));
        }
    }
    Ok(verdict::outcome(&report))
}

/// Plays the scenario. Returns the path of the reel, too.
fn played(
    scenario: &Scenario,
    model: &Model,
    args: &HostArgs,
    context: &Context,
) -> Result<(Report, PathBuf), CommandError> {
    let servers: Vec<ServerView> =
        scenario.servers.iter().map(|plan| ServerView { name: plan.name.clone(), ..ServerView::default() }).collect();
    let learner = args.redact.redact.then(|| args.redact.key.learner()).transpose()?;
    let mut redaction = learner.map(Learner::finish);
    let observe = |at: Duration, seen: &Observation<'_>| match args.trace {
        true => match seen_line(at, seen, &servers, args, context) {
            line if line.is_empty() => Ok(()),
            line => match &mut redaction {
                Some(redaction) => context.printer.line(&redaction.text(&line)),
                None => context.printer.line(&line),
            },
        },
        false => Ok(()),
    };
    let clock = args.clock.unwrap_or(match scenario.clock {
        Clock::Real => ClockArg::Real,
        Clock::Virtual => ClockArg::Virtual,
    });
    let (mut report, reel) = match clock {
        ClockArg::Virtual => {
            let reel = args.client.reel("host")?;
            (record_play(scenario, (&reel, args.client.is_forced()), model, observe)?, reel)
        }
        ClockArg::Real => play_real(scenario, model, args, observe, context)?,
    };
    report.validated(&play::validation_errors(&reel)?);
    Ok((report, reel))
}

/// Plays in real time. Returns the path of the reel, too.
fn play_real(
    scenario: &Scenario,
    model: &Model,
    args: &HostArgs,
    observe: impl FnMut(Duration, &Observation<'_>) -> Result<(), CommandError>,
    context: &Context,
) -> Result<(Report, PathBuf), CommandError> {
    runtime::block_on(async {
        let recording = args.client.recording("host", Need::ToBegin)?;
        let played = async {
            let play = RealTimePlay {
                player: Player::new(scenario),
                config: config(scenario, args)?,
                servers: &servers(scenario, args.target.limits, context)?,
                model: model.clone(),
                recorder: recording.recorder(),
            };
            play.run(observe, context.notices()).await
        };
        let played = played.await;
        let (_, end) = recording.finish();
        Ok((played?, end.place()))
    })
}

/// The scenario's configuration of the host, with what the options change.
fn config(scenario: &Scenario, args: &HostArgs) -> Result<HostConfig, CommandError> {
    let mut config = scenario.host_config();
    for server in &mut config.servers {
        let own = std::mem::replace(&mut server.client, args.client.with_handshake().config(json!({})));
        if own.era != EraChoice::Auto {
            server.client.era = own.era;
        }
    }
    if args.consent {
        setup::consent_to_all(&mut config.policies)?;
    }
    args.client.timeout_given().map_or(Ok(()), |time| setup::bound_answers(&mut config.policies, time))?;
    Ok(config)
}

/// The locations of the scenario's servers.
///
/// # Errors
///
/// A server cannot be found.
fn servers(scenario: &Scenario, limits: Limits, context: &Context) -> Result<Vec<NamedServer>, CommandError> {
    let now = clock::wall_ns();
    let place = |kind: &ServerKind| match kind {
        ServerKind::BuiltIn(config) => {
            let mut config = config.clone();
            config.wall_base_ns = now;
            Ok(ServerLocation::Builtin(config))
        }
        ServerKind::Command { command, env, cwd } => {
            Target::of_command_in(command, env, cwd.as_deref()).within(limits).location(context)
        }
        ServerKind::Url { url, headers } => Target::of_url(url, headers).within(limits).location(context),
    };
    let server = |plan: &ServerPlan| {
        let is_own = !matches!(plan.kind, ServerKind::Url { .. });
        Ok(NamedServer { name: plan.name.clone(), place: place(&plan.kind)?, is_own })
    };
    scenario.servers.iter().map(server).collect()
}

/// The line about what happens; empty if it does not belong to the transcript.
fn seen_line(
    at: Duration,
    seen: &Observation<'_>,
    servers: &[ServerView],
    args: &HostArgs,
    context: &Context,
) -> String {
    let palette = &context.printer.palette;
    match (seen, args.format) {
        (Observation::HostEvent(event), Format::Human) => render::host::event_line(event, servers, palette),
        (Observation::HostEvent(event), Format::Json) => {
            render::text::json(&render::host::event_value(event, servers, at))
        }
        (Observation::Prompt(prompt), Format::Human) if args.prompts => render::host::prompt(prompt, palette),
        (Observation::Prompt(prompt), Format::Json) => render::text::json(&render::host::prompt_value(prompt, at)),
        (Observation::OrderResult(done), Format::Human) => render::host::done(done, palette),
        (Observation::OrderResult(done), Format::Json) => render::text::json(&render::host::done_value(done, at)),
        _ => String::new(),
    }
}
