//! The rules of MCPL and the observer that checks them: the table of rules, and the checks that apply to all methods.
//! The submodules check one part of the proposal each.

mod channels;
mod exemptions;
mod imitation;
mod inference;
mod push;
mod reconstruction;
mod scopes;
mod sets;
mod state;

pub(crate) use exemptions::exemption;

use super::{DESCRIPTOR, SCHEMAS};
use crate::proposals::findings::rules;
use crate::proposals::{Declared, Findings, Observed, Observer, Side};
use crate::protocol::errors;
use crate::protocol::methods::MethodKind;
use crate::wire::{Direction, MessageKind};
use serde_json::Value;
use std::collections::HashSet;

/// The questions that the proposal leaves open (`AMB-…`), and what mcpreel assumes.
mod open_questions {
    pub(super) const C2: &str = "Client and server both declare `blocking`, and the proposal does not say what applies if they differ. mcpreel takes the hook as blocking only if both declare true.";
    pub(super) const C4: &str = "Nothing in the proposal says which feature set a tool belongs to. mcpreel takes the `featureSet` in the tool's definition or in its `_meta`. If no definition has one, it takes the only set that uses tools; if several do, it may be any of them.";
    pub(super) const C6: &str = "The proposal does not say which one counts. mcpreel uses `data`.";
    pub(super) const C7: &str =
        "The proposal does not say in which form a state is returned to the server. mcpreel expects the bare data.";
    pub(super) const C8: &str = "The proposal uses lists of blocks in most messages, a string in `inference/request`, and allows both in context hooks. mcpreel accepts either form everywhere, with a warning where the proposal defines the other one.";
    pub(super) const C9: &str =
        "§10.3 and Appendix B disagree about the type. mcpreel accepts data without it, with this warning.";
    pub(super) const C10: &str = "Patterns such as `discord:acme/*` do not match channel ids such as `discord:#general`. mcpreel compares patterns with the id, the label, and the type with the address.";
    pub(super) const C13: &str =
        "§6.6 asks for an error, §9.3 for `accepted: false`. mcpreel accepts both; its host sends an error.";
    pub(super) const C15: &str = "The proposal's title says 0.4.1, its messages say 0.4. mcpreel takes 0.4 and everything that begins with 0.4. as the same version.";
    pub(super) const C16: &str =
        "The proposal's resource blocks differ from MCP's. mcpreel accepts both, with this warning.";
}

rules! {
    UNDECLARED = Error "mcpl/undeclared",
        "Client and server send the methods of MCPL (such as `push/event`) only if both declared `experimental.mcpl` in `initialize`.",
        "MCPL 0.4 §3.2 and §3.3",
        fix "Declare `experimental.mcpl` in `initialize`, and send its methods only if the other side did, too.";
    CAPABILITY = Warning "mcpl/capability-missing",
        "Client and server send a method of MCPL only if both declared the capability for it in `experimental.mcpl`, such as `pushEvents` for `push/event`.",
        "MCPL 0.4 §5.1 and §5.2",
        fix "Read what the other side declared, and send only methods that both sides declared.";
    DECLARED_REFUSED = Warning "mcpl/declared-refused",
        "If client and server both declared a capability in `experimental.mcpl`, neither answers one of the capability's methods with error -32601 (method not found).",
        "MCPL 0.4 §5.1 and §5.2",
        fix "Handle the method, or do not declare its capability.";
    VERSION = Warning "mcpl/version",
        "A side that declares `experimental.mcpl` gives it a `version`, which is a string.",
        "MCPL 0.4 §5.1",
        fix "Add `\"version\": \"0.4\"` to `experimental.mcpl`.";
    OTHER_VERSION = Info "mcpl/other-version",
        "A side that declares `experimental.mcpl` gives it the `version` 0.4, which is the one that mcpreel knows.",
        "MCPL 0.4 title and changelog, AMB-C15",
        assumes open_questions::C15,
        fix "Declare version 0.4, or ask mcpreel's maintainers to support yours.";
    AFTER_FLAG = Warning "mcpl/after-inference-flag",
        "A side that declares `contextHooks.afterInference` writes an object such as `{\"blocking\": true}`, not a bare `true` or `false`.",
        "MCPL 0.4 §5.1, AMB-C2",
        assumes open_questions::C2,
        fix "Write `{\"blocking\": true}` or `{\"blocking\": false}`.";
    SETS_ARRAY = Warning "mcpl/feature-sets-array",
        "The server declares `featureSets` in `experimental.mcpl` as an object whose keys are the names of the feature sets, not as an array.",
        "MCPL 0.4 §6.1",
        fix "Make the name of each feature set the key of its description.";
    UNKNOWN_USE = Warning "mcpl/unknown-use",
        "In the `uses` of a feature set, the server lists only uses that MCPL defines, such as `pushEvents` or `inferenceRequest`.",
        "MCPL 0.4 §6.2",
        fix "Use the names of MCPL 0.4 §6.2 exactly as they are spelled there.";
    BEFORE_UPDATE = Info "mcpl/before-first-update",
        "The host sends its first `featureSets/update` before any `context/beforeInference` or `context/afterInference`, and the server waits for it before it sends `push/event`, `inference/request` or `scope/elevate`.",
        "MCPL 0.4 §5.3",
        fix "Host: send `featureSets/update` right after `notifications/initialized`; server: wait for it.";
    NO_UPDATE = Warning "mcpl/no-initial-update",
        "The host sends `featureSets/update` at least once after `notifications/initialized`, if the server declared feature sets. Checked at the end of the session.",
        "MCPL 0.4 §5.3",
        fix "Send `featureSets/update` right after `notifications/initialized`.";
    UNKNOWN_SET = Error "mcpl/unknown-set",
        "The server must have declared each feature set that it names as `featureSet` in `push/event`, `inference/request`, `scope/elevate` or its result of a context hook.",
        "MCPL 0.4 §6.5 and §6.6",
        fix "Declare the set in `featureSets`, or announce it with `featureSets/changed` first.";
    UNKNOWN_SET_ACCEPTED = Warning "mcpl/unknown-set-accepted",
        "The host must refuse a `push/event`, `inference/request` or `scope/elevate` for a feature set that the server did not declare, with error -32003.",
        "MCPL 0.4 §6.6",
        fix "Look the feature set up among the declared ones, and answer -32003 if it is not there.";
    DISABLED_SET = Error "mcpl/push-disabled-set",
        "The server must not name a feature set in `push/event`, `inference/request`, `scope/elevate` or its result of a context hook later than 250 ms after the host disabled the set with `featureSets/update`.",
        "MCPL 0.4 §6.7",
        fix "Keep the enabled sets of the last `featureSets/update`, and check them before you send.";
    DISABLED_RACE = Info "mcpl/push-disabled-race",
        "The server names no feature set that the host disabled, not even in the 250 ms after `featureSets/update`. In that time, the two messages may have crossed, so this is no error.",
        "MCPL 0.4 §6.7",
        fix "Expect the host's error -32001 here; nothing else needs to be done.";
    DISABLED_ACCEPTED = Error "mcpl/disabled-set-accepted",
        "The host must refuse a `push/event`, `inference/request` or `scope/elevate` for a feature set that it disabled, with error -32001.",
        "MCPL 0.4 §6.6",
        fix "Look the feature set up among the enabled ones, and answer -32001 if it is not there.";
    REFUSAL_FORM = Info "mcpl/refusal-form",
        "The host refuses a `push/event` or `scope/elevate` for a disabled or undeclared feature set with a JSON-RPC error, not with a result such as `accepted: false`.",
        "MCPL 0.4 §6.6 and §9.3, AMB-C13",
        assumes open_questions::C13,
        fix "Answer with error -32001 for a disabled set, and -32003 for an unknown one.";
    REFUSAL_DATA = Info "mcpl/refusal-data",
        "A host that sends error -32001 (feature set not enabled) says in the error's `data` which set (`featureSet`) and whether it can be enabled (`canEnable`).",
        "MCPL 0.4 §6.6",
        fix "Add `{\"featureSet\": NAME, \"canEnable\": true or false}` as the error's `data`.";
    REFUSAL_CODE = Warning "mcpl/refusal-code",
        "The host refuses a `push/event`, `inference/request` or `scope/elevate` for a feature set that it disabled with error -32001, and for one that the server did not declare with error -32003; it uses neither of the two for the other, nor -32602 (invalid params), and not -32001 for a set that it enabled.",
        "MCPL 0.4 §6.6",
        fix "Answer with error -32001 (feature set not enabled) or -32003 (unknown feature set).";
    UNDECLARED_REFUSAL = Warning "mcpl/undeclared-refusal",
        "A side that did not declare the capability for a method of MCPL refuses the method with error -32601 (method not found), not with -32602 (invalid params).",
        "MCPL 0.4 §3.3; JSON-RPC 2.0 §5.1",
        fix "Answer with error -32601 (method not found).";
    UNLISTED_USE = Warning "mcpl/unlisted-use",
        "The server names a feature set in a message only if the set's `uses` list the message's purpose: `pushEvents` for `push/event`, `inferenceRequest` for `inference/request`, `contextHooks.beforeInference` or `contextHooks.afterInference` for the result of that hook.",
        "MCPL 0.4 §6.2",
        fix "Add the use to the `uses` of the feature set, or name another set.";
    HOOK_SET = Warning "mcpl/hook-feature-set",
        "The host sends `context/beforeInference` and `context/afterInference` without a `featureSet`; the server names one in its result.",
        "MCPL 0.4 §6.5",
        fix "Host: leave `featureSet` out of the request; server: put it into the result.";
    UPDATE_UNKNOWN = Warning "mcpl/update-unknown-set",
        "In `featureSets/update`, the host names only feature sets that the server declared; a pattern such as `memory.*` must match at least one.",
        "MCPL 0.4 §6.7",
        fix "Take names only from the server's declaration and its `featureSets/changed`.";
    UPDATE_BOTH = Warning "mcpl/update-contradicts",
        "No name is in both `enabled` and `disabled` of one `featureSets/update`.",
        "MCPL 0.4 §6.7",
        fix "Put each feature set into one list. A wildcard in the other list may match it.";
    REMOVED_UNKNOWN = Warning "mcpl/removed-unknown-set",
        "In `removed` of `featureSets/changed`, the server names only feature sets that it declared before.",
        "MCPL 0.4 §6.7",
        fix "Keep the declared sets in one list, and remove only names that are on it.";
    SCOPE_UNSCOPED = Warning "mcpl/scope-unscoped-set",
        "The server asks for scopes (`scope/elevate`), and the host grants them (`scopes` in `featureSets/update`), only for feature sets that the server declared with `scoped: true`.",
        "MCPL 0.4 §7.1",
        fix "Add `scoped: true` to the declaration of the set, or do not use scopes for it.";
    SCOPE_PAYLOAD = Info "mcpl/scope-payload",
        "When the host approves a `scope/elevate`, its result repeats all members of the requested scope's `payload` unchanged; it may add others.",
        "MCPL 0.4 §7.5",
        fix "Copy the requested `payload` into the result, and change none of its members.";
    SCOPE_BLACKLISTED = Warning "mcpl/scope-blacklisted",
        "The host denies a `scope/elevate` whose label is on the blacklist that the host sent for the feature set in `featureSets/update`. (For patterns, see mcpl/scope-pattern.)",
        "MCPL 0.4 §7.6",
        fix "Answer with `approved: false` and a `reason`, or take the pattern off the blacklist with `featureSets/update` first.";
    SCOPE_WHITELISTED = Warning "mcpl/scope-whitelisted",
        "The host approves a `scope/elevate` whose label is on the whitelist that the host sent for the feature set in `featureSets/update`, and that its blacklist does not match. (For patterns, see mcpl/scope-pattern.)",
        "MCPL 0.4 §7.6",
        fix "Answer with `approved: true`, or take the pattern off the whitelist with `featureSets/update` first.";
    SCOPE_PATTERN = Info "mcpl/scope-pattern",
        "The host decides as the lists in its `featureSets/update` say if their patterns are read as globs: it approves and uses nothing that a blacklist matches, and denies nothing that a whitelist matches. The host may read patterns in another form.",
        "MCPL 0.4 §7.2, §7.6 and §14.5",
        fix "Nothing needs to be fixed if the host reads the pattern in another form; otherwise, match the label with the lists.";
    CALL_UNSCOPED = Warning "mcpl/call-without-scope",
        "In `tools/call`, the host sends a `scope` if the server declared the tool's feature set with `scoped: true`.",
        "MCPL 0.4 §7.7, AMB-C4",
        assumes open_questions::C4,
        fix "Ask which scope the call is for, and send it with the call.";
    CALL_BLACKLISTED = Warning "mcpl/call-blacklisted",
        "The host sends no `tools/call` with a `scope` whose label is on its own blacklist for the tool's feature set, unless it approved that label in its result of `scope/elevate`. (For patterns, see mcpl/scope-pattern.)",
        "MCPL 0.4 §7.7, AMB-C4",
        assumes open_questions::C4,
        fix "Match the scope's label with the blacklist before you send the call.";
    USED_DISABLED = Warning "mcpl/used-disabled-set",
        "The host sends no `tools/call` for a tool whose feature set it disabled with `featureSets/update`, and no `channels/publish` after it disabled all that use `channels.publish`. After it disabled all that use `channels.observe`, it sends no `channels/outgoing/*`, and the server, from 250 ms later, no `channels/incoming`.",
        "MCPL 0.4 §6.2, §6.7 and §14.1, AMB-C4",
        assumes open_questions::C4,
        fix "Check the tool's feature set, or those that use the channels, before you send; a host may enable one first.";
    PUBLISH_SCOPE = Warning "mcpl/publish-out-of-scope",
        "The host sends `channels/publish` only to channels that its own lists permit (`scopes` in `featureSets/update`) for the feature sets that use `channels.publish`: the blacklist must not have the channel, and a whitelist must match it. (For patterns, see mcpl/scope-pattern.)",
        "MCPL 0.4 §14.5, AMB-C10",
        assumes open_questions::C10,
        fix "Match the channel with the blacklist and the whitelist before you publish.";
    OBSERVE_SCOPE = Warning "mcpl/observe-out-of-scope",
        "The host sends `channels/outgoing/*`, and the server `channels/incoming`, only for channels that the host's lists permit (`scopes` in `featureSets/update`) for the feature sets that use `channels.observe`: the blacklist must not have the channel, and a whitelist must match it. The server has 250 ms to learn of new lists.",
        "MCPL 0.4 §14.5 and §14.6, AMB-C10",
        assumes open_questions::C10,
        fix "Match the channel with the blacklist and the whitelist before you send what happens in it.";
    REFUSAL_REASON = Warning "mcpl/refusal-reason",
        "A host that answers `push/event` with `accepted: false`, or `scope/elevate` with `approved: false`, says why in `reason`.",
        "MCPL 0.4 §7.5 and §9.3",
        fix "Add a `reason` that the server's developers understand.";
    REFUSED_INFERENCE = Warning "mcpl/refused-inference",
        "A host that answers `push/event` with `accepted: false` sends no `inferenceId`: it triggers no inference for the event.",
        "MCPL 0.4 §9.3",
        fix "Leave `inferenceId` out, or accept the event.";
    TIMESTAMP = Warning "mcpl/timestamp",
        "In `push/event` and `channels/incoming`, the server writes `timestamp` with date, time and time zone, as in `2026-07-28T09:00:00Z`.",
        "MCPL 0.4 §9.2 and §14.3",
        fix "Write timestamps in RFC 3339, with seconds and `Z` or an offset.";
    TIMESTAMP_UNREADABLE = Error "mcpl/timestamp-unreadable",
        "In `push/event` and `channels/incoming`, the server writes `timestamp` in a form of ISO 8601, not as another text.",
        "MCPL 0.4 §9.2 and §14.3",
        fix "Write timestamps in RFC 3339, such as `2026-07-28T09:00:00Z`.";
    CONTENT_STRING = Warning "mcpl/content-string",
        "In `push/event`, `channels/incoming` and `channels/publish`, the sender writes `content` as a list of content blocks, not as a string. (A string is allowed in what a server injects in its result of a context hook.)",
        "MCPL 0.4 §9.2 and §10.3, AMB-C8",
        assumes open_questions::C8,
        fix "Write `[{\"type\": \"text\", \"text\": \"…\"}]` instead of the string.";
    CONTENT_BLOCKS = Warning "mcpl/content-blocks",
        "In `inference/request`, the server writes the `content` of each of the `messages` as a string, not as a list of content blocks as elsewhere in MCPL.",
        "MCPL 0.4 §11.1, AMB-C8",
        assumes open_questions::C8,
        fix "Join the texts of the blocks into one string.";
    MEDIA_TYPE = Warning "mcpl/media-without-type",
        "A side that sends an image or audio block with `data` adds its `mimeType`.",
        "MCPL 0.4 §10.3 and Appendix B.1, AMB-C9",
        assumes open_questions::C9,
        fix "Add the media type of the data, such as `\"mimeType\": \"image/png\"`.";
    MCP_RESOURCE = Warning "mcpl/mcp-resource-block",
        "In a content block of MCPL, the sender of a resource writes its `uri` next to `\"type\": \"resource\"`, not in a `resource` object or a `resource_link` block as in MCP.",
        "MCPL 0.4 §10.3 and Appendix B.1, AMB-C16",
        assumes open_questions::C16,
        fix "Write `{\"type\": \"resource\", \"uri\": \"…\"}`.";
    EVENT_ID_REUSED = Error "mcpl/event-id-reused",
        "The server gives each event an `eventId` of its own: two `push/event` with the same `eventId` have the same `payload`.",
        "MCPL 0.4 §9.2 and §9.4",
        fix "Make a new `eventId` for each event; repeat it only with the same event.";
    EVENT_TWICE = Warning "mcpl/event-accepted-twice",
        "The host answers `accepted: true` with an `inferenceId` to only one `push/event` with the same `eventId`; to a repetition, it repeats its answer or starts nothing.",
        "MCPL 0.4 §9.4",
        fix "Remember accepted `eventId`s, and answer a repetition with `accepted: false`, or as before.";
    TURN_ORDER = Error "mcpl/turn-order",
        "In the `context/beforeInference` requests of one `conversationId`, the host never lowers `turnIndex`.",
        "MCPL 0.4 §10.1",
        fix "Keep one counter for each conversation, and raise it with every turn.";
    INFERENCE_REUSED = Error "mcpl/inference-id-reused",
        "The host gives each `context/beforeInference` an `inferenceId` that no earlier one had.",
        "MCPL 0.4 §10.1",
        fix "Make a new random `inferenceId` for each inference.";
    AFTER_FORM = Error "mcpl/after-inference-form",
        "The host sends `context/afterInference` as a request if client and server both declared `contextHooks.afterInference` with `blocking: true`, and as a notification otherwise.",
        "MCPL 0.4 §10.5, AMB-C2",
        assumes open_questions::C2,
        fix "Choose the form once, after `initialize`, from both declarations.";
    AFTER_ORPHAN = Warning "mcpl/after-without-before",
        "The host sends `context/afterInference` only after a `context/beforeInference` with the same `inferenceId`, if both sides declared both hooks.",
        "MCPL 0.4 §10.5",
        fix "Send `context/beforeInference` for each inference, and repeat its `inferenceId` afterwards.";
    IMITATION = Warning "mcpl/imitation",
        "In what it injects with its result of `context/beforeInference`, the server writes nothing that looks like a message of the system, the user, the model or the host, and does not ask to ignore earlier instructions. Checked for usual forms, such as the tag `<system>`.",
        "MCPL 0.4 §13.4",
        fix "Put the text into tags of your own, such as `<memories>`.";
    SLOW_HOOK = Warning "mcpl/slow-hook",
        "The server must respond to `context/beforeInference` within 5 s, and to `context/afterInference`, if it is a request, within 10 s.",
        "MCPL 0.4 §10.6",
        fix "Answer with no injections when time runs out, and prepare what takes longer beforehand.";
    INFERENCE_IN_HOOK = Warning "mcpl/inference-in-hook",
        "The server must not send `inference/request` for a conversation while a context hook of the host (`context/*`) for the same `conversationId` waits for its response.",
        "MCPL 0.4 §10.7",
        fix "Answer the hook first, or ask for the inference in another conversation.";
    CHUNK_UNKNOWN = Error "mcpl/chunk-unknown-request",
        "In `requestId` of `inference/chunk`, the host names an `inference/request` of the server that it has not answered yet.",
        "MCPL 0.4 §11.4",
        fix "Copy the `id` of the `inference/request`, with its type, and send no chunks after its result.";
    CHUNK_UNASKED = Error "mcpl/chunk-unasked",
        "The host sends `inference/chunk` only for an `inference/request` with `stream: true`.",
        "MCPL 0.4 §11.4",
        fix "Send the result alone if the request has no `stream: true`.";
    CHUNK_ORDER = Error "mcpl/chunk-order",
        "The host numbers the `inference/chunk` messages of one `inference/request` with `index` 0, 1, 2 and so on, without gaps.",
        "MCPL 0.4 §11.4",
        fix "Keep one counter for each request, from 0.";
    CHUNK_TEXT = Error "mcpl/chunk-text",
        "A host that sent `inference/chunk` for an `inference/request` returns as `content` of the result exactly the joined `delta` texts of the chunks.",
        "MCPL 0.4 §11.4",
        fix "Return the whole text, not only its last part.";
    CHUNKS_MISSING = Warning "mcpl/chunks-missing",
        "A host that declared `inferenceRequest.streaming` sends `inference/chunk` before it answers an `inference/request` with `stream: true`, unless the text is empty.",
        "MCPL 0.4 §11.4",
        fix "Send each part of the text as an `inference/chunk`, or do not declare streaming.";
    STREAM_UNDECLARED = Warning "mcpl/stream-undeclared",
        "The server sends `stream: true` in `inference/request` only if the host declared `inferenceRequest.streaming`.",
        "MCPL 0.4 §5.1 and §11.4",
        fix "Read `inferenceRequest.streaming` in the host's declaration, and leave `stream` out if it is not true.";
    ROLE = Warning "mcpl/message-role",
        "In `inference/request`, the server gives each of the `messages` the `role` `system`, `user` or `assistant`.",
        "MCPL 0.4 §11.1",
        fix "Map other roles, such as `tool`, to one of the three.";
    MAX_TOKENS = Warning "mcpl/max-tokens",
        "In `inference/request`, the server gives `preferences.maxTokens`, if present, a positive number.",
        "MCPL 0.4 §11.2",
        fix "Send a positive number, or leave `maxTokens` out.";
    AFTER_DIFFERS = Warning "mcpl/after-other-turn",
        "In `context/afterInference`, the host repeats the `conversationId` and `turnIndex` of the `context/beforeInference` with the same `inferenceId`.",
        "MCPL 0.4 §10.1 and §10.5",
        fix "Keep conversation and turn with the inference until it is over.";
    AFTER_TWICE = Warning "mcpl/after-inference-twice",
        "The host sends only one `context/afterInference` for each `inferenceId`.",
        "MCPL 0.4 §10.5",
        fix "Send it once, when the inference is over.";
    ROLLBACK_REASON = Warning "mcpl/rollback-reason",
        "A server that answers `state/rollback` with `success: false` says why in `reason`.",
        "MCPL 0.4 §8.6",
        fix "Add a `reason`, such as that a later change cannot be undone.";
    ROLLBACK_CODE = Warning "mcpl/rollback-code",
        "The server must refuse a `state/rollback` to a checkpoint that it never returned, or no longer has, with error -32005, not with another error of MCPL or -32602, and not with -32003 if it declared the feature set.",
        "MCPL 0.4 §8.7",
        fix "Answer with error -32005 if you do not have the checkpoint.";
    CHANNEL_CODE = Warning "mcpl/channel-code",
        "Whoever refuses `channels/close` or `channels/publish` for a channel that is not registered answers with error -32023, not with -32602 (invalid params).",
        "MCPL 0.4 §14.6",
        fix "Answer with error -32023 (unknown channel).";
    RETRY_ID = Warning "mcpl/retry-event-id",
        "A server that repeats a `push/event` that was answered with an error (same `featureSet`, `timestamp`, `origin` and `payload`) repeats its `eventId`, too.",
        "MCPL 0.4 §9.4",
        fix "Store the `eventId` with the event, and send the same one again.";
    CLOSED_UNKNOWN = Warning "mcpl/closed-unknown",
        "The server must answer `channels/close` for a channel that is not registered with error -32023, not with `closed: true`.",
        "MCPL 0.4 §14.3 and §14.6",
        fix "Answer with error -32023 (unknown channel).";
    STATE_SHAPE = Error "mcpl/state-shape",
        "A server that returns a `state` in the result of `tools/call` gives it a `checkpoint` and a `parent`; a `patch` in it is a JSON Patch (RFC 6902).",
        "MCPL 0.4 §8.2 and §8.3",
        fix "Return `checkpoint`, `parent` and either `data` or a `patch`, which is an array of operations.";
    STATE_BOTH = Warning "mcpl/state-data-and-patch",
        "A server that returns a `state` in the result of `tools/call` gives it either `data` (the whole state) or a `patch` (the changes), not both.",
        "MCPL 0.4 §8.3, AMB-C6",
        assumes open_questions::C6,
        fix "Remove `data` or `patch`.";
    UNKNOWN_PARENT = Error "mcpl/unknown-parent",
        "The server gives each `checkpoint` as `parent` either null or a checkpoint that it returned, or that the host named, earlier in the session. The first state of a feature set may continue an older session.",
        "MCPL 0.4 §8.2",
        fix "Return the checkpoint that the call was based on, or null for a new state.";
    CHECKPOINT_REUSED = Warning "mcpl/checkpoint-reused",
        "A server that returns the same `checkpoint` again in the result of `tools/call` must return the same `data`, `patch` and `parent` with it.",
        "MCPL 0.4 §8.2",
        fix "Make a new checkpoint for each state.";
    PATCH_FAILS = Error "mcpl/patch-fails",
        "The server sends as `patch` of a state only a JSON Patch that can be applied to the state of the `parent`: the server sent that state before, the paths exist in it, and each `test` holds.",
        "MCPL 0.4 §8.3; RFC 6902, §4 and §5",
        fix "Send the whole state as `data`.";
    STATE_DIFFERS = Warning "mcpl/state-differs",
        "The `state` that the host sends in `tools/call` is the one that results from the `data` and the patches of the tool's last results, after a `state/rollback` that of the checkpoint. A state that a result replaced at most 100 ms before is accepted, because the messages may have crossed.",
        "MCPL 0.4 §8.3 and §8.4",
        fix "Apply each patch to the last state of the tool's feature set, and send the result unchanged.";
    UNKNOWN_CHECKPOINT = Info "mcpl/unknown-checkpoint",
        "In `checkpoint` of `tools/call`, the host names a checkpoint that the server returned earlier in the session, unless it continues an older session.",
        "MCPL 0.4 §8.2 and §8.4",
        fix "Send the checkpoint from the tool's last result.";
    CHECKPOINT_FOR_DATA = Warning "mcpl/checkpoint-for-data",
        "In `tools/call`, the host sends a `checkpoint` only if the server keeps its data. If the server sent the data in `data` or `patch`, the host returns it as `state`.",
        "MCPL 0.4 §8.3 and §8.4",
        fix "Send the data as `state` instead of the checkpoint.";
    CALL_MEMBERS = Error "mcpl/call-members",
        "In `tools/call`, the host gives `scope` and `checkpoint`, if present, the types that MCPL defines.",
        "MCPL 0.4 §7.7 and §8.4",
        fix "Send `scope` and `checkpoint` in the form that `mcpreel explain --schema tools/call` shows.";
    STATE_AND_CHECKPOINT = Warning "mcpl/state-and-checkpoint",
        "In `tools/call`, the host sends either the `state` or its `checkpoint`, not both.",
        "MCPL 0.4 §8.4",
        fix "Send the `state` if the server returned data, and the `checkpoint` otherwise.";
    STATE_WRAPPED = Warning "mcpl/state-wrapped",
        "When the host returns a state in `tools/call`, `state` is what the tool's result had in `state.data`, not the whole object with `checkpoint`, `parent` and `data`.",
        "MCPL 0.4 §8.4, AMB-C7",
        assumes open_questions::C7,
        fix "Send only the value of `data`.";
    ROLLBACK_UNDECLARED = Error "mcpl/rollback-undeclared",
        "The host sends `state/rollback` only for a feature set that the server declared, with `rollback: true`.",
        "MCPL 0.4 §8.1 and §8.5",
        fix "Declare `rollback: true` for the set in the server, or do not offer to roll it back in the host.";
    ROLLBACK_CHECKPOINT = Warning "mcpl/rollback-checkpoint",
        "In its result of `state/rollback`, the server repeats the `checkpoint` of the request.",
        "MCPL 0.4 §8.6",
        fix "Copy `checkpoint` from the request into the result.";
    ROLLBACK_UNKNOWN = Info "mcpl/rollback-unknown",
        "The server must answer a `state/rollback` to a checkpoint that it never returned with error -32005, not with `success: true`, unless the checkpoint is from an older session.",
        "MCPL 0.4 §8.7",
        fix "Look the checkpoint up first, and answer -32005 if you do not have it.";
    ROLLBACK_PARENT = Warning "mcpl/rollback-parent",
        "In the first `state` that the server returns for a feature set after a successful `state/rollback` of it, the `parent` is the checkpoint that it rolled back to.",
        "MCPL 0.4 §8.2",
        fix "Set the current checkpoint when you roll back, and use it as the next `parent`.";
    CHANNEL_REUSED = Error "mcpl/channel-id-reused",
        "In `channels/register` and in `added` of `channels/changed`, the server gives no new channel the `id` of a registered one with another `type` or `address`.",
        "MCPL 0.4 §14.2",
        fix "Use another `id`, or send the change as `updated` of `channels/changed`.";
    OPENED_OTHER = Warning "mcpl/opened-other-channel",
        "In its result of `channels/open`, the server returns a channel with the requested `type` and with all members of the requested `address`; it may add members.",
        "MCPL 0.4 §14.3",
        fix "Open the requested channel, or answer with error -32024.";
    CHANNEL_CHANGE = Warning "mcpl/channel-change-unknown",
        "In `updated` and `removed` of `channels/changed`, the server names only channels that are registered.",
        "MCPL 0.4 §14.3",
        fix "List new channels in `added` first.";
    UNREGISTERED = Error "mcpl/unregistered-channel",
        "Host and server name in the `channelId` of `channels/publish`, `channels/incoming` and `channels/outgoing/*` only channels that the server registered or listed before.",
        "MCPL 0.4 §14.3 and §14.6",
        fix "Register the channel with `channels/register` or `channels/changed` first.";
    CHANNEL_DIRECTION = Error "mcpl/channel-direction",
        "The host sends no `channels/publish` to a channel whose `direction` is `inbound`, and the server no `channels/incoming` from one that is `outbound`.",
        "MCPL 0.4 §14.2",
        fix "Read the channel's `direction` before you send, or register it as `bidirectional`.";
    PUBLISH_CLOSED = Info "mcpl/publish-closed",
        "After the server answered `channels/close` with `closed: true`, the host sends no `channels/publish` to that channel until the server opens, registers or lists it again.",
        "MCPL 0.4 §14.3",
        fix "Open the channel with `channels/open` before you publish to it.";
    PUBLISH_THINKING = Error "mcpl/publish-thinking",
        "The host sends no `channels/publish` to the channel `thinking`, which only shows what the model thinks.",
        "MCPL 0.4 §14.5",
        fix "Leave the channel `thinking` out when you publish.";
    OUTGOING_ORDER = Error "mcpl/outgoing-order",
        "The host numbers the `channels/outgoing/chunk` messages with the same `inferenceId` and `channelId` with `index` 0, 1, 2 and so on, without gaps.",
        "MCPL 0.4 §14.3",
        fix "Keep one counter for each inference and channel, from 0.";
    OUTGOING_COMPLETED = Error "mcpl/outgoing-completed",
        "After `channels/outgoing/complete`, the host sends no further `channels/outgoing/chunk` or `channels/outgoing/complete` with the same `inferenceId` and `channelId`.",
        "MCPL 0.4 §14.3",
        fix "Send `channels/outgoing/complete` as the last message, and only once.";
    OUTGOING_TEXT = Info "mcpl/outgoing-text",
        "The joined `delta` texts of the `channels/outgoing/chunk` messages that the host sent equal the text in its `channels/outgoing/complete`, unless it moderated the text.",
        "MCPL 0.4 §14.3",
        fix "Build the text of `channels/outgoing/complete` from the chunks that you sent.";
    INCOMING_RESULTS = Error "mcpl/incoming-results",
        "In the `results` of `channels/incoming`, the host returns exactly one entry for the `messageId` of each message.",
        "MCPL 0.4 §14.3",
        fix "Return one entry for each message of the request, with its `messageId`.";
    CODE = Warning "mcpl/error-code",
        "Whoever answers uses the error codes of MCPL only for their methods: -32001 and -32003 for `push/event`, `inference/request`, `scope/elevate` and `state/rollback`, -32005 for `state/rollback`, -32017 and -32023 for `channels/*`, -32024 for `channels/open`.",
        "MCPL 0.4 Appendix A and §14.6",
        fix "Look the code up in Appendix A, and use -32602 or -32603 for everything else.";
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
    scopes: scopes::Scopes,
}

impl Observer for McplObserver {
    fn observe(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let Some(method) = message.method else { return };
        let kind = message.envelope.kind;
        if method == "initialize" {
            return self.initialize(message, findings);
        }
        match (method, kind) {
            ("tools/call", _) => return self.tool_call(message, findings),
            ("tools/list", MessageKind::Result) => return self.scopes.listed(message),
            _ => {}
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
        self.scopes.observed(message, (&self.channels, &self.sets), findings);
        self.channels.observe(method, message, findings);
        self.scopes.observe(method, message, findings);
        match (method, kind) {
            ("channels/publish", MessageKind::Request | MessageKind::Notification) => {
                self.scopes.published(message, (&self.channels, &self.sets), findings);
            }
            (super::BEFORE_INFERENCE, MessageKind::Result) => imitation::check(message, findings),
            _ => {}
        }
    }

    fn lose_track(&mut self) {
        self.sets.lose_track();
        self.inference.lose_track();
        self.state.lose_track();
        self.channels.lose_track();
        self.scopes.lose_track();
    }

    fn finish(&mut self, declared: &Declared, _time: i64, findings: &mut Findings) {
        self.sets.finish(declared, findings);
    }
}

impl McplObserver {
    /// Checks a tool call or its response. Unless both sides declared MCPL, `state` and `scope` are members like any
    /// others.
    fn tool_call(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        if [Side::Client, Side::Server].iter().any(|side| block(message.declared, *side).is_none()) {
            return;
        }
        if message.envelope.kind == MessageKind::Request {
            self.scopes.called(message, &self.sets, findings);
        }
        let tool = message.request.map_or(message.content, |asked| &asked.params)["name"].as_str().unwrap_or_default();
        self.state.tool_call(message, self.scopes.set_of(tool, &self.sets), findings);
    }

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
        // Only servers declare it (MCPL 0.4 §5.2).
        let of_servers = method == "model/info";
        let mut sides = ["client", "server"].into_iter().zip(blocks).skip(usize::from(of_servers));
        let lacks = sides.find(|(_, block)| !grants(*block, path));
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
    if capability(method).is_some_and(|path| both.iter().all(|block| grants(*block, path)))
        && is_rightly_sent(method, &both)
    {
        let unknown = code == errors::METHOD_NOT_FOUND;
        findings.check(&DECLARED_REFUSED, message.seq, !unknown, || {
            format!("{method} was declared, but answered by error {code}")
        });
    }
    check_undeclared_refusal(method, code, message, findings);
}

/// Whether a request with this method is one to answer, not a notification that was sent as a request.
fn is_rightly_sent(method: &str, [client, server]: &[Option<&Value>; 2]) -> bool {
    let blocks = |block: &Option<&Value>| {
        block.and_then(|block| block.pointer("/contextHooks/afterInference/blocking")) == Some(&Value::Bool(true))
    };
    match method {
        super::AFTER_INFERENCE => blocks(client) && blocks(server),
        _ => DESCRIPTOR.methods.iter().any(|spec| spec.name == method && spec.kind != MethodKind::Notification),
    }
}

fn check_undeclared_refusal(method: &str, code: i64, message: &Observed<'_>, findings: &mut Findings) {
    let declared = message.declared;
    let (side, name, capabilities) = match message.direction {
        Direction::ClientToServer => (Side::Client, "client", &declared.client),
        Direction::ServerToClient => (Side::Server, "server", &declared.server),
    };
    // Without its handshake, nobody knows what a side declared.
    if !capabilities.is_object() {
        return;
    }
    let block = block(declared, side);
    let is_declared = match capability(method) {
        Some(path) => grants(block, path),
        None => block.is_some(),
    };
    if !is_declared {
        let is_wrong = code == errors::INVALID_PARAMS && asked_correctly(method, message);
        findings.check(&UNDECLARED_REFUSAL, message.seq, !is_wrong, || {
            format!("the {name}, which did not declare it, refused {method} with error {code}")
        });
    }
}

/// Whether the params of the request that a response belongs to conform to their schema.
fn asked_correctly(method: &str, message: &Observed<'_>) -> bool {
    let violations = |asked: &Value| SCHEMAS.check(&format!("{method}:params"), asked);
    message.request.is_some_and(|asked| violations(&asked.params).is_some_and(|violations| violations.is_empty()))
}
