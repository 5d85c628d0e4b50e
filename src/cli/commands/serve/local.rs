//! What comes into a server from this machine beside its host: posts of HTTP, lines on a socket, lines from elsewhere.

use super::Serving;
use crate::cli::printer::note;
use crate::error::{CommandError, ErrorKind};
use crate::runtime::channel_socket::ChannelSocket;
use crate::runtime::feed::{Feed, Source};
use crate::runtime::server::ServerInput;
use crate::runtime::webhook::{Order, ReportCallback, Webhook};
use crate::server::{Config, Fired, Report};
use crate::sessions::sockets::{BoundSocket, bind_at};
use clap::Args;
use serde_json::{Value, json};
use std::fs::File;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// From where things come in.
#[derive(Debug, Args)]
#[command(next_help_heading = "What comes in beside the host")]
pub struct LocalArgs {
    /// Take JSON posts here, on this machine only, and push each as an event: a port (0 takes a free one) or HOST:PORT.
    /// The body may have eventId, text, payload, origin and featureSet; another object is the event's text as a whole.
    /// A post to /events/TYPE is published to subscriptions (MCPE): its data, tags and priority, or all of it as the
    /// data.
    #[arg(long, value_name = "ADDR")]
    webhook: Option<String>,
    /// Have a channel over a Unix socket of this path: each line is a message of it, as text or JSON; what the host
    /// publishes comes out, a JSON line each.
    #[arg(long, value_name = "PATH")]
    channel_socket: Option<PathBuf>,
    /// Send what lines say, each what --on-signal takes: from a file or FIFO, from whoever connects to a Unix socket
    /// (unix:PATH), or from standard input (-, with --listen). They are read once a host is there.
    #[arg(long, value_name = "PATH")]
    feed: Option<PathBuf>,
}

/// Bound, and not begun.
#[derive(Default)]
pub struct Local {
    webhook: Option<TcpListener>,
    channel: Option<(String, BoundSocket, UnixListener)>,
    feed: Option<(Source, Option<BoundSocket>)>,
}

/// At work.
pub struct LocalServer {
    _webhook: Option<Webhook>,
    connector: Option<ChannelSocket>,
    feed: Option<Feed>,
    /// The sockets' files, removed at the end.
    _sockets: [Option<BoundSocket>; 2],
}

impl LocalArgs {
    /// Binds to what is named; a channel goes into the server's settings.
    pub fn prepare(&self, listens: bool, config: &mut Config) -> Result<Local, CommandError> {
        let webhook = self.webhook.as_deref().map(bind).transpose()?;
        let channel = self.channel_socket.as_deref().map(open).transpose()?;
        if let Some((id, ..)) = &channel {
            let settings = config.settings.entry("mcpl".to_owned()).or_insert_with(|| json!({}));
            // What is something else than it must be is refused with all settings.
            if let Some(settings) = settings.as_object_mut()
                && let Value::Array(channels) = settings.entry("channels").or_insert_with(|| json!([]))
            {
                channels.push(id.as_str().into());
            }
        }
        let feed = self.feed.as_deref().map(|path| source(path, listens)).transpose()?;
        Ok(Local { webhook, channel, feed })
    }
}

impl Local {
    /// Begins to take what comes.
    pub(super) fn start(self, serving: &Serving) -> Result<LocalServer, CommandError> {
        let failed = |error| CommandError::new(ErrorKind::Internal, format!("cannot take what comes in: {error}"));
        let serving = serving.clone();
        let order: Order = Arc::new(move |fired: &Fired, receives: ReportCallback| {
            let into = |stream: &u32| {
                let receives = Arc::clone(&receives);
                let received = Box::new(move |fact: &Report, _: bool| receives(fact));
                serving.order(*stream, ServerInput::Asked(fired.clone(), received)).is_ok()
            };
            serving.streams().iter().filter(|stream| into(stream)).count()
        });
        let webhook = match self.webhook {
            None => None,
            Some(listener) => {
                if let Ok(address) = listener.local_addr() {
                    note(&format!("posts to http://{address}/ are pushed"));
                }
                Some(Webhook::start(listener, Arc::clone(&order)).map_err(failed)?)
            }
        };
        let (mut connector, mut socket) = (None, None);
        if let Some((id, bound, listener)) = self.channel {
            note(&format!("the channel {id} is at {}", bound.name));
            connector = Some(ChannelSocket::start(id, listener, Arc::clone(&order)).map_err(failed)?);
            socket = Some(bound);
        }
        let (mut feed, mut feed_socket) = (None, None);
        if let Some((source, bound)) = self.feed {
            if let Some(bound) = &bound {
                note(&format!("lines to {} are sent", bound.name));
            }
            let report = Arc::new(|why: &str| note(&format!("--feed: {why}")));
            feed = Some(Feed::start(source, order, report).map_err(failed)?);
            feed_socket = bound;
        }
        Ok(LocalServer { _webhook: webhook, connector, feed, _sockets: [socket, feed_socket] })
    }
}

impl LocalServer {
    /// Hears a fact of a session's.
    pub fn receive(&self, fact: &Report) {
        if let Some(connector) = &self.connector {
            connector.receive(fact);
        }
        if let Some(feed) = &self.feed {
            feed.receive(fact);
        }
    }
}

/// Binds to an address of this machine that no other reaches.
fn bind(address: &str) -> Result<TcpListener, CommandError> {
    let usage = |why: String| CommandError::usage(format!("--webhook {address}: {why}"));
    let resolved: Vec<SocketAddr> = match address.trim_start_matches(':').parse::<u16>() {
        Ok(port) => vec![SocketAddr::from(([127, 0, 0, 1], port))],
        Err(_) => address
            .to_socket_addrs()
            .map_err(|error| usage(error.to_string()).hint("give HOST:PORT, as in 127.0.0.1:9000, or a port only"))?
            .collect(),
    };
    if resolved.is_empty() || !resolved.iter().all(|address| address.ip().is_loopback()) {
        let error = usage("other machines could reach that, and whoever posts there speaks to the model".to_owned());
        return Err(error.hint("give a port only, or 127.0.0.1:PORT; a tunnel of your own can lead to it"));
    }
    TcpListener::bind(&resolved[..]).map_err(|error| {
        CommandError::new(ErrorKind::Peer, format!("cannot listen on {address}: {error}"))
            .hint("choose another port; 0 takes a free one")
    })
}

/// A channel over a socket of this path, by the id that it gets.
fn open(path: &Path) -> Result<(String, BoundSocket, UnixListener), CommandError> {
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (bound, listener) = bind_socket("--channel-socket", path)?;
    Ok((format!("socket:{name}"), bound, listener))
}

fn bind_socket(option: &str, path: &Path) -> Result<(BoundSocket, UnixListener), CommandError> {
    bind_at(path).map_err(|error| {
        CommandError::usage(format!("{option} {}: {error}", path.display()))
            .hint("give a path in a folder that is there, where nothing is or nobody listens")
    })
}

/// Where lines come from.
fn source(path: &Path, listens: bool) -> Result<(Source, Option<BoundSocket>), CommandError> {
    if path == Path::new("-") {
        if !listens {
            return Err(CommandError::usage("--feed -: standard input is the host's")
                .hint("listen for hosts elsewhere with --listen, or name a FIFO or unix:PATH"));
        }
        return Ok((Source::Stream(Box::new(std::io::stdin())), None));
    }
    if let Some(path) = path.to_str().and_then(|path| path.strip_prefix("unix:")) {
        let (bound, listener) = bind_socket("--feed", Path::new(path))?;
        return Ok((Source::Socket(listener), Some(bound)));
    }
    let about = path.metadata().map_err(|error| CommandError::reading(path, &error))?;
    if about.is_dir() {
        return Err(CommandError::usage(format!("--feed {}: that is a folder", path.display())));
    }
    // A FIFO that is open for writing here too does not end with its writers.
    let file = File::options().read(true).write(about.file_type().is_fifo()).open(path);
    Ok((Source::Stream(Box::new(file.map_err(|error| CommandError::reading(path, &error))?)), None))
}
