//! Messages of an MCPL 0.4 host to a server: on a connection of their own or in a live session, once or repeatedly.
//! Responses are checked against the proposal's schema.

use super::Format;
use super::ServerOptions;
use crate::cli::client_session::{self, in_place_of_response};
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::host::client::Answer;
use crate::host::client::Handshake;
use crate::proposals::{self, Declared, Proposal, Side, SummarizedMessage, mcpl};
use crate::render::line::{duration, visible_text};
use crate::runtime;
use crate::runtime::client::{Connection, Failure, ServerText};
use crate::wire::units::parse_time;
use crate::wire::{Direction, Envelope, json as text};
use clap::Args;
use serde_json::{Value, json};
use std::time::Duration;

/// To whom, and how long the response may take.
#[derive(Debug, Args)]
#[command(mut_arg("force", |option| option.help("Send the message even if the server has not declared support for it, and \
                                                overwrite the reel if the file exists")))]
pub(super) struct Recipient {
    /// Response timeout (default: what the proposal recommends for the hook, else --timeout).
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    deadline: Option<Duration>,
    #[command(flatten)]
    to: ServerOptions,
}

impl Recipient {
    /// How long to wait for the response.
    fn grace_period(&self, kind: &RequestKind) -> Duration {
        let usual = if kind.grace_period == GRACE_PERIOD { self.to.client.timeout() } else { kind.grace_period };
        self.deadline.unwrap_or(usual)
    }
}

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// It has a response.
    Request,
    /// It has none.
    Notification,
}

/// One message.
pub(super) struct Call {
    pub method: &'static str,
    pub form: Form,
    pub params: Value,
}

/// What the server must declare for a message, and how long its response may take.
pub(super) struct RequestKind {
    /// The path below the server's capability `mcpl`. `true` at a prefix of the path includes everything below.
    pub needs: &'static str,
    /// The response timeout if the user gives none.
    pub grace_period: Duration,
}

/// The timeout of responses for which MCPL 0.4 §10.6 recommends none.
const GRACE_PERIOD: Duration = Duration::from_secs(30);
/// A hook before an inference (MCPL 0.4 §10.6).
pub(super) static BEFORE: RequestKind =
    RequestKind { needs: "contextHooks.beforeInference", grace_period: Duration::from_secs(5) };
/// A hook after an inference (MCPL 0.4 §10.6).
pub(super) static AFTER: RequestKind =
    RequestKind { needs: "contextHooks.afterInference", grace_period: Duration::from_secs(10) };
/// Enabling and disabling feature sets (MCPL 0.4 §6.7).
pub(super) static UPDATE: RequestKind = RequestKind { needs: "featureSets", grace_period: GRACE_PERIOD };
/// Returning to a checkpoint (MCPL 0.4 §8.5).
pub(super) static ROLLBACK: RequestKind = RequestKind { needs: "featureSets", grace_period: GRACE_PERIOD };
/// Listing channels (MCPL 0.4 §14.3).
pub(super) static LIST: RequestKind = RequestKind { needs: "channels", grace_period: GRACE_PERIOD };
/// Opening and closing channels (MCPL 0.4 §14).
pub(super) static LIFECYCLE: RequestKind = RequestKind { needs: "channels.lifecycle", grace_period: GRACE_PERIOD };
/// Publishing content to a channel (MCPL 0.4 §14).
pub(super) static PUBLISH: RequestKind = RequestKind { needs: "channels.publish", grace_period: GRACE_PERIOD };
/// What is being sent to a channel, for servers that observe it (MCPL 0.4 §14).
pub(super) static OBSERVE: RequestKind = RequestKind { needs: "channels.observe", grace_period: GRACE_PERIOD };

/// The enabled feature sets, sent before anything else (MCPL 0.4 §5.3).
const SETS_UPDATE: &str = "featureSets/update";

/// A server registers its channels before they are used (MCPL 0.4 §14.3).
const REGISTER: &str = "channels/register";
/// Asks which channels a server has.
const CHANNELS: &str = "channels/list";

/// Sends the messages that `calls` returns, given how often it was called before and the server's capability `mcpl`.
/// The result is that of the last message.
///
/// # Errors
///
/// The server cannot be reached, has not declared what is needed, fails, or does not respond in time.
pub(super) fn run(
    kind: &RequestKind,
    recipient: &Recipient,
    context: &Context,
    calls: impl Fn(u64, &Value) -> Result<Vec<Call>, CommandError>,
) -> Result<Outcome, CommandError> {
    let mut tally = recipient.to.repeating.tally()?;
    runtime::block_on(async {
        let (link, server) = client_session::start(&recipient.to.target, &recipient.to.client, context).await?;
        let capabilities = proposals::host_capabilities(&[&mcpl::Mcpl]);
        let options = recipient.to.client.with_handshake();
        let (mut connection, handshake) =
            match client_session::open(&server, link, &options, capabilities, context).await {
                Ok(opened) => opened,
                Err(error) => return Err(server.end_after(error, context.notices()).await),
            };
        let fired = async {
            let block = block(&handshake, kind, recipient)?;
            let first = calls(0, &block)?;
            if !server.is_joined() && first.first().is_some_and(|call| call.method != SETS_UPDATE) {
                let sets: Vec<String> = mcpl::feature_sets(&block["featureSets"]).into_keys().collect();
                connection.notify(SETS_UPDATE, json!({"enabled": sets})).await;
                connection.runner.engine.grant(REGISTER);
                if kind.needs.starts_with("channels.") {
                    // The server registers its channels before it responds.
                    let asked =
                        connection.request(CHANNELS, json!({}), |output| client_session::report(output, context)).await;
                    asked.map_err(|failure| client_session::failed(failure, &connection.runner.said))?;
                }
            }
            let mut due = Some((Duration::ZERO, first));
            while let Some((at, calls_now)) = due.take() {
                while let Some(output) = connection.runner.next(Some(at)).await {
                    client_session::report(&output, context);
                }
                let began = connection.runner.now();
                let reported = fire(&mut connection, &handshake, calls_now, kind, recipient, context).await;
                let reported = reported.map_err(|failure| client_session::failed(failure, &connection.runner.said))?;
                show(&reported, recipient, context)?;
                let latency = reported["latency_ms"].as_f64().map(|milliseconds| milliseconds / 1e3);
                let latency = latency.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                tally.take(&reported, judge(&reported, kind, recipient, &connection.runner.said), latency, context);
                if let Some(at) = recipient.to.repeating.next(tally.taken(), began) {
                    due = Some((at, calls(tally.taken(), &block)?));
                }
            }
            Ok::<(), CommandError>(())
        };
        let fired = fired.await;
        connection.runner.close().await;
        match fired {
            Ok(()) => drop(server.end(context.notices()).await?),
            Err(error) => return Err(server.end_after(error, context.notices()).await),
        }
        tally.finish(context)
    })
}

/// The server's capability `mcpl`, or an error if it does not declare what is needed.
fn block(handshake: &Handshake, kind: &RequestKind, recipient: &Recipient) -> Result<Value, CommandError> {
    let declared = Declared { server: handshake.server_capabilities.clone(), ..Declared::default() };
    let block = declared.find(&mcpl::DESCRIPTOR, Side::Server).map(|(_, block)| block.clone()).unwrap_or_default();
    if recipient.to.client.is_forced() || mcpl::has(&block, kind.needs) {
        return Ok(block);
    }
    let name = handshake.server_info["name"].as_str().unwrap_or("the server");
    client_session::need_carrier(handshake.era, name, ErrorKind::Unmet)
        .map_err(|error| error.hint("send it anyway with --force"))?;
    let why = format!("{name} does not declare experimental.mcpl.{}", kind.needs);
    Err(CommandError::new(ErrorKind::Unmet, why).hint("send it anyway with --force"))
}

/// Sends one message after another. Returns the result of the last.
async fn fire(
    connection: &mut Connection,
    handshake: &Handshake,
    calls: Vec<Call>,
    kind: &RequestKind,
    recipient: &Recipient,
    context: &Context,
) -> Result<Value, Failure> {
    let mut reported = Value::Null;
    for Call { method, form, params } in calls {
        reported = json!({"server": handshake.server_info["name"], "method": method, "params": params,
            "outcome": "sent", "latency_ms": null});
        let violations = mcpl::DESCRIPTOR.schemas.check(&format!("{method}:params"), &params).unwrap_or_default();
        for violation in violations {
            context.printer.note(&format!("sent, although it violates the proposal's schema: {violation}"));
        }
        if form == Form::Notification {
            connection.notify(method, params).await;
            continue;
        }
        let grace_period = recipient.grace_period(kind);
        match connection
            .request_within(grace_period, method, params, |output| client_session::report(output, context))
            .await
        {
            Ok(answer) => read(method, &answer, &mut reported),
            Err(Failure::TimedOut { .. }) => reported["outcome"] = "unanswered".into(),
            Err(failure) => return Err(failure),
        }
    }
    Ok(reported)
}

/// Reads a response: its content, the meaning of an error, and deviations from the proposal.
fn read(method: &str, answer: &Answer, reported: &mut Value) {
    let envelope = Envelope::scan(&answer.message);
    let is_error = envelope.error.is_some();
    let content = envelope.content().map(text::value_of).unwrap_or_default();
    let mut words = String::new();
    let spoken = SummarizedMessage { method, direction: Direction::ServerToClient, envelope: &envelope };
    if !is_error {
        mcpl::Mcpl.summarize(&spoken, &mut words);
    }
    reported["deviations"] = json!(proposals::deviations(method, is_error, &content));
    reported["latency_ms"] = json!(answer.latency.as_micros() as f64 / 1e3);
    reported["summary"] = words.into();
    if is_error {
        let means = content["code"].as_i64().and_then(|code| proposals::error_name(method, code));
        reported["outcome"] = "refused".into();
        reported["error"] = json!({"code": content["code"], "means": means, "message": content["message"],
            "data": content["data"]});
    } else {
        reported["outcome"] = "answered".into();
        reported["result"] = content;
    }
}

fn judge(
    reported: &Value,
    kind: &RequestKind,
    recipient: &Recipient,
    said: &ServerText,
) -> Result<Outcome, CommandError> {
    let has_deviations = reported["deviations"].as_array().is_some_and(|all| !all.is_empty());
    // What was requested was not done, and the response says so.
    let is_undone = ["success", "delivered", "closed"].iter().any(|name| reported["result"][name] == false);
    match reported["outcome"].as_str() {
        Some("unanswered") => {
            let after = recipient.grace_period(kind);
            let error = CommandError::new(ErrorKind::Timeout, format!("no response within {after:?}"));
            let error = said.instead.iter().flat_map(in_place_of_response).fold(error, CommandError::hint);
            Err(error.hint("allow more time with --deadline"))
        }
        Some("refused") => Ok(Outcome::Findings),
        _ if has_deviations || is_undone => Ok(Outcome::Findings),
        _ => Ok(Outcome::Clean),
    }
}

fn show(reported: &Value, recipient: &Recipient, context: &Context) -> Result<(), CommandError> {
    let printer = &context.printer;
    if recipient.to.format == Format::Json {
        printer.json(reported)?;
        return printer.flush().map_err(CommandError::output);
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |text: String| printer.line(&visible_text(&text));
    line(format!("sent    → {} {}", text(&reported["method"]), reported["params"]))?;
    match reported["outcome"].as_str() {
        Some("answered") => {
            let words = text(&reported["summary"]);
            line(format!(
                "answer  ← {}",
                if words.is_empty() { reported["result"].to_string() } else { words.clone() }
            ))?;
            if !words.is_empty() {
                line(format!("          {}", reported["result"]))?;
            }
        }
        Some("refused") => {
            let error = &reported["error"];
            let words = [error["code"].to_string(), text(&error["means"]), text(&error["message"])];
            let words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
            let data = if error["data"].is_null() { String::new() } else { format!(" {}", error["data"]) };
            line(format!("answer  ← error {}{data}", words.join(" ")))?;
        }
        Some("unanswered") => line("answer  ← none".to_owned())?,
        _ => line("answer  none expected".to_owned())?,
    }
    if let Some(milliseconds) = reported["latency_ms"].as_f64() {
        line(format!("time    {}", duration((milliseconds * 1e6) as i64)))?;
    }
    for deviation in reported["deviations"].as_array().into_iter().flatten() {
        line(format!("warning {}", text(deviation)))?;
    }
    printer.flush().map_err(CommandError::output)
}
