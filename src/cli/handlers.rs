//! The options for handlers of subscriptions: which ones the built-in server may run, and with what.

use super::printer::note;
use crate::error::{CommandError, ErrorKind};
use crate::platform::confinement;
use crate::process::child::absolute_program;
use crate::proposals::server::handler_job::{HandlerPolicy, JobKind};
use crate::runtime::handler_runner::{HandlerOptions, HandlerRunner};
use crate::runtime::handler_secrets;
use crate::wire::units::parse_time;
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};
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
    /// The program that runs bash handlers: it gets a script and the script's arguments, as `bash -c` does; for example a
    /// sandbox such as 'bwrap --ro-bind / / bash -c'. It is looked up once, from the current folder and in PATH.
    #[arg(long, value_name = "COMMAND", default_value = "bash -c", requires = "allowed")]
    handler_shell: String,
    /// Replace ${NAME} in the headers of webhooks to this host with the environment variable NAME (repeatable).
    /// Without a port, this applies only to the scheme's default port (443 for https, 80 for http). Put an IPv6
    /// address in brackets before a port.
    #[arg(long = "handler-secret", value_name = "NAME@HOST[:PORT]", requires = "allowed")]
    handler_secrets: Vec<String>,
    /// Let webhooks reach this host although its address is not public, for example because it is in your network
    /// (repeatable). Without this, such addresses are refused, whatever name leads to them; except for this machine
    /// itself, by localhost or its address.
    #[arg(long = "allow-private-host", value_name = "HOST", requires = "allowed", value_parser = host)]
    private_hosts: Vec<String>,
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
            let (secret, value) = handler_secrets::secret(word)?;
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
        if has_scripts && !confinement::can_confine() {
            note(
                "this kernel (before Linux 6.12, or without Landlock) lets handlers signal your other processes; one that \
                 kills its supervisor can use the control sockets of your sessions",
            );
        }
        let private_hosts = self.private_hosts.clone();
        let handler_policy = HandlerPolicy {
            kinds,
            secrets,
            private_hosts: private_hosts.clone(),
            has_program: program.is_some(),
            limit: self.handler_timeout,
        };
        let folder = std::path::absolute(&self.handler_dir).unwrap_or_else(|_| self.handler_dir.clone());
        // Handlers must not read this process, because its environment contains secrets that they were not given.
        confinement::hide()
            .map_err(|error| CommandError::new(ErrorKind::Internal, format!("cannot hide from handlers: {error}")))?;
        let shell = resolved(words(&self.handler_shell)?);
        let jobs = HandlerRunner::new(HandlerOptions {
            shell,
            program,
            is_program_bare: has_scripts,
            folder,
            secrets: values,
            private_hosts,
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

/// Parses a host as it stands in a parsed URL; an IPv6 address may be without brackets.
fn host(word: &str) -> Result<String, String> {
    let bracketed = word.parse::<Ipv6Addr>().map(|address| format!("[{address}]"));
    let host = url::Host::parse(bracketed.as_deref().unwrap_or(word));
    host.map(|host| host.to_string()).map_err(|error| format!("invalid host: {error}"))
}

/// The command with the absolute path of its program: subscribers choose the folder in which it is started. A program that
/// does not exist now is not looked for there, either; each run reports it.
fn resolved(mut words: Vec<OsString>) -> Vec<OsString> {
    if let Some(program) = words.first_mut() {
        let is_path = Path::new(program).components().count() > 1;
        let absent = |program: &OsString| is_path.then(|| std::path::absolute(program).ok()).flatten();
        if let Some(path) = absolute_program(program).ok().or_else(|| absent(program)) {
            *program = path.into_os_string();
        }
    }
    words
}

fn words(command: &str) -> Result<Vec<OsString>, CommandError> {
    match shlex::split(command).filter(|words| !words.is_empty()) {
        Some(words) => Ok(words.into_iter().map(OsString::from).collect()),
        None => Err(CommandError::usage(format!("invalid command {command:?}"))
            .hint("it must not be empty, and its quotes must be closed")),
    }
}
