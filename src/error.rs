//! One error at the top: what failed, why, and what to do next, with the exit code that goes with it.

use crate::scenario::ScenarioError;
use crate::trace::FormatError;
use std::io;
use std::path::Path;

/// Reports something to the user that does not end the command, as one line.
pub type Warn = fn(&str);

/// What kind of failure it is; each has its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line asks for something that cannot be.
    Usage,
    /// What was expected did not hold: counts as a finding.
    Unmet,
    /// A file cannot be read or is not what it should be.
    Input,
    /// The peer or the transport failed.
    Peer,
    /// A time limit passed.
    Timeout,
    /// The user interrupted.
    Interrupted,
    /// Something here failed: the disk, the system.
    Internal,
    /// Whoever read our output has gone: nothing to say.
    Quiet,
}

impl ErrorKind {
    /// The documented exit code.
    pub fn exit_code(self) -> u8 {
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

/// What a command failed of.
#[derive(Debug)]
pub struct CommandError {
    /// What kind of failure.
    pub kind: ErrorKind,
    /// What failed and why.
    pub message: String,
    /// What to do next.
    pub hints: Vec<String>,
}

impl CommandError {
    /// A failure without a hint.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new() }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The command line asks for something that cannot be.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Writing the command's own output failed; a closed pipe is no failure.
    pub fn output(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::new(ErrorKind::Quiet, "");
        }
        Self::new(ErrorKind::Internal, format!("cannot write the output: {error}"))
    }

    /// Reading a file failed.
    pub fn reading(path: &Path, error: &io::Error) -> Self {
        Self::new(ErrorKind::Input, format!("cannot read {}: {error}", path.display()))
    }

    /// What is wrong with a document, at its line.
    pub fn document(path: &Path, error: &ScenarioError) -> Self {
        let (line, column) = (error.place.line, error.place.column);
        match line {
            0 => Self::new(ErrorKind::Input, format!("{}: {}", path.display(), error.why)),
            _ => Self::new(ErrorKind::Input, format!("{}:{line}:{column}: {}", path.display(), error.why))
                .hint(format!("line {line}: {}", error.line.trim())),
        }
    }

    /// Writing a file failed.
    pub fn writing(path: &Path, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::new(ErrorKind::Quiet, "");
        }
        Self::new(ErrorKind::Internal, format!("cannot write {}: {error}", path.display()))
    }

    /// A file is no readable reel.
    pub fn reel(path: &Path, error: &FormatError) -> Self {
        let reported = Self::new(ErrorKind::Input, format!("{}: {error}", path.display()));
        match error {
            FormatError::TooNew(_) | FormatError::UnknownFeatures(_) => reported.hint("update mcpreel"),
            FormatError::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                reported.hint("`mcpreel show` without a file shows the newest recording")
            }
            _ => reported,
        }
    }
}
