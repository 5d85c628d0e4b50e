//! `fire user-message`: a user's message to a server that subscribes to them (SEP-1975).

use super::{Format, ServerOptions};
use crate::cli::client_session;
use crate::cli::text::TextParser;
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::host::client::{FailureReason, Output};
use crate::host::fire_user_message::{Firing, Output as FireOutput, UserMessageFire};
use crate::proposals::conversation::host::{
    self, Carrier, DeliveryOutcome as Said, HistoryEntry, Subscription, UserMessage,
};
use crate::protocol::Era;
use crate::render::line::{duration, visible_text};
use crate::runtime;
use crate::runtime::Failure;
use crate::runtime::client::Runner;
use crate::runtime::parameters::{self, TextArgument};
use crate::wire::units::millis;
use crate::wire::units::parse_time;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::time::Duration;

/// Send a user's message (`conversation/userMessage`, SEP-1975) and print the context that the server returns.
///
/// The server must declare `conversationEvents.onUserMessage`. The proposal allows three ways of responding; all
/// are accepted. A response after the deadline is reported as late and not used.
#[derive(Debug, Args)]
#[command(mut_arg("force", |option| option.help("Send the message even if the server has not subscribed, and overwrite the \
                                                reel if the file exists")))]
#[command(after_help = "\
Examples:
  mcpreel fire user-message 'what about the schema?' -- my-memory-server
  mcpreel fire user-message hello --session memory          # a live session
  mcpreel fire user-message hello --carrier notification -- my-server
  mcpreel fire user-message hello --deadline 2s --format json -- my-server
  mcpreel fire user-message 'and then?' --history user=hi -- my-server
  git log -1 | mcpreel fire user-message - -- my-server      # also @FILE
  mcpreel fire user-message hello --url https://host/mcp
  mcpreel fire user-message hello --repeat 100 --format json -- my-server
  mcpreel fire user-message schema --expect .outcome.context -- my-server

Exit codes: 0 a response in time, even an empty one, or none to a notification; 1 not subscribed, refused, or an invalid context; 4 the server failed; 5 no response in time.")]
pub(crate) struct UserMessageArgs {
    /// The message: its text, @file, or - for stdin.
    #[arg(value_parser = TextParser, allow_hyphen_values = true)]
    content: TextArgument,
    /// The message's id (default: a new one).
    #[arg(long, value_name = "ID")]
    message_id: Option<String>,
    /// An earlier message, oldest first (repeatable): user=TEXT or assistant=TEXT; TEXT can be @file or @- for stdin.
    #[arg(long, value_name = "ROLE=TEXT", value_parser = history)]
    history: Vec<(String, String)>,
    /// How to send it.
    #[arg(long, value_enum, default_value_t = CarrierArg::Auto)]
    carrier: CarrierArg,
    /// How long the server may take to respond.
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = parse_time)]
    deadline: Duration,
    /// How long to wait after the deadline for a late response.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_time)]
    linger: Duration,
    #[command(flatten)]
    to: ServerOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CarrierArg {
    /// As a request; as a notification if the server does not know the method.
    Auto,
    /// As a request.
    Request,
    /// As a notification, to which `conversation/context` is the response.
    Notification,
}

fn history(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((role @ ("user" | "assistant"), said)) => Ok((role.to_owned(), said.to_owned())),
        _ => Err("expected user=TEXT or assistant=TEXT".into()),
    }
}

/// What happened, collected for the output.
#[derive(Default)]
struct MessageReport {
    subscription: Option<Subscription>,
    /// The era that was negotiated.
    era: Option<Era>,
    server: String,
    outcome: Option<Said>,
    late: Option<Said>,
    notes: Vec<String>,
    failure: Option<Failure>,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &UserMessageArgs, context: &Context) -> Result<Outcome, CommandError> {
    let (mut tally, firing) = (args.to.repeating.tally()?, firing(args)?);
    runtime::block_on(async {
        let (link, server) = client_session::start(&args.to.target, &args.to.client, context).await?;
        if server.is_joined() && args.carrier == CarrierArg::Notification {
            let reported = "the session's own client receives the response to a notification; see it with `mcpreel show --session`";
            context.printer.note(reported);
        }
        let config = server.config(args.to.client.with_handshake().config(json!({})));
        let engine = UserMessageFire::new(config, firing);
        let mut runner = Runner::start(engine, link).await;
        let (mut reported, mut began) =
            (watch(&mut runner, MessageReport::default(), args, context).await, Duration::ZERO);
        while reported.failure.is_none() {
            show(&reported, args, context)?;
            let latency = reported.outcome.as_ref().map(|said| said.latency);
            tally.take(&to_json(&reported), judge(&reported, args), latency, context);
            // What the server did not subscribe to is not sent, however often.
            let next = args.to.repeating.next(tally.taken(), began).filter(|_| reported.outcome.is_some());
            let Some(at) = next else { break };
            while let Some(report) = runner.next(Some(at)).await {
                meanwhile(&report, context);
            }
            began = runner.now();
            let reports = runner.engine.again(began, message(args, tally.taken())?);
            runner.take(reports);
            let opened = MessageReport {
                subscription: reported.subscription,
                era: reported.era,
                server: reported.server,
                ..MessageReport::default()
            };
            reported = watch(&mut runner, opened, args, context).await;
        }
        let said = std::mem::take(&mut runner.said);
        runner.close().await;
        if let Some(failure) = reported.failure {
            return Err(server.end_after(client_session::failed(failure, &said), context.notices()).await);
        }
        server.end(context.notices()).await?;
        tally.finish(context)
    })
}

fn show(reported: &MessageReport, args: &UserMessageArgs, context: &Context) -> Result<(), CommandError> {
    match args.to.format {
        Format::Json => context.printer.json(&to_json(reported))?,
        Format::Human => print(reported, args, context)?,
    }
    context.printer.flush().map_err(CommandError::output)
}

/// Reports what happens between two messages.
fn meanwhile(report: &FireOutput, context: &Context) {
    match report {
        FireOutput::Client(output) => client_session::report(output, context),
        FireOutput::Note(note) => context.printer.note(note),
        FireOutput::Late(late) => report_late(late, context),
        FireOutput::Subscription(_) | FireOutput::Done(_) => {}
    }
}

/// Reports the response to a message after its deadline.
fn report_late(late: &Said, context: &Context) {
    let took = duration(i64::try_from(late.latency.as_nanos()).unwrap_or(i64::MAX));
    context.printer.note(&format!("a late response to {} arrived after {took} and was not used", late.message_id));
}

/// The message for the `done + 1`th time. Each message has a new id (SEP-1975, conversation/userMessage).
fn message(args: &UserMessageArgs, done: u64) -> Result<UserMessage, CommandError> {
    let entry = |(role, content): &(String, String)| {
        Ok::<_, CommandError>(HistoryEntry { role: role.clone(), content: parameters::value(content)? })
    };
    let message_id = match &args.message_id {
        None => format!("msg_{}", uuid::Uuid::now_v7().simple()),
        Some(given) if done == 0 => given.clone(),
        Some(given) => format!("{given}-{}", done + 1),
    };
    let recent_history = args.history.iter().map(entry).collect::<Result<_, _>>()?;
    Ok(UserMessage { message_id, content: args.content.read()?.to_owned(), recent_history })
}

fn firing(args: &UserMessageArgs) -> Result<Firing, CommandError> {
    Ok(Firing {
        message: message(args, 0)?,
        carrier: match args.carrier {
            CarrierArg::Auto => Carrier::Auto,
            CarrierArg::Request => Carrier::Request,
            CarrierArg::Notification => Carrier::Notification,
        },
        deadline: args.deadline,
        force: args.to.client.is_forced(),
    })
}

/// Runs the exchange to its end. After the deadline, waits for a late response. `reported` is what is known of the
/// connection.
async fn watch(
    runner: &mut Runner<UserMessageFire>,
    mut reported: MessageReport,
    args: &UserMessageArgs,
    context: &Context,
) -> MessageReport {
    let mut until = None;
    while reported.late.is_none() {
        let Some(report) = runner.next(until).await else { break };
        match report {
            FireOutput::Client(Output::Ready(handshake)) => {
                reported.era = Some(handshake.era);
                reported.server = handshake.server_info["name"].as_str().unwrap_or("server").to_owned();
                client_session::report_handshake(&handshake, &args.to.client, context);
            }
            FireOutput::Client(Output::Failed { reason, .. }) => {
                reported.failure = Some(Failure::Failed(reason));
                break;
            }
            FireOutput::Client(Output::TimedOut { method, after, .. }) if reported.server.is_empty() => {
                reported.failure = Some(Failure::TimedOut { method, after });
                break;
            }
            FireOutput::Client(output) => client_session::report(&output, context),
            FireOutput::Subscription(subscription) => reported.subscription = Some(subscription),
            FireOutput::Note(note) => reported.notes.push(note),
            FireOutput::Late(late)
                if reported.outcome.as_ref().is_some_and(|said| said.message_id == late.message_id) =>
            {
                reported.late = Some(late);
            }
            FireOutput::Late(late) => report_late(&late, context),
            FireOutput::Done(outcome) => {
                if outcome.timed_out {
                    until = Some(runner.now() + args.linger);
                } else {
                    reported.outcome = Some(outcome);
                    break;
                }
                reported.outcome = Some(outcome);
            }
        }
        if reported.outcome.is_none() && runner.engine.is_over() && !runner.has_more() {
            break;
        }
    }
    reported
}

fn subscription_text(subscription: Option<Subscription>) -> &'static str {
    match subscription {
        Some(Subscription::Subscribed) => "subscribed",
        Some(Subscription::DeclaredNotSubscribed) => "declared without onUserMessage",
        Some(Subscription::NotDeclared) => "not declared",
        None => "unknown",
    }
}

fn carrier_name(carrier: Carrier) -> &'static str {
    match carrier {
        Carrier::Auto => "auto",
        Carrier::Request => "request",
        Carrier::Notification => "notification",
    }
}

fn said_json(said: &Said) -> Value {
    let context = said.context.as_ref().map(|context| {
        let memories: Vec<Value> = context
            .memories
            .iter()
            .map(|memory| json!({"content": memory.content, "relevance": memory.relevance, "source": memory.source}))
            .collect();
        json!({"text": context.text, "memories": memories})
    });
    json!({
        "message_id": said.message_id, "carrier": carrier_name(said.carrier), "context": context,
        "latency_ms": millis(said.latency), "late": said.late, "timed_out": said.timed_out,
        "refused": said.refused.as_ref().map(|(code, message)| json!({"code": code, "message": message})),
        "remarks": said.remarks,
    })
}

fn to_json(reported: &MessageReport) -> Value {
    json!({
        "server": reported.server, "subscription": subscription_text(reported.subscription),
        "outcome": reported.outcome.as_ref().map(said_json), "late": reported.late.as_ref().map(said_json),
        "notes": reported.notes,
    })
}

fn print(reported: &MessageReport, args: &UserMessageArgs, context: &Context) -> Result<(), CommandError> {
    let printer = &context.printer;
    let nanoseconds = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
    reported.notes.iter().for_each(|note| printer.note(note));
    let Some(said) = &reported.outcome else { return Ok(()) };
    said.remarks.iter().for_each(|remark| printer.note(remark));
    let server = visible_text(&reported.server);
    let took = duration(nanoseconds(said.latency));
    let carrier = carrier_name(said.carrier);
    if let Some((code, message)) = &said.refused {
        printer.line(&format!("{server} refused the message after {took}: {code} {}", visible_text(message)))?;
    } else if is_silence(reported, said) {
        let limit = duration(nanoseconds(args.deadline));
        let hint = "a server without one should send an empty context";
        printer.line(&format!("no context within {limit} (sent as a {carrier}; {hint})"))?;
    } else if said.timed_out {
        let limit = duration(nanoseconds(args.deadline));
        printer
            .line(&format!("{server} did not respond within {limit}; continued without it (sent as a {carrier})"))?;
    } else if let Some(found) = &said.context {
        printer.note(&format!("{} responded in {took} (sent as a {carrier})", reported.server));
        let text = host::render(&reported.server, found, host::DEFAULT_MAX_BYTES);
        text.trim_end().lines().try_for_each(|line| printer.line(&visible_text(line)))?;
    } else {
        printer.line(&format!("{server} has no context for this message ({took}, sent as a {carrier})"))?;
    }
    if let Some(late) = &reported.late {
        let took = duration(nanoseconds(late.latency));
        printer.line(&format!("a late response arrived after {took}; it is not used, not even in a later turn"))?;
    }
    Ok(())
}

/// Whether a notification had no response at all: with that, a server says that it has nothing to inject.
fn is_silence(reported: &MessageReport, said: &Said) -> bool {
    said.timed_out && said.carrier == Carrier::Notification && reported.late.is_none()
}

fn judge(reported: &MessageReport, args: &UserMessageArgs) -> Result<Outcome, CommandError> {
    let Some(said) = &reported.outcome else {
        if let Some(era) = reported.era {
            let met = client_session::need_carrier(era, &reported.server, ErrorKind::Unmet);
            met.map_err(|error| error.hint("send it anyway with --force"))?;
        }
        if reported.subscription == Some(Subscription::Subscribed) || args.to.client.is_forced() {
            let closed = FailureReason::Closed(" before it responded".to_owned());
            return Err(CommandError::new(ErrorKind::Peer, closed.to_string()));
        }
        let why = match reported.subscription {
            Some(Subscription::DeclaredNotSubscribed) => "it declares conversationEvents without onUserMessage: true",
            _ => "it does not declare conversationEvents.onUserMessage",
        };
        let error = CommandError::new(ErrorKind::Unmet, format!("{} did not subscribe: {why}", reported.server));
        return Err(error.hint("send it anyway with --force"));
    };
    if is_silence(reported, said) {
        return Ok(Outcome::Clean);
    }
    if said.timed_out {
        let error = CommandError::new(ErrorKind::Timeout, format!("no response within {:?}", args.deadline));
        return Err(error.hint("allow more time with --deadline"));
    }
    // A remark without a context says why it could not be read.
    let is_unread = said.context.is_none() && !said.remarks.is_empty();
    Ok(if said.refused.is_some() || is_unread { Outcome::Findings } else { Outcome::Clean })
}
