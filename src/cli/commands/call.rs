//! `call`: sends one request.

use crate::cli::client_session::{self, ClientOptions};
use crate::cli::target::Target;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::host::client::Answer;
use crate::host::client::Params;
use crate::render::pretty::{Layout, pretty};
use crate::render::text::Escaping;
use crate::runtime;
use crate::runtime::client::Failure;
use crate::runtime::parameters;
use crate::wire::Envelope;
use crate::wire::units::millis;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::Write as _;

/// Send one request to a server and print the result.
///
/// mcpreel detects the era and does the handshake. Meanwhile it answers the server's pings and requests for roots,
/// and refuses its other requests.
#[derive(Debug, Args)]
#[command(mut_arg("era", |era| era.help("The era to use; auto tries `server/discover`, then `initialize`")))]
#[command(after_help = "\
Examples:
  mcpreel call tools/list -- npx -y @modelcontextprotocol/server-everything
  mcpreel call tools/call name=echo arguments:='{\"message\":\"hi\"}' -- my-server
  mcpreel call tools/call name=echo arguments.message=hi -- my-server
  mcpreel call resources/read uri=demo://x --record session.reel -v -- my-server
  mcpreel call tools/call @params.json --format envelope -- my-server
  mcpreel call notifications/roots/list_changed -- my-server
  mcpreel call tools/list --url https://host/mcp -H 'Authorization: Bearer …' -v
  mcpreel call tools/list --url unix:/run/user/1000/server.sock
  mcpreel call tools/list --session everything      # in a live session

Exit codes: 0 the server returned a result, or a notification was sent; 1 it returned an error, or the tool failed; 4 the server or the connection failed; 5 no response in time.")]
pub(crate) struct CallArgs {
    /// The method, such as tools/list.
    method: String,
    /// Parameters: name=text, name:=JSON, a JSON object, @file, or - for stdin; a.b=text sets a nested member. A text can
    /// be @file, or @- for stdin; @@ stands for a literal @.
    params: Vec<String>,
    /// Send a notification and do not wait for a response. Implied by methods that begin with notifications/.
    #[arg(long)]
    notify: bool,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    client: ClientOptions,
    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The result or error, indented.
    Human,
    /// The result or error as received.
    Json,
    /// One JSON object with the whole message, the latency, the era and the revision.
    Envelope,
}

impl CallArgs {
    fn is_notification(&self) -> bool {
        self.notify || self.method.starts_with("notifications/")
    }
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &CallArgs, context: &Context) -> Result<Outcome, CommandError> {
    let params = match parameters::params(&args.params)? {
        None => Params::Absent,
        Some(text) => Params::Raw(text),
    };
    runtime::block_on(async {
        let (link, server) = client_session::start(&args.target, &args.client, context).await?;
        let (mut connection, handshake) =
            match client_session::open(&server, link, &args.client, json!({}), context).await {
                Ok(opened) => opened,
                Err(error) => return Err(server.end_after(error, context.notices()).await),
            };
        if args.is_notification() {
            connection.notify(&args.method, params).await;
            let said = std::mem::take(&mut connection.runner.said);
            let failed = connection.runner.close().await;
            server.end(context.notices()).await;
            return match failed {
                None => Ok(Outcome::Clean),
                Some(why) => Err(client_session::failed(Failure::Failed(why.into()), &said)),
            };
        }
        let asked = connection.request(&args.method, params, |output| client_session::report(output, context)).await;
        let asked = asked.map_err(|failure| client_session::failed(failure, &connection.runner.said));
        connection.runner.close().await;
        let answer = match asked {
            Ok(answer) => answer,
            Err(error) => return Err(server.end_after(error, context.notices()).await),
        };
        server.end(context.notices()).await;
        if args.format == Format::Envelope {
            let message: Box<serde_json::value::RawValue> = raw(&answer.message)?;
            let reported = json!({
                "message": message, "latency_ms": millis(answer.latency),
                "era": handshake.era.name(), "version": handshake.version_text,
            });
            context.printer.json(&reported)?;
        }
        print(&answer, args.format, context)
    })
}

fn raw(message: &[u8]) -> Result<Box<serde_json::value::RawValue>, CommandError> {
    serde_json::from_slice(message)
        .map_err(|error| CommandError::new(crate::error::ErrorKind::Peer, format!("the response is not JSON: {error}")))
}

fn print(answer: &Answer, format: Format, context: &Context) -> Result<Outcome, CommandError> {
    let envelope = Envelope::scan(&answer.message);
    let content = envelope.result.or(envelope.error).unwrap_or(&answer.message);
    let layout = Layout { palette: context.printer.palette, ..Layout::default() };
    context.printer.append(|out| {
        match format {
            Format::Human => pretty(content, &layout, out),
            Format::Json => drop(Escaping(&mut *out).write_all(content)),
            Format::Envelope => return,
        }
        out.append(b"\n");
    })?;
    if envelope.error.is_some() {
        context.printer.note("the server returned an error");
    }
    Ok(if envelope.error.is_some() || envelope.tool_error { Outcome::Findings } else { Outcome::Clean })
}
