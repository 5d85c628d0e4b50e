//! Compares a session as if its renamed tools still had their old names, so that a new name is one difference, and not
//! one in every call.

use super::surface::{Likeness, ListKind, Surface, renamed_tools};
use crate::trace::{Event, EventKind};
use crate::wire::{Envelope, MessageKind, json};
use std::borrow::Cow;
use std::collections::HashMap;

/// Returns the tools that the second server offers under another name.
pub(crate) fn renamed(left: &Surface, right: &Surface) -> Vec<Likeness> {
    match (left.lists.get(&ListKind::Tools), right.lists.get(&ListKind::Tools)) {
        (Some(left), Some(right)) => renamed_tools(left, right),
        _ => Vec::new(),
    }
}

/// Gives tools their old names.
#[derive(Debug, Default)]
pub(crate) struct OldNames(HashMap<String, String>);

impl OldNames {
    /// For these tools.
    pub(crate) fn of(renamed: &[Likeness]) -> Self {
        Self(renamed.iter().map(|found| (found.to.clone(), found.from.clone())).collect())
    }

    /// Returns the payload of an event with the old names, if it has any new one.
    pub(crate) fn restored_event(&self, event: &Event<'_>) -> Option<Vec<u8>> {
        if self.0.is_empty() || event.header.kind != EventKind::Message {
            return None;
        }
        match self.restored(event.payload) {
            Cow::Borrowed(_) => None,
            Cow::Owned(payload) => Some(payload),
        }
    }

    /// Returns a message with the old names in calls of tools and in lists of tools. Every other byte stays. Batches
    /// stay as they are.
    fn restored<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        let envelope = Envelope::scan(text);
        let places: Vec<&[u8]> = match (envelope.kind, envelope.method.as_deref()) {
            (MessageKind::Request, Some("tools/call")) => {
                envelope.params.and_then(|params| json::first_member(params, "name")).into_iter().collect()
            }
            (MessageKind::Result, _) => {
                let tools = envelope.result.and_then(|result| json::first_member(result, "tools")).unwrap_or_default();
                json::items(tools).filter_map(|tool| json::first_member(tool, "name")).collect()
            }
            _ => return text.into(),
        };
        let (mut out, mut done) = (Vec::new(), 0);
        for place in places {
            let old = json::as_str(place).and_then(|name| self.0.get(&*name));
            if let Some(old) = old {
                let start = place.as_ptr().addr() - text.as_ptr().addr();
                out.extend_from_slice(&text[done..start]);
                out.extend_from_slice(super::node::quote(old).as_bytes());
                done = start + place.len();
            }
        }
        if done == 0 {
            return text.into();
        }
        out.extend_from_slice(&text[done..]);
        out.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_lists_get_the_old_name_and_nothing_else_changes() {
        let likeness = Likeness { from: "old\"".to_owned(), to: "new".to_owned(), percent: 100, basis: String::new() };
        let names = OldNames::of(&[likeness]);
        for (text, expected) in [
            (
                r#"{"id":1, "method":"tools/call","jsonrpc":"2.0","params":{"name": "new","arguments":{"name":"new"}}}"#,
                r#"{"id":1, "method":"tools/call","jsonrpc":"2.0","params":{"name": "old\"","arguments":{"name":"new"}}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"},{"x":1,"name":"n\u0065w"},{"name":"b"}]}}"#,
                r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"},{"x":1,"name":"old\""},{"name":"b"}]}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"name":"new"}}"#,
                r#"{"jsonrpc":"2.0","id":1,"result":{"name":"new"}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"new"}}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"new"}}"#,
            ),
            ("not JSON", "not JSON"),
        ] {
            assert_eq!(String::from_utf8_lossy(&names.restored(text.as_bytes())), expected);
        }
    }
}
