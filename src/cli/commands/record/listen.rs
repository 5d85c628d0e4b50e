//! `record --listen`: a recording reverse proxy in front of a server.

use super::RecordArgs;
use super::followers::{Followers, Prepared};
use crate::cli::printer::note;
use crate::cli::{Context, Outcome, url_name};
use crate::error::CommandError;
use crate::process::child::ServerCommand;
use crate::record::http::Exchanges;
use crate::record::http::live::HttpSession;
use crate::record::recording::{OnExisting, Recording};
use crate::record::stdio_gateway::{Bridge, GatewaySession};
use crate::redact;
use crate::runtime;
use crate::runtime::listening::{self, Listening};
use crate::runtime::login;
use crate::sessions::live;
use crate::trace::{EventKind, Opened};
use crate::transport::Remote;
use crate::transport::client::http::{HttpError, SharedObserver};
use crate::transport::client::remote::Carrier;
use crate::transport::listen::gateway::{Backend, Gateway, Listener};
use crate::transport::listen::proxy::Proxy;
use parking_lot::Mutex;
use serde_json::json;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::runtime::Handle;

/// What is behind the listener.
pub(super) enum Upstream<'a> {
    /// A server that is reached over HTTP.
    Remote(&'a Remote),
    /// A stdio server; one process is started for each session.
    Command(&'a ServerCommand),
}

/// Records until the user ends it.
///
/// # Errors
///
/// The listener or the upstream cannot be used, or the reel cannot be written and the user requires it.
pub(super) fn run(
    args: &RecordArgs,
    listen: &str,
    behind: &Upstream<'_>,
    context: &Context,
) -> Result<Outcome, CommandError> {
    runtime::block_on_to_the_end(async {
        // With a login, an address that others can reach is refused instead.
        let has_login = matches!(behind, Upstream::Remote(remote) if remote.login.is_some());
        let listening = listening::bind(listen, if has_login { |_| {} } else { note }).await?;
        match behind {
            Upstream::Remote(remote) => proxy(args, listening, remote, context).await,
            Upstream::Command(command) => gateway(args, listening, command, context).await,
        }
    })
}

async fn proxy(
    args: &RecordArgs,
    listening: Listening,
    remote: &Remote,
    context: &Context,
) -> Result<Outcome, CommandError> {
    let (url, door) = (listening.url(&endpoint_path(&remote.url)), listening.door(&endpoint_path(&remote.url)));
    // A client uses the same protocol as with the server itself.
    let is_websocket = remote.carrier().is_ok_and(|carrier| carrier == Carrier::WebSocket);
    let door = if is_websocket { door.replacen("http:", "ws:", 1) } else { door };
    let Listener::Http(listener) = listening.listener else {
        let error = CommandError::usage(format!("cannot listen on {url} in front of {}", url_name(&remote.url)));
        return Err(error.hint("a proxy needs HTTP: use --listen with a port or HOST:PORT"));
    };
    let address = listener.local_addr().map_err(|error| CommandError::usage(format!("cannot listen: {error}")))?;
    if remote.insecure {
        context.printer.note("warning: the server's certificate is not verified (--insecure)");
    }
    check_open(remote, &address)?;
    if remote.login.is_some() {
        runtime::unless_ended(login::prepare(remote)).await?;
    }
    let name = args.keeping.session_name(&url_name(&remote.url));
    let prepared = Prepared::new(args)?;
    let recording = args.keeping.start(&name, args.target.configured_name(context), OnExisting::Fail)?;
    let followers = prepared.start(args, &recording, context)?;
    let (recorder, path) = (recording.recorder(), recording.place());
    let shown = redact::redact_url(&remote.url);
    let exchanges = Arc::new(Exchanges::new(Arc::clone(recorder.queue()), &remote.http_url(), once_each(note)));
    let watch: SharedObserver = Arc::clone(&exchanges) as SharedObserver;
    let proxy = Proxy::new(remote, args.listening.access(), args.listening.max_body, watch, once_each(note));
    let proxy = proxy.map_err(target_error)?;
    let (url_behind, listen, pid) = (Some(shown.to_string()), Some(address.to_string()), Some(std::process::id()));
    recorder.note(EventKind::StreamOpened, &Opened { url: url_behind, listen, pid, ..Opened::over("http") });
    context.printer.note(&format!(
        "listening on {url} in front of {shown}, recording to {}; press Ctrl-C to stop",
        path.display(),
    ));
    let (client, headers) = proxy.upstream();
    let url = remote.http_url().parse().map_err(|_| CommandError::usage("the URL is invalid"))?;
    let (login, runtime) = (remote.login.clone(), Handle::current());
    let session = HttpSession { exchanges: Arc::clone(&exchanges), client, url, headers, login, runtime };
    let about = live::About { listen: Some(door.clone()), ..super::about(name, shown, "http", recording.status()) };
    let _bound = live::open(about, Arc::new(session), exchanges.answers(), note);
    let _ready = args.listening.ready(&door, "http")?;
    listening::until_ended(proxy.serve(listener)).await?;
    exchanges.finish();
    end(recording, followers)
}

/// Refuses to let other machines use the user's login.
fn check_open(remote: &Remote, address: &SocketAddr) -> Result<(), CommandError> {
    if remote.login.is_none() || address.ip().is_loopback() {
        return Ok(());
    }
    let error =
        CommandError::usage(format!("--login cannot be used on {address}: other machines could use your login"));
    Err(error.hint("listen on this machine only, with --listen PORT"))
}

async fn gateway(
    args: &RecordArgs,
    listening: Listening,
    command: &ServerCommand,
    context: &Context,
) -> Result<Outcome, CommandError> {
    command.prepare().map_err(CommandError::spawning)?;
    let words = command.words();
    let name = args.keeping.session_name(&super::server_name(&words));
    let prepared = Prepared::new(args)?;
    let recording = args.keeping.start(&name, args.target.configured_name(context), OnExisting::Fail)?;
    let followers = prepared.start(args, &recording, context)?;
    let (recorder, path) = (recording.recorder(), recording.place());
    let bridge = Arc::new(Bridge::new(command.clone(), Arc::clone(recorder.queue()), once_each(note)));
    let gateway = Gateway::new(
        Arc::clone(&bridge) as Arc<dyn Backend>,
        args.listening.access(),
        args.listening.limit(args.target.limits),
    );
    let shown = redact::redact_arguments(&words).join(" ");
    let (listen, pid) = (Some(listening.address().to_string()), Some(std::process::id()));
    recorder.note(EventKind::StreamOpened, &Opened { listen, pid, ..Opened::over(listening.transport()) });
    context.printer.note(&format!(
        "listening on {} in front of `{shown}`, one process per session, recording to {}; press Ctrl-C to stop",
        listening.url("/mcp"),
        path.display(),
    ));
    let session = GatewaySession { gateway: Arc::clone(&gateway), bridge: Arc::clone(&bridge) };
    let about = super::about(name, shown, listening.transport(), recording.status());
    let about = live::About { listen: Some(listening.door("/mcp")), ..about };
    let _bound = live::open(about, Arc::new(session), bridge.answers(), note);
    let _ready = args.listening.ready(&listening.door("/mcp"), listening.transport())?;
    listening::until_ended(Arc::clone(&gateway).serve(listening.listener)).await?;
    gateway.finish().await;
    end(recording, followers)
}

/// Finishes the reel and reports its content in any case, because nothing else shows that a listener has ended.
fn end(recording: Recording, followers: Followers) -> Result<Outcome, CommandError> {
    recording.recorder().note(EventKind::StreamClosed, &json!({"by": "the tap ended"}));
    let (summary, end) = recording.finish();
    followers.finish();
    end.report(&summary, true, note).map(|()| Outcome::Clean)
}

/// Reports each text once, up to a maximum number of texts.
fn once_each(report: fn(&str)) -> impl Fn(&str) + Send + Sync {
    const MAX: usize = 20;
    let reported = Mutex::new(HashSet::new());
    move |text: &str| {
        let mut reported = reported.lock();
        if reported.len() < MAX && reported.insert(text.to_owned()) {
            report(text);
        }
    }
}

fn target_error(error: HttpError) -> CommandError {
    CommandError::usage(error.to_string())
}

/// The path at which clients find the server behind the proxy.
fn endpoint_path(url: &str) -> String {
    url::Url::parse(url).map_or_else(|_| String::new(), |url| url.path().to_owned())
}
