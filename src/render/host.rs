//! Formats what a host reports: as text for people, and as JSON for scripts.

use super::line::{visible, visible_text};
use super::style::Palette;
use crate::host::client::Output as ClientOutput;
use crate::host::engine::OrderResult;
use crate::host::prompt::{Prompt, PromptPart};
use crate::proposals::host::{HostEvent, ServerId, ServerView};
use crate::wire::units::micros;
use crate::wire::{Envelope, json};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;

fn name(servers: &[ServerView], server: Option<ServerId>) -> Option<&str> {
    servers.get(server?.0).map(|view| view.name.as_str())
}

/// Formats an event of the host as a line.
pub(crate) fn event_line(event: &HostEvent, servers: &[ServerView], palette: &Palette) -> String {
    let faint = palette.faint;
    let style = match event.what {
        "late" | "timed out" | "over budget" | "capped" | "duplicate" | "unwanted" | "undeclared" | "disabled"
        | "odd" | "odd event" | "dropped" | "unadvertised" | "not offered" | "withheld" | "left out" => palette.warning,
        "refused" | "failed" | "gone" | "malformed" | "model failed" | "tool failed" | "tool refused" => palette.error,
        _ => palette.faint,
    };
    let whose = name(servers, event.server).map(|name| format!(" {}", visible_text(name))).unwrap_or_default();
    let (proposal, what, text) = (event.proposal, event.what, visible_text(&event.text));
    format!("{faint}·{faint:#}{whose} {faint}{proposal}{faint:#} {style}{what}{style:#}: {text}")
}

/// Returns whether the event is a server's mistake or excess, which it may repeat without end.
pub(crate) fn is_refusal(event: &HostEvent) -> bool {
    let is_excess = matches!(event.what, "over budget" | "dropped" | "refused");
    event.is_mistake || is_excess && event.proposal != "host"
}

/// Formats an event of the host as an object: kind, proposal, server, text, whether it is the server's mistake, and
/// further members in `data`.
pub(crate) fn event_value(event: &HostEvent, servers: &[ServerView], at: Duration) -> Value {
    json!({"event": "fact", "at_us": micros(at), "proposal": event.proposal, "what": event.what,
        "server": name(servers, event.server), "text": event.text, "mistake": event.is_mistake,
        "data": event.data})
}

/// Formats a prompt, part by part, with the origin of each part.
pub(crate) fn prompt(prompt: &Prompt, palette: &Palette) -> String {
    let faint = palette.faint;
    let mut out = format!("{faint}prompt of turn {}, round {}{faint:#}\n", prompt.turn, prompt.round);
    for PromptPart { role, origin, text } in &prompt.parts {
        let _ = match origin {
            None => writeln!(out, "{faint}┌ {}{faint:#}", role.name()),
            Some(origin) => writeln!(
                out,
                "{faint}┌ {} · {} {} ({} B){faint:#}",
                role.name(),
                visible_text(&origin.server),
                origin.slot,
                origin.bytes
            ),
        };
        for line in text.lines() {
            let _ = writeln!(out, "{faint}│{faint:#} {}", visible_text(line));
        }
    }
    out
}

/// Formats a prompt as an object: the model's input in `prompt`, and the labels.
pub(crate) fn prompt_value(prompt: &Prompt, at: Duration) -> Value {
    json!({"event": "prompt", "at_us": micros(at), "prompt": prompt.to_value(), "external": prompt.labels()})
}

/// Formats how often an event was repeated, as a line.
pub(crate) fn again(event: &HostEvent, times: u64, servers: &[ServerView], palette: &Palette) -> String {
    let more = HostEvent { text: format!("{times} more: {}", event.text), ..event.clone() };
    event_line(&more, servers, palette)
}

/// Formats the result of an order as a line; empty if there is nothing to say.
pub(crate) fn done(done: &OrderResult, palette: &Palette) -> String {
    let (bold, red) = (palette.bold, palette.error);
    match done {
        OrderResult::Turn { answer: Err(_), .. } | OrderResult::Woken { answer: Err(_), .. } => {
            format!("{bold}model>{bold:#} {red}(no answer){red:#}")
        }
        OrderResult::Turn { answer: Ok(answer), .. } | OrderResult::Woken { answer: Ok(answer), .. } => {
            match answer.as_str() {
                "" => String::new(),
                answer => format!("{}{}", said(palette), visible_lines(answer)),
            }
        }
        OrderResult::Tool(Ok(result)) => format!("{bold}tool>{bold:#} {}", tool_text(result)),
        OrderResult::Tool(Err(why)) | OrderResult::Failed(why) => format!("{red}failed{red:#}: {}", visible_text(why)),
        OrderResult::Answer(message) => {
            let envelope = Envelope::scan(message);
            let content = envelope.content().unwrap_or(message);
            format!("{bold}answer>{bold:#} {}", visible_text(&String::from_utf8_lossy(content)))
        }
        OrderResult::Connected | OrderResult::Ok | OrderResult::Ended => String::new(),
    }
}

/// Formats the result of an order as an object.
pub(crate) fn done_value(done: &OrderResult, at: Duration) -> Value {
    let mut value = match done {
        OrderResult::Turn { turn, answer } | OrderResult::Woken { turn, answer } => {
            let mut value = json!({"event": "turn", "turn": turn, "answer": answer.as_ref().ok()});
            if let Err(why) = answer {
                value["error"] = why.as_str().into();
            }
            if matches!(done, OrderResult::Woken { .. }) {
                value["woken"] = true.into();
            }
            value
        }
        OrderResult::Tool(Ok(result)) => json!({"event": "tool", "result": result}),
        OrderResult::Tool(Err(why)) => json!({"event": "tool", "error": why}),
        OrderResult::Answer(message) => {
            json!({"event": "answer", "message": json::value_of(message)})
        }
        OrderResult::Failed(why) => json!({"event": "failed", "reason": why}),
        OrderResult::Connected => json!({"event": "connected"}),
        OrderResult::Ok => json!({"event": "done"}),
        OrderResult::Ended => json!({"event": "ended"}),
    };
    value["at_us"] = micros(at).into();
    value
}

fn tool_text(result: &Value) -> String {
    let texts = result["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
    let text = texts.collect::<Vec<_>>().join("\n");
    if text.is_empty() { visible_text(&result.to_string()) } else { visible_lines(&text) }
}

/// Returns the prefix of the model's answers.
pub(crate) fn said(palette: &Palette) -> String {
    let bold = palette.bold;
    format!("{bold}model>{bold:#} ")
}

/// Describes an output in words. `server` is the name of the server that caused it.
pub(crate) fn client_output(output: &ClientOutput, server: &str) -> Option<String> {
    let clipped = |bytes: &[u8]| {
        let text: String = String::from_utf8_lossy(bytes).chars().map(visible).take(200).collect();
        text
    };
    let text = match output {
        ClientOutput::ServerRequest { method, answered_with, .. } => match answered_with {
            Some(Ok(_)) => format!("{server} sent the request {method}; answered"),
            Some(Err((code, reason))) => format!("{server} sent the request {method}; refused with {code}: {reason}"),
            None => format!("{server} sent the request {method}"),
        },
        ClientOutput::Notification { message } => format!("notification from {server}: {}", clipped(message)),
        ClientOutput::Noise { message } => {
            format!("{server} printed something that is not a message: {}", clipped(message))
        }
        ClientOutput::Stray { message } => format!("{server} sent a response without a request: {}", clipped(message)),
        ClientOutput::Renewing { reason } => {
            format!("{server}: {reason}; opening a new session and repeating the request")
        }
        ClientOutput::Answered { method, late: true, .. } => format!("late response from {server} to {method}"),
        _ => return None,
    };
    Some(text)
}

fn visible_lines(text: &str) -> String {
    text.lines().map(visible_text).collect::<Vec<_>>().join("\n")
}
