//! Packs: an extension of MCP as a file, with its capabilities, methods, schemas, summaries and rules. A pack becomes a
//! [`Proposal`], so that whatever reads messages treats both alike.
//!
//! It must never open a file, read a clock or print.

mod format;
mod observer;
mod plan;
mod pointer;
mod read;
mod state;
mod summary;
#[cfg(test)]
mod tests;

use crate::proposals::samples::{Sample, Samples};
use crate::proposals::{
    CapabilityPlace, Descriptor, Observer, Proposal, Rule, Severity, Shape, Side, SummarizedMessage,
};
use crate::protocol::schema::SchemaSet;
use crate::protocol::{MethodKind, MethodSpec, Revision, Sender};
use format::{Document, KindPart, SenderPart, SeverityPart, SidePart};
use plan::{Check, Dialect, Plan};
use serde_json::{Value, json};
use std::collections::HashMap;
use summary::Summary;

pub use format::schema;

/// The packs that mcpreel ships: their names and their texts.
pub(crate) const SHIPPED: &[(&str, &str)] = &[
    ("claude-channels", include_str!("pack/shipped/claude-channels.yaml")),
    ("mcp-events", include_str!("pack/shipped/mcp-events.yaml")),
];

/// A pack that was read and checked.
#[derive(Clone, Debug)]
pub struct Pack {
    document: Document,
    checks: Vec<Check>,
    dialects: Vec<Dialect>,
    summaries: HashMap<String, [Option<Summary>; 2]>,
    schemas: Value,
}

impl Pack {
    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.document.pack.value
    }

    /// Returns the names of its methods.
    pub(crate) fn methods(&self) -> impl Iterator<Item = &str> {
        self.document.methods.0.iter().map(|(name, _)| name.value.as_str())
    }

    /// Makes a proposal of the pack. Like the built-in proposals, it lives as long as the process.
    pub fn into_proposal(self) -> &'static dyn Proposal {
        let descriptor = self.descriptor();
        let rules = leaked_list(self.rules());
        let methods = &self.document.methods.0;
        let example = |(name, part): &(_, format::MethodPart)| {
            let name: &crate::scenario::Placed<String> = name;
            Some(Sample { method: name.value.clone(), params: part.example.clone()? })
        };
        let examples = methods.iter().filter_map(example).collect();
        let Self { checks, dialects, summaries, .. } = self;
        let plan = Plan { descriptor, rules, checks, dialects, summaries, examples };
        Box::leak(Box::new(PackProposal(Box::leak(Box::new(plan)))))
    }

    fn descriptor(&self) -> Descriptor {
        let document = &self.document;
        let source = leaked(&document.source);
        let text = leaked(&self.schemas.to_string());
        Descriptor {
            name: leaked(self.name()),
            title: leaked(&document.title),
            source,
            glossary: leaked(&document.glossary),
            about: sentence(&document.about, || format!("The side uses {}.", document.title)),
            methods: leaked_list(document.methods.0.iter().map(|(name, part)| method(&name.value, part, source))),
            texts: leaked_list(document.methods.0.iter().map(|(name, part)| {
                (leaked(&name.value), sentence(&part.about, || format!("A method of {}.", document.title)))
            })),
            errors: leaked_list(
                document.errors.0.iter().filter_map(|(code, text)| Some((code.value.parse().ok()?, leaked(text)))),
            ),
            dialects: leaked_list(
                document.dialects.0.iter().map(|(name, part)| (leaked(&name.value), leaked(&part.about))),
            ),
            tools: leaked_list(document.tools.0.iter().map(|(name, _)| leaked(&name.value))),
            places: leaked_list(document.capabilities.0.iter().map(|(name, part)| place(&name.value, part))),
            schemas: Box::leak(Box::new(SchemaSet::new(text))),
        }
    }

    fn rules(&self) -> impl Iterator<Item = Rule> {
        self.document.rules.0.iter().map(|(name, part)| Rule {
            id: leaked(&format!("{}/{}", self.name(), name.value)),
            severity: match part.severity {
                SeverityPart::Error => Severity::Error,
                SeverityPart::Warning => Severity::Warning,
                SeverityPart::Info => Severity::Info,
            },
            text: leaked(part.text.trim()),
            source: leaked(part.source.as_ref().unwrap_or(&self.document.source)),
            decision: None,
            fix: part.fix.as_ref().map(|fix| leaked(fix.trim())),
        })
    }
}

fn method(name: &str, part: &format::MethodPart, source: &'static str) -> MethodSpec {
    let revision = |text: &Option<crate::scenario::Placed<String>>| Revision::parse(&text.as_ref()?.value);
    MethodSpec {
        name: leaked(name),
        kind: match part.kind {
            KindPart::Request => MethodKind::Request,
            KindPart::Notification => MethodKind::Notification,
            KindPart::Either => MethodKind::Either,
        },
        sender: match part.from {
            SenderPart::Client => Sender::Client,
            SenderPart::Server => Sender::Server,
            SenderPart::Either => Sender::Either,
        },
        since: revision(&part.since).unwrap_or(Revision::ALL[0]),
        until: revision(&part.until).unwrap_or(Revision::NEWEST),
        about: leaked_names(&part.subject),
        source,
        stays_open: part.stays_open,
    }
}

fn place(name: &str, part: &format::CapabilityPart) -> CapabilityPlace {
    let side = match part.side {
        SidePart::Client => Side::Client,
        SidePart::Server => Side::Server,
    };
    let shape = match (&part.has_one_of, &part.has_only) {
        (Some(names), _) => Shape::HasOneOf(leaked_names(names)),
        (None, Some(names)) => Shape::HasOnly(leaked_names(names)),
        (None, None) => Shape::Any,
    };
    let definition = Some(leaked(&format!("capability:{name}")));
    CapabilityPlace { side, path: leaked_names(&part.at), canonical: !part.informal, shape, definition }
}

/// A text that lives as long as the process, as those of the built-in proposals do.
fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn leaked_list<T>(items: impl IntoIterator<Item = T>) -> &'static [T] {
    Box::leak(items.into_iter().collect::<Box<[T]>>())
}

fn leaked_names(names: &[String]) -> &'static [&'static str] {
    leaked_list(names.iter().map(|name| leaked(name)))
}

/// A text, or another one if it is empty.
fn sentence(text: &str, otherwise: impl FnOnce() -> String) -> &'static str {
    if text.trim().is_empty() { leaked(&otherwise()) } else { leaked(text.trim()) }
}

/// A pack as a proposal.
struct PackProposal(&'static Plan);

impl Proposal for PackProposal {
    fn descriptor(&self) -> &'static Descriptor {
        &self.0.descriptor
    }

    fn summarize(&self, spoken: &SummarizedMessage<'_>, out: &mut String) {
        let Some([of_params, of_result]) = self.0.summaries.get(spoken.method) else { return };
        let summary = if spoken.envelope.kind.is_response() { of_result } else { of_params };
        if let (Some(summary), Some(content)) = (summary, spoken.envelope.content()) {
            summary.write(content, out);
        }
    }

    fn rules(&self) -> &'static [Rule] {
        self.0.rules
    }

    fn observer(&self) -> Box<dyn Observer> {
        Box::new(observer::PackObserver::new(self.0))
    }

    fn samples(&self) -> Samples {
        Samples { capability: Some(json!({})), messages: self.0.examples.clone() }
    }
}
