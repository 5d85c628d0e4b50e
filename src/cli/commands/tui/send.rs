//! Sends requests again, and fires messages: with `call` and `fire`, as own processes whose output is shown.

use super::pages::lines;
use super::terminal;
use crate::error::{CommandError, ErrorKind};
use crate::formats::commands::repeatable;
use crate::render::output_buffer::OutputBuffer;
use crate::render::pretty::{Layout, pretty};
use crate::tui::effect::{PageLine, Request};
use crate::wire::text::visible_text;
use crate::wire::{Envelope, MessageKind, json};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Of longer output, only the beginning is shown, in bytes.
const MAX_OUTPUT: u64 = 4 << 20;
/// How often a process is looked at.
const PAUSE: Duration = Duration::from_millis(20);

/// Where requests are sent.
#[derive(Clone, Debug)]
pub(super) enum Recipient {
    /// A live session: its socket and its name.
    Session(String, String),
    /// A server that is started for each request.
    Command(Vec<String>),
}

impl Recipient {
    /// Its name.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Session(_, name) => format!("the session {name}"),
            Self::Command(words) => words.join(" "),
        }
    }

    /// The arguments that name it.
    fn arguments(&self) -> Vec<String> {
        match self {
            Self::Session(socket, _) => vec!["--session".to_owned(), socket.clone()],
            Self::Command(words) => std::iter::once("--".to_owned()).chain(words.iter().cloned()).collect(),
        }
    }
}

/// The request in a message, if the client can send it again. Without `_meta`, which belongs to the recorded request. A
/// method that looks like an option would be one for `call`.
pub(super) fn request(is_from_client: bool, body: &[u8]) -> Option<Request> {
    let envelope = Envelope::scan(body);
    let (method, params) = repeatable(&envelope).filter(|(method, _)| is_from_client && !method.starts_with('-'))?;
    let is_notification = envelope.kind == MessageKind::Notification;
    Some(Request { method: method.to_owned(), params: params.unwrap_or_default(), is_notification })
}

/// A file that is removed when this is dropped.
struct Draft(PathBuf);

impl Draft {
    /// A new file that only the user can read.
    fn new(text: &str) -> io::Result<Self> {
        let name = format!("mcpreel-{}-{}.json", std::process::id(), uuid::Uuid::now_v7().simple());
        let path = std::env::temp_dir().join(name);
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(text.as_bytes())?;
        Ok(Self(path))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Lets the user edit the parameters of a request. The terminal must be free. Returns `None` if the editor failed, or
/// the file is empty but was not before.
///
/// # Errors
///
/// There is no editor, or the parameters are not JSON.
pub(super) fn edited(request: Request) -> Result<Option<Request>, CommandError> {
    let failed = |why: String| CommandError::new(ErrorKind::Usage, why);
    let text = laid_out(&request.params);
    let draft = Draft::new(&text).map_err(|error| failed(format!("cannot write a file to edit: {error}")))?;
    let editor = ["VISUAL", "EDITOR"].iter().filter_map(|name| std::env::var(name).ok()).find(|text| !text.is_empty());
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    let words = shlex::split(&editor).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| failed(format!("cannot read the editor's command {editor:?}")))?;
    let tty = || terminal::open().map(Stdio::from);
    let ends = tty().and_then(|input| Ok((input, tty()?, tty()?)));
    let (input, output, complaints) = ends.map_err(|error| failed(format!("/dev/tty cannot be used: {error}")))?;
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).arg(&draft.0).stdin(input).stdout(output).stderr(complaints);
    let status = command.status().map_err(|error| {
        failed(format!("cannot start the editor {editor}: {error}; VISUAL or EDITOR names another"))
    })?;
    let params = std::fs::read_to_string(&draft.0).map_err(|error| failed(format!("cannot read the file: {error}")))?;
    let params = params.trim();
    if !status.success() || params.is_empty() && !text.trim().is_empty() {
        return Ok(None);
    }
    match json::check(params.as_bytes()) {
        Err(why) if !params.is_empty() => Err(failed(format!("the parameters are not JSON: {why}; nothing was sent"))),
        _ => Ok(Some(Request { params: params.to_owned(), ..request })),
    }
}

/// JSON with indentation, to edit: otherwise unchanged.
fn laid_out(text: &str) -> String {
    let mut out = Vec::new();
    let mut buffer = OutputBuffer::new(&mut out);
    buffer.be_exact();
    pretty(text.as_bytes(), &Layout::default(), &mut buffer);
    // Writing to memory cannot fail.
    let _ = buffer.flush();
    drop(buffer);
    String::from_utf8(out).unwrap_or_default() + "\n"
}

/// Sends a request with `call`. Returns what it printed.
///
/// # Errors
///
/// The program cannot be started.
pub(super) fn call(
    request: &Request,
    recipient: &Recipient,
    wanted: &dyn Fn() -> bool,
) -> Result<Vec<PageLine>, CommandError> {
    let draft = Draft::new(&request.params).map_err(|error| CommandError::writing(Path::new("params"), &error))?;
    let mut arguments = vec!["call".to_owned(), request.method.clone()];
    if !request.params.is_empty() {
        arguments.push(format!("@{}", draft.0.display()));
    }
    if request.is_notification {
        arguments.push("--notify".to_owned());
    }
    arguments.extend(recipient.arguments());
    run(&arguments, &format!("call {} → {}", request.method, recipient.name()), wanted)
}

/// Runs `fire` in a live session. Returns what it printed.
///
/// # Errors
///
/// The words cannot be read, or the program cannot be started.
pub(super) fn fire(
    words: &str,
    recipient: &Recipient,
    wanted: &dyn Fn() -> bool,
) -> Result<Vec<PageLine>, CommandError> {
    let split = shlex::split(words).ok_or_else(|| CommandError::usage("a quote is not closed"))?;
    let has_session = split.iter().any(|word| word == "--session" || word.starts_with("--session="));
    let mut arguments: Vec<String> = std::iter::once("fire".to_owned()).chain(split).collect();
    if !has_session {
        arguments.extend(recipient.arguments());
    }
    run(&arguments, &format!("fire {words}"), wanted)
}

/// Runs this program, and returns what it printed.
fn run(arguments: &[String], title: &str, wanted: &dyn Fn() -> bool) -> Result<Vec<PageLine>, CommandError> {
    let failed = |error: io::Error| CommandError::new(ErrorKind::Internal, format!("cannot run mcpreel: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let output = child.stdout.take().map(collected);
    let complaints = child.stderr.take().map(collected);
    let status = ended(&mut child, wanted).map_err(failed)?;
    let text =
        |thread: Option<std::thread::JoinHandle<String>>| thread.and_then(|it| it.join().ok()).unwrap_or_default();
    let (output, complaints) = (text(output), text(complaints));
    let mut all = lines(&format!("\u{1b}[1m{}\u{1b}[0m", visible_text(title)), |_| None);
    all.extend(lines(&complaints, |_| None));
    all.extend(lines(&output, |_| None));
    all.extend(lines(&how_it_ended(status), |_| None));
    Ok(all)
}

fn how_it_ended(status: std::process::ExitStatus) -> String {
    match status.code() {
        Some(0) => String::new(),
        Some(code) => format!("exit code {code}"),
        None => "it was stopped".to_owned(),
    }
}

/// Reads to the end on a thread. Of much output, only the beginning is kept.
fn collected(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.by_ref().take(MAX_OUTPUT).read_to_end(&mut bytes);
        let _ = io::copy(&mut from, &mut io::sink());
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits until a process ends, or kills it when it is not wanted any more.
fn ended(child: &mut Child, wanted: &dyn Fn() -> bool) -> io::Result<std::process::ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if !wanted() {
            child.kill()?;
            return child.wait();
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_and_notifications_of_the_client_are_sent_again() {
        let call =
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":1}}}"#;
        let request = |text: &str| request(true, text.as_bytes());
        let expected =
            Request { method: "tools/call".into(), params: r#"{"name":"a"}"#.into(), is_notification: false };
        assert_eq!(request(call), Some(expected));
        assert_eq!(super::request(false, call.as_bytes()), None);
        assert_eq!(request(r#"{"id":1,"result":{}}"#), None);
        assert_eq!(request("noise"), None);
        assert_eq!(request(r#"{"id":1,"method":"--record=/x"}"#), None, "it would be an option of `call`");
        assert_eq!(request(r#"{"id":1,"method":"initialize","params":{}}"#), None, "`call` does the handshake itself");
        assert!(
            request(r#"{"method":"notifications/x"}"#)
                .is_some_and(|sent| sent.is_notification && sent.params.is_empty())
        );
    }

    #[test]
    fn text_to_edit_is_laid_out_and_nothing_else() {
        assert_eq!(
            laid_out(r#"{"a":[1e400],"a":"\u0041"}"#),
            "{\n  \"a\": [\n    1e400\n  ],\n  \"a\": \"\\u0041\"\n}\n"
        );
        assert_eq!(laid_out(""), "\n");
    }
}
