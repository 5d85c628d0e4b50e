//! An overlay file: if it can be read, an overlay can be made of it; otherwise the error shows its line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::overlay::{Overlay, Plan, Setting};

fuzz_target!(|text: &str| {
    match Plan::read(text, &[]) {
        Ok(plan) => {
            let overlay = Overlay::new(plan, Setting { id_prefix: "x-".to_owned(), seed: 1, wall_base_ns: 0 });
            assert!(overlay.next_timeout().is_none(), "nothing is due before the handshake");
            let _ = overlay.folders();
        }
        Err(error) => {
            let line = usize::try_from(error.place.line).expect("a line").checked_sub(1);
            assert_eq!(
                error.line,
                line.and_then(|line| text.lines().flat_map(|line| line.split('\r')).nth(line)).unwrap_or_default()
            );
            assert!(!error.to_string().is_empty());
        }
    }
});
