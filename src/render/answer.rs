//! Lays out the result of a request for people: listings as tables, text as text, images by their kind and size.

use super::line::{bytes, visible_text};
use super::pretty::{Layout, pretty};
use super::style::Palette;
use super::table::{BLANK, cut, fitted};
use crate::wire::{json, tree};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::fmt::Write;
use tabled::settings::Style;
use unicode_width::UnicodeWidthStr;

/// Returns a result laid out for a terminal of this width; `None` if its method has no such form, or the result is not as
/// the method requires.
pub(crate) fn laid_out(method: &str, result: &[u8], palette: &Palette, width: Option<usize>) -> Option<String> {
    tree::fits(result).ok()?;
    let result = json::value_of(result);
    let text = match method {
        "tools/list" => listing(&result["tools"], "name", ("arguments", tool_arguments), palette, width)?,
        "prompts/list" => listing(&result["prompts"], "name", ("arguments", prompt_arguments), palette, width)?,
        "resources/list" => listing(&result["resources"], "uri", ("name", resource_name), palette, width)?,
        "resources/templates/list" => {
            listing(&result["resourceTemplates"], "uriTemplate", ("name", resource_name), palette, width)?
        }
        "tools/call" | "tasks/result" => tool_result(&result, palette)?,
        "resources/read" => {
            let contents = result["contents"].as_array()?;
            contents.iter().map(resource).collect::<Option<Vec<_>>>()?.join("\n")
        }
        "prompts/get" => messages(result["messages"].as_array()?, palette)?,
        _ => return None,
    };
    let more = result["nextCursor"].as_str().map(|cursor| format!("\nmore: add cursor={}", visible_text(cursor)));
    Some(text + &more.unwrap_or_default())
}

/// What is neither text nor JSON in a result: its bytes, and the extension of a file for them.
pub(crate) fn attachments(result: &Value) -> Vec<(Vec<u8>, &'static str)> {
    let contents = ["content", "contents"].into_iter().filter_map(|name| result[name].as_array()).flatten();
    let messages = result["messages"].as_array().into_iter().flatten().map(|message| &message["content"]);
    let blocks = contents.chain(messages);
    blocks.filter_map(|block| attachment(block).or_else(|| attachment(&block["resource"]))).collect()
}

fn attachment(block: &Value) -> Option<(Vec<u8>, &'static str)> {
    let data = block["data"].as_str().or(block["blob"].as_str())?;
    Some((STANDARD.decode(data).ok()?, extension(block["mimeType"].as_str().unwrap_or_default())))
}

/// The usual extension of files of a media type.
fn extension(media_type: &str) -> &'static str {
    match media_type.split(';').next().unwrap_or_default().trim() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/mpeg" => "mp3",
        "audio/ogg" => "ogg",
        "application/pdf" => "pdf",
        "application/zip" => "zip",
        "application/gzip" => "gz",
        "application/json" => "json",
        kind if kind.starts_with("text/") => "txt",
        _ => "bin",
    }
}

/// A table of items: the member that identifies one, a column of the caller, and the first line of its description.
fn listing(
    items: &Value,
    member: &str,
    (heading, second): (&str, fn(&Value) -> String),
    palette: &Palette,
    width: Option<usize>,
) -> Option<String> {
    let items = items.as_array()?;
    if items.is_empty() {
        return Some("none".to_owned());
    }
    if let Some(width) = width.filter(|width| *width < NARROW) {
        let listed = items.iter().map(|item| Some(narrow(item, item[member].as_str()?, &second(item), palette, width)));
        return Some(listed.collect::<Option<Vec<_>>>()?.join("\n"));
    }
    let mut rows = vec![[member, heading, "description"].map(str::to_owned).to_vec()];
    for item in items {
        let about = about(item);
        // A tool with many arguments must not take the space of all descriptions.
        let second = cut(&second(item), width.map_or(usize::MAX, |width| width / 3));
        rows.push([item[member].as_str()?, &second, about].map(visible_text).to_vec());
    }
    let table = fitted(rows, BLANK, &[2, 1, 0], width).with(Style::empty()).to_string();
    let (headings, rest) = table.split_once('\n')?;
    let bold = palette.bold;
    Some(format!("{bold}{headings}{bold:#}\n{rest}"))
}

/// In narrower terminals, an item of a listing has two lines instead of a row.
const NARROW: usize = 72;

/// An item on two lines: what identifies it with its second column, and the first line of its description.
fn narrow(item: &Value, name: &str, second: &str, palette: &Palette, width: usize) -> String {
    let (name, second, bold) = (visible_text(name), visible_text(second), palette.bold);
    let space = width.saturating_sub(name.width() + 2);
    let second = if second.is_empty() { second } else { format!("  {}", cut(&second, space)) };
    let about = match about(item) {
        "" => String::new(),
        about => format!("\n    {}", cut(&visible_text(about), width.saturating_sub(4))),
    };
    format!("{bold}{name}{bold:#}{second}{about}")
}

/// The first line of an item's description.
fn about(item: &Value) -> &str {
    let about = item["description"].as_str().or(item["title"].as_str()).unwrap_or_default();
    about.trim().lines().next().unwrap_or_default()
}

/// The arguments of a tool, the optional ones with a question mark.
fn tool_arguments(tool: &Value) -> String {
    let schema = &tool["inputSchema"];
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|required| required.iter().any(|one| one == name));
    let names = schema["properties"].as_object().into_iter().flat_map(|properties| properties.keys());
    names.map(|name| optional(name, is_required(name))).collect::<Vec<_>>().join(", ")
}

fn prompt_arguments(prompt: &Value) -> String {
    let arguments = prompt["arguments"].as_array().into_iter().flatten();
    let names = arguments.filter_map(|argument| Some((argument["name"].as_str()?, argument["required"] == true)));
    names.map(|(name, is_required)| optional(name, is_required)).collect::<Vec<_>>().join(", ")
}

fn optional(name: &str, is_required: bool) -> String {
    if is_required { name.to_owned() } else { format!("{name}?") }
}

fn resource_name(resource: &Value) -> String {
    resource["name"].as_str().unwrap_or_default().to_owned()
}

fn tool_result(result: &Value, palette: &Palette) -> Option<String> {
    let structured = result.get("structuredContent");
    let repeats = |block: &Value| {
        let text = block["text"].as_str().filter(|_| structured.is_some());
        text.and_then(|text| json::parsed(text.as_bytes())).as_ref() == structured
    };
    let blocks = result["content"].as_array()?;
    let is_shown = |block: &&Value| structured.is_none() || !repeats(block);
    let mut parts = blocks.iter().filter(is_shown).map(block).collect::<Option<Vec<_>>>()?;
    if result["isError"] == true {
        let error = palette.error;
        parts.iter_mut().for_each(|part| *part = format!("{error}{part}{error:#}"));
    }
    parts.extend(structured.map(|structured| indented(structured, palette)));
    Some(if parts.is_empty() { "no content".to_owned() } else { parts.join("\n") })
}

/// A block of content.
fn block(block: &Value) -> Option<String> {
    let text = |name: &str| visible_text(block[name].as_str().unwrap_or_default());
    Some(match block["type"].as_str()? {
        "text" => lines(block["text"].as_str()?),
        kind @ ("image" | "audio") => format!("[{kind} {}, {}]", text("mimeType"), size(block["data"].as_str()?)),
        "resource" => resource(&block["resource"])?,
        "resource_link" => format!("[resource {} {}]", text("name"), text("uri")),
        _ => return None,
    })
}

/// The contents of a resource.
fn resource(content: &Value) -> Option<String> {
    if let Some(text) = content["text"].as_str() {
        return Some(lines(text));
    }
    let text = |name: &str| visible_text(content[name].as_str().unwrap_or_default());
    let data = content["blob"].as_str()?;
    Some(format!("[resource {} {}, {}]", text("uri"), text("mimeType"), size(data)).replace(" ,", ","))
}

fn messages(messages: &[Value], palette: &Palette) -> Option<String> {
    let bold = palette.bold;
    let mut out = String::new();
    for message in messages {
        let role = visible_text(message["role"].as_str()?);
        let _ = writeln!(out, "{bold}{role}{bold:#}");
        let _ = writeln!(out, "{}", block(&message["content"])?);
    }
    out.truncate(out.trim_end().len());
    Some(out)
}

/// Text of others, with its line breaks, and other control characters made visible.
fn lines(text: &str) -> String {
    text.trim_end_matches('\n')
        .split('\n')
        .map(|line| visible_text(line.trim_end_matches('\r')))
        .collect::<Vec<_>>()
        .join("\n")
}

fn indented(value: &Value, palette: &Palette) -> String {
    let mut out = Vec::new();
    let layout = Layout { palette: *palette, ..Layout::default() };
    let mut buffer = super::output_buffer::OutputBuffer::new(&mut out);
    pretty(value.to_string().as_bytes(), &layout, &mut buffer);
    // Writing to memory cannot fail.
    let _ = buffer.flush();
    String::from_utf8_lossy(&out).into_owned()
}

/// The size of what base64 text stands for.
fn size(base64: &str) -> String {
    let padding = base64.bytes().rev().take_while(|byte| *byte == b'=').count();
    bytes((base64.len() / 4 * 3).saturating_sub(padding) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(method: &str, result: &Value, width: usize) -> Option<String> {
        laid_out(method, result.to_string().as_bytes(), &Palette::plain(), Some(width))
    }

    fn rows(text: &str) -> Vec<String> {
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn listings_are_tables() {
        let tools = json!({"tools": [
            {"name": "echo", "description": "Says it again.\nAnd more.",
             "inputSchema": {"properties": {"message": {}, "times": {}}, "required": ["message"]}},
            {"name": "now", "inputSchema": {}}], "nextCursor": "c2"});
        let text = shown("tools/list", &tools, 80).expect("a table");
        assert_eq!(
            rows(&text),
            ["name arguments description", "echo message, times? Says it again.", "now", "more: add cursor=c2"]
        );
        let prompts = json!({"prompts": [{"name": "review", "title": "Review", "arguments": [
            {"name": "language", "required": true}, {"name": "style"}]}]});
        let text = shown("prompts/list", &prompts, 80).expect("a table");
        assert_eq!(rows(&text)[1], "review language, style? Review");
        let resources = json!({"resources": [{"uri": "file:///a", "name": "a", "description": "d"}]});
        assert_eq!(rows(&shown("resources/list", &resources, 80).expect("a table"))[1], "file:///a a d");
        let templates = json!({"resourceTemplates": [{"uriTemplate": "file:///{x}", "name": "x"}]});
        assert_eq!(rows(&shown("resources/templates/list", &templates, 80).expect("a table"))[1], "file:///{x} x");
        let narrow = shown("tools/list", &tools, 40).expect("a table");
        assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
        assert_eq!(shown("tools/list", &json!({"tools": []}), 80).as_deref(), Some("none"));
    }

    #[test]
    fn content_is_shown_by_its_kind() {
        let call = |content: Value| shown("tools/call", &json!({"content": content}), 80);
        assert_eq!(call(json!([{"type": "text", "text": "one\ntwo\u{7}\n"}])).as_deref(), Some("one\ntwo␇"));
        let png =
            json!([{"type": "text", "text": "Here:"}, {"type": "image", "mimeType": "image/png", "data": "AAECAw=="}]);
        assert_eq!(call(png).as_deref(), Some("Here:\n[image image/png, 4 B]"));
        let link = json!([{"type": "resource_link", "name": "a", "uri": "file:///a"},
            {"type": "resource", "resource": {"uri": "b://c", "text": "body"}}]);
        assert_eq!(call(link).as_deref(), Some("[resource a file:///a]\nbody"));
        assert_eq!(call(json!([])).as_deref(), Some("no content"));
        assert_eq!(call(json!([{"type": "hologram"}])), None);
        let read = json!({"contents": [{"uri": "a://b", "text": "x\ny"}, {"uri": "a://c", "blob": "AAAA"}]});
        assert_eq!(shown("resources/read", &read, 80).as_deref(), Some("x\ny\n[resource a://c, 3 B]"));
        let prompt = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "Do it"}}]});
        assert_eq!(shown("prompts/get", &prompt, 80).as_deref(), Some("user\nDo it"));
        assert_eq!(shown("ping", &json!({}), 80), None);
        assert_eq!(laid_out("tools/call", b"{broken", &Palette::plain(), None), None);
    }

    #[test]
    fn structured_content_is_shown_once() {
        let sum = json!({"content": [{"type": "text", "text": "{\"sum\": 42}"}], "structuredContent": {"sum": 42}});
        assert_eq!(shown("tools/call", &sum, 80).as_deref(), Some("{\n  \"sum\": 42\n}"));
        let both = json!({"content": [{"type": "text", "text": "done"}], "structuredContent": {"sum": 42}});
        assert_eq!(shown("tools/call", &both, 80).as_deref(), Some("done\n{\n  \"sum\": 42\n}"));
    }

    #[test]
    fn attachments_are_decoded() {
        let result = json!({"content": [
            {"type": "image", "mimeType": "image/png", "data": "AAECAw=="}, {"type": "text", "text": "x"},
            {"type": "audio", "mimeType": "audio/wav", "data": "not base64!"},
            {"type": "resource", "resource": {"mimeType": "application/pdf", "blob": "AAAA"}}]});
        assert_eq!(attachments(&result), [(vec![0, 1, 2, 3], "png"), (vec![0, 0, 0], "pdf")]);
        assert_eq!(attachments(&json!({"contents": [{"blob": "AAAA"}]})), [(vec![0, 0, 0], "bin")]);
    }
}
