//! Checks `docs/behaviours.md` against the sources: each number appears once, and each named test and rule exists.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The sections that the document claims to cover completely, each with its last number.
const CLAIMED: &[(&str, u32)] = &[
    ("X", 17),
    ("A", 25),
    ("AMB-A", 9),
    ("B", 32),
    ("AMB-B", 9),
    ("C", 77),
    ("AMB-C", 17),
    ("D", 41),
    ("AMB-D", 13),
    ("E", 41),
    ("AMB-E", 15),
    ("F", 11),
];

/// A number outside of the sections: a newer version of a proposal.
const BESIDE: &[&str] = &["C-V05"];

/// How the last column begins if it names no test.
const REASONS: &[&str] = &["not visible on the wire: ", "not ours: "];

/// One row of a table.
struct Row {
    number: String,
    does: String,
    tests: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect(path)
}

/// The document's rows, without the table heads.
fn rows() -> Vec<Row> {
    let document = read("docs/behaviours.md");
    let rows = document.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| Number"));
    rows.map(|line| {
        let cells: Vec<_> = line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
        let [number, does, tests] = cells.try_into().expect("three columns");
        Row { number, does, tests }
    })
    .collect()
}

/// The words in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn every_number_of_the_claimed_sections_stands_once() {
    let mut listed: BTreeMap<String, usize> = BTreeMap::new();
    rows().into_iter().for_each(|row| *listed.entry(row.number).or_default() += 1);
    let numbers = CLAIMED.iter().flat_map(|(section, last)| (1..=*last).map(move |n| format!("{section}{n}")));
    let beside = BESIDE.iter().map(|name| (*name).to_owned());
    let all: BTreeMap<String, usize> = numbers.chain(beside).map(|number| (number, 1)).collect();
    assert_eq!(listed, all);
}

#[test]
fn every_row_has_tests_that_exist_or_a_reason() {
    let mut sources: BTreeMap<String, String> = BTreeMap::new();
    for row in rows() {
        let has_reason = |reason: &&str| row.tests.strip_prefix(reason).is_some_and(|why| why.len() > 10);
        if REASONS.iter().any(has_reason) {
            continue;
        }
        let mut named = 0;
        for test in quoted(&row.tests) {
            let (path, name) = test.split_once("::").expect("a path and a name");
            let source = sources.entry(path.to_owned()).or_insert_with(|| read(path));
            assert!(is_test(source, name), "{}: {test} is no test", row.number);
            named += 1;
        }
        assert!(named > 0, "{}: neither a test nor a reason in {:?}", row.number, row.tests);
    }
}

/// Whether a function with this name follows a test attribute.
fn is_test(source: &str, name: &str) -> bool {
    let head = format!("fn {name}(");
    let mut lines = source.lines().map(str::trim_start);
    let mut marked = false;
    lines.any(|line| {
        let found = marked && line.strip_prefix("async ").unwrap_or(line).starts_with(&head);
        marked = ["#[test]", "#[tokio::test]"].contains(&line) || (marked && line.starts_with("#["));
        found
    })
}

/// Each named rule is declared, and a script of the validator's tests violates it.
#[test]
fn every_named_rule_is_broken_by_a_script() {
    let all = |folder: &str| {
        let mut text = String::new();
        collect(&root().join(folder), &mut text);
        text
    };
    let (sources, scripts) = (all("src"), all("src/validate/tests"));
    let rules: BTreeSet<&str> = sources.lines().filter_map(declared_rule).collect();
    let mut seen = BTreeSet::new();
    for row in rows() {
        let cells = format!("{} {}", row.does, row.tests);
        let ids = quoted(&cells).filter(|word| word.contains('/') && !word.contains("::") && !word.contains('.'));
        for id in ids {
            assert!(rules.contains(id), "{}: there is no rule {id}", row.number);
            assert!(scripts.contains(&format!("\"{id}\"")), "{}: nothing breaks {id}", row.number);
            seen.insert(id.to_owned());
        }
    }
    // The other way round: every rule of these proposals has a number.
    let of_proposals = |id: &&str| {
        let proposals = ["conversation/", "reminder/", "mcpl/", "hooks/", "mcpe/", "overlap/"];
        proposals.iter().any(|it| id.starts_with(it))
    };
    let without: Vec<_> = rules.into_iter().filter(of_proposals).filter(|id| !seen.contains(*id)).collect();
    assert_eq!(without, Vec::<&str>::new(), "these answer to no number");
    assert!(seen.len() > 30);
}

/// The id of the rule that a line declares: `NAME = Severity "proposal/what",`.
fn declared_rule(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(" = ")?;
    let (severity, rest) = rest.split_once(" \"")?;
    ["Error", "Warning", "Info"].contains(&severity).then(|| rest.split_once('"')).flatten().map(|(id, _)| id)
}

/// Appends all Rust sources below a folder.
fn collect(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, text);
        } else if path.extension().is_some_and(|end| end == "rs") {
            text.push_str(&std::fs::read_to_string(&path).expect("readable"));
        }
    }
}
