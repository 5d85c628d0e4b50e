//! What is known about a method.

use super::{revisions, rules_about, texts};
use crate::proposals::{Proposal, Registry, Side};
use crate::protocol::capabilities::{self, CapabilitySpec};
use crate::protocol::schema::{SchemaSet, core};
use crate::protocol::{Era, MethodKind, MethodSpec, Revision, Sender, methods};
use serde_json::{Value, json};

/// Returns what a method does, as a sentence.
pub(super) fn about(spec: &MethodSpec, registry: &Registry) -> &'static str {
    match registry.of_method(spec.name) {
        Some(proposal) => texts::text(proposal.descriptor().texts, spec.name),
        None => texts::text(texts::METHODS, spec.name),
    }
}

/// Returns the facts about a method.
pub(super) fn facts(spec: &'static MethodSpec, registry: &Registry) -> Vec<(&'static str, String)> {
    let kind = match spec.kind {
        MethodKind::Request => "a request, which gets a response",
        MethodKind::Notification => "a notification, which gets no response",
        MethodKind::Either => "a request or a notification",
    };
    let mut facts = vec![("sent by", sender(spec.sender)), ("kind", kind.to_owned())];
    if let Some(proposal) = registry.of_method(spec.name) {
        let descriptor = proposal.descriptor();
        facts.push((registry.kind_of(descriptor.name), format!("{} ({})", descriptor.name, descriptor.title)));
    }
    facts.push(("revisions", revisions(spec.since, spec.until)));
    facts.extend(needs(spec, registry).map(|text| ("needs", text)));
    facts.push(("when", when(spec)));
    facts
}

fn sender(sender: Sender) -> String {
    match sender {
        Sender::Either => "either side".to_owned(),
        one => format!("the {}", one.name()),
    }
}

/// Returns the capabilities of MCP that a method needs.
fn capabilities_of(spec: &MethodSpec) -> impl Iterator<Item = &'static CapabilitySpec> {
    capabilities::CORE.iter().filter(|capability| capability.allows(spec))
}

/// Returns what must be declared before the method may be sent.
fn needs(spec: &'static MethodSpec, registry: &Registry) -> Option<String> {
    let places: Vec<String> = match registry.of_method(spec.name) {
        Some(proposal) => places(proposal),
        None => capabilities_of(spec).map(|one| format!("{} of the {}", one.path, one.side.name())).collect(),
    };
    (!places.is_empty()).then(|| places.join(", or "))
}

fn places(proposal: &dyn Proposal) -> Vec<String> {
    let canonical = proposal.descriptor().places.iter().filter(|place| place.canonical);
    let side = |side: Side| if side == Side::Client { "client" } else { "server" };
    canonical.map(|place| format!("{} of the {}", place.path.join("."), side(place.side))).collect()
}

/// Returns when a method may be sent.
fn when(spec: &MethodSpec) -> String {
    let in_session = match (spec.name, spec.sender) {
        ("initialize", _) => "first in a session",
        ("notifications/initialized", _) => "once, after the result of initialize",
        ("ping", _) => "at any time",
        ("notifications/message", _) => "at any time",
        _ => "after the handshake (initialize and notifications/initialized)",
    };
    let stateless = match (spec.kind, spec.sender) {
        (MethodKind::Notification, Sender::Server) => "while a request of the client is pending",
        _ => "at any time, with the revision and the client's capabilities in _meta",
    };
    match (spec.is_in_era(Era::Legacy), spec.is_in_era(Era::Modern)) {
        (true, true) => format!("{in_session}; in 2026-07-28, {stateless}"),
        (true, false) if is_input_request(spec) => {
            format!("{in_session}; in 2026-07-28, a result that asks for input contains it instead")
        }
        (false, true) => stateless.to_owned(),
        _ => in_session.to_owned(),
    }
}

/// Whether the newest revision has the method inside of results that ask for input.
fn is_input_request(spec: &MethodSpec) -> bool {
    spec.kind == MethodKind::Request
        && spec.sender == Sender::Server
        && core(Era::Modern).defines(&format!("{}:params", spec.name))
}

/// Returns the document that defines a method.
pub(super) fn source(spec: &MethodSpec) -> String {
    match methods::lookup(spec.name) {
        Some(_) => format!("MCP {}, schema", spec.until.as_str()),
        None => spec.source.to_owned(),
    }
}

/// Returns the schemas of a method in this revision, or else in the newest that has it.
pub(super) fn schemas(spec: &MethodSpec, revision: Option<Revision>, registry: &Registry) -> &'static SchemaSet {
    match registry.of_method(spec.name) {
        Some(proposal) => proposal.descriptor().schemas,
        None => core(revision.unwrap_or(spec.until).era()),
    }
}

/// Returns a message with this method.
pub(super) fn example(spec: &MethodSpec, registry: &Registry, params: Option<Value>) -> Value {
    let sample = registry.iter().flat_map(|proposal| proposal.samples().messages).find(|one| one.method == spec.name);
    let mut message = json!({"jsonrpc": "2.0"});
    if spec.kind != MethodKind::Notification {
        message["id"] = 1.into();
    }
    message["method"] = spec.name.into();
    match sample.map(|sample| sample.params).or(params) {
        Some(params) if params != json!({}) => message["params"] = params,
        _ => {}
    }
    message
}

/// Returns what is related to a method: its capabilities, methods with the same beginning, rules that mention it.
pub(super) fn related(spec: &'static MethodSpec, registry: &'static Registry) -> Vec<String> {
    let family = |name: &str| name.strip_prefix("notifications/").unwrap_or(name).split('/').next().map(str::to_owned);
    let own = family(spec.name);
    let proposed = registry.iter().flat_map(|proposal| proposal.descriptor().methods);
    let beside =
        methods::CORE.iter().chain(proposed).filter(|other| spec.name.contains('/') && family(other.name) == own);
    let capabilities = capabilities_of(spec).map(|one| format!("{}.{}", one.side.name(), one.path));
    capabilities.chain(beside.map(|other| other.name.to_owned())).chain(rules_about(spec.name, registry)).collect()
}
