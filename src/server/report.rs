//! What a server gives back: bytes to send, and facts for a human or a script. Durations are microseconds.

use crate::extension::mcpl::server::Withheld;
use serde::Serialize;
use serde_json::Value;

/// One thing that came of an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// One message, a single line without its line feed.
    Send(Vec<u8>),
    /// A fact.
    Report(Report),
}

/// A fact about the connection. As JSON, an object whose `report` names the kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "report", rename_all = "snake_case")]
pub enum Report {
    /// The host asked to begin.
    Connected {
        /// Its name.
        client: String,
        /// The revision agreed on.
        revision: &'static str,
        /// Proposals that it declared itself: room and place below `capabilities`.
        declared: Vec<(String, String)>,
    },
    /// The handshake is over: timers of plans run from here.
    Ready,
    /// A message that is not JSON-RPC came in.
    Malformed {
        /// What is wrong with it.
        why: String,
    },
    /// What the host sent does not fit its schema; it was taken as far as possible.
    Misfit {
        /// The method, for an answer that of the request.
        method: String,
        /// Where and why.
        misfits: Vec<String>,
    },
    /// A notification came in that nothing is done about.
    Ignored {
        /// Its method.
        method: String,
    },
    /// A request or notification went out by the server's own will.
    Sent {
        /// Its method.
        method: String,
        /// A request's id.
        id: Option<i64>,
    },
    /// Something was to go out and did not.
    NotSent {
        /// Its method.
        method: String,
        /// Why not.
        reason: Unsent,
    },
    /// The host answered a push event.
    PushAnswered {
        /// The request's id.
        id: i64,
        /// The event.
        event_id: String,
        /// Whether it took it; `None` where it did not say.
        accepted: Option<bool>,
        /// The inference it started.
        inference_id: Option<String>,
        /// Why it refused.
        reason: Option<String>,
        /// How long it took.
        latency_us: u64,
        /// The answer came after the deadline.
        late: bool,
    },
    /// The host answered an inference request.
    InferenceAnswered {
        /// The request's id.
        id: i64,
        /// The model that answered.
        model: Option<String>,
        /// Why it stopped.
        finish_reason: Option<String>,
        /// How many chunks came before.
        chunks: usize,
        /// Whether the chunks, in order, make up the content; `None` where none came.
        chunks_agree: Option<bool>,
        /// How long it took.
        latency_us: u64,
        /// The answer came after the deadline.
        late: bool,
    },
    /// The host answered another request.
    Answered {
        /// The request's id.
        id: i64,
        /// Its method.
        method: String,
        /// The result.
        result: Value,
        /// How long it took.
        latency_us: u64,
        /// The answer came after the deadline.
        late: bool,
    },
    /// The host answered with an error.
    Refused {
        /// The request's id.
        id: i64,
        /// Its method.
        method: String,
        /// The error's code.
        code: i64,
        /// The error's text.
        message: String,
        /// How long it took.
        latency_us: u64,
        /// The answer came after the deadline.
        late: bool,
    },
    /// The host has not answered in time.
    Unanswered {
        /// The request's id.
        id: i64,
        /// Its method.
        method: String,
        /// How long was waited.
        after_us: u64,
    },
    /// An answer came that no request waits for.
    Orphan {
        /// The id it names.
        id: String,
    },
    /// A user's message was seen.
    UserMessage {
        /// Its id.
        message_id: String,
        /// `request` or `notification`.
        carrier: &'static str,
        /// How many memories were offered.
        memories: usize,
    },
    /// An inference is about to begin.
    Inference {
        /// Its id.
        inference_id: String,
        /// How many memories were injected.
        memories: usize,
    },
    /// Something was remembered.
    Remembered {
        /// The memory's name.
        id: String,
        /// Where it comes from.
        source: String,
    },
    /// The host switched feature sets.
    FeatureSets {
        /// On now.
        enabled: Vec<String>,
        /// Off now.
        disabled: Vec<String>,
        /// Names of no set.
        unknown: Vec<String>,
    },
    /// The host went back to a checkpoint.
    RolledBack {
        /// Which.
        checkpoint: String,
    },
    /// A subscription changed.
    Subscription {
        /// Its id.
        id: String,
        /// `active`, `paused`, `expired` or `removed`.
        became: &'static str,
    },
    /// An event was published.
    Published {
        /// Its id.
        event_id: String,
        /// Its type.
        event_type: String,
        /// To whom it went.
        subscriptions: Vec<String>,
    },
    /// The host took back a request that was still being worked on.
    Cancelled {
        /// The request's id, as it stood.
        id: String,
    },
}

impl Report {
    /// The request of the server's own that this is about.
    pub fn request(&self) -> Option<i64> {
        match self {
            Self::Sent { id, .. } => *id,
            Self::PushAnswered { id, .. }
            | Self::InferenceAnswered { id, .. }
            | Self::Answered { id, .. }
            | Self::Refused { id, .. }
            | Self::Unanswered { id, .. } => Some(*id),
            _ => None,
        }
    }
}

/// Why something did not go out. As JSON, an object whose `why` names the kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Unsent {
    /// The handshake is not over.
    NotReady,
    /// This server does not declare the proposal, or did not here because the host has none of it.
    NotDeclared {
        /// Its room.
        proposal: &'static str,
    },
    /// The host did not declare what it takes.
    HostLacks {
        /// The capability.
        capability: &'static str,
    },
    /// No such feature set was declared.
    UnknownFeatureSet {
        /// Its name.
        feature_set: String,
    },
    /// The feature set does not use what the method takes.
    NotInUses {
        /// Its name.
        feature_set: String,
        /// The missing use.
        uses: &'static str,
    },
    /// The host disabled the feature set.
    FeatureSetDisabled {
        /// Its name.
        feature_set: String,
    },
    /// The host wants log messages of a higher level only.
    BelowLevel {
        /// The level it set.
        level: String,
    },
    /// It would be against the proposal.
    Invalid {
        /// What is.
        fault: String,
    },
}

impl From<Withheld> for Unsent {
    fn from(withheld: Withheld) -> Self {
        match withheld {
            Withheld::HostLacks(capability) => Self::HostLacks { capability },
            Withheld::UnknownSet(feature_set) => Self::UnknownFeatureSet { feature_set },
            Withheld::NotUsed(feature_set, uses) => Self::NotInUses { feature_set, uses },
            Withheld::Disabled(feature_set) => Self::FeatureSetDisabled { feature_set },
        }
    }
}

impl std::fmt::Display for Unsent {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotReady => write!(out, "the handshake is not over"),
            Self::NotDeclared { proposal } => write!(out, "{proposal} is not declared on this connection"),
            Self::HostLacks { capability } => write!(out, "the host did not declare {capability}"),
            Self::UnknownFeatureSet { feature_set } => write!(out, "there is no feature set {feature_set}"),
            Self::NotInUses { feature_set, uses } => write!(out, "feature set {feature_set} does not use {uses}"),
            Self::FeatureSetDisabled { feature_set } => write!(out, "the host disabled feature set {feature_set}"),
            Self::BelowLevel { level } => write!(out, "the host wants log messages from {level} on"),
            Self::Invalid { fault } => write!(out, "{fault}"),
        }
    }
}
