//! The rules of MCPL and the observer that checks them: the table of rules, and the checks that apply to all methods.
//! The submodules check one part of the proposal each.

mod channels;
mod exemptions;
mod inference;
mod push;
mod sets;
mod state;

pub(crate) use exemptions::exemption;

use super::DESCRIPTOR;
use crate::proposals::findings::rules;
use crate::proposals::{Declared, Findings, Observed, Observer, Side};
use crate::protocol::errors;
use crate::wire::MessageKind;
use serde_json::Value;
use std::collections::HashSet;

rules! {
    UNDECLARED = Error "mcpl/undeclared",
        "Methods of MCPL are used only if both sides declared `experimental.mcpl`.",
        "MCPL 0.4 §3.2 and §3.3";
    CAPABILITY = Warning "mcpl/capability-missing",
        "A method of MCPL is used only if both sides declared its capability within `experimental.mcpl`.",
        "MCPL 0.4 §5.1 and §5.2";
    DECLARED_REFUSED = Warning "mcpl/declared-refused",
        "A side that declared a capability within `experimental.mcpl` does not answer one of its methods with -32601 (method not found).",
        "MCPL 0.4 §5.1 and §5.2";
    VERSION = Warning "mcpl/version",
        "The capability `experimental.mcpl` contains a `version`, which is a string.",
        "MCPL 0.4 §5.1";
    OTHER_VERSION = Info "mcpl/other-version",
        "The session uses version 0.4 of MCPL, which is the version that mcpreel knows.",
        "MCPL 0.4 title and changelog, AMB-C15",
        assumes "The proposal's title says 0.4.1, its messages say 0.4. mcpreel takes 0.4 and everything that begins with 0.4. as the same version.";
    AFTER_FLAG = Warning "mcpl/after-inference-flag",
        "`contextHooks.afterInference` is an object such as `{\"blocking\": true}`, not a bare `true` or `false`.",
        "MCPL 0.4 §5.1, AMB-C2",
        assumes "Both sides declare the flag. mcpreel takes the host's as its support for blocking hooks.";
    SETS_ARRAY = Warning "mcpl/feature-sets-array",
        "The capability `featureSets` is an object whose keys are the names of the feature sets, not an array.",
        "MCPL 0.4 §6.1";
    UNKNOWN_USE = Warning "mcpl/unknown-use",
        "The `uses` of a feature set are among those that MCPL defines.",
        "MCPL 0.4 §6.2";
    BEFORE_UPDATE = Info "mcpl/before-first-update",
        "The host's first `featureSets/update` comes before any push event, context hook, inference request or scope request.",
        "MCPL 0.4 §5.3";
    NO_UPDATE = Warning "mcpl/no-initial-update",
        "The host sends `featureSets/update` after the handshake.",
        "MCPL 0.4 §5.3";
    UNKNOWN_SET = Error "mcpl/unknown-set",
        "A feature set that a message names was declared by the server.",
        "MCPL 0.4 §6.5 and §6.6";
    UNKNOWN_SET_ACCEPTED = Warning "mcpl/unknown-set-accepted",
        "A host refuses messages of a feature set that the server did not declare, with error -32003.",
        "MCPL 0.4 §6.6";
    DISABLED_SET = Error "mcpl/push-disabled-set",
        "A server sends no messages for a feature set that the host disabled.",
        "MCPL 0.4 §6.7";
    DISABLED_RACE = Info "mcpl/push-disabled-race",
        "A server sends nothing for a disabled feature set, not even in the 250 ms after `featureSets/update`, when the two messages may have crossed.",
        "MCPL 0.4 §6.7";
    DISABLED_ACCEPTED = Error "mcpl/disabled-set-accepted",
        "A host refuses messages of a feature set that it disabled, with error -32001.",
        "MCPL 0.4 §6.6";
    REFUSAL_FORM = Info "mcpl/refusal-form",
        "A host refuses messages of disabled and unknown feature sets with an error, not with `accepted: false`.",
        "MCPL 0.4 §6.6 and §9.3, AMB-C13",
        assumes "§6.6 asks for an error, §9.3 for `accepted: false`. mcpreel accepts both; its host sends an error.";
    REFUSAL_DATA = Info "mcpl/refusal-data",
        "The `data` of error -32001 contains `featureSet` and `canEnable`.",
        "MCPL 0.4 §6.6";
    UNLISTED_USE = Warning "mcpl/unlisted-use",
        "A feature set is used only for what its `uses` list.",
        "MCPL 0.4 §6.2";
    HOOK_SET = Warning "mcpl/hook-feature-set",
        "Only the response to a context hook names a `featureSet`, not the request.",
        "MCPL 0.4 §6.5";
    UPDATE_UNKNOWN = Warning "mcpl/update-unknown-set",
        "`featureSets/update` names only feature sets that the server declared.",
        "MCPL 0.4 §6.7";
    REMOVED_UNKNOWN = Warning "mcpl/removed-unknown-set",
        "A server removes only feature sets that it declared.",
        "MCPL 0.4 §6.7";
    SCOPE_UNSCOPED = Warning "mcpl/scope-unscoped-set",
        "Scopes are requested and granted only for feature sets that are declared with `scoped: true`.",
        "MCPL 0.4 §7.1";
    SCOPE_PAYLOAD = Info "mcpl/scope-payload",
        "When the host approves a scope, it returns the `payload` of the request; it may add members.",
        "MCPL 0.4 §7.5";
    REFUSAL_REASON = Warning "mcpl/refusal-reason",
        "A result that refuses a request contains a `reason`.",
        "MCPL 0.4 §7.5 and §9.3";
    TIMESTAMP = Warning "mcpl/timestamp",
        "A timestamp is complete: it has a date, a time and a time zone, as in `2026-07-28T09:00:00Z`.",
        "MCPL 0.4 §9.2 and §14.3";
    TIMESTAMP_UNREADABLE = Error "mcpl/timestamp-unreadable",
        "A timestamp is in a form of ISO 8601; other texts mean no point in time.",
        "MCPL 0.4 §9.2 and §14.3";
    CONTENT_STRING = Warning "mcpl/content-string",
        "The `content` of events and channel messages is a list of content blocks; only the injections of context hooks may have a string.",
        "MCPL 0.4 §9.2 and §10.3, AMB-C8",
        assumes "The proposal defines the short form for hooks only. mcpreel accepts it everywhere, with this warning.";
    CONTENT_BLOCKS = Warning "mcpl/content-blocks",
        "Unlike elsewhere in MCPL, the `content` of each message in an `inference/request` is a string.",
        "MCPL 0.4 §11.1, AMB-C8",
        assumes "The proposal defines a string here and blocks elsewhere. mcpreel accepts both, with this warning.";
    MEDIA_TYPE = Warning "mcpl/media-without-type",
        "An image or audio block that contains `data` has a `mimeType`.",
        "MCPL 0.4 §10.3 and Appendix B.1, AMB-C9",
        assumes "§10.3 and Appendix B disagree about the type. mcpreel accepts data without it, with this warning.";
    MCP_RESOURCE = Warning "mcpl/mcp-resource-block",
        "A resource block has its `uri` next to its `type`, not in a `resource` object as in MCP.",
        "MCPL 0.4 §10.3 and Appendix B.1, AMB-C16",
        assumes "The proposal's resource blocks differ from MCP's. mcpreel accepts both, with this warning.";
    EVENT_TWICE = Warning "mcpl/event-accepted-twice",
        "A host accepts each `eventId` only once.",
        "MCPL 0.4 §9.4";
    TURN_ORDER = Error "mcpl/turn-order",
        "The `turnIndex` of a conversation does not decrease.",
        "MCPL 0.4 §10.1";
    INFERENCE_REUSED = Error "mcpl/inference-id-reused",
        "Each inference has an `inferenceId` of its own.",
        "MCPL 0.4 §10.1";
    AFTER_FORM = Error "mcpl/after-inference-form",
        "`context/afterInference` is a request if both sides declared it as blocking, and a notification otherwise.",
        "MCPL 0.4 §10.5, AMB-C2",
        assumes "Both sides declare the flag. mcpreel takes the hook as blocking if both say so.";
    AFTER_ORPHAN = Warning "mcpl/after-without-before",
        "`context/afterInference` follows the `context/beforeInference` of the same inference.",
        "MCPL 0.4 §10.5";
    SLOW_HOOK = Warning "mcpl/slow-hook",
        "A server responds to `context/beforeInference` within 5 s, and to a blocking `context/afterInference` within 10 s.",
        "MCPL 0.4 §10.6";
    INFERENCE_IN_HOOK = Warning "mcpl/inference-in-hook",
        "A server sends no `inference/request` before it has responded to a context hook.",
        "MCPL 0.4 §10.7";
    CHUNK_UNKNOWN = Error "mcpl/chunk-unknown-request",
        "A chunk belongs to an `inference/request` that has no response yet.",
        "MCPL 0.4 §11.4";
    CHUNK_UNASKED = Error "mcpl/chunk-unasked",
        "Chunks are sent only if the `inference/request` contains `stream: true`.",
        "MCPL 0.4 §11.4";
    CHUNK_ORDER = Error "mcpl/chunk-order",
        "The chunks of an inference are numbered from 0 without gaps.",
        "MCPL 0.4 §11.4";
    CHUNK_TEXT = Error "mcpl/chunk-text",
        "The chunks of an inference, put together, equal the `content` of its response.",
        "MCPL 0.4 §11.4";
    STATE_SHAPE = Error "mcpl/state-shape",
        "The `state` in a tool's result has a `checkpoint` and a `parent`; a `patch` is a JSON Patch (RFC 6902).",
        "MCPL 0.4 §8.2 and §8.3";
    STATE_BOTH = Warning "mcpl/state-data-and-patch",
        "The `state` in a tool's result contains `data` or a `patch`, not both.",
        "MCPL 0.4 §8.3, AMB-C6",
        assumes "The proposal does not say which one counts. mcpreel uses `data`.";
    UNKNOWN_PARENT = Error "mcpl/unknown-parent",
        "The `parent` of a checkpoint is an earlier checkpoint of the server, or null.",
        "MCPL 0.4 §8.2";
    CHECKPOINT_REUSED = Warning "mcpl/checkpoint-reused",
        "A checkpoint's id stands for one state: if it occurs again, `data`, `patch` and `parent` are the same.",
        "MCPL 0.4 §8.2";
    CALL_MEMBERS = Error "mcpl/call-members",
        "In a `tools/call`, `scope` and `checkpoint` have the types that MCPL defines.",
        "MCPL 0.4 §7.7 and §8.4";
    STATE_AND_CHECKPOINT = Warning "mcpl/state-and-checkpoint",
        "A `tools/call` contains the `state` or its `checkpoint`, not both.",
        "MCPL 0.4 §8.4";
    STATE_WRAPPED = Warning "mcpl/state-wrapped",
        "The `state` in a `tools/call` is the bare data, not an object with a `checkpoint`.",
        "MCPL 0.4 §8.4, AMB-C7",
        assumes "The proposal does not say in which form a state is returned to the server. mcpreel expects the bare data.";
    ROLLBACK_UNDECLARED = Error "mcpl/rollback-undeclared",
        "A host rolls back only feature sets that are declared with `rollback: true`.",
        "MCPL 0.4 §8.1 and §8.5";
    ROLLBACK_CHECKPOINT = Warning "mcpl/rollback-checkpoint",
        "The result of `state/rollback` names the requested checkpoint.",
        "MCPL 0.4 §8.6";
    ROLLBACK_UNKNOWN = Warning "mcpl/rollback-unknown",
        "A server refuses to roll back to an unknown checkpoint, with error -32005.",
        "MCPL 0.4 §8.7";
    ROLLBACK_PARENT = Warning "mcpl/rollback-parent",
        "The `parent` of the first checkpoint after a rollback is the checkpoint that was rolled back to.",
        "MCPL 0.4 §8.2";
    CHANNEL_REUSED = Error "mcpl/channel-id-reused",
        "A channel's id stands for one channel of the connection, with one type and one address.",
        "MCPL 0.4 §14.2";
    CHANNEL_CHANGE = Warning "mcpl/channel-change-unknown",
        "`channels/changed` updates and removes only channels that are registered.",
        "MCPL 0.4 §14.3";
    UNREGISTERED = Error "mcpl/unregistered-channel",
        "A `channelId` names a registered channel.",
        "MCPL 0.4 §14.3 and §14.6";
    CHANNEL_DIRECTION = Error "mcpl/channel-direction",
        "No message is published to an inbound channel, and none arrives from an outbound channel.",
        "MCPL 0.4 §14.2";
    PUBLISH_THINKING = Error "mcpl/publish-thinking",
        "The host publishes nothing to the channel `thinking`, which shows what the model thinks.",
        "MCPL 0.4 §14.5";
    OUTGOING_ORDER = Error "mcpl/outgoing-order",
        "The `channels/outgoing/chunk` messages of an inference and channel are numbered from 0 without gaps.",
        "MCPL 0.4 §14.3";
    OUTGOING_COMPLETED = Error "mcpl/outgoing-completed",
        "No `channels/outgoing/chunk` or second `channels/outgoing/complete` follows the `channels/outgoing/complete` of an inference and channel.",
        "MCPL 0.4 §14.3";
    OUTGOING_TEXT = Info "mcpl/outgoing-text",
        "The outgoing chunks, put together, equal the text in `channels/outgoing/complete`, unless moderation changed it.",
        "MCPL 0.4 §14.3";
    INCOMING_RESULTS = Error "mcpl/incoming-results",
        "The result of `channels/incoming` has exactly one entry for each message.",
        "MCPL 0.4 §14.3";
    CODE = Warning "mcpl/error-code",
        "An error code of MCPL occurs only in responses to the methods that it is meant for.",
        "MCPL 0.4 Appendix A and §14.6";
}

/// Checks one connection.
#[derive(Debug, Default)]
pub(super) struct McplObserver {
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
            format!(
                "{method} was sent, but the {} did not declare experimental.mcpl",
                lacking.map_or("peer", |(side, _)| side)
            )
        });
        if lacking.is_some() {
            return;
        }
        let Some(path) = capability(method) else { return };
        let lacks = ["client", "server"].into_iter().zip(blocks).find(|(_, block)| !grants(*block, path));
        self.once(&CAPABILITY, method, message.seq, lacks.is_none(), findings, || {
            format!(
                "{method} was sent, but the {} did not declare {}",
                lacks.map_or("peer", |(side, _)| side),
                path.join(".")
            )
        });
    }

    /// Checks a rule that is reported once per method.
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

/// The capability block of a side, if it declared one.
fn block(declared: &Declared, side: Side) -> Option<&Value> {
    declared.find(&DESCRIPTOR, side).map(|(_, value)| value)
}

/// Whether a block grants a capability. `true` on the way to it grants everything below, because some libraries
/// flatten the block like this (MCPL 0.4 §14.1).
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

/// The path of the capability that a method needs, within the block.
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
    findings.check(&CODE, message.seq, in_place, || format!("{method} was answered by error {code}"));
    let both = [Side::Client, Side::Server].map(|side| block(message.declared, side));
    if capability(method).is_some_and(|path| both.iter().all(|block| grants(*block, path))) {
        let unknown = code == errors::METHOD_NOT_FOUND;
        findings.check(&DECLARED_REFUSED, message.seq, !unknown, || {
            format!("{method} was declared, but answered by error {code}")
        });
    }
}
