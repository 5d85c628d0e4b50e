//! HTTP headers for messages: headers made from a request can be sent.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::protocol::http::{ToolMarks, modern_headers, modern_version};
use mcpreel::testing::redact::{redact_arguments, redact_header};
use mcpreel::testing::wire::Envelope;

fuzz_target!(|data: &[u8]| {
    let middle = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (listed, request) = data.split_at(middle);
    let mut marks = ToolMarks::default();
    marks.learn(listed);
    let envelope = Envelope::scan(request.trim_ascii());
    let _ = modern_version(&envelope);
    for (name, value) in modern_headers(&envelope, &marks) {
        assert!(!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':'), "{name:?}");
        assert!(value.bytes().all(|byte| byte == b'\t' || matches!(byte, b' '..=b'~')), "{value:?}");
    }
    let words: Vec<String> = String::from_utf8_lossy(data).lines().map(str::to_owned).collect();
    assert_eq!(redact_arguments(&words).len(), words.len());
    let header = String::from_utf8_lossy(request);
    let once = redact_header("authorization", &header);
    assert_eq!(redact_header("authorization", &once), once);
});
