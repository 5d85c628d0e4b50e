//! What is tried on a client: every place of a declaration, every message.

use crate::proposals::server::Declaration;
use crate::proposals::{REGISTRY, Side, method_spec};
use crate::protocol::MethodKind;
use crate::server::Fired;
use serde::Serialize;
use serde_json::{Value, json};

/// A request that nobody knows (X5).
const UNKNOWN_REQUEST: &str = "mcpreel/unknown";
/// A notification that nobody knows (X6).
const UNKNOWN_NOTIFICATION: &str = "notifications/mcpreel/unknown";

/// All that is tried.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Declarations, in all their places.
    pub places: Vec<DeclarationPlace>,
    /// Messages, in the order in which they are sent.
    pub probes: Vec<Probe>,
}

/// A place at which a proposal is declared.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclarationPlace {
    /// The room's name.
    pub proposal: &'static str,
    /// Member names below `capabilities`.
    pub path: &'static [&'static str],
    /// What stands there.
    pub value: Value,
}

/// Whether an answer is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// It is.
    Request,
    /// It is not.
    Notification,
}

impl Form {
    /// `request` or `notification`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Notification => "notification",
        }
    }
}

/// A message to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// The proposal's room; `None` for what no proposal has.
    pub proposal: Option<&'static str>,
    /// Its method.
    pub method: String,
    /// As what it is sent.
    pub form: Form,
    /// Its params.
    pub params: Value,
}

impl Probe {
    /// What the built-in server is told.
    pub fn fired(&self) -> Fired {
        Fired::new(self.form.name(), json!({"method": self.method, "params": self.params}))
    }
}

impl Plan {
    /// What these rooms have. With no names, what all have, and what nobody knows.
    pub fn of(names: &[String]) -> Self {
        let mut plan = Self::default();
        for proposal in REGISTRY
            .iter()
            .filter(|proposal| names.is_empty() || names.iter().any(|it| it == proposal.descriptor().name))
        {
            let (descriptor, samples) = (proposal.descriptor(), proposal.samples());
            let name = descriptor.name;
            if let Some(value) = samples.capability {
                let places = descriptor.places.iter().filter(|place| place.side == Side::Server);
                plan.places.extend(places.map(|place| DeclarationPlace {
                    proposal: name,
                    path: place.path,
                    value: value.clone(),
                }));
            }
            for sample in samples.messages {
                let kind = method_spec(&sample.method).map_or(MethodKind::Notification, |spec| spec.kind);
                let forms: &[Form] = match kind {
                    MethodKind::Request => &[Form::Request],
                    MethodKind::Notification => &[Form::Notification],
                    MethodKind::Either => &[Form::Notification, Form::Request],
                };
                plan.probes.extend(forms.iter().map(|form| Probe {
                    proposal: Some(name),
                    method: sample.method.clone(),
                    form: *form,
                    params: sample.params.clone(),
                }));
            }
        }
        if names.is_empty() {
            let unknown = [(UNKNOWN_NOTIFICATION, Form::Notification), (UNKNOWN_REQUEST, Form::Request)];
            plan.probes.extend(unknown.map(|(method, form)| Probe {
                proposal: None,
                method: method.to_owned(),
                form,
                params: json!({}),
            }));
        }
        plan
    }
}

impl DeclarationPlace {
    /// For the server to declare.
    pub fn declaration(&self) -> Declaration {
        Declaration { path: self.path, value: self.value.clone() }
    }

    /// Where it is, with dots.
    pub fn name(&self) -> String {
        self.path.join(".")
    }
}
