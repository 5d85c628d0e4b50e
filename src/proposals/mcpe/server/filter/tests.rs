use super::*;
use proptest::prelude::*;
use std::time::Instant;

fn filter(types: &[&str], tags: &[&str], priority: &[&str]) -> Filter {
    let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    Filter { event_types: owned(types), tags: owned(tags), priority: owned(priority) }
}

#[test]
fn e28_to_e31_members_are_joined_by_and_and_their_items_by_or() {
    let ci = ["ci".to_owned(), "x".to_owned()];
    let both = filter(&["a.*", "b"], &["deploy", "ci"], &["high", "critical"]);
    assert!(both.matches("b", &ci, "high") && both.matches("a.c", &ci, "critical"));
    assert!(!both.matches("b", &ci, "low") && !both.matches("b", &[], "high") && !both.matches("c", &ci, "high"));
    assert!(Filter::default().matches("b", &[], "low"));
}

#[test]
fn e32_other_globs_are_odd_and_a_near_miss_names_its_pattern() {
    assert_eq!(filter(&["a", "a.*", "*", "a*"], &[], &[]).odd_pattern(), Some("a*"));
    assert_eq!(filter(&["*.a"], &[], &[]).odd_pattern(), Some("*.a"));
    assert_eq!(filter(&[".*"], &[], &[]).odd_pattern(), Some(".*"));
    assert_eq!(filter(&["a", "a.b.*", "*"], &[], &[]).odd_pattern(), None);
    let near = filter(&["b", "a.*"], &[], &["high"]);
    assert_eq!(near.near_miss("a", &[], "high"), Some("a.*"));
    assert_eq!((near.near_miss("a", &[], "low"), near.near_miss("a.b", &[], "high")), (None, None));
}

/// The same as [`Filter::matches`], as MCPE describes it: segment by segment, and without shortcuts.
fn reference(filter: &Filter, event_type: &str, tags: &[String], priority: &str) -> bool {
    let segments: Vec<&str> = event_type.split('.').collect();
    let mut by_type = filter.event_types.is_empty();
    for pattern in &filter.event_types {
        let wanted: Vec<&str> = pattern.split('.').collect();
        by_type |= match wanted.split_last() {
            Some((&"*", [])) => true,
            Some((&"*", above)) => segments.len() > above.len() && segments[..above.len()] == *above,
            _ => wanted == segments,
        };
    }
    let mut by_tag = filter.tags.is_empty();
    for wanted in &filter.tags {
        for tag in tags {
            by_tag |= wanted == tag;
        }
    }
    let mut by_priority = filter.priority.is_empty();
    for wanted in &filter.priority {
        by_priority |= wanted == priority;
    }
    by_type && by_tag && by_priority
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn e31_decisions_equal_a_naive_reference(
        types in prop::collection::vec("(a|b|ab)(\\.(a|b|ab)){0,2}(\\.\\*)?|\\*", 0..4),
        wanted in prop::collection::vec("[xyz]", 0..3),
        levels in prop::collection::vec("low|normal|high|critical", 0..3),
        event_type in "(a|b|ab)(\\.(a|b|ab)){0,3}",
        tags in prop::collection::vec("[xyz]", 0..3),
        priority in "low|normal|high|critical",
    ) {
        let filter = Filter { event_types: types, tags: wanted, priority: levels };
        prop_assert_eq!(filter.odd_pattern(), None);
        let expected = reference(&filter, &event_type, &tags, &priority);
        prop_assert_eq!(filter.matches(&event_type, &tags, &priority), expected);
    }
}

/// Run by hand: `cargo test --release --lib decisions_a_second -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
#[expect(clippy::print_stdout, reason = "a measurement prints its result")]
fn decisions_a_second() {
    let filters: Vec<Filter> = (0..1000)
        .map(|n| {
            filter(&[&format!("source{}.*", n % 50), "other.thing"], &["ci", &format!("t{n}")], &["high", "critical"])
        })
        .collect();
    let tags = ["build".to_owned(), "ci".to_owned()];
    let (began, mut passed) = (Instant::now(), 0u64);
    for n in 0..100_000 {
        let event_type = format!("source{}.push", n % 60);
        let priority = if n % 3 == 0 { "normal" } else { "high" };
        passed += filters.iter().filter(|filter| filter.matches(&event_type, &tags, priority)).count() as u64;
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("{:.0} decisions per second ({passed} of 100,000,000 passed)", 1e8 / seconds);
    assert!(1e8 / seconds > 200_000.0);
}
