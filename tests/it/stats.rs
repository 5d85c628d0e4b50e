//! `stats`: rows by tool, proposal, session, direction and error, several reels, and all forms of output.

use crate::common::{Stage, message};
use serde_json::{Value, json};

/// Two calls of a tool, one of which fails, a refused request, a late answer, and notifications.
fn reel(stage: &Stage, name: &str, echo_ms: u64) {
    let request =
        |id: u64, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let result = |id: u64, result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    let call = |id: u64, tool: &str| request(id, "tools/call", json!({"name": tool, "arguments": {}}));
    let progress = || json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1}});
    let user = json!({"messageId": "m", "content": "hello"});
    stage.reel(
        name,
        &[
            message(0, "c2s", call(1, "echo")),
            message(echo_ms, "s2c", result(1, json!({"content": [{"type": "text", "text": "12345678"}]}))),
            message(100, "c2s", call(2, "=add")),
            message(104, "s2c", result(2, json!({"content": [], "isError": true}))),
            message(200, "s2c", progress()),
            message(300, "s2c", progress()),
            message(400, "c2s", request(3, "tools/list", json!({}))),
            message(401, "s2c", json!({"jsonrpc": "2.0", "id": 3, "error": {"code": -32603, "message": "no"}})),
            message(500, "c2s", request(4, "conversation/userMessage", user)),
            message(1001, "s2c", result(4, json!({"context": "we met"}))),
            message(2000, "s2c", request(5, "ping", json!({}))),
        ],
    );
}

fn counts(stage: &Stage, arguments: &[&str]) -> Value {
    stage.ok(&[&["stats", "a.reel", "-f", "json"], arguments].concat()).json()
}

#[test]
fn rows_are_about_what_by_names() {
    let stage = Stage::new();
    reel(&stage, "a.reel", 8);
    let all = counts(&stage, &["--by", "tool,proposal,session,direction,error"]);
    let row = |group: &str, name: &str| {
        let row = &all[group][name];
        ["calls", "answers", "errors", "tool_errors", "unanswered", "late"]
            .map(|member| row[member].as_u64().expect("a count"))
    };
    assert_eq!(row("tools", "echo"), [1, 1, 0, 0, 0, 0]);
    assert_eq!(row("tools", "=add"), [1, 1, 0, 1, 0, 0]);
    assert_eq!(row("proposals", "conversation"), [1, 1, 0, 0, 0, 1], "501 ms are more than 500");
    assert_eq!(row("proposals", "MCP"), [6, 3, 1, 1, 1, 0]);
    assert_eq!(row("directions", "c2s"), [4, 4, 1, 1, 0, 1]);
    assert_eq!(row("directions", "s2c"), [3, 0, 0, 0, 1, 0]);
    assert_eq!(all["sessions"].as_object().map(|rows| rows.len()), Some(1));
    // Two notifications in two seconds.
    assert_eq!(all["directions"]["s2c"]["notifications_per_second"], 1.0);
    assert_eq!((&all["late_answers"], &all["unanswered"]), (&json!(1), &json!(1)));
    let errors = json!([{"code": null, "method": "tools/call", "count": 1}, {"code": -32603, "method": "tools/list", "count": 1}]);
    assert_eq!(all["errors"], errors);
    let call = &all["methods"]["tools/call"]["latency_ms"];
    assert_eq!(*call, json!({"median": 6.0, "mean": 6.0, "p90": 8.0, "p95": 8.0, "p99": 8.0, "max": 8.0}));
    assert_eq!(
        all["activity"]["messages"].as_array().map(|steps| steps.iter().filter_map(Value::as_u64).sum()),
        Some(11)
    );
    assert_eq!(counts(&stage, &[]).get("tools"), None, "only what is asked for");
}

#[test]
fn messages_of_a_batch_are_counted_and_paired() {
    let stage = Stage::new();
    let request =
        |id: u64, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let calls = json!([
        request(1, "tools/call", json!({"name": "echo"})),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request(2, "tools/list", json!({})),
        request(3, "prompts/list", json!({})),
    ]);
    let error = json!({"jsonrpc": "2.0", "id": 2, "error": {"code": -32603, "message": "no"}});
    stage.reel(
        "a.reel",
        &[
            message(0, "c2s", calls),
            message(1, "c2s", request(4, "tools/list", json!({}))),
            message(8, "s2c", json!([{"jsonrpc": "2.0", "id": 4, "result": {}}, error])),
            message(9, "s2c", json!({"jsonrpc": "2.0", "id": 1, "result": {"isError": true}})),
        ],
    );
    for arguments in [&["--by", "tool,error"][..], &[]] {
        let all = counts(&stage, arguments);
        let row = |row: &Value| ["calls", "answers", "errors", "unanswered"].map(|member| row[member].as_u64());
        assert_eq!(row(&all["methods"]["tools/list"]), [2, 2, 1, 0].map(Some), "{all}");
        assert_eq!(row(&all["methods"]["tools/call"]), [1, 1, 0, 0].map(Some));
        assert_eq!(row(&all["methods"]["prompts/list"]), [1, 0, 0, 1].map(Some));
        assert_eq!(row(&all["methods"]["notifications/initialized"]), [1, 0, 0, 0].map(Some));
        let totals = ["messages", "unanswered", "orphan_answers", "failures"].map(|member| all[member].as_u64());
        assert_eq!(totals, [4, 1, 0, 2].map(Some), "{all}");
        if !arguments.is_empty() {
            assert_eq!(row(&all["tools"]["echo"]), [1, 1, 0, 0].map(Some));
            assert_eq!(all["errors"][1], json!({"code": -32603, "method": "tools/list", "count": 1}), "{all}");
        }
    }
    let listed = stage.ok(&["reel", "list", "--folder", ".", "--format", "json"]).json();
    assert_eq!((&listed["messages"], &listed["errors"]), (&json!(4), &json!(2)), "{listed}");
    let of_responses = |filter: &str| stage.ok(&["show", "a.reel", filter, "dir:s2c"]).out().lines().count();
    assert_eq!(["method:tools/list", "method:prompts/list", "tool:echo"].map(of_responses), [1, 0, 1]);
}

/// A server that cannot read a request does not know its id.
#[test]
fn errors_of_no_known_request_are_listed_too() {
    let stage = Stage::new();
    let error = |id: Value, code: i64| json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no"}});
    let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "x"});
    let errors = [error(Value::Null, -32700), error(json!(1), -32601), error(json!(9), -32603)];
    let answers = errors.into_iter().enumerate().map(|(at, error)| message(at as u64 + 1, "s2c", error));
    stage.reel("a.reel", &[vec![message(0, "c2s", asked)], answers.collect()].concat());
    let found = counts(&stage, &["--by", "error"])["errors"].clone();
    let row = |code: i64, method: &str| json!({"code": code, "method": method, "count": 1});
    let expected = [row(-32700, "(no request)"), row(-32603, "(no request)"), row(-32601, "x")];
    assert_eq!(found, json!(expected));
}

#[test]
fn several_reels_and_folders_are_counted_together() {
    let stage = Stage::new();
    std::fs::create_dir(stage.path("all")).expect("a folder");
    reel(&stage, "all/a.reel", 8);
    reel(&stage, "all/b.reel", 20);
    reel(&stage, "a.reel", 8);
    std::fs::write(stage.path("all/other.jsonl"), "{\"foreign\": 1}\n").expect("written");
    let sessions = stage.ok(&["stats", "all", "--by", "session", "-f", "json"]).json()["sessions"].clone();
    let sessions: Vec<_> = sessions.as_object().expect("rows").keys().cloned().collect();
    assert_eq!(sessions, ["all/a.reel 0", "all/b.reel 0"], "two sessions, though both have the number 0");
    let run = stage.ok(&["stats", "all", "a.reel", "-f", "json", "tool:echo"]);
    let sum = run.json();
    assert!(run.err().contains("left out: ") && run.err().contains("other.jsonl"), "{}", run.err());
    assert_eq!((&sum["messages"], &sum["methods"]["tools/call"]["calls"]), (&json!(6), &json!(3)));
    assert_eq!(sum["methods"]["tools/call"]["latency_ms"]["median"], 8.0);
    let reels: Vec<&String> = sum["reels"].as_object().expect("reels").keys().collect();
    assert_eq!(reels.len(), 3, "{sum}");
    let text = stage.ok(&["stats", "all/a.reel", "all/b.reel"]).out();
    assert!(text.starts_with("2 reels\n\n22 messages, ") && text.contains("all/b.reel"), "{text}");
    assert!(!text.contains("seq"), "numbers of events mean nothing here: {text}");
    let missing = stage.run(&["stats", "a.reel", "missing.reel"], "");
    assert!(missing.code() == 3 && missing.err().contains("missing.reel"), "{missing:?}");
    assert_eq!(stage.run(&["stats", "a.reel", "tool:echo", "a.reel"], "").code(), 2);
}

#[test]
fn two_reels_stand_side_by_side() {
    let stage = Stage::new();
    reel(&stage, "a.reel", 8);
    reel(&stage, "b.reel", 16);
    let text = stage.ok(&["stats", "--compare", "a.reel", "b.reel", "--by", "tool"]).out();
    let echo = text.lines().find(|line| line.trim_start().starts_with("echo")).expect("a row");
    assert!(echo.contains("8.0 ms") && echo.contains("16.0 ms") && echo.contains("+100 %"), "{text}");
    let both = stage.ok(&["stats", "--compare", "a.reel", "b.reel", "-f", "json"]).json();
    assert_eq!(both["changes"]["methods"]["tools/call"]["median_ms"], json!([6.0, 10.0]));
    assert_eq!((&both["before"]["reel"], &both["after"]["messages"]), (&json!("a.reel"), &json!(11)));
    let one = stage.run(&["stats", "--compare", "a.reel"], "");
    assert!(one.code() == 2 && one.err().contains("--compare needs two reels or folders, not 1"), "{one:?}");
}

#[test]
fn csv_has_exact_numbers_and_markdown_a_table() {
    let stage = Stage::new();
    reel(&stage, "a.reel", 8);
    let csv = stage.ok(&["stats", "a.reel", "--by", "tool,error", "-f", "csv"]).out();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        lines[0],
        "reel,group,name,calls,notifications,responses,errors,tool_errors,unanswered,late,bytes,\
         notifications_per_second,median_ms,mean_ms,p90_ms,p95_ms,p99_ms,max_ms"
    );
    assert!(lines[1].starts_with("a.reel,tool,'=add,1,0,1,0,1,0,0,") && lines[1].ends_with(",4,4,4,4,4,4"), "{csv}");
    assert_eq!(lines[4], "a.reel,error,'-32603 tools/list,,,,1,,,,,,,,,,,", "{csv}");
    let markdown = stage.ok(&["stats", "a.reel", "-f", "markdown"]).out();
    assert!(markdown.starts_with("| method | calls | responses |") && markdown.contains("\n|---|---:|"), "{markdown}");
}

#[test]
fn a_histogram_shows_each_latency() {
    let stage = Stage::new();
    reel(&stage, "a.reel", 8);
    let text = stage.ok(&["stats", "a.reel", "--histogram"]).out();
    assert!(
        text.contains("\nmessages over time: at most ") && text.contains("\nlatencies of 4 responses:\n"),
        "{text}"
    );
    let bar = |bounds: &str| {
        text.lines().find(|line| line.contains(bounds)).map(|line| line.contains("1  █")).unwrap_or(false)
    };
    for bounds in ["1.0 ms to 2.0 ms", "2.0 ms to 5.0 ms", "5.0 ms to 10.0 ms", "500.0 ms to 1.00 s"] {
        assert!(bar(bounds), "{bounds}\n{text}");
    }
}

#[test]
fn context_is_counted_by_server_and_turn() {
    let stage = Stage::new();
    reel(&stage, "a.reel", 8);
    let context = stage.ok(&["stats", "a.reel", "--context", "-f", "json"]).json();
    let row = |source: &str| {
        let rows = context["context"].as_array().expect("rows");
        rows.iter().find(|row| row["source"] == source).map(|row| (row["bytes"].clone(), row["turns"].clone()))
    };
    assert_eq!(row("tool result"), Some((json!(8), json!(1))), "{context}");
    assert_eq!(row("conversation context"), Some((json!(6), json!(1))), "{context}");
    assert_eq!(stage.run(&["stats", "a.reel", "--context", "error"], "").code(), 2);
    assert_eq!(stage.run(&["stats", "a.reel", "--context", "--by", "tool"], "").code(), 2);
}

#[test]
fn an_export_for_opentelemetry_decodes_with_its_definitions() {
    use opentelemetry_proto::tonic::metrics::v1::MetricsData;
    use opentelemetry_proto::tonic::trace::v1::TracesData;
    use prost::Message;
    let stage = Stage::new();
    reel(&stage, "a.reel", 8);
    let lines = stage.ok(&["export", "a.reel", "-f", "otlp"]).out();
    let (spans, metrics) = lines.split_once('\n').expect("two lines");
    let spans: TracesData = serde_json::from_str(spans).expect("spans");
    serde_json::from_str::<MetricsData>(metrics).expect("metrics");
    assert_eq!(spans.resource_spans[0].scope_spans[0].spans.len(), 7, "five requests and two notifications");
    stage.ok(&["export", "a.reel", "-f", "otlp-proto", "-o", "a.pb"]);
    let bytes = std::fs::read(stage.path("a.pb")).expect("written");
    assert_eq!(TracesData::decode(&bytes[4..]).expect("protobuf"), spans);
}

#[test]
fn only_import_lists_the_formats_that_it_reads() {
    let stage = Stage::new();
    std::fs::write(stage.path("odd.jsonl"), "{\"foreign\": 1}\n").expect("written");
    let stats = stage.run(&["stats", "odd.jsonl"], "");
    assert!(stats.code() == 3 && stats.err().lines().count() == 2, "{}", stats.err());
    assert!(
        stats.err().contains("odd.jsonl: unknown format\n  hint: `mcpreel import --help` lists the formats"),
        "{stats:?}"
    );
    let import = stage.run(&["import", "odd.jsonl", "-o", "odd.reel"], "");
    assert!(import.code() == 3 && import.err().contains("hint: har: "), "{import:?}");
}
