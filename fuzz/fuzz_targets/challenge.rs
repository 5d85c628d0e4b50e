//! `WWW-Authenticate` headers of servers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::oauth::Challenge;

fuzz_target!(|text: &str| {
    let found = Challenge::read(text.lines());
    if let Some(found) = &found {
        let is_word = |scope: &String| !scope.is_empty() && !scope.contains(|found: char| found.is_ascii_whitespace());
        assert!(found.scopes.iter().flatten().all(is_word), "{found:?}");
    }
    // A header of its own is independent of those before it.
    let with_error = Challenge::read(text.lines().chain(["Bearer error=\"last\""])).expect("a challenge");
    let first = found.and_then(|found| found.error);
    assert_eq!(with_error.error.as_deref(), Some(first.as_deref().unwrap_or("last")));
});
