//! Replays one session once.

use super::compare::Comparison;
use super::report::{self, Replayed};
use super::{NewReel, ReplayArgs};
use crate::cli::Context;
use crate::cli::client_session::{self, ClientOptions};
use crate::diff::Report;
use crate::error::{CommandError, ErrorKind};
use crate::render::replayed::{Request, SessionReport};
use crate::replay::{End, Outcome, Output, Plan, ReplayEngine, Sent, modern};
use crate::runtime;
use crate::runtime::client::{Runner, ServerText};
use crate::wire::text::{counted, excerpt};
use crate::wire::units::millis;
use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime};

/// The maximum length of a server's message in an error, in characters.
const LONGEST_REASON: usize = 100;

/// What came of the live session.
struct Played {
    outcome: Outcome,
    sent: Sent,
    latencies: HashMap<u64, Duration>,
    /// The first difference, if the replay ended there.
    stopped: Option<Report>,
    /// Why it did not reach its end.
    failure: Option<CommandError>,
}

/// Replays a session, and compares it with the recording. `number` counts the new sessions of this command.
///
/// # Errors
///
/// The options are not valid, the server cannot be reached, or a reel cannot be read or written. What fails later is in
/// the result.
pub(super) fn replay(
    plan: &Plan,
    number: usize,
    run: u32,
    args: &ReplayArgs,
    context: &Context,
) -> Result<Replayed, CommandError> {
    let reel = args.reel_of(number)?;
    let comparison = Comparison::new(plan, args)?;
    if comparison.is_of_redacted() && number == 1 {
        context.printer.note(&format!("{} was redacted; replaced values are not compared", args.reel.display()));
    }
    let (began, since) = (SystemTime::now(), Instant::now());
    report_omissions(plan, context);
    let played = runtime::block_on(play(plan, &reel, &comparison, args, context))?;
    let report = match (played.stopped, &played.failure) {
        (Some(report), _) => Some(report),
        (None, Some(_)) => None,
        (None, None) => Some(comparison.sessions(&played.sent, &reel.path)?),
    };
    let outcome = &played.outcome;
    let requests = plan.requests().map(|(seq, message)| {
        let latency_ms = played.latencies.get(&seq).map(|latency| latency.as_secs_f64() * 1e3);
        Request { seq, message, latency_ms }
    });
    let view = SessionReport {
        recording: args.reel.display().to_string(),
        session: reel.shown.clone(),
        stream: plan.stream(),
        run,
        began_ns: since_epoch(began),
        took_ms: since.elapsed().as_secs_f64() * 1e3,
        is_stopped: outcome.end == Some(End::Stopped),
        sent: outcome.sent,
        sent_requests: outcome.sent_requests,
        answered: outcome.answered,
        requests: requests.collect(),
        omitted: report::omitted(plan),
        notes: outcome.notes.iter().map(ToString::to_string).collect(),
        ..SessionReport::default()
    };
    let error = played.failure.or_else(|| timed_out(outcome)).or_else(|| incomplete(plan, report.as_ref()));
    let replayed = Replayed::new(view, report, error).redacted(&args.redact)?;
    Ok(Replayed { reel: Some(reel), ..replayed })
}

async fn play(
    plan: &Plan,
    reel: &NewReel,
    comparison: &Comparison<'_>,
    args: &ReplayArgs,
    context: &Context,
) -> Result<Played, CommandError> {
    let client = ClientOptions::replaying(reel.path.clone(), args.timeout).overwriting(args.force);
    let engine = ReplayEngine::new(plan.clone(), args.settings()?);
    let (link, peer) = client_session::start(&args.target, &client, context).await?;
    let mut runner = Runner::start(engine, link).await;
    let (mut stopped, mut same, mut latencies) = (None, 0, HashMap::new());
    let mut progress = context.printer.progress_of("replaying", plan.expected_answers() as u64);
    while let Some(output) = runner.next(None).await {
        match output {
            Output::Finished => break,
            Output::Note(note) => progress.aside(|| context.printer.note(&note.to_string())),
            Output::Answered { seq, method, message, latency } => {
                latencies.insert(seq, latency);
                progress.reach(latencies.len() as u64);
                progress.aside(|| comment(seq, &method, &message, latency, plan, context));
                match comparison.answer(seq, &message).filter(|_| args.fail_fast) {
                    Some(report) if report.is_empty() => same += 1,
                    Some(report) => {
                        stopped = Some(Report { same, ..report });
                        let outputs = runner.engine.stop();
                        runner.take(outputs);
                    }
                    None => {}
                }
            }
            Output::Send(_) => {}
        }
    }
    progress.finish();
    let (outcome, sent) = (runner.engine.outcome().clone(), runner.engine.sent().clone());
    let said = std::mem::take(&mut runner.said);
    runner.close().await;
    let failure = match failure(&outcome, plan, reel, &said) {
        Some(error) => Some(peer.end_after(error, context.notices()).await),
        None => peer.end(context.notices()).await.err(),
    };
    Ok(Played { outcome, sent, latencies, stopped, failure })
}

/// Reports an answer: with -v, its latency; and what to do if the server knows no handshake.
fn comment(seq: u64, method: &str, message: &[u8], latency: Duration, plan: &Plan, context: &Context) {
    if context.verbose > 0 {
        context.printer.note(&format!("{method} (seq {seq}) was answered after {} ms", millis(latency)));
    }
    let was_refused = plan.exchange(seq).is_some_and(|(_, answer)| modern::refuses_handshake(answer.body()));
    if method == "initialize" && !was_refused && modern::refuses_handshake(message) {
        context
            .printer
            .note("the server refused initialize: it may be of the modern era; replay the recording with --era modern");
    }
}

/// Reports what has no equivalent in the era of the live server.
fn report_omissions(plan: &Plan, context: &Context) {
    if !plan.is_for_modern() {
        return;
    }
    let mut counts: Vec<((&str, &str), usize)> = Vec::new();
    for omission in plan.omissions() {
        let key = (omission.label.as_str(), omission.why);
        match counts.iter_mut().find(|(known, _)| *known == key) {
            Some((_, count)) => *count += 1,
            None => counts.push((key, 1)),
        }
    }
    for ((label, why), count) in counts {
        let times = if count > 1 { format!("{count} × ") } else { String::new() };
        context.printer.note(&format!("{times}{label} is left out: {why}"));
    }
}

/// Why a replay could not reach its end.
fn failure(outcome: &Outcome, plan: &Plan, reel: &NewReel, said: &ServerText) -> Option<CommandError> {
    let state = format!("after {} of {}", outcome.answered, counted(plan.expected_answers() as u64, "answer"));
    let message = match outcome.end.as_ref()? {
        End::Stopped => return None,
        End::Unanswered => return timed_out(outcome),
        End::Closed => format!("the server ended {state}"),
        End::Lost(why) => format!("{why}, {state}"),
        End::Refused(why) => {
            let error = format!("the server refused server/discover: {}", excerpt(why, LONGEST_REASON));
            let error = client_session::failed(runtime::Failure::Failed(error.into()), said);
            return Some(
                error.hint("it may not speak revision 2026-07-28; without --era modern, it gets the recorded era"),
            );
        }
    };
    let error = client_session::failed(runtime::Failure::Failed(message.into()), said);
    Some(if reel.shown.is_empty() { error } else { error.hint(format!("what was said is in {}", reel.shown)) })
}

/// The error about a recording that lost something, so that a difference need not be one of the server.
fn incomplete(plan: &Plan, report: Option<&Report>) -> Option<CommandError> {
    let loss = plan.loss()?;
    let is_different = report.is_some_and(|report| !report.is_empty());
    let error = CommandError::new(ErrorKind::Input, format!("the recording is incomplete: {}", loss.why));
    let hint = "what it contains was replayed; a difference may come from what is missing";
    (loss.is_certain || is_different).then(|| error.hint(hint))
}

fn timed_out(outcome: &Outcome) -> Option<CommandError> {
    let error = CommandError::new(ErrorKind::Timeout, outcome.timed_out()?.to_string());
    Some(error.hint("allow more time with --timeout"))
}

fn since_epoch(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
