//! The validator, the log of operations and the checkpoint trees for any conversation: the counts add up, and the same
//! conversation gives the same report.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::proposals::Registry;
use mcpreel::testing::session::audit::Audit;
use mcpreel::testing::session::checkpoint_tree::CheckpointTrees;
use mcpreel::testing::validate::{Report, Reporter};
use mcpreel_fuzz::{events, steps};
use std::collections::BTreeSet;

fuzz_target!(|data: &[u8]| {
    let report = report(data, 3);
    let not_kept: u64 = report.not_kept.values().sum();
    assert_eq!(report.errors + report.warnings + report.infos, report.findings.len() as u64 + not_kept);
    assert_eq!(report.worst().is_none(), report.findings.is_empty());
    for summary in &report.connections {
        let exercised: BTreeSet<&str> = summary.verdicts.exercised().collect();
        assert!(summary.verdicts.not_observed().all(|rule| !exercised.contains(rule)));
    }
    let lines = steps(data).count() as u64;
    assert!(report.findings.iter().all(|finding| finding.seq.is_none_or(|seq| seq < lines)));
    assert_eq!(self::report(data, 3), report);

    let (mut audit, mut checkpoint_trees) = (Audit::default(), CheckpointTrees::default());
    events(data, |event| {
        assert!(audit.take(event).iter().all(|row| row.seq <= event.header.seq));
        checkpoint_trees.take(event);
    });
    let _ = (audit.finish(), checkpoint_trees.all().count());
});

fn report(data: &[u8], max_per_rule: usize) -> Report {
    let mut reporter = Reporter::new(Registry::built_in()).keeping(max_per_rule);
    events(data, |event| reporter.observe(event));
    reporter.finish()
}
