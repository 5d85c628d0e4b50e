//! The commands that repeat a session's requests, an export format: one `mcpreel call …` for each request and
//! notification of the client. The handshake is left out, because `call` does it.

use super::ExportFormat;
use super::messages::{ByMessage, Message, MessageExporter};
use crate::trace::{Event, EventKind, FileHeader};
use crate::wire::{Direction, Envelope, MessageKind, json};
use ciborium::Value as Cbor;
use std::collections::HashMap;
use std::io::{self, Write};

/// Commands, for `export`.
pub(crate) const EXPORT: ExportFormat = ExportFormat {
    name: "commands",
    about: "Shell commands that repeat the client's requests with `mcpreel call`",
    exporter: |_| Box::new(ByMessage::<Commands>::default()),
};

/// Messages that make no sense on a connection of their own.
const LEFT_OUT: &[&str] =
    &["initialize", "notifications/initialized", "notifications/cancelled", "notifications/progress"];

/// The target of a stream whose server is unknown.
const UNKNOWN: &str = "-- SERVER";

/// Writes the commands of a reel.
#[derive(Default)]
pub(crate) struct Commands {
    /// The options that name the server of each stream.
    targets: HashMap<u32, String>,
    /// The options of the first stream, for streams that do not say more.
    first: Option<String>,
}

/// At most this many servers are remembered.
const MAX_TARGETS: usize = 1000;

impl Commands {
    /// Processes an event. Returns the command that repeats it, if it is a request or notification of the client.
    pub(crate) fn take(&mut self, event: &Event<'_>) -> Option<String> {
        match event.header.kind {
            EventKind::StreamOpened => self.learn(event),
            EventKind::Message if event.header.direction() == Direction::ClientToServer => {
                return self.command(event.header.stream, &Envelope::scan(event.body()));
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

    /// Returns the command that repeats a message of the client.
    fn command(&self, stream: u32, envelope: &Envelope<'_>) -> Option<String> {
        let target = self.targets.get(&stream).or(self.first.as_ref()).map_or(UNKNOWN, String::as_str);
        command(envelope, target)
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
        match (self.command(message.stream, &message.envelope), message.body) {
            (Some(command), Some(_)) => writeln!(out, "{command}"),
            // A shell takes no words of this length.
            (Some(_), None) => writeln!(out, "# event {} is too long for a command", message.seq),
            (None, _) => Ok(()),
        }
    }

    fn other(&mut self, event: &Event<'_>, _out: &mut dyn Write) -> io::Result<()> {
        if event.header.kind == EventKind::StreamOpened {
            self.learn(event);
        }
        Ok(())
    }
}

/// Returns the method and the params with which `call` repeats a message of the client, if it can.
pub(crate) fn repeatable<'a>(envelope: &'a Envelope<'_>) -> Option<(&'a str, Option<String>)> {
    let is_sent = matches!(envelope.kind, MessageKind::Request | MessageKind::Notification);
    let method = envelope.method.as_deref().filter(|method| is_sent && !LEFT_OUT.contains(method))?;
    Some((method, envelope.params.map(without_meta).filter(|params| params != "{}")))
}

/// Returns the command for a message.
fn command(envelope: &Envelope<'_>, target: &str) -> Option<String> {
    let (method, params) = repeatable(envelope)?;
    let notify = envelope.kind == MessageKind::Notification && !method.starts_with("notifications/");
    let mut words = vec!["mcpreel".to_owned(), "call".to_owned(), quoted(method)];
    words.extend(params.map(|params| quoted(&params)));
    words.extend(notify.then(|| "--notify".to_owned()));
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
    let about: Cbor = ciborium::from_reader(about).ok()?;
    let member =
        |name: &str| about.as_map()?.iter().find(|(key, _)| key.as_text() == Some(name)).map(|(_, value)| value);
    if let Some(words) = member("command").and_then(Cbor::as_array) {
        let words: Vec<String> = words.iter().filter_map(Cbor::as_text).map(quoted).collect();
        return Some(format!("-- {}", words.join(" ")));
    }
    member("url").and_then(Cbor::as_text).map(|url| format!("--url {}", quoted(url)))
}

/// Returns a word as a shell reads it.
fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| "''".to_owned(), std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_become_commands_that_a_shell_reads_back() {
        let line = |message: &str| command(&Envelope::scan(message.as_bytes()), "-- server");
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
}
