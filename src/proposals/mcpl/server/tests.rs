use super::super::SCHEMAS;
use super::negotiated::{NOT_ENABLED, UNKNOWN_SET};
use super::*;
use crate::proposals::server::Store;
use crate::proposals::server::notes::{KEPT, MAX_BYTES, MAX_NOTES, Notes};

fn host(extra: &Value) -> Negotiated {
    let mut block = json!({"version": "0.4", "pushEvents": true, "inferenceRequest": {"streaming": true}});
    block.as_object_mut().expect("an object").extend(extra.as_object().cloned().expect("an object"));
    let mut negotiated = Negotiated::default();
    assert!(negotiated.negotiate(&json!({"experimental": {"mcpl": block}})));
    negotiated
}

fn withheld(mcpl: &Negotiated, method: &str, set: &str) -> Value {
    mcpl.may_send(method, set).map_or_else(|reason| json!(reason), |()| Value::Null)
}

fn fits(name: &str, value: &Value) {
    assert_eq!(SCHEMAS.check(name, value), Some(vec![]), "{name}");
}

#[test]
fn nothing_is_negotiated_with_a_plain_host() {
    assert!(!Negotiated::default().negotiate(&json!({"experimental": {}})));
    assert_eq!(McplServerSide::default().declare(&json!({"experimental": {}})), []);
    fits("capability:server", &host(&json!({})).block(false));
}

#[test]
fn sets_named_from_outside_are_declared_push_and_obey_updates() {
    let names = ["gitlab.notifications".to_owned(), PROACTIVE.to_owned()];
    let capabilities = json!({"experimental": {"mcpl": {"version": "0.4", "pushEvents": true}}});
    let mut mcpl = McplServerSide::default();
    mcpl.configure(&json!(Settings { push_sets: names.to_vec(), ..Settings::default() })).expect("settings");
    assert!(mcpl.configure(&json!({"push_set": []})).is_err());
    let declared = mcpl.declare(&capabilities);
    assert_eq!(declared[0].path, ["experimental", "mcpl"]);
    let mut mcpl = mcpl.negotiated;
    fits("capability:server", &mcpl.block(false));
    assert_eq!(mcpl.block(false)["featureSets"]["gitlab.notifications"]["uses"], json!(["pushEvents"]));
    assert_eq!(mcpl.may_send(PUSH_EVENT, "gitlab.notifications"), Ok(()));
    mcpl.update(&json!({"disabled": ["gitlab.*"]}));
    let why = json!({"why": "feature_set_disabled", "feature_set": "gitlab.notifications"});
    assert_eq!(withheld(&mcpl, PUSH_EVENT, "gitlab.notifications"), why);
}

#[test]
fn updates_are_changes_and_wildcards_reach_all_below() {
    let mut mcpl = host(&json!({}));
    let update = mcpl.update(&json!({"disabled": ["memory.*", "nobody's"]}));
    assert_eq!((update.disabled.len(), update.unknown), (4, vec!["nobody's".to_owned()]));
    assert!(mcpl.is_on(NOTES_SET) && !mcpl.is_on(PROACTIVE));
    assert_eq!(withheld(&mcpl, PUSH_EVENT, PROACTIVE)["why"], "feature_set_disabled");
    assert_eq!(mcpl.gate(RETRIEVAL).map_err(|refusal| refusal.code), Err(NOT_ENABLED));
    assert_eq!(mcpl.update(&json!({"enabled": [PROACTIVE]})).enabled, [PROACTIVE]);
    assert_eq!(mcpl.may_send(PUSH_EVENT, PROACTIVE), Ok(()));
    assert!(!mcpl.is_on(RETRIEVAL));
    assert_eq!(mcpl.update(&json!({"enabled": [NOTES_SET], "disabled": [NOTES_SET]})).disabled, [NOTES_SET]);
}

#[test]
fn c9_a_star_alone_is_every_set_and_at_the_end_everything_below() {
    let mut mcpl = host(&json!({}));
    assert_eq!(mcpl.update(&json!({"disabled": ["*"]})).unknown, [] as [&str; 0]);
    assert!(!mcpl.is_on(NOTES_SET) && !mcpl.is_on(RETRIEVAL));
    for (pattern, set, fits) in [
        ("*", "a.b", true),
        ("a.*", "a.b", true),
        ("a.*", "a.b.c", true),
        ("a.*", "a", false),
        ("a.*", "ab.c", false),
        ("*.b", "a.b", true),
        ("*.b", "a.c.b", false),
        ("a", "a.b", false),
    ] {
        assert_eq!(crate::proposals::mcpl::matches_set(pattern, set), fits, "{pattern} {set}");
    }
}

#[test]
fn c8_sets_are_declared_as_an_array_for_hosts_that_accept_nothing_else() {
    let mut mcpl = McplServerSide::default();
    mcpl.configure(&json!({"feature_sets": "array"})).expect("settings");
    let capabilities = json!({"experimental": {"mcpl": {"version": "0.4", "pushEvents": true}}});
    let sets = mcpl.declare(&capabilities)[0].value["featureSets"].clone();
    let first = &sets.as_array().expect("an array")[0];
    assert!(first["name"].is_string() && first["uses"].is_array() && first["description"].is_string(), "{sets}");
    assert_eq!(crate::proposals::mcpl::feature_sets(&sets).len(), 6);
}

#[test]
fn what_the_host_or_the_set_lacks_is_reported() {
    let mcpl = host(&json!({"pushEvents": false, "modelInfo": false}));
    let why = json!({"why": "host_lacks", "capability": "pushEvents"});
    assert_eq!(withheld(&mcpl, PUSH_EVENT, PROACTIVE), why);
    assert_eq!(mcpl.may_ask_model(), Err(Unsent::host_lacks("modelInfo")));
    let mcpl = host(&json!({}));
    let why = json!({"why": "not_in_uses", "feature_set": NOTES_SET, "uses": "pushEvents"});
    assert_eq!(withheld(&mcpl, PUSH_EVENT, NOTES_SET), why);
    assert_eq!(withheld(&mcpl, INFERENCE, "x"), json!({"why": "unknown_feature_set", "feature_set": "x"}));
    assert_eq!(mcpl.gate("x").map_err(|refusal| refusal.code), Err(UNKNOWN_SET));
}

#[test]
fn what_it_words_fits_the_proposal() {
    let ask = Ask { stream: true, ..Ask::default() };
    fits("inference/request:params", &inference(&ask, &["a"], true));
    fits("context/beforeInference:result", &injections(&[]));
    fits("context/beforeInference:result", &injections(&Store::default().memories.search("schema", 1)));
    fits("context/afterInference:result", &unmodified());
    let mute = host(&json!({"inferenceRequest": {}}));
    assert_eq!(inference(&ask, &[], mute.can_stream())["stream"], json!(false));
}

#[test]
fn notes_branch_after_a_rollback() {
    let mut notes = Notes::default();
    let first = notes.add("a", &Value::Null, "chk_1".to_owned()).expect("added");
    assert_eq!(first, json!({"checkpoint": "chk_1", "parent": null, "data": {"notes": [{"id": 1, "text": "a"}]}}));
    let second =
        notes.add("b", &json!({"state": {"notes": [{"id": 1, "text": "a"}]}}), "chk_2".to_owned()).expect("added");
    assert_eq!(second["patch"], json!([{"op": "add", "path": "/notes/-", "value": {"id": 2, "text": "b"}}]));
    fits("State", &first);
    fits("State", &second);
    fits("state/rollback:result", &notes.rollback("chk_1").expect("kept"));
    assert_eq!(notes.texts(), ["a"]);
    let branch = notes.add("c", &json!({"checkpoint": "chk_1"}), "chk_3".to_owned()).expect("added");
    assert_eq!((&branch["parent"], notes.texts()), (&json!("chk_1"), vec!["a", "c"]));
    let foreign = notes.add("d", &json!({"state": {"notes": []}}), "chk_4".to_owned()).expect("added");
    assert_eq!(foreign["data"], json!({"notes": [{"id": 1, "text": "d"}]}));
    assert!(foreign.get("patch").is_none());
}

#[test]
fn notes_are_bounded_in_number_and_in_bytes() {
    let mut notes = Notes::default();
    for number in 0..MAX_NOTES {
        notes.add("n", &Value::Null, format!("chk_{number}")).expect("added");
    }
    let why = notes.add("n", &Value::Null, "chk_x".to_owned()).expect_err("refused");
    assert!(why.contains("256 notes"), "{why}");
    notes.rollback("chk_200").expect("kept");
    notes.add("n", &Value::Null, "chk_y".to_owned()).expect("there is space again");
    let long = "x".repeat(MAX_BYTES);
    let completed = json!({"state": {"notes": [], "more": long}});
    for (text, call) in [(long.as_str(), &Value::Null), ("n", &completed)] {
        let why = notes.add(text, call, "chk_z".to_owned()).expect_err("refused");
        assert!(why.contains("64 KiB"), "{why}");
    }
    let kept = json!({"state": {"notes": [{"id": 7, "text": "a"}], "more": true}});
    let state = notes.add("b", &kept, "chk_z".to_owned()).expect("added");
    let want = json!({"notes": [{"id": 7, "text": "a"}, {"id": 8, "text": "b"}], "more": true});
    assert_eq!(state["data"].to_string(), want.to_string(), "members stay in their order");
}

#[test]
fn pruned_checkpoints_are_not_found() {
    let mut notes = Notes::default();
    for number in 0..=KEPT {
        notes.add("n", &Value::Null, format!("chk_{number}")).expect("added");
    }
    let refusal = notes.rollback("chk_0").expect_err("pruned");
    assert_eq!((refusal.code, refusal.data), (-32005, Some(json!({"checkpoint": "chk_0"}))));
    assert!(notes.rollback("chk_1").is_ok());
}
