//! What the commands for reels print: one fixed reel with core MCP, all five proposals, errors, noise, standard error
//! and notes, compared byte for byte.

use crate::common::{BINARY, CREATED, Live, Stage, assert_same, finish, message, time, until};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;

/// The fixed reel's events.
fn session() -> Vec<Value> {
    let mut at = 0;
    let mut next = |direction: &str, content: Value| {
        at += 10;
        message(at, direction, content)
    };
    let mut events = vec![
        json!({"time": time(0), "dir": "c2s", "event": "stream-opened", "framing": "whole",
            "base64": "oWl0cmFuc3BvcnRlc3RkaW8="}),
        next(
            "c2s",
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {"experimental": {"mcpl": {"version": "0.4", "pushEvents": true}},
            "hooks": {"supported_events": ["session_start"]}}, "clientInfo": {"name": "test", "version": "1"}}}),
        ),
        next(
            "s2c",
            json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "conversationEvents": {"onUserMessage": true}, "reminders": {}, "events": {},
            "hooks": {"declarations": [{"event": "session_start", "context": "hello"}]},
            "experimental": {"mcpl": {"version": "0.4"}}}, "serverInfo": {"name": "memory", "version": "2"}}}),
        ),
        next("c2s", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})),
        next("c2s", json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})),
        next(
            "s2c",
            json!({"jsonrpc": "2.0", "id": 2, "result": {"tools": [
            {"name": "echo", "inputSchema": {"type": "object"}}]}}),
        ),
        next(
            "c2s",
            json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "echo",
            "arguments": {"message": "hi"}, "_meta": {"progressToken": 3}}}),
        ),
        next(
            "s2c",
            json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": 3, "progress": 1, "total": 2}}),
        ),
        next("s2c", json!({"jsonrpc": "2.0", "id": 3, "result": {"content": [{"type": "text", "text": "hi"}]}})),
        next(
            "c2s",
            json!({"jsonrpc": "2.0", "id": "four", "method": "tools/call", "params": {"name": "fail",
            "arguments": {}}}),
        ),
        next(
            "s2c",
            json!({"jsonrpc": "2.0", "id": "four", "result": {"isError": true,
            "content": [{"type": "text", "text": "it broke"}]}}),
        ),
        next("c2s", json!({"jsonrpc": "2.0", "id": 5, "method": "no/such"})),
        next("s2c", json!({"jsonrpc": "2.0", "id": 5, "error": {"code": -32601, "message": "Method not found"}})),
        next(
            "c2s",
            json!({"jsonrpc": "2.0", "id": 6, "method": "conversation/userMessage",
            "params": {"messageId": "m1", "content": "what about the schema?"}}),
        ),
        next(
            "s2c",
            json!({"jsonrpc": "2.0", "id": 6, "result": {"structuredContext": {"memories": [
            {"content": "one table per tenant", "relevance": 0.9, "source": "review"}]}}}),
        ),
        next(
            "s2c",
            json!({"jsonrpc": "2.0", "method": "notifications/reminder", "params": {"reminder": {
            "id": "0190", "body": "run the tests", "ttlTurns": 2}}}),
        ),
        next(
            "s2c",
            json!({"jsonrpc": "2.0", "id": 1, "method": "push/event", "params": {
            "featureSet": "memory.proactive", "eventId": "evt_1", "timestamp": "2026-01-02T03:04:05Z",
            "origin": {"server": "memory"}, "payload": {"content": [{"type": "text", "text": "deployed"}]}}}),
        ),
        next("c2s", json!({"jsonrpc": "2.0", "id": 1, "result": {"accepted": true, "inferenceId": "inf_1"}})),
        next(
            "c2s",
            json!({"jsonrpc": "2.0", "id": 7, "method": "context/beforeInference", "params": {
            "inferenceId": "inf_2", "conversationId": "c", "turnIndex": 0, "userMessage": "schema?",
            "model": {"id": "m", "vendor": "v", "contextWindow": 1000, "capabilities": []}}}),
        ),
        next(
            "s2c",
            json!({"jsonrpc": "2.0", "id": 7, "result": {"featureSet": "memory.retrieval",
            "contextInjections": [{"namespace": "memory", "position": "system", "content": "one table per tenant"}]}}),
        ),
        next(
            "s2c",
            json!({"jsonrpc": "2.0", "method": "events/event", "params": {"subscriptionId": "s1", "event": {
            "id": "e1", "type": "github.issue.opened", "data": {"n": 1}, "metadata": {"priority": "high"}}}}),
        ),
        json!({"time": time(210), "dir": "s2c", "event": "message", "text": "Server listening on stdio"}),
        json!({"time": time(220), "dir": "s2c", "event": "message", "framing": "crlf", "text": "{\"jsonrpc\":\"2.0\",\"id\":8,"}),
        json!({"time": time(225), "dir": "s2c", "event": "message", "base64": "/wD+"}),
        json!({"time": time(230), "dir": "s2c", "event": "stderr", "framing": "whole", "text": "warn: \u{1b}[31mslow\nsecond line\n"}),
        json!({"time": time(240), "dir": "c2s", "event": "note", "framing": "whole", "base64": "oWR0ZXh0ZGhlcmU="}),
    ];
    events.push(message(2250, "c2s", json!({"jsonrpc": "2.0", "id": 9, "method": "ping"})));
    events.push(message(3250, "s2c", json!({"jsonrpc": "2.0", "id": 9, "result": {}})));
    events.push(message(3300, "c2s", json!({"jsonrpc": "2.0", "id": 10, "method": "resources/list"})));
    events.push(json!({"time": time(3400), "dir": "s2c", "event": "message", "framing": "unterminated",
        "message": {"jsonrpc": "2.0", "id": 99, "result": {}}}));
    events
}

fn stage() -> Stage {
    let stage = Stage::new();
    stage.reel("s.reel", &session());
    stage
}

fn show(arguments: &[&str]) -> String {
    stage().ok(&[&["show", "s.reel"], arguments].concat()).out()
}

/// The numbers of the events that match a filter.
fn seqs(filter: &[&str]) -> Vec<u64> {
    let lines = show(&[&["--format", "json"], filter].concat());
    let number = |line: &str| serde_json::from_str::<Value>(line).expect("JSON")["seq"].as_u64().expect("a number");
    lines.lines().map(number).collect()
}

#[test]
fn the_list() {
    assert_snapshot!(show(&[]), @r##"
     0     0.000000 ·     17 B               stream-opened transport stdio
     1     0.010000 →    255 B             1 initialize test
     2     0.020000 ←    323 B  10.0 ms    1 initialize test → memory 2 2025-11-25
     3     0.030000 →     54 B               notifications/initialized
     4     0.040000 →     46 B             2 tools/list
     5     0.050000 ←     93 B  10.0 ms    2 tools/list → 1 tool
     6     0.060000 →    128 B             3 tools/call echo
     7     0.070000 ←    103 B               notifications/progress 3 1/2
     8     0.080000 ←     75 B  20.0 ms    3 tools/call echo → ok
     9     0.090000 →     91 B          "four" tools/call fail
    10     0.100000 ←    101 B  10.0 ms "four" tools/call fail → tool error: it broke
    11     0.110000 →     43 B             5 no/such
    12     0.120000 ←     77 B  10.0 ms    5 no/such → error -32601 Method not found
    13     0.130000 →    123 B             6 conversation/userMessage m1 "what about the schema?"
    14     0.140000 ←    139 B  10.0 ms    6 conversation/userMessage m1 "what about the schema?" → 1 memory
    15     0.150000 ←    123 B               notifications/reminder "run the tests" ttl 2
    16     0.160000 ←    229 B             1 push/event memory.proactive evt_1
    17     0.170000 →     73 B  10.0 ms    1 push/event memory.proactive evt_1 → accepted, inference inf_1
    18     0.180000 →    222 B             7 context/beforeInference inf_2 c turn 0
    19     0.190000 ←    165 B  10.0 ms    7 context/beforeInference inf_2 c turn 0 → memory.retrieval, 1 injection
    20     0.200000 ←    169 B               events/event github.issue.opened high for s1
    21     0.210000 ←     25 B               noise Server listening on stdio
    22     0.220000 ←     24 B             8 malformed {"jsonrpc":"2.0","id":8,
    23     0.225000 ←      3 B               noise �␀�
    24     0.230000 ·     28 B               stderr warn: ␛[31mslow␊second line
    25     0.240000 ·     11 B               note text here
    26     2.250000 →     40 B             9 ping
    27     3.250000 ←     36 B   1.00 s    9 ping → ok
    28     3.300000 →     51 B            10 resources/list
    29     3.400000 ←     37 B            99 response to an unknown request → ok
    "##);
}

#[test]
fn the_list_with_wall_clock_times() {
    let clock = show(&["--time", "clock", "-n", "2"]);
    let utc = show(&["--time", "utc", "-n", "2"]);
    assert_snapshot!(format!("{clock}{utc}"), @r##"
    0 03:04:05.000 ·     17 B               stream-opened transport stdio
    1 03:04:05.010 →    255 B             1 initialize test
    0 2026-01-02T03:04:05.000000000Z ·     17 B               stream-opened transport stdio
    1 2026-01-02T03:04:05.010000000Z →    255 B             1 initialize test
    "##);
}

#[test]
fn in_full() {
    assert_snapshot!(show(&["--full", "--seq", "5", "-n", "6"]), @r##"
     5     0.050000 ←     93 B  10.0 ms    2 tools/list → ok
       {
         "jsonrpc": "2.0",
         "id": 2,
         "result": {
           "tools": [
             {
               "name": "echo",
               "inputSchema": {
                 "type": "object"
               }
             }
           ]
         }
       }
     6     0.060000 →    128 B             3 tools/call echo
       {
         "jsonrpc": "2.0",
         "id": 3,
         "method": "tools/call",
         "params": {
           "name": "echo",
           "arguments": {
             "message": "hi"
           },
           "_meta": {
             "progressToken": 3
           }
         }
       }
     7     0.070000 ←    103 B               notifications/progress 3 1/2
       {
         "jsonrpc": "2.0",
         "method": "notifications/progress",
         "params": {
           "progressToken": 3,
           "progress": 1,
           "total": 2
         }
       }
     8     0.080000 ←     75 B  20.0 ms    3 tools/call echo → ok
       {
         "jsonrpc": "2.0",
         "id": 3,
         "result": {
           "content": [
             {
               "type": "text",
               "text": "hi"
             }
           ]
         }
       }
     9     0.090000 →     91 B          "four" tools/call fail
       {
         "jsonrpc": "2.0",
         "id": "four",
         "method": "tools/call",
         "params": {
           "name": "fail",
           "arguments": {}
         }
       }
    10     0.100000 ←    101 B  10.0 ms "four" tools/call fail → tool error: it broke
       {
         "jsonrpc": "2.0",
         "id": "four",
         "result": {
           "isError": true,
           "content": [
             {
               "type": "text",
               "text": "it broke"
             }
           ]
         }
       }
    "##);
    assert_snapshot!(show(&["--full", "--seq", "21"]), @r##"
    21     0.210000 ←     25 B               noise Server listening on stdio
       Server listening on stdio
    22     0.220000 ←     24 B             8 malformed {"jsonrpc":"2.0","id":8,
       {
         "jsonrpc": "2.0",
         "id": 8,
         
       ! the text ends early, or its brackets do not match
       ! EOF while parsing an object at line 1 column 24
    23     0.225000 ←      3 B               noise �␀�
       �␀�
    24     0.230000 ·     28 B               stderr warn: ␛[31mslow␊second line
       warn: ␛[31mslow
       second line
    25     0.240000 ·     11 B               note text here
       {
         "text": "here"
       }
    26     2.250000 →     40 B             9 ping
       {
         "jsonrpc": "2.0",
         "id": 9,
         "method": "ping"
       }
    27     3.250000 ←     36 B   1.00 s    9 ping → ok
       {
         "jsonrpc": "2.0",
         "id": 9,
         "result": {}
       }
    28     3.300000 →     51 B            10 resources/list
       {
         "jsonrpc": "2.0",
         "id": 10,
         "method": "resources/list"
       }
    29     3.400000 ←     37 B            99 response to an unknown request → ok
       {
         "jsonrpc": "2.0",
         "id": 99,
         "result": {}
       }
    "##);
}

#[test]
fn long_texts_are_folded_unless_reported() {
    let stage = Stage::new();
    let text = "x".repeat(5000);
    let event = message(0, "c2s", json!({"jsonrpc": "2.0", "method": "m", "params": {"text": text}}));
    stage.reel("l.reel", &[event]);
    let folded = stage.ok(&["show", "l.reel", "--full"]).out();
    let whole = stage.ok(&["show", "l.reel", "--full", "--no-fold"]).out();
    assert!(!folded.contains(&text) && folded.len() < 2000, "{folded}");
    assert!(whole.contains(&text));
}

#[test]
fn as_a_table() {
    assert_snapshot!(show(&["--format", "table", "--seq", "4", "-n", "10"]), @r##"
    ╭─────┬──────────┬───┬────────┬──────────────────────────┬─────────────────────────────────┬─────────────╮
    │ seq │ time     │   │ id     │ method                   │ about                           │ took / size │
    ├─────┼──────────┼───┼────────┼──────────────────────────┼─────────────────────────────────┼─────────────┤
    │ 4   │ 0.040000 │ → │ 2      │ tools/list               │                                 │ 46 B        │
    │ 5   │ 0.050000 │ ← │ 2      │ tools/list               │ → 1 tool                        │ 10.0 ms     │
    │ 6   │ 0.060000 │ → │ 3      │ tools/call               │ echo                            │ 128 B       │
    │ 7   │ 0.070000 │ ← │        │ notifications/progress   │ 3 1/2                           │ 103 B       │
    │ 8   │ 0.080000 │ ← │ 3      │ tools/call               │ echo → ok                       │ 20.0 ms     │
    │ 9   │ 0.090000 │ → │ "four" │ tools/call               │ fail                            │ 91 B        │
    │ 10  │ 0.100000 │ ← │ "four" │ tools/call               │ fail → tool error: it broke     │ 10.0 ms     │
    │ 11  │ 0.110000 │ → │ 5      │ no/such                  │                                 │ 43 B        │
    │ 12  │ 0.120000 │ ← │ 5      │ no/such                  │ → error -32601 Method not found │ 10.0 ms     │
    │ 13  │ 0.130000 │ → │ 6      │ conversation/userMessage │ m1 "what about the schema?"     │ 123 B       │
    ╰─────┴──────────┴───┴────────┴──────────────────────────┴─────────────────────────────────┴─────────────╯
    "##);
}

#[test]
fn as_json() {
    assert_snapshot!(show(&["--format", "json", "--seq", "6"]), @r##"
    {"seq":6,"time":"2026-01-02T03:04:05.060000000Z","stream":0,"dir":"c2s","event":"message","message":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"},"_meta":{"progressToken":3}}},"kind":"request","method":"tools/call","about":"echo"}
    {"seq":7,"time":"2026-01-02T03:04:05.070000000Z","stream":0,"dir":"s2c","event":"message","message":{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":1,"total":2}},"kind":"notification","method":"notifications/progress","about":"3 1/2"}
    {"seq":8,"time":"2026-01-02T03:04:05.080000000Z","stream":0,"dir":"s2c","event":"message","message":{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"hi"}]}},"kind":"result","method":"tools/call","request_seq":6,"outcome":"ok","latency_ms":20,"about":"echo","summary":"ok"}
    {"seq":9,"time":"2026-01-02T03:04:05.090000000Z","stream":0,"dir":"c2s","event":"message","message":{"jsonrpc":"2.0","id":"four","method":"tools/call","params":{"name":"fail","arguments":{}}},"kind":"request","method":"tools/call","about":"fail"}
    {"seq":10,"time":"2026-01-02T03:04:05.100000000Z","stream":0,"dir":"s2c","event":"message","message":{"jsonrpc":"2.0","id":"four","result":{"isError":true,"content":[{"type":"text","text":"it broke"}]}},"kind":"result","method":"tools/call","request_seq":9,"outcome":"tool error","latency_ms":10,"about":"fail","summary":"tool error: it broke"}
    {"seq":11,"time":"2026-01-02T03:04:05.110000000Z","stream":0,"dir":"c2s","event":"message","message":{"jsonrpc":"2.0","id":5,"method":"no/such"},"kind":"request","method":"no/such"}
    {"seq":12,"time":"2026-01-02T03:04:05.120000000Z","stream":0,"dir":"s2c","event":"message","message":{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"Method not found"}},"kind":"error","method":"no/such","request_seq":11,"outcome":"error","latency_ms":10,"summary":"error -32601 Method not found"}
    {"seq":13,"time":"2026-01-02T03:04:05.130000000Z","stream":0,"dir":"c2s","event":"message","message":{"jsonrpc":"2.0","id":6,"method":"conversation/userMessage","params":{"messageId":"m1","content":"what about the schema?"}},"kind":"request","method":"conversation/userMessage","about":"m1 \"what about the schema?\""}
    {"seq":14,"time":"2026-01-02T03:04:05.140000000Z","stream":0,"dir":"s2c","event":"message","message":{"jsonrpc":"2.0","id":6,"result":{"structuredContext":{"memories":[{"content":"one table per tenant","relevance":0.9,"source":"review"}]}}},"kind":"result","method":"conversation/userMessage","request_seq":13,"outcome":"ok","latency_ms":10,"about":"m1 \"what about the schema?\"","summary":"1 memory"}
    {"seq":15,"time":"2026-01-02T03:04:05.150000000Z","stream":0,"dir":"s2c","event":"message","message":{"jsonrpc":"2.0","method":"notifications/reminder","params":{"reminder":{"id":"0190","body":"run the tests","ttlTurns":2}}},"kind":"notification","method":"notifications/reminder","about":"\"run the tests\" ttl 2"}
    {"seq":16,"time":"2026-01-02T03:04:05.160000000Z","stream":0,"dir":"s2c","event":"message","message":{"jsonrpc":"2.0","id":1,"method":"push/event","params":{"featureSet":"memory.proactive","eventId":"evt_1","timestamp":"2026-01-02T03:04:05Z","origin":{"server":"memory"},"payload":{"content":[{"type":"text","text":"deployed"}]}}},"kind":"request","method":"push/event","about":"memory.proactive evt_1"}
    {"seq":17,"time":"2026-01-02T03:04:05.170000000Z","stream":0,"dir":"c2s","event":"message","message":{"jsonrpc":"2.0","id":1,"result":{"accepted":true,"inferenceId":"inf_1"}},"kind":"result","method":"push/event","request_seq":16,"outcome":"ok","latency_ms":10,"about":"memory.proactive evt_1","summary":"accepted, inference inf_1"}
    {"seq":18,"time":"2026-01-02T03:04:05.180000000Z","stream":0,"dir":"c2s","event":"message","message":{"jsonrpc":"2.0","id":7,"method":"context/beforeInference","params":{"inferenceId":"inf_2","conversationId":"c","turnIndex":0,"userMessage":"schema?","model":{"id":"m","vendor":"v","contextWindow":1000,"capabilities":[]}}},"kind":"request","method":"context/beforeInference","about":"inf_2 c turn 0"}
    {"seq":19,"time":"2026-01-02T03:04:05.190000000Z","stream":0,"dir":"s2c","event":"message","message":{"jsonrpc":"2.0","id":7,"result":{"featureSet":"memory.retrieval","contextInjections":[{"namespace":"memory","position":"system","content":"one table per tenant"}]}},"kind":"result","method":"context/beforeInference","request_seq":18,"outcome":"ok","latency_ms":10,"about":"inf_2 c turn 0","summary":"memory.retrieval, 1 injection"}
    {"seq":20,"time":"2026-01-02T03:04:05.200000000Z","stream":0,"dir":"s2c","event":"message","message":{"jsonrpc":"2.0","method":"events/event","params":{"subscriptionId":"s1","event":{"id":"e1","type":"github.issue.opened","data":{"n":1},"metadata":{"priority":"high"}}}},"kind":"notification","method":"events/event","about":"github.issue.opened high for s1"}
    {"seq":21,"time":"2026-01-02T03:04:05.210000000Z","stream":0,"dir":"s2c","event":"message","text":"Server listening on stdio","kind":"noise","about":"Server listening on stdio"}
    {"seq":22,"time":"2026-01-02T03:04:05.220000000Z","stream":0,"dir":"s2c","event":"message","framing":"crlf","text":"{\"jsonrpc\":\"2.0\",\"id\":8,","kind":"malformed","about":"{\"jsonrpc\":\"2.0\",\"id\":8,"}
    {"seq":23,"time":"2026-01-02T03:04:05.225000000Z","stream":0,"dir":"s2c","event":"message","base64":"/wD+","kind":"noise","about":"�\u0000�"}
    {"seq":24,"time":"2026-01-02T03:04:05.230000000Z","stream":0,"dir":"s2c","event":"stderr","framing":"whole","text":"warn: \u001b[31mslow\nsecond line\n","about":"warn: \u001b[31mslow\nsecond line"}
    {"seq":25,"time":"2026-01-02T03:04:05.240000000Z","stream":0,"dir":"c2s","event":"note","framing":"whole","data":{"text":"here"},"base64":"oWR0ZXh0ZGhlcmU=","about":"text here"}
    {"seq":26,"time":"2026-01-02T03:04:07.250000000Z","stream":0,"dir":"c2s","event":"message","message":{"jsonrpc":"2.0","id":9,"method":"ping"},"kind":"request","method":"ping"}
    {"seq":27,"time":"2026-01-02T03:04:08.250000000Z","stream":0,"dir":"s2c","event":"message","message":{"jsonrpc":"2.0","id":9,"result":{}},"kind":"result","method":"ping","request_seq":26,"outcome":"ok","latency_ms":1000,"summary":"ok"}
    {"seq":28,"time":"2026-01-02T03:04:08.300000000Z","stream":0,"dir":"c2s","event":"message","message":{"jsonrpc":"2.0","id":10,"method":"resources/list"},"kind":"request","method":"resources/list"}
    {"seq":29,"time":"2026-01-02T03:04:08.400000000Z","stream":0,"dir":"s2c","event":"message","framing":"unterminated","message":{"jsonrpc":"2.0","id":99,"result":{}},"kind":"result","outcome":"ok","summary":"ok"}
    "##);
}

#[test]
fn raw_is_the_payloads() {
    let stage = stage();
    let raw = stage.ok(&["show", "s.reel", "--raw", "event:stderr or kind:noise"]).stdout;
    assert_same("raw", &raw, b"Server listening on stdio\n\xff\0\xfe\nwarn: \x1b[31mslow\nsecond line\n\n");
}

/// Two calls with another request between them, each answered far below, in blocks of their own.
fn two_tools() -> Vec<Value> {
    let at = |second: u32| format!("2026-01-02T03:04:{second:02}Z");
    let mut events = Vec::new();
    for (second, id, name) in [(5, 1, "Bash"), (6, 2, "Read")] {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name}});
        events.push(json!({"time": at(second), "stream": 0, "dir": "c2s", "event": "message", "message": call}));
    }
    let filler = "x".repeat(64 << 10);
    for _ in 0..100 {
        let note = json!({"jsonrpc": "2.0", "method": "notifications/x", "params": {"x": filler}});
        events.push(json!({"time": at(7), "stream": 0, "dir": "s2c", "event": "message", "message": note}));
    }
    for (second, id, text) in [(8, 1, "from bash"), (9, 2, "from read")] {
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}});
        events.push(json!({"time": at(second), "stream": 0, "dir": "s2c", "event": "message", "message": answer}));
    }
    events
}

#[test]
fn answers_are_found_by_their_tool_in_every_form_and_from_anywhere() {
    let stage = Stage::new();
    stage.reel("s.reel", &two_tools());
    for start in [&[][..], &["--seq", "102"], &["--from", "3.0"]] {
        for form in [&["--raw"][..], &["--format", "json"], &["--format", "list"], &["-n", "5"]] {
            let words = [&["show", "s.reel", "tool:Bash dir:s2c"], form, start].concat();
            let reported = stage.ok(&words).out();
            assert_eq!(reported.lines().count(), 1, "{words:?}: {reported}");
            assert!(form[0] != "--raw" || reported.contains("from bash"), "{words:?}: {reported}");
        }
    }
    assert_eq!(stage.ok(&["show", "s.reel", "--raw", "tool:Nope"]).out(), "");
}

#[test]
fn raw_leaves_out_what_is_no_text_unless_it_is_named() {
    let stage = stage();
    let raw = stage.ok(&["show", "s.reel", "--raw", "-n", "1"]).out();
    assert!(raw.starts_with('{'), "{raw}");
    let named = stage.ok(&["show", "s.reel", "--raw", "event:stream-opened"]).stdout;
    assert!(!named.is_empty());
}

#[test]
fn filters_select() {
    assert_eq!(seqs(&["method:tools/call"]), [6, 8, 9, 10]);
    assert_eq!(seqs(&["method:tools/*", "dir:c2s"]), [4, 6, 9]);
    assert_eq!(seqs(&["method:tools/* dir:c2s"]), [4, 6, 9]);
    assert_eq!(seqs(&["tool:echo"]), [6, 8]);
    assert_eq!(seqs(&["error"]), [10, 12, 21, 22, 23]);
    assert_eq!(seqs(&["ext:conversation"]), [2, 13, 14]);
    assert_eq!(seqs(&["ext:reminder"]), [2, 15]);
    assert_eq!(seqs(&["ext:mcpl"]), [1, 2, 16, 17, 18, 19]);
    // `events: {}` is no declaration of MCPE, but of another draft.
    assert_eq!(seqs(&["ext:mcpe"]), [20]);
    assert_eq!(seqs(&["kind:notification"]), [3, 7, 15, 20]);
    assert_eq!(seqs(&["kind:request", "not", "dir:c2s"]), [16]);
    assert_eq!(seqs(&["id:1"]), [1, 2, 16, 17]);
    assert_eq!(seqs(&["id:four"]), [9, 10]);
    assert_eq!(seqs(&["seq:12"]), [12]);
    assert_eq!(seqs(&["seq:9..11"]), [9, 10, 11]);
    assert_eq!(seqs(&["event:note", "or", "event:stderr"]), [24, 25]);
    assert_eq!(seqs(&["slow:>500ms"]), [27]);
    assert_eq!(seqs(&["slow:<=10ms", "(tool:echo or method:ping or method:tools/list)"]), [5]);
    assert_eq!(seqs(&["size:>300"]), [2]);
    assert_eq!(seqs(&["text:tenant"]), [14, 19]);
    assert_eq!(seqs(&["text:\"it broke\""]), [10]);
    assert_eq!(seqs(&["method:none"]), [] as [u64; 0]);
}

#[test]
fn a_filter_that_cannot_be_understood_is_a_usage_error() {
    let stage = stage();
    for filter in ["nonsense", "(error", "slow:>fast", "ext:none", "error)", "and", "dir:up"] {
        let output = stage.run(&["show", "s.reel", filter], "");
        assert_eq!(output.code(), 2, "{filter}: {output:?}");
        assert!(output.err().contains("hint:"), "{filter}: {output:?}");
        assert!(!output.err().contains("ends in .reel"), "a reel was named: {output:?}");
    }
    let unnamed = stage.run(&["show", "nonsense"], "");
    assert!(unnamed.err().contains("ends in .reel"), "{unnamed:?}");
    let kinds = stage.run(&["show", "s.reel", "kind:foo"], "");
    assert!(kinds.err().contains("request, notification, result"), "{kinds:?}");
    for path in ["./missing", "/no/such/session", "some/where"] {
        let output = stage.run(&["show", path], "");
        assert_eq!(output.code(), 3, "{path}: {output:?}");
        assert!(output.err().contains("no such file"), "{path}: {output:?}");
    }
    let two = stage.run(&["show", "s.reel", "t.reel"], "");
    assert_eq!(two.code(), 2, "{two:?}");
    assert!(two.err().contains("only one reel is allowed"), "{two:?}");
    let last = stage.run(&["show", "error", "s.reel"], "");
    assert_eq!(last.code(), 2, "{last:?}");
    assert!(last.err().contains("the reel comes first"), "{last:?}");
}

#[test]
fn jq_programs_run() {
    assert_eq!(show(&["--jq", ".message.params.name // empty"]), "echo\nfail\n");
    assert_eq!(show(&["--jq", "select(.kind == \"error\") | [.seq, .message.error.code]"]), "[12,-32601]\n");
    assert_eq!(show(&["--jq", ".latency_ms", "method:ping", "dir:s2c"]), "1000\n");
    let stage = stage();
    let wrong = stage.run(&["show", "s.reel", "--jq", ".a |"], "");
    assert_eq!(wrong.code(), 2, "{wrong:?}");
    let failing = stage.run(&["show", "s.reel", "--jq", ".seq | error", "-n", "1"], "");
    assert!(failing.err().contains("--jq at event 0"), "{failing:?}");
    assert_eq!(failing.code(), 1, "{failing:?}");
    let failing = stage.run(&["show", "s.reel", "--jq", ".seq | error"], "");
    assert_eq!((failing.code(), failing.err().lines().count()), (1, 11), "{failing:?}");
    assert!(failing.err().contains("… and 20 more"), "{failing:?}");
}

#[test]
fn a_show_begins_and_ends_where_reported() {
    assert_eq!(seqs(&["--seq", "27"]), [27, 28, 29]);
    assert_eq!(seqs(&["--seq", "27", "-n", "1"]), [27]);
    assert_eq!(seqs(&["--seq", "1000"]), [] as [u64; 0]);
    assert_eq!(seqs(&["--from", "2.25"]), [26, 27, 28, 29]);
    assert_eq!(seqs(&["--from", "3.3s"]), [28, 29]);
    assert_eq!(seqs(&["--from", "2026-01-02T03:04:08.3Z"]), [28, 29]);
    assert_eq!(seqs(&["--from", "1999-01-01T00:00:00Z", "-n", "2"]), [0, 1]);
    assert_eq!(seqs(&["--limit", "0"]), [] as [u64; 0]);
    let wrong = stage().run(&["show", "s.reel", "--from", "yesterday"], "");
    assert_eq!(wrong.code(), 2, "{wrong:?}");
}

#[test]
fn a_show_from_the_middle_still_knows_what_an_answer_answers() {
    let method = show(&["--seq", "8", "-n", "1", "--jq", ".method"]);
    assert_eq!(method, "tools/call\n");
}

#[test]
fn statistics() {
    let stage = stage();
    assert_snapshot!(stage.ok(&["stats", "s.reel"]).out(), @r##"
    s.reel

    27 messages, 2.8 kB, over 3.40 s
    10 requests, 4 notifications, 9 results, 1 error, 1 malformed, 2 noise
    5 failures (`mcpreel show s.reel error` lists them)
    1 request unanswered
    1 response without a request
    slowest: ping took 1.00 s, seq 26

     method                     calls  responses  errors  open   size  per s   median      p95      p99  slowest  seq 
     tools/call                     2          2       1        395 B         15.0 ms  20.0 ms  20.0 ms  20.0 ms    6 
     context/beforeInference        1          1                387 B         10.0 ms  10.0 ms  10.0 ms  10.0 ms   18 
     conversation/userMessage       1          1                262 B         10.0 ms  10.0 ms  10.0 ms  10.0 ms   13 
     events/event                   1                           169 B   0.29                                          
     initialize                     1          1                578 B         10.0 ms  10.0 ms  10.0 ms  10.0 ms    1 
     no/such                        1          1       1        120 B         10.0 ms  10.0 ms  10.0 ms  10.0 ms   11 
     notifications/initialized      1                            54 B   0.29                                          
     notifications/progress         1                           103 B   0.29                                          
     notifications/reminder         1                           123 B   0.29                                          
     ping                           1          1                 76 B          1.00 s   1.00 s   1.00 s   1.00 s   26 
     push/event                     1          1                302 B         10.0 ms  10.0 ms  10.0 ms  10.0 ms   16 
     resources/list                 1                        1   51 B                                                 
     tools/list                     1          1                139 B         10.0 ms  10.0 ms  10.0 ms  10.0 ms    4
    "##);
    let reported = stage.ok(&["stats", "s.reel", "--format", "json"]).json();
    assert_snapshot!(serde_json::to_string_pretty(&reported).expect("JSON"), @r##"
    {
      "events": 30,
      "messages": 27,
      "bytes": 2904,
      "message_bytes": 2848,
      "seconds": 3.4,
      "kinds": {
        "request": 10,
        "notification": 4,
        "result": 9,
        "error": 1,
        "malformed": 1,
        "noise": 2
      },
      "unanswered": 1,
      "orphan_answers": 1,
      "late_answers": 0,
      "failed_exchanges": 0,
      "stderr_bytes": 28,
      "gaps": 0,
      "damages": [],
      "slowest": {
        "method": "ping",
        "about": "",
        "seq": 26,
        "latency_ms": 1000.0
      },
      "failures": 5,
      "activity": {
        "step_ms": 128.0,
        "messages": [
          13,
          10,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          1,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          2,
          1
        ]
      },
      "methods": {
        "tools/call": {
          "calls": 2,
          "notifications": 0,
          "answers": 2,
          "errors": 0,
          "tool_errors": 1,
          "unanswered": 0,
          "late": 0,
          "bytes": 395,
          "notifications_per_second": null,
          "latency_ms": {
            "median": 15.0,
            "mean": 15.0,
            "p90": 20.0,
            "p95": 20.0,
            "p99": 20.0,
            "max": 20.0
          },
          "slowest_seq": 6
        },
        "context/beforeInference": {
          "calls": 1,
          "notifications": 0,
          "answers": 1,
          "errors": 0,
          "tool_errors": 0,
          "unanswered": 0,
          "late": 0,
          "bytes": 387,
          "notifications_per_second": null,
          "latency_ms": {
            "median": 10.0,
            "mean": 10.0,
            "p90": 10.0,
            "p95": 10.0,
            "p99": 10.0,
            "max": 10.0
          },
          "slowest_seq": 18
        },
        "conversation/userMessage": {
          "calls": 1,
          "notifications": 0,
          "answers": 1,
          "errors": 0,
          "tool_errors": 0,
          "unanswered": 0,
          "late": 0,
          "bytes": 262,
          "notifications_per_second": null,
          "latency_ms": {
            "median": 10.0,
            "mean": 10.0,
            "p90": 10.0,
            "p95": 10.0,
            "p99": 10.0,
            "max": 10.0
          },
          "slowest_seq": 13
        },
        "events/event": {
          "calls": 1,
          "notifications": 1,
          "answers": 0,
          "errors": 0,
          "tool_errors": 0,
          "unanswered": 0,
          "late": 0,
          "bytes": 169,
          "notifications_per_second": 0.294,
          "latency_ms": null,
          "slowest_seq": null
        },
        "initialize": {
          "calls": 1,
          "notifications": 0,
          "answers": 1,
          "errors": 0,
          "tool_errors": 0,
          "unanswered": 0,
          "late": 0,
          "bytes": 578,
          "notifications_per_second": null,
          "latency_ms": {
            "median": 10.0,
            "mean": 10.0,
            "p90": 10.0,
            "p95": 10.0,
            "p99": 10.0,
            "max": 10.0
          },
          "slowest_seq": 1
        },
        "no/such": {
          "calls": 1,
          "notifications": 0,
          "answers": 1,
          "errors": 1,
          "tool_errors": 0,
          "unanswered": 0,
          "late": 0,
          "bytes": 120,
          "notifications_per_second": null,
          "latency_ms": {
            "median": 10.0,
            "mean": 10.0,
            "p90": 10.0,
            "p95": 10.0,
            "p99": 10.0,
            "max": 10.0
          },
          "slowest_seq": 11
        },
        "notifications/initialized": {
          "calls": 1,
          "notifications": 1,
          "answers": 0,
          "errors": 0,
          "tool_errors": 0,
          "unanswered": 0,
          "late": 0,
          "bytes": 54,
          "notifications_per_second": 0.294,
          "latency_ms": null,
          "slowest_seq": null
        },
        "notifications/progress": {
          "calls": 1,
          "notifications": 1,
          "answers": 0,
          "errors": 0,
          "tool_errors": 0,
          "unanswered": 0,
          "late": 0,
          "bytes": 103,
          "notifications_per_second": 0.294,
          "latency_ms": null,
          "slowest_seq": null
        },
        "notifications/reminder": {
          "calls": 1,
          "notifications": 1,
          "answers": 0,
          "errors": 0,
          "tool_errors": 0,
          "unanswered": 0,
          "late": 0,
          "bytes": 123,
          "notifications_per_second": 0.294,
          "latency_ms": null,
          "slowest_seq": null
        },
        "ping": {
          "calls": 1,
          "notifications": 0,
          "answers": 1,
          "errors": 0,
          "tool_errors": 0,
          "unanswered": 0,
          "late": 0,
          "bytes": 76,
          "notifications_per_second": null,
          "latency_ms": {
            "median": 1000.0,
            "mean": 1000.0,
            "p90": 1000.0,
            "p95": 1000.0,
            "p99": 1000.0,
            "max": 1000.0
          },
          "slowest_seq": 26
        },
        "push/event": {
          "calls": 1,
          "notifications": 0,
          "answers": 1,
          "errors": 0,
          "tool_errors": 0,
          "unanswered": 0,
          "late": 0,
          "bytes": 302,
          "notifications_per_second": null,
          "latency_ms": {
            "median": 10.0,
            "mean": 10.0,
            "p90": 10.0,
            "p95": 10.0,
            "p99": 10.0,
            "max": 10.0
          },
          "slowest_seq": 16
        },
        "resources/list": {
          "calls": 1,
          "notifications": 0,
          "answers": 0,
          "errors": 0,
          "tool_errors": 0,
          "unanswered": 1,
          "late": 0,
          "bytes": 51,
          "notifications_per_second": null,
          "latency_ms": null,
          "slowest_seq": null
        },
        "tools/list": {
          "calls": 1,
          "notifications": 0,
          "answers": 1,
          "errors": 0,
          "tool_errors": 0,
          "unanswered": 0,
          "late": 0,
          "bytes": 139,
          "notifications_per_second": null,
          "latency_ms": {
            "median": 10.0,
            "mean": 10.0,
            "p90": 10.0,
            "p95": 10.0,
            "p99": 10.0,
            "max": 10.0
          },
          "slowest_seq": 4
        }
      }
    }
    "##);
}

#[test]
fn what_a_reel_is() {
    let stage = stage();
    let size = stage.read("s.reel").len();
    let human = stage.ok(&["reel", "info", "s.reel"]).out();
    assert!(human.contains(&format!("created    {}", "2026-01-02T03:04:05.000000000Z")), "{human}");
    let mut info = stage.info("s.reel");
    assert_eq!(info["size"], size);
    info["size"] = json!(0);
    assert_snapshot!(info.to_string(), @r##"{"path":"s.reel","size":0,"version":"1.1","created":"2026-01-02T03:04:05.000000000Z","tool":"test","label":null,"notes":{},"indexed":true,"groups":1,"events":30,"bytes":2904,"seconds":3.4,"kinds":{"message":{"count":27,"bytes":2848},"note":{"count":1,"bytes":11},"stderr":{"count":1,"bytes":28},"stream-opened":{"count":1,"bytes":17}},"messages":{"error":{"count":1,"bytes":77},"malformed":{"count":1,"bytes":24},"noise":{"count":2,"bytes":28},"notification":{"count":4,"bytes":449},"request":{"count":10,"bytes":1228},"result":{"count":9,"bytes":1042}},"methods":{"context/beforeInference":{"count":1,"bytes":222},"conversation/userMessage":{"count":1,"bytes":123},"events/event":{"count":1,"bytes":169},"initialize":{"count":1,"bytes":255},"no/such":{"count":1,"bytes":43},"notifications/initialized":{"count":1,"bytes":54},"notifications/progress":{"count":1,"bytes":103},"notifications/reminder":{"count":1,"bytes":123},"ping":{"count":1,"bytes":40},"push/event":{"count":1,"bytes":229},"resources/list":{"count":1,"bytes":51},"tools/call":{"count":2,"bytes":219},"tools/list":{"count":1,"bytes":46}},"damages":[]}"##);
}

#[test]
fn export_and_import_are_inverse() {
    let stage = stage();
    let first = stage.ok(&["export", "s.reel", "-o", "one.jsonl"]);
    assert!(first.stdout.is_empty());
    stage.ok(&["import", "one.jsonl", "-o", "again.reel"]);
    assert_same("a second reel", &stage.read("again.reel"), &stage.read("s.reel"));
    stage.ok(&["export", "again.reel", "-o", "two.jsonl"]);
    assert_same("a second export", &stage.read("two.jsonl"), &stage.read("one.jsonl"));
    for stream in ["c2s", "s2c", "stderr"] {
        assert_same(stream, &stage.cat("again.reel", stream), &stage.cat("s.reel", stream));
    }
    let lines = stage.read("one.jsonl");
    assert_eq!(lines.iter().filter(|byte| **byte == b'\n').count(), session().len() + 1);
}

#[test]
fn a_table_for_spreadsheets() {
    let stage = Stage::new();
    let lines = [
        r#""stream":1,"dir":"c2s","message":{"jsonrpc":"2.0","id":"a,b","method":"=1+1"}"#,
        r#""stream":1,"dir":"s2c","exchange":2,"injected":true,"text":"-noise \"quoted\"\r""#,
    ];
    let header = format!("{{\"reel\":{{\"version\":1,\"created\":\"{CREATED}\"}}}}\n");
    let lines = lines.map(|members| format!("{{\"time\":\"{CREATED}\",{members}}}\n")).concat();
    stage.import("t.reel", header + &lines);
    let table = stage.ok(&["export", "--format", "csv", "t.reel"]).out();
    let time = format!("{}.000000000Z", CREATED.trim_end_matches('Z'));
    let expected = [
        "seq,time,stream,exchange,dir,kind,method,id,latency_ms,bytes,flags,request_seq,outcome,message".to_owned(),
        format!(
            r#"0,{time},1,0,c2s,request,'=1+1,"""a,b""",,44,,,unanswered,"{{""jsonrpc"":""2.0"",""id"":""a,b"",""method"":""=1+1""}}""#
        ),
        format!("1,{time},1,2,s2c,noise,,,,16,injected,,,\"'-noise \"\"quoted\"\"␍\"\n"),
    ];
    assert_eq!(table, expected.join("\n"));
}

#[test]
fn a_sequence_diagram() {
    let stage = Stage::new();
    let request = r#""stream":4,"dir":"c2s","message":{"id":1,"method":"a;\n%%{init}%%"}"#;
    let progress = r#""stream":4,"dir":"s2c","message":{"method":"notifications/progress"}"#;
    let noise = r#""stream":4,"dir":"s2c","text":"ready: #1""#;
    let injected = r#""stream":7,"dir":"c2s","injected":true,"message":{"id":1,"method":"ping"}"#;
    let gap = r#""stream":7,"event":"gap","framing":"whole","base64":"oA==""#;
    let answer = format!(r#""stream":4,"dir":"s2c","message":{{"id":1,"result":"{}"}}"#, "x".repeat(1000));
    let lines = [request, progress, progress, noise, injected, gap, progress, &answer];
    let header = format!("{{\"reel\":{{\"version\":1,\"created\":\"{CREATED}\"}}}}\n");
    let lines = lines.map(|members| format!("{{\"time\":\"{CREATED}\",{members}}}\n")).concat();
    stage.import("d.reel", header + &lines);
    let expected = "sequenceDiagram
    participant client
    participant server
    client->>server: #34;a#59; #37;#37;#123;init#125;#37;#37;#34;
    server-)client: notifications/progress × 2
    server-xclient: [no message] noise #34;ready#58; #35;1#34;
    participant client 7
    participant server 7
    client 7->>server 7: [injected] ping
    Note over client 7,server 7: traffic is missing here
    server-)client: notifications/progress
    server-->>client: result of #34;a#59; #37;#37;#123;init#125;#37;#37;#34; (1020 bytes)
";
    assert_eq!(stage.ok(&["export", "--format", "mermaid", "d.reel"]).out(), expected);
}

#[test]
fn a_document_for_people() {
    let stage = Stage::new();
    let at = |seconds: &str| CREATED.replace("Z", &format!(".{seconds}Z"));
    let request = r#""stream":4,"dir":"c2s","message":{"id":1,"method":"a|`b`\n<i>"}"#;
    let noise = r#""stream":4,"dir":"s2c","text":"| ready |""#;
    let injected = r#""stream":7,"dir":"c2s","injected":true,"message":{"id":1,"method":"ping"}"#;
    let gap = r#""stream":7,"event":"gap","framing":"whole","base64":"oA==""#;
    let error = r#""stream":4,"dir":"s2c","message":{"id":1,"error":{"code":-1,"message":"no\n```\n<b>"}}"#;
    let failed =
        r#""stream":4,"dir":"s2c","message":{"id":2,"result":{"isError":true,"content":[{"text":"it broke"}]}}"#;
    let lines = [("1", request), ("2", noise), ("3", injected), ("4", gap), ("5", error), ("6", failed)];
    let header = format!("{{\"reel\":{{\"version\":1,\"created\":\"{CREATED}\",\"label\":\"a # <b>\"}}}}\n");
    let lines = lines.map(|(time, members)| format!("{{\"time\":\"{}\",{members}}}\n", at(time))).concat();
    stage.import("p.reel", header + &lines);
    let expected = "# Session `a # <b>`, started STARTED

| Event | Time (s) | From | Kind | Method | Outcome | Latency (ms) | Bytes | Marks |
| ---: | ---: | --- | --- | --- | --- | ---: | ---: | --- |
| 0 | 0.000 | client | request | `a`&#124;&#96;`b`&#96; `<i>` |  |  | 30 |  |
| 1 | 0.100 | server | noise |  |  |  | 9 | no message |
| 2 | 0.200 | client 7 | request | `ping` | unknown |  | 24 | injected |
| 3 |  |  | *traffic is missing here* |  |  |  |  |  |
| 4 | 0.400 | server | error | `a`&#124;&#96;`b`&#96; `<i>` | error | 400 | 53 |  |
| 5 | 0.500 | server | result |  | tool error |  | 66 |  |

## Errors

### Event 4: error of `a`&#124;&#96;`b`&#96; `<i>`

````text
-1: no
```
<b>
````

### Event 5: tool error of an unknown request

```text
it broke
```
";
    let started = CREATED.replace('T', " ").replace('Z', " UTC");
    assert_eq!(stage.ok(&["export", "--format", "markdown", "p.reel"]).out(), expected.replace("STARTED", &started));
}

#[test]
fn odd_payloads_come_back_byte_for_byte() {
    let stage = Stage::new();
    let header = format!("{{\"reel\":{{\"version\":1,\"created\":\"{CREATED}\"}}}}\n");
    let odd = [
        r#"{"n":1.0,"m":1e400,"d":1,"d":2,"s":"\ud800"}"#,
        r#"{ "spaced" : [ 1 , 2 ] }"#,
        r#"{"big":123456789012345678901234567890}"#,
        "{\"utf8\":\"\u{e9}\u{1f600}\"}",
        r#""a string""#,
        "null",
    ];
    let lines: String =
        odd.iter().map(|text| format!("{{\"time\":\"{CREATED}\",\"dir\":\"s2c\",\"message\":{text}}}\n")).collect();
    stage.import("odd.reel", header + &lines);
    let expected = odd.map(|text| format!("{text}\n")).concat();
    assert_same("payloads", &stage.cat("odd.reel", "s2c"), expected.as_bytes());
    let exported = stage.ok(&["export", "odd.reel"]).stdout;
    stage.import("again.reel", &exported);
    assert_same("payloads", &stage.cat("again.reel", "s2c"), expected.as_bytes());
}

#[test]
fn files_are_not_overwritten_unless_asked() {
    let stage = stage();
    stage.write("taken", "precious");
    stage.ok(&["export", "s.reel", "-o", "lines.jsonl"]);
    for command in [
        vec!["export", "s.reel", "-o", "taken"],
        vec!["import", "lines.jsonl", "-o", "taken"],
        vec!["reel", "compact", "s.reel", "-o", "taken"],
        vec!["reel", "repair", "s.reel", "-o", "taken"],
    ] {
        let refused = stage.run(&command, "");
        assert_eq!(refused.code(), 2, "{command:?}: {refused:?}");
        assert_eq!(stage.read("taken"), b"precious");
        stage.ok(&[&command[..], &["--force"]].concat());
        assert_ne!(stage.read("taken"), b"precious");
        stage.write("taken", "precious");
    }
    let left: Vec<_> = std::fs::read_dir(stage.path(""))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains(".part")), "{left:?}");
}

#[test]
fn a_demonstration_that_cannot_be_kept_is_reported_before_it_begins() {
    let stage = Stage::new();
    stage.write("there.reel", "precious");
    for (path, code, reported) in [("there.reel", 2, "already exists"), ("no/such/a.reel", 4, "No such file")] {
        let output = stage.run(&["demo", "-o", path], "");
        assert_eq!((output.code(), output.out()), (code, String::new()), "{output:?}");
        assert!(output.err().contains(reported), "{output:?}");
    }
    assert_eq!(stage.read("there.reel"), b"precious");
}

#[test]
fn lines_that_cannot_be_imported_are_named_and_leave_nothing() {
    let stage = Stage::new();
    let good = format!("{{\"reel\":{{\"version\":1,\"created\":\"{CREATED}\"}}}}\n");
    for (lines, reported) in [
        (String::new(), "unknown format"),
        ("not json\n".into(), "unknown format"),
        ("{\"reel\":{\"version\":9,\"created\":\"2026-01-01T00:00:00Z\"}}\n".into(), "newer"),
        (format!("{good}{{\"dir\":\"c2s\"}}\n"), "line 2"),
        ("{\"reel\":{\"version\":1}}\n".into(), "\"reel\" has no \"created\" time"),
        (format!("{good}{{\"time\":\"{CREATED}\"}}\n"), "line 2: missing \"message\", \"text\" or \"base64\""),
        (format!("{good}\n\n{{\"time\":\"{CREATED}\",\"dir\":\"up\"}}\n"), "line 4"),
        (format!("{good}{{\"time\":\"{CREATED}\",\"base64\":\"!\"}}\n"), "base64"),
    ] {
        let output = stage.run(&["import", "-", "-o", "x.reel"], &lines);
        assert_eq!(output.code(), 3, "{lines}: {output:?}");
        assert!(output.err().contains(reported), "{lines}: {output:?}");
        assert!(!stage.path("x.reel").exists(), "{lines}");
    }
}

#[test]
fn compacting_keeps_every_event() {
    let stage = Stage::new();
    let events: Vec<Value> = (0..3000)
        .map(|id| {
            message(
                id,
                "c2s",
                json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": format!("tool-{}", id % 7), "arguments": {"text": "again and again ".repeat(5)}}}),
            )
        })
        .collect();
    stage.reel("big.reel", &events);
    let before = stage.ok(&["export", "big.reel"]).stdout;
    stage.ok(&["reel", "compact", "big.reel", "-o", "small.reel"]);
    assert_same("the export", &stage.ok(&["export", "small.reel"]).stdout, &before);
    assert!(stage.read("small.reel").len() <= stage.read("big.reel").len());
    stage.ok(&["reel", "compact", "big.reel"]);
    assert_same("in place", &stage.read("big.reel"), &stage.read("small.reel"));
    stage.ok(&["reel", "verify", "small.reel"]);
    assert_eq!(stage.ok(&["show", "small.reel", "--seq", "2999", "--jq", ".seq"]).out(), "2999\n");
    assert_eq!(stage.ok(&["show", "small.reel", "--from", "2.5", "-n", "1", "--jq", ".seq"]).out(), "2500\n");
}

/// Where the last segment of a reel, its index, begins.
fn footer_of(reel: &[u8]) -> usize {
    let magic = [0xd7, b'S', b'G', 0x8e];
    (0..reel.len()).rev().find(|at| reel[*at..].starts_with(&magic)).expect("a segment")
}

#[test]
fn a_reel_without_its_index_gets_it() {
    let stage = stage();
    let whole = stage.read("s.reel");
    stage.write("bare.reel", &whole[..footer_of(&whole)]);
    assert_eq!(stage.info("bare.reel")["indexed"], false);
    let reported = stage.ok(&["reel", "info", "bare.reel"]).out();
    assert!(reported.contains("mcpreel reel index"), "{reported}");
    let verified = stage.ok(&["reel", "verify", "bare.reel"]).out();
    assert!(verified.contains("30 events") && verified.contains("no index"), "{verified}");
    stage.ok(&["reel", "index", "bare.reel"]);
    assert_same("the reel", &stage.read("bare.reel"), &whole);
    let again = stage.ok(&["reel", "index", "bare.reel"]);
    assert!(again.err().contains("already has a valid index"), "{again:?}");
    assert_same("the reel", &stage.read("bare.reel"), &whole);
    stage.write("torn.reel", &whole[..footer_of(&whole) - 1]);
    let refused = stage.run(&["reel", "index", "torn.reel"], "");
    assert_eq!(refused.code(), 3, "{refused:?}");
    assert!(refused.err().contains("reel repair"), "{refused:?}");
}

#[test]
fn a_reel_is_read_from_a_pipe() {
    let stage = stage();
    let reel = stage.read("s.reel");
    for command in [
        vec!["show", "-"],
        vec!["show", "-", "--seq", "20"],
        vec!["show", "-", "--full", "tool:echo"],
        vec!["stats", "-", "--format", "json"],
        vec!["export", "-"],
        vec!["reel", "cat", "-", "--stream", "c2s"],
    ] {
        let piped = stage.run(&command, &reel);
        let named: Vec<&str> = command.iter().map(|word| if *word == "-" { "s.reel" } else { word }).collect();
        assert_eq!(piped.code(), 0, "{command:?}: {piped:?}");
        assert_same(&command.join(" "), &piped.stdout, &stage.ok(&named).stdout);
    }
    for command in [vec!["reel", "info", "-"], vec!["reel", "verify", "-"]] {
        let piped = stage.run(&command, &reel);
        assert_eq!(piped.code(), 0, "{command:?}: {piped:?}");
        assert!(piped.out().contains("30 events"), "{piped:?}");
    }
    for command in [["reel", "compact", "-", "-o", "-"], ["reel", "repair", "-", "-o", "-"]] {
        let piped = stage.run(&command, &reel);
        assert_eq!(piped.code(), 0, "{command:?}: {piped:?}");
        let exported = stage.run(&["export", "-"], &piped.stdout);
        assert_same("the export", &exported.stdout, &stage.ok(&["export", "s.reel"]).stdout);
    }
}

#[test]
fn what_comes_through_a_pipe_is_shown_as_it_comes_in_every_form() {
    let stage = stage();
    let whole = stage.read("s.reel");
    let footer = footer_of(&whole);
    for (form, first) in [("list", "    0 "), ("full", "    0 "), ("json", "{\"seq\":0,")] {
        let mut reader = stage.start(&["show", "--format", form, "-"]);
        reader.write(&whole[..footer]);
        // Nothing shows yet that this is all.
        assert!(reader.line().starts_with(first), "{form}");
        reader.write(&whole[footer..]);
        assert_eq!(reader.end().code(), 0, "{form}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let stage = Stage::new();
    let events: Vec<Value> = (0..5000)
        .map(|id| {
            message(
                id,
                "c2s",
                json!({"jsonrpc": "2.0", "id": id, "method": "ping",
        "params": {"text": "x".repeat(100)}}),
            )
        })
        .collect();
    stage.reel("long.reel", &events);
    for command in [
        vec!["show", "long.reel"],
        vec!["show", "long.reel", "--full"],
        vec!["show", "long.reel", "--format", "table"],
        vec!["export", "long.reel"],
        vec!["reel", "cat", "long.reel", "--stream", "c2s"],
        vec!["reel", "compact", "long.reel", "-o", "-"],
        vec!["show", "long.reel", "--jq", "repeat(1)"],
    ] {
        let mut spawned = stage.mcpreel(&command);
        spawned.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = spawned.spawn().expect("starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("ends");
        let reported = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command:?}: {reported}");
        assert_eq!(reported, "", "{command:?}");
    }
    let script = format!("{} show long.reel | head -n 1", BINARY);
    let output = finish(stage.command(&["sh", "-c", &script]), Vec::new());
    assert_eq!((output.out().lines().count(), output.err()), (1, String::new()));
}

#[test]
fn a_growing_reel_is_followed_to_its_end() {
    let stage = stage();
    let whole = stage.read("s.reel");
    let footer = footer_of(&whole);
    let mut growing = std::fs::File::create(stage.path("g.reel")).expect("a file");
    growing.try_lock().expect("nobody else writes it");
    let mut add = |bytes: &[u8]| {
        growing.write_all(bytes).expect("written");
        growing.flush().expect("flushed");
    };
    // The file header first, then the only segment of events in two pieces.
    let first = (0..whole.len()).find(|at| whole[*at..].starts_with(&[0xd7, b'S', b'G', 0x8e])).expect("a segment");
    add(&whole[..first + 30]);
    let mut follower = stage.start(&["show", "g.reel", "--follow", "--jq", ".seq"]);
    add(&whole[first + 30..footer - 5]);
    assert!(follower.is_running());
    add(&whole[footer - 5..footer]);
    for seq in 0..30 {
        assert_eq!(follower.line(), seq.to_string());
    }
    assert!(follower.is_running(), "a reel without its index may grow");
    add(&whole[footer..footer + 10]);
    add(&whole[footer + 10..]);
    assert_eq!(follower.next_line(), None);
    let ended = follower.end();
    assert_eq!((ended.code(), ended.err()), (0, String::new()));
}

#[test]
fn a_gap_is_no_damage_but_verify_reports_it() {
    let stage = stage();
    let gap = r#""stream":7,"event":"gap","framing":"whole","base64":"oA==""#;
    let ping = r#""stream":7,"dir":"c2s","message":{"id":1,"method":"ping"}"#;
    let lines = [ping, gap].map(|members| format!("{{\"time\":\"{CREATED}\",{members}}}\n")).concat();
    stage.import("g.reel", format!("{{\"reel\":{{\"version\":1,\"created\":\"{CREATED}\"}}}}\n{lines}"));
    let verified = stage.run(&["reel", "verify", "g.reel"], "");
    assert!(verified.out().contains("g.reel: 1 gap in the recording"), "{verified:?}");
    assert_eq!(verified.code(), 0, "{verified:?}");
    assert!(!stage.ok(&["reel", "verify", "s.reel"]).out().contains("gap"));
}

#[test]
fn a_running_recorder_is_followed() {
    let stage = Stage::new();
    let mut tap = stage.start(&["record", "-o", "live.reel", "--", "cat"]);
    until("a reel", || stage.path("live.reel").metadata().ok().filter(|about| about.len() > 60));
    let mut follower: Live = stage.start(&["show", "live.reel", "--follow", "--raw", "kind:notification dir:s2c"]);
    for round in 0..3 {
        let reported = json!({"jsonrpc": "2.0", "method": "round", "params": {"n": round}}).to_string();
        tap.write(format!("{reported}\n"));
        assert_eq!(tap.line(), reported);
        assert_eq!(follower.line(), reported);
    }
    assert_eq!(tap.end().code(), 0);
    assert_eq!(follower.next_line(), None);
    assert_eq!(follower.end().code(), 0);
}

#[test]
fn a_follower_stops_at_its_limit() {
    let stage = stage();
    let whole = stage.read("s.reel");
    stage.write("bare.reel", &whole[..footer_of(&whole)]);
    let mut follower = stage.start(&["show", "bare.reel", "--follow", "-n", "3", "--jq", ".seq"]);
    assert_eq!([follower.line(), follower.line(), follower.line()], ["0", "1", "2"]);
    assert_eq!(follower.end_with_open_stdin().code(), 0);
}

#[test]
fn no_reel_at_all_is_reported_with_what_to_do() {
    let output = Stage::new().run(&["show"], "");
    assert_eq!(output.code(), 3);
    assert!(output.err().contains("mcpreel record --"), "{output:?}");
}

#[test]
fn a_show_of_nothing_says_why() {
    let stage = stage();
    let mut none = Vec::new();
    mcpreel::testing::trace::FileHeader::default().write(&mut none).expect("a Vec takes all");
    stage.write("none.reel", none);
    for (words, why) in [
        (&["s.reel", "text:nowhere"][..], "no matches among 30 events"),
        (&["s.reel", "--seq", "28", "error"], "no matches among 2 events from that point on"),
        (&["s.reel", "--seq", "500"], "the reel has no events from that point on"),
        (&["none.reel"], "the reel is empty"),
    ] {
        let output = stage.ok(&[&["show"], words].concat());
        assert!(output.out().is_empty() && output.err().contains(why), "{words:?}: {output:?}");
    }
    assert_eq!(stage.ok(&["show", "s.reel", "-n", "0"]).err(), "", "that is what was asked for");
}

#[test]
fn what_is_in_a_batch_is_paired() {
    let stage = Stage::new();
    let ask = |id: u64, method: &str| json!({"jsonrpc": "2.0", "id": id, "method": method});
    let answer = |id: u64| json!({"jsonrpc": "2.0", "id": id, "result": {}});
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    stage.reel(
        "batch.reel",
        &[
            message(10, "c2s", json!([ask(1, "tools/list"), note, ask(2, "ping"), ask(3, "prompts/list")])),
            message(20, "c2s", ask(4, "resources/list")),
            message(30, "s2c", json!([answer(1), answer(4)])),
            message(70, "s2c", answer(3)),
        ],
    );
    assert_snapshot!(stage.ok(&["show", "batch.reel"]).out(), @r"
        0     0.010000 →    193 B               batch 4 messages: tools/list, notifications/initialized, ping, prompts/list
        1     0.020000 →     50 B             4 resources/list
        2     0.030000 ←     75 B  20.0 ms      batch 2 messages: tools/list, resources/list
        3     0.070000 ←     36 B  60.0 ms    3 prompts/list → ok
    ");
    assert_eq!(stage.ok(&["show", "batch.reel", "slow:>15ms", "kind:batch"]).out().lines().count(), 1);
}

#[test]
fn standard_error_is_compared_on_request() {
    let stage = Stage::new();
    for (reel, line) in [("a.reel", "ready in 1 step"), ("b.reel", "ready in 2 steps")] {
        let server = format!("echo '{line}' >&2; cat >/dev/null");
        let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
        let output = stage.run(&["record", "-o", reel, "--", "sh", "-c", &server], ping);
        assert_eq!(output.code(), 0, "{}", output.err());
    }
    stage.ok(&["diff", "a.reel", "b.reel"]);
    let compared = stage.run(&["diff", "a.reel", "b.reel", "--stderr"], "");
    assert_eq!(compared.code(), 1, "{}", compared.err());
    assert!(compared.out().contains("ready in 2 steps"), "{}", compared.out());
}
