//! Explanations: what a method, a capability, a tool of a proposal, an error code or a rule of the validator is, who may
//! send it when, its schema, an example, its source, and what is related to it.
//!
//! Everything is taken from the data that the rest of the program works with; only the sentences are here.
//!
//! It must never print, read a clock or open a file.

mod code;
mod method;
pub(crate) mod schemas;
mod texts;

use crate::proposals::{self, CapabilityPlace, Proposal, Registry, Rule, Side};
use crate::protocol::capabilities::{self, CapabilitySpec};
use crate::protocol::{MethodSpec, Revision, Sender, methods};
use crate::validate::all_rules;
use code::CodeMeaning;
use schemas::{Definition, OutlineLine};
use serde_json::{Map, Value, json};

/// The maximum number of related entries that are named.
const MAX_RELATED: usize = 12;

/// Something that can be explained, and what else is known.
#[derive(Clone, Copy)]
pub(crate) struct Subject {
    /// What it is.
    pub topic: Topic,
    registry: &'static Registry,
}

/// What can be explained.
#[derive(Clone, Copy)]
pub(crate) enum Topic {
    /// A method of MCP or of a proposal.
    Method(&'static MethodSpec),
    /// A capability of MCP.
    Capability(&'static CapabilitySpec),
    /// A place where a proposal is declared.
    Place(&'static dyn Proposal, &'static CapabilityPlace),
    /// A tool that a proposal defines.
    Tool(&'static dyn Proposal, &'static str),
    /// One meaning of an error code.
    Code(CodeMeaning),
    /// A rule of the validator.
    Rule(&'static Rule),
}

/// A part of a message with its outline.
pub(crate) struct Part {
    /// What it is: `params`, `result`, `arguments` or `capability`.
    pub name: &'static str,
    /// Its definition.
    pub definition: Definition<'static>,
    /// Its members.
    pub outline: Vec<OutlineLine>,
}

/// Returns everything that can be explained, in a fixed order.
pub(crate) fn all(registry: &'static Registry) -> Vec<Subject> {
    let descriptors = || registry.iter().map(|proposal| (proposal, proposal.descriptor()));
    let methods = methods::CORE.iter().chain(descriptors().flat_map(|(_, descriptor)| descriptor.methods));
    let places =
        descriptors().flat_map(|(proposal, it)| it.places.iter().map(move |place| Topic::Place(proposal, place)));
    let tools = descriptors().flat_map(|(proposal, it)| it.tools.iter().map(move |tool| Topic::Tool(proposal, tool)));
    methods
        .map(Topic::Method)
        .chain(capabilities::CORE.iter().map(Topic::Capability))
        .chain(places)
        .chain(tools)
        .chain(code::all(registry).into_iter().map(Topic::Code))
        .chain(all_rules(registry).map(Topic::Rule))
        .map(|topic| Subject { topic, registry })
        .collect()
}

/// Returns everything that has this name. A capability may be named with its side (`server.tools`), and all places of a
/// proposal by the proposal's name.
pub(crate) fn find(name: &str, registry: &'static Registry) -> Vec<Subject> {
    all(registry).into_iter().filter(|subject| subject.is_named(name)).collect()
}

/// How many misspelt names are found.
const MAX_NEAR: usize = 3;
/// The least likeness of a misspelt name.
const LIKENESS: f32 = 0.7;

/// Returns the names that are most like this one.
pub(crate) fn similar(name: &str, registry: &'static Registry) -> Vec<String> {
    let wanted = name.to_lowercase();
    let known: Vec<String> = all(registry).iter().map(Subject::name).collect();
    let texts: Vec<&str> = known.iter().map(String::as_str).collect();
    // Misspelt names come first.
    let near = ::similar::get_close_matches(&*wanted, &texts, MAX_NEAR, LIKENESS).into_iter().map(str::to_owned);
    let mut names: Vec<String> = near.collect();
    for name in known.iter().filter(|known| is_similar(&wanted, known)) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names.truncate(MAX_RELATED);
    names
}

fn is_similar(wanted: &str, known: &str) -> bool {
    let known = known.to_lowercase();
    let last = |text: &str| text.rsplit(['/', '.']).next().unwrap_or_default().to_owned();
    !wanted.is_empty() && (known.contains(wanted) || wanted.contains(&known) || last(&known) == last(wanted))
}

impl Subject {
    /// Returns what it is: `method`, `capability`, `tool`, `error code` or `rule`.
    pub(crate) fn kind(&self) -> &'static str {
        match self.topic {
            Topic::Method(_) => "method",
            Topic::Capability(_) | Topic::Place(..) => "capability",
            Topic::Tool(..) => "tool",
            Topic::Code(_) => "error code",
            Topic::Rule(_) => "rule",
        }
    }

    /// Returns its name.
    pub(crate) fn name(&self) -> String {
        match self.topic {
            Topic::Method(spec) => spec.name.to_owned(),
            Topic::Capability(spec) => spec.path.to_owned(),
            Topic::Place(_, place) => place.path.join("."),
            Topic::Tool(_, name) => name.to_owned(),
            Topic::Code(meaning) => meaning.code.to_string(),
            Topic::Rule(rule) => rule.id.to_owned(),
        }
    }

    fn is_named(&self, name: &str) -> bool {
        let side = match self.topic {
            Topic::Capability(spec) => spec.side.name(),
            Topic::Place(proposal, _) if proposal.descriptor().name == name => return true,
            Topic::Place(_, place) => side_name(place.side),
            _ => return self.name() == name,
        };
        let plain = name.strip_prefix(side).and_then(|rest| rest.strip_prefix('.')).unwrap_or(name);
        self.name() == plain
    }

    /// Returns what it is or means, as a sentence.
    pub(crate) fn about(&self) -> String {
        match self.topic {
            Topic::Method(spec) => method::about(spec, self.registry).to_owned(),
            Topic::Capability(spec) => spec.about.to_owned(),
            Topic::Place(proposal, _) => proposal.descriptor().about.to_owned(),
            Topic::Tool(proposal, _) => format!("A tool that servers with {} offer.", proposal.descriptor().title),
            Topic::Code(meaning) => meaning.text(),
            Topic::Rule(rule) => rule.text.to_owned(),
        }
    }

    /// Returns the facts about it: a label and a text each.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        match self.topic {
            Topic::Method(spec) => method::facts(spec, self.registry),
            Topic::Capability(spec) => vec![
                ("declared by", format!("the {}", spec.side.name())),
                ("revisions", revisions(spec.since, spec.until)),
                ("allows", spec.methods.join(", ")),
            ],
            Topic::Place(proposal, place) => place_facts(proposal, place, self.registry),
            Topic::Tool(proposal, name) => vec![
                ("called by", format!("the client, as tools/call with the name {name}")),
                (self.registry.kind_of(proposal.descriptor().name), proposal.descriptor().name.to_owned()),
            ],
            Topic::Code(meaning) => meaning.facts(self.registry),
            Topic::Rule(rule) => rule_facts(rule, self.registry),
        }
    }

    /// Returns where it is specified.
    pub(crate) fn source(&self) -> String {
        match self.topic {
            Topic::Method(spec) => method::source(spec),
            Topic::Capability(spec) => format!("MCP {}, Capabilities", spec.until.as_str()),
            Topic::Place(proposal, _) | Topic::Tool(proposal, _) => proposal.descriptor().source.to_owned(),
            Topic::Code(meaning) => meaning.source.to_owned(),
            Topic::Rule(rule) => rule.source.to_owned(),
        }
    }

    /// Returns the parts of its messages, in this revision or else the newest that has it.
    pub(crate) fn parts(&self, revision: Option<Revision>) -> Vec<Part> {
        let (document, names) = match self.topic {
            Topic::Method(spec) => {
                let set = method::schemas(spec, revision, self.registry);
                let named = |part: &'static str| (part, format!("{}:{part}", spec.name));
                (set.document(), vec![named("params"), named("result")])
            }
            Topic::Tool(proposal, name) => {
                let named = |part: &'static str| (part, format!("tool:{name}:{part}"));
                (proposal.descriptor().schemas.document(), vec![named("arguments"), named("result")])
            }
            Topic::Place(proposal, place) => {
                let name = place.definition().to_owned();
                (proposal.descriptor().schemas.document(), vec![("capability", name)])
            }
            _ => return Vec::new(),
        };
        let part = |(name, definition): (&'static str, String)| {
            let definition = Definition::find(document, &definition)?;
            Some(Part { name, definition, outline: definition.outline() })
        };
        names.into_iter().filter_map(part).collect()
    }

    /// Returns an example: a message, a declaration, or an error object.
    pub(crate) fn example(&self, revision: Option<Revision>) -> Option<Value> {
        let part = |name: &str| self.parts(revision).into_iter().find(|part| part.name == name);
        match self.topic {
            Topic::Method(spec) => {
                Some(method::example(spec, self.registry, part("params").map(|part| part.definition.example())))
            }
            Topic::Capability(spec) => Some(nested(&spec.path.split('.').collect::<Vec<_>>(), leaf(spec.path))),
            Topic::Place(proposal, place) => {
                let sample = proposal.samples().capability.filter(|_| place.side == Side::Server);
                let value = sample.or_else(|| Some(part("capability")?.definition.example()))?;
                Some(nested(place.path, value))
            }
            Topic::Tool(_, name) => {
                let arguments = part("arguments").map(|part| part.definition.example()).unwrap_or_else(|| json!({}));
                let params = json!({"name": name, "arguments": arguments});
                Some(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
            }
            Topic::Code(meaning) => {
                let error = json!({"code": meaning.code, "message": meaning.name});
                Some(json!({"jsonrpc": "2.0", "id": 1, "error": error}))
            }
            Topic::Rule(_) => None,
        }
    }

    /// Returns the names of related entries.
    pub(crate) fn related(&self) -> Vec<String> {
        let mut names: Vec<String> = match self.topic {
            Topic::Method(spec) => method::related(spec, self.registry),
            Topic::Capability(spec) => spec.methods.iter().map(ToString::to_string).collect(),
            Topic::Place(proposal, _) | Topic::Tool(proposal, _) => {
                let descriptor = proposal.descriptor();
                let methods = descriptor.methods.iter().map(|spec| spec.name.to_owned());
                methods.chain(descriptor.tools.iter().map(ToString::to_string)).collect()
            }
            Topic::Code(meaning) => meaning.rules(self.registry),
            Topic::Rule(rule) => rules_beside(rule, self.registry),
        };
        let own = self.name();
        names.retain(|name| *name != own);
        names.truncate(MAX_RELATED);
        names
    }

    /// Returns the entry as JSON, in short or with everything.
    pub(crate) fn to_json(self, is_whole: bool, revision: Option<Revision>) -> Value {
        let mut entry =
            json!({"kind": self.kind(), "name": self.name(), "about": self.about(), "source": self.source()});
        if is_whole {
            let facts: Map<String, Value> =
                self.facts().into_iter().map(|(label, text)| (label.replace(' ', "_"), text.into())).collect();
            let parts = self.parts(revision).into_iter();
            let schemas: Map<String, Value> =
                parts.map(|part| (part.name.to_owned(), part.definition.standalone(&self.name()))).collect();
            entry["facts"] = facts.into();
            entry["schemas"] = schemas.into();
            entry["example"] = self.example(revision).into();
            entry["related"] = self.related().into();
        }
        entry
    }
}

/// Returns a range of revisions in words.
fn revisions(since: Revision, until: Revision) -> String {
    match (since == Revision::ALL[0], until == Revision::NEWEST) {
        _ if since == until => format!("{} only", since.as_str()),
        (true, true) => "all".to_owned(),
        (true, false) => format!("up to {}", until.as_str()),
        (false, true) => format!("from {} on", since.as_str()),
        (false, false) => format!("{} to {}", since.as_str(), until.as_str()),
    }
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::Client => Sender::Client.name(),
        Side::Server => Sender::Server.name(),
    }
}

fn place_facts(
    proposal: &'static dyn Proposal,
    place: &CapabilityPlace,
    registry: &Registry,
) -> Vec<(&'static str, String)> {
    let descriptor = proposal.descriptor();
    let same = |other: &&CapabilityPlace| other.side == place.side && other.path != place.path;
    let others: Vec<String> = descriptor.places.iter().filter(same).map(|other| other.path.join(".")).collect();
    let kind = registry.kind_of(descriptor.name);
    let mut facts = vec![
        ("declared by", format!("the {}", side_name(place.side))),
        (kind, format!("{} ({})", descriptor.name, descriptor.title)),
    ];
    // Packs have no revisions as a whole; their methods do.
    if kind == "proposal" {
        facts.push(("revisions", "up to 2025-11-25".to_owned()));
    }
    let own = format!("the {kind} names it");
    let other = format!("accepted, though the {kind} names another");
    facts.push(("place", if place.canonical { own } else { other }));
    if !others.is_empty() {
        facts.push(("other places", others.join(", ")));
    }
    facts.extend(descriptor.dialects.iter().map(|(name, about)| ("dialect", format!("{name}: {about}"))));
    facts
}

fn rule_facts(rule: &Rule, registry: &Registry) -> Vec<(&'static str, String)> {
    let meaning = match rule.severity {
        proposals::Severity::Error => "error: a violation breaks the specification",
        proposals::Severity::Warning => "warning: a violation is likely to cause trouble",
        proposals::Severity::Info => "info: a violation is worth knowing",
    };
    let family = rule.id.split('/').next().unwrap_or_default();
    let mut facts = vec![("severity", meaning.to_owned())];
    facts.extend(rule.fix.map(|fix| ("fix", fix.to_owned())));
    if let Some(proposal) = registry.by_name(family) {
        facts.push((registry.kind_of(family), format!("{} ({})", family, proposal.descriptor().title)));
    }
    facts.push(("check only it", format!("mcpreel validate --only {}", rule.id)));
    facts.push(("change it", format!("validate.severity in .mcpreel.toml: \"{}\" = \"off\"", rule.id)));
    facts
}

/// Returns the rules that mention a text as a whole word.
fn rules_about(text: &str, registry: &'static Registry) -> Vec<String> {
    let is_part = |found: char| found.is_alphanumeric() || matches!(found, '/' | '_' | '-');
    let mentions = |rule: &&Rule| rule.text.split(|found| !is_part(found)).any(|word| word == text);
    all_rules(registry).filter(mentions).map(|rule| rule.id.to_owned()).collect()
}

/// Returns the methods that a rule mentions, then the other rules of its family.
fn rules_beside(rule: &Rule, registry: &'static Registry) -> Vec<String> {
    let family = rule.id.split('/').next().unwrap_or_default();
    let is_beside = |other: &&Rule| other.id.split('/').next() == Some(family);
    let words = rule.text.split(|found: char| found.is_whitespace() || matches!(found, ',' | ';' | ')' | '(' | '`'));
    let methods =
        words.map(|word| word.trim_end_matches(['.', ':'])).filter(|word| registry.method_spec(word).is_some());
    methods.map(str::to_owned).chain(all_rules(registry).filter(is_beside).map(|other| other.id.to_owned())).collect()
}

/// What stands at a capability: `true` for a flag, an empty object for everything else.
fn leaf(path: &str) -> Value {
    let last = path.rsplit('.').next().unwrap_or_default();
    if matches!(last, "listChanged" | "subscribe") { true.into() } else { json!({}) }
}

/// Puts a value below these member names.
fn nested(path: &[&str], value: Value) -> Value {
    path.iter().rev().fold(value, |inner, name| json!({(*name): inner}))
}

#[cfg(test)]
mod tests;
