//! What revision 2026-07-28 says about every message: types of results, error codes, and members of `_meta`.

use crate::proposals::findings::rules;
use crate::proposals::{Findings, Rule};
use crate::protocol::revision::meta;
use crate::protocol::{Era, Revision, errors};
use crate::validate::subject::{Message, Subject, SubjectEntry};
use crate::wire::MessageKind;
use serde_json::Value;

rules! {
    RESULT_TYPE = Error "era/unknown-result-type",
        "The server must give a result the `resultType` `complete` or `input_required`, or one of an extension that both sides declared.",
        "MCP 2026-07-28, Overview, ResultType",
        fix "Write `complete` or `input_required`.";
    RETIRED_CODE = Error "era/retired-code",
        "In revision 2026-07-28, the server must not send the errors -32002 and -32042, which earlier revisions defined.",
        "MCP 2026-07-28, Overview, Error Codes",
        fix "For an unknown resource, send error -32602.";
    UNDEFINED_CODE = Error "era/undefined-code",
        "In revision 2026-07-28, the server must not send an error with a code from -32099 to -32020 unless MCP defines the code.",
        "MCP 2026-07-28, Overview, Error Codes",
        fix "Use a code outside of the range from -32768 to -32000.";
    VERSION_DATA = Error "era/version-error-data",
        "A server that sends error -32022 must list in `data.supported` the revisions that it supports, and repeat in `data.requested` the one that the client requested.",
        "MCP 2026-07-28, Schema, UnsupportedProtocolVersionError",
        fix "Add `{\"supported\": [\"2026-07-28\"], \"requested\": \"…\"}` as the error's `data`.";
    CAPABILITY_DATA = Error "era/capability-error-data",
        "A server that sends error -32021 must name in `data.requiredCapabilities` the capabilities that the request needs.",
        "MCP 2026-07-28, Overview, Per-request protocol fields",
        fix "Add `{\"requiredCapabilities\": {…}}` as the error's `data`.";
    CLIENT_RESPONSE = Error "era/client-response",
        "In revision 2026-07-28, the client must send no responses.",
        "MCP 2026-07-28, stdio, and Streamable HTTP, Sending Messages",
        fix "Send the inputs in `inputResponses` of a new request.";
    INCOMPLETE = Error "era/incomplete-request",
        "In revision 2026-07-28, the server must refuse a request whose `_meta` lacks the revision or the client's capabilities with error -32602.",
        "MCP 2026-07-28, Overview, Per-request protocol fields",
        fix "Read `_meta` before you handle a request, and answer -32602 if a member is missing.";
    CLIENT_INFO = Info "era/client-info",
        "In revision 2026-07-28, the client names itself in `_meta` of each request. Reported once per session.",
        "MCP 2026-07-28, Overview, Per-request protocol fields",
        fix "Add `io.modelcontextprotocol/clientInfo` to `_meta` of each request.";
    SERVER_INFO = Info "era/server-info",
        "In revision 2026-07-28, the server names itself in `_meta` of each result. Reported once per session.",
        "MCP 2026-07-28, Overview, Per-response protocol fields",
        fix "Add `io.modelcontextprotocol/serverInfo` to `_meta` of each result.";
    DEPRECATED = Info "era/deprecated",
        "In revision 2026-07-28, client and server do not use roots, sampling or logging, which are deprecated. Reported once per session.",
        "MCP 2026-07-28, Deprecated Features",
        fix "Use tool arguments instead of roots, your own model instead of sampling, stderr instead of logging.";
}

pub(in crate::validate) const ENTRY: SubjectEntry = SubjectEntry {
    rules: RULES,
    revisions: (Revision::V2026_07_28, Revision::V2026_07_28),
    begin: || Box::<Stateless>::default(),
};

/// What was reported already.
#[derive(Debug, Default)]
struct Stateless {
    nameless_client: bool,
    nameless_server: bool,
    deprecated: bool,
}

impl Subject for Stateless {
    fn observe(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let kind = message.observed.envelope.kind;
        if message.is_clients() && kind.is_response() && message.before.era == Some(Era::Modern) {
            return findings.note(&CLIENT_RESPONSE, message.seq(), "the client sent a response");
        }
        if !message.is_modern() {
            return;
        }
        match kind {
            MessageKind::Request if message.is_clients() => self.request(message, findings),
            MessageKind::Notification => {
                self.check_deprecated(message, message.method() == "notifications/message", findings);
            }
            MessageKind::Result => self.result(message, findings),
            MessageKind::Error => check_error(message, findings),
            _ => {}
        }
    }
}

impl Stateless {
    fn request(&mut self, message: &Message<'_>, findings: &mut Findings) {
        findings.hold(&CLIENT_RESPONSE);
        let meta = &message.content()["_meta"];
        check_once(&mut self.nameless_client, &CLIENT_INFO, message, meta.get(meta::CLIENT_INFO).is_some(), findings);
        self.check_deprecated(message, meta.get(meta::LOG_LEVEL).is_some(), findings);
    }

    fn result(&mut self, message: &Message<'_>, findings: &mut Findings) {
        if message.observed.request.is_none() {
            return;
        }
        let content = message.content();
        check_result_type(message, findings);
        check_incomplete(message, findings);
        let named = content["_meta"].get(meta::SERVER_INFO).is_some();
        check_once(&mut self.nameless_server, &SERVER_INFO, message, named, findings);
        let mut asked = content["inputRequests"].as_object().into_iter().flatten().map(|(_, request)| request);
        let outdated =
            asked.any(|request| matches!(request["method"].as_str(), Some("roots/list" | "sampling/createMessage")));
        self.check_deprecated(message, outdated, findings);
    }

    fn check_deprecated(&mut self, message: &Message<'_>, uses: bool, findings: &mut Findings) {
        check_once(&mut self.deprecated, &DEPRECATED, message, !uses, findings);
    }
}

/// Checks a rule that is reported once in a session.
fn check_once(reported: &mut bool, rule: &'static Rule, message: &Message<'_>, holds: bool, findings: &mut Findings) {
    if holds {
        findings.hold(rule);
    } else if !std::mem::replace(reported, true) {
        let what = message.observed.method.unwrap_or_default();
        findings.note(rule, message.seq(), format!("the {} sent {what} (reported once)", message.sender()));
    }
}

fn check_result_type(message: &Message<'_>, findings: &mut Findings) {
    let Some(given) = message.content().get("resultType") else { return };
    let known = matches!(given.as_str(), Some("complete" | "input_required"));
    let extends =
        |capabilities: &Value| capabilities["extensions"].as_object().is_some_and(|extensions| !extensions.is_empty());
    let declared = message.observed.declared;
    let may_extend = extends(&declared.client) && extends(&declared.server);
    match given.as_str() {
        // Nobody but the extension knows its types.
        Some(text) if !known && may_extend && !text.is_empty() => findings.give_up(&RESULT_TYPE),
        _ => findings.check(&RESULT_TYPE, message.seq(), known, || format!("resultType is {given}")),
    }
}

fn check_incomplete(message: &Message<'_>, findings: &mut Findings) {
    let Some(request) = message.observed.request else { return };
    let meta = &request.params["_meta"];
    let missing: Vec<_> = [meta::PROTOCOL_VERSION, meta::CLIENT_CAPABILITIES]
        .into_iter()
        .filter(|name| meta.get(name).is_none())
        .collect();
    findings.check(&INCOMPLETE, message.seq(), missing.is_empty(), || {
        format!("the server accepted {} without {}", request.method, missing.join(" and "))
    });
}

fn check_error(message: &Message<'_>, findings: &mut Findings) {
    let Some(code) = message.content()["code"].as_i64() else { return };
    let seq = message.seq();
    findings.check(&RETIRED_CODE, seq, !matches!(code, -32002 | -32042), || format!("the server sent error {code}"));
    let defined = matches!(
        code,
        errors::HEADER_MISMATCH | errors::MISSING_CLIENT_CAPABILITY | errors::UNSUPPORTED_VERSION | -32042
    );
    let in_range = (-32099..=-32020).contains(&code);
    findings.check(&UNDEFINED_CODE, seq, !in_range || defined, || format!("the server sent error {code}"));
    let data = &message.content()["data"];
    match code {
        errors::UNSUPPORTED_VERSION => check_version_data(message, data, findings),
        errors::MISSING_CLIENT_CAPABILITY => {
            let names = data["requiredCapabilities"].as_object().is_some_and(|names| !names.is_empty());
            findings.check(&CAPABILITY_DATA, seq, names, || format!("the data of the error is {data}"));
        }
        _ => {}
    }
}

fn check_version_data(message: &Message<'_>, data: &Value, findings: &mut Findings) {
    let supported = data["supported"].as_array().filter(|all| !all.is_empty() && all.iter().all(Value::is_string));
    let requested = data["requested"].as_str();
    let asked = message.observed.request.and_then(|request| request.params["_meta"][meta::PROTOCOL_VERSION].as_str());
    let same = asked.is_none() || requested == asked;
    let differs = supported.is_some_and(|all| !all.iter().any(|version| version.as_str() == requested));
    findings.check(&VERSION_DATA, message.seq(), same && differs && requested.is_some(), || {
        format!("the data of the error is {data}, for a request of revision {}", asked.unwrap_or("(unknown)"))
    });
}

#[cfg(test)]
pub(in crate::validate) mod cases {
    /// A request of the modern era with this id, method and other params.
    macro_rules! ask {
        ($id:literal, $method:literal, $params:literal) => {
            concat!(
                r#"c>s {"id":"#,
                $id,
                r#","method":""#,
                $method,
                r#"","params":{"#,
                $params,
                r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
                "io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},
                "io.modelcontextprotocol/clientCapabilities":{}}}}"#,
                "\n"
            )
        };
    }

    pub(in crate::validate) const CASES: &[(&str, &str)] = &[
        (
            "era/unknown-result-type",
            concat!(
                ask!(1, "tools/list", ""),
                r#"s>c {"id":1,"result":{"tools":[],"resultType":"partial","ttlMs":0,"cacheScope":"private"}}"#
            ),
        ),
        (
            "era/unknown-result-type",
            concat!(
                ask!(1, "tools/list", ""),
                r#"s>c {"id":1,"result":{"tools":[],"resultType":"","ttlMs":0,"cacheScope":"private"}}"#
            ),
        ),
        (
            "era/retired-code",
            concat!(
                ask!(1, "resources/read", r#""uri":"a://b","#),
                r#"s>c {"id":1,"error":{"code":-32002,"message":"not found"}}"#
            ),
        ),
        (
            "era/undefined-code",
            concat!(ask!(1, "tools/list", ""), r#"s>c {"id":1,"error":{"code":-32050,"message":"?"}}"#),
        ),
        (
            "era/version-error-data",
            concat!(ask!(1, "tools/list", ""), r#"s>c {"id":1,"error":{"code":-32022,"message":"?"}}"#),
        ),
        (
            "era/version-error-data",
            concat!(
                ask!(1, "tools/list", ""),
                r#"s>c {"id":1,"error":{"code":-32022,"message":"?","data":{"supported":["2026-07-28"],
                    "requested":"2026-07-28"}}}"#
            ),
        ),
        (
            "era/capability-error-data",
            concat!(ask!(1, "tools/list", ""), r#"s>c {"id":1,"error":{"code":-32021,"message":"?","data":{}}}"#),
        ),
        ("era/client-response", concat!(ask!(1, "tools/list", ""), r#"c>s {"id":9,"result":{}}"#)),
        (
            "era/incomplete-request",
            r#"c>s {"id":1,"method":"tools/list","params":{"_meta":{
                "io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
               s>c {"id":1,"result":{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}}"#,
        ),
        (
            "era/client-info",
            r#"c>s {"id":1,"method":"tools/list","params":{"_meta":{
                "io.modelcontextprotocol/protocolVersion":"2026-07-28",
                "io.modelcontextprotocol/clientCapabilities":{}}}}"#,
        ),
        (
            "era/server-info",
            concat!(
                ask!(1, "tools/list", ""),
                r#"s>c {"id":1,"result":{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}}"#
            ),
        ),
        (
            "era/deprecated",
            concat!(
                ask!(1, "tools/list", ""),
                r#"s>c {"method":"notifications/message","params":{"level":"info","data":"x"}}"#
            ),
        ),
    ];

    pub(in crate::validate) const QUIET: &[&str] = &[concat!(
        ask!(1, "tools/list", ""),
        r#"s>c {"id":1,"result":{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{
                "io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}"#,
        "\n",
        ask!(2, "tools/list", ""),
        r#"s>c {"id":2,"error":{"code":-32022,"message":"?","data":{"supported":["2027-01-01"],
                "requested":"2026-07-28"}}}"#,
        "\n",
        ask!(3, "tools/list", ""),
        r#"s>c {"id":3,"error":{"code":-32021,"message":"?","data":{"requiredCapabilities":{"sampling":{}}}}}"#
    )];

    /// The types of an extension are its own.
    #[test]
    fn an_extension_may_have_result_types() {
        let run = |client: &str, server: &str| {
            crate::validate::tests::found(&format!(
                r#"c>s {{"id":1,"method":"server/discover","params":{{"_meta":{{
                    "io.modelcontextprotocol/protocolVersion":"2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities":{client}}}}}}}
                   s>c {{"id":1,"result":{{"supportedVersions":["2026-07-28"],"capabilities":{server},
                    "resultType":"complete","ttlMs":0,"cacheScope":"private"}}}}
                   c>s {{"id":2,"method":"tools/list","params":{{"_meta":{{
                    "io.modelcontextprotocol/protocolVersion":"2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities":{client}}}}}}}
                   s>c {{"id":2,"result":{{"tools":[],"resultType":"task","ttlMs":0,"cacheScope":"private"}}}}"#
            ))
            .contains("era/unknown-result-type")
        };
        let extended = r#"{"tools":{},"extensions":{"a.b/c":{}}}"#;
        assert!(!run(extended, extended) && run(extended, r#"{"tools":{}}"#) && run("{}", extended));
    }
}
