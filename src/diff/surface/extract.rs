//! Extracts the surface of a server from a session: from the handshake, and from the results of the methods that list.

use super::{List, ListKind, Surface, exact};
use crate::protocol::revision::meta;
use crate::session::reading::{Reading, Response, Role, Said};
use crate::trace::{Event, EventKind};
use crate::wire::tree::{self, TooLarge};
use crate::wire::{Direction, Envelope, MessageKind, json};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// How many bytes a page of a list may take as a tree of values: two surfaces are compared.
const MAX_TREE: usize = tree::MAX_BYTES / 2;

/// At most this many lists may be open: the client has seen some of their pages.
const MAX_OPEN_LISTS: usize = 4096;

/// What a request asks for.
#[derive(Clone, Debug)]
enum Asked {
    /// `initialize`, with what the client asks for.
    Initialize(Value),
    /// `server/discover`, with what the client asks for.
    Discover(Value),
    /// A page of a list.
    Page {
        kind: ListKind,
        /// It has no cursor: it begins the list.
        is_first: bool,
    },
}

/// Collects the surface of the server of a session. If a list was requested several times, the last one counts.
#[derive(Debug, Default)]
pub struct Extractor {
    surface: Surface,
    reading: Reading<Asked>,
    /// The latest lists of a single page each: the results, which are parsed at the end.
    whole: HashMap<ListKind, Box<[u8]>>,
    /// Lists whose last page is still missing, by stream.
    open: HashMap<(u32, ListKind), List>,
    names: BTreeSet<String>,
    /// The first list that was not read because it has too many values.
    too_large: Option<(ListKind, TooLarge)>,
    /// The number of requests without a result so far, at most.
    waiting: usize,
}

impl Extractor {
    /// Takes an event of the session.
    pub fn take(&mut self, event: &Event<'_>) {
        if event.header.kind == EventKind::Message {
            self.take_message(event.header.stream, event.header.direction(), event.payload);
        }
    }

    /// Takes an event like [`Self::take`], but reads only requests whose text mentions a method that lists, and results
    /// while one of them is pending. That is enough for the lists of a session, and fast.
    pub fn glance(&mut self, event: &Event<'_>) {
        let kind = event.header.message.as_ref().map(|message| message.kind);
        let may_ask = matches!(kind, None | Some(MessageKind::Request | MessageKind::Batch));
        if self.waiting > 0 || may_ask && memchr::memmem::find(event.payload, b"/list\"").is_some() {
            self.take(event);
        }
    }

    /// Takes a message, or a batch of them.
    pub fn take_message(&mut self, stream: u32, direction: Direction, text: &[u8]) {
        let envelope = Envelope::scan(text);
        match envelope.kind {
            MessageKind::Batch => json::items(text)
                .filter(|item| Envelope::scan(item).kind != MessageKind::Batch)
                .for_each(|item| self.take_message(stream, direction, item)),
            MessageKind::Request => self.take_request(stream, direction, &envelope),
            MessageKind::Result => self.take_result(stream, direction, &envelope),
            _ => {}
        }
    }

    fn take_request(&mut self, stream: u32, direction: Direction, envelope: &Envelope<'_>) {
        if let Some(asked) = asked(envelope).filter(|_| envelope.id.is_some()) {
            self.reading.message(&Said::on_connection(stream, direction, envelope), || asked);
            self.waiting += 1;
        }
    }

    fn take_result(&mut self, stream: u32, direction: Direction, envelope: &Envelope<'_>) {
        let said = Said::on_connection(stream, direction, envelope);
        // A result is no request.
        let unasked = || Asked::Initialize(Value::Null);
        let Role::Response(Response { request, .. }) = self.reading.message(&said, unasked) else { return };
        let (Some(asked), Some(text)) = (request.map(|request| request.memory), envelope.result) else { return };
        self.waiting = self.waiting.saturating_sub(1);
        if let (Asked::Page { kind, .. }, Err(too_large)) = (&asked, tree::fits_in(text, MAX_TREE)) {
            self.too_large.get_or_insert((*kind, too_large));
            return;
        }
        if let Asked::Page { kind, is_first: true } = asked
            && json::check(text).is_ok()
            && json::member(text, "nextCursor").is_none_or(|cursor| cursor == b"null")
        {
            self.open.remove(&(stream, kind));
            self.whole.insert(kind, text.into());
            return;
        }
        let result = exact::value_of(text);
        if result.is_null() {
            return;
        }
        match asked {
            Asked::Initialize(client) => {
                let revision = result["protocolVersion"].as_str().map(str::to_owned);
                self.meet(client, &result, result["serverInfo"].clone(), revision);
            }
            Asked::Discover(client) => {
                let revision = client["revision"].as_str().map(str::to_owned);
                self.meet(client, &result, result["_meta"][meta::SERVER_INFO].clone(), revision);
            }
            Asked::Page { kind, is_first } => self.take_page(stream, kind, is_first, &result),
        }
    }

    fn meet(&mut self, client: Value, result: &Value, server: Value, revision: Option<String>) {
        self.surface.client = client;
        self.names.extend(server["name"].as_str().map(str::to_owned));
        self.surface.server = server;
        self.surface.revision = revision;
        self.surface.capabilities = result["capabilities"].clone();
        self.surface.instructions = result["instructions"].as_str().map(str::to_owned);
    }

    fn take_page(&mut self, stream: u32, kind: ListKind, is_first: bool, result: &Value) {
        let mut list = self.open.remove(&(stream, kind)).filter(|_| !is_first).unwrap_or_default();
        let has_more = list.add_page(kind, result).is_some();
        if has_more && self.open.len() < MAX_OPEN_LISTS {
            self.open.insert((stream, kind), list);
        } else {
            self.whole.remove(&kind);
            self.surface.lists.insert(kind, list);
        }
    }

    /// Returns the names of the servers so far. The surface is of a single server only if there is one.
    pub fn server_names(&self) -> &BTreeSet<String> {
        &self.names
    }

    /// Returns the first list that is missing in the surface because it has too many values, and why.
    pub(crate) fn too_large(&self) -> Option<(ListKind, TooLarge)> {
        self.too_large
    }

    /// Returns the surface. A list that was never seen whole is in it as far as it was seen.
    pub fn finish(mut self) -> Surface {
        for (kind, text) in self.whole {
            let mut list = List::default();
            list.add_page(kind, &exact::value_of(&text));
            self.surface.lists.insert(kind, list);
        }
        for ((_, kind), list) in self.open {
            self.surface.lists.entry(kind).or_insert(list);
        }
        self.surface
    }
}

fn asked(envelope: &Envelope<'_>) -> Option<Asked> {
    let method = envelope.method.as_deref()?;
    match method {
        "initialize" => Some(Asked::Initialize(client(envelope, &["protocolVersion"], &["capabilities"]))),
        "server/discover" => {
            let (version, capabilities) = (["_meta", meta::PROTOCOL_VERSION], ["_meta", meta::CLIENT_CAPABILITIES]);
            Some(Asked::Discover(client(envelope, &version, &capabilities)))
        }
        _ => {
            let kind = ListKind::ALL.into_iter().find(|kind| kind.method() == method)?;
            let cursor = envelope.params.and_then(|params| json::first_member(params, "cursor"));
            Some(Asked::Page { kind, is_first: cursor.is_none_or(|cursor| cursor == b"null") })
        }
    }
}

/// What the client asks for: the revision and the capabilities at these places of the params.
fn client(envelope: &Envelope<'_>, revision: &[&str], capabilities: &[&str]) -> Value {
    let member = |path: &[&str]| json::at_path(envelope.params?, path).map(json::value_of);
    let mut client = serde_json::Map::new();
    client.extend(member(revision).map(|revision| ("revision".to_owned(), revision)));
    client.extend(member(capabilities).map(|capabilities| ("capabilities".to_owned(), capabilities)));
    if client.is_empty() { Value::Null } else { Value::Object(client) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn extracted(messages: &[(Direction, Value)]) -> Extractor {
        let mut extractor = Extractor::default();
        for (direction, message) in messages {
            extractor.take_message(0, *direction, message.to_string().as_bytes());
        }
        extractor
    }

    const C2S: Direction = Direction::ClientToServer;
    const S2C: Direction = Direction::ServerToClient;

    fn list(id: u32, cursor: Option<&str>) -> (Direction, Value) {
        (C2S, json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {"cursor": cursor}}))
    }

    fn page(id: u32, names: &[&str], next: Option<&str>) -> (Direction, Value) {
        let tools: Vec<Value> =
            names.iter().map(|name| json!({"name": name, "inputSchema": {}, "_meta": {"t": 1}})).collect();
        (S2C, json!({"jsonrpc": "2.0", "id": id, "result": {"tools": tools, "nextCursor": next}}))
    }

    fn names(surface: &Surface) -> Vec<&str> {
        surface.lists[&ListKind::Tools].items.keys().map(String::as_str).collect()
    }

    #[test]
    fn pages_become_one_list_and_a_new_list_replaces_the_old_one() {
        let first = [list(1, None), page(1, &["b"], Some("x")), list(2, Some("x")), page(2, &["a"], None)];
        let surface = extracted(&first).finish();
        assert_eq!(names(&surface), ["a", "b"]);
        assert!(surface.lists[&ListKind::Tools].is_complete);
        assert_eq!(surface.lists[&ListKind::Tools].items["a"], json!({"name": "a", "inputSchema": {}}));
        let again = [&first[..], &[list(3, None), page(3, &["c"], None)]].concat();
        assert_eq!(names(&extracted(&again).finish()), ["c"]);
        assert!(!extracted(&first[..2]).finish().lists[&ListKind::Tools].is_complete);
    }

    #[test]
    fn a_result_counts_only_if_it_answers_a_request_that_lists() {
        let other = (C2S, json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call"}));
        assert!(extracted(&[other, page(1, &["a"], None), page(2, &["a"], None)]).finish().is_empty());
        let from_server = (S2C, list(1, None).1);
        assert!(extracted(&[from_server, page(1, &["a"], None)]).finish().is_empty());
    }

    #[test]
    fn half_of_an_emoji_hides_no_tool() {
        for next in ["null", r#""more""#] {
            let mut extractor = extracted(&[list(1, None)]);
            let page =
                r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","description":"\ud83d"}],"nextCursor":"#;
            extractor.take_message(0, S2C, format!("{page}{next}}}}}").as_bytes());
            assert_eq!(names(&extractor.finish()), ["a"], "{next}");
        }
    }

    #[test]
    fn both_handshakes_are_read() {
        let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
        let result = json!({"protocolVersion": "2025-11-25", "serverInfo": {"name": "n", "version": "1"},
            "capabilities": {"tools": {}}, "instructions": "be kind"});
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": result});
        let surface = extracted(&[(C2S, asked), (S2C, answer)]).finish();
        assert_eq!((surface.revision.as_deref(), &surface.server["name"]), (Some("2025-11-25"), &json!("n")));
        assert_eq!((surface.instructions.as_deref(), &surface.capabilities), (Some("be kind"), &json!({"tools": {}})));
        let params = json!({"_meta": {(meta::PROTOCOL_VERSION): "2026-07-28"}});
        let asked = json!({"jsonrpc": "2.0", "id": "d", "method": "server/discover", "params": params});
        let result = json!({"capabilities": {}, "_meta": {(meta::SERVER_INFO): {"name": "m"}}});
        let answer = json!({"jsonrpc": "2.0", "id": "d", "result": result});
        let surface = extracted(&[(C2S, asked), (S2C, answer)]).finish();
        assert_eq!((surface.revision.as_deref(), &surface.server["name"]), (Some("2026-07-28"), &json!("m")));
    }

    #[test]
    fn a_batch_is_read_message_by_message() {
        let mut extractor = Extractor::default();
        extractor.take_message(0, C2S, format!("[{}]", list(1, None).1).as_bytes());
        extractor.take_message(0, S2C, format!("[{}]", page(1, &["a"], None).1).as_bytes());
        assert_eq!(names(&extractor.finish()), ["a"]);
    }
}
