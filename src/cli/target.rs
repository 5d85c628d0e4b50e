//! TARGET: where a command gets its peer. The same options everywhere.

use super::error::CommandError;
use crate::transport::child::ServerCommand;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A server to start.
#[derive(Debug, Args)]
#[command(next_help_heading = "Target")]
pub struct Target {
    /// Add to the server's environment (repeatable). The value is never written to a reel.
    #[arg(short = 'e', long = "env", value_name = "KEY=VALUE", value_parser = key_value)]
    env: Vec<(String, String)>,
    /// Start the server in this folder.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The server's command: everything after `--`.
    #[arg(last = true, value_name = "CMD")]
    argv: Vec<OsString>,
}

impl Target {
    /// The server's command; an error where none was given.
    pub fn server(&self) -> Result<ServerCommand, CommandError> {
        if self.argv.is_empty() {
            return Err(CommandError::usage("no server was given")
                .hint("put the server's command after --, as in: -- npx -y some-mcp-server"));
        }
        Ok(ServerCommand { argv: self.argv.clone(), env: self.env.clone(), cwd: self.cwd.clone() })
    }

    /// The names of added environment variables, without their values.
    pub fn env_names(&self) -> Vec<&str> {
        self.env.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The command as text.
    pub fn words(&self) -> Vec<String> {
        self.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }
}

/// `KEY=VALUE`.
pub fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("this is not KEY=VALUE".into()),
    }
}

/// A time span: `500ms`, `2s`, `1.5s`, `3m`; a bare number is seconds.
pub fn span(text: &str) -> Result<Duration, String> {
    let end = text.find(|found: char| !found.is_ascii_digit() && found != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = match unit {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("a time is like 500ms, 2s or 3m".into()),
    };
    let seconds = number.parse::<f64>().map_err(|_| "a time is like 500ms, 2s or 3m".to_owned())? * factor;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
