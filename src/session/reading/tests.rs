use super::*;
use crate::trace::TransportEvent;
use crate::trace::described::payload;
use crate::wire::Framing;
use Direction::{ClientToServer as C2S, ServerToClient as S2C};

/// A session in which each step gets the next number and time.
#[derive(Default)]
struct Session {
    reading: Reading<&'static str>,
    seq: u64,
}

impl Session {
    fn header(&mut self, kind: EventKind, direction: Direction, exchange: u32, flags: Flags) -> EventHeader {
        self.seq += 1;
        let (seq, time) = (self.seq, self.seq as i64 * 10);
        let (flags, framing) = (Flags::toward(direction).with(flags), Framing::Lf);
        EventHeader { seq, time, stream: 1, exchange, kind, flags, framing, len: 0, offset: 0, message: None }
    }

    fn says(
        &mut self,
        direction: Direction,
        exchange: u32,
        text: &str,
        memory: &'static str,
    ) -> Role<'_, &'static str> {
        let header = self.header(EventKind::Message, direction, exchange, Flags::default());
        let envelope = Envelope::scan(text.as_bytes());
        self.reading.message(&Said::of_envelope(&header, &envelope, Some(text.as_bytes())), || memory)
    }

    fn asks(&mut self, exchange: u32, id: &str, name: &'static str) -> Option<&'static str> {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call"}}"#);
        match self.says(C2S, exchange, &text, name) {
            Role::Request { reused, .. } => reused.map(|request| request.memory),
            other => panic!("{other:?}"),
        }
    }

    /// What a response says: its request, and the outcome.
    fn answers(&mut self, exchange: u32, text: &str) -> (Option<&'static str>, Outcome) {
        match self.says(S2C, exchange, text, "") {
            Role::Response(response) => (response.request.map(|request| request.memory), response.outcome),
            other => panic!("{other:?}"),
        }
    }

    fn returns(&mut self, exchange: u32, id: &str) -> (Option<&'static str>, Outcome) {
        self.answers(exchange, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#))
    }

    fn fails(&mut self, exchange: u32, id: &str) -> (Option<&'static str>, Outcome) {
        self.answers(exchange, &format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32600,"message":"no"}}}}"#))
    }

    /// The requests about which an event of the transport says something.
    fn event(&mut self, exchange: u32, flags: Flags, event: &TransportEvent) -> Vec<(&'static str, Outcome)> {
        let header = self.header(EventKind::Transport, S2C, exchange, flags);
        let (payload, mut seen) = (payload(event), Vec::new());
        let event = Event { header: &header, payload: &payload };
        self.reading.event(&event, |request, outcome| seen.push((request.memory, outcome)));
        seen
    }

    fn status(&mut self, exchange: u32, status: u16) -> Vec<(&'static str, Outcome)> {
        let flags = if status >= 400 { Flags::FAILED } else { Flags::default() };
        self.event(exchange, flags, &TransportEvent::Response { status, headers: Vec::new() })
    }

    fn end(&mut self) -> Vec<(&'static str, Outcome)> {
        let ended = self.reading.finish(true).into_iter();
        ended.map(|ended| (ended.request.memory, ended.outcome)).collect()
    }
}

#[test]
fn ids_live_in_two_spaces_and_keep_their_type() {
    let mut session = Session::default();
    session.asks(0, "1", "the client's");
    session.says(S2C, 0, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "the server's");
    assert_eq!(session.returns(0, r#""1""#), (None, Outcome::Ok));
    assert_eq!(session.returns(0, "1"), (Some("the client's"), Outcome::Ok));
    assert_eq!(session.returns(0, "1"), (None, Outcome::Ok), "a second response");
    match session.says(C2S, 0, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "") {
        Role::Response(Response { request: Some(request), latency, .. }) => {
            assert_eq!((request.memory, latency), ("the server's", Some(40)));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(session.end(), []);
}

#[test]
fn an_error_in_a_refused_exchange_answers_its_request_whatever_its_id_is() {
    for id in ["null", "7", "9"] {
        let mut session = Session::default();
        session.asks(3, "7", "refused");
        session.asks(4, "8", "another");
        assert_eq!(session.status(3, 400), [("refused", Outcome::Refused)]);
        assert_eq!(session.fails(3, id), (Some("refused"), Outcome::Error), "{id}");
        assert_eq!(session.end(), [("another", Outcome::Unanswered)]);
    }
}

#[test]
fn a_status_without_an_error_is_the_outcome() {
    for (status, expected) in [(400, Outcome::Refused), (503, Outcome::Refused), (307, Outcome::Redirected)] {
        let mut session = Session::default();
        session.asks(3, "7", "a");
        assert_eq!(session.status(3, status), [("a", expected)]);
        let body = TransportEvent::Body { bytes: 3, text: "no!".to_owned() };
        assert_eq!(session.event(3, Flags::default(), &body), [], "the status is known");
        assert_eq!(session.end(), [("a", expected)]);
        // Its result is not read.
        session.asks(4, "7", "b");
        session.status(4, status);
        assert_eq!(session.returns(4, "7"), (Some("b"), expected));
    }
}

#[test]
fn a_successful_exchange_has_no_outcome_of_its_own() {
    let mut session = Session::default();
    session.asks(3, "7", "a");
    assert_eq!(session.status(3, 200), []);
    assert_eq!(session.returns(3, "7"), (Some("a"), Outcome::Ok));
    session.asks(4, "8", "b");
    session.status(4, 200);
    let body = TransportEvent::Body { bytes: 3, text: "no!".to_owned() };
    assert_eq!(session.event(4, Flags::default(), &body), [("b", Outcome::Malformed)]);
    assert_eq!(session.end(), [("b", Outcome::Malformed)]);
}

#[test]
fn an_error_without_an_id_answers_the_only_request_of_its_exchange() {
    let mut session = Session::default();
    session.asks(3, "7", "a");
    assert_eq!(session.returns(3, "null"), (None, Outcome::Ok), "a result is no error");
    assert_eq!(session.fails(3, "8"), (None, Outcome::Error), "an id of its own");
    assert_eq!(session.fails(4, "null"), (None, Outcome::Error), "another exchange");
    assert_eq!(session.fails(3, "null"), (Some("a"), Outcome::Error));
    // On a connection, nothing says which request it answers.
    session.asks(0, "9", "b");
    assert_eq!(session.fails(0, "null"), (None, Outcome::Error));
}

#[test]
fn all_requests_of_a_batch_share_the_fate_of_its_exchange() {
    let mut session = Session::default();
    session.asks(3, "1", "a");
    session.asks(3, "2", "b");
    session.asks(3, "3", "c");
    assert_eq!(session.returns(3, "1"), (Some("a"), Outcome::Ok));
    let broken = TransportEvent::BrokenOff { reason: "gone".to_owned() };
    let mut seen = session.event(3, Flags::FAILED, &broken);
    seen.sort_unstable();
    assert_eq!(seen, [("b", Outcome::BrokenOff), ("c", Outcome::BrokenOff)]);
    // The rest comes in another exchange, when the client resumes the stream.
    assert_eq!(session.returns(9, "3"), (Some("c"), Outcome::Ok));
    assert_eq!(session.end(), [("b", Outcome::BrokenOff)]);
}

#[test]
fn the_id_of_a_refused_request_is_free_again() {
    let mut session = Session::default();
    session.asks(3, "1", "a");
    session.status(3, 503);
    assert_eq!(session.asks(4, "1", "b"), None);
    assert_eq!(session.asks(5, "1", "c"), Some("b"), "while it is pending");
    assert_eq!(session.returns(5, "1"), (Some("c"), Outcome::Ok));
}

#[test]
fn a_request_sent_again_begins_anew() {
    let mut session = Session::default();
    session.asks(3, "1", "a");
    session.status(3, 401);
    let again = TransportEvent::SentAgain { status: 401 };
    assert_eq!(session.event(3, Flags::INJECTED, &again), [("a", Outcome::Pending)]);
    assert_eq!(session.event(3, Flags::INJECTED, &again), [], "it was not given up");
    match session.says(S2C, 3, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "") {
        Role::Response(response) => assert_eq!((response.outcome, response.latency), (Outcome::Ok, Some(10))),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_servers_request_does_not_take_the_exchange_of_the_clients() {
    let mut session = Session::default();
    session.asks(3, "1", "the client's");
    session.says(S2C, 3, r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#, "the server's");
    let broken = TransportEvent::BrokenOff { reason: "gone".to_owned() };
    assert_eq!(session.event(3, Flags::FAILED, &broken), [("the client's", Outcome::BrokenOff)]);
}

#[test]
fn a_cancelled_request_may_still_be_answered() {
    let cancel =
        |id: u32| format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#);
    let mut session = Session::default();
    session.asks(0, "1", "a");
    session.asks(0, "2", "b");
    for id in [1, 2, 3] {
        session.says(C2S, 0, &cancel(id), "");
    }
    session.asks(0, "4", "c");
    // The other side cannot cancel it.
    session.says(S2C, 0, &cancel(4), "");
    assert_eq!(session.returns(0, "1"), (Some("a"), Outcome::Ok));
    assert_eq!(session.end(), [("b", Outcome::Cancelled), ("c", Outcome::Unanswered)]);
}

#[test]
fn a_server_ends_a_subscription_by_cancelling_it() {
    let mut session = Session::default();
    session.says(C2S, 0, r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}"#, "a");
    session.says(S2C, 0, r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#, "");
    assert_eq!(session.end(), [("a", Outcome::Cancelled)]);
}

#[test]
fn nobody_knows_what_was_lost() {
    let mut session = Session::default();
    session.asks(0, "1", "before");
    let header = session.header(EventKind::Gap, C2S, 0, Flags::default());
    session.reading.event(&Event { header: &header, payload: &[] }, |_, _| {});
    session.asks(0, "2", "after");
    let ended: Vec<_> = session.reading.finish(false).into_iter().map(|it| (it.request.memory, it.outcome)).collect();
    assert_eq!(ended, [("before", Outcome::Unknown), ("after", Outcome::Pending)]);
}

#[test]
fn the_oldest_are_forgotten_where_too_many_wait() {
    let mut session = Session { reading: Reading::of(2), seq: 0 };
    let mut forgotten = Vec::new();
    for (id, name) in [(0, "a"), (1, "b"), (2, "c"), (3, "d"), (4, "e")] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        match session.says(C2S, id + 1, &text, name) {
            Role::Request { forgotten: ended, .. } => forgotten.extend(ended),
            other => panic!("{other:?}"),
        }
    }
    let mut names: Vec<_> = forgotten.iter().map(|ended| (ended.request.memory, ended.outcome)).collect();
    names.sort_unstable();
    assert_eq!(names, [("a", Outcome::Unknown), ("b", Outcome::Unknown)]);
    assert_eq!((session.reading.pending().count(), session.reading.forgotten()), (3, 2));
    assert_eq!(session.returns(1, "0"), (None, Outcome::Ok));
    assert_eq!(session.returns(3, "2"), (Some("c"), Outcome::Ok));
    assert_eq!(session.status(4, 503), [("d", Outcome::Refused)]);
    assert_eq!(session.returns(5, "4"), (Some("e"), Outcome::Ok));
    assert_eq!(session.end(), [("d", Outcome::Refused)]);
}
