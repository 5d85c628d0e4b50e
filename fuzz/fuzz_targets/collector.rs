//! Responses of collectors, and of servers that speak no MCP: what they say becomes a short line that controls nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::render::text::visible;
use mcpreel::testing::runtime::collector::{Accepted, Signal};
use mcpreel::testing::transport::client::error_response::in_words;

/// The maximum length of such a line, in characters.
const MAX_CHARS: usize = 301;

fuzz_target!(|body: &[u8]| {
    check(&in_words(body));
    for signal in [Signal::Traces, Signal::Metrics] {
        for is_json in [false, true] {
            check(&Accepted::read(signal, is_json, body).words);
        }
    }
});

fn check(words: &str) {
    assert!(words.chars().count() <= MAX_CHARS, "{words}");
    assert!(words.chars().all(|found| visible(found) == found), "{words:?}");
}
