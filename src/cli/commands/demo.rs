//! `demo`: a tour. It records the built-in server while a scripted host has one conversation with it that uses all
//! five proposals, then shows, validates and counts the recording.

use crate::cli::{Context, Outcome, run_words};
use crate::error::{CommandError, ErrorKind};
use crate::files::reels;
use crate::host::client::{ClientConfig, ClientEngine, EraChoice, Output, Params};
use crate::process::child::ServerCommand;
use crate::proposals::hooks::engine::{
    Declarations, Event, EventKind, Injection, Verdict, client_capability, select, tool_result_text,
};
use crate::runtime;
use crate::runtime::client::Runner;
use crate::transport::local::stdio;
use crate::wire::{Envelope, json as text};
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Take a tour with the built-in server: record, show, validate and summarise a session.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel demo
  mcpreel demo -o demo.reel")]
pub(crate) struct DemoArgs {
    /// Write the reel to this file instead of the folder of reels.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &DemoArgs, context: &Context) -> Result<Outcome, CommandError> {
    let path = match &args.output {
        Some(path) => {
            check_that_it_can_be_made(path)?;
            path.clone()
        }
        None => reels::new_path("demo")?,
    };
    runtime::block_on(converse(&path, context))?;
    let reel = path.to_string_lossy().into_owned();
    let heading = |text: &str| {
        let bold = context.printer.palette.bold;
        context.printer.line(&format!("\n{bold}{text}{bold:#}"))
    };
    heading("What crossed the wire  (→ to the server, ← to the host)")?;
    run_words(&["show", &reel], context)?;
    heading("Does it follow the rules?")?;
    let validated = run_words(&["validate", &reel], context)?;
    heading("What was sent, and how fast")?;
    run_words(&["stats", &reel], context)?;
    heading("Try next")?;
    context.printer.line(&format!("  mcpreel show --full {reel} 'ext:mcpl'"))?;
    context.printer.line("  mcpreel fire user-message 'what about the database schema?' -- mcpreel serve")?;
    context.printer.line("  mcpreel record -- YOUR-SERVER-COMMAND   # in your client's configuration")?;
    Ok(validated)
}

/// The recorder is a separate process, so a problem with its file is better reported here, before anything starts.
fn check_that_it_can_be_made(path: &Path) -> Result<(), CommandError> {
    if path == Path::new("-") {
        return Err(CommandError::usage("the demo prints to stdout, so the reel cannot go there"));
    }
    if reels::is_written_in_place(path) {
        return Ok(());
    }
    reels::create(path, false).map_err(|mut error| {
        if error.kind == ErrorKind::Usage {
            error.hints = vec!["name another file".into()];
        }
        error
    })?;
    std::fs::remove_file(path).map_err(|error| CommandError::writing(path, &error))
}

/// The host's side of the conversation.
struct Host {
    runner: Runner<ClientEngine>,
    pushes: usize,
    received: Vec<String>,
}

async fn converse(path: &Path, context: &Context) -> Result<(), CommandError> {
    let program = std::env::current_exe().map_err(|error| CommandError::reading(Path::new("mcpreel"), &error))?;
    let words = ["record", "--label", "demo", "-o"].map(Into::into);
    let mut argv = vec![program.clone().into_os_string()];
    argv.extend(words);
    argv.extend([path.into(), "--".into(), program.into_os_string(), "serve".into()]);
    let command = ServerCommand { argv, ..ServerCommand::default() };
    let (link, server) = stdio::spawn(&command, None).map_err(CommandError::spawning)?;
    let mut engine = ClientEngine::new(config());
    ["push/event", "model/info", "inference/request"].into_iter().for_each(|method| engine.leave(method));
    let mut host = Host { runner: Runner::start(engine, link).await, pushes: 0, received: Vec::new() };
    let reported = host.talk().await;
    host.runner.close().await;
    server.end(stdio::Grace::USUAL).await;
    reported?;
    if context.verbose > 0 {
        host.received.iter().for_each(|method| context.printer.note(&format!("received {method}")));
    }
    Ok(())
}

fn config() -> ClientConfig {
    let mut config = ClientConfig::new("mcpreel-demo-host", env!("CARGO_PKG_VERSION"));
    config.era = EraChoice::Legacy;
    config.request_timeout = Duration::from_secs(5);
    config.capabilities = json!({
        "hooks": client_capability(&EventKind::ALL),
        "experimental": {"mcpl": {
            "version": "0.4", "pushEvents": true, "inferenceRequest": {"streaming": false}, "modelInfo": true,
            "contextHooks": {"beforeInference": true, "afterInference": {"blocking": false}}, "featureSets": true,
        }},
    });
    config
}

/// The model that the demo pretends to run.
fn model() -> Value {
    json!({"id": "demo-model", "vendor": "mcpreel", "contextWindow": 8192, "capabilities": ["tools"]})
}

impl Host {
    async fn talk(&mut self) -> Result<(), CommandError> {
        let declarations = self.open().await?;
        self.notify("featureSets/update", json!({"enabled": ["memory.*", "notes.edit"], "disabled": []})).await;
        self.ask("tools/list", json!({})).await?;
        let mut started = Event::new(EventKind::SessionStart);
        started.project_name = Some("acme".to_owned());
        self.hooks(&declarations, &started).await?;
        let question = "What did we decide about the database schema?";
        self.ask("conversation/userMessage", json!({"messageId": "msg_1", "content": question})).await?;
        let inference = json!({
            "inferenceId": "inf_1", "conversationId": "conv_1", "turnIndex": 0, "userMessage": question, "model": model(),
        });
        self.ask("context/beforeInference", inference).await?;
        self.call("add_note", json!({"text": "one table per tenant"})).await?;
        let mut used = Event::new(EventKind::PostToolUse);
        used.tool_name = Some("add_note".into());
        used.tool_input = json!({"text": "one table per tenant"});
        self.hooks(&declarations, &used).await?;
        self.events().await?;
        self.notify(
            "context/afterInference",
            json!({
                "inferenceId": "inf_1", "conversationId": "conv_1", "turnIndex": 0, "userMessage": question,
                "assistantMessage": "One table per tenant.", "model": model(),
                "usage": {"inputTokens": 120, "outputTokens": 9},
            }),
        )
        .await;
        self.call("fail", json!({"message": "tools can fail, too"})).await?;
        self.ask("ping", Params::Absent).await.map(|_| ())
    }

    /// A subscription, and one event of each kind that a server can start.
    async fn events(&mut self) -> Result<(), CommandError> {
        let wanted = json!({
            "filter": {"eventTypes": ["github.*"], "priority": ["high", "critical"]},
            "delivery": {"channels": ["realtime"]},
        });
        let subscribed = self.call("events_subscribe", wanted).await?;
        let event = json!({
            "kind": "event", "type": "github.push", "data": {"repo": "acme/backend"}, "priority": "high", "tags": ["ci"],
        });
        self.call("emit", event).await?;
        let reminder = json!({
            "kind": "reminder", "body": "src/lib.rs changed outside; read it again before you edit it",
            "dedupeKey": "file_changed:src/lib.rs", "ttlTurns": 2,
        });
        self.call("emit", reminder).await?;
        self.call("emit", json!({"kind": "push", "text": "A new commit on main by alice: fix auth"})).await?;
        while self.pushes == 0 {
            self.next("push/event").await?;
        }
        let id = subscribed["structuredContent"]["subscriptionId"].clone();
        self.call("events_unsubscribe", json!({"subscriptionId": id})).await.map(|_| ())
    }

    async fn open(&mut self) -> Result<Declarations, CommandError> {
        loop {
            if let Output::Ready(handshake) = self.next("the handshake").await? {
                return Ok(Declarations::parse(&handshake.server_capabilities));
            }
        }
    }

    /// Fires the hooks that an event matches. Their texts would go to the model; their tools are called.
    async fn hooks(&mut self, declarations: &Declarations, event: &Event) -> Result<(), CommandError> {
        for selected in select(declarations, event) {
            if let Verdict::Fires(Injection::CallTool { name, arguments }) = selected.verdict {
                let result = self.call(&name, arguments).await?;
                self.received.push(tool_result_text(&result).unwrap_or_default());
            }
        }
        Ok(())
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, CommandError> {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    async fn ask(&mut self, method: &str, params: impl Into<Params>) -> Result<Value, CommandError> {
        let now = self.runner.now();
        let (asked, outputs) = self.runner.engine.request(now, method, params);
        self.runner.take(outputs);
        loop {
            match self.next(method).await? {
                Output::Answered { handle, message, .. } if handle == asked => {
                    let envelope = Envelope::scan(&message);
                    return Ok(envelope.result.and_then(|text| serde_json::from_slice(text).ok()).unwrap_or_default());
                }
                Output::TimedOut { handle, .. } | Output::Failed { handle: Some(handle), .. } if handle == asked => {
                    return Err(broken(&format!("no response to {method}")));
                }
                _ => {}
            }
        }
    }

    async fn notify(&mut self, method: &str, params: Value) {
        let now = self.runner.now();
        let outputs = self.runner.engine.notify(now, method, params);
        self.runner.take(outputs);
    }

    /// The next thing that happens. The server's requests are answered on the way.
    async fn next(&mut self, waiting_for: &str) -> Result<Output, CommandError> {
        let grace_period = Some(self.runner.now() + Duration::from_secs(5));
        let output = self.runner.next(grace_period).await;
        let output = output.ok_or_else(|| broken(&format!("timed out while waiting for {waiting_for}")))?;
        match &output {
            Output::ServerRequest { method, message, answered_with: None } => {
                let answer = self.answer(method);
                if let Some(id) = text::first_member(message, "id") {
                    let outputs = self.runner.engine.respond(id, &Ok(answer));
                    self.runner.take(outputs);
                }
            }
            Output::Notification { message } => {
                self.received.push(text::str_member(message, "method").unwrap_or_default().into_owned());
            }
            _ => {}
        }
        Ok(output)
    }

    fn answer(&mut self, method: &str) -> Value {
        match method {
            "push/event" => {
                self.pushes += 1;
                json!({"accepted": true, "inferenceId": "inf_2"})
            }
            "model/info" => model(),
            _ => json!({
                "content": "Nothing to add.", "model": "demo-model", "finishReason": "end_turn",
                "usage": {"inputTokens": 1, "outputTokens": 1},
            }),
        }
    }
}

fn broken(what: &str) -> CommandError {
    CommandError::new(ErrorKind::Peer, format!("the demo failed: {what}"))
}
