//! Runs the overlay engine between a server's link and its client: messages in both directions, timers, changed files.

use super::sleep_for;
use super::watch::{Folder, Options, PreparedWatchers, WarningCallback, Watchers};
use crate::clock::{self, Reading};
use crate::overlay::{Output, Overlay};
use crate::trace::TransportEvent;
use crate::transport::budget::Weight;
use crate::transport::link::{Incoming, Link, Served, has_space};
use crate::wire::Direction;
use serde_json::Value;
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use url::Url;

/// How long files must be unchanged before changes are reported.
const QUIET: Duration = Duration::from_millis(200);

/// Something to report about a session, in order.
#[derive(Clone, Debug)]
pub(crate) enum OverlayNotice<'a> {
    /// A message that is forwarded, or consumed by the overlay.
    Message {
        /// The direction.
        direction: Direction,
        /// Whether the overlay created or changed it.
        is_injected: bool,
        /// Its bytes.
        message: &'a [u8],
    },
    /// A message of the server that was not forwarded as it was: `changed` (the changed one follows) or `kept`.
    Withheld(TransportEvent),
    /// Bytes of the server's standard error.
    Stderr(&'a [u8]),
    /// A sentence that the user should see.
    Notice(&'a str),
    /// Structured information that a user may want to see.
    Report(&'a Value),
}

/// Called with each notice.
pub(crate) type OverlayNoticeCallback = Box<dyn Fn(OverlayNotice<'_>) + Send>;

/// A changed file: its path relative to the current folder, and its absolute path.
pub(crate) type Changed = (String, String);

/// A link to the server with its overlay. It ends with the server's link, and ends that when it is closed.
pub(crate) fn laid_over(
    server: Link,
    overlay: Overlay,
    changes: mpsc::UnboundedReceiver<Changed>,
    receive: OverlayNoticeCallback,
) -> Link {
    let (link, client) = Link::served();
    tokio::spawn(
        Between { overlay, receive, to_server: VecDeque::new(), to_client: VecDeque::new() }
            .run(server, client, changes),
    );
    link
}

struct Between {
    overlay: Overlay,
    receive: OverlayNoticeCallback,
    to_server: VecDeque<Vec<u8>>,
    to_client: VecDeque<Incoming>,
}

impl Between {
    async fn run(mut self, mut server: Link, client: Served, mut changes: mpsc::UnboundedReceiver<Changed>) {
        let Served { mut outgoing, incoming } = client;
        let began = Instant::now();
        let mut is_client_gone = false;
        loop {
            let wait = self.now(began).wait(self.overlay.next_timeout(), self.overlay.follows_wall_clock());
            let outputs = tokio::select! {
                message = outgoing.recv(), if !is_client_gone && has_space(&self.to_server) => match message {
                    Some(message) => {
                        let now = self.now(began).since;
                        self.overlay.from_client(now, message)
                    }
                    None => {
                        is_client_gone = true;
                        Vec::new()
                    }
                },
                proposal = incoming.reserve(self.to_client.front().map_or(0, Weight::weight)), if !self.to_client.is_empty() => {
                    if let (Ok(proposal), Some(message)) = (proposal, self.to_client.pop_front()) {
                        proposal.send(message);
                    }
                    Vec::new()
                }
                turned = server.turn(&mut self.to_server), if has_space(&self.to_client) => match turned {
                    Some(Incoming::Message(message)) => {
                        let now = self.now(began).since;
                        self.overlay.from_server(now, message)
                    }
                    Some(Incoming::Undelivered(failed)) => {
                        let now = self.now(began).since;
                        let ours = self.overlay.undelivered(now, &failed.id, &failed.reason);
                        ours.unwrap_or_else(|| {
                            self.to_client.push_back(Incoming::Undelivered(failed));
                            Vec::new()
                        })
                    }
                    Some(Incoming::Stderr(bytes)) => {
                        (self.receive)(OverlayNotice::Stderr(&bytes));
                        Vec::new()
                    }
                    Some(end @ (Incoming::Failed(_) | Incoming::Closed)) => {
                        self.to_client.push_back(end);
                        break;
                    }
                    None => Vec::new(),
                },
                Some((path, absolute)) = changes.recv() => {
                    let now = self.now(began).since;
                    self.overlay.file_changed(now, &path, &absolute)
                }
                () = sleep_for(wait) => {
                    let now = self.now(began).since;
                    self.overlay.handle_timeout(now)
                }
            };
            outputs.into_iter().for_each(|output| self.carry(output));
            if is_client_gone && self.to_server.is_empty() {
                server.close();
            }
        }
        for message in self.to_client {
            if incoming.send(message).await.is_err() {
                return;
            }
        }
    }

    /// The time of this moment, which the overlay gets, too.
    fn now(&mut self, began: Instant) -> Reading {
        let now = Reading { since: began.elapsed(), wall_ns: clock::wall_ns() };
        self.overlay.set_wall_clock(now.since, now.wall_ns);
        now
    }

    fn carry(&mut self, output: Output) {
        let reported = |direction, is_injected, message| {
            (self.receive)(OverlayNotice::Message { direction, is_injected, message });
        };
        let (direction, message) = match output {
            Output::Forward(direction, message) => {
                reported(direction, false, &message);
                (direction, message)
            }
            Output::Consume(direction, message) => return reported(direction, false, &message),
            Output::Send(direction, message) => {
                reported(direction, true, &message);
                (direction, message)
            }
            Output::Replace(original, message) => {
                (self.receive)(OverlayNotice::Withheld(TransportEvent::Changed { original: lossy(original) }));
                reported(Direction::ServerToClient, true, &message);
                (Direction::ServerToClient, message)
            }
            Output::Drop(message) => {
                return (self.receive)(OverlayNotice::Withheld(TransportEvent::Kept { original: lossy(message) }));
            }
            Output::Notice(text) => return (self.receive)(OverlayNotice::Notice(&text)),
            Output::Report(report) => return (self.receive)(OverlayNotice::Report(&report)),
        };
        match direction {
            Direction::ClientToServer => self.to_server.push_back(message),
            Direction::ServerToClient => self.to_client.push_back(Incoming::Message(message)),
        }
    }
}

/// Watches the folders in which an overlay waits for changed files, except for ignored ones.
///
/// # Errors
///
/// A folder cannot be watched.
pub(crate) fn watch(
    overlay: &Overlay,
    changed: mpsc::UnboundedSender<Changed>,
    complain: WarningCallback,
) -> io::Result<Option<Watchers>> {
    let folders: Result<Vec<Folder>, _> =
        overlay.folders().into_iter().map(|folder| Folder::open(Path::new(folder), &[])).collect();
    let folders = folders.map_err(io::Error::other)?;
    if folders.is_empty() {
        return Ok(None);
    }
    let here = std::env::current_dir().and_then(|here| here.canonicalize())?;
    let report = Arc::new(move |fired: Vec<crate::server::Fired>| {
        for fired in fired.iter().filter(|fired| fired.kind() == "changed") {
            let _ = paths(fired, &here).map(|paths| changed.send(paths));
        }
    });
    let options = Options { folders, commands: Vec::new(), quiet: QUIET, every: None, limit: Duration::MAX };
    PreparedWatchers::new(options).start(report, complain).map(Some)
}

/// The file that a notice says has changed.
fn paths(fired: &crate::server::Fired, here: &Path) -> Option<Changed> {
    let reported = serde_json::to_value(fired).ok()?;
    let path: PathBuf = Url::parse(reported["uri"].as_str()?).ok()?.to_file_path().ok()?;
    let below = path.strip_prefix(here).unwrap_or(&path);
    Some((below.to_string_lossy().into_owned(), path.to_string_lossy().into_owned()))
}
/// The text of a message; bytes that are no text are replaced.
fn lossy(message: Vec<u8>) -> String {
    String::from_utf8(message).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
