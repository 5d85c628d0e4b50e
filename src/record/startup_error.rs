//! Answers a client whose server cannot start. The client sees neither stderr nor the exit code, so the error
//! response to its first request contains the reason.

use super::recording::stdin_is_clients;
use crate::wire::{Envelope, Frame, Framing, LineFramer, MessageKind, json};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::json;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long to wait for a request.
const GRACE_PERIOD: Duration = Duration::from_secs(5);
/// How long to wait for another request after one that was not `initialize`: a client that probes with something else
/// sends one more.
const AFTER_PROBE: Duration = Duration::from_secs(1);
/// The maximum number of bytes to read.
const MAX_REQUEST_BYTES: usize = 4 << 20;
/// JSON-RPC's internal error.
const CODE: i64 = -32603;

static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

/// Called when standard input is no longer free for a refusal: the server or a session of this process reads it.
pub(crate) fn begin() {
    HAS_BEGUN.store(true, Ordering::Release);
}

/// Answers the client that started this process as its server with the reason why it does not start. Does nothing if
/// there is no client or the session has begun. Waits for at most [`GRACE_PERIOD`].
pub(crate) fn answer(words: &[OsString], reason: &str) {
    if !HAS_BEGUN.load(Ordering::Acquire) && is_server(words) {
        answer_client(reason);
    }
}

/// Like [`answer`], for a process that can be nothing but a server.
pub(crate) fn answer_client(reason: &str) {
    if !stdin_is_clients() {
        return;
    }
    let (mut framer, mut read, mut until) = (LineFramer::default(), 0, Instant::now() + GRACE_PERIOD);
    let mut chunk = vec![0u8; 64 << 10];
    while read < MAX_REQUEST_BYTES && wait(until) {
        let got = match rustix::io::read(rustix::stdio::stdin(), &mut chunk) {
            Ok(got) => got,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
            Err(_) => return,
        };
        read += got;
        let mut answers = Vec::new();
        let take = |frame: Frame<'_>| answers.extend(answer_to(&frame, reason));
        match got {
            0 => framer.finish(take),
            got => framer.push(&chunk[..got], take),
        }
        for (answer, is_last) in answers {
            if crate::record::relay::write_all(rustix::stdio::stdout(), &answer).is_err() || is_last {
                return;
            }
            until = until.min(Instant::now() + AFTER_PROBE);
        }
        if got == 0 {
            return;
        }
    }
}

/// Waits until there is something to read. Returns whether there is, in time.
fn wait(until: Instant) -> bool {
    let left = until.saturating_duration_since(Instant::now());
    let left = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: i64::from(left.subsec_nanos()) };
    let stdin = rustix::stdio::stdin();
    matches!(poll(&mut [PollFd::from_borrowed_fd(stdin, PollFlags::IN)], Some(&left)), Ok(1..))
}

/// The error response to a request, with the framing of the frame, and whether the client will send no other request.
fn answer_to(frame: &Frame<'_>, reason: &str) -> Option<(Vec<u8>, bool)> {
    let message = frame.framing.body(frame.payload);
    let envelope = Envelope::scan(message);
    let request = match envelope.kind {
        MessageKind::Batch => json::items(message).map(Envelope::scan).find(|item| item.kind == MessageKind::Request),
        _ => Some(envelope),
    };
    let request = request.filter(|request| request.kind == MessageKind::Request)?;
    let error = json!({"code": CODE, "message": format!("mcpreel: {reason}")}).to_string();
    let id = request.id?.0;
    let answer = [br#"{"jsonrpc":"2.0","id":"#, id, br#","error":"#, error.as_bytes(), b"}"].concat();
    let answer = match frame.framing {
        Framing::ContentLength => [format!("Content-Length: {}\r\n\r\n", answer.len()).as_bytes(), &answer].concat(),
        _ => [&answer[..], b"\n"].concat(),
    };
    Some((answer, request.method.as_deref() == Some("initialize")))
}

/// Whether a command line makes this process a server on stdin and stdout. The command line may be invalid.
fn is_server(words: &[OsString]) -> bool {
    let words: Vec<&str> = words.iter().map_while(|word| word.to_str()).take_while(|word| *word != "--").collect();
    let mut rest = words.iter().skip_while(|word| word.starts_with('-') || ["auto", "always", "never"].contains(*word));
    let Some(command) = rest.next().filter(|word| ["record", "overlay", "serve", "mock", "mcp"].contains(*word)) else {
        return false;
    };
    let options: Vec<&str> = rest.copied().collect();
    let has = |name: &str| options.iter().any(|word| word.split('=').next() == Some(name));
    let to_stdout = options.windows(2).any(|pair| ["-o", "--output"].contains(&pair[0]) && pair[1] == "-");
    let is_other = match *command {
        "overlay" => has("--check") || has("--schema"),
        "record" => to_stdout || has("-o-") || has("--output=-"),
        _ => false,
    };
    !(is_other || has("--listen") || has("--help") || has("-h"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_on_standard_input_and_output_answers_a_client() {
        let is_server = |line: &str| is_server(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        for line in [
            "record -- server",
            "-v --color never record -o t.reel -- server --listen",
            "record --nonsense",
            "overlay f.yaml -- server",
            "serve --plan {",
            "serve",
            "mock session.reel",
            "record --url http://h/mcp",
        ] {
            assert!(is_server(line), "{line}");
        }
        for line in [
            "record --listen 8080 -- server",
            "record -o - -- server",
            "record --help",
            "overlay --check f.yaml",
            "serve --listen=8080",
            "call ping -- server",
            "show",
            "",
            "--version",
            "demo",
        ] {
            assert!(!is_server(line), "{line}");
        }
    }

    #[test]
    fn requests_are_answered_in_their_framing_and_nothing_else_is() {
        let answers = |input: &[u8]| {
            let (mut framer, mut answers) = (LineFramer::default(), Vec::new());
            framer.push(input, |frame: Frame<'_>| answers.extend(answer_to(&frame, "no \"server\"")));
            let text = |(answer, is_last): (Vec<u8>, bool)| (String::from_utf8(answer).expect("text"), is_last);
            answers.into_iter().map(text).collect::<Vec<_>>()
        };
        let error = |id: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"mcpreel: no \"server\""}}}}"#)
        };
        let lines = b"noise\n{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\
            \"server/discover\"}\n{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}\n";
        assert_eq!(answers(lines), [(error("\"a\"") + "\n", false), (error("0") + "\n", true)]);
        let batch = b"[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"initialize\"}]\n";
        assert_eq!(answers(batch), [(error("7") + "\n", true)]);
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#;
        let framed = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let answer = error("1");
        assert_eq!(answers(framed.as_bytes()), [(format!("Content-Length: {}\r\n\r\n{answer}", answer.len()), true)]);
    }
}
