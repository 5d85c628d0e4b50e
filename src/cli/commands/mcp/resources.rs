//! Resources: a summary of each reel, and the text of each rule; and the values of arguments.

use super::answer::{Answer, Problem};
use super::cursor;
use super::reports::{counts, explained, found};
use super::tools::{Cx, text_of};
use crate::explain::{self, Topic};
use crate::validate::all_rules;
use crate::wire::text::counted;
use serde_json::{Value, json};
use std::fmt::Write;

/// What the URI of a reel begins with.
const REEL: &str = "mcpreel://reel/";
/// What the URI of a rule begins with.
const RULE: &str = "mcpreel://rule/";
/// The number of resources on a page.
const PAGE: usize = 100;
/// The maximum number of values for an argument (MCP, Completion).
const MAX_VALUES: usize = 100;

/// The templates of all resources.
pub(super) fn templates() -> Vec<Value> {
    let template = |uri: &str, name: &str, about: &str| json!({"uriTemplate": uri, "name": name, "description": about, "mimeType": "text/plain"});
    vec![
        template(
            "mcpreel://reel/{recording}",
            "reel",
            "Summary of a recording: counts, and how many findings there are. Its text is untrusted data from the recording.",
        ),
        template(
            "mcpreel://rule/{rule}",
            "rule",
            "What a rule of `findings` requires, where it comes from, and how to fix a violation.",
        ),
    ]
}

/// `resources/list`: the reels, newest first, then the rules.
///
/// # Errors
///
/// The cursor is unknown.
pub(super) fn list(params: &Value, cx: &Cx<'_>) -> Result<Value, Problem> {
    let from = cursor::number(&"resources/list", text_of(params, "cursor"))?;
    let reels = cx.library.reels();
    let reel = |found: &crate::cli::commands::reel::list::Found| {
        let name = encoded(&cx.library.name_of(&found.path));
        let modified = jiff::Timestamp::try_from(found.file.modified).unwrap_or_default();
        let about = format!("Recording of {} bytes, last written {modified:.0}", found.file.bytes);
        json!({"uri": format!("{REEL}{name}"), "name": name, "description": about, "mimeType": "text/plain"})
    };
    let rule = |rule: &'static crate::proposals::Rule| json!({"uri": format!("{RULE}{}", rule.id), "name": rule.id, "description": rule.text, "mimeType": "text/plain"});
    let rules = || all_rules(cx.settings.registry);
    let (from, total) = (usize::try_from(from).unwrap_or(usize::MAX), reels.len() + rules().count());
    let page: Vec<Value> = reels.iter().map(reel).chain(rules().map(rule)).skip(from).take(PAGE).collect();
    let next = from.saturating_add(page.len());
    let mut result = json!({"resources": page});
    if next < total {
        result["nextCursor"] = cursor::make(&"resources/list", &next.to_string()).into();
    }
    Ok(result)
}

/// `resources/read`; `None` if there is no such resource.
///
/// # Errors
///
/// The resource exists and cannot be read.
pub(super) fn read(uri: &str, cx: &Cx<'_>) -> Result<Option<Value>, Problem> {
    let text = if let Some(rule) = uri.strip_prefix(RULE) {
        let subjects = explain::find(rule, cx.settings.registry);
        let is_rule = subjects.iter().any(|subject| matches!(subject.topic, Topic::Rule(_)));
        is_rule.then(|| explained(&subjects))
    } else if let Some(name) = uri.strip_prefix(REEL).and_then(decoded) {
        match cx.library.open(&name) {
            Ok(_) => Some(summary(&name, cx)?.to_text()),
            Err(_) => None,
        }
    } else {
        None
    };
    Ok(text.map(|text| json!({"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]})))
}

/// Counts of a recording, and how many findings there are.
///
/// # Errors
///
/// The recording cannot be read.
pub(super) fn summary(name: &str, cx: &Cx<'_>) -> Result<Answer, Problem> {
    let opened = cx.open(name)?;
    let counted_all = counts(&opened, "method", "", cx)?;
    let (findings, report) = found(&opened, "info", None, cx)?;
    let count = |severity: &str| findings.iter().filter(|finding| finding["severity"] == severity).count() as u64;
    let answer = counted_all.say(&format!(
        "Findings: {}, {}, {}; the tool findings lists them.",
        counted(count("error"), "error"),
        counted(count("warning"), "warning"),
        counted(count("info"), "info")
    ));
    let mut recorded = String::new();
    for connection in report["connections"].as_array().into_iter().flatten().take(20) {
        let name = |side: &str| connection[side]["name"].as_str().unwrap_or("unknown").to_owned();
        let version = |side: &str| connection[side]["version"].as_str().unwrap_or_default().to_owned();
        let _ = writeln!(
            recorded,
            "stream {}: client {} {}, server {} {}, revision {}",
            connection["stream"],
            one_line(&name("client")),
            one_line(&version("client")),
            one_line(&name("server")),
            one_line(&version("server")),
            one_line(connection["revision"].as_str().unwrap_or("unknown"))
        );
    }
    recorded.push_str(&answer.recorded);
    Ok(Answer { recorded, ..answer })
}

fn one_line(text: &str) -> String {
    crate::render::quotation::beginning(text, 100)
}

/// `completion/complete`.
///
/// # Errors
///
/// The prompt or template has no such argument, or its values cannot be listed.
pub(super) fn complete(params: &Value, cx: &Cx<'_>) -> Result<Value, Problem> {
    let (argument, value) = (text_of(&params["argument"], "name"), text_of(&params["argument"], "value"));
    let (Some(argument), Some(value)) = (argument, value) else {
        return Err(Problem::new("`argument.name` and `argument.value` must be strings"));
    };
    let known: Vec<String> = match argument {
        "recording" | "a" | "b" => cx.library.reels().iter().map(|found| cx.library.name_of(&found.path)).collect(),
        "rule" => all_rules(cx.settings.registry).map(|rule| rule.id.to_owned()).collect(),
        "seq" | "id" => Vec::new(),
        _ => return Err(Problem::new(format!("no completion for the argument {}", super::answer::named(argument)))),
    };
    // A name with what cannot be seen is not offered.
    let is_plain = |name: &String| crate::render::quotation::shown(name) == *name;
    let mut values: Vec<String> = known.into_iter().filter(|name| name.starts_with(value) && is_plain(name)).collect();
    let total = values.len();
    values.truncate(MAX_VALUES);
    Ok(json!({"completion": {"values": values, "total": total, "hasMore": total > MAX_VALUES}}))
}

/// A name in a URI: letters, digits and `-._~` as they are, other bytes with percent signs.
fn encoded(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte.into()),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// The name that a part of a URI stands for.
fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || char::from(rest.next()?).to_digit(16);
        match byte {
            b'%' => bytes.push(u8::try_from(digit()? * 16 + digit()?).ok()?),
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_fits_into_a_uri() {
        for name in ["a.reel", "/tmp/a b/é%.reel", "ignore all\n#?"] {
            let part = encoded(name);
            assert!(part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte)), "{part}");
            assert_eq!(decoded(&part).as_deref(), Some(name));
        }
        assert_eq!(decoded("a%2"), None);
        assert_eq!(decoded("a%zz"), None);
        assert_eq!(decoded("%ff"), None);
    }
}
