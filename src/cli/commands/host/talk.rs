//! A running conversation: reads lines, prints the transcript, and asks the model in between.

pub(super) mod consent;
mod transcript;

use super::{Format, HostArgs};
use crate::cli::Context;
use crate::error::{CommandError, ErrorKind};
use crate::host::client::Output as ClientOutput;
use crate::host::engine::{Order, OrderResult, Output};
use crate::host::prompt::Prompt;
use crate::runtime::event_routes::Routes;
use crate::runtime::host::{HostNotice, HostRunner};
use crate::runtime::interactive::editor::{Lines, Typed};
use crate::runtime::interactive::lines::{self, Line};
use crate::runtime::sleep_until;
use consent::Consent;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::Instant;
use transcript::{Repeats, Streamed};

/// After this time without any event, the servers that the host waits for are reported.
const SILENCE: Duration = Duration::from_secs(1);

/// How many of a server's violations of MCP itself are shown without -v.
const MAX_FAULTS: u64 = 20;

/// A running conversation.
pub(super) struct Talk<'a> {
    args: &'a HostArgs,
    context: &'a Context,
    pub runner: HostRunner,
    /// The source of further lines.
    lines: Option<Lines>,
    /// What the user of a terminal is asked, and has answered.
    consent: Option<Consent>,
    /// What to do next, in order.
    queue: VecDeque<Line>,
    /// Nothing is started before this time.
    waiting: Option<Instant>,
    /// The time of the last event; `None` after the silence since then was reported.
    received: Option<Instant>,
    last_prompt: Option<Prompt>,
    /// Whether the line that is done next is visible right above, as it was typed.
    is_on_screen: bool,
    streamed: Streamed,
    repeats: Repeats,
    routes: Routes,
    /// How often a server broke the rules of MCP itself, which counts with --strict.
    faults: u64,
    /// Whether a line failed.
    pub failed: bool,
    /// Whether the user wants to end the conversation.
    pub interrupted: bool,
}

/// What a conversation has to do.
pub(super) struct Input {
    /// What to do first, in order.
    pub queue: VecDeque<Line>,
    /// The source of further lines.
    pub lines: Option<Lines>,
    /// What the user of a terminal has answered before.
    pub consent: Option<Consent>,
}

/// What happened next.
enum Happened {
    HostNotice(Box<HostNotice>),
    Typed(Option<Typed>),
    Waited,
    Silence,
    Interrupted,
}

/// Ctrl-C and SIGTERM. Registered at the start, so that none is missed while something is printed.
struct Ends {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
}

impl Ends {
    /// Must be called within a runtime.
    fn listen() -> Self {
        Self { interrupt: signal(SignalKind::interrupt()).ok(), terminate: signal(SignalKind::terminate()).ok() }
    }

    async fn next(&mut self) {
        tokio::select! {
            () = received(&mut self.interrupt) => {}
            () = received(&mut self.terminate) => {}
        }
    }
}

async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

impl<'a> Talk<'a> {
    /// A conversation that has not begun. It does what is in the queue, then what the lines say, then it ends.
    pub(super) fn new(
        args: &'a HostArgs,
        context: &'a Context,
        runner: HostRunner,
        input: Input,
        routes: Routes,
    ) -> Self {
        Self {
            args,
            context,
            runner,
            lines: input.lines,
            consent: input.consent,
            queue: input.queue,
            waiting: None,
            received: Some(Instant::now()),
            last_prompt: None,
            is_on_screen: false,
            streamed: Streamed::default(),
            repeats: Repeats::default(),
            routes,
            faults: 0,
            failed: false,
            interrupted: false,
        }
    }

    /// Talks until the session is over.
    ///
    /// # Errors
    ///
    /// The output cannot be written, or the user interrupted the conversation.
    pub(super) async fn run(&mut self) -> Result<(), CommandError> {
        let outcome = self.go_on().await;
        // Everything is printed, so the terminal is given back to the user.
        self.lines = None;
        outcome
    }

    async fn go_on(&mut self) -> Result<(), CommandError> {
        self.lines.iter().for_each(Lines::ask);
        let mut ends = Ends::listen();
        loop {
            // Flush before the next line is typed.
            self.context.printer.flush().map_err(CommandError::output)?;
            if self.is_free() && !self.is_held() {
                let end = self.lines.is_none().then_some(Line::Order(Order::End));
                if let Some(line) = self.queue.pop_front().or(end) {
                    self.act(line)?;
                    continue;
                }
            }
            let happened = self.next(&mut ends).await;
            if !matches!(happened, Happened::Silence | Happened::Typed(_)) {
                self.received = Some(Instant::now());
            }
            if self.take(happened)? {
                return Ok(());
            }
        }
    }

    /// Whether the next line must wait for the user's consent.
    fn is_held(&self) -> bool {
        self.awaits_consent() && matches!(self.queue.front(), Some(Line::Order(Order::Turn { .. })))
    }

    /// Whether nothing is in progress.
    fn is_free(&self) -> bool {
        self.waiting.is_none() && self.runner.is_free()
    }

    async fn next(&mut self, ends: &mut Ends) -> Happened {
        // Lines from a pipe are a script: each is read when the one before it is done.
        let may_read = self.is_interactive() || self.is_free() && self.queue.is_empty();
        let silence = self.received.filter(|_| self.runner.awaits_servers()).map(|received| received + SILENCE);
        tokio::select! {
            reported = self.runner.next() => Happened::HostNotice(Box::new(reported)),
            typed = typed(&mut self.lines), if may_read => Happened::Typed(typed),
            () = sleep_until(self.waiting) => Happened::Waited,
            () = sleep_until(silence) => Happened::Silence,
            () = ends.next() => Happened::Interrupted,
        }
    }

    /// Handles what happened. Returns whether the session is over.
    fn take(&mut self, happened: Happened) -> Result<bool, CommandError> {
        match happened {
            Happened::Interrupted => self.interrupt()?,
            Happened::Waited => self.waiting = None,
            Happened::Silence => self.report_silence()?,
            Happened::Typed(None) => self.lines = None,
            Happened::Typed(Some(typed)) => self.take_typed(typed)?,
            Happened::HostNotice(reported) => return self.take_notice(*reported),
        }
        Ok(false)
    }

    /// Handles what the host reports. Returns whether the session is over.
    fn take_notice(&mut self, reported: HostNotice) -> Result<bool, CommandError> {
        match reported {
            HostNotice::Piece(piece) => self.show_piece(&piece)?,
            HostNotice::Replied(reply) => self.show_rest(reply.as_ref())?,
            HostNotice::Host(Output::Prompt(prompt)) => {
                self.show_prompt(&prompt)?;
                self.last_prompt = Some(prompt.clone());
                self.streamed.begin(self.columns());
                self.runner.ask(prompt);
            }
            HostNotice::Host(Output::OrderResult(done)) => {
                self.show_done(&done)?;
                return Ok(done == OrderResult::Ended);
            }
            HostNotice::Host(Output::AskConsent(question)) => self.ask_consent(question)?,
            reported => {
                if let HostNotice::Host(Output::Report(event)) = &reported {
                    self.routes.receive(event);
                    self.failed |= self.args.strict && event.is_mistake;
                    self.remember_consent(event);
                }
                self.count_fault(&reported);
                self.show(&reported)?;
            }
        }
        Ok(false)
    }

    /// With --strict, counts what the server sends against MCP itself: what is no message, and responses to no request.
    fn count_fault(&mut self, reported: &HostNotice) {
        if matches!(reported, HostNotice::Host(Output::Client { output, .. }) if self.is_fault(output)) {
            self.failed = true;
            self.faults += 1;
        }
    }

    fn is_fault(&self, output: &ClientOutput) -> bool {
        self.args.strict && matches!(output, ClientOutput::Noise { .. } | ClientOutput::Stray { .. })
    }

    /// The first interrupt stops the model, the next one ends the conversation, the third exits at once.
    fn interrupt(&mut self) -> Result<(), CommandError> {
        if self.runner.interrupt_model() {
            return self.show_rest(None);
        }
        if self.interrupted || !self.runner.is_idle() {
            self.interrupted = true;
            return Err(CommandError::new(ErrorKind::Interrupted, "interrupted"));
        }
        self.interrupted = true;
        (self.waiting, self.lines) = (None, None);
        self.queue.clear();
        Ok(())
    }

    fn take_typed(&mut self, typed: Typed) -> Result<(), CommandError> {
        let line = match typed {
            // If nothing is in progress, an interrupt only discards the line.
            Typed::Interrupt if self.is_free() => Ok(Line::Nothing),
            Typed::Interrupt => {
                self.interrupt()?;
                Ok(Line::Nothing)
            }
            Typed::TooLong => Err(CommandError::usage("skipped a line longer than 1 MiB")
                .hint("put a prompt of that size in a file (--system @FILE) or in a scenario")),
            Typed::Line(text) if self.answer_consent(&text)? => Ok(Line::Nothing),
            Typed::Line(text) => lines::parse(&text),
        };
        let is_asked = self.awaits_consent();
        self.is_on_screen = self.is_interactive() && self.is_free() && self.queue.is_empty() && !is_asked;
        // After the command to end, nothing more can be typed.
        let is_last = matches!(&line, Ok(Line::Order(Order::End)));
        match line {
            Ok(line) if self.is_interactive() && line.is_a_look() => self.act(line)?,
            // The answer to a question goes before the lines that wait for it.
            Ok(line @ Line::Order(Order::Allow { .. })) if is_asked => self.queue.push_front(line),
            Ok(line) => self.queue.push_back(line),
            // A wrong line does not end the conversation; a script fails because of it at its end.
            Err(error) => {
                self.context.printer.complain(&error);
                self.failed |= !self.is_interactive();
            }
        }
        if is_last {
            self.ask_no_more();
        } else {
            self.complete_words();
            self.lines.iter().for_each(Lines::ask);
        }
        Ok(())
    }

    fn is_interactive(&self) -> bool {
        self.lines.as_ref().is_some_and(Lines::is_interactive)
    }

    /// Does what a line says.
    fn act(&mut self, line: Line) -> Result<(), CommandError> {
        match line {
            Line::Order(order) => {
                if let Order::Turn { text, .. } = &order {
                    self.show_said(text)?;
                }
                self.received = Some(Instant::now());
                self.runner.order(order);
                Ok(())
            }
            Line::Wait(time) => {
                self.waiting = Some(Instant::now() + time);
                Ok(())
            }
            look => self.look(&look),
        }
    }

    fn complete_words(&self) {
        let Some(lines) = &self.lines else { return };
        let mut words = lines.words.lock();
        words.clear();
        for view in self.runner.host.servers() {
            words.push(view.name.clone());
            words.extend(view.declared.tools.iter().flatten().cloned());
        }
    }
}

async fn typed(lines: &mut Option<Lines>) -> Option<Typed> {
    match lines {
        Some(lines) => lines.next().await,
        None => std::future::pending().await,
    }
}
