//! One message: what its envelope contains, whatever the message is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::wire::{Envelope, MessageKind, json};

fuzz_target!(|text: &[u8]| {
    let envelope = Envelope::scan(text);
    let inside = |part: &[u8]| text.as_ptr_range().contains(&part.as_ptr()) && part.len() <= text.len();
    assert!(envelope.content().is_none_or(inside));
    if let Some(id) = envelope.id {
        assert!(inside(id.0));
        let _ = (id.key().to_string(), id.as_integer());
    }
    if envelope.kind == MessageKind::Request {
        assert!(envelope.method.is_some() && envelope.id.is_some());
    }
    let _ = (json::check(text), json::items(text).count(), json::members(text).count(), json::as_str(text));
});
