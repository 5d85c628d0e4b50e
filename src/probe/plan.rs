//! What to try on a client: every place of every declaration, and every message.

use crate::proposals::server::Declaration;
use crate::proposals::{REGISTRY, Side, method_spec};
use crate::protocol::MethodKind;
use crate::server::Fired;
use serde::Serialize;
use serde_json::{Value, json};

/// A request that no client knows.
const UNKNOWN_REQUEST: &str = "mcpreel/unknown";
/// A notification that no client knows.
const UNKNOWN_NOTIFICATION: &str = "notifications/mcpreel/unknown";

/// Everything to try.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The declarations, at each of their places.
    pub places: Vec<DeclarationPlace>,
    /// The messages, in the order of sending.
    pub probes: Vec<Probe>,
}

/// A place at which a proposal can be declared.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclarationPlace {
    /// The proposal's name.
    pub proposal: &'static str,
    /// Member names below `capabilities`.
    pub path: &'static [&'static str],
    /// The value to declare.
    pub value: Value,
}

/// Whether a message expects a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// It does.
    Request,
    /// It does not.
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
    /// The message's proposal; `None` for messages of no proposal.
    pub proposal: Option<&'static str>,
    /// Its method.
    pub method: String,
    /// Its form.
    pub form: Form,
    /// Its params.
    pub params: Value,
}

impl Probe {
    /// The order for the built-in server.
    pub fn fired(&self) -> Fired {
        Fired::new(self.form.name(), json!({"method": self.method, "params": self.params}))
    }
}

impl Plan {
    /// The plan for these proposals. Without names, for all proposals, and with messages of no proposal.
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
    /// The declaration that the server makes.
    pub fn declaration(&self) -> Declaration {
        Declaration { path: self.path, value: self.value.clone() }
    }

    /// The path, joined by dots.
    pub fn name(&self) -> String {
        self.path.join(".")
    }
}
