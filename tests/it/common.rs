//! The test harness: a folder of its own as current folder and home, an environment that contains only `PATH`, and a
//! time limit for every wait.
//!
//! Never sleeps for a fixed time, and shares nothing between tests.

pub(crate) mod auth;
pub(crate) mod receiver;
#[cfg(target_os = "linux")]
pub(crate) mod socket;
pub(crate) mod web;

use parking_lot::Mutex;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The time limit for everything; far more than is ever needed.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);
/// When the reels that tests make begin.
pub(crate) const CREATED: &str = "2026-01-02T03:04:05Z";

/// A folder of its own that contains a home folder.
pub(crate) struct Stage {
    folder: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["home", "state", "reels"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).expect("a file is written");
        path
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Any program in this folder, with an empty environment except for `PATH`.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let (program, arguments) = words.split_first().expect("a program");
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.folder.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").expect("PATH is set"));
        command.env("HOME", self.path("home")).env("XDG_STATE_HOME", self.path("state"));
        command.env("MCPREEL_HOME", self.path("mcpreel")).env("NO_COLOR", "1").env("TZ", "UTC").env("LC_ALL", "C");
        command
    }

    pub(crate) fn mcpreel(&self, arguments: &[&str]) -> Command {
        let program = binary();
        let mut words = vec![program.as_str()];
        words.extend(arguments);
        self.command(&words)
    }

    /// Runs the binary to its end with this input.
    pub(crate) fn run(&self, arguments: &[&str], stdin: impl AsRef<[u8]>) -> Output {
        finish(self.mcpreel(arguments), stdin.as_ref().to_vec())
    }

    /// Runs the binary, and fails the test unless it exits with 0.
    pub(crate) fn ok(&self, arguments: &[&str]) -> Output {
        let output = self.run(arguments, "");
        assert_eq!(output.code(), 0, "{arguments:?}: {output:?}");
        output
    }

    /// Starts the binary; the test is its peer.
    pub(crate) fn start(&self, arguments: &[&str]) -> Live {
        Live::start(self.mcpreel(arguments))
    }

    /// A reel of these events, made by `import` so that its times are fixed.
    pub(crate) fn reel(&self, name: &str, events: &[Value]) -> PathBuf {
        let mut lines = json!({"reel": {"version": 1, "created": CREATED, "tool": "test"}}).to_string();
        for event in events {
            lines.push('\n');
            lines.push_str(&event.to_string());
        }
        self.import(name, lines)
    }

    /// A reel of these JSON lines.
    pub(crate) fn import(&self, name: &str, lines: impl AsRef<[u8]>) -> PathBuf {
        let output = self.run(&["import", "-", "-o", name], lines);
        assert_eq!(output.code(), 0, "import: {output:?}");
        self.path(name)
    }

    /// What `export` writes of a reel: the header, then one object per event.
    pub(crate) fn events(&self, reel: &str) -> Vec<Value> {
        self.ok(&["reel", "verify", reel]);
        self.events_of_any(reel)
    }

    /// As [`Stage::events`], for a reel that may be damaged.
    pub(crate) fn events_of_any(&self, reel: &str) -> Vec<Value> {
        let output = self.run(&["export", reel], "");
        output.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// `reel info --format json`.
    pub(crate) fn info(&self, reel: &str) -> Value {
        let output = self.run(&["reel", "info", reel, "--format", "json"], "");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }

    /// The bytes of one stream of a reel.
    pub(crate) fn cat(&self, reel: &str, stream: &str) -> Vec<u8> {
        self.ok(&["reel", "cat", "--stream", stream, reel]).stdout
    }
}

/// The binary under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_mcpreel");

/// The program that tests run: another one if `MCPREEL_BIN` names it, to see which tests it fails.
pub(crate) fn binary() -> String {
    std::env::var("MCPREEL_BIN").unwrap_or_else(|_| BINARY.to_owned())
}

/// An event for [`Stage::reel`]: milliseconds since the beginning, direction, message.
pub(crate) fn message(milliseconds: u64, direction: &str, message: Value) -> Value {
    json!({"time": time(milliseconds), "dir": direction, "event": "message", "message": message})
}

/// The time this many milliseconds after [`CREATED`].
pub(crate) fn time(milliseconds: u64) -> String {
    format!("2026-01-02T03:04:{:02}.{:03}Z", 5 + milliseconds / 1000, milliseconds % 1000)
}

/// How a process ended, and its output.
pub(crate) struct Output {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Output {
    /// The exit code; after a death by signal, the negative signal number.
    pub(crate) fn code(&self) -> i32 {
        code(self.status)
    }

    pub(crate) fn out(&self) -> String {
        String::from_utf8(self.stdout.clone()).expect("text on standard output")
    }

    pub(crate) fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let clip = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(4000)]).replace('\u{1b}', "\\e");
        let (stdout, stderr) = (clip(&self.stdout), clip(&self.stderr));
        write!(out, "exit {}\n--- stdout\n{stdout}\n--- stderr\n{stderr}", self.code())
    }
}

pub(crate) fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| -status.signal().unwrap_or(1000))
}

/// Runs a process to its end with this input, which it need not read completely.
pub(crate) fn finish(mut command: Command, stdin: Vec<u8>) -> Output {
    let mut child = spawn(&mut command);
    let mut into = child.stdin.take().expect("piped");
    let writer = thread::spawn(move || into.write_all(&stdin).is_ok());
    let stdout = collect(child.stdout.take().expect("piped"));
    let stderr = collect(child.stderr.take().expect("piped"));
    let status = wait(&mut child, LIMIT, "mcpreel");
    writer.join().expect("the writer does not panic");
    Output { status, stdout: join(stdout), stderr: join(stderr) }
}

fn spawn(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"))
}

/// The output of a pipe, collected on a thread.
struct Gathered {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Gathered {
    fn so_far(&self) -> Vec<u8> {
        self.bytes.lock().clone()
    }
}

fn collect(mut source: impl Read + Send + 'static) -> Gathered {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let gathered = Arc::clone(&bytes);
    let reader = thread::spawn(move || {
        let mut chunk = vec![0; 64 << 10];
        loop {
            match source.read(&mut chunk).expect("a pipe can be read") {
                0 => return,
                got => gathered.lock().extend_from_slice(&chunk[..got]),
            }
        }
    });
    Gathered { bytes, reader }
}

fn join(gathered: Gathered) -> Vec<u8> {
    gathered.reader.join().expect("the reader does not panic");
    std::mem::take(&mut gathered.bytes.lock())
}

/// Waits until a child has ended, up to `limit`. `what` names it in the panic if it takes longer.
pub(crate) fn wait(child: &mut Child, limit: Duration, what: &str) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            return status;
        }
        if start.elapsed() > limit {
            child.kill().expect("a running child can be killed");
            panic!("did not end within {limit:?}: {what}");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Repeats a question until there is an answer.
pub(crate) fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < LIMIT, "not within {LIMIT:?}: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A running process with the test as its peer. Killed when dropped.
pub(crate) struct Live {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    stderr: Option<Gathered>,
}

impl Live {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = spawn(&mut command);
        let (sender, lines) = channel();
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        thread::spawn(move || {
            loop {
                let mut line = Vec::new();
                match stdout.read_until(b'\n', &mut line) {
                    Ok(1..) if sender.send(line).is_ok() => {}
                    _ => return,
                }
            }
        });
        let stderr = collect(child.stderr.take().expect("piped"));
        Self { stdin: child.stdin.take(), child, lines, stderr: Some(stderr) }
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a process id")
    }

    /// Writes to standard input; the error says how that failed.
    pub(crate) fn try_write(&mut self, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
        self.stdin.as_mut().expect("still open").write_all(bytes.as_ref())
    }

    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.try_write(bytes).expect("the process reads");
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n"));
    }

    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// The next line without its end; `None` at the end of the output.
    pub(crate) fn next_line(&mut self) -> Option<String> {
        match self.lines.recv_timeout(LIMIT) {
            Ok(line) => Some(String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned()),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no line within {LIMIT:?}"),
        }
    }

    pub(crate) fn line(&mut self) -> String {
        self.next_line().unwrap_or_else(|| panic!("the output ended: {}", self.stderr_so_far()))
    }

    /// The next message for which `wanted` is true; others are skipped.
    pub(crate) fn message(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.line();
            let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            if wanted(&message) {
                return message;
            }
        }
    }

    /// Standard error so far.
    pub(crate) fn stderr_so_far(&self) -> String {
        let said = self.stderr.as_ref().expect("not ended yet").so_far();
        String::from_utf8_lossy(&said).into_owned()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child can be waited for").is_none()
    }

    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(status.expect("kill is there").success(), "kill -s {name}");
    }

    /// Waits for the end. The result contains the unread standard output.
    pub(crate) fn end(mut self) -> Output {
        self.stdin = None;
        let status = wait(&mut self.child, LIMIT, "mcpreel");
        let mut stdout = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(LIMIT) {
            stdout.extend(line);
        }
        Output { status, stdout, stderr: join(self.stderr.take().expect("not ended yet")) }
    }

    /// Waits for the end and discards unread output.
    pub(crate) fn end_unread(mut self) {
        wait(&mut self.child, LIMIT, "mcpreel");
    }

    /// Waits for the end while standard input stays open.
    pub(crate) fn end_with_open_stdin(mut self) -> Output {
        let stdin = self.stdin.take();
        wait(&mut self.child, LIMIT, "mcpreel");
        let output = self.end();
        drop(stdin);
        output
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a process is alive (zombies are not).
pub(crate) fn lives(pid: i32) -> bool {
    let Ok(stat) = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")) else {
        return false;
    };
    !matches!(stat.rsplit(')').next().map(str::trim_start), Some(rest) if rest.starts_with(['Z', 'X']))
}

/// Compares bytes; shows only the surroundings of the first difference.
pub(crate) fn assert_same(what: &str, got: &[u8], want: &[u8]) {
    if got == want {
        return;
    }
    let same = got.iter().zip(want).take_while(|(left, right)| left == right).count();
    let around = |bytes: &[u8]| bytes[same.saturating_sub(60)..bytes.len().min(same + 60)].escape_ascii().to_string();
    let (left, right) = (around(got), around(want));
    panic!("{what}: {} bytes for {}, equal up to {same}\n got: {left}\nwant: {right}", got.len(), want.len());
}
