//! Turns HTTP POST requests into events that the built-in server pushes, or below [`EVENTS`] publishes to
//! subscriptions: reads the body, recognises duplicates, and responds.

use crate::proposals::clip;
use crate::proposals::recent::Recent;
use crate::proposals::server::Unsent;
use crate::server::{Fired, Report};
use crate::transport::listen::json_listener::{self, JsonReply, Post, PostHandler};
use crate::wire::json;
use serde_json::{Map, Value, json};
use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::{Mutex, mpsc, oneshot};

/// Paths below this are events for subscriptions (MCPE); the rest of the path is their type.
const EVENTS: &str = "/events/";
/// Maximum size of a body, in bytes.
pub(crate) const MAX_BODY_BYTES: usize = 1 << 20;
/// How much of a body without text becomes the event's text, in characters.
const MAX_TEXT: usize = 16 << 10;
/// Maximum length of an event's id, in bytes, because it is kept.
const MAX_ID_BYTES: usize = 256;
/// Number of recent events to recognise as duplicates.
const MAX_KNOWN: usize = 4096;
/// How long to wait for a server to report that it has sent an event.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// The header in which this program's handlers name the instance that posts.
pub(crate) const INSTANCE: &str = "mcpreel-instance";

/// A random id of this process. An event that it posts itself is a loop.
pub(crate) fn instance() -> &'static str {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| uuid::Uuid::new_v4().to_string())
}

/// Called with the reports about an event in each session, and whether a report is the first of its session. A request
/// that was sent has a second report: its outcome.
pub(crate) type ReportCallback = Arc<dyn Fn(&Report, bool) + Send + Sync>;
/// Lets every session send something, and returns the number of sessions.
pub(crate) type Order = Arc<dyn Fn(&Fired, ReportCallback) -> usize + Send + Sync>;

/// What became of something that a server was to send in one session.
pub(super) enum Outcome {
    /// It was sent, or waits in a subscription.
    Sent,
    NotSent(Unsent),
    /// There is no subscription to the event.
    Unsubscribed,
}

impl Outcome {
    /// The outcome according to the first report of a session.
    pub(super) fn of(report: &Report) -> Self {
        match report {
            Report::NotSent { reason, .. } => Self::NotSent(reason.clone()),
            Report::Proposal(report) if report["report"] == "published" => {
                let is_none = |name: &str| report[name].as_array().is_none_or(Vec::is_empty);
                if is_none("subscriptions") && is_none("held") { Self::Unsubscribed } else { Self::Sent }
            }
            _ => Self::Sent,
        }
    }
}

/// A running receiver; dropping this ends it.
pub(crate) struct Webhook {
    _end: oneshot::Sender<()>,
}

impl Webhook {
    /// Accepts requests on this listener, on its own thread.
    ///
    /// # Errors
    ///
    /// The thread or the runtime could not be started.
    pub(crate) fn start(listener: TcpListener, order: Order) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (end, ended) = oneshot::channel();
        let receiver = Arc::new(Receiver { order, known: Mutex::new(Recent::new(MAX_KNOWN)) });
        let take: PostHandler = Arc::new(move |post| {
            let receiver = Arc::clone(&receiver);
            Box::pin(async move { receiver.take(&post).await })
        });
        std::thread::Builder::new().name("webhook".into()).spawn(move || {
            runtime.block_on(async {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                tokio::select! {
                    () = json_listener::serve(listener, MAX_BODY_BYTES, take) => {}
                    _ = ended => {}
                }
            });
        })?;
        Ok(Self { _end: end })
    }
}

/// In how many sessions an event was sent, and the host neither refused it nor failed to respond.
type Sessions = Arc<AtomicUsize>;

struct Receiver {
    order: Order,
    /// Locked while an event is pushed: the second of two equal events waits for the outcome of the first.
    known: Mutex<Recent<String, Sessions>>,
}

impl Receiver {
    async fn take(&self, post: &Post) -> JsonReply {
        if post.headers.get(INSTANCE).is_some_and(|id| id == instance()) {
            return (508, json!({"error": "a loop: a handler of this server's own subscriptions posted this event"}));
        }
        let (id, fired) = match event(post, || format!("evt_{}", uuid::Uuid::now_v7())) {
            Ok(event) => event,
            Err(refused) => return refused,
        };
        let mut answer = json!({"eventId": id});
        let mut known = self.known.lock().await;
        if known.get(&id).is_some_and(|sessions| sessions.load(Ordering::Relaxed) > 0) {
            answer["status"] = "duplicate".into();
            return (200, answer);
        }
        let sessions = Sessions::default();
        match self.push(&fired, &sessions).await {
            Ok(sent) => {
                known.insert(id, sessions);
                answer["status"] = "sent".into();
                answer["sessions"] = sent.into();
                (202, answer)
            }
            // It may be tried again.
            Err((status, why)) => {
                answer["error"] = why;
                (status, answer)
            }
        }
    }

    /// Lets the server push an event. Returns in how many sessions it was sent, or why in none.
    async fn push(&self, fired: &Fired, sessions: &Sessions) -> Result<usize, (u16, Value)> {
        let (reported, mut received) = mpsc::unbounded_channel();
        let sessions = Arc::clone(sessions);
        let receives = move |report: &Report, is_first: bool| {
            if is_first {
                let outcome = Outcome::of(report);
                if matches!(outcome, Outcome::Sent) {
                    sessions.fetch_add(1, Ordering::Relaxed);
                }
                let _ = reported.send(outcome);
            } else if has_failed(report) {
                // A late response may be a second failure of the same session.
                let _ = sessions.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| count.checked_sub(1));
            }
        };
        let ordered = (self.order)(fired, Arc::new(receives));
        let (mut sent, mut why) = (0, (503, json!("no host is connected")));
        for _ in 0..ordered {
            match tokio::time::timeout(GRACE_PERIOD, received.recv()).await {
                Ok(Some(Outcome::Sent)) => sent += 1,
                Ok(Some(Outcome::Unsubscribed)) => why = (409, json!("there is no subscription to it")),
                Ok(Some(Outcome::NotSent(reason))) => {
                    let reason = serde_json::to_value(reason).unwrap_or_default();
                    let is_early = reason["why"] == "not_ready" || reason["why"] == "no_carrier";
                    why = (if is_early { 503 } else { 409 }, reason);
                }
                Ok(None) | Err(_) => {
                    why = (504, json!("the server did not report in time whether it was sent"));
                    break;
                }
            }
        }
        if sent > 0 { Ok(sent) } else { Err(why) }
    }
}

/// Whether the host refused what was sent, or did not respond. The poster may then send it again with the same id (MCPL
/// 0.4 §9.4).
fn has_failed(report: &Report) -> bool {
    match report {
        Report::Refused { .. } | Report::Unanswered { .. } => true,
        Report::Proposal(report) => report["report"] == "push_answered" && report["accepted"] == false,
        _ => false,
    }
}

/// Reads the event and its id from a request: from the body's members, or with the whole body as its text.
fn event(post: &Post, fresh: impl FnOnce() -> String) -> Result<(String, Fired), JsonReply> {
    let refuse = |status, why: String| (status, json!({"error": why}));
    json::check(&post.body).map_err(|error| refuse(400, format!("the body is not JSON: {error}")))?;
    let Value::Object(body) = json::value_of(&post.body) else {
        return Err(refuse(422, "the body must be an object".to_owned()));
    };
    let id = match body.get("eventId") {
        None => fresh(),
        Some(Value::String(id)) if !id.is_empty() => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        Some(_) => return Err(refuse(422, "eventId must be a string".to_owned())),
    };
    if id.len() > MAX_ID_BYTES {
        return Err(refuse(422, format!("eventId is longer than {MAX_ID_BYTES} bytes")));
    }
    if let Some(kind) = post.path.strip_prefix(EVENTS).filter(|kind| !kind.is_empty()) {
        let fired = published(kind, &id, body);
        return fired.check().map_err(|violation| refuse(422, violation)).map(|()| (id, fired));
    }
    let mut params = Map::new();
    params.insert("eventId".to_owned(), id.clone().into());
    let content = body.get("payload").map_or(body.get("content"), |payload| payload.get("content"));
    let given = [("text", body.get("text")), ("content", content), ("featureSet", body.get("featureSet"))];
    for (name, value) in given.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        params.insert(name.to_owned(), value.clone());
    }
    if !params.contains_key("text") && !params.contains_key("content") {
        let text = Value::Object(body.clone()).to_string();
        params.insert("text".to_owned(), clip(&text, MAX_TEXT).into());
    }
    let mut origin = match body.get("origin") {
        None => Map::new(),
        Some(Value::Object(origin)) => origin.clone(),
        Some(_) => return Err(refuse(422, "origin must be an object".to_owned())),
    };
    origin.entry("webhook").or_insert_with(|| post.path.trim_matches('/').into());
    params.insert("origin".to_owned(), origin.into());
    let fired = Fired::new("push", params);
    fired.check().map_err(|violation| refuse(422, violation)).map(|()| (id, fired))
}

/// An event for subscriptions: `data`, `tags`, `priority` and `sourceEventId` of the body. A body without `data` is
/// the data as a whole, except for `priority`, which is the event's in either case.
fn published(kind: &str, id: &str, mut body: Map<String, Value>) -> Fired {
    body.remove("eventId");
    let mut params = match body.contains_key("data") {
        true => body,
        false => {
            let priority = body.remove("priority").map(|priority| ("priority".to_owned(), priority));
            [("data".to_owned(), Value::Object(body))].into_iter().chain(priority).collect()
        }
    };
    params.insert("type".to_owned(), kind.into());
    params.entry("sourceEventId").or_insert_with(|| id.into());
    Fired::new("event", params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_post_below_events_is_an_event_for_subscriptions() {
        let (id, fired) = read("/events/build.failed", r#"{"eventId":"e1","build":7}"#).expect("an event");
        let wanted = json!({"kind": "event", "type": "build.failed", "data": {"build": 7}, "sourceEventId": "e1"});
        assert_eq!((id.as_str(), &fired), ("e1", &wanted));
        let (_, fired) = read("/events/mail", r#"{"data":{"n":1},"tags":["ci"],"priority":"high"}"#).expect("an event");
        assert_eq!((&fired["tags"], &fired["sourceEventId"]), (&json!(["ci"]), &json!("new")));
        let (_, fired) = read("/events/mail", r#"{"n":1,"priority":"high"}"#).expect("an event");
        assert_eq!((&fired["data"], &fired["priority"]), (&json!({"n": 1}), &json!("high")));
        for body in [
            r#"{"data":1}"#,
            r#"{"data":{},"priority":"urgent"}"#,
            r#"{"data":{},"priority":null}"#,
            r#"{"n":1,"priority":"urgent"}"#,
            r#"{"n":1,"priority":2}"#,
            r#"{"data":{},"tag":"x"}"#,
        ] {
            assert_eq!(read("/events/a", body).err(), Some(422), "{body}");
        }
    }

    #[tokio::test]
    async fn e34_what_this_servers_own_handlers_post_is_a_loop() {
        let order = |_: &Fired, _: ReportCallback| panic!("not published");
        let receiver = Receiver { order: Arc::new(order), known: Mutex::new(Recent::new(4)) };
        let headers = [(INSTANCE.parse().expect("a name"), instance().parse().expect("a value"))].into_iter().collect();
        let post = Post { path: "/events/a".to_owned(), body: r#"{"n":1}"#.into(), headers };
        assert_eq!(receiver.take(&post).await.0, 508);
    }

    #[tokio::test]
    async fn an_event_that_nobody_subscribed_to_is_reported_so() {
        let published = |ids: Value| {
            // Two hosts: one without a subscription, which reports a second time, and then the other.
            let order = move |_: &Fired, receives: ReportCallback| {
                let report = |ids: &Value| json!({"report": "published", "subscriptions": ids, "held": []});
                receives(&Report::Proposal(report(&json!([]))), true);
                receives(&Report::Sent { method: "m".to_owned(), id: None }, false);
                receives(&Report::Proposal(report(&ids)), true);
                2
            };
            Receiver { order: Arc::new(order), known: Mutex::new(Recent::new(4)) }
        };
        let post = Post { path: "/events/a".to_owned(), body: r#"{"eventId":"e"}"#.into(), ..Post::default() };
        assert_eq!(published(json!([])).take(&post).await.0, 409);
        assert_eq!(published(json!(["s"])).take(&post).await.0, 202);
    }

    fn read(path: &str, body: &str) -> Result<(String, Value), u16> {
        let post = Post { path: path.to_owned(), body: body.to_owned().into(), ..Post::default() };
        event(&post, || "new".to_owned()).map(|(id, fired)| (id, json!(fired))).map_err(|(status, _)| status)
    }

    #[test]
    fn a_body_says_what_happened_or_is_it() {
        let reported = r#"{"eventId":"e1","text":"done","origin":{"repo":"r"},"featureSet":"a.b"}"#;
        let (id, fired) = read("/ci", reported).expect("an event");
        assert_eq!((id.as_str(), &fired["text"], &fired["featureSet"]), ("e1", &json!("done"), &json!("a.b")));
        assert_eq!(fired["origin"], json!({"repo": "r", "webhook": "ci"}));
        let (id, fired) = read("/", r#"{"action":"opened","number":7}"#).expect("an event");
        assert_eq!((id.as_str(), &fired["text"]), ("new", &json!(r#"{"action":"opened","number":7}"#)));
        let blocks = r#"{"eventId":7,"payload":{"content":[{"type":"text","text":"x"}]}}"#;
        let (id, fired) = read("/", blocks).expect("an event");
        assert_eq!((id.as_str(), &fired["content"][0]["text"]), ("7", &json!("x")));
    }

    #[test]
    fn what_is_no_event_is_refused() {
        assert_eq!(read("/", "{").err(), Some(400));
        for body in ["[]", r#"{"eventId":[]}"#, r#"{"origin":1}"#, r#"{"text":1}"#, r#"{"content":[{"type":"x"}]}"#] {
            assert_eq!(read("/", body).err(), Some(422), "{body}");
        }
        let long = |length: usize| read("/", &json!({"eventId": "e".repeat(length)}).to_string());
        assert_eq!((long(MAX_ID_BYTES).err(), long(MAX_ID_BYTES + 1).err()), (None, Some(422)));
    }

    #[tokio::test]
    async fn what_was_had_before_is_not_pushed_again_and_what_was_not_sent_may_be() {
        let sent = |_: &Fired, receives: ReportCallback| {
            receives(&Report::Sent { method: "m".to_owned(), id: Some(1) }, true);
            1
        };
        let receiver = |order: Order| Receiver { order, known: Mutex::new(Recent::new(4)) };
        let post = Post { path: "/".to_owned(), body: r#"{"eventId":"e","text":"x"}"#.into(), ..Post::default() };
        let good = receiver(Arc::new(sent));
        assert_eq!(good.take(&post).await, (202, json!({"eventId": "e", "status": "sent", "sessions": 1})));
        assert_eq!(good.take(&post).await, (200, json!({"eventId": "e", "status": "duplicate"})));
        // The first host refuses it, and the second one does not at once.
        let refused = |accepted: bool| json!({"report": "push_answered", "id": 1, "accepted": accepted});
        for (accepted, again) in [(false, 202), (true, 200)] {
            let answered = move |_: &Fired, receives: ReportCallback| {
                receives(&Report::Sent { method: "m".to_owned(), id: Some(1) }, true);
                receives(&Report::Proposal(refused(false)), false);
                receives(&Report::Sent { method: "m".to_owned(), id: Some(1) }, true);
                receives(&Report::Proposal(refused(accepted)), false);
                2
            };
            let refusing = receiver(Arc::new(answered));
            assert_eq!(refusing.take(&post).await.0, 202);
            assert_eq!(refusing.take(&post).await.0, again, "{accepted}");
        }
        let lonely = receiver(Arc::new(|_: &Fired, _| 0));
        for _ in 0..2 {
            assert_eq!(lonely.take(&post).await.0, 503);
        }
    }
}
