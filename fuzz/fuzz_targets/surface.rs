//! Comparing two surfaces: one does not differ from itself, and its lock file is read back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::diff::surface::{List, ListKind, Surface, compare};

fuzz_target!(|data: &[u8]| {
    let middle = data.windows(3).position(|three| three == b"\n=\n");
    let (left, right) = middle.map_or((data, data), |at| (&data[..at], &data[at + 3..]));
    let (left, right) = (surface(left), surface(right));
    for side in [&left, &right] {
        let itself = compare(side, side);
        assert!(itself.changes.is_empty(), "{itself:?}");
        let again = Surface::from_lock(side.to_lock().as_bytes()).expect("its own lock file");
        assert_eq!(again.to_lock(), side.to_lock());
        assert!(compare(side, &again).changes.is_empty());
    }
    let _ = compare(&left, &right).to_json();
});

/// A lock file, or else the result of a method that lists.
fn surface(text: &[u8]) -> Surface {
    if let Ok(surface) = Surface::from_lock(text) {
        return surface;
    }
    let mut surface = Surface::default();
    if let Ok(result) = serde_json::from_slice(text) {
        for kind in ListKind::ALL {
            let mut list = List::default();
            list.add_page(kind, &result);
            surface.lists.insert(kind, list);
        }
    }
    surface
}
