//! What an MCPL host fires at a server (seed 002): in a connection of its own or into a live session, once or often;
//! the answer is held against the proposal's schema.

use super::Format;
use super::repeat::Repeating;
use crate::cli::client_session::{self, ClientOptions, Peer};
use crate::cli::target::Target;
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::host::client::Handshake;
use crate::proposals::{self, Declared, Proposal, Side, Spoken, mcpl};
use crate::render::line::{duration, visible_text};
use crate::runtime::client::{Answer, Connection, Failure};
use crate::wire::units::parse_time;
use crate::wire::{Direction, Envelope};
use clap::Args;
use serde_json::{Value, json};
use std::time::Duration;

/// To whom, and how long it may take.
#[derive(Debug, Args)]
pub struct Toward {
    /// How long the server may take; where nothing is said, what the proposal recommends for the hook, else 30s.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    deadline: Option<Duration>,
    /// Send it even where the server did not declare what takes it.
    #[arg(long)]
    force: bool,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    repeating: Repeating,
    #[command(flatten)]
    client: ClientOptions,
    #[command(flatten)]
    target: Target,
}

/// How a message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// It is answered.
    Request,
    /// It is not.
    Notification,
}

/// One message.
pub struct Call {
    pub method: &'static str,
    pub form: Form,
    pub params: Value,
}

/// A message of the table: what the server must have declared for it, and how long it may take.
pub struct Asking {
    /// The path below the server's block; `true` on the way to it stands for all below.
    pub needs: &'static str,
    /// How long the server may take where the user does not say.
    pub grace_period: Duration,
}

/// Where an answer has no time of its own (§10.6 has some for hooks).
const GRACE_PERIOD: Duration = Duration::from_secs(30);
/// A hook before an inference (§10.6).
pub static BEFORE: Asking = Asking { needs: "contextHooks.beforeInference", grace_period: Duration::from_secs(5) };
/// A hook after one (§10.6).
pub static AFTER: Asking = Asking { needs: "contextHooks.afterInference", grace_period: Duration::from_secs(10) };
/// Which sets are on (§6.7).
pub static UPDATE: Asking = Asking { needs: "featureSets", grace_period: GRACE_PERIOD };
/// Going back to a checkpoint (§8.5).
pub static ROLLBACK: Asking = Asking { needs: "featureSets", grace_period: GRACE_PERIOD };
/// Which channels there are (§14.3).
pub static LIST: Asking = Asking { needs: "channels", grace_period: GRACE_PERIOD };
/// Channels opened and closed.
pub static LIFECYCLE: Asking = Asking { needs: "channels.lifecycle", grace_period: GRACE_PERIOD };
/// Content for a channel.
pub static PUBLISH: Asking = Asking { needs: "channels.publish", grace_period: GRACE_PERIOD };
/// What goes out by a channel, for who observes it.
pub static OBSERVE: Asking = Asking { needs: "channels.observe", grace_period: GRACE_PERIOD };

/// Which sets are on, told once before anything else (§5.3).
const SETS_UPDATE: &str = "featureSets/update";

/// A server registers its channels before they are used (§14.3).
const REGISTER: &str = "channels/register";
/// Which channels a server has.
const CHANNELS: &str = "channels/list";

/// Fires what `calls` makes: of how often it was fired already, and of the server's block. The last of them counts.
pub fn run(
    asking: &Asking,
    toward: &Toward,
    context: &Context,
    calls: impl Fn(u64, &Value) -> Result<Vec<Call>, CommandError>,
) -> Result<Outcome, CommandError> {
    let mut tally = toward.repeating.tally()?;
    client_session::block_on(async {
        let (link, server) = Peer::start(&toward.target, &toward.client, context).await?;
        let capabilities = proposals::host_capabilities(&[&mcpl::Mcpl]);
        let options = toward.client.with_handshake();
        let (mut connection, handshake) =
            match client_session::open(&server, link, &options, capabilities, context).await {
                Ok(opened) => opened,
                Err(error) => return Err(server.end_after(error, context).await),
            };
        let fired = async {
            let block = block(&handshake, asking, toward)?;
            let first = calls(0, &block)?;
            if !server.is_joined() && first.first().is_some_and(|call| call.method != SETS_UPDATE) {
                let sets: Vec<String> = mcpl::feature_sets(&block["featureSets"]).into_keys().collect();
                connection.notify(SETS_UPDATE, json!({"enabled": sets})).await;
                connection.runner.engine.grant(REGISTER);
                if asking.needs.starts_with("channels.") {
                    // What the server has registered by then comes before its answer.
                    let asked =
                        connection.request(CHANNELS, json!({}), |output| client_session::report(output, context)).await;
                    asked.map_err(|failure| client_session::failed(failure, &connection.runner.stderr))?;
                }
            }
            let mut due = Some((Duration::ZERO, first));
            while let Some((at, calls_now)) = due.take() {
                while let Some(output) = connection.runner.next(Some(at)).await {
                    client_session::report(&output, context);
                }
                let began = connection.runner.now();
                let reported = fire(&mut connection, &handshake, calls_now, asking, toward, context).await;
                let reported =
                    reported.map_err(|failure| client_session::failed(failure, &connection.runner.stderr))?;
                show(&reported, toward, context)?;
                let latency = reported["latency_ms"].as_f64().map(|milliseconds| milliseconds / 1e3);
                let latency = latency.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                tally.take(&reported, judge(&reported, asking, toward), latency, context);
                if let Some(at) = toward.repeating.next(tally.taken(), began) {
                    due = Some((at, calls(tally.taken(), &block)?));
                }
            }
            Ok::<(), CommandError>(())
        };
        let fired = fired.await;
        connection.runner.close().await;
        match fired {
            Ok(()) => drop(server.end(context).await),
            Err(error) => return Err(server.end_after(error, context).await),
        }
        tally.finish(context)
    })
}

/// The server's block; an error where it did not declare what is needed.
fn block(handshake: &Handshake, asking: &Asking, toward: &Toward) -> Result<Value, CommandError> {
    let declared = Declared { server: handshake.server_capabilities.clone(), ..Declared::default() };
    let block = declared.find(&mcpl::DESCRIPTOR, Side::Server).map(|(_, block)| block.clone()).unwrap_or_default();
    if toward.force || mcpl::has(&block, asking.needs) {
        return Ok(block);
    }
    let name = handshake.server_info["name"].as_str().unwrap_or("the server");
    client_session::need_carrier(handshake.era, name, ErrorKind::Unmet)
        .map_err(|error| error.hint("send it anyway with --force"))?;
    let why = format!("{name} does not declare experimental.mcpl.{}", asking.needs);
    Err(CommandError::new(ErrorKind::Unmet, why).hint("send it anyway with --force"))
}

/// Sends one after another; what came of the last.
async fn fire(
    connection: &mut Connection,
    handshake: &Handshake,
    calls: Vec<Call>,
    asking: &Asking,
    toward: &Toward,
    context: &Context,
) -> Result<Value, Failure> {
    let mut reported = Value::Null;
    for Call { method, form, params } in calls {
        reported = json!({"server": handshake.server_info["name"], "method": method, "params": params,
            "outcome": "sent", "latency_ms": null});
        let odd = mcpl::DESCRIPTOR.schemas.check(&format!("{method}:params"), &params).unwrap_or_default();
        for violation in odd {
            context.printer.note(&format!("sent, though it does not fit the proposal's schema: {violation}"));
        }
        if form == Form::Notification {
            connection.notify(method, params).await;
            continue;
        }
        let grace_period = toward.deadline.unwrap_or(asking.grace_period);
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

/// Reads an answer: what it says, what an error means, and where it differs from the proposal.
fn read(method: &str, answer: &Answer, reported: &mut Value) {
    let envelope = Envelope::scan(&answer.message);
    let is_error = envelope.error.is_some();
    let content: Value = envelope.content().and_then(|text| serde_json::from_slice(text).ok()).unwrap_or_default();
    let mut words = String::new();
    let spoken = Spoken { method, direction: Direction::ServerToClient, envelope: &envelope };
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

fn judge(reported: &Value, asking: &Asking, toward: &Toward) -> Result<Outcome, CommandError> {
    let has_odd = reported["deviations"].as_array().is_some_and(|odd| !odd.is_empty());
    // What was asked for was not done, and the answer says so.
    let is_undone = ["success", "delivered", "closed"].iter().any(|name| reported["result"][name] == false);
    match reported["outcome"].as_str() {
        Some("unanswered") => {
            let after = toward.deadline.unwrap_or(asking.grace_period);
            let error = CommandError::new(ErrorKind::Timeout, format!("no answer within {after:?}"));
            Err(error.hint("give it longer with --deadline"))
        }
        Some("refused") => Ok(Outcome::Findings),
        _ if has_odd || is_undone => Ok(Outcome::Findings),
        _ => Ok(Outcome::Clean),
    }
}

fn show(reported: &Value, toward: &Toward, context: &Context) -> Result<(), CommandError> {
    let printer = &context.printer;
    if toward.format == Format::Json {
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
        _ => line("answer  none is asked for".to_owned())?,
    }
    if let Some(milliseconds) = reported["latency_ms"].as_f64() {
        line(format!("time    {}", duration((milliseconds * 1e6) as i64)))?;
    }
    for odd in reported["deviations"].as_array().into_iter().flatten() {
        line(format!("odd     {}", text(odd)))?;
    }
    printer.flush().map_err(CommandError::output)
}
