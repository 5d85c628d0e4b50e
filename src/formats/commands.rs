//! The commands that repeat a session's requests, an export format: one `mcpreel call …` for each request and
//! notification of the client. The handshake is left out, because `call` does it. A request that no command can repeat
//! becomes a comment that says why.

use super::messages::{ByMessage, Message, MessageExporter};
use super::{Content, ExportFormat};
use crate::trace::{Event, EventKind, FileHeader, Opened};
use crate::wire::log_lines::within_line;
use crate::wire::text::visible;
use crate::wire::{Direction, Envelope, MessageKind, json};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

/// Commands, for `export`.
pub(crate) const EXPORT: ExportFormat = ExportFormat {
    name: "commands",
    about: "Shell commands that repeat the client's requests with `mcpreel call`",
    content: Content::Text,
    make: |_| Box::new(ByMessage::<Commands>::default()),
};

/// Messages that make no sense on a connection of their own: those of the handshake, and those about another request.
const LEFT_OUT: &[&str] = &[
    "initialize",
    "notifications/initialized",
    "server/discover",
    "notifications/cancelled",
    "notifications/progress",
];

/// Linux gives a program no word of more than 128 KiB.
const LONGEST: usize = 128 << 10;

/// The target of a stream whose server is unknown.
const UNKNOWN: &str = "-- SERVER";

/// Writes the commands of a reel.
#[derive(Default)]
pub(crate) struct Commands {
    /// The options that name the server of each stream.
    targets: HashMap<u32, String>,
    /// The options of the first stream, for streams that do not say more.
    first: Option<String>,
    /// The streams whose client has sent `initialize`.
    legacy: HashSet<u32>,
}

/// At most this many servers, and as many streams of the legacy era, are remembered.
const MAX_TARGETS: usize = 1000;

impl Commands {
    /// Processes an event. Returns the command that repeats it, if it is a request or notification of the client, or a
    /// comment that says why there is none.
    pub(crate) fn take(&mut self, event: &Event<'_>) -> Option<String> {
        match event.header.kind {
            EventKind::StreamOpened => self.learn(event),
            EventKind::Message if event.header.direction() == Direction::ClientToServer => {
                return self.line(event.header.seq, event.header.stream, &Envelope::scan(event.body()), event.body());
            }
            _ => {}
        }
        None
    }

    /// Remembers the server of a stream that begins.
    fn learn(&mut self, event: &Event<'_>) {
        let target = target(event.payload);
        self.first = self.first.take().or_else(|| target.clone());
        if let Some(target) = target.filter(|_| self.targets.len() < MAX_TARGETS) {
            self.targets.insert(event.header.stream, target);
        }
    }

    /// Remembers the era of a stream.
    fn learn_era(&mut self, stream: u32, envelope: &Envelope<'_>) {
        if envelope.method.as_deref() == Some("initialize") && self.legacy.len() < MAX_TARGETS {
            self.legacy.insert(stream);
        }
    }

    /// Returns the line for a message of the client: a command or a comment.
    fn line(&mut self, seq: u64, stream: u32, envelope: &Envelope<'_>, body: &[u8]) -> Option<String> {
        self.learn_era(stream, envelope);
        if body.len() > LONGEST {
            return repeats(envelope).map(|_| too_long(seq));
        }
        let (method, params) = repeatable(envelope)?;
        let target = self.targets.get(&stream).or(self.first.as_ref()).map_or(UNKNOWN, String::as_str);
        let line = match unsendable(method, params.as_deref(), body) {
            Some(why) => Err(why),
            None => command(envelope.kind, method, params.as_deref(), self.legacy.contains(&stream), target)
                .ok_or("contains a NUL character"),
        };
        Some(line.unwrap_or_else(|why| format!("# event {seq} {why}; `mcpreel fire raw` sends any text")))
    }
}

impl MessageExporter for Commands {
    fn begin(&mut self, _header: &FileHeader, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "#!/bin/sh")
    }

    fn message(&mut self, message: &Message<'_>, out: &mut dyn Write) -> io::Result<()> {
        if message.direction != Direction::ClientToServer {
            return Ok(());
        }
        let line = match message.body {
            Some(body) => self.line(message.seq, message.stream, &message.envelope, body),
            None => repeats(&message.envelope).map(|_| too_long(message.seq)),
        };
        line.map_or(Ok(()), |line| writeln!(out, "{line}"))
    }

    fn pass_over_message(&mut self, message: &Message<'_>) {
        self.learn_era(message.stream, &message.envelope);
    }

    fn other(&mut self, event: &Event<'_>, _out: &mut dyn Write) -> io::Result<()> {
        if event.header.kind == EventKind::StreamOpened {
            self.learn(event);
        }
        Ok(())
    }
}

/// Returns the method of a message of the client that `call` may repeat.
fn repeats<'a>(envelope: &'a Envelope<'_>) -> Option<&'a str> {
    let is_sent = matches!(envelope.kind, MessageKind::Request | MessageKind::Notification);
    envelope.method.as_deref().filter(|method| is_sent && !LEFT_OUT.contains(method))
}

fn too_long(seq: u64) -> String {
    format!("# event {seq} is too long for a command")
}

/// Returns the method and the params with which `call` repeats a message of the client, if it can.
pub(crate) fn repeatable<'a>(envelope: &'a Envelope<'_>) -> Option<(&'a str, Option<String>)> {
    let method = repeats(envelope)?;
    Some((method, envelope.params.map(without_meta).filter(|params| params != "{}")))
}

/// Returns why `call` cannot send a message, if it cannot.
fn unsendable(method: &str, params: Option<&str>, body: &[u8]) -> Option<&'static str> {
    if json::check(body).is_err() {
        return Some("is not JSON");
    }
    if params.is_some_and(|params| !params.starts_with('{')) {
        return Some("has params that are not an object");
    }
    method.starts_with('-').then_some("has a method that looks like an option")
}

/// Returns the command that sends a message; `None` if a word cannot be written.
fn command(kind: MessageKind, method: &str, params: Option<&str>, is_legacy: bool, target: &str) -> Option<String> {
    let notify = kind == MessageKind::Notification && !method.starts_with("notifications/");
    let mut words = vec!["mcpreel".to_owned(), "call".to_owned(), quoted(method)?];
    if let Some(params) = params {
        words.push(quoted(params)?);
    }
    words.extend(notify.then(|| "--notify".to_owned()));
    words.extend(is_legacy.then(|| "--era legacy".to_owned()));
    words.push(target.to_owned());
    Some(words.join(" "))
}

/// Returns params without `_meta`, which belongs to the client; every other member as it was written.
fn without_meta(params: &[u8]) -> String {
    if !params.starts_with(b"{") {
        return String::from_utf8_lossy(params).into_owned();
    }
    let members = json::members(params).filter(|member| !member.is("_meta"));
    let members: Vec<String> = members
        .map(|member| format!("\"{}\":{}", String::from_utf8_lossy(member.key), String::from_utf8_lossy(member.value)))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// Returns the options that name the server of a stream, from the description of the stream.
fn target(about: &[u8]) -> Option<String> {
    let opened = Opened::read(about);
    if let Some(words) = opened.command {
        let words: Option<Vec<String>> = words.iter().map(|word| quoted(word)).collect();
        return Some(format!("-- {}", words?.join(" ")));
    }
    Some(format!("--url {}", quoted(&opened.url?)?))
}

/// Returns a word as a POSIX shell reads it; `None` if it contains NUL. Characters that would control a terminal, change
/// the text direction or complete the beginning of a build server's command when the command is displayed are written as
/// octal escapes of `printf`.
fn quoted(word: &str) -> Option<String> {
    if word.contains('\0') {
        return None;
    }
    let is_steering = |found: char| !matches!(found, '\n' | '\t') && visible(found) != found;
    let mut lines = within_line();
    let mut command = lines.next(word.as_bytes(), 0);
    let (mut out, mut from, mut was_escaped) = (String::new(), 0, false);
    for (at, found) in word.char_indices() {
        let is_command = command == Some(at);
        if is_command {
            command = lines.next(word.as_bytes(), at + 1);
        }
        let is_escaped = is_command || is_steering(found);
        if is_escaped != was_escaped && from < at {
            out.push_str(&part(&word[from..at], was_escaped)?);
            from = at;
        }
        was_escaped = is_escaped;
    }
    out.push_str(&part(&word[from..], was_escaped)?);
    Some(out)
}

/// Returns a part of a word as a shell reads it, in escapes of `printf` if wanted.
fn part(text: &str, is_escaped: bool) -> Option<Cow<'_, str>> {
    if !is_escaped {
        return shlex::try_quote(text).ok();
    }
    let octal: String = text.bytes().map(|byte| format!("\\{byte:03o}")).collect();
    Some(format!("\"$(printf '{octal}')\"").into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::log_lines::guarded;

    /// The line for a message of the client.
    fn line(message: &[u8]) -> Option<String> {
        let mut commands = Commands { first: Some("-- server".to_owned()), ..Commands::default() };
        commands.line(7, 1, &Envelope::scan(message), message)
    }

    #[test]
    fn requests_become_commands_that_a_shell_reads_back() {
        let line = |message: &str| line(message.as_bytes());
        assert_eq!(
            line(
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"it's", "n":1.0,"_meta":{"progressToken":1}}}"#
            ),
            Some(r#"mcpreel call tools/call "{\"name\":\"it's\",\"n\":1.0}" -- server"#.to_owned())
        );
        assert_eq!(line(r#"{"id":2,"method":"ping","params":{}}"#).as_deref(), Some("mcpreel call ping -- server"));
        assert_eq!(
            line(r#"{"method":"push/x","params":{"a":"$b"}}"#).as_deref(),
            Some(r#"mcpreel call push/x '{"a":"$b"}' --notify -- server"#)
        );
        for other in [r#"{"id":1,"method":"initialize"}"#, r#"{"id":1,"result":{}}"#, "noise"] {
            assert_eq!(line(other), None, "{other}");
        }
    }

    #[test]
    fn a_request_that_no_command_repeats_becomes_a_comment() {
        for (message, why) in [
            (&b"{\"id\":1,\"method\":\"x\",\"params\":{\"a\":\"\x1b[2J\"}}"[..], "is not JSON"),
            (b"{\"id\":1,\"method\":\"x\",\"params\":{\"a\":\"\xff\"}}", "is not JSON"),
            (br#"{"id":1,"method":"x","params":[1]}"#, "has params that are not an object"),
            (br#"{"id":1,"method":"-x"}"#, "has a method that looks like an option"),
            (br#"{"id":1,"method":"a\u0000"}"#, "contains a NUL character"),
        ] {
            let comment = format!("# event 7 {why}; `mcpreel fire raw` sends any text");
            assert_eq!(line(message), Some(comment));
        }
    }

    #[test]
    fn requests_are_repeated_in_the_era_of_their_stream() {
        let mut commands = Commands::default();
        let mut line =
            |stream, message: &str| commands.line(7, stream, &Envelope::scan(message.as_bytes()), message.as_bytes());
        let ping = r#"{"id":2,"method":"ping"}"#;
        assert_eq!(line(1, r#"{"id":1,"method":"initialize","params":{}}"#), None);
        assert_eq!(line(2, r#"{"id":1,"method":"server/discover","params":{}}"#), None);
        assert_eq!(line(1, ping).as_deref(), Some("mcpreel call ping --era legacy -- SERVER"));
        assert_eq!(line(2, ping).as_deref(), Some("mcpreel call ping -- SERVER"));
    }

    #[test]
    fn words_that_steer_a_terminal_are_escaped_and_a_shell_reads_them_back() {
        let method = line(br#"{"id":1,"method":"a\u001b[2J%\u202e\u009b"}"#);
        let escaped = r#"mcpreel call a"$(printf '\033')"'[2J%'"$(printf '\342\200\256\302\233')" -- server"#;
        assert_eq!(method.as_deref(), Some(escaped));
        let commands = ["a\n::error::x", "\n \u{200b}::x\n\n:::y\n", "x ##[error]y ##vso[z]", "::1", "a::b ##\n[c]"];
        let steering = ["\r\n\u{1b}\n", "\u{7f}'\u{2066}\"$x`\\", "\u{85}é日\t", "", "\n\n"];
        for word in steering.into_iter().chain(commands) {
            let word_for_shell = quoted(word).expect("no NUL");
            let line = format!("mcpreel call {word_for_shell}\n");
            assert_eq!(guarded(&line), line, "no line begins a command");
            assert!(word_for_shell.chars().all(|found| matches!(found, '\n' | '\t') || visible(found) == found));
            let printed =
                std::process::Command::new("sh").args(["-c", &format!("printf %s {word_for_shell}")]).output();
            assert_eq!(printed.expect("a shell").stdout, word.as_bytes(), "{word_for_shell}");
        }
    }
}
