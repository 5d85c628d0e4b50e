//! Exact output of every form, from the same results.

use super::*;

fn problem(level: Level, message: &str) -> Problem {
    let location = Location {
        file: "runs/a b.jsonl".to_owned(),
        line: 12,
        columns: Some(141..149),
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
    insta::assert_snapshot!(written(Form::Junit), @r###"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites>
          <testsuite name="a.reel &quot;x&quot;" package="a.reel &quot;x&quot;" id="0" tests="3" failures="1" errors="0" skipped="1" time="1.500000" timestamp="2026-01-01T00:00:00" hostname="localhost">
            <properties/>
            <testcase name="schema/params" classname="a.reel" time="0.000000">
              <failure message="7 is &amp; was: 100%&#10;&lt;b&gt;|�" type="error">runs/a b.jsonl:12 at /params/name: 7 is &amp; was: 100%&#10;&lt;b&gt;|�&#10;old (in the baseline)</failure>
            </testcase>
            <testcase name="stream/crlf" classname="a.reel" time="0.000000"/>
            <testcase name="era/batch" classname="a.reel" time="0.000000">
              <skipped message="not observed"/>
            </testcase>
            <system-out>1 finding is in the baseline&#10;note stream/crlf: runs/a b.jsonl:12 at /params/name: the line ends with CR LF</system-out>
            <system-err/>
          </testsuite>
        </testsuites>
        "###);
}

#[test]
fn github_shows_what_counts_with_its_line() {
    insta::assert_snapshot!(written(Form::Github), @r###"
        ::error file=runs/a b.jsonl,line=12,title=schema/params::7 is & was: 100%25%0A<b>|␛ (at /params/name)
        ::notice file=runs/a b.jsonl,line=12,title=stream/crlf::the line ends with CR LF (at /params/name)
        ::notice::1 finding is in the baseline
        "###);
}

#[test]
fn markdown_keeps_foreign_text_in_its_cell() {
    insta::assert_snapshot!(written(Form::Markdown), @r###"
        ## mcpreel validate: failed

        ### a.reel "x"

        1 passed, 1 failed, 1 not checked

        | | Check | Where | What |
        |---|---|---|---|
        | ❌ error | `schema/params` | `runs/a b.jsonl:12 at /params/name` | 7 is &amp; was: 100%␊&lt;b&gt;\|␛ |
        | error | `schema/params` |  | old (in the baseline) |
        | note | `stream/crlf` | `runs/a b.jsonl:12 at /params/name` | the line ends with CR LF |

        - 1 finding is in the baseline
        "###);
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
