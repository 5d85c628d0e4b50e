//! Tests a client: serves it, starts it, and does what the probe's engine orders.

use super::listening;
use super::probe::{Held, Host};
use super::server::ServerInput;
use super::sessions::{SessionHandlers, SessionTraffic, Sessions};
use super::shared_recorder::SharedRecorder;
use crate::error::{CommandError, ErrorKind, Warn};
use crate::probe::{ClientEnd, ClientFailure, Output, Plan, ProbeReport, ProbeRun, Settings};
use crate::process::stdio_bridge::command_line;
use crate::protocol::{Era, Revision};
use crate::server::{Config, Report, Server};
use crate::transport::listen::gateway::{Backend, Gateway};
use crate::transport::listen::origin_check::Access;
use crate::wire::{Direction, MessageLimit};
use parking_lot::Mutex;
use serde_json::json;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The server's command line, quoted for a shell.
const SERVER: &str = "MCPREEL_SERVER";
/// The server's URL.
const SERVER_URL: &str = "MCPREEL_SERVER_URL";
/// How long a client may take to exit when it is asked to.
const PARTING: Duration = Duration::from_secs(10);
/// How many bytes of the client's last output are kept, in case it never connects.
const TAIL: usize = 2 << 10;

/// What happens on the connections and to the client's process.
enum Event {
    Passed(u32, Direction, Vec<u8>),
    Ready(u32),
    Closed(u32),
    Ended(usize, ClientEnd),
}

/// What the server declares at present.
type Declaring = Arc<Mutex<Config>>;

/// A client to test, and how.
pub(crate) struct ClientProbe {
    /// The client's command, with placeholders for the server.
    pub argv: Vec<OsString>,
    /// What to send.
    pub plan: Plan,
    /// How long to wait.
    pub settings: Settings,
    /// The maximum length of the client's messages.
    pub limit: MessageLimit,
    /// Receives the client's output.
    pub copy_out: fn(&[u8]),
    /// Reports what does not end the test.
    pub warn: Warn,
}

/// Tests a client.
///
/// # Errors
///
/// The client cannot be started, never connects, or never completes a handshake.
pub(crate) async fn probe(client: ClientProbe, recorder: &SharedRecorder) -> Result<ProbeReport, CommandError> {
    let ClientProbe { argv, plan, settings, limit, copy_out, warn } = client;
    let (happens, events) = unbounded_channel();
    let declaring = Declaring::default();
    let (sessions, gateway) = serve(&declaring, limit, &happens, recorder);
    let folder = Folder::new()?;
    let socket = folder.0.join("server");
    let lines = listening::bind(&format!("unix:{}", socket.display()), warn).await?;
    let web = listening::bind("0", warn).await?;
    let server = Address { words: command_line(&socket).map_err(|error| internal(&error))?, url: web.url("/mcp") };
    let mut conducted = Conducted {
        probe_run: ProbeRun::new(plan, settings),
        began: Instant::now(),
        argv: server.put_into(&argv),
        env: vec![(SERVER, server.line()), (SERVER_URL, server.url.clone().into())],
        declaring,
        sessions,
        recorder: recorder.clone(),
        happens,
        events,
        host: None,
        starts: 0,
        said: Arc::default(),
        copy_out,
        warn,
    };
    let serving = async {
        tokio::join!(Arc::clone(&gateway).serve(lines.listener), Arc::clone(&gateway).serve(web.listener));
    };
    let ended = tokio::select! {
        ended = conducted.conduct() => ended,
        () = serving => Ok(()),
    };
    gateway.finish().await;
    ended?;
    conducted.probe_run.probe_report().map_err(|failure| conducted.failed(&failure))
}

/// Each session gets a server of its own.
fn serve(
    declaring: &Declaring,
    limit: MessageLimit,
    happens: &UnboundedSender<Event>,
    recorder: &SharedRecorder,
) -> (Arc<Sessions>, Arc<Gateway>) {
    let (config, receives, sees, recorder) =
        (Arc::clone(declaring), happens.clone(), happens.clone(), recorder.clone());
    let held = Held::default();
    let itself: Arc<OnceLock<Weak<Sessions>>> = Arc::default();
    let back = Arc::clone(&itself);
    let sessions = Arc::new(Sessions::new(SessionHandlers {
        make: Box::new(move |_| Server::new(config.lock().clone())),
        receive: Arc::new(move |stream, fact: &Report| {
            if matches!(fact, Report::Ready) {
                let _ = receives.send(Event::Ready(stream));
            }
        }),
        filter: Arc::new(move |stream, message| {
            let sessions = back.get().and_then(Weak::upgrade);
            held.filter(message, sessions.and_then(|sessions| sessions.arrivals(stream)))
        }),
        perform: Arc::new(|_, _, _| {}),
        observe: Arc::new(move |stream, passing| {
            recorder.traffic(stream, passing);
            let _ = match passing {
                SessionTraffic::Opened => Ok(()),
                SessionTraffic::Message(way, bytes) => sees.send(Event::Passed(stream, way, bytes.to_vec())),
                SessionTraffic::Closed(_) => sees.send(Event::Closed(stream)),
            };
        }),
    }));
    let _ = itself.set(Arc::downgrade(&sessions));
    let gateway = Gateway::new(Arc::clone(&sessions) as Arc<dyn Backend>, Access::default(), limit);
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
    copy_out: fn(&[u8]),
    warn: Warn,
}

impl Conducted {
    async fn conduct(&mut self) -> Result<(), CommandError> {
        let mut orders = self.probe_run.begin(self.began.elapsed());
        loop {
            for order in std::mem::take(&mut orders) {
                match order {
                    Output::Start(besides, proposals) => {
                        *self.declaring.lock() = Config {
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
        let (said, copy_out) = (Arc::clone(&self.said), self.copy_out);
        let says = move |bytes: &[u8]| {
            copy_out(bytes);
            let mut said = said.lock();
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
            (self.warn)("the client does not exit; continuing without it");
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
        let said = self.said.lock();
        let said = String::from_utf8_lossy(&said);
        match said.lines().rev().find(|line| !line.trim().is_empty()) {
            Some(last) => error.hint(format!("last line of its output: {}", last.trim())),
            None => error,
        }
    }
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
