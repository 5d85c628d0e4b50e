use super::*;
use crate::proposals::Registry;
use crate::session::summary::Depth;
use crate::session::view::Viewer;
use crate::trace::{MessageHeader, RecordedId};
use crate::wire::{Envelope, Framing};
use Direction::{ClientToServer, ServerToClient};
use serde_json::Value;

/// What happens in a test session.
enum Happening<'a> {
    Sent(Direction, &'a str),
    /// With a mark.
    Marked(Flags, Direction, &'a str),
    Other(EventKind, Vec<u8>),
}
use Happening::{Marked, Other, Sent};

fn cbor(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    ciborium::into_writer(value, &mut out).expect("a Vec takes all");
    out
}

/// What is known of an event: the event, its method, which request it answers, and what it is about.
pub(crate) type Told<'a> = (&'a Event<'a>, Option<&'a str>, &'a Placed, &'a Words);

/// Passes these happenings on as events: each with its stream and its time in milliseconds.
fn tell(happenings: &[(u32, i64, Happening<'_>)], mut take: impl FnMut(Told<'_>)) {
    let (mut viewer, mut words) = (Viewer::default(), Words::knowing(Registry::built_in()));
    let mut methods: Vec<Box<str>> = Vec::new();
    for (seq, (stream, millis, happening)) in (0..).zip(happenings) {
        let (kind, flags, payload): (_, _, &[u8]) = match happening {
            Sent(direction, text) => (EventKind::Message, Flags::toward(*direction), text.as_bytes()),
            Marked(flags, direction, text) => {
                (EventKind::Message, Flags::toward(*direction).with(*flags), text.as_bytes())
            }
            Other(kind, payload) => (*kind, Flags::default(), payload),
        };
        let envelope = Envelope::scan(payload);
        let flags = if envelope.tool_error { flags.with(Flags::TOOL_ERROR) } else { flags };
        let message = (kind == EventKind::Message).then(|| MessageHeader {
            kind: envelope.kind,
            method: envelope.method.as_deref().map(|method| number(method, &mut methods)),
            id: envelope.id.map(|id| RecordedId::Text(id.0.into())),
        });
        let (len, framing) = (payload.len() as u32, Framing::Lf);
        let (stream, time) = (*stream, millis * 1_000_000);
        let header = EventHeader { seq, time, stream, exchange: 0, kind, flags, framing, len, offset: 0, message };
        let event = Event { header: &header, payload };
        let placed = viewer.place(&event, &methods);
        let method = placed.method.and_then(|number| methods.get(number as usize)).map(|name| &**name);
        words.report(&event, method, &placed, Depth::Details);
        viewer.remember(&words);
        take((&event, method, &placed, &words));
    }
}

/// The steps of these happenings.
fn steps(happenings: &[(u32, i64, Happening<'_>)]) -> Steps {
    steps_of(|take| tell(happenings, take))
}

/// The steps of a session that is passed on event by event.
fn steps_of(told: impl FnOnce(&mut dyn FnMut(Told<'_>))) -> Steps {
    let mut steps = Steps::default();
    told(&mut |(event, method, placed, words)| steps.take(event, method, (placed, words), true, Vec::new()));
    steps
}

fn number(method: &str, methods: &mut Vec<Box<str>>) -> u32 {
    let at = methods.iter().position(|known| &**known == method).unwrap_or_else(|| {
        methods.push(method.into());
        methods.len() - 1
    });
    at as u32
}

/// So many sessions with a ping each.
pub(crate) fn pings(sessions: u32) -> Steps {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    steps(&(1..=sessions).map(|stream| (stream, 0, Sent(ClientToServer, ping))).collect::<Vec<_>>())
}

/// A session with a bit of everything: a nested request, repetitions, a late answer, an injected and an invalid message,
/// a gap, and a request that is never answered.
pub(crate) fn conversation() -> Steps {
    steps_of(|take| tell_conversation(take))
}

/// Passes on the events of [`conversation`].
pub(crate) fn tell_conversation(take: impl FnMut(Told<'_>)) {
    let progress = |done: u32| {
        format!(
            r#"{{"method":"notifications/progress","params":{{"progressToken":"t","progress":{done},"total":240}}}}"#
        )
    };
    let progress: Vec<String> = (1..=240).map(progress).collect();
    let mut all = vec![
        (1, 0, Other(EventKind::StreamOpened, cbor(&serde_json::json!({"transport": "stdio", "command": ["db"]})))),
        (1, 1, Sent(ClientToServer, r#"{"id":1,"method":"initialize","params":{"clientInfo":{"name":"ide"}}}"#)),
        (1, 21, Sent(ServerToClient, r#"{"id":1,"result":{"serverInfo":{"name":"database-server","version":"2"}}}"#)),
        (1, 22, Sent(ClientToServer, r#"{"method":"notifications/initialized"}"#)),
        (
            1,
            30,
            Sent(
                ClientToServer,
                r#"{"id":2,"method":"tools/call","params":{"name":"query","arguments":{"sql":"select 1"}}}"#,
            ),
        ),
        (1, 40, Sent(ServerToClient, r#"{"id":"s1","method":"sampling/createMessage","params":{"messages":[]}}"#)),
        (
            1,
            1240,
            Sent(ClientToServer, r#"{"id":"s1","result":{"role":"assistant","content":{"type":"text","text":"yes"}}}"#),
        ),
    ];
    all.extend(progress.iter().zip(1300..).map(|(text, time)| (1, time, Sent(ServerToClient, text.as_str()))));
    all.extend([
        (1, 1600, Sent(ServerToClient, r#"{"id":2,"result":{"content":[{"type":"text","text":"1 row"}]}}"#)),
        (1, 1700, Other(EventKind::Stderr, b"warning: slow query\n".to_vec())),
        (1, 1701, Other(EventKind::Stderr, b"warning: slower query\n".to_vec())),
        (1, 2000, Sent(ClientToServer, r#"{"id":3,"method":"resources/read","params":{"uri":"file:///etc/hosts"}}"#)),
        (1, 2500, Sent(ClientToServer, r#"{"method":"notifications/cancelled","params":{"requestId":3}}"#)),
        (1, 2600, Sent(ServerToClient, r#"{"id":3,"result":{"contents":[]}}"#)),
        (1, 2700, Marked(Flags::INJECTED, ServerToClient, r#"{"method":"notifications/tools/list_changed"}"#)),
        (1, 2800, Sent(ServerToClient, "Listening on port 80")),
        (1, 2900, Other(EventKind::Gap, cbor(&serde_json::json!({"messages": 12, "reason": "the queue was full"})))),
        (1, 3000, Sent(ClientToServer, r#"{"id":4,"method":"prompts/get","params":{"name":"review"}}"#)),
        (1, 3010, Sent(ServerToClient, r#"{"id":4,"error":{"code":-32602,"message":"no such prompt"}}"#)),
        (1, 3020, Sent(ServerToClient, r#"{"id":99,"result":{}}"#)),
        (1, 3100, Sent(ClientToServer, r#"{"id":5,"method":"tools/call","params":{"name":"sleep"}}"#)),
    ]);
    tell(&all, take);
}

/// Five servers, with texts that are wide, combine, run from right to left, or control the terminal.
pub(crate) fn hostile() -> Steps {
    steps_of(|take| tell_hostile(take))
}

/// Passes on the events of [`hostile`].
pub(crate) fn tell_hostile(take: impl FnMut(Told<'_>)) {
    let named = |name: &str| Other(EventKind::StreamOpened, cbor(&serde_json::json!({"server": name})));
    let all = [
        (1, 0, named("日本語のサーバー")),
        (2, 0, named("e\u{301}\u{302}tude")),
        (3, 0, named("שרת בעברית")),
        (4, 0, named("evil\u{1b}[2J\u{202e}")),
        (5, 0, named("plain")),
        (
            1,
            10,
            Sent(
                ClientToServer,
                r#"{"id":1,"method":"tools/call","params":{"name":"検索する","arguments":{"語":"データベースのスキーマについて"}}}"#,
            ),
        ),
        (
            3,
            20,
            Sent(
                ClientToServer,
                r#"{"id":1,"method":"tools/call","params":{"name":"חיפוש","arguments":{"q":"שלום עולם"}}}"#,
            ),
        ),
        (
            4,
            30,
            Sent(
                ServerToClient,
                "{\"method\":\"x\\u001b]0;owned\\u0007\\n\",\"params\":{\"a\":\"\\u202eabc\\u009b2J\"}}",
            ),
        ),
        (2, 40, Sent(ServerToClient, r#"{"id":7,"method":"elicitation/create","params":{"message":"éé ok?"}}"#)),
        (2, 45, Sent(ClientToServer, r#"{"id":7,"result":{"action":"accept","content":{"a":1}}}"#)),
        (
            3,
            50,
            Sent(
                ServerToClient,
                r#"{"id":1,"result":{"isError":true,"content":[{"type":"text","text":"שגיאה\u001b[31m"}]}}"#,
            ),
        ),
        (1, 900, Sent(ServerToClient, r#"{"id":1,"result":{"content":[{"type":"text","text":"👩‍👩‍👧 семья"}]}}"#)),
        (0, 950, Other(EventKind::Gap, cbor(&serde_json::json!({"reason": "disk\u{7} full"})))),
        (5, 990, Sent(ServerToClient, "\u{1b}[31mnoise")),
    ];
    tell(&all, take);
}

fn of(steps: &Steps, title: &str) -> Vec<Step> {
    steps.all().iter().filter(|step| step.title == title).cloned().collect()
}

fn marks(step: &Step) -> Vec<Mark> {
    step.marks.iter().copied().collect()
}

#[test]
fn a_request_inside_another_is_nested_and_so_is_its_answer() {
    let steps = conversation();
    let sampling = of(&steps, "sampling/createMessage");
    assert_eq!(sampling.iter().map(|step| step.depth).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(of(&steps, "tools/call").iter().map(|step| step.depth).collect::<Vec<_>>(), [0, 0, 0]);
    assert_eq!(of(&steps, "notifications/initialized")[0].depth, 0);
}

#[test]
fn the_same_notification_in_a_row_is_one_step_with_its_last_words() {
    let progress = of(&conversation(), "notifications/progress");
    assert_eq!(progress.len(), 1);
    assert_eq!((progress[0].count, progress[0].last - progress[0].seq), (240, 239));
    assert!(progress[0].about.contains("240/240"), "{}", progress[0].about);
    assert_eq!(of(&conversation(), "stderr")[0].count, 2);
}

#[test]
fn what_is_unusual_is_marked() {
    let steps = conversation();
    let read = of(&steps, "resources/read");
    assert_eq!((marks(&read[0]), marks(&read[1])), (vec![], vec![Mark::Late]));
    assert_eq!(marks(&of(&steps, "notifications/tools/list_changed")[0]), [Mark::Injected]);
    assert_eq!(marks(&of(&steps, "noise")[0]), [Mark::Invalid]);
    assert_eq!(marks(&of(&steps, "result")[0]), [Mark::Unasked]);
    let calls = of(&steps, "tools/call");
    assert_eq!((marks(&calls[0]), marks(&calls[1]), marks(&calls[2])), (vec![], vec![], vec![Mark::Unanswered]));
    let prompt = of(&steps, "prompts/get");
    assert!(!prompt[0].failed && prompt[1].failed && prompt[1].latency == Some(10_000_000));
}

#[test]
fn a_host_that_stopped_waiting_makes_an_answer_late() {
    let timed_out = serde_json::json!({"host": {"what": "timed out", "text": "tools/call: no answer within 1 s"}});
    let steps = steps(&[
        (1, 0, Sent(ClientToServer, r#"{"id":1,"method":"tools/call","params":{"name":"a"}}"#)),
        (2, 0, Sent(ClientToServer, r#"{"id":1,"method":"tools/call","params":{"name":"b"}}"#)),
        (1, 1000, Other(EventKind::Note, cbor(&timed_out))),
        (1, 1100, Sent(ServerToClient, r#"{"id":1,"result":{}}"#)),
        (2, 1200, Sent(ServerToClient, r#"{"id":1,"result":{}}"#)),
    ]);
    let calls = of(&steps, "tools/call");
    assert_eq!((marks(&calls[2]), marks(&calls[3])), (vec![Mark::Late], vec![]));
}

#[test]
fn a_request_that_stays_open_nests_nothing_and_needs_no_answer() {
    let steps = steps(&[
        (1, 0, Sent(ClientToServer, r#"{"id":1,"method":"subscriptions/listen","params":{}}"#)),
        (1, 1, Sent(ServerToClient, r#"{"method":"notifications/tools/list_changed"}"#)),
    ]);
    assert_eq!(steps.all().iter().map(|step| (step.depth, step.marks.len())).collect::<Vec<_>>(), [(0, 0), (0, 0)]);
}
