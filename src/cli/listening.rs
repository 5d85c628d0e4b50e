//! The options of all commands that listen.

use super::target::Limits;
use crate::error::CommandError;
use crate::files::output;
use crate::record::recording::OnExisting;
use crate::transport::listen::origin_check::Access;
use crate::wire::MessageLimit;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// The options of listeners.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Listening")]
pub(super) struct ListenOptions {
    /// Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or
    /// unix:PATH for JSON lines.
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP
    /// addresses are always accepted.
    #[arg(long = "allow-host", value_name = "NAME", requires = "listen")]
    hosts: Vec<String>,
    /// Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and
    /// the origin that matches the `Host` header, are always accepted.
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "listen")]
    origins: Vec<String>,
    /// Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other
    /// listeners, --max-message applies as well.
    #[arg(long, value_name = "BYTES", requires = "listen", default_value_t = 256 << 20, hide_default_value = true)]
    pub max_body: u64,
    /// When clients can connect, write the URL to this file as a JSON object: {"url":…,"transport":…,"pid":…}. The file
    /// is removed at the end. Reading a FIFO waits for it.
    #[arg(long, value_name = "FILE", requires = "listen")]
    ready_file: Option<PathBuf>,
}

/// The file of --ready-file. If it is a regular file, it is removed when this is dropped.
pub(super) struct ReadyFile<'a> {
    file: Option<&'a PathBuf>,
    content: String,
}

impl ReadyFile<'_> {
    /// What it says.
    pub(super) fn line(&self) -> &str {
        self.content.trim_end()
    }
}

impl Drop for ReadyFile<'_> {
    fn drop(&mut self) {
        let is_own =
            |path: &PathBuf| path.is_file() && std::fs::read_to_string(path).is_ok_and(|it| it == self.content);
        // Another process may have written its own address in the meantime.
        if let Some(path) = self.file.filter(|path| is_own(path)) {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl ListenOptions {
    /// The maximum length of a client's message, for listeners that receive messages themselves.
    pub(super) fn limit(&self, limits: Limits) -> MessageLimit {
        let most = usize::try_from(self.max_body).unwrap_or(usize::MAX);
        MessageLimit::of_bytes(most.min(limits.max_message.bytes()))
    }

    /// What to do if the session's reel exists: a client that starts the process cannot choose another name.
    pub(super) fn on_existing(&self) -> OnExisting {
        if self.listen.is_some() { OnExisting::Fail } else { OnExisting::by_stdin() }
    }

    /// Writes to the file of --ready-file that clients can connect to this URL: the listener is bound, so that the system
    /// accepts connections. The file exists until the result is dropped.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(super) fn ready(&self, url: &str, transport: &str) -> Result<ReadyFile<'_>, CommandError> {
        let ready = json!({"url": url, "transport": transport, "pid": std::process::id()});
        let ready = ReadyFile { file: self.ready_file.as_ref(), content: format!("{ready}\n") };
        ready.file.map(|path| output::write_whole(path, ready.content.as_bytes())).transpose()?;
        Ok(ready)
    }

    /// Which hosts and origins are accepted.
    pub(super) fn access(&self) -> Access {
        Access { hosts: self.hosts.clone(), origins: self.origins.clone() }
    }
}
