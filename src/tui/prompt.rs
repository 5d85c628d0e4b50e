//! A line of input at the bottom of the screen.

use super::effect::Request;
use super::keys::Key;
use crate::render::table::cut;

/// The maximum length of an input, in bytes.
const MAX_BYTES: usize = 4096;

/// Where a request is sent is cut to this width.
const MAX_RECIPIENT: usize = 34;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// A filter.
    Filter,
    /// A text to search for.
    Search,
    /// The number of an event.
    Number,
    /// A `fire` command.
    Fire,
    /// Whether to send a request: y or n.
    Send(Request),
}

impl Question {
    /// Returns what stands before the input.
    pub(crate) fn label(&self, sends_to: &str) -> String {
        match self {
            Self::Filter => "filter: ".to_owned(),
            Self::Search => "/".to_owned(),
            Self::Number => "event number: ".to_owned(),
            Self::Fire => "mcpreel fire ".to_owned(),
            Self::Send(request) => format!("send {} to {}? [y/N] ", request.method, cut(sends_to, MAX_RECIPIENT)),
        }
    }

    /// Returns what stands after the input: what is sent.
    pub(crate) fn rest(&self) -> String {
        match self {
            Self::Send(request) if !request.params.is_empty() => {
                let words: Vec<&str> = request.params.split_whitespace().collect();
                format!(" {}", words.join(" "))
            }
            _ => String::new(),
        }
    }
}

/// An input.
#[derive(Clone, Debug)]
pub(crate) struct Prompt {
    /// What is asked.
    pub question: Question,
    /// The text so far.
    pub text: String,
    /// The place of the cursor in it, in bytes.
    pub cursor: usize,
}

/// What a key did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// The user is not done.
    More,
    /// The input is complete.
    Done,
    /// The user does not want to answer.
    Cancelled,
}

impl Prompt {
    pub(crate) fn new(question: Question, text: &str) -> Self {
        Self { question, text: text.to_owned(), cursor: text.len() }
    }

    /// Takes a key.
    pub(crate) fn key(&mut self, key: Key) -> Typed {
        match key {
            Key::Enter => return Typed::Done,
            Key::Escape | Key::Control('g') => return Typed::Cancelled,
            Key::Char(typed) => self.insert(typed.encode_utf8(&mut [0; 4])),
            Key::Backspace if self.text.is_empty() => return Typed::Cancelled,
            Key::Backspace => {
                let (start, end) = (self.before(), self.cursor);
                self.cursor = start;
                self.text.replace_range(start..end, "");
            }
            Key::Delete => {
                let end = self.after();
                self.text.replace_range(self.cursor..end, "");
            }
            Key::Control('u') => {
                self.text.replace_range(..self.cursor, "");
                self.cursor = 0;
            }
            Key::Control('w') => self.delete_word(),
            Key::Left => self.cursor = self.before(),
            Key::Right => self.cursor = self.after(),
            Key::Home | Key::Control('a') => self.cursor = 0,
            Key::End | Key::Control('e') => self.cursor = self.text.len(),
            _ => {}
        }
        Typed::More
    }

    /// Inserts a text at the cursor, without line breaks and other control characters.
    pub(crate) fn insert(&mut self, text: &str) {
        let plain: String = text.chars().filter(|typed| !typed.is_control()).collect();
        if self.text.len() + plain.len() <= MAX_BYTES {
            self.text.insert_str(self.cursor, &plain);
            self.cursor += plain.len();
        }
    }

    fn delete_word(&mut self) {
        let before = self.text[..self.cursor].trim_end();
        let start = before.rfind(' ').map_or(0, |space| space + 1);
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    fn before(&self) -> usize {
        self.text[..self.cursor].char_indices().next_back().map_or(0, |(at, _)| at)
    }

    fn after(&self) -> usize {
        self.text[self.cursor..].chars().next().map_or(self.cursor, |next| self.cursor + next.len_utf8())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited_by_characters_and_words() {
        let mut prompt = Prompt::new(Question::Filter, "tool:é");
        let mut typed = |keys: &[Key]| {
            keys.iter().for_each(|key| assert_eq!(prompt.key(*key), Typed::More, "{key:?}"));
            (prompt.text.clone(), prompt.cursor)
        };
        assert_eq!(typed(&[Key::Char('x'), Key::Left, Key::Left, Key::Char('a')]), ("tool:aéx".to_owned(), 6));
        assert_eq!(typed(&[Key::Right, Key::Backspace, Key::Delete]), ("tool:a".to_owned(), 6));
        assert_eq!(typed(&[Key::Char(' '), Key::Char('b'), Key::Control('w')]), ("tool:a ".to_owned(), 7));
        assert_eq!(typed(&[Key::Home, Key::Delete, Key::End, Key::Char('\u{7}')]), ("ool:a ".to_owned(), 6));
        assert_eq!(typed(&[Key::Control('u')]), (String::new(), 0));
        assert_eq!(prompt.key(Key::Backspace), Typed::Cancelled);
    }

    #[test]
    fn what_is_pasted_has_no_control_characters_and_a_limit() {
        let mut prompt = Prompt::new(Question::Search, "");
        prompt.insert("a\n\u{1b}[2Jb");
        assert_eq!(prompt.text, "a[2Jb");
        prompt.insert(&"x".repeat(MAX_BYTES));
        assert_eq!(prompt.text, "a[2Jb");
    }
}
