//! What a replay sends: the client's messages in their order, what each waits for, and the values to take from the live
//! server.

use super::bindings::{self, Binding};
use super::conversation::{Conversation, Entry, Loss};
use super::modern;
use super::safety::{self, Annotations};
use crate::session::filter::{Filter, FilterInput};
use crate::wire::text::visible_text;
use crate::wire::{Envelope, Id, MessageKind, json};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// Which of the client's messages to send. The handshake is always sent.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only what this filter selects.
    pub filter: Option<Filter>,
    /// Nothing before this event.
    pub from: Option<u64>,
    /// Nothing after this event.
    pub to: Option<u64>,
    /// Only what changes nothing on the server's side.
    pub read_only: bool,
    /// In the form of the modern era, although the recording is of the legacy era.
    pub is_for_modern: bool,
}

/// A recorded message that is not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Omission {
    /// The number of its event.
    pub seq: u64,
    /// Its method, and the tool that it calls.
    pub label: String,
    /// Why.
    pub why: &'static str,
}

/// One message to send.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// Its entry.
    pub entry: usize,
    /// The values to take from the live server.
    pub bindings: Vec<Binding>,
    /// What must have come before, beyond what earlier steps wait for.
    pub before: Awaited,
    /// The time between the last message before it and this one, in the recording.
    pub think: Duration,
}

/// What was received between two steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Awaited {
    /// Answered requests: their entries, and which of their requests.
    pub answers: Vec<(usize, usize)>,
    /// Entries of requests and notifications of the server.
    pub initiated: Vec<usize>,
    /// The time from the step before to the last of those.
    pub initiated_after: Duration,
}

/// A call of a tool that may destroy something, in a message that would be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Destructive {
    /// The number of the event.
    pub seq: u64,
    /// The tool.
    pub tool: String,
}

/// What a replay sends; see the module.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) conversation: Conversation,
    pub(super) steps: Vec<Step>,
    /// What comes after the last step.
    pub(super) rest: Awaited,
    /// Bindings of the client's responses, by entry.
    pub(super) bindings: HashMap<usize, Vec<Binding>>,
    omissions: Vec<Omission>,
    destructive: Vec<Destructive>,
    unlisted: Vec<Destructive>,
    /// The entries that do not count in a comparison: what is not sent, and what belongs to it.
    left_out: HashSet<usize>,
    /// Those of them that the live server may send all the same, with the client's responses.
    optional: HashSet<usize>,
    /// The live server is of the modern era, and the recording was translated for it.
    is_for_modern: bool,
}

const HANDSHAKE: [&str; 3] = ["initialize", "notifications/initialized", "server/discover"];

impl Plan {
    /// Plans the replay of a session.
    pub fn new(mut conversation: Conversation, selection: &Selection) -> Self {
        let is_for_modern = selection.is_for_modern && modern::is_legacy(&conversation);
        let translation = match is_for_modern {
            true => modern::translate(&mut conversation),
            false => modern::Translation::default(),
        };
        let mut bindings = bindings::find(&conversation);
        let tools = safety::annotations(&conversation);
        let (mut omissions, mut destructive, mut unlisted, mut omitted) =
            (Vec::new(), Vec::new(), Vec::new(), HashSet::new());
        for (number, entry) in conversation.entries.iter().enumerate() {
            let objection = || {
                let is_moot = || cancels_one_of(&conversation, &omitted, number);
                let own = selection.objection(entry, &tools);
                own.or_else(|| is_moot().then_some("the request that it cancels is not sent"))
                    .filter(|_| is_sent(entry))
            };
            if let Some(why) = translation.without.get(&number).copied().or_else(objection) {
                omitted.insert(number);
                omissions.push(Omission { seq: entry.seq(), label: label(entry), why });
            } else if let Some(tool) = safety::tool_of(entry).filter(|_| is_sent(entry)) {
                match tools.get(&tool) {
                    Some(about) if about.is_destructive => destructive.push(Destructive { seq: entry.seq(), tool }),
                    Some(_) => {}
                    None => unlisted.push(Destructive { seq: entry.seq(), tool }),
                }
            }
        }
        let (mut left_out, mut optional) = left_out(&conversation, &omitted);
        optional.retain(|number| !translation.incomparable.contains(number));
        left_out.extend(translation.incomparable);
        let (steps, rest) = steps(&conversation, &omitted, &left_out, &mut bindings);
        Self {
            conversation,
            steps,
            rest,
            bindings,
            omissions,
            destructive,
            unlisted,
            left_out,
            optional,
            is_for_modern,
        }
    }

    /// Returns the number of the session's stream.
    pub(crate) fn stream(&self) -> u32 {
        self.conversation.stream()
    }

    /// Returns what the recording lost, if it did.
    pub(crate) fn loss(&self) -> Option<&Loss> {
        self.conversation.loss()
    }

    /// Returns whether something was left out, and nothing remains but the handshake.
    pub(crate) fn is_empty(&self) -> bool {
        let is_handshake = |step: &Step| is_handshake(&self.conversation.entries[step.entry]);
        self.steps.is_empty() || !self.omissions.is_empty() && self.steps.iter().all(is_handshake)
    }

    /// Returns whether the recording was translated for a server of the modern era.
    pub(crate) fn is_for_modern(&self) -> bool {
        self.is_for_modern
    }

    /// Iterates over the requests to send: the numbers of their events, and what they are.
    pub(crate) fn requests(&self) -> impl Iterator<Item = (u64, String)> {
        let entries = self.steps.iter().map(|step| &self.conversation.entries[step.entry]);
        entries.filter(|entry| !entry.requests.is_empty()).map(|entry| (entry.seq(), label(entry)))
    }

    /// Returns what is not sent.
    pub(crate) fn omissions(&self) -> &[Omission] {
        &self.omissions
    }

    /// Returns the calls of tools that may destroy something.
    pub(crate) fn destructive(&self) -> &[Destructive] {
        &self.destructive
    }

    /// Returns the calls of tools that no recorded list names, so that nobody knows what they may destroy.
    pub(crate) fn unlisted(&self) -> &[Destructive] {
        &self.unlisted
    }

    /// Iterates over the entries with which the new session is to be compared: what is sent, what belongs to it, and what
    /// is optional.
    pub(crate) fn compared(&self) -> impl Iterator<Item = &Entry> {
        let entries = self.conversation.entries.iter().enumerate();
        let is_compared = |number: usize| !self.left_out.contains(&number) || self.optional.contains(&number);
        entries.filter(move |(number, _)| is_compared(*number)).map(|(_, entry)| entry)
    }

    /// Returns the numbers of the events that the live server need not send: messages of its own that may have followed
    /// from what is not sent.
    pub(crate) fn optional(&self) -> HashSet<u64> {
        self.optional.iter().map(|number| self.conversation.entries[*number].seq()).collect()
    }

    /// Returns the number of answers that the recorded server gave to what is sent.
    pub(crate) fn expected_answers(&self) -> usize {
        let requests = self.steps.iter().flat_map(|step| &self.conversation.entries[step.entry].requests);
        requests.filter(|request| request.answer.is_some()).count()
    }

    /// Iterates over what the recorded server wrote to its standard error.
    pub(crate) fn stderr(&self) -> impl Iterator<Item = crate::trace::Event<'_>> {
        self.conversation.stderr()
    }

    /// Returns the request with this number, and its response.
    pub(crate) fn exchange(&self, seq: u64) -> Option<(&Entry, &Entry)> {
        let asked = self.conversation.of_client().find(|entry| entry.seq() == seq)?;
        Some((asked, self.conversation.answer_of(asked)?))
    }

    /// Describes each step: the number of its event, what it sends, and what it takes from the live server.
    pub(crate) fn outline(&self) -> impl Iterator<Item = StepOutline<'_>> {
        self.steps.iter().map(|step| {
            let entry = &self.conversation.entries[step.entry];
            let bound = step.bindings.iter().filter_map(|binding| {
                let source = binding.sources.first()?;
                Some((binding.place.as_str(), self.conversation.entries[source.entry].seq(), source.pointer.as_str()))
            });
            StepOutline { seq: entry.seq(), label: label(entry), bound: bound.collect() }
        })
    }
}

/// One step, described.
#[derive(Debug)]
pub(crate) struct StepOutline<'p> {
    /// The number of the event.
    pub seq: u64,
    /// The method, and the tool that it calls.
    pub label: String,
    /// Each value that is taken from the live server: its place, the number of the event that returned it, and the
    /// place there.
    pub bound: Vec<(&'p str, u64, &'p str)>,
}

impl Selection {
    /// Returns why a message is not sent.
    fn objection(&self, entry: &Entry, tools: &HashMap<String, Annotations>) -> Option<&'static str> {
        if is_handshake(entry) {
            return None;
        }
        let seq = entry.seq();
        if self.from.is_some_and(|from| seq < from) || self.to.is_some_and(|to| seq > to) {
            return Some("it is outside of --from and --to");
        }
        if self.filter.as_ref().is_some_and(|filter| !is_selected(filter, entry)) {
            return Some("the filter does not select it");
        }
        let is_refused = self.read_only && !safety::only_reads(entry, tools);
        is_refused.then_some("it is not annotated as read-only")
    }
}

fn is_handshake(entry: &Entry) -> bool {
    HANDSHAKE.iter().any(|method| entry.is(method))
}

fn is_selected(filter: &Filter, entry: &Entry) -> bool {
    let tool = safety::tool_of(entry);
    let (method, tool) = (entry.method.as_deref(), tool.as_deref());
    filter.decide(&FilterInput { method, tool, body: Some(entry.body()), ..FilterInput::of(&entry.header) })
        == Some(true)
}

/// Returns whether a replay sends an entry by itself. Responses are sent when the live server asks.
fn is_sent(entry: &Entry) -> bool {
    entry.is_clients() && !entry.kind.is_response() && (entry.kind != MessageKind::Batch || entry.answers.is_empty())
}

/// Returns the method of a message, and the tool that it calls, as text for a terminal.
pub(super) fn label(entry: &Entry) -> String {
    let method = entry.method.as_deref().unwrap_or_else(|| entry.kind.name());
    visible_text(&match safety::tool_of(entry) {
        _ if !entry.is_clients() => format!("{method} of the server"),
        Some(tool) => format!("{method} {tool}"),
        None => method.to_owned(),
    })
}

/// Returns whether an entry cancels a request that is omitted.
fn cancels_one_of(conversation: &Conversation, omitted: &HashSet<usize>, number: usize) -> bool {
    let (earlier, entry) = (&conversation.entries[..number], &conversation.entries[number]);
    let id = || json::first_member(Envelope::scan(entry.body()).params?, "requestId").map(|id| Id(id).key());
    let Some(id) = id().filter(|_| entry.is("notifications/cancelled") && entry.is_clients()) else { return false };
    let is_its = |entry: &Entry| entry.is_clients() && entry.requests.iter().any(|request| request.id == id);
    earlier.iter().rposition(is_its).is_some_and(|asked| omitted.contains(&asked))
}

/// Returns the progress tokens of omitted requests, as they stand in the messages.
fn omitted_tokens<'a>(conversation: &'a Conversation, omitted: &HashSet<usize>) -> HashSet<&'a [u8]> {
    let token = |number: &usize| Envelope::scan(conversation.entries[*number].body()).progress_token();
    omitted.iter().filter_map(token).collect()
}

/// Returns the entries that need not come: the omitted ones, their answers, and what the server sent after them, with the
/// client's responses. Then those of them that may come all the same, because the server sent them by itself.
fn left_out(conversation: &Conversation, omitted: &HashSet<usize>) -> (HashSet<usize>, HashSet<usize>) {
    let (mut left_out, mut optional, mut is_after_omitted) = (omitted.clone(), HashSet::new(), false);
    let tokens = omitted_tokens(conversation, omitted);
    let is_progress = |entry: &Entry| {
        let token = || json::first_member(Envelope::scan(entry.body()).params?, "progressToken");
        entry.is("notifications/progress") && token().is_some_and(|token| tokens.contains(token))
    };
    for (number, entry) in conversation.entries.iter().enumerate() {
        if is_sent(entry) {
            is_after_omitted = omitted.contains(&number);
        } else if entry.answers.is_empty() {
            if is_after_omitted || is_progress(entry) {
                left_out.insert(number);
                optional.insert(number);
            }
        } else if entry.answers.iter().all(|(asked, _)| left_out.contains(asked)) {
            left_out.insert(number);
            if entry.answers.iter().all(|(asked, _)| optional.contains(asked)) {
                optional.insert(number);
            }
        }
    }
    (left_out, optional)
}

fn steps(
    conversation: &Conversation,
    omitted: &HashSet<usize>,
    left_out: &HashSet<usize>,
    bindings: &mut HashMap<usize, Vec<Binding>>,
) -> (Vec<Step>, Awaited) {
    let (mut steps, mut before) = (Vec::new(), Awaited::default());
    let (mut last, mut step_at, mut handshakes) = (None, None, HashSet::new());
    let since = |from: Option<i64>, to: i64| {
        Duration::from_nanos(u64::try_from(to.saturating_sub(from.unwrap_or(to))).unwrap_or(0))
    };
    for (number, entry) in conversation.entries.iter().enumerate() {
        let time = entry.header.time;
        if is_sent(entry) && !omitted.contains(&number) {
            let bindings = bindings.remove(&number).unwrap_or_default();
            let step = Step { entry: number, bindings, before: std::mem::take(&mut before), think: since(last, time) };
            steps.push(step);
            step_at = Some(time);
            if !entry.requests.is_empty() && is_handshake(entry) && conversation.answer_of(entry).is_some() {
                before.answers.push((number, 0));
                handshakes.insert(number);
            }
        } else if !entry.is_clients() && !left_out.contains(&number) {
            // What was sent before the answer to `initialize` waits for it all the same, as MCP demands.
            before.answers.extend(entry.answers.iter().filter(|(asked, _)| !handshakes.contains(asked)));
            if entry.is_initiated() {
                before.initiated.push(number);
                before.initiated_after = since(step_at, time);
            }
        }
        last = Some(time);
    }
    (steps, before)
}
