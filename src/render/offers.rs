//! Lays out what a server offers for people.

use super::answer::laid_out;
use super::findings::wrapped;
use super::line::visible_text;
use super::style::Palette;
use crate::diff::surface::{ListKind, Surface};
use crate::wire::text::counted;
use anstyle::Style;
use serde_json::{Value, json};
use std::fmt::Write;

/// The maximum number of lines of the instructions that are shown.
const MAX_LINES: usize = 12;

/// Returns the server's name, its capabilities, its instructions, and a table for each list.
pub(crate) fn text(surface: &Surface, palette: &Palette, width: Option<usize>) -> String {
    let (mut out, wide) = (String::new(), width.unwrap_or(usize::MAX));
    let member = |name: &str| surface.server[name].as_str().filter(|text| !text.is_empty()).map(visible_text);
    let (name, version) = (member("name").unwrap_or_else(|| "unnamed server".to_owned()), member("version"));
    let named = [Some(name), version].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let title = member("title").map(|title| format!(", {title}")).unwrap_or_default();
    let revision = surface.revision.as_deref().map(|it| format!(", revision {}", visible_text(it))).unwrap_or_default();
    let declared = declared(&surface.capabilities);
    let declared = if declared.is_empty() { "none".to_owned() } else { declared.join(", ") };
    // Writing to a string does not fail.
    let _ = wrapped(&format!("{named}{title}{revision}"), "", wide, palette.bold, &mut out);
    let _ = wrapped(&format!("capabilities: {declared}"), "", wide, Style::new(), &mut out);
    if let Some(instructions) = &surface.instructions {
        out.push_str("instructions:\n");
        let lines: Vec<&str> = instructions.trim().lines().collect();
        for line in lines.iter().take(MAX_LINES) {
            let _ = wrapped(&visible_text(line), "  ", wide, palette.faint, &mut out);
        }
        if let Some(more @ 1..) = lines.len().checked_sub(MAX_LINES) {
            let _ = writeln!(out, "  … {}; --jq .instructions prints all", counted(more as u64, "more line"));
        }
    }
    for (kind, list) in &surface.lists {
        let (heading, bold) = (counted(list.items.len() as u64, kind.noun()), palette.bold);
        let _ = writeln!(out, "\n{bold}{heading}{bold:#}");
        if !list.items.is_empty() {
            let _ = writeln!(out, "{}", table(*kind, list.items.values().cloned().collect(), palette, width));
        }
    }
    out
}

fn table(kind: ListKind, items: Vec<Value>, palette: &Palette, width: Option<usize>) -> String {
    let result = json!({ (kind.member()): items }).to_string();
    laid_out(kind.method(), result.as_bytes(), palette, width).unwrap_or(result)
}

/// The names of the capabilities, with what is on in each: `resources (subscribe, listChanged)`.
fn declared(capabilities: &Value) -> Vec<String> {
    let is_on = |value: &Value| !value.is_null() && value != &Value::Bool(false);
    let names = |value: &Value| -> Vec<String> {
        let members = value.as_object().into_iter().flatten().filter(|(_, value)| is_on(value));
        members.map(|(name, _)| visible_text(name)).collect()
    };
    let all = capabilities.as_object().into_iter().flatten().filter(|(_, value)| is_on(value));
    let described = all.map(|(name, value)| match names(value) {
        inner if inner.is_empty() => visible_text(name),
        inner => format!("{} ({})", visible_text(name), inner.join(", ")),
    });
    described.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::surface::List;

    #[test]
    fn everything_that_a_server_offers_is_shown() {
        let mut tools = List::default();
        let tool = json!({"name": "add", "description": "Adds.", "inputSchema": {"properties": {"a": {}}}});
        tools.add_page(ListKind::Tools, &json!({"tools": [tool]}));
        let surface = Surface {
            server: json!({"name": "s\u{1b}", "version": "1", "title": "A Server"}),
            revision: Some("2025-11-25".to_owned()),
            capabilities: json!({"tools": {"listChanged": false}, "resources": {"subscribe": true}, "logging": {}}),
            instructions: Some("one\n".repeat(14)),
            lists: [(ListKind::Tools, tools), (ListKind::Prompts, List::default())].into(),
            ..Surface::default()
        };
        let lines = text(&surface, &Palette::plain(), Some(60));
        let expected = "s␛ 1, A Server, revision 2025-11-25\ncapabilities: tools, resources (subscribe), logging\n";
        assert!(lines.starts_with(expected), "{lines}");
        assert!(lines.contains("  … 2 more lines; --jq"), "{lines}");
        assert!(lines.contains("\n1 tool\nadd  a?\n    Adds.\n") && lines.ends_with("\n0 prompts\n"));
    }
}
