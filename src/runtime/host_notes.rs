//! What a host notes in its reel beside the messages: marks of the conversation, and what it did not use and why
//! (docs/trace-format.md, Marks). Server number N is stream N.

use crate::host::engine::Output;
use crate::proposals::host::{HostEvent, Mark, ServerId};
use crate::record::queue::{Queue, Ready};
use crate::trace::EventKind;
use serde_json::{Value, json};

/// The stream of a server.
pub(super) fn stream_of(server: ServerId) -> u32 {
    u32::try_from(server.0 + 1).unwrap_or(u32::MAX)
}

/// The notes about an output of a host with this number of servers: the stream and the content of each.
pub(super) fn notes(output: &Output, servers: usize) -> Vec<(u32, Value)> {
    match output {
        Output::Mark(server, mark) => marks(*server, *mark, servers),
        Output::Report(event) => decision(event).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The notes that mark a moment.
pub(super) fn marks(server: Option<ServerId>, mark: Mark, servers: usize) -> Vec<(u32, Value)> {
    let all = (0..servers).map(ServerId).filter(|one| server.is_none_or(|server| server == *one));
    all.map(|server| (stream_of(server), json!({"mark": mark.name()}))).collect()
}

/// The note about an event, if the host did not use what a server sent, or did not wait for it.
pub(super) fn decision(event: &HostEvent) -> Option<(u32, Value)> {
    const DECISIONS: &[&str] = &[
        "capped",
        "disabled",
        "dropped",
        "duplicate",
        "known event",
        "late",
        "malformed",
        "over budget",
        "over limit",
        "stray",
        "timed out",
        "undeclared",
        "unprompted",
        "withheld",
    ];
    let mut note = json!({"host": {"proposal": event.proposal, "what": event.what, "text": event.text}});
    // Which parts of a message it did not use.
    if let Some(which) = event.data.get("which") {
        note["host"]["data"] = json!({"which": which});
    }
    DECISIONS.contains(&event.what).then(|| (event.server.map_or(0, stream_of), note))
}

/// Records notes.
pub(super) fn record(queue: &Queue, notes: &[(u32, Value)]) {
    for (stream, note) in notes {
        queue.note(Ready::about(EventKind::Note, *stream), note);
    }
}
