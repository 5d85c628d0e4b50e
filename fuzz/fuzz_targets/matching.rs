//! What servers and clients declare for matching and substitution: hooks with matchers and templates, patterns of event
//! types, schedules.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::proposals::hooks::engine::{Declarations, Event, EventKind, Filling, select};
use mcpreel::testing::proposals::mcpe::cron::Schedule;
use mcpreel::testing::proposals::mcpe::patterns::{covers, is_odd, is_wildcard, matches, might_match};
use serde_json::json;

fuzz_target!(|text: &str| {
    let (first, second) = text.split_once('\n').unwrap_or((text, ""));
    hooks(first, second);
    patterns(first, second);
    schedules(first, second);
});

fn hooks(text: &str, name: &str) {
    let mut event = Event::new(EventKind::PostToolUse);
    event.tool_name = Some(name.to_owned());
    event.tool_output = Some(json!({"text": name}));
    let done = Filling::new(&event).text(text, &mut Vec::new());
    if !text.contains('{') {
        assert_eq!(done, text);
    }
    let Ok(capabilities) = serde_json::from_str(text) else { return };
    let declarations = Declarations::parse(&capabilities);
    let _ = select(&declarations, &event);
}

fn patterns(pattern: &str, name: &str) {
    if matches(pattern, name) {
        assert!(might_match(pattern, name));
    }
    if !is_wildcard(pattern) {
        assert_eq!(matches(pattern, name), pattern == name);
    }
    assert!(covers("*", pattern) && covers(pattern, pattern));
    if covers(pattern, name) && !is_odd(pattern) && !is_wildcard(name) {
        assert!(matches(pattern, name));
    }
}

fn schedules(expression: &str, zone: &str) {
    let Ok(schedule) = Schedule::read(expression, Some(zone).filter(|zone| !zone.is_empty())) else { return };
    for after in [0, 1_700_000_000_000_000_000, i64::MAX - 1, i64::MIN] {
        let mut at = after;
        for _ in 0..3 {
            let Some(next) = schedule.next(at) else { break };
            assert!(next > at, "{next} after {at}");
            at = next;
        }
    }
}
