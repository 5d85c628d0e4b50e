//! The server of a command: a process, a remote server or a live session, with its recording.

use super::client::{Closing, Engine, Runner};
use super::server_link::{Advice, RemoteLink, attach, copy_to};
use crate::error::{CommandError, ErrorKind, Notices};
use crate::host::client::{ClientConfig, Joined};
use crate::process::child::ServerCommand;
use crate::record::http::Exchanges;
use crate::record::queue::end_text;
use crate::record::recording::Recording;
use crate::record::stdio::described;
use crate::sessions::live::{self, Live};
use crate::trace::EventKind;
use crate::transport::local::stdio::{self, Grace, StdioServer};
use crate::transport::{Link, Remote};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A server that was started or connected to for a command, and its recorder.
#[derive(Default)]
pub(crate) struct Peer {
    /// The process, if one was started.
    server: Option<StdioServer>,
    recording: Option<Recording>,
    /// Records HTTP exchanges.
    exchanges: Option<Arc<Exchanges>>,
    /// The transport's advice about its failures.
    advice: Advice,
    /// The live session that was joined, and the state it was joined with.
    joined: Option<(Live, Joined)>,
}

impl Peer {
    /// Starts a server.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    pub(crate) fn spawn(command: &ServerCommand, recording: Option<Recording>) -> Result<(Link, Self), CommandError> {
        let recorder = recording.as_ref().map(Recording::recorder);
        let (link, server) = stdio::spawn(command, recorder.map(copy_to)).map_err(CommandError::spawning)?;
        if let Some(recorder) = recorder {
            recorder.note(EventKind::StreamOpened, &described(command));
        }
        Ok((link, Self { server: Some(server), recording, ..Self::default() }))
    }

    /// Connects to a server.
    ///
    /// # Errors
    ///
    /// It cannot be reached.
    pub(crate) async fn attach(
        remote: &Remote,
        recording: Option<Recording>,
        notices: Notices,
    ) -> Result<(Link, Self), CommandError> {
        let recorder = recording.as_ref().map(Recording::recorder);
        let RemoteLink { link, exchanges, advice } = attach(remote, recorder, None, notices).await?;
        Ok((link, Self { recording, exchanges, advice, ..Self::default() }))
    }

    /// Joins a live session in addition to its client.
    ///
    /// # Errors
    ///
    /// There is no such session, or it cannot be joined.
    pub(crate) fn join(name: &str) -> Result<(Link, Self), CommandError> {
        let live = live::find(name)?;
        let joined = live::join(&live)?;
        let link = live::link(&live)?;
        Ok((link, Self { joined: Some((live, joined)), ..Self::default() }))
    }

    /// The settings of a client of this peer.
    pub(crate) fn config(&self, config: ClientConfig) -> ClientConfig {
        ClientConfig { join: self.joined.as_ref().map(|(_, joined)| joined.clone()), ..config }
    }

    /// Whether the server was started for this command, and ends with it.
    pub(crate) fn is_started(&self) -> bool {
        self.server.is_some()
    }

    /// Whether this is a live session that was joined.
    pub(crate) fn is_joined(&self) -> bool {
        self.joined.is_some()
    }

    /// The live session that was joined.
    pub(crate) fn session(&self) -> Option<&Live> {
        self.joined.as_ref().map(|(live, _)| live)
    }

    /// Lets the server end, finishes the reel, and completes the error with how the server ended, if it did so by
    /// itself.
    pub(crate) async fn end_after(self, mut error: CommandError, notices: Notices) -> CommandError {
        let since = Instant::now();
        let advice = Arc::clone(&self.advice);
        let grace = if error.kind == ErrorKind::Timeout { Grace::SHORT } else { Grace::USUAL };
        let status = self.end_within(grace, notices).await.0.filter(|_| since.elapsed() < BY_ITSELF);
        let when = ["the server closed the connection", "the server ended"]
            .into_iter()
            .find_map(|beginning| error.message.strip_prefix(beginning));
        if let (Some(status), Some(when)) = (status, when) {
            error.message = format!("the server ended{}{when}", end_text(status));
        }
        let mut advice = std::mem::take(&mut *advice.lock());
        advice.dedup();
        error.hints.extend(advice);
        error
    }

    /// Lets the server end and finishes the reel.
    ///
    /// # Errors
    /// Traffic is missing in the reel.
    pub(crate) async fn end(self, notices: Notices) -> Result<Option<ExitStatus>, CommandError> {
        let (status, recorded) = self.end_within(Grace::USUAL, notices).await;
        recorded.map(|()| status)
    }

    /// Closes the connection after everything was answered, lets the server end, and finishes the reel. Nobody waits for
    /// anything else of a server that was started: after [`AFTER_ANSWER`], it gets SIGTERM, and after as much again
    /// SIGKILL. `closed` gets how the connection ended, before the server has.
    ///
    /// # Errors
    /// Traffic is missing in the reel.
    pub(crate) async fn end_answered<E: Engine>(
        self,
        runner: Runner<E>,
        notices: Notices,
        closed: impl FnOnce(&Closing),
    ) -> Result<(), CommandError> {
        let began = Instant::now();
        let closing = match self.is_started() {
            true => runner.close_within(AFTER_ANSWER).await,
            false => runner.close().await,
        };
        closed(&closing);
        let own = AFTER_ANSWER.saturating_sub(began.elapsed());
        self.end_within(Grace { own, after_signal: AFTER_ANSWER }, notices).await.1
    }

    async fn end_within(self, grace: Grace, notices: Notices) -> (Option<ExitStatus>, Result<(), CommandError>) {
        let (status, was_signalled) = match self.server {
            Some(server) => server.end(grace).await,
            None => (None, false),
        };
        if let Some(exchanges) = &self.exchanges {
            exchanges.finish();
        }
        let recorded = self.recording.map_or(Ok(()), |recording| {
            recording.recorder().note_end(status, !was_signalled, None);
            let (summary, end) = recording.finish();
            end.report(&summary, notices.is_verbose, notices.warn)?;
            match summary.lost_bytes {
                0 => Ok(()),
                _ => Err(CommandError::new(ErrorKind::Internal, "the reel is incomplete")
                    .hint("make room on the disk, or record to another folder")),
            }
        });
        (status, recorded)
    }
}

/// How long a server may take to end after everything was answered, and again after SIGTERM.
const AFTER_ANSWER: Duration = Duration::from_secs(1);

/// A server that ends this soon after closing its output was not asked to end.
const BY_ITSELF: Duration = Duration::from_secs(1);
