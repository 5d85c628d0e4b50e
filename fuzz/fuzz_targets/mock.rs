//! Serving a recording, whatever was recorded and whatever a client sends: only JSON-RPC comes, and the report adds up.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::replay::mock::{Library, LibraryBuilder, Matching, MockSession, Output, Settings, in_memory};
use mcpreel::testing::wire::{Envelope, MessageKind, json};
use mcpreel_fuzz::{events, steps};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

fuzz_target!(|data: &[u8]| {
    let Some((how, data)) = data.split_first() else { return };
    let matching = [Matching::Exact, Matching::Normalised, Matching::Method, Matching::Sequence][usize::from(how & 3)];
    let settings = Settings { reuse: how & 4 != 0, speed: (how & 8 != 0).then_some(1.0), ..Settings::default() };
    let middle = data.windows(3).position(|three| three == b"\n=\n");
    let (recorded, live) = middle.map_or((data, data), |at| (&data[..at], &data[at + 3..]));
    let library = library(matching, recorded);
    let first = talk(&library, settings.clone(), live);
    assert_eq!(first, talk(&library, settings, live));
});

fn library(matching: Matching, recorded: &[u8]) -> Arc<Library> {
    let (mut builder, mut texts) = (LibraryBuilder::new(matching, &[]), HashMap::new());
    builder.begin(0);
    events(recorded, |event| {
        texts.insert(event.header.seq as u32, event.body().to_vec());
        builder.take(event);
    });
    in_memory(builder, texts)
}

fn talk(library: &Arc<Library>, settings: Settings, live: &[u8]) -> Vec<Output> {
    let mut session = MockSession::new(Arc::clone(library), settings);
    let mut all = session.start(Duration::ZERO);
    let (mut now, mut requests) = (Duration::ZERO, 0);
    for step in steps(live) {
        now = step.now;
        all.extend(session.handle_timeout(now));
        requests += count(step.message);
        all.extend(session.receive(now, step.message));
    }
    while let Some(at) = session.next_timeout() {
        now = now.max(at);
        all.extend(session.handle_timeout(now));
    }
    let answers = all.iter().filter(|output| matches!(output, Output::Send(text) if is_response(text))).count();
    assert!(answers <= requests, "{answers} answers to {requests} requests");
    all
}

fn is_response(text: &[u8]) -> bool {
    Envelope::scan(text).kind.is_response()
}

/// The number of messages that may be answered.
fn count(message: &[u8]) -> usize {
    match Envelope::scan(message).kind {
        MessageKind::Batch => json::items(message).count(),
        _ => 1,
    }
}
