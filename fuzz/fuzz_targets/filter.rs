//! A filter: it parses, or says why not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::session::filter::Filter;

fuzz_target!(|text: &str| {
    match Filter::parse(text) {
        Ok(filter) => assert_eq!(filter.is_empty(), text.trim().is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
