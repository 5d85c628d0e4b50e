//! Comparing two conversations: one does not differ from itself, and swapping the sides changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::diff::{Collector, Options, Recording, Report};
use mcpreel_fuzz::events;

const IGNORED: [&str; 3] = ["/params/_meta", "/result/*/name", "tools/*:e*=/result/content"];

fuzz_target!(|data: &[u8]| {
    let Some((how, data)) = data.split_first() else { return };
    let options = Options {
        exact: how & 1 != 0,
        order: how & 2 != 0,
        keep_times: how & 4 != 0,
        keep_ids: how & 8 != 0,
        ignore: if how & 16 != 0 { IGNORED.map(str::to_owned).into() } else { Vec::new() },
        ..Options::default()
    };
    let middle = data.windows(3).position(|three| three == b"\n=\n");
    let (left, right) = middle.map_or((data, data), |at| (&data[..at], &data[at + 3..]));
    let (left, right) = (recorded(left, &options), recorded(right, &options));
    for side in [&left, &right] {
        assert!(compare(side, side, &options).is_empty());
    }
    let (there, back) = (compare(&left, &right, &options), compare(&right, &left, &options));
    assert_eq!(there.is_empty(), back.is_empty());
    for (report, left, right) in [(&there, &left, &right), (&back, &right, &left)] {
        let pairs = report.same + report.changed + report.moved;
        let units = (left.units.len(), right.units.len());
        assert_eq!((pairs + report.only_left, pairs + report.only_right), units);
        let _ = report.to_json();
    }
});

fn compare(left: &Recording, right: &Recording, options: &Options) -> Report {
    mcpreel::testing::diff::compare(left, right, options).expect("all texts were kept")
}

fn recorded(data: &[u8], options: &Options) -> Recording {
    let mut collector = Collector::new(options).with_stderr(true);
    events(data, |event| collector.take(event));
    collector.finish()
}
