//! Duty: hold the tap against programs this project did not write.
//!
//! Three real clients (the TypeScript SDK, both generations of the Python SDK) talk to two real servers, with and
//! without `mcpreel record` between them. The client must see the same results, and the reel must hold exactly the
//! bytes that an independent proxy, `tests/real/tee.py`, saw on either side of the tap.
//!
//! Also hold `call` against real servers over HTTP, in each way there is.
//!
//! The peers come from `tests/real/install.sh`. The suite passes with a printed reason when `MCPREEL_REAL_PEERS`
//! does not name the folder they were installed into:
//!
//! ```sh
//! tests/real/install.sh target/real && MCPREEL_REAL_PEERS=target/real cargo test --test real_peers
//! ```
#![cfg(unix)]
#![expect(clippy::expect_used, clippy::panic, reason = "a test's helpers fail the test by panicking")]

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

const FOLDER: &str = "MCPREEL_REAL_PEERS";
const LIMIT: Duration = Duration::from_secs(150);
const STREAMS: [&str; 3] = ["c2s", "s2c", "stderr"];

#[test]
fn typescript_client_with_the_everything_server() {
    meet(ClientKind::TypeScript, Scenario::Everything);
}

#[test]
fn typescript_client_with_the_time_server() {
    meet(ClientKind::TypeScript, Scenario::Time);
}

#[test]
fn python_1_client_with_the_everything_server() {
    meet(ClientKind::PythonOne, Scenario::Everything);
}

#[test]
fn python_1_client_with_the_time_server() {
    meet(ClientKind::PythonOne, Scenario::Time);
}

#[test]
fn python_2_client_with_the_everything_server() {
    meet(ClientKind::PythonTwo, Scenario::Everything);
}

#[test]
fn python_2_client_with_the_time_server() {
    meet(ClientKind::PythonTwo, Scenario::Time);
}

#[test]
fn a_server_that_refuses_to_start_keeps_its_words_and_exit_code() {
    let Some(stage) = Stage::set() else { return };
    let mut server = stage.peers.server(Scenario::Everything);
    server.pop();
    server.push("no-such-transport".into());
    let (reel, tee) = (stage.path("refused.reel"), stage.path("refused"));
    let direct = stage.run(&server);
    let tapped = stage.run(&tap(&reel, &stage.peers.tee(&tee, &server)));
    assert_ne!(direct.code(), 0, "the server started against expectation");
    assert_eq!(tapped.code(), direct.code(), "exit code; stderr of the tap:\n{}", tapped.errors());
    assert_same_bytes("standard output through the tap", &tapped.stdout, &direct.stdout);
    assert_reel_holds(&stage, &reel, &tee, Side::Server);
    assert_reel_is_sound(&stage, &reel);
}

#[test]
fn the_everything_server_over_streamable_http() {
    let Some(stage) = Stage::set() else { return };
    let server = Listening::start(&stage, &["node".into(), stage.peers.everything().into(), "streamableHttp".into()]);
    let told = server.answers_echo("/mcp", &["--era", "auto"]);
    for step in ["legacy era, revision 2025-11-25", "a stream for what the server says by itself", "DELETE → 200"] {
        assert!(told.contains(step), "no {step:?} in\n{told}");
    }
    server.answers_echo("/mcp", &["--protocol-version", "2025-03-26"]);
}

#[test]
fn the_everything_server_over_http_and_sse() {
    let Some(stage) = Stage::set() else { return };
    let server = Listening::start(&stage, &["node".into(), stage.peers.everything().into(), "sse".into()]);
    let told = server.answers_echo("/sse", &[]);
    assert!(told.contains("POST initialize → 404 Not Found; trying HTTP+SSE"), "{told}");
}

#[test]
fn a_python_server_over_streamable_http_in_both_eras() {
    let Some(stage) = Stage::set() else { return };
    let script = stage.peers.scripts.join("server_http.py");
    let server = Listening::start(&stage, &[stage.peers.python("py2").into(), script.into()]);
    assert!(server.answers_echo("/mcp", &["--era", "auto"]).contains("modern era, revision 2026-07-28"));
    assert!(server.answers_echo("/mcp", &["--era", "modern"]).contains("modern era, revision 2026-07-28"));
    assert!(server.answers_echo("/mcp", &["--era", "legacy"]).contains("legacy era, revision 2025-11-25"));
}

/// A server that listens on a port of this machine, which it is told as its last argument and in `PORT`.
struct Listening<'a> {
    stage: &'a Stage,
    child: Child,
    port: u16,
}

impl<'a> Listening<'a> {
    fn start(stage: &'a Stage, command: &[OsString]) -> Self {
        let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = free.expect("a free port").port();
        let words = [command, &[port.to_string().into()]].concat();
        let mut command = stage.command(&words);
        command.env("PORT", port.to_string()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap_or_else(|error| panic!("cannot start {}: {error}", describe(&words)));
        let mut server = Self { stage, child, port };
        let start = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = server.child.try_wait().expect("a child can be waited for");
            assert_eq!(ended, None, "{} ended before it listened", describe(&words));
            assert!(start.elapsed() < LIMIT, "{} does not listen", describe(&words));
            thread::sleep(Duration::from_millis(20));
        }
        server
    }

    /// Lists its tools and calls `echo`; what `-v` told of the call.
    fn answers_echo(&self, path: &str, options: &[&str]) -> String {
        let url = format!("http://127.0.0.1:{}{path}", self.port);
        let call = |words: &[&str]| {
            let program = OsString::from(env!("CARGO_BIN_EXE_mcpreel"));
            let fixed = ["call", "--format", "json", "-v", "--url", &url];
            let words = fixed.iter().chain(options).chain(words).map(OsString::from);
            let words: Vec<_> = std::iter::once(program).chain(words).collect();
            let finished = self.stage.run(&words);
            assert_eq!(finished.code(), 0, "{}\nstderr:\n{}", describe(&words), finished.errors());
            let result: Value = serde_json::from_slice(&finished.stdout).expect("call prints JSON");
            (result, finished.errors())
        };
        let (listed, _) = call(&["tools/list"]);
        let names: Vec<&str> =
            listed["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
        assert!(names.contains(&"echo"), "{listed}");
        let (said, told) = call(&["tools/call", "name=echo", "arguments.message=hi"]);
        assert_eq!(said["content"][0]["text"], "Echo: hi");
        told
    }
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The whole comparison of one pair: without the tap, with the proxy behind it, with the proxy in front of it.
fn meet(client: ClientKind, scenario: Scenario) {
    let Some(stage) = Stage::set() else { return };
    let server = stage.peers.server(scenario);
    let direct = stage.converse(client, scenario, &server);

    let (reel, tee) = (stage.path("behind.reel"), stage.path("behind"));
    let tapped = stage.converse(client, scenario, &tap(&reel, &stage.peers.tee(&tee, &server)));
    assert_same_lines("results, proxy behind the tap", &tapped, &direct);
    assert_reel_holds(&stage, &reel, &tee, Side::Server);
    assert_reel_is_sound(&stage, &reel);

    let (reel, tee) = (stage.path("before.reel"), stage.path("before"));
    let tapped = stage.converse(client, scenario, &stage.peers.tee(&tee, &tap(&reel, &server)));
    assert_same_lines("results, proxy in front of the tap", &tapped, &direct);
    assert_reel_holds(&stage, &reel, &tee, Side::Client);
    assert_reel_is_sound(&stage, &reel);
}

#[derive(Clone, Copy)]
enum ClientKind {
    TypeScript,
    PythonOne,
    PythonTwo,
}

#[derive(Clone, Copy)]
enum Scenario {
    Everything,
    Time,
}

impl Scenario {
    fn name(self) -> &'static str {
        match self {
            Self::Everything => "everything",
            Self::Time => "time",
        }
    }
}

/// On which side of the tap the proxy stood.
#[derive(Clone, Copy)]
enum Side {
    Client,
    Server,
}

/// The installed programs and the committed scripts that drive them.
struct Peers {
    folder: PathBuf,
    scripts: PathBuf,
}

impl Peers {
    fn find() -> Result<Self, String> {
        let named =
            std::env::var_os(FOLDER).ok_or_else(|| format!("{FOLDER} is not set (see tests/real/install.sh)"))?;
        let folder = Path::new(&named)
            .canonicalize()
            .map_err(|error| format!("{FOLDER} names {}: {error}", Path::new(&named).display()))?;
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real");
        let peers = Self { folder, scripts };
        for needed in [peers.everything(), peers.python("py1"), peers.python("py2")] {
            assert!(needed.exists(), "{} is missing: run tests/real/install.sh", needed.display());
        }
        Ok(peers)
    }

    fn everything(&self) -> PathBuf {
        self.folder.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js")
    }

    fn python(&self, venv: &str) -> PathBuf {
        self.folder.join(venv).join("bin/python")
    }

    fn server(&self, scenario: Scenario) -> Vec<OsString> {
        match scenario {
            Scenario::Everything => vec!["node".into(), self.everything().into(), "stdio".into()],
            Scenario::Time => {
                let module = ["-m", "mcp_server_time", "--local-timezone", "UTC"].map(OsString::from);
                std::iter::once(self.python("py2").into()).chain(module).collect()
            }
        }
    }

    fn client(&self, kind: ClientKind) -> [OsString; 2] {
        let script = |name: &str| self.scripts.join(name).into_os_string();
        match kind {
            ClientKind::TypeScript => ["node".into(), script("client.mjs")],
            ClientKind::PythonOne => [self.python("py1").into(), script("client_v1.py")],
            ClientKind::PythonTwo => [self.python("py2").into(), script("client_v2.py")],
        }
    }

    fn tee(&self, folder: &Path, command: &[OsString]) -> Vec<OsString> {
        let tee = ["python3".into(), self.scripts.join("tee.py").into(), folder.into()];
        [&tee[..], command].concat()
    }
}

/// `command` with the tap in front of it.
fn tap(reel: &Path, command: &[OsString]) -> Vec<OsString> {
    let tap = [env!("CARGO_BIN_EXE_mcpreel").into(), "record".into(), "-o".into(), reel.into(), "--".into()];
    [&tap[..], command].concat()
}

/// A temporary home in which everything runs and nothing of the user's own is seen.
struct Stage {
    home: TempDir,
    peers: Peers,
}

impl Stage {
    /// `None`, after saying why, when the peers are not installed.
    fn set() -> Option<Self> {
        let peers = match Peers::find() {
            Ok(peers) => peers,
            Err(reason) => {
                // Written to the stream itself, at once: the harness would swallow what eprintln! says.
                let line = format!("skipped: {reason}\n");
                std::io::stderr().write_all(line.as_bytes()).expect("standard error takes a line");
                return None;
            }
        };
        let home = tempfile::tempdir().expect("a temporary home");
        let runtime = home.path().join("run");
        std::fs::create_dir(&runtime).expect("a runtime folder");
        std::fs::set_permissions(&runtime, PermissionsExt::from_mode(0o700)).expect("a private runtime folder");
        Some(Self { home, peers })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn command(&self, words: &[OsString]) -> Command {
        let (program, arguments) = words.split_first().expect("a command has a program");
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.home.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").expect("PATH is set"));
        command.env("HOME", self.home.path()).env("XDG_RUNTIME_DIR", self.path("run"));
        for kind in ["STATE", "CONFIG", "CACHE", "DATA"] {
            command.env(format!("XDG_{kind}_HOME"), self.path(&kind.to_lowercase()));
        }
        command.env(FOLDER, &self.peers.folder).env("PYTHONDONTWRITEBYTECODE", "1");
        command.env("LANG", "C.UTF-8").env("TZ", "UTC").env("NO_COLOR", "1");
        command
    }

    fn run(&self, words: &[OsString]) -> Finished {
        finish(self.command(words), &describe(words))
    }

    /// Runs a client on a server's command and returns the lines it printed, one for each operation.
    fn converse(&self, client: ClientKind, scenario: Scenario, server: &[OsString]) -> String {
        let words = [&self.peers.client(client)[..], &[scenario.name().into()], server].concat();
        let finished = self.run(&words);
        let what = describe(&words);
        assert_eq!(finished.code(), 0, "{what}\nstderr:\n{}", finished.errors());
        let lines = String::from_utf8(finished.stdout).expect("the clients print UTF-8");
        assert!(lines.lines().count() > 5, "{what}\nprinted too little:\n{lines}");
        lines
    }

    fn mcpreel(&self, words: &[&str], reel: &Path) -> Finished {
        let program = OsString::from(env!("CARGO_BIN_EXE_mcpreel"));
        let words = words.iter().map(OsString::from);
        self.run(&std::iter::once(program).chain(words).chain([reel.into()]).collect::<Vec<_>>())
    }
}

/// How a process ended, and all it said.
struct Finished {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Finished {
    /// The exit code; -1 for a death by signal, which no test here expects.
    fn code(&self) -> i32 {
        self.status.code().unwrap_or(-1)
    }

    fn errors(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

fn describe(words: &[OsString]) -> String {
    words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Runs a command to its end without standard input, and fails the test when it takes too long.
fn finish(mut command: Command, what: &str) -> Finished {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {what}: {error}"));
    let stdout = collect(child.stdout.take().expect("standard output is piped"));
    let stderr = collect(child.stderr.take().expect("standard error is piped"));
    let status = wait(&mut child, what);
    let stdout = stdout.join().expect("the reader of standard output does not panic");
    let stderr = stderr.join().expect("the reader of standard error does not panic");
    Finished { status, stdout, stderr }
}

fn collect(mut source: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes).expect("a pipe can be read");
        bytes
    })
}

fn wait(child: &mut Child, what: &str) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            return status;
        }
        if start.elapsed() > LIMIT {
            child.kill().expect("a running child can be killed");
            panic!("took longer than {LIMIT:?}: {what}");
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// The reel gives back, stream by stream, the bytes that the proxy saw.
fn assert_reel_holds(stage: &Stage, reel: &Path, tee: &Path, side: Side) {
    for stream in STREAMS {
        let cat = stage.mcpreel(&["reel", "cat", "--stream", stream], reel);
        assert_eq!(cat.code(), 0, "reel cat --stream {stream}\n{}", cat.errors());
        let kept = tee.join(format!("{stream}.bin"));
        let mut seen = std::fs::read(&kept).unwrap_or_else(|error| panic!("{}: {error}", kept.display()));
        if let (Side::Client, "stderr") = (side, stream) {
            seen = without_own_lines(&seen);
        }
        assert_same_bytes(&format!("{stream} of {}", reel.display()), &cat.stdout, &seen);
    }
}

/// In front of the tap, standard error also carries what the tap says itself, on lines that begin with its name.
fn without_own_lines(bytes: &[u8]) -> Vec<u8> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| !line.starts_with(b"mcpreel")).flatten().copied().collect()
}

/// The reel verifies, and the checks come to an end with a report, whatever they find.
fn assert_reel_is_sound(stage: &Stage, reel: &Path) {
    let verified = stage.mcpreel(&["reel", "verify"], reel);
    assert_eq!(verified.code(), 0, "reel verify {}\n{}", reel.display(), verified.errors());
    let report = stage.mcpreel(&["validate", "--format", "json"], reel);
    assert!(matches!(report.code(), 0 | 1), "validate ended with {:?}\n{}", report.status, report.errors());
    let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_slice(&report.stdout).into_iter().collect();
    let values = values.expect("validate --format json prints JSON");
    assert!(!values.is_empty(), "validate --format json printed nothing\n{}", report.errors());
}

/// Compares line by line, so that a failure names the operation.
fn assert_same_lines(what: &str, got: &str, want: &str) {
    for (number, (got, want)) in got.lines().zip(want.lines()).enumerate() {
        assert_eq!(got, want, "{what}: line {} differs", number + 1);
    }
    assert_eq!(got.lines().count(), want.lines().count(), "{what}: the number of operations");
}

/// Compares bytes and shows only the neighbourhood of the first difference.
fn assert_same_bytes(what: &str, got: &[u8], want: &[u8]) {
    if got == want {
        return;
    }
    let same = got.iter().zip(want).take_while(|(left, right)| left == right).count();
    let mut message = format!("{what}: {} bytes instead of {}, equal up to byte {same}", got.len(), want.len());
    for (side, bytes) in [("got", got), ("want", want)] {
        let around = &bytes[same.saturating_sub(60)..bytes.len().min(same + 60)];
        write!(message, "\n{side}: …{}…", around.escape_ascii()).expect("a string takes text");
    }
    panic!("{message}");
}
