//! Puts the live client's ids and tokens in the place of the recorded ones.

use super::matching::CLIENT_IDS;
use crate::protocol::revision::meta;
use crate::replay::leaves::leaves;
use crate::replay::substitute::{place_in, splice};
use crate::wire::{Envelope, json};

/// A recorded id or token, and the live one: JSON texts.
#[derive(Clone, Debug)]
pub(super) struct Renamed {
    pub recorded: Vec<u8>,
    pub live: Vec<u8>,
}

impl Renamed {
    fn live_text(&self) -> String {
        String::from_utf8_lossy(&self.live).into_owned()
    }
}

/// Returns the progress token of a request.
pub(super) fn token_of(params: Option<&[u8]>) -> Option<&[u8]> {
    json::at_path(params?, &["_meta", "progressToken"])
}

/// Returns a message of the server with the live token in place of the recorded one; `None` if the message is about a
/// recorded token for which there is no live one.
pub(super) fn with_token(message: Vec<u8>, tokens: &[Renamed]) -> Option<Vec<u8>> {
    let Some(params) = Envelope::scan(&message).params else { return Some(message) };
    let Some(recorded) = json::first_member(params, "progressToken") else { return Some(message) };
    let renamed = tokens.iter().find(|known| known.recorded == recorded)?;
    Some(splice(&message, vec![(place_in(&message, recorded), renamed.live_text())]))
}

/// Returns a message with the live ids of `subscriptions/listen` in place of the recorded ones.
pub(super) fn with_subscriptions(message: Vec<u8>, subscriptions: &[Renamed]) -> Vec<u8> {
    if subscriptions.is_empty() || memchr::memmem::find(&message, meta::SUBSCRIPTION_ID.as_bytes()).is_none() {
        return message;
    }
    let found = leaves(&message);
    let changes = found.iter().filter(|leaf| leaf.name == meta::SUBSCRIPTION_ID).filter_map(|leaf| {
        let recorded = &message[leaf.range.clone()];
        let renamed = subscriptions.iter().rev().find(|known| is_same(&known.recorded, recorded))?;
        // The id becomes a string there if it was one.
        let live = renamed.live_text();
        let live = if leaf.is_string && !live.starts_with('"') { format!("\"{live}\"") } else { live };
        Some((leaf.range.clone(), live))
    });
    let changes: Vec<_> = changes.collect();
    drop(found);
    splice(&message, changes)
}

/// Returns a message with the live client's own ids in place of the recorded ones.
pub(super) fn with_client_ids(message: Vec<u8>, ids: &[Renamed]) -> Vec<u8> {
    let occurs = |known: &Renamed| memchr::memmem::find(&message, &known.recorded).is_some();
    if !ids.iter().any(occurs) {
        return message;
    }
    let found = leaves(&message);
    let changes = found.iter().filter(|leaf| CLIENT_IDS.contains(&&*leaf.name)).filter_map(|leaf| {
        let recorded = &message[leaf.range.clone()];
        let renamed = ids.iter().rev().find(|known| known.recorded == recorded)?;
        Some((leaf.range.clone(), renamed.live_text()))
    });
    let changes: Vec<_> = changes.collect();
    drop(found);
    splice(&message, changes)
}

/// Returns whether two ids are the same, as a string or as a number.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let bare = |id| json::as_str(id).unwrap_or_else(|| String::from_utf8_lossy(id)).into_owned();
    bare(one) == bare(other)
}

/// Returns a response to `initialize` with another revision.
pub(super) fn with_revision(message: &[u8], revision: &str) -> Vec<u8> {
    let recorded = Envelope::scan(message).result.and_then(|result| json::first_member(result, "protocolVersion"));
    match recorded {
        Some(recorded) => splice(message, vec![(place_in(message, recorded), format!("\"{revision}\""))]),
        None => message.to_vec(),
    }
}
