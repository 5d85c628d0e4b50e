//! What `serve` watches, and whether it remembers: the options, checked.

use crate::error::CommandError;
use crate::runtime::watch::{Folder, Options, PreparedWatchers};
use crate::wire::units::parse_time;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// What the server has beside its tools.
#[derive(Debug, Args)]
#[command(next_help_heading = "What it has and watches")]
pub struct WatchArgs {
    /// Whether it has a memory, and the tools for it.
    #[arg(long, value_enum, value_name = "SWITCH", default_value_t = Switch::On)]
    memory: Switch,
    /// Watch this folder (repeatable). Its text files are resources; a change is told to those who subscribed to the
    /// file or a folder above it, and to all as a reminder.
    #[arg(long = "watch", value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Ignore what this matches, by its name or its path from the folder (repeatable), beside .git, target and
    /// node_modules.
    #[arg(long = "ignore", value_name = "GLOB", requires = "folders")]
    ignored: Vec<String>,
    /// Run this command in a shell at the start and after each change, and remind when another outcome came of it
    /// (repeatable). Its outcome is told by the tool `check` too.
    #[arg(long = "watch-command", value_name = "COMMAND")]
    commands: Vec<String>,
    /// Run the commands again after this time, too.
    #[arg(long = "watch-every", value_name = "TIME", value_parser = parse_time, requires = "commands")]
    every: Option<Duration>,
    /// How long a command may take.
    #[arg(long = "watch-limit", value_name = "TIME", value_parser = parse_time, default_value = "5m")]
    limit: Duration,
    /// Tell changes once nothing has changed for so long.
    #[arg(long = "watch-quiet", value_name = "TIME", value_parser = parse_time, default_value = "200ms")]
    quiet: Duration,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    /// It is there.
    On,
    /// It is not.
    Off,
}

impl WatchArgs {
    /// Whether the server remembers things.
    pub fn has_memory(&self) -> bool {
        self.memory == Switch::On
    }

    /// What is to be watched; nothing where nothing is.
    pub fn prepare(&self) -> Result<Option<PreparedWatchers>, CommandError> {
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
