//! A recorded HTTP body: encoded or not, one message, events or WebSocket frames, in any chunking.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::record::http::body::{BodyPiece, Reading};
use mcpreel::testing::transport::coding::Decoder;
use tokio_tungstenite::tungstenite::protocol::Role;

/// The maximum output of a decoder: a fixed size, plus a multiple of its input.
const MAX: usize = (64 << 20) + 100 * (64 << 10);

fuzz_target!(|data: &[u8]| {
    let [how, cut, body @ ..] = data else { return };
    let coding = ["", "gzip", "deflate", "br", "zstd"][usize::from(how >> 2) % 5];
    let decoded = decode(coding, body, usize::from(*cut).max(1));
    let whole = read(reading(*how), &decoded, decoded.len().max(1));
    assert_eq!(read(reading(*how), &decoded, usize::from(*cut).max(1)), whole);
});

fn reading(how: u8) -> Reading {
    match how & 3 {
        0 => Reading::of(Some("application/json"), true, None),
        1 => Reading::of(Some("text/event-stream"), true, None),
        2 => Reading::frames(Role::Client),
        _ => Reading::frames(Role::Server),
    }
}

fn decode(coding: &str, body: &[u8], chunk: usize) -> Vec<u8> {
    let Ok(Some(mut decoder)) = Decoder::of(coding) else { return body.to_vec() };
    let mut decoded = Vec::new();
    for chunk in body.chunks(chunk) {
        let Ok(more) = decoder.push(chunk) else { break };
        decoded.extend(more);
    }
    assert!(decoded.len() <= MAX);
    decoded
}

/// The result as text.
fn read(mut reading: Reading, body: &[u8], chunk: usize) -> Vec<String> {
    let mut found = Vec::new();
    let mut sink = |piece: BodyPiece<'_>| found.push(format!("{piece:?}"));
    body.chunks(chunk).for_each(|chunk| reading.push(chunk, &mut sink));
    reading.finish(&mut sink);
    found
}
