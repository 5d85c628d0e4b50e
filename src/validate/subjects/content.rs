//! Parts of messages that have the same form everywhere: keys of `_meta`, icons, URIs, binary data and completions.

use crate::proposals::Findings;
use crate::proposals::findings::rules;
use crate::protocol::Revision;
use crate::validate::subject::{Message, Subject, SubjectEntry};
use crate::wire::MessageKind;
use serde_json::Value;

rules! {
    META_KEY = Error "meta/key-format",
        "Client and server must write a key of `_meta` as a name of letters, digits, hyphens, underscores and dots, with or without a prefix such as `com.example/`.",
        "MCP 2025-11-25, Overview, _meta",
        fix "Begin and end the name with a letter or digit, and write a prefix like com.example/.";
    META_RESERVED = Error "meta/reserved-prefix",
        "Client and server must not use a prefix that MCP reserves for itself, such as `dev.mcp/`, in a key of `_meta`.",
        "MCP 2025-11-25, Overview, _meta",
        fix "Use a prefix with a domain of your own, such as `com.example/`.";
    TRACE_CONTEXT = Error "meta/trace-context",
        "In revision 2026-07-28, client and server must write `traceparent` in `_meta` in the format of W3C Trace Context.",
        "MCP 2026-07-28, Overview, OpenTelemetry trace context",
        fix "Let the tracing library write the value, as in `00-TRACE_ID-SPAN_ID-01`.";
    ICON = Error "icons/scheme",
        "Client and server must give as `src` of an icon an HTTPS or HTTP URL or a `data:` URI.",
        "MCP 2025-11-25, Overview, icons",
        fix "Serve the icon over HTTPS, or write it as a `data:` URI.";
    INSECURE_ICON = Warning "icons/insecure",
        "Client and server give as `src` of an icon no plain `http://` URL.",
        "MCP 2025-11-25, Overview, icons",
        fix "Serve the icon over HTTPS, or write it as a `data:` URI.";
    ROOT = Error "roots/uri",
        "In its result of `roots/list`, the client must give each root a URI that begins with `file://`.",
        "MCP 2025-11-25, Roots, Data Types",
        fix "Write the path as an absolute `file:///` URI.";
    COMPLETIONS = Error "completion/too-many",
        "In its result of `completion/complete`, the server must return at most 100 values.",
        "MCP 2025-11-25, Completion, Completion Results",
        fix "Return the best 100 values, and `hasMore: true`.";
    RESOURCE_URI = Error "resources/uri",
        "The server must give each resource in the results of `resources/list` and `resources/read` a URI, which begins with a scheme such as `file:` and has no spaces.",
        "MCP 2025-11-25, Resources, Resource",
        fix "Put a scheme of your own before a plain name, as in notes:shopping, and write a space as %20.";
    PROMPT_RESOURCE = Error "content/prompt-resource",
        "In its result of `prompts/get`, the server must give each embedded resource a `mimeType`.",
        "MCP 2025-11-25, Prompts, Embedded Resources",
        fix "Add the `mimeType` of the resource, such as `text/plain`.";
    BASE64 = Error "content/base64",
        "Client and server must encode binary data as Base64: the `blob` of a resource, and the `data` of an image or of audio.",
        "MCP 2025-11-25, Resources, Security Considerations; Prompts, Image Content",
        fix "Use the standard alphabet with padding (RFC 4648, section 4), without a prefix such as data:image/png;base64.";
}

pub(in crate::validate) const ENTRY: SubjectEntry = SubjectEntry {
    rules: RULES,
    revisions: (Revision::V2024_11_05, Revision::V2026_07_28),
    begin: || Box::new(Content),
};

/// The maximum number of values of a completion.
const MAX_COMPLETIONS: usize = 100;
/// Members of results that are lists of things with `_meta` and icons.
const LISTED: [&str; 6] = ["tools", "resources", "resourceTemplates", "prompts", "contents", "content"];

/// These checks remember nothing.
struct Content;

impl Subject for Content {
    fn observe(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let (seq, content) = (message.seq(), message.content());
        check_meta(message, content, findings);
        match message.observed.envelope.kind {
            MessageKind::Request if message.method() == "initialize" => {
                check_icons(seq, &content["clientInfo"], findings);
            }
            MessageKind::Request if message.method() == "sampling/createMessage" => {
                check_binary(seq, content, findings)
            }
            MessageKind::Result => check_result(message, findings),
            _ => {}
        }
    }
}

fn check_result(message: &Message<'_>, findings: &mut Findings) {
    let (seq, content) = (message.seq(), message.content());
    match message.result_of() {
        "initialize" => check_icons(seq, &content["serverInfo"], findings),
        "roots/list" => check_roots(seq, content, findings),
        "completion/complete" => check_completion(seq, content, findings),
        "resources/list" => check_uris(seq, &content["resources"], findings),
        "resources/read" => {
            check_uris(seq, &content["contents"], findings);
            check_binary(seq, content, findings);
        }
        "prompts/get" => {
            check_embedded(seq, content, findings);
            check_binary(seq, content, findings);
        }
        "tools/call" | "sampling/createMessage" => check_binary(seq, content, findings),
        _ => {}
    }
    for item in LISTED.iter().filter_map(|name| content.get(name)?.as_array()).flatten() {
        check_meta(message, item, findings);
        check_icons(seq, item, findings);
    }
}

fn check_roots(seq: u64, content: &Value, findings: &mut Findings) {
    for uri in content["roots"].as_array().into_iter().flatten().filter_map(|root| root["uri"].as_str()) {
        findings.check(&ROOT, seq, uri.starts_with("file://"), || format!("the URI of a root is {uri:?}"));
    }
}

fn check_uris(seq: u64, resources: &Value, findings: &mut Findings) {
    for uri in resources.as_array().into_iter().flatten().filter_map(|resource| resource["uri"].as_str()) {
        let shown = crate::proposals::clip(uri, 60);
        findings.check(&RESOURCE_URI, seq, is_uri(uri), || format!("the URI of a resource is {shown:?}"));
    }
}

/// Whether a text begins with a scheme and has no spaces (RFC 3986, section 3).
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(is_scheme)
        && !rest.contains(|found: char| found.is_whitespace() || found.is_control())
}

/// Checks the resources in the messages of a prompt.
fn check_embedded(seq: u64, content: &Value, findings: &mut Findings) {
    let blocks = content["messages"].as_array().into_iter().flatten().map(|message| &message["content"]);
    for resource in blocks.filter(|block| block["type"] == "resource").map(|block| &block["resource"]) {
        findings.check(&PROMPT_RESOURCE, seq, resource["mimeType"].is_string(), || {
            format!("the resource {} has no mimeType", resource["uri"])
        });
    }
}

/// Checks the blocks in `content`, `contents` and `messages`.
fn check_binary(seq: u64, holder: &Value, findings: &mut Findings) {
    let messages = holder["messages"].as_array().into_iter().flatten().map(|message| &message["content"]);
    for content in messages.chain([&holder["content"], &holder["contents"]]) {
        let (blocks, alone) = match content {
            Value::Array(blocks) => (&blocks[..], None),
            block => (&[][..], Some(block)),
        };
        blocks.iter().chain(alone).for_each(|block| check_block(seq, block, findings));
    }
}

fn check_block(seq: u64, block: &Value, findings: &mut Findings) {
    let data = matches!(block["type"].as_str(), Some("image" | "audio")).then(|| &block["data"]);
    let blobs = [Some(&block["blob"]), Some(&block["resource"]["blob"]), data];
    for text in blobs.into_iter().flatten().filter_map(Value::as_str) {
        let shown = crate::proposals::clip(text, 40);
        findings.check(&BASE64, seq, is_base64(text), || format!("the data {shown:?} is not Base64"));
    }
}

/// Whether a text is Base64 with padding (RFC 4648, section 4). Line breaks are accepted, as in MIME.
fn is_base64(text: &str) -> bool {
    let (mut digits, mut padding) = (0_usize, 0_usize);
    for byte in text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')) {
        match byte {
            b'=' => padding += 1,
            _ if padding > 0 => return false,
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => digits += 1,
            _ => return false,
        }
    }
    padding <= 2 && (digits + padding).is_multiple_of(4)
}

fn check_completion(seq: u64, content: &Value, findings: &mut Findings) {
    let count = content["completion"]["values"].as_array().map_or(0, Vec::len);
    findings.check(&COMPLETIONS, seq, count <= MAX_COMPLETIONS, || format!("the completion has {count} values"));
}

fn check_icons(seq: u64, holder: &Value, findings: &mut Findings) {
    for source in
        holder.get("icons").and_then(Value::as_array).into_iter().flatten().filter_map(|icon| icon["src"].as_str())
    {
        let scheme = source.split(':').next().unwrap_or_default().to_ascii_lowercase();
        let is_known = matches!(scheme.as_str(), "https" | "http" | "data");
        let shown = crate::proposals::clip(source, 60);
        findings.check(&ICON, seq, is_known, || format!("the source of an icon is {shown:?}"));
        findings.check(&INSECURE_ICON, seq, scheme != "http", || format!("the source of an icon is {shown:?}"));
    }
}

/// Returns whether the name of an extension is that of a key of `_meta`, with a prefix.
pub(super) fn is_extension_name(key: &str) -> bool {
    key.rsplit_once('/').is_some_and(|(prefix, name)| prefix.split('.').all(is_label) && is_name(name))
}

fn check_meta(message: &Message<'_>, holder: &Value, findings: &mut Findings) {
    let Some(meta) = holder.get("_meta").and_then(Value::as_object) else { return };
    if !message.is_since(Revision::V2025_06_18) {
        return;
    }
    let seq = message.seq();
    for key in meta.keys() {
        let (prefix, name) = key.rsplit_once('/').map_or((None, key.as_str()), |(prefix, name)| (Some(prefix), name));
        let fits = prefix.is_none_or(|prefix| prefix.split('.').all(is_label)) && is_name(name);
        findings.check(&META_KEY, seq, fits, || format!("_meta has the key {key:?}"));
        // Official extensions define keys of their own with the first prefix.
        let is_ours = prefix.is_none_or(|prefix| prefix == "io.modelcontextprotocol" || !is_reserved(prefix, message));
        findings.check(&META_RESERVED, seq, is_ours, || format!("_meta has the key {key:?}"));
    }
    if let Some(parent) = meta.get("traceparent").filter(|_| message.is_modern()) {
        let fits = parent.as_str().is_some_and(is_trace_parent);
        findings.check(&TRACE_CONTEXT, seq, fits, || format!("traceparent is {parent}"));
    }
}

/// A label begins with a letter and ends with a letter or digit.
fn is_label(label: &str) -> bool {
    let inner = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    inner
        && label.starts_with(|it: char| it.is_ascii_alphabetic())
        && label.ends_with(|it: char| it.is_ascii_alphanumeric())
}

/// A name begins and ends with a letter or digit, unless it is empty.
fn is_name(name: &str) -> bool {
    let ends = [name.chars().next(), name.chars().next_back()];
    ends.iter().flatten().all(char::is_ascii_alphanumeric)
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// Returns whether MCP reserves a prefix: up to 2025-06-18 by its last label but one, later by its second label.
fn is_reserved(prefix: &str, message: &Message<'_>) -> bool {
    let labels: Vec<&str> = prefix.split('.').collect();
    let label = match message.is_since(Revision::V2025_11_25) {
        true => labels.get(1),
        false => labels.len().checked_sub(2).and_then(|at| labels.get(at)),
    };
    matches!(label, Some(&"modelcontextprotocol" | &"mcp"))
}

/// Version, trace id, parent id and flags, in lower-case hexadecimal digits (W3C Trace Context).
fn is_trace_parent(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let is_hex = |part: &&str| part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let lengths = parts.iter().map(|part| part.len()).take(4).eq([2, 32, 16, 2]);
    let nonzero = |at: usize| parts.get(at).is_some_and(|part| part.bytes().any(|byte| byte != b'0'));
    lengths && parts.iter().take(4).all(is_hex) && nonzero(1) && nonzero(2) && parts.first() != Some(&"ff")
}

#[cfg(test)]
pub(in crate::validate) mod cases {
    use super::*;

    pub(in crate::validate) const CASES: &[(&str, &str)] = &[
        (
            "content/prompt-resource",
            r#"hello 2025-11-25 {} | {"prompts":{}}
               c>s {"id":1,"method":"prompts/get","params":{"name":"p"}}
               s>c {"id":1,"result":{"messages":[{"role":"user","content":{"type":"resource",
                   "resource":{"uri":"a:b","text":"x"}}}]}}"#,
        ),
        (
            "meta/key-format",
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list","params":{"_meta":{"-odd":1}}}"#,
        ),
        (
            "meta/key-format",
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list"}
               s>c {"id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"_meta":{"1a.b/c":1}}]}}"#,
        ),
        (
            "meta/reserved-prefix",
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list","params":{"_meta":{"dev.mcp/x":1}}}"#,
        ),
        (
            "meta/trace-context",
            r#"c>s {"id":1,"method":"tools/list","params":{"_meta":{"traceparent":"00-0-0-00",
                "io.modelcontextprotocol/protocolVersion":"2026-07-28",
                "io.modelcontextprotocol/clientCapabilities":{}}}}"#,
        ),
        (
            "icons/scheme",
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list"}
               s>c {"id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},
                   "icons":[{"src":"javascript:alert(1)"}]}]}}"#,
        ),
        (
            "icons/insecure",
            r#"hello 2025-11-25 {} | {"prompts":{}}
               c>s {"id":1,"method":"prompts/list"}
               s>c {"id":1,"result":{"prompts":[{"name":"t","icons":[{"src":"http://h/i.png"}]}]}}"#,
        ),
        (
            "roots/uri",
            r#"hello 2025-11-25 {"roots":{}} | {}
               s>c {"id":1,"method":"roots/list"}
               c>s {"id":1,"result":{"roots":[{"uri":"https://h/"}]}}"#,
        ),
        (
            "resources/uri",
            r#"hello 2025-11-25 {} | {"resources":{}}
               c>s {"id":1,"method":"resources/list"}
               s>c {"id":1,"result":{"resources":[{"name":"n","uri":"shopping list"}]}}"#,
        ),
        (
            "content/base64",
            r#"hello 2025-11-25 {} | {"resources":{}}
               c>s {"id":1,"method":"resources/read","params":{"uri":"a:b"}}
               s>c {"id":1,"result":{"contents":[{"uri":"a:b","blob":"not base64"}]}}"#,
        ),
        (
            "content/base64",
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/call","params":{"name":"t"}}
               s>c {"id":1,"result":{"content":[{"type":"image","mimeType":"image/png",
                   "data":"data:image/png;base64,AAAA"}]}}"#,
        ),
        (
            "completion/too-many",
            r#"hello 2025-11-25 {} | {"completions":{},"prompts":{}}
               c>s {"id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},
                   "argument":{"name":"a","value":""}}}
               s>c {"id":1,"result":{"completion":{"values":["","","","","","","","","","","","","","","","","","","","",
                   "","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","",
                   "","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","",
                   "","","","","","","","","","","","","","",""]}}}"#,
        ),
    ];

    pub(in crate::validate) const QUIET: &[&str] = &[
        r#"hello 2025-11-25 {} | {"prompts":{},"tools":{}}
           c>s {"id":1,"method":"prompts/get","params":{"name":"p"}}
           s>c {"id":1,"result":{"messages":[{"role":"user","content":{"type":"text","text":"x"}},
               {"role":"user","content":{"type":"resource","resource":{"uri":"a:b","mimeType":"text/plain","text":"x"}}}]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"t"}}
           s>c {"id":2,"result":{"content":[{"type":"resource","resource":{"uri":"a:b","text":"x"}}]}}"#,
        r#"hello 2025-11-25 {"roots":{}} | {"tools":{},"completions":{},"prompts":{}}
           c>s {"id":1,"method":"tools/list","params":{"_meta":{"com.example.mcp/a_b.c-d":1,"com.example/":1,"e":1,
               "progressToken":7}}}
           s>c {"id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},
               "icons":[{"src":"https://h/i.png"},{"src":"data:image/png;base64,AAAA"}]}]}}
           s>c {"id":1,"method":"roots/list"}
           c>s {"id":1,"result":{"roots":[{"uri":"file:///home"}]}}
           c>s {"id":2,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},
               "argument":{"name":"a","value":""}}}
           s>c {"id":2,"result":{"completion":{"values":["a"]}}}"#,
        r#"hello 2025-11-25 {} | {"prompts":{},"resources":{},"tools":{}}
           c>s {"id":1,"method":"resources/list"}
           s>c {"id":1,"result":{"resources":[{"name":"n","uri":"notes:shopping%20list"}]}}
           c>s {"id":2,"method":"resources/read","params":{"uri":"a:b"}}
           s>c {"id":2,"result":{"contents":[{"uri":"a:b","blob":"AAA="}]}}
           c>s {"id":3,"method":"prompts/get","params":{"name":"p"}}
           s>c {"id":3,"result":{"messages":[{"role":"user","content":{"type":"image","mimeType":"image/png",
               "data":"AAAA"}}]}}
           c>s {"id":4,"method":"tools/call","params":{"name":"t"}}
           s>c {"id":4,"result":{"content":[{"type":"resource","resource":{"uri":"a:b","blob":""}}]}}"#,
        r#"c>s {"id":1,"method":"tools/list","params":{"_meta":{
            "traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
            "io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    ];

    #[test]
    fn uris_have_a_scheme_and_data_is_padded() {
        for good in ["file:///a", "a:", "x-1+.y:b?c#d", "notes:ä"] {
            assert!(is_uri(good), "{good}");
        }
        for bad in ["", "a", ":a", "1a:b", "a b:c", "a:b c", "a:b\n", "ä:b"] {
            assert!(!is_uri(bad), "{bad}");
        }
        for good in ["", "AAAA", "AA==", "AAA=", "AAAA\r\n+/09\n"] {
            assert!(is_base64(good), "{good}");
        }
        for bad in ["A", "AA=", "AAA", "A===", "AA=A", "AA-_", "AAA ", "ä==="] {
            assert!(!is_base64(bad), "{bad}");
        }
    }

    #[test]
    fn names_and_labels_of_keys() {
        for good in ["", "a", "a-b", "a.b_c", "1a"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["-a", "a_", "a b", "ä", "."] {
            assert!(!is_name(bad), "{bad}");
        }
        assert!(is_label("a-1") && !is_label("1a") && !is_label("a-") && !is_label("") && !is_label("a_b"));
    }

    #[test]
    fn a_trace_parent_is_neither_zero_nor_of_another_length() {
        assert!(!is_trace_parent("00-00000000000000000000000000000000-00f067aa0ba902b7-01"));
        assert!(!is_trace_parent("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"));
        assert!(!is_trace_parent("00-0AF7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"));
        assert!(!is_trace_parent("ff-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"));
    }
}
