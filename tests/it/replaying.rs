//! `replay` against hand-written servers: the values that follow the live server, several sessions, pace and parts, eras,
//! side effects, and reports.

use crate::common::{Output, Stage, message};
use serde_json::{Value, json};

/// A server that returns a fresh id at the places `@@` of its results, and knows only that id. Its argument is a JSON
/// object: `open`, the method that returns the result `gives`, and `place`, the steps to the id in later params.
const GENERATOR: &str = r#"
import json, sys, uuid
plan = json.loads(sys.argv[1])
fresh = plan["fresh"] or uuid.uuid4().hex
def at(value, steps):
    for step in steps:
        value = value.get(step) if isinstance(value, dict) else None
    return value
for line in sys.stdin:
    m = json.loads(line)
    given = at(m.get("params") or {}, plan["place"])
    answer = {"jsonrpc": "2.0", "id": m["id"]}
    if given is None:
        answer.update(json.loads(json.dumps(plan["gives"]).replace("@@", fresh)))
    elif fresh in given:
        answer["result"] = {"known": True}
    else:
        answer["error"] = {"code": -32602, "message": "unknown: " + given}
    print(json.dumps(answer), flush=True)
"#;

pub(crate) fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(crate) fn result(id: u64, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// A reel of these messages, one every 10 ms: what the client sent begins with `>`.
pub(crate) fn reel(stage: &Stage, name: &str, messages: &[(char, Value)]) {
    let events = messages.iter().zip(1..).map(|((from, content), number)| {
        message(number * 10, if *from == '>' { "c2s" } else { "s2c" }, content.clone())
    });
    let _ = std::fs::remove_file(stage.path(name));
    stage.reel(name, &events.collect::<Vec<_>>());
}

/// Writes a server in Python, and returns the words that start it.
pub(crate) fn server(stage: &Stage, text: &str) -> [&'static str; 3] {
    stage.write("server.py", text);
    ["--", "python3", "server.py"]
}

pub(crate) fn replay(stage: &Stage, options: &[&str], server: &[&str]) -> Output {
    stage.run(&[&["replay", "t.reel"][..], options, server].concat(), "")
}

/// One kind of value that a server generates.
struct Kind {
    name: &'static str,
    recorded: &'static str,
    /// What the live server generates; random if it is empty.
    live: &'static str,
    opens: (&'static str, Value),
    gives: Value,
    uses: (&'static str, Value),
    place: &'static [&'static str],
}

fn kinds() -> Vec<Kind> {
    const LONG: &str = "5f3a9c1d22e84b0f";
    let call = |arguments: Value| ("tools/call", json!({"name": "t", "arguments": arguments}));
    let text = |text: &str| json!({"result": {"content": [{"type": "text", "text": text}]}});
    let link = json!({"result": {"content": [{"type": "resource_link", "name": "n", "uri": "note://@@/1"}]}});
    let elicitation = json!([{"mode": "url", "elicitationId": "@@", "url": "https://x.example/", "message": "m"}]);
    let elicited = json!({"error": {"code": -32042, "message": "open it", "data": {"elicitations": elicitation}}});
    let task = json!({"name": "t", "arguments": {}, "task": {"ttl": 1}});
    vec![
        Kind {
            name: "a cursor, however short",
            recorded: "2",
            live: "p7",
            opens: ("tools/list", json!({})),
            gives: json!({"result": {"tools": [], "nextCursor": "@@"}}),
            uses: ("tools/list", json!({"cursor": "@@"})),
            place: &["cursor"],
        },
        Kind {
            name: "a session that a tool opens",
            recorded: LONG,
            live: "",
            opens: call(json!({})),
            gives: text("opened session @@."),
            uses: call(json!({"session": "@@"})),
            place: &["arguments", "session"],
        },
        Kind {
            name: "a task",
            recorded: "task-1",
            live: "task-9",
            opens: ("tools/call", task),
            gives: json!({"result": {"task": {"taskId": "@@", "status": "working", "ttl": 1}}}),
            uses: ("tasks/get", json!({"taskId": "@@"})),
            place: &["taskId"],
        },
        Kind {
            name: "a subscription",
            recorded: "sub-a",
            live: "sub-b",
            opens: ("events/subscribe", json!({})),
            gives: json!({"result": {"subscriptionId": "@@"}}),
            uses: ("events/unsubscribe", json!({"subscriptionId": "@@"})),
            place: &["subscriptionId"],
        },
        Kind {
            name: "a checkpoint",
            recorded: "chk_1",
            live: "chk_8",
            opens: call(json!({})),
            gives: json!({"result": {"content": [], "state": {"checkpoint": "@@", "parent": null}}}),
            uses: ("state/rollback", json!({"featureSet": "f", "checkpoint": "@@"})),
            place: &["checkpoint"],
        },
        Kind {
            name: "an elicitation",
            recorded: "e1",
            live: "e2",
            opens: call(json!({})),
            gives: elicited,
            uses: call(json!({"elicitationId": "@@"})),
            place: &["arguments", "elicitationId"],
        },
        Kind {
            name: "a resource, inside its URI",
            recorded: LONG,
            live: "",
            opens: call(json!({})),
            gives: link,
            uses: ("resources/read", json!({"uri": "note://@@/1"})),
            place: &["uri"],
        },
        Kind {
            name: "a sealed request state",
            recorded: "eyJhbGciOiJkaXIifQ..c2VhbGVk",
            live: "",
            opens: call(json!({})),
            gives: json!({"result": {"resultType": "input_required", "requestState": "@@"}}),
            uses: ("tools/call", json!({"name": "t", "arguments": {}, "requestState": "@@"})),
            place: &["requestState"],
        },
    ]
}

#[test]
fn each_kind_of_generated_value_follows_the_live_server() {
    for kind in kinds() {
        let stage = Stage::new();
        let recorded = |value: &Value| -> Value {
            serde_json::from_str(&value.to_string().replace("@@", kind.recorded)).expect("JSON")
        };
        let mut gave = recorded(&kind.gives);
        gave["jsonrpc"] = "2.0".into();
        gave["id"] = 1.into();
        let messages = [
            ('>', request(1, kind.opens.0, kind.opens.1.clone())),
            ('<', gave),
            ('>', request(2, kind.uses.0, recorded(&kind.uses.1))),
            ('<', result(2, json!({"known": true}))),
        ];
        reel(&stage, "t.reel", &messages);
        let plan = json!({"place": kind.place, "gives": kind.gives, "fresh": kind.live}).to_string();
        let command = [&server(&stage, GENERATOR)[..], &[plan.as_str()]].concat();
        // Short ids that the protocol does not create are compared by value.
        let options =
            ["--format", "json", "--ignore", "/result/**/subscriptionId", "--ignore", "/result/**/checkpoint"];
        let options = [&options[..], &["--ignore", "/error/data/**/elicitationId"]].concat();
        let output = replay(&stage, &options, &command);
        assert_eq!(output.code(), 0, "{}: {output:?}", kind.name);
        let report = output.json();
        assert_eq!((&report["answered"], &report["notes"]), (&json!(2), &json!([])), "{}: {report}", kind.name);
        for option in ["--exact", "--ids"] {
            let compared = replay(&stage, &[option, "--no-record"], &command);
            assert_eq!(compared.code(), 1, "{} {option}: {compared:?}", kind.name);
        }
        let plan = stage.ok(&["replay", "t.reel", "--dry-run"]).out();
        assert!(plan.contains("as the live server returns it"), "{}: {plan}", kind.name);
    }
}

#[test]
fn an_ordinary_value_is_sent_as_recorded_and_a_contradiction_is_reported() {
    let stage = Stage::new();
    let text = |id, text: &str| ('<', result(id, json!({"content": [{"type": "text", "text": text}]})));
    let call = |id, value: &str| ('>', request(id, "tools/call", json!({"name": "t", "arguments": {"v": value}})));
    reel(&stage, "t.reel", &[call(1, "a"), text(1, "ok"), call(2, "ok"), text(2, "ok")]);
    let echo = "import json, sys\nfor n, line in enumerate(sys.stdin):\n m = json.loads(line)\n \
                t = m['params']['arguments']['v'] if n % 2 else sys.argv[1]\n \
                print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': {'content': [{'type': 'text', 'text': t}]}}), flush=True)\n";
    let command = [&server(&stage, echo)[..], &["fine"]].concat();
    let report = replay(&stage, &["--format", "json"], &command).json();
    assert_eq!(
        report["diff"]["changed"], 1,
        "only the first answer differs, because ok was sent as recorded: {report}"
    );

    let id = "5f3a9c1d22";
    reel(&stage, "t.reel", &[call(1, "a"), text(1, id), call(2, "b"), text(2, id), call(3, id), text(3, "done")]);
    let output = replay(&stage, &[], &[&server(&stage, GENERATOR_OF_EACH)[..]].concat());
    assert!(output.err().contains("ambiguous value 5f3a9c1d22 at /arguments/v of seq 4"), "{output:?}");
    assert!(output.err().contains("the latest was sent: "), "{output:?}");
}

/// A server that gives a new id in each answer.
const GENERATOR_OF_EACH: &str = r#"
import json, sys, uuid
for line in sys.stdin:
    m = json.loads(line)
    content = [{"type": "text", "text": uuid.uuid4().hex[:10]}]
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": {"content": content}}), flush=True)
"#;

/// A server that says in each answer how many requests its connection has had, and how many came at the same time.
const COUNTER: &str = r#"
import json, os, select, sys
had, buffered = 0, b""
while True:
    data = os.read(0, 65536)
    if not data:
        break
    buffered += data
    while select.select([0], [], [], 0.4)[0]:
        data = os.read(0, 65536)
        if not data:
            break
        buffered += data
    *lines, buffered = buffered.split(b"\n")
    requests = [m for m in map(json.loads, lines) if "id" in m]
    for m in requests:
        had += 1
        result = {"had": had, "together": len(requests)}
        os.write(1, (json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": result}) + "\n").encode())
"#;

fn counted(id: u64, had: u64, together: u64) -> (char, Value) {
    ('<', result(id, json!({"had": had, "together": together})))
}

fn asked(id: u64) -> (char, Value) {
    ('>', request(id, "x/count", json!({"of": id})))
}

pub(crate) fn lines(output: &Output) -> Vec<Value> {
    output.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn each_session_of_a_reel_has_its_own_connection() {
    let stage = Stage::new();
    let on = |stream: u64, at: u64, (from, content): (char, Value)| {
        let mut event = message(at, if from == '>' { "c2s" } else { "s2c" }, content);
        event["stream"] = stream.into();
        event
    };
    let events = [
        on(1, 0, asked(1)),
        on(2, 10, asked(1)),
        on(1, 20, counted(1, 1, 1)),
        on(2, 30, counted(1, 1, 1)),
        on(2, 40, asked(2)),
        on(2, 50, counted(2, 2, 1)),
    ];
    stage.reel("t.reel", &events);
    let command = server(&stage, COUNTER);
    let sent = |options: &[&str]| {
        let output = replay(&stage, &[options, &["--format", "json"]].concat(), &command);
        assert_eq!(output.code(), 0, "{options:?}: {output:?}");
        let told: Vec<_> = lines(&output).iter().map(|one| (one["stream"].clone(), one["sent"].clone())).collect();
        told
    };
    let both = [(json!(1), json!(1)), (json!(2), json!(2))];
    assert_eq!(sent(&[]), both);
    assert_eq!(sent(&["--stream", "1", "--stream", "2"]), both);
    assert_eq!(sent(&["--stream", "2"]), both[1..]);
    assert_eq!(sent(&["stream:1"]), both[..1]);
    let output = replay(&stage, &["--stream", "7"], &command);
    assert!(output.code() == 2 && output.err().contains("t.reel has no session 7"), "{output:?}");
    assert!(output.err().contains("it has 1, 2"), "{output:?}");
    let output = replay(&stage, &["--update"], &command);
    assert!(output.code() == 2 && output.err().contains("--update needs the whole recording"), "{output:?}");
    let plan = stage.ok(&["replay", "t.reel", "--dry-run"]).out();
    assert_eq!(plan, "session 1\n    0  x/count\nsession 2\n    1  x/count\n    4  x/count\n");
    replay(&stage, &["--record", "new.reel"], &command);
    for reel in ["new.reel", "new-2.reel"] {
        stage.ok(&["reel", "verify", reel]);
    }
}

#[test]
fn parts_repetitions_and_concurrency_are_what_the_user_says() {
    let stage = Stage::new();
    let together = [asked(1), asked(2), asked(3), counted(1, 1, 3), counted(2, 2, 3), counted(3, 3, 3)];
    reel(&stage, "t.reel", &together);
    let command = server(&stage, COUNTER);
    let run = |options: &[&str]| replay(&stage, &[options, &["--format", "json"]].concat(), &command);
    assert_eq!(run(&[]).code(), 0);
    let one_by_one = run(&["--concurrency", "1"]);
    assert_eq!(one_by_one.code(), 1, "{one_by_one:?}");
    let changes = one_by_one.json()["diff"]["units"].clone();
    let right = |unit: &Value| unit["changes"][0]["right"].clone();
    assert_eq!(changes.as_array().expect("units").iter().map(right).collect::<Vec<_>>(), [1, 1, 1]);
    let stopped = run(&["--concurrency", "1", "--fail-fast"]).json();
    assert_eq!((&stopped["stopped"], &stopped["answered"]), (&json!(true), &json!(1)), "{stopped}");
    reel(&stage, "u.reel", &[asked(1), counted(1, 1, 1), asked(2), counted(2, 9, 1)]);
    let words = [&["replay", "u.reel", "--fail-fast", "--format", "json"][..], &command[..]].concat();
    let stopped = stage.run(&words, "").json();
    assert_eq!((&stopped["diff"]["same"], &stopped["diff"]["changed"]), (&json!(1), &json!(1)), "{stopped}");
    for (options, sent) in [(&["--from", "1"][..], 2), (&["--to", "1"], 2), (&["--from", "1", "--to", "1"], 1)] {
        let report = run(options).json();
        assert_eq!(report["sent"], sent, "{report}");
        assert_eq!(report["omitted"].as_array().map(Vec::len), Some(3 - sent), "{report}");
    }
    let repeated = lines(&run(&["--repeat", "3"]));
    assert_eq!(repeated.iter().map(|one| &one["run"]).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(repeated.iter().all(|one| one["verdict"] == "alike"), "{repeated:?}");
    let once = lines(&run(&["--repeat", "3", "--fail-fast", "--concurrency", "1"]));
    assert_eq!(once.len(), 1, "{once:?}");
}

#[test]
fn the_recorded_pace_is_kept_or_shortened() {
    let stage = Stage::new();
    let events = [
        message(0, "c2s", asked(1).1),
        message(10, "s2c", result(1, json!({}))),
        message(2010, "c2s", asked(2).1),
        message(2020, "s2c", result(2, json!({}))),
    ];
    stage.reel("t.reel", &events);
    let empty = "import json, sys\nfor line in sys.stdin:\n print(json.dumps({'jsonrpc': '2.0', 'id': json.loads(line)['id'], 'result': {}}), flush=True)\n";
    let command = server(&stage, empty);
    let took = |pace: &str| {
        let output = replay(&stage, &["--pace", pace, "--format", "json"], &command);
        assert_eq!(output.code(), 0, "{output:?}");
        output.json()["took_ms"].as_f64().expect("a number")
    };
    assert!(took("recorded") >= 2000.0);
    let half = took("2x");
    assert!(half >= 1000.0, "{half}");
    assert!(took("fast") < took("recorded") - 900.0);
    let output = replay(&stage, &["--pace", "slow"], &command);
    assert!(output.code() == 2 && output.err().contains("use fast, recorded, or a factor such as 2x"), "{output:?}");
}

#[test]
fn recorded_folders_are_mapped_to_fresh_ones() {
    let stage = Stage::new();
    let lister = r#"
import json, os, sys
for line in sys.stdin:
    m = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": "r", "method": "roots/list"}), flush=True)
    root = json.loads(sys.stdin.readline())["result"]["roots"][0]["uri"]
    names = sorted(os.listdir(root.removeprefix("file://")))
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": {"names": names, "in": root,
        "file": open(m["params"]["path"]).read()}}), flush=True)
"#;
    let command = server(&stage, lister);
    let messages = [
        ('>', request(1, "x/list", json!({"path": "/old/place/a.txt"}))),
        ('<', json!({"jsonrpc": "2.0", "id": "r", "method": "roots/list"})),
        ('>', json!({"jsonrpc": "2.0", "id": "r", "result": {"roots": [{"uri": "file:///old/place"}]}})),
        ('<', result(1, json!({"names": ["a.txt"], "in": "file:///old/place", "file": "hello"}))),
    ];
    reel(&stage, "t.reel", &messages);
    std::fs::create_dir(stage.path("fresh")).expect("a folder");
    stage.write("fresh/a.txt", "hello");
    let map = format!("/old/place={}", stage.path("fresh").display());
    let output = replay(&stage, &["--map", &map], &command);
    assert_eq!(output.code(), 0, "{output:?}");
    let output = replay(&stage, &["--map", "nonsense"], &command);
    assert!(output.code() == 2 && output.err().contains("expected OLD=NEW"), "{output:?}");
}

#[test]
fn credentials_come_from_the_environment_or_a_header() {
    let stage = Stage::new();
    let local = "import json, os, sys\nfor line in sys.stdin:\n print(json.dumps({'jsonrpc': '2.0', 'id': 1, 'result': {'allowed': os.environ.get('KEY') == 'secret'}}), flush=True)\n";
    reel(&stage, "t.reel", &[('>', request(1, "x/open", json!({}))), ('<', result(1, json!({"allowed": true})))]);
    let command = server(&stage, local);
    assert_eq!(replay(&stage, &[], &command).code(), 1);
    let output = replay(&stage, &["-e", "KEY=secret", "--record", "new.reel"], &command);
    assert_eq!(output.code(), 0, "{output:?}");
    assert!(!stage.ok(&["export", "new.reel"]).out().contains("secret"), "the value is not in the new reel");

    let remote = r#"
import http.server, json
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        allowed = self.headers.get("Authorization") == "Bearer secret"
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"allowed": allowed}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.send_error(405)
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"#;
    stage.write("remote.py", remote);
    let mut live = crate::common::Live::start(stage.command(&["python3", "remote.py"]));
    let url = format!("http://127.0.0.1:{}/mcp", live.line());
    let run = |options: &[&str]| stage.run(&[&["replay", "t.reel", "--url", &url][..], options].concat(), "");
    assert_eq!(run(&[]).code(), 1);
    let output = run(&["-H", "Authorization: Bearer secret"]);
    assert_eq!(output.code(), 0, "{output:?}");
    for (options, variable) in [(&[][..], "MCPREEL_TOKEN"), (&["--header-env", "Authorization=HEADER"], "HEADER")] {
        let mut command =
            stage.mcpreel(&[&["replay", "t.reel", "--url", &url, "--record", variable], options].concat());
        command.env(variable, if variable == "HEADER" { "Bearer secret" } else { "secret" });
        let output = crate::common::finish(command, Vec::new());
        assert_eq!(output.code(), 0, "{variable}: {output:?}");
        assert!(!stage.ok(&["export", variable]).out().contains("secret"), "{variable}");
    }
    let output = run(&["--header-env", "Authorization=NOWHERE"]);
    assert!(output.code() == 2 && output.err().contains("NOWHERE"), "{output:?}");
}

/// A server over HTTP with a new session id for each client, which its tool `who` returns and its tool `check` takes.
const SESSIONS: &str = r#"
import http.server, json, uuid
sessions = set()
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        session = self.headers.get("Mcp-Session-Id")
        if message["method"] == "initialize":
            session = str(uuid.uuid4())
            sessions.add(session)
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
        elif session not in sessions:
            return self.say(404, {"jsonrpc": "2.0", "id": message.get("id"), "error": {"code": -32001, "message": "no such session"}})
        elif "id" not in message:
            return self.say(202, None)
        elif message["params"]["name"] == "who":
            result = {"content": [{"type": "text", "text": "you are " + session}]}
        else:
            result = {"content": [{"type": "text", "text": str(message["params"]["arguments"]["session"] == session)}]}
        self.say(200, {"jsonrpc": "2.0", "id": message["id"], "result": result}, {"Mcp-Session-Id": session})
    def say(self, status, content, headers={}):
        body = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.say(405, None)
    def do_DELETE(self):
        sessions.discard(self.headers.get("Mcp-Session-Id"))
        self.say(200, None)
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"#;

#[test]
fn the_session_id_of_http_is_that_of_the_live_server() {
    let stage = Stage::new();
    stage.write("sessions.py", SESSIONS);
    let mut live = crate::common::Live::start(stage.command(&["python3", "sessions.py"]));
    let url = format!("http://127.0.0.1:{}/mcp", live.line());
    let client = json!({"name": "c", "version": "1"});
    let about = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let recorded = "5f3a9c1d-22e8-4b0f-9c3d-0123456789ab";
    let text = |id: u64, text: &str| ('<', result(id, json!({"content": [{"type": "text", "text": text}]})));
    let server = json!({"name": "s", "version": "1"});
    let messages = [
        ('>', request(0, "initialize", about)),
        ('<', result(0, json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server}))),
        ('>', json!({"jsonrpc": "2.0", "method": "notifications/initialized"})),
        ('>', request(1, "tools/call", json!({"name": "who", "arguments": {}}))),
        text(1, &format!("you are {recorded}")),
        ('>', request(2, "tools/call", json!({"name": "check", "arguments": {"session": recorded}}))),
        text(2, "True"),
    ];
    reel(&stage, "t.reel", &messages);
    let sessions = (0..2).map(|run| {
        let new = format!("new-{run}.reel");
        let output = stage.run(&["replay", "t.reel", "--url", &url, "--record", &new], "");
        assert_eq!(output.code(), 0, "{output:?}");
        let events = stage.events(&new);
        let said = events.iter().find_map(|event| event.pointer("/message/result/content/0/text")?.as_str());
        said.expect("the answer of who").to_owned()
    });
    let sessions: Vec<String> = sessions.collect();
    assert!(sessions[0] != sessions[1] && sessions.iter().all(|said| !said.contains(recorded)), "{sessions:?}");
}

#[test]
fn a_host_plays_each_session_of_a_reel_or_the_chosen_ones() {
    let stage = Stage::new();
    let on = |stream: u64, at: u64, (from, content): (char, Value)| {
        let mut event = message(at, if from == '>' { "c2s" } else { "s2c" }, content);
        event["stream"] = stream.into();
        event
    };
    let events = [
        on(1, 0, asked(1)),
        on(1, 20, counted(1, 1, 1)),
        on(2, 30, asked(1)),
        on(2, 40, counted(1, 1, 1)),
        on(2, 50, asked(2)),
        on(2, 60, counted(2, 2, 1)),
    ];
    stage.reel("t.reel", &events);
    let command = server(&stage, COUNTER);
    let play = |options: &[&str], reel: &str| {
        let words = [&["host", "--reel", "t.reel", "--record", reel][..], options, &command].concat();
        let output = stage.run(&words, "");
        assert_eq!(output.code(), 0, "{output:?}");
        output.err()
    };
    let answers = |reel: &str| {
        let events = stage.events(reel);
        events.iter().filter_map(|event| event.pointer("/message/result/had").cloned()).collect::<Vec<_>>()
    };
    let said = play(&[], "all.reel");
    assert!(said.contains("session 1\n") && said.contains("session 2\n"), "{said}");
    assert_eq!((answers("all.reel"), answers("all-2.reel")), (vec![json!(1)], vec![json!(1), json!(2)]));
    let said = play(&["--stream", "2"], "second.reel");
    assert!(!said.contains("session 2"), "{said}");
    assert_eq!(answers("second.reel"), [1, 2]);
    let output = stage.run(&[&["host", "--reel", "t.reel", "--stream", "7"][..], &command].concat(), "");
    assert!(output.code() == 2 && output.err().contains("t.reel has no session 7"), "{output:?}");
    let output = stage.run(&[&["host", "--stream", "1"][..], &command].concat(), "");
    assert!(output.code() == 2 && output.err().contains("--reel"), "{output:?}");
}

/// A server that knows `tools/call` only, and needs no handshake.
const LENIENT: &str = r#"
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    answer = {"result": {"content": []}}
    if m["method"] != "tools/call":
        answer = {"error": {"code": -32601, "message": "no such method"}}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"]} | answer), flush=True)
"#;

#[test]
fn a_legacy_recording_is_replayed_against_a_modern_server() {
    let stage = Stage::new();
    let legacy = ["--", crate::common::BINARY, "serve", "--era", "legacy"];
    let modern = ["--", crate::common::BINARY, "serve", "--era", "modern"];
    let about =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let mut live = stage.start(&[&["record", "-o", "t.reel"][..], &legacy].concat());
    let calls = [
        request(1, "ping", json!({})),
        request(2, "tools/call", json!({"name": "add", "arguments": {"a": 2, "b": 40}})),
    ];
    live.send(&request(0, "initialize", about));
    live.message(|message| message["id"] == 0);
    live.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    for call in calls {
        live.send(&call);
        live.message(|message| message["id"] == call["id"]);
    }
    live.end();
    let output = replay(&stage, &["--era", "modern", "--format", "json"], &modern);
    assert_eq!(output.code(), 0, "{output:?}");
    let report = output.json();
    assert_eq!((&report["answered"], &report["diff"]["same"]), (&json!(2), &json!(1)), "{report}");
    let omitted: Vec<_> = report["omitted"].as_array().expect("a list").iter().map(|one| &one["message"]).collect();
    assert_eq!(omitted, ["notifications/initialized", "ping"]);
    assert!(output.err().contains("ping is left out: revision 2026-07-28 does not have it"), "{output:?}");
    // A server without the modern era may answer calls without a handshake.
    let lenient = server(&stage, LENIENT);
    let output = replay(&stage, &["--era", "modern"], &lenient);
    assert_eq!(output.code(), 4, "{output:?}");
    assert!(output.err().contains("the server refused server/discover: no such method"), "{output:?}");
    let output = replay(&stage, &["--timeout", "5s"], &modern);
    assert_ne!(output.code(), 0, "{output:?}");
    assert!(output.err().contains("replay the recording with --era modern"), "{output:?}");
}

#[test]
fn a_server_that_dies_is_told_from_one_that_differs_in_every_report() {
    let stage = Stage::new();
    reel(&stage, "t.reel", &[asked(1), counted(1, 1, 1), asked(2), counted(2, 9, 1)]);
    stage.ok(&["export", "t.reel", "-o", "t.jsonl"]);
    let command = server(&stage, COUNTER);
    let run = |format: &str, command: &[&str]| {
        stage.run(&[&["replay", "t.jsonl", "--format", format][..], command].concat(), "")
    };
    let output = run("junit", &command);
    assert_eq!(output.code(), 1, "{output:?}");
    let junit = output.out();
    assert!(junit.contains(r#"<testsuite name="t.jsonl" package="t.jsonl" id="0" tests="2" failures="1""#), "{junit}");
    assert!(
        junit.contains(r#"<failure message="9 was recorded, not 2" type="error">t.jsonl:5 at /result/had"#),
        "{junit}"
    );
    let github = run("github", &command).out();
    let expected = "::error file=t.jsonl,line=5,title=x/count (seq 2)::9 was recorded, not 2 (at /result/had)\n";
    assert_eq!(github, expected);
    let markdown = run("markdown", &command).out();
    assert!(markdown.starts_with("## mcpreel replay: failed\n"), "{markdown}");
    let dying = ["--", "sh", "-c", "read line; exit 3"];
    let output = run("junit", &dying);
    assert_eq!(output.code(), 4, "{output:?}");
    assert!(output.out().contains("the server ended with exit code 3 after 0 of 2 answers"), "{output:?}");
    let output = run("json", &dying);
    let report = output.json();
    assert_eq!(
        (&report["verdict"], &report["exit_code"], &report["diff"]),
        (&json!("failed"), &json!(4), &Value::Null)
    );
    let silent = ["--timeout", "300ms", "--", "sh", "-c", "cat >/dev/null"];
    let output = run("github", &silent);
    assert_eq!(output.code(), 5, "{output:?}");
    assert!(output.out().contains("title=the whole session::no answer to x/count (seq 0) within 300ms"), "{output:?}");
}

#[test]
fn a_suite_has_reports_summary_parts_and_an_end_at_the_first_failure() {
    let stage = Stage::new();
    std::fs::create_dir(stage.path("replay")).expect("a folder");
    reel(&stage, "replay/a.reel", &[asked(1), counted(1, 1, 1)]);
    reel(&stage, "replay/b.reel", &[asked(1), counted(1, 9, 1)]);
    reel(&stage, "replay/c.reel", &[asked(1), counted(1, 1, 1)]);
    let command = server(&stage, COUNTER);
    let run = |words: &[&str]| stage.run(&[&["replay"][..], words, &command].concat(), "");
    let output = run(&["replay", "-j", "3"]);
    assert_eq!(output.code(), 1, "{output:?}");
    assert!(output.out().contains("\ndifferent replay/b.reel\n"), "{output:?}");
    assert!(output.err().contains("3 recordings: 2 alike, 1 different, 0 failed ("), "{output:?}");
    let output = run(&["replay", "--fail-fast"]);
    assert!(output.err().contains("3 recordings: 1 alike, 1 different, 0 failed, 1 not replayed"), "{output:?}");
    let plan = run(&["replay", "--dry-run"]);
    assert!(
        plan.code() == 0 && plan.out().starts_with("plan      replay/a.reel\n") && plan.err().is_empty(),
        "{plan:?}"
    );
    stage.write("suite.yaml", "reels: replay\n");
    let wrong = run(&["suite.yaml"]);
    assert_eq!(wrong.code(), 3, "{wrong:?}");
    let expected = "error: suite.yaml:1:1: `reels` must be a list: lines that begin with `- `, or [one, another]\n  hint: line 1: reels: replay\n  hint: a suite is a list; each entry has `reel`";
    assert!(wrong.err().contains(expected), "{wrong:?}");
    let junit = run(&["replay", "-fjunit"]).out();
    assert_eq!((junit.matches("<testsuite ").count(), junit.matches("<failure").count()), (3, 1), "{junit}");
    let github = run(&["replay", "--format=github"]).out();
    assert!(github.starts_with("::error file=replay/b.reel,title=x/count (seq 0)::9 was recorded, not 1"), "{github}");
    let reports = lines(&run(&["replay", "--format", "json"]));
    let verdicts: Vec<_> = reports.iter().map(|one| (&one["recording"], &one["verdict"])).collect();
    assert_eq!(verdicts[1], (&json!("replay/b.reel"), &json!("different")));
    let two = lines(&run(&["replay/a.reel", "replay/c.reel", "--format", "json"]));
    assert_eq!(two.iter().map(|one| &one["recording"]).collect::<Vec<_>>(), ["replay/a.reel", "replay/c.reel"]);
    let parts: Vec<_> =
        ["1/2", "2/2"].map(|part| run(&["replay", "--shard", part, "-f", "json"]).out().lines().count()).into();
    assert_eq!(parts, [2, 1]);
    let plans = run(&["replay", "--dry-run"]).out();
    assert!(plans.starts_with("plan      replay/a.reel\n              0  x/count\n"), "{plans}");
    let suite =
        "- {reel: replay/a.reel, command: [python3, server.py]}\n- {reel: gone.reel, command: [python3, server.py]}\n";
    stage.write("suite.yaml", suite);
    let output = stage.run(&["replay", "suite.yaml", "--format", "junit"], "");
    assert_eq!(output.code(), 3, "{output:?}");
    assert!(output.out().contains(r#"<testsuite name="gone.reel""#), "{output:?}");
    assert!(output.out().contains("cannot read gone.reel") || output.out().contains("gone.reel: "), "{output:?}");
}

#[test]
fn the_new_sessions_of_a_suite_are_in_reels_with_numbers() {
    let stage = Stage::new();
    std::fs::create_dir(stage.path("suite")).expect("a folder");
    reel(&stage, "suite/a.reel", &[asked(1), counted(1, 1, 1)]);
    let command = server(&stage, COUNTER);
    let run = |words: &[&str]| stage.run(&[&["replay", "suite"][..], words, &command].concat(), "");
    let names = || {
        let all = std::fs::read_dir(stage.path("")).expect("a folder").flatten();
        let mut names: Vec<String> = all.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| name.ends_with(".reel"));
        names.iter().for_each(|name| std::fs::remove_file(stage.path(name)).expect("removed"));
        names.sort();
        names
    };
    let output = run(&["--record", "new.reel"]);
    assert_eq!((output.code(), names()), (0, vec!["new.reel".to_owned()]), "{output:?}");
    reel(&stage, "suite/b.reel", &[asked(1), counted(1, 1, 1)]);
    let output = run(&["-onew.reel", "--repeat", "2", "-j", "2"]);
    let expected = ["new-1-2.reel", "new-2-2.reel", "new-2.reel", "new.reel"].map(str::to_owned);
    assert_eq!((output.code(), names()), (0, expected.to_vec()), "{output:?}");
    // Parts of a suite do not write over each other's reels.
    for (part, name) in [("1/2", "new.reel"), ("2/2", "new-2.reel")] {
        let output = run(&["--output=new.reel", "--shard", part]);
        assert_eq!((output.code(), names()), (0, vec![name.to_owned()]), "{output:?}");
    }
    let suite = "- {reel: suite/a.reel}\n- {reel: suite/b.reel}\n";
    stage.write("suite.yaml", suite);
    let words = ["replay", "suite.yaml", "--record", "new.reel", "--", "python3", "server.py"];
    let output = stage.run(&words, "");
    assert_eq!((output.code(), names()), (0, vec!["new-2.reel".to_owned(), "new.reel".to_owned()]), "{output:?}");
}

#[test]
fn what_cannot_begin_is_a_failed_case_in_a_valid_report() {
    let stage = Stage::new();
    reel(&stage, "a.reel", &[('>', request(1, "ping", json!({}))), ('<', result(1, json!({})))]);
    for (recording, code, server) in [("none.reel", 3, "true"), ("a.reel", 4, "./no-such-server")] {
        let run = |form: &str| stage.run(&["replay", recording, "--format", form, "--", server], b"");
        let junit = run("junit");
        assert_eq!(junit.code(), code, "{junit:?}");
        let text = junit.out();
        assert!(
            text.contains(r#"tests="1" failures="0" errors="1""#) && text.ends_with("</testsuites>\n"),
            "{junit:?}"
        );
        let one = run("json");
        let report: Value = serde_json::from_str(&one.out()).expect("one object");
        assert_eq!((one.code(), &report["verdict"]), (code, &json!("failed")), "{one:?}");
        assert_eq!(report["exit_code"], code);
        assert!(report["failure"].as_str().is_some_and(|why| !why.is_empty()), "{report}");
    }
}

#[test]
fn what_to_ignore_is_a_pointer() {
    let stage = Stage::new();
    let commands: [&[&str]; 3] = [
        &["replay", "a.reel", "--ignore", "time"],
        &["mock", "a.reel", "--ignore", "time"],
        &["diff", "a", "b", "--ignore", "time"],
    ];
    for words in commands {
        let refused = stage.run(words, b"");
        assert!(refused.code() == 2 && refused.err().contains("JSON Pointer"), "{refused:?}");
    }
}
