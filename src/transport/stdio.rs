//! A spawned server on stdio, as a [`Link`].

use super::child::{ServerCommand, SpawnError};
use super::link::{Incoming, Link, Served};
use crate::wire::LineFramer;
use rustix::process::{Pid, Signal, kill_process};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Which pipe bytes passed through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipe {
    /// To the server's standard input.
    Stdin,
    /// From its standard output.
    Stdout,
    /// From its standard error.
    Stderr,
}

/// Sees every byte that passes, framing and all; `None` tells that the pipe ended.
pub type Onlooker = Arc<dyn Fn(Pipe, Option<&[u8]>) + Send + Sync>;

/// How long a server may take to end after its input was closed, and again after it was asked to end.
const GRACE: Duration = Duration::from_secs(2);

/// How long the end of standard error is waited for once standard output has ended, so that a server's last words come
/// before the news of its end.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A running server.
pub struct StdioServer {
    child: Child,
}

/// Starts a server. Must be called within a tokio runtime.
pub fn spawn(command: &ServerCommand, onlooker: Option<Onlooker>) -> Result<(Link, StdioServer), SpawnError> {
    let mut command = Command::from(command.prepare()?);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let onlooker = onlooker.unwrap_or_else(|| Arc::new(|_, _| {}));
    let (link, Served { outgoing, incoming }) = Link::served();
    if let Some(stdin) = child.stdin.take() {
        tokio::spawn(write_lines(stdin, outgoing, Arc::clone(&onlooker)));
    }
    let stderr = child.stderr.take();
    let said = stderr.map(|stderr| tokio::spawn(read_stderr(stderr, incoming.clone(), Arc::clone(&onlooker))));
    if let Some(stdout) = child.stdout.take() {
        tokio::spawn(read_lines(stdout, incoming, onlooker, said));
    }
    Ok((link, StdioServer { child }))
}

impl StdioServer {
    /// The process's number, while it runs.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for the server's end once its input is closed; asks it to end, then ends it, where it takes too long
    /// (X17: some servers stay alive at the end of input).
    pub async fn end(mut self) -> Option<ExitStatus> {
        if let Ok(status) = timeout(GRACE, self.child.wait()).await {
            return status.ok();
        }
        if let Some(pid) = self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)) {
            let _ = kill_process(pid, Signal::TERM);
        }
        if let Ok(status) = timeout(GRACE, self.child.wait()).await {
            return status.ok();
        }
        let _ = self.child.kill().await;
        self.child.wait().await.ok()
    }
}

async fn write_lines(mut stdin: ChildStdin, mut outgoing: mpsc::Receiver<Vec<u8>>, onlooker: Onlooker) {
    while let Some(mut message) = outgoing.recv().await {
        message.push(b'\n');
        onlooker(Pipe::Stdin, Some(&message));
        if stdin.write_all(&message).await.is_err() {
            break;
        }
    }
    onlooker(Pipe::Stdin, None);
}

async fn read_lines(
    mut stdout: impl AsyncRead + Unpin,
    incoming: mpsc::Sender<Incoming>,
    onlooker: Onlooker,
    said: Option<JoinHandle<()>>,
) {
    let mut framer = LineFramer::default();
    let mut chunk = vec![0u8; 64 << 10];
    let mut messages = Vec::new();
    loop {
        let got = stdout.read(&mut chunk).await.unwrap_or(0);
        let mut keep = |frame: crate::wire::Frame<'_>| {
            let body = frame.framing.body(frame.payload);
            if !body.trim_ascii().is_empty() {
                messages.push(body.to_vec());
            }
        };
        if got == 0 {
            framer.finish(&mut keep);
            onlooker(Pipe::Stdout, None);
        } else {
            onlooker(Pipe::Stdout, Some(&chunk[..got]));
            framer.push(&chunk[..got], &mut keep);
        }
        for message in messages.drain(..) {
            if incoming.send(Incoming::Message(message)).await.is_err() {
                return;
            }
        }
        if got == 0 {
            if let Some(said) = said {
                let _ = timeout(LAST_WORDS, said).await;
            }
            let _ = incoming.send(Incoming::Closed).await;
            return;
        }
    }
}

async fn read_stderr(mut stderr: impl AsyncRead + Unpin, incoming: mpsc::Sender<Incoming>, onlooker: Onlooker) {
    let mut chunk = vec![0u8; 16 << 10];
    loop {
        match stderr.read(&mut chunk).await {
            Ok(0) | Err(_) => return onlooker(Pipe::Stderr, None),
            Ok(got) => {
                onlooker(Pipe::Stderr, Some(&chunk[..got]));
                let _ = incoming.send(Incoming::Stderr(chunk[..got].to_vec())).await;
            }
        }
    }
}
