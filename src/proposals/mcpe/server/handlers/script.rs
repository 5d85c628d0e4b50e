//! Reads the text of a shell's script for what it would run of an event: one simple command after another, in the same
//! way as a plain command.

use super::input::{PREFIX, expand};
use super::programs::{BEGIN, Kind, LOADS, Place, assigned, has, is_named, is_short, is_stdin, kind, place};

/// Words before a command, and behind one; `-p` is an option of `time`.
const RESERVED: &str = "! -p time { } do done elif else fi if then until while";
const REDIRECTIONS: [&str; 12] = ["<<<", "<<-", "&>>", "<<", "<&", "<>", ">>", ">&", ">|", "&>", "<", ">"];

/// What ends the name of a variable behind `BEGIN`.
const END: char = '\u{2}';
/// What stands for other text of the event, and for text of others.
const EVENT: &str = "\u{1}\u{2}";
const OTHER: &str = "\u{3}";

/// Why a handler is refused.
pub(super) type Why = &'static str;

const NAMED: Why =
    "the event would be run as code, because a variable of it names a command or is code: make it an argument of one";
const STDIN: Why = "the event would be run as code, because it is on standard input: name a script";
const OPTION: Why = "the event would name an option: put its variable behind `=`, or `--` before it";
const FILE: Why = "the event would name a file to send: put its value into the request itself";
const UNREAD: Why =
    "the event could be run as code, because mcpreel cannot read this script: put it into a file and run that";

/// How deep commands may stand in each other, and how many letters and words are read in all.
const MAX_DEPTH: usize = 40;
const MAX_READ: usize = 1 << 19;

/// A word of a simple command.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// The event's variables are marked in it.
    text: String,
    /// What stays of it where it is code; nothing of a word that a shell expands before the program gets it.
    literal: Option<String>,
}

impl Word {
    /// The whole event.
    pub(super) fn event() -> Self {
        Self::plain(EVENT.to_owned())
    }

    /// A word that its program gets as it is.
    pub(super) fn plain(text: String) -> Self {
        Self { text, literal: None }
    }

    /// An argument in which mcpreel replaces the event's variables, if it is data.
    pub(super) fn argument(text: &str) -> Self {
        let mark = |name: &str| name.starts_with(PREFIX).then(|| format!("{BEGIN}{name}{END}").into());
        let marked = expand(text, mark, usize::MAX).unwrap_or_default();
        Self { text: marked, literal: Some(text.to_owned()) }
    }
}

/// Reads commands for what they would run of an event.
#[derive(Default)]
pub(super) struct Walk {
    /// Whether variables have it.
    has_variables: bool,
    /// Variables whose values must not begin with `@`.
    pub(super) sent: Vec<String>,
    depth: usize,
    read: usize,
}

impl Walk {
    pub(super) fn new(has_variables: bool) -> Self {
        Self { has_variables, ..Self::default() }
    }

    /// Whether a text has a variable of the event.
    pub(super) fn mentions(&self, text: &str) -> bool {
        self.has_variables && text.contains(PREFIX)
    }

    /// Reads the text of a script. `is_fed` says whether its standard input has something of the event. Returns whether
    /// its output may.
    pub(super) fn script(&mut self, text: &str, is_fed: bool) -> Result<bool, Why> {
        // Otherwise, nothing could feed it.
        let is_fed = is_fed || self.mentions(text) && (text.contains(['|', '<']) || text.contains(">("));
        self.spend(text.len())?;
        let mut reader = Reader { walk: self, rest: text, behind: None, is_fed, tells: false };
        let (depth, read) = (reader.walk.depth, reader.list(None));
        reader.walk.depth = depth;
        read.map(|()| reader.tells)
    }

    /// Reads a simple command, and returns what its words are.
    pub(super) fn command(&mut self, words: &[Word], is_fed: bool) -> Result<Vec<Place>, Why> {
        self.spend(words.len())?;
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let mut places = vec![Place::Data; words.len()];
        if place(&texts, &mut places) && is_fed {
            return Err(STDIN);
        }
        let (mut code, mut is_behind_options) = (String::new(), false);
        for (word, place) in words.iter().zip(&places) {
            let is_code = !matches!(place, Place::Data | Place::Sent);
            let text: &str = match &word.literal {
                Some(literal) if is_code && *place != Place::Program => literal,
                _ if is_code && is_named(&word.text) => return Err(NAMED),
                _ => &word.text,
            };
            match place {
                Place::Program | Place::Code => {}
                Place::Data | Place::Sent if !is_behind_options && names_option(text) => return Err(OPTION),
                Place::Data => {}
                Place::Sent => self.send(text)?,
                // The second word of `trap` is no part of the first.
                Place::Text => code.extend([text, if words[0].text == "trap" { "\n" } else { " " }]),
                Place::Any => self.any(text, is_fed)?,
            }
            is_behind_options |= text == "--";
        }
        if !code.is_empty() {
            self.script(&code, is_fed)?;
        }
        Ok(places)
    }

    /// Reads a word that may be a command of several words, or have one behind `=`. What is no script is none.
    fn any(&mut self, word: &str, is_fed: bool) -> Result<(), Why> {
        let value = word.split_once('=').map(|(_, value)| value);
        if value.is_none() && !word.contains([' ', '$', ';', '|', '\n']) {
            return Ok(());
        }
        match self.script(value.unwrap_or(word), is_fed) {
            Err(why) if why != UNREAD => Err(why),
            _ => Ok(()),
        }
    }

    /// Notes which variables begin a value that is sent.
    fn send(&mut self, word: &str) -> Result<(), Why> {
        let word = if is_short(word) { word.get(2..).unwrap_or_default() } else { word };
        for (at, _) in word.match_indices(BEGIN) {
            let before = &word[..at];
            let bare = before.trim_end_matches(['@', '<']);
            if !bare.is_empty() && !bare.ends_with('=') {
                continue;
            } else if bare.len() < before.len() {
                return Err(FILE);
            }
            self.sent.extend(word[at + 1..].split(END).next().map(str::to_owned));
        }
        Ok(())
    }

    fn deepen(&mut self) -> Result<(), Why> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(UNREAD) } else { Ok(()) }
    }

    fn spend(&mut self, amount: usize) -> Result<(), Why> {
        self.read += amount + 1;
        if self.read > MAX_READ { Err(UNREAD) } else { Ok(()) }
    }
}

/// Whether the event would be an option, or a part of its name.
fn names_option(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    let is_long = word.starts_with("--") && is_named(name) && !name.contains(char::is_whitespace);
    word.starts_with('-') && word.trim_start_matches('-').starts_with(BEGIN) || is_long
}

/// A simple command that is being read.
#[derive(Default)]
struct Simple {
    words: Vec<String>,
    /// Whether its own standard input has something of the event.
    fed: Option<bool>,
}

/// Reads the text of a script, one simple command after another.
struct Reader<'w, 'a> {
    walk: &'w mut Walk,
    rest: &'a str,
    /// What follows the here-documents of this line.
    behind: Option<&'a str>,
    is_fed: bool,
    tells: bool,
}

impl<'a> Reader<'_, 'a> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(letter)
    }

    fn take(&mut self, start: &str) -> bool {
        self.rest.strip_prefix(start).map(|rest| self.rest = rest).is_some()
    }

    fn blanks(&mut self) {
        while self.take(" ") || self.take("\t") || self.take("\r") || self.take("\\\n") {}
        if self.rest.starts_with('#') {
            self.rest = self.rest.find('\n').map_or("", |at| &self.rest[at..]);
        }
    }

    fn lines(&mut self) {
        self.blanks();
        while self.newline() {
            self.blanks();
        }
    }

    fn newline(&mut self) -> bool {
        let is_one = self.take("\n");
        if is_one {
            self.rest = self.behind.take().unwrap_or(self.rest);
        }
        is_one
    }

    /// Reads commands up to the end, or to the parenthesis that ends them.
    fn list(&mut self, end: Option<char>) -> Result<(), Why> {
        self.walk.deepen()?;
        let (mut now, mut cases, mut is_pattern) = (Simple::default(), 0_usize, false);
        loop {
            self.blanks();
            let start = self.rest;
            match self.peek() {
                None if end.is_some() => return Err(UNREAD),
                None => break,
                Some(')') if is_pattern => {
                    self.next();
                    (now, is_pattern) = (Simple::default(), false);
                }
                Some(')') if end.is_some() => {
                    self.next();
                    break;
                }
                Some(')') => return Err(UNREAD),
                Some('(') if is_pattern => drop(self.next()),
                Some('(') if !now.words.is_empty() && now.words != ["for"] => {
                    // A function is defined.
                    self.next();
                    self.blanks();
                    if !self.take(")") {
                        return Err(UNREAD);
                    }
                    now = Simple::default();
                }
                Some('(') if self.arithmetic(1)? => {}
                Some('(') => {
                    self.next();
                    self.list(Some(')'))?;
                }
                Some('\n') => {
                    self.finish(&mut now)?;
                    self.newline();
                }
                Some(';' | '&' | '|') if !start.starts_with("&>") => {
                    self.finish(&mut now)?;
                    self.rest = start.trim_start_matches([';', '&', '|']);
                    is_pattern |= cases > 0 && (start.starts_with(";;") || start.starts_with(";&"));
                }
                Some('<' | '>' | '&') if !start[1..].starts_with('(') => self.redirect("", &mut now)?,
                Some(_) => {
                    let word = self.word()?;
                    let raw = &start[..start.len() - self.rest.len()];
                    if raw == "esac" && (is_pattern || now.words.is_empty()) {
                        (cases, is_pattern) = (cases.saturating_sub(1), false);
                    } else if is_pattern {
                    } else if raw.chars().all(|letter| letter.is_ascii_digit()) && self.rest.starts_with(['<', '>']) {
                        self.redirect(raw, &mut now)?;
                    } else if raw == "{" && now.words.first().is_some_and(|first| first == "coproc") {
                        now = Simple::default();
                    } else if !now.words.is_empty() {
                        now.words.push(word);
                    } else if raw == "case" {
                        self.lines();
                        self.word()?;
                        self.lines();
                        is_pattern = self.take("in");
                        cases += 1;
                    } else if raw == "function" {
                        self.blanks();
                        self.word()?;
                    } else if raw == "[[" {
                        self.test()?;
                    } else if let Some(name) = assigned(&word) {
                        if is_named(&word) && has(LOADS, name) {
                            return Err(NAMED);
                        }
                    } else if !has(RESERVED, raw) {
                        now.words.push(word);
                    }
                }
            }
        }
        self.walk.depth -= 1;
        self.finish(&mut now)
    }

    fn finish(&mut self, now: &mut Simple) -> Result<(), Why> {
        let Simple { words, fed } = std::mem::take(now);
        let Some(first) = words.first() else { return Ok(()) };
        let is_fed = fed.unwrap_or(self.is_fed);
        self.tells |= words.iter().any(|word| is_named(word)) || is_fed && kind(first) != Some(Kind::Silent);
        let words: Vec<Word> = words.into_iter().map(Word::plain).collect();
        self.walk.command(&words, is_fed).map(drop)
    }

    fn redirect(&mut self, descriptor: &str, now: &mut Simple) -> Result<(), Why> {
        let operator = REDIRECTIONS.into_iter().find(|operator| self.take(operator)).ok_or(UNREAD)?;
        self.blanks();
        let start = self.rest;
        let target = self.word()?;
        let is_fed = match operator {
            "<" | "<>" => is_named(&target) || is_stdin(&target),
            "<<<" => is_named(&target),
            "<<" | "<<-" => {
                let is_literal = start[..start.len() - self.rest.len()].contains(['\'', '"', '\\']);
                let body = self.here(&target, operator == "<<-");
                !is_literal && is_named(&self.within(body)?)
            }
            _ => return Ok(()),
        };
        if descriptor.is_empty() || descriptor == "0" {
            now.fed = Some(is_fed);
        }
        Ok(())
    }

    /// The body of a here-document.
    fn here(&mut self, end: &str, is_indented: bool) -> &'a str {
        let from = self.behind.unwrap_or_else(|| self.rest.split_once('\n').map_or("", |(_, after)| after));
        let mut rest = from;
        while !rest.is_empty() {
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            if end == if is_indented { line.trim_start_matches('\t') } else { line } {
                self.behind = Some(after);
                return &from[..from.len() - rest.len()];
            }
            rest = after;
        }
        self.behind = Some("");
        from
    }

    /// Reads a text like one in double quotes.
    fn within(&mut self, text: &str) -> Result<String, Why> {
        let mut inner = Reader { walk: self.walk, rest: text, behind: None, is_fed: self.is_fed, tells: false };
        inner.expanded(None)
    }

    /// Reads `[[ … ]]`, which expands variables in numbers, and runs what is in their brackets.
    fn test(&mut self) -> Result<(), Why> {
        let (mut is_number, mut has_event) = (false, false);
        loop {
            self.lines();
            match self.peek().ok_or(UNREAD)? {
                '(' | ')' | '<' | '>' | '&' | '|' | ';' => drop(self.next()),
                _ => match self.word()?.as_str() {
                    "]]" => break,
                    word => {
                        is_number |= has("-eq -ne -lt -le -gt -ge -v", word);
                        has_event |= is_named(word) || self.walk.mentions(word);
                    }
                },
            }
        }
        if is_number && has_event { Err(NAMED) } else { Ok(()) }
    }

    /// Reads `((…))`, if it begins behind so many letters. Numbers run what is in brackets.
    fn arithmetic(&mut self, at: usize) -> Result<bool, Why> {
        let Some(inner) = self.rest.get(at..).filter(|rest| rest.starts_with('(')) else { return Ok(false) };
        let mut depth = 0_usize;
        let end = inner.find(|letter| {
            depth = if letter == '(' { depth + 1 } else { depth - usize::from(letter == ')') };
            depth == 0
        });
        let Some((text, after)) = end.and_then(|end| Some((&inner[1..end], inner[end + 1..].strip_prefix(')')?)))
        else {
            return Ok(false);
        };
        self.rest = after;
        let has_name = self.walk.has_variables && text.contains(PREFIX);
        if has_name || is_named(&self.within(text)?) { Err(NAMED) } else { Ok(true) }
    }

    fn word(&mut self) -> Result<String, Why> {
        self.walk.deepen()?;
        let mut word = String::new();
        while let Some(letter) = self.peek() {
            match letter {
                ' ' | '\t' | '\n' | '\r' | ';' | '&' | '|' | ')' => break,
                '<' | '>' if self.rest[1..].starts_with('(') => {
                    self.next();
                    self.substitution(&mut word)?;
                }
                '<' | '>' => break,
                '(' if assigned(&word).is_some() && word.ends_with('=') => {
                    self.next();
                    while {
                        self.lines();
                        !self.take(")")
                    } {
                        let length = self.rest.len();
                        word += &self.word()?;
                        if self.rest.len() == length {
                            return Err(UNREAD);
                        }
                    }
                }
                '(' if word.ends_with(['@', '!', '?', '+', '*']) => {
                    self.next();
                    word += &self.expanded(Some(')'))?;
                }
                '(' => break,
                '\'' => {
                    let (text, rest) = self.rest[1..].split_once('\'').ok_or(UNREAD)?;
                    word += text;
                    self.rest = rest;
                }
                '"' => {
                    self.next();
                    word += &self.expanded(Some('"'))?;
                }
                '\\' => {
                    self.next();
                    word.extend(self.next().filter(|letter| *letter != '\n'));
                }
                '$' if self.rest.starts_with("$'") => {
                    self.rest = &self.rest[2..];
                    let mut letter = self.next().ok_or(UNREAD)?;
                    while letter != '\'' {
                        let is_escape = letter == '\\';
                        if is_escape {
                            word.push_str(OTHER);
                        } else {
                            word.push(letter);
                        }
                        letter = if is_escape { self.next().and_then(|_| self.next()) } else { self.next() }
                            .ok_or(UNREAD)?;
                    }
                }
                '$' if self.rest.starts_with("$\"") => drop(self.next()),
                '$' | '`' => self.expansion(&mut word)?,
                _ => word.extend(self.next()),
            }
        }
        self.walk.depth -= 1;
        Ok(word)
    }

    /// Reads up to a closing letter as in double quotes.
    fn expanded(&mut self, end: Option<char>) -> Result<String, Why> {
        self.walk.deepen()?;
        let mut text = String::new();
        while let Some(letter) = self.peek() {
            match letter {
                '$' | '`' => {
                    self.expansion(&mut text)?;
                    continue;
                }
                _ => drop(self.next()),
            }
            match letter {
                _ if Some(letter) == end => {
                    self.walk.depth -= 1;
                    return Ok(text);
                }
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(escaped) if "$`\"\\".contains(escaped) => text.push(escaped),
                    Some(other) => text.extend(['\\', other]),
                },
                '"' if end == Some('}') => text += &self.expanded(Some('"'))?,
                _ => text.push(letter),
            }
        }
        self.walk.depth -= 1;
        if end.is_some() { Err(UNREAD) } else { Ok(text) }
    }

    /// Reads what begins with `$` or a backquote.
    fn expansion(&mut self, word: &mut String) -> Result<(), Why> {
        if self.take("`") {
            let mut text = String::new();
            loop {
                match self.next().ok_or(UNREAD)? {
                    '`' => break,
                    '\\' if self.rest.starts_with(['`', '$', '\\']) => text.extend(self.next()),
                    letter => text.push(letter),
                }
            }
            word.push_str(if self.walk.script(&text, self.is_fed)? { EVENT } else { OTHER });
            return Ok(());
        }
        self.next();
        if self.rest.starts_with("((") && self.arithmetic(1)? {
            word.push_str(OTHER);
        } else if self.rest.starts_with('[') && self.walk.mentions(self.rest) {
            // An old form of numbers.
            return Err(NAMED);
        } else if self.rest.starts_with('(') {
            self.substitution(word)?;
        } else if self.take("{") {
            let inner = self.expanded(Some('}'))?;
            word.push_str(&self.parameter(&inner)?);
        } else {
            let end = self.rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            let is_name = name.starts_with(|first: char| !first.is_ascii_digit());
            if is_name {
                self.rest = rest;
                word.push_str(&self.parameter(name)?);
            } else if self.rest.starts_with(|letter: char| letter.is_ascii_digit() || "@*#?-$!".contains(letter)) {
                self.next();
                word.push_str(OTHER);
            } else {
                word.push('$');
            }
        }
        Ok(())
    }

    /// What stands for a variable in a word.
    fn parameter(&self, inner: &str) -> Result<String, Why> {
        let name = inner.trim_start_matches(['!', '#']);
        let end = name.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(name.len());
        let (name, how) = name.split_at(end);
        let is_event = self.walk.has_variables && name.starts_with(PREFIX);
        // An index and a position are numbers, which run what is in their brackets; `!` reads the value as a name.
        let is_number = how.starts_with('[') || how.starts_with(':') && !how[1..].starts_with(['-', '+', '=', '?']);
        let is_run = is_event && (inner.starts_with('!') || how.ends_with("@P"))
            || is_number && (is_named(how) || self.walk.mentions(how));
        match name {
            _ if is_run => Err(NAMED),
            "SHELL" | "BASH" => Ok("sh".to_owned()),
            _ if is_event => Ok(format!("{BEGIN}{name}{END}")),
            _ if is_named(how) => Ok(EVENT.to_owned()),
            _ => Ok(OTHER.to_owned()),
        }
    }

    /// Reads commands in parentheses, whose output is a part of a word.
    fn substitution(&mut self, word: &mut String) -> Result<(), Why> {
        self.next();
        let told = std::mem::take(&mut self.tells);
        self.list(Some(')'))?;
        word.push_str(if self.tells { EVENT } else { OTHER });
        self.tells |= told;
        Ok(())
    }
}
