//! The supervisor of a foreign command: a process of mcpreel between the one that runs the command and the command
//! itself. It ends the command in time, together with everything that the command started.
//!
//! A process group is not enough, because a child that starts a session of its own leaves it. The supervisor is a
//! subreaper: orphaned descendants become its own children, so it finds all of them. The command gets no privileges and
//! cannot inspect the supervisor. If the kernel supports it (Landlock scopes, Linux 6.12), the command cannot send
//! signals to the supervisor or to other processes that are not its own, nor connect to their abstract Unix sockets,
//! nor (Landlock ABI 9) to their other Unix sockets. A supervisor may still be killed; a watchdog then ends what it
//! leaves.
//!
//! Never knows what the command is for.

use crate::platform::confinement::{confine, hide, renounce};
use crate::platform::descendants::Descendants;
use crate::platform::process_handle::ProcessHandle;
use crate::platform::{own_program, parent_death, process_table};
use crate::wire::text::error_chain;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getppid, kill_process, kill_process_group, wait};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// The first argument that starts a supervisor under a watchdog.
const WATCHDOG: &str = "__guard";
/// The first argument with which a watchdog starts the supervisor itself.
const SUPERVISOR: &str = "__keep";
/// The first argument that starts the process that becomes the command.
const COMMAND: &str = "__kept";
/// How long a command may take to exit after SIGTERM.
pub(crate) const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// How a command ended. The supervisor writes it to its standard output as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExitReport {
    /// The exit code, if the command exited by itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<i32>,
    /// The signal that ended the command.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signal: Option<i32>,
    /// The command exceeded its time limit.
    #[serde(default)]
    pub late: bool,
    /// The supervisor was asked to end the command.
    #[serde(default)]
    pub reported: bool,
    /// The number of other processes of the command that were still running and were killed.
    #[serde(default)]
    pub left: u64,
    /// Why the command could not be started.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unstarted: Option<String>,
}

/// Which processes outside of its supervisor's a command may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessReach {
    /// The same as any process of the user.
    All,
    /// None: no signals, no inspection and no connections to their abstract Unix sockets, as far as the kernel supports
    /// this ([`can_confine`](crate::platform::confinement::can_confine)); on newer kernels, no connections to their other Unix sockets either.
    Own,
}

impl ProcessReach {
    fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Own => "own",
        }
    }

    fn read(word: Option<OsString>) -> Option<Self> {
        [Self::All, Self::Own].into_iter().find(|reach| word.as_ref().is_some_and(|word| word == reach.word()))
    }
}

/// The command that starts a supervisor. Its standard output is for [`ExitReport`], its standard error for everything
/// the command prints. Environment and working directory are the command's. SIGTERM makes it end the command.
///
/// # Errors
/// The path of this executable is unknown.
pub(crate) fn supervisor(argv: &[OsString], limit: Duration, reach: ProcessReach) -> io::Result<Command> {
    let mut command = Command::new(own_program::path()?);
    command.arg(WATCHDOG).arg(std::process::id().to_string()).arg(limit.as_millis().to_string());
    command.arg(reach.word()).args(argv);
    // It ends by itself; signals from the parent's terminal must not reach it.
    command.process_group(0);
    Ok(command)
}

/// The error for a handler that tries to connect.
pub(crate) const NO_HANDLERS: &str = "a handler of a subscription may not connect here";

/// Whether a process runs under a supervisor with [`ProcessReach::Own`] and so belongs to a handler. Orphans stay below
/// the supervisor, so a process cannot hide. `None` if the process is gone and this cannot be determined. A process of
/// another PID namespace has the number 0 here and is not a handler's.
pub(crate) fn is_supervised(process: i32) -> Option<bool> {
    const MAX_DEPTH: usize = 100;
    if process > 0 && process_table::parent(process).is_none() && process_table::is_known() {
        return None;
    }
    let above = std::iter::successors(Some(process), |pid| process_table::parent(*pid));
    let above = above.take_while(|pid| *pid > 0).take(MAX_DEPTH);
    let is_supervisor = |line: Vec<u8>| {
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        let word = |at: usize| words.get(at).copied().unwrap_or_default();
        let reach = match word(1) {
            asked if asked == WATCHDOG.as_bytes() || asked == SUPERVISOR.as_bytes() => word(4),
            asked if asked == COMMAND.as_bytes() => word(2),
            _ => return false,
        };
        reach == ProcessReach::Own.word().as_bytes()
    };
    Some(above.filter_map(process_table::command_line).any(is_supervisor))
}

/// Supervises a command if this process was started as a supervisor, or becomes the command if it was started for that;
/// returns the process's exit code.
pub(crate) fn supervise_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let asked = args.next()?;
    if asked == COMMAND {
        let (reach, argv) = (ProcessReach::read(args.next())?, args.collect::<Vec<_>>());
        return Some(become_command(&argv, reach));
    }
    let number = |word: Option<OsString>| word?.to_str()?.parse::<u64>().ok();
    let kept = if asked == WATCHDOG {
        // The supervisor writes the report.
        guard(number(args.next())?, &args.collect::<Vec<_>>()).err().map(|error| ExitReport::unstarted(&error))
    } else if asked == SUPERVISOR {
        let (parent, limit, reach) = (number(args.next())?, number(args.next())?, ProcessReach::read(args.next())?);
        let (limit, argv) = (Duration::from_millis(limit), args.collect::<Vec<_>>());
        Some(keep(parent, limit, &argv, reach).unwrap_or_else(|error| ExitReport::unstarted(&error)))
    } else {
        return None;
    };
    if let Some(reported) = kept.and_then(|kept| serde_json::to_string(&kept).ok()) {
        // Ignore write errors: the parent may be gone.
        let _ = writeln!(io::stdout(), "{reported}");
    }
    Some(ExitCode::SUCCESS)
}

impl ExitReport {
    fn unstarted(error: &io::Error) -> Self {
        Self { code: None, signal: None, late: false, reported: false, left: 0, unstarted: Some(error_chain(error)) }
    }
}

/// Makes this process a subreaper without privileges that ends with its parent. Returns a stream that becomes readable
/// when the process is asked to end, and what is below this process.
fn settle(parent: u64) -> io::Result<(UnixStream, Descendants)> {
    let below = Descendants::adopt()?;
    let (reported, reports) = UnixStream::pair()?;
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP] {
        signal_hook::low_level::pipe::register(signal, reports.try_clone()?)?;
    }
    renounce();
    hide()?;
    parent_death::notify(Signal::TERM)?;
    if getppid().map(|pid| pid.as_raw_pid().unsigned_abs().into()) != Some(parent) {
        return Err(io::Error::other("the parent process has exited"));
    }
    Ok((reported, below))
}

/// Starts a supervisor, and ends what it leaves behind.
fn guard(parent: u64, words: &[OsString]) -> io::Result<()> {
    let (reported, below) = settle(parent)?;
    let mut command = Command::new(own_program::path()?);
    command.arg(SUPERVISOR).arg(std::process::id().to_string()).args(words).process_group(0);
    let supervisor = ProcessHandle::of(&command.spawn()?)?;
    if !is_over(&supervisor, Some(&reported), Duration::MAX) {
        let _ = kill_process(supervisor.pid(), Signal::TERM);
        is_over(&supervisor, None, GRACE_PERIOD * 5);
    }
    let _ = end_all(supervisor.pid(), &below);
    Ok(())
}

fn keep(parent: u64, limit: Duration, argv: &[OsString], reach: ProcessReach) -> io::Result<ExitReport> {
    let (reported, below) = settle(parent)?;
    let child = start(argv, reach)?;
    let late = !is_over(&child, Some(&reported), limit);
    let reported = late && is_readable(&reported);
    if late {
        let _ = kill_process_group(child.pid(), Signal::TERM);
        is_over(&child, None, GRACE_PERIOD);
    }
    let (status, left) = end_all(child.pid(), &below)?;
    let code = status.and_then(WaitStatus::exit_status);
    let signal = status.and_then(WaitStatus::terminating_signal);
    Ok(ExitReport { code, signal, late: late && !reported, reported, left, unstarted: None })
}

/// Starts the command in a process group of its own, through a process of mcpreel that becomes it. All output goes to
/// standard error.
fn start(argv: &[OsString], reach: ProcessReach) -> io::Result<ProcessHandle> {
    let mut command = Command::new(own_program::path()?);
    command.arg(COMMAND).arg(reach.word()).args(argv).stdout(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    // The pipe closes when the command starts; if it does not start, the pipe contains the reason.
    let mut why = String::new();
    child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?.read_to_string(&mut why)?;
    if !why.is_empty() {
        child.wait()?;
        return Err(io::Error::other(why));
    }
    ProcessHandle::of(&child)
}

/// Becomes the command. If that fails, writes the reason to standard output and returns.
///
/// The kernel's restrictions apply to a thread and everything it starts. The supervisor must not restrict itself: the
/// command could then send signals to its restricted thread, which would end the whole process.
fn become_command(argv: &[OsString], reach: ProcessReach) -> ExitCode {
    // Closed by exec.
    let Ok(reports) = io::stdout().as_fd().try_clone_to_owned() else { return ExitCode::FAILURE };
    let _ = File::from(reports).write_all(error_chain(&exec(argv, reach)).as_bytes());
    ExitCode::FAILURE
}

fn exec(argv: &[OsString], reach: ProcessReach) -> io::Error {
    let Some((program, arguments)) = argv.split_first() else { return io::Error::other("no command given") };
    if let Err(error) = rustix::stdio::dup2_stdout(io::stderr()) {
        return error.into();
    }
    if reach == ProcessReach::Own
        && let Err(error) = confine()
    {
        return error;
    }
    Command::new(program).args(arguments).exec()
}

/// Waits for a process to end. False if the time limit passes or this process is asked to end it.
fn is_over(process: &ProcessHandle, reported: Option<&UnixStream>, limit: Duration) -> bool {
    let began = Instant::now();
    loop {
        let rest = limit.saturating_sub(began.elapsed());
        let rest =
            Timespec { tv_sec: rest.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: rest.subsec_nanos().into() };
        let mut fds = vec![PollFd::new(process, PollFlags::IN)];
        fds.extend(reported.map(|reported| PollFd::new(reported, PollFlags::IN)));
        match poll(&mut fds, Some(&rest)) {
            Err(Errno::INTR) => {}
            Err(_) | Ok(0) => return false,
            Ok(_) => return !fds[0].revents().is_empty(),
        }
    }
}

fn is_readable(stream: &UnixStream) -> bool {
    let mut fds = [PollFd::new(stream, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
}

/// Kills everything below this process and waits for it. Returns the command's exit status and the number of other
/// processes.
///
/// Processes orphaned by this become children of this process and are killed in turn.
fn end_all(child: Pid, below: &Descendants) -> io::Result<(Option<WaitStatus>, u64)> {
    let (mut status, mut left) = (None, BTreeSet::new());
    let mut options = WaitOptions::NOHANG;
    loop {
        match wait(options) {
            Ok(Some((pid, ended))) => {
                options = WaitOptions::NOHANG;
                if pid == child {
                    status = Some(ended);
                }
            }
            // All ended processes have been collected: kill the others and wait for one of them.
            Ok(None) => {
                options = WaitOptions::empty();
                below.kill(child, &mut left)?;
            }
            Err(Errno::CHILD) => return Ok((status, left.len() as u64)),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(not(on_linux), ignore = "only Linux says what is above a process")]
    fn who_is_below_no_supervisor_is_not_kept_and_of_who_is_gone_nobody_knows() {
        let own = i32::try_from(std::process::id()).expect("a process id");
        assert_eq!(is_supervised(own), Some(false));
        assert_eq!(is_supervised(0), Some(false), "of another namespace");
        let mut gone = Command::new("true").spawn().expect("started");
        gone.wait().expect("ended");
        assert_eq!(is_supervised(i32::try_from(gone.id()).expect("a process id")), None);
    }

    #[test]
    #[cfg_attr(not(on_linux), ignore = "only Linux says what is above a process")]
    fn who_is_below_a_supervisor_is_kept_unless_it_may_reach_all() {
        let folder = tempfile::tempdir().expect("a folder");
        for (words, kept) in [
            (["__keep", "1", "1000", "own"], true),
            (["__guard", "1", "1000", "own"], true),
            (["__kept", "own", "x", "y"], true),
            (["__keep", "1", "1000", "all"], false),
            (["other", "__keep", "1000", "own"], false),
        ] {
            // A shell with a supervisor's command line, above a shell that lives until its input ends.
            std::fs::write(folder.path().join(words[0]), "sh -c 'echo $$; read line'; :").expect("written");
            let mut command = Command::new("sh");
            command.args(words).current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().expect("started");
            let mut below = String::new();
            let mut reported = io::BufReader::new(child.stdout.take().expect("piped"));
            io::BufRead::read_line(&mut reported, &mut below).expect("it begins");
            assert_eq!(is_supervised(below.trim().parse().expect("a process id")), Some(kept), "{words:?}");
            drop(child.stdin.take());
            child.wait().expect("ended");
        }
    }
}
