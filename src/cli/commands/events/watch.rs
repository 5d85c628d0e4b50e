//! `events watch`: a subscription whose events are printed as they arrive.

use super::Priority;
use crate::cli::client_session::{self, ClientOptions};
use crate::cli::target::Target;
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::host::client::{FailureReason, Handshake, Output, Params};
use crate::proposals::mcpe::client::{Arrival, DeliveredEvents, EventFault, check_support, without_lone_wildcard};
use crate::proposals::mcpe::{BATCH, EVENT, EXPIRED, delivers, is_mcpe};
use crate::proposals::tool_outcome;
use crate::render::line::visible_text;
use crate::runtime;
use crate::runtime::{Connection, Failure};
use crate::sessions::follow::notifications;
use crate::wire::text::counted;
use crate::wire::units::parse_time;
use crate::wire::{Envelope, json};
use clap::Args;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

const SUBSCRIBE: &str = "events_subscribe";

/// Subscribe to events and print each as one line of JSON as it arrives.
///
/// Batches are split, so that each line is one event. The subscription is cancelled at the end, even after Ctrl-C. If
/// the connection to a server that was not started by this command is lost, mcpreel reconnects and subscribes again;
/// events in between are lost. In a live session, the session's own client receives the events, too. Everything else
/// is reported on stderr; so are malformed events, events outside the filter and duplicates, which do not count.
#[derive(Debug, Args)]
#[command(mut_arg("era", |era| era.help("The era to use; auto tries `initialize` first. Subscriptions need the legacy era")))]
#[command(after_help = "\
Examples:
  mcpreel events watch 'github.*' -- my-server
  mcpreel events watch 'github.*' --tag bug --priority high -- my-server
  mcpreel events watch --cron '0 9 * * *' --url https://host/mcp
  mcpreel events watch deploy.done --expect 1 --for 10m -- my-server
  mcpreel events watch '*' --renew -- my-server | jq .type
  mcpreel events watch '*' --session my-server --no-reconnect

Exit codes: 0 all expected events arrived, or the time is over; \
1 fewer events than expected, or with --strict, any that did not count; 4 the server failed, has no events, or \
refused; 5 no response in time; 130 interrupted.")]
pub(crate) struct WatchArgs {
    /// Event types: an exact type, 'github.*' for all types below, '*' for all (default: all).
    #[arg(value_name = "TYPE")]
    types: Vec<String>,
    /// Only events with this tag (repeatable; one of them must match).
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Only events with this priority (repeatable; one of them must match).
    #[arg(long, value_enum)]
    priority: Vec<Priority>,
    /// Let the server collect events and deliver them on this schedule.
    #[arg(long, value_name = "EXPR")]
    cron: Option<String>,
    /// Let the server collect events and deliver them once, at this time (2026-01-31T09:00:00Z).
    #[arg(long, value_name = "TIME", conflicts_with = "cron")]
    at: Option<String>,
    /// The time zone of --cron or --at, as an IANA name.
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
    /// Subscribe again when the subscription expires.
    #[arg(long)]
    renew: bool,
    /// Exit with code 4 if the connection is lost, instead of reconnecting. Implied by a server's command and by
    /// --record.
    #[arg(long)]
    no_reconnect: bool,
    /// Exit after this many events.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    expect: Option<u64>,
    /// Exit with code 1 if the server delivered malformed events, events outside the filter, duplicates, events whose
    /// id is not a UUID, or events by another channel than you asked for.
    #[arg(long)]
    strict: bool,
    /// Exit after this time.
    #[arg(long = "for", value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,
    #[command(flatten)]
    client: ClientOptions,
    #[command(flatten)]
    target: Target,
}

impl WatchArgs {
    /// The arguments of `events_subscribe`.
    fn arguments(&self) -> Result<Value, CommandError> {
        let mut filter = Map::new();
        let priorities: Vec<&str> = self.priority.iter().map(|one| one.name()).collect();
        for (name, empty, value) in [
            ("eventTypes", self.types.is_empty(), json!(self.types)),
            ("tags", self.tags.is_empty(), json!(self.tags)),
            ("priority", priorities.is_empty(), json!(priorities)),
        ] {
            if !empty {
                filter.insert(name.to_owned(), value);
            }
        }
        let mut filter = Value::Object(filter);
        without_lone_wildcard(&mut filter);
        let mut delivery = match (&self.cron, &self.at) {
            (Some(expression), _) => json!({"channels": ["cron"], "cronSchedule": {"expression": expression}}),
            (None, Some(time)) => json!({"channels": ["scheduled"], "scheduledDelivery": {"deliverAt": time}}),
            (None, None) => json!({"channels": ["realtime"]}),
        };
        if let Some(zone) = &self.timezone {
            let member = match (&self.cron, &self.at) {
                (Some(_), _) => "cronSchedule",
                (None, Some(_)) => "scheduledDelivery",
                (None, None) => return Err(CommandError::usage("--timezone requires --cron or --at")),
            };
            delivery[member]["timezone"] = json!(zone);
        }
        Ok(json!({"filter": filter, "delivery": delivery}))
    }
}

/// Why watching ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Enough,
    Time,
    Expired,
    Interrupted,
}

/// Why watching on one connection failed.
enum Trouble {
    /// The connection was lost; a new one may succeed.
    Lost(CommandError),
    /// A new connection would fail, too.
    Final(CommandError),
}

impl From<CommandError> for Trouble {
    fn from(error: CommandError) -> Self {
        Self::Final(error)
    }
}

impl Trouble {
    fn into_error(self) -> CommandError {
        match self {
            Self::Lost(error) | Self::Final(error) => error,
        }
    }
}

/// How often a server that may vanish silently is sent a ping.
const PULSE: Duration = Duration::from_secs(5);
/// The delay before the first reconnect. It doubles each time, up to [`MAX_BACK_OFF`].
const BACK_OFF: Duration = Duration::from_millis(500);
const MAX_BACK_OFF: Duration = Duration::from_secs(30);

/// What a server's notification says about a subscription.
#[derive(Debug, PartialEq)]
enum SubscriptionEvent {
    Events {
        all: Vec<Value>,
        is_batch: bool,
    },
    /// A notification of events without its events.
    Malformed(String),
    Expired,
    /// The server no longer knows our session, and thus none of its subscriptions.
    Forgotten(String),
}

/// Reads a notification about a subscription: the subscription's id, empty if there is none, and what it says about it.
fn news(message: &[u8]) -> Option<(String, SubscriptionEvent)> {
    let envelope = Envelope::scan(message);
    let method = envelope.method.as_deref().filter(|method| [EVENT, BATCH, EXPIRED].contains(method))?;
    let params = envelope.params.map(json::value_of).unwrap_or_default();
    let id = params["subscriptionId"].as_str().unwrap_or_default().to_owned();
    let said = match (method, params["events"].as_array()) {
        (EVENT, _) => SubscriptionEvent::Events { all: vec![params["event"].clone()], is_batch: false },
        (BATCH, Some(events)) => SubscriptionEvent::Events { all: events.clone(), is_batch: true },
        (BATCH, None) => SubscriptionEvent::Malformed(format!("{BATCH} has no list of events")),
        _ => SubscriptionEvent::Expired,
    };
    Some((id, said))
}

/// How many events that do not count, or are odd, are reported one by one.
const MAX_REPORTED: u64 = 20;

/// The events so far, on all connections.
#[derive(Default)]
struct Tally {
    /// Those that were printed.
    printed: u64,
    /// Those that did not count.
    ignored: u64,
    /// Those that count, but are not quite what MCPE defines.
    odd: u64,
}

impl Tally {
    /// Counts an event that does not count for the user, and reports it.
    fn ignore(&mut self, what: &str, context: &Context) {
        self.ignored += 1;
        if self.ignored <= MAX_REPORTED {
            context.printer.note(&visible_text(&format!("ignored {what}")));
        }
    }

    /// Counts an event or a delivery that is not quite what MCPE defines, or what was asked for, and reports it.
    fn report_odd(&mut self, what: &str, context: &Context) {
        self.odd += 1;
        if self.odd <= MAX_REPORTED {
            context.printer.note(&visible_text(what));
        }
    }

    /// Reports what was not reported one by one.
    fn report_rest(&self, context: &Context) {
        if let Some(more @ 1..) = self.ignored.checked_sub(MAX_REPORTED) {
            context.printer.note(&format!("ignored {} more", counted(more, "event")));
        }
        if let Some(more @ 1..) = self.odd.checked_sub(MAX_REPORTED) {
            context.printer.note(&format!("{} more with a wrong id, timestamp or channel", counted(more, "event")));
        }
    }
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &WatchArgs, context: &Context) -> Result<Outcome, CommandError> {
    let arguments = args.arguments()?;
    let mut events = Tally::default();
    let ended = watch_on(args, &arguments, &mut events, context);
    events.report_rest(context);
    if let (Ok(End::Time), Some(expected)) = (&ended, args.expect.filter(|expected| events.printed < *expected)) {
        context.printer.note(&format!("{} of {expected} expected events arrived in time", events.printed));
    }
    ended.and_then(|end| outcome(end, &events, args))
}

/// Watches on one connection after another.
fn watch_on(args: &WatchArgs, arguments: &Value, events: &mut Tally, context: &Context) -> Result<End, CommandError> {
    let until = args.time.map(|time| Instant::now() + time);
    let is_over = || until.is_some_and(|until| Instant::now() >= until);
    runtime::block_on_to_the_end(async {
        let (mut wait, mut was_there) = (BACK_OFF, false);
        loop {
            let task = Task { args, arguments, until, context };
            let before = events.printed;
            let (ended, is_ours) = task.connect(events, &mut was_there).await;
            let error = match ended {
                Ok(end) => return Ok(end),
                Err(_) if was_there && is_over() => return Ok(End::Time),
                Err(Trouble::Lost(error)) if was_there && !args.no_reconnect && !is_ours => error,
                Err(trouble) => return Err(trouble.into_error()),
            };
            if events.printed > before {
                wait = BACK_OFF;
            }
            context.printer.note(&format!("{}; retrying in {wait:?}", visible_text(&error.message)));
            let rest = until.map_or(wait, |until| wait.min(until.saturating_duration_since(Instant::now())));
            let slept = async {
                tokio::time::sleep(rest).await;
                Ok(())
            };
            runtime::unless_ended(slept).await?;
            if is_over() {
                return Ok(End::Time);
            }
            wait = wait.saturating_mul(2).min(MAX_BACK_OFF);
        }
    })
}

/// What to do on each connection.
struct Task<'a> {
    args: &'a WatchArgs,
    arguments: &'a Value,
    until: Option<Instant>,
    context: &'a Context,
}

impl Task<'_> {
    /// Uses one connection until it ends. Also returns whether reconnecting makes no sense.
    async fn connect(&self, events: &mut Tally, was_there: &mut bool) -> (Result<End, Trouble>, bool) {
        let Self { args, context, .. } = *self;
        let started = runtime::unless_ended(client_session::start(&args.target, &args.client, context)).await;
        let (link, server) = match started {
            Ok(started) => started,
            Err(error) => return (Err(lost(error)), false),
        };
        let is_ours = server.is_started() || args.client.is_recording();
        let may_vanish = !server.is_started() && !server.is_joined();
        let options = args.client.with_handshake();
        let opening = client_session::open(&server, link, &options, json!({}), context);
        let (mut connection, handshake) = match self.in_time(runtime::unless_ended(opening)).await {
            Ok(opened) => opened,
            Err(error) => return (Err(lost(server.end_after(error, context.notices()).await)), is_ours),
        };
        let followed = match server.session().map(notifications).transpose() {
            Ok(followed) => followed,
            Err(error) => return (Err(Trouble::Lost(error)), is_ours),
        };
        let (inbox, id, delivered) = Default::default();
        let mut watch =
            ActiveSubscription { connection: &mut connection, context, inbox, id, delivered, may_vanish, followed };
        let ended = watch.watch(self, &handshake, events, was_there).await;
        if !matches!(ended, Err(Trouble::Lost(_))) {
            watch.unsubscribe().await;
        }
        connection.runner.close().await;
        let ended = match ended {
            Ok(end) => server.end(context.notices()).await.map(|_| end).map_err(Trouble::Final),
            Err(Trouble::Lost(error)) => Err(Trouble::Lost(server.end_after(error, context.notices()).await)),
            Err(Trouble::Final(error)) => Err(Trouble::Final(server.end_after(error, context.notices()).await)),
        };
        (ended, is_ours)
    }

    /// Runs a step before the subscription is active, at most until the time of --for is over.
    async fn in_time<T, E: From<CommandError>>(&self, step: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        let Some(until) = self.until else { return step.await };
        let too_late =
            || CommandError::new(ErrorKind::Timeout, "the time of --for was over before there was a subscription");
        tokio::time::timeout_at(until.into(), step).await.unwrap_or_else(|_| Err(too_late().into()))
    }
}

/// Classifies a failure to connect. Interruptions and usage errors are final.
fn lost(error: CommandError) -> Trouble {
    match error.kind {
        ErrorKind::Interrupted | ErrorKind::Usage => Trouble::Final(error),
        _ => Trouble::Lost(error),
    }
}

fn outcome(end: End, events: &Tally, args: &WatchArgs) -> Result<Outcome, CommandError> {
    match end {
        End::Interrupted => Err(CommandError::new(ErrorKind::Interrupted, "interrupted")),
        _ if args.expect.is_some_and(|expected| events.printed < expected) => Ok(Outcome::Findings),
        _ if args.strict && events.ignored + events.odd > 0 => Ok(Outcome::Findings),
        _ => Ok(Outcome::Clean),
    }
}

/// An active subscription.
struct ActiveSubscription<'a> {
    connection: &'a mut Connection,
    context: &'a Context,
    /// Notifications that are not handled yet: one may arrive before the response that makes its subscription known.
    inbox: VecDeque<(String, SubscriptionEvent)>,
    id: Option<String>,
    delivered: DeliveredEvents,
    /// Whether the server may vanish silently.
    may_vanish: bool,
    /// The messages of a live session's server to its client.
    followed: Option<mpsc::UnboundedReceiver<Vec<u8>>>,
}

impl ActiveSubscription<'_> {
    async fn watch(
        &mut self,
        task: &Task<'_>,
        handshake: &Handshake,
        events: &mut Tally,
        was_there: &mut bool,
    ) -> Result<End, Trouble> {
        task.in_time(unless_ended(self.check_support(handshake))).await?;
        check_support(handshake.server_capabilities.get("events"), task.arguments)
            .map_err(|why| CommandError::new(ErrorKind::Peer, why))?;
        task.in_time(unless_ended(self.subscribe(task.arguments))).await?;
        if std::mem::replace(was_there, true) {
            self.context.printer.note("reconnected and subscribed again; events in between are lost");
        }
        let left = |until: Instant| until.saturating_duration_since(Instant::now());
        let until = task.until.map(|until| self.connection.runner.now() + left(until));
        let mut pulse = self.connection.runner.now() + PULSE;
        loop {
            while let Some((id, said)) = self.inbox.pop_front() {
                if let Some(end) = self.take_in(task, &id, said, events).await? {
                    return Ok(end);
                }
            }
            let next = until.into_iter().chain(self.may_vanish.then_some(pulse)).min();
            let output = tokio::select! {
                output = self.connection.runner.next(next) => output,
                message = received(&mut self.followed) => {
                    self.inbox.extend(news(&message));
                    continue;
                }
                _ = runtime::ended() => return Ok(End::Interrupted),
            };
            let now = self.connection.runner.now();
            match output {
                Some(Output::Failed { handle: None, reason }) => return Err(self.lost(Failure::Failed(reason))),
                Some(output) => take(&output, &mut self.inbox, self.context),
                None if until.is_some_and(|until| now >= until) => return Ok(End::Time),
                None if self.may_vanish && now >= pulse => {
                    unless_ended(self.feel_pulse()).await?;
                    pulse = self.connection.runner.now() + PULSE;
                }
                None => return Err(self.lost(Failure::Failed(FailureReason::Closed(String::new())))),
            }
        }
    }

    /// Handles a notification. Returns an end if there is nothing more to wait for.
    async fn take_in(
        &mut self,
        task: &Task<'_>,
        id: &str,
        said: SubscriptionEvent,
        events: &mut Tally,
    ) -> Result<Option<End>, Trouble> {
        match said {
            SubscriptionEvent::Forgotten(reason) => return Err(self.lost(Failure::Failed(reason.into()))),
            // A session's client has subscriptions of its own.
            _ if self.id.as_deref() != Some(id) && self.followed.is_some() => {}
            SubscriptionEvent::Expired if self.id.as_deref() != Some(id) => {}
            _ if self.id.as_deref() != Some(id) => {
                events.ignore(&format!("a delivery for an unknown subscription: {id:?}"), self.context);
            }
            SubscriptionEvent::Malformed(why) => events.ignore(&format!("a malformed delivery: {why}"), self.context),
            SubscriptionEvent::Events { all, is_batch } => {
                let arrival = Arrival { subscription: id, is_in_batch: is_batch };
                if !delivers(&task.arguments["delivery"], is_batch) {
                    let method = if is_batch { BATCH } else { EVENT };
                    events
                        .report_odd(&format!("{method}: the subscription's delivery has other channels"), self.context);
                }
                for event in &all {
                    match self.delivered.check(event, arrival, task.arguments.get("filter")) {
                        Err(EventFault::Known) => continue,
                        Err(fault) => {
                            events.ignore(&reported(&fault, event), self.context);
                            continue;
                        }
                        Ok(odd) => odd.iter().for_each(|odd| {
                            events.report_odd(&format!("the event {}: {odd}", event["type"]), self.context);
                        }),
                    }
                    self.context.printer.json(event)?;
                    self.context.printer.flush().map_err(CommandError::output)?;
                    events.printed += 1;
                    if task.args.expect.is_some_and(|expected| events.printed >= expected) {
                        return Ok(Some(End::Enough));
                    }
                }
            }
            SubscriptionEvent::Expired if task.args.renew => {
                self.id = None;
                self.context.printer.note("the subscription expired; subscribing again");
                task.in_time(unless_ended(self.subscribe(task.arguments))).await?;
            }
            SubscriptionEvent::Expired => {
                self.id = None;
                self.context.printer.note("the subscription expired");
                return Ok(Some(End::Expired));
            }
        }
        Ok(None)
    }

    /// Checks whether the server is still there, with a ping: any response will do.
    async fn feel_pulse(&mut self) -> Result<(), Trouble> {
        let (inbox, context) = (&mut self.inbox, self.context);
        let asked = self.connection.request("ping", Params::Absent, |output| take(output, inbox, context)).await;
        asked.map(drop).map_err(|failure| self.lost(failure))
    }

    /// A server has events if it declares them or has the tool (MCPE 2025-01-01).
    async fn check_support(&mut self, handshake: &Handshake) -> Result<(), Trouble> {
        let name = handshake.server_info["name"].as_str().unwrap_or("the server");
        client_session::need_carrier(handshake.era, name, ErrorKind::Peer)?;
        let declared = handshake.server_capabilities.get("events");
        if declared.is_some_and(is_mcpe) {
            return Ok(());
        }
        let mut params = Params::Absent;
        loop {
            let result = self.ask("tools/list", params).await?;
            if result["tools"].as_array().into_iter().flatten().any(|tool| tool["name"] == SUBSCRIBE) {
                return Ok(());
            }
            let Some(cursor) = result["nextCursor"].as_str() else {
                let error = CommandError::new(ErrorKind::Peer, "the server has no events to subscribe to");
                return Err(error
                    .hint(match declared {
                        Some(_) => {
                            "its capability `events` belongs to a different protocol (events/list, events/subscribe), and \
                             it has no tool events_subscribe"
                        }
                        None => "it neither declares `events` nor has the tool events_subscribe",
                    })
                    .into());
            };
            params = Params::Value(json!({"cursor": cursor}));
        }
    }

    async fn subscribe(&mut self, arguments: &Value) -> Result<(), Trouble> {
        let result = self.ask("tools/call", Params::Value(json!({"name": SUBSCRIBE, "arguments": arguments}))).await?;
        let outcome = tool_outcome(&result).filter(|_| result["isError"] != true).unwrap_or_default();
        let Some(id) = outcome["subscriptionId"].as_str() else {
            let said = result["content"][0]["text"].as_str().unwrap_or("no reason given");
            let text = format!("the server refused the subscription: {}", visible_text(said));
            return Err(CommandError::new(ErrorKind::Peer, text).into());
        };
        if self.context.verbose > 0 {
            self.context.printer.note(&visible_text(&format!("subscription {id}")));
        }
        self.id = Some(id.to_owned());
        Ok(())
    }

    /// Cancels the subscription. Failures are ignored.
    async fn unsubscribe(&mut self) {
        if let Some(id) = self.id.take() {
            let params = json!({"name": "events_unsubscribe", "arguments": {"subscriptionId": id}});
            let _ = unless_ended(self.ask("tools/call", Params::Value(params))).await;
        }
    }

    async fn ask(&mut self, method: &str, params: Params) -> Result<Value, Trouble> {
        let (inbox, context) = (&mut self.inbox, self.context);
        let asked = self.connection.request(method, params, |output| take(output, inbox, context)).await;
        let answer = asked.map_err(|failure| self.lost(failure))?;
        let envelope = Envelope::scan(&answer.message);
        let content = envelope.content().map(json::value_of).unwrap_or_default();
        match envelope.error {
            None => Ok(content),
            Some(_) => {
                let said = visible_text(content["message"].as_str().unwrap_or("no reason given"));
                Err(CommandError::new(ErrorKind::Peer, format!("the server refused {method}: {said}")).into())
            }
        }
    }

    fn lost(&self, failure: Failure) -> Trouble {
        Trouble::Lost(client_session::failed(failure, &self.connection.runner.said))
    }
}

/// Why an event was ignored.
fn reported(fault: &EventFault, event: &Value) -> String {
    match fault {
        EventFault::Malformed(_) | EventFault::Known => fault.sentence(event),
        EventFault::Unwanted => format!("an event outside the filter: {}", event["type"]),
        EventFault::Duplicate => format!("a duplicate of the event {}", event["id"]),
    }
}

/// The next message of the followed session; waits forever if none is followed.
async fn received(followed: &mut Option<mpsc::UnboundedReceiver<Vec<u8>>>) -> Vec<u8> {
    match followed {
        Some(followed) => match followed.recv().await {
            Some(message) => message,
            None => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}

/// Runs `work` until it is done or the process receives SIGINT or SIGTERM.
async fn unless_ended<T>(work: impl Future<Output = Result<T, Trouble>>) -> Result<T, Trouble> {
    tokio::select! {
        done = work => done,
        why = runtime::ended() => Err(why.into()),
    }
}

/// Keeps what concerns a subscription, and reports everything else.
fn take(output: &Output, inbox: &mut VecDeque<(String, SubscriptionEvent)>, context: &Context) {
    match output {
        Output::Notification { message } => match news(message) {
            Some(one) => inbox.push_back(one),
            None => client_session::report(output, context),
        },
        Output::Renewing { reason } => inbox.push_back((String::new(), SubscriptionEvent::Forgotten(reason.clone()))),
        _ => client_session::report(output, context),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn e16_to_e18_batches_are_opened_and_other_notifications_are_left() {
        let read = |method: &str, params: Value| {
            news(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string().as_bytes())
        };
        let events = |all: &[i64], is_batch: bool| {
            let all = all.iter().map(|id| json!({"id": id})).collect();
            SubscriptionEvent::Events { all, is_batch }
        };
        let one = json!({"subscriptionId": "a", "event": {"id": 1}});
        assert_eq!(read(EVENT, one), Some(("a".to_owned(), events(&[1], false))));
        let several = json!({"subscriptionId": "a", "events": [{"id": 1}, {"id": 2}]});
        assert_eq!(read(BATCH, several), Some(("a".to_owned(), events(&[1, 2], true))));
        assert_eq!(read(EXPIRED, json!({"subscriptionId": "a"})), Some(("a".to_owned(), SubscriptionEvent::Expired)));
        assert_eq!(read("notifications/message", json!({"subscriptionId": "a"})), None);
        assert_eq!(
            read(EVENT, json!(["x"])),
            Some((String::new(), SubscriptionEvent::Events { all: vec![Value::Null], is_batch: false }))
        );
        let batch = read(BATCH, json!({"subscriptionId": "a", "events": 7}));
        assert!(matches!(batch, Some((_, SubscriptionEvent::Malformed(_)))));
    }

    #[test]
    fn a_line_is_json_without_control_characters() {
        let event = json!({"type": "a\u{1b}[2J\u{9b}\n\u{7f}"});
        let line = crate::render::text::json(&event);
        assert!(!line.chars().any(char::is_control), "{line}");
        assert_eq!(serde_json::from_str::<Value>(&line).expect("JSON"), event);
    }

    #[test]
    fn too_few_events_are_a_finding_and_an_interruption_has_its_own_code() {
        let outcome = |end: End, printed: u64, ignored: u64, words: &[&str]| {
            let odd = 0;
            let words = [&["watch"], words, &["--", "server"]].concat();
            let args = Watch::try_parse_from(words).expect("arguments").args;
            outcome(end, &Tally { printed, ignored, odd }, &args)
        };
        assert!(matches!(outcome(End::Time, 1, 0, &["--expect", "2"]), Ok(Outcome::Findings)));
        assert!(matches!(outcome(End::Expired, 0, 9, &[]), Ok(Outcome::Clean)));
        assert!(matches!(outcome(End::Enough, 2, 0, &["--expect", "2", "--strict"]), Ok(Outcome::Clean)));
        assert!(matches!(outcome(End::Enough, 2, 1, &["--expect", "2", "--strict"]), Ok(Outcome::Findings)));
        let interrupted = outcome(End::Interrupted, 2, 0, &["--expect", "2"]);
        assert!(interrupted.is_err_and(|error| error.kind == ErrorKind::Interrupted));
    }

    #[derive(clap::Parser)]
    struct Watch {
        #[command(flatten)]
        args: WatchArgs,
    }
}
