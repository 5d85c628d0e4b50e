//! `fire push`: a push event, as a server that a host has started (seed 002 §9).

use super::emit::{self, Emission, Ways};
use crate::cli::commands::serve::ServeCommon;
use crate::cli::error::{CommandError, ErrorKind};
use crate::cli::live::{self, Live, Opening};
use crate::cli::{Context, Outcome, values};
use crate::drive::client::Answer;
use crate::extension::mcpl::push::{Draft, judge};
use crate::extension::mcpl::server::{PROACTIVE, Settings};
use crate::extension::{Declared, Side, mcpl};
use crate::render::line::{duration, visible_text};
use crate::server::Fired;
use crate::wire::Envelope;
use crate::wire::span::micros;
use clap::Args;
use serde_json::{Value, json};
use std::time::Duration;

/// Push an event to the host that started this command as its server.
///
/// Put this command where a host's configuration names a server. It is the built-in server; once the handshake is
/// over it sends `push/event`, on a timer or when the process gets SIGUSR1, and tells the host's answer on standard
/// error (one JSON object a line) or in --report.
///
/// With --listen it waits for a host to connect over HTTP instead, and ends when its pushes are answered.
///
/// With --session it is one push into a session that runs already: beside the server's own messages where the session
/// is tapped, by the server itself where it is `mcpreel serve`. The host's answer is printed, and its server does not
/// see it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples, as a host's server command:
  mcpreel fire push --text 'deploy finished' --report /tmp/push.jsonl
  mcpreel fire push --text tick --feature-set memory.proactive
  mcpreel fire push --text tick --after 2s --repeat 3 --interval 10s
  mcpreel fire push --text now --on-signal      then: pkill -USR1 -f 'fire push'

Waiting for a host to connect to http://127.0.0.1:8080/mcp:
  mcpreel fire push --text 'deploy finished' --listen 8080

Into a live session:
  mcpreel fire push --text 'deploy finished' --session everything

Exit codes: 0 every push was accepted; 1 one was refused, not answered, or not sent.")]
pub struct PushArgs {
    /// What happened, in words.
    #[arg(long)]
    text: String,
    /// The feature set that it belongs to; the server's own that declares pushEvents where none is named.
    #[arg(long, value_name = "NAME")]
    feature_set: Option<String>,
    /// The event's id; a new one where none is given.
    #[arg(long, value_name = "ID")]
    event_id: Option<String>,
    /// Where it is from (repeatable): name=text, name:=JSON, a JSON object.
    #[arg(long = "origin", value_name = "VALUE")]
    origin: Vec<String>,
    #[command(flatten)]
    ways: Ways,
}

pub fn run(args: &PushArgs, context: &Context) -> Result<Outcome, CommandError> {
    emit::run(args, &args.ways, context)
}

impl Emission for PushArgs {
    const NAME: &'static str = "push";

    fn fired(&self, done: u64) -> Result<Fired, CommandError> {
        Ok(Fired::new("push", draft(self, done)?))
    }

    fn method(&self) -> &'static str {
        mcpl::PUSH_EVENT
    }

    fn settings(&self) -> Option<(&'static str, Value)> {
        let settings = Settings { push_sets: vec![self.feature_set.clone()?], ..Settings::default() };
        Some((mcpl::DESCRIPTOR.name, json!(settings)))
    }

    fn beside(
        &self,
        session: &Live,
        done: u64,
        common: &ServeCommon,
        context: &Context,
    ) -> Result<Value, CommandError> {
        push_beside(session, draft(self, done)?, common.answer_timeout(), context)
    }

    fn is_good(&self, fact: &Value) -> bool {
        fact["report"] == "push_answered" && fact["accepted"] == true && fact["late"] == false
    }

    fn for_people(&self, fact: &Value) -> String {
        for_people(fact)
    }
}

/// Puts a push event into a tapped session, toward its client; what came of it, as the built-in server reports it.
fn push_beside(session: &Live, mut draft: Draft, timeout: Duration, context: &Context) -> Result<Value, CommandError> {
    let opening = Opening::read(&session.reel()?, session.stream)?;
    let server = opening.handshake.as_ref().map(|handshake| handshake.server_capabilities.clone());
    let declared =
        Declared { client: opening.client_capabilities, server: server.unwrap_or_default(), ..Declared::default() };
    draft.feature_set.get_or_insert_with(|| pushing_set(&declared).unwrap_or_else(|| PROACTIVE.to_owned()));
    draft.event_id.get_or_insert_with(|| format!("evt_{}", uuid::Uuid::now_v7()));
    let params = draft.params(&jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string());
    let id = format!("{}1", live::id_prefix());
    let request = json!({"jsonrpc": "2.0", "id": id, "method": mcpl::PUSH_EVENT, "params": params});
    let answer = match live::send(session, "client", &request.to_string(), timeout) {
        Ok(answer) => answer,
        Err(error) if error.kind == ErrorKind::Timeout => None,
        Err(error) => return Err(error),
    };
    if declared.find(&mcpl::DESCRIPTOR, Side::Client).is_none() {
        let unasked = "sent, though the client did not declare experimental.mcpl and so need not know push/event";
        context.printer.note(unasked);
    }
    let Some(Answer { message, latency }) = answer else {
        let after = micros(timeout);
        return Ok(json!({"report": "unanswered", "id": id, "method": mcpl::PUSH_EVENT, "after_us": after}));
    };
    let verdict = judge(&Envelope::scan(&message));
    Ok(match verdict.code {
        Some(code) => json!({
            "report": "refused", "id": id, "method": mcpl::PUSH_EVENT, "code": code, "means": verdict.code_name,
            "message": verdict.reason, "latency_us": micros(latency), "late": false, "deviations": verdict.deviations,
        }),
        None => json!({
            "report": "push_answered", "id": id, "event_id": draft.event_id, "accepted": verdict.accepted == Some(true),
            "inference_id": verdict.inference_id, "reason": verdict.reason, "latency_us": micros(latency),
            "late": false, "deviations": verdict.deviations,
        }),
    })
}

/// What came of a push: what was sent, the answer, the time that took, each on its line.
fn for_people(fact: &Value) -> String {
    let text = |name: &str| fact[name].as_str().unwrap_or_default();
    let late = if fact["late"] == true { " (late)" } else { "" };
    let is_sent = fact["report"] != "not_sent";
    let answer = match (text("report"), &fact["accepted"]) {
        ("not_sent", _) => {
            let why = fact["reason"]["why"].as_str().unwrap_or_default().replace('_', " ");
            let others = fact["reason"].as_object().into_iter().flatten().filter(|(name, _)| *name != "why");
            let others: Vec<&str> = others.filter_map(|(_, word)| word.as_str()).collect();
            format!("none: {why} {}", others.join(" ")).trim_end().to_owned()
        }
        ("unanswered", _) => "none".to_owned(),
        ("refused", _) => {
            let words = [fact["code"].to_string(), text("means").to_owned(), text("message").to_owned()];
            format!("error {}", words.join(" ").trim_end())
        }
        (_, Value::Bool(true)) if fact["inference_id"].is_string() => {
            format!("accepted, inference {}", text("inference_id"))
        }
        (_, Value::Bool(true)) => "accepted".to_owned(),
        (_, Value::Bool(false)) => format!("not accepted {}", text("reason")).trim_end().to_owned(),
        _ => "neither accepted nor refused".to_owned(),
    };
    let sent = format!("{} {}", mcpl::PUSH_EVENT, text("event_id"));
    let mut told = format!("sent    ← {}", if is_sent { sent.trim_end() } else { "nothing" });
    told.push_str(&format!("\nanswer  → {answer}{late}"));
    let took = fact["latency_us"].as_i64().or_else(|| fact["after_us"].as_i64());
    if let Some(took) = took {
        told.push_str(&format!("\ntime    {}", duration(took.saturating_mul(1000))));
    }
    for oddity in fact["deviations"].as_array().into_iter().flatten() {
        let words = oddity.as_str().map_or_else(|| oddity.to_string(), str::to_owned);
        told.push_str(&format!("\nodd     {words}"));
    }
    told.lines().map(visible_text).collect::<Vec<_>>().join("\n")
}

/// The first feature set of the server's that pushes.
fn pushing_set(declared: &Declared) -> Option<String> {
    let (_, block) = declared.find(&mcpl::DESCRIPTOR, Side::Server)?;
    let pushes = |set: &Value| set["uses"].as_array().is_some_and(|uses| uses.contains(&"pushEvents".into()));
    let sets = block["featureSets"].as_object()?;
    sets.iter().find(|(_, set)| pushes(set)).map(|(name, _)| name.clone())
}

/// Another push is another event: a given id gets a number then.
fn draft(args: &PushArgs, done: u64) -> Result<Draft, CommandError> {
    let origin = if args.origin.is_empty() { None } else { Some(Value::Object(values::object(&args.origin)?)) };
    let numbered = |id: &String| if done == 0 { id.clone() } else { format!("{id}-{}", done + 1) };
    Ok(Draft {
        text: args.text.clone(),
        event_id: args.event_id.as_ref().map(numbered),
        feature_set: args.feature_set.clone(),
        origin,
        ..Draft::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_of_a_push_stands_on_lines() {
        let accepted = json!({"report": "push_answered", "event_id": "evt_1", "accepted": true, "inference_id": "inf_1",
            "latency_us": 812, "late": false, "deviations": ["no accepted member"]});
        let lines = "sent    ← push/event evt_1\nanswer  → accepted, inference inf_1\ntime    812 µs\n\
            odd     no accepted member";
        assert_eq!(for_people(&accepted), lines);
        let refused = json!({"report": "refused", "code": -32601, "means": "method not found", "message": "what?\u{1b}",
            "latency_us": 2000, "late": true});
        assert_eq!(for_people(&refused).lines().nth(1), Some("answer  → error -32601 method not found what?␛ (late)"));
        let unsent = json!({"report": "not_sent", "reason": {"why": "host_lacks", "capability": "mcpl.pushEvents"}});
        assert_eq!(for_people(&unsent), "sent    ← nothing\nanswer  → none: host lacks mcpl.pushEvents");
    }
}
