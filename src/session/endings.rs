//! What becomes of the requests without a response, read in advance.

use super::outcome::Outcome;
use super::reading::{CANCELLED, Ended, Reading, Said};
use super::view::method_name;
use crate::trace::{Event, EventHeader, Item, ReelReader};
use crate::wire::{Envelope, MessageKind, json};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::io;

/// What became of the requests that have no response, for those who tell about a request before the end is known.
#[derive(Clone, Debug, Default)]
pub struct Endings(HashMap<(u64, u32), Outcome, RandomState>);

/// The outcomes of at most this many requests are remembered; the others have none.
const MAX_ENDINGS: usize = 1 << 20;

impl Endings {
    /// Reads a reel to its end. What cannot be read is passed over.
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(crate) fn of(mut reader: ReelReader) -> io::Result<Self> {
        let mut endings = Self::default();
        let mut reading: Reading<()> = Reading::default();
        while let Some(item) = reader.next()? {
            let Item::Block(mut block) = item else { continue };
            if block.headers.iter().any(|header| needs_payload(header, reader.methods())) {
                // Whoever shows the reel reports damage.
                let _ = reader.load_payload(&mut block)?;
            }
            for header in &block.headers {
                endings.take(&mut reading, &block.event(header), reader.methods());
            }
            reader.recycle(block);
        }
        endings.extend(reading.finish(true));
        Ok(endings)
    }

    fn take(&mut self, reading: &mut Reading<()>, event: &Event<'_>, methods: &[Box<str>]) {
        if event.header.is_batch() {
            for (text, item) in json::items(event.body()).zip(0..) {
                let envelope = Envelope::scan(text);
                let said = Said { item, ..Said::of_envelope(event.header, &envelope, Some(text)) };
                self.extend(reading.message(&said, || ()).ended());
            }
            return;
        }
        match Said::of_event(event, method_name(event.header.message.as_ref(), None, methods)) {
            None => reading.event(event, |_, _| {}),
            // What a response says does not matter here.
            Some(said) => {
                let text = said.text.filter(|_| said.kind == MessageKind::Notification);
                self.extend(reading.message(&Said { text, ..said }, || ()).ended());
            }
        }
    }

    fn extend(&mut self, ended: impl IntoIterator<Item = Ended<()>>) {
        let space = MAX_ENDINGS.saturating_sub(self.0.len());
        let ended = ended.into_iter().take(space);
        self.0.extend(ended.map(|Ended { request, outcome }| ((request.seq, request.item), outcome)));
    }

    /// Returns what became of the request in this event, at this place of a batch, if it has no response.
    pub(crate) fn get(&self, seq: u64, item: u32) -> Option<Outcome> {
        self.0.get(&(seq, item)).copied()
    }
}

/// Returns whether an event says with its payload only what becomes of a request.
fn needs_payload(header: &EventHeader, methods: &[Box<str>]) -> bool {
    header.is_undescribed() || method_name(header.message.as_ref(), None, methods) == Some(CANCELLED)
}
