//! `survive`: what an MCP client does with the proposals' messages.

mod table;

use super::serve::recording::SharedRecorder;
use crate::cli::listening;
use crate::cli::printer::{Format, note};
use crate::cli::target::Limits;
use crate::cli::{Context, Outcome, client_session};
use crate::error::{CommandError, ErrorKind};
use crate::probe::{ClientEnd, ClientFailure, Output, Plan, ProbeReport, ProbeRun, Settings};
use crate::process::stdio_bridge::command_line;
use crate::proposals::{REGISTRY, by_name};
use crate::protocol::{Era, Revision};
use crate::record::recording::{Need, OnExisting};
use crate::render::line::visible_text;
use crate::runtime::probe::{Held, Host};
use crate::runtime::server::ServerInput;
use crate::runtime::sessions::{SessionTraffic, Sessions};
use crate::server::{Config, Report, Server};
use crate::transport::listen::gateway::{Backend, Gateway};
use crate::transport::listen::origin_check::Access;
use crate::wire::Direction;
use crate::wire::units::parse_time;
use clap::Args;
use serde_json::json;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The server's command line, quoted for a shell.
const SERVER: &str = "MCPREEL_SERVER";
/// The server's URL.
const SERVER_URL: &str = "MCPREEL_SERVER_URL";
/// How long to wait for the effects of a notification.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(100);
/// How long a client may take to exit when it is asked to.
const PARTING: Duration = Duration::from_secs(10);
/// How many bytes of the client's last output are kept, in case it never connects.
const TAIL: usize = 2 << 10;

/// Test how an MCP client handles the proposals' messages.
///
/// Shows what the client answers, refuses and ignores, and what breaks it.
///
/// Starts the client with a server that declares all five proposals, and sends one after another every message that
/// they let a server send, and two unknown ones. A ping after each message shows whether the client is still alive. A
/// client that broke is started again for the rest. If a client ends by itself, a run without messages shows that it
/// would have ended anyway. Responses to the client's own requests are delayed by 2 seconds, so that it stays
/// connected.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel survive -- python my_client.py       # appends the server's command
  mcpreel survive -- my-client -s {} --quiet   # or replaces {} with it
  mcpreel survive -- sh -c 'my-client --stdio \"$MCPREEL_SERVER\"'
  mcpreel survive -- my-client --url {url}     # Streamable HTTP
  mcpreel survive -- claude -p hi --strict-mcp-config --mcp-config \\
    '{\"mcpServers\":{\"mcpreel\":{json}}}'
  mcpreel survive --only mcpl --format json -- my-client | jq .messages

Placeholders for the server in the client's command: the word {} is replaced with the server's command and arguments; within words, {command} with its \
quoted command line, {json} with an object with command and args as in configurations, {url} with its URL. Without a placeholder, \
the command is appended. The client's environment contains the command line as MCPREEL_SERVER and the URL as MCPREEL_SERVER_URL.

Outcomes: answered (with deviations from the proposal), refused (an error response), ignored (no response to a request), \
taken (the client continued after a notification), objected (an error response to a notification), broke (the \
client exited, closed the connection or stopped answering pings), unclear (it exited, but also does so without messages), \
untried (not sent).

What an SDK does not pass on to its application cannot be seen from outside; the column \"in stock SDKs\" says what is known about that.

Exit codes: 0 nothing broke the client, 1 something did, 4 the client never connected or did not complete a handshake.")]
pub(crate) struct SurviveArgs {
    /// Test only this proposal's declarations and messages (repeatable): conversation, reminder, mcpl, hooks, mcpe.
    #[arg(long, value_name = "PROPOSAL")]
    only: Vec<String>,
    /// How long to wait for a response to a message or a ping.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = parse_time)]
    wait: Duration,
    /// How long the client may take from its start to the end of the handshake.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_time)]
    connect: Duration,
    /// Maximum number of restarts of the client.
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    restarts: usize,
    /// Write the reel to this file, one stream per session (default: a new file in the folder of reels).
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    limits: Limits,
    /// The client's command, with placeholders for the server.
    #[arg(last = true, required = true, value_name = "CLIENT-COMMAND")]
    argv: Vec<OsString>,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &SurviveArgs, context: &Context) -> Result<Outcome, CommandError> {
    if let Some(name) = args.only.iter().find(|name| by_name(name).is_none()) {
        let known: Vec<_> = REGISTRY.iter().map(|proposal| proposal.descriptor().name).collect();
        return Err(CommandError::usage(format!("unknown proposal {name:?}"))
            .hint(format!("the proposals are {}", known.join(", "))));
    }
    let recorder = SharedRecorder::start("survive", args.output.as_deref(), Need::ToBegin, OnExisting::Fail, context)?;
    let probed = client_session::block_on(probe_report(args, &recorder, context));
    recorder.finish(context);
    let probe_report = probed?;
    match args.format {
        Format::Json => context.printer.json(&serde_json::to_value(&probe_report).unwrap_or_default())?,
        Format::Human => {
            context.printer.append(|out| {
                table::write(&probe_report, &context.printer.palette, context.printer.width, out.gathered())
            })?;
        }
    }
    Ok(if probe_report.broken() > 0 { Outcome::Findings } else { Outcome::Clean })
}

/// What happens on the connections and to the client's process.
enum Event {
    Passed(u32, Direction, Vec<u8>),
    Ready(u32),
    Closed(u32),
    Ended(usize, ClientEnd),
}

/// What the server declares at present.
type Declaring = Arc<Mutex<Config>>;

async fn probe_report(
    args: &SurviveArgs,
    recorder: &SharedRecorder,
    context: &Context,
) -> Result<ProbeReport, CommandError> {
    let (happens, events) = unbounded_channel();
    let declaring = Declaring::default();
    let (sessions, gateway) = serve(&declaring, args.limits, &happens, recorder);
    let folder = Folder::new()?;
    let socket = folder.0.join("server");
    let lines = listening::bind(&format!("unix:{}", socket.display()), context).await?;
    let web = listening::bind("0", context).await?;
    let server = Address { words: command_line(&socket).map_err(|error| internal(&error))?, url: web.url("/mcp") };
    let settings = Settings { wait: args.wait, settle: DRAIN_TIMEOUT, connect: args.connect, restarts: args.restarts };
    let mut probe_report = Conducted {
        probe_run: ProbeRun::new(Plan::of(&args.only), settings),
        began: Instant::now(),
        argv: server.put_into(&args.argv),
        env: vec![(SERVER, server.line()), (SERVER_URL, server.url.clone().into())],
        declaring,
        sessions,
        recorder: recorder.clone(),
        happens,
        events,
        host: None,
        starts: 0,
        said: Arc::default(),
        is_verbose: context.verbose > 0,
    };
    let serving = async {
        tokio::join!(Arc::clone(&gateway).serve(lines.listener), Arc::clone(&gateway).serve(web.listener));
    };
    let conducted = tokio::select! {
        conducted = probe_report.conduct() => conducted,
        () = serving => Ok(()),
    };
    gateway.finish().await;
    conducted?;
    probe_report.probe_run.probe_report().map_err(|failure| probe_report.failed(&failure))
}

/// Each session gets a server of its own.
fn serve(
    declaring: &Declaring,
    limits: Limits,
    happens: &UnboundedSender<Event>,
    recorder: &SharedRecorder,
) -> (Arc<Sessions>, Arc<Gateway>) {
    let (config, receives, sees, recorder) =
        (Arc::clone(declaring), happens.clone(), happens.clone(), recorder.clone());
    let held = Held::default();
    let itself: Arc<OnceLock<Weak<Sessions>>> = Arc::default();
    let back = Arc::clone(&itself);
    let sessions = Arc::new(Sessions::new(
        Box::new(move |_| Server::new(config.lock().unwrap_or_else(PoisonError::into_inner).clone())),
        Arc::new(move |stream, report: &Report| {
            if matches!(report, Report::Ready) {
                let _ = receives.send(Event::Ready(stream));
            }
        }),
        Arc::new(move |stream, message| {
            let sessions = back.get().and_then(Weak::upgrade);
            held.filter(message, sessions.and_then(|sessions| sessions.arrivals(stream)))
        }),
        Arc::new(|_, _, _| {}),
        Arc::new(move |stream, passing| {
            recorder.traffic(stream, passing);
            let _ = match passing {
                SessionTraffic::Opened => Ok(()),
                SessionTraffic::Message(way, bytes) => sees.send(Event::Passed(stream, way, bytes.to_vec())),
                SessionTraffic::Closed(_) => sees.send(Event::Closed(stream)),
            };
        }),
    ));
    let _ = itself.set(Arc::downgrade(&sessions));
    let gateway = Gateway::new(Arc::clone(&sessions) as Arc<dyn Backend>, Access::default(), limits.max_message);
    (sessions, gateway)
}

/// A running probe with its resources.
struct Conducted {
    probe_run: ProbeRun,
    began: Instant,
    argv: Vec<OsString>,
    env: Vec<(&'static str, OsString)>,
    declaring: Declaring,
    sessions: Arc<Sessions>,
    recorder: SharedRecorder,
    happens: UnboundedSender<Event>,
    events: UnboundedReceiver<Event>,
    host: Option<Host>,
    starts: usize,
    /// The end of the client's output.
    said: Arc<Mutex<Vec<u8>>>,
    is_verbose: bool,
}

impl Conducted {
    async fn conduct(&mut self) -> Result<(), CommandError> {
        let mut orders = self.probe_run.begin(self.began.elapsed());
        loop {
            for order in std::mem::take(&mut orders) {
                match order {
                    Output::Start(besides, proposals) => {
                        *self.declaring.lock().unwrap_or_else(PoisonError::into_inner) = Config {
                            besides,
                            declare: proposals,
                            revisions: Revision::ALL.into_iter().filter(|it| it.era() == Era::Legacy).collect(),
                            ..Config::default()
                        };
                        self.start()?;
                    }
                    Output::Send(stream, fired) => {
                        let arrivals = self.sessions.arrivals(stream);
                        // If the session is gone, that is reported as an event.
                        let _ = arrivals.map(|arrivals| arrivals.send(ServerInput::Order(vec![fired])));
                    }
                    Output::Finish => self.finish().await,
                    Output::Over => return Ok(()),
                }
            }
            let due = self.probe_run.next_timeout().unwrap_or(Duration::MAX);
            let rest = due.saturating_sub(self.began.elapsed());
            let event = tokio::time::timeout(rest, self.events.recv()).await;
            let now = self.began.elapsed();
            orders = match event {
                Ok(Some(Event::Passed(stream, way, bytes))) => self.probe_run.pass(now, stream, way, &bytes),
                Ok(Some(Event::Ready(stream))) => self.probe_run.ready(now, stream),
                Ok(Some(Event::Closed(stream))) => self.probe_run.closed(now, stream),
                Ok(Some(Event::Ended(start, end))) if start == self.starts => {
                    self.host = None;
                    self.probe_run.ended(now, end)
                }
                Ok(Some(Event::Ended(..))) => Vec::new(),
                Ok(None) | Err(_) => self.probe_run.handle_timeout(now),
            };
        }
    }

    fn start(&mut self) -> Result<(), CommandError> {
        self.starts += 1;
        let (start, happens, recorder) = (self.starts, self.happens.clone(), self.recorder.clone());
        let (said, is_verbose) = (Arc::clone(&self.said), self.is_verbose);
        let says = move |bytes: &[u8]| {
            if is_verbose {
                copy_out(bytes);
            }
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            said.extend_from_slice(bytes);
            let gone = said.len().saturating_sub(TAIL);
            said.drain(..gone);
        };
        let ended = move |end: ClientEnd| {
            recorder.note(&json!({"client": {"start": start, "end": end}}));
            let _ = happens.send(Event::Ended(start, end));
        };
        self.recorder.note(&json!({"client": {"start": start}}));
        let host = Host::start(&self.argv, &self.env, says, ended).map_err(|error| internal(&error))?;
        self.host = Some(host);
        Ok(())
    }

    /// Ends the client. What happens meanwhile is ignored.
    async fn finish(&mut self) {
        let Some(host) = self.host.take() else { return };
        host.stop();
        let parted = tokio::time::timeout(PARTING, async {
            while let Some(event) = self.events.recv().await {
                if matches!(event, Event::Ended(start, _) if start == self.starts) {
                    return;
                }
            }
        });
        if parted.await.is_err() {
            note("the client does not exit; continuing without it");
        }
    }

    fn failed(&self, failure: &ClientFailure) -> CommandError {
        let reported = |end: &Option<ClientEnd>| {
            end.as_ref().map_or_else(|| "it is still running".to_owned(), |end| format!("it {end}"))
        };
        let error = |text: String| CommandError::new(ErrorKind::Peer, text);
        let error = match failure {
            ClientFailure::NeverCame(Some(ClientEnd { unstarted: Some(why), .. })) => {
                return error(format!("cannot start the client: {why}"))
                    .hint("put the client's command after --, for example: mcpreel survive -- python client.py {}");
            }
            ClientFailure::NeverCame(end) => error(format!(
                "the client never connected to the server: {}",
                reported(end)
            ))
            .hint("the server's command is appended to the client's, or replaces {}, {command}, {json} or {url} in it")
            .hint("the client's environment also contains it, as MCPREEL_SERVER and MCPREEL_SERVER_URL")
            .hint("-v shows the client's output; --connect allows more time"),
            ClientFailure::NoHandshake(end) => error(format!(
                "the client began a handshake but did not complete it, whatever the server declared: {}",
                reported(end)
            ))
            .hint("`mcpreel show` shows the messages so far; -v shows the client's output"),
            ClientFailure::OnlyModern => {
                error("the client supports only revision 2026-07-28, which cannot carry the five proposals".to_owned())
                    .hint("configure it for a revision with a handshake, 2025-11-25 or older")
            }
        };
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let said = String::from_utf8_lossy(&said);
        match said.lines().rev().find(|line| !line.trim().is_empty()) {
            Some(last) => error.hint(format!("last line of its output: {}", last.trim())),
            None => error,
        }
    }
}

/// Copies the client's output to stderr, line by line.
fn copy_out(bytes: &[u8]) {
    let shown: Vec<String> = String::from_utf8_lossy(bytes).split('\n').map(visible_text).collect();
    let _ = write!(std::io::stderr(), "{}", shown.join("\n"));
}

fn internal(error: &std::io::Error) -> CommandError {
    CommandError::new(ErrorKind::Internal, format!("cannot test the client: {error}"))
}

/// How the client can reach the server.
struct Address {
    words: Vec<OsString>,
    url: String,
}

impl Address {
    /// The command line, quoted for a shell.
    fn line(&self) -> OsString {
        let quoted = self.words.iter().filter_map(|word| shlex::bytes::try_quote(word.as_bytes()).ok());
        let words: Vec<_> = quoted.map(std::borrow::Cow::into_owned).collect();
        OsString::from_vec(words.join(&b' '))
    }

    /// The server's entry in a client's configuration.
    fn json(&self) -> String {
        let words: Vec<_> = self.words.iter().map(|word| word.to_string_lossy()).collect();
        json!({"command": words.first(), "args": words.get(1..)}).to_string()
    }

    /// The client's command with the server in place of the placeholders, or appended.
    fn put_into(&self, argv: &[OsString]) -> Vec<OsString> {
        let (line, json) = (self.line(), self.json());
        let values = [("{command}", line.as_bytes()), ("{json}", json.as_bytes()), ("{url}", self.url.as_bytes())];
        let mut placed = false;
        let mut words = Vec::new();
        for word in argv {
            if word == "{}" {
                placed = true;
                words.extend(self.words.iter().cloned());
                continue;
            }
            let mut text = word.as_bytes().to_vec();
            for (name, value) in values {
                let replaced = replace(&text, name.as_bytes(), value);
                placed |= replaced != text;
                text = replaced;
            }
            words.push(OsString::from_vec(text));
        }
        if !placed {
            words.extend(self.words.iter().cloned());
        }
        words
    }
}

fn replace(text: &[u8], name: &[u8], value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.windows(name.len()).position(|found| found == name) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(value);
        rest = &rest[at + name.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// A private folder, removed when this is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, CommandError> {
        let name = format!("mcpreel-survive-{}-{:08x}", std::process::id(), fastrand::u32(..));
        // The path of a socket must be short.
        let path = Path::new("/tmp").join(OsStr::new(&name));
        let made = std::fs::DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|error| CommandError::writing(&path, &error)).map(|()| Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(argv: &[&str]) -> Vec<String> {
        let server =
            Address { words: ["/bin/it", "__plug", "/a b"].map(OsString::from).into(), url: "http://h/mcp".into() };
        let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
        server.put_into(&argv).into_iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_server_stands_where_the_client_takes_it() {
        assert_eq!(placed(&["c", "x"]), ["c", "x", "/bin/it", "__plug", "/a b"]);
        assert_eq!(placed(&["c", "{}", "-q"]), ["c", "/bin/it", "__plug", "/a b", "-q"]);
        assert_eq!(placed(&["c", "--s={command}"]), ["c", "--s=/bin/it __plug '/a b'"]);
        assert_eq!(placed(&["c", "{url}", "{a{}"]), ["c", "http://h/mcp", "{a{}"]);
        assert_eq!(placed(&["c", "{\"m\":{json}}"])[1], r#"{"m":{"command":"/bin/it","args":["__plug","/a b"]}}"#);
    }
}
