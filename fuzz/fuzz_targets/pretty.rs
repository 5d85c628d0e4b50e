//! Formatted JSON text: only white space outside strings is added or removed, and not much of that; characters that
//! control a terminal are made visible.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::render::line::visible_text;
use mcpreel::testing::render::output_buffer::OutputBuffer;
use mcpreel::testing::render::pretty::{Layout, pretty};
use mcpreel::testing::wire::json;

/// The maximum indentation of a line.
const WIDEST: usize = 512;

fn laid_out(text: &[u8], layout: &Layout) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut out = OutputBuffer::new(&mut bytes);
    pretty(text, layout, &mut out);
    out.flush().expect("memory takes all");
    drop(out);
    bytes
}

fuzz_target!(|text: &[u8]| {
    laid_out(text, &Layout { fold: Some(12), ..Layout::default() });
    let out = laid_out(text, &Layout::default());
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
