//! What a server fires of its own will: as a host's server, to a host that connects, or into a live session; once or
//! often. What is fired tells the rest ([`Emission`]).

use super::Format;
use super::repeat::{Repeating, Tally};
use crate::cli::commands::serve::{Besides, Reaction, ServeCommon, run_server};
use crate::cli::error::CommandError;
use crate::cli::live::{self, Live};
use crate::cli::target::span;
use crate::cli::{Context, Outcome};
use crate::server::{Fired, Plan, Report};
use clap::Args;
use serde_json::Value;
use std::cell::Cell;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// When it goes out, and to whom.
#[derive(Debug, Args)]
pub struct Ways {
    /// How long after the handshake.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = span)]
    after: Duration,
    /// Only when the process gets SIGUSR1.
    #[arg(long, conflicts_with_all = ["repeat", "interval"])]
    on_signal: bool,
    /// Into a live session instead, as its server: `mcpreel sessions` lists them.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["after", "on_signal", "seed"])]
    session: Option<String>,
    /// How to print what came of it, with --session.
    #[arg(long, value_enum, default_value_t = Format::Human, requires = "session", hide_default_value = true)]
    format: Format,
    #[command(flatten)]
    repeating: Repeating,
    #[command(flatten)]
    pub common: ServeCommon,
}

/// Something that a server fires.
pub trait Emission {
    /// What it is called, and the live session of a server that is started for it.
    const NAME: &'static str;

    /// What the built-in server is told to send; `done` times it was fired already.
    fn fired(&self, done: u64) -> Result<Fired, CommandError>;

    /// The method that carries it.
    fn method(&self) -> &'static str;

    /// How a room of the built-in server is to be set for it.
    fn settings(&self) -> Option<(&'static str, Value)>;

    /// Puts it into a tapped session, toward its client; what came of it, as the built-in server reports it.
    fn beside(&self, session: &Live, done: u64, common: &ServeCommon, context: &Context)
    -> Result<Value, CommandError>;

    /// Whether what came of it is good.
    fn is_good(&self, fact: &Value) -> bool;

    /// What came of it, in lines.
    fn for_people(&self, fact: &Value) -> String;
}

/// Fires it in the way that was asked for.
pub fn run(emission: &impl Emission, ways: &Ways, context: &Context) -> Result<Outcome, CommandError> {
    let mut tally = ways.repeating.tally()?;
    match &ways.session {
        Some(name) => into_session(emission, &live::find(name)?, ways, &mut tally, context)?,
        None => as_server(emission, ways, &mut tally, context)?,
    }
    tally.finish(context)
}

/// As the server that a host has started, or connects to.
fn as_server(emission: &impl Emission, ways: &Ways, tally: &mut Tally, context: &Context) -> Result<(), CommandError> {
    let fire = emission.fired(0)?;
    let mut config = ways.common.config();
    config.settings.extend(emission.settings().map(|(room, settings)| (room.to_owned(), settings)));
    let (mut on_signal, mut wanted) = (Vec::new(), None);
    if ways.on_signal {
        on_signal.push(fire);
    } else {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let Repeating { repeat, interval, .. } = ways.repeating;
        let every_ms = (repeat > 1).then(|| milliseconds(interval));
        config.plans.push(Plan { after_ms: milliseconds(ways.after), every_ms, times: Some(repeat), fire });
        // Where it listens, it has done its work when so many are settled.
        wanted = Some(repeat);
    }
    let (mut watch, is_ready) = (Watch::new(emission.method()), Cell::new(false));
    run_server(
        emission_name(emission),
        config,
        Besides { on_signal, ..Besides::default() },
        &ways.common,
        context,
        |fact| {
            is_ready.set(is_ready.get() || *fact == Report::Ready);
            let fact = serde_json::to_value(fact).unwrap_or_default();
            if !watch.settles(&fact) {
                return Reaction::Quiet;
            }
            take(emission, &fact, tally, context);
            if wanted.is_some_and(|wanted| tally.taken() >= wanted) { Reaction::TellAndEnd } else { Reaction::Tell }
        },
    )?;
    tally.lose(watch.open.len() as u64);
    if !is_ready.get() {
        context.printer.note("not sent: no host completed the handshake");
    }
    Ok(())
}

fn emission_name<E: Emission>(_: &E) -> &'static str {
    E::NAME
}

/// Into a live session: has a server of ours fire it, or puts it in beside the server's own messages.
fn into_session(
    emission: &impl Emission,
    session: &Live,
    ways: &Ways,
    tally: &mut Tally,
    context: &Context,
) -> Result<(), CommandError> {
    let (since, mut told) = (Instant::now(), Vec::new());
    let mut due = Some(Duration::ZERO);
    while let Some(at) = due {
        std::thread::sleep(at.saturating_sub(since.elapsed()));
        let (began, done) = (since.elapsed(), tally.taken());
        let mut outcome = None;
        if session.text("role") == Some("serve") {
            let mut watch = Watch::new(emission.method());
            let fired = serde_json::to_value(emission.fired(done)?).unwrap_or_default();
            live::fire(session, &fired, ways.common.answer_timeout(), |fact| {
                if watch.settles(fact) {
                    outcome = Some(fact.clone());
                }
            })?;
        } else {
            outcome = Some(emission.beside(session, done, &ways.common, context)?);
        }
        if let Some(fact) = outcome {
            let shown = match ways.format {
                Format::Human => emission.for_people(&fact),
                Format::Json => fact.to_string(),
            };
            context.printer.line(&shown)?;
            context.printer.flush().map_err(CommandError::output)?;
            take(emission, &fact, tally, context);
            told.push(fact);
            ways.common.write_facts(&told)?;
        } else {
            tally.lose(1);
        }
        due = ways.repeating.next(tally.taken(), began);
    }
    Ok(())
}

fn take(emission: &impl Emission, fact: &Value, tally: &mut Tally, context: &Context) {
    let outcome = if emission.is_good(fact) { Outcome::Clean } else { Outcome::Findings };
    let micros = fact["latency_us"].as_u64();
    tally.take(fact, Ok(outcome), micros.map(Duration::from_micros), context);
}

/// Finds what came of what goes out by one method.
struct Watch {
    method: &'static str,
    /// Requests that have no answer yet.
    open: HashSet<i64>,
}

impl Watch {
    fn new(method: &'static str) -> Self {
        Self { method, open: HashSet::new() }
    }

    /// Whether a fact is the end of something that went out, or was to.
    fn settles(&mut self, fact: &Value) -> bool {
        let (is_ours, id) = (fact["method"] == self.method, fact["id"].as_i64());
        match (fact["report"].as_str(), id) {
            (Some("sent"), None) | (Some("not_sent"), _) => is_ours,
            (Some("sent"), Some(id)) => {
                if is_ours {
                    self.open.insert(id);
                }
                false
            }
            (_, Some(id)) => self.open.remove(&id),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_notification_is_settled_when_sent_and_a_request_when_answered() {
        let mut watch = Watch::new("m");
        let fact = |report: &str, method: &str, id: Value| json!({"report": report, "method": method, "id": id});
        assert!(watch.settles(&fact("sent", "m", Value::Null)));
        assert!(!watch.settles(&fact("sent", "other", Value::Null)));
        assert!(watch.settles(&fact("not_sent", "m", Value::Null)));
        assert!(!watch.settles(&fact("sent", "m", json!(4))));
        assert!(!watch.settles(&fact("answered", "m", json!(3))), "another request's");
        assert_eq!(watch.open.len(), 1);
        assert!(watch.settles(&fact("refused", "m", json!(4))));
        assert!(!watch.settles(&fact("refused", "m", json!(4))), "once");
    }
}
