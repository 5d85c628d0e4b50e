//! Runs other commands of mcpreel as processes: each has a time limit, can be stopped, and returns a limited part of its
//! output.

use super::answer::Problem;
use crate::process::child::ServerCommand;
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// The maximum length of what a command reports on stderr. Unit: bytes.
const MAX_REPORT_BYTES: u64 = 16 << 10;

/// The state of a request: whether it was cancelled, and the process that works on it.
#[derive(Debug, Default)]
pub(super) struct Stop(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    group: Option<Pid>,
    is_stopped: bool,
}

impl Stop {
    /// Ends the process, and all later ones.
    pub(super) fn stop(&self) {
        let mut state = self.0.lock();
        state.is_stopped = true;
        kill(state.group);
    }

    /// Fails if the request was cancelled.
    pub(super) fn check(&self) -> Result<(), Problem> {
        if self.0.lock().is_stopped { Err(Problem::new("the request was cancelled")) } else { Ok(()) }
    }

    fn set(&self, group: Option<Pid>) {
        let mut state = self.0.lock();
        state.group = group;
        if state.is_stopped {
            kill(group);
        }
    }
}

fn kill(group: Option<Pid>) {
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Until when a command may run, and what can stop it.
#[derive(Clone, Copy)]
pub(super) struct Bounds<'a> {
    pub until: Instant,
    /// What is said about a command that took longer.
    pub limit: Duration,
    pub stop: &'a Stop,
}

/// The words of a command, to which others can be added.
pub(super) fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// What came of a command.
pub(super) struct Ran {
    /// The exit code; `None` if it was ended by a signal. 0 if it was ended because its output was enough.
    pub code: Option<i32>,
    /// What it reported, without the program's name.
    pub report: String,
}

impl Ran {
    /// Fails unless the command did what it was to do: with exit code 0, or with 1, which means findings or differences.
    pub(super) fn check(&self) -> Result<(), Problem> {
        match self.code {
            Some(0 | 1) => Ok(()),
            _ if self.report.is_empty() => Err(Problem::new("the command was ended by a signal")),
            _ => Err(Problem::new("mcpreel reports an error").quoting(&self.report)),
        }
    }
}

/// Runs a command of mcpreel, and passes what it writes to stdout to `take`, until that returns false. Then the command is
/// ended, which is no failure.
pub(super) fn run(
    words: &[OsString],
    bounds: Bounds<'_>,
    take: impl FnMut(&[u8]) -> bool + Send,
) -> Result<Ran, Problem> {
    let mut child = spawn(words, Stdio::piped(), bounds.stop)?;
    let out = child.stdout.take();
    let ran = watch(&mut child, bounds, move || out.map_or(Ok(true), |out| pass(out, take)));
    bounds.stop.set(None);
    ran
}

/// Runs a command of mcpreel that writes to a file.
pub(super) fn run_into(words: &[OsString], bounds: Bounds<'_>, file: &File) -> Result<Ran, Problem> {
    let to = file.try_clone().map_err(|error| failed(&error))?;
    let mut child = spawn(words, Stdio::from(to), bounds.stop)?;
    let ran = watch(&mut child, bounds, || Ok(true));
    bounds.stop.set(None);
    ran
}

/// Runs a command of mcpreel, and returns the beginning of what it writes to stdout, at most `most` bytes, and whether that
/// is all.
pub(super) fn run_for_output(
    words: &[OsString],
    bounds: Bounds<'_>,
    most: usize,
) -> Result<(Vec<u8>, bool, Ran), Problem> {
    let (mut kept, mut is_all) = (Vec::new(), true);
    let ran = run(words, bounds, |bytes| {
        let left = most - kept.len();
        kept.extend_from_slice(&bytes[..bytes.len().min(left)]);
        is_all = bytes.len() <= left;
        is_all
    })?;
    Ok((kept, is_all, ran))
}

fn failed(error: &io::Error) -> Problem {
    Problem::new(format!("cannot run mcpreel: {error}"))
}

fn spawn(words: &[OsString], out: Stdio, stop: &Stop) -> Result<Child, Problem> {
    stop.check()?;
    let program = crate::platform::own_program::path().map_err(|error| failed(&error))?;
    let argv = std::iter::once(program.into_os_string()).chain(words.iter().cloned()).collect();
    let command = ServerCommand { argv, ..ServerCommand::default() };
    let mut command = command.prepare().map_err(|error| Problem::new(format!("cannot run mcpreel: {error}")))?;
    command.stdin(Stdio::null()).stdout(out).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn().map_err(|error| failed(&error))?;
    stop.set(i32::try_from(child.id()).ok().and_then(Pid::from_raw));
    Ok(child)
}

/// Waits for a command. `read` reads its output, and returns whether it read all of it.
fn watch(
    child: &mut Child,
    bounds: Bounds<'_>,
    read: impl FnOnce() -> io::Result<bool> + Send,
) -> Result<Ran, Problem> {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let said = child.stderr.take();
    let (ends, ended) = channel();
    std::thread::scope(|scope| {
        let report = scope.spawn(move || said.map(reported).unwrap_or_default());
        let reading = scope.spawn(move || {
            let is_all = read();
            if !matches!(is_all, Ok(true)) {
                kill(group);
            }
            is_all
        });
        scope.spawn(move || ends.send(child.wait()));
        let left = bounds.until.saturating_duration_since(Instant::now());
        let (status, is_late) = match ended.recv_timeout(left) {
            Ok(status) => (status, false),
            Err(_) => {
                kill(group);
                (ended.recv().map_err(io::Error::other).and_then(|status| status), true)
            }
        };
        // What it started may hold its output open.
        kill(group);
        let (read, report) = (reading.join(), report.join().unwrap_or_default());
        bounds.stop.check()?;
        if is_late {
            let limit = format!("the request took longer than {:?}", bounds.limit);
            return Err(Problem::new(limit).hint("ask for less: a filter, another recording, or a smaller page"));
        }
        let is_stopped = match read {
            Ok(is_all) => !is_all.map_err(|error| failed(&error))?,
            Err(_) => return Err(Problem::new("the output of mcpreel could not be processed")),
        };
        let code = if is_stopped { Some(0) } else { status.map_err(|error| failed(&error))?.code() };
        Ok(Ran { code, report })
    })
}

/// Passes output on. Returns whether it was all.
fn pass(mut out: impl Read, mut take: impl FnMut(&[u8]) -> bool) -> io::Result<bool> {
    let mut chunk = vec![0; 64 << 10];
    loop {
        match out.read(&mut chunk) {
            Ok(0) => return Ok(true),
            Ok(read) if !take(&chunk[..read]) => return Ok(false),
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
    }
}

/// What a command reports, without the name of the program.
fn reported(said: impl Read) -> String {
    let mut text = Vec::new();
    let mut limited = said.take(MAX_REPORT_BYTES);
    let _ = limited.read_to_end(&mut text);
    // Nothing may block the command.
    let _ = io::copy(&mut limited.into_inner(), &mut io::sink());
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines().map(|line| line.strip_prefix("mcpreel: ").unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}
