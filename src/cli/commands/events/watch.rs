//! `events watch`: a subscription whose events are printed as they come.

use crate::cli::error::{CommandError, ErrorKind};
use crate::cli::peer::{self, ClientOptions, Peer};
use crate::cli::target::{Target, span};
use crate::cli::{Context, Outcome};
use crate::drive::{Connection, Failure};
use crate::extension::mcpe::{BATCH, EVENT, EXPIRED};
use crate::extension::tool_outcome;
use crate::host::client::{Handshake, Output, Params};
use crate::render::line::visible_text;
use crate::wire::Envelope;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::time::Duration;

const SUBSCRIBE: &str = "events_subscribe";

/// Subscribe to events and print each as one JSON object a line, as it comes.
///
/// Batches are opened, so that there is one event on each line. The subscription is taken back at the end, after
/// Ctrl-C too. What happens besides is told on standard error.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel events watch 'github.*' -- my-server
  mcpreel events watch 'github.*' --tag bug --priority high -- my-server
  mcpreel events watch --cron '0 9 * * *' --url https://host/mcp
  mcpreel events watch deploy.done --expect 1 --for 10m -- my-server
  mcpreel events watch '*' --renew -- my-server | jq .type

Exit codes: 0 as many events as expected came, or the time was over; \
1 fewer events came than expected; 4 the server failed, has no events, or \
refused; 5 no answer in time; 130 interrupted.")]
pub struct WatchArgs {
    /// Types of events: exact, 'github.*' for all below, '*' for all; all where none is given.
    #[arg(value_name = "TYPE")]
    types: Vec<String>,
    /// Only events with this tag (repeatable: any of them).
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Only events of this priority (repeatable: any of them).
    #[arg(long, value_enum)]
    priority: Vec<Priority>,
    /// Have events gathered and delivered on this schedule.
    #[arg(long, value_name = "EXPR")]
    cron: Option<String>,
    /// Have events gathered and delivered once, at this time (2026-01-31T09:00:00Z).
    #[arg(long, value_name = "TIME", conflicts_with = "cron")]
    at: Option<String>,
    /// The time zone of --cron or --at, as an IANA name.
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
    /// Subscribe again where the subscription expires.
    #[arg(long)]
    renew: bool,
    /// End after so many events.
    #[arg(long, value_name = "COUNT")]
    expect: Option<u64>,
    /// End after this time.
    #[arg(long = "for", value_name = "TIME", value_parser = span)]
    time: Option<Duration>,
    #[command(flatten)]
    client: ClientOptions,
    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Priority {
    Low,
    Normal,
    High,
    Critical,
}

impl Priority {
    fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
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
        let mut delivery = match (&self.cron, &self.at) {
            (Some(expression), _) => json!({"channels": ["cron"], "cronSchedule": {"expression": expression}}),
            (None, Some(time)) => json!({"channels": ["scheduled"], "scheduledDelivery": {"deliverAt": time}}),
            (None, None) => json!({"channels": ["realtime"]}),
        };
        if let Some(zone) = &self.timezone {
            let member = match (&self.cron, &self.at) {
                (Some(_), _) => "cronSchedule",
                (None, Some(_)) => "scheduledDelivery",
                (None, None) => return Err(CommandError::usage("--timezone goes with --cron or --at")),
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

/// Something of the server's that concerns a subscription.
#[derive(Debug, PartialEq)]
enum News {
    Events(Vec<Value>),
    Expired,
}

/// Reads a notification: which subscription it names, and what it says.
fn news(message: &[u8]) -> Option<(String, News)> {
    let envelope = Envelope::scan(message);
    let method = envelope.method.as_deref()?;
    let mut params: Value = serde_json::from_slice(envelope.params?).ok()?;
    let id = params["subscriptionId"].as_str()?.to_owned();
    let said = match method {
        EVENT => News::Events(vec![params["event"].take()]),
        BATCH => News::Events(params["events"].as_array_mut().map(std::mem::take)?),
        EXPIRED => News::Expired,
        _ => return None,
    };
    Some((id, said))
}

/// An event as a line: control characters that JSON would leave are escaped, so that none reaches a terminal.
fn line(event: &Value) -> String {
    let escaped = |found: char| match found.is_control() {
        true => format!("\\u{:04x}", u32::from(found)),
        false => found.to_string(),
    };
    event.to_string().chars().map(escaped).collect()
}

pub fn run(args: &WatchArgs, context: &Context) -> Result<Outcome, CommandError> {
    let arguments = args.arguments()?;
    peer::block_on_to_the_end(async {
        let (link, server) = peer::unless_interrupted(Peer::start(&args.target, &args.client, context)).await?;
        let options = args.client.with_handshake();
        let opening = peer::open(&server, link, &options, json!({}), context);
        let (mut connection, handshake) = match peer::unless_interrupted(opening).await {
            Ok(opened) => opened,
            Err(error) => return Err(server.end_after(error, context).await),
        };
        let mut watch = Watch { connection: &mut connection, context, inbox: VecDeque::new(), id: None };
        let ended = watch.watch(args, &arguments, &handshake).await;
        watch.unsubscribe().await;
        connection.runner.close().await;
        match ended {
            Err(error) => Err(server.end_after(error, context).await),
            Ok((end, events)) => {
                server.end(context).await;
                outcome(end, events, args.expect)
            }
        }
    })
}

fn outcome(end: End, events: u64, expected: Option<u64>) -> Result<Outcome, CommandError> {
    match end {
        End::Interrupted => Err(CommandError::new(ErrorKind::Interrupted, "interrupted")),
        _ if expected.is_some_and(|expected| events < expected) => Ok(Outcome::Findings),
        _ => Ok(Outcome::Clean),
    }
}

/// One subscription at work.
struct Watch<'a> {
    connection: &'a mut Connection,
    context: &'a Context,
    /// What came and is not looked at yet: it may overtake the answer that makes its subscription known.
    inbox: VecDeque<(String, News)>,
    id: Option<String>,
}

impl Watch<'_> {
    async fn watch(
        &mut self,
        args: &WatchArgs,
        arguments: &Value,
        handshake: &Handshake,
    ) -> Result<(End, u64), CommandError> {
        peer::unless_interrupted(self.check_support(handshake)).await?;
        peer::unless_interrupted(self.subscribe(arguments)).await?;
        let until = args.time.map(|time| self.connection.runner.now() + time);
        let mut events = 0;
        loop {
            while let Some((id, said)) = self.inbox.pop_front() {
                if self.id.as_ref() != Some(&id) {
                    continue;
                }
                match said {
                    News::Events(all) => {
                        for event in &all {
                            self.context.printer.line(&line(event))?;
                            self.context.printer.flush().map_err(CommandError::output)?;
                            events += 1;
                            if args.expect.is_some_and(|expected| events >= expected) {
                                return Ok((End::Enough, events));
                            }
                        }
                    }
                    News::Expired if args.renew => {
                        self.id = None;
                        self.context.printer.note("the subscription expired; subscribing again");
                        peer::unless_interrupted(self.subscribe(arguments)).await?;
                    }
                    News::Expired => {
                        self.id = None;
                        self.context.printer.note("the subscription expired");
                        return Ok((End::Expired, events));
                    }
                }
            }
            let output = tokio::select! {
                output = self.connection.runner.next(until) => output,
                _ = tokio::signal::ctrl_c() => return Ok((End::Interrupted, events)),
            };
            match output {
                Some(Output::Failed { handle: None, reason }) => return Err(self.failed(Failure::Failed(reason))),
                Some(output) => take(&output, &mut self.inbox, self.context),
                None if until.is_some_and(|until| self.connection.runner.now() >= until) => {
                    return Ok((End::Time, events));
                }
                None => return Err(self.failed(Failure::Failed("the server ended".to_owned()))),
            }
        }
    }

    /// A server has events where it declares them or has the tool (behaviours E1, E2).
    async fn check_support(&mut self, handshake: &Handshake) -> Result<(), CommandError> {
        if handshake.server_capabilities.get("events").is_some() {
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
                return Err(error.hint("it neither declares `events` nor has the tool events_subscribe"));
            };
            params = Params::Value(json!({"cursor": cursor}));
        }
    }

    async fn subscribe(&mut self, arguments: &Value) -> Result<(), CommandError> {
        let result = self.ask("tools/call", Params::Value(json!({"name": SUBSCRIBE, "arguments": arguments}))).await?;
        let outcome = tool_outcome(&result).filter(|_| result["isError"] != true).unwrap_or_default();
        let Some(id) = outcome["subscriptionId"].as_str() else {
            let said = result["content"][0]["text"].as_str().unwrap_or("without a reason");
            let text = format!("the server refused the subscription: {}", visible_text(said));
            return Err(CommandError::new(ErrorKind::Peer, text));
        };
        if self.context.verbose > 0 {
            self.context.printer.note(&visible_text(&format!("subscription {id}")));
        }
        self.id = Some(id.to_owned());
        Ok(())
    }

    /// Takes the subscription back; what comes of that is of no concern.
    async fn unsubscribe(&mut self) {
        if let Some(id) = self.id.take() {
            let params = json!({"name": "events_unsubscribe", "arguments": {"subscriptionId": id}});
            let _ = peer::unless_interrupted(self.ask("tools/call", Params::Value(params))).await;
        }
    }

    async fn ask(&mut self, method: &str, params: Params) -> Result<Value, CommandError> {
        let (inbox, context) = (&mut self.inbox, self.context);
        let asked = self.connection.request(method, params, |output| take(output, inbox, context)).await;
        let answer = asked.map_err(|failure| self.failed(failure))?;
        let envelope = Envelope::scan(&answer.message);
        let content = envelope.content().and_then(|text| serde_json::from_slice::<Value>(text).ok());
        let content = content.unwrap_or_default();
        match envelope.error {
            None => Ok(content),
            Some(_) => {
                let said = visible_text(content["message"].as_str().unwrap_or("without a reason"));
                Err(CommandError::new(ErrorKind::Peer, format!("the server refused {method}: {said}")))
            }
        }
    }

    fn failed(&self, failure: Failure) -> CommandError {
        peer::failed(failure, &self.connection.runner.stderr)
    }
}

/// Keeps what concerns a subscription, and tells the rest.
fn take(output: &Output, inbox: &mut VecDeque<(String, News)>, context: &Context) {
    match output {
        Output::Notification { message } => match news(message) {
            Some(one) => inbox.push_back(one),
            None => peer::tell(output, context),
        },
        _ => peer::tell(output, context),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e16_to_e18_batches_are_opened_and_other_notifications_are_left() {
        let read = |method: &str, params: Value| {
            news(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string().as_bytes())
        };
        let events = |all: &[i64]| News::Events(all.iter().map(|id| json!({"id": id})).collect());
        let one = json!({"subscriptionId": "a", "event": {"id": 1}});
        assert_eq!(read(EVENT, one), Some(("a".to_owned(), events(&[1]))));
        let several = json!({"subscriptionId": "a", "events": [{"id": 1}, {"id": 2}]});
        assert_eq!(read(BATCH, several), Some(("a".to_owned(), events(&[1, 2]))));
        assert_eq!(read(EXPIRED, json!({"subscriptionId": "a"})), Some(("a".to_owned(), News::Expired)));
        assert_eq!(read("notifications/message", json!({"subscriptionId": "a"})), None);
        assert_eq!(read(EVENT, json!({})), None);
    }

    #[test]
    fn a_line_is_json_without_control_characters() {
        let event = json!({"type": "a\u{1b}[2J\u{9b}\n\u{7f}"});
        let line = line(&event);
        assert!(!line.chars().any(char::is_control), "{line}");
        assert_eq!(serde_json::from_str::<Value>(&line).expect("JSON"), event);
    }

    #[test]
    fn too_few_events_are_a_finding_and_an_interruption_has_its_own_code() {
        assert!(matches!(outcome(End::Time, 1, Some(2)), Ok(Outcome::Findings)));
        assert!(matches!(outcome(End::Expired, 0, None), Ok(Outcome::Clean)));
        assert!(matches!(outcome(End::Enough, 2, Some(2)), Ok(Outcome::Clean)));
        assert!(outcome(End::Interrupted, 2, Some(2)).is_err_and(|error| error.kind == ErrorKind::Interrupted));
    }
}
