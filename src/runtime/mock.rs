//! Serves recordings: one session on a pair of byte streams, or any number of them behind a gateway, each on a thread of
//! its own.

pub(crate) mod payloads;

use super::sessions::{SessionTraffic, TrafficObserver};
use crate::protocol::http::{Delivery, ToolMarks};
use crate::replay::mock::{Library, MockSession, Output, Report, Settings};
use crate::transport::Incoming;
use crate::transport::budget::{Backpressure, BackpressurePermit};
use crate::transport::link::{Link, Served};
use crate::transport::listen::gateway::{Backend, Opened};
use crate::wire::Direction;
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Instant;
use tokio::sync::oneshot;

/// An input of a mock.
pub(crate) enum MockInput {
    /// A message of the client, and its share of the queue.
    Message(Vec<u8>, BackpressurePermit),
    /// What the server behind the mock answered, by the ticket.
    Forwarded(u64, Result<Vec<u8>, String>),
    /// The client closed its side.
    End,
    /// The connection failed, for this reason.
    Failed(String),
    /// The user ends the mock.
    Stop,
}

impl MockInput {
    /// Returns a callback that passes what a reader reads to `arrivals`.
    pub(crate) fn of_client(arrivals: Sender<Self>) -> impl FnMut(Incoming) + Send + 'static {
        let limit = Backpressure::default();
        move |incoming| {
            let input = match incoming {
                Incoming::Message(message) => {
                    let permit = limit.blocking_enter(message.len());
                    Self::Message(message, permit)
                }
                Incoming::Failed(why) => Self::Failed(why),
                Incoming::Closed => Self::End,
                Incoming::Stderr(_) | Incoming::Undelivered(_) => return,
            };
            drop(arrivals.send(input));
        }
    }
}

/// Asks the server behind a mock. The answer goes to the sender, with the ticket.
pub(crate) type Forward = Arc<dyn Fn(u64, Vec<u8>, Sender<MockInput>) + Send + Sync>;

/// Where a mock's messages go.
pub(crate) trait Sink {
    /// Sends a message; it may wait until [`Sink::flush`].
    ///
    /// # Errors
    /// The client is gone.
    fn send(&mut self, message: Vec<u8>) -> io::Result<()>;
    /// Sends everything that waits.
    ///
    /// # Errors
    /// The client is gone.
    fn flush(&mut self) -> io::Result<()>;
}

/// Lines on a byte stream.
impl<W: io::Write> Sink for io::BufWriter<W> {
    fn send(&mut self, message: Vec<u8>) -> io::Result<()> {
        io::Write::write_all(self, &message)?;
        io::Write::write_all(self, b"\n")
    }

    fn flush(&mut self) -> io::Result<()> {
        io::Write::flush(self)
    }
}

/// Serves one client until it closes its side, a fault disconnects it, or the user ends the mock. Returns what was asked
/// for, and why the connection failed, if it did.
pub(crate) fn serve(
    mut session: MockSession,
    (arrivals, back): (&Receiver<MockInput>, &Sender<MockInput>),
    mut out: impl Sink,
    forward: Option<&Forward>,
) -> (Report, io::Result<()>) {
    let began = Instant::now();
    let mut outputs = session.start(began.elapsed());
    let mut has_ended = false;
    let ended = loop {
        match deliver(outputs, &mut out, back, forward) {
            Ok(true) => {}
            Ok(false) => break Ok(()),
            Err(error) => break Err(error),
        }
        if has_ended && !session.is_owing() {
            break Ok(());
        }
        let input = match arrivals.try_recv() {
            Ok(input) => Some(input),
            Err(TryRecvError::Disconnected) => break Ok(()),
            Err(TryRecvError::Empty) => {
                if let Err(error) = out.flush() {
                    break Err(error);
                }
                match next(arrivals, &session, began) {
                    Ok(input) => input,
                    Err(()) => break Ok(()),
                }
            }
        };
        let now = began.elapsed();
        outputs = match input {
            Some(MockInput::Message(message, _permit)) => session.receive(now, &message),
            Some(MockInput::Forwarded(ticket, answer)) => session.forwarded(now, ticket, answer),
            Some(MockInput::Failed(why)) => break Err(io::Error::new(io::ErrorKind::InvalidData, why)),
            Some(MockInput::Stop) => break Ok(()),
            Some(MockInput::End) => {
                has_ended = true;
                session.handle_timeout(now)
            }
            None => session.handle_timeout(now),
        };
    };
    let flushed = out.flush();
    (session.into_report(), ended.and(flushed))
}

/// Waits for an input until the session's next timeout.
fn next(arrivals: &Receiver<MockInput>, session: &MockSession, began: Instant) -> Result<Option<MockInput>, ()> {
    match session.next_timeout() {
        None => arrivals.recv().map(Some).map_err(|_| ()),
        Some(at) => match arrivals.recv_timeout(at.saturating_sub(began.elapsed())) {
            Ok(input) => Ok(Some(input)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(()),
        },
    }
}

/// Returns whether the connection goes on.
fn deliver(
    outputs: Vec<Output>,
    out: &mut impl Sink,
    back: &Sender<MockInput>,
    forward: Option<&Forward>,
) -> io::Result<bool> {
    for output in outputs {
        match output {
            Output::Send(message) => out.send(message)?,
            Output::Forward { ticket, request } => match forward {
                Some(forward) => forward(ticket, request, back.clone()),
                None => drop(back.send(MockInput::Forwarded(ticket, Err("there is none".to_owned())))),
            },
            Output::Disconnect => return Ok(false),
        }
    }
    Ok(true)
}

/// A sink whose messages are observed.
pub(crate) struct Observed<S> {
    /// Where they go.
    pub sink: S,
    /// Called with each.
    pub observe: TrafficObserver,
}

impl<S: Sink> Sink for Observed<S> {
    fn send(&mut self, message: Vec<u8>) -> io::Result<()> {
        (self.observe)(0, SessionTraffic::Message(Direction::ServerToClient, &message));
        self.sink.send(message)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// The sessions of a mock that listens.
pub(crate) struct MockSessions {
    library: Arc<Library>,
    settings: Settings,
    forward: Option<Forward>,
    observe: TrafficObserver,
    report: Arc<Mutex<Report>>,
    /// How many sessions play a recorded one.
    begun: Arc<AtomicU32>,
}

impl MockSessions {
    /// Sessions that serve this library.
    pub(crate) fn new(
        library: Arc<Library>,
        settings: Settings,
        forward: Option<Forward>,
        observe: TrafficObserver,
    ) -> Self {
        Self { library, settings, forward, observe, report: Arc::default(), begun: Arc::default() }
    }

    /// Takes what was asked for in the sessions that have ended.
    pub(crate) fn take_report(&self) -> Report {
        std::mem::take(&mut *self.report.lock())
    }
}

/// The messages of a link.
struct LinkSink(crate::transport::budget::Sender<Incoming>);

impl Sink for LinkSink {
    fn send(&mut self, message: Vec<u8>) -> io::Result<()> {
        let sent = self.0.blocking_send(Incoming::Message(message));
        sent.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Backend for MockSessions {
    fn open(&self, stream: u32) -> Result<Opened, String> {
        (self.observe)(stream, SessionTraffic::Opened);
        let (link, Served { mut outgoing, incoming }) = Link::served();
        let (sender, arrivals) = channel();
        let mut arrive = MockInput::of_client(sender.clone());
        let failed = |error: io::Error| format!("cannot start a thread for another session: {error}");
        let reader = std::thread::Builder::new().name("client".into());
        let read = move || {
            while let Some(message) = outgoing.blocking_recv() {
                arrive(Incoming::Message(message));
            }
            arrive(Incoming::Closed);
        };
        reader.spawn(read).map_err(failed)?;
        let seed = self.settings.seed ^ u64::from(stream) << 32;
        let begun = Arc::clone(&self.begun);
        let settings = Settings { seed, session: begun.fetch_add(1, Ordering::Relaxed), ..self.settings.clone() };
        let (library, forward) = (Arc::clone(&self.library), self.forward.clone());
        let (report, (ended, end)) = (Arc::clone(&self.report), oneshot::channel::<()>());
        let server = std::thread::Builder::new().name("session".into());
        let serve = move || {
            let session = MockSession::new(library, settings);
            let out = LinkSink(incoming.clone());
            let (mut asked, _) = serve(session, (&arrivals, &sender), out, forward.as_ref());
            if asked.is_unanswered() {
                // A client that only found out that the recorded server is of another era has played nobody's part.
                asked.sessions = 0;
                begun.fetch_sub(1, Ordering::Relaxed);
            }
            report.lock().add(asked);
            let _ = incoming.blocking_send(Incoming::Closed);
            drop(ended);
        };
        server.spawn(serve).map_err(failed)?;
        let end = async move {
            let _ = end.await;
        };
        Ok(Opened { link, end: Box::pin(end) })
    }

    fn delivery(&self, message: &[u8]) -> Delivery {
        self.library.delivery(message)
    }

    fn checked_headers(&self) -> Option<&ToolMarks> {
        Some(self.library.marks())
    }

    fn pass(&self, stream: u32, direction: Direction, message: Vec<u8>) -> Option<Vec<u8>> {
        (self.observe)(stream, SessionTraffic::Message(direction, &message));
        Some(message)
    }

    fn see_stderr(&self, _stream: u32, _bytes: &[u8]) {}

    fn closed(&self, stream: u32, by: &str) {
        (self.observe)(stream, SessionTraffic::Closed(by));
    }
}
