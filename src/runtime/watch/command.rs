//! Runs a command within limits, and reports its outcome.

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fmt;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// How much of the end of its output to keep, in bytes.
const KEPT: usize = 16 << 10;
/// How long processes that it leaves behind may keep its output open.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunOutcome {
    /// Whether it exited with code 0.
    pub passed: bool,
    /// How it ended, in words.
    pub how: String,
    /// The end of its output: standard output and standard error, in order of arrival.
    pub output: String,
}

impl RunOutcome {
    /// The outcome of a command that could not be started.
    pub(super) fn not_run(why: &dyn fmt::Display) -> Self {
        Self { passed: false, how: format!("could not be started: {why}"), output: String::new() }
    }

    /// The part of the outcome that matters for comparisons: how it ended, and its last line without times.
    pub(super) fn summary(&self) -> String {
        let last = self.output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let words = last.split_whitespace().filter(|word| !is_time(word));
        words.fold(self.how.clone(), |all, word| all + " " + word)
    }
}

/// Whether a word is a time, such as `0.05s`, `(12ms)`, `1:05` or `2.5`.
fn is_time(word: &str) -> bool {
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    let end = word.find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | ':')).unwrap_or(word.len());
    let (number, unit) = word.split_at(end);
    let is_number = number.starts_with(|first: char| first.is_ascii_digit());
    let is_broken = number.contains(['.', ':']);
    is_number && (["ns", "us", "µs", "ms", "s", "m", "h"].contains(&unit) || unit.is_empty() && is_broken)
}

/// The command that is running now.
#[derive(Debug, Default)]
pub(super) struct RunningCommand(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    group: Option<Pid>,
    is_over: bool,
}

impl RunningCommand {
    /// Ends the command, and all later ones.
    pub(super) fn end(&self) {
        let mut state = self.0.lock();
        state.is_over = true;
        kill(state.group);
    }

    fn set(&self, group: Option<Pid>) {
        let mut state = self.0.lock();
        state.group = group;
        if state.is_over {
            kill(group);
        }
    }
}

fn kill(group: Option<Pid>) {
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Runs a command in its own process group, which ends with it.
pub(super) fn run(command: Command, limit: Duration, running: &RunningCommand) -> RunOutcome {
    match try_run(command, limit, running) {
        Ok(outcome) => outcome,
        Err(error) => RunOutcome::not_run(&error),
    }
}

fn try_run(mut command: Command, limit: Duration, running: &RunningCommand) -> io::Result<RunOutcome> {
    let (said, says) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(says.try_clone()?).stderr(says).process_group(0);
    let mut child = command.spawn()?;
    // The command holds the write ends as well.
    drop(command);
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    running.set(group);
    let (ends, ended) = channel();
    let (keeps, kept) = channel();
    let waits = std::thread::Builder::new().name("command".into()).spawn(move || ends.send(child.wait()));
    let reads = std::thread::Builder::new().name("output".into()).spawn(move || keeps.send(keep_end(said)));
    if let Err(error) = waits.and(reads) {
        kill(group);
        return Err(error);
    }
    let (status, is_late) = match ended.recv_timeout(limit) {
        Ok(status) => (status, false),
        Err(_) => {
            kill(group);
            (ended.recv().map_err(io::Error::other)?, true)
        }
    };
    let output = kept.recv_timeout(DRAIN_TIMEOUT).or_else(|_| {
        kill(group);
        kept.recv_timeout(DRAIN_TIMEOUT)
    });
    running.set(None);
    let status = status?;
    let how = if is_late { format!("took more than {limit:?} and was killed") } else { reported(status) };
    Ok(RunOutcome { passed: status.success() && !is_late, how, output: readable(&output.unwrap_or_default()) })
}

fn reported(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(0), _) => "passed".to_owned(),
        (Some(code), _) => format!("failed with exit code {code}"),
        (None, signal) => format!("was killed by signal {}", signal.unwrap_or_default()),
    }
}

/// Reads to the end; returns the last part.
fn keep_end(mut from: impl Read) -> Vec<u8> {
    let (mut kept, mut chunk) = (Vec::new(), vec![0; KEPT]);
    loop {
        match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(got) => kept.extend_from_slice(&chunk[..got]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
        kept.drain(..kept.len().saturating_sub(KEPT));
    }
    kept
}

/// Text without control characters.
fn readable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars().filter(|letter| matches!(letter, '\n' | '\t') || !letter.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, limit: Duration) -> RunOutcome {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, limit, &RunningCommand::default())
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn it_reports_how_a_command_ended_and_the_end_of_what_it_said() {
        let passed = sh("echo one; echo two >&2", LONG);
        assert_eq!(passed, RunOutcome { passed: true, how: "passed".into(), output: "one\ntwo\n".into() });
        assert_eq!(sh("exit 3", LONG).how, "failed with exit code 3");
        assert_eq!(sh("kill -9 $$", LONG).how, "was killed by signal 9");
        let much = sh("yes 0123456789 | head -n 100000; echo last", LONG).output;
        assert!(much.len() <= KEPT && much.ends_with("last\n"), "{}", much.len());
        let missing = run(Command::new("/there/is/no/such"), LONG, &RunningCommand::default());
        assert!(!missing.passed && missing.how.starts_with("could not be started"), "{missing:?}");
    }

    #[test]
    fn what_takes_too_long_ends_with_all_that_it_started() {
        let late = sh("sleep 600 & echo said; wait", Duration::from_millis(50));
        assert!(!late.passed && late.how.contains("took more than 50ms"), "{late:?}");
        // Processes left behind do not block.
        assert_eq!(sh("sleep 600 & echo said", LONG).output, "said\n");
    }

    #[test]
    fn what_ends_while_it_runs_is_ended() {
        let running = RunningCommand::default();
        running.end();
        let mut command = Command::new("sleep");
        command.arg("600");
        assert_eq!(run(command, LONG, &running).how, "was killed by signal 9");
    }

    #[test]
    fn times_are_no_difference() {
        let outcome = |output: &str| RunOutcome { passed: true, how: "passed".into(), output: output.into() };
        for (one, other, is_same) in [
            ("Finished `dev` profile target(s) in 0.05s", "Finished `dev` profile target(s) in 12.31s\n\n", true),
            ("5 passed in 0.03 seconds", "5 passed in 1.25 seconds", true),
            ("ok (12ms)", "ok (9ms)", true),
            ("5 passed in 0.03s", "6 passed in 0.03s", false),
            ("could not compile due to 2 previous errors", "could not compile due to 1 previous error", false),
        ] {
            assert_eq!(outcome(one).summary() == outcome(other).summary(), is_same, "{one}");
        }
    }
}
