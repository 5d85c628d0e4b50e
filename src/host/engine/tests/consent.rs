//! What servers get to see of the conversation: the user's words, the model's answers, and what tools are given and
//! return go to no server whose command the user did not give, unless the user consents. The guide promises it
//! ("`host` sends your messages only to servers that you trust with them"), and every proposal keeps it by one rule.

use super::mcpl::{block, event, set};
use super::*;

/// The words that must not leave: of the user, of the model, and around a tool.
const SECRETS: [&str; 4] = ["user-words", "model-answer", "tool-input", "tool-output"];

/// A server with every proposal, whose hooks want all that there is.
fn curious(blocking: bool) -> Script {
    let mut mcpl = block();
    mcpl["contextHooks"]["afterInference"]["blocking"] = blocking.into();
    let hook = |event: &str, args: Value, more: Value| {
        let mut hook =
            json!({"event": event, "priority": "suggestion", "context_tool": "learn", "context_tool_args": args});
        more.as_object().into_iter().flatten().for_each(|(name, value)| hook[name] = value.clone());
        hook
    };
    let declarations = json!([
        hook("pre_tool_use", json!({"deep": [{"in": "it was {tool_input}"}]}), json!({})),
        hook("post_tool_use", json!({"out": "{tool_output}"}), json!({})),
        hook("post_tool_use", json!({"found": true}), json!({"matcher": {"input_contains": "tool-in"}})),
        hook("pre_request", json!({"project": "{project_name}"}), json!({})),
        hook("post_tool_use", json!({"tool": "{tool_name}"}), json!({})),
        {"event": "post_tool_use", "priority": "suggestion", "context": "saw {tool_output}"},
    ]);
    let capabilities = json!({"tools": {}, "events": {"maxSubscriptions": 5, "deliveryChannels": ["realtime"],
            "features": {"pause": true, "wildcards": true}},
        "conversationEvents": {"onUserMessage": true}, "hooks": {"declarations": declarations},
        "experimental": {"mcpl": mcpl, "reminders": {}}});
    server(capabilities, |method, _, id| match method {
        "tools/list" => result(id, &json!({"tools": [{"name": "learn"}, {"name": "events_subscribe"}]})),
        "tools/call" => result(id, &json!({"content": [{"type": "text", "text": "learned"}]})),
        "conversation/userMessage" => result(id, &json!({"context": "context"})),
        "context/beforeInference" => {
            let injection = json!({"namespace": "n", "position": "system", "content": "hooked"});
            result(id, &json!({"featureSet": "memory.retrieval", "contextInjections": [injection]}))
        }
        "context/afterInference" => result(id, &json!({"featureSet": "memory.extraction"})),
        _ => Vec::new(),
    })
}

/// A stage with a curious server (number 0) and one whose tool the model uses (number 1). The user gave the commands of
/// `own` servers.
fn curious_stage(set: &[(&str, Option<&str>, Value)], blocking: bool, own: &[&str]) -> Stage {
    let tools = server(json!({"tools": {}}), |method, _, id| match method {
        "tools/list" => result(id, &json!({"tools": [{"name": "work"}]})),
        "tools/call" => result(id, &json!({"content": [{"type": "text", "text": "tool-output"}]})),
        _ => Vec::new(),
    });
    let mut all = vec![("mcpl.before_timeout", None, json!("1s")), ("mcpl.after_timeout", None, json!("1s"))];
    all.extend_from_slice(set);
    stage_of(vec![("far", curious(blocking)), ("near", tools)], &all, own)
}

fn talk(stage: &mut Stage) {
    let call = ToolCall { server: None, tool: "work".to_owned(), arguments: json!({"text": "tool-input"}) };
    stage.replies.push_back(ModelReply { text: String::new(), tool_calls: vec![call] });
    stage.replies.push_back(ModelReply { text: "model-answer".to_owned(), tool_calls: Vec::new() });
    stage.turn("user-words");
}

/// The secrets that the curious server got, each with the method that carried it.
fn leaked(stage: &Stage) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    for (_, text) in stage.sent.iter().filter(|(server, _)| *server == 0) {
        let message: Value = serde_json::from_str(text).expect("JSON");
        let method = message["method"].as_str().unwrap_or("response").to_owned();
        found.extend(SECRETS.iter().filter(|secret| text.contains(*secret)).map(|secret| (method.clone(), *secret)));
    }
    found.sort();
    found.dedup();
    found
}

fn methods(stage: &Stage) -> Vec<String> {
    let mut methods: Vec<String> = leaked(stage).into_iter().map(|(method, _)| method).collect();
    methods.dedup();
    methods
}

#[test]
fn nothing_of_the_conversation_goes_to_a_server_without_consent() {
    for blocking in [false, true] {
        let mut stage = curious_stage(&[], blocking, &["near"]);
        talk(&mut stage);
        talk(&mut stage);
        assert_eq!(leaked(&stage), []);
        // Each proposal says once what the server does not get, and how to consent.
        let out: Vec<(&str, bool)> = stage
            .reported("left out")
            .iter()
            .map(|event| (event.proposal, event.text.contains(&format!("--set far:{}.consent=true", event.proposal))))
            .collect();
        assert_eq!(out, [("conversation", true), ("mcpl", true), ("hooks", true)]);
        let asked: Vec<&str> = stage.questions.iter().map(|question| question.proposal).collect();
        assert_eq!(asked, ["conversation", "mcpl", "hooks"]);
        assert_eq!(stage.done.last(), Some(&OrderResult::Turn { turn: 2, answer: Ok("model-answer".to_owned()) }));
    }
}

#[test]
fn each_proposal_shows_what_it_carries_once_the_user_consents() {
    let hooks = ["context/afterInference", "context/beforeInference"];
    for (proposal, carriers) in
        [("conversation", &["conversation/userMessage"][..]), ("mcpl", &hooks[..]), ("hooks", &["tools/call"][..])]
    {
        let option = format!("{proposal}.consent");
        let mut said = curious_stage(&[(&option, Some("far"), json!(true))], false, &["near"]);
        talk(&mut said);
        assert_eq!(methods(&said), carriers, "{proposal}: by option");
        let mut approved = curious_stage(&[], true, &["near"]);
        let allow =
            |is_allowed| Order::Allow { server: "far".to_owned(), proposal: Some(proposal.to_owned()), is_allowed };
        approved.order(allow(true));
        talk(&mut approved);
        assert_eq!(methods(&approved), carriers, "{proposal}: by approval");
        approved.sent.clear();
        approved.order(allow(false));
        talk(&mut approved);
        assert_eq!(leaked(&approved), [], "{proposal}: revoked");
    }
    let mut own = curious_stage(&[], false, &["near", "far"]);
    talk(&mut own);
    assert_eq!(leaked(&own).len(), 6, "{:?}", leaked(&own));
    assert!(own.questions.is_empty() && own.reported("left out").is_empty());
    // An option refuses it for any server.
    let no = |name| (name, None, json!(false));
    let set = [no("conversation.consent"), no("mcpl.consent"), no("hooks.consent")];
    let mut refused = curious_stage(&set, false, &["near", "far"]);
    talk(&mut refused);
    assert_eq!(leaked(&refused), []);
}

#[test]
fn what_carries_nothing_of_the_conversation_needs_no_consent() {
    let mut stage = curious_stage(&[], false, &["near"]);
    talk(&mut stage);
    // Hooks whose calls tell no more than that something happened, and texts, which stay here.
    let calls: Vec<Value> = stage
        .sent
        .iter()
        .filter(|(server, _)| *server == 0)
        .map(|(_, text)| text)
        .filter(|text| text.contains("tools/call"))
        .map(|text| serde_json::from_str::<Value>(text).expect("JSON")["params"]["arguments"].clone())
        .collect();
    assert_eq!(calls, [json!({"project": "demo"}), json!({"tool": "work"})]);
    assert!(stage.prompts[1].to_text().contains("saw {"), "{}", stage.prompts[1].to_text());
    // Its events still begin turns, and a hook before such a turn learns nothing of the user's.
    stage.sent.clear();
    stage.replies.push_back(ModelReply { text: "model-answer".to_owned(), tool_calls: Vec::new() });
    stage.says(0, &event(9, "memory.proactive", "e9"));
    stage.pass();
    assert!(
        stage
            .prompts
            .last()
            .is_some_and(|prompt| prompt.to_text().contains("news e9") && prompt.to_text().contains("hooked"))
    );
    assert_eq!(leaked(&stage), [], "but the answer is the model's");
    // A subscription is an order of the user's.
    stage.order(Order::Proposal {
        order: "subscribe".to_owned(),
        params: json!({"server": "far", "types": "user-words"}),
    });
    assert!(stage.sent.iter().any(|(_, text)| text.contains("events_subscribe")), "{:?}", stage.done);
}

#[test]
fn the_answer_to_a_channel_needs_consent_too() {
    let published = |own: &[&str]| {
        let mut stage = curious_stage(&[("mcpl.publish", None, json!("notification"))], false, own);
        let channel = json!({"id": "c", "type": "chat", "label": "c", "direction": "bidirectional"});
        stage.says(
            0,
            &json!({"jsonrpc": "2.0", "id": "r", "method": "channels/register", "params": {"channels": [channel]}}),
        );
        stage.replies.push_back(ModelReply { text: "model-answer".to_owned(), tool_calls: Vec::new() });
        stage.says(0, &mcpl::incoming(1, &[("c", "m1")]));
        stage.pass();
        assert_eq!(stage.prompts.len(), 1);
        methods(&stage)
    };
    let all = ["channels/outgoing/chunk", "channels/outgoing/complete", "channels/publish", "context/afterInference"];
    assert_eq!(published(&["near"]), [""; 0]);
    assert_eq!(published(&["far"]), all);
}

#[test]
fn an_answer_that_a_server_must_agree_to_is_withheld_if_the_server_may_not_see_it() {
    let answer = |own: &[&str]| {
        let mut stage = curious_stage(&[("mcpl.on_failure", None, json!("closed"))], true, own);
        talk(&mut stage);
        match stage.done.last() {
            Some(OrderResult::Turn { answer: Ok(answer), .. }) => answer.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(answer(&["near", "far"]), "model-answer");
    assert!(answer(&["near"]).contains("gets no answers without your consent"));
}

#[test]
fn a_server_that_takes_nothing_of_the_conversation_is_not_asked_about() {
    let mut pushes = block();
    for name in ["contextHooks", "channels"] {
        pushes.as_object_mut().expect("an object").remove(name);
    }
    pushes["featureSets"] = json!({"memory.proactive": set("pushEvents")});
    let capabilities = json!({"experimental": {"mcpl": pushes}});
    let hooks = json!({"hooks": {"declarations": [text_hook("post_tool_use", "suggestion", "saw {tool_output}")]}});
    let stage = stage_of(vec![("a", server(capabilities, silent)), ("b", server(hooks, silent))], &[], &[]);
    assert_eq!(stage.questions, []);
}

#[test]
fn what_was_said_without_consent_is_not_sent_as_history_later() {
    let mut stage = curious_stage(&[("conversation.history", None, json!("10"))], false, &["near"]);
    let allow =
        |is_allowed| Order::Allow { server: "far".to_owned(), proposal: Some("conversation".to_owned()), is_allowed };
    stage.turn("said before");
    stage.order(allow(true));
    stage.turn("said with consent");
    stage.order(allow(false));
    stage.turn("said when revoked");
    stage.order(allow(true));
    stage.turn("said again");
    stage.turn("said last");
    let got: Vec<&String> = stage.sent.iter().filter(|(server, _)| *server == 0).map(|(_, text)| text).collect();
    let got = |words: &str| got.iter().filter(|text| text.contains(words)).count();
    assert_eq!((got("said before"), got("said when revoked")), (0, 0));
    assert_eq!(
        (got("said with consent"), got("said again"), got("said last")),
        (1, 2, 1),
        "the last one has a history"
    );
}
