//! A server on stdio, started as a child process, as a [`Link`].

use crate::process::child::{ServerCommand, SpawnError};
use crate::process::threads;
use crate::transport::budget::{IntakeLimits, Sender};
use crate::transport::link::{Incoming, Link, Served};
use crate::transport::local::lines::{read_lines, write_lines};
use crate::wire::MessageLimit;
use crate::wire::{Messages, TooLong};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{self, Read};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

/// The pipe that bytes passed through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipe {
    /// To the server's standard input.
    Stdin,
    /// From the server's standard output.
    Stdout,
    /// From the server's standard error.
    Stderr,
}

/// Observes all bytes, including framing; `None` means that the pipe ended.
pub(crate) type ByteObserver = Arc<dyn Fn(Pipe, Option<&[u8]>) + Send + Sync>;

/// How long a server may take to exit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grace {
    /// After its input was closed.
    pub own: Duration,
    /// After SIGTERM.
    pub after_signal: Duration,
}

impl Grace {
    /// For most servers.
    pub(crate) const USUAL: Self = Self::twice(Duration::from_secs(2));
    /// For a server that did not answer in time.
    pub(crate) const SHORT: Self = Self::twice(Duration::from_millis(200));

    const fn twice(period: Duration) -> Self {
        Self { own: period, after_signal: period }
    }
}

/// How often to look whether the client is gone.
const LOOK: Duration = Duration::from_millis(100);

/// Waits until our own client is gone, without reading anything: nothing more can be read from stdin, or nobody reads
/// stdout. A file never ends like this.
pub(crate) async fn client_gone() {
    while !is_client_gone() {
        sleep(LOOK).await;
    }
}

/// Waits until our own client can send nothing more, without reading anything. A file never ends like this.
pub(crate) async fn input_ended() {
    while !revents().0.intersects(PollFlags::HUP | PollFlags::RDHUP) {
        sleep(LOOK).await;
    }
}

fn is_client_gone() -> bool {
    let (input, output) = revents();
    input.contains(PollFlags::HUP) && !input.contains(PollFlags::IN) || output.contains(PollFlags::ERR)
}

/// The state of stdin and of stdout.
fn revents() -> (PollFlags, PollFlags) {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    let mut fds = [PollFd::new(&stdin, PollFlags::IN | PollFlags::RDHUP), PollFd::new(&stdout, PollFlags::empty())];
    if poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_err() {
        return (PollFlags::empty(), PollFlags::empty());
    }
    let [input, output] = fds.map(|fd| fd.revents());
    (input, output)
}

/// A running server.
pub(crate) struct StdioServer {
    child: Child,
}

/// Starts a server. Must be called within a tokio runtime.
///
/// # Errors
/// The server cannot be started.
pub(crate) fn spawn(
    command: &ServerCommand,
    observer: Option<ByteObserver>,
) -> Result<(Link, StdioServer), SpawnError> {
    let intake = IntakeLimits::of_server(command.limit);
    let mut command = Command::from(command.prepare()?);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let observer = observer.unwrap_or_else(|| Arc::new(|_, _| {}));
    let (link, Served { outgoing, incoming }) = Link::served();
    if let Some(stdin) = child.stdin.take() {
        tokio::spawn(write_lines(stdin, outgoing, Arc::clone(&observer)));
    }
    let stderr = child.stderr.take();
    let said = stderr.map(|stderr| tokio::spawn(read_stderr(stderr, incoming.clone(), Arc::clone(&observer))));
    if let Some(stdout) = child.stdout.take() {
        tokio::spawn(read_lines(stdout, incoming, intake, observer, said));
    }
    Ok((link, StdioServer { child }))
}

/// Reads a peer's messages to the end, on a thread of its own, and passes them on; then passes on that there are no
/// more, or that one was too long.
///
/// # Errors
/// The thread cannot be started.
pub(crate) fn read_messages(
    mut input: impl Read + Send + 'static,
    limit: MessageLimit,
    peer: &'static str,
    mut pass_on: impl FnMut(Incoming) + Send + 'static,
) -> io::Result<()> {
    threads::start("stdin", move || {
        let mut messages = Messages::within(limit.bytes());
        let mut chunk = vec![0u8; 64 << 10];
        let mut taken = Ok(());
        loop {
            let got = match input.read(&mut chunk) {
                Ok(0) => break,
                Ok(got) => got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            taken = messages.push(&chunk[..got], |message| pass_on(Incoming::Message(message)));
            if taken.is_err() {
                break;
            }
        }
        let taken = taken.and_then(|()| messages.finish(|message| pass_on(Incoming::Message(message))));
        drop(messages);
        pass_on(taken.map_or_else(|TooLong| Incoming::Failed(limit.exceeded_by(peer)), |()| Incoming::Closed));
    })?;
    Ok(())
}

impl StdioServer {
    /// The process id, while it runs.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for the server to exit after its input was closed. Sends SIGTERM and then SIGKILL if that takes too long,
    /// because some servers ignore the end of their input. Also returns whether a signal was sent, which then explains the
    /// exit status.
    pub(crate) async fn end(mut self, grace: Grace) -> (Option<ExitStatus>, bool) {
        match timeout(grace.own, self.child.wait()).await {
            Ok(status) => (status.ok(), false),
            Err(_) => (self.hurry(grace.after_signal).await, true),
        }
    }

    async fn hurry(&mut self, grace_period: Duration) -> Option<ExitStatus> {
        if let Some(pid) = self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)) {
            let _ = kill_process(pid, Signal::TERM);
        }
        if let Ok(status) = timeout(grace_period, self.child.wait()).await {
            return status.ok();
        }
        let _ = self.child.kill().await;
        self.child.wait().await.ok()
    }
}

async fn read_stderr(mut stderr: impl AsyncRead + Unpin, incoming: Sender<Incoming>, observer: ByteObserver) {
    let mut chunk = vec![0u8; 16 << 10];
    loop {
        match stderr.read(&mut chunk).await {
            Ok(0) | Err(_) => return observer(Pipe::Stderr, None),
            Ok(got) => {
                observer(Pipe::Stderr, Some(&chunk[..got]));
                let _ = incoming.send(Incoming::Stderr(chunk[..got].to_vec())).await;
            }
        }
    }
}
