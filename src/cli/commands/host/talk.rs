//! A conversation as it goes: lines in, the transcript out, the model asked between.

use super::{Format, HostArgs};
use crate::cli::Context;
use crate::cli::error::{CommandError, ErrorKind};
use crate::cli::hosting::editor::{self, Lines};
use crate::cli::hosting::inferences::{Inferences, Saying};
use crate::cli::hosting::lines::{self, COMMANDS, Line};
use crate::cli::hosting::model::Model;
use crate::cli::hosting::play;
use crate::cli::peer;
use crate::drive::host::{HostRunner, Told};
use crate::drive::sleep_until;
use crate::extension::host::ServerView;
use crate::host::client::Output as ClientOutput;
use crate::host::engine::{Done, ModelReply, Order, Output};
use crate::host::prompt::Prompt;
use crate::render;
use crate::render::line::visible_text;
use crate::wire::Envelope;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// The conversation as it goes.
pub(super) struct Talk<'a> {
    args: &'a HostArgs,
    context: &'a Context,
    pub runner: HostRunner,
    model: Model,
    lines: Option<Lines>,
    last_prompt: Option<Prompt>,
    /// An order failed.
    pub failed: bool,
    /// Pieces of the model's answer were shown as they came.
    shown: bool,
    inferences: Inferences,
    /// The user wants the conversation to end.
    pub interrupted: bool,
}

/// What happened next.
enum Happened {
    Told(Told),
    Reply(Result<ModelReply, String>),
    Inferred(u64, Saying),
    Line(Option<String>),
    Waited,
    Interrupted,
}

/// Ctrl-C, or a request to end.
async fn interruption() {
    let terminate = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminate => {}
    }
}

impl<'a> Talk<'a> {
    /// A conversation that has not begun.
    pub fn new(
        (args, context): (&'a HostArgs, &'a Context),
        runner: HostRunner,
        model: Model,
        lines: Option<Lines>,
    ) -> Self {
        Self {
            args,
            context,
            runner,
            model,
            lines,
            last_prompt: None,
            failed: false,
            shown: false,
            inferences: Inferences::new(),
            interrupted: false,
        }
    }

    /// Talks until the session is over; first does what the script says, where no lines are read.
    pub async fn run(&mut self, mut script: VecDeque<String>) -> Result<(), CommandError> {
        let mut replying = None;
        let mut waiting: Option<tokio::time::Instant> = None;
        let mut is_asked = false;
        loop {
            // What was printed stands before whatever is typed next.
            self.context.printer.flush().map_err(CommandError::output)?;
            let is_free = self.runner.is_idle() && waiting.is_none() && replying.is_none() && self.inferences.is_idle();
            if is_free && self.lines.is_none() {
                let line = script.pop_front().unwrap_or_else(|| "/quit".to_owned());
                waiting = self.take_line(&line)?;
                if waiting.is_none() && self.runner.is_idle() {
                    // It asked for nothing that could happen.
                    continue;
                }
            }
            if is_free && !is_asked && self.lines.is_some() {
                self.complete_words();
                self.lines.iter_mut().for_each(Lines::ask);
                is_asked = true;
            }
            let may_read = is_free || self.lines.as_ref().is_some_and(Lines::is_interactive);
            let happened = tokio::select! {
                told = self.runner.next() => Happened::Told(told),
                reply = play::reply_of(&mut replying) => Happened::Reply(reply),
                (token, saying) = self.inferences.next() => Happened::Inferred(token, saying),
                line = next_line(&mut self.lines), if may_read => Happened::Line(line),
                () = sleep_until(waiting) => Happened::Waited,
                () = interruption() => Happened::Interrupted,
            };
            match happened {
                // First the model, then the conversation, then without ceremony.
                Happened::Interrupted if replying.is_some() => {
                    replying.take().iter().for_each(tokio::task::JoinHandle::abort);
                    self.runner.model(Err("interrupted".to_owned()));
                }
                Happened::Interrupted if self.interrupted => {
                    return Err(CommandError::new(ErrorKind::Interrupted, "interrupted"));
                }
                Happened::Interrupted => {
                    self.interrupted = true;
                    (waiting, self.lines) = (None, None);
                    script.clear();
                    if !self.runner.is_idle() {
                        return Err(CommandError::new(ErrorKind::Interrupted, "interrupted"));
                    }
                }
                Happened::Waited => waiting = None,
                Happened::Reply(reply) => {
                    replying = None;
                    self.failed |= reply.is_err();
                    self.runner.model(reply);
                }
                Happened::Inferred(token, Saying::Piece(piece)) => self.runner.inferred_piece(token, &piece),
                Happened::Inferred(token, Saying::End(outcome)) => {
                    self.inferences.begin_next(&self.model);
                    self.runner.inferred(token, outcome);
                }
                Happened::Line(line) => {
                    is_asked = false;
                    match line {
                        Some(line) => match self.take_line(&line) {
                            Ok(until) => waiting = until,
                            // A slip of the fingers ends no conversation; one in a script does.
                            Err(error) if self.is_interactive() => self.context.printer.complain(&error),
                            Err(error) => return Err(error),
                        },
                        None => {
                            self.lines = None;
                        }
                    }
                }
                Happened::Told(Told::Host(Output::Prompt(prompt))) => {
                    self.show_prompt(&prompt)?;
                    self.last_prompt = Some(prompt.clone());
                    replying = Some(self.ask_model(prompt));
                }
                Happened::Told(Told::Host(Output::Infer(inference))) => {
                    self.inferences.take(inference, &self.model);
                }
                Happened::Told(Told::Host(Output::Done(done))) => {
                    let is_over = done == Done::Ended;
                    self.show_done(&done)?;
                    if is_over {
                        return Ok(());
                    }
                }
                Happened::Told(told) => self.show(&told)?,
            }
        }
    }

    fn is_interactive(&self) -> bool {
        self.lines.as_ref().is_some_and(Lines::is_interactive)
    }

    fn ask_model(&mut self, prompt: Prompt) -> tokio::task::JoinHandle<Result<ModelReply, String>> {
        let model = self.model.clone();
        // What a server may take out of the answer must not be seen before.
        let streams =
            self.args.format == Format::Human && matches!(model, Model::Program { .. }) && !self.runner.host.rewrites();
        self.shown = false;
        tokio::spawn(async move {
            let show = |piece: &str| {
                if streams {
                    eprint_piece(piece);
                }
            };
            model.reply(&prompt, show).await
        })
    }

    /// Does what a line asks; answers until when to wait.
    fn take_line(&mut self, line: &str) -> Result<Option<tokio::time::Instant>, CommandError> {
        match lines::parse(line)? {
            Line::Order(order) => {
                if let (Order::Turn { text, .. }, Format::Human, false) =
                    (&order, self.args.format, self.is_interactive())
                {
                    let bold = self.context.printer.palette.bold;
                    self.print(&format!("{bold}you>{bold:#} {}", visible_text(text)))?;
                }
                self.runner.order(order);
            }
            Line::Wait(time) => return Ok(Some(tokio::time::Instant::now() + time)),
            Line::Prompt if self.args.format == Format::Json => {
                let prompt =
                    self.last_prompt.as_ref().map(|prompt| render::host::prompt_value(prompt, self.runner.now()));
                self.print(&prompt.unwrap_or_else(|| json!({"event": "prompt", "prompt": null})).to_string())?;
            }
            Line::Prompt => match &self.last_prompt {
                None => self.print("there was no prompt yet")?,
                Some(prompt) => self.print(render::host::prompt(prompt, &self.context.printer.palette).trim_end())?,
            },
            Line::State if self.args.format == Format::Json => {
                self.print(&json!({"event": "state", "state": self.runner.host.state()}).to_string())?;
            }
            Line::State => self.print(&visible_text(&self.runner.host.state().to_string()))?,
            Line::Servers if self.args.format == Format::Json => {
                let server = |view: &ServerView| {
                    json!({"name": view.name, "own_name": view.own_name, "open": view.is_open,
                        "tools": view.declared.tools})
                };
                let servers: Vec<Value> = self.runner.host.servers().iter().map(server).collect();
                self.print(&json!({"event": "servers", "servers": servers}).to_string())?;
            }
            Line::Servers => {
                for view in self.runner.host.servers().to_vec() {
                    let state = if view.is_open { "open" } else { "gone" };
                    let tools = view.declared.tools.iter().flatten().cloned().collect::<Vec<_>>().join(" ");
                    let text = format!("{} ({}) {state}; tools: {tools}", view.name, view.own_name);
                    self.print(&visible_text(&text))?;
                }
            }
            Line::Help if self.args.format == Format::Json => {}
            Line::Help => {
                for (name, arguments, text) in COMMANDS {
                    self.print(&format!("  /{:<40} {text}", format!("{name} {arguments}")))?;
                }
            }
            Line::Nothing => {}
        }
        Ok(None)
    }

    fn complete_words(&self) {
        let Some(lines) = &self.lines else { return };
        let mut words = lines.words.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        words.clear();
        for view in self.runner.host.servers() {
            words.push(view.name.clone());
            words.extend(view.declared.tools.iter().flatten().cloned());
        }
    }

    fn print(&mut self, text: &str) -> Result<(), CommandError> {
        if let Some(lines) = &mut self.lines
            && lines.print(&format!("{text}\n"))
        {
            return Ok(());
        }
        self.context.printer.line(text)
    }

    fn show(&mut self, told: &Told) -> Result<(), CommandError> {
        let (at, palette) = (self.runner.now(), self.context.printer.palette);
        match (told, self.args.format) {
            (Told::Host(Output::Fact(fact)), Format::Human) => {
                self.print(&render::host::fact(fact, self.runner.host.servers(), &palette))
            }
            (Told::Host(Output::Fact(fact)), Format::Json) => {
                self.print(&render::host::fact_value(fact, self.runner.host.servers(), at).to_string())
            }
            (Told::Host(Output::Client { output, .. }), _) => {
                if !matches!(output, ClientOutput::Send(_)) {
                    peer::tell(output, self.context);
                }
                Ok(())
            }
            (Told::Stderr(server, bytes), _) => {
                if self.context.verbose > 0 {
                    let name = self.runner.host.servers().get(server.0).map_or("", |view| view.name.as_str());
                    let said = String::from_utf8_lossy(bytes).trim_end().to_owned();
                    self.context.printer.note(&format!("{name} said: {said}"));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn show_prompt(&mut self, prompt: &Prompt) -> Result<(), CommandError> {
        let at = self.runner.now();
        match self.args.format {
            Format::Json => self.print(&render::host::prompt_value(prompt, at).to_string()),
            Format::Human if self.args.prompts => {
                let text = render::host::prompt(prompt, &self.context.printer.palette);
                self.print(text.trim_end())
            }
            Format::Human => Ok(()),
        }
    }

    fn show_done(&mut self, done: &Done) -> Result<(), CommandError> {
        self.failed |= match done {
            Done::Failed(_) | Done::Tool(Err(_)) => true,
            Done::Tool(Ok(result)) => result["isError"] == true,
            Done::Answer(message) => Envelope::scan(message).error.is_some(),
            _ => false,
        };
        let at = self.runner.now();
        let text = match self.args.format {
            Format::Json => render::host::done_value(done, at).to_string(),
            Format::Human => render::host::done(done, &self.context.printer.palette),
        };
        editor::flush();
        if text.is_empty() { Ok(()) } else { self.print(&text) }
    }
}

/// The pieces of a model's answer, as they come.
fn eprint_piece(piece: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(visible_text(piece).as_bytes());
}

async fn next_line(lines: &mut Option<Lines>) -> Option<String> {
    match lines {
        Some(lines) => lines.next().await,
        None => std::future::pending().await,
    }
}
