//! What a host notes in its reel beside the messages: marks of the conversation, and what it did not use and why
//! (docs/trace-format.md, Marks). Server number N is stream N.

use crate::host::engine::Output;
use crate::proposals::host::{HostEvent, Mark, ServerId};
use crate::record::queue::{Queue, Ready};
use crate::trace::described::{HostNote, Mark as RecordedMark, Parts};
use crate::trace::{Decision, EventKind, Note};
use serde_json::Value;

/// The stream of a server.
pub(super) fn stream_of(server: ServerId) -> u32 {
    u32::try_from(server.0 + 1).unwrap_or(u32::MAX)
}

/// The notes about an output of a host with this number of servers: the stream and the content of each.
pub(super) fn notes(output: &Output, servers: usize) -> Vec<(u32, Note)> {
    match output {
        Output::Mark(server, mark) => marks(*server, *mark, servers),
        Output::Report(event) => decision(event).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The notes that mark a moment.
pub(super) fn marks(server: Option<ServerId>, mark: Mark, servers: usize) -> Vec<(u32, Note)> {
    let all = (0..servers).map(ServerId).filter(|one| server.is_none_or(|server| server == *one));
    let note = Note { mark: Some(recorded(mark)), ..Note::default() };
    all.map(|server| (stream_of(server), note.clone())).collect()
}

fn recorded(mark: Mark) -> RecordedMark {
    match mark {
        Mark::Turn => RecordedMark::Turn,
        Mark::Inferred => RecordedMark::Inferred,
        Mark::Compacted => RecordedMark::Compacted,
        Mark::Revoked => RecordedMark::Revoked,
        Mark::Granted => RecordedMark::Granted,
        Mark::Gone => RecordedMark::Gone,
    }
}

/// The note about an event, if the host did not use what a server sent, or did not wait for it.
pub(super) fn decision(event: &HostEvent) -> Option<(u32, Note)> {
    let decision = Decision::of(event.what)?;
    let which = event.data.get("which").map(|which| which.as_array().into_iter().flatten().filter_map(Value::as_u64));
    let data = which.map(|which| Parts { which: which.filter_map(|at| usize::try_from(at).ok()).collect() });
    let host = HostNote { proposal: event.proposal.to_owned(), decision, text: event.text.clone(), data };
    Some((event.server.map_or(0, stream_of), Note { host: Some(host), ..Note::default() }))
}

/// Records notes.
pub(super) fn record(queue: &Queue, notes: &[(u32, Note)]) {
    for (stream, note) in notes {
        queue.note(Ready::about(EventKind::Note, *stream), note);
    }
}
