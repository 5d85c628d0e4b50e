//! Near misses whose sessions are computed.

use super::super::{Feed, lines};
use super::{Failed, NotObserved, Passed, STATE, TASK, expand, outcome_in, run, verdict};
use crate::proposals::findings::Verdict;
use crate::trace::{EventKind, Flags};
use crate::wire::{Direction, Framing};
use serde_json::{Value, json};

/// A call that the server answers with these requests of inputs, and the inputs with which the client calls again.
fn round(requests: &str, inputs: &str) -> String {
    let capabilities = r#""io.modelcontextprotocol/clientCapabilities":{"sampling":{},"roots":{},"elicitation":{}}"#;
    format!(
        r#"c>s {{"id":1,"method":"tools/call","params":{{"name":"t","_meta":{{$MEMBERS,{capabilities}}}}}}}
           s>c {{"id":1,"result":{{"resultType":"input_required",{requests}}}}}
           c>s {{"id":2,"method":"tools/call","params":{{"name":"t",{inputs},"_meta":{{$MEMBERS,{capabilities}}}}}}}"#
    )
}

#[test]
fn inputs_fit_what_was_asked() {
    let sampling =
        r#""inputRequests":{"a":{"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[]}}}"#;
    let roots = r#""inputRequests":{"a":{"method":"roots/list"}}"#;
    for (requests, input, expected) in [
        (sampling, r#"{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}"#, Passed),
        (sampling, r#"{"model":"m","content":{"type":"text","text":"x"}}"#, Failed),
        (sampling, r#"{"role":"assistant","content":{"type":"text","text":"x"}}"#, Failed),
        (sampling, r#"{"role":"assistant","model":"m"}"#, Failed),
        (roots, r#"{"roots":[]}"#, Passed),
        (roots, r#"{"roots":{}}"#, Failed),
        (roots, "{}", Failed),
    ] {
        let script = round(requests, &format!(r#""inputResponses":{{"a":{input}}}"#));
        assert_eq!(verdict("input/wrong-kind", &script), expected, "{input}");
    }
    let tools = r#""inputRequests":{"a":{"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[],"tools":[]}}}"#;
    assert_eq!(verdict("input/undeclared", &round(tools, r#""x":1"#)), Failed, "sampling.tools is not declared");
    assert_eq!(verdict("input/undeclared", &round(sampling, r#""x":1"#)), Passed);
}

#[test]
fn states_come_back_as_they_were_sent() {
    let asks = r#""inputRequests":{"a":{"method":"roots/list"}}"#;
    let answer = r#""inputResponses":{"a":{"roots":[]}}"#;
    for (state, returned, expected) in [
        (r#""requestState":"s","#, r#""requestState":"s","#, Passed),
        (r#""requestState":"s","#, r#""requestState":"t","#, Failed),
        (r#""requestState":"s","#, "", Failed),
        ("", r#""requestState":"s","#, Failed),
        ("", "", Passed),
    ] {
        let script = round(&format!("{state}{asks}"), &format!("{returned}{answer}"));
        assert_eq!(verdict("input/state", &script), expected, "{state} {returned}");
    }
    assert_eq!(verdict("input/empty", &round(r#""requestState":7"#, r#""x":1"#)), Failed, "a state is a text");
    assert_eq!(verdict("input/empty", &round(r#""requestState":"s""#, r#""x":1"#)), Passed);
    let once = round(&format!(r#""requestState":"s",{asks}"#), &format!(r#""requestState":"s",{answer}"#));
    let again = once.lines().last().unwrap_or_default().replace(r#""id":2"#, r#""id":3"#);
    assert_eq!(verdict("input/state-reused", &format!("{once}\n{again}")), Failed);
}

/// A server with this tool that works on tasks, and what follows.
fn listed(tool: &str, rest: &str) -> String {
    format!(
        r#"hello 2025-11-25 {{}} | {{"tools":{{"listChanged":true}},"tasks":{{"requests":{{"tools":{{"call":{{}}}}}}}}}}
           c>s {{"id":1,"method":"tools/list"}}
           s>c {{"id":1,"result":{{"tools":[{tool}]}}}}
           {rest}"#
    )
}

#[test]
fn tools_that_may_be_tasks() {
    let tool = |support: &str| {
        format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"execution":{{"taskSupport":"{support}"}}}}"#)
    };
    let plain = r#"c>s {"id":2,"method":"tools/call","params":{"name":"t"}}"#;
    let as_task = r#"c>s {"id":2,"method":"tools/call","params":{"name":"t","task":{}}}"#;
    let result = r#"s>c {"id":2,"result":{"content":[]}}"#;
    let error = r#"s>c {"id":2,"error":{"code":-32602,"message":"?"}}"#;
    for (rule, expected, support, rest) in [
        ("tools/task-forbidden", Passed, "optional", as_task.to_owned()),
        ("tools/task-forbidden", Passed, "optional", plain.to_owned()),
        ("tools/task-forbidden", Failed, "forbidden", as_task.to_owned()),
        ("tools/task-required", Passed, "required", as_task.to_owned()),
        ("tools/task-required", NotObserved, "optional", plain.to_owned()),
        ("tools/task-required-accepted", Failed, "required", format!("{plain}\n{error}")),
        ("tools/task-required-accepted", NotObserved, "required", format!("{as_task}\n{result}")),
        ("tools/task-required-accepted", NotObserved, "optional", format!("{plain}\n{error}")),
    ] {
        assert_eq!(verdict(rule, &listed(&tool(support), &rest)), expected, "{rule}: {support} {rest}");
    }
    // A server that works on no tasks makes no promises about them.
    let without =
        |rest: &str| listed(&tool("forbidden"), rest).replace(r#","tasks":{"requests":{"tools":{"call":{}}}}"#, "");
    assert_eq!(verdict("tools/task-forbidden", &without(as_task)), NotObserved);
    let required = listed(&tool("required"), &format!("{plain}\n{result}"));
    let undeclared = required.replace(r#","tasks":{"requests":{"tools":{"call":{}}}}"#, "");
    assert_eq!(verdict("tools/task-required-accepted", &required), Failed);
    assert_eq!(verdict("tools/task-required-accepted", &undeclared), NotObserved);
    assert_eq!(verdict("tools/task-required", &undeclared), NotObserved);
}

/// The limits of the specification belong to what is allowed.
#[test]
fn limits() {
    for (length, expected) in [(128, Passed), (129, Failed)] {
        let tool = format!(r#"{{"name":"{}","inputSchema":{{"type":"object"}}}}"#, "n".repeat(length));
        assert_eq!(verdict("tools/name", &listed(&tool, "")), expected, "{length}");
    }
    for (count, expected) in [(100, Passed), (101, Failed)] {
        let values = vec![r#""v""#; count].join(",");
        let script = format!(
            r#"hello 2025-11-25 {{}} | {{"completions":{{}}}}
               c>s {{"id":1,"method":"completion/complete","params":{{"ref":{{"type":"ref/prompt","name":"p"}},"argument":{{"name":"a","value":""}}}}}}
               s>c {{"id":1,"result":{{"completion":{{"values":[{values}]}}}}}}"#
        );
        assert_eq!(verdict("completion/too-many", &script), expected, "{count}");
    }
}

/// What does not fit into a table was not observed, whatever else was.
#[test]
fn more_than_is_remembered() {
    let many = |count: usize, item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(",");
    for (count, expected) in [(1024, Passed), (1025, NotObserved)] {
        let tools = many(count, &|at| format!(r#"{{"name":"t{at}","inputSchema":{{"type":"object"}}}}"#));
        let call = r#"c>s {"id":2,"method":"tools/call","params":{"name":"t1"}}"#;
        for rule in ["tools/duplicate-name", "tools/arguments"] {
            assert_eq!(verdict(rule, &listed(&tools, call)), expected, "{rule}: {count}");
        }
    }
    for (count, used, expected) in
        [(256, "t1", Passed), (256, "u", Failed), (257, "t1", Passed), (257, "t256", NotObserved)]
    {
        let tools = many(count, &|at| format!(r#"{{"name":"t{at}","inputSchema":{{"type":"object"}}}}"#));
        let script = format!(
            r#"hello 2025-11-25 {{"sampling":{{"tools":{{}}}}}} | {{}}
               s>c {{"id":1,"method":"sampling/createMessage","params":{{"maxTokens":1,"messages":[],"tools":[{tools}]}}}}
               c>s {{"id":1,"result":{{"role":"assistant","model":"m","content":{{"type":"tool_use","id":"a","name":"{used}","input":{{}}}}}}}}"#
        );
        assert_eq!(verdict("sampling/tool-not-offered", &script), expected, "{count} {used}");
    }
    for (count, used, expected) in [(256, 1, Passed), (256, 256, Failed), (257, 1, Passed), (257, 256, NotObserved)] {
        let uris = many(count, &|at| format!(r#""a:{at}/""#));
        let notifications = |uris: &str| format!(r#""notifications":{{"resourceSubscriptions":[{uris}]}}"#);
        let script = format!(
            r#"c>s {{"id":1,"method":"subscriptions/listen","params":{{{},$META}}}}
               s>c {{"method":"notifications/subscriptions/acknowledged","params":{{{},$SUBSCRIPTION}}}}
               s>c {{"method":"notifications/resources/updated","params":{{"uri":"a:{used}/",$SUBSCRIPTION}}}}"#,
            notifications(&uris),
            notifications(&format!(r#""a:{used}/""#))
        );
        for rule in ["subscriptions/acknowledged-more", "subscriptions/unrequested"] {
            assert_eq!(verdict(rule, &script), expected, "{rule}: {count} {used}");
        }
    }
    for (count, expected) in [(63, Failed), (64, NotObserved)] {
        let requests = many(count, &|at| format!(r#""k{at}":{{"method":"roots/list"}}"#));
        let inputs = many(count + 1, &|at| format!(r#""k{at}":{{"roots":[]}}"#));
        let script = round(&format!(r#""inputRequests":{{{requests}}}"#), &format!(r#""inputResponses":{{{inputs}}}"#));
        assert_eq!(verdict("input/unasked", &script), expected, "{count}");
    }
}

/// Answers to requests that a table has forgotten were not checked, so their rules did not pass.
#[test]
fn requests_that_are_forgotten() {
    let script = |count: usize, hello: &str, sender: &str, request: &str, answers: &str| {
        let asks: Vec<_> = (0..count)
            .map(|at| format!("{sender} {{\"id\":{at},{}}}", request.replace("AT", &at.to_string())))
            .collect();
        format!("hello 2025-11-25 {hello}\n{}\n{answers}", asks.join("\n"))
    };
    let call = r#""method":"tools/call","params":{"name":"t","_meta":{"progressToken":"pAT"}}"#;
    let progress = |at: usize| {
        format!(r#"s>c {{"method":"notifications/progress","params":{{"progressToken":"p{at}","progress":1}}}}"#)
    };
    for (count, expected) in [(1024, Passed), (1025, NotObserved)] {
        let both = format!("{}\n{}", progress(1023), progress(0));
        let reported = script(count, r#"{} | {"tools":{}}"#, "c>s", call, &both);
        for rule in
            ["pairing/progress-token", "progress/increases", "progress/after-end", "progress/after-cancellation"]
        {
            assert_eq!(verdict(rule, &reported), expected, "{rule}: {count}");
        }
        let answered = script(count, r#"{} | {"tools":{}}"#, "c>s", call, r#"s>c {"id":0,"result":{"content":[]}}"#);
        assert_eq!(verdict("progress/token-reused", &answered), expected, "{count}");
        let list = r#"c>s {"id":"l","method":"tools/list"}
            s>c {"id":"l","result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]}}"#;
        let results = r#"s>c {"id":1000,"result":{"structuredContent":{},"content":[{"type":"text","text":"{}"}]}}
            s>c {"id":0,"result":{"structuredContent":{},"content":[{"type":"text","text":"{}"}]}}"#;
        let called = script(count, &format!("{{}} | {{\"tools\":{{}}}}\n{list}"), "c>s", call, results);
        for rule in ["tools/invalid-arguments-accepted", "tools/structured-content", "tools/unknown-answered"] {
            assert_eq!(verdict(rule, &called), expected, "{rule}: {count}");
        }
    }
    let hooks = r#"{} | {"tools":{},"hooks":{"declarations":[{"event":"post_tool_use","context_tool":"recall","context_tool_args":{"q":"{tool_input}"}}]}}"#;
    let other = r#""method":"tools/call","params":{"name":"t","arguments":{"n":AT}}"#;
    let fired = |at: usize| {
        let arguments = format!(r#"{{"q":"{{\"n\":{at}}}"}}"#);
        format!(r#"c>s {{"id":"r{at}","method":"tools/call","params":{{"name":"recall","arguments":{arguments}}}}}"#)
    };
    for (count, at, expected) in [(256, 0, Failed), (257, 0, NotObserved), (256, 255, Failed)] {
        let script = script(count, hooks, "c>s", other, &fired(at));
        assert_eq!(verdict("hooks/order", &script), expected, "{count} {at}");
    }
    let sample = r#""method":"sampling/createMessage","params":{"maxTokens":1,"messages":[],"tools":[{"name":"t","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"required"}}"#;
    let used =
        r#""result":{"role":"assistant","model":"m","content":{"type":"tool_use","id":"a","name":"t","input":{}}}}"#;
    let question =
        r#""method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
    let answer = r#""result":{"action":"accept","content":{}}}"#;
    let cases = [
        ("sampling/tool-not-offered", 256, r#"{"sampling":{"tools":{}}} | {}"#, sample, used),
        ("sampling/tool-required", 256, r#"{"sampling":{"tools":{}}} | {}"#, sample, used),
        ("elicitation/content", 64, r#"{"elicitation":{}} | {}"#, question, answer),
    ];
    for (rule, most, hello, request, answer) in cases {
        for (count, expected) in [(most, Passed), (most + 1, NotObserved)] {
            let answers = format!("c>s {{\"id\":1,{answer}\nc>s {{\"id\":0,{answer}");
            assert_eq!(verdict(rule, &script(count, hello, "s>c", request, &answers)), expected, "{rule}: {count}");
        }
    }
}

/// The types of results that extensions define are theirs; no other text is one.
#[test]
fn types_of_results_with_extensions() {
    for (client, server, kind, expected) in [
        (r#"{"a.b/c":{}}"#, r#"{"a.b/c":{}}"#, "other", NotObserved),
        (r#"{"a.b/c":{}}"#, r#"{"a.b/c":{}}"#, "", Failed),
        (r#"{"a.b/c":{}}"#, r#"{"a.b/c":{}}"#, "complete", Passed),
        (r#"{"a.b/c":{}}"#, "{}", "other", Failed),
        ("{}", r#"{"a.b/c":{}}"#, "other", Failed),
    ] {
        let meta =
            format!(r#""_meta":{{$MEMBERS,"io.modelcontextprotocol/clientCapabilities":{{"extensions":{client}}}}}"#);
        let script = format!(
            r#"c>s {{"id":1,"method":"server/discover","params":{{{meta}}}}}
               s>c {{"id":1,"result":{{"supportedVersions":["2026-07-28"],"capabilities":{{"extensions":{server}}},"ttlMs":0,"cacheScope":"private"}}}}
               c>s {{"id":2,"method":"tools/call","params":{{"name":"t",{meta}}}}}
               s>c {{"id":2,"result":{{"resultType":"{kind}","content":[]}}}}"#
        );
        assert_eq!(verdict("era/unknown-result-type", &script), expected, "{client} {server} {kind}");
    }
}

#[test]
fn more_about_tasks() {
    let get = |id: u32| format!(r#"c>s {{"id":{id},"method":"tasks/get","params":{{"taskId":"a"}}}}"#);
    let got = |id: u32| format!(r#"s>c {{"id":{id},{}}}"#, STATE.replace("STATUS", "working"));
    let list = |id: u32| format!(r#"c>s {{"id":{id},"method":"tasks/list"}}"#);
    let listed = |id: u32, tasks: &str| format!(r#"s>c {{"id":{id},"result":{{"tasks":[{tasks}]}}}}"#);
    let state = STATE.replace("STATUS", "working");
    let task = state.strip_prefix(r#""result":"#).unwrap_or_default();
    for (lines, expected) in [
        (vec![get(2), got(2), list(3), listed(3, ""), get(4), got(4)], Failed),
        (vec![get(2), got(2), list(3), listed(3, task), get(4), got(4)], Passed),
        // The list was asked for before the task was found.
        (vec![get(2), list(3), got(2), listed(3, ""), get(4), got(4)], NotObserved),
        // The question was asked before the list came.
        (vec![get(2), got(2), list(3), get(4), listed(3, ""), got(4)], NotObserved),
        (vec![list(3), listed(3, ""), get(4), got(4)], NotObserved),
    ] {
        let script = format!("{TASK}\n{}", lines.join("\n"));
        assert_eq!(verdict("tasks/list-incomplete", &script), expected, "{lines:?}");
    }
    let call = format!(
        r#"{TASK}
        c>s {{"id":2,"method":"tools/call","params":{{"name":"t","taskId":"b"}}}}"#
    );
    assert_eq!(verdict("tasks/unknown-id", &call), NotObserved);
    let related = format!(
        r#"{TASK}
        gap
        s>c {{"method":"notifications/message","params":{{"level":"info","data":"x","_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"a"}}}}}}}}"#
    );
    assert_eq!(verdict("tasks/related-unknown", &related), Passed);
}

/// A rule of another revision or transport does not apply. One that nothing exercised was not observed.
#[test]
fn rules_apply_to_revisions_and_transports() {
    use Verdict::NotApplicable;
    let legacy = "hello 2025-06-18 {} | {}";
    let modern = r#"c>s {"id":1,"method":"tools/list","params":{$META}}"#;
    let unknown_revision = r#"c>s {"id":1,"method":"initialize","params":{"protocolVersion":"2030-01-01","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
        s>c {"id":1,"result":{"protocolVersion":"one","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
    let old_transport = "> GET {}\n< 200\nendpoint /x\n> POST {}\nc>s {\"id\":1,\"method\":\"ping\"}";
    for (rule, expected, script) in [
        ("tasks/unrequested", NotApplicable, legacy),
        ("tasks/unrequested", NotObserved, "hello 2025-11-25 {} | {}"),
        ("tasks/unrequested", NotApplicable, modern),
        ("tasks/unrequested", NotObserved, unknown_revision),
        ("tasks/unrequested", NotObserved, "s>c started"),
        ("elicitation/url", NotObserved, legacy),
        ("elicitation/url", NotApplicable, "hello 2025-03-26 {} | {}"),
        ("elicitation/url", NotObserved, modern),
        ("era/retired-code", NotApplicable, legacy),
        ("era/retired-code", NotObserved, modern),
        ("era/retired-code", NotApplicable, unknown_revision),
        ("http/get-accept", NotApplicable, legacy),
        ("http/get-accept", NotObserved, "$SESSION"),
        ("http/get-accept", NotApplicable, old_transport),
    ] {
        let report = run(&expand(script));
        let verdicts: Vec<_> = report.connections.iter().flat_map(|it| it.verdicts.all()).collect();
        assert!(verdicts.contains(&(rule, expected)), "{rule} is not {expected:?}: {script}");
    }
}

/// Events that no script has: in the wrong direction, of an unknown kind, or cut short.
#[test]
fn events_that_contradict_themselves() {
    use Direction::{ClientToServer, ServerToClient};
    let after = |script: &str, exchange, kind, flags, payload: &[u8]| {
        let mut feed = Feed::new();
        lines(&expand(script)).iter().for_each(|line| feed.line(line));
        feed.exchange = exchange;
        feed.event(kind, flags, Framing::Lf, payload);
        feed
    };
    let cbor = |value: &Value| {
        let mut payload = Vec::new();
        ciborium::into_writer(value, &mut payload).expect("CBOR");
        payload
    };
    let asked = r#"> POST {}
        c>s {"id":1,"method":"ping"}"#;
    let accepted = r#"> POST {}
        c>s {"method":"x"}
        < 202"#;
    let unread = r#"c>s {"id":1,"method":"ping"}"#;
    for (rule, expected, script, direction, what) in [
        ("http/get-accept", Verdict::NotApplicable, unread, ServerToClient, "request"),
        ("http/get-accept", Failed, unread, ClientToServer, "request"),
        ("pairing/open-at-end", Failed, asked, ClientToServer, "response"),
        ("pairing/open-at-end", NotObserved, asked, ServerToClient, "response"),
        ("pairing/open-at-end", Failed, asked, ServerToClient, "other"),
        ("http/accepted-body", NotObserved, accepted, ClientToServer, "body"),
        ("http/accepted-body", Failed, accepted, ServerToClient, "body"),
    ] {
        let headers = [["mcp-session-id", "s"]];
        let reported = json!({"what": what, "method": "GET", "status": 500, "headers": headers, "bytes": 5});
        let feed = after(script, 1, EventKind::Transport, Flags::toward(direction), &cbor(&reported));
        assert_eq!(outcome_in(rule, &feed.reporter.finish()).0, expected, "{rule}: {what} {direction:?}");
    }
    let response = br#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
    for (flags, expected) in [(Flags::default(), Failed), (Flags::TRUNCATED, NotObserved)] {
        let feed = after("", 0, EventKind::Message, Flags::toward(ServerToClient).with(flags), response);
        assert_eq!(outcome_in("pairing/orphan-response", &feed.reporter.finish()).0, expected, "{flags:?}");
    }
    for (member, expected) in [("continues", NotObserved), ("mark", Failed)] {
        let mut feed = after("", 0, EventKind::Note, Flags::default(), &cbor(&json!({member: "a.reel"})));
        feed.event(EventKind::Message, Flags::toward(ServerToClient), Framing::Lf, response);
        assert_eq!(outcome_in("pairing/orphan-response", &feed.reporter.finish()).0, expected, "{member}");
    }
}
