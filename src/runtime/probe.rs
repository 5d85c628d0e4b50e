//! What a probe needs beside its engine: the client's process below a supervisor, and a delay of the responses to the
//! client's own requests, so that the client stays until everything is sent.

use super::server::ServerInput;
use crate::platform::process_handle::ProcessHandle;
use crate::probe::ClientEnd;
use crate::process::supervisor::{ExitReport, ProcessReach, supervisor};
use crate::transport::budget::BackpressurePermit;
use crate::wire::{Envelope, MessageKind};
use parking_lot::Mutex;
use rustix::process::Signal;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, Read};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// Maximum lifetime of a client's process.
const LIFE: Duration = Duration::from_secs(24 * 60 * 60);
/// How long to delay the response to a client's request. Clients wait longer than that.
const HOLD: Duration = Duration::from_secs(2);
/// Requests that are not delayed: without them there is no session.
const AT_ONCE: [&str; 3] = ["initialize", "ping", "server/discover"];

/// A client's process and its descendants; ended when this is dropped.
pub(crate) struct Host {
    supervisor: ProcessHandle,
}

impl Host {
    /// Starts a client. Passes its output to `says`, piece by piece, and how it ended to `ended`.
    ///
    /// # Errors
    ///
    /// No process can be started. If only the program is missing, `ended` is called instead.
    pub(crate) fn start(
        argv: &[OsString],
        env: &[(&str, OsString)],
        says: impl FnMut(&[u8]) + Send + 'static,
        ended: impl FnOnce(ClientEnd) + Send + 'static,
    ) -> io::Result<Self> {
        let mut command = supervisor(argv, LIFE, ProcessReach::All)?;
        command.envs(env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let host = Self { supervisor: ProcessHandle::of(&child)? };
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        let (output, reported) = (child.stderr.take().ok_or_else(broken)?, child.stdout.take().ok_or_else(broken)?);
        let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
        thread("client-says").spawn(move || receive(output, says))?;
        thread("client-ends").spawn(move || ended(end(reported, child)))?;
        Ok(host)
    }

    /// Asks the client to exit; `ended` is called as usual.
    pub(crate) fn stop(&self) {
        self.supervisor.signal(Signal::TERM);
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.stop();
    }
}

fn receive(mut output: impl Read, mut says: impl FnMut(&[u8])) {
    let mut chunk = vec![0; 8 << 10];
    while let Ok(got @ 1..) = output.read(&mut chunk) {
        says(&chunk[..got]);
    }
}

fn end(mut reported: impl Read, mut supervisor: Child) -> ClientEnd {
    let mut text = String::new();
    let _ = reported.read_to_string(&mut text);
    let _ = supervisor.wait();
    let kept: Option<ExitReport> = serde_json::from_str(&text).ok();
    kept.map_or_else(ClientEnd::default, |kept| ClientEnd {
        code: kept.code,
        signal: kept.signal,
        unstarted: kept.unstarted,
        silent: false,
    })
}

/// Maximum number of delayed requests; further ones are not delayed.
const MAX_HELD: usize = 256;

/// The client's requests on their way to the engine.
#[derive(Clone, Default)]
pub(crate) struct Held {
    released: Arc<Mutex<VecDeque<Vec<u8>>>>,
    /// One reference for each delayed request.
    count: Arc<()>,
}

impl Held {
    /// Returns what the engine gets now. Everything else reaches it later through `back`.
    pub(crate) fn filter(&self, message: Vec<u8>, back: Option<Sender<ServerInput>>) -> Option<Vec<u8>> {
        let mut released = self.released.lock();
        if let Some(at) = released.iter().position(|it| *it == message) {
            return released.remove(at);
        }
        let envelope = Envelope::scan(&message);
        let waits = envelope.kind == MessageKind::Request
            && envelope.method.as_deref().is_some_and(|method| !AT_ONCE.contains(&method));
        // References: this one, one for each delayed request, and one in the probe.
        let has_space = Arc::strong_count(&self.count) < MAX_HELD;
        let Some(back) = back.filter(|_| waits && has_space) else { return Some(message) };
        let (held, later) = (self.clone(), message.clone());
        let release = std::thread::Builder::new().name("held".into()).spawn(move || {
            std::thread::sleep(HOLD);
            held.released.lock().push_back(later.clone());
            let _ = back.send(ServerInput::Message(later, BackpressurePermit::default()));
        });
        release.is_err().then_some(message)
    }
}
