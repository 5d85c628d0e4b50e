//! Rules that this proposal lays on a session, and the observer that checks them: the table, and what holds for every
//! method alike. What a part of the proposal asks for is in the module of that part.

mod channels;
mod exemptions;
mod inference;
mod push;
mod sets;
mod state;

pub use exemptions::exemption;

use super::DESCRIPTOR;
use crate::proposals::findings::rules;
use crate::proposals::{Declared, Findings, Observed, Observer, Side};
use crate::protocol::errors;
use crate::wire::MessageKind;
use serde_json::Value;
use std::collections::HashSet;

rules! {
    UNDECLARED = Error "mcpl/undeclared",
        "The proposal's methods are used only where both sides declared experimental.mcpl.",
        "seed 002 §3.2 and §3.3, C3";
    CAPABILITY = Warning "mcpl/capability-missing",
        "A method is used only where both sides declared its capability.",
        "seed 002 §5.1 and §5.2, C6";
    DECLARED_REFUSED = Warning "mcpl/declared-refused",
        "A method that a side declared is not refused by it as unknown.",
        "seed 002 §5.1 and §5.2, C6";
    VERSION = Warning "mcpl/version",
        "A block says its version as a string.",
        "seed 002 §5.1, C1";
    OTHER_VERSION = Info "mcpl/other-version",
        "These rules are those of version 0.4.",
        "seed 002 title and changelog, AMB-C15";
    AFTER_FLAG = Warning "mcpl/after-inference-flag",
        "contextHooks.afterInference is an object that says whether it blocks.",
        "seed 002 §5.1, AMB-C2";
    SETS_ARRAY = Warning "mcpl/feature-sets-array",
        "featureSets is an object keyed by the sets' names.",
        "seed 002 §6.1, C8";
    UNKNOWN_USE = Warning "mcpl/unknown-use",
        "A feature set's uses are among the proposal's seven.",
        "seed 002 §6.2, C7";
    BEFORE_UPDATE = Info "mcpl/before-first-update",
        "Pushes and hooks come after the host's first featureSets/update.",
        "seed 002 §5.3, C5";
    NO_UPDATE = Warning "mcpl/no-initial-update",
        "After the handshake the host sends featureSets/update.",
        "seed 002 §5.3, C5";
    UNKNOWN_SET = Error "mcpl/unknown-set",
        "A message names a feature set that the server declared.",
        "seed 002 §6.5 and §6.6, C13";
    UNKNOWN_SET_ACCEPTED = Warning "mcpl/unknown-set-accepted",
        "A host refuses messages of unknown feature sets, with -32003.",
        "seed 002 §6.6, C13";
    DISABLED_SET = Error "mcpl/push-disabled-set",
        "A server sends nothing for a feature set that the host disabled.",
        "seed 002 §6.7, C16";
    DISABLED_RACE = Info "mcpl/push-disabled-race",
        "A server respects an update at once; this came within 250 ms of it.",
        "seed 002 §6.7, C16";
    DISABLED_ACCEPTED = Error "mcpl/disabled-set-accepted",
        "A host refuses messages of feature sets that it disabled, with -32001.",
        "seed 002 §6.6, C14";
    REFUSAL_FORM = Info "mcpl/refusal-form",
        "Messages of disabled and unknown feature sets are refused with an error, not with accepted false.",
        "seed 002 §6.6 and §9.3, AMB-C13";
    REFUSAL_DATA = Info "mcpl/refusal-data",
        "Error -32001 says the feature set and whether it can be enabled.",
        "seed 002 §6.6, C14";
    UNLISTED_USE = Warning "mcpl/unlisted-use",
        "A feature set does only what its uses list.",
        "seed 002 §6.2, C15";
    HOOK_SET = Warning "mcpl/hook-feature-set",
        "A hook's request carries no featureSet; its answer does.",
        "seed 002 §6.5, C11";
    UPDATE_UNKNOWN = Warning "mcpl/update-unknown-set",
        "An update names feature sets that the server declared.",
        "seed 002 §6.7, C8 and C13";
    REMOVED_UNKNOWN = Warning "mcpl/removed-unknown-set",
        "A server takes away only feature sets that it declared.",
        "seed 002 §6.7, C18";
    SCOPE_UNSCOPED = Warning "mcpl/scope-unscoped-set",
        "Scopes are used with feature sets declared scoped.",
        "seed 002 §7.1, C19 and C20";
    SCOPE_PAYLOAD = Info "mcpl/scope-payload",
        "An approval returns the request's payload, perhaps enriched.",
        "seed 002 §7.5, C20 and C23";
    REFUSAL_REASON = Warning "mcpl/refusal-reason",
        "A refusal gives its reason.",
        "seed 002 §7.5 and §9.3, C20 and C38";
    TIMESTAMP = Warning "mcpl/timestamp",
        "A timestamp is ISO 8601 with date, time and zone.",
        "seed 002 §9.2 and §14.3, C37; X14";
    TIMESTAMP_UNREADABLE = Error "mcpl/timestamp-unreadable",
        "A timestamp is ISO 8601.",
        "seed 002 §9.2 and §14.3, C37; X14";
    CONTENT_STRING = Warning "mcpl/content-string",
        "Content is a list of blocks; the string shorthand belongs to hook injections.",
        "seed 002 §9.2 and §10.3, AMB-C8";
    CONTENT_BLOCKS = Warning "mcpl/content-blocks",
        "A message for inference has a string as its content.",
        "seed 002 §11.1, AMB-C8";
    MEDIA_TYPE = Warning "mcpl/media-without-type",
        "An image or audio block with data says its mimeType.",
        "seed 002 §10.3 and B.1, AMB-C9";
    MCP_RESOURCE = Warning "mcpl/mcp-resource-block",
        "A resource block has its uri beside its type, not in MCP's embedded form.",
        "seed 002 §10.3 and B.1, AMB-C16";
    EVENT_TWICE = Warning "mcpl/event-accepted-twice",
        "A host accepts an eventId once.",
        "seed 002 §9.4, C39";
    TURN_ORDER = Error "mcpl/turn-order",
        "turnIndex does not go back within a conversation.",
        "seed 002 §10.1, C43";
    INFERENCE_REUSED = Error "mcpl/inference-id-reused",
        "An inferenceId names one inference.",
        "seed 002 §10.1, C43";
    AFTER_FORM = Error "mcpl/after-inference-form",
        "afterInference is a request where the server's hook blocks, else a notification.",
        "seed 002 §10.5, C46 and AMB-C2";
    AFTER_ORPHAN = Warning "mcpl/after-without-before",
        "An afterInference follows the beforeInference of its inference.",
        "seed 002 §10.5, C47";
    SLOW_HOOK = Warning "mcpl/slow-hook",
        "beforeInference is answered within 5 s, a blocking afterInference within 10 s.",
        "seed 002 §10.6, C49";
    INFERENCE_IN_HOOK = Warning "mcpl/inference-in-hook",
        "A hook does not set off an inference/request.",
        "seed 002 §10.7, C50";
    CHUNK_UNKNOWN = Error "mcpl/chunk-unknown-request",
        "A chunk belongs to an inference/request that waits.",
        "seed 002 §11.4, C56";
    CHUNK_UNASKED = Error "mcpl/chunk-unasked",
        "Chunks are sent where stream is true.",
        "seed 002 §11.4, C56";
    CHUNK_ORDER = Error "mcpl/chunk-order",
        "Chunks are numbered from 0 without gaps.",
        "seed 002 §11.4, C55";
    CHUNK_TEXT = Error "mcpl/chunk-text",
        "The chunks together are the content of the response.",
        "seed 002 §11.4, C55";
    STATE_SHAPE = Error "mcpl/state-shape",
        "A result's state has a checkpoint and its parent, and a patch is RFC 6902.",
        "seed 002 §8.2 and §8.3, C28";
    STATE_BOTH = Warning "mcpl/state-data-and-patch",
        "A state carries data or a patch, not both.",
        "seed 002 §8.3, C28 and AMB-C6";
    UNKNOWN_PARENT = Error "mcpl/unknown-parent",
        "A checkpoint's parent is one that was given out, or null.",
        "seed 002 §8.2, C30";
    CHECKPOINT_REUSED = Warning "mcpl/checkpoint-reused",
        "A checkpoint's id names one state: given out again, it comes with the same data, patch and parent.",
        "seed 002 §8.2, C31";
    CALL_MEMBERS = Error "mcpl/call-members",
        "scope and checkpoint of a tools/call have their types.",
        "seed 002 §7.7 and §8.4, C25 and C32";
    STATE_AND_CHECKPOINT = Warning "mcpl/state-and-checkpoint",
        "A call carries the state or its checkpoint, not both.",
        "seed 002 §8.4, C32";
    STATE_WRAPPED = Warning "mcpl/state-wrapped",
        "A call's state is the bare data, not an object with a checkpoint.",
        "seed 002 §8.4, AMB-C7";
    ROLLBACK_UNDECLARED = Error "mcpl/rollback-undeclared",
        "A rollback is asked of feature sets declared with rollback.",
        "seed 002 §8.1 and §8.5, C33";
    ROLLBACK_CHECKPOINT = Warning "mcpl/rollback-checkpoint",
        "A rollback's answer names the checkpoint that was asked for.",
        "seed 002 §8.6, C34";
    ROLLBACK_UNKNOWN = Warning "mcpl/rollback-unknown",
        "A rollback to a checkpoint that is not known is refused with -32005.",
        "seed 002 §8.7, C34";
    ROLLBACK_PARENT = Warning "mcpl/rollback-parent",
        "After a rollback the next checkpoint branches off the one rolled back to.",
        "seed 002 §8.2, C34";
    CHANNEL_REUSED = Error "mcpl/channel-id-reused",
        "A channel's id names one channel of its connection, of one type at one address.",
        "seed 002 §14.2, C61";
    CHANNEL_CHANGE = Warning "mcpl/channel-change-unknown",
        "Only channels that are registered are updated and removed.",
        "seed 002 §14.3, C63";
    UNREGISTERED = Error "mcpl/unregistered-channel",
        "A channelId names a channel that is registered.",
        "seed 002 §14.3 and §14.6, C70";
    CHANNEL_DIRECTION = Error "mcpl/channel-direction",
        "Content goes the way that the channel's direction allows.",
        "seed 002 §14.2, C70";
    PUBLISH_THINKING = Error "mcpl/publish-thinking",
        "Nothing is published to the thinking channel.",
        "seed 002 §14.5, C71";
    OUTGOING_ORDER = Error "mcpl/outgoing-order",
        "Outgoing chunks of a channel are numbered from 0 without gaps.",
        "seed 002 §14.3, C66";
    OUTGOING_COMPLETED = Error "mcpl/outgoing-completed",
        "After outgoing/complete nothing more comes for that inference and channel.",
        "seed 002 §14.3, C66";
    OUTGOING_TEXT = Info "mcpl/outgoing-text",
        "The outgoing chunks together are the completed text, unless moderation changed it.",
        "seed 002 §14.3, C66";
    INCOMING_RESULTS = Error "mcpl/incoming-results",
        "The results name each message once.",
        "seed 002 §14.3, C69";
    CODE = Warning "mcpl/error-code",
        "A code of the proposal answers the methods that it is about.",
        "seed 002 appendix A and §14.6";
}

/// Checks one connection.
#[derive(Debug, Default)]
pub struct McplObserver {
    reported: HashSet<(&'static str, String), foldhash::fast::RandomState>,
    sets: sets::Sets,
    push: push::Pushes,
    inference: inference::Inferences,
    state: state::States,
    channels: channels::Channels,
}

impl Observer for McplObserver {
    fn observe(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let Some(method) = message.method else { return };
        let kind = message.envelope.kind;
        if method == "initialize" {
            return self.initialize(message, findings);
        }
        if method == "tools/call" {
            return self.state.tool_call(message, findings);
        }
        if !DESCRIPTOR.methods.iter().any(|spec| spec.name == method) {
            return;
        }
        match kind {
            MessageKind::Request | MessageKind::Notification => self.check_available(method, message, findings),
            MessageKind::Error => check_error(method, message, findings),
            _ => {}
        }
        self.sets.observe(method, message, findings);
        self.push.observe(method, message, findings);
        self.inference.observe(method, message, findings);
        self.state.observe(method, message, &self.sets, findings);
        self.channels.observe(method, message, findings);
    }

    fn lose_track(&mut self) {
        self.sets.lose_track();
        self.inference.lose_track();
        self.state.lose_track();
        self.channels.lose_track();
    }

    fn finish(&mut self, declared: &Declared, findings: &mut Findings) {
        self.sets.finish(declared, findings);
    }
}

impl McplObserver {
    fn initialize(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let side = match message.envelope.kind {
            MessageKind::Request => Side::Client,
            MessageKind::Result => Side::Server,
            _ => return,
        };
        let Some((_, block)) = message.declared.find(&DESCRIPTOR, side) else { return };
        let version = block["version"].as_str();
        findings.check(&VERSION, message.seq, version.is_some(), || format!("version is {}", block["version"]));
        let text = version.unwrap_or("0.4");
        let same = text == "0.4" || text.starts_with("0.4.");
        findings.check(&OTHER_VERSION, message.seq, same, || format!("version {text:?}"));
        if block["contextHooks"].get("afterInference").is_some() {
            findings.hold(&AFTER_FLAG);
        }
        if side == Side::Server {
            self.sets.declared(block, findings);
        }
    }

    fn check_available(&mut self, method: &str, message: &Observed<'_>, findings: &mut Findings) {
        let blocks = [Side::Client, Side::Server].map(|side| block(message.declared, side));
        if !message.declared.server.is_object() {
            return;
        }
        let lacking = ["client", "server"].into_iter().zip(blocks).find(|(_, block)| block.is_none());
        self.once(&UNDECLARED, method, message.seq, lacking.is_none(), findings, || {
            format!("{method}, and the {} did not declare", lacking.map_or("peer", |(side, _)| side))
        });
        if lacking.is_some() {
            return;
        }
        let Some(path) = capability(method) else { return };
        let lacks = ["client", "server"].into_iter().zip(blocks).find(|(_, block)| !grants(*block, path));
        self.once(&CAPABILITY, method, message.seq, lacks.is_none(), findings, || {
            format!("{method}, and the {} lacks {}", lacks.map_or("peer", |(side, _)| side), path.join("."))
        });
    }

    /// Checks a rule that is told once a method.
    fn once(
        &mut self,
        rule: &'static crate::proposals::Rule,
        method: &str,
        seq: u64,
        holds: bool,
        findings: &mut Findings,
        seen: impl FnOnce() -> String,
    ) {
        if holds || self.reported.insert((rule.id, method.to_owned())) {
            findings.check(rule, seq, holds, seen);
        }
    }
}

/// A side's block, where it declared one.
fn block(declared: &Declared, side: Side) -> Option<&Value> {
    declared.find(&DESCRIPTOR, side).map(|(_, value)| value)
}

/// Whether a block grants a capability; `true` on the way grants all below it, as libraries flatten it (C60).
fn grants(block: Option<&Value>, path: &[&str]) -> bool {
    let Some(mut value) = block else { return false };
    for name in path {
        if *value == Value::Bool(true) {
            return true;
        }
        match value.get(name) {
            Some(inner) => value = inner,
            None => return false,
        }
    }
    !matches!(value, Value::Null | Value::Bool(false))
}

/// The capability that a method needs, below the block.
fn capability(method: &str) -> Option<&'static [&'static str]> {
    Some(match method {
        super::PUSH_EVENT => &["pushEvents"],
        "context/beforeInference" => &["contextHooks", "beforeInference"],
        "context/afterInference" => &["contextHooks", "afterInference"],
        "inference/request" | "inference/chunk" => &["inferenceRequest"],
        "model/info" => &["modelInfo"],
        "channels/register" | "channels/changed" => &["channels", "register"],
        "channels/open" | "channels/close" => &["channels", "lifecycle"],
        "channels/publish" => &["channels", "publish"],
        "channels/outgoing/chunk" => &["channels", "streaming"],
        "channels/outgoing/complete" => &["channels", "observe"],
        "channels/list" | "channels/incoming" => &["channels"],
        _ => return None,
    })
}

fn check_error(method: &str, message: &Observed<'_>, findings: &mut Findings) {
    let Some(code) = message.content["code"].as_i64() else { return };
    let in_place = match code {
        -32001 | -32003 => {
            matches!(method, super::PUSH_EVENT | "inference/request" | "scope/elevate" | "state/rollback")
        }
        -32005 => method == "state/rollback",
        -32017 | -32023 => method.starts_with("channels/"),
        -32024 => method == "channels/open",
        _ => true,
    };
    findings.check(&CODE, message.seq, in_place, || format!("error {code} in answer to {method}"));
    let both = [Side::Client, Side::Server].map(|side| block(message.declared, side));
    if capability(method).is_some_and(|path| both.iter().all(|block| grants(*block, path))) {
        let unknown = code == errors::METHOD_NOT_FOUND;
        findings.check(&DECLARED_REFUSED, message.seq, !unknown, || format!("{method} refused with {code}"));
    }
}
