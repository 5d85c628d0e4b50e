//! TARGET: where a command gets its peer. The same options everywhere.

use super::error::CommandError;
use crate::transport::Remote;
use crate::transport::child::ServerCommand;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A server to start, to attach to, or to find.
#[derive(Debug, Args)]
#[command(next_help_heading = "Target")]
pub struct Target {
    /// Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT.
    #[arg(long, value_name = "URL", conflicts_with_all = ["argv", "config", "server", "session"])]
    url: Option<String>,
    /// A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = header)]
    headers: Vec<(String, String)>,
    /// Trust the certificates in this PEM file, beside those of the system.
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// Do not check the server's certificate.
    #[arg(long)]
    insecure: bool,
    /// An MCP client's configuration to find the server in; the usual places are searched where none is named.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["argv", "session"])]
    config: Option<PathBuf>,
    /// The server's name in that configuration.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["argv", "session"])]
    server: Option<String>,
    /// A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them.
    #[arg(long, value_name = "NAME", conflicts_with = "argv")]
    session: Option<String>,
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

/// What a target comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// A server to start over stdio.
    Command(ServerCommand),
    /// A server to attach to.
    Remote(Remote),
    /// A live session by its name.
    Session(String),
}

impl Target {
    /// What the options name; an error where that is nothing.
    pub fn resolve(&self) -> Result<TargetKind, CommandError> {
        if let Some(name) = &self.session {
            self.check_joined()?;
            return Ok(TargetKind::Session(name.clone()));
        }
        if let Some(url) = &self.url {
            return Ok(TargetKind::Remote(self.attach(url.clone(), Vec::new())));
        }
        if self.argv.is_empty() {
            return Err(CommandError::usage("no server was given")
                .hint("put the server's command after --, as in: -- npx -y some-mcp-server"));
        }
        Ok(TargetKind::Command(ServerCommand { argv: self.argv.clone(), env: self.env.clone(), cwd: self.cwd.clone() }))
    }

    /// A session that lives has its server already: what would start or reach one has no effect there.
    fn check_joined(&self) -> Result<(), CommandError> {
        let given = [
            ("-e", !self.env.is_empty()),
            ("--cwd", self.cwd.is_some()),
            ("-H", !self.headers.is_empty()),
            ("--cacert", self.cacert.is_some()),
            ("--insecure", self.insecure),
        ];
        match given.into_iter().find(|option| option.1) {
            None => Ok(()),
            Some((option, _)) => Err(CommandError::usage(format!("{option} makes no sense with --session"))
                .hint("the session's server runs already; leave the option out, or start a server after --")),
        }
    }

    /// A URL with the options that go with it; `headers` stand before those of the command line.
    fn attach(&self, url: String, mut headers: Vec<(String, String)>) -> Remote {
        headers.extend(self.headers.iter().cloned());
        Remote { url, headers, cacert: self.cacert.clone(), insecure: self.insecure }
    }
}

/// `Name: value`.
fn header(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.trim().to_owned())),
        _ => Err("this is not NAME: VALUE".into()),
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
