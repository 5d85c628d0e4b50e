//! Appends what a call passed and what it got: its arguments, and the beginning of its result. Only the beginning of a
//! message is looked at, by positions in its text.

use crate::wire::json;
use std::borrow::Cow;

/// The maximum length of an argument's value, in characters.
const VALUE: usize = 60;
/// The length from which on no further argument is added, in bytes.
const ARGUMENTS: usize = 100;
/// How much of the arguments is looked at, in bytes.
const LOOKED_AT: usize = 8 << 10;
/// The maximum length of a result, in characters.
const RESULT: usize = 120;

/// Appends the arguments of a call, with spaces between: `message="hi"`. `params` may have text after it.
pub(crate) fn of_call(method: &str, params: &[u8], out: &mut String) {
    let tail = |name: &str| json::tail_at(params, name);
    match method {
        "tools/call" | "prompts/get" => pairs(tail("arguments"), out),
        "sampling/createMessage" => {
            let messages = json::first_member(params, "messages").unwrap_or_default();
            json::items(messages).last().into_iter().for_each(|last| message(last, VALUE, out));
        }
        "elicitation/create" => fields(params, out),
        "completion/complete" => {
            let value = tail("argument").and_then(|argument| json::tail_at(argument, "value"));
            labelled("=", value, out);
        }
        "notifications/cancelled" => labelled(" ", tail("reason"), out),
        "notifications/tasks/status" => labelled(" ", tail("status"), out),
        "subscriptions/listen" => labelled(" ", tail("notifications"), out),
        _ => {}
    }
}

/// Appends the parameters of a method that mcpreel does not know.
pub(crate) fn of_unknown_call(params: &[u8], out: &mut String) {
    pairs(Some(params), out);
}

/// Appends the beginning of a result, if its method is one of MCP that returns more than a confirmation. `result` may
/// have text after it.
pub(crate) fn of_result(method: &str, result: &[u8], out: &mut String) {
    let tail = |name: &str| json::tail_at(result, name);
    match method {
        "tools/call" | "tasks/result" => tool_result(result, out),
        "resources/read" => first_item(tail("contents")).into_iter().for_each(|item| block(item, RESULT, out)),
        "prompts/get" => first_item(tail("messages")).into_iter().for_each(|first| message(first, RESULT, out)),
        "sampling/createMessage" => content(tail("content"), RESULT, out),
        "elicitation/create" => {
            word(tail("action"), out);
            pairs(tail("content"), out);
        }
        "completion/complete" => {
            let values = tail("completion").and_then(|completion| json::tail_at(completion, "values"));
            values.into_iter().for_each(|values| value(values, RESULT, out));
        }
        "tasks/get" | "tasks/cancel" => word(tail("status"), out),
        _ => {}
    }
}

/// Appends the result of a method that mcpreel does not know, unless it is empty.
pub(crate) fn of_unknown_result(result: &[u8], out: &mut String) {
    if json::member_tails(result).next().is_some() || result.first().is_some_and(|first| *first != b'{') {
        value(result, RESULT, out);
    }
}

fn tool_result(result: &[u8], out: &mut String) {
    let start = out.len();
    content(json::tail_at(result, "content"), RESULT, out);
    if out.len() > start {
        return;
    }
    if let Some(structured) = json::tail_at(result, "structuredContent") {
        value(structured, RESULT, out);
    } else if let Some(task) = json::tail_at(result, "task") {
        out.push_str("task");
        for name in ["taskId", "status"] {
            out.push(' ');
            word(json::tail_at(task, name), out);
        }
    } else if json::tail_at(result, "inputRequests").is_some() {
        out.push_str("input required");
    }
}

/// Appends the fields that a form asks for.
fn fields(params: &[u8], out: &mut String) {
    let schema = json::tail_at(params, "requestedSchema");
    let Some(properties) = schema.and_then(|schema| json::tail_at(schema, "properties")) else { return };
    let mut before = " (";
    for (key, _) in json::member_tails(properties) {
        if out.len() > VALUE + ARGUMENTS {
            out.push('…');
            break;
        }
        out.push_str(before);
        clipped(&String::from_utf8_lossy(key), VALUE, out);
        before = ", ";
    }
    if before != " (" {
        out.push(')');
    }
}

/// Appends `key=value` for each member of an object.
fn pairs(object: Option<&[u8]>, out: &mut String) {
    let start = out.len();
    let mut before = if out.is_empty() { "" } else { " " };
    let object = object.map(|object| &object[..object.len().min(LOOKED_AT)]);
    for (key, tail) in object.into_iter().flat_map(json::member_tails).filter(|(key, _)| *key != b"_meta") {
        out.push_str(before);
        before = " ";
        if out.len() - start > ARGUMENTS {
            return out.push('…');
        }
        clipped(&String::from_utf8_lossy(key), VALUE, out);
        out.push('=');
        value(tail, VALUE, out);
    }
}

fn labelled(label: &str, tail: Option<&[u8]>, out: &mut String) {
    if let Some(tail) = tail {
        out.push_str(label);
        value(tail, VALUE, out);
    }
}

/// Appends a string without quotes.
fn word(tail: Option<&[u8]>, out: &mut String) {
    if let Some((text, _)) = tail.and_then(|tail| string(tail, VALUE)) {
        clipped(&text, VALUE, out);
    }
}

/// Appends a message of a prompt or of sampling: `user "text"`.
fn message(tail: &[u8], max: usize, out: &mut String) {
    if !out.is_empty() {
        out.push(' ');
    }
    word(json::tail_at(tail, "role"), out);
    out.push(' ');
    content(json::tail_at(tail, "content"), max, out);
}

/// Appends the first block of a content, which is an array or a single block.
fn content(tail: Option<&[u8]>, max: usize, out: &mut String) {
    match tail {
        Some([b'[', ..]) => first_item(tail).into_iter().for_each(|item| block(item, max, out)),
        Some(tail) => block(tail, max, out),
        None => {}
    }
}

/// The text from the first item of an array on.
fn first_item(tail: Option<&[u8]>) -> Option<&[u8]> {
    let tail = tail?.strip_prefix(b"[")?;
    tail.get(json::skip_space(tail, 0)..).filter(|rest| rest.first() != Some(&b']'))
}

/// Appends a block of content: a text in quotes; of anything else, its type and where it is.
fn block(tail: &[u8], max: usize, out: &mut String) {
    let member = |name: &str| json::tail_at(tail, name);
    if let Some(text) = member("text") {
        return said(text, max, out);
    }
    let inner = member("resource").unwrap_or(tail);
    let mut space = "";
    for part in [member("type"), json::tail_at(inner, "uri"), json::tail_at(inner, "mimeType")].into_iter().flatten() {
        out.push_str(space);
        word(Some(part), out);
        space = " ";
    }
}

/// Appends a text in quotes, or without if it is JSON.
fn said(tail: &[u8], max: usize, out: &mut String) {
    match string(tail, max) {
        Some((text, _)) if text.starts_with(['{', '[']) => clipped(&one_line(&text), max, out),
        _ => value(tail, max, out),
    }
}

/// JSON text without line breaks and indentation.
fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains('\n') { text.split_whitespace().collect::<Vec<_>>().join(" ").into() } else { text.into() }
}

/// Appends a value: a string in quotes, with its escapes resolved, and anything else as it is.
fn value(tail: &[u8], max: usize, out: &mut String) {
    if let Some((text, is_whole)) = string(tail, max) {
        out.push('"');
        clipped(&text, max, out);
        // A quote after an ellipsis would say that the text ends there.
        if is_whole && !out.ends_with('…') {
            out.push('"');
        }
        return;
    }
    let window = window(tail, max);
    let end = json::skip_value(window, 0).unwrap_or(window.len());
    clipped(&one_line(&String::from_utf8_lossy(&window[..end])), max, out);
}

/// The beginning of a string: all of it, or more than `max` characters, and whether it is all.
fn string(tail: &[u8], max: usize) -> Option<(Cow<'_, str>, bool)> {
    let inner = window(tail, max).strip_prefix(b"\"")?;
    Some(match memchr::memchr2(b'"', b'\\', inner) {
        Some(end) if inner[end] == b'"' => (String::from_utf8_lossy(&inner[..end]), true),
        Some(_) => match json::skip_string(inner, 0) {
            Some(end) => (json::unescape(&inner[..end - 1]).into(), true),
            None => (json::unescape(&inner[..json::whole_until(inner, inner.len())]).into(), false),
        },
        None => (String::from_utf8_lossy(&inner[..json::whole_until(inner, inner.len())]), false),
    })
}

/// The beginning of a text that has more than `max` characters, however they are escaped: none takes more than two
/// escapes of six bytes each.
fn window(tail: &[u8], max: usize) -> &[u8] {
    &tail[..tail.len().min(12 * (max + 1))]
}

/// Appends at most `max` characters of a text, and an ellipsis if there are more.
fn clipped(text: &str, max: usize, out: &mut String) {
    let end = match text.as_bytes().get(..max) {
        None => text.len(),
        Some(head) if head.is_ascii() => max,
        Some(_) => text.char_indices().nth(max).map_or(text.len(), |(end, _)| end),
    };
    out.push_str(&text[..end]);
    if end < text.len() {
        out.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: &str, params: &str) -> String {
        let mut out = String::from("it");
        of_call(method, params.as_bytes(), &mut out);
        out
    }

    fn result(method: &str, text: &str) -> String {
        let mut out = String::new();
        of_result(method, text.as_bytes(), &mut out);
        out
    }

    #[test]
    fn arguments_follow_the_subject() {
        let tool =
            |arguments: &str| call("tools/call", &format!(r#"{{"name":"it","arguments":{arguments}}},"id":1}}"#));
        assert_eq!(tool(r#"{"message":"hi","count":2}"#), r#"it message="hi" count=2"#);
        assert_eq!(tool(r#"{ "where" : {"a": [1, 2]}, "all" : true }"#), r#"it where={"a": [1, 2]} all=true"#);
        assert_eq!(
            tool(r#"{"text":"two\nlines \"quoted\" 日本 \u65e5"}"#),
            "it text=\"two\nlines \"quoted\" 日本 日\""
        );
        assert_eq!([tool("{}"), tool("null"), tool("[1]"), call("tools/call", r#"{"name":"it"}"#)], ["it"; 4]);
        assert_eq!(call("prompts/get", r#"{"arguments":{"language":"rust"}}"#), r#"it language="rust""#);
    }

    #[test]
    fn long_arguments_end_with_an_ellipsis() {
        let long = format!(r#"{{"arguments":{{"text":"{}","b":1}}}}"#, "x".repeat(5000));
        assert_eq!(call("tools/call", &long), format!("it text=\"{}… b=1", "x".repeat(60)));
        let wide = format!(r#"{{"arguments":{{"text":"{}"}}}}"#, r"\u65e5".repeat(5000));
        assert_eq!(call("tools/call", &wide), format!("it text=\"{}…", "日".repeat(60)));
        let many: Vec<String> = (10..99).map(|number| format!(r#""a{number}":{number}"#)).collect();
        let shown = call("tools/call", &format!(r#"{{"arguments":{{{}}}}}"#, many.join(",")));
        assert!(shown.starts_with("it a10=10 a11=11 ") && shown.ends_with(" a23=23 a24=24 …"), "{shown}");
        // A string of exactly the maximum is whole.
        let exact = format!(r#"{{"arguments":{{"a":"{}"}}}}"#, "é".repeat(60));
        assert_eq!(call("tools/call", &exact), format!("it a=\"{}\"", "é".repeat(60)));
    }

    #[test]
    fn what_servers_ask_of_clients_is_shown() {
        let sampling = r#"{"messages":[{"role":"assistant","content":{"type":"text","text":"no"}},
            {"role":"user","content":{"type":"text","text":"Which city?"}}],"maxTokens":9}"#;
        assert_eq!(call("sampling/createMessage", sampling), r#"it user "Which city?""#);
        let form = r#"{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{},"age":{}}}}"#;
        assert_eq!(call("elicitation/create", form), "it (name, age)");
        assert_eq!(call("elicitation/create", r#"{"message":"Who?","mode":"url"}"#), "it");
        let complete = r#"{"ref":{"type":"ref/prompt"},"argument":{"name":"it","value":"py"}}"#;
        assert_eq!(call("completion/complete", complete), r#"it="py""#);
        assert_eq!(call("notifications/cancelled", r#"{"requestId":1,"reason":"too late"}"#), r#"it "too late""#);
    }

    #[test]
    fn results_are_shown_by_their_beginning() {
        let text = |text: &str| format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}},"id":1}}"#);
        assert_eq!(result("tools/call", &text("Echo: hi")), r#""Echo: hi""#);
        assert_eq!(result("tools/call", &text(r#"{\n  \"sum\": 42\n}"#)), r#"{ "sum": 42 }"#);
        assert_eq!(result("tools/call", &text(&"y".repeat(4000))), format!("\"{}…", "y".repeat(120)));
        let cases = [
            ("tools/call", r#"{"content":[],"structuredContent":{"sum":42}}"#, r#"{"sum":42}"#),
            ("tools/call", r#"{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]}"#, "image image/png"),
            (
                "tools/call",
                r#"{"content":[{"type":"resource_link","uri":"file:///a","name":"a"}]}"#,
                "resource_link file:///a",
            ),
            (
                "tools/call",
                r#"{"content":[{"type":"resource","resource":{"uri":"a://b","mimeType":"c/d","blob":""}}]}"#,
                "resource a://b c/d",
            ),
            ("tools/call", r#"{"task":{"taskId":"t1","status":"working"}}"#, "task t1 working"),
            ("tools/call", r#"{"resultType":"input_required","inputRequests":{}}"#, "input required"),
            ("resources/read", r#"{"contents":[{"uri":"a://b","mimeType":"c/d","text":"body"}]}"#, r#""body""#),
            ("resources/read", r#"{"contents":[{"uri":"a://b","mimeType":"c/d","blob":"AA=="}]}"#, "a://b c/d"),
            (
                "prompts/get",
                r#"{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"Do"}}]}"#,
                r#"user "Do""#,
            ),
            (
                "sampling/createMessage",
                r#"{"role":"assistant","content":{"type":"text","text":"Paris"},"model":"m"}"#,
                r#""Paris""#,
            ),
            ("sampling/createMessage", r#"{"content":[{"type":"text","text":"Rome"}]}"#, r#""Rome""#),
            ("elicitation/create", r#"{"action":"accept","content":{"name":"Bo"}}"#, r#"accept name="Bo""#),
            ("elicitation/create", r#"{"action":"decline"}"#, "decline"),
            ("completion/complete", r#"{"completion":{"values":["python"],"total":1}}"#, r#"["python"]"#),
            ("tasks/get", r#"{"taskId":"t1","status":"completed"}"#, "completed"),
            ("resources/subscribe", "{}", ""),
            ("tools/call", r#"{"content":[]}"#, ""),
        ];
        for (method, text, expected) in cases {
            assert_eq!(result(method, text), expected, "{method} {text}");
        }
    }

    #[test]
    fn broken_and_cut_messages_are_no_obstacle() {
        let whole = r#"{"content":[{"type":"text","text":"a \u65e5 b"}],"structuredContent":{"a":[1,{"b":"c"}]}}"#;
        for end in 0..whole.len() {
            for method in ["tools/call", "resources/read", "prompts/get", "completion/complete"] {
                result(method, &whole[..end]);
                call(method, &whole[..end]);
            }
        }
        // Cut within an escape.
        let escape = whole.find("u65e5").expect("it is there");
        assert_eq!(result("tools/call", &whole[..escape + 3]), "\"a ");
    }

    #[test]
    fn unknown_methods_show_all_they_have() {
        let mut out = String::from("it");
        of_unknown_call(br#"{"_meta":{"a":1},"depth":3}"#, &mut out);
        assert_eq!(out, "it depth=3");
        for (text, expected) in [("{}", ""), ("{\"a\":1}", "{\"a\":1}"), ("[1]", "[1]"), ("\"x\"", "\"x\"")] {
            let mut out = String::new();
            of_unknown_result(text.as_bytes(), &mut out);
            assert_eq!(out, expected);
        }
    }
}
