//! A server that is reached by a URL, behind standard input and output: for clients that can only start processes.
//! What passes is recorded by the onlookers of the link; here is only what is made up for the client's sake.

use super::queue::{Queue, Ready};
use crate::trace::{EventKind, Flags};
use crate::transport::{Incoming, Link, Undelivered};
use crate::wire::{Envelope, Framing, IdKey, LineFramer, MessageKind, json};
use serde_json::json;
use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::time::Duration;
use tokio::sync::mpsc;

/// How long answers are waited for once the client sends no more.
const FAREWELL: Duration = Duration::from_secs(30);
/// The code of an error that is told in the server's place: it could not be reached, or did not answer.
const NOT_DELIVERED: i64 = -32000;

/// Carries lines to the link and messages back, until either side ends. What a request's failure makes necessary is
/// recorded as injected, in the stream named beside the queue.
pub async fn run(
    mut link: Link,
    input: impl Read + Send + 'static,
    mut output: impl Write,
    record: Option<(&Queue, u32)>,
) -> io::Result<()> {
    let mut lines = read_lines(input)?;
    let mut open = HashSet::new();
    let mut patience = None;
    loop {
        if patience.is_some() && open.is_empty() {
            break;
        }
        tokio::select! {
            line = lines.recv(), if patience.is_none() => match line {
                Some(line) => {
                    note_requests(&line, &mut open);
                    link.send(line).await;
                }
                None => patience = Some(tokio::time::Instant::now() + FAREWELL),
            },
            incoming = link.receive() => match incoming {
                Incoming::Message(message) => {
                    note_answers(&message, &mut open);
                    write_line(&mut output, &message)?;
                }
                Incoming::Undelivered(failed) => {
                    let answer = failure(&failed);
                    note_answers(&answer, &mut open);
                    if let Some((queue, stream)) = record {
                        let flags = Flags::SERVER_TO_CLIENT.with(Flags::INJECTED);
                        let ready = Ready { flags, framing: Framing::Lf, ..Ready::about(EventKind::Message, stream) };
                        queue.push_ready(ready, &answer);
                    }
                    write_line(&mut output, &answer)?;
                }
                Incoming::Stderr(_) => {}
                Incoming::Closed => return Ok(()),
                Incoming::Failed(why) => return Err(io::Error::other(why)),
            },
            () = until(patience) => break,
        }
    }
    link.close();
    while link.receive().await != Incoming::Closed {}
    Ok(())
}

async fn until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// The lines of the input, read on a thread of its own.
fn read_lines(mut input: impl Read + Send + 'static) -> io::Result<mpsc::Receiver<Vec<u8>>> {
    let (sender, lines) = mpsc::channel(64);
    std::thread::Builder::new().name("stdin".into()).spawn(move || {
        let mut framer = LineFramer::default();
        let mut chunk = vec![0u8; 64 << 10];
        let mut found = Vec::new();
        loop {
            let got = match input.read(&mut chunk) {
                Ok(got) => got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            let keep = |frame: crate::wire::Frame<'_>| found.push(frame.framing.body(frame.payload).to_vec());
            match got {
                0 => framer.finish(keep),
                got => framer.push(&chunk[..got], keep),
            }
            for line in found.drain(..).filter(|line: &Vec<u8>| !line.trim_ascii().is_empty()) {
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
            if got == 0 {
                return;
            }
        }
    })?;
    Ok(lines)
}

fn each(message: &[u8], mut take: impl FnMut(&Envelope<'_>)) {
    let envelope = Envelope::scan(message);
    match envelope.kind {
        MessageKind::Batch => json::items(message).for_each(|item| take(&Envelope::scan(item))),
        _ => take(&envelope),
    }
}

fn note_requests(message: &[u8], open: &mut HashSet<IdKey>) {
    each(message, |envelope| {
        if let Some(id) = envelope.id.filter(|_| envelope.kind == MessageKind::Request) {
            open.insert(id.key());
        }
    });
}

fn note_answers(message: &[u8], open: &mut HashSet<IdKey>) {
    each(message, |envelope| {
        if let Some(id) = envelope.id.filter(|_| envelope.kind.is_response()) {
            open.remove(&id.key());
        }
    });
}

/// The error that a client gets for a request that was not delivered: the server's own words where it said any.
fn failure(failed: &Undelivered) -> Vec<u8> {
    let said = failed.refusal.as_deref().and_then(|refusal| json::first_member(refusal, "error"));
    let made = json!({"code": NOT_DELIVERED, "message": format!("mcpreel: {}", failed.reason)}).to_string();
    [br#"{"jsonrpc":"2.0","id":"#, &failed.id[..], br#","error":"#, said.unwrap_or(made.as_bytes()), b"}"].concat()
}

fn write_line(output: &mut impl Write, message: &[u8]) -> io::Result<()> {
    // What came over HTTP may hold line ends between its tokens; a line may not.
    let line: Vec<u8> = message.iter().copied().filter(|byte| !matches!(byte, b'\n' | b'\r')).chain([b'\n']).collect();
    output.write_all(&line)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Out(Arc<Mutex<Vec<u8>>>);

    impl Write for Out {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("not poisoned").extend_from_slice(bytes);
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
        run(ours, &input[..], out.clone(), None).await.expect("carried");
        let asked = server.await.expect("ends");
        assert_eq!(asked.len(), 2);
        assert_eq!(*out.0.lock().expect("not poisoned"), b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    }

    #[test]
    fn a_failure_has_the_words_of_the_server_where_there_are_any() {
        let failed = |refusal: Option<&[u8]>| {
            let refusal = refusal.map(<[u8]>::to_vec);
            let answer = failure(&Undelivered { id: b"\"a\"".to_vec(), reason: "no way".into(), refusal });
            String::from_utf8(answer).expect("text")
        };
        assert_eq!(failed(None), r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32000,"message":"mcpreel: no way"}}"#);
        let said = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"old"}}"#;
        assert_eq!(failed(Some(said)), r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32022,"message":"old"}}"#);
    }
}
