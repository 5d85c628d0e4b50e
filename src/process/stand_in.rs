//! The parent of a recorded server: a process of mcpreel that ends when the process that started mcpreel does.
//!
//! A server may watch its parent, and leave when that is gone. Behind mcpreel, its parent would be mcpreel, which lives on as
//! long as anybody holds the client's pipe. So the server's parent is a process that stands in for the client: when the
//! client is gone, it ends, the kernel gives the server another parent, and the server does what it would have done without
//! mcpreel. Nobody has to know whether it watches.
//!
//! The stand-in starts the server, reports how it ended, and ends it if mcpreel itself is killed. Traffic never passes it.

use super::child::{ServerCommand, SpawnError};
use crate::platform::process_handle::ProcessHandle;
use crate::platform::{ignored_signals, parent_death, process_table};
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, posix_spawn};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use signal_hook::consts::{
    SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGIO, SIGPIPE, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM,
};
use std::ffi::{CString, OsString};
use std::io::{self, IoSlice, IoSliceMut, PipeReader, PipeWriter, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// The first argument that starts a stand-in.
const STAND_IN: &str = "__parent";
/// The second argument, if the server is to ignore SIGPIPE as mcpreel did at its start.
const IGNORES_PIPE: &str = "ignore-pipe";
/// How often to look whether a server is gone, where the system does not say.
const INTERVAL: Duration = Duration::from_millis(250);
/// The descriptors that a stand-in gets: those of the server, and one that tells when the client is gone.
const MAX_DESCRIPTORS: usize = 4;

/// The server's ends of its standard input, standard output and standard error.
pub(crate) type InnerEnds = (PipeReader, PipeWriter, PipeWriter);

/// What the stand-in reports: five bytes, the kind and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StandInReport {
    /// The server runs and has this number.
    Started(i32),
    /// The server ended with this wait status.
    Ended(i32),
}

impl StandInReport {
    fn bytes(self) -> [u8; 5] {
        let (kind, number) = match self {
            Self::Started(pid) => (b's', pid),
            Self::Ended(status) => (b'e', status),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [kind, a, b, c, d]
    }

    /// Reads the next one; `None` if the stand-in is gone.
    fn read(mut from: impl Read) -> Option<Self> {
        let mut bytes = [0; 5];
        from.read_exact(&mut bytes).ok()?;
        let [kind, number @ ..] = bytes;
        let number = i32::from_le_bytes(number);
        Some(if kind == b's' { Self::Started(number) } else { Self::Ended(number) })
    }
}

/// A server that can be sent signals.
pub(crate) struct Signalled {
    pid: Pid,
    handle: Option<ProcessHandle>,
}

impl Signalled {
    /// The server's number.
    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw_pid().unsigned_abs()
    }

    /// Sends a signal. The server must not have been waited for.
    pub(crate) fn signal(&self, signal: Signal) {
        match &self.handle {
            Some(handle) => handle.signal(signal),
            None => drop(kill_process(self.pid, signal)),
        }
    }

    fn wait_until_gone(&self) {
        match &self.handle {
            Some(handle) => while matches!(poll(&mut [PollFd::new(handle, PollFlags::IN)], None), Err(Errno::INTR)) {},
            None => {
                while !process_table::is_gone(self.pid()) {
                    std::thread::sleep(INTERVAL);
                }
            }
        }
    }
}

/// A server behind a stand-in. If it is dropped, the server is killed.
pub(crate) struct StoodInServer {
    stand_in: Child,
    reports: UnixStream,
    server: Arc<Signalled>,
}

impl StoodInServer {
    /// Starts the server. Its ends of the pipes are closed here.
    ///
    /// # Errors
    /// The program cannot be used, or the system refuses a process.
    pub(crate) fn start(command: &ServerCommand, (stdin, stdout, stderr): InnerEnds) -> Result<Self, SpawnError> {
        let client = parent_death::watch().map_err(SpawnError::Tap)?;
        let (mut reports, theirs) = UnixStream::pair().map_err(SpawnError::Tap)?;
        let pipe = if ignored_signals::contains(SIGPIPE) { IGNORES_PIPE } else { "" };
        // The command has an end of the socket, too, and is gone after this statement: otherwise, no end would be noticed.
        let stand_in =
            command.prepare_behind(STAND_IN, pipe)?.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).spawn()?;
        let descriptors =
            [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()].into_iter().chain(client.as_ref().map(AsFd::as_fd));
        // If it is already gone, it has ended like a server that was ended early.
        let _ = send_descriptors(&reports, &descriptors.collect::<Vec<_>>());
        let own = i32::try_from(stand_in.id()).unwrap_or(i32::MAX);
        let pid = match StandInReport::read(&reports) {
            Some(StandInReport::Started(pid)) => pid,
            _ => own,
        };
        let pid = Pid::from_raw(pid).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        let server = Arc::new(Signalled { pid, handle: ProcessHandle::of_other(pid).ok() });
        // From now on, the handle cannot mean another process, so the server's status may be collected.
        let _ = reports.write_all(b"\n");
        Ok(Self { stand_in, reports, server })
    }

    /// The server, for signals.
    pub(crate) fn signalled(&self) -> Arc<Signalled> {
        Arc::clone(&self.server)
    }

    /// Waits until the server has ended. `None` if nobody knows how, because the stand-in ended before.
    pub(crate) fn wait(&mut self) -> Option<ExitStatus> {
        let reported = StandInReport::read(&self.reports);
        let own = self.stand_in.wait().ok();
        match reported {
            Some(StandInReport::Ended(status)) => Some(ExitStatus::from_raw(status)),
            // It did not become a parent: the server could not be started, or a signal came first.
            _ if self.server.pid() == self.stand_in.id() => own,
            _ => {
                self.server.wait_until_gone();
                None
            }
        }
    }
}

/// Stands in if this process was started for that; returns how that went. A server that cannot be started is an error:
/// then standard input, output and error are those of the server.
pub(crate) fn stand_in_if_asked() -> Option<io::Result<ExitCode>> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != STAND_IN {
        return None;
    }
    let ignores_pipe = args.next()? == IGNORES_PIPE;
    let (program, name) = (args.next()?, args.next()?);
    Some(stand_in((&program, &name), args, ignores_pipe).map(|()| ExitCode::SUCCESS))
}

fn stand_in(
    (program, name): (&OsString, &OsString),
    args: impl Iterator<Item = OsString>,
    ignores_pipe: bool,
) -> io::Result<()> {
    let ended = shield()?;
    let reports = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let descriptors = receive_descriptors(&reports)?;
    let [stdin, stdout, stderr, client @ ..] = &descriptors[..] else {
        return Err(io::Error::other("mcpreel has exited"));
    };
    let ends = [stdin, stdout, stderr];
    let started =
        if ignores_pipe { start_ignoring_pipe(program, name, args, ends) } else { start(program, name, args, ends) };
    let server = match started {
        Ok(server) => server,
        Err(error) => {
            report(&reports, StandInReport::Started(i32::try_from(std::process::id()).unwrap_or(i32::MAX)));
            rustix::stdio::dup2_stdin(stdin)?;
            rustix::stdio::dup2_stdout(stdout)?;
            rustix::stdio::dup2_stderr(stderr)?;
            return Err(error);
        }
    };
    let client = client.first().map(OwnedFd::try_clone).transpose()?;
    drop(descriptors);
    keep(server, &reports, client.as_ref().map(AsFd::as_fd), &ended);
    Ok(())
}

/// Starts the server with the default handlers of all signals that are not ignored.
fn start(
    program: &OsString,
    name: &OsString,
    args: impl Iterator<Item = OsString>,
    ends: [&OwnedFd; 3],
) -> io::Result<Pid> {
    let [stdin, stdout, stderr] = ends.map(|end| end.try_clone().map(Stdio::from));
    let mut command = Command::new(program);
    let child = command.arg0(name).args(args).stdin(stdin?).stdout(stdout?).stderr(stderr?).spawn()?;
    ProcessHandle::number(&child)
}

/// As [`start`], but SIGPIPE stays as it is in every process of Rust: ignored. Rust's own function sets it to the default.
fn start_ignoring_pipe(
    program: &OsString,
    name: &OsString,
    args: impl Iterator<Item = OsString>,
    ends: [&OwnedFd; 3],
) -> io::Result<Pid> {
    let mut actions = PosixSpawnFileActions::init()?;
    for (end, number) in ends.into_iter().zip(0..) {
        actions.add_dup2(end.as_raw_fd(), number)?;
    }
    let words = [name.clone()].into_iter().chain(args).map(|word| CString::new(word.into_vec()));
    let words = words.collect::<Result<Vec<_>, _>>()?;
    let variables = std::env::vars_os()
        .map(|(name, value)| CString::new([name.as_encoded_bytes(), b"=", value.as_encoded_bytes()].concat()));
    let variables = variables.collect::<Result<Vec<_>, _>>()?;
    let pid = posix_spawn(program.as_os_str(), &actions, &PosixSpawnAttr::init()?, &words, &variables)?;
    Pid::from_raw(pid.as_raw()).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Waits for the server, or until mcpreel or the client is gone.
fn keep(server: Pid, reports: &UnixStream, client: Option<BorrowedFd<'_>>, ended: &UnixStream) {
    report(reports, StandInReport::Started(server.as_raw_pid()));
    let mut is_known = reports.as_fd().try_clone_to_owned().map(UnixStream::from);
    let has_answer = is_known.as_mut().is_ok_and(|reports| reports.read_exact(&mut [0]).is_ok());
    loop {
        if !has_answer || is_ready(reports.as_fd()) {
            // mcpreel was killed: it would have been the server without it.
            let _ = kill_process(server, Signal::KILL);
            let _ = waitpid(Some(server), WaitOptions::empty());
            return;
        }
        if let Ok(Some((_, status))) = waitpid(Some(server), WaitOptions::NOHANG) {
            return report(reports, StandInReport::Ended(status.as_raw()));
        }
        if client.is_some_and(is_ready) {
            return;
        }
        let mut fds = vec![PollFd::new(reports, PollFlags::IN), PollFd::new(ended, PollFlags::IN)];
        fds.extend(client.map(|client| PollFd::from_borrowed_fd(client, PollFlags::IN)));
        let _ = poll(&mut fds, None);
        let _ = (&*ended).read(&mut [0; 64]);
    }
}

fn is_ready(end: BorrowedFd<'_>) -> bool {
    let at_once = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    matches!(poll(&mut [PollFd::from_borrowed_fd(end, PollFlags::IN)], Some(&at_once)), Ok(1..))
}

fn report(mut reports: &UnixStream, reported: StandInReport) {
    // If mcpreel is gone, nobody wants to know.
    let _ = reports.write_all(&reported.bytes());
}

/// Makes this process outlive signals that reach its whole group, as those of a terminal: they are for the server, which gets
/// the default handlers. Returns a stream that becomes readable when a child ends.
fn shield() -> io::Result<UnixStream> {
    const SIGNALS: [i32; 10] = [SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM];
    for signal in SIGNALS.into_iter().filter(|signal| !ignored_signals::contains(*signal)) {
        signal_hook::flag::register(signal, Arc::default())?;
    }
    let (ended, end) = UnixStream::pair()?;
    ended.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(SIGCHLD, end)?;
    Ok(ended)
}

fn send_descriptors(to: &UnixStream, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(descriptors));
    sendmsg(to, &[IoSlice::new(b"\n")], &mut control, SendFlags::empty())?;
    Ok(())
}

/// The descriptors that come with one byte; none if the sender is gone.
fn receive_descriptors(from: &UnixStream) -> io::Result<Vec<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    while let Err(error) = recvmsg(from, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC) {
        if error != Errno::INTR {
            return Err(error.into());
        }
    }
    let received = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    Ok(received.flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_as_they_were_written() {
        for reported in [StandInReport::Started(4711), StandInReport::Ended(9), StandInReport::Ended(-1)] {
            assert_eq!(StandInReport::read(&reported.bytes()[..]), Some(reported));
        }
        assert_eq!(StandInReport::read(&b"s\0\0"[..]), None);
    }

    #[test]
    fn descriptors_arrive_with_their_ends() {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let (mut reader, writer) = io::pipe().expect("a pipe");
        send_descriptors(&ours, &[writer.as_fd()]).expect("sent");
        drop((ours, writer));
        let received = receive_descriptors(&theirs).expect("received");
        assert_eq!(received.len(), 1);
        received.into_iter().for_each(|end| std::fs::File::from(end).write_all(b"through").expect("written"));
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("text");
        assert_eq!(text, "through");
        assert!(receive_descriptors(&theirs).expect("none").is_empty());
    }
}
