//! The result of a message that a server sent, as text.

use super::line::{duration, visible, visible_text};
use serde_json::{Map, Value};

/// Members of a report that are shown elsewhere than in the answer.
const ELSEWHERE: &[&str] = &["report", "id", "method", "latency_us", "late", "deviations", "event_id", "label"];

/// The maximum number of characters shown of a member.
const MAX_WIDTH: usize = 200;

/// The message, the response, the latency and deviations, each on a line of its own, whatever a peer has put into
/// them.
pub(crate) fn text(method: &str, report: &Value) -> String {
    let text = |name: &str| report[name].as_str().unwrap_or_default();
    if report["report"] == "not_sent" {
        return not_sent(&report["reason"]);
    }
    let about = if text("event_id").is_empty() { text("label") } else { text("event_id") };
    let mut reported = format!("sent    ← {}", visible_text(format!("{method} {about}").trim_end()));
    if report["report"] != "sent" {
        let late = if report["late"] == true { " (late)" } else { "" };
        reported.push_str(&format!("\nanswer  → {}{late}", visible_text(&answer(report))));
    }
    let took = report["latency_us"].as_i64().or_else(|| report["after_us"].as_i64());
    if let Some(took) = took {
        reported.push_str(&format!("\ntime    {}", duration(took.saturating_mul(1000))));
    }
    for oddity in report["deviations"].as_array().into_iter().flatten() {
        reported.push_str(&format!("\nwarning {}", visible_text(&bare(oddity))));
    }
    reported
}

/// Why a message was not sent, and what to do. `reason` has a member `why`, and details.
pub(crate) fn not_sent(reason: &Value) -> String {
    let text = |name: &str| reason[name].as_str().unwrap_or_default();
    let said = match text("why") {
        "not_ready" => {
            "no host is connected, or its handshake is not complete; connect one with `mcpreel host --url …`, \
                        or name a session that has one with --session"
                .to_owned()
        }
        "no_carrier" => "the host uses the modern era, in which servers send nothing unasked; connect a host of the \
                         legacy era"
            .to_owned(),
        "host_lacks" => format!("the host did not declare {}; connect one that does", text("capability")),
        "not_declared" => {
            let proposal = text("proposal");
            format!("the server did not declare {proposal}; start it with --declare {proposal}")
        }
        "invalid" => text("fault").to_owned(),
        "not_watched" => format!("the host has not subscribed to {}", text("uri")),
        "below_level" => format!("the host wants only log messages of level {} and above", text("level")),
        why => {
            let others = reason.as_object().into_iter().flatten().filter(|(name, _)| *name != "why");
            let others: Vec<&str> = others.filter_map(|(_, word)| word.as_str()).collect();
            format!("{} {}", why.replace('_', " "), others.join(" ")).trim_end().to_owned()
        }
    };
    format!("not sent: {}", visible_text(&said))
}

fn answer(report: &Value) -> String {
    let text = |name: &str| report[name].as_str().unwrap_or_default();
    let refusal = |what: &str| format!("{what} {}", text("reason")).trim_end().to_owned();
    match (text("report"), report.get("accepted").or(report.get("approved"))) {
        ("unanswered", _) => "none".to_owned(),
        ("refused", _) => {
            let words = [report["code"].to_string(), text("means").to_owned(), text("message").to_owned()];
            let words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
            format!("error {}", words.join(" "))
        }
        ("push_answered", Some(Value::Bool(true))) if report["inference_id"].is_string() => {
            format!("accepted, inference {}", text("inference_id"))
        }
        ("push_answered", Some(Value::Bool(true))) => "accepted".to_owned(),
        ("push_answered", Some(Value::Bool(false))) => refusal("not accepted"),
        ("push_answered", _) => "neither accepted nor refused".to_owned(),
        ("scope_answered", Some(Value::Bool(true))) => format!("approved {}", report["payload"]),
        ("scope_answered", Some(Value::Bool(false))) => refusal("denied"),
        ("scope_answered", _) => "neither approved nor denied".to_owned(),
        ("answered", _) => report["result"].to_string(),
        _ => members(report.as_object().unwrap_or(&Map::new())),
    }
}

/// The other members of a report, as words.
fn members(report: &Map<String, Value>) -> String {
    let others = report.iter().filter(|(name, value)| !ELSEWHERE.contains(&name.as_str()) && !is_empty(value));
    let words: Vec<String> =
        others.map(|(name, value)| format!("{} {}", name.replace('_', " "), clipped(&bare(value)))).collect();
    words.join(", ")
}

/// The text on one line, clipped to [`MAX_WIDTH`] characters.
fn clipped(text: &str) -> String {
    let mut line: String = text.chars().take(MAX_WIDTH).map(visible).collect();
    if text.chars().nth(MAX_WIDTH).is_some() {
        line.push('…');
    }
    line
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// A string without quotes; a list or object as words.
fn bare(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| format!("{name}: {}", bare(value))).collect::<Vec<_>>().join("; ")
        }
        Value::Array(items) => items.iter().map(bare).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn push(report: &Value) -> String {
        text("push/event", report)
    }

    #[test]
    fn what_came_of_a_push_stands_on_lines() {
        let accepted = json!({"report": "push_answered", "event_id": "evt_1", "accepted": true, "inference_id": "inf_1",
            "latency_us": 812, "late": false, "deviations": ["no accepted member"]});
        let lines = "sent    ← push/event evt_1\nanswer  → accepted, inference inf_1\ntime    812 µs\n\
            warning no accepted member";
        assert_eq!(push(&accepted), lines);
        let refused = json!({"report": "refused", "code": -32601, "means": "method not found", "message": "what?\u{1b}",
            "latency_us": 2000, "late": true});
        assert_eq!(push(&refused).lines().nth(1), Some("answer  → error -32601 method not found what?␛ (late)"));
        let forged = json!({"report": "refused", "code": 1, "message": "no\ntime    1 µs"});
        assert_eq!(push(&forged).lines().count(), 2, "{}", push(&forged));
        let unsent = json!({"report": "not_sent", "reason": {"why": "host_lacks", "capability": "mcpl.pushEvents"}});
        assert_eq!(push(&unsent), "not sent: the host did not declare mcpl.pushEvents; connect one that does");
        let early = push(&json!({"report": "not_sent", "reason": {"why": "not_ready"}}));
        assert!(
            early.starts_with("not sent: no host is connected") && early.contains("`mcpreel host --url …`"),
            "{early}"
        );
        let unknown = json!({"report": "not_sent", "reason": {"why": "unknown_channel", "channel": "a:b"}});
        assert_eq!(push(&unknown), "not sent: unknown channel a:b");
        assert_eq!(push(&json!({"report": "sent", "id": null, "method": "m"})), "sent    ← push/event");
    }

    #[test]
    fn what_else_is_reported_stands_as_words() {
        let reported = json!({"report": "inference_answered", "id": 1, "model": "echo", "finish_reason": "end_turn",
            "content": "a\nb", "chunks": 2, "chunks_agree": true, "missing": [], "latency_us": 5, "late": false});
        let reported = text("inference/request", &reported);
        assert!(
            reported
                .contains("answer  → model echo, finish reason end_turn, content a␊b, chunks 2, chunks agree true\n"),
            "{reported}"
        );
        let refused = json!({"report": "incoming_answered", "refused": ["m"], "reasons": {"m": "not here"}});
        assert!(text("channels/incoming", &refused).contains("refused m, reasons m: not here"));
        let denied = json!({"report": "scope_answered", "label": "/etc", "approved": false, "reason": "no"});
        assert_eq!(text("scope/elevate", &denied), "sent    ← scope/elevate /etc\nanswer  → denied no");
    }
}
