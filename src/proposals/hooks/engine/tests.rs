use super::template::MAX_TOOL_OUTPUT_BYTES;
use super::*;

fn declarations(list: Value) -> Declarations {
    Declarations::parse(&json!({"hooks": {"declarations": list}}))
}

fn commit() -> Event {
    Event {
        tool_name: Some("Bash".to_owned()),
        tool_input: json!({"command": "git commit -m \"x\""}),
        project_name: Some("reel".to_owned()),
        session_id: Some("s1".to_owned()),
        ..Event::new(EventKind::PostToolUse)
    }
}

fn first(list: Value, event: &Event) -> Selected {
    select(&declarations(list), event).remove(0)
}

fn fires(matcher: Value, event: &Event) -> bool {
    let list = json!([{"event": event.kind.name(), "matcher": matcher, "context": "c", "priority": "suggestion"}]);
    matches!(first(list, event).verdict, Verdict::Fires(_))
}

fn text(template: &str, event: &Event) -> (String, Vec<String>) {
    let selected = first(json!([{"event": event.kind.name(), "context": template, "priority": "required"}]), event);
    match selected.verdict {
        Verdict::Fires(Injection::Text(text)) => (text, selected.notes),
        other => panic!("{other:?}"),
    }
}

#[test]
fn d1_the_client_capability_fits_the_schema() {
    let declared = client_capability(&[EventKind::SessionStart, EventKind::PostToolUse]);
    assert_eq!(declared, json!({"supported_events": ["session_start", "post_tool_use"]}));
    assert_eq!(super::super::DESCRIPTOR.schemas.check("capability:client", &declared), Some(vec![]));
}

#[test]
fn d7_both_places_are_read_and_the_top_level_wins() {
    let hook =
        |text: &str| json!({"declarations": [{"event": "session_end", "context": text, "priority": "required"}]});
    let early = Declarations::parse(&json!({"experimental": {"hooks": hook("a")}}));
    assert_eq!((early.place.as_deref(), early.hooks.len()), (Some("experimental.hooks"), 1));
    let both = Declarations::parse(&json!({"hooks": hook("a"), "experimental": {"hooks": hook("b")}}));
    assert_eq!(both.place.as_deref(), Some("hooks"));
    assert_eq!(both.hooks[0].content, HookContent::Text("a".to_owned()));
    assert_eq!(both.notes.len(), 1);
    let same = Declarations::parse(&json!({"hooks": hook("a"), "experimental": {"hooks": hook("a")}}));
    assert!(same.notes.is_empty());
    assert_eq!(Declarations::parse(&json!({})).place, None);
    assert_eq!(Declarations::parse(&json!({"hooks": {}})).notes.len(), 1);
}

#[test]
fn d8_to_d12_entries_that_do_not_fit_are_dropped_with_the_reason() {
    let cases = [
        (json!(7), "not an object"),
        (json!({"context": "c", "priority": "required"}), "event is missing"),
        (json!({"event": "pre_compact", "context": "c", "priority": "required"}), "pre_compact"),
        (json!({"event": "session_end", "context": "c"}), "priority is missing"),
        (json!({"event": "session_end", "context": "c", "priority": "urgent"}), "urgent"),
        (json!({"event": "session_end", "priority": "required"}), "neither"),
        (json!({"event": "session_end", "priority": "required", "context": "c", "context_tool": "t"}), "both"),
        (json!({"event": "session_end", "priority": "required", "context": 1}), "context is not a string"),
        (
            json!({"event": "session_end", "priority": "required", "context": "c", "context_tool_args": {}}),
            "without context_tool",
        ),
        (
            json!({"event": "session_end", "priority": "required", "context_tool": "t", "context_tool_args": []}),
            "not an object",
        ),
        (json!({"event": "session_end", "priority": "required", "context": "c", "cooldown": 5}), "cooldown"),
        (
            json!({"event": "pre_tool_use", "priority": "required", "context": "c", "matcher": {"tool": "x"}}),
            "the matcher has an unknown member",
        ),
        (
            json!({"event": "pre_tool_use", "priority": "required", "context": "c", "matcher": {"tool_name": "[a"}}),
            "not a glob",
        ),
    ];
    let good = json!({"event": "session_end", "context": "c", "priority": "required"});
    let list = cases.iter().map(|(entry, _)| entry.clone()).chain([good]).collect();
    let read = declarations(list);
    assert_eq!(read.hooks.len(), 1);
    assert_eq!(read.hooks[0].index, cases.len());
    for (index, (_, reason)) in cases.iter().enumerate() {
        assert_eq!(read.dropped[index].index, index);
        assert!(read.dropped[index].reason.contains(reason), "{reason}: {}", read.dropped[index].reason);
    }
}

#[test]
fn d16_d17_every_part_of_a_matcher_must_match() {
    let event = commit();
    assert!(fires(json!({}), &event));
    assert!(fires(json!({"tool_name": "Bash", "input_contains": "git commit"}), &event));
    assert!(!fires(json!({"tool_name": "Bash", "input_contains": "git push"}), &event));
    assert!(!fires(json!({"tool_name": "Edit", "input_contains": "git commit"}), &event));
    let other = first(json!([{"event": "session_end", "context": "c", "priority": "required"}]), &event);
    assert_eq!(other.verdict, Verdict::OtherEvent(EventKind::SessionEnd));
}

#[test]
fn d18_tool_name_globs_match_bare_and_qualified_names() {
    let event = Event {
        tool_name: Some("search_memories".to_owned()),
        tool_server: Some("annal".to_owned()),
        ..Event::new(EventKind::PreToolUse)
    };
    let named = |glob: &str| fires(json!({"tool_name": glob}), &event);
    for glob in ["search_memories", "search_*", "*", "mcp__annal__*", "search_memorie?", "[rs]earch_*", "[!x]*"] {
        assert!(named(glob), "{glob}");
    }
    for glob in ["Search_memories", "search", "memories", "mcp__other__*", "{search_memories,x}", "search_memories?"] {
        assert!(!named(glob), "{glob}");
    }
    assert!(!fires(json!({"tool_name": "*"}), &Event::new(EventKind::PreToolUse)));
    let braced = Event { tool_name: Some("a{b}/c".to_owned()), ..Event::new(EventKind::PreToolUse) };
    assert!(fires(json!({"tool_name": "a{b}*"}), &braced));
}

#[test]
fn d19_input_contains_matches_the_compact_json_only() {
    let event = Event { tool_input: json!({"a": {"b/c": ["x", "say \"git commit\" now"]}, "n": 1}), ..commit() };
    let how = |needle: &str| {
        let list = json!([{"event": "post_tool_use", "matcher": {"input_contains": needle}, "context": "c",
            "priority": "suggestion"}]);
        first(list, &event)
    };
    assert!(how(r#""n":1"#).notes[0].contains("compact JSON"));
    assert!(how(r#"\"git commit"#).notes[0].contains("compact JSON"));
    for other in [r#"say "git commit""#, r#""n": 1"#, "Git Commit"] {
        assert!(matches!(how(other).verdict, Verdict::Skipped(_)), "{other}");
    }
}

#[test]
fn d20_tool_server_is_the_configured_or_the_own_name() {
    let event =
        Event { tool_server: Some("memory".to_owned()), tool_server_info_name: Some("annal".to_owned()), ..commit() };
    assert!(fires(json!({"tool_server": "memory"}), &event));
    assert!(fires(json!({"tool_server": "annal"}), &event));
    assert!(!fires(json!({"tool_server": "Memory"}), &event));
    assert!(!fires(json!({"tool_server": "memory"}), &commit()));
}

#[test]
fn amb_d3_a_matcher_on_another_event_is_ignored_with_a_warning() {
    let event = Event::new(EventKind::SessionStart);
    let list = json!([{"event": "session_start", "matcher": {"tool_name": "Bash"}, "context": "c",
        "priority": "important"}]);
    let selected = first(list, &event);
    assert_eq!(selected.verdict, Verdict::Fires(Injection::Text("c".to_owned())));
    assert!(selected.notes[0].starts_with("matchers do not apply"), "{:?}", selected.notes);
}

#[test]
fn d22_d23_d24_templates_are_substituted_once() {
    let event = Event { tool_input: json!({"p": "{session_id}"}), tool_output: Some(json!("ok")), ..commit() };
    let (filled, notes) = text("{project_name} {tool_name} {tool_input} {tool_output} {session_id}", &event);
    assert_eq!(filled, r#"reel Bash {"p":"{session_id}"} "ok" s1"#);
    assert!(notes.is_empty());
    let (filled, notes) = text("{later} {{tool_name}} { tool_name } {\"a\":1} {", &event);
    assert_eq!(filled, "{later} {Bash} { tool_name } {\"a\":1} {");
    assert_eq!(notes.len(), 1);
    let (filled, notes) = text("{tool_name} {session_id}", &Event::new(EventKind::SessionEnd));
    assert_eq!(filled, "{tool_name} {session_id}");
    assert_eq!(notes.len(), 2);
    // At other events, variables about tools remain, even if the tool is known.
    let elsewhere = Event { kind: EventKind::PostRequest, ..event.clone() };
    let tool = "{tool_name} {tool_input} {tool_output}";
    assert_eq!(text(tool, &elsewhere).0, tool);
    let before = Event { kind: EventKind::PreToolUse, ..event };
    assert_eq!(text("{tool_output}", &before).0, "{tool_output}");
}

#[test]
fn d25_arguments_are_substituted_in_values_however_deep() {
    let list = json!([{"event": "session_start", "context_tool": "search_memories", "priority": "important",
        "context_tool_args": {"{project_name}": ["in {project_name}", {"k": "{x}"}, 7, null]}}]);
    let event = Event { project_name: Some("reel".to_owned()), ..Event::new(EventKind::SessionStart) };
    let selected = first(list, &event);
    let arguments = json!({"{project_name}": ["in reel", {"k": "{x}"}, 7, null]});
    assert_eq!(selected.verdict, Verdict::Fires(Injection::CallTool { name: "search_memories".to_owned(), arguments }));
    assert_eq!((selected.priority, selected.notes.len()), (Priority::Important, 1));
    let bare = json!([{"event": "session_start", "context_tool": "t", "priority": "important"}]);
    let called = Injection::CallTool { name: "t".to_owned(), arguments: json!({}) };
    assert_eq!(first(bare, &event).verdict, Verdict::Fires(called));
}

#[test]
fn what_a_declaration_blows_up_stays_small_and_is_filled_in_good_time() {
    // This would take hours in quadratic time.
    let braces = "{".repeat(4 << 20);
    assert_eq!(text(&braces, &commit()), (braces, Vec::new()));
    let event = Event { tool_input: json!("x".repeat(100_000)), ..commit() };
    let (filled, notes) = text(&"{tool_input}".repeat(100_000), &event);
    assert!(filled.len() < 3 << 20, "{}", filled.len());
    assert_eq!(notes, ["{tool_input} is unchanged: the substituted values would be too long"]);
    let unknown: String = (0..50_000).map(|number| format!("{{u{number}}}")).collect();
    assert_eq!(text(&unknown, &commit()).1.len(), 32);
    // This would take minutes if every text was compared with all others.
    let hook = |text: String| json!({"event": "session_end", "context": text, "priority": "required"});
    let list = (0..60_000).map(|number| hook(format!("text {}", number % 50_000))).collect();
    let selected = select(&declarations(list), &Event::new(EventKind::SessionEnd));
    let skipped = selected.iter().filter(|one| matches!(one.verdict, Verdict::Skipped(_))).count();
    assert_eq!((selected.len(), skipped), (60_000, 10_000));
}

#[test]
fn amb_d12_tool_output_is_cut() {
    let event = Event { tool_output: Some(json!("ö".repeat(10_000))), ..commit() };
    let (filled, notes) = text("{tool_output}", &event);
    assert!(filled.ends_with("… [cut, 20002 bytes in all]"), "{}", &filled[filled.len() - 40..]);
    assert!(filled.len() < MAX_TOOL_OUTPUT_BYTES + 40);
    assert!(notes[0].contains("20002"));
}

#[test]
fn amb_d9_the_same_text_is_injected_once() {
    let hook = |text: &str| json!({"event": "post_tool_use", "context": text, "priority": "suggestion"});
    let selected = select(&declarations(json!([hook("{tool_name}"), hook("x"), hook("Bash")])), &commit());
    assert_eq!(selected[2].verdict, Verdict::Skipped("declaration 0 injects the same text".to_owned()));
    assert!(matches!(selected[1].verdict, Verdict::Fires(_)));
}

#[test]
fn amb_d9_of_the_same_text_the_highest_priority_fires() {
    let hook = |priority: &str| json!({"event": "post_tool_use", "context": "check", "priority": priority});
    let list = ["suggestion", "required", "important", "required"].map(hook);
    let selected = select(&declarations(list.into_iter().collect()), &commit());
    let fires: Vec<bool> = selected.iter().map(|one| matches!(one.verdict, Verdict::Fires(_))).collect();
    assert_eq!(fires, [false, true, false, false]);
}

#[test]
fn d29_a_failed_tool_injects_nothing() {
    let good = json!({"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]});
    assert_eq!(tool_result_text(&good).as_deref(), Ok("a\nb"));
    let bad = json!({"isError": true, "content": [{"type": "text", "text": "no such index"}]});
    assert_eq!(tool_result_text(&bad), Err(NoText::ToolFailed("no such index".to_owned())));
    assert_eq!(tool_result_text(&json!({"content": [{"type": "image"}]})), Err(NoText::TextBlocksMissing));
    assert_eq!(tool_result_text(&json!({})), Err(NoText::NoContent));
}
