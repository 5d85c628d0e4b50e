use super::super::SCHEMAS;
use super::notes::{KEPT, Notes};
use super::*;

fn host(extra: &Value) -> Mcpl {
    let mut block = json!({"version": "0.4", "pushEvents": true, "inferenceRequest": {"streaming": true}});
    block.as_object_mut().expect("an object").extend(extra.as_object().cloned().expect("an object"));
    Mcpl::negotiate(&json!({"experimental": {"mcpl": block}}), &[]).expect("negotiated")
}

fn fits(name: &str, value: &Value) {
    assert_eq!(SCHEMAS.check(name, value), Some(vec![]), "{name}");
}

#[test]
fn nothing_is_negotiated_with_a_plain_host() {
    assert!(Mcpl::negotiate(&json!({"experimental": {}}), &[]).is_none());
    fits("capability:server", &host(&json!({})).block());
}

#[test]
fn sets_named_from_outside_are_declared_push_and_obey_updates() {
    let names = ["gitlab.notifications".to_owned(), PROACTIVE.to_owned()];
    let capabilities = json!({"experimental": {"mcpl": {"version": "0.4", "pushEvents": true}}});
    let mut mcpl = Mcpl::negotiate(&capabilities, &names).expect("negotiated");
    fits("capability:server", &mcpl.block());
    assert_eq!(mcpl.block()["featureSets"]["gitlab.notifications"]["uses"], json!(["pushEvents"]));
    assert_eq!(mcpl.may_send(PUSH_EVENT, "gitlab.notifications"), Ok(()));
    mcpl.update(&json!({"disabled": ["gitlab.*"]}));
    assert_eq!(
        mcpl.may_send(PUSH_EVENT, "gitlab.notifications"),
        Err(Withheld::Disabled("gitlab.notifications".to_owned()))
    );
}

#[test]
fn updates_are_changes_and_wildcards_reach_all_below() {
    let mut mcpl = host(&json!({}));
    let update = mcpl.update(&json!({"disabled": ["memory.*", "nobody's"]}));
    assert_eq!((update.disabled.len(), update.unknown), (4, vec!["nobody's".to_owned()]));
    assert!(mcpl.is_on(NOTES) && !mcpl.is_on(PROACTIVE));
    assert_eq!(mcpl.may_send(PUSH_EVENT, PROACTIVE), Err(Withheld::Disabled(PROACTIVE.to_owned())));
    assert_eq!(mcpl.gate(RETRIEVAL).map_err(|refusal| refusal.code), Err(NOT_ENABLED));
    assert_eq!(mcpl.update(&json!({"enabled": [PROACTIVE]})).enabled, [PROACTIVE]);
    assert_eq!(mcpl.may_send(PUSH_EVENT, PROACTIVE), Ok(()));
    assert!(!mcpl.is_on(RETRIEVAL));
    assert_eq!(mcpl.update(&json!({"enabled": [NOTES], "disabled": [NOTES]})).disabled, [NOTES]);
}

#[test]
fn what_the_host_or_the_set_lacks_is_told() {
    let mcpl = host(&json!({"pushEvents": false, "modelInfo": false}));
    assert_eq!(mcpl.may_send(PUSH_EVENT, PROACTIVE), Err(Withheld::HostLacks("pushEvents")));
    assert_eq!(mcpl.may_ask_model(), Err(Withheld::HostLacks("modelInfo")));
    let mcpl = host(&json!({}));
    assert_eq!(mcpl.may_send(PUSH_EVENT, NOTES), Err(Withheld::NotUsed(NOTES.to_owned(), "pushEvents")));
    assert_eq!(mcpl.may_send(INFERENCE, "x"), Err(Withheld::UnknownSet("x".to_owned())));
    assert_eq!(mcpl.gate("x").map_err(|refusal| refusal.code), Err(UNKNOWN_SET));
}

#[test]
fn what_it_words_fits_the_proposal() {
    let draft = Draft { text: "a commit".to_owned(), ..Draft::default() };
    fits("push/event:params", &draft.params("evt_1", "2026-01-23T10:30:00Z", "s"));
    fits("inference/request:params", &host(&json!({})).inference(&Ask { stream: true, ..Ask::default() }, &["a"]));
    fits("context/beforeInference:result", &injections(&[]));
    fits("context/beforeInference:result", &injections(&[Memory { id: "mem_1", content: "x" }]));
    fits("context/afterInference:result", &unmodified());
    let mute = host(&json!({"inferenceRequest": {}}));
    assert_eq!(mute.inference(&Ask { stream: true, ..Ask::default() }, &[])["stream"], json!(false));
}

#[test]
fn notes_branch_after_a_rollback() {
    let mut notes = Notes::default();
    let first = notes.add("a", &Value::Null, "chk_1".to_owned());
    assert_eq!(first, json!({"checkpoint": "chk_1", "parent": null, "data": {"notes": [{"id": 1, "text": "a"}]}}));
    let second = notes.add("b", &json!({"state": {"notes": [{"id": 1, "text": "a"}]}}), "chk_2".to_owned());
    assert_eq!(second["patch"], json!([{"op": "add", "path": "/notes/-", "value": {"id": 2, "text": "b"}}]));
    fits("State", &first);
    fits("State", &second);
    fits("state/rollback:result", &notes.rollback("chk_1").expect("kept"));
    assert_eq!(notes.texts(), ["a"]);
    let branch = notes.add("c", &json!({"checkpoint": "chk_1"}), "chk_3".to_owned());
    assert_eq!((&branch["parent"], notes.texts()), (&json!("chk_1"), vec!["a", "c"]));
    let foreign = notes.add("d", &json!({"state": {"notes": []}}), "chk_4".to_owned());
    assert_eq!(foreign["data"], json!({"notes": [{"id": 1, "text": "d"}]}));
    assert!(foreign.get("patch").is_none());
}

#[test]
fn pruned_checkpoints_are_not_found() {
    let mut notes = Notes::default();
    for number in 0..=KEPT {
        notes.add("n", &Value::Null, format!("chk_{number}"));
    }
    let refusal = notes.rollback("chk_0").expect_err("pruned");
    assert_eq!((refusal.code, refusal.data), (-32005, json!({"checkpoint": "chk_0"})));
    assert!(notes.rollback("chk_1").is_ok());
}
