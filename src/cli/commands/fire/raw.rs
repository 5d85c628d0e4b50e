//! `fire raw`: a message byte for byte, well-formed or not.

use super::{Format, ServerOptions};
use crate::cli::client_session;
use crate::cli::commands::serve::{Reaction, ServeCommon, ServeExtras, run_server};
use crate::cli::listening::ListenOptions;
use crate::cli::repeat::{Repeating, Tally};
use crate::cli::target::TargetKind;
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::host::client::Answer;
use crate::host::client::{FailureReason, Handshake, Joined, Output};
use crate::protocol::http::modern_version;
use crate::protocol::{Era, Revision};
use crate::render::line::{duration, visible_text};
use crate::runtime;
use crate::runtime::client::{Connection, Failure, InsteadOfResponse};
use crate::runtime::parameters;
use crate::server::{Fired, Plan, Report};
use crate::sessions::injection::{Refused, request_id};
use crate::sessions::live;
use crate::wire::edit::with_members;
use crate::wire::units::millis;
use crate::wire::{Envelope, Id, MessageKind};
use clap::{Args, ValueEnum};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// Send one message byte for byte and print the response.
///
/// In a live session, mcpreel sends the message between two of the session's own messages. It replaces a request's id
/// that the session's client or server could also use, and keeps the response from them.
///
/// A server that is started for the message gets the handshake first.
///
/// With --listen, this command is the server: it waits for a host to connect over HTTP, sends the message after the
/// handshake and exits. mcpreel then gives a request a new id, and can send only requests and notifications.
#[derive(Debug, Args)]
#[command(mut_arg("era", |era| era.help("The era to use; auto begins with `server/discover` if the \
    message has a protocol version in its `_meta`, else with `initialize`")))]
#[command(after_help = "\
Examples:
  mcpreel fire raw '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}' --session every
  mcpreel fire raw @ping.json --session everything
  mcpreel fire raw @elicit.json --as server --session every  # to the client
  mcpreel fire raw '{broken' -- my-server
  mcpreel fire raw @elicit.json --listen 8080    # to the first host
  mcpreel fire raw @initialize.json --no-handshake -- my-server
  mcpreel fire raw @ping.json --repeat 10 --expect .answer.result -- my-server

Exit codes: 0 the response is a result, or none is expected; 1 it is an error, or the tool failed; 4 the session or server failed; \
5 no response in time.")]
pub(crate) struct RawArgs {
    /// The message: its text, @file, or - for stdin. It must be one line.
    pub(super) message: String,
    /// In which role to send it: to the server, or (in a live session only) to the client.
    #[arg(long = "as", value_enum, default_value_t = Side::Host)]
    pub(super) side: Side,
    /// Send it to the started server as the very first message.
    #[arg(long, conflicts_with = "session")]
    pub(super) no_handshake: bool,
    #[command(flatten)]
    pub(super) listening: ListenOptions,
    #[command(flatten)]
    pub(super) to: ServerOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Side {
    /// As the host (client): to the server.
    Host,
    /// As the server: to the client.
    Server,
}

/// The ids that the requests before the message may have.
const OWN_IDS: RangeInclusive<i64> = 1..=9;

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &RawArgs, context: &Context) -> Result<Outcome, CommandError> {
    let message = parameters::exact_text(&args.message)?;
    if message.contains(&b'\n') || message.contains(&b'\r') {
        return Err(CommandError::usage("the message contains a line break, but must be one line")
            .hint("put it on one line, for example: jq -c . message.json | mcpreel fire raw - …"));
    }
    let mut tally = args.to.repeating.tally()?;
    if args.listening.listen.is_some() {
        to_first_host(args, &message, &mut tally, context)?;
        return tally.finish(context);
    }
    match args.to.target.resolve(context)? {
        TargetKind::Session(name) => {
            args.to.client.check_joined()?;
            into_session(&name, args, &message, &mut tally, context)?;
        }
        _ if args.side == Side::Server => {
            return Err(CommandError::usage("--as server requires a live session")
                .hint("this command is the client of a server that it starts; name a session with --session"));
        }
        _ => runtime::block_on(to_server(args, &message, &mut tally, context))?,
    }
    tally.finish(context)
}

/// The message as sent for the `done + 1`th time: each repeated request gets a new id.
fn occurrence(message: &[u8], done: u64) -> Vec<u8> {
    match Envelope::scan(message).kind {
        MessageKind::Request if done > 0 => with_members(message, &[("id", format!("{}1", live::id_prefix()).into())]),
        _ => message.to_vec(),
    }
}

/// Waits for a host to connect and sends the message to it, as its server.
fn to_first_host(args: &RawArgs, message: &[u8], tally: &mut Tally, context: &Context) -> Result<(), CommandError> {
    let envelope = Envelope::scan(message);
    let params = match envelope.params.map(serde_json::from_slice) {
        None => json!({}),
        Some(params) => params.map_err(|error| CommandError::usage(format!("the message is not JSON: {error}")))?,
    };
    let method = envelope.method.as_deref().unwrap_or_default().to_owned();
    let fire = match envelope.kind {
        MessageKind::Request => Fired::new("request", json!({"method": method, "params": params})),
        MessageKind::Notification => Fired::new("notification", json!({"method": method, "params": params})),
        _ => {
            return Err(CommandError::usage("with --listen, only a request or a notification can be sent")
                .hint("any message can be sent in a live session: --session NAME"));
        }
    };
    let common = ServeCommon::listening(args.listening.clone(), args.to.target.limits, args.to.client.timeout());
    let mut config = common.config();
    let Repeating { repeat, interval, .. } = args.to.repeating;
    let every_ms = (repeat > 1).then(|| u64::try_from(interval.as_millis()).unwrap_or(u64::MAX));
    config.plans.push(Plan { after_ms: 0, every_ms, times: Some(repeat), fire });
    let mut done = Err(CommandError::new(ErrorKind::Interrupted, "ended before a host received the message"));
    run_server("raw", config, ServeExtras::default(), &common, context, |report| {
        let answer = |content: Value, latency_us: u64| {
            let message = content.to_string().into_bytes();
            Ok(Some(Answer { message, latency: Duration::from_micros(latency_us) }))
        };
        let settled = match report {
            Report::Answered { id, result, latency_us, .. } => {
                answer(json!({"jsonrpc": "2.0", "id": id, "result": result}), *latency_us)
            }
            Report::Refused { id, code, message, latency_us, .. } => {
                let error = json!({"code": code, "message": message});
                answer(json!({"jsonrpc": "2.0", "id": id, "error": error}), *latency_us)
            }
            Report::Unanswered { .. } => {
                let after = args.to.client.timeout();
                Err(CommandError::new(ErrorKind::Timeout, format!("no response from the host within {after:?}")))
            }
            Report::Sent { .. } if envelope.kind == MessageKind::Notification => Ok(None),
            _ => return Reaction::Quiet,
        };
        done = match settled {
            Ok(answer) => print(args, message, answer.as_ref(), tally, context),
            Err(error) => {
                unanswered(message, error, tally, context);
                Ok(())
            }
        };
        if done.is_err() || tally.taken() >= repeat { Reaction::End } else { Reaction::Quiet }
    })?;
    done
}

/// Sends the message in a live session, under an id that neither side uses.
fn into_session(
    name: &str,
    args: &RawArgs,
    message: &[u8],
    tally: &mut Tally,
    context: &Context,
) -> Result<(), CommandError> {
    let session = live::find(name)?;
    let (since, mut due) = (Instant::now(), Some(Duration::ZERO));
    while let Some(at) = due {
        std::thread::sleep(at.saturating_sub(since.elapsed()));
        let began = since.elapsed();
        let mut message = occurrence(message, tally.taken());
        let mut replaced = None;
        if request_id(&message) == Err(Refused::Id) {
            let id = format!("{}1", live::id_prefix());
            let old = Envelope::scan(&message).id.unwrap_or(Id(b"null")).0.to_vec();
            message = with_members(&message, &[("id", id.clone().into())]);
            let old = String::from_utf8_lossy(&old).into_owned();
            replaced = Some(format!("the session may use the id {old} itself; sent with \"{id}\""));
        }
        let text = String::from_utf8(message).map_err(|_| {
            CommandError::usage("the message is not UTF-8, which a live session requires")
                .hint("other bytes can be sent to a server that this command starts: put its command after --")
        })?;
        let recipient = if args.side == Side::Server { "client" } else { "server" };
        let answer = live::send(&session, recipient, &text, args.to.client.timeout(), |earlier| {
            context.printer.note(&format!("before the response: {}", visible_text(&String::from_utf8_lossy(earlier))));
        });
        if let Some(replaced) = replaced {
            context.printer.note(&replaced);
        }
        match answer {
            Err(error) if error.kind == ErrorKind::Timeout => unanswered(text.as_bytes(), error, tally, context),
            answer => print(args, text.as_bytes(), answer?.as_ref(), tally, context)?,
        }
        due = args.to.repeating.next(tally.taken(), began);
    }
    Ok(())
}

/// Sends the message to a server that is started for it.
async fn to_server(args: &RawArgs, message: &[u8], tally: &mut Tally, context: &Context) -> Result<(), CommandError> {
    let (link, server) = client_session::start(&args.to.target, &args.to.client, context).await?;
    let envelope = Envelope::scan(message);
    // A message without a version of its own needs the handshake.
    let client =
        if modern_version(&envelope).is_some() { args.to.client.clone() } else { args.to.client.with_handshake() };
    let mut config = server.config(client.config(json!({})));
    // The message's id stays unique.
    config.first_id = envelope.id.and_then(Id::as_integer).filter(|id| OWN_IDS.contains(id)).map_or(1, |id| id + 1);
    if args.no_handshake {
        // As if the handshake had taken place: nothing is sent first.
        let version = Revision::NEWEST_LEGACY.as_str().to_owned();
        let handshake = Handshake::read(Era::Legacy, version, &Value::Null, Vec::new());
        config.join = Some(Joined { handshake, client_capabilities: Value::Null, id_prefix: live::id_prefix() });
    }
    let mut connection = Connection::open(config, link, |_| {}).await;
    let done = exchanges(&mut connection, message, args, tally, context).await;
    let done = done.map(|failed| failed.map(|failure| client_session::failed(failure, &connection.runner.said)));
    connection.runner.close().await;
    match done? {
        None => server.end(context.notices()).await.map(drop),
        Some(error) => Err(server.end_after(error, context.notices()).await),
    }
}

/// Sends the message as often as requested. Returns the failure if the connection fails.
async fn exchanges(
    connection: &mut Connection,
    message: &[u8],
    args: &RawArgs,
    tally: &mut Tally,
    context: &Context,
) -> Result<Option<Failure>, CommandError> {
    if let Err(failure) = connection.ready(|output| client_session::report(output, context)).await {
        return Ok(Some(failure));
    }
    let mut due = Some(Duration::ZERO);
    while let Some(at) = due {
        while let Some(output) = connection.runner.next(Some(at)).await {
            client_session::report(&output, context);
        }
        let began = connection.runner.now();
        let message = occurrence(message, tally.taken());
        match exchange(connection, &message, args.to.client.timeout(), context).await {
            Err(failure @ Failure::TimedOut { .. }) => {
                let error = client_session::failed(failure, &connection.runner.said);
                unanswered(&message, error, tally, context);
            }
            Err(failure) => return Ok(Some(failure)),
            Ok(answer) => print(args, &message, answer.as_ref(), tally, context)?,
        }
        due = args.to.repeating.next(tally.taken(), began);
    }
    Ok(None)
}

/// Sends the message and waits for the response: the one with its id, or one without an id if the message is not a
/// valid request.
async fn exchange(
    connection: &mut Connection,
    message: &[u8],
    timeout: Duration,
    context: &Context,
) -> Result<Option<Answer>, Failure> {
    let runner = &mut connection.runner;
    let asked = Envelope::scan(message);
    let since = runner.now();
    let sent = vec![Output::Send(message.to_vec())];
    runner.said.instead = Some(InsteadOfResponse::to_request(&sent));
    runner.take(sent);
    if matches!(asked.kind, MessageKind::Notification | MessageKind::Result | MessageKind::Error | MessageKind::Blank) {
        return Ok(None);
    }
    let until = since.saturating_add(timeout);
    while let Some(output) = runner.next(Some(until)).await {
        runner.said.instead.iter_mut().for_each(|instead| instead.keep(&output));
        match output {
            Output::Stray { message } if answers(&asked, &Envelope::scan(&message)) => {
                let latency = runner.now().saturating_sub(since);
                return Ok(Some(Answer { message, latency }));
            }
            Output::Undelivered { id, reason } if is_id_of(&asked, &id) => return Err(Failure::Failed(reason.into())),
            Output::Failed { reason, .. } => return Err(Failure::Failed(reason)),
            other => client_session::report(&other, context),
        }
    }
    if runner.now() < until {
        return Err(Failure::Failed(FailureReason::Closed(" before it responded".to_owned())));
    }
    Err(Failure::TimedOut { method: asked.method.as_deref().unwrap_or("the message").to_owned(), after: timeout })
}

/// Whether this is the id of the message that was sent; it is empty if the message has none.
fn is_id_of(asked: &Envelope<'_>, id: &[u8]) -> bool {
    asked.id.map_or(id.is_empty(), |asked| asked.0 == id)
}

fn answers(asked: &Envelope<'_>, answer: &Envelope<'_>) -> bool {
    match (asked.id, answer.id.filter(|id| !id.is_null())) {
        (Some(asked), Some(id)) => asked.key() == id.key(),
        (None, Some(_)) => asked.kind == MessageKind::Batch,
        (_, None) => true,
    }
}

/// Counts a message without a response in time.
fn unanswered(sent: &[u8], error: CommandError, tally: &mut Tally, context: &Context) {
    let reported = json!({"sent": String::from_utf8_lossy(sent), "answer": null, "latency_ms": null});
    tally.take(&reported, Err(error), None, context);
}

/// Prints one exchange and counts it.
fn print(
    args: &RawArgs,
    sent: &[u8],
    answer: Option<&Answer>,
    tally: &mut Tally,
    context: &Context,
) -> Result<(), CommandError> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let printer = &context.printer;
    let latency = answer.map(|answer| answer.latency);
    let parsed = answer.map(|answer| text(&answer.message)).map(|text| match RawValue::from_string(text.clone()) {
        Ok(raw) => json!(raw),
        Err(_) => text.into(),
    });
    let reported = json!({
        "sent": text(sent), "answer": parsed, "latency_ms": latency.map(millis),
    });
    match args.to.format {
        Format::Json => printer.json(&reported)?,
        Format::Human => {
            let is_toward_client = args.side == Side::Server || args.listening.listen.is_some();
            let (out, back) = if is_toward_client { ("←", "→") } else { ("→", "←") };
            printer.line(&format!("sent    {out} {}", visible_text(&text(sent))))?;
            if let Some(Answer { message, latency }) = answer {
                let took = duration(i64::try_from(latency.as_nanos()).unwrap_or(i64::MAX));
                printer.line(&format!("answer  {back} {}", visible_text(&text(message))))?;
                printer.line(&format!("time    {took}"))?;
            } else {
                printer.line("answer  none expected")?;
            }
        }
    }
    printer.flush().map_err(CommandError::output)?;
    let failed = answer
        .map(|answer| Envelope::scan(&answer.message))
        .is_some_and(|answer| answer.error.is_some() || answer.tool_error);
    tally.take(&reported, Ok(if failed { Outcome::Findings } else { Outcome::Clean }), latency, context);
    Ok(())
}
