//! Runs the host on one link per server: carries messages both ways, and wakes the host in time.

use super::sleep_until;
use crate::host::engine::{Host, ModelReply, Order, Output};
use crate::proposals::host::{Inferred, ServerId};
use crate::transport::budget::{Receiver, Sender, Weight, queue};
use crate::transport::{Incoming, Link};
use crate::wire::Direction;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Maximum number of messages from servers that wait for the host.
const WAITING: usize = 256;
/// Maximum number of messages that wait for a server that does not read, before it is given up.
const MAX_UNSENT: usize = 8192;
/// Maximum number of bytes of those messages, not counting the first (16 MiB).
const MAX_UNSENT_BYTES: usize = 16 << 20;
/// How long to wait for servers to finish.
const DELETE_TIMEOUT: Duration = Duration::from_secs(4);

/// Something that an [`Interceptor`] does between the host and a server.
#[derive(Debug)]
pub(crate) enum Intervention {
    /// Deliver this message, to the server or as if from it.
    Message(Direction, Vec<u8>),
    /// Break the connection.
    Cut,
}

/// Sees each message when it is sent and when it arrives.
pub(crate) trait MessageObserver {
    /// A message was sent. Returns what to deliver now, if anything.
    fn pass(&mut self, now: Duration, server: ServerId, direction: Direction, message: Vec<u8>) -> Option<Vec<u8>>;
    /// A message arrives, either delivered or injected.
    fn arrived(&mut self, _now: Duration, _server: ServerId, _direction: Direction, _message: &[u8]) {}
}

/// Sees the messages between the host and its servers, and injects messages.
pub(crate) struct Interceptor {
    /// Sees the messages.
    pub watch: Box<dyn MessageObserver>,
    /// The injected messages.
    pub put: mpsc::Receiver<(ServerId, Intervention)>,
}

/// Something to report to the runner's user.
#[derive(Debug)]
pub(crate) enum HostNotice {
    /// An output of the host.
    Host(Output),
    /// A server wrote to standard error.
    Stderr(ServerId, Vec<u8>),
}

/// A running host.
pub(crate) struct HostRunner {
    /// The engine. Pass its outputs to [`HostRunner::take`].
    pub host: Host,
    ports: Vec<Option<mpsc::UnboundedSender<Vec<u8>>>>,
    carriers: Vec<tokio::task::JoinHandle<()>>,
    inbox: Receiver<(ServerId, Incoming)>,
    began: Instant,
    reported: VecDeque<HostNotice>,
    attendant: Option<Interceptor>,
}

impl HostRunner {
    /// Starts a host on the links of its servers, in their order.
    pub(crate) fn start(mut host: Host, links: Vec<Link>, attendant: Option<Interceptor>) -> Self {
        let (to_host, inbox) = queue(WAITING);
        let (mut ports, mut carriers) = (Vec::new(), Vec::new());
        for (at, link) in links.into_iter().enumerate() {
            let (port, messages) = mpsc::unbounded_channel();
            ports.push(Some(port));
            carriers.push(tokio::spawn(carry(ServerId(at), link, messages, to_host.clone())));
        }
        let outputs = host.start(Duration::ZERO);
        let (began, reported) = (Instant::now(), VecDeque::new());
        let mut runner = Self { host, ports, carriers, inbox, began, reported, attendant };
        runner.take(outputs);
        runner
    }

    /// The host's time.
    pub(crate) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Whether the host is idle and all of its outputs are reported.
    pub(crate) fn is_idle(&self) -> bool {
        self.reported.is_empty() && self.host.is_idle()
    }

    /// Gives the host an order.
    pub(crate) fn order(&mut self, order: Order) {
        let outputs = self.host.order(self.now(), order);
        self.take(outputs);
    }

    /// Passes the model's reply to the host.
    pub(crate) fn model(&mut self, reply: Result<ModelReply, String>) {
        let outputs = self.host.model(self.now(), reply);
        self.take(outputs);
    }

    /// Passes a piece of an inference to the host.
    pub(crate) fn inferred_piece(&mut self, token: u64, text: &str) {
        let outputs = self.host.inferred_piece(self.now(), token, text);
        self.take(outputs);
    }

    /// Passes the end of an inference to the host.
    pub(crate) fn inferred(&mut self, token: u64, outcome: Result<Inferred, String>) {
        let outputs = self.host.inferred(self.now(), token, outcome);
        self.take(outputs);
    }

    /// Disconnects a server.
    pub(crate) fn disconnect(&mut self, server: ServerId) {
        self.ports[server.0] = None;
        let outputs = self.host.closed(self.now(), server, Some("disconnected on request"));
        self.take(outputs);
    }

    fn take(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            match output {
                Output::Send { server, message } => {
                    let passed = self.pass(server, Direction::ClientToServer, message);
                    passed.into_iter().for_each(|message| self.send(server, message));
                }
                other => self.reported.push_back(HostNotice::Host(other)),
            }
        }
    }

    fn pass(&mut self, server: ServerId, direction: Direction, message: Vec<u8>) -> Option<Vec<u8>> {
        let now = self.now();
        match &mut self.attendant {
            Some(attendant) => attendant.watch.pass(now, server, direction, message),
            None => Some(message),
        }
    }

    fn arrived(&mut self, server: ServerId, direction: Direction, message: &[u8]) {
        let now = self.now();
        if let Some(attendant) = &mut self.attendant {
            attendant.watch.arrived(now, server, direction, message);
        }
    }

    fn send(&mut self, server: ServerId, message: Vec<u8>) {
        self.arrived(server, Direction::ClientToServer, &message);
        if let Some(Some(port)) = self.ports.get(server.0) {
            // If the carrier has ended, it has reported why.
            let _ = port.send(message);
        }
    }

    /// The next notice. Cancel-safe.
    pub(crate) async fn next(&mut self) -> HostNotice {
        loop {
            if let Some(reported) = self.reported.pop_front() {
                return reported;
            }
            // Saturated times mean that there is no limit.
            let due = self.host.next_timeout().and_then(|at| self.began.checked_add(at));
            let (mut incoming, mut put) = (None, None);
            tokio::select! {
                found = self.inbox.recv() => incoming = found,
                found = put_in(&mut self.attendant) => put = found,
                () = sleep_until(due) => {}
            }
            let now = self.now();
            // Let the engine see the time before the messages that arrived after it.
            let mut outputs = self.host.handle_timeout(now);
            if let Some((server, incoming)) = incoming {
                outputs.extend(self.receive(now, server, incoming));
            }
            match put {
                Some((server, Intervention::Message(Direction::ClientToServer, message))) => self.send(server, message),
                Some((server, Intervention::Message(Direction::ServerToClient, message))) => {
                    self.arrived(server, Direction::ServerToClient, &message);
                    outputs.extend(self.host.receive(now, server, &message));
                }
                Some((server, Intervention::Cut)) => self.disconnect(server),
                None => {}
            }
            self.take(outputs);
        }
    }

    fn receive(&mut self, now: Duration, server: ServerId, incoming: Incoming) -> Vec<Output> {
        match incoming {
            Incoming::Message(message) => match self.pass(server, Direction::ServerToClient, message) {
                Some(message) => {
                    self.arrived(server, Direction::ServerToClient, &message);
                    self.host.receive(now, server, &message)
                }
                None => Vec::new(),
            },
            Incoming::Undelivered(lost) if lost.session_over => {
                self.host.session_over(now, server, &lost.id, &lost.reason)
            }
            Incoming::Undelivered(lost) => {
                self.host.undelivered(now, server, &lost.id, &lost.reason, lost.refusal.as_deref())
            }
            Incoming::Stderr(bytes) => {
                self.reported.push_back(HostNotice::Stderr(server, bytes));
                Vec::new()
            }
            Incoming::Closed => self.host.closed(now, server, None),
            Incoming::Failed(why) => self.host.closed(now, server, Some(&why)),
        }
    }

    /// Sends no more and waits for the servers to end, for a limited time.
    ///
    /// Returns what they write to standard error meanwhile.
    pub(crate) async fn close(mut self) -> Vec<(ServerId, Vec<u8>)> {
        self.ports.clear();
        let mut said = Vec::new();
        let all = async {
            let mut carriers = std::mem::take(&mut self.carriers);
            loop {
                carriers.retain(|carrier| !carrier.is_finished());
                let Some(carrier) = carriers.first_mut() else { return };
                tokio::select! {
                    _ = carrier => {}
                    // Keep reading: otherwise, a full queue would keep servers from ending.
                    Some((server, Incoming::Stderr(bytes))) = self.inbox.recv() => said.push((server, bytes)),
                    else => return,
                }
            }
        };
        let _ = tokio::time::timeout(DELETE_TIMEOUT, all).await;
        said
    }
}

/// The next injected message; never completes if there can be none.
async fn put_in(attendant: &mut Option<Interceptor>) -> Option<(ServerId, Intervention)> {
    match attendant {
        Some(attendant) => match attendant.put.recv().await {
            Some(put) => Some(put),
            None => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}

impl Weight for (ServerId, Incoming) {
    fn weight(&self) -> usize {
        self.1.weight()
    }
}

/// Carries messages between one link and the host until either ends.
async fn carry(
    server: ServerId,
    mut link: Link,
    mut messages: mpsc::UnboundedReceiver<Vec<u8>>,
    to_host: Sender<(ServerId, Incoming)>,
) {
    let mut outbox = VecDeque::new();
    let mut host_talks = true;
    loop {
        let incoming = tokio::select! {
            message = messages.recv(), if host_talks => {
                match message {
                    Some(message) => outbox.push_back(message),
                    None => host_talks = false,
                }
                None
            }
            incoming = link.turn(&mut outbox) => incoming,
        };
        if !host_talks && outbox.is_empty() {
            link.close();
        }
        let behind_the_first: usize = outbox.iter().skip(1).map(Vec::len).sum();
        if outbox.len() > MAX_UNSENT || behind_the_first > MAX_UNSENT_BYTES {
            let why = format!("it does not read: {} messages are waiting", outbox.len());
            let _ = to_host.send((server, Incoming::Failed(why))).await;
            return;
        }
        let Some(incoming) = incoming else { continue };
        let is_last = matches!(incoming, Incoming::Closed | Incoming::Failed(_));
        if to_host.send((server, incoming)).await.is_err() || is_last {
            return;
        }
    }
}
