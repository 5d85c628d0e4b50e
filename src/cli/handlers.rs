//! The options for handlers of subscriptions: which ones the built-in server may run, and with what.

use super::printer::note;
use crate::error::{CommandError, ErrorKind};
use crate::process::supervisor;
use crate::proposals::server::handler_job::{HandlerPolicy, JobKind, Secret};
use crate::runtime::handler_runner::{HandlerOptions, HandlerRunner};
use crate::wire::units::parse_time;
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What subscriptions may do with their events. Subscribers decide what is run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Handlers of subscriptions")]
pub(super) struct HandlerArgs {
    /// Allow subscriptions to have handlers of this kind (repeatable, or comma-separated). With bash, subscribers can run
    /// any command as you. Subscriptions with other handlers are refused.
    #[arg(long = "allow-handlers", value_enum, value_name = "KIND", value_delimiter = ',')]
    allowed: Vec<KindArg>,
    /// The maximum time a handler may run.
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "30s", requires = "allowed")]
    handler_timeout: Duration,
    /// The folder in which bash handlers run.
    #[arg(long, value_name = "DIR", default_value = ".", requires = "allowed")]
    handler_dir: PathBuf,
    /// The program that runs bash handlers, with the handler's command as its last argument; for example a sandbox
    /// such as 'bwrap --ro-bind / / bash -c'.
    #[arg(long, value_name = "COMMAND", default_value = "bash -c", requires = "allowed")]
    handler_shell: String,
    /// Replace ${NAME} in the headers of webhooks to this host with the environment variable NAME (repeatable).
    /// Without a port, this applies only to the scheme's default port (443 for https, 80 for http). Put an IPv6
    /// address in brackets before a port.
    #[arg(long = "handler-secret", value_name = "NAME@HOST[:PORT]", requires = "allowed")]
    handler_secrets: Vec<String>,
    /// Run agent handlers with this program instead of the host's model: it reads the request as JSON on stdin. If
    /// bash handlers are allowed, too, the program gets as small an environment as they do, because they could read
    /// it.
    #[arg(long, value_name = "COMMAND", requires = "allowed")]
    agent_command: Option<String>,
}

/// A kind of handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KindArg {
    /// A shell command that the subscriber chooses.
    Bash,
    /// An HTTP POST.
    Webhook,
    /// A prompt to the host's model, or to --agent-command.
    Agent,
}

/// The allowed handlers, and the runner for them.
#[derive(Clone)]
pub(super) struct Allowed {
    /// What the engine may ask for.
    pub handler_policy: HandlerPolicy,
    /// What runs the handlers.
    pub jobs: Arc<HandlerRunner>,
}

impl HandlerArgs {
    /// The allowed handlers, or `None` if there are none. Hides this process's environment from handlers.
    ///
    /// # Errors
    ///
    /// An option is invalid, or the environment cannot be hidden.
    pub(super) fn prepare(&self) -> Result<Option<Allowed>, CommandError> {
        if self.allowed.is_empty() {
            return Ok(None);
        }
        let mut values = BTreeMap::new();
        let mut secrets = Vec::new();
        for word in &self.handler_secrets {
            let (secret, value) = secret(word)?;
            values.insert(secret.clone(), value);
            secrets.push(secret);
        }
        if !self.handler_dir.is_dir() {
            let reported = format!("{:?} is not a folder, so handlers cannot run in it", self.handler_dir);
            return Err(CommandError::usage(reported).hint("choose another folder with --handler-dir"));
        }
        let program = self.agent_command.as_deref().map(words).transpose()?;
        let kinds = self.allowed.iter().map(|kind| kind.kind()).collect();
        let has_scripts = self.allowed.contains(&KindArg::Bash);
        if has_scripts && !supervisor::can_confine() {
            note(
                "this kernel (before Linux 6.12, or without Landlock) lets handlers signal your other processes; one that \
                 kills its supervisor can use the control sockets of your sessions",
            );
        }
        let handler_policy =
            HandlerPolicy { kinds, secrets, has_program: program.is_some(), limit: self.handler_timeout };
        let folder = std::path::absolute(&self.handler_dir).unwrap_or_else(|_| self.handler_dir.clone());
        // Handlers must not read this process, because its environment contains secrets that they were not given.
        supervisor::hide()
            .map_err(|error| CommandError::new(ErrorKind::Internal, format!("cannot hide from handlers: {error}")))?;
        let shell = words(&self.handler_shell)?;
        let jobs = HandlerRunner::new(HandlerOptions {
            shell,
            program,
            is_program_bare: has_scripts,
            folder,
            secrets: values,
        });
        Ok(Some(Allowed { handler_policy, jobs }))
    }
}

impl KindArg {
    fn kind(self) -> JobKind {
        match self {
            Self::Bash => JobKind::Bash,
            Self::Webhook => JobKind::Webhook,
            Self::Agent => JobKind::Agent,
        }
    }
}

fn secret(word: &str) -> Result<(Secret, String), CommandError> {
    let parts = word.split_once('@').filter(|(name, _)| !name.is_empty());
    let parts = parts.and_then(|(name, place)| Some((name, place_of(place)?)));
    let (name, (host, port)) = parts.ok_or_else(|| {
        CommandError::usage(format!("invalid secret {word:?}: expected NAME@HOST or NAME@HOST:PORT"))
            .hint("for example: --handler-secret WEBHOOK_TOKEN@api.example.com:8443")
    })?;
    let value = std::env::var(name).map_err(|_| {
        CommandError::usage(format!("the environment variable {name} is not set"))
            .hint("set it, or omit --handler-secret")
    })?;
    Ok((Secret { name: name.to_owned(), host, port }, value))
}

/// A host, normalised as in parsed URLs, and its port.
fn place_of(text: &str) -> Option<(String, Option<u16>)> {
    let is_bare_address = text.parse::<std::net::Ipv6Addr>().is_ok();
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !is_bare_address && !text.ends_with(']') => {
            let is_number = port.bytes().all(|digit| digit.is_ascii_digit());
            (host.to_owned(), Some(port.parse().ok().filter(|port| is_number && *port != 0)?))
        }
        _ if is_bare_address => (format!("[{text}]"), None),
        _ => (text.to_owned(), None),
    };
    let host = url::Host::parse(&host).ok()?.to_string();
    (!host.contains('*')).then_some((host, port))
}

fn words(command: &str) -> Result<Vec<OsString>, CommandError> {
    match shlex::split(command).filter(|words| !words.is_empty()) {
        Some(words) => Ok(words.into_iter().map(OsString::from).collect()),
        None => Err(CommandError::usage(format!("invalid command {command:?}"))
            .hint("it must not be empty, and its quotes must be closed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secrets_host_is_found_however_it_is_spelled() {
        let (secret, value) = secret("PATH@API.Example.com").expect("a secret");
        assert_eq!((secret.host.as_str(), Ok(value)), ("api.example.com", std::env::var("PATH")));
    }

    #[test]
    fn a_secrets_place_is_a_host_and_a_port() {
        for (text, host, port) in [
            ("h", "h", None),
            ("h:8443", "h", Some(8443)),
            ("127.0.0.1:1", "127.0.0.1", Some(1)),
            ("[::1]", "[::1]", None),
            ("[0:0::1]:8443", "[::1]", Some(8443)),
            ("::1", "[::1]", None),
        ] {
            assert_eq!(place_of(text), Some((host.to_owned(), port)), "{text}");
        }
        for none in ["", ":80", "h:", "h:x", "h:0", "h:65536", "h:+1", "[::1", "::1]:80", "h/x", "a b", "u@h", "h:1:2"]
        {
            assert_eq!(place_of(none), None, "{none}");
        }
    }

    #[test]
    fn a_secret_is_for_its_port_alone() {
        let is_for = |place: &str, url: &str| {
            let (secret, _) = secret(&format!("PATH@{place}")).expect("a secret");
            secret.is_for(&url::Url::parse(url).expect("a URL"))
        };
        for (place, url) in [
            ("h", "https://h/x"),
            ("h", "https://h:443/"),
            ("h", "http://h/"),
            ("h:8443", "https://h:8443/"),
            ("h:443", "https://h/"),
            ("::1", "http://[::1]/"),
            ("[::1]:81", "http://[0:0:0:0:0:0:0:1]:81/"),
        ] {
            assert!(is_for(place, url), "{place} {url}");
        }
        for (place, url) in [
            ("h", "https://h:8443/"),
            ("h", "http://h:443/"),
            ("h", "https://h:80/"),
            ("h:8443", "https://h/"),
            ("h:443", "http://h/"),
            ("h:81", "http://h:82/"),
            ("[::1]:81", "http://[::1]/"),
            ("h", "https://x.h/"),
        ] {
            assert!(!is_for(place, url), "{place} {url}");
        }
    }
}
