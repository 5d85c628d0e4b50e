//! What `call` and `fire` share: client options, opening the connection, reporting what happens, the reel.

use super::printer::note;
use super::target::{Target, TargetKind, refuse};
use super::{Context, own_line};
use crate::error::{CommandError, ErrorKind, OF_STDERR};
use crate::files::reels;
use crate::host::client::{ClientConfig, ClientEngine, EraChoice, FailureReason, Handshake, Output, Root};
use crate::protocol::{Era, Revision};
use crate::record::recording::{Need, Plan, Recording};
use crate::render::host::client_output;
use crate::render::line;
use crate::runtime::client::{InsteadOfResponse, ServerText};
use crate::runtime::peer::Peer;
use crate::runtime::{Connection, Failure};
use crate::transport::Link;
use crate::wire::units::parse_time;
use clap::{Args, ValueEnum};
use serde_json::Value;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a program or a log does not need to hear about a server that is still starting.
const QUIET_FOR: Duration = Duration::from_secs(5);
/// The response timeout if the user gives none.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// The options of a client.
#[derive(Clone, Debug, Args)]
pub(super) struct ClientOptions {
    /// The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire`
    /// sends nothing and exits with 1.
    #[arg(long, value_enum, default_value_t = EraArg::Auto)]
    era: EraArg,
    /// The protocol version to request. Any value is sent as given.
    #[arg(long, value_name = "VERSION")]
    protocol_version: Option<String>,
    /// Response timeout (default: 30s).
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    timeout: Option<Duration>,
    /// A root to offer to the server: a folder or a URI (repeatable). mcpreel waits up to 500 ms for the server to ask for
    /// the roots before it goes on.
    #[arg(long = "root", value_name = "PATH")]
    roots: Vec<String>,
    /// Record the session to this reel.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    #[command(flatten)]
    overwriting: Overwriting,
}

/// Whether a reel may replace a file: an option of all commands that record a session.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct Overwriting {
    /// Overwrite the reel if the file exists.
    #[arg(long)]
    pub(super) force: bool,
}

/// The era to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EraArg {
    /// Whichever the server speaks.
    Auto,
    /// Either, but `initialize` first.
    #[value(skip)]
    Handshake,
    /// With `initialize`: revisions up to 2025-11-25.
    Legacy,
    /// With `server/discover`: revision 2026-07-28.
    Modern,
}

impl ClientOptions {
    /// The options of a client that sends recorded messages as they are, recorded to this reel.
    pub(super) fn replaying(record: PathBuf, timeout: Option<Duration>) -> Self {
        Self { timeout, record: Some(record), ..Self::with(EraArg::Auto) }
    }

    /// These options, but the reel may overwrite a file.
    pub(super) fn overwriting(self, force: bool) -> Self {
        Self { overwriting: Overwriting { force }, ..self }
    }

    /// Whether --force was given: the reel may overwrite a file, and some messages are sent although nobody asked for them.
    pub(super) fn is_forced(&self) -> bool {
        self.overwriting.force
    }

    /// Whether the session is recorded to a reel that the user named.
    pub(super) fn records(&self) -> bool {
        self.record.is_some()
    }

    /// The options of a client that asks for others.
    pub(super) fn forwarding() -> Self {
        Self::with(EraArg::Handshake)
    }

    fn with(era: EraArg) -> Self {
        Self {
            era,
            protocol_version: None,
            timeout: None,
            roots: Vec::new(),
            record: None,
            overwriting: Overwriting::default(),
        }
    }

    /// The engine's settings. `capabilities` is declared in addition to what the options declare.
    pub(super) fn config(&self, capabilities: Value) -> ClientConfig {
        let mut config = ClientConfig::new("mcpreel", env!("CARGO_PKG_VERSION"));
        config.era = match self.era {
            EraArg::Auto => EraChoice::Auto,
            EraArg::Handshake => EraChoice::Handshake,
            EraArg::Legacy => EraChoice::Legacy,
            EraArg::Modern => EraChoice::Modern,
        };
        config.protocol_version = self.protocol_version.clone();
        config.request_timeout = self.timeout();
        config.quiet_for = if std::io::stderr().is_terminal() { Duration::ZERO } else { QUIET_FOR };
        config.roots = self.roots.iter().map(|root| Root { uri: root_uri(root), name: None }).collect();
        config.capabilities = capabilities;
        config
    }
}

impl ClientOptions {
    /// What a client with these options and capabilities asked for in this era: the member `client` of a lock file.
    pub(super) fn asked(&self, era: Era, capabilities: &Value) -> Value {
        let newest = if era == Era::Legacy { Revision::NEWEST_LEGACY } else { Revision::NEWEST };
        let revision = self.protocol_version.as_deref().unwrap_or(newest.as_str());
        serde_json::json!({"revision": revision, "capabilities": capabilities})
    }

    /// Starts a recording, whether or not the user asked for one: in the named reel, or in the folder of reels.
    ///
    /// # Errors
    ///
    /// The reel cannot be created and the user requires it, or it exists already.
    pub(super) fn recording(&self, name: &str, need: Need) -> Result<Recording, CommandError> {
        let need = if self.record.is_some() { Need::ToBegin } else { need };
        Recording::start(&Plan { force: self.is_forced(), ..Plan::of(self.record.as_deref(), name, need) }, note)
    }

    /// Starts a recording if the user named a reel.
    fn recording_if_named(&self) -> Result<Option<Recording>, CommandError> {
        self.record.as_ref().map(|_| self.recording("session", Need::ToBegin)).transpose()
    }

    /// The path of the reel of [`Self::recording`].
    ///
    /// # Errors
    ///
    /// There is no folder for reels.
    pub(super) fn reel(&self, name: &str) -> Result<PathBuf, CommandError> {
        match &self.record {
            Some(path) => Ok(path.clone()),
            None => reels::new_path(name),
        }
    }

    /// These options, but trying `initialize` first: the proposals need the handshake.
    pub(super) fn with_handshake(&self) -> Self {
        let era = if self.era == EraArg::Auto { EraArg::Handshake } else { self.era };
        Self { era, ..self.clone() }
    }

    /// Whether the user wants a reel.
    pub(super) fn is_recording(&self) -> bool {
        self.record.is_some()
    }

    /// The response timeout.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }

    /// The response timeout, if the user gave one.
    pub(super) fn timeout_given(&self) -> Option<Duration> {
        self.timeout
    }

    /// Refuses options that have no effect in a live session, which was negotiated and is recorded by others.
    ///
    /// # Errors
    ///
    /// Such an option was given.
    pub(super) fn check_joined(&self) -> Result<(), CommandError> {
        let record = self.record.as_ref().map(|_| "--record");
        refuse(record, "--session", "the session is already recorded in its own reel")?;
        self.check_agreed()
    }

    /// Refuses options that have no effect in a live session, because its own client and server negotiated them.
    ///
    /// # Errors
    ///
    /// Such an option was given.
    pub(super) fn check_agreed(&self) -> Result<(), CommandError> {
        let given = [
            ("--era", self.era != EraArg::Auto, "the session's client and server have already negotiated the era"),
            (
                "--protocol-version",
                self.protocol_version.is_some(),
                "the session's client and server have already negotiated the version",
            ),
            ("--root", !self.roots.is_empty(), "the session's own client answers requests for roots"),
        ];
        given.into_iter().try_for_each(|(option, is_given, why)| refuse(is_given.then_some(option), "--session", why))
    }
}

fn root_uri(root: &str) -> String {
    if root.contains("://") {
        return root.to_owned();
    }
    let path = std::path::absolute(root).unwrap_or_else(|_| PathBuf::from(root));
    format!("file://{}", path.display())
}

/// Starts the server or connects to it. Returns the link and the peer.
///
/// # Errors
///
/// The options contradict each other, or the server cannot be reached.
pub(super) async fn start(
    target: &Target,
    options: &ClientOptions,
    context: &Context,
) -> Result<(Link, Peer), CommandError> {
    if options.record.as_deref() == Some(Path::new("-")) {
        let refused = CommandError::usage("the result goes to stdout, so the reel cannot");
        return Err(refused.hint("use another file descriptor: --record /dev/fd/3 3>session.reel"));
    }
    match target.resolve(context)? {
        TargetKind::Command(command) => {
            command.prepare().map_err(CommandError::spawning)?;
            Peer::spawn(&command, options.recording_if_named()?)
        }
        TargetKind::Remote(remote) => Peer::attach(&remote, options.recording_if_named()?, context.notices()).await,
        TargetKind::Session(name) => {
            options.check_joined()?;
            Peer::join(&name)
        }
    }
}

/// Opens the connection and waits for the handshake. With `-v`, its steps are reported.
///
/// # Errors
///
/// The connection failed, the handshake was refused, or it took too long.
pub(super) async fn open(
    peer: &Peer,
    link: Link,
    options: &ClientOptions,
    capabilities: Value,
    context: &Context,
) -> Result<(Connection, Handshake), CommandError> {
    let mut connection = Connection::open(peer.config(options.config(capabilities)), link, |_| {}).await;
    match connection.ready(|output| report(output, context)).await {
        Ok(handshake) => {
            report_handshake(&handshake, options, context);
            if !options.roots.is_empty() && handshake.era == Era::Legacy {
                await_roots(&mut connection, context).await;
            }
            Ok((connection, handshake))
        }
        Err(failure) => Err(failed(failure, &connection.runner.said)),
    }
}

/// How long to wait after the handshake for a server that asks for the roots.
const ROOTS_ASKED_WITHIN: Duration = Duration::from_millis(500);

/// Waits for the server's request for the roots: without them, it might answer the first request differently. Some
/// servers ask later, or never.
async fn await_roots(connection: &mut Connection, context: &Context) {
    let until = connection.runner.now() + ROOTS_ASKED_WITHIN;
    while let Some(output) = connection.runner.next(Some(until)).await {
        report(&output, context);
        if matches!(&output, Output::ServerRequest { method, .. } if method == "roots/list") {
            return;
        }
    }
}

/// Returns an error if the server is in the modern era, which cannot carry the proposals. `kind` decides the
/// exit code.
///
/// # Errors
///
/// The server is in the modern era.
pub(super) fn need_carrier(era: Era, server: &str, kind: ErrorKind) -> Result<(), CommandError> {
    if era == Era::Legacy {
        return Ok(());
    }
    let reported =
        format!("{server} speaks revision {}, which cannot carry the five proposals", Revision::NEWEST.as_str());
    Err(CommandError::new(kind, reported)
        .hint("they need a server that accepts `initialize` (revisions up to 2025-11-25)"))
}

/// Reports the handshake with `-v`, and in any case if the version is not the one that the user requested.
pub(super) fn report_handshake(handshake: &Handshake, options: &ClientOptions, context: &Context) {
    if let Some(wanted) = options.protocol_version.as_ref().filter(|wanted| **wanted != handshake.version_text) {
        let agreed = &handshake.version_text;
        context.printer.note(&format!("requested revision {wanted}, but the server speaks {agreed}"));
    }
    if context.verbose == 0 {
        if options.era == EraArg::Modern {
            handshake.notes.iter().for_each(|note| context.printer.note(note));
        }
        return;
    }
    let name = handshake.server_info["name"].as_str().unwrap_or("an unnamed server");
    let (era, version) = (handshake.era.name(), &handshake.version_text);
    context.printer.note(&format!("connected to {name}, {era} era, revision {version}"));
    handshake.notes.iter().for_each(|note| context.printer.note(note));
}

/// With `-v`, reports what else happens: the server's requests, notifications and invalid output. Always reports why the
/// connection takes long.
pub(super) fn report(output: &Output, context: &Context) {
    if let Output::Waiting { at_most, .. } = output {
        let how_long = format!("the server has not answered yet; waiting for it up to {at_most:?}");
        context.printer.note(&format!("{how_long} (with --era legacy, mcpreel sends initialize at once)"));
    } else if context.verbose > 0 {
        client_output(output, "the server").iter().for_each(|text| context.printer.note(text));
    }
}

/// What a server sent in place of a response.
pub(super) fn in_place_of_response(instead: &InsteadOfResponse) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let described = |id: &[u8]| match id.first() {
        Some(b'"') => format!("{} (text)", text(id)),
        Some(b'-' | b'0'..=b'9') => format!("{} (number)", text(id)),
        _ => text(id),
    };
    let stray = instead.stray.as_ref().map(|id| {
        let (found, wanted) = (described(id), described(&instead.id));
        match instead.id.is_empty() {
            true => format!("the server answered id {found}, but no request of the handshake has this id"),
            false => format!("the server answered id {found}, but the request's id is {wanted}"),
        }
    });
    let noise =
        instead.noise.as_ref().map(|line| format!("a line of the server is not a JSON-RPC message: {}", text(line)));
    stray.into_iter().chain(noise).collect()
}

/// At most this many of the server's last lines on stderr are shown with a failure: an interpreter's stack trace
/// fits.
const LINES_REPORTED: usize = 12;

/// The last lines that the server wrote to stderr.
fn last_lines(text: &ServerText) -> Vec<String> {
    let said = String::from_utf8_lossy(&text.stderr);
    let last: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &last[last.len().saturating_sub(LINES_REPORTED)..];
    last.iter().map(|said| format!("{OF_STDERR}{}", said.chars().map(line::visible).collect::<String>())).collect()
}

/// Reports the first line of the server's stdout that is no message; with `-v`, [`report`] has reported all of them.
pub(super) fn report_noise(engine: &ClientEngine, context: &Context) {
    let noise = engine.first_noise().filter(|_| context.verbose == 0);
    noise.and_then(|noise| client_output(noise, "the server")).iter().for_each(|text| context.printer.note(text));
}

/// Reports what the server last wrote to stderr, with `-v`. Without it, only says that there is something, and only after a
/// failure.
pub(super) fn report_stderr(text: &ServerText, has_failed: bool, context: &Context) {
    let lines = last_lines(text);
    if context.verbose > 0 {
        lines.iter().for_each(|line| context.printer.note(line));
    } else if has_failed && !lines.is_empty() {
        context.printer.note("the server wrote to stderr; -v shows the last lines");
    }
}

/// A failure, with the text that the server printed instead of JSON, and with what it last wrote to stderr.
pub(super) fn failed(failure: Failure, text: &ServerText) -> CommandError {
    let kind = match failure {
        Failure::TimedOut { .. } => ErrorKind::Timeout,
        Failure::Failed(_) => ErrorKind::Peer,
    };
    let mut error = CommandError::new(kind, failure.to_string());
    if let Failure::Failed(FailureReason::Closed(when)) = failure {
        error.closed = Some(when);
    }
    if let Some(instead) = &text.instead {
        error = in_place_of_response(instead).into_iter().fold(error, CommandError::hint);
    } else if let Some(printed) = &text.printed {
        let printed = String::from_utf8_lossy(printed);
        error = error.hint(format!("the program printed text instead of JSON-RPC messages; its first line: {printed}"));
        error = error
            .hint("is it an MCP server? Some need an argument for stdio, and none may print anything else to stdout");
    }
    let is_ended = error.closed.is_some() || text.printed.is_some() && text.instead.is_none();
    if let Some(option) = is_ended.then(own_line::misplaced_option).flatten() {
        error = error.hint(format!("the server got {option}; mcpreel's own options stand before the `--`"));
    }
    error = last_lines(text).into_iter().fold(error, CommandError::hint);
    if kind == ErrorKind::Timeout {
        error = error.hint("allow more time with --timeout");
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_completed_the_handshake_is_not_doubted() {
        let timed_out = || Failure::TimedOut { method: "tools/list".to_owned(), after: DEFAULT_TIMEOUT };
        let instead =
            InsteadOfResponse { id: b"3".to_vec(), noise: Some(b"{ready".to_vec()), stray: Some(b"\"3\"".to_vec()) };
        let text = ServerText { printed: Some(b"hello".to_vec()), instead: Some(instead), ..ServerText::default() };
        let expected = [
            "the server answered id \"3\" (text), but the request's id is 3 (number)",
            "a line of the server is not a JSON-RPC message: {ready",
            "allow more time with --timeout",
        ];
        assert_eq!(failed(timed_out(), &text).hints, expected);
        let instead = InsteadOfResponse { stray: Some(b"\"1\"".to_vec()), ..InsteadOfResponse::default() };
        let during = failed(timed_out(), &ServerText { instead: Some(instead), ..text.clone() });
        assert_eq!(during.hints[0], "the server answered id \"1\" (text), but no request of the handshake has this id");
        let before = failed(timed_out(), &ServerText { instead: None, ..text });
        assert!(before.hints.iter().any(|hint| hint.starts_with("is it an MCP server?")), "{:?}", before.hints);
    }
}
