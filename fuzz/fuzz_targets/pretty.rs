//! JSON text laid out: nothing but white space outside strings is added or removed, and not much of that; what would
//! steer a terminal is made visible.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::render::line::visible_text;
use mcpreel::render::pretty::{Layout, pretty};
use mcpreel::wire::json;

/// A line begins with so much space at most.
const WIDEST: usize = 512;

fuzz_target!(|text: &[u8]| {
    let mut out = Vec::new();
    pretty(text, &Layout { fold: Some(12), ..Layout::default() }, &mut out);
    out.clear();
    pretty(text, &Layout::default(), &mut out);
    assert!(out.len() <= (text.len() + 1) * WIDEST);
    assert!(!String::from_utf8_lossy(&out).contains(|found: char| found.is_control() && found != '\n'));
    if json::check(text).is_ok() {
        assert!(json::check(&out).is_ok());
        let bare = |text: &[u8]| {
            let kept = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
            visible_text(&String::from_utf8(kept).expect("JSON is UTF-8"))
        };
        assert_eq!(bare(&out), bare(text));
    }
});
