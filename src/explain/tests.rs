//! Tests of the explanations against facts of the specifications.

use super::*;

fn find(name: &str) -> Vec<Subject> {
    super::find(name, Registry::built_in())
}

fn fact(name: &str, label: &str) -> String {
    let [subject] = &find(name)[..] else { panic!("{name} is not one entry") };
    let facts = subject.facts();
    facts.iter().find(|(found, _)| *found == label).map(|(_, text)| text.clone()).unwrap_or_default()
}

#[test]
fn a_method_says_who_sends_it_when() {
    assert_eq!(fact("tools/call", "sent by"), "the client");
    assert_eq!(fact("tools/call", "needs"), "tools of the server, or tasks.requests.tools.call of the server");
    assert_eq!(fact("tools/call", "revisions"), "all");
    assert!(fact("tools/call", "when").starts_with("after the handshake"));
    assert_eq!(fact("initialize", "when"), "first in a session");
    assert_eq!(fact("server/discover", "revisions"), "2026-07-28 only");
    assert!(fact("sampling/createMessage", "when").contains("a result that asks for input"));
    assert_eq!(fact("push/event", "needs"), "experimental.mcpl of the server, or experimental.mcpl of the client");
    assert_eq!(fact("push/event", "kind"), "a request, which gets a response");
}

#[test]
fn one_code_has_four_meanings() {
    let meanings: Vec<String> = find("-32001").iter().map(Subject::about).collect();
    assert_eq!(meanings.len(), 4, "{meanings:?}");
    for name in ["Request timed out", "Header mismatch", "Subscription not found", "Feature set not enabled."] {
        assert!(meanings.iter().any(|text| text.starts_with(name)), "{name}: {meanings:?}");
    }
    assert!(find("-32001").iter().all(|one| one.facts().iter().any(|(_, text)| text.contains("3 other meanings"))));
    assert!(find("-32601").iter().all(|one| one.related().contains(&"method/refusal-code".to_owned())));
}

#[test]
fn a_capability_is_found_with_and_without_its_side() {
    assert_eq!(find("tasks").len(), 2);
    assert_eq!(find("server.tasks").len(), 1);
    assert_eq!(
        fact("resources.subscribe", "allows"),
        "resources/subscribe, resources/unsubscribe, notifications/resources/updated"
    );
    let declared = find("tools.listChanged")[0].example(None).expect("an example");
    assert_eq!(declared, serde_json::json!({"tools": {"listChanged": true}}));
    assert_eq!(find("mcpl").len(), 2);
}

#[test]
fn every_entry_is_complete() {
    let all = all(Registry::built_in());
    assert!(all.len() > 250, "{}", all.len());
    for subject in &all {
        let (name, about) = (subject.name(), subject.about());
        assert!(about.ends_with(['.', ')']) && about.len() > 10, "{name}: {about}");
        assert!(!subject.source().is_empty() && !subject.facts().is_empty(), "{name}");
        assert!(!find(&name).is_empty(), "{name}");
        assert!(subject.related().iter().all(|other| !find(other).is_empty()), "{name}: {:?}", subject.related());
        if let Topic::Method(spec) = subject.topic {
            let example = subject.example(None).expect("an example");
            assert_eq!(example["method"], spec.name);
            let params = example.get("params").cloned().unwrap_or_else(|| json!({}));
            let own = format!("{}:params", spec.name);
            assert_eq!(
                method::schemas(spec, None, Registry::built_in()).check(&own, &params).unwrap_or_default(),
                [],
                "{name}"
            );
        }
    }
}

#[test]
fn what_is_unknown_has_names_like_it() {
    assert!(find("tools/cal").is_empty());
    assert_eq!(similar("tools/cal", Registry::built_in()).first().map(String::as_str), Some("tools/call"));
    assert!(similar("id-reused", Registry::built_in()).contains(&"pairing/id-reused".to_owned()));
    assert!(similar("zzz", Registry::built_in()).is_empty() && similar("", Registry::built_in()).is_empty());
}

#[test]
fn the_json_of_an_entry_is_stable() {
    let json = find("ping")[0].to_json(true, None);
    let members: Vec<&str> = json.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(members, ["kind", "name", "about", "source", "facts", "schemas", "example", "related"]);
    assert_eq!(json["facts"]["sent_by"], "either side");
    assert_eq!(json["schemas"]["params"]["$schema"], "https://json-schema.org/draft/2020-12/schema");
}
