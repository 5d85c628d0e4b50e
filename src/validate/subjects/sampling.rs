//! Messages for the client's model: uses of tools and their results belong together.

use crate::proposals::Findings;
use crate::proposals::findings::rules;
use crate::proposals::recent::Recent;
use crate::protocol::Revision;
use crate::validate::subject::{Message, Subject, SubjectEntry};
use crate::wire::{IdKey, MessageKind};
use serde_json::Value;
use std::collections::BTreeSet;

rules! {
    MIXED = Error "sampling/mixed-results",
        "In `sampling/createMessage`, the server must put nothing but results of tools (`tool_result`) into a message that contains one.",
        "MCP 2025-11-25, Sampling, Tool Result Messages",
        fix "Put text and images into a message after the one with the results.";
    UNBALANCED = Error "sampling/unbalanced",
        "In `messages` of `sampling/createMessage`, the server must follow a message with uses of tools (`tool_use`) by one with exactly their results (`tool_result`).",
        "MCP 2025-11-25, Sampling, Tool Use and Result Balance",
        fix "Add a `tool_result` for each `tool_use`, in the next message, with its `toolUseId`.";
    ROLE = Error "sampling/role",
        "In `messages` of `sampling/createMessage`, the server must put uses of tools (`tool_use`) into messages of the role `assistant`, and results (`tool_result`) into those of the role `user`.",
        "MCP 2025-11-25, Sampling, Message Roles",
        fix "Give uses of tools the role `assistant`, and their results the role `user`.";
    NOT_OFFERED = Error "sampling/tool-not-offered",
        "In its result of `sampling/createMessage`, the client must return uses (`tool_use`) only of tools that the request offers, and none if `toolChoice` is `none`.",
        "MCP 2025-11-25, Sampling, Tool Choice Modes",
        fix "Give the model only the tools of the request, and check the names it returns.";
    CHOICE = Error "sampling/tool-required",
        "In its result of `sampling/createMessage`, the client must return the use of a tool (`tool_use`) if `toolChoice` is `required`.",
        "MCP 2025-11-25, Sampling, Tool Choice Modes",
        fix "Pass `toolChoice` on to the model, and answer with an error if it uses no tool.";
}

pub(in crate::validate) const ENTRY: SubjectEntry = SubjectEntry {
    rules: RULES,
    revisions: (Revision::V2025_11_25, Revision::V2026_07_28),
    begin: || Box::<Sampling>::default(),
};

/// Pending requests that are remembered.
const PENDING: usize = 256;
/// Tools of a request that are remembered; the uses of any others are not checked.
const MAX_TOOLS: usize = 256;

/// What a request says about tools.
#[derive(Debug)]
struct Offer {
    tools: Vec<String>,
    has_more: bool,
    choice: String,
}

/// The pending requests of one connection.
#[derive(Debug)]
struct Sampling(Recent<IdKey, Offer>);

impl Default for Sampling {
    fn default() -> Self {
        Self(Recent::new(PENDING))
    }
}

impl Subject for Sampling {
    fn observe(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let content = message.content();
        match message.observed.envelope.kind {
            MessageKind::Request if message.method() == "sampling/createMessage" => {
                check_messages(message.seq(), content, findings);
                message.observed.envelope.id.map(|id| self.0.insert(id.key(), Offer::read(content)));
            }
            MessageKind::Result if message.result_of() == "sampling/createMessage" => {
                let offer = message.observed.envelope.id.and_then(|id| self.0.remove(&id.key()));
                findings.give_up_if(offer.is_none(), &[&NOT_OFFERED, &CHOICE]);
                if let Some(offer) = offer.filter(|_| message.is_since(Revision::V2025_11_25)) {
                    offer.check(message.seq(), content, findings);
                }
            }
            MessageKind::Result if message.is_modern() => {
                for request in content["inputRequests"].as_object().into_iter().flatten().map(|(_, request)| request) {
                    if request["method"] == "sampling/createMessage" {
                        check_messages(message.seq(), &request["params"], findings);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the blocks of a message, of which there may be one or an array.
fn blocks(message: &Value) -> &[Value] {
    match &message["content"] {
        Value::Array(blocks) => blocks,
        block => std::slice::from_ref(block),
    }
}

/// Returns the values of a member in the blocks of this type.
fn members<'a>(message: &'a Value, kind: &str, name: &str) -> BTreeSet<&'a str> {
    let all = blocks(message).iter().filter(|block| block["type"] == kind);
    all.filter_map(|block| block[name].as_str()).collect()
}

fn check_messages(seq: u64, params: &Value, findings: &mut Findings) {
    let messages = params["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut uses = BTreeSet::new();
    for message in messages {
        check_mixed(seq, message, findings);
        check_role(seq, message, findings);
        let results = members(message, "tool_result", "toolUseId");
        findings.check(&UNBALANCED, seq, uses == results, || {
            format!("the uses {uses:?} are followed by the results {results:?}")
        });
        uses = members(message, "tool_use", "id");
    }
    findings.check(&UNBALANCED, seq, uses.is_empty(), || format!("no results follow the uses {uses:?}"));
}

fn check_mixed(seq: u64, message: &Value, findings: &mut Findings) {
    let is_result = |block: &Value| block["type"] == "tool_result";
    let blocks = blocks(message);
    if blocks.iter().any(is_result) {
        findings.check(&MIXED, seq, blocks.iter().all(is_result), || {
            "a message contains results of tools and other content".to_owned()
        });
    }
}

fn check_role(seq: u64, message: &Value, findings: &mut Findings) {
    for (kind, role) in [("tool_use", "assistant"), ("tool_result", "user")] {
        if blocks(message).iter().any(|block| block["type"] == kind) {
            findings.check(&ROLE, seq, message["role"] == role, || {
                format!("a message of the role {} contains a {kind}", message["role"])
            });
        }
    }
}

impl Offer {
    fn read(params: &Value) -> Self {
        let all = || params["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str());
        Self {
            tools: all().take(MAX_TOOLS).map(str::to_owned).collect(),
            has_more: all().count() > MAX_TOOLS,
            choice: params["toolChoice"]["mode"].as_str().unwrap_or("auto").to_owned(),
        }
    }

    fn check(&self, seq: u64, result: &Value, findings: &mut Findings) {
        let used = members(result, "tool_use", "name");
        for tool in &used {
            let is_known = self.tools.iter().any(|it| it == tool);
            match self.choice != "none" && self.has_more && !is_known {
                true => findings.give_up(&NOT_OFFERED),
                false => findings
                    .check(&NOT_OFFERED, seq, self.choice != "none" && is_known, || format!("the model uses {tool:?}")),
            }
        }
        if self.choice == "required" {
            findings.check(&CHOICE, seq, !used.is_empty(), || "the model uses no tool".to_owned());
        }
    }
}

#[cfg(test)]
pub(in crate::validate) mod cases {
    /// A request with these messages and other params, and what follows.
    macro_rules! sampling {
        ($messages:literal, $params:literal, $rest:literal) => {
            concat!(
                r#"hello 2025-11-25 {"sampling":{"tools":{}}} | {}
                   s>c {"id":1,"method":"sampling/createMessage","params":{"maxTokens":1,"#,
                $params,
                r#""messages":["#,
                $messages,
                "]}}\n",
                $rest
            )
        };
    }

    pub(in crate::validate) const CASES: &[(&str, &str)] = &[
        (
            "sampling/mixed-results",
            sampling!(
                r#"{"role":"assistant","content":{"type":"tool_use","id":"a","name":"t","input":{}}},
                   {"role":"user","content":[{"type":"tool_result","toolUseId":"a","content":[]},
                       {"type":"text","text":"x"}]}"#,
                "",
                ""
            ),
        ),
        (
            "sampling/unbalanced",
            sampling!(
                r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}},
                       {"type":"tool_use","id":"b","name":"t","input":{}}]},
                   {"role":"user","content":{"type":"tool_result","toolUseId":"a","content":[]}}"#,
                "",
                ""
            ),
        ),
        (
            "sampling/unbalanced",
            sampling!(r#"{"role":"assistant","content":{"type":"tool_use","id":"a","name":"t","input":{}}}"#, "", ""),
        ),
        (
            "sampling/role",
            sampling!(
                r#"{"role":"user","content":{"type":"tool_use","id":"a","name":"t","input":{}}},
                   {"role":"user","content":{"type":"tool_result","toolUseId":"a","content":[]}}"#,
                "",
                ""
            ),
        ),
        (
            "sampling/tool-not-offered",
            sampling!(
                "",
                r#""tools":[{"name":"t","inputSchema":{"type":"object"}}],"#,
                r#"c>s {"id":1,"result":{"role":"assistant","model":"m","content":{"type":"tool_use","id":"a",
                    "name":"u","input":{}}}}"#
            ),
        ),
        (
            "sampling/tool-not-offered",
            sampling!(
                "",
                r#""tools":[{"name":"t","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"none"},"#,
                r#"c>s {"id":1,"result":{"role":"assistant","model":"m","content":{"type":"tool_use","id":"a",
                    "name":"t","input":{}}}}"#
            ),
        ),
        (
            "sampling/tool-required",
            sampling!(
                "",
                r#""tools":[{"name":"t","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"required"},"#,
                r#"c>s {"id":1,"result":{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}}"#
            ),
        ),
    ];

    pub(in crate::validate) const QUIET: &[&str] = &[sampling!(
        r#"{"role":"assistant","content":[{"type":"text","text":"x"},
                   {"type":"tool_use","id":"a","name":"t","input":{}},
                   {"type":"tool_use","id":"b","name":"t","input":{}}]},
               {"role":"user","content":[{"type":"tool_result","toolUseId":"b","content":[]},
                   {"type":"tool_result","toolUseId":"a","content":[]}]},
               {"role":"assistant","content":{"type":"text","text":"x"}}"#,
        r#""tools":[{"name":"t","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"required"},"#,
        r#"c>s {"id":1,"result":{"role":"assistant","model":"m","content":{"type":"tool_use","id":"c",
                "name":"t","input":{}}}}"#
    )];
}
