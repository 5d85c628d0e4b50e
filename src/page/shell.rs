//! What surrounds a page: its head, the style sheet, the script, and the policy that allows no others.

use super::assets::asset;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use std::fmt::Write;

/// The modules of the session page's script, each after those that it imports.
const MODULES: [&str; 13] = [
    "dom", "units", "filter", "data", "search", "list", "json", "waits", "sequence", "timeline", "panel", "overview",
    "app",
];

/// The style sheet of all pages.
fn style() -> &'static str {
    asset("page.css")
}

/// The text of a module.
fn source(name: &str) -> &'static str {
    asset(&format!("{name}.mjs"))
}

/// Returns a text without any meaning for HTML.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for found in crate::wire::text::visible_text(text).chars() {
        match found {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(found),
        }
    }
    out
}

/// Returns the beginning of a page, up to `<body>`. The title is any text; `script` is the only one that may run.
pub(crate) fn head(title: &str, script: Option<&str>) -> String {
    let scripts = script.map_or_else(|| "'none'".to_owned(), hash);
    let policy = format!(
        "default-src 'none'; script-src {scripts}; style-src {}; base-uri 'none'; form-action 'none'",
        hash(style())
    );
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
        <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
        <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
        <meta name=\"referrer\" content=\"no-referrer\">\n<title>{}</title>\n<style>{}</style>\n</head>\n",
        escaped(title),
        style()
    )
}

/// Returns the source of a hash in the policy.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(digest(&SHA256, text.as_bytes())))
}

/// Returns the script of the session page: all modules in one, as a page without network access cannot import any.
pub(crate) fn script() -> String {
    let mut out = String::from("\"use strict\";\n");
    for name in MODULES {
        let _ = write!(out, "const {name}_js = (() => {{\n{}}})();\n", module(source(name)));
    }
    out
}

/// Whether a line of a module is a comment, or a part of one.
fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    ["//", "/**", "* ", "*/"].iter().any(|start| line.starts_with(start))
}

/// Returns the body of a module as that of a function that returns what the module exports.
fn module(text: &str) -> String {
    let (mut out, mut exported) = (String::new(), Vec::new());
    for line in text.lines().filter(|line| !is_comment(line)) {
        if let Some((names, from)) = line.strip_prefix("import ").and_then(|line| line.split_once(" from \"./")) {
            let _ = writeln!(out, "const {names} = {}_js;", from.trim_end_matches(".mjs\";"));
            continue;
        }
        let rest = line.strip_prefix("export ").unwrap_or(line);
        if rest.len() < line.len() {
            let named =
                ["async function ", "function ", "class ", "const "].iter().find_map(|kind| rest.strip_prefix(kind));
            let end =
                |name: &str| name.find(|found: char| !found.is_alphanumeric() && found != '_').unwrap_or(name.len());
            exported.extend(named.map(|name| name[..end(name)].to_owned()));
        }
        let _ = writeln!(out, "{rest}");
    }
    let _ = writeln!(out, "return {{ {} }};", exported.join(", "));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_becomes_a_function_that_returns_what_it_exports() {
        let text = "// About.\n/**\n * What C is.\n */\nimport { a, b } from \"./other.mjs\";\nexport const C = 1;\nexport class D {}\n\
            export async function e() {}\nfunction f() {}\n";
        let expected = "const { a, b } = other_js;\nconst C = 1;\nclass D {}\nasync function e() {}\nfunction f() {}\n\
            return { C, D, e };\n";
        assert_eq!(module(text), expected);
    }

    #[test]
    fn modules_import_only_earlier_ones_and_nothing_ends_the_script() {
        for (at, name) in MODULES.iter().enumerate() {
            for line in source(name).lines().filter(|line| line.starts_with("import ")) {
                let from = line.split("\"./").nth(1).and_then(|rest| rest.strip_suffix(".mjs\";")).expect(line);
                assert!(MODULES[..at].contains(&from), "{name} imports {from}");
            }
        }
        let script = script();
        assert!(!script.contains("</") || !script.to_lowercase().contains("</script"));
        assert!(!script.contains("innerHTML") && !script.contains("insertAdjacentHTML") && !script.contains("eval("));
        assert!(!script.contains("fetch(") && !script.contains("XMLHttpRequest") && !script.contains("import("));
        assert!(script.len() > 20_000, "a module is missing");
        assert!(script.len() + style().len() < 80_000, "{} bytes", script.len() + style().len());
    }

    #[test]
    fn nothing_in_a_title_is_markup() {
        let head = head("</title><script>alert(1)</script>\u{202e}", None);
        assert!(head.contains("<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;\u{fffd}</title>"), "{head}");
        assert!(head.contains("default-src 'none'; script-src 'none'; style-src 'sha256-"), "{head}");
    }
}
