//! Converts content blocks to text for the model: text stays as it is, other blocks are named (MCPL 0.4 §10.3).

use crate::proposals::host::{cut, label};
use serde_json::Value;

/// The text of a content, which is a string or a list of blocks, cut to at most `most` bytes.
pub(crate) fn text(content: &Value, most: usize) -> String {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(block).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    };
    cut(text, most)
}

/// Checks that a block has the content that its type needs. The shapes of AMB-C9 and AMB-C16 have it.
///
/// # Errors
/// What is missing.
pub(crate) fn check(block: &Value) -> Result<(), String> {
    let has = |pointer: &str| block.pointer(pointer).is_some_and(Value::is_string);
    let (needs, is_whole) = match block["type"].as_str() {
        Some("text") => ("text", has("/text")),
        Some("image" | "audio") => ("data or uri", has("/data") || has("/uri")),
        Some("resource") => ("uri", has("/uri") || has("/resource/uri")),
        Some(other) => return Err(format!("{} is no type of a content block", label(other))),
        None => return Err("a content block has no type".to_owned()),
    };
    if is_whole {
        Ok(())
    } else {
        Err(format!("a {} block has no {needs}", block["type"].as_str().unwrap_or_default()))
    }
}

fn block(block: &Value) -> String {
    let kind = block["type"].as_str().unwrap_or("block without a type");
    let uri = block["uri"].as_str().or_else(|| block["resource"]["uri"].as_str());
    match (block["text"].as_str(), uri) {
        (Some(text), _) if kind == "text" => text.to_owned(),
        (_, Some(uri)) => format!("[{} {}]", label(kind), label(uri)),
        _ => {
            let mime = block["mimeType"].as_str().unwrap_or("of unknown type");
            let bytes = block["data"].as_str().map_or(0, |data| data.len() / 4 * 3);
            format!("[{} {}, about {bytes} B]", label(kind), label(mime))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn c67_a_block_without_its_content_is_found() {
        let good = [
            json!({"type": "text", "text": ""}),
            json!({"type": "image", "data": "AAAA"}),
            json!({"type": "audio", "uri": "x:y"}),
            json!({"type": "resource", "resource": {"uri": "memory://2"}}),
        ];
        assert!(good.iter().all(|block| check(block).is_ok()));
        for (bad, part) in [
            (json!({"type": "text"}), "no text"),
            (json!({"type": "image", "mimeType": "image/png"}), "no data or uri"),
            (json!({"type": "resource"}), "no uri"),
            (json!({"type": "video", "uri": "x:y"}), "video"),
            (json!(7), "no type"),
        ] {
            assert!(check(&bad).is_err_and(|why| why.contains(part)), "{bad}");
        }
    }

    #[test]
    fn c45_blocks_other_than_text_are_named() {
        let content = json!([{"type": "text", "text": "one"},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "resource", "uri": "memory://1"}, {"type": "resource", "resource": {"uri": "memory://2"}}, 7]);
        let shown = "one\n[image image/png, about 3 B]\n[resource memory://1]\n[resource memory://2]\n";
        assert!(text(&content, 1000).starts_with(shown));
        assert_eq!(text(&json!("short"), 1000), "short");
    }
}
