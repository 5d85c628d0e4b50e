//! JSON Pointers into any text: the place lies in the text, and in valid JSON it is the value that serde_json finds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::wire::pointer;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (head, text) = (&data[..end], data.get(end + 1..).unwrap_or_default());
    let path = String::from_utf8_lossy(head);
    let spot = pointer::find(text, &path);
    assert!(spot.value.start <= spot.value.end && spot.value.end <= text.len());
    assert!(spot.key.is_none_or(|key| key.end <= spot.value.start));
    let Ok(whole) = serde_json::from_slice::<Value>(text) else { return };
    let is_pointer = path.is_empty() || path.starts_with('/');
    if let (true, true, Some(value)) = (is_pointer, spot.is_exact, whole.pointer(&path)) {
        let found: Value = serde_json::from_slice(&text[spot.value]).expect("a value");
        assert_eq!(&found, value);
    }
});
