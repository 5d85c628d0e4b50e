//! Tools: how they are described, and whether calls and results fit the description.

use crate::proposals::findings::rules;
use crate::proposals::recent::{Digest, Recent};
use crate::proposals::{Findings, Rule};
use crate::protocol::{Revision, errors, http};
use crate::validate::foreign_schema::{Compiled, ForeignSchema, Verdict};
use crate::validate::parse;
use crate::validate::rules::NOT_CHECKED;
use crate::validate::subject::{Message, Subject, SubjectEntry};
use crate::validate::subjects::capabilities::is_declared;
use crate::wire::MessageKind;
use crate::wire::text::counted;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

rules! {
    SCHEMA = Error "tools/invalid-schema",
        "The server must give each tool an `inputSchema`, and an `outputSchema` if present, that is a valid JSON Schema.",
        "MCP 2025-11-25, Tools, Tool",
        fix "Check the schema with its dialect, which is 2020-12 if it has no $schema.";
    NAME = Warning "tools/name",
        "The server gives each tool a name of 1 to 128 letters, digits, underscores, hyphens and dots.",
        "MCP 2025-11-25, Tools, Tool Names",
        fix "Replace other characters, such as spaces and slashes, by underscores.";
    DUPLICATE = Warning "tools/duplicate-name",
        "The server lists each name of a tool only once in `tools/list`.",
        "MCP 2025-11-25, Tools, Tool Names",
        fix "Put a prefix before the names of tools from different sources.";
    ANNOTATION = Error "tools/header-annotation",
        "In revision 2026-07-28, the server must use `x-mcp-header` in an `inputSchema` only with the name of a header, once per tool, for a string, an integer or a boolean.",
        "MCP 2026-07-28, Tools, x-mcp-header",
        fix "Give each annotated argument a header name of its own, and annotate only simple types.";
    ARGUMENTS = Warning "tools/arguments",
        "The client sends in `tools/call` only `arguments` that conform to the `inputSchema` of the tool.",
        "MCP 2025-11-25, Tools, Calling Tools",
        fix "Validate the arguments against the `inputSchema` before you send them.";
    ACCEPTED = Error "tools/invalid-arguments-accepted",
        "The server must refuse a `tools/call` whose `arguments` do not conform to the `inputSchema` of the tool, with an error or with `isError: true`.",
        "MCP 2025-11-25, Tools, Security Considerations",
        fix "Check the arguments against the schema before you run the tool.";
    STRUCTURED_MISSING = Error "tools/structured-missing",
        "A server that gives a tool an `outputSchema` must return `structuredContent` in its results, except those with `isError: true`.",
        "MCP 2025-11-25, Tools, Output Schema",
        fix "Return `structuredContent` (and its JSON as text in `content`), or remove the `outputSchema`.";
    STRUCTURED = Error "tools/structured-content",
        "The server must return `structuredContent` that conforms to the `outputSchema` of the tool.",
        "MCP 2025-11-25, Tools, Output Schema",
        fix "Return what the schema describes, or correct the `outputSchema`.";
    STRUCTURED_TEXT = Warning "tools/structured-text",
        "A server that returns `structuredContent` also returns the same JSON, or the value of its only member, as a text in `content`.",
        "MCP 2025-11-25, Tools, Structured Content",
        fix "Add a text block with the JSON of `structuredContent`.";
    UNKNOWN = Warning "tools/unknown-answered",
        "The server answers a `tools/call` of a tool that it does not list with a JSON-RPC error, not with a result.",
        "MCP 2025-11-25, Tools, Error Handling",
        fix "Answer with error -32602.";
    TASK_FORBIDDEN = Error "tools/task-forbidden",
        "The client must not send `tools/call` with `task` unless the tool's `execution.taskSupport` is `optional` or `required`.",
        "MCP 2025-11-25, Tasks, Tool-Level Negotiation",
        fix "Read the tool's `execution.taskSupport`, and leave `task` out unless it allows one.";
    TASK_REQUIRED = Error "tools/task-required",
        "The client must send a `tools/call` of a tool whose `execution.taskSupport` is `required` with `task`.",
        "MCP 2025-11-25, Tasks, Tool-Level Negotiation",
        fix "Read the tool's `execution.taskSupport`, and send `task` if it is `required`.";
    TASK_ACCEPTED = Error "tools/task-required-accepted",
        "The server must refuse a `tools/call` without `task` of a tool whose `execution.taskSupport` is `required`, with error -32601.",
        "MCP 2025-11-25, Tasks, Tool-Level Negotiation",
        fix "Answer with error -32601, or set `execution.taskSupport` to `optional`.";
}

pub(in crate::validate) const ENTRY: SubjectEntry = SubjectEntry {
    rules: RULES,
    revisions: (Revision::V2024_11_05, Revision::V2026_07_28),
    begin: || Box::<Tools>::default(),
};

/// Tools of a server that are remembered.
const TOOLS: usize = 1024;
/// Calls without a response that are remembered.
const CALLS: usize = 1024;
/// Wrong arguments and results that are described; after so many, they have been seen.
const DESCRIPTIONS: usize = 100;
/// The length of the longest name that MCP recommends.
const LONGEST_NAME: usize = 128;

/// A tool as it was listed.
#[derive(Debug)]
struct Tool {
    input: Arc<ForeignSchema>,
    output: Option<Arc<ForeignSchema>>,
    support: String,
    /// The listing that contained it last.
    listing: u64,
}

/// The rules that compare a response with its call.
const OF_ANSWERS: &[&Rule] = &[&ACCEPTED, &STRUCTURED_MISSING, &STRUCTURED, &STRUCTURED_TEXT, &UNKNOWN, &TASK_ACCEPTED];

/// A call without a response.
#[derive(Debug)]
struct Call {
    tool: Box<str>,
    /// How the arguments differ from the schema.
    differs: Option<Box<str>>,
}

/// The tools of one connection.
#[derive(Debug)]
struct Tools {
    tools: HashMap<String, Tool, foldhash::fast::RandomState>,
    /// By the fingerprint of the request's id.
    calls: Recent<u64, Call>,
    /// The text of the latest list, if it came in one page.
    listed: Option<Digest>,
    /// The number of listings that began.
    listing: u64,
    /// The latest listing is complete, and the server has not said that the tools changed.
    is_complete: bool,
    /// There are more tools than are remembered.
    is_full: bool,
    /// The number of arguments and results that are still described if they are wrong.
    descriptions: usize,
    /// The first result with `structuredContent` of a tool that no list describes, and the number of them.
    unchecked: Option<(u64, u64)>,
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            tools: HashMap::default(),
            calls: Recent::new(CALLS),
            listed: None,
            listing: 0,
            is_complete: false,
            is_full: false,
            descriptions: DESCRIPTIONS,
            unchecked: None,
        }
    }
}

impl Subject for Tools {
    fn observe(&mut self, message: &Message<'_>, findings: &mut Findings) {
        match (message.observed.envelope.kind, message.method(), message.result_of()) {
            (MessageKind::Request, "tools/call", _) => self.call(message, findings),
            (MessageKind::Result, _, "tools/list") => self.listed(message, findings),
            (MessageKind::Result, _, "tools/call") => self.result(message, findings),
            (MessageKind::Error, ..) => self.refused(message, findings),
            (MessageKind::Notification, "notifications/tools/list_changed", _) => self.is_complete = false,
            _ => {}
        }
    }

    fn finish(&mut self, findings: &mut Findings) {
        if let Some((first, count)) = self.unchecked.take() {
            let results = counted(count, "result");
            let seen = format!("structuredContent of {results} was not checked: the session does not list the tools");
            findings.note(&NOT_CHECKED, first, seen);
        }
    }
}

impl Tools {
    fn listed(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let content = message.content();
        let is_first = message.observed.request.is_none_or(|request| request.params["cursor"].is_null());
        let is_whole = is_first && content.get("nextCursor").is_none();
        let listed = message.observed.envelope.result.filter(|_| is_whole).map(Digest::of_bytes);
        // Most lists are those that were listed before.
        if listed.is_some() && listed == self.listed {
            self.is_complete = !self.is_full && message.saw_all();
            return;
        }
        self.listed = listed;
        self.listing += u64::from(is_first);
        for tool in content["tools"].as_array().into_iter().flatten() {
            self.list(message, tool, findings);
        }
        self.is_complete = content.get("nextCursor").is_none() && !self.is_full && message.saw_all();
    }

    fn list(&mut self, message: &Message<'_>, tool: &Value, findings: &mut Findings) {
        let Some(name) = tool["name"].as_str() else { return };
        check_name(message, name, findings);
        let known = self.tools.get_mut(name);
        let is_twice = known.as_ref().is_some_and(|known| known.listing == self.listing);
        findings.check(&DUPLICATE, message.seq(), !is_twice, || format!("two tools have the name {name:?}"));
        let support = tool["execution"]["taskSupport"].as_str().unwrap_or("forbidden");
        if let Some(known) = known.filter(|known| known.is_same(tool)) {
            known.listing = self.listing;
            support.clone_into(&mut known.support);
            return;
        }
        let schema = |member: &str| tool.get(member).map(|source| message.schemas.schema(source));
        let (input, output) = (schema("inputSchema"), schema("outputSchema"));
        for (member, schema) in [("inputSchema", &input), ("outputSchema", &output)] {
            schema.iter().for_each(|schema| check_schema(message, schema, (name, member), findings));
        }
        check_annotations(message, name, tool, findings);
        self.is_full |= self.tools.len() >= TOOLS && !self.tools.contains_key(name);
        if self.is_full {
            return [&DUPLICATE, &ARGUMENTS, &STRUCTURED].into_iter().for_each(|rule| findings.give_up(rule));
        }
        let input = input.unwrap_or_else(|| message.schemas.schema(&Value::Null));
        let described = Tool { input, output, support: support.to_owned(), listing: self.listing };
        self.tools.insert(name.to_owned(), described);
    }

    fn call(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let params = message.content();
        let Some(name) = params["name"].as_str() else { return };
        self.is_complete &= message.saw_all();
        let mut differs = None;
        if let Some(tool) = self.tools.get(name) {
            differs = tool.check_arguments(message, &mut self.descriptions, findings);
            if message.revision() == Some(Revision::V2025_11_25) {
                tool.check_support(message, name, findings);
            }
        }
        if let Some(id) = message.observed.envelope.id {
            let differs = differs.map(String::into_boxed_str);
            self.calls.insert(id.key().fingerprint(()), Call { tool: name.into(), differs });
        }
    }

    /// Returns the call that a response answers.
    fn take(&mut self, message: &Message<'_>, findings: &mut Findings) -> Option<Call> {
        // The client answers requests with ids of its own.
        message.observed.request.filter(|request| request.method == "tools/call")?;
        let call = self.calls.remove(&message.observed.envelope.id?.key().fingerprint(()));
        findings.give_up_if(call.is_none() && self.calls.has_forgotten(), OF_ANSWERS);
        call
    }

    fn refused(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let Some(call) = self.take(message, findings) else { return };
        let code = message.content()["code"].as_i64().unwrap_or_default();
        if self.needs_task(message, &call) {
            findings.check(&TASK_ACCEPTED, message.seq(), code == errors::METHOD_NOT_FOUND, || {
                format!("the call of {:?} was refused with error {code}", call.tool)
            });
        }
        findings.hold(&UNKNOWN);
    }

    /// Returns whether a call should have been a task.
    fn needs_task(&self, message: &Message<'_>, call: &Call) -> bool {
        let support = self.tools.get(&*call.tool).map(|tool| tool.support.as_str());
        let was_task = message.observed.request.is_some_and(|request| request.params.get("task").is_some());
        support == Some("required") && !was_task && makes_tasks(message)
    }

    fn result(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let Some(call) = self.take(message, findings) else { return };
        let (seq, content) = (message.seq(), message.content());
        if content.get("task").is_some() || content["resultType"] == "input_required" {
            return;
        }
        if self.needs_task(message, &call) {
            findings.note(
                &TASK_ACCEPTED,
                seq,
                format!("the server answered the call of {:?} with a result", call.tool),
            );
        }
        let Some(tool) = self.tools.get(&*call.tool).filter(|tool| tool.listing == self.listing) else {
            // Without any list, nothing says what the result must look like.
            let has_content = content.get("structuredContent").is_some() && content["isError"] != true;
            if self.listing == 0 && has_content && message.saw_all() {
                self.unchecked.get_or_insert((seq, 0)).1 += 1;
            }
            match self.is_complete {
                true => findings.note(&UNKNOWN, seq, format!("the server lists no tool {:?}", call.tool)),
                false => findings.give_up(&UNKNOWN),
            }
            return;
        };
        findings.hold(&UNKNOWN);
        if content["isError"] == true {
            return;
        }
        let differs = call.differs.as_deref();
        findings.check(&ACCEPTED, seq, differs.is_none(), || {
            format!("the server accepted the arguments of {:?}: {}", call.tool, differs.unwrap_or_default())
        });
        if message.is_since(Revision::V2025_06_18) {
            tool.check_structured(message, &mut self.descriptions, findings);
        }
    }
}

impl Tool {
    fn is_same(&self, tool: &Value) -> bool {
        self.input.source == tool["inputSchema"]
            && self.output.as_ref().map(|schema| &schema.source) == tool.get("outputSchema")
    }

    /// Returns how the arguments differ from the schema.
    fn check_arguments(
        &self,
        message: &Message<'_>,
        descriptions: &mut usize,
        findings: &mut Findings,
    ) -> Option<String> {
        let (seq, params) = (message.seq(), message.content());
        let empty = json!({});
        let arguments = params.get("arguments").unwrap_or(&empty);
        match self.input.judge_within(descriptions, arguments) {
            Verdict::Unknown => findings.give_up(&ARGUMENTS),
            Verdict::Conforms => findings.hold(&ARGUMENTS),
            Verdict::Differs(why) => {
                findings.note(&ARGUMENTS, seq, format!("the arguments of {}: {why}", params["name"]));
                return Some(why);
            }
        }
        None
    }

    fn check_support(&self, message: &Message<'_>, name: &str, findings: &mut Findings) {
        let is_task = message.content().get("task").is_some();
        // Without the capability, `capabilities` reports the task.
        let makes_tasks = makes_tasks(message);
        match self.support.as_str() {
            "required" if makes_tasks => findings
                .check(&TASK_REQUIRED, message.seq(), is_task, || format!("the client called {name:?} without a task")),
            "optional" | "required" => findings.hold(&TASK_FORBIDDEN),
            _ if makes_tasks => findings
                .check(&TASK_FORBIDDEN, message.seq(), !is_task, || format!("the client called {name:?} as a task")),
            _ => {}
        }
    }

    fn check_structured(&self, message: &Message<'_>, descriptions: &mut usize, findings: &mut Findings) {
        let (seq, result) = (message.seq(), message.content());
        let given = result.get("structuredContent");
        if let Some(output) = &self.output {
            findings
                .check(&STRUCTURED_MISSING, seq, given.is_some(), || "the result has no structuredContent".to_owned());
            match given.map(|given| output.judge_within(descriptions, given)) {
                Some(Verdict::Conforms) => findings.hold(&STRUCTURED),
                Some(Verdict::Differs(why)) => findings.note(&STRUCTURED, seq, why),
                Some(Verdict::Unknown) => findings.give_up(&STRUCTURED),
                None => {}
            }
        }
        if let Some(given) = given {
            let texts = result["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
            let has_text = texts.into_iter().any(|text| is_text_of(text, given) || is_text_of_only_member(text, given));
            findings.check(&STRUCTURED_TEXT, seq, has_text, || "no text contains the structuredContent".to_owned());
        }
    }
}

/// Whether a text says what the only member of an object says: official SDKs wrap results that are no objects.
fn is_text_of_only_member(text: &str, value: &Value) -> bool {
    let only = value.as_object().filter(|members| members.len() == 1).and_then(|members| members.values().next());
    only.is_some_and(|member| is_text_of(text, member))
}

/// Whether a text is the JSON of a value.
fn is_text_of(text: &str, value: &Value) -> bool {
    value.as_str() == Some(text) || parse::says(text, value)
}

fn makes_tasks(message: &Message<'_>) -> bool {
    is_declared(&message.observed.declared.server, &["tasks", "requests", "tools", "call"])
}

fn check_name(message: &Message<'_>, name: &str, findings: &mut Findings) {
    if message.is_since(Revision::V2025_11_25) {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        let fits = (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(allowed);
        findings.check(&NAME, message.seq(), fits, || format!("a tool has the name {name:?}"));
    }
}

/// Checks a schema of a tool that was not listed before in this form.
fn check_schema(message: &Message<'_>, schema: &ForeignSchema, (tool, member): (&str, &str), findings: &mut Findings) {
    match &schema.compiled {
        Compiled::Usable(_) => findings.hold(&SCHEMA),
        Compiled::Invalid(reason) => {
            findings.note(&SCHEMA, message.seq(), format!("the {member} of {tool:?}: {reason}"));
        }
        Compiled::Unknown => findings.give_up(&SCHEMA),
    }
}

fn check_annotations(message: &Message<'_>, name: &str, tool: &Value, findings: &mut Findings) {
    if message.is_modern() {
        let sound = http::check_annotations(&tool["inputSchema"]);
        findings.check(&ANNOTATION, message.seq(), sound.is_ok(), || {
            format!("the tool {name:?}: {}", sound.err().unwrap_or_default())
        });
    }
}

#[cfg(test)]
pub(in crate::validate) mod cases {
    /// A server with these tools, and what follows.
    macro_rules! tools {
        ($tools:literal, $rest:expr) => {
            concat!(
                r#"hello 2025-11-25 {} | {"tools":{"listChanged":true},"tasks":{"requests":{"tools":{"call":{}}}}}
                   c>s {"id":1,"method":"tools/list"}
                   s>c {"id":1,"result":{"tools":["#,
                $tools,
                "]}}\n",
                $rest
            )
        };
    }
    /// A tool that needs a number and returns one.
    macro_rules! adder {
        ($rest:expr) => {
            tools!(
                r#"{"name":"t","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]},
                    "outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}"#,
                $rest
            )
        };
    }

    pub(in crate::validate) const CASES: &[(&str, &str)] = &[
        ("tools/invalid-schema", tools!(r#"{"name":"t","inputSchema":{"type":"object","required":[7]}}"#, "")),
        (
            "tools/invalid-schema",
            tools!(
                r#"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object",
                    "minProperties":"x"}}"#,
                ""
            ),
        ),
        ("tools/name", tools!(r#"{"name":"two words","inputSchema":{"type":"object"}}"#, "")),
        (
            "tools/duplicate-name",
            tools!(r#"{"name":"t","inputSchema":{"type":"object"}},{"name":"t","inputSchema":{"type":"object"}}"#, ""),
        ),
        (
            "tools/header-annotation",
            r#"c>s {"id":1,"method":"tools/list","params":{"_meta":{
                "io.modelcontextprotocol/protocolVersion":"2026-07-28",
                "io.modelcontextprotocol/clientCapabilities":{}}}}
               s>c {"id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"t",
                "inputSchema":{"type":"object","properties":{"n":{"type":"number","x-mcp-header":"N"}}}}]}}"#,
        ),
        ("tools/arguments", adder!(r#"c>s {"id":2,"method":"tools/call","params":{"name":"t","arguments":{}}}"#)),
        (
            "tools/invalid-arguments-accepted",
            adder!(
                r#"c>s {"id":2,"method":"tools/call","params":{"name":"t","arguments":{"n":"x"}}}
                   s>c {"id":2,"result":{"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1}}}"#
            ),
        ),
        (
            "tools/structured-missing",
            adder!(
                r#"c>s {"id":2,"method":"tools/call","params":{"name":"t","arguments":{"n":1}}}
                   s>c {"id":2,"result":{"content":[]}}"#
            ),
        ),
        (
            "tools/structured-content",
            adder!(
                r#"c>s {"id":2,"method":"tools/call","params":{"name":"t","arguments":{"n":1}}}
                   s>c {"id":2,"result":{"content":[],"structuredContent":{"n":"x"}}}"#
            ),
        ),
        (
            "tools/structured-text",
            adder!(
                r#"c>s {"id":2,"method":"tools/call","params":{"name":"t","arguments":{"n":1}}}
                   s>c {"id":2,"result":{"content":[{"type":"text","text":"one"}],"structuredContent":{"n":1}}}"#
            ),
        ),
        (
            "tools/structured-text",
            adder!(
                r#"c>s {"id":2,"method":"tools/call","params":{"name":"t","arguments":{"n":1}}}
                   s>c {"id":2,"result":{"content":[{"type":"text","text":"1"}],"structuredContent":{"n":1,"m":2}}}"#
            ),
        ),
        (
            "tools/unknown-answered",
            adder!(
                r#"c>s {"id":2,"method":"tools/call","params":{"name":"u"}}
                   s>c {"id":2,"result":{"content":[],"isError":true}}"#
            ),
        ),
        ("tools/task-forbidden", adder!(r#"c>s {"id":2,"method":"tools/call","params":{"name":"t","task":{}}}"#)),
        (
            "tools/task-required",
            tools!(
                r#"{"name":"t","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}"#,
                r#"c>s {"id":2,"method":"tools/call","params":{"name":"t"}}
                   s>c {"id":2,"error":{"code":-32601,"message":"only as a task"}}"#
            ),
        ),
        (
            "tools/task-required-accepted",
            tools!(
                r#"{"name":"t","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}"#,
                r#"c>s {"id":2,"method":"tools/call","params":{"name":"t"}}
                   s>c {"id":2,"result":{"content":[]}}"#
            ),
        ),
    ];

    pub(in crate::validate) const QUIET: &[&str] = &[
        adder!(
            r#"c>s {"id":2,"method":"tools/call","params":{"name":"t","arguments":{"n":7.0}}}
               s>c {"id":2,"result":{"content":[{"type":"text","text":"{\"n\": 7}"}],"structuredContent":{"n":7}}}
               c>s {"id":3,"method":"tools/call","params":{"name":"t","arguments":{}}}
               s>c {"id":3,"result":{"content":[],"isError":true}}
               c>s {"id":4,"method":"tools/call","params":{"name":"u"}}
               s>c {"id":4,"error":{"code":-32602,"message":"no such tool"}}
               s>c {"method":"notifications/tools/list_changed"}
               c>s {"id":5,"method":"tools/call","params":{"name":"u"}}
               s>c {"id":5,"result":{"content":[]}}"#
        ),
        // Official SDKs wrap a result that is no object: the text is the value of the only member.
        adder!(
            r#"c>s {"id":2,"method":"tools/call","params":{"name":"t","arguments":{"n":1}}}
               s>c {"id":2,"result":{"content":[{"type":"text","text":"3"}],"structuredContent":{"n":3}}}"#
        ),
        tools!(
            r#"{"name":"a.b-c_D9","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}"#,
            r#"c>s {"id":2,"method":"tools/call","params":{"name":"a.b-c_D9","task":{}}}
               c>s {"id":3,"method":"tools/list"}
               s>c {"id":3,"result":{"tools":[{"name":"a.b-c_D9","inputSchema":{"type":"object"}}]}}"#
        ),
        r#"c>s {"id":1,"method":"tools/list","params":{"_meta":{
            "io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{}}}}
           s>c {"id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"t",
            "inputSchema":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}]}}"#,
    ];

    #[test]
    fn a_text_may_have_the_only_member_of_a_wrapped_result() {
        for (text, wrapped) in [("1", r#"{"result":1}"#), ("hi", r#"{"result":"hi"}"#), ("[]", r#"{"items":[]}"#)] {
            let found = crate::validate::tests::found(&format!(
                r#"hello 2025-11-25 {{}} | {{"tools":{{}}}}
                   c>s {{"id":1,"method":"tools/list"}}
                   s>c {{"id":1,"result":{{"tools":[{{"name":"u","inputSchema":{{"type":"object"}}}}]}}}}
                   c>s {{"id":2,"method":"tools/call","params":{{"name":"u"}}}}
                   s>c {{"id":2,"result":{{"content":[{{"type":"text","text":"{text}"}}],"structuredContent":{wrapped}}}}}"#
            ));
            assert!(!found.contains("tools/structured-text"), "{text}: {found:?}");
        }
    }

    /// A tool of a page that is not in the reel is not unknown.
    #[test]
    fn a_tool_is_unknown_only_after_a_complete_list() {
        for first in ["gap\n", ""] {
            let next = if first.is_empty() { r#","nextCursor":"a""# } else { "" };
            let found = crate::validate::tests::found(&format!(
                r#"hello 2025-11-25 {{}} | {{"tools":{{}}}}
                   {first}c>s {{"id":1,"method":"tools/list"}}
                   s>c {{"id":1,"result":{{"tools":[]{next}}}}}
                   c>s {{"id":2,"method":"tools/call","params":{{"name":"u"}}}}
                   s>c {{"id":2,"result":{{"content":[]}}}}"#
            ));
            assert!(!found.contains("tools/unknown-answered"), "{first:?}: {found:?}");
        }
    }
}
