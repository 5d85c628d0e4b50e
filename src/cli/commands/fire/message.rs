//! `fire message`: a message of a pack, built from its method and parameters, and checked before it is sent.

use super::ServerOptions;
use super::raw::{self, RawArgs, Side};
use crate::cli::listening::ListenOptions;
use crate::cli::packs::PackOptions;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::proposals::{Proposal, Registry};
use crate::protocol::{MethodKind, MethodSpec, Sender};
use crate::runtime::parameters;
use clap::Args;
use serde_json::{Map, Value, json};

/// Send a message of a pack and print the response.
///
/// mcpreel gets the form of the message and its direction from the pack, and refuses params that violate the pack's
/// schema. The client's methods go to a server that is started for it, to a URL or into a live session; the server's go
/// to the client of a live session, or with --listen to the first host that connects. For everything else, `fire raw`
/// behaves alike.
#[derive(Debug, Args)]
#[command(mut_arg("era", |era| era.help("The era to use; auto tries `initialize`, then `server/discover`")))]
#[command(after_help = "\
Examples:
  mcpreel fire message events/poll name=built --pack mcp-events -- my-server
  mcpreel fire message events/poll --example --pack mcp-events -- my-server
  mcpreel fire message bell/rang tower=north --pack bells.yaml --session bells
  mcpreel explain events/poll --pack mcp-events   # its params

Exit codes: 0 the response is a result, or none is expected; 1 it is an error, or the tool failed; 4 the session or server failed; \
5 no response in time.")]
pub(crate) struct MessageArgs {
    /// The method: one of a pack.
    method: String,
    /// The params: name=text, name:=JSON, a JSON object, @file, or - for stdin; a.b=text sets a nested member.
    #[arg(value_name = "PARAM")]
    params: Vec<String>,
    #[command(flatten)]
    packs: PackOptions,
    /// Begin with the example of the pack; other params replace its members.
    #[arg(long)]
    example: bool,
    /// Send params that violate the schema, too.
    #[arg(long)]
    unchecked: bool,
    /// In which role to send a method that both sides may send (default: host).
    #[arg(long = "as", value_enum)]
    side: Option<Side>,
    #[command(flatten)]
    listening: ListenOptions,
    #[command(flatten)]
    to: ServerOptions,
}

pub(super) fn run(args: &MessageArgs, context: &Context) -> Result<Outcome, CommandError> {
    let registry = args.packs.registry()?;
    let (proposal, spec) = method(&args.method, registry)?;
    let side = side(args, spec)?;
    let params = params(args, proposal)?;
    if !args.unchecked {
        check(proposal, spec, &params)?;
    }
    let mut message = json!({"jsonrpc": "2.0"});
    if spec.kind != MethodKind::Notification {
        message["id"] = 1.into();
    }
    message["method"] = spec.name.into();
    if let Some(params) = params {
        message["params"] = Value::Object(params);
    }
    let (listening, to) = (args.listening.clone(), args.to.clone());
    raw::run(&RawArgs { message: message.to_string(), side, no_handshake: false, listening, to }, context)
}

/// The pack that has a method.
fn method(
    name: &str,
    registry: &'static Registry,
) -> Result<(&'static dyn Proposal, &'static MethodSpec), CommandError> {
    let found = registry.packs().find_map(|pack| {
        let spec = pack.descriptor().methods.iter().find(|spec| spec.name == name)?;
        Some((pack, spec))
    });
    let known =
        || registry.packs().flat_map(|pack| pack.descriptor().methods).map(|spec| spec.name).collect::<Vec<_>>();
    found.ok_or_else(|| match known() {
        known if known.is_empty() => {
            CommandError::usage("`fire message` sends messages of packs, and no pack is known")
                .hint("name one: --pack FILE, or --pack mcp-events")
        }
        known => CommandError::usage(format!("no pack has the method {name}"))
            .hint(format!("the packs have {}", known.join(", "))),
    })
}

/// The role in which the method is sent.
fn side(args: &MessageArgs, spec: &MethodSpec) -> Result<Side, CommandError> {
    let own = match spec.sender {
        Sender::Client => Side::Host,
        Sender::Server => Side::Server,
        Sender::Either => return Ok(args.side.unwrap_or(Side::Host)),
    };
    let wanted = if args.listening.listen.is_some() { Some(Side::Server) } else { args.side };
    match wanted.filter(|wanted| *wanted != own) {
        None => Ok(own),
        Some(_) => Err(CommandError::usage(format!("only the {} sends {}", spec.sender.name(), spec.name))
            .hint("`fire raw` sends any message in any role")),
    }
}

/// The params; `None` if there are none.
fn params(args: &MessageArgs, proposal: &dyn Proposal) -> Result<Option<Map<String, Value>>, CommandError> {
    let mut words = args.params.clone();
    if args.example {
        let examples = proposal.samples().messages;
        let example = examples.into_iter().find(|one| one.method == args.method).ok_or_else(|| {
            CommandError::usage(format!("the pack has no example of {}", args.method))
                .hint("write one into the pack: `example` of the method")
        })?;
        words.insert(0, example.params.to_string());
    }
    if words.is_empty() { Ok(None) } else { parameters::object(&words).map(Some) }
}

/// Refuses params that the other side could not understand.
fn check(proposal: &dyn Proposal, spec: &MethodSpec, params: &Option<Map<String, Value>>) -> Result<(), CommandError> {
    let value = Value::Object(params.clone().unwrap_or_default());
    let violations = proposal.descriptor().schemas.check(&format!("{}:params", spec.name), &value).unwrap_or_default();
    let Some(first) = violations.first() else { return Ok(()) };
    let error = CommandError::usage(format!("the params of {} violate the pack's schema: {first}", spec.name));
    Err(error
        .hint(format!(
            "`mcpreel explain {}` with the same --pack shows them; --example begins with an example",
            spec.name
        ))
        .hint("--unchecked sends them anyway"))
}
