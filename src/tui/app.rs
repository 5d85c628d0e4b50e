//! The state of the interface, and what keys and other inputs change in it.

mod keyboard;

use super::effect::{
    DetailForm, DetailText, Effect, Found, Input, PageKind, PageLine, PageText, Scanned, Source, Target,
};
use super::keys::{KEYS, described};
use super::list::List;
use super::picker::Picker;
use super::prompt::{Prompt, Question};
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
    /// The lines above the text that stay on the screen.
    pub headings: Vec<String>,
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
            Input::Choices(choices) => self.picker.take(choices),
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

    /// The headings of a view that stay on the screen: the last ones, if it is small.
    pub(crate) fn headings(&self) -> &[String] {
        let all = &self.page.headings;
        &all[all.len() - all.len().min(self.body() / 3)..]
    }

    /// The rows of a view below its headings.
    pub(crate) fn page_rows(&self) -> usize {
        self.body() - self.headings().len()
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
        let page_rows = self.page_rows();
        self.page.text.resize(columns, page_rows);
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
        let damage = scanned.damage.clone().filter(|_| self.list.damage.is_none());
        self.list.append(scanned);
        if let Some(damage) = damage {
            self.fail(format!("the reel is damaged: {damage}"));
            self.list.damage = Some(damage);
        }
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
        let mut lines = came.lines;
        let below = lines.split_off(headings(self.view, &lines));
        self.page.headings = lines.into_iter().map(|line| line.text).collect();
        let text = Text::new(below, false, (self.columns(), self.page_rows()));
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
        self.page = Page { text, job: self.next_job(), is_ready: true, ..Page::default() };
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

    /// Shows a view that an effect makes.
    fn begin_page(&mut self, kind: PageKind) -> u64 {
        let job = self.next_job();
        self.page = Page { job, ..Page::default() };
        self.view = View::Page(kind);
        job
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

/// The number of lines at the beginning of a view that stay on the screen: above the events of a picture.
fn headings(view: View, lines: &[PageLine]) -> usize {
    match view {
        View::Page(PageKind::Sequence) => lines.iter().take_while(|line| line.seq.is_none()).count(),
        View::Page(PageKind::Timeline) => crate::render::timeline::HEADINGS.min(lines.len()),
        _ => 0,
    }
}
