//! What MCPL messages contain about checkpoints (MCPL 0.4 §8): states in the results of tools, and rollbacks.

use crate::proposals::Observed;
use crate::proposals::audit::CheckpointStep;
use crate::wire::MessageKind;

/// Error: the checkpoint is not known (MCPL 0.4 §8.7).
const NOT_FOUND: i64 = -32005;

/// The change to the tree that a message makes.
pub(super) fn step(message: &Observed<'_>) -> Option<CheckpointStep> {
    let asked = message.request?;
    let text = |name: &str| message.content[name].as_str().map(str::to_owned);
    match (asked.method.as_str(), message.envelope.kind) {
        ("tools/call", MessageKind::Result) => {
            let state = &message.content["state"];
            let keeps = ["data", "patch"].into_iter().find(|name| state.get(name).is_some()).unwrap_or("nothing");
            let parent = state["parent"].as_str().map(str::to_owned);
            let by = asked.params["name"].as_str().map(str::to_owned);
            Some(CheckpointStep::Given { checkpoint: state["checkpoint"].as_str()?.to_owned(), parent, keeps, by })
        }
        ("state/rollback", kind @ (MessageKind::Result | MessageKind::Error)) => {
            let target = asked.params["checkpoint"].as_str()?.to_owned();
            let feature_set = asked.params["featureSet"].as_str().map(str::to_owned);
            Some(match kind {
                MessageKind::Result if message.content["success"] == true => {
                    let named = text("checkpoint").unwrap_or_else(|| target.clone());
                    CheckpointStep::Back { target, named, feature_set }
                }
                MessageKind::Error if message.content["code"] == NOT_FOUND => CheckpointStep::Gone { target },
                _ => {
                    let reason =
                        text("reason").or_else(|| text("message")).unwrap_or_else(|| "no reason given".to_owned());
                    CheckpointStep::Stuck { target, reason, feature_set }
                }
            })
        }
        _ => None,
    }
}
