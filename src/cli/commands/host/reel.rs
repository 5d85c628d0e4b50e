//! `host --reel`: plays the recorded host of a session, with its timing.

use super::HostArgs;
use crate::cli::client_session::{self, ClientOptions};
use crate::cli::{Context, Outcome, recordings};
use crate::error::CommandError;
use crate::replay::{Output, Plan, ReplayEngine, Selection, Settings};
use crate::runtime;
use crate::runtime::client::Runner;
use crate::wire::text::counted;
use serde_json::json;
use std::path::Path;

pub(super) fn run(path: &Path, args: &HostArgs, context: &Context) -> Result<Outcome, CommandError> {
    args.target.refuse_session("the recorded host begins a session of its own")?;
    let sessions = recordings::chosen(path, &args.stream)?;
    let plans: Vec<Plan> = sessions.into_iter().map(|session| Plan::new(session, &Selection::default())).collect();
    if let Some(call) = plans.iter().find_map(|plan| plan.destructive().first()) {
        let error = CommandError::usage(format!("the recorded host calls {}, which may destroy data", call.tool));
        return Err(error.hint("`mcpreel replay --pace recorded --allow-destructive` plays it, too"));
    }
    let reel = args.client.reel("host")?;
    let has_several = plans.len() > 1;
    for (plan, number) in plans.into_iter().zip(1..) {
        if has_several {
            context.printer.note(&format!("session {}", plan.stream()));
        }
        play(plan, &recordings::numbered(&reel, number), args, context)?;
    }
    Ok(Outcome::Clean)
}

/// Plays one session, and records it in this reel.
fn play(plan: Plan, reel: &Path, args: &HostArgs, context: &Context) -> Result<(), CommandError> {
    let options =
        ClientOptions::replaying(reel.to_owned(), args.client.timeout_given()).overwriting(args.client.is_forced());
    let settings = Settings { speed: Some(1.0), timeout: args.client.timeout(), ..Settings::default() };
    let engine = ReplayEngine::new(plan, settings);
    runtime::block_on(async {
        let (link, peer) = client_session::start(&args.target, &options, context).await?;
        let mut runner = Runner::start(engine, link).await;
        while let Some(output) = runner.next(None).await {
            match output {
                Output::Finished => break,
                Output::Note(note) => context.printer.note(&note.to_string()),
                Output::Answered { .. } | Output::Send(_) => {}
            }
        }
        let outcome = runner.engine.outcome().clone();
        runner.close().await;
        peer.end(context.notices()).await?;
        let sent = counted(outcome.sent as u64, "message");
        context.printer.note(&format!("{sent} sent, {}", counted(outcome.answered as u64, "answer")));
        if args.format == super::Format::Json {
            context.printer.json(&json!({"event": "reel", "path": reel.display().to_string()}))?;
        } else {
            context.printer.note(&format!("the session was recorded in {}", reel.display()));
        }
        Ok(())
    })
}
