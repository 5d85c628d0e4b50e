//! Decides which events of a reel a filter selects.

use super::filter::{Filter, tool_name};
use super::view::{Viewer, is_request};
use crate::trace::{Event, EventHeader};

/// A filter with what it must know of earlier events: a response is selected by the method and the tool of its request.
#[derive(Debug)]
pub(crate) struct Selection {
    filter: Filter,
    viewer: Viewer,
}

impl Selection {
    /// Prepares a filter for the events of one reel.
    pub(crate) fn new(filter: Filter) -> Self {
        Self { filter, viewer: Viewer::default() }
    }

    /// Returns whether everything is selected, so that no payload is needed.
    pub(crate) fn is_everything(&self) -> bool {
        self.filter.is_empty()
    }

    /// Returns whether an event with its payload is selected. Takes all events, in order.
    pub(crate) fn selects(&mut self, event: &Event<'_>, methods: &[Box<str>]) -> bool {
        if self.is_everything() {
            return true;
        }
        let header = event.header;
        let placed = self.viewer.place(event, methods);
        let method = placed.method(header, methods);
        let selected = self.filter.decide(&placed.input(header, method, Some(event.body())));
        self.remember(header, event, method);
        selected.unwrap_or(false)
    }

    /// Remembers a request for its response.
    fn remember(&mut self, header: &EventHeader, event: &Event<'_>, method: Option<&str>) {
        if is_request(header) {
            let tool = (method == Some("tools/call")).then(|| tool_name(event.body())).flatten();
            self.viewer.remember_tool(tool.as_deref());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{EventKind, FileHeader, Flags, Item, NewEvent, ReelReader, ReelWriter, WriterOptions};
    use crate::wire::{Direction, Framing};
    use std::io::Cursor;

    /// A reel with these messages, each at its time in nanoseconds.
    fn reel(messages: &[(Direction, i64, &str)]) -> ReelReader {
        let mut writer =
            ReelWriter::create(Vec::new(), &FileHeader::default(), WriterOptions::default()).expect("begun");
        for (direction, time, text) in messages {
            let (kind, flags, framing) = (EventKind::Message, Flags::toward(*direction), Framing::Lf);
            let (stream, exchange, payload) = (0, 0, text.as_bytes());
            writer.append(NewEvent { time: *time, stream, exchange, kind, flags, framing, payload }).expect("written");
        }
        let (bytes, _) = writer.finish().expect("finished");
        ReelReader::from_stream(Box::new(Cursor::new(bytes))).expect("a reel").with_payloads()
    }

    /// The numbers of the events that a filter selects.
    fn selected(filter: &str) -> Vec<u64> {
        use Direction::{ClientToServer as C2S, ServerToClient as S2C};
        let mut reader = reel(&[
            (C2S, 0, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}"#),
            (C2S, 1, r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}"#),
            (C2S, 2, r#"[{"jsonrpc":"2.0","id":3,"method":"ping"}]"#),
            (S2C, 7, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#),
            (S2C, 8, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#),
            (S2C, 9, r#"{"jsonrpc":"2.0","id":1,"result":{"text":"Add"}}"#),
        ]);
        let (mut selection, mut found) = (Selection::new(Filter::parse(filter).expect("a filter")), Vec::new());
        while let Some(Item::Block(block)) = reader.next().expect("reads") {
            for event in block.events() {
                found.extend(selection.selects(&event, reader.methods()).then_some(event.header.seq));
            }
        }
        found
    }

    #[test]
    fn a_response_is_selected_by_its_request() {
        assert_eq!(selected(""), [0, 1, 2, 3, 4, 5]);
        assert_eq!(selected("tool:add"), [0, 5]);
        assert_eq!(selected("method:ping kind:response"), [3]);
        assert_eq!(selected("slow:>6ns dir:s2c"), [4, 5]);
        assert_eq!(selected("text:add not kind:response"), [0]);
    }
}
