//! Connects to a server that runs elsewhere, and copies the traffic with it to a recorder.

use super::login;
use crate::error::{CommandError, ErrorKind, Notices};
use crate::record::http::{Exchanges, Numbers};
use crate::record::queue::{ChunkSource, Ready};
use crate::record::recorder::Recorder;
use crate::redact;
use crate::sessions::injection::is_ours;
use crate::trace::{EventKind, Flags, Opened};
use crate::transport::client::http::{HttpError, SharedObserver};
use crate::transport::client::remote::Carrier;
use crate::transport::client::websocket;
use crate::transport::local::stdio::{ByteObserver, Pipe};
use crate::transport::{Link, Observers, Remote, TransportNotice};
use crate::wire::{Direction, Frame, LineFramer, PIECE};
use parking_lot::Mutex;
use std::sync::Arc;

/// A transport's advice about its failures.
pub(super) type Advice = Arc<Mutex<Vec<String>>>;

/// A link to a server that runs elsewhere.
pub(crate) struct RemoteLink {
    /// The connection.
    pub link: Link,
    /// Records HTTP exchanges.
    pub exchanges: Option<Arc<Exchanges>>,
    /// The transport's advice about its failures.
    pub(super) advice: Advice,
}

/// For one of several servers that are recorded into one reel.
pub(crate) struct SharedRecording<'a> {
    /// Where the numbers of its streams come from.
    pub numbers: &'a Arc<Numbers>,
    /// The server's name.
    pub server: &'a str,
}

/// Connects to a server. If there is a recorder, it receives all traffic.
pub(crate) async fn attach(
    remote: &Remote,
    recorder: Option<&Recorder>,
    beside: Option<SharedRecording<'_>>,
    notices: Notices,
) -> Result<RemoteLink, CommandError> {
    let carrier = remote.carrier().map_err(remote_error)?;
    login::prepare(remote).await?;
    if remote.insecure && remote.speaks_tls() {
        (notices.warn)("warning: the server's certificate is not verified (--insecure)");
    }
    let url = redact::redact_url(&remote.url);
    let is_http = carrier == Carrier::Http;
    // Over HTTP, sessions have streams of their own, which begin with the first exchange.
    let stream = beside.as_ref().filter(|_| !is_http).map_or(0, |beside| beside.numbers.stream());
    let server = beside.as_ref().map(|beside| beside.server.to_owned());
    let about = Opened { url: Some(url.to_string()), server, ..Opened::over(transport_name(&carrier)) };
    if let Some(recorder) = recorder.filter(|_| beside.is_none() || !is_http) {
        recorder.queue().note(Ready::about(EventKind::StreamOpened, stream), &about);
    }
    let exchanges = recorder.filter(|_| is_http).map(|recorder| {
        let exchanges = Exchanges::new(Arc::clone(recorder.queue()), &remote.url, |_| {});
        Arc::new(match &beside {
            Some(SharedRecording { numbers, server }) => exchanges.beside(numbers, server),
            None => exchanges,
        })
    });
    let bytes = recorder.map(|recorder| match stream {
        0 => copy_to(recorder),
        stream => copy_lines_to(recorder, stream),
    });
    let observers = Observers {
        exchanges: exchanges.clone().map(|exchanges| exchanges as SharedObserver),
        bytes,
        frames: recorder.map(|recorder| copy_frames_to(recorder, stream)),
    };
    let advice = Advice::default();
    let kept = Arc::clone(&advice);
    let report = Arc::new(move |reported: TransportNotice<'_>| match reported {
        TransportNotice::Step(text) if notices.is_verbose => (notices.warn)(text),
        TransportNotice::Step(_) => {}
        TransportNotice::Trouble(text) => (notices.warn)(text),
        TransportNotice::Advice(text) => kept.lock().push(text.to_owned()),
    });
    let link = remote.attach(report, observers).await.map_err(remote_error)?;
    Ok(RemoteLink { link, exchanges, advice })
}

/// Passes every byte to the recorder.
pub(super) fn copy_to(recorder: &Recorder) -> ByteObserver {
    let queue = Arc::clone(recorder.queue());
    Arc::new(move |pipe, bytes| {
        let lane = match pipe {
            Pipe::Stdin => ChunkSource::Messages(Direction::ClientToServer),
            Pipe::Stdout => ChunkSource::Messages(Direction::ServerToClient),
            Pipe::Stderr => ChunkSource::Stderr,
        };
        match bytes {
            Some(bytes) => queue.push(lane, bytes),
            None => queue.end(lane),
        }
    })
}

/// Like [`copy_to`], but as frames of one of several streams.
pub(crate) fn copy_lines_to(recorder: &Recorder, stream: u32) -> ByteObserver {
    let queue = Arc::clone(recorder.queue());
    let framers = [(); 2].map(|()| Mutex::new(LineFramer::with_limit(PIECE)));
    Arc::new(move |pipe, bytes| {
        let direction = match pipe {
            Pipe::Stdin => Direction::ClientToServer,
            Pipe::Stdout => Direction::ServerToClient,
            Pipe::Stderr => {
                let ready = Ready { flags: Flags::SERVER_TO_CLIENT, ..Ready::about(EventKind::Stderr, stream) };
                return bytes.into_iter().for_each(|bytes| queue.push_ready(ready, bytes));
            }
        };
        let mut framer = framers[direction as usize].lock();
        let mut push = |frame: Frame<'_>| {
            let ours = if is_ours(frame.payload) { Flags::INJECTED } else { Flags::default() };
            let flags = Flags::toward(direction).with(ours);
            let ready = Ready { flags, framing: frame.framing, ..Ready::about(EventKind::Message, stream) };
            queue.push_ready(ready, frame.payload);
        };
        match bytes {
            Some(bytes) => framer.push(bytes, &mut push),
            None => framer.finish(&mut push),
        }
    })
}

/// Like [`copy_lines_to`], for transports where each frame is one message.
fn copy_frames_to(recorder: &Recorder, stream: u32) -> websocket::MessageObserver {
    let queue = Arc::clone(recorder.queue());
    Arc::new(move |direction, message| {
        if let Some(message) = message {
            let ours = if is_ours(message) { Flags::INJECTED } else { Flags::default() };
            let ready =
                Ready { flags: Flags::toward(direction).with(ours), ..Ready::about(EventKind::Message, stream) };
            queue.push_ready(ready, message);
        }
    })
}

/// The name of a transport in reels.
pub(crate) fn transport_name(carrier: &Carrier) -> &'static str {
    match carrier {
        Carrier::Http => "http",
        Carrier::WebSocket => "websocket",
        Carrier::Unix(_) => "unix",
        Carrier::Tcp(_) => "tcp",
    }
}

/// The command error for a failure of HTTP.
pub(crate) fn remote_error(error: HttpError) -> CommandError {
    let kind = match &error {
        HttpError::Url(..) | HttpError::Header(..) => ErrorKind::Usage,
        HttpError::Certificates(..) => ErrorKind::Input,
        _ => ErrorKind::Peer,
    };
    let reported = CommandError::new(kind, error.to_string());
    match error.advice() {
        Some(advice) => reported.hint(advice),
        None => reported,
    }
}
