//! What the model would have seen at each turn: the texts that cross the wire and belong into a prompt, by their sources.
//! Whether a host really used them, only its own notes in the reel say.

use super::turns::Turns;
use super::{LeftOut, MessageReplay};
use crate::proposals::{ConversationEvent, Observed, REGISTRY, tool_result};
use crate::trace::{Event, EventKind, Note};
use crate::wire::MessageKind;
use crate::wire::text::counted;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// At most this many parts and turns are kept; further parts are counted.
const MAX_PARTS: usize = 100_000;
/// At most this many streams have turns of their own.
const MAX_STREAMS: usize = 1000;
/// Of a text, at most this many characters are kept.
const EXCERPT_CHARS: usize = 400;

/// A text for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PromptPart {
    /// The number of the event that carries it.
    pub seq: u64,
    /// The number of its stream.
    pub stream: u32,
    /// The server, unless the user wrote it.
    pub server: String,
    /// Where it comes from: `user`, `tool result`, a proposal and what it sends, …
    pub source: String,
    /// The name of the tool, prompt or resource, if there is one.
    pub name: String,
    /// The beginning of the text.
    pub excerpt: String,
    /// The length of the whole text, in bytes.
    pub bytes: u64,
}

/// What belongs into the prompts of one turn, or of all.
#[derive(Clone, Debug, Default)]
pub(crate) struct TurnParts {
    /// The number of the turn, from 1; 0 for what belongs into every prompt.
    pub number: u64,
    /// The event that begins it, and its time in nanoseconds since the reel's clock base.
    pub began: Option<(u64, i64)>,
    /// The texts, in order.
    pub parts: Vec<PromptPart>,
    /// What the host notes that it left out, with the event of each note.
    pub left_out: Vec<(u64, String)>,
    pub(super) streams: BTreeSet<u32>,
    pub(super) is_over: bool,
}

impl TurnParts {
    /// The number of bytes of all texts.
    pub(crate) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// The number of bytes of each source.
    pub(crate) fn by_source(&self) -> BTreeMap<&str, u64> {
        let mut sums = BTreeMap::new();
        for part in &self.parts {
            *sums.entry(part.source.as_str()).or_default() += part.bytes;
        }
        sums
    }
}

/// Collects what belongs into the prompts of a reel.
#[derive(Debug, Default)]
pub(crate) struct Prompts {
    replay: MessageReplay,
    begun: BTreeMap<u32, Turns>,
    every: TurnParts,
    turns: Vec<TurnParts>,
    /// What waits for the next turn.
    waiting: TurnParts,
    count: usize,
    left_out: u64,
    /// Only the lengths of texts are of interest.
    measures: bool,
}

impl Prompts {
    /// Collects the lengths of texts, and of their words only those of the user.
    pub(crate) fn measuring() -> Self {
        Self { measures: true, ..Self::default() }
    }

    /// Takes the next event.
    pub(crate) fn take(&mut self, event: &Event<'_>) {
        let header = event.header;
        if header.kind == EventKind::Note {
            self.take_note(event);
        }
        let (mut found, mut moments) = (Vec::new(), Vec::new());
        self.replay.take(event, |stream, message| {
            moments.extend(REGISTRY.iter().filter_map(|proposal| proposal.conversation_event(message)));
            found.extend(texts(message).into_iter().map(|text| (stream, text)));
        });
        for moment in moments {
            if let Some(moment) = self.turns_of(header.stream).and_then(|turns| turns.reported(moment)) {
                self.reach(moment, header.stream, header.seq, header.time);
            }
        }
        for (stream, text) in found {
            self.add(stream, text);
        }
    }

    /// What belongs into every prompt, then each turn. Without turns, everything is in one whose number is 1.
    pub(crate) fn finish(mut self) -> (Vec<TurnParts>, LeftOut) {
        if !self.waiting.parts.is_empty() || !self.waiting.left_out.is_empty() {
            self.waiting.number = self.turns.len() as u64 + 1;
            self.turns.push(self.waiting);
        }
        let mut all = vec![self.every];
        all.append(&mut self.turns);
        for part in all.iter_mut().flat_map(|turn| &mut turn.parts).filter(|part| part.source != "user") {
            part.server = self.replay.server(part.stream);
        }
        all.retain(|turn| turn.began.is_some() || !turn.parts.is_empty() || !turn.left_out.is_empty());
        let followed = self.replay.left_out();
        (all, LeftOut { events: followed.events + self.left_out, ..followed })
    }

    fn turns_of(&mut self, stream: u32) -> Option<&mut Turns> {
        let has_space = self.begun.len() < MAX_STREAMS || self.begun.contains_key(&stream);
        has_space.then(|| self.begun.entry(stream).or_default())
    }

    fn take_note(&mut self, event: &Event<'_>) {
        let (stream, seq, time) = (event.header.stream, event.header.seq, event.header.time);
        if let Some(moment) = self.turns_of(stream).and_then(|turns| turns.marked(event.payload)) {
            return self.reach(moment, stream, seq, time);
        }
        if let Some(host) = Note::read(event.payload).host
            && self.has_space()
        {
            let said = format!("{}: {}", host.decision, host.text);
            self.current().left_out.push((seq, said.chars().take(EXCERPT_CHARS).collect()));
        }
    }

    /// A host marks a turn, or sends the user's message, on the streams of all its servers: that is one turn.
    fn reach(&mut self, moment: ConversationEvent, stream: u32, seq: u64, time: i64) {
        let last = self.turns.last_mut();
        match moment {
            ConversationEvent::Inferred => last.into_iter().for_each(|turn| turn.is_over = true),
            ConversationEvent::Turn => {
                if let Some(turn) = last.filter(|turn| !turn.is_over && !turn.streams.contains(&stream)) {
                    turn.streams.insert(stream);
                    turn.parts.append(&mut self.waiting.parts);
                    return;
                }
                if !self.has_space() {
                    return;
                }
                let (number, began) = (self.turns.len() as u64 + 1, Some((seq, time)));
                let waiting = std::mem::take(&mut self.waiting);
                self.turns.push(TurnParts { number, began, streams: [stream].into(), ..waiting });
            }
            _ => {}
        }
    }

    /// The turn whose prompts can still take texts, or what waits for the next one.
    fn current(&mut self) -> &mut TurnParts {
        match self.turns.last_mut().filter(|turn| !turn.is_over) {
            Some(turn) => turn,
            None => &mut self.waiting,
        }
    }

    fn has_space(&mut self) -> bool {
        self.count += 1;
        let has_space = self.count <= MAX_PARTS;
        self.left_out += u64::from(!has_space);
        has_space
    }

    fn add(&mut self, stream: u32, text: Text) {
        if !self.has_space() {
            return;
        }
        let kept = if self.measures && text.source != "user" { 0 } else { EXCERPT_CHARS };
        let excerpt: String = text.text.chars().take(kept).collect();
        let (source, bytes) = (text.source.to_owned(), text.bytes);
        let part = PromptPart { seq: text.seq, stream, server: String::new(), source, name: text.name, excerpt, bytes };
        let turn = if text.is_in_every { &mut self.every } else { self.current() };
        if text.replaces {
            turn.parts.retain(|other| (other.stream, &other.source) != (stream, &part.source));
        }
        // A host sends the user's message to several servers.
        let is_same =
            |other: &PromptPart| part.source == "user" && other.source == "user" && other.excerpt == part.excerpt;
        if !turn.parts.iter().any(is_same) {
            turn.parts.push(part);
        }
    }
}

/// A text in a message.
struct Text {
    seq: u64,
    source: &'static str,
    name: String,
    text: String,
    bytes: u64,
    /// It belongs into every prompt.
    is_in_every: bool,
    /// It replaces earlier ones of its stream and source.
    replaces: bool,
}

impl Text {
    fn of(seq: u64, source: &'static str, name: &Value, text: String) -> Self {
        let (name, bytes) = (name.as_str().unwrap_or_default().to_owned(), text.len() as u64);
        Self { seq, source, name, text, bytes, is_in_every: false, replaces: false }
    }
}

/// Returns the texts in a message that belong into a prompt.
fn texts(message: &Observed<'_>) -> Vec<Text> {
    let of_proposals = REGISTRY.iter().flat_map(|proposal| proposal.model_texts(message));
    let mut found: Vec<Text> = of_proposals.map(|it| Text::of(it.seq, it.source, &Value::Null, it.text)).collect();
    if message.envelope.kind == MessageKind::Result
        && let Some(request) = message.request
    {
        found.extend(of_result(message, &request.params));
    }
    found.retain(|text| text.bytes > 0);
    found
}

/// Returns the text of a result of MCP itself.
fn of_result(message: &Observed<'_>, params: &Value) -> Option<Text> {
    let (seq, result) = (message.seq, message.content);
    Some(match message.method.unwrap_or_default() {
        "initialize" | "server/discover" => {
            let text = result["instructions"].as_str()?.to_owned();
            Text { is_in_every: true, replaces: true, ..Text::of(seq, "instructions", &Value::Null, text) }
        }
        "tools/list" => {
            let tools = result["tools"].as_array()?;
            let bytes = serde_json::to_string(tools).map_or(0, |text| text.len() as u64);
            let text = counted(tools.len() as u64, "tool");
            let replaces = params["cursor"].is_null();
            Text { bytes, is_in_every: true, replaces, ..Text::of(seq, "tools", &Value::Null, text) }
        }
        "tools/call" => Text::of(seq, "tool result", &params["name"], tool_result::text(result)),
        "resources/read" => Text::of(seq, "resource", &params["uri"], joined(&result["contents"], "/text")),
        "prompts/get" => Text::of(seq, "prompt", &params["name"], joined(&result["messages"], "/content/text")),
        _ => return None,
    })
}

/// Returns the texts at a place in each item, one after the other.
fn joined(items: &Value, place: &str) -> String {
    let texts = items.as_array().into_iter().flatten().filter_map(|item| item.pointer(place)?.as_str());
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::EventHeader;
    use crate::trace::Flags;
    use crate::wire::{Direction, Framing};
    use Direction::{ClientToServer as C2s, ServerToClient as S2c};
    use serde_json::json;

    fn send(prompts: &mut Prompts, seq: u64, stream: u32, kind: EventKind, direction: Direction, payload: &[u8]) {
        let flags = Flags::toward(direction);
        let (len, framing) = (payload.len() as u32, Framing::Lf);
        let header =
            EventHeader { seq, time: 0, stream, exchange: 0, kind, flags, framing, len, offset: 0, message: None };
        prompts.take(&Event { header: &header, payload });
    }

    fn said(messages: &[(u32, Direction, Value)]) -> Vec<TurnParts> {
        let mut prompts = Prompts::default();
        for (seq, (stream, direction, message)) in (0..).zip(messages) {
            let is_note = message.get("mark").or(message.get("host")).is_some();
            let mut payload = message.to_string().into_bytes();
            if is_note {
                payload.clear();
                ciborium::into_writer(message, &mut payload).expect("a Vec takes all");
            }
            let kind = if is_note { EventKind::Note } else { EventKind::Message };
            send(&mut prompts, seq, *stream, kind, *direction, &payload);
        }
        prompts.finish().0
    }

    /// Each turn as its number and its sources with their names and lengths.
    fn outline(turns: &[TurnParts]) -> Vec<(u64, Vec<String>)> {
        let part = |part: &PromptPart| format!("{} {} {}", part.source, part.name, part.bytes);
        turns.iter().map(|turn| (turn.number, turn.parts.iter().map(part).collect())).collect()
    }

    #[test]
    fn without_turns_everything_is_in_one() {
        let turns = said(&[
            (1, C2s, json!({"id": 1, "method": "initialize", "params": {}})),
            (1, S2c, json!({"id": 1, "result": {"instructions": "Be brief.", "serverInfo": {"name": "db"}}})),
            (1, C2s, json!({"id": 2, "method": "tools/call", "params": {"name": "query"}})),
            (1, S2c, json!({"id": 2, "result": {"content": [{"type": "text", "text": "one row"}]}})),
        ]);
        let expected = [(0, vec!["instructions  9".to_owned()]), (1, vec!["tool result query 7".to_owned()])];
        assert_eq!(outline(&turns), expected);
        assert_eq!((turns[1].parts[0].server.as_str(), turns[1].bytes()), ("db", 7));
    }

    #[test]
    fn a_user_message_begins_a_turn_on_all_servers_at_once() {
        let message = |id: u32, text: &str| json!({"id": id, "method": "conversation/userMessage", "params": {"messageId": "m", "content": text}});
        let turns = said(&[
            (1, C2s, message(1, "hello")),
            (2, C2s, message(1, "hello")),
            (1, S2c, json!({"id": 1, "result": {"context": "we met"}})),
            (1, C2s, message(2, "bye")),
        ]);
        let first = vec!["user  5".to_owned(), "conversation context  6".to_owned()];
        assert_eq!(outline(&turns), [(1, first), (2, vec!["user  3".to_owned()])]);
    }

    #[test]
    fn the_first_mark_belongs_to_the_turn_that_its_messages_began() {
        let user = |id: u32, text: &str| json!({"id": id, "method": "conversation/userMessage", "params": {"messageId": text, "content": text}});
        let turns = said(&[
            (1, C2s, user(1, "one")),
            (1, C2s, json!({"mark": "turn"})),
            (1, C2s, json!({"mark": "inferred"})),
            (1, C2s, user(2, "second")),
            (1, C2s, json!({"mark": "turn"})),
            (1, C2s, json!({"mark": "inferred"})),
            (1, C2s, json!({"mark": "turn"})),
        ]);
        assert_eq!(outline(&turns), [(1, vec!["user  3".to_owned()]), (2, vec!["user  6".to_owned()]), (3, vec![])]);
    }

    #[test]
    fn what_a_server_pushes_counts_once_it_is_accepted() {
        let content = |text: &str| json!([{"type": "text", "text": text}]);
        let push = |id: u32, text: &str| json!({"id": id, "method": "push/event", "params": {"payload": {"content": content(text)}}});
        let incoming =
            json!([{"messageId": "a", "content": content("four")}, {"messageId": "b", "content": content("no")}]);
        let results = json!([{"messageId": "a", "accepted": true}, {"messageId": "b", "accepted": false}]);
        let turns = said(&[
            (1, S2c, push(1, "yes")),
            (1, S2c, push(2, "refused")),
            (1, S2c, push(3, "an error")),
            (1, C2s, json!({"id": 2, "result": {"accepted": false}})),
            (1, C2s, json!({"id": 1, "result": {"accepted": true}})),
            (1, C2s, json!({"id": 3, "error": {"code": -32001, "message": "m"}})),
            (1, S2c, json!({"id": 4, "method": "channels/incoming", "params": {"messages": incoming}})),
            (1, C2s, json!({"id": 4, "result": {"results": results}})),
        ]);
        assert_eq!(outline(&turns), [(1, vec!["mcpl push  3".to_owned(), "mcpl channel  4".to_owned()])]);
        assert_eq!(turns[0].parts.iter().map(|part| part.seq).collect::<Vec<_>>(), [0, 6]);
    }

    #[test]
    fn what_waits_at_a_mark_belongs_to_its_turn_and_what_was_left_out_is_noted() {
        let reminder = |body: &str| json!({"method": "notifications/reminder", "params": {"reminder": {"body": body}}});
        let turns = said(&[
            (1, S2c, reminder("early")),
            (1, C2s, json!({"mark": "turn"})),
            (2, C2s, json!({"mark": "turn"})),
            (1, S2c, reminder("now")),
            (1, C2s, json!({"host": {"what": "over budget", "text": "left out 9 B"}})),
            (1, C2s, json!({"mark": "inferred"})),
            (2, C2s, json!({"mark": "inferred"})),
            (1, S2c, reminder("for the next one")),
            (1, C2s, json!({"mark": "turn"})),
        ]);
        let one = vec!["reminder  5".to_owned(), "reminder  3".to_owned()];
        assert_eq!(outline(&turns), [(1, one), (2, vec!["reminder  16".to_owned()])]);
        assert_eq!(turns[0].left_out, [(4, "over budget: left out 9 B".to_owned())]);
        assert_eq!(turns[0].by_source(), BTreeMap::from([("reminder", 8)]));
    }
}
