use super::super::{Outside, Task};
use super::*;

const ROOT: &str = "file:///w/";

fn watching() -> Config {
    let commands = vec!["make".to_owned(), "lint".to_owned()];
    let outside = Outside { folders: vec![ROOT.to_owned()], commands, ..Outside::default() };
    Config { outside, ..Config::default() }
}

impl Host {
    fn complete_io(&mut self, completed: Option<Value>) -> Value {
        let ticket = self.io_requests.pop().expect("an I/O request").ticket;
        let outputs = self.server.complete_io(self.now, ticket, completed);
        self.sort(outputs).pop().expect("an answer")
    }
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(|item| item["name"].as_str()).collect()
}

#[test]
fn files_are_listed_and_read_from_outside() {
    let mut host = Host::ready(watching(), "2025-11-25", &json!({})).0;
    assert!(host.ask("resources/list", &json!({})).is_empty());
    assert!(host.server.is_owing());
    assert_eq!(host.io_requests[0].task, Task::List);
    let listed = host.complete_io(Some(json!([{"uri": "file:///w/a", "name": "a"}])));
    assert_eq!(names(&listed["result"]["resources"]), ["memories", "notes", "a"]);
    assert!(!host.server.is_owing());
    assert!(host.ask("resources/read", &json!({"uri": "file:///w/a"})).is_empty());
    let read = host.complete_io(Some(json!({"uri": "file:///w/a", "text": "x"})));
    assert_eq!(read["result"]["contents"][0]["text"], "x");
    host.ask("resources/read", &json!({"uri": "file:///w/b"}));
    assert_eq!(host.complete_io(None)["error"]["code"], -32002);
    assert_eq!(host.request("resources/read", &json!({"uri": "file:///etc/passwd"}))["error"]["code"], -32002);
    let mut host = Host::plain();
    assert_eq!(names(&host.request("resources/list", &json!({}))["result"]["resources"]), ["memories", "notes"]);
    assert_eq!(host.request("resources/read", &json!({"uri": "file:///w/a"}))["error"]["code"], -32002);
}

#[test]
fn who_watches_a_file_or_a_folder_above_receives_of_changes() {
    for (watched, uri, is_reported) in [
        ("file:///w/src/a", "file:///w/src/a", true),
        ("file:///w/src", "file:///w/src/a", true),
        ("file:///w/", "file:///w/src/a", true),
        ("file:///w", "file:///w/src/a", true),
        ("file:///w/src/a", "file:///w/src/ab", false),
        ("file:///w/src/b", "file:///w/src/a", false),
    ] {
        let mut host = Host::ready(watching(), "2025-11-25", &json!({})).0;
        assert_eq!(host.request("resources/subscribe", &json!({"uri": watched}))["result"], json!({}));
        let reported = host.fire(&json!({"kind": "changed", "uri": uri}));
        assert_eq!(reported.len(), usize::from(is_reported), "{watched} {uri}");
        if is_reported {
            assert_eq!(reported[0]["params"]["uri"], uri);
        } else {
            assert_eq!(host.unsent(), &json!({"why": "not_watched", "uri": uri}));
        }
    }
    let mut host = Host::ready(watching(), "2025-11-25", &json!({})).0;
    for outside in ["file:///etc", "file:///", "file:///wide"] {
        assert_eq!(host.request("resources/subscribe", &json!({"uri": outside}))["error"]["code"], -32002);
    }
}

#[test]
fn commands_are_run_outside_and_only_those_that_there_are() {
    let mut host = Host::ready(watching(), "2025-11-25", &json!({})).0;
    let check = |arguments: Value| json!({"name": "check", "arguments": arguments});
    assert!(host.ask("tools/call", &check(json!({}))).is_empty());
    assert_eq!(host.io_requests[0].task, Task::Run(vec!["make".to_owned(), "lint".to_owned()]));
    assert!(!host.server.is_owing(), "who has gone does not wait for a command");
    let outcome = json!({"command": "make", "passed": false, "how": "failed with exit code 2", "output": "no rule\n"});
    let answer = host.complete_io(Some(json!([outcome])))["result"].clone();
    assert_eq!(text(&answer), "make: failed with exit code 2\nno rule");
    assert_eq!(answer["structuredContent"]["outcomes"], json!([outcome]));
    host.ask("tools/call", &check(json!({"command": "lint"})));
    assert_eq!(host.io_requests[0].task, Task::Run(vec!["lint".to_owned()]));
    let id = host.asked;
    host.notify("notifications/cancelled", &json!({"requestId": id}));
    assert_eq!(host.reported(), &json!({"report": "cancelled", "id": id.to_string()}));
    let ticket = host.io_requests.pop().expect("an I/O request").ticket;
    assert!(host.server.complete_io(host.now, ticket, Some(json!([]))).is_empty(), "it was taken back");
    let refused = host.tool("check", &json!({"command": "rm -rf /"}));
    assert!(refused["isError"] == true && text(&refused).contains("make, lint"), "{refused}");
    assert!(host.io_requests.is_empty());
    assert_eq!(Host::plain().request("tools/call", &check(json!({})))["error"]["code"], -32602);
}

#[test]
fn without_a_memory_nothing_of_it_is_offered() {
    let hooks = json!({"hooks": {"supported_events": ["session_start"]}});
    let with = Host::ready(Config::default(), "2025-11-25", &hooks).1;
    assert_eq!(with["capabilities"]["hooks"]["declarations"].as_array().map(Vec::len), Some(1));
    let (mut host, without) = Host::ready(Config { memory: false, ..Config::default() }, "2025-11-25", &hooks);
    assert_eq!(without["capabilities"]["hooks"]["declarations"], json!([]));
    assert!(with["instructions"].to_string().contains("search_memories"));
    assert!(!without["instructions"].to_string().contains("search_memories"));
    let mut list = |method: &str, member: &str| {
        let listed = host.request(method, &json!({}));
        names(&listed["result"][member]).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let tools = list("tools/list", "tools");
    assert!(!tools.iter().any(|name| name == "remember" || name == "search_memories"), "{tools:?}");
    assert!(tools.iter().any(|name| name == "add_note"), "{tools:?}");
    assert_eq!(list("resources/list", "resources"), ["notes"]);
    assert_eq!(list("resources/templates/list", "resourceTemplates"), [""; 0]);
    assert_eq!(list("prompts/list", "prompts"), ["review_notes"]);
    let call = json!({"name": "remember", "arguments": {"content": "x"}});
    assert_eq!(host.request("tools/call", &call)["error"]["code"], -32602);
    assert_eq!(host.request("resources/read", &json!({"uri": "mcpreel://memories"}))["error"]["code"], -32002);
    let recall = json!({"name": "recall", "arguments": {"topic": "x"}});
    assert_eq!(host.request("prompts/get", &recall)["error"]["code"], -32602);
}
