//! Prompts: a question about a recording, with what is needed to answer it as a quotation.

use super::answer::{Answer, Problem, named};
use super::messages::{self, counterpart, space_for, whole};
use super::reports::{self, finding_row, finding_text, found};
use super::resources::summary;
use super::tools::{Cx, text_of};
use serde_json::{Value, json};

const WHY: &str = "why_did_this_call_fail";
const COMPARE: &str = "compare_sessions";
const REVIEW: &str = "review_session";

/// How many events around a failed call are quoted.
const AROUND: u64 = 8;

/// The prompts of `prompts/list`.
pub(super) fn all() -> Vec<Value> {
    let argument =
        |name: &str, about: &str, required: bool| json!({"name": name, "description": about, "required": required});
    let recording = |name: &str| argument(name, "A recording, as list_recordings names it", true);
    vec![
        json!({"name": WHY, "description": "Why did this call fail? Shows the request, its response and what happened around it.",
            "arguments": [recording("recording"),
                argument("seq", "The seq of the request or of its response; by default the last error", false),
                argument("id", "The id of the request, in place of seq", false)]}),
        json!({"name": COMPARE, "description": "What is different between two recordings, and why?",
            "arguments": [recording("a"), recording("b")]}),
        json!({"name": REVIEW, "description": "Review a recording: what happened, what is wrong with it, what to fix first?",
            "arguments": [recording("recording")]}),
    ]
}

/// `prompts/get`.
///
/// # Errors
///
/// There is no such prompt, an argument is missing or wrong, or a recording cannot be read.
pub(super) fn get(params: &Value, cx: &Cx<'_>) -> Result<Value, Problem> {
    let name = text_of(params, "name").unwrap_or_default();
    let arguments = &params["arguments"];
    let needed = |argument: &str| {
        let missing = || Problem::new(format!("the prompt {name} needs the argument {argument}"));
        text_of(arguments, argument).filter(|text| !text.is_empty()).ok_or_else(missing)
    };
    match name {
        WHY => why(needed("recording")?, arguments, cx),
        COMPARE => {
            let (a, b) = (needed("a")?, needed("b")?);
            let differences = reports::diff(&json!({"a": a, "b": b}), cx)?;
            let question = format!(
                "Two recordings of MCP sessions were compared: A is {}, B is {}. What changed between them, which changes \
                 matter to a client, and what probably caused them? Use the tools of mcpreel for details.",
                named(a),
                named(b)
            );
            Ok(asked(&question, &[differences]))
        }
        REVIEW => {
            let recording = needed("recording")?;
            let overview = summary(recording, cx)?;
            let findings = reports::findings(&json!({"recording": recording}), cx)?;
            let question = format!(
                "Review the recording {} of an MCP session: what happened, what went wrong, and what should be fixed first, \
                 by whom? Use the tools of mcpreel for details.",
                named(recording)
            );
            Ok(asked(&question, &[overview, findings]))
        }
        _ => Err(Problem::new(format!("unknown prompt {}", named(name)))
            .hint(format!("the prompts are {WHY}, {COMPARE} and {REVIEW}"))),
    }
}

/// A question, with its evidence below it.
fn asked(question: &str, evidence: &[Answer]) -> Value {
    let mut text = question.to_owned();
    evidence.iter().for_each(|answer| text.push_str(&format!("\n\n{}", answer.to_text())));
    json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]})
}

fn why(recording: &str, arguments: &Value, cx: &Cx<'_>) -> Result<Value, Problem> {
    let seq = chosen(recording, arguments, cx)?;
    let opened = cx.open(recording)?;
    let space = space_for(2, cx.settings.max_bytes / 2);
    let message = whole(&opened, seq, 0, space, cx)?;
    let other = counterpart(&opened, &message.summary, space, cx)?;
    let both = [Some(&message), other.as_ref()];
    let numbers: Vec<u64> = both.iter().flatten().filter_map(|one| one.summary["seq"].as_u64()).collect();
    let text: String = both.iter().flatten().map(|one| one.to_text()).collect();
    let exchange =
        Answer { what: "messages", recorded: text, ..Answer::default() }.say("The message and its counterpart:");
    let last = numbers.iter().max().copied().unwrap_or(seq);
    let first = last.saturating_sub(AROUND);
    let filter = format!("seq:{first}..{}", last.saturating_add(AROUND));
    let around = messages::show(&json!({"recording": recording, "filter": filter, "from_seq": first}), cx)?;
    let around = Answer { said: "The events around it:".to_owned(), ..around };
    let (all, _) = found(&opened, "info", None, cx)?;
    let about = all.iter().filter(|finding| finding["seq"].as_u64().is_some_and(|seq| numbers.contains(&seq)));
    let lines: Vec<String> = about.take(20).map(|finding| finding_text(&finding_row(finding))).collect();
    let findings = match lines.is_empty() {
        true => Answer::default().say("mcpreel has no findings about these messages."),
        false => Answer { what: "findings", recorded: lines.join("\n"), ..Answer::default() }
            .say("What mcpreel found in these messages; the tool explain says what a rule requires:"),
    };
    let question = format!(
        "Why did this call fail? It is the message with seq {seq} in the recording {} of an MCP session. Say what failed, \
         whether the client or the server caused it, and how to fix it. Use the tools of mcpreel for details.",
        named(recording)
    );
    Ok(asked(&question, &[exchange, around, findings]))
}

/// The number of the message that a prompt is about.
fn chosen(recording: &str, arguments: &Value, cx: &Cx<'_>) -> Result<u64, Problem> {
    if let Some(seq) = text_of(arguments, "seq").filter(|text| !text.trim().is_empty()) {
        return seq.trim().parse().map_err(|_| Problem::new(format!("seq must be a number, not {}", named(seq))));
    }
    let id = text_of(arguments, "id").filter(|text| !text.is_empty());
    match id {
        Some(id) if !id.chars().all(|found| found.is_ascii_alphanumeric() || "-_.".contains(found)) => {
            Err(Problem::new("this id cannot be searched for")
                .hint("pass seq; show_messages lists the messages with their seq"))
        }
        Some(id) => last_of(recording, &format!("id:{id} kind:response"), cx)?
            .map_or_else(|| last_of(recording, &format!("id:{id}"), cx), |seq| Ok(Some(seq)))?
            .ok_or_else(|| Problem::new(format!("the recording has no message with the id {}", named(id)))),
        None => last_of(recording, "error event:message", cx)?
            .ok_or_else(|| Problem::new("the recording has no error").hint("pass seq or id to name a message")),
    }
}

/// The number of the last event that a filter selects.
fn last_of(recording: &str, filter: &str, cx: &Cx<'_>) -> Result<Option<u64>, Problem> {
    messages::last(&cx.open(recording)?, filter, cx)
}
