//! `fire hook`: which declared hooks an event fires, and what they would inject (SEP-2282).

use super::Format;
use super::ServerOptions;
use crate::cli::client_session;
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::host::client::{Handshake, Params};
use crate::proposals::hooks::engine::{
    Declarations, Event, EventKind, Injection, Verdict, client_capability, select, tool_result_text,
};
use crate::render::line::visible_text;
use crate::runtime;
use crate::runtime::client::{Connection, Failure};
use crate::runtime::parameters;
use crate::wire::{Envelope, json as text};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::time::Duration;

/// Fire a hook event (SEP-2282): match it against the server's declared hooks and print what they would inject.
///
/// Template variables are substituted, and a `context_tool` is called on the server. For each hook that does not
/// fire, the reason is printed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire hook session_start --project demo -- my-memory-server
  mcpreel fire hook post_tool_use --tool Bash --output stdout=ok -- my-server
  mcpreel fire hook session_start --session memory          # a live session
  mcpreel fire hook pre_tool_use --tool add --format json -- my-server
  mcpreel fire hook pre_tool_use --tool add --tool-server calc -- my-server
  mcpreel fire hook session_start --expect '.hooks[0].inject' -- my-server

Exit codes: 0 at least one hook fired; 1 none did, or a context tool failed; 4 the server failed; 5 no response in time.")]
pub(crate) struct HookArgs {
    /// The event.
    event: EventArg,
    /// The tool's name without a prefix (for tool events).
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// The server that provides the tool (default: none; the tool belongs to the host).
    #[arg(long, value_name = "NAME")]
    tool_server: Option<String>,
    /// The tool's arguments (repeatable): name=text, name:=JSON, a JSON object, @file, or - for stdin.
    #[arg(long = "input", value_name = "VALUE")]
    input: Vec<String>,
    /// The tool's result (repeatable), in the same form as --input.
    #[arg(long = "output", value_name = "VALUE")]
    output: Vec<String>,
    /// The value of {project_name} (default: the current folder's name).
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// The value of {session_id}.
    #[arg(long, value_name = "ID", default_value = "mcpreel")]
    session_id: String,
    /// Print the names of context tools without calling them.
    #[arg(long)]
    no_call: bool,
    #[command(flatten)]
    to: ServerOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum EventArg {
    SessionStart,
    SessionEnd,
    PreToolUse,
    PostToolUse,
    PreRequest,
    PostRequest,
}

impl EventArg {
    fn kind(self) -> EventKind {
        match self {
            Self::SessionStart => EventKind::SessionStart,
            Self::SessionEnd => EventKind::SessionEnd,
            Self::PreToolUse => EventKind::PreToolUse,
            Self::PostToolUse => EventKind::PostToolUse,
            Self::PreRequest => EventKind::PreRequest,
            Self::PostRequest => EventKind::PostRequest,
        }
    }
}

/// The result of one declared hook.
struct Fired {
    index: usize,
    priority: &'static str,
    tool: Option<(String, Value)>,
    outcome: Result<String, String>,
    fires: bool,
    notes: Vec<String>,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &HookArgs, context: &Context) -> Result<Outcome, CommandError> {
    let (event, mut tally) = (event(args)?, args.to.repeating.tally()?);
    runtime::block_on(async {
        let (link, server) = client_session::start(&args.to.target, &args.to.client, context).await?;
        let supported = client_capability(&EventKind::ALL);
        let capabilities = json!({"hooks": supported, "experimental": {"hooks": supported}});
        let options = args.to.client.with_handshake();
        let (mut connection, handshake) =
            match client_session::open(&server, link, &options, capabilities, context).await {
                Ok(opened) => opened,
                Err(error) => return Err(server.end_after(error, context.notices()).await),
            };
        let name = handshake.server_info["name"].as_str().unwrap_or("the server");
        if let Err(error) = client_session::need_carrier(handshake.era, name, ErrorKind::Unmet) {
            connection.runner.close().await;
            return Err(server.end_after(error, context.notices()).await);
        }
        let declarations = Declarations::parse(&handshake.server_capabilities);
        let mut due = Some(Duration::ZERO);
        while let Some(at) = due {
            while let Some(output) = connection.runner.next(Some(at)).await {
                client_session::report(&output, context);
            }
            let began = connection.runner.now();
            let (fired, failure) = fire(&mut connection, &declarations, &event, args, context).await;
            let latency = connection.runner.now().saturating_sub(began);
            let reported = to_json(args, &handshake, &declarations, &fired);
            match args.to.format {
                Format::Json => context.printer.json(&reported)?,
                Format::Human => print(&handshake, &declarations, &fired, context)?,
            }
            context.printer.flush().map_err(CommandError::output)?;
            let failed = fired.iter().any(|one| one.fires && one.outcome.is_err() && !args.no_call);
            let is_clean = !failed && fired.iter().any(|one| one.fires);
            tally.take(
                &reported,
                Ok(if is_clean { Outcome::Clean } else { Outcome::Findings }),
                Some(latency),
                context,
            );
            if let Some(failure) = failure {
                let error = client_session::failed(failure, &connection.runner.said);
                connection.runner.close().await;
                return Err(server.end_after(error, context.notices()).await);
            }
            due = args.to.repeating.next(tally.taken(), began);
        }
        connection.runner.close().await;
        server.end(context.notices()).await?;
        tally.finish(context)
    })
}

/// Matches one event, and collects what the hooks inject. If the connection fails, it returns the reason, and what it has
/// collected until then.
async fn fire(
    connection: &mut Connection,
    declarations: &Declarations,
    event: &Event,
    args: &HookArgs,
    context: &Context,
) -> (Vec<Fired>, Option<Failure>) {
    let (mut fired, mut failed) = (Vec::new(), None);
    for selected in select(declarations, event) {
        let (index, priority, notes) = (selected.index, selected.priority.name(), selected.notes);
        let one = |tool, outcome, fires| Fired { index, priority, tool, outcome, fires, notes };
        fired.push(match selected.verdict {
            Verdict::OtherEvent(event) => one(None, Err(format!("declared for {}", event.name())), false),
            Verdict::Skipped(why) => one(None, Err(why), false),
            Verdict::Fires(Injection::Text(text)) => one(None, Ok(text), true),
            Verdict::Fires(Injection::CallTool { name, arguments }) if args.no_call => {
                one(Some((name, arguments)), Err("not called (--no-call)".into()), true)
            }
            Verdict::Fires(Injection::CallTool { name, arguments }) => {
                let outcome = match call_tool(connection, &name, &arguments, context).await {
                    Ok(outcome) => outcome,
                    Err(failure) => {
                        let why = failure.to_string();
                        failed = Some(failure);
                        Err(why)
                    }
                };
                one(Some((name, arguments)), outcome, true)
            }
        });
        if failed.is_some() {
            break;
        }
    }
    (fired, failed)
}

fn event(args: &HookArgs) -> Result<Event, CommandError> {
    let mut event = Event::new(args.event.kind());
    let about_tool = args.tool.is_some() || !args.input.is_empty() || !args.output.is_empty();
    if event.kind.is_tool_event() && args.tool.is_none() {
        return Err(
            CommandError::usage(format!("{} needs a tool", event.kind.name())).hint("name the tool with --tool")
        );
    }
    if !event.kind.is_tool_event() && about_tool {
        return Err(CommandError::usage(format!("{} is not about a tool", event.kind.name()))
            .hint("--tool, --input and --output apply to pre_tool_use and post_tool_use"));
    }
    event.tool_name = args.tool.clone();
    event.tool_server = args.tool_server.clone();
    if event.kind.is_tool_event() {
        event.tool_input = Value::Object(parameters::object(&args.input)?);
    }
    if !args.output.is_empty() {
        event.tool_output = Some(Value::Object(parameters::object(&args.output)?));
    }
    let folder = std::env::current_dir().ok();
    let folder = folder.as_deref().and_then(|folder| folder.file_name());
    event.project_name = args.project.clone().or_else(|| folder.map(|name| name.to_string_lossy().into_owned()));
    event.session_id = Some(args.session_id.clone());
    Ok(event)
}

/// Calls a context tool and returns the text to inject, or why there is none (SEP-2282, Client behaviour).
///
/// # Errors
///
/// The connection failed.
async fn call_tool(
    connection: &mut Connection,
    name: &str,
    arguments: &Value,
    context: &Context,
) -> Result<Result<String, String>, Failure> {
    let params = Params::Value(json!({"name": name, "arguments": arguments}));
    let answer = connection.request("tools/call", params, |output| client_session::report(output, context)).await?;
    let envelope = Envelope::scan(&answer.message);
    let content = envelope.content().map(text::value_of).unwrap_or_default();
    if envelope.error.is_some() {
        return Ok(Err(format!("the server refused the call: {}", content["message"].as_str().unwrap_or_default())));
    }
    Ok(tool_result_text(&content).map_err(|reason| reason.to_string()))
}

fn to_json(args: &HookArgs, handshake: &Handshake, declarations: &Declarations, fired: &[Fired]) -> Value {
    let hooks: Vec<Value> = fired
        .iter()
        .map(|one| {
            let (text, why) = match &one.outcome {
                Ok(text) => (Some(text), None),
                Err(why) => (None, Some(why)),
            };
            let (tool, arguments) = one.tool.as_ref().map_or((None, None), |(name, value)| (Some(name), Some(value)));
            json!({
                "index": one.index, "priority": one.priority, "fires": one.fires, "inject": text, "reason": why,
                "context_tool": tool, "arguments": arguments, "notes": one.notes,
            })
        })
        .collect();
    let dropped: Vec<Value> =
        declarations.dropped.iter().map(|entry| json!({"index": entry.index, "reason": entry.reason})).collect();
    json!({
        "event": args.event.kind().name(), "server": handshake.server_info["name"],
        "declared_at": declarations.place, "hooks": hooks, "invalid": dropped, "notes": declarations.notes,
    })
}

fn print(
    handshake: &Handshake,
    declarations: &Declarations,
    fired: &[Fired],
    context: &Context,
) -> Result<(), CommandError> {
    let printer = &context.printer;
    // All of this is text from the server, so each part is escaped before colours are added.
    let name = visible_text(handshake.server_info["name"].as_str().unwrap_or("the server"));
    let palette = printer.palette;
    let (bold, faint, warning) = (palette.bold, palette.faint, palette.warning);
    if fired.is_empty() && declarations.dropped.is_empty() {
        return printer.line(&format!("{name} declares no hooks"));
    }
    declarations.notes.iter().for_each(|note| printer.note(note));
    for one in fired {
        let via = match &one.tool {
            Some((tool, arguments)) => visible_text(&format!(" via {tool} {arguments}")),
            None => String::new(),
        };
        match &one.outcome {
            Ok(text) => {
                printer.line(&format!("{bold}hook {} fires{bold:#} ({}){via}", one.index, one.priority))?;
                for line in text.lines() {
                    printer.line(&format!("    {}", visible_text(line)))?;
                }
            }
            Err(why) if one.fires => {
                printer.line(&format!(
                    "{warning}hook {} fires, nothing injected{warning:#}{via}: {}",
                    one.index,
                    visible_text(why)
                ))?;
            }
            Err(why) => printer.line(&format!("{faint}hook {} skipped: {}{faint:#}", one.index, visible_text(why)))?,
        }
        one.notes.iter().try_for_each(|note| printer.line(&format!("    {faint}{}{faint:#}", visible_text(note))))?;
    }
    for entry in &declarations.dropped {
        printer.line(&format!(
            "{warning}hook {} is invalid: {}{warning:#}",
            entry.index,
            visible_text(&entry.reason)
        ))?;
    }
    Ok(())
}
