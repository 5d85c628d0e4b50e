//! The proposals' capability blocks: where they are declared, whether they fit their schemas, and which clients see
//! them.

use super::report::Declaration;
use super::rules;
use super::subject::Message;
use crate::proposals::{CapabilityPlace, Findings, Proposal, Side};
use crate::wire::MessageKind;
use serde_json::Value;

/// Checks the capability blocks of all proposals, if the message declares capabilities.
pub(super) fn check(message: &Message<'_>, findings: &mut Findings) {
    let Some((side, capabilities)) = declared_in(message) else { return };
    let seq = message.observed.seq;
    let part = match side {
        Side::Client => "params",
        Side::Server => "result",
    };
    for proposal in message.registry.iter() {
        let blocks: Vec<_> = blocks(proposal, side, capabilities).collect();
        for (place, value) in &blocks {
            let base = format!("/{part}/capabilities/{}", place.path.join("/"));
            let definition = place.definition();
            super::schema::check_proposal(proposal, definition, value, &base, &rules::CAPABILITY_SHAPE, seq, findings);
        }
        if side == Side::Server
            && let Some((place, _)) = blocks.first()
        {
            let passes = |place: &CapabilityPlace| matches!(place.path.first(), Some(&"experimental" | &"extensions"));
            findings.check(&rules::STRIPPED, seq, blocks.iter().any(|(place, _)| passes(place)), || {
                let (name, place) = (proposal.descriptor().name, place.path.join("."));
                format!("the server declares {name} only at {place}, where official SDKs drop it")
            });
        }
    }
}

/// Adds the proposals that the message declares to the list.
pub(super) fn note_declared(message: &Message<'_>, list: &mut Vec<Declaration>) {
    let Some((side, capabilities)) = declared_in(message) else { return };
    for proposal in message.registry.iter() {
        for (place, _) in blocks(proposal, side, capabilities) {
            let declaration = Declaration {
                proposal: proposal.descriptor().name,
                side,
                place: place.path.join("."),
                canonical: place.canonical,
                dialect: None,
            };
            if !list.contains(&declaration) {
                list.push(declaration);
            }
        }
    }
}

fn blocks<'a>(
    proposal: &'static dyn Proposal,
    side: Side,
    capabilities: &'a Value,
) -> impl Iterator<Item = (&'static CapabilityPlace, &'a Value)> {
    let places = proposal.descriptor().places.iter().filter(move |place| place.side == side);
    places.filter_map(move |place| Some((place, place.value(capabilities)?)))
}

/// Returns the capabilities that a message declares, and which side declares them.
fn declared_in<'a>(message: &Message<'a>) -> Option<(Side, &'a Value)> {
    let observed = &message.observed;
    let side = match (observed.method?, observed.envelope.kind) {
        ("initialize", MessageKind::Request) => Side::Client,
        ("initialize" | "server/discover", MessageKind::Result) => Side::Server,
        _ => return None,
    };
    observed.content.get("capabilities").map(|capabilities| (side, capabilities))
}
