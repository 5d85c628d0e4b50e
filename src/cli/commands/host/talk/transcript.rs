//! What is shown of a conversation, as a transcript or as one JSON object per line.

use super::{Format, MAX_FAULTS, Talk};
use crate::error::CommandError;
use crate::host::engine::{ModelReply, OrderResult, Output};
use crate::host::prompt::Prompt;
use crate::proposals::host::{HostEvent, ServerId, ServerView};
use crate::render;
use crate::render::line::visible_text;
use crate::runtime::host::HostNotice;
use crate::runtime::interactive::lines::{COMMANDS, Line};
use crate::runtime::model::Model;
use crate::wire::Envelope;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The model's answer, shown as it arrives.
#[derive(Default)]
pub(super) struct Streamed {
    rows: Option<Rows>,
    /// How many bytes have arrived.
    bytes: usize,
    /// How many rows were shown.
    shown: usize,
    /// Whether all of the answer was shown.
    is_whole: bool,
}

impl Streamed {
    /// Begins another answer. `columns` is `None` if it must not be shown before it is complete.
    pub(super) fn begin(&mut self, columns: Option<usize>) {
        *self = Self { rows: columns.map(Rows::new), ..Self::default() };
    }
}

/// The maximum number of texts that are remembered between the results of two orders. Others are shown each time.
const MAX_REPEATED: usize = 1024;

/// The server, proposal, kind and text of a host event.
type Cause = (Option<ServerId>, &'static str, &'static str, String);

/// Events that servers can cause any number of times: each is shown once between the results of two orders, then
/// counted. Only events with the same text are repeats.
#[derive(Default)]
pub(super) struct Repeats {
    reported: BTreeMap<Cause, (HostEvent, u64)>,
}

impl Repeats {
    /// Whether the event is to be shown now.
    fn takes(&mut self, event: &HostEvent) -> bool {
        if !render::host::is_refusal(event) {
            return true;
        }
        let key = (event.server, event.proposal, event.what, event.text.clone());
        let is_full = self.reported.len() >= MAX_REPEATED;
        match self.reported.get_mut(&key) {
            Some((_, times)) => {
                *times += 1;
                false
            }
            None if is_full => true,
            None => self.reported.insert(key, (event.clone(), 0)).is_none(),
        }
    }

    /// The events that happened more than once, with the number of repetitions. Starts counting anew.
    fn take(&mut self) -> Vec<(HostEvent, u64)> {
        std::mem::take(&mut self.reported).into_values().filter(|(_, times)| *times > 0).collect()
    }
}

impl Talk<'_> {
    pub(super) fn is_human(&self) -> bool {
        self.args.format == Format::Human
    }

    /// Prints a text.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn print(&self, text: &str) -> Result<(), CommandError> {
        let is_coloured = !self.context.printer.palette.is_plain();
        match &self.lines {
            Some(lines) if lines.print(&format!("{}\n", render::text::printable(text, is_coloured))) => Ok(()),
            _ => self.context.printer.line(text),
        }
    }

    pub(super) fn print_json(&self, value: &Value) -> Result<(), CommandError> {
        self.print(&render::text::json(value))
    }

    /// Prints a note that is not part of the transcript.
    pub(super) fn note(&self, text: &str) {
        let faint = self.context.printer.palette.faint;
        match &self.lines {
            Some(lines) if lines.print(&format!("{faint}{}{faint:#}\n", visible_text(text))) => {}
            _ => self.context.printer.note(text),
        }
    }

    pub(super) fn name(&self, server: ServerId) -> &str {
        self.runner.host.servers().get(server.0).map_or("", |view| view.name.as_str())
    }

    /// Reports which servers the conversation waits for.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn report_silence(&mut self) -> Result<(), CommandError> {
        self.received = None;
        let awaited = self.runner.host.awaited();
        let words: Vec<String> =
            awaited.iter().map(|(server, method)| format!("{} ({method})", self.name(*server))).collect();
        if !words.is_empty() {
            self.note(&format!("waiting for {}", words.join(", ")));
        }
        Ok(())
    }

    /// The width in which the model's answer is shown as it arrives; `None` if it is shown only when complete.
    pub(super) fn columns(&self) -> Option<usize> {
        // Servers may remove parts of the answer, which must not be shown before.
        let is_shown =
            self.is_human() && matches!(self.runner.model, Model::Program { .. }) && !self.runner.host.rewrites();
        self.context.printer.width.filter(|_| is_shown).map(|width| width.saturating_sub("model> ".len() + 1))
    }

    /// Shows a piece of an answer as it arrives.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn show_piece(&mut self, piece: &str) -> Result<(), CommandError> {
        let Some(rows) = &mut self.streamed.rows else { return Ok(()) };
        self.streamed.bytes += piece.len();
        let rows = rows.take(piece);
        rows.iter().try_for_each(|row| self.show_row(row))
    }

    fn show_row(&mut self, row: &str) -> Result<(), CommandError> {
        let said =
            if self.streamed.shown == 0 { render::host::said(&self.context.printer.palette) } else { String::new() };
        self.streamed.shown += 1;
        self.print(&format!("{said}{}", visible_text(row)))
    }

    /// Shows the end of an answer that was shown as it arrived.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn show_rest(&mut self, reply: Option<&ModelReply>) -> Result<(), CommandError> {
        if self.streamed.bytes > 0 {
            let rest = reply.and_then(|reply| reply.text.get(self.streamed.bytes..)).unwrap_or_default().to_owned();
            self.show_piece(&rest)?;
            let last = self.streamed.rows.as_mut().and_then(Rows::rest);
            last.iter().try_for_each(|row| self.show_row(row))?;
            self.streamed.is_whole = reply.is_some();
        }
        self.streamed.rows = None;
        Ok(())
    }

    /// Shows the user's message, unless it is on the screen already.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn show_said(&mut self, text: &str) -> Result<(), CommandError> {
        let bold = self.context.printer.palette.bold;
        if std::mem::take(&mut self.is_on_screen) || !self.is_human() {
            return Ok(());
        }
        self.print(&format!("{bold}you>{bold:#} {}", visible_text(text)))
    }

    /// Shows what a line asks to see.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn look(&mut self, line: &Line) -> Result<(), CommandError> {
        let host = &self.runner.host;
        match (line, self.is_human()) {
            (Line::Prompt, false) => {
                let prompt =
                    self.last_prompt.as_ref().map(|prompt| render::host::prompt_value(prompt, self.runner.now()));
                self.print_json(&prompt.unwrap_or_else(|| json!({"event": "prompt", "prompt": null})))
            }
            (Line::Prompt, true) => match &self.last_prompt {
                None => self.print("no prompt yet"),
                Some(prompt) => self.print(render::host::prompt(prompt, &self.context.printer.palette).trim_end()),
            },
            (Line::State, false) => self.print_json(&json!({"event": "state", "state": host.state()})),
            (Line::State, true) => self.print(&visible_text(&host.state().to_string())),
            (Line::Servers, false) => {
                let server = |view: &ServerView| {
                    json!({"name": view.name, "own_name": view.own_name, "open": view.is_open,
                        "tools": view.declared.tools})
                };
                let servers: Vec<Value> = host.servers().iter().map(server).collect();
                self.print_json(&json!({"event": "servers", "servers": servers}))
            }
            (Line::Servers, true) => host.servers().iter().try_for_each(|view| {
                let state = if view.is_open { "open" } else { "closed" };
                let tools = view.declared.tools.iter().flatten().cloned().collect::<Vec<_>>().join(" ");
                self.print(&visible_text(&format!("{} ({}) {state}; tools: {tools}", view.name, view.own_name)))
            }),
            (Line::Orders, true) => host.orders().iter().try_for_each(|order| self.print(&format!("  /do {order}"))),
            (Line::Orders, false) => self.print_json(&json!({"event": "orders", "orders": host.orders()})),
            (Line::Help, true) => COMMANDS.iter().try_for_each(|(name, arguments, text)| {
                self.print(&format!("  /{:<40} {text}", format!("{name} {arguments}")))
            }),
            _ => Ok(()),
        }
    }

    /// Shows what the host reports.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn show(&mut self, reported: &HostNotice) -> Result<(), CommandError> {
        let (at, palette) = (self.runner.now(), self.context.printer.palette);
        match reported {
            HostNotice::Host(Output::Report(event)) => {
                let servers = self.runner.host.servers();
                match self.args.format {
                    Format::Json => self.print_json(&render::host::event_value(event, servers, at)),
                    Format::Human if self.repeats.takes(event) => {
                        self.print(&render::host::event_line(event, servers, &palette))
                    }
                    Format::Human => Ok(()),
                }
            }
            HostNotice::Host(Output::Client { server, output })
                if self.context.verbose > 0 || self.is_fault(output) && self.faults <= MAX_FAULTS =>
            {
                render::host::client_output(output, self.name(*server)).iter().for_each(|text| self.note(text));
                Ok(())
            }
            HostNotice::Stderr(server, bytes) if self.context.verbose > 0 => {
                let said = String::from_utf8_lossy(bytes);
                said.lines().for_each(|line| self.note(&format!("stderr of {}: {line}", self.name(*server))));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Shows the prompt, if the user wants to see prompts.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn show_prompt(&mut self, prompt: &Prompt) -> Result<(), CommandError> {
        let at = self.runner.now();
        match self.args.format {
            Format::Json => self.print_json(&render::host::prompt_value(prompt, at)),
            Format::Human if self.args.prompts => {
                let text = render::host::prompt(prompt, &self.context.printer.palette);
                self.print(text.trim_end())
            }
            Format::Human => Ok(()),
        }
    }

    /// Shows how an order ended.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn show_done(&mut self, done: &OrderResult) -> Result<(), CommandError> {
        self.failed |= match done {
            OrderResult::Failed(_) | OrderResult::Tool(Err(_)) => true,
            OrderResult::Turn { answer, .. } | OrderResult::Woken { answer, .. } => answer.is_err(),
            OrderResult::Tool(Ok(result)) => result["isError"] == true,
            OrderResult::Answer(message) => Envelope::scan(message).error.is_some(),
            _ => false,
        };
        let palette = self.context.printer.palette;
        for (event, times) in self.repeats.take() {
            self.print(&render::host::again(&event, times, self.runner.host.servers(), &palette))?;
        }
        let is_turn = matches!(done, OrderResult::Turn { .. } | OrderResult::Woken { .. });
        if is_turn && std::mem::take(&mut self.streamed.is_whole) {
            return Ok(());
        }
        let text = match self.args.format {
            Format::Json => render::text::json(&render::host::done_value(done, self.runner.now())),
            Format::Human => render::host::done(done, &palette),
        };
        if text.is_empty() { Ok(()) } else { self.print(&text) }
    }
}

/// Splits streamed text into rows: a terminal on which the user is typing accepts whole rows only.
#[derive(Debug)]
struct Rows {
    width: usize,
    waiting: String,
}

impl Rows {
    /// Creates a splitter for rows of at most `width` characters.
    fn new(width: usize) -> Self {
        Self { width: width.max(1), waiting: String::new() }
    }

    /// Adds a piece. Returns the rows that are complete: up to a line break, or as much as fits, split between words.
    fn take(&mut self, piece: &str) -> Vec<String> {
        self.waiting.push_str(piece);
        let mut rows = Vec::new();
        while let Some((end, next)) = self.cut() {
            rows.push(self.waiting[..end].to_owned());
            self.waiting.drain(..next);
        }
        rows
    }

    /// Returns the last, incomplete row.
    fn rest(&mut self) -> Option<String> {
        Some(std::mem::take(&mut self.waiting)).filter(|rest| !rest.is_empty())
    }

    /// Returns where the first row ends, and where the next one begins.
    fn cut(&self) -> Option<(usize, usize)> {
        let full = self.waiting.char_indices().nth(self.width).map(|(at, _)| at);
        let line = self.waiting.find('\n').filter(|line| full.is_none_or(|full| *line <= full));
        line.map(|line| (line, line + 1)).or_else(|| {
            let full = full?;
            let fits = if self.waiting[full..].starts_with(' ') { full + 1 } else { full };
            let space = self.waiting[..fits].rfind(' ').filter(|space| *space > 0);
            Some(space.map_or((full, full), |space| (space, space + 1)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_text_folds() {
        let event = |text: &str| HostEvent {
            proposal: "mcpe",
            what: "stray",
            server: Some(ServerId(0)),
            text: text.to_owned(),
            data: Value::Null,
            is_mistake: true,
        };
        let mut repeats = Repeats::default();
        let reported: Vec<bool> = ["a", "b", "a", "a"].iter().map(|text| repeats.takes(&event(text))).collect();
        assert_eq!(reported, [true, true, false, false]);
        assert_eq!(repeats.take(), [(event("a"), 2)]);
        assert!(repeats.takes(&event("a")), "counting starts anew");
        for text in 0..MAX_REPEATED {
            repeats.takes(&event(&text.to_string()));
        }
        assert!(
            repeats.takes(&event("late")) && repeats.takes(&event("late")) && repeats.reported.len() == MAX_REPEATED
        );
    }

    #[test]
    fn rows_end_with_lines_or_between_words() {
        let mut rows = Rows::new(7);
        assert_eq!(rows.take("one t"), Vec::<String>::new());
        assert_eq!(rows.take("wo three\n"), ["one two", "three"]);
        assert_eq!(rows.take("longest-word\n\nüüüüüüüü"), ["longest", "-word", "", "üüüüüüü"]);
        assert_eq!((rows.rest().as_deref(), rows.rest()), (Some("ü"), None));
    }
}
