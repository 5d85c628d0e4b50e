//! The errors that commands report: what failed, why, what to do next, and the exit code.

use crate::process::child::SpawnError;
use crate::scenario::ScenarioError;
use crate::trace::FormatError;
use std::io;
use std::path::Path;

/// Reports something to the user that does not end the command, as one line.
pub(crate) type Warn = fn(&str);

/// How much is reported to the user while a command runs.
#[derive(Clone, Copy)]
pub(crate) struct Notices {
    /// Reports one line.
    pub warn: Warn,
    /// Whether details are wanted, too.
    pub is_verbose: bool,
}

/// The kind of a failure, which determines the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line is invalid.
    Usage,
    /// An expectation was not met: counts as a finding.
    Unmet,
    /// A file cannot be read or has invalid content.
    Input,
    /// The other side or the transport failed.
    Peer,
    /// A time limit was exceeded.
    Timeout,
    /// The user interrupted the command.
    Interrupted,
    /// Something on this machine failed: the disk, the system.
    Internal,
    /// The reader of our output is gone: nothing to report.
    Quiet,
}

impl ErrorKind {
    /// The documented exit code.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Quiet => 0,
            Self::Unmet => 1,
            Self::Usage => 2,
            Self::Input => 3,
            Self::Peer | Self::Internal => 4,
            Self::Timeout => 5,
            Self::Interrupted => 130,
        }
    }
}

/// Why a command failed.
#[derive(Debug)]
pub struct CommandError {
    /// The kind of the failure.
    pub kind: ErrorKind,
    /// What failed and why.
    pub message: String,
    /// What to do next.
    pub hints: Vec<String>,
    /// If the failure is that the server closed the connection: when, such as ` before answering tools/call`.
    pub closed: Option<String>,
}

impl CommandError {
    /// An error without hints.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new(), closed: None }
    }

    /// Adds a hint.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The command line is invalid.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// The command's own output could not be written. A closed pipe is not reported.
    pub(crate) fn output(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::new(ErrorKind::Quiet, "");
        }
        Self::new(ErrorKind::Internal, format!("cannot write the output: {error}"))
    }

    /// A file could not be read, or what is in it is not valid.
    pub(crate) fn reading(path: &Path, error: &io::Error) -> Self {
        let reported = match error.kind() {
            io::ErrorKind::InvalidData => format!("{}: {error}", path.display()),
            _ => format!("cannot read {}: {error}", path.display()),
        };
        Self::new(ErrorKind::Input, reported)
    }

    /// A document is invalid, with the line.
    pub(crate) fn document(path: &Path, error: &ScenarioError) -> Self {
        let (line, column) = (error.place.line, error.place.column);
        match line {
            0 => Self::new(ErrorKind::Input, format!("{}: {}", path.display(), error.why)),
            _ => Self::new(ErrorKind::Input, format!("{}:{line}:{column}: {}", path.display(), error.why))
                .hint(format!("line {line}: {}", error.line.trim())),
        }
    }

    /// A file could not be written. A closed pipe is not reported.
    pub(crate) fn writing(path: &Path, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::new(ErrorKind::Quiet, "");
        }
        Self::new(ErrorKind::Internal, format!("cannot write {}: {error}", path.display()))
    }

    /// A server could not be started.
    pub(crate) fn spawning(error: SpawnError) -> Self {
        let reported = Self::new(ErrorKind::Peer, format!("cannot start the server: {error}"));
        match error {
            SpawnError::NotFound(program) => reported.hint(not_found(&program.to_string_lossy())),
            SpawnError::NotRunnable(path, why)
                if why.kind() == io::ErrorKind::NotFound && is_command_line(&path.to_string_lossy()) =>
            {
                reported.hint(SEPARATE_WORDS)
            }
            SpawnError::NotRunnable(path, why) if why.kind() == io::ErrorKind::PermissionDenied => {
                let path = path.display().to_string();
                let start = interpreter(&path).map(|with| format!(", or start it with its interpreter: {with} {path}"));
                reported.hint(format!("make it executable (chmod +x {path}){}", start.unwrap_or_default()))
            }
            _ => reported,
        }
    }

    /// A file is not a readable reel.
    pub(crate) fn reel(path: &Path, error: &FormatError) -> Self {
        let reported = Self::new(ErrorKind::Input, format!("{}: {error}", path.display()));
        match error {
            FormatError::TooNew(_) | FormatError::UnknownFeatures(_) => reported.hint("update mcpreel"),
            FormatError::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                reported.hint("`mcpreel reel list` lists the recorded reels")
            }
            _ => reported,
        }
    }
}

/// What to do about a program that is not in `PATH`.
fn not_found(program: &str) -> String {
    if let Some((name, _)) = program.split_once('=').filter(|(name, _)| is_variable(name)) {
        return format!("{name} looks like an environment variable: use -e {program}, before `--`");
    }
    if !program.contains('/') && Path::new(program).is_file() {
        let start = interpreter(program).map(|with| format!("{with} {program} or ")).unwrap_or_default();
        return format!("it is a file here: {start}./{program}");
    }
    if is_command_line(program) {
        return SEPARATE_WORDS.to_owned();
    }
    "use the full path, or check PATH".to_owned()
}

/// What to do about a program that is a whole command line.
const SEPARATE_WORDS: &str = "a program's name rarely has blanks: give each word by itself; in a configuration, move all words \
                              but the first from `command` to `args`";

fn is_command_line(program: &str) -> bool {
    program.trim().contains(char::is_whitespace)
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The interpreter of a script, by the ending of its name.
fn interpreter(path: &str) -> Option<&'static str> {
    match Path::new(path).extension()?.to_str()? {
        "py" => Some("python"),
        "js" | "mjs" | "cjs" => Some("node"),
        "ts" | "mts" => Some("npx tsx"),
        "rb" => Some("ruby"),
        "sh" => Some("sh"),
        _ => None,
    }
}

/// How a hint with a line of the server's stderr begins.
pub(crate) const OF_STDERR: &str = "server's stderr: ";
