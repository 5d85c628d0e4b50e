//! Which handlers of subscriptions the built-in server may run, and with what: the options, checked.

use super::error::{CommandError, ErrorKind};
use super::printer::note;
use super::target::span;
use crate::drive::chores::{Chores, Options};
use crate::extension::server::chore::{Kind, Permits, Secret};
use crate::transport::keeper;
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What subscriptions may have done with their events. Whoever may subscribe decides what is run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Handlers of subscriptions")]
pub struct HandlerArgs {
    /// Let subscriptions have handlers of this kind (repeatable, or with commas). With bash, whoever subscribes runs
    /// any command as you. Without it, a subscription with a handler is refused.
    #[arg(long = "allow-handlers", value_enum, value_name = "KIND", value_delimiter = ',')]
    allowed: Vec<KindArg>,
    /// How long a handler may take at most.
    #[arg(long, value_name = "TIME", value_parser = span, default_value = "30s", requires = "allowed")]
    handler_timeout: Duration,
    /// The folder where bash handlers run; their own is found from there.
    #[arg(long, value_name = "DIR", default_value = ".", requires = "allowed")]
    handler_dir: PathBuf,
    /// What takes a bash handler's command as its last argument: a sandbox, as in 'bwrap --ro-bind / / bash -c'.
    #[arg(long, value_name = "COMMAND", default_value = "bash -c", requires = "allowed")]
    handler_shell: String,
    /// Let webhooks to this host have the environment's variable NAME where their headers say ${NAME} (repeatable).
    #[arg(long = "handler-secret", value_name = "NAME@HOST", requires = "allowed")]
    handler_secrets: Vec<String>,
    /// Answer agent handlers with this program, not with the host's model: what is asked comes as JSON on its standard
    /// input. Where bash is allowed too, which could look into it, it finds as little in its environment.
    #[arg(long, value_name = "COMMAND", requires = "allowed")]
    agent_command: Option<String>,
}

/// A kind of handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KindArg {
    /// A command of the subscriber's in a shell.
    Bash,
    /// An HTTP POST.
    Webhook,
    /// The host's model, or --agent-command.
    Agent,
}

/// Handlers that may be run, and whoever does it.
#[derive(Clone)]
pub struct Allowed {
    /// What the engine may want.
    pub permits: Permits,
    /// Whoever does it.
    pub chores: Arc<Chores>,
}

impl HandlerArgs {
    /// What is allowed; nothing where nothing is.
    pub fn prepare(&self) -> Result<Option<Allowed>, CommandError> {
        if self.allowed.is_empty() {
            return Ok(None);
        }
        let mut values = BTreeMap::new();
        let mut secrets = Vec::new();
        for word in &self.handler_secrets {
            let (secret, value) = secret(word)?;
            values.insert((secret.name.clone(), secret.host.clone()), value);
            secrets.push(secret);
        }
        if !self.handler_dir.is_dir() {
            let told = format!("{:?} is no folder to run handlers in", self.handler_dir);
            return Err(CommandError::usage(told).hint("name another with --handler-dir"));
        }
        let program = self.agent_command.as_deref().map(words).transpose()?;
        let kinds = self.allowed.iter().map(|kind| kind.kind()).collect();
        let has_scripts = self.allowed.contains(&KindArg::Bash);
        if has_scripts && !keeper::can_confine() {
            note(
                "this kernel (before Linux 6.12, or without Landlock) lets handlers signal your other processes; one that \
                 kills its supervisor can use the control sockets of your sessions",
            );
        }
        let permits = Permits { kinds, secrets, has_program: program.is_some(), limit: self.handler_timeout };
        let folder = std::path::absolute(&self.handler_dir).unwrap_or_else(|_| self.handler_dir.clone());
        // What a command could read of this process it must not: its environment holds what was not lent.
        keeper::hide()
            .map_err(|error| CommandError::new(ErrorKind::Internal, format!("cannot hide from handlers: {error}")))?;
        let shell = words(&self.handler_shell)?;
        let chores = Chores::new(Options { shell, program, is_program_bare: has_scripts, folder, secrets: values });
        Ok(Some(Allowed { permits, chores }))
    }
}

impl KindArg {
    fn kind(self) -> Kind {
        match self {
            Self::Bash => Kind::Bash,
            Self::Webhook => Kind::Webhook,
            Self::Agent => Kind::Agent,
        }
    }
}

fn secret(word: &str) -> Result<(Secret, String), CommandError> {
    let parts = word.split_once('@').filter(|(name, host)| !name.is_empty() && !host.is_empty());
    let (name, host) = parts.ok_or_else(|| {
        CommandError::usage(format!("{word:?} names no variable and host"))
            .hint("write NAME@HOST, as in: --handler-secret WEBHOOK_TOKEN@api.example.com")
    })?;
    let value = std::env::var(name).map_err(|_| {
        CommandError::usage(format!("there is no variable {name} in the environment"))
            .hint("set it, or leave --handler-secret out")
    })?;
    // As a URL's host is written once it is read.
    Ok((Secret { name: name.to_owned(), host: host.to_ascii_lowercase() }, value))
}

fn words(command: &str) -> Result<Vec<OsString>, CommandError> {
    match shlex::split(command).filter(|words| !words.is_empty()) {
        Some(words) => Ok(words.into_iter().map(OsString::from).collect()),
        None => Err(CommandError::usage(format!("{command:?} is no command")).hint("quotes in it must be closed")),
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
}
