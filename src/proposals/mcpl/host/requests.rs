//! The requests of this side: what they are, their outcomes, and what is reported about them.

use super::McplHostSide;
use crate::proposals::host::{HostCx, RequestOutcome, ServerId};
use crate::proposals::mcpl::{AFTER_INFERENCE, BEFORE_INFERENCE};
use crate::wire::{MessageKind, json as text};
use serde_json::{Value, json};
use std::time::Duration;

/// Why a request that timed out has no outcome.
pub(super) const NOT_IN_TIME: &str = "no response in time";

/// How many timed-out requests are remembered, to recognise late responses.
const MAX_LATE: usize = 256;

/// What a request of this side is.
#[derive(Clone)]
pub(super) enum RequestKind {
    Before {
        inference: String,
    },
    After {
        inference: String,
    },
    Rollback {
        set: String,
        checkpoint: String,
    },
    Open,
    Close {
        channel: String,
    },
    /// The inference is that of the answer that is published, if it is one.
    Publish {
        channel: String,
        inference: Option<String>,
    },
    List,
}

impl RequestKind {
    /// Whether it is a context hook.
    pub(super) fn is_hook(&self) -> bool {
        matches!(self, Self::Before { .. } | Self::After { .. })
    }

    /// The method of the request.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Before { .. } => BEFORE_INFERENCE,
            Self::After { .. } => AFTER_INFERENCE,
            Self::Rollback { .. } => "state/rollback",
            Self::Open => "channels/open",
            Self::Close { .. } => "channels/close",
            Self::Publish { .. } => "channels/publish",
            Self::List => "channels/list",
        }
    }

    /// What reports about its outcome contain (MCPL 0.4 §13.2).
    pub(super) fn about(&self, outcome: &str) -> Value {
        let mut about = json!({"method": self.name(), "outcome": outcome});
        match self {
            Self::Before { inference } | Self::After { inference } => about["inference_id"] = json!(inference),
            Self::Rollback { set, checkpoint } => {
                (about["feature_set"], about["checkpoint"]) = (json!(set), json!(checkpoint));
            }
            Self::Close { channel } => about["channel"] = json!(channel),
            Self::Publish { channel, inference } => {
                (about["channel"], about["inference_id"]) = (json!(channel), json!(inference));
            }
            Self::Open | Self::List => {}
        }
        about
    }
}

/// An open request.
pub(super) struct OpenRequest {
    /// Whom it went to.
    pub server: ServerId,
    /// What it is.
    pub asked: RequestKind,
    /// The conversation waits for its outcome.
    pub holds: bool,
    /// It timed out.
    pub is_late: bool,
}

impl McplHostSide {
    /// Sends a request. If it `holds`, the conversation waits for its outcome.
    pub(super) fn ask(
        &mut self,
        cx: &mut HostCx<'_>,
        server: ServerId,
        (method, params): (&str, Value),
        timeout: Duration,
        asked: RequestKind,
        holds: bool,
    ) {
        let token = cx.request(server, method, params, timeout);
        self.open.insert(token, OpenRequest { server, asked, holds, is_late: false });
    }

    /// Forgets the oldest timed-out requests if there are too many.
    fn forget_late(&mut self) {
        let late: Vec<u64> = self.open.iter().filter(|(_, open)| open.is_late).map(|(token, _)| *token).collect();
        for token in late.iter().take(late.len().saturating_sub(MAX_LATE)) {
            self.open.remove(token);
        }
    }

    /// Handles the outcome of a request: a response, an error, or none in time.
    pub(super) fn answered_request(
        &mut self,
        cx: &mut HostCx<'_>,
        server: ServerId,
        token: u64,
        reply: &RequestOutcome<'_>,
    ) {
        if let (RequestOutcome::TimedOut, Some(open)) = (reply, self.open.get_mut(&token)) {
            // Keep it, to recognise a late response.
            let holds = std::mem::replace(&mut open.holds, false);
            open.is_late = true;
            let asked = open.asked.clone();
            self.forget_late();
            return self.outcome(cx, server, (asked, holds), Err(NOT_IN_TIME.to_owned()));
        }
        let Some(open) = self.open.remove(&token) else { return };
        if open.is_late {
            return report_late(cx, server, &open.asked, reply);
        }
        let outcome = match reply {
            RequestOutcome::Answered { envelope, .. } if envelope.kind == MessageKind::Error => {
                let error = text::value_of(envelope.error.unwrap_or_default());
                let code = error["code"].as_i64().unwrap_or_default();
                if let (RequestKind::Rollback { set, checkpoint }, -32005) = (&open.asked, code)
                    && let Some(peer) = self.peers.get_mut(&server)
                {
                    peer.states.forget(set, checkpoint);
                }
                Err(format!("{code} {}", error["message"].as_str().unwrap_or_default()))
            }
            RequestOutcome::Answered { envelope, .. } => Ok(text::value_of(envelope.result.unwrap_or_default())),
            RequestOutcome::TimedOut => return,
            RequestOutcome::Failed(why) => Err((*why).to_owned()),
        };
        self.outcome(cx, server, (open.asked, open.holds), outcome);
    }
}

/// Reports a response to a request that timed out. It names the feature set, if the response does.
fn report_late(cx: &mut HostCx<'_>, server: ServerId, asked: &RequestKind, reply: &RequestOutcome<'_>) {
    let mut about = asked.about("timeout");
    if let RequestOutcome::Answered { envelope, .. } = reply
        && let Some(result) = envelope.result.map(text::value_of)
        && result["featureSet"].is_string()
    {
        about["feature_set"] = result["featureSet"].clone();
    }
    let text = format!("the response to {} came too late and was dropped", asked.name());
    cx.report("late", Some(server), text, about);
}
