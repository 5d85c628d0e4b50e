//! `record --listen`: the tap as a reverse proxy in front of an HTTP server.

use super::{RecordArgs, tell_end};
use crate::cli::error::{CommandError, ErrorKind};
use crate::cli::{Context, Outcome, live, url_name};
use crate::tap::bridge::{Bridge, GatewaySession};
use crate::tap::http::Exchanges;
use crate::tap::http::live::HttpSession;
use crate::tap::secrets;
use crate::trace::EventKind;
use crate::transport::Remote;
use crate::transport::access::Access;
use crate::transport::child::ServerCommand;
use crate::transport::gateway::{Backend, Gateway};
use crate::transport::http::{HttpError, SharedWatch};
use crate::transport::proxy::Proxy;
use clap::Args;
use serde_json::json;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};

/// How to listen.
#[derive(Debug, Args)]
#[command(next_help_heading = "Listening")]
pub struct ListenOptions {
    /// Listen here: HOST:PORT, or a port on this machine; port 0 takes a free one. In front of --url this is a reverse
    /// proxy; in front of a server's command, an HTTP server that starts one for each session.
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// A name beside those of this machine that `Host` may have (repeatable).
    #[arg(long = "allow-host", value_name = "NAME", requires = "listen")]
    hosts: Vec<String>,
    /// An origin beside this machine that browsers may come from (repeatable).
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "listen")]
    origins: Vec<String>,
    /// The longest body of a request.
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20, hide_default_value = true)]
    max_body: u64,
}

impl ListenOptions {
    fn access(&self) -> Access {
        Access { hosts: self.hosts.clone(), origins: self.origins.clone() }
    }
}

/// What is behind the listener.
pub enum Behind<'a> {
    /// A server that is reached over HTTP.
    Remote(&'a Remote),
    /// A server that is started over stdio, one for each session.
    Command(&'a ServerCommand),
}

/// Taps until the user ends it.
pub fn run(args: &RecordArgs, listen: &str, behind: &Behind<'_>, context: &Context) -> Result<Outcome, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandError::new(ErrorKind::Internal, format!("cannot start: {error}")))?;
    runtime.block_on(async {
        let listener = bind(listen).await?;
        let address = listener.local_addr().map_err(|error| listening(listen, &error))?;
        if !address.ip().is_loopback() {
            let open = format!("{address} is open to other machines: whoever reaches it reaches the server");
            context.printer.note(&open);
        }
        match behind {
            Behind::Remote(remote) => proxy(args, listener, address, remote, context).await,
            Behind::Command(command) => gateway(args, listener, address, command, context).await,
        }
    })
}

async fn proxy(
    args: &RecordArgs,
    listener: TcpListener,
    address: SocketAddr,
    remote: &Remote,
    context: &Context,
) -> Result<Outcome, CommandError> {
    if remote.insecure {
        context.printer.note("the server's certificate is not checked (--insecure)");
    }
    let (recorder, path) = super::start_recorder(args, &url_name(&remote.url))?;
    let shown = secrets::redact_url(&remote.url);
    let exchanges = Arc::new(Exchanges::new(Arc::clone(recorder.queue()), &remote.http_url()));
    let watch: SharedWatch = Arc::clone(&exchanges) as SharedWatch;
    let proxy = Proxy::new(remote, args.listening.access(), args.listening.max_body, watch).map_err(target_error)?;
    recorder.note(
        EventKind::StreamOpened,
        &json!({"transport": "http", "url": shown, "listen": address.to_string(), "pid": std::process::id()}),
    );
    context.printer.note(&format!(
        "listening on http://{address}{} in front of {shown}, recording to {}; end with Ctrl-C",
        endpoint_path(&remote.url),
        path.display(),
    ));
    let about = live::About {
        name: url_name(&remote.url),
        role: "record",
        server: shown.clone(),
        transport: "http",
        reel: (path != Path::new("-")).then(|| path.clone()),
    };
    let (_bound, control) = live::open_socket(about, &context.printer).unzip();
    if let Some(control) = control {
        let (client, headers) = proxy.upstream();
        let url = remote.http_url().parse().map_err(|_| CommandError::usage("the URL cannot be used"))?;
        let answers = Arc::clone(exchanges.answers());
        let exchanges = Arc::clone(&exchanges);
        let session =
            HttpSession { exchanges, answers: Arc::clone(&answers), client, url, headers, runtime: Handle::current() };
        control.start(Arc::new(session), answers).map_err(no_socket)?;
    }
    until_ended(proxy.serve(listener)).await?;
    exchanges.finish();
    recorder.note(EventKind::StreamClosed, &json!({"by": "the tap ended"}));
    tell_end(&recorder.finish(), &path, context);
    Ok(Outcome::Clean)
}

async fn gateway(
    args: &RecordArgs,
    listener: TcpListener,
    address: SocketAddr,
    command: &ServerCommand,
    context: &Context,
) -> Result<Outcome, CommandError> {
    command.prepare().map_err(super::spawn_error)?;
    let words = command.words();
    let (recorder, path) = super::start_recorder(args, &super::server_name(&words))?;
    let bridge = Arc::new(Bridge::new(command.clone(), Arc::clone(recorder.queue())));
    let gateway =
        Gateway::new(Arc::clone(&bridge) as Arc<dyn Backend>, args.listening.access(), args.listening.max_body);
    let shown = secrets::redact_arguments(&words).join(" ");
    recorder.note(
        EventKind::StreamOpened,
        &json!({"transport": "http", "listen": address.to_string(), "pid": std::process::id()}),
    );
    context.printer.note(&format!(
        "listening on http://{address}/mcp in front of `{shown}`, one for each session, recording to {}; end with Ctrl-C",
        path.display(),
    ));
    let about = live::About {
        name: super::server_name(&words),
        role: "record",
        server: shown,
        transport: "http",
        reel: (path != Path::new("-")).then(|| path.clone()),
    };
    let (_bound, control) = live::open_socket(about, &context.printer).unzip();
    if let Some(control) = control {
        let answers = Arc::clone(bridge.answers());
        control
            .start(Arc::new(GatewaySession { gateway: Arc::clone(&gateway), bridge }), answers)
            .map_err(no_socket)?;
    }
    until_ended(Arc::clone(&gateway).serve(listener)).await?;
    gateway.finish().await;
    recorder.note(EventKind::StreamClosed, &json!({"by": "the tap ended"}));
    tell_end(&recorder.finish(), &path, context);
    Ok(Outcome::Clean)
}

fn no_socket(error: std::io::Error) -> CommandError {
    CommandError::new(ErrorKind::Internal, format!("cannot open the control socket: {error}"))
}

/// Works until the user interrupts or ends the process.
async fn until_ended(work: impl Future<Output = ()>) -> Result<(), CommandError> {
    let failed = |error| CommandError::new(ErrorKind::Internal, format!("cannot wait for signals: {error}"));
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt()).map_err(failed)?, signal(SignalKind::terminate()).map_err(failed)?);
    tokio::select! {
        () = work => {}
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

/// Binds to `HOST:PORT`, or to a port of this machine.
async fn bind(listen: &str) -> Result<TcpListener, CommandError> {
    let bound = match (listen.parse::<u16>(), listen.strip_prefix(':').map(str::parse::<u16>)) {
        (Ok(port), _) | (_, Some(Ok(port))) => TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port))).await,
        _ => TcpListener::bind(listen).await,
    };
    bound.map_err(|error| listening(listen, &error))
}

fn listening(listen: &str, error: &std::io::Error) -> CommandError {
    let failed = CommandError::new(ErrorKind::Peer, format!("cannot listen on {listen:?}: {error}"));
    match error.kind() {
        std::io::ErrorKind::AddrInUse => failed.hint("choose another port; 0 takes a free one"),
        std::io::ErrorKind::InvalidInput => failed.hint("give HOST:PORT, as in 127.0.0.1:8080"),
        _ => failed,
    }
}

fn target_error(error: HttpError) -> CommandError {
    CommandError::usage(error.to_string())
}

/// The path at which clients find the server behind the tap.
fn endpoint_path(url: &str) -> String {
    url::Url::parse(url).map_or_else(|_| String::new(), |url| url.path().to_owned())
}
