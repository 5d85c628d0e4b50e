use super::*;
use std::collections::BTreeSet;

const SECOND: i64 = 1_000_000_000;
/// 2026-01-01T00:00:00Z in seconds.
const START: i64 = 1_767_225_600;
const YEAR: i64 = 365 * 86_400;

/// Made by `instants.py` with two independent implementations.
const INSTANTS: &str = include_str!("instants.txt");

/// Where croner and cronsim mean to differ, on days that the clock changes: zone, expression, what only croner has,
/// what only cronsim has. A list or range of hours is no fixed time to croner: it skips the gap and fires in both
/// halves of what comes twice, while cronsim moves the one and drops the other. In the half hours of Lord Howe cronsim
/// loses the six o'clock behind a change; croniter has it, and so has croner.
const DIFFER: &[(&str, &str, &[i64], &[i64])] = &[
    ("America/New_York", "30 1-3 * * *", &[26289000], &[5727600]),
    ("Europe/London", "30 1-3 * * *", &[25666200], &[7520400]),
    ("Australia/Lord_Howe", "30 1-3 * * *", &[8089200], &[]),
    ("Pacific/Auckland", "30 1-3 * * *", &[8087400], &[23205600]),
    ("Australia/Lord_Howe", "0 */6 * * *", &[8105400, 23828400], &[]),
];

/// When a schedule fires within 2026, in seconds of that year.
fn fires(expression: &str, zone: &str) -> Vec<i64> {
    let schedule = Schedule::read(expression, Some(zone)).expect("an expression");
    let mut all = Vec::new();
    let mut at = (START - 1) * SECOND;
    while let Some(next) = schedule.next(at).filter(|next| *next < (START + YEAR) * SECOND) {
        assert!(next > at && next % SECOND == 0);
        all.push(next / SECOND - START);
        at = next;
    }
    all
}

/// The steps of a line, unpacked: `60 3600*2` is 60, 3660, 7260.
fn unpack(steps: &str) -> BTreeSet<i64> {
    let (mut at, mut all) = (0, BTreeSet::new());
    for step in steps.split_whitespace() {
        let (step, count) = step.split_once('*').unwrap_or((step, "1"));
        for _ in 0..count.parse().expect("a count") {
            at += step.parse::<i64>().expect("a step");
            all.insert(at);
        }
    }
    all
}

#[test]
fn e24_a_year_in_five_zones_fires_as_an_independent_implementation_says() {
    let (mut seen, mut differ) = (0, Vec::new());
    for line in INSTANTS.lines().filter(|line| !line.starts_with('#')) {
        let [zone, expression, steps] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        // The generator's first instant lies behind the start.
        let ours: Vec<i64> = fires(expression, zone).into_iter().filter(|second| *second > 0).collect();
        let (ours, theirs): (BTreeSet<i64>, BTreeSet<i64>) = (ours.into_iter().collect(), unpack(steps));
        let only = |of: &BTreeSet<i64>, other: &BTreeSet<i64>| of.difference(other).copied().collect::<Vec<_>>();
        let apart = (only(&ours, &theirs), only(&theirs, &ours));
        if apart != Default::default() {
            differ.push((zone, expression, apart.0, apart.1));
        }
        seen += theirs.len();
    }
    differ.sort();
    let mut known: Vec<_> = DIFFER.iter().map(|one| (one.0, one.1, one.2.to_vec(), one.3.to_vec())).collect();
    known.sort();
    assert_eq!(differ, known);
    assert!(seen > 100_000, "{seen}");
}

#[test]
fn e24_six_fields_begin_with_seconds_and_names_are_known() {
    let first = |expression: &str| fires(expression, "UTC").into_iter().take(3).collect::<Vec<_>>();
    assert_eq!(first("*/20 * * * * *"), [0, 20, 40]);
    assert_eq!(first("30 5 * * * *"), [330, 3930, 7530]);
    for (name, means) in [
        ("@hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
    ] {
        assert_eq!(fires(name, "Europe/Berlin"), fires(means, "Europe/Berlin"), "{name}");
    }
}

/// Times by hand: New York goes from 02:00 EST to 03:00 EDT on March 8 and back at 02:00 EDT on November 1, 2026.
#[test]
fn e24_a_time_in_the_gap_moves_and_one_that_comes_twice_fires_once() {
    let utc = |text: &str| text.parse::<Timestamp>().expect("a time").as_second() - START;
    let fires = |expression: &str| fires(expression, "America/New_York");
    let gap = fires("30 2 * * *");
    assert!(gap.contains(&utc("2026-03-07T07:30:00Z")) && gap.contains(&utc("2026-03-09T06:30:00Z")));
    assert!(gap.contains(&utc("2026-03-08T07:00:00Z")), "the first instant behind the gap");
    let twice = fires("30 1 * * *");
    assert!(twice.contains(&utc("2026-11-01T05:30:00Z")) && !twice.contains(&utc("2026-11-01T06:30:00Z")));
    let often = fires("*/30 * * * *");
    assert!(often.contains(&utc("2026-11-01T05:30:00Z")) && often.contains(&utc("2026-11-01T06:30:00Z")));
}

#[test]
fn e24_what_is_no_expression_or_no_zone_is_refused() {
    for expression in ["", "* * * *", "61 * * * *", "* * * * * * *", "@reboot", "every day"] {
        assert!(Schedule::read(expression, None).is_err_and(|why| why.contains("cron expression")), "{expression}");
    }
    assert!(Schedule::read("@daily", Some("Mars/Olympus")).is_err_and(|why| why.contains("Mars/Olympus")));
    assert_eq!(Schedule::read("0 0 30 2 *", None).expect("an expression").next(START * SECOND), None);
}
