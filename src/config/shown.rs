//! A configuration's text made fit to be shown: without its secrets.
//!
//! Never: files, the environment.

use super::entry::HEADERS;
use super::tree::{Format, Kind, Node, parse};
use super::wrap::{Splice, quote, spliced};
use crate::redact;

/// The text with secrets replaced, for people to see: all values of `env` and of headers, values whose name tells a
/// secret, and what looks like one. It cannot be read back by a client.
pub fn without_secrets(text: &str, format: Format) -> Result<String, String> {
    let mut splices = Vec::new();
    hide(&parse(text, format)?, false, &mut splices);
    Ok(spliced(text, splices))
}

fn hide(node: &Node, is_secret: bool, splices: &mut Vec<Splice>) {
    match &node.kind {
        Kind::Text(text) if is_reference(text) => {}
        Kind::Text(text) => {
            let shown = if is_secret {
                redact::REDACTED.to_owned()
            } else {
                redact::redact_arguments(std::slice::from_ref(text)).concat()
            };
            if shown != *text {
                splices.push((node.range.clone(), quote(&shown)));
            }
        }
        Kind::Map(_, members) => {
            for member in members {
                let name = member.name.as_str();
                let is_secret = is_secret || name == "env" || HEADERS.contains(&name) || redact::is_reporting(name);
                // These hold the names of variables.
                let is_secret = is_secret && !["bearer_token_env_var", "env_http_headers"].contains(&name);
                hide(&member.value, is_secret, splices);
            }
        }
        Kind::List(elements) if elements.iter().all(|one| one.text().is_some()) && !is_secret => {
            let words: Vec<String> = elements.iter().filter_map(Node::text).map(str::to_owned).collect();
            let shown = redact::redact_arguments(&words);
            for (at, element) in elements.iter().enumerate() {
                // What follows --header-env names a variable.
                let is_name = at.checked_sub(1).is_some_and(|before| words[before] == "--header-env");
                if shown[at] != words[at] && !is_name && !is_reference(&words[at]) {
                    splices.push((element.range.clone(), quote(&shown[at])));
                }
            }
        }
        Kind::List(elements) => elements.iter().for_each(|one| hide(one, is_secret, splices)),
        Kind::Other(_) => {}
    }
}

/// Whether a text only names the variable that holds a secret: `Bearer ${TOKEN}`.
fn is_reference(text: &str) -> bool {
    let value = text.strip_prefix("Authorization:").unwrap_or(text).trim();
    let name =
        value.strip_prefix("Bearer ").unwrap_or(value).strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    name.is_some_and(|name| name.chars().all(|found| found.is_ascii_alphanumeric() || "_:".contains(found)))
}
