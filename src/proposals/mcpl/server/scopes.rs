//! Scopes (MCPL 0.4 §7): a tool that asks the host before it leaves the host's lists.
//!
//! MCPL leaves the evaluation of the lists to the host (§7.2), so the server asks about a label that is on no list
//! instead of refusing it (§7.4).

use super::negotiated::Negotiated;
use super::{McplServerSide, PAGES};
use crate::proposals::mcpl::scope_lists::Standing;
use crate::proposals::server::{Answer, Granted, ServerCx, ToolCall, Unsent, failure, success};
use serde::Deserialize;
use serde_json::{Value, json};

/// The tool that writes a note under a path.
const WRITE_NOTE: &str = "write_note";
/// Requests a scope from the host (MCPL 0.4 §7.4).
pub(super) const ELEVATE: &str = "scope/elevate";

/// A scope to request, in the form in which it is fired.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Draft {
    label: String,
    payload: Option<Value>,
    feature_set: Option<String>,
}

/// The arguments of the tool.
#[derive(Clone, Debug, Deserialize)]
struct Page {
    path: String,
    text: String,
}

/// What to do about a call.
enum Step {
    /// Write the note.
    Write(Page),
    /// Ask the host first.
    Ask(Page),
}

/// The tool's definition for `tools/list`. It names its feature set, because MCPL does not define how a tool does
/// (AMB-C4).
pub(super) fn tool() -> Value {
    json!({
        "name": WRITE_NOTE,
        "title": "Write a note",
        "description": "Writes a note under a path, if the host approves the path",
        "inputSchema": {"type": "object", "required": ["path", "text"], "properties": {
            "path": {"type": "string", "description": "The note's path, which is also the label of its scope"},
            "text": {"type": "string", "description": "The note"},
        }},
        "_meta": {"featureSet": PAGES},
    })
}

fn wait(ticket: Option<u64>, label: &str, page: Option<&Page>) -> Value {
    let page = page.map(|page| json!({"path": page.path, "text": page.text}));
    json!({"scope": {"label": label, "ticket": ticket, "page": page}})
}

/// The params of `scope/elevate` (MCPL 0.4 §7.4).
fn params(set: &str, label: &str, payload: Option<&Value>) -> Value {
    let mut scope = json!({"label": label});
    if let Some(payload) = payload {
        scope["payload"] = payload.clone();
    }
    json!({"featureSet": set, "scope": scope})
}

/// Writes the note: remembers it with its path as the source.
fn write(page: Page, cx: &mut dyn ServerCx) -> Value {
    let reported = format!("Wrote {} characters to {}", page.text.chars().count(), page.path);
    cx.remember(page.text, page.path);
    success(&reported)
}

impl Negotiated {
    /// Decides what to do about a call. If the host sent a scope with this path as its label, it granted the scope
    /// (MCPL 0.4 §7.7), unless its own lists forbid it.
    fn step(&self, call: &ToolCall<'_>) -> Result<Step, Answer> {
        let page = Page::deserialize(call.arguments);
        let mut page = page.map_err(|error| Ok(failure(&format!("arguments of {WRITE_NOTE}: {error}"))))?;
        self.gate(PAGES).map_err(Err)?;
        let scope = &call.params["scope"];
        let is_granted = scope["label"] == page.path.as_str();
        match self.rules(PAGES).map_or(Standing::Open, |rules| rules.judge(&[&page.path])) {
            Standing::Open if is_granted => {}
            Standing::Allowed => {}
            _ => return Ok(Step::Ask(page)),
        }
        if is_granted && let Some(path) = scope["payload"]["path"].as_str() {
            path.clone_into(&mut page.path);
        }
        Ok(Step::Write(page))
    }
}

impl McplServerSide {
    /// Takes over a call for which the host has to be asked.
    pub(super) fn ask_to_write(&self, call: &ToolCall<'_>, ticket: u64, cx: &mut dyn ServerCx) -> bool {
        if call.tool != WRITE_NOTE {
            return false;
        }
        let Ok(Step::Ask(page)) = self.negotiated.step(call) else { return false };
        let payload = json!({"path": page.path});
        cx.ask(ELEVATE, &params(PAGES, &page.path, Some(&payload)), wait(Some(ticket), &page.path, Some(&page)));
        true
    }

    /// Answers a call that can be answered at once; `None` if it is for another tool.
    pub(super) fn write_page(&self, call: &ToolCall<'_>, cx: &mut dyn ServerCx) -> Option<Answer> {
        (call.tool == WRITE_NOTE).then(|| match self.negotiated.step(call) {
            Ok(Step::Write(page)) => Ok(write(page, cx)),
            Ok(Step::Ask(page)) => Ok(failure(&format!("{} needs the host's approval", page.path))),
            Err(answer) => answer,
        })
    }

    /// Requests a scope on its own, without a call.
    ///
    /// # Errors
    ///
    /// Why nothing was sent.
    pub(super) fn elevate(&self, draft: &Value, cx: &mut dyn ServerCx) -> Result<String, Unsent> {
        let Draft { label, payload, feature_set } = Draft::deserialize(draft).map_err(Unsent::invalid)?;
        let set = feature_set.as_deref().unwrap_or(PAGES);
        self.negotiated.may_elevate(set)?;
        Ok(cx.ask(ELEVATE, &params(set, &label, payload.as_ref()), wait(None, &label, None)))
    }
}

/// Handles the host's decision on a scope (MCPL 0.4 §7.5): executes the call that waits for it, or lets it fail. The
/// host may have added to the payload: the note is written to the payload's `path`.
pub(super) fn said(scope: &Value, granted: &Granted<'_>, cx: &mut dyn ServerCx) {
    let Granted { id, result, latency_us, late, .. } = *granted;
    let (approved, reason) = (result["approved"].as_bool(), result["reason"].as_str());
    cx.report(json!({"report": "scope_answered", "id": id, "label": scope["label"], "approved": approved,
        "payload": result.get("payload"), "reason": reason, "latency_us": latency_us, "late": late}));
    let Some(ticket) = scope["ticket"].as_u64().filter(|ticket| cx.awaits(*ticket)) else { return };
    let answer = match Page::deserialize(&scope["page"]) {
        Ok(mut page) if approved == Some(true) => {
            if let Some(path) = result["payload"]["path"].as_str() {
                path.clone_into(&mut page.path);
            }
            write(page, cx)
        }
        _ => refused(scope, reason.unwrap_or("no reason given")),
    };
    cx.settle(ticket, Ok(answer));
}

/// Lets the waiting call fail after the host refused the request or did not respond.
pub(super) fn unsaid(scope: &Value, error: Option<&Value>, cx: &mut dyn ServerCx) {
    if let Some(ticket) = scope["ticket"].as_u64() {
        let why = error.map_or("the host did not respond", |error| error["message"].as_str().unwrap_or_default());
        cx.settle(ticket, Ok(refused(scope, why)));
    }
}

fn refused(scope: &Value, why: &str) -> Value {
    failure(&format!("scope {} was not granted: {why}", scope["label"].as_str().unwrap_or_default()))
}
