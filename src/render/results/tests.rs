//! Exact output of every form, from the same results.

use super::*;

fn problem(level: Level, message: &str) -> Problem {
    let location = Location {
        file: "runs/a b.jsonl".to_owned(),
        line: 12,
        path: "/params/name".to_owned(),
        snippet: Some("\"name\":7".to_owned()),
    };
    Problem {
        level,
        message: message.to_owned(),
        details: None,
        location: Some(location),
        excused: None,
        fingerprint: Some("schema/params tools/call /params/name".to_owned()),
    }
}

fn results() -> Results {
    let case = |name: &str, verdict, problems| Case {
        name: name.to_owned(),
        class: "a.reel".to_owned(),
        verdict,
        took: Duration::ZERO,
        problems,
    };
    let known = Problem { excused: Some("in the baseline".to_owned()), location: None, ..problem(Level::Error, "old") };
    let cases = vec![
        case("schema/params", CaseVerdict::Failed, vec![problem(Level::Error, "7 is & was: 100%\n<b>|\u{1b}"), known]),
        case("stream/crlf", CaseVerdict::Passed, vec![problem(Level::Note, "the line ends with CR LF")]),
        case("era/batch", CaseVerdict::Skipped("not observed".to_owned()), vec![]),
    ];
    let rule = RuleHelp {
        id: "schema/params".to_owned(),
        level: Level::Error,
        title: "The params conform.".to_owned(),
        help: "See the schema.".to_owned(),
    };
    let (began, took) = (1_767_225_600_999_999_999, Duration::from_millis(1500));
    let suite = Suite { name: "a.reel \"x\"".to_owned(), began, took, cases };
    let notes = vec!["1 finding is in the baseline".to_owned()];
    Results { title: "mcpreel validate".to_owned(), suites: vec![suite], rules: vec![rule], notes }
}

fn written(form: Form) -> String {
    let mut out = String::new();
    form.write(&results(), &mut out).expect("written");
    out
}

#[test]
fn junit_counts_its_cases_and_escapes_their_texts() {
    insta::assert_snapshot!(written(Form::Junit), @"");
}

#[test]
fn github_shows_what_counts_with_its_line() {
    insta::assert_snapshot!(written(Form::Github), @"");
}

#[test]
fn markdown_keeps_foreign_text_in_its_cell() {
    insta::assert_snapshot!(written(Form::Markdown), @"");
}

#[test]
fn sarif_names_the_rule_the_line_and_why_something_does_not_count() {
    let log: serde_json::Value = serde_json::from_str(&written(Form::Sarif)).expect("JSON");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["rules"][0]["help"]["text"], "See the schema.");
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 3);
    let (first, second) = (&results[0], &results[1]);
    assert_eq!((&first["ruleId"], &first["ruleIndex"]), (&"schema/params".into(), &0.into()));
    let place = &first["locations"][0];
    assert_eq!(place["physicalLocation"]["artifactLocation"]["uri"], "runs/a%20b.jsonl");
    assert_eq!(place["physicalLocation"]["region"]["startLine"], 12);
    assert_eq!(place["logicalLocations"][0]["fullyQualifiedName"], "/params/name");
    assert_eq!(second["suppressions"][0]["justification"], "in the baseline");
    assert_eq!((&second["locations"], &first["suppressions"]), (&serde_json::Value::Null, &serde_json::Value::Null));
    assert_eq!(results[2]["level"], "note");
}

#[test]
fn without_problems_markdown_has_no_table_and_github_says_nothing() {
    let suite = Suite { name: "s".to_owned(), ..Suite::default() };
    let clean = Results { title: "t".to_owned(), suites: vec![suite], ..Results::default() };
    let mut out = String::new();
    Form::Github.write(&clean, &mut out).expect("written");
    assert_eq!(out, "");
    Form::Markdown.write(&clean, &mut out).expect("written");
    assert!(out.starts_with("## t: passed\n") && !out.contains('|'), "{out}");
}
