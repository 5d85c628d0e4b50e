//! Progress and cancellation: tokens, growing values, and what may be cancelled.

use crate::proposals::Findings;
use crate::proposals::findings::rules;
use crate::proposals::recent::Recent;
use crate::protocol::Revision;
use crate::validate::rules::PROGRESS_TOKEN;
use crate::validate::subject::{Message, Subject, SubjectEntry};
use crate::wire::{IdKey, MessageKind};

rules! {
    INCREASES = Error "progress/increases",
        "Whoever sends `notifications/progress` must raise `progress` with each one for the same `progressToken`.",
        "MCP 2025-11-25, Progress, Progress Flow",
        fix "Raise `progress` with each notification, also if the total is unknown.";
    TOKEN_REUSED = Error "progress/token-reused",
        "Whoever sends a request must give it a `progressToken` that none of its pending requests has.",
        "MCP 2025-11-25, Progress, Progress Flow",
        fix "Count tokens up.";
    AFTER_END = Error "progress/after-end",
        "Whoever has answered a request must send no more `notifications/progress` for it, unless the answer was a task.",
        "MCP 2025-11-25, Progress, Implementation Notes",
        fix "Stop reporting progress before you send the response.";
    AFTER_CANCELLATION = Warning "progress/after-cancellation",
        "After `notifications/cancelled` for a request, the side that received it sends no more `notifications/progress` for the request.",
        "MCP 2025-11-25, Cancellation, Behavior Requirements",
        fix "Stop the work when the cancellation comes, or at least its progress.";
    NEVER_ISSUED = Error "cancellation/never-issued",
        "In `notifications/cancelled`, client and server must name only a request that they sent themselves.",
        "MCP 2025-11-25, Cancellation, Behavior Requirements",
        fix "Copy the `id` of your own request, with its type.";
    ANSWERED = Warning "cancellation/answered",
        "Whoever receives `notifications/cancelled` sends no response to the cancelled request.",
        "MCP 2025-11-25, Cancellation, Behavior Requirements",
        fix "Stop the work, and discard its result.";
}

pub(in crate::validate) const ENTRY: SubjectEntry = SubjectEntry {
    rules: RULES,
    revisions: (Revision::V2024_11_05, Revision::V2026_07_28),
    begin: || Box::<Progress>::default(),
};

/// Requests that are remembered.
const REQUESTS: usize = 1024;
/// A message may be on its way for this long after the request was cancelled (in nanoseconds).
const ON_ITS_WAY: i64 = 100_000_000;

/// The fingerprint of the direction of a request and its id or token.
type Key = u64;

/// What is known of a token. There are many, so each is small.
#[derive(Debug)]
struct Token {
    /// The number of the request.
    asked: u32,
    /// The last progress, or negative infinity.
    progress: f64,
    /// The time of the cancellation, or [`NEVER`].
    cancelled: i64,
    is_pending: bool,
    /// The request became a task, whose progress may be reported until it ends.
    is_task: bool,
}

const NEVER: i64 = i64::MAX;

/// What is known of a pending request.
#[derive(Debug)]
struct Asked {
    /// Requests are counted: several in a batch are one event.
    number: u32,
    token: Option<Key>,
    /// The time of the cancellation, or [`NEVER`].
    cancelled: i64,
}

/// Returns whether a message is too late to have been on its way when the request was cancelled.
fn is_late(time: i64, cancelled: i64) -> bool {
    time.saturating_sub(cancelled) > ON_ITS_WAY
}

/// The tokens and the requests of one connection.
#[derive(Debug)]
struct Progress {
    tokens: Recent<Key, Token>,
    requests: Recent<Key, Asked>,
    /// The number of the latest request.
    latest: u32,
}

impl Default for Progress {
    fn default() -> Self {
        Self { tokens: Recent::new(REQUESTS), requests: Recent::new(REQUESTS), latest: 0 }
    }
}

impl Subject for Progress {
    fn observe(&mut self, message: &Message<'_>, findings: &mut Findings) {
        match message.observed.envelope.kind {
            MessageKind::Request => self.request(message, findings),
            MessageKind::Result | MessageKind::Error => self.response(message, findings),
            MessageKind::Notification => match message.method() {
                "notifications/progress" => self.progress(message, findings),
                "notifications/cancelled" => self.cancelled(message),
                _ => {}
            },
            _ => {}
        }
    }
}

impl Progress {
    fn request(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let Some(id) = message.observed.envelope.id.filter(|id| !id.is_null()) else { return };
        let direction = message.observed.direction;
        self.latest = self.latest.wrapping_add(1);
        let token = message.content().get("_meta").and_then(|meta| IdKey::of_value(meta.get("progressToken")?));
        let request = id.key().fingerprint(direction);
        let token = token.map(|token| self.use_token(message, &token, request, findings));
        self.requests.insert(request, Asked { number: self.latest, token, cancelled: NEVER });
    }

    fn use_token(&mut self, message: &Message<'_>, token: &IdKey, request: Key, findings: &mut Findings) -> Key {
        let key = token.fingerprint(message.observed.direction);
        // Clients of the modern era may share a connection, and each chooses its own tokens.
        let repeated = self.requests.get(&request).map(|asked| asked.number);
        let is_taken = self.tokens.get(&key).is_some_and(|token| token.is_pending && Some(token.asked) != repeated);
        if !message.is_modern() || message.header.exchange == 0 {
            findings.check(&TOKEN_REUSED, message.seq(), !is_taken || !message.saw_all(), || {
                format!("the {} used token {token} for two pending requests", message.sender())
            });
        }
        let (asked, progress, cancelled) = (self.latest, f64::NEG_INFINITY, NEVER);
        self.tokens.insert(key, Token { asked, progress, cancelled, is_pending: true, is_task: false });
        key
    }

    fn response(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let Some(id) = message.observed.envelope.id else { return };
        let direction = message.observed.direction.reversed();
        let Some(asked) = self.requests.remove(&id.key().fingerprint(direction)) else {
            // A later request may also have used its token.
            return findings.give_up_if(self.requests.has_forgotten(), &[&ANSWERED, &AFTER_END, &TOKEN_REUSED]);
        };
        if asked.cancelled != NEVER {
            let in_time = !is_late(message.observed.time, asked.cancelled);
            findings.check(&ANSWERED, message.seq(), in_time, || {
                format!("the {} answered request {}, which was cancelled", message.sender(), id.key())
            });
        }
        let Some(token) = asked.token else { return };
        let has_forgotten = self.tokens.has_forgotten();
        let Some(token) = self.tokens.get_mut(&token) else {
            return findings.give_up_if(has_forgotten, &[&TOKEN_REUSED]);
        };
        if token.asked == asked.number {
            token.is_pending = false;
            token.is_task = message.content()["task"]["taskId"].is_string();
        }
    }

    fn progress(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let params = message.content();
        let Some(token) = params.get("progressToken").and_then(IdKey::of_value) else { return };
        let seq = message.seq();
        let has_forgotten = self.tokens.has_forgotten();
        let may_be_unknown = !message.saw_all() || has_forgotten;
        let key = token.fingerprint(message.observed.direction.reversed());
        let Some(known) = self.tokens.get_mut(&key) else {
            findings.give_up_if(has_forgotten, &[&INCREASES, &AFTER_END, &AFTER_CANCELLATION]);
            return match may_be_unknown {
                true => findings.give_up(&PROGRESS_TOKEN),
                false => findings.note(&PROGRESS_TOKEN, seq, format!("no request contains token {token}")),
            };
        };
        findings.hold(&PROGRESS_TOKEN);
        let is_late = is_late(message.observed.time, known.cancelled);
        // Over HTTP, the notification may come on another stream than the response.
        let is_over = !known.is_pending && !known.is_task && message.header.exchange == 0;
        findings.check(&AFTER_END, seq, !is_over || known.cancelled != NEVER, || {
            format!("the {} reported progress with token {token} after the response", message.sender())
        });
        findings.check(&AFTER_CANCELLATION, seq, !is_late, || {
            format!("the {} reported progress with token {token} after the cancellation", message.sender())
        });
        if let Some(progress) = params["progress"].as_f64() {
            findings.check(&INCREASES, seq, progress > known.progress, || {
                format!("token {token}: {progress} after {}", known.progress)
            });
            known.progress = progress;
        }
    }

    /// `pairing` reports the cancellation of a request that was never sent.
    fn cancelled(&mut self, message: &Message<'_>) {
        let Some(id) = IdKey::of_value(&message.content()["requestId"]) else { return };
        self.mark_cancelled(id.fingerprint(message.observed.direction), message.observed.time);
    }

    fn mark_cancelled(&mut self, request: Key, time: i64) {
        let Some(asked) = self.requests.get_mut(&request) else { return };
        asked.cancelled = time;
        let token = asked.token.and_then(|token| self.tokens.get_mut(&token));
        if let Some(token) = token.filter(|token| token.asked == asked.number) {
            token.cancelled = time;
        }
    }
}

#[cfg(test)]
pub(in crate::validate) mod cases {
    /// A call with a token, and what follows.
    macro_rules! call {
        ($rest:literal) => {
            concat!(
                r#"hello 2025-11-25 {"roots":{}} | {"tools":{}}
                   c>s {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}"#,
                "\n",
                $rest
            )
        };
    }

    pub(in crate::validate) const CASES: &[(&str, &str)] = &[
        (
            "progress/increases",
            call!(
                r#"s>c {"method":"notifications/progress","params":{"progressToken":"p","progress":2}}
                   s>c {"method":"notifications/progress","params":{"progressToken":"p","progress":2}}"#
            ),
        ),
        (
            "progress/token-reused",
            call!(r#"c>s {"id":2,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}"#),
        ),
        (
            "progress/after-end",
            call!(
                r#"s>c {"id":1,"result":{"content":[]}}
                   s>c {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}"#
            ),
        ),
        (
            "progress/after-cancellation",
            call!(
                r#"@1000 c>s {"method":"notifications/cancelled","params":{"requestId":1}}
                   @1200 s>c {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}"#
            ),
        ),
        (
            "pairing/progress-token",
            call!(r#"s>c {"method":"notifications/progress","params":{"progressToken":"q","progress":1}}"#),
        ),
        ("cancellation/never-issued", call!(r#"s>c {"method":"notifications/cancelled","params":{"requestId":1}}"#)),
        (
            "cancellation/answered",
            call!(
                r#"@1000 c>s {"method":"notifications/cancelled","params":{"requestId":1}}
                   @1200 s>c {"id":1,"result":{"content":[]}}"#
            ),
        ),
    ];

    pub(in crate::validate) const QUIET: &[&str] = &[call!(
        r#"s>c {"method":"notifications/progress","params":{"progressToken":"p","progress":0.5}}
               s>c {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}
               @1000 c>s {"method":"notifications/cancelled","params":{"requestId":1}}
               @1050 s>c {"id":1,"result":{"content":[]}}
               c>s {"id":2,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}
               s>c {"method":"notifications/progress","params":{"progressToken":"p","progress":0.1}}"#
    )];

    /// Nothing is reported that the missing part may explain.
    #[test]
    fn a_gap_may_contain_the_request() {
        let found = crate::validate::tests::found(
            r#"hello 2025-11-25 {} | {"tools":{}}
               gap
               s>c {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}
               c>s {"method":"notifications/cancelled","params":{"requestId":1}}"#,
        );
        assert!(found.iter().all(|id| !id.starts_with("progress/") && !id.starts_with("cancel")), "{found:?}");
    }
}
