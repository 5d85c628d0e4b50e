//! Parses a server's hook declarations (SEP-2282, Hook declaration schema). Invalid entries are dropped and reported;
//! the others remain in effect (AMB-D5).
//!
//! This module must never handle events.

use super::super::DESCRIPTOR;
use super::template::mentions;
use super::{EventKind, Priority};
use crate::proposals::Side;
use globset::{GlobBuilder, GlobMatcher};
use serde_json::{Map, Value};

/// The conditions under which a hook on a tool event fires. All given conditions must match.
#[derive(Clone, Debug)]
pub struct Matcher {
    /// A glob for the tool's name.
    pub tool_name: Option<ToolGlob>,
    /// A text that the tool's input must contain.
    pub input_contains: Option<String>,
    /// The server that provides the tool.
    pub tool_server: Option<String>,
}

/// A glob for tool names.
#[derive(Clone, Debug)]
pub struct ToolGlob {
    /// The pattern as declared.
    pub pattern: String,
    matcher: GlobMatcher,
}

impl ToolGlob {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// It is not a glob.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let glob = GlobBuilder::new(&with_plain_braces(pattern)).backslash_escape(true).build();
        let glob = glob.map_err(|error| format!("tool_name is not a glob: {}", error.kind()))?;
        Ok(Self { pattern: pattern.to_owned(), matcher: glob.compile_matcher() })
    }

    /// Whether it matches the whole name. It is case-sensitive.
    pub fn matches(&self, name: &str) -> bool {
        self.matcher.is_match(name)
    }
}

/// Escapes braces: the proposal's globs support `*`, `?` and `[]` only. In a class, a backslash is a character.
fn with_plain_braces(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let (mut escaped, mut in_class) = (false, false);
    for found in pattern.chars() {
        match found {
            '{' | '}' if !escaped && !in_class => {
                out.push('\\');
            }
            '[' if !escaped => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        escaped = found == '\\' && !escaped;
        out.push(found);
    }
    out
}

/// What a hook injects.
#[derive(Clone, Debug, PartialEq)]
pub enum HookContent {
    /// A text that may contain variables.
    Text(String),
    /// The result of a tool of the server that declared the hook.
    Tool {
        /// The tool's name.
        name: String,
        /// Its arguments, which may contain variables; an empty object if none are declared.
        arguments: Value,
    },
}

/// A valid declaration.
#[derive(Clone, Debug)]
pub struct Hook {
    /// The index in the server's list.
    pub index: usize,
    /// The event.
    pub event: EventKind,
    /// The conditions.
    pub matcher: Option<Matcher>,
    /// What it injects.
    pub content: HookContent,
    /// The priority.
    pub priority: Priority,
}

impl Hook {
    /// Whether its tool call shows the server what another tool was given or returned: by its arguments, or because it
    /// is made only if the input contains a text (SEP-2282, Matcher patterns and information leakage).
    pub(crate) fn tells(&self) -> bool {
        let HookContent::Tool { arguments, .. } = &self.content else { return false };
        let asks_for_a_text = self.matcher.as_ref().is_some_and(|matcher| matcher.input_contains.is_some());
        self.event.is_tool_event() && (asks_for_a_text || mentions(arguments, &["tool_input", "tool_output"]))
    }
}

/// An invalid declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The index in the server's list.
    pub index: usize,
    /// The reason, as a sentence fragment.
    pub reason: String,
}

/// The declarations of a server.
#[derive(Clone, Debug, Default)]
pub struct Declarations {
    /// Their place, as a dotted path below `capabilities`; `None` if the server declares no hooks.
    pub place: Option<String>,
    /// The valid declarations, in the server's order.
    pub hooks: Vec<Hook>,
    /// The invalid declarations.
    pub dropped: Vec<Dropped>,
    /// What was unusual about the capability as a whole, as sentence fragments.
    pub notes: Vec<String>,
}

impl Declarations {
    /// Parses a server's capabilities. If both places contain hooks, the top level applies.
    pub fn parse(capabilities: &Value) -> Self {
        let mut found = DESCRIPTOR.places.iter().filter(|place| place.side == Side::Server).filter_map(|place| {
            let value = place.path.iter().try_fold(capabilities, |value, name| value.get(name))?;
            Some((place.path.join("."), value))
        });
        let Some((place, capability)) = found.next() else { return Self::default() };
        let mut declarations = Self { place: Some(place), ..Self::default() };
        if let Some((other, value)) = found.next()
            && value != capability
        {
            declarations.notes.push(format!("{other} differs from hooks at the top level; the top level applies"));
        }
        declarations.read(capability);
        declarations
    }

    fn read(&mut self, capability: &Value) {
        for name in capability.as_object().into_iter().flat_map(Map::keys).filter(|name| *name != "declarations") {
            self.notes.push(format!("the capability has an unknown member {name:?}"));
        }
        let Some(list) = capability["declarations"].as_array() else {
            self.notes.push("the capability has no list of declarations".to_owned());
            return;
        };
        for (index, entry) in list.iter().enumerate() {
            match read_hook(index, entry) {
                Ok(hook) => self.hooks.push(hook),
                Err(reason) => self.dropped.push(Dropped { index, reason }),
            }
        }
    }
}

fn read_hook(index: usize, entry: &Value) -> Result<Hook, String> {
    const MEMBERS: &[&str] = &["event", "matcher", "context", "context_tool", "context_tool_args", "priority"];
    let object = entry.as_object().ok_or("the declaration is not an object")?;
    only(object, MEMBERS, "the declaration")?;
    let name = text(object, "event")?.ok_or("event is missing")?;
    let event = EventKind::parse(name).ok_or_else(|| format!("the event {name:?} is unknown"))?;
    let name = text(object, "priority")?.ok_or("priority is missing")?;
    let priority = Priority::parse(name).ok_or_else(|| format!("the priority {name:?} is unknown"))?;
    let matcher = object.get("matcher").map(read_matcher).transpose()?;
    Ok(Hook { index, event, matcher, content: read_content(object)?, priority })
}

fn read_content(object: &Map<String, Value>) -> Result<HookContent, String> {
    let arguments = object.get("context_tool_args");
    match (text(object, "context")?, text(object, "context_tool")?) {
        (Some(_), Some(_)) => Err("both context and context_tool are given".to_owned()),
        (None, None) => Err("neither context nor context_tool is given".to_owned()),
        (Some(_), None) if arguments.is_some() => Err("context_tool_args is given without context_tool".to_owned()),
        (Some(context), None) => Ok(HookContent::Text(context.to_owned())),
        (None, Some(name)) => match arguments {
            Some(arguments) if !arguments.is_object() => Err("context_tool_args is not an object".to_owned()),
            given => {
                let arguments = given.cloned().unwrap_or_else(|| Value::Object(Map::new()));
                Ok(HookContent::Tool { name: name.to_owned(), arguments })
            }
        },
    }
}

fn read_matcher(value: &Value) -> Result<Matcher, String> {
    let object = value.as_object().ok_or("the matcher is not an object")?;
    only(object, &["tool_name", "input_contains", "tool_server"], "the matcher")?;
    Ok(Matcher {
        tool_name: text(object, "tool_name")?.map(ToolGlob::new).transpose()?,
        input_contains: text(object, "input_contains")?.map(str::to_owned),
        tool_server: text(object, "tool_server")?.map(str::to_owned),
    })
}

fn only(object: &Map<String, Value>, members: &[&str], what: &str) -> Result<(), String> {
    match object.keys().find(|name| !members.contains(&name.as_str())) {
        Some(name) => Err(format!("{what} has an unknown member {name:?}")),
        None => Ok(()),
    }
}

fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, String> {
    match object.get(name) {
        None => Ok(None),
        Some(value) => value.as_str().map(Some).ok_or_else(|| format!("{name} is not a string")),
    }
}
