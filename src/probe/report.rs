//! What came of a survey of a client.

use super::plan::{Form, Plan};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// How a client's process or connection ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClientEnd {
    /// The process's exit code.
    #[serde(rename = "exit_code", skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Why it could not be started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unstarted: Option<String>,
    /// It is there, and does not answer ping any more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
}

impl fmt::Display for ClientEnd {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { unstarted: Some(why), .. } => write!(out, "could not be started: {why}"),
            Self { code: Some(code), .. } => write!(out, "ended with exit code {code}"),
            Self { signal: Some(signal), .. } => write!(out, "was ended by signal {signal}"),
            Self { silent: true, .. } => out.write_str("stopped answering ping"),
            Self { .. } => out.write_str("closed the connection"),
        }
    }
}

/// What came of one thing that was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum TrialOutcome {
    /// A request was answered with a result.
    Answered {
        /// How the result differs from the proposal's schema.
        deviations: Vec<String>,
        /// It came after the time that was waited for it.
        late: bool,
    },
    /// A request was answered with an error.
    Refused {
        /// The error's code.
        code: i64,
        /// What that means in answer to this method.
        means: Option<&'static str>,
        /// The error's text.
        message: String,
        /// It came after the time that was waited for it.
        late: bool,
    },
    /// A request was not answered in time.
    Ignored,
    /// Nothing came back, as nothing should, and the client went on.
    Taken,
    /// A notification was answered with an error, which none may be.
    Objected {
        /// The error's code.
        code: i64,
        /// The error's text.
        message: String,
    },
    /// The client broke.
    Broke(ClientEnd),
    /// The client ended, and does so without it too.
    Unclear(ClientEnd),
    /// It was not tried.
    Untried {
        /// Why not.
        why: String,
    },
}

impl TrialOutcome {
    /// Whether it broke the client.
    pub fn is_broken(&self) -> bool {
        matches!(self, Self::Broke(_))
    }

    /// Its name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Answered { .. } => "answered",
            Self::Refused { .. } => "refused",
            Self::Ignored => "ignored",
            Self::Taken => "taken",
            Self::Objected { .. } => "objected",
            Self::Broke(_) => "broke",
            Self::Unclear(_) => "unclear",
            Self::Untried { .. } => "untried",
        }
    }

    /// More on it, in words; empty where there is nothing to say.
    pub fn words(&self) -> String {
        let late = |late: &bool| if *late { ", late" } else { "" };
        match self {
            Self::Answered { deviations, late: is_late } if deviations.is_empty() => late(is_late).replace(", ", ""),
            Self::Answered { deviations, late: is_late } => {
                format!("not as the proposal says: {}{}", deviations.join("; "), late(is_late))
            }
            Self::Refused { code, means, message, late: is_late } => {
                format!("{code} {}{}", means.unwrap_or(message), late(is_late))
            }
            Self::Objected { code, message } => format!("{code} {message}, to a notification"),
            Self::Broke(end) => format!("it {end}"),
            Self::Unclear(end) => format!("it {end}, as it does by itself"),
            Self::Untried { why } => why.clone(),
            Self::Ignored | Self::Taken => String::new(),
        }
    }
}

/// The client, as far as it told of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Client {
    /// `clientInfo.name`.
    pub name: Option<String>,
    /// `clientInfo.version`.
    pub version: Option<String>,
    /// The revision agreed on.
    pub revision: Option<String>,
    /// Whether it answered a ping before anything was sent; where not, only its end tells that it broke.
    pub answers_ping: bool,
}

/// A declaration, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Declared {
    /// The proposal.
    pub proposal: &'static str,
    /// The place below `capabilities`.
    pub place: String,
    /// What stock SDKs are known to keep from their applications: not seen on the wire.
    pub stock_sdks: &'static str,
    /// Where the client declares the proposal itself.
    pub client_place: Option<String>,
    /// What the client sent by the proposal's methods, or called of its tools, and how often.
    pub used: BTreeMap<String, u64>,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: TrialOutcome,
}

/// A message, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SentSample {
    /// The proposal; none for what nobody knows.
    pub proposal: Option<&'static str>,
    /// Its method.
    pub method: String,
    /// As what it was sent.
    pub form: Form,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: TrialOutcome,
}

/// The whole survey.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProbeReport {
    /// The client.
    pub client: Client,
    /// How often it was started.
    pub starts: usize,
    /// Its declarations.
    pub declarations: Vec<Declared>,
    /// Its messages.
    pub messages: Vec<SentSample>,
}

impl ProbeReport {
    /// What broke the client, if anything did.
    pub fn broken(&self) -> usize {
        let declared = self.declarations.iter().map(|one| &one.outcome);
        declared.chain(self.messages.iter().map(|one| &one.outcome)).filter(|outcome| outcome.is_broken()).count()
    }
}

/// Why there is nothing to tell of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientFailure {
    /// It never came to the server.
    NeverCame(Option<ClientEnd>),
    /// It came, and the handshake came to nothing, even where nothing was declared.
    NoHandshake(Option<ClientEnd>),
    /// It speaks only the revision that has no handshake.
    OnlyModern,
}

/// What stock SDKs do with a declaration at a place (X12): the client's own code gets what the SDK lets through.
pub fn stock_sdks(path: &[&str]) -> &'static str {
    match path.first() {
        Some(&"experimental" | &"extensions") => "kept",
        _ => "dropped by TypeScript 1.x and Python 2.x",
    }
}

/// A survey of which nothing is known yet.
pub(super) fn blank(plan: &Plan) -> (Vec<Option<TrialOutcome>>, Vec<Option<TrialOutcome>>) {
    (vec![None; plan.places.len()], vec![None; plan.probes.len()])
}
