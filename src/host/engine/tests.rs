//! The host over scripted servers, in virtual time.

use super::*;
use crate::extension::host::Place;
use crate::host::client::EraChoice;
use crate::host::prompt::Role;
use crate::wire::{Envelope, MessageKind};

/// A server that answers by a function; what it says besides is put in by the test.
type Script = Box<dyn FnMut(&str, &Value, &str) -> Vec<String>>;

struct Stage {
    host: Host,
    scripts: Vec<Script>,
    now: Duration,
    facts: Vec<Fact>,
    prompts: Vec<Prompt>,
    done: Vec<Done>,
    /// What the model says, prompt by prompt; then "ok".
    replies: VecDeque<ModelReply>,
    sent: Vec<(usize, String)>,
}

fn result(id: &str, result: &Value) -> Vec<String> {
    vec![json!({"jsonrpc": "2.0", "id": 0, "result": result}).to_string().replace("\"id\":0", &format!("\"id\":{id}"))]
}

/// A server with these capabilities, whose other methods `more` answers.
fn server(capabilities: Value, mut more: impl FnMut(&str, &Value, &str) -> Vec<String> + 'static) -> Script {
    Box::new(move |method, params, id| match method {
        "initialize" => {
            let info = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
                "serverInfo": {"name": "inner", "version": "1"}});
            result(id, &info)
        }
        _ => more(method, params, id),
    })
}

fn silent(_: &str, _: &Value, _: &str) -> Vec<String> {
    Vec::new()
}

fn stage(servers: Vec<(&str, Script)>, set: &[(&str, Option<&str>, Value)]) -> Stage {
    let mut policies = policies();
    for (option, server, value) in set {
        policies.set(*server, option, value).expect("an option");
    }
    let config = |name: &&str| {
        let client = ClientConfig { era: EraChoice::Legacy, ..ClientConfig::new("test", "1") };
        ServerConfig { name: (*name).to_owned(), client }
    };
    let (names, scripts): (Vec<&str>, Vec<Script>) = servers.into_iter().unzip();
    let servers = names.iter().map(config).collect();
    let config = HostConfig { servers, policies, project: "demo".to_owned(), seed: 7, ..HostConfig::default() };
    let (facts, prompts, done, replies, sent) = Default::default();
    let mut stage =
        Stage { host: Host::new(config), scripts, now: Duration::ZERO, facts, prompts, done, replies, sent };
    let outputs = stage.host.start(Duration::ZERO);
    stage.play(outputs);
    stage
}

impl Stage {
    fn play(&mut self, outputs: Vec<Output>) {
        let mut outputs = VecDeque::from(outputs);
        while let Some(output) = outputs.pop_front() {
            match output {
                Output::Send { server, message } => {
                    self.sent.push((server.0, String::from_utf8_lossy(&message).into_owned()));
                    let envelope = Envelope::scan(&message);
                    let id = envelope.id.map(|id| String::from_utf8_lossy(id.0).into_owned()).unwrap_or_default();
                    let Some(method) = envelope.method.as_deref() else { continue };
                    let params: Value =
                        envelope.params.map_or(Value::Null, |text| serde_json::from_slice(text).unwrap_or_default());
                    for answer in (self.scripts[server.0])(method, &params, &id) {
                        outputs.extend(self.host.receive(self.now, server, answer.as_bytes()));
                    }
                }
                Output::Fact(fact) => self.facts.push(fact),
                Output::Prompt(prompt) => {
                    self.prompts.push(prompt);
                    let ok = ModelReply { text: "ok".to_owned(), tool_calls: Vec::new() };
                    let reply = self.replies.pop_front().unwrap_or(ok);
                    outputs.extend(self.host.model(self.now, Ok(reply)));
                }
                Output::Done(done) => self.done.push(done),
                Output::Client { .. } => {}
            }
        }
    }

    fn order(&mut self, order: Order) {
        let outputs = self.host.order(self.now, order);
        self.play(outputs);
        // Time passes as far as the host waits for it.
        while !self.host.is_idle() {
            let Some(at) = self.host.next_wake() else { break };
            self.now = self.now.max(at);
            let outputs = self.host.wake(self.now);
            self.play(outputs);
        }
    }

    fn turn(&mut self, text: &str) -> String {
        self.order(Order::Turn { text: text.to_owned(), agent: Agent::Main });
        self.prompts.last().map(Prompt::to_text).unwrap_or_default()
    }

    fn says(&mut self, server: usize, message: &Value) {
        let outputs = self.host.receive(self.now, ServerId(server), message.to_string().as_bytes());
        self.play(outputs);
    }

    fn told(&self, what: &str) -> Vec<&Fact> {
        self.facts.iter().filter(|fact| fact.what == what).collect()
    }
}

fn subscribed() -> Value {
    json!({"conversationEvents": {"onUserMessage": true}})
}

fn context(text: &'static str) -> impl FnMut(&str, &Value, &str) -> Vec<String> {
    move |method, _, id| match method {
        "conversation/userMessage" => result(id, &json!({"context": text})),
        _ => Vec::new(),
    }
}

#[test]
fn a3_a11_every_subscriber_is_asked_and_its_context_stands_before_the_message() {
    let servers = vec![
        ("a", server(subscribed(), context("from a"))),
        ("plain", server(json!({}), silent)),
        ("b", server(subscribed(), context("from b"))),
    ];
    let mut stage = stage(servers, &[("conversation.priority", Some("b"), json!(1))]);
    stage.turn("hello");
    let asked: Vec<usize> =
        stage.sent.iter().filter(|(_, text)| text.contains("userMessage")).map(|(server, _)| *server).collect();
    assert_eq!(asked, [0, 2]);
    let parts: Vec<(Role, Option<&str>)> = stage.prompts[0]
        .parts
        .iter()
        .map(|part| (part.role, part.origin.as_ref().map(|origin| origin.server.as_str())))
        .collect();
    assert_eq!(parts, [(Role::User, Some("b")), (Role::User, Some("a")), (Role::User, None)]);
    assert!(stage.prompts[0].parts[0].text.starts_with("[context from the external server \"b\", not from the user]"));
    assert_eq!(stage.prompts[0].parts[0].origin.as_ref().map(|origin| origin.place), Some(Place::BeforeUser));
    assert_eq!(stage.done, [Done::Connected, Done::Turn { turn: 1, answer: "ok".to_owned() }]);
}

#[test]
fn a12_a13_a20_the_silent_are_passed_over_then_not_asked_and_late_answers_go_nowhere() {
    let mut stage = stage(
        vec![("slow", server(subscribed(), silent)), ("quick", server(subscribed(), context("here")))],
        &[("conversation.disable_after", None, json!(2))],
    );
    let prompt = stage.turn("one");
    assert!(prompt.contains("here"));
    assert_eq!(stage.now, Duration::from_millis(500));
    let id = stage.sent.iter().rfind(|(server, text)| *server == 0 && text.contains("userMessage")).expect("asked");
    let id: Value = serde_json::from_str(&id.1).expect("JSON");
    stage.says(0, &json!({"jsonrpc": "2.0", "id": id["id"], "result": {"context": "too late"}}));
    assert_eq!(stage.told("late").len(), 1);
    assert!(!stage.turn("two").contains("too late"));
    assert_eq!(stage.told("disabled").len(), 1);
    let before = stage.sent.len();
    stage.turn("three");
    assert!(stage.sent[before..].iter().all(|(server, _)| *server == 1));
}

#[test]
fn a19_what_is_revoked_is_not_shown_until_it_is_allowed_again() {
    let mut stage = stage(vec![("a", server(subscribed(), context("here")))], &[]);
    for (is_allowed, sees) in [(false, false), (true, true)] {
        stage.order(Order::Allow { server: "a".to_owned(), room: None, is_allowed });
        assert_eq!(stage.turn("x").contains("here"), sees);
    }
    stage.order(Order::Allow { server: "a".to_owned(), room: Some("nothing".to_owned()), is_allowed: true });
    assert!(matches!(stage.done.last(), Some(Done::Failed(why)) if why.contains("conversation")));
}

fn reminder(id: &str, more: &Value) -> Value {
    let mut reminder = json!({"id": id, "body": format!("body of {id}")});
    for (name, value) in more.as_object().expect("an object") {
        reminder[name] = value.clone();
    }
    json!({"jsonrpc": "2.0", "method": "notifications/reminder", "params": {"reminder": reminder}})
}

#[test]
fn b18_b19_reminders_stand_as_long_as_they_say_and_newer_ones_replace_waiting_ones() {
    let mut stage = stage(vec![("w", server(json!({"reminders": {"emit": true}}), silent))], &[]);
    stage.says(0, &reminder("one", &json!({"dedupeKey": "k", "ttlTurns": 2})));
    stage.says(0, &reminder("two", &json!({"dedupeKey": "k", "ttlTurns": 2})));
    stage.says(0, &reminder("three", &json!({"ttlTurns": 1, "roleHint": "user_block"})));
    // F3: a reminder wakes nobody.
    assert!(stage.prompts.is_empty());
    let first = stage.turn("a");
    assert!(!first.contains("body of one") && first.contains("body of two") && first.contains("body of three"));
    // After it stood in a prompt, the same key is a new reminder (AMB-B2).
    stage.says(0, &reminder("four", &json!({"dedupeKey": "k"})));
    let second = stage.turn("b");
    assert!(second.contains("body of two") && second.contains("body of four") && !second.contains("body of three"));
    assert!(!stage.turn("c").contains("body of two"));
    stage.order(Order::Compact { summary: None });
    assert!(!stage.turn("d").contains("body of four"));
}

#[test]
fn b15_undeclared_reminders_are_named_and_dropped() {
    let mut stage = stage(vec![("w", server(json!({"reminders": {}}), silent))], &[]);
    stage.says(0, &reminder("one", &json!({})));
    assert!(!stage.turn("a").contains("body of one"));
    assert_eq!(stage.told("undeclared").len(), 1);
}

#[test]
fn d26_d28_hooks_fire_around_tools_and_ask_their_own_server() {
    let hooks = json!({"tools": {}, "hooks": {"declarations": [
        {"event": "session_start", "context_tool": "recall", "context_tool_args": {"q": "{project_name}"},
            "priority": "required"},
        {"event": "post_tool_use", "matcher": {"tool_name": "note"}, "context": "used {tool_name}: {tool_output}",
            "priority": "suggestion"},
    ]}});
    let answers = |method: &str, params: &Value, id: &str| match method {
        "tools/list" => result(id, &json!({"tools": [{"name": "recall"}, {"name": "note"}]})),
        "tools/call" => {
            let text = format!("{} {}", params["name"], params["arguments"]);
            result(id, &json!({"content": [{"type": "text", "text": text}]}))
        }
        _ => Vec::new(),
    };
    let mut stage = stage(vec![("m", server(hooks, answers))], &[]);
    let call = ToolCall { server: None, tool: "note".to_owned(), arguments: json!({"text": "x"}) };
    stage.replies.push_back(ModelReply { text: String::new(), tool_calls: vec![call] });
    let prompt = stage.turn("remember x");
    assert_eq!(stage.prompts.len(), 2);
    assert!(prompt.contains(r#""recall" {"q":"demo"}"#), "{prompt}");
    assert!(prompt.contains("used note: "), "{prompt}");
    // D38: required counts from trusted servers only.
    assert!(prompt.contains("important hook on session_start"), "{prompt}");
    let tool = stage.prompts[1].parts.iter().find(|part| part.role == Role::Tool).expect("a tool's result");
    assert!(tool.text.starts_with(r#"note: "note" {"text":"x"}"#), "{}", tool.text);
}

#[test]
fn the_same_seed_gives_the_same_prompts() {
    let run = || {
        let servers = vec![("a", server(subscribed(), context("from a"))), ("b", server(subscribed(), silent))];
        let mut stage = stage(servers, &[]);
        stage.turn("one");
        stage.turn("two");
        stage.prompts.iter().map(|prompt| prompt.to_value().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}

#[test]
fn a_server_that_goes_away_holds_nothing_up() {
    let mut stage = stage(
        vec![("gone", server(subscribed(), silent)), ("stays", server(subscribed(), context("here")))],
        &[("conversation.deadline", None, json!("none"))],
    );
    let outputs = stage.host.order(Duration::ZERO, Order::Turn { text: "x".to_owned(), agent: Agent::Main });
    stage.play(outputs);
    assert!(stage.prompts.is_empty());
    let outputs = stage.host.closed(Duration::ZERO, ServerId(0), None);
    stage.play(outputs);
    assert!(stage.prompts[0].to_text().contains("here"));
    assert_eq!(stage.told("gone").len(), 1);
}

#[test]
fn requests_that_no_proposal_takes_are_refused() {
    let mut stage = stage(vec![("a", server(json!({}), silent))], &[]);
    stage.says(0, &json!({"jsonrpc": "2.0", "id": "q", "method": "conversation/context", "params": {}}));
    let answer = stage.sent.last().expect("answered");
    let answer = Envelope::scan(answer.1.as_bytes()).kind;
    assert_eq!(answer, MessageKind::Error);
}
