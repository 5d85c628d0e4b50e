//! Offers a server with a URL over stdio, for clients that can only start processes. The link's observers record the
//! traffic; this module records only the messages that it makes for the client.

use super::queue::{Queue, Ready};
use super::startup_error;
use crate::process::threads;
use crate::sessions::answers::Answers;
use crate::sessions::control::{InjectionProgress, Session};
use crate::trace::{EventKind, Flags};
use crate::transport::client::streamable::handshake::MAX_WAIT;
use crate::transport::client::waiting::Waiting;
use crate::transport::local::stdio::read_messages;
use crate::transport::{Incoming, Link, Undelivered, budget};
use crate::wire::MessageLimit;
use crate::wire::text::BYTE_ORDER_MARK;
use crate::wire::{Direction, Envelope, Framing, Id, IdKey, MessageKind, json};
use serde_json::json;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};

/// How long to wait for answers after the client has closed its input, and `initialize` has been answered.
const DELETE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long to wait for the answer to `initialize` then. What waits for it is given up before that, and recorded.
const HANDSHAKE_TIMEOUT: Duration = MAX_WAIT.saturating_add(Duration::from_secs(1));
/// The code of an error sent in place of the server, which could not be reached or did not answer.
const NOT_DELIVERED: i64 = -32000;

/// What ends a server after the client has closed its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerEnd {
    /// The end of its own input, as that of a process. It decides itself what it still sends.
    OfInput,
    /// Nothing: the link is closed once all requests are answered.
    WithTheLink,
}

/// Sends lines to the link and messages back, until either side ends. `orders` are injected messages. An error response
/// to an undelivered request is recorded as injected. A client that has closed its input does not wait for a user who is
/// asked to log in.
///
/// # Errors
/// The client cannot be written to; with `InvalidData`, one of the connections failed; with `TimedOut`, requests of a client
/// that has closed its input were not answered in time by the server, but by mcpreel.
pub(crate) async fn run(
    mut link: Link,
    (input, limit): (impl Read + Send + 'static, MessageLimit),
    output: impl Write + Send + 'static,
    shared: Option<&SharedSession>,
    mut orders: mpsc::Receiver<InjectedMessage>,
    end: ServerEnd,
) -> io::Result<()> {
    let (sender, mut lines) = budget::queue(64);
    let (to_client, mut written) = write_lines(output)?;
    // The last that can fail: until then, the client's input is free for the reason.
    read_messages(input, limit, "the client", move |came| drop(sender.blocking_send(came)))?;
    startup_error::begin();
    let mut open = OpenRequests::default();
    let mut grace_period = None;
    // Neither side waits for the other: at most one message per direction is held here.
    let (mut outbox, mut said) = (VecDeque::new(), None);
    let waiting = link.waiting().cloned();
    let ended = loop {
        if grace_period.is_some() && outbox.is_empty() && said.is_none() {
            if end == ServerEnd::OfInput {
                link.close();
            } else if open.all.is_empty() {
                break Ok(());
            }
        }
        if grace_period.is_some() && open.handshake_ended() {
            grace_period = Some(tokio::time::Instant::now() + DELETE_TIMEOUT);
        }
        tokio::select! {
            line = lines.recv(), if grace_period.is_none() && outbox.is_empty() => match line {
                Some(Incoming::Message(mut line)) => {
                    // It belongs to the stream of lines, not to its first message.
                    if line.starts_with(BYTE_ORDER_MARK) {
                        line.drain(..BYTE_ORDER_MARK.len());
                    }
                    note_requests(&line, &mut open);
                    outbox.extend(keep(shared, Direction::ClientToServer, line));
                }
                Some(Incoming::Failed(why)) => break Err(io::Error::new(io::ErrorKind::InvalidData, why)),
                _ => {
                    let time = if open.handshake.is_some() { HANDSHAKE_TIMEOUT } else { DELETE_TIMEOUT };
                    grace_period = Some(tokio::time::Instant::now() + time);
                }
            },
            // If the writer is gone, `written` gives the reason at once.
            slot = to_client.reserve(said.as_ref().map_or(0, Vec::len)), if said.is_some() => if let (Ok(slot), Some(message)) = (slot, said.take()) {
                slot.send(message);
            },
            failed = &mut written => return failed.unwrap_or(Ok(())),
            turned = link.turn(&mut outbox), if said.is_none() => match turned {
                Some(Incoming::Message(message)) => {
                    note_answers(&message, &mut open);
                    said = keep(shared, Direction::ServerToClient, message);
                }
                Some(Incoming::Undelivered(mut failed)) => {
                    if !failed.unsent.is_empty() {
                        shared.inspect(|shared| shared.record_unsent(&failed.unsent));
                        failed.unsent.clear();
                    }
                    // No one waits for a message that names no request.
                    if failed.id.is_empty() {
                        continue;
                    }
                    let answer = failure(&failed);
                    note_answers(&answer, &mut open);
                    shared.inspect(|shared| shared.record(Direction::ServerToClient, &answer));
                    said = keep(shared, Direction::ServerToClient, answer);
                }
                Some(Incoming::Stderr(_)) | None => {}
                Some(Incoming::Closed) => break Ok(()),
                Some(Incoming::Failed(why)) => break Err(io::Error::new(io::ErrorKind::InvalidData, why)),
            },
            Some((toward, message)) = orders.recv(), if outbox.is_empty() && said.is_none() => match toward {
                // Messages to the server are recorded by the link, like the client's.
                Direction::ClientToServer => outbox.push_back(message),
                Direction::ServerToClient => {
                    shared.inspect(|shared| shared.record(toward, &message));
                    said = Some(message);
                }
            },
            () = until(grace_period) => {
                if end == ServerEnd::OfInput || open.all.is_empty() {
                    break Ok(());
                }
                let reason = open.late();
                for answer in open.give_up(&reason) {
                    shared.inspect(|shared| shared.record(Direction::ServerToClient, &answer));
                    if to_client.send(answer).await.is_err() {
                        break;
                    }
                }
                break Err(io::Error::new(io::ErrorKind::TimedOut, reason));
            }
            () = user_is_asked(waiting.as_ref()), if grace_period.is_some() => return Ok(()),
        }
    };
    drop(to_client);
    let ended = match written.await.unwrap_or(Ok(())) {
        Ok(()) => ended,
        failed => failed,
    };
    match &ended {
        Err(error) if error.kind() != io::ErrorKind::TimedOut => {}
        _ => let_end(&mut link).await,
    }
    ended
}

/// The requests of the client that are not answered yet.
#[derive(Default)]
struct OpenRequests {
    /// In the order in which they came.
    all: BTreeMap<u64, Vec<u8>>,
    keys: HashMap<IdKey, u64>,
    next: u64,
    /// An `initialize` among them, for whose answer all others wait.
    handshake: Option<IdKey>,
}

impl OpenRequests {
    fn insert(&mut self, id: Id<'_>, is_handshake: bool) {
        let key = id.key();
        if is_handshake {
            self.handshake = Some(key.clone());
        }
        self.next += 1;
        let replaced = self.keys.insert(key, self.next);
        replaced.map(|number| self.all.remove(&number));
        self.all.insert(self.next, id.echoed().to_vec());
    }

    fn remove(&mut self, key: &IdKey) {
        self.keys.remove(key).map(|number| self.all.remove(&number));
    }

    /// Whether `initialize` is no longer open, once.
    fn handshake_ended(&mut self) -> bool {
        self.handshake.take_if(|key| !self.keys.contains_key(key)).is_some()
    }

    /// Why they are given up.
    fn late(&self) -> String {
        match self.handshake {
            Some(_) => format!("the server did not answer initialize within {MAX_WAIT:?} after the end of the input"),
            None => format!("the server did not answer within {DELETE_TIMEOUT:?} after the end of the input"),
        }
    }

    /// The error responses to all of them.
    fn give_up(&mut self, reason: &str) -> Vec<Vec<u8>> {
        self.keys.clear();
        let lost = |id: Vec<u8>| failure(&Undelivered { id, reason: reason.to_owned(), ..Undelivered::default() });
        std::mem::take(&mut self.all).into_values().map(lost).collect()
    }
}

/// Lets the server end. Its output is discarded, and the wait is limited.
async fn let_end(link: &mut Link) {
    link.close();
    let all = async { while link.receive().await != Incoming::Closed {} };
    let _ = tokio::time::timeout(DELETE_TIMEOUT, all).await;
}

/// An injected message and its direction.
pub(crate) type InjectedMessage = (Direction, Vec<u8>);

/// What a session over stdio shares with its control socket.
pub(crate) struct SharedSession {
    /// Where messages made here are recorded.
    pub queue: Arc<Queue>,
    /// The session's stream in the reel.
    pub stream: u32,
    /// The injected requests that wait for their answers.
    pub answers: Arc<Answers>,
    /// Injected messages for [`run`].
    pub orders: mpsc::Sender<InjectedMessage>,
}

impl SharedSession {
    /// Records a message of the client that will not be sent.
    fn record_unsent(&self, message: &[u8]) {
        let flags = Flags::toward(Direction::ClientToServer);
        let ready = Ready { flags, framing: Framing::Lf, ..Ready::about(EventKind::Message, self.stream) };
        self.queue.push_ready(ready, message);
    }

    fn record(&self, direction: Direction, message: &[u8]) {
        let flags = Flags::toward(direction).with(Flags::INJECTED);
        let ready = Ready { flags, framing: Framing::Lf, ..Ready::about(EventKind::Message, self.stream) };
        self.queue.push_ready(ready, message);
    }
}

impl Session for SharedSession {
    fn put(
        &self,
        toward: Direction,
        stream: u32,
        message: &[u8],
        _deadline: Instant,
    ) -> Result<InjectionProgress, String> {
        if stream != 0 && stream != self.stream {
            return Err(format!("there is no stream {stream}: this session has only stream {}", self.stream));
        }
        let ordered = self.orders.try_send((toward, message.to_vec()));
        ordered
            .map(|()| InjectionProgress::Queued)
            .map_err(|_| "the session cannot take another message now".to_owned())
    }
}

/// The part of a message that passes; answers to injected requests do not.
fn keep(shared: Option<&SharedSession>, direction: Direction, message: Vec<u8>) -> Option<Vec<u8>> {
    match shared.filter(|shared| shared.answers.awaits(direction)) {
        // The link records the client's messages when they are sent. The server's are already recorded.
        Some(shared) => shared.answers.keep_recorded(shared.stream, direction, message, |taken| {
            if direction == Direction::ClientToServer {
                shared.record(direction, taken);
            }
        }),
        None => Some(message),
    }
}

async fn user_is_asked(waiting: Option<&Waiting>) {
    match waiting {
        Some(waiting) => waiting.user_is_asked().await,
        None => std::future::pending().await,
    }
}

async fn until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

fn each(message: &[u8], mut take: impl FnMut(&Envelope<'_>)) {
    let envelope = Envelope::scan(message);
    match envelope.kind {
        MessageKind::Batch => json::items(message).for_each(|item| take(&Envelope::scan(item))),
        _ => take(&envelope),
    }
}

fn note_requests(message: &[u8], open: &mut OpenRequests) {
    each(message, |envelope| {
        if let Some(id) = envelope.id.filter(|_| envelope.kind == MessageKind::Request) {
            open.insert(id, envelope.method.as_deref() == Some("initialize"));
        }
        // A cancelled request will not be answered.
        if envelope.method.as_deref() == Some("notifications/cancelled") {
            let id = envelope.params.and_then(|params| json::first_member(params, "requestId"));
            if let Some(id) = id {
                open.remove(&Id(id).key());
            }
        }
    });
}

fn note_answers(message: &[u8], open: &mut OpenRequests) {
    each(message, |envelope| {
        if let Some(id) = envelope.id.filter(|_| envelope.kind.is_response()) {
            open.remove(&id.key());
        }
    });
}

/// The error response for a request that was not delivered, with the server's own error if there is one.
fn failure(failed: &Undelivered) -> Vec<u8> {
    let said = failed.refusal.as_deref().and_then(|refusal| json::first_member(refusal, "error"));
    // Only the client can repeat the handshake.
    let next = if failed.session_over { "; send initialize to begin a new one" } else { "" };
    let made = json!({"code": NOT_DELIVERED, "message": format!("mcpreel: {}{next}", failed.reason)}).to_string();
    [br#"{"jsonrpc":"2.0","id":"#, &failed.id[..], br#","error":"#, said.unwrap_or(made.as_bytes()), b"}"].concat()
}

/// The queue of lines to write, and the result of writing.
type Writer = (budget::Sender<Vec<u8>>, oneshot::Receiver<io::Result<()>>);

/// Writes lines on a thread of its own, so that a client that does not read cannot delay the end of the session.
fn write_lines(mut output: impl Write + Send + 'static) -> io::Result<Writer> {
    let (sender, mut messages) = budget::queue::<Vec<u8>>(64);
    let (done, written) = oneshot::channel();
    threads::start("stdout", move || {
        let mut write = || -> io::Result<()> {
            while let Some(message) = messages.blocking_recv() {
                write_line(&mut output, &message)?;
            }
            Ok(())
        };
        let _ = done.send(write());
    })?;
    Ok((sender, written))
}

fn write_line(output: &mut impl Write, message: &[u8]) -> io::Result<()> {
    // A message that came over HTTP may contain line ends between its tokens; a line may not.
    let line: Vec<u8> = message.iter().copied().filter(|byte| !matches!(byte, b'\n' | b'\r')).chain([b'\n']).collect();
    output.write_all(&line)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;

    #[derive(Clone, Default)]
    struct Out(Arc<Mutex<Vec<u8>>>);

    impl Write for Out {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn lines_go_out_and_answers_come_back_to_the_last() {
        let (ours, mut theirs) = Link::pair();
        let server = tokio::spawn(async move {
            let mut asked = Vec::new();
            while let Incoming::Message(message) = theirs.receive().await {
                if Envelope::scan(&message).id.is_some() {
                    theirs.send(b"{\"jsonrpc\":\"2.0\",\n\"id\":1,\"result\":{}}".to_vec()).await;
                }
                asked.push(message);
            }
            asked
        });
        let input = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n\n{\"jsonrpc\":\"2.0\",\"method\":\"n\"}";
        let out = Out::default();
        let (_orders, none) = mpsc::channel(1);
        run(ours, (&input[..], MessageLimit::default()), out.clone(), None, none, ServerEnd::WithTheLink)
            .await
            .expect("carried");
        let asked = server.await.expect("ends");
        assert_eq!(asked.len(), 2);
        assert_eq!(*out.0.lock(), b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    }

    /// It has not answered the request, but nobody can ask it for that any more.
    #[tokio::test(start_paused = true)]
    async fn a_process_that_ends_with_its_input_is_not_asked_for_more() {
        for (end, waits) in [(ServerEnd::OfInput, false), (ServerEnd::WithTheLink, true)] {
            let (ours, mut theirs) = Link::pair();
            let server = tokio::spawn(async move {
                while let Incoming::Message(_) = theirs.receive().await {}
                theirs.send(br#"{"jsonrpc":"2.0","method":"bye"}"#.to_vec()).await;
            });
            let input = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\n";
            let (out, (_orders, none)) = (Out::default(), mpsc::channel(1));
            let began = tokio::time::Instant::now();
            let carried = run(ours, (&input[..], MessageLimit::default()), out.clone(), None, none, end).await;
            assert_eq!(began.elapsed() >= DELETE_TIMEOUT, waits, "{end:?}");
            server.await.expect("ends");
            let said = String::from_utf8(out.0.lock().clone()).expect("text");
            if waits {
                assert_eq!(carried.expect_err("late").kind(), io::ErrorKind::TimedOut);
                assert!(said.contains(r#""id":1,"error":{"code":-32000,"message":"mcpreel: "#), "{said}");
            } else {
                carried.expect("carried");
                assert_eq!(said, "{\"jsonrpc\":\"2.0\",\"method\":\"bye\"}\n", "what it sends at its end arrives");
            }
        }
    }

    /// The answers to all others depend on the one to `initialize`.
    #[tokio::test(start_paused = true)]
    async fn a_client_that_has_left_waits_for_the_handshake_and_gets_an_answer_to_everything() {
        let input = concat!(
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"m\"}\n",
            "[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\"}]\n"
        );
        let second = Duration::from_secs(1);
        for (answered_after, ends_after, count) in
            [(None, HANDSHAKE_TIMEOUT, 3), (Some(50), 50 * second + DELETE_TIMEOUT, 2)]
        {
            let (ours, mut theirs) = Link::pair();
            let server = tokio::spawn(async move {
                let Incoming::Message(first) = theirs.receive().await else { panic!("no message") };
                assert!(first.starts_with(b"{"), "the byte order mark is not a part of the message");
                if let Some(seconds) = answered_after {
                    tokio::time::sleep(second * seconds).await;
                    theirs.send(br#"{"jsonrpc":"2.0","id":0,"result":{}}"#.to_vec()).await;
                }
                while theirs.receive().await != Incoming::Closed {}
            });
            let (out, (_orders, none)) = (Out::default(), mpsc::channel(1));
            let began = tokio::time::Instant::now();
            let input = (input.as_bytes(), MessageLimit::default());
            let carried = run(ours, input, out.clone(), None, none, ServerEnd::WithTheLink).await;
            assert_eq!(carried.expect_err("late").kind(), io::ErrorKind::TimedOut);
            assert_eq!(began.elapsed(), ends_after);
            let said = String::from_utf8(out.0.lock().clone()).expect("text");
            assert_eq!((said.matches("did not answer").count(), said.lines().count()), (count, 3), "{said}");
            server.await.expect("ends");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_does_not_end_is_not_waited_for_for_ever() {
        let (mut ours, _theirs) = Link::pair();
        tokio::time::timeout(2 * DELETE_TIMEOUT, let_end(&mut ours)).await.expect("given up");
    }

    #[tokio::test]
    async fn neither_side_waits_for_the_other_and_what_is_cancelled_is_not_waited_for() {
        let (ours, mut theirs) = Link::pair();
        let server = tokio::spawn(async move {
            // It sends a lot before it receives anything.
            for _ in 0..500 {
                theirs.send(b"{}".to_vec()).await;
            }
            let mut received = 0;
            while let Incoming::Message(_) = theirs.receive().await {
                received += 1;
            }
            received
        });
        let mut input = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\n".repeat(500);
        input.extend(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
        let out = Out::default();
        let (_orders, none) = mpsc::channel(1);
        let carried = run(
            ours,
            (io::Cursor::new(input), MessageLimit::default()),
            out.clone(),
            None,
            none,
            ServerEnd::WithTheLink,
        );
        tokio::time::timeout(DELETE_TIMEOUT / 2, carried).await.expect("does not wait").expect("carried");
        assert_eq!(server.await.expect("ends"), 501);
        assert_eq!(out.0.lock().len(), 500 * "{}\n".len());
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_can_be_left() {
        let (unread, full) = io::pipe().expect("a pipe");
        let (ours, mut theirs) = Link::pair();
        tokio::spawn(async move { while theirs.send(vec![b'1'; 1 << 16]).await {} });
        let (_orders, none) = mpsc::channel(1);
        let carried =
            run(ours, (io::empty().chain(Never), MessageLimit::default()), full, None, none, ServerEnd::WithTheLink);
        assert!(tokio::time::timeout(Duration::from_millis(300), carried).await.is_err(), "the runtime goes on");
        drop(unread);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_has_left_does_not_wait_for_a_login() {
        let (ours, mut theirs) = Link::pair();
        let waiting = Waiting::default();
        let input = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\n";
        let (_orders, none) = mpsc::channel(1);
        let link = ours.with_login(Some(&waiting));
        let carried = tokio::spawn(async move {
            run(link, (&input[..], MessageLimit::default()), io::sink(), None, none, ServerEnd::WithTheLink).await
        });
        assert!(matches!(theirs.receive().await, Incoming::Message(_)));
        let began = tokio::time::Instant::now();
        let _asked = waiting.ask_user();
        carried.await.expect("not aborted").expect("ended");
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    /// An input that never has data.
    struct Never;

    impl Read for Never {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            loop {
                std::thread::park();
            }
        }
    }

    #[test]
    fn a_failure_has_the_words_of_the_server_where_there_are_any() {
        let failed = |refusal: Option<&[u8]>| {
            let refusal = refusal.map(<[u8]>::to_vec);
            let answer = failure(&Undelivered {
                id: b"\"a\"".to_vec(),
                reason: "no way".into(),
                refusal,
                ..Undelivered::default()
            });
            String::from_utf8(answer).expect("text")
        };
        assert_eq!(failed(None), r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32000,"message":"mcpreel: no way"}}"#);
        let said = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"old"}}"#;
        assert_eq!(failed(Some(said)), r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32022,"message":"old"}}"#);
        let over =
            Undelivered { id: b"1".to_vec(), reason: "over".into(), session_over: true, ..Undelivered::default() };
        let reported = String::from_utf8(failure(&over)).expect("text");
        assert!(reported.contains("mcpreel: over; send initialize to begin a new one"), "{reported}");
    }
}
