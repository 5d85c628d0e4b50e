//! Runs the host on one link per server: carries messages both ways, asks the model, and wakes the host in time.

use super::host_notes;
use super::inferences::{Inferences, Saying};
use super::model::{Model, Progress, Replying};
use super::sleep_until;
use crate::host::engine::{Host, ModelReply, Order, Output};
use crate::host::prompt::Prompt;
use crate::proposals::host::ServerId;
use crate::record::queue::Queue;
use crate::transport::budget::{Receiver, Sender, Weight, queue};
use crate::transport::{Incoming, Link};
use crate::wire::Direction;
use std::collections::VecDeque;
use std::sync::Arc;
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

/// A message between the host and a server.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Message {
    /// The server of the connection.
    pub server: ServerId,
    /// The direction.
    pub direction: Direction,
    /// The exact message.
    pub bytes: Vec<u8>,
}

/// Sees each message when it is sent. Returns it if it is to be delivered.
pub(crate) trait MessageObserver {
    /// A message was sent.
    fn pass(&mut self, message: Message) -> Option<Message>;
}

/// How messages between the host and its servers are delivered.
pub(crate) enum Delivery {
    /// At once, unless the observer keeps them; and messages can be injected.
    AtOnce {
        /// Sees the messages.
        watch: Box<dyn MessageObserver>,
        /// The injected messages, which the observer does not see.
        injected: mpsc::Receiver<Message>,
    },
    /// By the runner's user, who gets each as [`HostNotice::Sent`] and calls [`HostRunner::deliver`].
    ByUser,
}

/// Something to report to the runner's user.
#[derive(Debug)]
pub(crate) enum HostNotice {
    /// An output of the host. For a prompt, [`HostRunner::ask`] or [`HostRunner::reply`] must be called.
    Host(Output),
    /// A message to deliver.
    Sent(Message),
    /// A server wrote to standard error.
    Stderr(ServerId, Vec<u8>),
    /// A piece of the model's reply.
    Piece(String),
    /// The model's reply was passed to the host; `None` if the model failed.
    Replied(Option<ModelReply>),
    /// The model went on with an inference that a server requested.
    Inferred,
}

/// A running host.
pub(crate) struct HostRunner {
    /// The engine. Pass its outputs to [`HostRunner::take`].
    pub host: Host,
    /// The model.
    pub model: Model,
    ports: Vec<Option<mpsc::UnboundedSender<Vec<u8>>>>,
    carriers: Vec<tokio::task::JoinHandle<()>>,
    inbox: Receiver<(ServerId, Incoming)>,
    began: Instant,
    reported: VecDeque<HostNotice>,
    delivery: Delivery,
    replying: Option<Replying>,
    inferences: Inferences,
    /// Where marks and decisions are recorded.
    recording: Arc<Queue>,
}

impl HostRunner {
    /// Starts a host on the links of its servers, in their order.
    pub(crate) fn start(
        mut host: Host,
        links: Vec<Link>,
        model: Model,
        delivery: Delivery,
        recording: Arc<Queue>,
    ) -> Self {
        let (to_host, inbox) = queue(WAITING);
        let (mut ports, mut carriers) = (Vec::new(), Vec::new());
        for (at, link) in links.into_iter().enumerate() {
            let (port, messages) = mpsc::unbounded_channel();
            ports.push(Some(port));
            carriers.push(tokio::spawn(carry(ServerId(at), link, messages, to_host.clone())));
        }
        let outputs = host.start(Duration::ZERO);
        let mut runner = Self {
            host,
            model,
            ports,
            carriers,
            inbox,
            began: Instant::now(),
            reported: VecDeque::new(),
            delivery,
            replying: None,
            inferences: Inferences::new(),
            recording,
        };
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

    /// Whether the host and the model are idle.
    pub(crate) fn is_free(&self) -> bool {
        self.is_idle() && self.replying.is_none() && self.inferences.is_idle()
    }

    /// Whether the host waits for its servers, rather than for the model.
    pub(crate) fn awaits_servers(&self) -> bool {
        !self.is_idle() && self.replying.is_none()
    }

    /// Gives the host an order.
    pub(crate) fn order(&mut self, order: Order) {
        let outputs = self.host.order(self.now(), order);
        self.take(outputs);
    }

    /// Asks the model to reply to a prompt.
    pub(crate) fn ask(&mut self, prompt: Prompt) {
        self.replying = Some(Replying::begin(&self.model, prompt));
    }

    /// Passes a reply to a prompt to the host.
    pub(crate) fn reply(&mut self, reply: Result<ModelReply, String>) {
        let outputs = self.host.model(self.now(), reply);
        self.take(outputs);
    }

    /// Stops the model, if it is replying to a prompt; the host learns that it was interrupted.
    pub(crate) fn interrupt_model(&mut self) -> bool {
        let Some(replying) = self.replying.take() else { return false };
        replying.abort();
        self.reply(Err("interrupted".to_owned()));
        true
    }

    /// Disconnects a server.
    pub(crate) fn disconnect(&mut self, server: ServerId) {
        self.ports[server.0] = None;
        let outputs = self.host.closed(self.now(), server, Some("disconnected on request"));
        self.take(outputs);
    }

    /// Whether a server was not disconnected.
    pub(crate) fn is_open(&self, server: ServerId) -> bool {
        self.ports.get(server.0).is_some_and(Option::is_some)
    }

    fn take(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            // Before anything that is sent because of it.
            host_notes::record(&self.recording, &host_notes::notes(&output, self.host.servers().len()));
            match output {
                Output::Send { server, message } => {
                    self.send(Message { server, direction: Direction::ClientToServer, bytes: message });
                }
                Output::Infer(asked) => self.inferences.take(asked, &self.model),
                other => self.reported.push_back(HostNotice::Host(other)),
            }
        }
    }

    fn send(&mut self, message: Message) {
        match &mut self.delivery {
            Delivery::ByUser => self.reported.push_back(HostNotice::Sent(message)),
            Delivery::AtOnce { watch, .. } => {
                if let Some(message) = watch.pass(message) {
                    self.deliver(message);
                }
            }
        }
    }

    /// Delivers a message.
    pub(crate) fn deliver(&mut self, message: Message) {
        let Message { server, direction, bytes } = message;
        match direction {
            Direction::ClientToServer => {
                if let Some(Some(port)) = self.ports.get(server.0) {
                    // If the carrier has ended, it has reported why.
                    let _ = port.send(bytes);
                }
            }
            Direction::ServerToClient => {
                let outputs = self.host.receive(self.now(), server, &bytes);
                self.take(outputs);
            }
        }
    }

    /// The next notice, if there is one now.
    pub(crate) fn reported(&mut self) -> Option<HostNotice> {
        self.reported.pop_front()
    }

    /// The next notice. Cancel-safe.
    pub(crate) async fn next(&mut self) -> HostNotice {
        loop {
            if let Some(reported) = self.reported() {
                return reported;
            }
            self.wait(None).await;
        }
    }

    /// Waits until something happens, or for some time. Cancel-safe.
    pub(crate) async fn wait(&mut self, until: Option<Duration>) {
        let wake = self.host.next_timeout().into_iter().chain(until).min();
        // Saturated times mean that there is no limit.
        let due = wake.and_then(|at| self.began.checked_add(at));
        let (mut incoming, mut injected) = (None, None);
        tokio::select! {
            found = self.inbox.recv() => incoming = found,
            found = next_injected(&mut self.delivery) => injected = Some(found),
            progress = Replying::next(&mut self.replying) => return self.progress(progress),
            (token, saying) = self.inferences.next() => return self.inferred(token, saying),
            () = sleep_until(due) => {}
        }
        // Let the engine see the time before the messages that arrived after it.
        let outputs = self.host.handle_timeout(self.now());
        self.take(outputs);
        if let Some((server, incoming)) = incoming {
            self.receive(server, incoming);
        }
        if let Some(message) = injected {
            self.deliver(message);
        }
    }

    fn progress(&mut self, progress: Progress) {
        match progress {
            Progress::Piece(piece) => self.reported.push_back(HostNotice::Piece(piece)),
            Progress::Reply(reply) => {
                self.reported.push_back(HostNotice::Replied(reply.as_ref().ok().cloned()));
                self.reply(reply);
            }
        }
    }

    fn inferred(&mut self, token: u64, saying: Saying) {
        self.reported.push_back(HostNotice::Inferred);
        let now = self.now();
        let outputs = match saying {
            Saying::Piece(piece) => self.host.inferred_piece(now, token, &piece),
            Saying::End(outcome) => {
                self.inferences.begin_next(&self.model);
                self.host.inferred(now, token, outcome)
            }
        };
        self.take(outputs);
    }

    fn receive(&mut self, server: ServerId, incoming: Incoming) {
        let now = self.now();
        let outputs = match incoming {
            Incoming::Message(bytes) => {
                return self.send(Message { server, direction: Direction::ServerToClient, bytes });
            }
            Incoming::Undelivered(lost) if lost.session_over => {
                self.host.session_over(now, server, &lost.id, &lost.reason)
            }
            Incoming::Undelivered(lost) => {
                self.host.undelivered(now, server, &lost.id, &lost.reason, lost.refusal.as_deref())
            }
            Incoming::Stderr(bytes) => return self.reported.push_back(HostNotice::Stderr(server, bytes)),
            Incoming::Closed => self.host.closed(now, server, None),
            Incoming::Failed(why) => self.host.closed(now, server, Some(&why)),
        };
        self.take(outputs);
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
                    // Keep reading, whatever it is: otherwise, a full queue would keep servers from ending.
                    found = self.inbox.recv() => match found {
                        Some((server, Incoming::Stderr(bytes))) => said.push((server, bytes)),
                        Some(_) => {}
                        None => return,
                    },
                }
            }
        };
        let _ = tokio::time::timeout(DELETE_TIMEOUT, all).await;
        said
    }
}

/// The next injected message; never completes if there can be none.
async fn next_injected(delivery: &mut Delivery) -> Message {
    let injected = match delivery {
        Delivery::AtOnce { injected, .. } => injected.recv().await,
        Delivery::ByUser => None,
    };
    match injected {
        Some(message) => message,
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
