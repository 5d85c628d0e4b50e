//! The host side of MCPL (section C of the behaviours), with scripted servers.

use super::*;
use crate::proposals::host::{Finish, Inferred};
use crate::proposals::mcpl::Mcpl;
use crate::proposals::{Proposal, REGISTRY};

/// A server with this MCPL block, which answers context hooks by `more` and has one tool per feature set that uses
/// tools.
fn live(block: Value, mut more: impl FnMut(&str, &Value, &str) -> Vec<String> + 'static) -> Script {
    let capabilities = json!({"tools": {}, "experimental": {"mcpl": block}});
    server(capabilities, move |method, params, id| match method {
        "tools/list" => {
            let note = json!({"name": "note", "_meta": {"featureSet": "notes.edit"}});
            let tools = json!([{"name": "edit", "featureSet": "files.edit"}, note]);
            result(id, &json!({"tools": tools}))
        }
        _ => more(method, params, id),
    })
}

pub(super) fn set(uses: &str) -> Value {
    json!({"description": "d", "uses": [uses]})
}

/// An MCPL block that offers everything, with feature sets for all of it.
pub(super) fn block() -> Value {
    json!({
        "version": "0.4",
        "pushEvents": true,
        "contextHooks": {"beforeInference": true, "afterInference": {"blocking": false}},
        "inferenceRequest": {"streaming": true},
        "modelInfo": true,
        "channels": {"register": true, "publish": true, "observe": true, "lifecycle": true, "streaming": true},
        "featureSets": {
            "memory.retrieval": set("contextHooks.beforeInference"),
            "memory.extraction": set("contextHooks.afterInference"),
            "memory.proactive": set("pushEvents"),
            "memory.consolidation": set("inferenceRequest"),
            "files.edit": {"description": "d", "uses": ["tools"], "scoped": true},
            "notes.edit": {"description": "d", "uses": ["tools"], "rollback": true},
            "channels.publish": {"description": "d", "uses": ["channels.publish"], "scoped": true},
            "channels.observe": {"description": "d", "uses": ["channels.observe"], "scoped": true},
        },
    })
}

fn live_stage(set: &[(&str, Option<&str>, Value)]) -> Stage {
    stage(vec![("m", live(block(), silent))], set)
}

#[test]
fn malformed_declarations_and_results_are_mistakes() {
    let mut wrong = block();
    wrong["pushEvents"] = json!("yes");
    let answers = |method: &str, _: &Value, id: &str| match method {
        "state/rollback" => result(id, &json!({"success": true})),
        "context/beforeInference" => result(id, &json!({"featureSet": "memory.retrieval", "contextInjections": 7})),
        _ => Vec::new(),
    };
    let mut stage = stage(vec![("wrong", live(wrong, silent)), ("m", live(block(), answers))], &[]);
    let texts = |stage: &Stage| -> Vec<String> {
        assert!(stage.mistakes("malformed").iter().all(|is_mistake| *is_mistake));
        stage.reported("malformed").iter().map(|event| event.text.clone()).collect()
    };
    assert_eq!(texts(&stage), ["the capability experimental.mcpl: /pushEvents: \"yes\" is not of type \"boolean\""]);
    stage.order(proposal("rollback", json!({"server": "m", "checkpoint": "c1", "set": "notes.edit"})));
    assert_eq!(
        texts(&stage)[1..],
        ["the result of state/rollback: \"checkpoint\" is a required property"],
        "{:?}",
        stage.events
    );
    stage.turn("hello");
    assert_eq!(texts(&stage).len(), 3, "what the proposal reports itself is reported once: {:?}", stage.events);
}

fn request(id: Value, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(super) fn event(id: i64, set: &str, event: &str) -> Value {
    let content = json!([{"type": "text", "text": format!("news {event}")}]);
    let params = json!({"featureSet": set, "eventId": event, "timestamp": "2026-01-23T14:00:00Z",
        "payload": {"content": content}});
    request(id.into(), "push/event", params)
}

fn infer(id: Value, more: Value) -> Value {
    let mut params =
        json!({"featureSet": "memory.consolidation", "messages": [{"role": "user", "content": "Summarize"}]});
    for (name, value) in more.as_object().expect("an object") {
        params[name] = value.clone();
    }
    request(id, "inference/request", params)
}

fn elevate(id: i64, label: &str) -> Value {
    let scope = json!({"label": label, "payload": {"path": label}});
    request(id.into(), "scope/elevate", json!({"featureSet": "files.edit", "scope": scope}))
}

fn proposal(order: &str, params: Value) -> Order {
    Order::Proposal { order: order.to_owned(), params }
}

fn call(tool: &str, arguments: Value) -> Order {
    Order::Tool(ToolCall { server: None, tool: tool.to_owned(), arguments })
}

impl Stage {
    /// The messages of one method that the host sent.
    fn by(&self, method: &str) -> Vec<Value> {
        let all = self.sent.iter().map(|(_, text)| serde_json::from_str::<Value>(text).expect("JSON"));
        all.filter(|message| message["method"] == method).collect()
    }

    /// The response to a server's request: the result or the error.
    fn answer(&self, id: Value) -> Value {
        let all = self.sent.iter().map(|(_, text)| serde_json::from_str::<Value>(text).expect("JSON"));
        let mut answers = all.filter(|message| message["id"] == id && message.get("method").is_none());
        let answer = answers.next().expect("answered");
        assert!(answers.next().is_none(), "answered once");
        answer.get("result").or(answer.get("error")).cloned().expect("an answer")
    }

    fn is_open(&self, id: Value) -> bool {
        let all = self.sent.iter().map(|(_, text)| serde_json::from_str::<Value>(text).expect("JSON"));
        !all.into_iter().any(|message| message["id"] == id && message.get("method").is_none())
    }

    /// Checks everything that the host sent by MCPL's methods against its schemas.
    fn fits(&self) {
        for (_, text) in &self.sent {
            let message: Value = serde_json::from_str(text).expect("JSON");
            let Some(method) = message["method"].as_str() else { continue };
            if Mcpl.descriptor().methods.iter().any(|spec| spec.name == method) {
                let violations = Mcpl.descriptor().schemas.check(&format!("{method}:params"), &message["params"]);
                assert_eq!(violations.unwrap_or_default(), [], "{text}");
            }
        }
    }

    fn piece(&mut self, token: u64, text: &str) {
        let outputs = self.host.inferred_piece(self.now, token, text);
        self.play(outputs);
    }

    fn inferred(&mut self, token: u64, outcome: Result<Inferred, String>) {
        let outputs = self.host.inferred(self.now, token, outcome);
        self.play(outputs);
    }

    fn odd(&self, word: &str) -> bool {
        self.reported("odd").iter().any(|event| event.text.contains(word))
    }
}

#[test]
fn c2_c5_c17_the_host_declares_its_block_and_reports_which_sets_are_on() {
    let mut stage = live_stage(&[
        ("mcpl.disabled", None, json!("memory.consolidation")),
        ("mcpl.whitelist", None, json!("files.edit=/project/**")),
        ("mcpl.blacklist", None, json!("**/.env")),
    ]);
    let hello: Value = serde_json::from_str(&stage.sent[0].1).expect("JSON");
    let declared = &hello["params"]["capabilities"]["experimental"]["mcpl"];
    assert_eq!((&declared["version"], &declared["featureSets"]), (&json!("0.4"), &json!(true)));
    assert_eq!(declared["contextHooks"], json!({"beforeInference": true, "afterInference": {"blocking": true}}));
    assert_eq!(Mcpl.descriptor().schemas.check("capability:client", declared).expect("a schema"), []);
    let update = &stage.by("featureSets/update")[0];
    assert!(update.get("id").is_none());
    assert_eq!(update["params"]["disabled"], json!(["memory.consolidation"]));
    assert_eq!(update["params"]["enabled"].as_array().map(Vec::len), Some(7));
    let lists = json!({"whitelist": ["/project/**"], "blacklist": ["**/.env"]});
    assert_eq!(update["params"]["scopes"]["files.edit"], lists);
    // Behaviour C19: only scoped feature sets have scopes.
    assert!(update["params"]["scopes"].get("memory.retrieval").is_none());
    stage.order(proposal("feature-sets", json!({"enable": "memory.consolidation"})));
    let delta = &stage.by("featureSets/update")[1];
    assert_eq!(delta["params"], json!({"enabled": ["memory.consolidation"], "disabled": []}));
    stage.fits();
}

#[test]
fn c5_amb_c3_when_and_how_updates_are_sent_is_the_policys() {
    let updates = |how: &str, off: &str| {
        let set = [("mcpl.update", None, json!(how)), ("mcpl.disabled", None, json!(off))];
        live_stage(&set).by("featureSets/update").len()
    };
    assert_eq!((updates("always", ""), updates("when_needed", ""), updates("never", "memory.*")), (1, 0, 0));
    assert_eq!(updates("when_needed", "memory.*"), 1);
    let mut whole = live_stage(&[("mcpl.update_form", None, json!("replace"))]);
    whole.order(proposal("feature-sets", json!({"disable": "memory.*"})));
    let params = &whole.by("featureSets/update")[1]["params"];
    assert_eq!(
        (params["enabled"].as_array().map(Vec::len), params["disabled"].as_array().map(Vec::len)),
        (Some(4), Some(4))
    );
}

#[test]
fn c3_c6_what_one_side_does_not_declare_is_not_used() {
    let mut plain = stage(vec![("p", server(json!({}), silent))], &[]);
    plain.says(0, &event(1, "a", "e"));
    plain.turn("x");
    assert_eq!(plain.answer(json!(1))["code"], -32601);
    assert!(plain.by("context/beforeInference").is_empty() && plain.by("featureSets/update").is_empty());
    assert_eq!(plain.reported("undeclared").len(), 1);
    let mut none = live_stage(&[("mcpl.offer", None, json!(""))]);
    assert!(!none.sent[0].1.contains("mcpl"));
    none.turn("x");
    assert!(none.by("context/beforeInference").is_empty());
    assert!(none.reported("not used")[0].text.contains("although the client did not"));
    let mut some = live_stage(&[("mcpl.offer", None, json!("contextHooks.afterInference"))]);
    some.says(0, &event(1, "memory.proactive", "e"));
    some.turn("x");
    assert_eq!(some.answer(json!(1))["code"], -32601);
    assert_eq!((some.by("context/beforeInference").len(), some.by("context/afterInference").len()), (0, 1));
    // A server that uses what it does not declare is reported and still served.
    let mut quiet = block();
    quiet["pushEvents"] = json!(false);
    let mut quiet = stage(vec![("m", live(quiet, silent))], &[]);
    quiet.says(0, &event(1, "memory.proactive", "e"));
    assert_eq!(quiet.answer(json!(1))["accepted"], true);
    assert_eq!(quiet.reported("unadvertised").len(), 1);
}

#[test]
fn c4_c60_any_version_and_flattened_channels_are_taken_and_c_v05_is_named() {
    for (version, word) in [("0.5", "speaks MCPL 0.5"), ("0.9", "0.9, which mcpreel treats as 0.4")] {
        let mut newer = block();
        newer["version"] = json!(version);
        newer["channels"] = json!(true);
        let mut stage = stage(vec![("m", live(newer, silent))], &[]);
        assert!(stage.odd(word), "{:?}", stage.events);
        stage.says(0, &event(1, "memory.proactive", "e"));
        assert_eq!(stage.answer(json!(1))["accepted"], true);
    }
    assert!(live_stage(&[]).reported("odd").is_empty());
}

#[test]
fn c8_c15_an_array_of_sets_is_understood_and_a_push_of_a_set_for_tools_refused() {
    let sets = json!([{"name": "heartbeat", "description": "d", "uses": ["tools"]}]);
    let heartbeat = json!({"version": "0.4", "pushEvents": true, "channels": false, "featureSets": sets});
    let accept = [("mcpl.unlisted", None, json!("accept"))];
    let mut stage = stage(vec![("h", live(heartbeat.clone(), silent))], &accept);
    assert_eq!(stage.by("featureSets/update")[0]["params"], json!({"enabled": ["heartbeat"], "disabled": []}));
    stage.says(0, &event(1, "heartbeat", "e1"));
    assert_eq!(stage.answer(json!(1))["accepted"], true);
    assert!(stage.odd("an array") && stage.odd("does not list pushEvents"));
    let mut strict = super::stage(vec![("h", live(heartbeat, silent))], &[]);
    strict.says(0, &event(1, "heartbeat", "e1"));
    let refused = strict.answer(json!(1));
    assert_eq!((&refused["code"], &refused["data"]["canEnable"]), (&json!(-32001), &json!(false)));
}

#[test]
fn c9_a_star_is_one_segment_or_a_prefix() {
    let accepted = |wildcard: &str, set: &str| {
        let mut deep = block();
        deep["featureSets"][set] = json!({"description": "d", "uses": ["pushEvents"]});
        let policy = [("mcpl.enabled", None, json!("memory.*")), ("mcpl.wildcard", None, json!(wildcard))];
        let mut stage = stage(vec![("m", live(deep, silent))], &policy);
        stage.says(0, &event(1, set, "e"));
        stage.answer(json!(1))["accepted"] == true
    };
    assert!(accepted("segment", "memory.a") && !accepted("segment", "memory.a.b") && accepted("prefix", "memory.a.b"));
    assert!(!accepted("prefix", "other.a"));
}

#[test]
fn c10_c13_c14_amb_c13_sets_that_are_missing_unknown_or_off_are_refused() {
    let off = ("mcpl.disabled", None, json!("memory.proactive"));
    let mut stage = live_stage(std::slice::from_ref(&off));
    stage.says(0, &event(1, "memory.proactive", "e"));
    let error = json!({"code": -32001, "message": "Feature set not enabled",
        "data": {"featureSet": "memory.proactive", "canEnable": true}});
    assert_eq!(stage.answer(json!(1)), error);
    stage.says(0, &event(2, "memory.other", "e"));
    let unknown = stage.answer(json!(2));
    assert_eq!((&unknown["code"], &unknown["data"]["featureSet"]), (&json!(-32003), &json!("memory.other")));
    let mut untagged = event(3, "x", "e");
    untagged["params"].as_object_mut().expect("an object").remove("featureSet");
    stage.says(0, &untagged);
    assert_eq!(stage.answer(json!(3))["code"], -32602);
    assert!(stage.prompts.is_empty());
    let mut soft = live_stage(&[off, ("mcpl.refusal", None, json!("result"))]);
    soft.says(0, &event(1, "memory.proactive", "e"));
    let refused = soft.answer(json!(1));
    assert!(refused["accepted"] == false && refused["reason"].as_str().is_some_and(|why| why.contains("not enabled")));
}

#[test]
fn c10_c13_c14_c37_a_refusal_is_the_servers_mistake_if_it_should_have_known() {
    let mut stage =
        live_stage(&[("mcpl.disabled", None, json!("memory.proactive")), ("mcpl.push", None, json!("queue"))]);
    // The host's update may have crossed with it.
    stage.says(0, &event(1, "memory.proactive", "e1"));
    stage.now += Duration::from_millis(300);
    stage.says(0, &event(2, "memory.proactive", "e2"));
    stage.says(0, &event(3, "memory.other", "e3"));
    let mut undated = event(4, "memory.consolidation", "e4");
    undated["params"]["timestamp"] = json!("yesterday");
    stage.says(0, &undated);
    assert_eq!(stage.mistakes("refused"), [false, true, true, true]);
    assert_eq!(stage.answer(json!(3))["code"], -32003);
    // A server cannot know the host's policy.
    let mut strict = live_stage(&[("mcpl.push", None, json!("refuse"))]);
    strict.says(0, &event(1, "memory.proactive", "e1"));
    assert_eq!(strict.mistakes("refused"), [false]);
    let mut soft = live_stage(&[("mcpl.refusal", None, json!("result"))]);
    soft.says(0, &event(1, "memory.other", "e1"));
    assert_eq!((soft.mistakes("refused"), &soft.answer(json!(1))["accepted"]), (vec![true], &json!(false)));
}

#[test]
fn c18_f10_sets_change_at_runtime_and_by_hand() {
    let mut stage = live_stage(&[("mcpl.consent", None, json!(false))]);
    assert_eq!(stage.by("featureSets/update")[0]["params"]["enabled"], json!([]));
    stage.turn("x");
    assert!(stage.by("context/beforeInference").is_empty());
    stage.order(Order::Allow { server: "m".to_owned(), proposal: Some("mcpl".to_owned()), is_allowed: true });
    assert_eq!(stage.by("featureSets/update")[1]["params"]["enabled"].as_array().map(Vec::len), Some(8));
    let changed = json!({"jsonrpc": "2.0", "method": "featureSets/changed", "params": {
        "added": {"memory.semantic": set("pushEvents")}, "removed": ["memory.proactive", "never.there"]}});
    stage.says(0, &changed);
    assert_eq!(stage.by("featureSets/update")[2]["params"]["enabled"], json!(["memory.semantic"]));
    assert!(stage.odd("removed never.there"));
    stage.says(0, &event(1, "memory.semantic", "e1"));
    stage.says(0, &event(2, "memory.proactive", "e2"));
    assert_eq!(stage.answer(json!(1))["accepted"], true);
    assert_eq!(stage.answer(json!(2))["code"], -32003);
    stage.order(Order::Allow { server: "m".to_owned(), proposal: None, is_allowed: false });
    stage.says(0, &event(3, "memory.semantic", "e3"));
    assert_eq!(stage.answer(json!(3))["code"], -32001);
    stage.fits();
}

#[test]
fn c20_c21_scopes_are_judged_by_the_lists_and_else_asked() {
    let mut stage =
        live_stage(&[("mcpl.whitelist", None, json!("/project/**")), ("mcpl.blacklist", None, json!("**/.env"))]);
    stage.says(0, &elevate(1, "/project/src/main.ts"));
    assert_eq!(stage.answer(json!(1)), json!({"approved": true, "payload": {"path": "/project/src/main.ts"}}));
    stage.says(0, &elevate(2, "/project/.env"));
    let denied = stage.answer(json!(2));
    assert!(denied["approved"] == false && denied["reason"].is_string());
    stage.says(0, &elevate(3, "/etc/hosts"));
    assert!(stage.is_open(json!(3)));
    assert_eq!(stage.reported("scope")[2].data["outcome"], "waits");
    stage.order(proposal("scope", json!({"label": "/etc/hosts"})));
    assert_eq!(stage.answer(json!(3)), json!({"approved": true, "payload": {"path": "/etc/hosts"}}));
    // Behaviour C24: the user's decision is remembered.
    stage.says(0, &elevate(4, "/etc/hosts"));
    assert_eq!(stage.answer(json!(4))["approved"], true);
    stage.says(0, &elevate(5, "/etc/passwd"));
    stage.order(proposal("scope", json!({"label": "/etc/passwd", "approve": false})));
    assert_eq!(stage.answer(json!(5))["approved"], false);
    let approve = |is_allowed| Order::Allow { server: "m".to_owned(), proposal: None, is_allowed };
    stage.says(0, &elevate(6, "/tmp/x"));
    stage.order(approve(true));
    assert_eq!(stage.answer(json!(6))["approved"], true);
    stage.says(0, &request(json!(7), "scope/elevate", json!({"featureSet": "notes.edit", "scope": {}})));
    assert_eq!(stage.answer(json!(7))["code"], -32602);
}

#[test]
fn amb_c17_a_scope_that_nobody_decides_on_is_denied_in_time_and_at_the_end() {
    let mut stage = live_stage(&[("mcpl.scope_cache", None, json!(false))]);
    stage.says(0, &elevate(1, "/a"));
    assert_eq!(stage.host.next_timeout(), Some(Duration::from_secs(30)));
    stage.now = Duration::from_secs(30);
    let outputs = stage.host.handle_timeout(stage.now);
    stage.play(outputs);
    assert_eq!(stage.answer(json!(1))["approved"], false);
    stage.order(proposal("scope", json!({"label": "/b"})));
    stage.says(0, &elevate(2, "/b"));
    assert!(stage.is_open(json!(2)));
    stage.order(Order::End);
    assert_eq!(stage.answer(json!(2))["reason"], "the session ends");
}

#[test]
fn c23_a_payload_is_enriched_with_the_channel_that_its_label_names() {
    let mut stage = live_stage(&[("mcpl.scope", None, json!("approve"))]);
    let channels =
        json!({"channels": [{"id": "discord:1", "type": "discord", "label": "#general", "direction": "outbound"}]});
    stage.says(0, &request(json!(1), "channels/register", channels));
    stage.says(0, &elevate(2, "#general"));
    let payload = json!({"path": "#general", "channelId": "discord:1"});
    assert_eq!(stage.answer(json!(2)), json!({"approved": true, "payload": payload}));
}

fn tools(method: &str, params: &Value, id: &str) -> Vec<String> {
    match method {
        "tools/call" => result(id, &json!({"content": [{"type": "text", "text": params["name"]}]})),
        _ => Vec::new(),
    }
}

#[test]
fn c25_c26_amb_c4_scoped_tools_carry_their_scope_and_are_held_to_it() {
    let set = [("mcpl.whitelist", None, json!("/project/**")), ("mcpl.scope", None, json!("deny"))];
    let mut stage = stage(vec![("m", live(block(), tools))], &set);
    stage.order(call("edit", json!({"path": "/project/a"})));
    let scope = json!({"label": "/project/a", "payload": {"path": "/project/a"}});
    assert_eq!(stage.by("tools/call")[0]["params"]["scope"], scope);
    stage.order(call("edit", json!({"path": "/etc/hosts"})));
    assert!(matches!(stage.done.last(), Some(OrderResult::Tool(Err(why))) if why.contains("/etc/hosts is denied")));
    stage.order(call("note", json!({"path": "/etc/hosts"})));
    let calls = stage.by("tools/call");
    assert_eq!((calls.len(), calls[1]["params"].get("scope")), (2, None));
    stage.order(proposal("feature-sets", json!({"disable": "notes.edit"})));
    stage.order(call("note", json!({})));
    assert!(matches!(stage.done.last(), Some(OrderResult::Tool(Err(why))) if why.contains("notes.edit is disabled")));
}

#[test]
fn f7_hooks_fire_before_the_gate_and_a_context_tool_goes_through_it() {
    let capabilities = json!({"tools": {}, "experimental": {"mcpl": block()}, "hooks": {"declarations": [
        {"event": "pre_tool_use", "priority": "suggestion", "context": "before"},
        {"event": "post_tool_use", "priority": "suggestion", "context": "after"},
        {"event": "pre_request", "priority": "suggestion", "context_tool": "edit"}]}});
    let script = server(capabilities, |method, params, id| match method {
        "tools/list" => result(id, &json!({"tools": [{"name": "edit", "featureSet": "files.edit"}]})),
        _ => tools(method, params, id),
    });
    let mut stage = stage(vec![("m", script)], &[("mcpl.disabled", None, json!("files.edit"))]);
    stage.order(call("edit", json!({})));
    let fired: Vec<&str> = stage.reported("fires").iter().filter_map(|event| event.data["event"].as_str()).collect();
    assert_eq!(fired, ["pre_tool_use"]);
    stage.turn("x");
    assert!(stage.reported("tool failed")[0].text.contains("files.edit is disabled"));
    assert!(stage.by("tools/call").is_empty());
}

/// A tool that returns one checkpoint after another, each a patch on the last.
fn supervisor() -> impl FnMut(&str, &Value, &str) -> Vec<String> {
    let mut count = 0;
    let mut parent = Value::Null;
    move |method, params, id| match method {
        "tools/call" => {
            count += 1;
            let checkpoint = format!("c{count}");
            let mut state = json!({"checkpoint": checkpoint, "parent": parent});
            match params.get("state") {
                None => state["data"] = json!({"notes": [count]}),
                Some(_) => state["patch"] = json!([{"op": "add", "path": "/notes/-", "value": count}]),
            }
            parent = checkpoint.into();
            result(id, &json!({"content": [], "state": state}))
        }
        "state/rollback" if params["checkpoint"] == "gone" => {
            let error = json!({"code": -32005, "message": "Checkpoint not found", "data": {"checkpoint": "gone"}});
            vec![format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)]
        }
        "state/rollback" if params["checkpoint"] == "c2" => {
            result(id, &json!({"checkpoint": "c2", "success": false, "reason": "sent already"}))
        }
        "state/rollback" => {
            parent = params["checkpoint"].clone();
            result(id, &json!({"checkpoint": params["checkpoint"], "success": true}))
        }
        _ => Vec::new(),
    }
}

#[test]
fn c28_c29_c32_c33_c34_state_goes_along_rolls_back_and_branches() {
    let mut stage = stage(vec![("m", live(block(), supervisor()))], &[]);
    for _ in 0..3 {
        stage.order(call("note", json!({})));
    }
    stage.order(proposal("rollback", json!({"checkpoint": "c1"})));
    assert_eq!(stage.by("state/rollback")[0]["params"], json!({"featureSet": "notes.edit", "checkpoint": "c1"}));
    assert_eq!(stage.done.last(), Some(&OrderResult::Ok));
    stage.order(call("note", json!({})));
    stage.order(call("note", json!({})));
    let states: Vec<Value> = stage.by("tools/call").iter().map(|call| call["params"]["state"].clone()).collect();
    let notes = |list: Value| json!({"notes": list});
    assert_eq!(states, [Value::Null, notes(json!([1])), notes(json!([1, 2])), notes(json!([1])), notes(json!([1, 4]))]);
    for (checkpoint, why) in [("c2", "sent already"), ("gone", "-32005")] {
        stage.order(proposal("rollback", json!({"checkpoint": checkpoint, "set": "notes.edit"})));
        assert!(
            matches!(stage.done.last(), Some(OrderResult::Failed(reported)) if reported.contains(why)),
            "{:?}",
            stage.done
        );
    }
    stage.order(proposal("rollback", json!({"checkpoint": "c1", "set": "files.edit"})));
    assert!(matches!(stage.done.last(), Some(OrderResult::Failed(reported)) if reported.contains("notes.edit")));
    assert_eq!(stage.by("state/rollback").len(), 3);
    let tree = &stage.host.state()["mcpl"][0]["states"]["notes.edit"];
    assert_eq!((&tree["current"], tree["checkpoints"].as_array().map(Vec::len)), (&json!("c5"), Some(5)));
    assert!(stage.reported("odd").is_empty(), "{:?}", stage.reported("odd"));
}

#[test]
fn c32_c36_a_host_may_have_checkpoints_only_or_nothing() {
    let opaque = |method: &str, _: &Value, id: &str| match method {
        "tools/call" => result(id, &json!({"content": [], "state": {"checkpoint": "k", "parent": null}})),
        _ => Vec::new(),
    };
    for (how, checkpoint) in [("full", json!("k")), ("minimal", json!("k")), ("ignore", Value::Null)] {
        let mut stage = stage(vec![("m", live(block(), opaque))], &[("mcpl.state", None, json!(how))]);
        stage.order(call("note", json!({})));
        stage.order(call("note", json!({})));
        let params = &stage.by("tools/call")[1]["params"];
        assert_eq!((&params["checkpoint"], params.get("state")), (&checkpoint, None), "{how}");
    }
}

#[test]
fn c37_c38_c39_c41_f3_an_event_begins_a_turn_once_and_its_inference_links_to_the_hooks() {
    let mut stage = live_stage(&[]);
    stage.says(0, &event(1, "memory.proactive", "e1"));
    stage.pass();
    let answer = stage.answer(json!(1));
    assert_eq!(answer["accepted"], true);
    assert_eq!(Mcpl.descriptor().schemas.check("push/event:result", &answer).expect("a schema"), []);
    assert_eq!(stage.reported("event")[0].data["wake"], "yes");
    let before = &stage.by("context/beforeInference")[0]["params"];
    assert_eq!((&before["inferenceId"], &before["userMessage"]), (&answer["inferenceId"], &Value::Null));
    assert_eq!(stage.by("context/afterInference")[0]["params"]["inferenceId"], answer["inferenceId"]);
    let prompt = stage.prompts[0].to_text();
    assert!(prompt.contains("> news e1") && !stage.prompts[0].parts.iter().any(|part| part.origin.is_none()));
    assert_eq!(stage.done.last(), Some(&OrderResult::Woken { turn: 1, answer: Ok("ok".to_owned()) }));
    stage.says(0, &event(2, "memory.proactive", "e1"));
    assert_eq!(stage.answer(json!(2)), json!({"accepted": false, "reason": "duplicate"}));
    stage.now += Duration::from_secs(3601);
    stage.says(0, &event(3, "memory.proactive", "e1"));
    assert_eq!(stage.answer(json!(3))["accepted"], true);
    stage.pass();
    let mut odd = event(4, "memory.proactive", "e4");
    odd["params"]["payload"]["content"] = json!("a string");
    stage.says(0, &odd);
    stage.pass();
    assert!(stage.odd("is a string") && stage.answer(json!(4))["accepted"] == true);
    odd["id"] = json!(5);
    odd["params"]["eventId"] = json!("e5");
    odd["params"]["payload"] = json!({});
    stage.says(0, &odd);
    assert_eq!(stage.answer(json!(5))["code"], -32602);
    stage.fits();
}

#[test]
fn c38_an_event_may_wait_for_a_turn_share_one_or_be_refused() {
    let lane = |how: &str| {
        let mut stage = live_stage(&[("mcpl.push", None, json!(how)), ("mcpl.push_waiting", None, json!(2))]);
        let outputs = stage.host.order(stage.now, Order::Turn { text: "x".to_owned(), agent: Agent::Main });
        stage.play(outputs);
        // Meanwhile the turn waits for its hook, which has nothing to do with the events.
        let outputs = stage.host.receive(stage.now, ServerId(0), &hook_answer(&stage));
        stage.play(outputs);
        stage
    };
    let mut queue = lane("queue");
    for n in 1..=3 {
        queue.says(0, &event(n, "memory.proactive", &format!("e{n}")));
    }
    assert_eq!(queue.answer(json!(1)), json!({"accepted": true}));
    assert_eq!(queue.reported("event")[0].data["wake"], "no");
    assert!(queue.answer(json!(3))["reason"].as_str().is_some_and(|why| why.contains("2 are already waiting")));
    assert_eq!(queue.prompts.len(), 1);
    assert!(queue.turn("y").contains("news e2"));
    let mut refuse = lane("refuse");
    refuse.says(0, &event(1, "memory.proactive", "e1"));
    assert_eq!(refuse.answer(json!(1))["accepted"], false);
    // Events that arrive during a turn are queued; those of one batch begin a turn together.
    let mut batch = live_stage(&[("mcpl.push", None, json!("batch"))]);
    let outputs = batch.host.order(batch.now, Order::Turn { text: "x".to_owned(), agent: Agent::Main });
    batch.play(outputs);
    batch.says(0, &event(1, "memory.proactive", "e1"));
    batch.says(0, &event(2, "memory.proactive", "e2"));
    assert_eq!(batch.answer(json!(1)), batch.answer(json!(2)));
    batch.pass();
    assert_eq!(batch.done.len(), 3);
    let prompt = batch.prompts[1].to_text();
    assert!(prompt.contains("news e1") && prompt.contains("news e2"));
}

fn hook_answer(stage: &Stage) -> Vec<u8> {
    let id = stage.by("context/beforeInference").last().expect("asked")["id"].clone();
    json!({"jsonrpc": "2.0", "id": id, "result": {"featureSet": "memory.retrieval", "contextInjections": []}})
        .to_string()
        .into_bytes()
}

/// Answers a hook before the inference with one injection at each position, in a server's name.
fn remembering(name: &'static str) -> impl FnMut(&str, &Value, &str) -> Vec<String> {
    move |method, _, id| {
        let at =
            |position: &str, content: Value| json!({"namespace": "memory", "position": position, "content": content});
        let injections = json!([
            at("afterUser", json!(format!("{name} after"))),
            at(
                "system",
                json!([{"type": "text", "text": format!("{name} system")}, {"type": "resource", "uri": "m://1"}])
            ),
            at("beforeUser", json!(format!("{name} before"))),
            at("elsewhere", json!("nowhere")),
        ]);
        match method {
            "context/beforeInference" => {
                result(id, &json!({"featureSet": "memory.retrieval", "contextInjections": injections}))
            }
            _ => Vec::new(),
        }
    }
}

#[test]
fn c42_c44_c45_c52_servers_add_context_at_three_positions_in_the_hosts_order() {
    let servers = vec![("a", live(block(), remembering("a"))), ("b", live(block(), remembering("b")))];
    let mut stage = stage(servers, &[]);
    let prompt = stage.turn("hello");
    let order = ["a system", "[resource m://1]", "b system", "a before", "b before", "hello", "a after", "b after"];
    let places: Vec<usize> = order.iter().map(|text| prompt.find(text).expect(text)).collect();
    assert!(places.is_sorted(), "{prompt}");
    assert!(!prompt.contains("nowhere"));
    let params = &stage.by("context/beforeInference")[0]["params"];
    assert_eq!((&params["userMessage"], &params["turnIndex"]), (&json!("hello"), &json!(0)));
    assert_eq!(params["model"]["id"], "echo");
    // Behaviour C11.
    assert!(params.get("featureSet").is_none());
    stage.turn("again");
    // Behaviour C43.
    let again = &stage.by("context/beforeInference")[2]["params"];
    assert_eq!(again["turnIndex"], 1);
    assert_ne!(again["inferenceId"], params["inferenceId"]);
    // A sub-agent gets no user message, but its task and its answer go through the hooks all the same.
    for (agent, is_same) in [(Agent::Sub, true), (Agent::Detached, false)] {
        stage.order(Order::Turn { text: "task".to_owned(), agent });
        let [.., task] = &stage.by("context/beforeInference")[..] else { panic!("asked") };
        assert_eq!(task["params"]["userMessage"], Value::Null);
        assert_eq!(task["params"]["conversationId"] == params["conversationId"], is_same);
    }
    assert_eq!((stage.by("context/beforeInference").len(), stage.by("context/afterInference").len()), (8, 8));
    stage.fits();
}

#[test]
fn c12_amb_c14_context_of_a_set_that_may_not_speak_is_dropped() {
    let answers = |set: Value| {
        move |method: &str, _: &Value, id: &str| match method {
            "context/beforeInference" => {
                let injection = json!({"namespace": "n", "position": "system", "content": "injected"});
                result(id, &json!({"featureSet": set, "contextInjections": [injection]}))
            }
            _ => Vec::new(),
        }
    };
    let off = [("mcpl.disabled", None, json!("memory.proactive"))];
    for (set, is_taken) in [
        (json!("memory.retrieval"), true),
        (json!("memory.proactive"), false),
        (json!("no.such"), false),
        // It may be that of the disabled set.
        (Value::Null, false),
    ] {
        let mut stage = stage(vec![("m", live(block(), answers(set.clone())))], &off);
        assert_eq!(stage.turn("x").contains("injected"), is_taken, "{set}");
        assert_eq!(stage.reported("dropped").len(), usize::from(!is_taken));
    }
}

#[test]
fn c49_f5_a_hook_that_is_silent_holds_nothing_up_beyond_its_time() {
    let mut both = json!({"conversationEvents": {"onUserMessage": true}});
    both["experimental"]["mcpl"] = block();
    let mut stage = stage(vec![("m", server(both, silent)), ("n", live(block(), remembering("n")))], &[]);
    let prompt = stage.turn("x");
    assert_eq!(stage.now, Duration::from_secs(5));
    assert!(prompt.contains("n system"));
    let timed_out =
        stage.events.iter().find(|event| event.proposal == "mcpl" && event.what == "timed out").expect("reported");
    assert_eq!(timed_out.data["outcome"], "timeout");
    let id = stage.by("context/beforeInference")[0]["id"].clone();
    stage.says(0, &json!({"jsonrpc": "2.0", "id": id, "result": {"featureSet": "memory.retrieval"}}));
    assert!(stage.events.iter().any(|event| event.proposal == "mcpl" && event.what == "late"));
}

/// A server that changes answers, by replacing `from`.
fn redacting(from: &'static str, to: &'static str) -> Script {
    let mut strict = block();
    strict["contextHooks"] = json!({"afterInference": {"blocking": true}});
    live(strict, move |method, params, id| match method {
        "context/afterInference" => {
            let text = params["assistantMessage"].as_str().unwrap_or_default().replace(from, to);
            result(id, &json!({"featureSet": "memory.extraction", "modifiedResponse": text}))
        }
        _ => Vec::new(),
    })
}

#[test]
fn c46_c47_c48_f6_answers_go_through_a_chain_and_everybody_else_sees_what_came_of_it() {
    let hooks = json!({"tools": {}, "hooks": {"declarations": [text_hook("post_request", "suggestion", "posted")]}});
    let servers = vec![
        ("one", redacting("ok", "fine")),
        ("listens", live(block(), silent)),
        ("two", redacting("fine", "splendid")),
        (
            "hooked",
            server(hooks, |method, _, id| match method {
                "tools/list" => result(id, &json!({"tools": []})),
                _ => Vec::new(),
            }),
        ),
    ];
    let mut stage = stage(servers, &[("mcpl.before_timeout", None, json!("0s"))]);
    assert!(stage.host.rewrites());
    stage.turn("x");
    assert_eq!(stage.done.last(), Some(&OrderResult::Turn { turn: 1, answer: Ok("splendid".to_owned()) }));
    let after = stage.by("context/afterInference");
    let seen: Vec<(bool, &str)> = after
        .iter()
        .map(|sent| (sent.get("id").is_some(), sent["params"]["assistantMessage"].as_str().unwrap()))
        .collect();
    assert_eq!(seen, [(true, "ok"), (true, "fine"), (false, "splendid")]);
    assert_eq!(after[0]["params"]["inferenceId"], stage.by("context/beforeInference")[0]["params"]["inferenceId"]);
    assert_eq!(after[0]["params"]["usage"], json!({"inputTokens": 1, "outputTokens": 1}));
    let at = |what: &str| stage.events.iter().position(|event| event.what == what).expect(what);
    assert!(at("rewritten") < stage.events.iter().rposition(|event| event.what == "fires").expect("fired"));
    assert!(stage.turn("y").contains("splendid"));
    stage.fits();
}

#[test]
fn c75_a_blocking_hook_that_fails_lets_the_answer_through_or_withholds_it() {
    for (how, shown) in [("open", "ok"), ("closed", "[the answer is withheld: the blocking hook of m failed")] {
        let mut strict = block();
        strict["contextHooks"] = json!({"afterInference": {"blocking": true}});
        let mut stage = stage(vec![("m", live(strict, silent))], &[("mcpl.on_failure", None, json!(how))]);
        stage.turn("x");
        assert_eq!(stage.now, Duration::from_secs(10));
        let Some(OrderResult::Turn { answer: Ok(answer), .. }) = stage.done.last() else { panic!("a turn") };
        assert!(answer.starts_with(shown), "{answer}");
        assert_eq!(stage.reported("withheld").len(), usize::from(how == "closed"));
    }
}

/// A result that is no decision is as good as none; so is a server that is gone.
#[test]
fn c75_fail_closed_withholds_the_answer_unless_the_hook_decided() {
    for (result_text, is_shown) in [
        (json!({"featureSet": "memory.extraction"}), true),
        (json!({"featureSet": "memory.extraction", "modifiedResponse": 5}), false),
        (json!({"featureSet": "nobody.knows"}), false),
        (Value::Null, false),
        (json!("x"), false),
    ] {
        let mut strict = block();
        strict["contextHooks"] = json!({"afterInference": {"blocking": true}});
        let answer = result_text.clone();
        let script = live(strict, move |method, _, id| match method {
            "context/afterInference" => result(id, &answer),
            _ => Vec::new(),
        });
        let mut stage = stage(vec![("m", script)], &[("mcpl.on_failure", None, json!("closed"))]);
        let mut shown = || {
            stage.turn("x");
            let Some(OrderResult::Turn { answer: Ok(answer), .. }) = stage.done.last() else { panic!("a turn") };
            answer.clone()
        };
        let said = shown();
        assert_eq!(!said.starts_with("[the answer is withheld"), is_shown, "{result_text}: {said}");
    }
    let mut strict = block();
    strict["contextHooks"] = json!({"afterInference": {"blocking": true}});
    let mut stage = stage(vec![("m", live(strict, silent))], &[("mcpl.on_failure", None, json!("closed"))]);
    let outputs = stage.host.closed(stage.now, ServerId(0), None);
    stage.play(outputs);
    stage.turn("x");
    let Some(OrderResult::Turn { answer: Ok(answer), .. }) = stage.done.last() else { panic!("a turn") };
    assert!(answer.contains("no longer connected"), "{answer}");
}

/// A server without a set that uses hooks does not escape from an option that disables all sets.
#[test]
fn c17_what_no_set_uses_is_off_where_all_sets_are() {
    for (disabled, asked) in [(json!("other.*"), 1), (json!("*"), 0)] {
        for sets in [json!({}), json!({"other": set("pushEvents")})] {
            let mut hooked = block();
            hooked["featureSets"] = sets.clone();
            hooked["contextHooks"] = json!({"beforeInference": true});
            let mut stage = stage(vec![("m", live(hooked, silent))], &[("mcpl.disabled", None, disabled.clone())]);
            stage.turn("x");
            assert_eq!(stage.by("context/beforeInference").len(), asked, "{disabled} {sets}");
        }
    }
}

/// A server that requests an inference and pushes an event while it handles each hook.
fn nesting() -> Script {
    let mut hooks = 0;
    live(block(), move |method, _, id| match method {
        "context/beforeInference" => {
            hooks += 1;
            let mut said = vec![infer(json!(format!("i{hooks}")), json!({})).to_string()];
            said.push(event(hooks, "memory.proactive", &format!("e{hooks}")).to_string());
            said.extend(result(id, &json!({"featureSet": "memory.retrieval", "contextInjections": []})));
            said
        }
        _ => Vec::new(),
    })
}

#[test]
fn c50_an_inference_during_a_hook_runs_after_it_or_is_refused() {
    let once = |nested: &str| {
        let set = [("mcpl.nested", None, json!(nested)), ("mcpl.hook_depth", None, json!(0))];
        let mut stage = stage(vec![("m", nesting())], &set);
        stage.turn("x");
        stage
    };
    let queue = once("queue");
    assert_eq!((queue.inferences.len(), queue.is_open(json!("i1"))), (1, true));
    let outcomes: Vec<_> = queue.reported("inference").iter().map(|event| event.data["outcome"].clone()).collect();
    assert_eq!(outcomes, [json!("waits"), json!("begun")]);
    let refuse = once("refuse");
    assert_eq!((&refuse.answer(json!("i1"))["code"], refuse.inferences.len()), (&json!(-32600), 0));
    let allow = once("allow");
    assert_eq!((allow.inferences.len(), allow.reported("inference")[0].data["outcome"].clone()), (1, json!("begun")));
}

#[test]
fn c50_an_inference_that_waits_for_a_hook_is_cancelled_refused_at_the_end_and_runs_after_a_timeout() {
    let waiting = || {
        let mut stage = live_stage(&[]);
        let outputs = stage.host.order(stage.now, Order::Turn { text: "x".to_owned(), agent: Agent::Main });
        stage.play(outputs);
        stage.says(0, &infer(json!("i"), json!({})));
        stage
    };
    let mut cancelled = waiting();
    let params = json!({"requestId": "i"});
    cancelled.says(0, &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    cancelled.pass();
    assert_eq!((cancelled.inferences.len(), cancelled.is_open(json!("i"))), (0, true));
    let mut silent = waiting();
    silent.pass();
    assert_eq!((silent.reported("timed out").len(), silent.inferences.len()), (1, 1));
}

#[test]
fn c51_events_during_hooks_begin_turns_to_a_depth_and_the_next_message_releases_the_rest() {
    let set = [("mcpl.hook_depth", None, json!(2)), ("mcpl.wakes_per_minute", None, json!("none"))];
    let mut stage = stage(vec![("m", nesting())], &set);
    stage.turn("x");
    let wakes = |stage: &Stage| -> Vec<String> {
        stage.reported("event").iter().map(|event| event.data["wake"].as_str().expect("a word").to_owned()).collect()
    };
    assert_eq!(wakes(&stage), ["yes", "yes", "held"]);
    assert_eq!(stage.answer(json!(1))["inferenceId"], "inf_2");
    assert_eq!(stage.answer(json!(3)), json!({"accepted": true}), "no inference is due yet");
    stage.turn("y");
    assert!(stage.prompts.iter().any(|prompt| prompt.to_text().contains("news e3")));
    // e3 begins a chain of its own. e8 is too deep and shares the turn of e7, which is due anyway; e9 is held.
    assert_eq!(wakes(&stage), ["yes", "yes", "held", "yes", "yes", "yes", "yes", "yes", "held"]);
    stage.order(Order::End);
    assert_eq!(stage.reported("no turn")[0].data["count"], 1);
    stage.fits();
}

#[test]
fn c38_a_rate_limit_delays_turns_and_keeps_every_message_with_its_channel() {
    let mut stage = connected(&[("mcpl.wakes_per_minute", None, json!(2))]);
    for n in 0..50 {
        stage.says(0, &incoming(n, &[(if n % 2 == 0 { "two" } else { "in" }, &format!("m{n}"))]));
        assert_eq!(stage.answer(json!(n))["results"][0]["accepted"], true);
    }
    assert_eq!((stage.prompts.len(), stage.by("channels/publish").len()), (2, 1));
    stage.now += Duration::from_secs(59);
    let early = stage.host.handle_timeout(stage.now);
    stage.play(early);
    assert_eq!((stage.prompts.len(), stage.host.next_timeout()), (2, Some(stage.now + Duration::from_secs(1))));
    stage.now += Duration::from_secs(1);
    let outputs = stage.host.handle_timeout(stage.now);
    stage.play(outputs);
    stage.pass();
    // One turn more for each channel, in which the other 24 messages stand.
    assert_eq!((stage.prompts.len(), stage.by("channels/publish").len()), (4, 2));
    let text: String = stage.prompts.iter().map(Prompt::to_text).collect();
    assert!((0..50).all(|n| text.contains(&format!("asks m{n}\n"))), "{text}");
    assert!(stage.prompts[2].to_text().contains("asks m48") && !stage.prompts[2].to_text().contains("asks m49"));
}

#[test]
fn c53_c54_c55_c56_an_inference_streams_in_order_and_ends_with_the_whole() {
    let mut stage = live_stage(&[]);
    stage.says(0, &infer(json!(18), json!({"stream": true, "preferences": {"maxTokens": 9, "temperature": 0.5}})));
    stage.says(0, &infer(json!("s"), json!({})));
    let [streamed, plain] = &stage.inferences[..] else { panic!("two inferences") };
    assert_eq!((streamed.max_tokens, streamed.temperature, streamed.stream), (Some(9), Some(0.5), true));
    assert_eq!(streamed.messages, [Utterance { role: "user", text: "Summarize".to_owned() }]);
    let (streamed, plain) = (streamed.token, plain.token);
    stage.piece(streamed, "Consolidated ");
    stage.piece(plain, "no stream");
    stage.piece(streamed, "memory ");
    assert!(stage.is_open(json!(18)));
    let text = "Consolidated memory summary".to_owned();
    stage.inferred(streamed, Ok(Inferred { text: text.clone(), finish: Finish::MaxTokens }));
    stage.inferred(plain, Ok(Inferred { text: "no stream".to_owned(), finish: Finish::EndTurn }));
    let chunks = stage.by("inference/chunk");
    let deltas: String = chunks.iter().filter_map(|chunk| chunk["params"]["delta"].as_str()).collect();
    assert_eq!(deltas, text);
    let indices: Vec<_> =
        chunks.iter().map(|chunk| (&chunk["params"]["requestId"], chunk["params"]["index"].as_u64())).collect();
    let id = json!(18);
    assert_eq!(indices, [(&id, Some(0)), (&id, Some(1)), (&id, Some(2))]);
    let whole = json!({"content": text, "model": "echo", "finishReason": "max_tokens",
        "usage": {"inputTokens": 3, "outputTokens": 7}});
    assert_eq!(stage.answer(json!(18)), whole);
    assert_eq!(stage.answer(json!("s"))["finishReason"], "end_turn");
    assert_eq!(Mcpl.descriptor().schemas.check("inference/request:result", &whole).expect("a schema"), []);
    stage.fits();
}

#[test]
fn c53_inferences_fail_are_withdrawn_and_end_with_the_session() {
    let mut stage = live_stage(&[]);
    stage.says(0, &infer(json!(1), json!({"messages": []})));
    stage.says(0, &infer(json!(2), json!({"messages": [{"content": "x"}]})));
    assert_eq!((&stage.answer(json!(1))["code"], &stage.answer(json!(2))["code"]), (&json!(-32602), &json!(-32602)));
    for id in 3..=5 {
        stage.says(0, &infer(json!(id), json!({})));
    }
    let tokens: Vec<u64> = stage.inferences.iter().map(|inference| inference.token).collect();
    stage.inferred(tokens[0], Err("out of memory".to_owned()));
    assert!(stage.answer(json!(3))["message"].as_str().is_some_and(|why| why.contains("out of memory")));
    stage.says(0, &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}}));
    stage.inferred(tokens[1], Ok(Inferred::default()));
    assert!(stage.is_open(json!(4)));
    stage.order(Order::End);
    assert_eq!(stage.answer(json!(5))["code"], -32603);
}

#[test]
fn c58_inferences_are_routed_and_have_budgets() {
    let routes = json!("conversation:c1=model,memory.*=deny");
    let mut routed = live_stage(&[("mcpl.route", None, routes)]);
    routed.says(0, &infer(json!(1), json!({})));
    routed.says(0, &infer(json!(2), json!({"conversationId": "c1"})));
    assert_eq!(routed.answer(json!(1))["code"], -32000);
    assert_eq!(routed.inferences.len(), 1);
    let mut few = live_stage(&[("mcpl.inferences", None, json!(1))]);
    few.says(0, &infer(json!(1), json!({})));
    few.says(0, &infer(json!(2), json!({})));
    assert_eq!((few.inferences.len(), &few.answer(json!(2))["code"]), (1, &json!(-32000)));
    let mut dear = live_stage(&[("mcpl.inference_tokens", None, json!(5))]);
    dear.says(0, &infer(json!(1), json!({})));
    let token = dear.inferences[0].token;
    dear.inferred(token, Ok(Inferred { text: "a long answer".to_owned(), finish: Finish::EndTurn }));
    dear.says(0, &infer(json!(2), json!({})));
    assert_eq!(dear.answer(json!(2))["code"], -32000);
}

#[test]
fn c59_the_model_is_reported_of() {
    let mut stage = live_stage(&[]);
    stage.says(0, &request(json!(0), "model/info", json!({})));
    let info = stage.answer(json!(0));
    assert_eq!(Mcpl.descriptor().schemas.check("model/info:result", &info).expect("a schema"), []);
    stage.order(proposal("model-info", json!({})));
    assert_eq!(stage.reported("model info").last().expect("reported").data, info);
}

fn channel(id: &str, direction: &str) -> Value {
    json!({"id": id, "type": "chat", "label": format!("label of {id}"), "direction": direction,
        "address": {"guild": "acme", "channel": id}})
}

/// A server with three channels that publishes.
fn connector() -> Script {
    live(block(), |method, params, id| match method {
        "channels/publish" => result(id, &json!({"delivered": true, "messageId": "p1"})),
        "channels/open" if params["type"] == "broken" => {
            vec![format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32024,"message":"Channel open failed"}}}}"#)]
        }
        "channels/open" => result(id, &json!({"channel": channel("opened", "bidirectional")})),
        "channels/close" => result(id, &json!({"closed": true})),
        "channels/list" => result(id, &json!({"channels": [channel("two", "bidirectional")]})),
        "context/beforeInference" => result(id, &json!({"featureSet": "memory.retrieval", "contextInjections": []})),
        _ => Vec::new(),
    })
}

fn connected(set: &[(&str, Option<&str>, Value)]) -> Stage {
    let mut stage = stage(vec![("c", connector())], set);
    let channels = [channel("in", "inbound"), channel("out", "outbound"), channel("two", "bidirectional")];
    stage.says(0, &request(json!("r"), "channels/register", json!({"channels": channels})));
    stage
}

pub(super) fn incoming(id: i64, messages: &[(&str, &str)]) -> Value {
    let message = |(channel, message): &(&str, &str)| {
        json!({"channelId": channel, "messageId": message, "threadId": "t", "author": {"id": "u", "name": "Alice"},
            "timestamp": "2026-03-05T10:30:00Z", "content": [{"type": "text", "text": format!("asks {message}")}]})
    };
    let messages: Vec<Value> = messages.iter().map(message).collect();
    request(id.into(), "channels/incoming", json!({"messages": messages}))
}

#[test]
fn c61_c62_c63_c64_channels_are_registered_changed_and_listed() {
    let mut stage = connected(&[]);
    assert_eq!(stage.answer(json!("r")), json!({}));
    stage.says(
        0,
        &json!({"jsonrpc": "2.0", "method": "channels/changed", "params": {
        "added": [channel("new", "inbound"), channel("two", "inbound")], "removed": ["in", "never"],
        "updated": [channel("out", "inbound"), channel("other", "inbound")]}}),
    );
    stage.says(0, &request(json!("l"), "channels/list", json!({})));
    let listed = stage.answer(json!("l"));
    let ids: Vec<&str> = listed["channels"].as_array().unwrap().iter().filter_map(|one| one["id"].as_str()).collect();
    assert_eq!(ids, ["new", "other", "out", "two"]);
    for odd in ["registered the channel two twice", "removed the channel never", "updated the channel other"] {
        assert!(stage.odd(odd), "{odd}");
    }
    stage.says(0, &request(json!("b"), "channels/register", json!({})));
    assert_eq!(stage.answer(json!("b"))["code"], -32602);
    stage.order(proposal("channel-list", json!({})));
    assert_eq!(stage.by("channels/list").len(), 1);
    assert_eq!(stage.done.last(), Some(&OrderResult::Ok));
}

#[test]
fn c65_channels_are_opened_and_closed_by_hand() {
    let mut stage = connected(&[]);
    stage.order(proposal("channel-open", json!({"type": "chat", "address": {"channel": "x"}})));
    stage.order(proposal("channel-publish", json!({"channel": "opened", "text": "hi"})));
    assert_eq!(stage.done[1..], [OrderResult::Ok, OrderResult::Ok]);
    stage.order(proposal("channel-close", json!({"channel": "opened"})));
    stage.order(proposal("channel-publish", json!({"channel": "opened", "text": "hi"})));
    assert!(matches!(stage.done.last(), Some(OrderResult::Failed(why)) if why.contains("is closed")));
    for (order, params, why) in [
        ("channel-open", json!({"type": "broken"}), "-32024"),
        ("channel-close", json!({"channel": "nowhere"}), "-32023"),
        ("channel-open", json!({}), "type is missing"),
        ("no-such-order", json!({}), "channel-open"),
    ] {
        stage.order(proposal(order, params));
        assert!(
            matches!(stage.done.last(), Some(OrderResult::Failed(reported)) if reported.contains(why)),
            "{:?}",
            stage.done
        );
    }
    stage.fits();
}

#[test]
fn c66_c67_c72_what_answers_a_channel_goes_to_who_watches_it_and_into_it_moderated() {
    let mut stage = connected(&[("mcpl.chunk_bytes", None, json!("4"))]);
    let long = ModelReply { text: "täglich um acht".to_owned(), tool_calls: Vec::new() };
    stage.replies.push_back(long);
    stage.says(0, &incoming(1, &[("two", "m1"), ("two", "m2")]));
    stage.pass();
    let results = stage.answer(json!(1));
    assert_eq!(results["results"][1], json!({"messageId": "m2", "accepted": true, "conversationId": "session-1"}));
    assert!(
        stage.prompts[0].to_text().contains("> Alice: asks m1\n  > Alice: asks m2"),
        "{}",
        stage.prompts[0].to_text()
    );
    // Behaviour C42: the hook learns which channel it is.
    let channels = json!({"candidates": ["ui", "out", "two"],
        "incoming": {"channelId": "two", "messageId": "m2", "threadId": "t"}, "defaultOutgoing": {"channelId": "two"}});
    assert_eq!(stage.by("context/beforeInference")[0]["params"]["channels"], channels);
    let chunks = stage.by("channels/outgoing/chunk");
    let text: String = chunks.iter().filter_map(|chunk| chunk["params"]["delta"].as_str()).collect();
    assert_eq!((text.as_str(), chunks[1]["params"]["index"].as_u64()), ("täglich um acht", Some(1)));
    let complete = &stage.by("channels/outgoing/complete")[0]["params"];
    assert_eq!(complete["content"], json!([{"type": "text", "text": "täglich um acht"}]));
    let published = &stage.by("channels/publish")[0];
    assert!(published["id"].is_number() && published["params"]["channelId"] == "two");
    assert_eq!(stage.reported("published")[0].data["message_id"], "p1");
    stage.fits();
    let mut quiet = connected(&[("mcpl.publish", None, json!("notification"))]);
    quiet.says(0, &incoming(1, &[("two", "m1")]));
    quiet.pass();
    assert!(quiet.by("channels/publish")[0].get("id").is_none());
    // A message from a channel that is inbound only gets no answer.
    quiet.says(0, &incoming(2, &[("in", "m1")]));
    quiet.pass();
    assert_eq!(quiet.by("channels/publish").len(), 1);
    // What is not published is not announced as outgoing either.
    let mut mute = connected(&[("mcpl.publish", None, json!("none"))]);
    mute.says(0, &incoming(1, &[("two", "m1")]));
    mute.pass();
    assert_eq!(mute.prompts.len(), 1);
    assert!(
        mute.sent.iter().all(|(_, text)| !text.contains("channels/outgoing") && !text.contains("channels/publish"))
    );
}

#[test]
fn c68_c69_c70_every_message_has_its_result() {
    let mut stage = connected(&[]);
    stage.says(0, &incoming(1, &[("two", "m1"), ("nowhere", "m2"), ("out", "m3"), ("two", "m1"), ("in", "m4")]));
    let answer = stage.answer(json!(1));
    assert_eq!(Mcpl.descriptor().schemas.check("channels/incoming:result", &answer).expect("a schema"), []);
    let results: Vec<(&str, bool)> = answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["messageId"].as_str().unwrap(), one["accepted"] == true))
        .collect();
    assert_eq!(results, [("m1", true), ("m2", false), ("m3", false), ("m1", false), ("m4", true)]);
    assert!(answer["results"][1]["reason"].as_str().is_some_and(|why| why.contains("Unknown channel")));
    assert_eq!(stage.mistakes("refused")[..3], [true, true, true]);
    stage.pass();
    assert_eq!(stage.prompts.len(), 2);
    stage.says(0, &request(json!(2), "channels/incoming", json!({"messages": [{"channelId": "two"}]})));
    assert_eq!(stage.answer(json!(2))["code"], -32602);
    let mut notified = incoming(3, &[("two", "m9")]);
    notified.as_object_mut().unwrap().remove("id");
    stage.says(0, &notified);
    assert!(stage.odd("as a notification"));
}

#[test]
fn c70_c71_c73_amb_c10_only_what_is_permitted_is_published() {
    let set = [("mcpl.whitelist", None, json!("chat:acme/*")), ("mcpl.blacklist", None, json!("two"))];
    let mut stage = connected(&set);
    for (channel, outcome) in
        [("out", ""), ("two", "-32017"), ("in", "-32017"), ("nowhere", "-32023"), ("thinking", "-32017")]
    {
        stage.order(proposal("channel-publish", json!({"channel": channel, "text": "hi", "notify": true})));
        match (stage.done.last(), outcome) {
            (Some(OrderResult::Ok), "") => {}
            (Some(OrderResult::Failed(why)), code) => assert!(why.contains(code), "{channel}: {why}"),
            other => panic!("{channel}: {other:?}"),
        }
    }
    assert_eq!(stage.by("channels/publish").len(), 1);
    stage.order(proposal("feature-sets", json!({"disable": "channels.*"})));
    stage.order(proposal("channel-publish", json!({"channel": "out", "text": "hi"})));
    assert!(matches!(stage.done.last(), Some(OrderResult::Failed(why)) if why.contains("no feature set")));
    stage.says(0, &incoming(1, &[("in", "m1")]));
    assert_eq!(stage.answer(json!(1))["results"][0]["accepted"], false);
}

#[test]
fn c74_what_is_done_is_reported_with_its_set_inference_and_outcome() {
    let mut stage = live_stage(&[]);
    stage.says(0, &event(1, "memory.proactive", "e1"));
    stage.pass();
    let reported = &stage.reported("event")[0];
    assert_eq!(reported.server, Some(ServerId(0)));
    assert_eq!(
        (&reported.data["feature_set"], &reported.data["outcome"]),
        (&json!("memory.proactive"), &json!("success"))
    );
    assert_eq!(reported.data["inference_id"], stage.answer(json!(1))["inferenceId"]);
}

#[test]
fn c39_ten_thousand_events_are_each_answered_once_and_duplicates_refused() {
    let mut stage = live_stage(&[("mcpl.push", None, json!("queue")), ("mcpl.push_waiting", None, json!("none"))]);
    for n in 0..10_000 {
        stage.says(0, &event(n, "memory.proactive", &format!("e{}", n - n % 2)));
    }
    let answers = stage.sent.iter().filter(|(_, text)| text.contains("\"accepted\":"));
    let (accepted, refused): (Vec<_>, Vec<_>) = answers.partition(|(_, text)| text.contains("\"accepted\":true"));
    assert_eq!((accepted.len(), refused.len()), (5000, 5000));
    assert!(refused.iter().all(|(_, text)| text.contains("duplicate")));
}

#[test]
fn after_the_end_nothing_begins() {
    let mut stage = live_stage(&[]);
    stage.order(Order::End);
    stage.says(0, &event(1, "memory.proactive", "e1"));
    stage.says(0, &infer(json!(2), json!({})));
    assert_eq!(stage.answer(json!(1)), json!({"accepted": false, "reason": "the session ends"}));
    assert_eq!((&stage.answer(json!(2))["code"], stage.inferences.len()), (&json!(-32000), 0));
}

/// Events, tools with state, rollbacks, denied scopes, streamed inferences, and bursts of messages.
#[test]
fn a_thousand_turns_of_all_of_it_are_the_same_twice_and_leave_nothing_open() {
    let run = || {
        let set = [
            ("mcpl.scope", Some("m"), json!("deny")),
            ("mcpl.before_timeout", None, json!("0s")),
            ("mcpl.wakes_per_minute", None, json!("none")),
        ];
        let mut stage = stage(vec![("m", live(block(), supervisor())), ("c", connector())], &set);
        stage
            .says(1, &request(json!("r"), "channels/register", json!({"channels": [channel("two", "bidirectional")]})));
        for n in 0..250 {
            let id = n * 10;
            stage.turn(&format!("turn {n}"));
            stage.says(0, &event(id, "memory.proactive", &format!("e{n}")));
            stage.pass();
            let burst: Vec<String> = (0..3).map(|m| format!("m{n}-{m}")).collect();
            let burst: Vec<(&str, &str)> = burst.iter().map(|message| ("two", message.as_str())).collect();
            stage.says(1, &incoming(id + 1, &burst));
            stage.pass();
            stage.says(0, &infer(json!(id + 2), json!({"stream": true})));
            let token = stage.inferences[n as usize].token;
            stage.piece(token, "some ");
            stage.inferred(token, Ok(Inferred { text: "some text".to_owned(), finish: Finish::EndTurn }));
            stage.says(0, &elevate(id + 3, "/etc/hosts"));
            stage.order(call("note", json!({})));
            if n % 10 == 9 {
                stage.order(proposal("rollback", json!({"server": "m", "checkpoint": "c1"})));
            }
            stage.order(Order::Turn { text: "task".to_owned(), agent: Agent::Sub });
        }
        stage.order(Order::End);
        let answered: Vec<i64> = stage
            .sent
            .iter()
            .map(|(_, text)| serde_json::from_str::<Value>(text).expect("JSON"))
            .filter(|message| message.get("method").is_none())
            .filter_map(|message| message["id"].as_i64())
            .collect();
        let asked: Vec<i64> = (0..250).flat_map(|n| (0..4).map(move |m| n * 10 + m)).collect();
        assert_eq!(answered, asked);
        let turns = stage
            .done
            .iter()
            .filter(|done| matches!(done, OrderResult::Turn { .. } | OrderResult::Woken { .. }))
            .count();
        assert_eq!(turns, 1000);
        stage.fits();
        stage.sent
    };
    assert_eq!(run(), run());
}

#[test]
fn a_server_that_goes_leaves_nothing_waiting() {
    let strict = [("mcpl.on_failure", None, json!("closed"))];
    let mut stage = stage(vec![("one", redacting("a", "b")), ("m", live(block(), silent))], &strict);
    stage.says(1, &infer(json!(1), json!({})));
    stage.says(1, &elevate(2, "/x"));
    let outputs = stage.host.order(stage.now, Order::Turn { text: "x".to_owned(), agent: Agent::Main });
    stage.play(outputs);
    let outputs = stage.host.closed(stage.now, ServerId(1), None);
    stage.play(outputs);
    assert!(stage.host.is_idle() && stage.host.next_timeout().is_none());
    let token = stage.inferences[0].token;
    stage.inferred(token, Ok(Inferred::default()));
    assert!(stage.is_open(json!(1)));
}

#[test]
fn every_slot_of_the_proposals_has_a_place_of_its_own() {
    let mut places: Vec<_> =
        REGISTRY.iter().flat_map(|proposal| proposal.slots()).map(|slot| (slot.place, slot.rank)).collect();
    let count = places.len();
    places.sort();
    places.dedup();
    assert_eq!(places.len(), count);
}

/// A block whose feature sets list no hooks and no channels.
fn unlisted(sets: Value) -> Value {
    let mut block = block();
    block["featureSets"] = sets;
    block
}

/// Everything that a server can do, after the user disabled its sets: what the host sent and accepted of it.
fn used(stage: &mut Stage, set: &str) -> Vec<&'static str> {
    let mut used = Vec::new();
    let channels = json!({"channels": [channel("two", "bidirectional")]});
    stage.says(0, &request(json!("r"), "channels/register", channels));
    stage.says(0, &event(1, set, "e1"));
    stage.says(0, &incoming(2, &[("two", "m1")]));
    stage.says(0, &infer(json!(3), json!({"featureSet": set})));
    stage.says(0, &request(json!(4), "channels/list", json!({})));
    stage.says(0, &request(json!(5), "model/info", json!({})));
    stage.says(0, &request(json!(6), "scope/elevate", json!({"featureSet": set, "scope": {"label": "/a"}})));
    stage.turn("x");
    for (order, params) in [
        ("channel-publish", json!({"channel": "two", "text": "hi"})),
        ("channel-open", json!({"type": "chat"})),
        ("channel-list", json!({})),
        ("rollback", json!({"set": set, "checkpoint": "c"})),
    ] {
        stage.order(proposal(order, params));
    }
    stage.order(call("note", json!({})));
    stage.order(call("note", json!({})));
    for (method, name) in [
        ("context/beforeInference", "before"),
        ("context/afterInference", "after"),
        ("channels/publish", "publish"),
        ("channels/open", "open"),
        ("channels/list", "list"),
        ("state/rollback", "rollback"),
    ] {
        used.extend((!stage.by(method).is_empty()).then_some(name));
    }
    used.extend((stage.answer(json!(1))["accepted"] == true).then_some("push"));
    used.extend((stage.answer(json!(2))["results"][0]["accepted"] == true).then_some("incoming"));
    used.extend((!stage.inferences.is_empty()).then_some("inference"));
    used.extend(stage.answer(json!(4)).get("channels").map(|_| "listed"));
    used.extend(stage.answer(json!(5)).get("id").map(|_| "model"));
    used.extend((stage.is_open(json!(6)) || stage.answer(json!(6)).get("approved").is_some()).then_some("scope"));
    let carries = |call: &Value| call["params"].get("checkpoint").is_some() || call["params"].get("state").is_some();
    used.extend(stage.by("tools/call").iter().any(carries).then_some("state"));
    used
}

fn stateful(method: &str, _: &Value, id: &str) -> Vec<String> {
    match method {
        "tools/call" => {
            let state = json!({"checkpoint": "c1", "parent": null, "data": {"n": 1}});
            result(id, &json!({"content": [], "state": state}))
        }
        _ => Vec::new(),
    }
}

fn all_uses() -> Value {
    json!({"description": "d", "scoped": true, "rollback": true, "uses": ["pushEvents", "inferenceRequest", "tools",
        "contextHooks.beforeInference", "contextHooks.afterInference", "channels.publish", "channels.observe"]})
}

/// MCPL 0.4 §6: "Feature sets provide fine-grained access control over server behaviors." Whatever a set lists, nothing is
/// left of a server whose sets are all disabled.
#[test]
fn nothing_of_mcpl_is_used_if_all_sets_are_disabled_by_name() {
    let bare = || json!({"description": "d", "uses": []});
    let without_uses = || json!({"description": "d"});
    for sets in [
        json!({"a.one": bare()}),
        json!({"a.one": set("pushEvents"), "a.two": set("tools")}),
        json!({"a.one": without_uses(), "a.two": {"description": "d", "uses": "tools"}}),
        json!({"a.one": all_uses(), "a.two": bare()}),
        json!([{"name": "a.one", "description": "d", "uses": ["tools"]}]),
    ] {
        for disabled in ["a.one,a.two", "a.*", "*", "a.one,a.t*"] {
            let off = [("mcpl.disabled", None, json!(disabled)), ("mcpl.unlisted", None, json!("accept"))];
            let mut stage = stage(vec![("m", live(unlisted(sets.clone()), stateful))], &off);
            assert_eq!(used(&mut stage, "a.one"), [""; 0], "{sets} {disabled}");
        }
        // The same if the user disables them later, and if only others are enabled.
        let mut later = stage(vec![("m", live(unlisted(sets.clone()), stateful))], &[]);
        later.order(proposal("feature-sets", json!({"disable": "a.one,a.two"})));
        assert_eq!(used(&mut later, "a.one"), [""; 0], "{sets}");
        let only = [("mcpl.enabled", None, json!("b.*"))];
        let mut others = stage(vec![("m", live(unlisted(sets.clone()), stateful))], &only);
        assert_eq!(used(&mut others, "a.one"), [""; 0], "{sets}");
    }
}

#[test]
fn what_no_set_lists_is_used_while_a_set_is_enabled() {
    let all = [
        "before",
        "after",
        "publish",
        "open",
        "list",
        "rollback",
        "push",
        "incoming",
        "inference",
        "listed",
        "model",
        "scope",
        "state",
    ];
    let mut enabled = stage(
        vec![("m", live(unlisted(json!({"a.one": all_uses()})), stateful))],
        &[("mcpl.before_timeout", None, json!("1s"))],
    );
    assert_eq!(used(&mut enabled, "a.one"), all);
    // A use that an enabled set lists does not depend on the others.
    let sets = json!({"a.one": set("contextHooks.beforeInference"), "a.two": set("pushEvents")});
    let off = [("mcpl.disabled", None, json!("a.two")), ("mcpl.before_timeout", None, json!("1s"))];
    let mut partly = stage(vec![("m", live(unlisted(sets.clone()), silent))], &off);
    partly.turn("x");
    assert_eq!(partly.by("context/beforeInference").len(), 1);
    let off = [("mcpl.disabled", None, json!("a.one"))];
    let mut partly = stage(vec![("m", live(unlisted(sets), silent))], &off);
    partly.turn("x");
    assert_eq!((partly.by("context/beforeInference").len(), partly.by("context/afterInference").len()), (0, 1));
    // A server without sets works, unless the user disables everything.
    let hooked = |disabled: &str| {
        let set = [("mcpl.disabled", None, json!(disabled)), ("mcpl.before_timeout", None, json!("1s"))];
        let mut stage = stage(vec![("m", live(unlisted(json!({})), silent))], &set);
        stage.turn("x");
        stage.by("context/beforeInference").len()
    };
    assert_eq!((hooked("a.one,a.two"), hooked("*")), (1, 0));
}

#[test]
fn a_server_does_not_get_round_a_disabled_set_by_removing_or_replacing_it() {
    let sets = json!({"a.hooks": set("contextHooks.beforeInference"), "b.tools": set("tools")});
    for params in [
        json!({"removed": ["a.hooks"]}),
        json!({"removed": ["a.hooks", "b.tools"]}),
        json!({"added": {"a.hooks": set("tools")}}),
    ] {
        let mut stage =
            stage(vec![("m", live(unlisted(sets.clone()), silent))], &[("mcpl.before_timeout", None, json!("1s"))]);
        stage.order(proposal("feature-sets", json!({"disable": "a.hooks"})));
        stage.says(0, &json!({"jsonrpc": "2.0", "method": "featureSets/changed", "params": params}));
        stage.turn("x");
        assert!(stage.by("context/beforeInference").is_empty(), "{params}");
        // Near it: a set that adds the use, and that the user did not disable.
        let added = json!({"added": {"c.hooks": set("contextHooks.beforeInference")}});
        stage.says(0, &json!({"jsonrpc": "2.0", "method": "featureSets/changed", "params": added}));
        stage.turn("x");
        assert_eq!(stage.by("context/beforeInference").len(), 1, "{params}");
    }
}

#[test]
fn a_server_does_not_undo_a_disabled_set_by_one_more() {
    let sets = json!({"a.x": set("tools")});
    for added in [json!({"description": "d", "uses": []}), set("tools"), set("pushEvents")] {
        let changed =
            json!({"jsonrpc": "2.0", "method": "featureSets/changed", "params": {"added": {"zz": added.clone()}}});
        let off = [("mcpl.disabled", None, json!("a.x"))];
        let mut disabled = stage(vec![("m", live(unlisted(sets.clone()), stateful))], &off);
        disabled.says(0, &changed);
        assert_eq!(used(&mut disabled, "a.x"), [""; 0], "{added}");
        // Near it: nothing is disabled.
        let on = [("mcpl.before_timeout", None, json!("1s"))];
        let mut open = stage(vec![("m", live(unlisted(sets.clone()), stateful))], &on);
        open.says(0, &changed);
        assert!(!used(&mut open, "a.x").is_empty(), "{added}");
    }
}

/// MCPL 0.4 §6.7: "Servers MUST immediately respect the new configuration." So does the host.
#[test]
fn what_a_set_began_ends_when_it_is_disabled() {
    let mut stage = live_stage(&[("mcpl.push", None, json!("queue")), ("mcpl.incoming", None, json!("queue"))]);
    stage.says(0, &request(json!("r"), "channels/register", json!({"channels": [channel("two", "bidirectional")]})));
    stage.says(0, &event(1, "memory.proactive", "e1"));
    stage.says(0, &incoming(2, &[("two", "m1")]));
    stage.says(0, &infer(json!(3), json!({})));
    stage.says(0, &elevate(4, "/etc/hosts"));
    let disable = "memory.proactive,channels.observe,memory.consolidation,files.edit";
    stage.order(proposal("feature-sets", json!({"disable": disable})));
    assert_eq!(stage.answer(json!(3))["code"], -32001);
    assert_eq!(stage.answer(json!(4))["approved"], false);
    let token = stage.inferences[0].token;
    stage.inferred(token, Ok(Inferred { text: "late".to_owned(), finish: Finish::EndTurn }));
    let prompt = stage.turn("x");
    assert!(!prompt.contains("news e1") && !prompt.contains("asks m1"), "{prompt}");
    assert_eq!(stage.reported("dropped").len(), 2);
    // Near it: another set is disabled.
    let mut other = live_stage(&[("mcpl.push", None, json!("queue"))]);
    other.says(0, &event(1, "memory.proactive", "e1"));
    other.order(proposal("feature-sets", json!({"disable": "memory.consolidation"})));
    assert!(other.turn("x").contains("news e1"));
}

/// MCPL 0.4 §6.5: "The server includes `featureSet` in its response". A result that cannot be attributed may be that of a
/// disabled set.
#[test]
fn a_hook_result_is_used_only_for_a_set_that_is_enabled() {
    let prompt = |named: Option<Value>, off: &str| {
        let answers = move |method: &str, _: &Value, id: &str| match method {
            "context/beforeInference" => {
                let injection = json!({"namespace": "n", "position": "system", "content": "planted"});
                let mut found = json!({"contextInjections": [injection]});
                named.iter().for_each(|set| found["featureSet"] = set.clone());
                result(id, &found)
            }
            _ => Vec::new(),
        };
        let other = json!({"version": "0.4", "featureSets": {"other.set": set("contextHooks.beforeInference")}});
        let servers = vec![("m", live(block(), answers)), ("other", live(other, silent))];
        let mut stage = stage(servers, &[("mcpl.disabled", Some("m"), json!(off))]);
        let is_used = stage.turn("x").contains("planted");
        (is_used, stage.reported("dropped").len())
    };
    assert_eq!(prompt(None, "memory.consolidation"), (false, 1));
    assert_eq!(prompt(Some(Value::Null), "files.edit"), (false, 1));
    for name in [
        json!(""),
        json!(7),
        json!(["memory.retrieval"]),
        json!("other.set"),
        json!("memory.*"),
        json!("Memory.Retrieval"),
    ] {
        assert_eq!(prompt(Some(name.clone()), ""), (false, 1), "{name}");
    }
    // Near it: an enabled set that lists the use; and no name at all, while nothing is disabled.
    assert_eq!(prompt(Some(json!("memory.retrieval")), "memory.consolidation"), (true, 0));
    assert_eq!(prompt(None, ""), (true, 0));
}

#[test]
fn a_review_that_names_no_set_changes_nothing_if_a_set_is_disabled() {
    let mut blocking = block();
    blocking["contextHooks"]["afterInference"]["blocking"] = json!(true);
    let answers = |method: &str, _: &Value, id: &str| match method {
        "context/afterInference" => result(id, &json!({"modifiedResponse": "planted"})),
        "context/beforeInference" => result(id, &json!({"featureSet": "memory.retrieval"})),
        _ => Vec::new(),
    };
    for (off, answer) in [("memory.consolidation", "ok"), ("", "planted")] {
        let mut stage = stage(vec![("m", live(blocking.clone(), answers))], &[("mcpl.disabled", None, json!(off))]);
        stage.turn("x");
        assert_eq!(stage.done.last(), Some(&OrderResult::Turn { turn: 1, answer: Ok(answer.to_owned()) }), "{off}");
    }
}

/// MCPL 0.4 §9.4: "Hosts SHOULD deduplicate events by `eventId`." Nothing else makes two events one.
#[test]
fn events_with_the_same_text_are_two_if_their_ids_differ() {
    let mut stage = live_stage(&[("mcpl.push", None, json!("queue")), ("mcpl.incoming", None, json!("queue"))]);
    stage.says(0, &request(json!("r"), "channels/register", json!({"channels": [channel("two", "bidirectional")]})));
    let same = |id: i64, name: &str| {
        let mut event = event(id, "memory.proactive", name);
        event["params"]["payload"]["content"][0]["text"] = json!("the disk is full");
        event
    };
    for (id, name) in [(1, "e1"), (2, "e2"), (3, "e1")] {
        stage.says(0, &same(id, name));
    }
    assert_eq!(stage.answer(json!(3))["reason"], "duplicate");
    for (id, name) in [(4, "m1"), (5, "m2")] {
        let mut said = incoming(id, &[("two", name)]);
        said["params"]["messages"][0]["content"][0]["text"] = json!("yes");
        stage.says(0, &said);
    }
    let prompt = stage.turn("x");
    assert_eq!((prompt.matches("the disk is full").count(), prompt.matches("Alice: yes").count()), (2, 2), "{prompt}");
    assert!(stage.reported("duplicate").iter().all(|event| event.proposal == "mcpl"), "{:?}", stage.events);
}

/// MCPL 0.4 §14.3: "Response (per-message results for partial acceptance)".
#[test]
fn a_bad_message_does_not_refuse_the_others_of_its_batch() {
    let mut stage = connected(&[("mcpl.incoming", None, json!("queue"))]);
    let good = |name: &str| incoming(0, &[("two", name)])["params"]["messages"][0].clone();
    let with = |name: &str, member: &str, value: Value| {
        let mut message = good(name);
        message[member] = value;
        message
    };
    let without = |name: &str, member: &str| {
        let mut message = good(name);
        message.as_object_mut().unwrap().remove(member);
        message
    };
    let messages = json!([
        good("first"),
        without("no-channel", "channelId"),
        without("nameless", "messageId"),
        with("odd-name", "messageId", json!(7)),
        without("no-content", "content"),
        with("null", "content", Value::Null),
        with("empty", "content", json!([])),
        with("blank", "content", json!("")),
        with("spaces", "content", json!([{"type": "text", "text": " \n"}])),
        with("untyped", "content", json!([{}, 7])),
        with("number", "content", json!(7)),
        with("yesterday", "timestamp", json!("yesterday")),
        with("february", "timestamp", json!("2026-02-30T10:30:00Z")),
        with("hour", "timestamp", json!("2026-03-05T25:00:00Z")),
        with("seconds", "timestamp", json!(1_772_706_600)),
        json!(7),
        Value::Null,
        without("undated", "timestamp"),
        with("string", "content", json!("asks string")),
        with("zoneless", "timestamp", json!("2026-03-05T10:30:00")),
        good("last"),
    ]);
    stage.says(0, &request(json!(1), "channels/incoming", json!({"messages": messages})));
    let answer = stage.answer(json!(1));
    assert_eq!(Mcpl.descriptor().schemas.check("channels/incoming:result", &answer).expect("a schema"), []);
    let results = answer["results"].as_array().unwrap();
    let (good, bad): (Vec<&Value>, Vec<&Value>) = results.iter().partition(|one| one["accepted"] == true);
    let names =
        |some: &[&Value]| some.iter().map(|one| one["messageId"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&good), ["first", "undated", "string", "zoneless", "last"]);
    let refused = [
        "no-channel",
        "no-content",
        "null",
        "empty",
        "blank",
        "spaces",
        "untyped",
        "number",
        "yesterday",
        "february",
        "hour",
        "seconds",
    ];
    assert_eq!(names(&bad), refused);
    assert!(bad.iter().all(|one| one["reason"].is_string()));
    assert_eq!(stage.mistakes("refused"), vec![true; 16]);
    assert!(stage.odd("no time zone") && stage.odd("content is a string"));
    let prompt = stage.turn("x");
    let lines: Vec<&str> = prompt.lines().filter(|line| line.contains("Alice:")).collect();
    assert_eq!(lines.len(), 5, "{prompt}");
    assert!(lines.iter().all(|line| line.contains("asks ")), "{prompt}");
    // A message that was refused can be sent again.
    stage.says(0, &incoming(2, &[("two", "yesterday")]));
    assert_eq!(stage.answer(json!(2))["results"][0]["accepted"], true);
    // Near it: an empty batch, and one without any message that has a name.
    stage.says(0, &request(json!(3), "channels/incoming", json!({"messages": []})));
    assert_eq!(stage.answer(json!(3)), json!({"results": []}));
    for (id, params) in [(4, json!({"messages": [{}, 7]})), (5, json!({})), (6, json!({"messages": {}}))] {
        stage.says(0, &request(json!(id), "channels/incoming", params));
        assert_eq!(stage.answer(json!(id))["code"], -32602);
    }
}

#[test]
fn an_event_says_something_and_when() {
    let mut stage = live_stage(&[]);
    for (id, (member, value, is_taken)) in (1..).zip([
        ("content", json!([]), false),
        ("content", json!(""), false),
        ("content", json!([{}]), false),
        ("content", json!([{"type": "text"}]), false),
        ("content", json!([{}, {"type": "text", "text": "x"}]), true),
        ("eventId", json!(" "), false),
        ("content", json!({"type": "text", "text": "x"}), false),
        ("content", json!("text"), true),
        ("timestamp", json!("yesterday"), false),
        ("timestamp", json!("2026-02-29T00:00:00Z"), false),
        ("timestamp", json!(1_772_706_600), false),
        ("timestamp", json!("2024-02-29T00:00:00+14:00"), true),
    ]) {
        let mut event = event(id, "memory.proactive", &format!("e{id}"));
        let place = if member == "content" { &mut event["params"]["payload"] } else { &mut event["params"] };
        place[member] = value.clone();
        stage.says(0, &event);
        assert_eq!(stage.answer(json!(id))["accepted"] == true, is_taken, "{value}");
    }
}
