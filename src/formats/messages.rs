//! Exports that need each message once, whole: joins what an [`Exporter`] gets in several pieces, takes batches apart, and
//! finds the request of an answer.

use super::Exporter;
use crate::session::Outcome;
use crate::session::endings::Endings;
use crate::session::reading::{Ended, Reading, Response, Role, Said};
use crate::trace::{Event, EventHeader, EventKind, FileHeader, Flags, NewEvent, OpenFrames};
use crate::wire::{Direction, Envelope, Framing, MessageKind, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// One message of a reel, or a line that is no message: then `envelope.kind` is `Unclassified` (JSON of another kind),
/// `Malformed` (nearly JSON), `Noise` or `Blank`. The messages of a batch come one by one; only one that is empty, in
/// another batch, or without a `body` has the kind `Batch`.
pub(crate) struct Message<'a> {
    /// The number of the event, from 0. The messages of a batch have the same one. If the reel has a message in several
    /// events, it is that of the last one.
    pub seq: u64,
    /// The time in Unix nanoseconds; `jsonl::rfc3339` formats it.
    pub time: i64,
    /// The number of the connection, or of the session over HTTP.
    pub stream: u32,
    /// The number of the HTTP exchange that carried it, from 1; 0 if none did.
    pub exchange: u32,
    /// Who sent it.
    pub direction: Direction,
    /// Marks of the event, such as [`Flags::INJECTED`]. Whether a tool failed, `envelope` says.
    pub flags: Flags,
    /// The number of recorded bytes: the text, and what frames it (an HTTP-like header block or the fields of a
    /// server-sent event), but not the end of a line. For a message of a batch, only the text.
    pub len: u64,
    /// Its kind, id, params and so on. Without a `body`, long strings in it are cut, and deeper levels are left out.
    pub envelope: Envelope<'a>,
    /// Its method; for an answer, that of its request, if the reel has it. Any text: a stranger wrote it.
    pub method: Option<Cow<'a, str>>,
    /// Its place in a batch, from 0.
    pub item: u32,
    /// For a response: the request that it answers.
    pub request: Option<RequestPlace>,
    /// For a response: what became of the request. For a request without a response, what became of it, if the exporter
    /// needs endings.
    pub outcome: Option<Outcome>,
    /// For a response, the time since its request in nanoseconds.
    pub latency: Option<i64>,
    /// For a notification that cancels a request: that request.
    pub cancelled: Option<RequestPlace>,
    /// The request of the client in whose HTTP exchange the message comes, if it has no response yet.
    pub within: Option<RequestPlace>,
    /// Its text, byte for byte: a stranger's bytes, which need not be UTF-8 or JSON. `None` if the message does not fit
    /// in memory (64 MiB), or if parts of it are missing from the reel.
    pub body: Option<&'a [u8]>,
}

/// Where a request is: the number of its event, and its place in a batch, from 0.
pub(crate) type RequestPlace = (u64, u32);

/// Writes one reel in a format whose unit is the message: `begin`, then all events in order, then `end`.
pub(crate) trait MessageExporter {
    /// Whether it says of a request what became of it.
    const NEEDS_ENDINGS: bool = false;

    /// Writes what comes before the first message.
    ///
    /// # Errors
    /// Writing failed.
    fn begin(&mut self, _header: &FileHeader, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Writes one message.
    ///
    /// # Errors
    /// Writing failed.
    fn message(&mut self, message: &Message<'_>, out: &mut dyn Write) -> io::Result<()>;

    /// Processes an event that is not a message: `header.kind` says what it is, and [`EventKind`] what its payload
    /// contains. If it concerns no single stream, `header.stream` is 0. `header.time` counts from `FileHeader::created`.
    ///
    /// # Errors
    /// Writing failed.
    fn other(&mut self, _event: &Event<'_>, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Sees an event that is not to be written, except for [`EventKind::StreamOpened`]. What follows may refer to it.
    fn pass_over(&mut self, _event: &Event<'_>) {}

    /// Sees a message that is not to be written. What follows may refer to it.
    fn pass_over_message(&mut self, _message: &Message<'_>) {}

    /// Learns from an event of the transport what became of a request so far: a response may still come.
    fn settled(&mut self, _request: RequestPlace, _outcome: Outcome, _event: &Event<'_>) {}

    /// Learns that a request gets no response any more.
    fn ended(&mut self, _request: RequestPlace, _outcome: Outcome) {}

    /// Writes what comes after the last message.
    ///
    /// # Errors
    /// Writing failed.
    fn end(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// Makes an [`Exporter`] from a [`MessageExporter`].
#[derive(Default)]
pub(crate) struct ByMessage<E> {
    exporter: E,
    /// The start of the reel, in Unix nanoseconds.
    created: i64,
    frames: OpenFrames,
    /// The incomplete messages by the number of their first piece, each with its last piece and length so far.
    incomplete: BTreeMap<u64, (EventHeader, u64)>,
    /// The requests, with their methods.
    reading: Reading<Box<str>>,
    endings: Endings,
}

impl<E: MessageExporter> ByMessage<E> {
    /// The exporter with this one.
    pub(crate) fn new(exporter: E) -> Self {
        Self {
            exporter,
            created: 0,
            frames: OpenFrames::default(),
            incomplete: BTreeMap::new(),
            reading: Reading::default(),
            endings: Endings::default(),
        }
    }

    /// What gets the messages.
    pub(super) fn exporter(&self) -> &E {
        &self.exporter
    }

    /// What gets the messages.
    pub(super) fn exporter_mut(&mut self) -> &mut E {
        &mut self.exporter
    }

    /// Processes an event as [`Exporter::event`] does, and calls `after` after each message: an event may have many.
    pub(super) fn event_by_message(
        &mut self,
        event: &Event<'_>,
        out: &mut dyn Write,
        after: &mut dyn FnMut(&mut E) -> io::Result<()>,
    ) -> io::Result<()> {
        match event.header.kind {
            EventKind::Message => return self.take(event.header, event.header.framing, event.payload, out, after),
            EventKind::Gap => self.give_up(out)?,
            _ => {}
        }
        self.read(event);
        self.exporter.other(event, out)?;
        after(&mut self.exporter)
    }

    /// Learns from an event that is no message what became of requests.
    fn read(&mut self, event: &Event<'_>) {
        self.reading.event(event, |request, outcome| {
            self.exporter.settled((request.seq, request.item), outcome, event);
        });
    }

    /// Processes a message, or a piece of one. `framing` is [`Framing::Fragment`] if more of it follows.
    fn take(
        &mut self,
        header: &EventHeader,
        framing: Framing,
        payload: &[u8],
        out: &mut dyn Write,
        after: &mut dyn FnMut(&mut E) -> io::Result<()>,
    ) -> io::Result<()> {
        let event = NewEvent { framing, ..Event { header, payload }.again() };
        let Some(frame) = self.frames.take(&event, header.seq) else {
            let body = framing.body(payload);
            let is_all = framing != Framing::Fragment && payload.len() == header.len as usize;
            return match is_all && !header.flags.has(Flags::TRUNCATED) {
                true => self.write_whole(header, payload.len() as u64, body, out, after),
                false => self.write((header, 0), payload.len() as u64, Envelope::scan(body), None, out),
            };
        };
        if framing == Framing::Fragment {
            self.incomplete.insert(frame.first, (header.clone(), frame.len));
            self.frames.keep(&event, frame);
            return Ok(());
        }
        self.incomplete.remove(&frame.first);
        self.write((header, 0), frame.len, frame.envelope(), None, out)
    }

    /// Writes a message, or each message of a batch.
    fn write_whole(
        &mut self,
        header: &EventHeader,
        len: u64,
        body: &[u8],
        out: &mut dyn Write,
        after: &mut dyn FnMut(&mut E) -> io::Result<()>,
    ) -> io::Result<()> {
        let envelope = Envelope::scan(body);
        if envelope.kind != MessageKind::Batch || json::items(body).next().is_none() {
            self.write((header, 0), len, envelope, Some(body), out)?;
            return after(&mut self.exporter);
        }
        json::items(body).zip(0..).try_for_each(|(item, at)| {
            self.write((header, at), item.len() as u64, Envelope::scan(item), Some(item), out)?;
            after(&mut self.exporter)
        })
    }

    fn write(
        &mut self,
        (header, item): (&EventHeader, u32),
        len: u64,
        envelope: Envelope<'_>,
        body: Option<&[u8]>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let message = self.placed((header, item), len, envelope, body);
        self.exporter.message(&message, out)
    }

    /// Finds out what earlier messages say about a message.
    fn placed<'a>(
        &mut self,
        (header, item): (&EventHeader, u32),
        len: u64,
        envelope: Envelope<'a>,
        body: Option<&'a [u8]>,
    ) -> Message<'a> {
        let EventHeader { seq, stream, exchange, flags, .. } = *header;
        let (time, direction) = (self.created.saturating_add(header.time), header.direction());
        let carried = (exchange != 0).then(|| self.reading.carried(exchange)).flatten();
        let within = carried.map(|request| (request.seq, request.item));
        let (mut method, mut latency, mut outcome) = (envelope.method.clone(), None, None);
        let (mut request, mut cancelled) = (None, None);
        let said = Said { item, ..Said::of_envelope(header, &envelope, body) };
        let mut ended = Vec::new();
        match self.reading.message(&said, || envelope.method.as_deref().unwrap_or_default().into()) {
            role @ Role::Request { .. } => {
                outcome = self.endings.get(seq, item);
                ended = role.ended();
            }
            Role::Response(response) => {
                let Response { request: answered, outcome: became, latency: took, .. } = response;
                (outcome, latency) = (Some(became), took);
                request = answered.as_ref().map(|request| (request.seq, request.item));
                method = answered.map(|request| String::from(request.memory).into()).or(method);
            }
            Role::Notification { cancelled: Some(request) } => cancelled = Some((request.seq, request.item)),
            Role::Notification { .. } | Role::Other => {}
        }
        self.end_all(ended);
        Message {
            seq,
            item,
            time,
            stream,
            exchange,
            direction,
            flags,
            len,
            envelope,
            method,
            request,
            outcome,
            latency,
            cancelled,
            within,
            body,
        }
    }

    fn end_all(&mut self, ended: Vec<Ended<Box<str>>>) {
        for Ended { request, outcome } in ended {
            self.exporter.ended((request.seq, request.item), outcome);
        }
    }

    /// Takes a message that is not written.
    fn note(&mut self, event: &Event<'_>) {
        let (body, envelope) = (event.body(), Envelope::scan(event.body()));
        if envelope.kind != MessageKind::Batch {
            let message = self.placed((event.header, 0), event.payload.len() as u64, envelope, Some(body));
            return self.exporter.pass_over_message(&message);
        }
        for (item, at) in json::items(body).zip(0..) {
            let message = self.placed((event.header, at), item.len() as u64, Envelope::scan(item), Some(item));
            self.exporter.pass_over_message(&message);
        }
    }

    /// Writes the messages whose last pieces are missing.
    fn give_up(&mut self, out: &mut dyn Write) -> io::Result<()> {
        for frame in self.frames.drain() {
            if let Some((header, len)) = self.incomplete.remove(&frame.first) {
                self.write((&header, 0), len, frame.envelope(), None, out)?;
            }
        }
        Ok(())
    }
}

impl<E: MessageExporter> Exporter for ByMessage<E> {
    fn begin(&mut self, header: &FileHeader, out: &mut dyn Write) -> io::Result<()> {
        self.created = header.created;
        self.exporter.begin(header, out)
    }

    fn event(&mut self, event: &Event<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.event_by_message(event, out, &mut |_| Ok(()))
    }

    fn pass_over(&mut self, event: &Event<'_>) {
        match event.header.kind {
            EventKind::Message => self.note(event),
            EventKind::Transport | EventKind::Gap => self.read(event),
            // Writing to a sink does not fail.
            EventKind::StreamOpened => return drop(self.exporter.other(event, &mut io::sink())),
            _ => {}
        }
        self.exporter.pass_over(event);
    }

    fn part(&mut self, header: &EventHeader, part: &[u8], is_last: bool, out: &mut dyn Write) -> io::Result<()> {
        let framing = if is_last { header.framing } else { Framing::Fragment };
        match header.kind {
            EventKind::Message => self.take(header, framing, part, out, &mut |_| Ok(())),
            // No format has a use for a description or stderr text of this length.
            _ => Ok(()),
        }
    }

    fn needs_endings(&self) -> bool {
        E::NEEDS_ENDINGS
    }

    fn know_endings(&mut self, endings: Endings) {
        self.endings = endings;
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.give_up(out)?;
        let ended = self.reading.finish(true);
        self.end_all(ended);
        self.exporter.end(out)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::trace::MessageHeader;
    use crate::wire::MessageKind;
    use std::fmt::Write as _;

    #[test]
    fn the_messages_of_a_batch_come_one_by_one_and_answers_have_the_method_of_their_request() {
        let (call, ping) = (r#"{"id":1,"method":"a"}"#, r#"{"id":2,"method":"b"}"#);
        let (result, error) = (r#"{"id":2,"result":{}}"#, r#"{"id":9,"error":{}}"#);
        let got = listed(&[
            (Framing::Lf, CLIENT, &format!("[{call},{ping},[]]")),
            (Framing::Lf, SERVER, &format!("[{result},{error}]")),
            (Framing::Lf, SERVER, "[]"),
        ]);
        let expected = ["0 c2s request a 21 whole", "0 c2s request b 21 whole", "0 c2s batch - 2 whole"];
        let answers = ["1 s2c result b 20 whole", "1 s2c error - 19 whole", "2 s2c batch - 2 whole", ""];
        assert_eq!(got, [&expected[..], &answers].concat().join("\n"));
    }

    /// Lists what it gets: number, sender, kind, method, length, whether there is a body.
    #[derive(Default)]
    struct List;

    impl MessageExporter for List {
        fn message(&mut self, message: &Message<'_>, out: &mut dyn Write) -> io::Result<()> {
            let Message { seq, len, envelope, body, .. } = message;
            let (kind, method) = (envelope.kind.name(), message.method.as_deref().unwrap_or("-"));
            let whole = if body.is_some() { "whole" } else { "cut" };
            writeln!(out, "{seq} {} {kind} {method} {len} {whole}", message.direction.short())
        }

        fn other(&mut self, event: &Event<'_>, out: &mut dyn Write) -> io::Result<()> {
            writeln!(out, "{} {}", event.header.seq, event.header.kind.name())
        }
    }

    pub(in crate::formats) fn header(seq: u64, framing: Framing, flags: Flags, len: usize) -> EventHeader {
        let message = MessageHeader { kind: MessageKind::Request, method: None, id: None };
        let (kind, len) = (EventKind::Message, u32::try_from(len).expect("short"));
        EventHeader {
            seq,
            time: 0,
            stream: 1,
            exchange: 0,
            kind,
            flags,
            framing,
            len,
            offset: 0,
            message: Some(message),
        }
    }

    const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
    const PING: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    const CLIENT: Flags = Flags(0);
    const SERVER: Flags = Flags::SERVER_TO_CLIENT;
    const FRAGMENT: Framing = Framing::Fragment;

    /// What the list says after these events.
    fn listed(events: &[(Framing, Flags, &str)]) -> String {
        let (mut exporter, mut out) = (ByMessage::<List>::default(), Vec::new());
        exporter.begin(&FileHeader::default(), &mut out).expect("written");
        for (seq, (framing, flags, payload)) in (0..).zip(events) {
            let mut header = header(seq, *framing, *flags, payload.len());
            if *payload == "gap" {
                header.kind = EventKind::Gap;
            }
            exporter.event(&Event { header: &header, payload: payload.as_bytes() }, &mut out).expect("written");
        }
        exporter.end(&mut out).expect("written");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn pieces_become_one_message_whatever_stands_between_them() {
        let (start, rest) = CALL.split_at(50);
        let (middle, end) = rest.split_at(5);
        let injected = CLIENT.with(Flags::INJECTED);
        let got = listed(&[
            (FRAGMENT, CLIENT, start),
            (Framing::Lf, SERVER, PING),
            (FRAGMENT, CLIENT, middle),
            (Framing::Lf, injected, PING),
            (Framing::Lf, CLIENT.with(Flags::TRUNCATED), end),
            (Framing::Lf, CLIENT, PING),
        ]);
        let mut expected = String::new();
        let _ = writeln!(expected, "1 s2c request ping {} whole", PING.len());
        let _ = writeln!(expected, "3 c2s request ping {} whole", PING.len());
        let _ = writeln!(expected, "4 c2s request tools/call {} cut", CALL.len());
        let _ = writeln!(expected, "5 c2s request ping {} whole", PING.len());
        assert_eq!(got, expected);
    }

    #[test]
    fn a_message_without_its_last_or_first_piece_is_cut() {
        let (start, end) = CALL.split_at(50);
        let got = listed(&[(FRAGMENT, SERVER, start), (Framing::Lf, CLIENT, "gap"), (Framing::Lf, SERVER, PING)]);
        let lines: Vec<&str> = got.lines().collect();
        assert!(lines[0].starts_with("0 s2c") && lines[0].ends_with("50 cut"), "{got}");
        assert!(lines[0].contains("tools/call"), "the method is known: {got}");
        assert_eq!((lines[1], lines.len()), ("1 gap", 3));
        let at_the_end = listed(&[(FRAGMENT, SERVER, start)]);
        assert!(at_the_end.starts_with("0 s2c") && at_the_end.ends_with("50 cut\n"), "{at_the_end}");
        let without_start = listed(&[(Framing::Lf, SERVER.with(Flags::TRUNCATED), end)]);
        assert!(without_start.ends_with(&format!("{} cut\n", end.len())), "{without_start}");
    }

    #[test]
    fn a_response_has_the_method_of_a_request_that_is_not_written() {
        let (mut exporter, mut out) = (ByMessage::<List>::default(), Vec::new());
        let batch = format!("[{PING}]");
        let answers = [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#];
        for payload in [CALL, &batch] {
            let header = header(0, Framing::Lf, CLIENT, payload.len());
            exporter.pass_over(&Event { header: &header, payload: payload.as_bytes() });
        }
        for payload in answers {
            let header = header(1, Framing::Lf, SERVER, payload.len());
            exporter.event(&Event { header: &header, payload: payload.as_bytes() }, &mut out).expect("written");
        }
        let expected = "1 s2c result tools/call 36 whole\n1 s2c result ping 36 whole\n";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }

    #[test]
    fn parts_that_do_not_fit_in_memory_become_one_message() {
        let framed = format!("Content-Length: {}\r\n\r\n{CALL}", CALL.len());
        let header = header(7, Framing::ContentLength, CLIENT, framed.len());
        let (mut exporter, mut out) = (ByMessage::<List>::default(), Vec::new());
        let (start, end) = framed.as_bytes().split_at(60);
        exporter.part(&header, start, false, &mut out).expect("written");
        exporter.part(&header, end, true, &mut out).expect("written");
        // Damage may leave nothing but an empty last part.
        exporter.part(&header, b"", true, &mut out).expect("written");
        let expected = format!("7 c2s request tools/call {} cut\n7 c2s blank - 0 cut\n", framed.len());
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }
}
