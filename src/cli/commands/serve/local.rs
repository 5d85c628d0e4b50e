//! Local inputs of a server in addition to its host: HTTP posts, a socket, a feed of lines.

use super::{Serving, shared};
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
use std::sync::atomic::{AtomicBool, Ordering};

/// The sources of local input.
#[derive(Debug, Args)]
#[command(next_help_heading = "Local inputs")]
pub(super) struct LocalArgs {
    /// Accept JSON posts from this machine and push each as an event: a port (0 for a free one) or HOST:PORT. The
    /// body may contain eventId, text, payload, origin and featureSet; any other object becomes the event's text. A
    /// post to /events/TYPE is published to subscriptions (MCPE) with its data, tags and priority, or without data,
    /// with the whole body except its priority as data.
    #[arg(long, value_name = "ADDR")]
    webhook: Option<String>,
    /// Provide a channel on a Unix socket with this path: each line that is written to it becomes a message from the
    /// channel, as text or JSON; what the host publishes is printed to it as JSON lines.
    #[arg(long, value_name = "PATH")]
    channel_socket: Option<PathBuf>,
    /// Send one message per line of PATH, in the format of --on-signal. PATH is a file, a FIFO, unix:PATH (lines from
    /// clients of a Unix socket) or - (stdin, with --listen). Reading begins when a host is connected.
    #[arg(long, value_name = "PATH")]
    feed: Option<PathBuf>,
}

/// Inputs that are bound, but not started.
#[derive(Default)]
pub(crate) struct Local {
    webhook: Option<TcpListener>,
    channel: Option<(String, BoundSocket, UnixListener)>,
    feed: Option<(Source, Option<BoundSocket>)>,
}

/// Inputs that are running.
pub(super) struct LocalServer {
    _webhook: Option<Webhook>,
    connector: Option<ChannelSocket>,
    feed: Option<Feed>,
    /// The sockets' files are removed when these are dropped.
    _sockets: [Option<BoundSocket>; 2],
}

impl LocalArgs {
    /// Binds to the addresses. Adds the channel to the server's settings.
    ///
    /// # Errors
    ///
    /// An address cannot be used, or a file cannot be opened.
    pub(super) fn prepare(&self, listens: bool, config: &mut Config) -> Result<Local, CommandError> {
        let webhook = self.webhook.as_deref().map(bind).transpose()?;
        let channel = self.channel_socket.as_deref().map(open).transpose()?;
        if let Some((id, ..)) = &channel {
            let settings = config.settings.entry("mcpl".to_owned()).or_insert_with(|| json!({}));
            // Settings of a wrong type are refused later, with all settings.
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
    /// Starts reading the inputs.
    ///
    /// # Errors
    ///
    /// An input cannot be opened.
    pub(super) fn start(self, serving: &Serving) -> Result<LocalServer, CommandError> {
        let failed = |error| CommandError::new(ErrorKind::Internal, format!("cannot start the local inputs: {error}"));
        let serving = serving.clone();
        let order: Order = Arc::new(move |fired: &Fired, receives: ReportCallback| {
            let streams = serving.streams();
            let fired = shared(fired, streams.len());
            let into = |stream: &u32| {
                let (receives, is_first) = (Arc::clone(&receives), AtomicBool::new(true));
                let received = move |report: &Report, _| receives(report, is_first.swap(false, Ordering::Relaxed));
                serving.order(*stream, ServerInput::Fire(fired.clone(), Box::new(received))).is_ok()
            };
            streams.iter().filter(|stream| into(stream)).count()
        });
        let webhook = match self.webhook {
            None => None,
            Some(listener) => {
                if let Ok(address) = listener.local_addr() {
                    note(&format!("posts to http://{address}/ become push events"));
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
                note(&format!("messages can be written to {}", bound.name));
            }
            let report = Arc::new(|why: &str| note(&format!("--feed: {why}")));
            feed = Some(Feed::start(source, order, report).map_err(failed)?);
            feed_socket = bound;
        }
        Ok(LocalServer { _webhook: webhook, connector, feed, _sockets: [socket, feed_socket] })
    }
}

impl LocalServer {
    /// Passes on a session's report.
    pub(super) fn receive(&self, report: &Report) {
        if let Some(connector) = &self.connector {
            connector.receive(report);
        }
        if let Some(feed) = &self.feed {
            feed.receive(report);
        }
    }
}

/// Binds to an address that only this machine can reach.
fn bind(address: &str) -> Result<TcpListener, CommandError> {
    let usage = |why: String| CommandError::usage(format!("--webhook {address}: {why}"));
    let resolved: Vec<SocketAddr> = match address.trim_start_matches(':').parse::<u16>() {
        Ok(port) => vec![SocketAddr::from(([127, 0, 0, 1], port))],
        Err(_) => address
            .to_socket_addrs()
            .map_err(|error| usage(error.to_string()).hint("use HOST:PORT, such as 127.0.0.1:9000, or only a port"))?
            .collect(),
    };
    if resolved.is_empty() || !resolved.iter().all(|address| address.ip().is_loopback()) {
        let error = usage("other machines could reach that address, and its posts are shown to the model".to_owned());
        return Err(error.hint("use only a port, or 127.0.0.1:PORT; you can put a tunnel in front of it"));
    }
    TcpListener::bind(&resolved[..]).map_err(|error| {
        CommandError::new(ErrorKind::Peer, format!("cannot listen on {address}: {error}"))
            .hint("choose another port; 0 selects a free one")
    })
}

/// Opens a channel at a socket with this path. Returns its id and the socket.
fn open(path: &Path) -> Result<(String, BoundSocket, UnixListener), CommandError> {
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (bound, listener) = bind_socket("--channel-socket", path)?;
    Ok((format!("socket:{name}"), bound, listener))
}

fn bind_socket(option: &str, path: &Path) -> Result<(BoundSocket, UnixListener), CommandError> {
    bind_at(path).map_err(|error| {
        CommandError::usage(format!("{option} {}: {error}", path.display()))
            .hint("use a path in an existing folder, at which there is no file and no other process listens")
    })
}

/// Opens the source of lines.
fn source(path: &Path, listens: bool) -> Result<(Source, Option<BoundSocket>), CommandError> {
    if path == Path::new("-") {
        if !listens {
            return Err(CommandError::usage("--feed -: stdin belongs to the host")
                .hint("let hosts connect with --listen, or use a FIFO or unix:PATH"));
        }
        return Ok((Source::Stream(Box::new(std::io::stdin())), None));
    }
    if let Some(path) = path.to_str().and_then(|path| path.strip_prefix("unix:")) {
        let (bound, listener) = bind_socket("--feed", Path::new(path))?;
        return Ok((Source::Socket(listener), Some(bound)));
    }
    let about = path.metadata().map_err(|error| CommandError::reading(path, &error))?;
    if about.is_dir() {
        return Err(CommandError::usage(format!("--feed {}: this is a folder", path.display())));
    }
    // A FIFO that is also open for writing here does not end when its writers close it.
    let file = File::options().read(true).write(about.file_type().is_fifo()).open(path);
    Ok((Source::Stream(Box::new(file.map_err(|error| CommandError::reading(path, &error))?)), None))
}
