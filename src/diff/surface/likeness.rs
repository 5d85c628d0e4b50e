//! Recognises tools that have another name but are otherwise the same.

use super::List;
use super::shape::bare;
use crate::wire::text::counted;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The likeness at which a tool may be another one with a new name, out of 100.
const ENOUGH: u32 = 70;

/// At most this many removed tools are compared with as many added ones.
const MAX_TOOLS: usize = 100;

/// Why two tools may be the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Likeness {
    /// The name before.
    pub from: String,
    /// The name after.
    pub to: String,
    /// How alike they are, out of 100.
    pub percent: u32,
    /// What they have in common, in words.
    pub basis: String,
}

/// Returns the tools that were probably renamed: those that are only in the old list, with the one only in the new list
/// that is most like it. No tool is taken twice.
pub(crate) fn renamed_tools(old: &List, new: &List) -> Vec<Likeness> {
    if !old.is_complete || !new.is_complete {
        return Vec::new();
    }
    let only_in = |list: &List, other: &List| -> Vec<(String, Value)> {
        let only = list.items.iter().filter(|(name, _)| !other.items.contains_key(*name));
        only.take(MAX_TOOLS).map(|(name, tool)| (name.clone(), tool.clone())).collect()
    };
    let (gone, come) = (only_in(old, new), only_in(new, old));
    let mut found: Vec<Likeness> =
        gone.iter().flat_map(|one| come.iter().filter_map(move |other| likeness(one, other))).collect();
    found.sort_by(|one, other| (other.percent, &one.from, &one.to).cmp(&(one.percent, &other.from, &other.to)));
    let (mut taken, mut given) = (BTreeSet::new(), BTreeSet::new());
    found.retain(|one| {
        !taken.contains(&one.from) && !given.contains(&one.to) && {
            taken.insert(one.from.clone());
            given.insert(one.to.clone())
        }
    });
    found
}

fn likeness((from, old): &(String, Value), (to, new): &(String, Value)) -> Option<Likeness> {
    let parameters = |tool: &Value| tool["inputSchema"]["properties"].as_object().cloned().unwrap_or_default();
    let (before, after) = (parameters(old), parameters(new));
    let words = alike(&words(&old["description"]), &words(&new["description"]));
    let names = alike(&words_of_name(from), &words_of_name(to));
    let schema = schemas_alike(&before, &after);
    let has_parameters = !before.is_empty() || !after.is_empty();
    // Without parameters, equal schemas say nothing.
    let percent = if has_parameters { (schema * 5 + words * 4 + names) / 10 } else { (words * 9 + names) / 10 };
    if percent < ENOUGH {
        return None;
    }
    let same = if schema == 100 && has_parameters {
        format!("the same {}", counted(before.len() as u64, "parameter"))
    } else if has_parameters {
        format!("parameters {schema} % alike")
    } else {
        "no parameters".to_owned()
    };
    let basis = format!("{same}, descriptions {words} % alike");
    Some(Likeness { from: from.clone(), to: to.clone(), percent, basis })
}

/// Returns how alike the parameters are, out of 100: those with the same name and schema count fully, those with the
/// same name by half.
fn schemas_alike(old: &Map<String, Value>, new: &Map<String, Value>) -> u32 {
    let all: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let points = |name: &String| match (old.get(name), new.get(name)) {
        (Some(one), Some(other)) if bare(one) == bare(other) => 2,
        (Some(_), Some(_)) => 1,
        _ => 0,
    };
    percent(all.iter().map(|name| points(name)).sum(), 2 * all.len())
}

fn words(text: &Value) -> Vec<String> {
    let text = text.as_str().unwrap_or_default().to_lowercase();
    text.split(|found: char| !found.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn words_of_name(name: &str) -> Vec<String> {
    words(&Value::from(name.replace('_', " ")))
}

/// Returns how many of all words two texts share, out of 100.
fn alike(one: &[String], other: &[String]) -> u32 {
    let mut counts: BTreeMap<&String, (usize, usize)> = BTreeMap::new();
    one.iter().for_each(|word| counts.entry(word).or_default().0 += 1);
    other.iter().for_each(|word| counts.entry(word).or_default().1 += 1);
    let shared: usize = counts.values().map(|(left, right)| left.min(right)).sum();
    percent(2 * shared, one.len() + other.len())
}

fn percent(part: usize, whole: usize) -> u32 {
    (part * 100).checked_div(whole).and_then(|found| u32::try_from(found).ok()).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn list(tools: &[(&str, &str, &[&str])]) -> List {
        let tool = |(name, about, parameters): &(&str, &str, &[&str])| {
            let properties: Map<_, _> =
                parameters.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
            ((*name).to_owned(), json!({"name": name, "description": about, "inputSchema": {"properties": properties}}))
        };
        List { items: tools.iter().map(tool).collect(), is_complete: true }
    }

    fn renamed(old: &[(&str, &str, &[&str])], new: &[(&str, &str, &[&str])]) -> Vec<(String, String)> {
        renamed_tools(&list(old), &list(new)).into_iter().map(|found| (found.from, found.to)).collect()
    }

    fn pair(from: &str, to: &str) -> (String, String) {
        (from.to_owned(), to.to_owned())
    }

    #[test]
    fn a_tool_is_recognised_by_its_parameters_and_description() {
        let old = [("read", "Reads a file from disk", &["path", "limit"][..]), ("stay", "x", &[])];
        let new = [("read_file", "Read a file from disk", &["path", "limit"][..]), ("stay", "x", &[])];
        assert_eq!(renamed(&old, &new), [pair("read", "read_file")]);
        let other = [("write", "Stores text under a name", &["path", "limit"][..]), ("stay", "x", &[])];
        assert_eq!(renamed(&old, &other), [], "other words");
        let other = [("read_file", "Read a file from disk", &["uri"][..]), ("stay", "x", &[])];
        assert_eq!(renamed(&old, &other), [], "other parameters");
    }

    #[test]
    fn tools_without_parameters_need_the_same_words() {
        assert_eq!(renamed(&[("a", "Lists all users", &[])], &[("b", "Lists all users", &[])]), [pair("a", "b")]);
        assert_eq!(renamed(&[("a", "Lists all users", &[])], &[("b", "Lists all groups", &[])]), []);
    }

    #[test]
    fn the_best_match_wins_and_no_tool_is_taken_twice() {
        let old = [("a", "one two three four", &["x"][..])];
        let new = [("b", "one two three four", &["x"][..]), ("c", "one two three five", &["x"][..])];
        assert_eq!(renamed(&old, &new), [pair("a", "b")]);
        assert_eq!(renamed(&new, &old), [pair("b", "a")]);
    }
}
