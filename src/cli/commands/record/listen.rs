//! `record --listen`: the tap as a reverse proxy in front of an HTTP server.

use super::{RecordArgs, recorder_options, tell_end};
use crate::cli::error::{CommandError, ErrorKind};
use crate::cli::{Context, Outcome, reels};
use crate::tap::http::Exchanges;
use crate::tap::recorder::{ForwardOnly, Recorder};
use crate::tap::secrets;
use crate::trace::EventKind;
use crate::transport::Remote;
use crate::transport::access::Access;
use crate::transport::http::{HttpError, SharedWatch};
use crate::transport::proxy::Proxy;
use clap::Args;
use serde_json::json;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// How to listen.
#[derive(Debug, Args)]
#[command(next_help_heading = "Listening")]
pub struct ListenOptions {
    /// Be a reverse proxy here, in front of --url: HOST:PORT, or a port on this machine; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", requires = "url")]
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

/// Taps until the user ends it.
pub fn run(args: &RecordArgs, listen: &str, remote: &Remote, context: &Context) -> Result<Outcome, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandError::new(ErrorKind::Internal, format!("cannot start: {error}")))?;
    runtime.block_on(tap(args, listen, remote, context))
}

async fn tap(args: &RecordArgs, listen: &str, remote: &Remote, context: &Context) -> Result<Outcome, CommandError> {
    let listener = bind(listen).await?;
    let address = listener.local_addr().map_err(|error| listening(listen, &error))?;
    if !address.ip().is_loopback() {
        context.printer.note(&format!("{address} is open to other machines: whoever reaches it reaches the server"));
    }
    if remote.insecure {
        context.printer.note("the server's certificate is not checked (--insecure)");
    }
    let path = match &args.output {
        Some(path) => path.clone(),
        None => reels::new_path(&host_name(&remote.url))?,
    };
    let failed = |error| CommandError::writing(&path, &error);
    let recorder = if path == Path::new("-") {
        Recorder::start(ForwardOnly(std::io::stdout()), recorder_options(args)).map_err(failed)?
    } else {
        Recorder::start(reels::create(&path, args.force)?, recorder_options(args)).map_err(failed)?
    };
    let shown = secrets::redact_url(&remote.url);
    let exchanges = Arc::new(Exchanges::new(Arc::clone(recorder.queue()), &remote.http_url()));
    let watch: SharedWatch = Arc::clone(&exchanges) as SharedWatch;
    let access = Access { hosts: args.listening.hosts.clone(), origins: args.listening.origins.clone() };
    let proxy = Proxy::new(remote, access, args.listening.max_body, watch).map_err(target_error)?;
    recorder.note(
        EventKind::StreamOpened,
        &json!({"transport": "http", "url": shown, "listen": address.to_string(), "pid": std::process::id()}),
    );
    context.printer.note(&format!(
        "listening on http://{address}{} in front of {shown}, recording to {}; end with Ctrl-C",
        endpoint_path(&remote.url),
        path.display(),
    ));
    let ended = |error| CommandError::new(ErrorKind::Internal, format!("cannot wait for signals: {error}"));
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt()).map_err(ended)?, signal(SignalKind::terminate()).map_err(ended)?);
    tokio::select! {
        () = proxy.serve(listener) => {}
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    exchanges.finish();
    recorder.note(EventKind::StreamClosed, &json!({"by": "the tap ended"}));
    tell_end(&recorder.finish(), &path, context);
    Ok(Outcome::Clean)
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

/// A short name for the server.
fn host_name(url: &str) -> String {
    let host = url::Url::parse(url).ok().and_then(|url| Some(url.host_str()?.to_owned()));
    host.unwrap_or_else(|| "server".to_owned()).replace(['[', ']', ':'], "")
}
