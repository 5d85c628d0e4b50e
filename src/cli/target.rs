//! TARGET: where a command gets its peer. The same options everywhere.

use super::Context;
use super::clients::{self, Found};
use crate::config::entry::{Overrides, Server};
use crate::config::expand::{Names, env_file, expand};
use crate::error::{CommandError, ErrorKind};
use crate::process::child::ServerCommand;
use crate::transport::Remote;
use crate::wire::MessageLimit;
use clap::{ArgAction, Args};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The variable of the environment with a token for the server that a URL names.
const TOKEN: &str = "MCPREEL_TOKEN";

/// A server to start, to attach to, or to find.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Target")]
pub struct Target {
    /// Attach to a server: http(s)://…, ws(s)://…, unix:PATH or tcp:HOST:PORT; or env:NAME, a variable that holds that.
    #[arg(long, value_name = "URL", conflicts_with_all = ["argv", "config", "server", "session", "env", "cwd"])]
    url: Option<String>,
    #[command(flatten)]
    reaching: Reaching,
    /// An MCP client's configuration to find the server in; the usual places are searched where none is named.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["argv", "session"])]
    config: Option<PathBuf>,
    /// The server's name in that configuration.
    #[arg(long, value_name = "NAME", action = ArgAction::Set, conflicts_with_all = ["argv", "session"])]
    server: Vec<String>,
    /// A live session: a running `record` or `serve` of yours; `mcpreel sessions` lists them.
    #[arg(long, value_name = "NAME", conflicts_with = "argv")]
    session: Option<String>,
    #[command(flatten)]
    starting: Starting,
    #[command(flatten)]
    pub limits: Limits,
    /// The server's command: everything after `--`.
    #[arg(last = true, value_name = "CMD")]
    argv: Vec<OsString>,
}

/// How much is taken from a peer at once.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Limits {
    /// The longest message that is taken from a peer, in bytes or as 512K, 64M, 1G (64M by default). A longer one ends
    /// its connection, with exit code 4 where there is no other. What `record` only passes on has no limit.
    #[arg(long, value_name = "SIZE", default_value = "64M", hide_default_value = true)]
    pub max_message: MessageLimit,
}

/// What goes with a server that is reached over HTTP.
#[derive(Clone, Debug, Default, Args)]
struct Reaching {
    /// A header of every HTTP request (repeatable). `${NAME}` takes the value from the environment. Where none is
    /// Authorization, a token in MCPREEL_TOKEN is sent as `Bearer`.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = header)]
    headers: Vec<(String, String)>,
    /// A header whose value is in an environment variable (repeatable).
    #[arg(long, value_name = "NAME=VARIABLE", value_parser = key_value)]
    header_env: Vec<(String, String)>,
    /// Trust the certificates in this PEM file, beside those of the system.
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// Do not check the server's certificate.
    #[arg(long)]
    insecure: bool,
}

/// What goes with a server that is started.
#[derive(Clone, Debug, Default, Args)]
struct Starting {
    /// Add to the server's environment (repeatable). The value is never written to a reel.
    #[arg(short = 'e', long = "env", value_name = "KEY=VALUE", value_parser = key_value)]
    env: Vec<(String, String)>,
    /// Start the server in this folder.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
}

impl Reaching {
    /// The first option that is given.
    fn given(&self) -> Option<&'static str> {
        let given = [
            ("-H", !self.headers.is_empty()),
            ("--header-env", !self.header_env.is_empty()),
            ("--cacert", self.cacert.is_some()),
            ("--insecure", self.insecure),
        ];
        given.into_iter().find(|option| option.1).map(|option| option.0)
    }
}

impl Starting {
    /// The first option that is given.
    fn given(&self) -> Option<&'static str> {
        let given = [("-e", !self.env.is_empty()), ("--cwd", self.cwd.is_some())];
        given.into_iter().find(|option| option.1).map(|option| option.0)
    }
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
    /// What one word stands for where several servers are named: a URL, a live session (`session:NAME`), or a command
    /// with its arguments as a shell would split them.
    pub fn of_word(word: &str) -> Result<Self, CommandError> {
        if let Some(name) = word.trim().strip_prefix("session:") {
            return Ok(Self { session: Some(name.to_owned()), ..Self::default() });
        }
        // A command's arguments may hold URLs too.
        let is_one = !word.trim().contains(char::is_whitespace);
        let is_url = is_one && (word.contains("://") || word.starts_with("unix:") || word.starts_with("tcp:"));
        if is_url {
            return Ok(Self { url: Some(word.to_owned()), ..Self::default() });
        }
        let argv = shlex::split(word).filter(|argv| !argv.is_empty()).ok_or_else(|| {
            CommandError::usage(format!("{word:?} is no command")).hint("quotes in it must be closed")
        })?;
        Ok(Self { argv: argv.into_iter().map(OsString::from).collect(), ..Self::default() })
    }

    /// The same with these limits.
    #[must_use]
    pub fn within(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// A server to start, with an environment and a folder.
    pub fn of_command_in(argv: &[String], env: &BTreeMap<String, String>, cwd: Option<&str>) -> Self {
        let env = env.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let argv = argv.iter().map(OsString::from).collect();
        Self { argv, starting: Starting { env, cwd: cwd.map(PathBuf::from) }, ..Self::default() }
    }

    /// A server to attach to.
    pub fn of_url(url: &str, headers: &BTreeMap<String, String>) -> Self {
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let reaching = Reaching { headers, ..Reaching::default() };
        Self { url: Some(url.to_owned()), reaching, ..Self::default() }
    }

    /// What the options name; an error where that is nothing.
    pub fn resolve(&self, context: &Context) -> Result<TargetKind, CommandError> {
        if let Some(name) = &self.session {
            self.check_joined()?;
            return Ok(TargetKind::Session(name.clone()));
        }
        if let Some(url) = &self.url {
            let url = match url.strip_prefix("env:") {
                Some(name) => variable(name).ok_or_else(|| unset(name, "--url"))?,
                None => url.clone(),
            };
            return self.attach(url, Vec::new()).map(TargetKind::Remote);
        }
        if self.config.is_some() || !self.server.is_empty() {
            let name = self.server.first().map(String::as_str);
            let found = clients::find(self.config.as_deref(), name, context)?;
            return self.configured(&found);
        }
        if self.argv.is_empty() {
            return Err(CommandError::usage("no server was given")
                .hint("put the server's command after --, as in: -- npx -y some-mcp-server")
                .hint(
                    "or name one of your client's configuration with --server NAME, or attach to one with --url URL",
                ));
        }
        self.check_started()?;
        let Starting { env, cwd } = self.starting.clone();
        Ok(TargetKind::Command(ServerCommand { argv: self.argv.clone(), env, cwd, limit: self.limits.max_message }))
    }

    /// The servers that the options name where there may be several, a target each; what goes with a server is the
    /// one's that alone can be meant.
    pub fn each(&self) -> Result<Vec<Self>, CommandError> {
        let configured = |name: Option<&String>| Self {
            config: self.config.clone(),
            server: name.into_iter().cloned().collect(),
            ..Self::default()
        };
        let mut each = Vec::new();
        each.extend(self.url.iter().map(|url| Self { url: Some(url.clone()), ..Self::default() }));
        match &self.server[..] {
            [] if self.config.is_some() => each.push(configured(None)),
            names => each.extend(names.iter().map(|name| configured(Some(name)))),
        }
        each.extend(self.session.iter().map(|name| Self { session: Some(name.clone()), ..Self::default() }));
        if !self.argv.is_empty() {
            each.push(Self { argv: self.argv.clone(), ..Self::default() });
        }
        if let Some(option) = self.reaching.given() {
            meant(&mut each, option, "--url", |one| one.url.is_some())?.reaching = self.reaching.clone();
        }
        if let Some(option) = self.starting.given() {
            meant(&mut each, option, "a command after --", |one| !one.argv.is_empty())?.starting =
                self.starting.clone();
        }
        Ok(each.into_iter().map(|one| one.within(self.limits)).collect())
    }

    /// A short name for the server: what it is called in a configuration or as a session, its machine, its program.
    pub fn name(&self, context: &Context) -> Result<String, CommandError> {
        if let Some(url) = &self.url {
            return Ok(name_of(url).to_owned());
        }
        if let Some(session) = &self.session {
            return Ok(session.split('#').next().unwrap_or(session).to_owned());
        }
        match (self.server.first(), self.argv.first()) {
            (Some(name), _) => Ok(name.clone()),
            (None, Some(program)) => {
                let stem = Path::new(program).file_stem().unwrap_or(program);
                Ok(stem.to_string_lossy().into_owned())
            }
            (None, None) => Ok(clients::find(self.config.as_deref(), None, context)?.entry.name),
        }
    }

    /// A session that lives has its server already: what would start or reach one has no effect there.
    fn check_joined(&self) -> Result<(), CommandError> {
        let next = "the session's server runs already; leave the option out, start a server after --, or where the \
                    session listens (`mcpreel sessions`) attach to it with --url";
        refuse(self.starting.given().or(self.reaching.given()), "--session", next)
    }

    /// A server that is started is spoken to without HTTP: what belongs to that has no effect there.
    fn check_started(&self) -> Result<(), CommandError> {
        let next = "it belongs to a server that is reached over HTTP, with --url; a variable for a command is -e";
        refuse(self.reaching.given(), "a server's command", next)
    }

    /// A server that is attached to runs already.
    fn check_attached(&self) -> Result<(), CommandError> {
        let next = "it belongs to a server that is started; a header for one that is reached over HTTP is -H";
        refuse(self.starting.given(), "a server's URL", next)
    }

    /// A server of a client's configuration, with the options that go with it; those win over what stands there.
    fn configured(&self, found: &Found) -> Result<TargetKind, CommandError> {
        let Found { path, entry } = found;
        let workspace = found.workspace(&clients::current_folder()?, &|name| std::env::var_os(name));
        let names = Names { variable: &variable, workspace: &workspace.folder };
        let given = self.reaching.headers.iter().chain(&self.reaching.header_env).map(|(name, _)| name.as_str());
        let overrides = Overrides {
            env: self.starting.env.iter().map(|(name, _)| name.as_str()).collect(),
            headers: given.collect(),
        };
        let resolved = entry.resolve(&names, &overrides).map_err(|error| {
            let reported = format!("{}: server {:?}: {error}", path.display(), entry.name);
            let reported = CommandError::new(ErrorKind::Input, reported);
            error.hint().into_iter().fold(reported, CommandError::hint)
        })?;
        match resolved {
            Server::Remote { url, headers } => self.attach(url, headers).map(TargetKind::Remote),
            Server::Command { argv, env, env_file, cwd } => {
                self.check_started()?;
                let mut all = env_file.as_deref().map(read_env_file).transpose()?.unwrap_or_default();
                all.extend(env);
                all.extend(self.starting.env.iter().cloned());
                let project = Some(workspace.folder).filter(|folder| workspace.is_project && folder.is_dir());
                let cwd = self.starting.cwd.clone().or(cwd).or(project);
                let argv = argv.into_iter().map(OsString::from).collect();
                Ok(TargetKind::Command(ServerCommand { argv, env: all, cwd, limit: self.limits.max_message }))
            }
        }
    }

    /// A URL with the options that go with it; `headers` are those that no option overrides.
    fn attach(&self, url: String, mut headers: Vec<(String, String)>) -> Result<Remote, CommandError> {
        self.check_attached()?;
        let Reaching { headers: headers_given, header_env, cacert, insecure } = &self.reaching;
        for (name, value) in headers_given {
            let names = Names { variable: &variable, workspace: Path::new(".") };
            let value = expand(value, &names).map_err(|error| CommandError::usage(format!("-H {name}: {error}")));
            headers.push((name.clone(), value?));
        }
        for (name, holder) in header_env {
            let value = variable(holder).ok_or_else(|| unset(holder, &format!("--header-env {name}")))?;
            headers.push((name.clone(), value));
        }
        let names_itself = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        if let Some(token) = variable(TOKEN).filter(|token| !names_itself && !token.is_empty()) {
            headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
        }
        let limit = self.limits.max_message;
        Ok(Remote { url, headers, cacert: cacert.clone(), insecure: *insecure, limit })
    }
}

/// Whose option it is, of several servers: that of the kind that takes it, else the only one of a configuration.
/// A single one gets it in any case, and refuses it where it makes no sense.
fn meant<'a>(
    each: &'a mut [Target],
    option: &str,
    kind: &str,
    takes: impl Fn(&Target) -> bool,
) -> Result<&'a mut Target, CommandError> {
    let is_configured = |one: &Target| one.config.is_some() || !one.server.is_empty();
    let takes = if each.iter().any(&takes) { &takes as &dyn Fn(&Target) -> bool } else { &is_configured };
    let is_alone = each.len() == 1;
    let mut fitting = each.iter_mut().filter(|one| is_alone || takes(one));
    match (fitting.next(), fitting.next()) {
        (Some(only), None) => Ok(only),
        (found, _) => {
            let why = if found.is_none() {
                "there is no server that it goes with"
            } else {
                "there are several servers that it could go with"
            };
            let error = CommandError::usage(format!("{option}: {why}"));
            Err(error.hint(format!("it goes with {kind}, or with the server of --server where that is one")))
        }
    }
}

/// Refuses an option, where it is given, that has no effect there.
pub fn refuse(option: Option<&str>, with: &str, hint: &str) -> Result<(), CommandError> {
    option.map_or(Ok(()), |option| Err(CommandError::usage(format!("{option} makes no sense with {with}")).hint(hint)))
}

/// What a server is called that only its URL names: its machine, or its file.
fn name_of(url: &str) -> &str {
    let place = url.split_once("://").map(|(_, place)| place).or_else(|| url.strip_prefix("tcp:"));
    let name = match place {
        Some(place) => match place.strip_prefix('[') {
            Some(address) => address.split(']').next(),
            None => place.split(['/', ':']).next(),
        },
        None => url.rsplit(['/', ':']).next(),
    };
    let name = name.filter(|name| !name.is_empty()).unwrap_or("server");
    name.strip_suffix(".sock").unwrap_or(name)
}

/// An environment variable, where it is set and text.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn unset(name: &str, option: &str) -> CommandError {
    CommandError::usage(format!("{option}: the variable {name} is not set"))
}

fn read_env_file(path: &Path) -> Result<Vec<(String, String)>, CommandError> {
    std::fs::read_to_string(path).map(|text| env_file(&text)).map_err(|error| CommandError::reading(path, &error))
}

/// `Name: value`.
pub fn header(text: &str) -> Result<(String, String), String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_only_its_url_names_is_called_as_its_machine_or_file() {
        for (url, name) in [
            ("https://example.com:8443/mcp", "example.com"),
            ("ws://[::1]:8080/", "::1"),
            ("tcp:127.0.0.1:7000", "127.0.0.1"),
            ("unix:/tmp/mcp.sock", "mcp"),
            ("env:MEMORY_URL", "MEMORY_URL"),
            ("http:///", "server"),
        ] {
            assert_eq!(name_of(url), name, "{url}");
        }
    }

    #[test]
    fn a_word_is_a_url_only_as_a_whole() {
        for (word, url, argv) in [
            ("http://h/mcp", Some("http://h/mcp"), 0),
            ("unix:/tmp/x.sock", Some("unix:/tmp/x.sock"), 0),
            ("bridge --to http://h/mcp", None, 3),
            ("tcp:relay x", None, 2),
        ] {
            let target = Target::of_word(word).expect("a server");
            assert_eq!((target.url.as_deref(), target.argv.len()), (url, argv), "{word}");
        }
    }
}
