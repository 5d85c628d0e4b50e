//! Any reel, as JSON lines, in all formats of `export`, as a page and in the validator: events of all kinds are taken, the
//! same reel gives the same, and what should be JSON is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::check::Checked;
use mcpreel::testing::formats::{EXPORT, ExportFormat, ExportOptions};
use mcpreel::testing::page::{SessionPage, Summary};
use mcpreel::testing::proposals::Registry;
use mcpreel::testing::validate::{Report, Reporter};
use mcpreel::testing::wire::json;
use mcpreel_fuzz::{header, read, reel_of};

fuzz_target!(|lines: &[u8]| {
    let Some(reel) = reel_of(lines) else { return };
    for format in EXPORT {
        let exported = export(format, &reel);
        assert_eq!(export(format, &reel), exported, "{}", format.name);
        if format.name == "jsonl" {
            // Messages stand in it as they are, also with what no value represents, such as half of an emoji.
            let lines = exported.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            lines.for_each(|line| json::check(line).expect("JSON"));
        } else if matches!(format.name, "otlp" | "har") {
            let values = serde_json::Deserializer::from_slice(&exported).into_iter::<serde_json::Value>();
            values.for_each(|value| drop(value.expect(format.name)));
        } else if !format.name.starts_with("otlp") {
            let text = String::from_utf8(exported).expect(format.name);
            assert!(!text.contains(|found: char| found.is_control() && !matches!(found, '\n' | '\r' | '\t')));
        }
    }
    assert_eq!(page(&reel), page(&reel));
    assert_eq!(validate(&reel), validate(&reel));
});

fn export(format: &ExportFormat, reel: &[u8]) -> Vec<u8> {
    let (mut exporter, mut out) = (format.exporter(&ExportOptions::default()), Vec::new());
    exporter.begin(&header(reel), &mut out).expect("a Vec takes all");
    read(reel, |event, _| match event.header.seq % 7 {
        6 => exporter.pass_over(event),
        _ => exporter.event(event, &mut out).expect("a Vec takes all"),
    });
    exporter.end(&mut out).expect("a Vec takes all");
    out
}

fn page(reel: &[u8]) -> Vec<u8> {
    let mut page = SessionPage::begin(Vec::new(), "a reel", Registry::built_in()).expect("a Vec takes all");
    read(reel, |event, methods| page.take(event, methods, event.header.seq % 7 < 6).expect("a Vec takes all"));
    let checked = Checked::default();
    let summary =
        Summary { created: "today".to_owned(), redacted: true, damaged: false, checked: &checked, turns: Vec::new() };
    page.finish(summary).expect("a Vec takes all").0
}

fn validate(reel: &[u8]) -> Report {
    let mut reporter = Reporter::new(Registry::built_in()).keeping(3);
    read(reel, |event, _| reporter.observe(event));
    let report = reporter.finish();
    let not_kept: u64 = report.not_kept.values().sum();
    assert_eq!(report.errors + report.warnings + report.infos, report.findings.len() as u64 + not_kept);
    report
}
