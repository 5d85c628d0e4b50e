//! The report of a probe: how a client handled what was tried.

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
    /// It is running, but does not answer ping any more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
}

impl fmt::Display for ClientEnd {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { unstarted: Some(why), .. } => write!(out, "could not be started: {why}"),
            Self { code: Some(code), .. } => write!(out, "exited with code {code}"),
            Self { signal: Some(signal), .. } => write!(out, "was killed by signal {signal}"),
            Self { silent: true, .. } => out.write_str("stopped answering ping"),
            Self { .. } => out.write_str("closed the connection"),
        }
    }
}

/// The outcome of one declaration or message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum TrialOutcome {
    /// The client answered a request with a result.
    Answered {
        /// Differences between the result and the proposal's schema.
        deviations: Vec<String>,
        /// Whether the response came after the timeout.
        late: bool,
    },
    /// The client answered a request with an error.
    Refused {
        /// The error's code.
        code: i64,
        /// The code's meaning for this method.
        means: Option<&'static str>,
        /// The error's message.
        message: String,
        /// Whether the response came after the timeout.
        late: bool,
    },
    /// The client did not answer a request in time.
    Ignored,
    /// The client sent no response, as it should, and stayed alive.
    Taken,
    /// The client answered a notification with an error, which is not allowed.
    Objected {
        /// The error's code.
        code: i64,
        /// The error's message.
        message: String,
    },
    /// The client broke.
    Broke(ClientEnd),
    /// The client exited, but it also does so without the message.
    Unclear(ClientEnd),
    /// It was not tried.
    Untried {
        /// The reason.
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

    fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Answered { deviations, .. } => deviations.iter_mut().collect(),
            Self::Refused { message, .. } | Self::Objected { message, .. } => vec![message],
            Self::Broke(end) | Self::Unclear(end) => end.unstarted.iter_mut().collect(),
            Self::Untried { why } => vec![why],
            Self::Ignored | Self::Taken => Vec::new(),
        }
    }

    /// The details in words; may be empty.
    pub fn words(&self) -> String {
        let late = |late: &bool| if *late { ", late" } else { "" };
        match self {
            Self::Answered { deviations, late: is_late } if deviations.is_empty() => late(is_late).replace(", ", ""),
            Self::Answered { deviations, late: is_late } => {
                format!("differs from the proposal: {}{}", deviations.join("; "), late(is_late))
            }
            Self::Refused { code, means, message, late: is_late } => {
                format!("{code} {}{}", means.unwrap_or(message), late(is_late))
            }
            Self::Objected { code, message } => format!("{code} {message}, in response to a notification"),
            Self::Broke(end) => format!("the client {end}"),
            Self::Unclear(end) => format!("the client {end}, as it also does if only pings are sent"),
            Self::Untried { why } => why.clone(),
            Self::Ignored | Self::Taken => String::new(),
        }
    }
}

/// What the client says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Client {
    /// `clientInfo.name`.
    pub name: Option<String>,
    /// `clientInfo.version`.
    pub version: Option<String>,
    /// The negotiated revision.
    pub revision: Option<String>,
    /// Whether it answered a ping before anything was sent. If not, only an exit shows that it broke.
    pub answers_ping: bool,
}

/// A declaration and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Declared {
    /// The proposal.
    pub proposal: &'static str,
    /// The path below `capabilities`.
    pub place: String,
    /// What the official SDKs are known to do with a declaration at this path; not visible on the wire.
    pub stock_sdks: &'static str,
    /// The path at which the client declares the proposal itself.
    pub client_place: Option<String>,
    /// The proposal's methods and tools that the client used, and how often.
    pub used: BTreeMap<String, u64>,
    /// If only several declarations together break the client: the places of the others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only_with: Vec<String>,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: TrialOutcome,
}

/// A message and its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SentSample {
    /// The proposal; `None` for messages of no proposal.
    pub proposal: Option<&'static str>,
    /// Its method.
    pub method: String,
    /// Its form.
    pub form: Form,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: TrialOutcome,
}

/// The whole report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProbeReport {
    /// The client.
    pub client: Client,
    /// How many times it was started.
    pub starts: usize,
    /// The declarations.
    pub declarations: Vec<Declared>,
    /// The messages.
    pub messages: Vec<SentSample>,
}

impl ProbeReport {
    /// The texts in which there may be something that the client said.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let Client { name, version, revision, .. } = &mut self.client;
        let about = [name, version, revision].into_iter().flatten();
        let declared =
            self.declarations.iter_mut().flat_map(|one| one.client_place.iter_mut().chain(one.outcome.texts_mut()));
        about.chain(declared).chain(self.messages.iter_mut().flat_map(|one| one.outcome.texts_mut()))
    }

    /// The number of declarations and messages that broke the client.
    pub fn broken(&self) -> usize {
        let declared = self.declarations.iter().map(|one| &one.outcome);
        declared.chain(self.messages.iter().map(|one| &one.outcome)).filter(|outcome| outcome.is_broken()).count()
    }
}

/// Why a client could not be probed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientFailure {
    /// It never connected to the server.
    NeverCame(Option<ClientEnd>),
    /// It connected, but completed no handshake, even without declarations.
    NoHandshake(Option<ClientEnd>),
    /// It supports only the modern era.
    OnlyModern,
}

/// What the official SDKs do with a declaration at this path: an application sees only what its SDK passes on.
pub(super) fn stock_sdks(path: &[&str]) -> &'static str {
    match path.first() {
        Some(&"experimental" | &"extensions") => "kept",
        _ => "dropped by TypeScript 1.x and Python 2.x",
    }
}

/// A report without any outcome yet.
pub(super) fn blank(plan: &Plan) -> (Vec<Option<TrialOutcome>>, Vec<Option<TrialOutcome>>) {
    (vec![None; plan.places.len()], vec![None; plan.probes.len()])
}
