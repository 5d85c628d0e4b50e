//! Messages that a server sends of its own accord: to the host that started it, to a host that connects, or in a live
//! session, once or repeatedly. [`Emission`] is implemented by each kind of message.

use super::Format;
use crate::cli::commands::serve::{Reaction, ServeCommon, ServeExtras, run_server};
use crate::cli::repeat::{Repeating, Tally};
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::host::client::Answer;
use crate::proposals::mcpe::EVENT;
use crate::proposals::{self, Declared, REGISTRY};
use crate::render::fired;
use crate::render::text;
use crate::runtime::parameters;
use crate::server::{Config, Fired, Output, Plan, Report, Server};
use crate::sessions::live::{self, Live};
use crate::wire::edit::with_members;
use crate::wire::units::parse_time;
use crate::wire::{Envelope, json};
use clap::Args;
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::HashSet;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// When and to whom a message is sent.
#[derive(Debug, Args)]
pub(super) struct DeliveryOptions {
    /// Wait this long after the handshake.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse_time)]
    after: Duration,
    /// Send only when the process receives SIGUSR1.
    #[arg(long, conflicts_with_all = ["repeat", "interval"])]
    on_signal: bool,
    /// Send in this live session, as its server; `mcpreel sessions` lists them.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["after", "on_signal", "seed"])]
    session: Option<String>,
    /// Output format of the result, with --session.
    #[arg(short, long, value_enum, default_value_t = Format::Human, requires = "session", hide_default_value = true)]
    format: Format,
    #[command(flatten)]
    repeating: Repeating,
    #[command(flatten)]
    pub common: ServeCommon,
}

impl DeliveryOptions {
    /// Keeps stdin for the host that started this command as its server, if there is one.
    pub(super) fn keep_stdin(&self) {
        if self.session.is_none() && !self.common.is_listening() {
            parameters::keep_stdin_for("the host that started this command sends its messages there");
        }
    }
}

/// A message that a server sends.
pub(super) trait Emission {
    /// Its name, which is also the name of the live session if a server is started for it.
    fn name(&self) -> &'static str;

    /// What the built-in server is to send; it was sent `done` times before.
    ///
    /// # Errors
    ///
    /// The arguments are invalid.
    fn fired(&self, done: u64) -> Result<Fired, CommandError>;

    /// The method of the message.
    fn method(&self) -> &'static str;

    /// The settings of a proposal that the built-in server needs for it, by the proposal's name.
    fn settings(&self) -> Option<(&'static str, Value)>;

    /// Refuses a message that only the server of a session can send, not mcpreel next to it.
    ///
    /// # Errors
    ///
    /// It is such a message.
    fn check_beside(&self) -> Result<(), CommandError> {
        Ok(())
    }

    /// What to send, and with which settings, next to a recorded server that has declared this.
    ///
    /// # Errors
    ///
    /// The message cannot be sent next to a server.
    fn beside(&self, _declared: &Declared, done: u64) -> Result<PreparedMessage, CommandError> {
        Ok((self.fired(done)?, self.settings()))
    }

    /// What the user should know, given what both sides of the session have declared.
    fn caution(&self, declared: &Declared) -> Option<String>;

    /// Whether the result is a success.
    fn is_good(&self, report: &Value) -> bool;

    /// The result as text.
    fn for_people(&self, report: &Value) -> String {
        fired::text(self.method(), report)
    }
}

/// What to send, and the settings of the proposal that it needs.
pub(super) type PreparedMessage = (Fired, Option<(&'static str, Value)>);

/// Sends it as the options say.
///
/// # Errors
///
/// The options are invalid, the session or server fails, or no response arrives in time.
pub(super) fn run(
    emission: &impl Emission,
    ways: &DeliveryOptions,
    context: &Context,
) -> Result<Outcome, CommandError> {
    ways.keep_stdin();
    let mut tally = ways.repeating.tally()?;
    match &ways.session {
        Some(name) => into_session(emission, &live::find(name)?, ways, &mut tally, context)?,
        None => as_server(emission, ways, &mut tally, context)?,
    }
    tally.finish(context)
}

/// What to do if a user rather than a host starts the command.
const NEEDS_A_HOST: &str = "waiting for a host's handshake on stdin, after which the message is sent; to send it in a \
                            running session, use --session NAME; to wait for a host over HTTP, use --listen PORT";

/// Sends it as the server that a host has started or connects to.
fn as_server(
    emission: &impl Emission,
    ways: &DeliveryOptions,
    tally: &mut Tally,
    context: &Context,
) -> Result<(), CommandError> {
    let fire = emission.fired(0)?;
    let mut config = ways.common.config();
    config.settings.extend(emission.settings().map(|(proposal, settings)| (proposal.to_owned(), settings)));
    let (mut on_signal, mut wanted) = (Vec::new(), None);
    if ways.on_signal {
        on_signal.push(fire);
    } else {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let Repeating { repeat, interval, .. } = ways.repeating;
        let every_ms = (repeat > 1).then(|| milliseconds(interval));
        config.plans.push(Plan { after_ms: milliseconds(ways.after), every_ms, times: Some(repeat), fire });
        // With --listen, the work is done when this many are settled.
        wanted = Some(repeat);
    }
    if std::io::stdin().is_terminal() && !ways.common.is_listening() {
        context.printer.note(NEEDS_A_HOST);
    }
    let (mut watch, is_ready) = (AnswerWatcher::new(emission.method()), Cell::new(false));
    run_server(
        emission.name(),
        config,
        ServeExtras { on_signal, ..ServeExtras::default() },
        &ways.common,
        context,
        |report| {
            is_ready.set(is_ready.get() || *report == Report::Ready);
            let report = serde_json::to_value(report).unwrap_or_default();
            if !watch.settles(&report) {
                return Reaction::Quiet;
            }
            take(emission, &report, tally, context);
            if wanted.is_some_and(|wanted| tally.taken() >= wanted) { Reaction::PrintAndEnd } else { Reaction::Print }
        },
    )?;
    tally.lose(watch.open.len() as u64);
    if !is_ready.get() {
        context.printer.note("not sent: no host completed the handshake");
    }
    Ok(())
}

/// Sends it in a live session: by the session's server if that is `mcpreel serve`, else next to the messages of the
/// server.
fn into_session(
    emission: &impl Emission,
    session: &Live,
    ways: &DeliveryOptions,
    tally: &mut Tally,
    context: &Context,
) -> Result<(), CommandError> {
    let (since, mut reported) = (Instant::now(), Vec::new());
    let mut due = Some(Duration::ZERO);
    while let Some(at) = due {
        std::thread::sleep(at.saturating_sub(since.elapsed()));
        let (began, done) = (since.elapsed(), tally.taken());
        let outcome = match session.text("role") {
            Some("serve") => by_server(emission, session, done, &ways.common, context)?,
            _ => beside(emission, session, done, &ways.common, context)?,
        };
        if let Some(report) = outcome {
            let shown = match ways.format {
                Format::Human => emission.for_people(&report),
                Format::Json => text::json(&report),
            };
            context.printer.line(&shown)?;
            context.printer.flush().map_err(CommandError::output)?;
            take(emission, &report, tally, context);
            reported.push(report);
            ways.common.write_reports(&reported)?;
        } else {
            tally.lose(1);
        }
        due = ways.repeating.next(tally.taken(), began);
    }
    Ok(())
}

/// How often to ask whether a host has completed its handshake.
const PAUSE: Duration = Duration::from_millis(100);

/// Makes the session's server send it, as soon as a host has completed its handshake.
fn by_server(
    emission: &impl Emission,
    session: &Live,
    done: u64,
    common: &ServeCommon,
    context: &Context,
) -> Result<Option<Value>, CommandError> {
    let (since, mut is_waiting) = (Instant::now(), false);
    loop {
        let outcome = ordered(emission, session, done, common)?;
        let is_early = outcome.as_ref().is_some_and(|report| report["reason"]["why"] == "not_ready");
        if !is_early || since.elapsed() >= common.answer_timeout() {
            return Ok(outcome);
        }
        if !std::mem::replace(&mut is_waiting, true) {
            note_waiting(session, "a host's handshake with the server", common, context);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Reports that the message is not sent yet, and what it waits for.
fn note_waiting(session: &Live, what: &str, common: &ServeCommon, context: &Context) {
    let (at_most, name) = (common.answer_timeout(), &session.name);
    context.printer.note(&format!("{name}: waiting up to {at_most:?} for {what}, after which the message is sent"));
}

/// Makes the session's server send it now. Returns the result.
fn ordered(
    emission: &impl Emission,
    session: &Live,
    done: u64,
    common: &ServeCommon,
) -> Result<Option<Value>, CommandError> {
    let (mut watch, mut outcome) = (AnswerWatcher::new(emission.method()), None);
    let fired = serde_json::to_value(emission.fired(done)?).unwrap_or_default();
    let fired_at = Instant::now();
    let reported = live::fire(session, &fired, common.answer_timeout(), |report| {
        if watch.settles(report) {
            outcome = Some(report.clone());
        }
    });
    match reported {
        // The server may wait longer for the response than we do.
        Err(error) if error.kind == ErrorKind::Timeout && outcome.is_none() => {
            let (id, method) = (watch.open.iter().next(), emission.method());
            let after = u64::try_from(fired_at.elapsed().as_micros()).unwrap_or(u64::MAX);
            outcome = Some(json!({"report": "unanswered", "id": id, "method": method, "after_us": after}));
        }
        reported => reported?,
    }
    Ok(outcome)
}

/// Injects it into a recorded session, to its client. The built-in server composes the message and takes the
/// response, so the result is reported as that server reports it.
fn beside(
    emission: &impl Emission,
    session: &Live,
    done: u64,
    common: &ServeCommon,
    context: &Context,
) -> Result<Option<Value>, CommandError> {
    emission.check_beside()?;
    let opening = live::await_handshake(session, common.answer_timeout(), || {
        note_waiting(session, "the handshake of client and server", common, context);
    })?;
    let server = opening.handshake.map(|handshake| handshake.server_capabilities).unwrap_or_default();
    let declared = Declared { client: opening.client_capabilities, server, ..Declared::default() };
    let (fired, settings) = emission.beside(&declared, done)?;
    let mut config = common.config();
    config.settings.extend(settings.map(|(proposal, settings)| (proposal.to_owned(), settings)));
    let timeout = config.answer_deadline;
    let mut stand_in = StandIn::new(config, emission.method());
    let (message, mut settled) = stand_in.take(|server| server.fire(Duration::ZERO, &fired));
    let Some(message) = message else { return Ok(settled) };
    // The id of a request is replaced with one that neither side uses.
    let own_id = Envelope::scan(&message).id.map(|id| String::from_utf8_lossy(id.0).into_owned());
    let id = format!("{}1", live::id_prefix());
    let message = if own_id.is_some() { with_members(&message, &[("id", id.as_str().into())]) } else { message };
    let own_id: Option<Value> = own_id.map(|id| serde_json::from_str(&id).unwrap_or_default());
    let receive = |earlier: &[u8]| {
        let (Some(own_id), mut earlier) = (&own_id, json::value_of(earlier)) else { return };
        if !earlier["params"].is_object() {
            return;
        }
        earlier["params"]["requestId"] = own_id.clone();
        stand_in.take(|server| server.receive(Duration::ZERO, earlier.to_string().as_bytes()));
    };
    let answer = match live::send(session, "client", &String::from_utf8_lossy(&message), timeout, receive) {
        Err(error) if error.kind == ErrorKind::Timeout => None,
        answer => answer?,
    };
    if let Some(caution) = emission.caution(&declared) {
        context.printer.note(&caution);
    }
    if let Some(own_id) = own_id {
        settled = match answer {
            Some(Answer { message, latency }) => {
                stand_in.take(|server| server.receive(latency, &with_members(&message, &[("id", own_id)]))).1
            }
            None => stand_in.take(|server| server.handle_timeout(timeout)).1,
        };
        if let Some(report) = &mut settled {
            report["id"] = id.into();
        }
    }
    Ok(settled)
}

/// The built-in server in place of a recorded one, facing a host that declares everything.
struct StandIn {
    server: Server,
    watch: AnswerWatcher,
}

impl StandIn {
    fn new(config: Config, method: &'static str) -> Self {
        let mut server = Server::new(config);
        let capabilities = proposals::host_capabilities(REGISTRY);
        for message in [
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
                "capabilities": capabilities, "clientInfo": {"name": "mcpreel", "version": env!("CARGO_PKG_VERSION")}}}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        ] {
            server.receive(Duration::ZERO, message.to_string().as_bytes());
        }
        Self { server, watch: AnswerWatcher::new(method) }
    }

    /// What it sends, and the result if it is now settled.
    fn take(&mut self, step: impl FnOnce(&mut Server) -> Vec<Output>) -> (Option<Vec<u8>>, Option<Value>) {
        let (mut message, mut settled) = (None, None);
        for output in step(&mut self.server) {
            match output {
                Output::Send(bytes) => message = Some(bytes),
                Output::Report(report) => {
                    let report = serde_json::to_value(report).unwrap_or_default();
                    if self.watch.settles(&report) {
                        settled = Some(report);
                    }
                }
                Output::IoRequest(_) => {}
            }
        }
        (message, settled)
    }
}

fn take(emission: &impl Emission, report: &Value, tally: &mut Tally, context: &Context) {
    let outcome = if emission.is_good(report) { Outcome::Clean } else { Outcome::Findings };
    let micros = report["latency_us"].as_u64();
    tally.take(report, Ok(outcome), micros.map(Duration::from_micros), context);
}

/// Finds the results of messages with one method.
struct AnswerWatcher {
    method: &'static str,
    /// Requests without a response so far.
    open: HashSet<i64>,
}

impl AnswerWatcher {
    fn new(method: &'static str) -> Self {
        Self { method, open: HashSet::new() }
    }

    /// Whether a report is the result of a message that was sent or should have been.
    fn settles(&mut self, report: &Value) -> bool {
        let (is_ours, id) = (report["method"] == self.method, report["id"].as_i64());
        match (report["report"].as_str(), id) {
            (Some("sent"), None) | (Some("not_sent"), _) => is_ours,
            // An event may match any number of subscriptions, even none: it is settled when it is published.
            (Some("published"), _) => self.method == EVENT,
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

    #[test]
    fn a_notification_is_settled_when_sent_and_a_request_when_answered() {
        let mut watch = AnswerWatcher::new("m");
        let report = |report: &str, method: &str, id: Value| json!({"report": report, "method": method, "id": id});
        assert!(watch.settles(&report("sent", "m", Value::Null)));
        assert!(!watch.settles(&report("sent", "other", Value::Null)));
        assert!(watch.settles(&report("not_sent", "m", Value::Null)));
        assert!(!watch.settles(&report("sent", "m", json!(4))));
        assert!(!watch.settles(&report("answered", "m", json!(3))), "another request's");
        assert_eq!(watch.open.len(), 1);
        assert!(watch.settles(&report("refused", "m", json!(4))));
        assert!(!watch.settles(&report("refused", "m", json!(4))), "once");
    }
}
