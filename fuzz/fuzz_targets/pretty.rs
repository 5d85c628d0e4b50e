//! JSON text laid out: nothing but white space outside strings is added or removed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::render::pretty::{Layout, pretty};
use mcpreel::wire::json;

fuzz_target!(|text: &[u8]| {
    let mut out = Vec::new();
    pretty(text, &Layout { fold: Some(12), ..Layout::default() }, &mut out);
    out.clear();
    pretty(text, &Layout::default(), &mut out);
    if json::check(text).is_ok() {
        assert!(json::check(&out).is_ok());
        let bare = |text: &[u8]| text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect::<Vec<_>>();
        assert_eq!(bare(&out), bare(text));
    }
});
