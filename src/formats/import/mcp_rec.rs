//! Imports recordings of mcp-rec (PyPI): JSON lines with a time, a direction and the parsed message.

use super::reading::{Events, Format, Lines, Place, Reader, SECOND, Unit, object, scaled};
use super::{ImportFormat, Opened};
use crate::wire::{Direction, Framing, json};
use std::io::BufRead;

/// See the module.
pub(super) const IMPORT: ImportFormat = ImportFormat {
    name: "mcp-rec",
    about: "JSON lines of mcp-rec, with `dir` client->server or server->client",
    lacks: "exact bytes, standard error",
    detect: |start| {
        json::members(start)
            .find(|member| member.is("dir"))
            .is_some_and(|member| member.value.ends_with(b"->server\"") || member.value.ends_with(b"->client\""))
    },
    open,
};

fn open(input: Box<dyn BufRead + Send>) -> Opened {
    Ok(Box::new(Reader::open(Lines::new(input), Recording, IMPORT.name)?))
}

struct Recording;

impl Format for Recording {
    fn take(&mut self, unit: Unit<'_>, out: &mut Events) -> Result<(), String> {
        let line = object(unit.text)?;
        let direction = match &*line.required("dir")? {
            "client->server" => Direction::ClientToServer,
            "server->client" => Direction::ServerToClient,
            other => return Err(format!("unknown direction {other:?}")),
        };
        let message = line.get("msg").ok_or("no `msg`")?;
        if let Some(time) = line.get("ts") {
            out.at(scaled(time, SECOND)?);
        }
        // A line that is not JSON is kept as text.
        let unparsed = line.object("msg").filter(|message| message.is_true("_unparsed"));
        let payload = match unparsed.and_then(|message| message.text("_raw")) {
            Some(text) => text.into_owned().into_bytes(),
            None => message.to_vec(),
        };
        out.message(Place::default(), direction, Framing::Lf, payload);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::tests::{read_as, texts};

    #[test]
    fn messages_and_other_lines_keep_their_times() {
        let text = concat!(
            "{\"ts\": 1767323045.5, \"dir\": \"client->server\", \"msg\": {\"id\": 1.0, \"method\": \"ping\"}}\n",
            "{\"ts\": 1767323045.625, \"dir\": \"server->client\", \"msg\": {\"_raw\": \"oh no\", \"_unparsed\": true}}\n",
            "{\"ts\": 1767323045.75, \"dir\": \"up\", \"msg\": {}}\n{\"ts\n",
            "{\"ts\": 1767323046, \"dir\": \"server->client\", \"msg\": {\"id\": 1, \"result\": {}}}\n",
        );
        let (header, events) = read_as("mcp-rec", text);
        assert_eq!(header.created, 1_767_323_045_500_000_000);
        let found = texts(&events);
        assert_eq!(found[0], ("message", "{\"id\": 1.0, \"method\": \"ping\"}"));
        assert_eq!(found[1], ("message", "oh no"));
        assert_eq!(found[2], ("gap", "{\"line\":3,\"reason\":\"unknown direction \\\"up\\\"\"}"));
        assert!(found[3].1.starts_with("{\"line\":4,\"reason\":\"not JSON"), "{}", found[3].1);
        assert_eq!(found[4], ("message", "{\"id\": 1, \"result\": {}}"));
        let times: Vec<i64> = events.iter().map(|event| event.0 / 1_000_000).collect();
        assert_eq!(times, [0, 125, 125, 125, 500]);
    }
}
