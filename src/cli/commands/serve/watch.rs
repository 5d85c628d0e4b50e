//! The options for the server's memory and for what it watches.

use crate::error::CommandError;
use crate::runtime::watch::{Folder, Options, PreparedWatchers};
use crate::wire::units::parse_time;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// What the server has in addition to its tools.
#[derive(Debug, Args)]
#[command(next_help_heading = "Memory and watching")]
pub(super) struct WatchArgs {
    /// Whether the server has a memory, with the tools for it.
    #[arg(long, value_enum, value_name = "SWITCH", default_value_t = Switch::On)]
    memory: Switch,
    /// Watch this folder (repeatable). Its text files become resources. Changes are reported to subscribers of the
    /// file or of a folder above it, and to all hosts as a reminder.
    #[arg(long = "watch", value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Ignore files whose name or path within the folder matches (repeatable), in addition to .git, target and
    /// node_modules.
    #[arg(long = "ignore", value_name = "GLOB", requires = "folders")]
    ignored: Vec<String>,
    /// Run this command in a shell at the start and after each change, and send a reminder if its result has changed
    /// (repeatable). The tool `check` reports the result, too.
    #[arg(long = "watch-command", value_name = "COMMAND")]
    commands: Vec<String>,
    /// Also run the commands at this interval.
    #[arg(long = "watch-every", value_name = "TIME", value_parser = parse_time, requires = "commands")]
    every: Option<Duration>,
    /// How long a command may run.
    #[arg(long = "watch-limit", value_name = "TIME", value_parser = parse_time, default_value = "5m")]
    limit: Duration,
    /// Report changes once the files have been unchanged for this long.
    #[arg(long = "watch-quiet", value_name = "TIME", value_parser = parse_time, default_value = "200ms")]
    quiet: Duration,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

impl WatchArgs {
    /// Whether the server has a memory.
    pub(super) fn has_memory(&self) -> bool {
        self.memory == Switch::On
    }

    /// What to watch, or `None` if there is nothing.
    ///
    /// # Errors
    ///
    /// A folder cannot be opened, or a glob is invalid.
    pub(super) fn prepare(&self) -> Result<Option<PreparedWatchers>, CommandError> {
        if self.folders.is_empty() && self.commands.is_empty() {
            return Ok(None);
        }
        let opened = self.folders.iter().map(|folder| Folder::open(folder, &self.ignored));
        let folders = opened.collect::<Result<_, _>>().map_err(|error| {
            CommandError::usage(error.to_string()).hint("--watch takes a folder, --ignore a glob like '*.tmp'")
        })?;
        let (quiet, every, limit) = (self.quiet, self.every, self.limit);
        Ok(Some(PreparedWatchers::new(Options { folders, commands: self.commands.clone(), quiet, every, limit })))
    }
}
