//! The surface of a server: what its clients can rely on. Two surfaces are compared by named rules, each of which is
//! breaking, a risk, or harmless.
//!
//! A [`Surface`] comes from a session ([`extract`]), from a server's lists, or from a lock file, which is a surface as
//! JSON that stays the same as long as the server does.

pub(crate) mod compare;
mod dialect;
mod exact;
mod extract;
mod facets;
mod items;
mod likeness;
pub(crate) mod rules;
mod schema;
mod shape;

pub(crate) use compare::in_words;
pub use compare::{SurfaceChange, SurfaceReport, compare};
pub use extract::Extractor;
pub(crate) use likeness::{Likeness, renamed_tools};
pub use rules::Effect;

use crate::wire::escaping::indented_json;
use crate::wire::json;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The version of the lock file's format.
const VERSION: u64 = 1;

/// At most this many items of a list are kept.
const MAX_ITEMS: usize = 100_000;

/// The lists of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ListKind {
    /// Tools.
    Tools,
    /// Prompts.
    Prompts,
    /// Resources.
    Resources,
    /// Resource templates.
    Templates,
}

impl ListKind {
    /// All lists.
    pub const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// Returns the method that lists them.
    pub fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Prompts => "prompts/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
        }
    }

    /// Returns the member of the result, and of the lock file, that has the items.
    pub fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }

    /// Returns the capability that a server declares if it has such a list.
    pub fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources | Self::Templates => "resources",
        }
    }

    /// Returns what one item is called.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Tools => "tool",
            Self::Prompts => "prompt",
            Self::Resources => "resource",
            Self::Templates => "template",
        }
    }

    /// Returns the member that identifies an item.
    fn key(self) -> &'static str {
        match self {
            Self::Tools | Self::Prompts => "name",
            Self::Resources => "uri",
            Self::Templates => "uriTemplate",
        }
    }
}

/// One list of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    /// The items by what identifies them: the name, the URI or the template.
    pub items: BTreeMap<String, Value>,
    /// Whether these are all items: the last page was seen.
    pub is_complete: bool,
}

impl Default for List {
    fn default() -> Self {
        Self { items: BTreeMap::new(), is_complete: true }
    }
}

impl List {
    /// Adds the items of one page, without their volatile members. Returns the cursor of the next page.
    pub fn add_page(&mut self, kind: ListKind, result: &Value) -> Option<String> {
        for item in result[kind.member()].as_array().into_iter().flatten() {
            let Some(name) = item[kind.key()].as_str() else { continue };
            if self.items.len() >= MAX_ITEMS && !self.items.contains_key(name) {
                self.is_complete = false;
                return None;
            }
            self.items.insert(name.to_owned(), lasting(item));
        }
        let cursor = result["nextCursor"].as_str().map(str::to_owned);
        self.is_complete = cursor.is_none();
        cursor
    }
}

/// What a server offers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// What the client asked for: its `revision` and `capabilities`; `Null` if unknown. What a server offers may depend on
    /// it.
    pub client: Value,
    /// The server's name, version and title, as on the wire; `Null` if unknown.
    pub server: Value,
    /// The revision of MCP in which the surface was seen.
    pub revision: Option<String>,
    /// The server's capabilities, as on the wire; `Null` if unknown.
    pub capabilities: Value,
    /// The instructions for the model.
    pub instructions: Option<String>,
    /// The lists that were seen.
    pub lists: BTreeMap<ListKind, List>,
}

impl Surface {
    /// Returns whether nothing is known of the server.
    pub fn is_empty(&self) -> bool {
        self.server.is_null() && self.capabilities.is_null() && self.lists.is_empty()
    }

    /// Returns the lock file: JSON with sorted members and items, two spaces per level, and a final line end.
    ///
    /// ```text
    /// {"surface":1, "client":{"revision":TEXT, "capabilities":{…}}, "server":{…}, "revision":TEXT, "capabilities":{…}, "instructions":TEXT,
    ///  "tools":[TOOL…], "prompts":[PROMPT…], "resources":[RESOURCE…], "resourceTemplates":[TEMPLATE…],
    ///  "incomplete":["tools"…]}
    /// ```
    ///
    /// Members of which nothing is known are absent.
    pub fn to_lock(&self) -> String {
        let mut lock = json!({"surface": VERSION});
        for (name, value) in [("client", &self.client), ("server", &self.server), ("capabilities", &self.capabilities)]
        {
            if !value.is_null() {
                lock[name] = value.clone();
            }
        }
        for (name, text) in [("revision", &self.revision), ("instructions", &self.instructions)] {
            if let Some(text) = text {
                lock[name] = text.as_str().into();
            }
        }
        for (kind, list) in &self.lists {
            lock[kind.member()] = list.items.values().cloned().collect();
        }
        let parts: Vec<&str> = self.incomplete().map(ListKind::member).collect();
        if !parts.is_empty() {
            lock["incomplete"] = parts.into();
        }
        let mut text = exact::written(&indented_json(&sorted(&lock)));
        text.push('\n');
        text
    }

    /// Returns whether a text is meant as a lock file.
    pub fn is_lock(text: &[u8]) -> bool {
        text.trim_ascii_start().starts_with(b"{") && json::first_member(text, "surface").is_some()
    }

    /// Reads a lock file.
    ///
    /// # Errors
    ///
    /// It is not JSON, or of another version, or its parts have other types.
    pub fn from_lock(text: &[u8]) -> Result<Self, String> {
        json::check(text).map_err(|error| format!("not valid JSON: {error}"))?;
        let lock = exact::value_of(text);
        if lock["surface"] != VERSION {
            return Err(format!("surface is {}, but this mcpreel reads version {VERSION}", lock["surface"]));
        }
        let mut surface = Self {
            client: lock["client"].clone(),
            server: lock["server"].clone(),
            revision: lock["revision"].as_str().map(str::to_owned),
            capabilities: lock["capabilities"].clone(),
            instructions: lock["instructions"].as_str().map(str::to_owned),
            lists: BTreeMap::new(),
        };
        let parts = |kind: ListKind| {
            lock["incomplete"].as_array().is_some_and(|parts| parts.iter().any(|part| part == kind.member()))
        };
        for kind in ListKind::ALL {
            match &lock[kind.member()] {
                Value::Null => {}
                Value::Array(items) => {
                    check_items(kind, items)?;
                    let mut list = List::default();
                    list.add_page(kind, &lock);
                    list.is_complete &= !parts(kind);
                    surface.lists.insert(kind, list);
                }
                _ => return Err(format!("{} is not an array", kind.member())),
            }
        }
        Ok(surface)
    }

    /// Returns the lists of which only a part was seen.
    pub fn incomplete(&self) -> impl Iterator<Item = ListKind> {
        self.lists.iter().filter(|(_, list)| !list.is_complete).map(|(kind, _)| *kind)
    }
}

fn check_items(kind: ListKind, items: &[Value]) -> Result<(), String> {
    match items.iter().position(|item| !item[kind.key()].is_string()) {
        Some(at) => Err(format!("/{}/{at} has no {}", kind.member(), kind.key())),
        None => Ok(()),
    }
}

/// Returns an item without what may differ in every listing: `_meta`, the size and the time of the last change.
fn lasting(item: &Value) -> Value {
    let mut item = item.clone();
    if let Value::Object(members) = &mut item {
        members.shift_remove("_meta");
        members.shift_remove("size");
    }
    if let Some(Value::Object(annotations)) = item.get_mut("annotations") {
        annotations.shift_remove("lastModified");
    }
    item
}

/// Returns a value with the members of all objects in the order of their names; `surface` comes first.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort_by_key(|name| (*name != "surface", *name));
            let pairs = names.into_iter().map(|name| (name.clone(), sorted(&members[name])));
            Value::Object(pairs.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod promise;
#[cfg(test)]
mod tests;
