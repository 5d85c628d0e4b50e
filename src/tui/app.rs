//! The state of the interface, and what keys and other inputs change in it.

use super::effect::{
    Choice, DetailForm, DetailText, Effect, Found, Input, PageKind, PageLine, PageText, Progress, Request, Scanned,
    Source, Target,
};
use super::keys::{KEYS, Key, Motion, described};
use super::list::List;
use super::picker::Picker;
use super::prompt::{Prompt, Question, Typed};
use super::text::Text;
use crate::proposals::Registry;
use crate::session::filter::Filter;

/// A screen with fewer rows shows either the list or the message.
const ROWS_FOR_BOTH: usize = 16;

/// What fills the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// The sessions and reels that can be opened.
    Picker,
    /// The list of messages, and perhaps one of them.
    Messages,
    /// Another view.
    Page(PageKind),
}

/// Where keys go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    /// To the list.
    List,
    /// To the message.
    Detail,
}

/// An open message.
#[derive(Debug)]
pub(crate) struct Detail {
    /// The number of its event.
    pub seq: u32,
    /// How it is shown.
    pub form: DetailForm,
    /// Its content; the previous one until the content comes.
    pub text: Text,
    /// Whether the content was asked for and did not come yet.
    is_waiting: bool,
}

/// A page, while it is shown.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// What is shown.
    pub text: Text,
    /// The number of the job that makes it.
    job: u64,
    /// Whether it is complete.
    pub is_ready: bool,
}

/// A message for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    /// The text.
    pub text: String,
    /// Whether something failed.
    pub failed: bool,
}

/// The state.
pub(crate) struct App {
    registry: &'static Registry,
    size: (usize, usize),
    /// What is open.
    pub source: Option<Source>,
    /// What fills the screen.
    pub view: View,
    pub list: List,
    pub detail: Option<Detail>,
    pub focus: Focus,
    /// Whether the message fills the screen.
    is_zoomed: bool,
    pub page: Page,
    pub picker: Picker,
    /// The filter as text, and parsed.
    pub filter: String,
    parsed: Filter,
    /// What was searched for last, in lower case.
    pub needle: String,
    pub prompt: Option<Prompt>,
    pub status: Option<Status>,
    scan: u64,
    job: u64,
    /// Whether a search is running.
    is_searching: bool,
    effects: Vec<Effect>,
}

/// The rows of the parts of the screen. A part that is not shown has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The rows of the list, below the line with its headings.
    pub list: usize,
    /// Whether there is a line with headings.
    pub headings: bool,
    /// The rows of the message, below its title.
    pub detail: usize,
}

impl App {
    /// Begins with the picker, or with what is opened next.
    pub(crate) fn new(registry: &'static Registry, size: (usize, usize), opens: Option<Target>, filter: &str) -> Self {
        let mut app = Self {
            registry,
            size,
            source: None,
            view: View::Picker,
            list: List::default(),
            detail: None,
            focus: Focus::List,
            is_zoomed: false,
            page: Page::default(),
            picker: Picker::default(),
            filter: String::new(),
            parsed: Filter::everything(),
            needle: String::new(),
            prompt: None,
            status: None,
            scan: 0,
            job: 0,
            is_searching: false,
            effects: Vec::new(),
        };
        if let Ok(parsed) = Filter::parse_knowing(filter, registry) {
            (app.filter, app.parsed) = (filter.to_owned(), parsed);
        }
        match opens {
            Some(target) => {
                app.view = View::Messages;
                app.effects.push(Effect::Open(target));
            }
            None => app.pick(),
        }
        app.lay_out();
        app
    }

    /// Takes an input.
    pub(crate) fn take(&mut self, input: Input) {
        match input {
            Input::Key(key) => self.key(key),
            Input::Pasted(text) => self.prompt.iter_mut().for_each(|prompt| prompt.insert(&text)),
            Input::Resized(columns, rows) => self.resize((columns, rows)),
            Input::Opened(source) => self.open(source),
            Input::Scanned(scanned) => self.scanned(scanned),
            Input::Lines(lines) => self.list.take(lines),
            Input::Detail(text) => self.detail_came(text),
            Input::Page(text) => self.page_came(text),
            Input::Found(found) => self.found(found),
            Input::Choices(choices) => self.choices(choices),
            Input::Edited(request) => self.prompt = Some(Prompt::new(Question::Send(request), "")),
            Input::Note(text) => self.say(text),
            Input::Failed(text) => self.fail(text),
        }
        self.update();
    }

    /// What is wanted from outside, since the last call.
    pub(crate) fn effects(&mut self) -> Vec<Effect> {
        self.update();
        std::mem::take(&mut self.effects)
    }

    /// The columns of texts: without the margin with the cursor, and without the scroll bar and the space before it.
    pub(crate) fn columns(&self) -> usize {
        self.size.0.saturating_sub(3).max(1)
    }

    /// The rows between the first line and the last one.
    pub(crate) fn body(&self) -> usize {
        self.size.1.saturating_sub(2)
    }

    /// The parts of the screen with the messages.
    pub(crate) fn layout(&self) -> Layout {
        let body = self.body();
        let headings = body > 4;
        let alone = Layout { list: body - usize::from(headings), headings, detail: 0 };
        if self.detail.is_none() {
            return alone;
        }
        if self.is_zoomed || body < ROWS_FOR_BOTH {
            return match self.focus {
                Focus::List if !self.is_zoomed => alone,
                _ => Layout { list: 0, headings: false, detail: body.saturating_sub(1) },
            };
        }
        let list = (body * 2 / 5).max(3);
        Layout { list: list - 1, headings: true, detail: body - list - 1 }
    }

    /// Whether something is going on that the user waits for.
    pub(crate) fn is_busy(&self) -> bool {
        self.is_searching || matches!(self.view, View::Page(_)) && !self.page.is_ready
    }

    fn say(&mut self, text: impl Into<String>) {
        self.status = Some(Status { text: text.into(), failed: false });
    }

    fn fail(&mut self, text: impl Into<String>) {
        self.status = Some(Status { text: text.into(), failed: true });
    }

    fn resize(&mut self, size: (usize, usize)) {
        let is_wider_or_narrower = size.0 != self.size.0;
        self.size = size;
        self.list.resize(self.layout().list, is_wider_or_narrower);
        if is_wider_or_narrower {
            match self.view {
                View::Picker => self.effects.push(Effect::ListChoices { width: self.columns() }),
                // These are drawn for a width.
                View::Page(kind) if !matches!(kind, PageKind::Sent | PageKind::Help) => self.make(kind),
                _ => {}
            }
        }
        self.lay_out();
    }

    fn lay_out(&mut self) {
        let (layout, columns, body) = (self.layout(), self.columns(), self.body());
        self.list.resize(layout.list, false);
        self.detail.iter_mut().for_each(|detail| detail.text.resize(columns, layout.detail));
        self.page.text.resize(columns, body);
        self.picker.resize(body);
    }

    /// Asks for what is missing on the screen.
    fn update(&mut self) {
        self.lay_out();
        if self.source.is_none() {
            return;
        }
        let width = self.columns();
        if let Some((layout, wanted)) = self.list.missing() {
            self.effects.push(Effect::Lines { layout, width, wanted });
        }
        let selected = self.list.selected();
        if let (Some(detail), Some(row)) = (&mut self.detail, selected)
            && !detail.is_waiting
            && detail.seq != row.seq
        {
            detail.seq = row.seq;
            self.ask_for_detail();
        }
    }

    fn ask_for_detail(&mut self) {
        let (Some(row), width) = (self.list.selected(), self.columns()) else { return };
        let line = self.list.wanted_line(row);
        if let Some(detail) = &mut self.detail {
            (detail.seq, detail.is_waiting) = (row.seq, true);
            self.effects.push(Effect::Detail { line, form: detail.form, width });
        }
    }

    fn open(&mut self, source: Source) {
        if let (true, Ok(parsed)) = (self.filter.is_empty(), Filter::parse_knowing(&source.filter, self.registry)) {
            (self.filter, self.parsed) = (source.filter.clone(), parsed);
        }
        self.list = self.list.reopened(source.is_live);
        (self.source, self.view, self.detail, self.is_zoomed) = (Some(source), View::Messages, None, false);
        (self.focus, self.page) = (Focus::List, Page::default());
        self.begin_scan();
    }

    fn begin_scan(&mut self) {
        self.scan += 1;
        self.list.rescan();
        self.effects.push(Effect::Scan { scan: self.scan, filter: self.parsed.clone() });
    }

    fn scanned(&mut self, scanned: Scanned) {
        if scanned.scan != self.scan {
            return;
        }
        self.list.append(scanned);
        if self.list.is_full() && self.status.is_none() {
            self.fail(format!("only the first {} messages are listed; a filter finds others", super::list::MAX_ROWS));
        }
    }

    fn detail_came(&mut self, came: DetailText) {
        let (columns, height) = (self.columns(), self.layout().detail);
        let Some(detail) = &mut self.detail else { return };
        detail.is_waiting = false;
        if (detail.seq, detail.form) != (came.seq, came.form) {
            return;
        }
        let lines = came.lines.into_iter().map(|text| PageLine { text, seq: None }).collect();
        let is_json = matches!(came.form, DetailForm::Json | DetailForm::WholeJson);
        detail.text = Text::new(lines, is_json, (columns, height));
    }

    fn page_came(&mut self, came: PageText) {
        if came.job != self.page.job || self.page.is_ready {
            return;
        }
        let text = Text::new(came.lines, false, (self.columns(), self.body()));
        let before = std::mem::replace(&mut self.page.text, text);
        self.page.is_ready = true;
        self.page.text.stay_at(&before);
        if let (View::Page(PageKind::Sequence), Some(row), (_, 0)) = (self.view, self.list.selected(), before.extent())
        {
            self.page.text.go_to_event(u64::from(row.seq));
        } else if self.view == View::Page(PageKind::Findings) && before.extent().1 == 0 {
            self.page.text.go_to_first_event();
        }
    }

    fn found(&mut self, found: Found) {
        if found.job != self.job || !self.is_searching {
            return;
        }
        self.is_searching = false;
        match found.seq {
            None => self.fail(format!("no match for {:?}", self.needle)),
            Some(seq) => {
                self.list.go_to_event(seq);
                self.say(if found.wrapped { "the search continued at the other end" } else { "" });
            }
        }
    }

    fn choices(&mut self, choices: Vec<Choice>) {
        if choices.iter().all(|choice| choice.target.is_none()) {
            self.say("nothing was recorded yet; put `mcpreel record --` in front of a server's command");
        }
        self.picker.take(choices);
    }

    fn key(&mut self, key: Key) {
        if key == Key::Control('c') {
            return self.effects.push(Effect::Quit);
        }
        if key == Key::Control('z') {
            return self.effects.push(Effect::Suspend);
        }
        self.status = None;
        if let Some(prompt) = &mut self.prompt {
            match prompt.key(key) {
                Typed::More => {
                    if let Question::Send(_) = prompt.question {
                        self.confirm(key);
                    }
                }
                Typed::Done => self.answered(),
                Typed::Cancelled => self.prompt = None,
            }
            return;
        }
        match (key, self.view) {
            (Key::Char('q'), View::Messages) if self.detail.is_none() => self.effects.push(Effect::Quit),
            (Key::Char('q') | Key::Escape, _) => self.back(),
            (Key::Char('?'), _) => self.help(),
            (Key::Char('o'), _) => self.pick(),
            (Key::Enter, View::Picker) => self.open_choice(),
            (key, View::Picker) => Motion::of(key).into_iter().for_each(|motion| self.picker.go(motion)),
            _ if self.source.is_none() => {}
            (key, View::Messages) => self.key_in_messages(key),
            (key, View::Page(_)) => self.key_in_page(key),
        }
    }

    /// Keys that do the same in all views of a reel. Returns whether this is one.
    fn key_anywhere(&mut self, key: Key) -> bool {
        match key {
            Key::Char('1') => self.view = View::Messages,
            Key::Char('2') => self.show(PageKind::Sequence),
            Key::Char('3') => self.show(PageKind::Timeline),
            Key::Char('4') => self.show(PageKind::Statistics),
            Key::Char('5') => self.show(PageKind::Findings),
            Key::Char('f') => self.prompt = Some(Prompt::new(Question::Filter, &self.filter)),
            Key::Char('/') => self.prompt = Some(Prompt::new(Question::Search, "")),
            Key::Char('#') => self.prompt = Some(Prompt::new(Question::Number, "")),
            Key::Char('n') => self.search(true),
            Key::Char('N') => self.search(false),
            Key::Char(':') => self.ask_to_fire(),
            _ => return false,
        }
        true
    }

    fn key_in_messages(&mut self, key: Key) {
        if self.key_anywhere(key) {
            return;
        }
        match key {
            Key::Char('p') => self.go_to_counterpart(),
            Key::Char(letter @ ('e' | 'E')) => {
                if !self.list.go_to_failure(letter == 'e') {
                    self.say(format!("no {} failure", if letter == 'e' { "later" } else { "earlier" }));
                }
            }
            Key::Char('F') => self.follow(),
            Key::Tab => self.switch_focus(),
            Key::Char('z') => self.zoom(),
            Key::Char('b') => self.next_form(),
            Key::Char('w') => self.whole_strings(),
            Key::Char('y') => self.copy(),
            Key::Char('r') => self.edit(),
            _ if self.focus == Focus::Detail => self.key_in_detail(key),
            Key::Enter => self.open_detail(),
            key => Motion::of(key).into_iter().for_each(|motion| self.go(motion)),
        }
    }

    /// Moves in the list. At the end of one that grows, the newest message stays selected.
    fn go(&mut self, motion: Motion) {
        self.list.go(motion);
        if motion == Motion::End && self.list.progress == Progress::Waiting {
            self.list.follow(true);
        }
    }

    fn key_in_detail(&mut self, key: Key) {
        let Some(detail) = &mut self.detail else { return };
        match key {
            Key::Char(' ') | Key::Enter => {
                if !detail.text.fold() {
                    self.say("nothing to fold here");
                }
            }
            Key::Char('a') => detail.text.fold_all(),
            key => Motion::of(key).into_iter().for_each(|motion| detail.text.go(motion)),
        }
    }

    fn key_in_page(&mut self, key: Key) {
        if self.key_anywhere(key) {
            return;
        }
        match key {
            Key::Enter => match self.page.text.line().and_then(|line| line.seq) {
                Some(seq) => {
                    self.view = View::Messages;
                    self.go_to_event(seq);
                }
                None => self.say("this line is about no single message"),
            },
            Key::Char('y') => {
                let line = self.page.text.line().map(|line| super::ansi::plain(&line.text));
                self.effects.extend(line.map(Effect::CopyText));
            }
            key => Motion::of(key).into_iter().for_each(|motion| self.page.text.go(motion)),
        }
    }

    fn go_to_event(&mut self, seq: u64) {
        if !self.list.go_to_event(seq) {
            let is_next = self.list.selected().is_some_and(|row| u64::from(row.seq) > seq);
            let which = if is_next { "next" } else { "last" };
            self.say(format!("event {seq} is not in the list; this is the {which} one"));
        }
    }

    fn go_to_counterpart(&mut self) {
        let Some(row) = self.list.selected() else { return };
        match self.list.counterpart(row.seq) {
            Some(other) => self.go_to_event(u64::from(other)),
            None => self.say("no counterpart: it is no request or response, or the other one is missing"),
        }
    }

    fn follow(&mut self) {
        let follows = !self.list.follows;
        self.list.follow(follows);
        let is_live = self.source.as_ref().is_some_and(|source| source.is_live);
        self.say(match (follows, is_live && self.list.progress != Progress::Ended) {
            (false, _) => "not following",
            (true, true) => "following: the newest message stays selected",
            (true, false) => "following, but the session has ended",
        });
    }

    fn switch_focus(&mut self) {
        self.focus = match (self.focus, &self.detail) {
            (Focus::List, Some(_)) => Focus::Detail,
            (Focus::List, None) => return self.open_detail(),
            (Focus::Detail, _) => Focus::List,
        };
        self.is_zoomed &= self.focus == Focus::Detail;
    }

    fn zoom(&mut self) {
        if self.detail.is_none() {
            self.open_detail();
        }
        self.is_zoomed = !self.is_zoomed;
        self.focus = if self.is_zoomed { Focus::Detail } else { self.focus };
    }

    fn open_detail(&mut self) {
        if self.list.selected().is_none() {
            return self.say("no message is selected");
        }
        self.focus = Focus::Detail;
        if self.detail.is_none() {
            self.detail = Some(Detail { seq: 0, form: DetailForm::Json, text: Text::default(), is_waiting: false });
            self.ask_for_detail();
        }
    }

    fn set_form(&mut self, next: impl FnOnce(DetailForm) -> DetailForm) {
        match &mut self.detail {
            Some(detail) => {
                detail.form = next(detail.form);
                self.ask_for_detail();
            }
            None => self.say("Enter opens the message"),
        }
    }

    fn next_form(&mut self) {
        self.set_form(|form| match form {
            DetailForm::Json | DetailForm::WholeJson => DetailForm::Text,
            DetailForm::Text => DetailForm::Hex,
            DetailForm::Hex => DetailForm::Json,
        });
    }

    fn whole_strings(&mut self) {
        self.set_form(|form| if form == DetailForm::WholeJson { DetailForm::Json } else { DetailForm::WholeJson });
    }

    fn copy(&mut self) {
        self.effects.extend(self.list.selected().map(|row| Effect::CopyMessage(row.seq)));
    }

    fn edit(&mut self) {
        let (Some(row), Some(source)) = (self.list.selected(), &self.source) else { return };
        if source.sends_to.is_none() {
            return self.fail("no server to send to; start it with `mcpreel tui REEL -- SERVER-COMMAND`");
        }
        // Of a response, the request is sent again.
        let asked = self.list.counterpart(row.seq).filter(|other| *other < row.seq);
        self.effects.push(Effect::Edit(asked.unwrap_or(row.seq)));
    }

    fn ask_to_fire(&mut self) {
        if !self.source.as_ref().is_some_and(|source| source.can_fire) {
            return self.fail("`fire` needs a live session: mcpreel tui --session NAME");
        }
        self.prompt = Some(Prompt::new(Question::Fire, ""));
    }

    fn pick(&mut self) {
        self.view = View::Picker;
        self.effects.push(Effect::ListChoices { width: self.columns() });
    }

    /// Opens what was chosen, without the filter of what was open before.
    fn open_choice(&mut self) {
        if let Some(target) = self.picker.target().cloned() {
            (self.filter, self.parsed) = (String::new(), Filter::everything());
            self.effects.push(Effect::Open(target));
        }
    }

    /// Ends what is running, or leaves what is open.
    fn back(&mut self) {
        if std::mem::take(&mut self.is_searching) {
            self.effects.push(Effect::Stop);
            return self.say("the search was stopped");
        }
        match self.view {
            View::Picker if self.source.is_none() => self.effects.push(Effect::Quit),
            View::Picker => self.view = View::Messages,
            View::Page(_) => {
                if !self.page.is_ready {
                    self.effects.push(Effect::Stop);
                }
                self.view = if self.source.is_some() { View::Messages } else { View::Picker };
            }
            View::Messages if self.is_zoomed => self.is_zoomed = false,
            View::Messages if self.detail.is_some() => {
                self.detail = None;
                self.focus = Focus::List;
            }
            View::Messages if !self.needle.is_empty() => self.needle.clear(),
            View::Messages => self.say("q quits, o opens another reel"),
        }
    }

    fn help(&mut self) {
        let line = |text: String| PageLine { text, seq: None };
        let mut lines = Vec::new();
        for (title, keys) in KEYS {
            lines.push(line(format!("\u{1b}[1m{title}\u{1b}[0m")));
            let width = self.columns();
            lines.extend(keys.iter().flat_map(|(keys, meaning)| described(keys, meaning, width)).map(line));
            lines.push(line(String::new()));
        }
        lines.pop();
        let text = Text::new(lines, false, (self.columns(), self.body()));
        self.page = Page { text, job: self.next_job(), is_ready: true };
        self.view = View::Page(PageKind::Help);
    }

    fn next_job(&mut self) -> u64 {
        self.job += 1;
        self.job
    }

    /// Shows a view, which is made anew: the reel may have grown.
    fn show(&mut self, kind: PageKind) {
        if self.view != View::Page(kind) {
            self.page = Page::default();
        }
        self.view = View::Page(kind);
        self.make(kind);
    }

    fn make(&mut self, kind: PageKind) {
        let job = self.next_job();
        (self.page.job, self.page.is_ready) = (job, false);
        self.effects.push(Effect::Page { job, kind, width: self.columns(), filter: self.parsed.clone() });
    }

    /// Searches for the next match, or for the previous one.
    fn search(&mut self, forward: bool) {
        if self.needle.is_empty() {
            return self.say("/ searches for a text");
        }
        let is_found = match (self.view, self.focus, &mut self.detail) {
            (View::Page(_), ..) => self.page.text.search(&self.needle, forward),
            (_, Focus::Detail, Some(detail)) => detail.text.search(&self.needle, forward),
            _ => return self.search_messages(forward),
        };
        if !is_found {
            self.fail(format!("no match for {:?}", self.needle));
        }
    }

    fn search_messages(&mut self, forward: bool) {
        let Some(row) = self.list.selected() else { return };
        let (job, needle, filter) = (self.next_job(), self.needle.clone(), self.parsed.clone());
        self.is_searching = true;
        self.effects.push(Effect::Search { job, needle, from: u64::from(row.seq), forward, filter });
    }

    fn answered(&mut self) {
        let Some(Prompt { question, text, .. }) = self.prompt.take() else { return };
        match question {
            Question::Filter => self.set_filter(text.trim()),
            Question::Search => {
                self.needle = text.to_lowercase();
                self.search(true);
            }
            Question::Number => match text.trim().parse() {
                Ok(seq) => {
                    self.view = View::Messages;
                    self.go_to_event(seq);
                }
                Err(_) => self.fail(format!("{text:?} is not a number")),
            },
            Question::Fire => {
                let job = self.begin_page(PageKind::Sent);
                self.effects.push(Effect::Fire { job, words: text });
            }
            Question::Send(_) => self.say("nothing was sent"),
        }
    }

    /// Shows a view that an effect makes.
    fn begin_page(&mut self, kind: PageKind) -> u64 {
        let job = self.next_job();
        self.page = Page { job, ..Page::default() };
        self.view = View::Page(kind);
        job
    }

    /// Answers whether to send a request.
    fn confirm(&mut self, key: Key) {
        let Some(Prompt { question: Question::Send(request), .. }) = self.prompt.take() else { return };
        if !matches!(key, Key::Char('y' | 'Y')) {
            return self.say("nothing was sent");
        }
        let job = self.begin_page(PageKind::Sent);
        self.effects.push(Effect::Send { job, request });
    }

    fn set_filter(&mut self, text: &str) {
        match Filter::parse_knowing(text, self.registry) {
            Err(error) => {
                self.fail(format!("filter {:?}: {}", error.at, error.reason));
                self.prompt = Some(Prompt::new(Question::Filter, text));
            }
            Ok(parsed) => {
                (self.filter, self.parsed) = (text.to_owned(), parsed);
                self.begin_scan();
                match self.view {
                    View::Page(kind @ (PageKind::Sequence | PageKind::Timeline | PageKind::Statistics)) => {
                        self.make(kind);
                    }
                    _ => self.view = View::Messages,
                }
            }
        }
    }

    /// Where requests are sent.
    pub(crate) fn sends_to(&self) -> &str {
        self.source.as_ref().and_then(|source| source.sends_to.as_deref()).unwrap_or_default()
    }
}

/// A request as the user edited it.
impl Request {
    /// Returns the request with other parameters.
    #[must_use]
    pub(crate) fn with_params(self, params: String) -> Self {
        Self { params, ..self }
    }
}
