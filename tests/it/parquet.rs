//! `export --format parquet`: files are read back with the parquet crate and compared with what the reel says.

use crate::common::{CREATED, Stage};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) type Row = BTreeMap<String, Value>;

/// The rows of a file. Bytes become arrays of numbers.
pub(crate) fn rows(path: &Path) -> Vec<Row> {
    let reader = open(path);
    let rows = reader.get_row_iter(None).expect("rows");
    rows.map(|row| row.expect("a row").get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect())
        .collect()
}

fn open(path: &Path) -> SerializedFileReader<std::fs::File> {
    let file = std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    SerializedFileReader::new(file).expect("a Parquet file")
}

fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(bool) => (*bool).into(),
        Field::Long(number) | Field::TimestampMicros(number) => (*number).into(),
        Field::Double(number) => (*number).into(),
        Field::Str(text) => text.clone().into(),
        Field::Bytes(bytes) => bytes.data().into(),
        other => panic!("no column has the type of {other:?}"),
    }
}

/// A session in which every column has a value.
fn everything() -> String {
    let header =
        json!({"reel": {"version": 1, "created": CREATED, "tool": "t", "label": "l", "notes": {"host": "n1"}}});
    let opened = json!({"what": "x", "transport": "stdio", "server": "files"});
    let mut cbor = Vec::new();
    ciborium::into_writer(&opened, &mut cbor).expect("CBOR");
    let cbor = {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode(cbor)
    };
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let lines = [
        format!(r#""stream":3,"event":"stream-opened","framing":"whole","base64":"{cbor}""#),
        r#""stream":3,"dir":"c2s","message":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","clientInfo":{"name":"c","version":"1"}}}"#.into(),
        r#""stream":3,"dir":"s2c","message":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26","serverInfo":{"name":"@s/x","version":"2"}}}"#.into(),
        format!(
            r#""stream":3,"dir":"c2s","exchange":4,"injected":true,"message":{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{{"name":"é","arguments":{{"key":"whsec_abcd"}},"_meta":{{"progressToken":"p","traceparent":"{traceparent}"}}}}}}"#
        ),
        r#""stream":3,"dir":"s2c","message":{"method":"notifications/progress","params":{"progressToken":7}}"#.into(),
        r#""stream":3,"dir":"s2c","message":{"jsonrpc":"2.0","id":"a","error":{"code":-7,"message":"no"}}"#.into(),
        r#""stream":3,"dir":"c2s","message":[{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"p"}},{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"u:"}}]"#.into(),
        r#""stream":3,"dir":"s2c","message":{"jsonrpc":"2.0","id":2,"result":{"task":{"taskId":"t1"},"isError":true}}"#.into(),
        r#""stream":3,"dir":"s2c","message":{"jsonrpc":"2.0","method":"notifications/reminder"}"#.into(),
        r#""stream":3,"dir":"s2c","base64":"/wo=""#.into(),
    ];
    let second = CREATED.trim_end_matches('Z');
    let lines = lines.iter().enumerate().map(|(at, line)| format!("{{\"time\":\"{second}.{at:03}000001Z\",{line}}}\n"));
    format!("{header}\n{}", lines.collect::<String>())
}

#[test]
fn parquet_has_a_row_for_each_message_with_typed_columns() {
    let stage = Stage::new();
    stage.import("e.reel", everything());
    stage.ok(&["export", "-f", "parquet", "e.reel", "-o", "e.parquet"]);
    let path = stage.path("e.parquet");
    let rows = rows(&path);
    let column = |name: &str| rows.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    assert_eq!(column("seq"), [1, 2, 3, 4, 5, 6, 6, 7, 8, 9]);
    assert_eq!(column("item"), [0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
    let kinds = ["request", "result", "request", "notification", "error", "request", "request", "result"];
    assert_eq!(column("kind")[..8], kinds.map(Value::from));
    assert_eq!(column("kind")[8..], ["notification", "noise"]);
    let nothing = Value::Null;
    assert_eq!(column("request_seq")[..5], [nothing.clone(), 1.into(), nothing.clone(), nothing.clone(), 3.into()]);
    assert_eq!(
        (&rows[7]["request_seq"], &rows[7]["is_error"], &rows[7]["resource"]),
        (&6.into(), &true.into(), &"u:".into())
    );
    assert_eq!((&rows[4]["tool"], &rows[4]["call_digest"]), (&"é".into(), &rows[2]["call_digest"]));
    assert_ne!(rows[2]["call_digest"], nothing);
    assert_eq!(
        (&rows[3]["progress_token"], &rows[5]["prompt"], &rows[7]["task"]),
        (&"7".into(), &"p".into(), &"t1".into())
    );
    assert_eq!((&rows[8]["proposal"], &rows[7]["task"]), (&"reminder".into(), &"t1".into()));
    // What is not UTF-8 is in a column of its own.
    assert_eq!((&rows[9]["payload"], &rows[9]["payload_bytes"]), (&nothing, &json!([255, 10])));
    let id = rows[0]["recording"].as_str().expect("text").to_owned();
    assert_eq!(id.len(), 32);
    let payload = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"é","arguments":{"key":"whsec_****"},"_meta":{"progressToken":"p","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}}"#;
    let time = 1_767_323_045_003_000_001i64;
    let mut expected = json!({
        "recording": id, "host": "n1", "label": "l", "stream": 3, "session": format!("{id}-3"), "seq": 3, "item": 0,
        "time": time / 1000, "time_ns": time, "direction": "c2s", "kind": "request", "method": "tools/call",
        "proposal": null, "id": "\"a\"", "request_seq": null, "outcome": null, "latency_ms": null, "is_error": null, "error_code": null,
        "error_message": null, "tool": "é", "prompt": null, "resource": null, "call_digest": rows[2]["call_digest"],
    });
    let others = json!({
        "progress_token": "\"p\"", "task": null, "trace_id": "0af7651916cd43dd8448eb211c80319c",
        "parent_span_id": "b7ad6b7169203331", "bytes": payload.len(), "exchange": 4, "injected": true, "redacted": false,
        "truncated": false, "transport": "stdio", "client_name": "c", "client_version": "1", "server_key": "files",
        "server_name": "@s/x", "server_version": "2", "protocol_version": "2025-03-26", "notes": "{\"host\":\"n1\"}",
        "payload": payload, "payload_bytes": null,
    });
    let (expected_members, others) = (expected.as_object_mut().expect("an object"), others);
    expected_members.extend(others.as_object().expect("an object").clone());
    assert_eq!(json!(rows[2]), expected);
    let error = json!([rows[4]["is_error"], rows[4]["error_code"], rows[4]["error_message"], rows[4]["latency_ms"]]);
    assert_eq!(error, json!([true, -7, "no", 2.0]));
    let reader = open(&path);
    let metadata = reader.metadata().file_metadata().key_value_metadata().expect("metadata");
    let about = |key: &str| metadata.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.as_deref());
    assert_eq!((about("mcpreel.columns"), about("mcpreel.recording")), (Some("1"), Some(&*id)));
}

/// The files of others and the examples, without what has no messages.
fn recordings() -> Vec<String> {
    let root = env!("CARGO_MANIFEST_DIR");
    let names = ["session.har", "vscode.log", "mcp-vcr.yaml", "transcript.ndjson", "inspector.json"];
    let imports = names.map(|name| format!("{root}/tests/it/imports/{name}"));
    let examples = ["session.jsonl", "testing/session.jsonl"].map(|name| format!("{root}/examples/{name}"));
    imports.into_iter().chain(examples).collect()
}

#[test]
fn parquet_has_the_cells_of_csv_and_every_payload() {
    for recording in recordings() {
        let stage = Stage::new();
        stage.ok(&["export", "-f", "parquet", &recording, "-o", "r.parquet"]);
        let csv = stage.ok(&["export", "-f", "csv", &recording]).out();
        let mut csv = csv::Reader::from_reader(csv.as_bytes());
        let headings = csv.headers().expect("headings").clone();
        let rows = rows(&stage.path("r.parquet"));
        assert!(rows.len() > 6, "{recording}");
        let mut count = 0;
        for (row, record) in rows.iter().zip(csv.records()) {
            let record = record.expect("a record");
            let cells: BTreeMap<&str, &str> = headings.iter().zip(record.iter()).collect();
            let text = |name: &str| match &row[name] {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let pairs = [
                ("seq", "seq"),
                ("stream", "stream"),
                ("dir", "direction"),
                ("kind", "kind"),
                ("method", "method"),
                ("id", "id"),
                ("bytes", "bytes"),
                ("message", "payload"),
            ];
            for (cell, column) in pairs {
                assert_eq!(cells[cell], text(column), "{recording}: {column} in {row:?}");
            }
            let number = |text: &str| text.parse::<f64>().unwrap_or(0.0);
            assert!((number(cells["latency_ms"]) - number(&text("latency_ms"))).abs() < 0.001, "{recording}: {row:?}");
            assert_eq!(number(cells["exchange"]), number(&text("exchange")), "{recording}");
            let time: jiff::Timestamp = cells["time"].parse().expect("a time");
            assert_eq!(i128::from(row["time_ns"].as_i64().expect("a number")), time.as_nanosecond(), "{recording}");
            count += 1;
        }
        assert_eq!(rows.len(), count, "{recording}");
        assert_eq!(csv.records().count(), 0, "{recording}");
    }
}

/// The paths of the files in a dataset.
fn files(stage: &Stage, folder: &str) -> Vec<String> {
    let listed = stage.command(&["find", folder, "-type", "f"]).output().expect("find runs").stdout;
    let mut files: Vec<String> = String::from_utf8(listed).expect("text").lines().map(str::to_owned).collect();
    files.sort();
    files
}

#[test]
fn parquet_of_many_reels_is_divided_by_day_and_server_and_stays_the_same() {
    let stage = Stage::new();
    std::fs::create_dir(stage.path("in")).expect("a folder");
    stage.import("in/a.reel", everything());
    // The next day in the same session, and another recording.
    let two_days = everything().replace("2026-01-02T03:04:05.008000001Z", "2026-01-03T00:00:00Z");
    let of_two_days = two_days.replace("\"created\":\"2026-01-02T03:04:05Z\"", "\"created\":\"2026-01-02T03:04:04Z\"");
    stage.import("in/b.reel", of_two_days);
    std::fs::copy(stage.path("in/a.reel"), stage.path("in/copy.reel")).expect("a copy");
    stage.write("in/broken.reel", "no reel");
    let export = ["export", "-f", "parquet", "--host", "n2", "in", "-o", "data"];
    let output = stage.run(&export, "");
    assert_eq!(output.code(), 1, "{output:?}");
    std::fs::remove_file(stage.path("in/broken.reel")).expect("removed");
    let said = output.err();
    assert!(said.contains("left out: in/copy.reel is another copy of the recording in day="), "{said}");
    assert!(said.contains("broken.reel") && said.contains("of 2 reels in data: 3 files\n"), "{said}");
    let found = files(&stage, "data");
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.iter().all(|path| path.contains("/server=_s_x/") && path.ends_with("-0.parquet")), "{found:?}");
    let on = |day: &str| found.iter().filter(|path| path.starts_with(&format!("data/day={day}/"))).count();
    assert_eq!((on("2026-01-02"), on("2026-01-03")), (2, 1));
    let all: Vec<Row> = found.iter().flat_map(|path| rows(&stage.path(path))).collect();
    assert_eq!(all.len(), 20);
    assert!(all.iter().all(|row| row["host"] == "n2" && row["server_name"] == "@s/x"));
    // A second export changes no file, not even its time.
    let times = |files: &[String]| -> Vec<_> {
        let time =
            |path: &String| std::fs::metadata(stage.path(path)).and_then(|about| about.modified()).expect("a time");
        files.iter().map(time).collect()
    };
    let before = times(&found);
    assert!(stage.ok(&export).err().contains("3 files, 3 unchanged"));
    assert_eq!((files(&stage, "data"), times(&found)), (found.clone(), before));
    // A filter writes fewer rows, which know the session all the same, and the recording is the same.
    stage.ok(&["export", "-f", "parquet", "in/a.reel", "error", "-o", "few/"]);
    let few = files(&stage, "few");
    let rows = rows(&stage.path(&few[0]));
    assert!(found.contains(&few[0].replacen("few", "data", 1)), "{few:?}");
    assert_eq!((rows.len(), &rows[0]["server_name"], &rows[0]["tool"]), (3, &"@s/x".into(), &"é".into()));
}

#[test]
fn parquet_is_redacted_the_same_way_with_the_same_key() {
    let stage = Stage::new();
    stage.import("e.reel", everything().replace("whsec_abcd", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"));
    stage.write("key", "0123456789abcdef");
    for folder in ["one/", "two/"] {
        stage.ok(&["export", "-f", "parquet", "--redact", "--key-file", "key", "e.reel", "-o", folder]);
    }
    let (one, two) = (files(&stage, "one"), files(&stage, "two"));
    assert_eq!(stage.read(&one[0]), stage.read(&two[0]));
    let rows = rows(&stage.path(&one[0]));
    assert!(rows.iter().all(|row| !row["payload"].to_string().contains("ghp_abc")), "{rows:?}");
    assert_eq!(rows[2]["redacted"], true);
    let output = stage.ok(&["export", "-f", "parquet", "e.reel", "-o", "three/"]);
    assert!(output.err().contains("--redact replaces secrets"), "{output:?}");
    assert_eq!(one[0].replacen("one", "three", 1), files(&stage, "three")[0], "the identity stays");
}

#[test]
fn parquet_says_what_is_wrong_with_its_arguments() {
    let stage = Stage::new();
    stage.import("a.reel", everything());
    let error = stage.run(&["export", "-f", "parquet", "a.reel", "a.reel"], "");
    assert!(error.code() == 2 && error.err().contains("several reels become a folder"), "{error:?}");
    let error = stage.run(&["export", "--host", "x", "a.reel"], "");
    assert!(error.code() == 2 && error.err().contains("--host is only for --format parquet"), "{error:?}");
}

#[test]
fn a_missing_key_is_an_error_and_a_file_that_cannot_be_read_is_named_and_counts() {
    let stage = Stage::new();
    std::fs::create_dir(stage.path("in")).expect("a folder");
    stage.import("in/a.reel", everything());
    let export = |words: &[&str]| stage.run(&[&["export", "-f", "parquet", "in", "-o", "out/"], words].concat(), "");
    let output = export(&["--redact", "--key-file", "nokey"]);
    assert_eq!(output.code(), 3, "{output:?}");
    assert!(output.err().contains("cannot read nokey") && !output.err().contains("left out"), "{output:?}");
    stage.write("in/b.reel", "no reel");
    let output = export(&[]);
    assert_eq!(output.code(), 1, "{output:?}");
    assert_eq!(output.err().matches("left out: ").count(), 1, "{output:?}");
    assert!(output.err().contains("left out: in/b.reel") && output.err().contains("of 1 reel in out/"), "{output:?}");
}
