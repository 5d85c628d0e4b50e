//! What keys change in the state.

use super::{App, Detail, Focus, View};
use crate::tui::ansi;
use crate::tui::effect::{DetailForm, Effect, PageKind, Progress};
use crate::tui::keys::{Key, Motion};
use crate::tui::prompt::{Prompt, Question, Typed};
use crate::tui::text::Text;

impl App {
    /// Takes a key.
    pub(super) fn key(&mut self, key: Key) {
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
                let line = self.page.text.line().map(|line| ansi::plain(&line.text));
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

    /// Answers whether to send a request.
    fn confirm(&mut self, key: Key) {
        let Some(Prompt { question: Question::Send(request), .. }) = self.prompt.take() else { return };
        if !matches!(key, Key::Char('y' | 'Y')) {
            return self.say("nothing was sent");
        }
        let job = self.begin_page(PageKind::Sent);
        self.effects.push(Effect::Send { job, request });
    }

    /// Does what a prompt was about.
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
}
