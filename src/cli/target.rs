//! The options that name a server: the same in all commands.

use super::Context;
use super::login::LoginOptions;
use super::own_line::check_words;
use crate::config::clients::{self, Found};
use crate::config::entry::{Overrides, Server};
use crate::config::expand::{Names, env_file, expand};
use crate::error::{CommandError, ErrorKind};
use crate::files::text::{SMALL, read_text};
use crate::process::child::ServerCommand;
use crate::runtime::host_servers::ServerLocation;
use crate::sessions::live::{self, JoinRoute};
use crate::transport::Remote;
use crate::wire::MessageLimit;
use clap::{ArgAction, Args};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The environment variable with a token for the server that `--url` names.
const TOKEN: &str = "MCPREEL_TOKEN";

/// A server to start, to connect to, or to find in a configuration.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Target")]
pub(super) struct Target {
    /// Connect to a running server: http(s)://…, ws(s)://…, unix:PATH, tcp:HOST:PORT, or env:NAME to read the URL
    /// from an environment variable.
    #[arg(long, value_name = "URL", conflicts_with_all = ["argv", "config", "server", "session", "env", "cwd"])]
    url: Option<String>,
    #[command(flatten)]
    reaching: Reaching,
    /// Find the server in this configuration file of an MCP client (default: search the usual places).
    #[arg(long, value_name = "FILE", conflicts_with_all = ["argv", "session"])]
    config: Option<PathBuf>,
    /// The server's name in the configuration.
    #[arg(long, value_name = "NAME", action = ArgAction::Set, conflicts_with_all = ["argv", "session"])]
    server: Vec<String>,
    /// Use a live session that `mcpreel record` records; `mcpreel sessions` lists them. Use --url for `mcpreel serve
    /// --listen`.
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

/// Limits on what a peer may send.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct Limits {
    /// Maximum length of a received message in bytes, or as 512K, 64M, 1G (default: 64M). A longer message closes its
    /// connection; a command that cannot continue without it exits with 4.
    #[arg(long, value_name = "SIZE", default_value = "64M", hide_default_value = true)]
    pub max_message: MessageLimit,
}

/// The options of a server that is reached over HTTP.
#[derive(Clone, Debug, Default, Args)]
struct Reaching {
    /// Add a header to every HTTP request (repeatable). `${NAME}` is replaced by the value of the environment variable
    /// NAME. If MCPREEL_TOKEN is set, it is sent as `Authorization: Bearer …`, unless there is such a header or --login.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = header)]
    headers: Vec<(String, String)>,
    /// Add a header whose value is in an environment variable (repeatable).
    #[arg(long, value_name = "NAME=VARIABLE", value_parser = key_value)]
    header_env: Vec<(String, String)>,
    /// Trust the certificates in this PEM file in addition to the system's.
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// Do not verify the server's certificate.
    #[arg(long)]
    insecure: bool,
    #[command(flatten)]
    login: LoginOptions,
}

/// The options of a server that is started.
#[derive(Clone, Debug, Default, Args)]
struct Starting {
    /// Add a variable to the server's environment (repeatable). mcpreel writes only its name to the reel.
    #[arg(short = 'e', long = "env", value_name = "KEY=VALUE", value_parser = env_value)]
    env: Vec<(String, String)>,
    /// Start the server in this folder.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
}

impl Reaching {
    /// The first of these options that is given, except for the login's: that is meant for servers that require one.
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
    /// The first of these options that is given.
    fn given(&self) -> Option<&'static str> {
        let given = [("-e", !self.env.is_empty()), ("--cwd", self.cwd.is_some())];
        given.into_iter().find(|option| option.1).map(|option| option.0)
    }
}

/// What a target resolves to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TargetKind {
    /// A server to start, on stdio.
    Command(ServerCommand),
    /// A server to connect to.
    Remote(Remote),
    /// The name of a live session.
    Session(String),
}

impl Target {
    /// The target that one word names, where several servers can be named: a URL, a live session (`session:NAME`), or
    /// a command line, which is split as a shell would.
    ///
    /// # Errors
    ///
    /// The word is empty, or a quote in it is not closed.
    pub(super) fn of_word(word: &str) -> Result<Self, CommandError> {
        if let Some(name) = word.trim().strip_prefix("session:") {
            return Ok(Self { session: Some(name.to_owned()), ..Self::default() });
        }
        // The arguments of a command may be URLs, too.
        let is_one = !word.trim().contains(char::is_whitespace);
        let is_url = is_one && (word.contains("://") || word.starts_with("unix:") || word.starts_with("tcp:"));
        if is_url {
            return Ok(Self { url: Some(word.to_owned()), ..Self::default() });
        }
        let argv = shlex::split(word).filter(|argv| !argv.is_empty()).ok_or_else(|| {
            CommandError::usage(format!("invalid command {word:?}"))
                .hint("it must not be empty, and its quotes must be closed")
        })?;
        Ok(Self { argv: argv.into_iter().map(OsString::from).collect(), ..Self::default() })
    }

    /// Whether any option names a server.
    pub(super) fn is_given(&self) -> bool {
        let is_named = self.url.is_some() || self.session.is_some() || self.config.is_some();
        is_named || !self.server.is_empty() || !self.argv.is_empty()
    }

    /// Whether the server's command is given, rather than found in a configuration.
    pub(super) fn has_command(&self) -> bool {
        !self.argv.is_empty()
    }

    /// This target with the given limits.
    #[must_use]
    pub(super) fn within(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// A server to start, with an environment and a folder.
    pub(super) fn of_command_in(argv: &[String], env: &BTreeMap<String, String>, cwd: Option<&str>) -> Self {
        let env = env.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let argv = argv.iter().map(OsString::from).collect();
        Self { argv, starting: Starting { env, cwd: cwd.map(PathBuf::from) }, ..Self::default() }
    }

    /// A server to connect to.
    pub(super) fn of_url(url: &str, headers: &BTreeMap<String, String>) -> Self {
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let reaching = Reaching { headers, ..Reaching::default() };
        Self { url: Some(url.to_owned()), reaching, ..Self::default() }
    }

    /// The server that the options name.
    ///
    /// # Errors
    ///
    /// The options name no server, or contradict each other, or a configuration or variable cannot be read.
    pub(super) fn resolve(&self, context: &Context) -> Result<TargetKind, CommandError> {
        if let Some(name) = &self.session {
            self.check_joined()?;
            return Ok(TargetKind::Session(name.clone()));
        }
        if let Some(url) = &self.url {
            let url = match url.strip_prefix("env:") {
                Some(name) => variable(name).ok_or_else(|| unset(name, "--url"))?,
                None => url.clone(),
            };
            return self.attach(url, Vec::new(), context).map(TargetKind::Remote);
        }
        if self.config.is_some() || !self.server.is_empty() {
            let name = self.server.first().map(String::as_str);
            let found = clients::find(self.config.as_deref(), name, context.notices())?;
            return self.configured(&found, context);
        }
        if self.argv.is_empty() {
            return Err(CommandError::usage("no server given")
                .hint("put the server's command after --, as in: -- npx -y some-mcp-server")
                .hint(
                    "or take one from your client's configuration with --server NAME, or connect to one with --url URL",
                ));
        }
        self.check_started()?;
        let next = "only servers reached over HTTP (--url) require a login";
        refuse(self.reaching.login.given(), "a server's command", next)?;
        let Starting { env, cwd } = self.starting.clone();
        let command = ServerCommand { argv: self.argv.clone(), env, cwd, limit: self.limits.max_message };
        check_words(&command)?;
        Ok(TargetKind::Command(command))
    }

    /// Where the server is. A live session is joined, for which its handshake must be complete.
    ///
    /// # Errors
    ///
    /// The options name no server, or the session cannot be joined.
    pub(super) fn location(&self, context: &Context) -> Result<ServerLocation, CommandError> {
        Ok(match self.resolve(context)? {
            TargetKind::Command(command) => ServerLocation::Process(command),
            TargetKind::Remote(remote) => ServerLocation::Remote(Box::new(remote)),
            TargetKind::Session(name) => match live::way_in(&name)? {
                JoinRoute::Door(url) => {
                    return Self::of_url(&url, &BTreeMap::new()).within(self.limits).location(context);
                }
                JoinRoute::Beside(session) => ServerLocation::Session(session),
            },
        })
    }

    /// The servers that the options name, one target each, where several are allowed. Options such as `--env` go to
    /// the only target that they fit.
    ///
    /// # Errors
    ///
    /// An option fits no target, or several.
    pub(super) fn each(&self) -> Result<Vec<Self>, CommandError> {
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
        let (is_alone, is_http) = (each.len() == 1, |one: &Self| one.argv.is_empty() && one.session.is_none());
        for one in each.iter_mut().filter(|one| is_alone || is_http(one)) {
            one.reaching.login = self.reaching.login.clone();
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

    /// The server's name in a configuration, if it is taken from one.
    pub(super) fn configured_name(&self, context: &Context) -> Option<String> {
        let is_configured = self.config.is_some() || !self.server.is_empty();
        is_configured.then(|| self.name(context).ok()).flatten()
    }

    /// A short name for the server: its name in a configuration or as a session, else its host or program.
    ///
    /// # Errors
    ///
    /// The configuration cannot be read, or does not contain exactly one server.
    pub(super) fn name(&self, context: &Context) -> Result<String, CommandError> {
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
            (None, None) => Ok(clients::find(self.config.as_deref(), None, context.notices())?.entry.name),
        }
    }

    /// Refuses a live session, for commands that need a connection of their own.
    ///
    /// # Errors
    ///
    /// The target is a live session.
    pub(super) fn refuse_session(&self, why: &str) -> Result<(), CommandError> {
        match &self.session {
            None => Ok(()),
            Some(name) => Err(CommandError::usage(format!("the live session {name:?} cannot be the target: {why}"))
                .hint("start a server after --, or connect with --url")),
        }
    }

    /// Refuses options that start or reach a server: a live session already has one.
    fn check_joined(&self) -> Result<(), CommandError> {
        let next = "the session's server is already running; omit the option, or start a server after --, or connect \
                    with --url, if the session has one (see `mcpreel sessions`)";
        let given = self.starting.given().or(self.reaching.given()).or(self.reaching.login.given());
        refuse(given, "--session", next)
    }

    /// Refuses HTTP options for a server that is started on stdio.
    fn check_started(&self) -> Result<(), CommandError> {
        let next = "it applies only to servers reached over HTTP (--url); to set an environment variable, use -e";
        refuse(self.reaching.given(), "a server's command", next)
    }

    /// Refuses options that start a server, for a URL.
    fn check_attached(&self) -> Result<(), CommandError> {
        let next = "it applies only to servers that mcpreel starts; to send an HTTP header, use -H";
        refuse(self.starting.given(), "a server's URL", next)
    }

    /// A server of a client's configuration. The options override the configuration.
    fn configured(&self, found: &Found, context: &Context) -> Result<TargetKind, CommandError> {
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
            Server::Remote { url, headers } => self.attach(url, headers, context).map(TargetKind::Remote),
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

    /// A server at a URL, with the HTTP options. `headers` are those that no option overrides.
    fn attach(
        &self,
        url: String,
        mut headers: Vec<(String, String)>,
        context: &Context,
    ) -> Result<Remote, CommandError> {
        self.check_attached()?;
        let Reaching { headers: headers_given, header_env, cacert, insecure, login } = &self.reaching;
        let of_server = self.starting.env.iter().map(|(name, _)| name.clone());
        let named = of_server.chain(header_env.iter().map(|(_, holder)| holder.clone()));
        let secrets: RefCell<Vec<String>> = RefCell::new(named.collect());
        for (name, value) in headers_given {
            let named = |name: &str| {
                secrets.borrow_mut().push(name.to_owned());
                variable(name)
            };
            let names = Names { variable: &named, workspace: Path::new(".") };
            let value = expand(value, &names).map_err(|error| CommandError::usage(format!("-H {name}: {error}")));
            headers.push((name.clone(), value?));
        }
        for (name, holder) in header_env {
            let value = variable(holder).ok_or_else(|| unset(holder, &format!("--header-env {name}")))?;
            headers.push((name.clone(), value));
        }
        let names_itself = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        if let Some(token) = variable(TOKEN).filter(|token| !names_itself && !login.is_wanted() && !token.is_empty()) {
            headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
        }
        let limit = self.limits.max_message;
        let remote = Remote { url, headers, cacert: cacert.clone(), insecure: *insecure, login: None, limit };
        login.apply(remote, secrets.into_inner(), context)
    }
}

/// The target that an option is for: the one of the kind that takes it, else the only one of a configuration. A
/// single target always gets the option, and refuses it if it does not fit.
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
                "none of the servers can use this option"
            } else {
                "it is ambiguous which server this option is for"
            };
            let error = CommandError::usage(format!("{option}: {why}"));
            Err(error.hint(format!("it applies to {kind}, or to a server of --server if there is only one")))
        }
    }
}

/// Refuses an option that has no effect with another one, if it is given.
///
/// # Errors
///
/// The option is given.
pub(super) fn refuse(option: Option<&str>, with: &str, hint: &str) -> Result<(), CommandError> {
    option.map_or(Ok(()), |option| Err(CommandError::usage(format!("{option} cannot be used with {with}")).hint(hint)))
}

/// The name of a server that only a URL names: its host, or its socket's file.
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

/// The value of an environment variable, if it is set and valid UTF-8.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn unset(name: &str, option: &str) -> CommandError {
    CommandError::usage(format!("{option}: the environment variable {name} is not set"))
}

fn read_env_file(path: &Path) -> Result<Vec<(String, String)>, CommandError> {
    read_text(path, SMALL).map(|text| env_file(&text)).map_err(|error| CommandError::reading(path, &error))
}

/// Parses `Name: value`.
///
/// # Errors
///
/// There is no colon, or no name before it.
pub(super) fn header(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.trim().to_owned())),
        _ => Err("expected NAME: VALUE".into()),
    }
}

/// Parses `KEY=VALUE`.
///
/// # Errors
///
/// There is no equals sign.
pub(super) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".into()),
    }
}

/// Parses the value of `-e`.
fn env_value(text: &str) -> Result<(String, String), String> {
    key_value(text).map_err(|wrong| format!("{wrong}; the server gets mcpreel's own environment anyway"))
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
