//! The result of a tool call as text for the model: its text, its resources and its structured content.
//!
//! It must never judge whether the tool failed.

use crate::wire::json;
use serde_json::Value;

/// The text of a result: one part per block of `content` that a model can read, then `structuredContent`, unless the
/// blocks repeat it. Parts are separated by line feeds. It is empty if there is nothing to read.
pub(crate) fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().map_or(&[][..], Vec::as_slice);
    let structured = &result["structuredContent"];
    let structured = (!structured.is_null() && !repeats(blocks, structured)).then(|| structured.to_string());
    blocks.iter().filter_map(block).chain(structured).collect::<Vec<_>>().join("\n")
}

/// Returns whether a block is this structured content as JSON, or the blocks are its only member: a server that wraps
/// results sends `{"result": "text"}` beside the text.
fn repeats(blocks: &[Value], structured: &Value) -> bool {
    let shows = |block: &Value, value: &Value| {
        let text = block["text"].as_str().unwrap_or_default();
        value.as_str() == Some(text) || json::parsed(text.as_bytes()).is_some_and(|parsed| parsed == *value)
    };
    let only = structured.as_object().filter(|members| members.len() == 1).and_then(|members| members.values().next());
    let is_list = |list: &Vec<Value>| {
        !list.is_empty() && list.len() == blocks.len() && blocks.iter().zip(list).all(|(b, v)| shows(b, v))
    };
    blocks.iter().any(|block| shows(block, structured) || only.is_some_and(|value| shows(block, value)))
        || only.and_then(Value::as_array).is_some_and(is_list)
}

fn block(block: &Value) -> Option<String> {
    match block["type"].as_str()? {
        "text" => block["text"].as_str().filter(|text| !text.is_empty()).map(str::to_owned),
        "resource" => Some(resource(&block["resource"])),
        "resource_link" => Some(link(block)),
        _ => None,
    }
}

fn resource(resource: &Value) -> String {
    let uri = resource["uri"].as_str().unwrap_or("without a URI");
    match (resource["text"].as_str(), resource["blob"].as_str()) {
        (Some(text), _) => format!("[resource {uri}]\n{text}"),
        (None, Some(blob)) => {
            let kind = resource["mimeType"].as_str().unwrap_or("binary data");
            format!("[resource {uri}: {kind}, {} B in base64, not shown]", blob.len())
        }
        (None, None) => format!("[resource {uri}]"),
    }
}

fn link(block: &Value) -> String {
    let uri = block["uri"].as_str().unwrap_or("without a URI");
    let about = ["title", "name", "description"].iter().filter_map(|name| block[*name].as_str());
    let about = about.collect::<Vec<_>>().join(", ");
    if about.is_empty() { format!("[link to resource {uri}]") } else { format!("[link to resource {uri}: {about}]") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn d29_a_result_keeps_resources_and_structured_content() {
        let result = json!({"content": [
            {"type": "text", "text": "found:"},
            {"type": "image", "data": "aaaa", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "inside a"}},
            {"type": "resource", "resource": {"uri": "file:///b", "blob": "aaaa", "mimeType": "image/png"}},
            {"type": "resource_link", "uri": "file:///c", "name": "c", "description": "the third"},
        ], "structuredContent": {"count": 3}});
        let wanted = "found:\n[resource file:///a]\ninside a\n[resource file:///b: image/png, 4 B in base64, not \
            shown]\n[link to resource file:///c: c, the third]\n{\"count\":3}";
        assert_eq!(text(&result), wanted);
    }

    #[test]
    fn structured_content_that_is_a_block_too_is_not_repeated() {
        let both = json!({"content": [{"type": "text", "text": "{ \"n\": 1 }"}], "structuredContent": {"n": 1}});
        assert_eq!(text(&both), "{ \"n\": 1 }");
        let wrapped = json!({"content": [{"type": "text", "text": "two"}], "structuredContent": {"result": "two"}});
        assert_eq!(text(&wrapped), "two");
        let blocks = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "{\"n\":1}"}]);
        let list = json!({"content": blocks, "structuredContent": {"result": ["a", {"n": 1}]}});
        assert_eq!(text(&list), "a\n{\"n\":1}");
        let longer = json!({"content": blocks, "structuredContent": {"result": ["a", {"n": 1}, "b"]}});
        assert_eq!(text(&longer), "a\n{\"n\":1}\n{\"result\":[\"a\",{\"n\":1},\"b\"]}");
        assert_eq!(text(&json!({"structuredContent": [1]})), "[1]");
        assert_eq!(text(&json!({"content": [{"type": "image"}, 7]})), "");
    }
}
