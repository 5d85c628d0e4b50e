//! Reports of `validate` with the real program: inputs, formats, settings, baselines and live sessions; and `explain`.

use crate::common::{BINARY, Stage, message};
use serde_json::{Value, json};

/// The messages of a session with one violation: the name of the called tool is a number.
fn messages() -> Vec<Value> {
    let client =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let server = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
        "serverInfo": {"name": "s", "version": "1"}});
    vec![
        message(0, "c2s", json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client})),
        message(1, "s2c", json!({"jsonrpc": "2.0", "id": 0, "result": server})),
        message(2, "c2s", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})),
        message(3, "c2s", json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 7}})),
        message(4, "s2c", json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}})),
    ]
}

/// Returns a stage with that session as `bad.reel`.
fn stage() -> Stage {
    let stage = Stage::new();
    // The search for a settings file ends here.
    std::fs::create_dir(stage.path(".git")).expect("a folder");
    stage.reel("bad.reel", &messages());
    stage
}

#[test]
fn a_finding_points_into_the_message() {
    let out = stage().run(&["validate", "bad.reel"], "").out();
    let (_, place) = out.split_once("error schema/params\n").expect("the finding");
    let mut lines = place.lines().skip_while(|line| !line.contains("\"name\":7"));
    let (shown, mark) = (lines.next().expect("the message"), lines.next().expect("a mark"));
    let from = shown.find("\"name\":7").expect("the place");
    assert_eq!(mark.find("^^^^^^^^ /params/name"), Some(shown[..from].chars().count()), "{out}");
    assert!(out.contains("`mcpreel explain schema/params`"), "{out}");
}

#[test]
fn every_format_reports_the_finding_and_repeats_it_byte_by_byte() {
    let stage = stage();
    for (format, expected) in [
        ("json", r#""path":"/params/name""#),
        ("junit", r#"<testcase name="schema/params""#),
        ("sarif", r#""ruleId":"schema/params""#),
        ("github", "::error file=bad.jsonl,line=5,title=schema/params::"),
        ("markdown", "| ❌ error | `schema/params` | `bad.jsonl:5 at /params/name` |"),
    ] {
        let first = stage.run(&["validate", "bad.reel", "-f", format], "");
        assert!(first.out().contains(expected) && first.code() == 1, "{format}: {first:?}");
        assert_eq!(first.stdout, stage.run(&["validate", "bad.reel", "-f", format], "").stdout, "{format}");
    }
}

#[test]
fn the_line_of_a_finding_is_the_line_of_the_export() {
    let stage = stage();
    stage.ok(&["export", "bad.reel", "-o", "bad.jsonl"]);
    let report = stage.run(&["validate", "bad.reel", "-f", "json"], "").json();
    let line = report["findings"][0]["line"].as_u64().expect("a line") as usize;
    let text = String::from_utf8(stage.read("bad.jsonl")).expect("text");
    let event: Value = serde_json::from_str(text.lines().nth(line - 1).expect("the line")).expect("JSON");
    assert_eq!((&event["seq"], &event["message"]["params"]["name"]), (&report["findings"][0]["seq"], &json!(7)));
    let span = &report["findings"][0]["span"];
    let place = |end: &str| span[end].as_u64().expect("a place") as usize;
    assert_eq!(&event["message"].to_string()[place("start")..place("end")], r#""name":7"#);
    // SARIF has the columns in the same line.
    let sarif = stage.run(&["validate", "bad.reel", "-f", "sarif"], "").json();
    let region = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
    let column = |name: &str| region[name].as_u64().expect("a column") as usize - 1;
    let shown: Vec<char> = text.lines().nth(line - 1).expect("the line").chars().collect();
    assert_eq!(shown[column("startColumn")..column("endColumn")].iter().collect::<String>(), r#""name":7"#);
    // JSON lines are checked as they are, and give the same findings.
    let of_lines = stage.run(&["validate", "bad.jsonl", "-f", "json"], "").json();
    assert_eq!(of_lines["findings"][0]["line"], report["findings"][0]["line"]);
    assert_eq!(stage.run(&["validate", "-", "-f", "json"], text).json()["counts"], report["counts"]);
}

#[test]
fn reels_folders_and_sessions_are_reported_one_by_one() {
    let stage = stage();
    std::fs::create_dir(stage.path("runs")).expect("a folder");
    let mut two = messages();
    for mut again in messages() {
        again["stream"] = 2.into();
        two.push(again);
    }
    stage.reel("runs/two.reel", &two);
    stage.write("runs/readme.txt", "not a session");
    let report = stage.run(&["validate", "bad.reel", "runs", "-f", "json"], "").json();
    let names: Vec<&str> =
        report["reels"].as_array().expect("reels").iter().filter_map(|one| one["reel"].as_str()).collect();
    assert_eq!(names, ["bad.reel", "runs/two.reel"]);
    assert_eq!((&report["counts"]["error"], &report["connections"].as_array().map(Vec::len)), (&json!(3), &Some(3)));
    let text = stage.run(&["validate", "bad.reel", "runs"], "").out();
    for heading in
        ["\nruns/two.reel #0\n", "\nruns/two.reel #2\n", "3 errors, 0 warnings, 0 infos in 15 messages over 3"]
    {
        assert!(text.contains(heading), "{heading:?}\n{text}");
    }
    let junit = stage.run(&["validate", "runs", "-f", "junit"], "").out();
    assert_eq!(junit.matches("<testsuite ").count(), 2, "{junit}");
}

#[test]
fn a_file_that_cannot_be_read_does_not_hide_the_others() {
    let stage = stage();
    stage.write("broken.jsonl", "{\"reel\":{\"version\":1}}\n{\"seq\":\n");
    let both = stage.run(&["validate", "broken.jsonl", "bad.reel", "missing.reel"], "");
    assert_eq!(both.code(), 3, "{both:?}");
    assert!(both.out().contains("error schema/params"), "{both:?}");
    assert!(both.err().contains("broken.jsonl: ") && both.err().contains("missing.reel: "), "{both:?}");
    std::fs::create_dir(stage.path("empty")).expect("a folder");
    let none = stage.run(&["validate", "empty"], "");
    assert!(none.code() == 3 && none.err().contains("without reels"), "{none:?}");
}

#[test]
fn a_baseline_excuses_what_is_known_and_fails_when_it_is_stale() {
    let stage = stage();
    let refused = stage.run(&["validate", "bad.reel", "--baseline", "known.json"], "");
    assert!(refused.code() == 3 && refused.err().contains("--write-baseline"), "{refused:?}");
    stage.ok(&["validate", "bad.reel", "--baseline", "known.json", "--write-baseline"]);
    let entry = json!({"rule": "schema/params", "method": "tools/call", "path": "/params/name"});
    let written: Value = serde_json::from_slice(&stage.read("known.json")).expect("JSON");
    let mut counted = entry.clone();
    counted["count"] = 1.into();
    assert_eq!(written, json!({"version": 2, "findings": [counted]}));
    let known = stage.ok(&["validate", "bad.reel", "--baseline", "known.json"]).out();
    assert!(known.contains("not counted: 1 in the baseline"), "{known}");

    let mut fixed = messages();
    fixed[3]["message"]["params"]["name"] = "echo".into();
    stage.reel("good.reel", &fixed);
    let stale = stage.run(&["validate", "good.reel", "--baseline", "known.json", "-f", "json"], "");
    assert_eq!((stale.code(), &stale.json()["stale"]), (1, &json!([entry])));
    // A session in which the rule had nothing to check says nothing about the entry.
    stage.reel("short.reel", &[message(0, "c2s", json!({"jsonrpc": "2.0", "id": 0, "result": {}}))]);
    let unseen = stage.run(&["validate", "short.reel", "--baseline", "known.json", "-f", "json"], "").json();
    assert_eq!(unseen["stale"], json!([]));
}

#[test]
fn more_findings_than_the_baseline_counts_fail() {
    let stage = stage();
    stage.ok(&["validate", "bad.reel", "--baseline", "known.json", "--write-baseline"]);
    let mut more = messages();
    more.push(message(5, "c2s", json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": 8}})));
    more.push(message(6, "s2c", json!({"jsonrpc": "2.0", "id": 2, "result": {"content": []}})));
    stage.reel("more.reel", &more);
    let found = stage.run(&["validate", "more.reel", "--baseline", "known.json"], "");
    assert_eq!(found.code(), 1, "{found:?}");
    let said = "2 findings of schema/params in tools/call at /params/name, 1 in the baseline";
    assert!(found.out().contains("exceeded baseline") && found.out().contains(said), "{found:?}");
    // The same holds for two reels with one each, and the JSON says it.
    let both = stage.run(&["validate", "bad.reel", "bad.reel", "--baseline", "known.json", "-f", "json"], "");
    let exceeded = &both.json()["exceeded"][0];
    assert_eq!((both.code(), &exceeded["known"], &exceeded["found"]), (1, &json!(1), &json!(2)));
    // A baseline of an earlier version has no counts.
    let entry = json!({"rule": "schema/params", "method": "tools/call", "path": "/params/name"});
    stage.write("old.json", json!({"version": 1, "findings": [entry]}).to_string());
    stage.ok(&["validate", "more.reel", "--baseline", "old.json"]);
}

#[test]
fn settings_of_the_project_apply_and_options_replace_them() {
    let stage = stage();
    let settings = "[validate]\nfail-on = 'warning'\n[validate.severity]\n'schema/*' = 'info'\n\
        [[validate.suppress]]\nrule = 'schema/params'\nmethod = 'tools/*'\npath = '/params/*'\nreason = 'bug 7'\n";
    stage.write(".mcpreel.toml", settings);
    let excused = stage.ok(&["validate", "bad.reel", "-f", "json"]).json();
    let found = &excused["findings"][0];
    assert_eq!(
        (&found["severity"], &found["standing"], &found["reason"]),
        (&json!("info"), &json!("suppressed"), &json!("bug 7"))
    );
    stage.write(".mcpreel.toml", "[validate]\nskip = ['schema/params']\n");
    assert!(stage.ok(&["validate", "bad.reel"]).out().starts_with("0 errors"));
    assert_eq!(stage.run(&["validate", "bad.reel", "--skip", "stream/crlf"], "").code(), 1);
    assert_eq!(stage.run(&["validate", "bad.reel", "--only", "schema/*", "--skip", "schema/params"], "").code(), 0);
    let unknown = stage.run(&["validate", "bad.reel", "--only", "schema/nothing"], "");
    assert!(unknown.code() == 2 && unknown.err().contains("no rule is named \"schema/nothing\""), "{unknown:?}");
    stage.write(".mcpreel.toml", "[validate]\nskp = []\n");
    let misspelt = stage.run(&["validate", "bad.reel"], "");
    assert!(misspelt.code() == 2 && misspelt.err().contains(".mcpreel.toml:2:1: unknown field `skp`"), "{misspelt:?}");
}

#[test]
fn findings_in_injected_messages_do_not_count_unless_they_are_included() {
    let stage = stage();
    let mut injected = messages();
    injected[3]["injected"] = true.into();
    stage.reel("injected.reel", &injected);
    let run = |what: &str| stage.run(&["validate", "injected.reel", "--injected", what, "-f", "json"], "");
    let listed = |what: &str| run(what).json()["findings"].as_array().map_or(0, Vec::len);
    let codes = ["report", "include", "exclude", "only"].map(|what| run(what).code());
    assert_eq!(codes, [0, 1, 0, 1]);
    assert_eq!(["report", "include", "exclude", "only"].map(listed), [1, 1, 0, 1]);
    assert_eq!(run("report").json()["notCounted"]["injected"], 1);
}

#[test]
fn show_and_a_followed_reel_report_the_same_findings() {
    let stage = stage();
    let checked = stage.run(&["validate", "bad.reel", "-f", "json"], "").json();
    let followed = stage.run(&["validate", "--follow", "bad.reel", "-f", "json"], "");
    assert_eq!((followed.code(), followed.json()), (1, checked["findings"][0].clone()));
    let shown = stage.run(&["show", "bad.reel", "--check", "-f", "json", "id:1", "dir:c2s"], "");
    assert_eq!((shown.code(), &shown.json()["findings"]), (1, &checked["findings"]));
    let text = stage.run(&["show", "bad.reel", "--check"], "");
    let out = text.out();
    let below = out.lines().skip_while(|line| !line.contains("tools/call")).nth(1).map(str::trim);
    assert_eq!(below, Some("error schema/params"), "{text:?}");
    assert!(text.err().contains("1 error, 0 warnings, 0 infos"), "{text:?}");
    assert_eq!(stage.run(&["show", "bad.reel", "--check", "-f", "table"], "").code(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_recording_is_checked_while_it_runs() {
    let stage = stage();
    let program = env!("CARGO_BIN_EXE_mcpreel");
    let mut live = stage.start(&["record", "--check", "-o", "live.reel", "--", program, "serve"]);
    live.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 7}}));
    crate::common::until("the finding", || live.stderr_so_far().contains("error schema/params").then_some(()));
    live.close_stdin();
    let ended = live.end();
    assert_eq!(ended.code(), 0, "the server's exit code stays: {ended:?}");
    let report = stage.run(&["validate", "live.reel", "-f", "json"], "").json();
    let counts = &report["counts"];
    let expected = format!("mcpreel: {} errors, {} warning", counts["error"], counts["warning"]);
    assert!(ended.err().contains(&expected), "{expected}\n{ended:?}");
    let refused = stage.run(&["record", "--check", "-o", "-", "--", program, "serve"], "");
    assert!(refused.code() == 2 && refused.err().contains("--check reads the reel"), "{refused:?}");
}

#[test]
fn explain_tells_what_a_name_means() {
    let stage = Stage::new();
    let call = stage.ok(&["explain", "tools/call"]).out();
    for part in
        ["sent by       the client", "needs         tools of the server", "\nparams\n", "\nexample\n", "server.tools"]
    {
        assert!(call.contains(part), "{part}\n{call}");
    }
    assert_eq!(stage.ok(&["explain", "-32001", "-f", "json"]).json().as_array().map(Vec::len), Some(4));
    let rule = stage.ok(&["explain", "pairing/id-in-use"]).out();
    assert!(rule.contains("MCP base protocol") && rule.contains("validate --only pairing/id-in-use"), "{rule}");
    let all = stage.ok(&["explain", "-f", "json"]).json();
    assert!(all.as_array().is_some_and(|all| all.len() > 250));
    let unknown = stage.run(&["explain", "tools/cal"], "");
    assert!(unknown.code() == 2 && unknown.err().contains("similar: tools/call"), "{unknown:?}");
    assert!(stage.run(&["explain", "events/poll"], "").err().contains("belongs to another protocol"));
}

#[test]
fn explain_prints_a_json_schema_of_a_revision() {
    let stage = Stage::new();
    let schema = |revision: &str| stage.ok(&["explain", "--schema", "tools/call", "--revision", revision]).json();
    let accepts = |schema: &Value, params: Value| jsonschema::draft202012::is_valid(schema, &params);
    let (legacy, modern) = (schema("2025-11-25"), schema("2026-07-28"));
    assert!(accepts(&legacy, json!({"name": "x"})) && !accepts(&legacy, json!({})));
    assert!(!accepts(&modern, json!({"name": "x"})), "2026-07-28 needs _meta");
    let missing = stage.run(&["explain", "--schema", "initialize", "--revision", "2026-07-28"], "");
    assert!(missing.code() == 2 && missing.err().contains("not a method of revision 2026-07-28"), "{missing:?}");
}

/// SARIF's official schema is in the crate serde-sarif (`src/schema.json`), among others.
#[test]
#[ignore = "needs the schema of SARIF 2.1.0: set MCPREEL_SARIF_SCHEMA to its path"]
fn sarif_conforms_to_its_schema() {
    let path = std::env::var("MCPREEL_SARIF_SCHEMA").expect("MCPREEL_SARIF_SCHEMA is set");
    let mut schema: Value = serde_json::from_slice(&std::fs::read(path).expect("readable")).expect("JSON");
    // The pattern has a bracket too many, which only JavaScript accepts. mcpreel writes no language.
    for part in ["run", "toolComponent"] {
        schema["definitions"][part]["properties"]["language"] = json!(false);
    }
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let stage = stage();
    stage.write(".mcpreel.toml", "[[validate.suppress]]\nrule = 'schema/*'\n");
    for words in [&["--only", "schema/*"][..], &["--skip", "*"]] {
        let log = stage.run(&[&["validate", "bad.reel", "-f", "sarif"], words].concat(), "").json();
        let errors: Vec<String> = validator.iter_errors(&log).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

/// The schema is that of Apache Ant's task, <https://github.com/windyroad/JUnit-Schema>.
#[test]
#[ignore = "needs JUnit.xsd and Python's xmlschema: set MCPREEL_JUNIT_XSD to the path of the schema"]
fn junit_conforms_to_its_schema() {
    let schema = std::env::var("MCPREEL_JUNIT_XSD").expect("MCPREEL_JUNIT_XSD is set");
    let stage = stage();
    let report = stage.run(&["validate", "bad.reel", "-f", "junit"], "").stdout;
    let file = stage.write("report.xml", report);
    let code = "import sys, xmlschema; xmlschema.XMLSchema(sys.argv[1]).validate(sys.argv[2])";
    let checked =
        std::process::Command::new("python3").args(["-c", code, &schema]).arg(file).output().expect("python3 runs");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

/// A file with three checks: the second one needs what the first one captures.
const CHECKS: &str = r#"
name: sums
checks:
  - name: first
    call: tools/call
    params: {name: add, arguments: {a: 2, b: 40}}
    expect: .structuredContent.sum == 42
    capture: {sum: .structuredContent.sum}
  - name: second
    call: tools/call
    params: {name: add, arguments: {a: "${sum}", b: 1}}
    expect: [.structuredContent.sum == 43, .isError != true]
  - {name: third, call: tools/none, fails: true}
"#;

fn checked(stage: &Stage, server: &[&str]) -> (i32, Value) {
    let words = ["call", "--file", "checks.yaml", "--format", "json", "--era", "legacy", "--", BINARY];
    let output = stage.run(&[&words, server].concat(), "");
    (output.code(), serde_json::from_str(&output.out()).unwrap_or_else(|error| panic!("{error}: {output:?}")))
}

fn verdicts(report: &Value) -> Vec<&str> {
    report["checks"].as_array().expect("checks").iter().filter_map(|check| check["verdict"].as_str()).collect()
}

#[test]
fn checks_of_a_file_pass_fail_or_are_skipped() {
    let stage = Stage::new();
    stage.write("checks.yaml", CHECKS);
    let (code, report) = checked(&stage, &["serve"]);
    assert_eq!((code, verdicts(&report)), (0, vec!["passed", "passed", "passed"]), "{report}");
    // What is captured is missing, and so the check that needs it is skipped.
    stage.write("checks.yaml", CHECKS.replace("sum: .structuredContent.sum", "sum: .structuredContent.total"));
    let (code, report) = checked(&stage, &["serve"]);
    assert_eq!((code, verdicts(&report)), (1, vec!["failed", "skipped", "passed"]), "{report}");
    assert_eq!(report["checks"][0]["problems"][0], "cannot capture sum: it is not in the result");
    assert_eq!(report["checks"][1]["reason"], "an earlier check did not capture sum");
    // An error where none is expected, and none where one is.
    stage.write(
        "checks.yaml",
        CHECKS.replace("tools/none", "tools/list").replace("name: add, arguments: {a: 2", "name: ad, arguments: {a: 2"),
    );
    let (code, report) = checked(&stage, &["serve"]);
    assert_eq!((code, verdicts(&report)), (1, vec!["failed", "skipped", "failed"]), "{report}");
}

#[test]
fn reports_of_checks_note_or_replace_their_secrets() {
    let stage = Stage::new();
    let call = "tools/call, params: {name: fail, arguments: {message: 'api_key: q9w8e7r6t5y4u3i2'}}";
    stage.write("checks.yaml", format!("checks: [{{name: asks, call: {call}}}]"));
    for format in ["human", "json", "junit", "github", "markdown"] {
        let words = |more: &[&'static str]| {
            [&["call", "--file", "checks.yaml", "-f", format], more, &["--", BINARY, "serve"]].concat()
        };
        let output = stage.run(&words(&[]), "");
        assert!(output.code() == 1 && output.out().contains("q9w8e7r6t5y4u3i2"), "{format}: {output:?}");
        assert!(
            output.err().contains("the report contains 1 possible secret; --redact replaces"),
            "{format}: {output:?}"
        );
        let output = stage.run(&words(&["--redact"]), "");
        assert_eq!(output.code(), 1, "{format}: {output:?}");
        assert!(output.out().contains("asks") && output.out().contains("redacted"), "{format}: {output:?}");
        assert!(
            !output.out().contains("q9w8e7r6t5y4u3i2") && !output.err().contains("possible"),
            "{format}: {output:?}"
        );
    }
    let output = stage.run(&["call", "tools/list", "--redact", "--", BINARY, "serve"], "");
    assert!(output.code() == 2 && output.err().contains("--file"), "{output:?}");
}

#[test]
fn checks_end_with_the_connection_and_the_report_says_so() {
    let stage = Stage::new();
    stage.write("checks.yaml", CHECKS);
    let words = ["call", "--file", "checks.yaml", "--era", "legacy", "--record", "session.reel", "--", BINARY, "serve"];
    stage.ok(&words);
    let (code, report) = checked(&stage, &["mock", "session.reel", "--fault", "tools/call: disconnect"]);
    assert_eq!((code, verdicts(&report)), (4, vec!["failed", "skipped", "skipped"]), "{report}");
    let junit = stage.run(&["call", "--file", "checks.yaml", "-f", "junit", "--", BINARY, "serve"], "");
    assert!(junit.out().contains("tests=\"3\" failures=\"0\" errors=\"0\" skipped=\"0\""), "{junit:?}");
}
