//! A pack: it is read, or the error says where the mistake is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::pack::Pack;

fuzz_target!(|text: &str| {
    match Pack::read(text) {
        Ok(pack) => assert!(!pack.name().is_empty()),
        Err(error) => {
            assert!(!error.why.is_empty());
            assert!(error.place.line <= text.lines().flat_map(|line| line.split('\r')).count() as u64 + 1);
        }
    }
});
