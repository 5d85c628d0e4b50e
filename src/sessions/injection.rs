//! Injected requests that wait for their answers, and how their answers are recognised. Pure. A notification that names
//! such a request in its `requestId` (a chunk of a streamed answer) belongs to it, too.
//!
//! The injector chooses the id: a string `mcpreel-XXXXXXXX-N` with eight random hexadecimal digits, which neither peer
//! uses. An answer with such an id is removed from the stream even if it arrives too late, because requests that were
//! given up are remembered for a while.
//!
//! Never uses sockets or clocks.

use crate::wire::{Direction, Envelope, Id, IdKey, MessageKind, json};
use memchr::memmem::Finder;
use std::collections::{HashMap, VecDeque};
use std::sync::LazyLock;

/// The prefix of every injected request's id.
pub(crate) const MARK: &str = "mcpreel-";

/// The maximum number of waiting injected requests.
pub(crate) const MAX_OPEN: usize = 256;

/// The maximum number of remembered requests for which no one waits any more.
const MAX_LATE: usize = 1024;

/// An injected request: its stream, direction and id.
pub(crate) type Key = (u32, Direction, Box<str>);

/// Why a message is not injected, as a sentence fragment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It would be two lines.
    #[error("the message contains a line break; it must be a single line")]
    LineBreak,
    /// Its answers could not be assigned.
    #[error("a batch cannot be injected; send its messages one by one")]
    Batch,
    /// The id could be a peer's own.
    #[error(
        "the id of an injected request must be a string like {MARK}0123abcd-1, with eight random hexadecimal digits"
    )]
    Id,
    /// Another request with this id waits or was given up.
    #[error("a request with this id was already injected")]
    Used,
    /// Too many requests wait.
    #[error("{MAX_OPEN} injected requests are already waiting for answers, the maximum")]
    TooMany,
}

/// How a peer's message relates to the injected requests.
#[derive(Debug, PartialEq, Eq)]
pub enum Filtered<'m, T> {
    /// Not at all: it passes unchanged.
    Pass,
    /// It consists only of answers to them.
    RemovedAnswer(Vec<RemovedAnswer<'m, T>>),
    /// A batch of such answers and other messages; the other messages pass as this batch.
    Cut(Vec<u8>, Vec<RemovedAnswer<'m, T>>),
}

/// An answer that was removed from the stream.
#[derive(Debug, PartialEq, Eq)]
pub struct RemovedAnswer<'m, T> {
    /// The text of the answer.
    pub message: &'m [u8],
    /// The entry of its request; `None` if no one waits any more.
    pub waiting: Option<T>,
    /// Whether it is the final answer; otherwise it precedes the answer.
    pub is_answer: bool,
}

/// The waiting requests.
#[derive(Debug)]
pub(crate) struct Injections<T> {
    open: HashMap<Key, T>,
    late: VecDeque<Key>,
}

impl<T> Default for Injections<T> {
    fn default() -> Self {
        Self { open: HashMap::new(), late: VecDeque::new() }
    }
}

/// The id of a request to inject; `None` for messages that are not requests.
///
/// # Errors
/// The message cannot be injected.
pub fn request_id(message: &[u8]) -> Result<Option<Box<str>>, Refused> {
    if message.contains(&b'\n') || message.contains(&b'\r') {
        return Err(Refused::LineBreak);
    }
    let envelope = Envelope::scan(message);
    match envelope.kind {
        MessageKind::Batch => Err(Refused::Batch),
        MessageKind::Request => match envelope.id.map(Id::key) {
            Some(IdKey::Text(id)) if is_marked(&id) => Ok(Some(id)),
            _ => Err(Refused::Id),
        },
        _ => Ok(None),
    }
}

/// Whether an id is one that only injectors use.
pub(crate) fn is_marked(id: &str) -> bool {
    let Some((random, number)) = id.strip_prefix(MARK).and_then(|rest| rest.split_once('-')) else { return false };
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    random.len() == 8
        && random.bytes().all(is_hex)
        && (1..=20).contains(&number.len())
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

impl<T: Clone> Injections<T> {
    /// Adds a request before it is sent.
    ///
    /// # Errors
    /// The id was used before, or too many requests wait.
    pub(crate) fn ask(&mut self, key: Key, waiting: T) -> Result<(), Refused> {
        if self.open.contains_key(&key) || self.late.contains(&key) {
            return Err(Refused::Used);
        }
        if self.open.len() >= MAX_OPEN {
            return Err(Refused::TooMany);
        }
        self.open.insert(key, waiting);
        Ok(())
    }

    /// Removes a request that was not sent.
    pub(crate) fn forget(&mut self, key: &Key) -> Option<T> {
        self.open.remove(key)
    }

    /// Stops waiting for an answer. If it still arrives, it is removed from the stream.
    pub(crate) fn give_up(&mut self, key: &Key) -> Option<T> {
        let (key, waiting) = self.open.remove_entry(key)?;
        if self.late.len() >= MAX_LATE {
            self.late.pop_front();
        }
        self.late.push_back(key);
        Some(waiting)
    }

    /// The requests for which someone waits.
    pub(crate) fn open(&self) -> impl Iterator<Item = (&Key, &T)> {
        self.open.iter()
    }

    /// Whether a message in this direction may be an answer to remove.
    pub(crate) fn awaits(&self, direction: Direction) -> bool {
        let asked = direction.reversed();
        self.open.keys().chain(&self.late).any(|key| key.1 == asked)
    }

    /// Classifies a peer's message in this direction.
    pub(crate) fn filter<'m>(&mut self, stream: u32, direction: Direction, message: &'m [u8]) -> Filtered<'m, T> {
        if !may_be_answer(message) {
            return Filtered::Pass;
        }
        let envelope = Envelope::scan(message);
        if envelope.kind != MessageKind::Batch {
            return match self.take(stream, direction, message, &envelope) {
                Some(taken) => Filtered::RemovedAnswer(vec![taken]),
                None => Filtered::Pass,
            };
        }
        let (mut taken, mut others) = (Vec::new(), Vec::new());
        for item in json::items(message) {
            match self.take(stream, direction, item, &Envelope::scan(item)) {
                Some(answer) => taken.push(answer),
                None => others.push(item),
            }
        }
        match (taken.is_empty(), others.is_empty()) {
            (true, _) => Filtered::Pass,
            (false, true) => Filtered::RemovedAnswer(taken),
            (false, false) => Filtered::Cut([b"[", &others.join(&b","[..])[..], b"]"].concat(), taken),
        }
    }

    fn take<'m>(
        &mut self,
        stream: u32,
        direction: Direction,
        message: &'m [u8],
        envelope: &Envelope<'_>,
    ) -> Option<RemovedAnswer<'m, T>> {
        let is_answer = envelope.kind.is_response();
        let may_be = is_answer || envelope.kind == MessageKind::Notification;
        let IdKey::Text(id) = named(envelope).filter(|_| may_be)? else { return None };
        let key = (stream, direction.reversed(), id);
        let waiting = if is_answer { self.open.remove(&key) } else { self.open.get(&key).cloned() };
        if waiting.is_none() {
            let place = self.late.iter().position(|late| *late == key)?;
            if is_answer {
                self.late.remove(place);
            }
        }
        Some(RemovedAnswer { message, waiting, is_answer })
    }
}

/// Whether a message has an injector's id, or is about a request with such an id.
pub fn is_ours(message: &[u8]) -> bool {
    may_be_answer(message) && matches!(named(&Envelope::scan(message)), Some(IdKey::Text(id)) if is_marked(&id))
}

/// The id of the request that a message is, answers or, as a notification, is about.
fn named(envelope: &Envelope<'_>) -> Option<IdKey> {
    let about = || match envelope.kind {
        MessageKind::Notification => json::first_member(envelope.params?, "requestId").map(Id),
        _ => None,
    };
    envelope.id.or_else(about).map(Id::key)
}

/// Whether bytes may contain an answer to an injected request: a fast check that rules out most lines.
pub fn may_be_answer(bytes: &[u8]) -> bool {
    static MARKS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(MARK));
    MARKS.find(bytes).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{ClientToServer, ServerToClient};

    const ID: &str = "mcpreel-0123abcd-1";

    fn key(id: &str) -> Key {
        (0, ClientToServer, id.into())
    }

    fn asked() -> Injections<u8> {
        let mut injections = Injections::default();
        injections.ask(key(ID), 7).expect("admitted");
        injections
    }

    #[test]
    fn only_ids_that_no_peer_makes_are_let_in() {
        let id = |id: &str| request_id(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#).as_bytes());
        assert_eq!(id(r#""mcpreel-0123abcd-1""#), Ok(Some(ID.into())));
        for other in ["1", "null", r#""1""#, r#""mcpreel-0123abcd""#, r#""mcpreel-0123ABCD-1""#, r#""mcpreel-1-1""#] {
            assert_eq!(id(other), Err(Refused::Id), "{other}");
        }
        assert_eq!(request_id(br#"{"jsonrpc":"2.0","method":"n"}"#), Ok(None));
        assert_eq!(request_id(b"not json"), Ok(None));
        assert_eq!(request_id(b"{}\n{}"), Err(Refused::LineBreak));
        assert_eq!(request_id(br#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#), Err(Refused::Batch));
    }

    #[test]
    fn an_answer_is_taken_once_and_by_its_own_direction_and_stream() {
        let mut injections = asked();
        assert!(injections.awaits(ServerToClient) && !injections.awaits(ClientToServer));
        let answer = br#"{"jsonrpc":"2.0","id":"mcpreel-0123abcd-1","result":{}}"#;
        assert_eq!(injections.filter(0, ClientToServer, answer), Filtered::Pass);
        assert_eq!(injections.filter(1, ServerToClient, answer), Filtered::Pass);
        let request = br#"{"jsonrpc":"2.0","id":"mcpreel-0123abcd-1","method":"ping"}"#;
        assert_eq!(injections.filter(0, ServerToClient, request), Filtered::Pass, "a request answers nothing");
        let taken =
            Filtered::RemovedAnswer(vec![RemovedAnswer { message: &answer[..], waiting: Some(7), is_answer: true }]);
        assert_eq!(injections.filter(0, ServerToClient, answer), taken);
        assert_eq!(injections.filter(0, ServerToClient, answer), Filtered::Pass);
        assert!(!injections.awaits(ServerToClient));
    }

    #[test]
    fn a_late_answer_is_taken_too() {
        let mut injections = asked();
        assert_eq!(injections.give_up(&key(ID)), Some(7));
        assert_eq!(injections.ask(key(ID), 8), Err(Refused::Used));
        assert!(injections.awaits(ServerToClient));
        let answer = br#"{"id":"mcpreel-0123abcd-1","error":{}}"#;
        let taken =
            Filtered::RemovedAnswer(vec![RemovedAnswer { message: &answer[..], waiting: None, is_answer: true }]);
        assert_eq!(injections.filter(0, ServerToClient, answer), taken);
    }

    #[test]
    fn what_comes_before_an_answer_is_taken_and_the_answer_is_waited_for_still() {
        let mut injections = asked();
        let chunk = br#"{"jsonrpc":"2.0","method":"inference/chunk","params":{"requestId":"mcpreel-0123abcd-1"}}"#;
        let other = br#"{"jsonrpc":"2.0","method":"inference/chunk","params":{"requestId":"mcpreel-0123abcd-2"}}"#;
        assert!(is_ours(chunk) && !is_ours(br#"{"method":"m","params":{"requestId":1,"x":"mcpreel-0123abcd-1"}}"#));
        let taken =
            |waiting| Filtered::RemovedAnswer(vec![RemovedAnswer { message: &chunk[..], waiting, is_answer: false }]);
        assert_eq!(injections.filter(0, ServerToClient, chunk), taken(Some(7)));
        assert_eq!(injections.filter(0, ServerToClient, chunk), taken(Some(7)));
        assert_eq!(injections.filter(0, ServerToClient, other), Filtered::Pass, "another's");
        assert_eq!(injections.filter(0, ClientToServer, chunk), Filtered::Pass, "the other way");
        injections.give_up(&key(ID));
        assert_eq!(injections.filter(0, ServerToClient, chunk), taken(None), "no one waits any more");
        let answer = br#"{"id":"mcpreel-0123abcd-1","result":{}}"#;
        assert!(matches!(injections.filter(0, ServerToClient, answer), Filtered::RemovedAnswer(_)));
        assert_eq!(injections.filter(0, ServerToClient, chunk), Filtered::Pass);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut injections = Injections::default();
        for number in 0..MAX_OPEN {
            injections.ask(key(&number.to_string()), ()).expect("accepted");
        }
        assert_eq!(injections.ask(key("one more"), ()), Err(Refused::TooMany));
        for number in 0..2 * MAX_LATE {
            injections.give_up(&key(&number.to_string()));
            injections.ask(key(&format!("x{number}")), ()).expect("accepted");
            injections.give_up(&key(&format!("x{number}")));
        }
        assert_eq!(injections.late.len(), MAX_LATE);
    }

    #[test]
    fn answers_are_cut_out_of_a_batch() {
        let ours = r#"{"id":"mcpreel-0123abcd-1","result":{}}"#;
        let mixed = format!(r#"[ {{"id":1,"result":1}} , {ours},{{"id":2,"result":2}}]"#);
        match asked().filter(0, ServerToClient, mixed.as_bytes()) {
            Filtered::Cut(rest, taken) => {
                assert_eq!(rest, br#"[{"id":1,"result":1},{"id":2,"result":2}]"#);
                assert_eq!(taken, vec![RemovedAnswer { message: ours.as_bytes(), waiting: Some(7), is_answer: true }]);
            }
            other => panic!("{other:?}"),
        }
        let alone = format!("[{ours}]");
        assert!(
            matches!(asked().filter(0, ServerToClient, alone.as_bytes()), Filtered::RemovedAnswer(taken) if taken.len() == 1)
        );
    }
}
