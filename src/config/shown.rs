//! Prepares the text of a configuration for display: removes its secrets.
//!
//! This module must never open files or read the environment.

use super::entry::{ENVS, HEADERS};
use super::tree::{Format, Kind, Node, parse};
use super::wrap::{Splice, quote, spliced};
use crate::redact;

/// Returns the text with secrets replaced: all values of `env` and headers, values whose names suggest a secret, and
/// values that look like one. Clients cannot read the result.
///
/// # Errors
///
/// If the text cannot be parsed.
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
                let is_secret =
                    is_secret || ENVS.contains(&name) || HEADERS.contains(&name) || redact::is_reporting(name);
                // These contain the names of variables.
                let is_secret = is_secret && !["bearer_token_env_var", "env_http_headers"].contains(&name);
                hide(&member.value, is_secret, splices);
            }
        }
        Kind::List(elements) if elements.iter().all(|one| one.text().is_some()) && !is_secret => {
            let words: Vec<String> = elements.iter().filter_map(Node::text).map(str::to_owned).collect();
            let shown = redact::redact_arguments(&words);
            for (at, element) in elements.iter().enumerate() {
                // The word after --header-env names a variable.
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

/// Returns whether a text only refers to the variable with the secret, such as `Bearer ${TOKEN}`.
fn is_reference(text: &str) -> bool {
    let value = text.strip_prefix("Authorization:").unwrap_or(text).trim();
    let name =
        value.strip_prefix("Bearer ").unwrap_or(value).strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    name.is_some_and(|name| name.chars().all(|found| found.is_ascii_alphanumeric() || "_:".contains(found)))
}
