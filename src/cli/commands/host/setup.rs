//! What the options of `host` define: its servers, its policies and its own settings; and the list of all options.

use super::{Format, HostArgs};
use crate::cli::target::{Limits, Target};
use crate::cli::{Context, Outcome};
use crate::clock;
use crate::error::{CommandError, ErrorKind};
use crate::files::text::{LARGE, read_text};
use crate::host::client::ClientConfig;
use crate::host::engine::{self, HostConfig, ServerConfig};
use crate::host::prompt::Layout;
use crate::proposals::{self, host::CONSENT};
use crate::render;
use crate::runtime::host_servers::{NamedServer, ServerLocation};
use crate::runtime::model::Model;
use crate::runtime::parameters::TextArgument;
use crate::scenario::ScenarioError;
use crate::server::Config;
use proposals::policy::Policies;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// The servers that the options name, in the order of the options.
///
/// # Errors
///
/// The options name no server, or two with the same name, or one that cannot be found.
pub(super) fn servers(args: &HostArgs, seed: u64, context: &Context) -> Result<Vec<NamedServer>, CommandError> {
    let mut named = Vec::new();
    for word in &args.add {
        named.push(specified(word, args.target.limits, context)?);
    }
    for (at, word) in args.builtin.iter().enumerate() {
        named.push(builtin_named(word, seed.wrapping_add(at as u64))?);
    }
    for target in args.target.each()? {
        let (place, is_own) = (target.location(context)?, target.has_command());
        named.push(NamedServer { name: target.name(context)?, place, is_own });
    }
    if named.is_empty() {
        return Err(CommandError::usage("no server given")
            .hint("add one with -s NAME=COMMAND-OR-URL, --url URL, --server NAME, --session NAME, or -- COMMAND")
            .hint("or try the built-in server: mcpreel host --builtin memory"));
    }
    if named.iter().all(|one| one.place.joined().is_some()) {
        args.client.check_agreed()?;
    }
    let mut seen = std::collections::HashSet::new();
    match named.iter().find(|one| !seen.insert(one.name.as_str())) {
        None => Ok(named),
        Some(twice) => Err(CommandError::usage(format!("two servers have the name {:?}", twice.name))),
    }
}

/// Parses `NAME=SPEC`: a server's name, and a URL, a live session or a command.
///
/// # Errors
///
/// The word is malformed, or the server cannot be found.
fn specified(word: &str, limits: Limits, context: &Context) -> Result<NamedServer, CommandError> {
    let (name, spec) = word.split_once('=').filter(|(name, _)| is_name(name)).ok_or_else(|| {
        CommandError::usage(format!("invalid server {word:?}: expected NAME=COMMAND or NAME=URL"))
            .hint("for example: -s memory='npx -y some-server'")
    })?;
    let target = Target::of_word(spec)?.within(limits);
    let (place, is_own) = (target.location(context)?, target.has_command());
    Ok(NamedServer { name: name.to_owned(), place, is_own })
}

/// Parses `NAME` or `NAME:PROPOSAL,PROPOSAL`: the built-in server's name, and the proposals that it declares.
///
/// # Errors
///
/// The name is invalid, or a proposal is unknown.
fn builtin_named(word: &str, seed: u64) -> Result<NamedServer, CommandError> {
    let (name, proposals) = word.split_once(':').map_or((word, None), |(name, proposals)| (name, Some(proposals)));
    if !is_name(name) {
        return Err(CommandError::usage(format!("invalid server name {word:?}")).hint("for example: --builtin memory"));
    }
    let mut config = Config { seed, ..Config::default() };
    if let Some(proposals) = proposals {
        config.declare = proposals.split(',').filter(|proposal| !proposal.is_empty()).map(str::to_owned).collect();
        if let Some(unknown) = config.declare.iter().find(|proposal| proposals::by_name(proposal).is_none()) {
            let known: Vec<_> = proposals::REGISTRY.iter().map(|proposal| proposal.descriptor().name).collect();
            return Err(CommandError::usage(format!("unknown proposal {unknown:?}"))
                .hint(format!("the proposals are {}", known.join(", "))));
        }
    }
    config.wall_base_ns = clock::wall_ns();
    Ok(NamedServer { name: name.to_owned(), place: ServerLocation::Builtin(Box::new(config)), is_own: true })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|found| found.is_ascii_alphanumeric() || matches!(found, '-' | '_' | '.'))
}

/// Reads a file in YAML or JSON.
///
/// # Errors
///
/// The file cannot be read or parsed.
fn read_yaml(path: &Path) -> Result<Value, CommandError> {
    let text = read_text(path, LARGE).map_err(|error| CommandError::reading(path, &error))?;
    serde_saphyr::from_str(&text)
        .map_err(|error| CommandError::document(path, &ScenarioError::from_yaml(&text, &error)))
}

/// The host's configuration.
///
/// # Errors
///
/// The policy cannot be read, or an option is unknown or has an invalid value.
pub(super) fn config(
    args: &HostArgs,
    seed: u64,
    named: &[NamedServer],
    model: &Model,
) -> Result<HostConfig, CommandError> {
    let mut policies = engine::policies();
    let mut layout = Layout::default();
    let refused = |error: &dyn std::fmt::Display| CommandError::usage(error.to_string());
    if let Some(path) = &args.policy {
        let mut file = read_yaml(path)?;
        let reported = |error: String| CommandError::new(ErrorKind::Input, format!("{}: {error}", path.display()));
        if let Some(wanted) = file.as_object_mut().and_then(|file| file.remove("layout")) {
            layout = Layout::read(&wanted).map_err(reported)?;
        }
        policies.read(&file).map_err(|error| reported(error.to_string()))?;
    }
    if let Some(timeout) = args.client.timeout_given() {
        bound_answers(&mut policies, timeout)?;
    }
    if args.consent {
        consent_to_all(&mut policies)?;
    }
    args.set.iter().try_for_each(|word| set(&mut policies, word))?;
    proposals::check_policies(&policies).map_err(|error| refused(&error))?;
    if let Some(unknown) = policies.servers().find(|server| named.iter().all(|one| one.name != *server)) {
        let known: Vec<&str> = named.iter().map(|one| one.name.as_str()).collect();
        return Err(refused(&format!("options are set for {unknown:?}, but there is no such server"))
            .hint(format!("the servers are: {}", known.join(", "))));
    }
    let system = args.system.as_ref().map(TextArgument::read).transpose()?.unwrap_or_default();
    let folder = std::env::current_dir().unwrap_or_default();
    let folder = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let client = |one: &NamedServer| {
        let own = args.client.with_handshake().config(json!({}));
        let client = ClientConfig { join: one.place.joined().cloned(), ..own };
        ServerConfig { name: one.name.clone(), client, is_own: one.is_own }
    };
    Ok(HostConfig {
        servers: named.iter().map(client).collect(),
        policies,
        layout,
        seed,
        project: args.project.clone().unwrap_or(folder),
        session: format!("session-{seed}"),
        system: system.to_owned(),
        model: model.view(),
    })
}

/// Applies one `--set [SERVER:]PROPOSAL.OPTION=VALUE`.
fn set(policies: &mut Policies, word: &str) -> Result<(), CommandError> {
    let (option, value) = word
        .split_once('=')
        .ok_or_else(|| CommandError::usage(format!("invalid setting {word:?}: expected PROPOSAL.OPTION=VALUE")))?;
    let (server, option) = match option.split_once(':') {
        Some((server, option)) => (Some(server), option),
        None => (None, option),
    };
    policies.set(server, option, &Value::from(value)).map_err(|error| {
        CommandError::usage(error.to_string()).hint("`mcpreel host --options` lists every option and its default")
    })
}

/// Applies `--consent`.
///
/// # Errors
///
/// A policy does not accept the value.
pub(super) fn consent_to_all(policies: &mut Policies) -> Result<(), CommandError> {
    let proposals: Vec<&str> = policies.proposals_with(CONSENT).collect();
    proposals.iter().try_for_each(|proposal| {
        let option = format!("{proposal}.{CONSENT}");
        policies.set(None, &option, &Value::from(true)).map_err(|error| CommandError::usage(error.to_string()))
    })
}

/// Applies `--timeout` to all responses, whatever the request.
///
/// # Errors
///
/// A policy does not accept the value.
pub(super) fn bound_answers(policies: &mut Policies, timeout: Duration) -> Result<(), CommandError> {
    let value = Value::from(format!("{}us", timeout.as_micros()));
    policies.set(None, "host.tool_timeout", &value).map_err(|error| CommandError::usage(error.to_string()))
}

/// Lists all options.
///
/// # Errors
///
/// The output cannot be written.
pub(super) fn list(args: &HostArgs, context: &Context) -> Result<Outcome, CommandError> {
    for (proposal, settings) in engine::policies().known() {
        for setting in *settings {
            let option = format!("{proposal}.{}", setting.name);
            let line = if args.format == Format::Json {
                render::text::json(
                    &json!({"option": option, "takes": setting.kind.to_string(), "default": setting.default,
                    "text": setting.text, "source": setting.source}),
                )
            } else {
                let faint = context.printer.palette.faint;
                format!(
                    "{option} = {}\n    {}\n    {faint}{}; {}{faint:#}",
                    setting.default, setting.text, setting.kind, setting.source
                )
            };
            context.printer.line(&line)?;
        }
    }
    Ok(Outcome::Clean)
}
