//! What a survey of a client takes beside its engine: the client's process below a keeper, and the client's own
//! requests held back for a while, so that it stays until all was sent.

use super::server::ServerInput;
use crate::probe::ClientEnd;
use crate::process::supervisor::{ExitReport, ProcessReach, supervisor};
use crate::transport::budget::BackpressurePermit;
use crate::wire::{Envelope, MessageKind};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a client's process may be there.
const LIFE: Duration = Duration::from_secs(24 * 60 * 60);
/// How long an answer to a request of the client's is held back. Clients wait for longer than that.
const HOLD: Duration = Duration::from_secs(2);
/// Requests that are answered at once: without them there is no session.
const AT_ONCE: [&str; 3] = ["initialize", "ping", "server/discover"];

/// A client's process, and all that it starts; ended when this is dropped.
pub struct Host {
    supervisor: OwnedFd,
}

impl Host {
    /// Starts a client. What it says goes to `says`, piece by piece; how it ended to `ended`.
    ///
    /// # Errors
    /// No process can be made for it. That its program is not there is told to `ended`.
    pub fn start(
        argv: &[OsString],
        env: &[(&str, OsString)],
        says: impl FnMut(&[u8]) + Send + 'static,
        ended: impl FnOnce(ClientEnd) + Send + 'static,
    ) -> io::Result<Self> {
        let mut command = supervisor(argv, LIFE, ProcessReach::All)?;
        command.envs(env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
        let host = Self { supervisor: pidfd_open(pid, PidfdFlags::empty())? };
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        let (output, reported) = (child.stderr.take().ok_or_else(broken)?, child.stdout.take().ok_or_else(broken)?);
        let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
        thread("client-says").spawn(move || receive(output, says))?;
        thread("client-ends").spawn(move || ended(end(reported, child)))?;
        Ok(host)
    }

    /// Asks it to end; how it did is told as ever.
    pub fn stop(&self) {
        let _ = pidfd_send_signal(&self.supervisor, Signal::TERM);
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

/// How many requests are held back at once; what comes beyond is answered at once.
const MAX_HELD: usize = 256;

/// Requests of the client's on their way to the engine.
#[derive(Clone, Default)]
pub struct Held {
    released: Arc<Mutex<VecDeque<Vec<u8>>>>,
    /// One for each that is held back.
    count: Arc<()>,
}

impl Held {
    /// Gives back what goes to the engine now. Anything else comes to it later, by `back`.
    pub fn sift(&self, message: Vec<u8>, back: Option<Sender<ServerInput>>) -> Option<Vec<u8>> {
        let mut released = self.lock();
        if let Some(at) = released.iter().position(|it| *it == message) {
            return released.remove(at);
        }
        let envelope = Envelope::scan(&message);
        let waits = envelope.kind == MessageKind::Request
            && envelope.method.as_deref().is_some_and(|method| !AT_ONCE.contains(&method));
        // This one, and a clone with each that is held back; the survey has another.
        let has_space = Arc::strong_count(&self.count) < MAX_HELD;
        let Some(back) = back.filter(|_| waits && has_space) else { return Some(message) };
        let (held, later) = (self.clone(), message.clone());
        let release = std::thread::Builder::new().name("held".into()).spawn(move || {
            std::thread::sleep(HOLD);
            held.lock().push_back(later.clone());
            let _ = back.send(ServerInput::Message(later, BackpressurePermit::default()));
        });
        release.is_err().then_some(message)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Vec<u8>>> {
        self.released.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
