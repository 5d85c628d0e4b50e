//! The user's consent to show a server the conversation: the user's words, the model's answers, and what tools are
//! given and return. Every proposal that carries any of these to a server asks here first, so that the rule is one.

use super::{HostCx, ServerId, ServerView};
use crate::proposals::policy::{Policy, Setting, SettingKind};
use serde_json::Value;

/// The name of the option that gives or refuses the consent, in each proposal that needs it.
pub(crate) const CONSENT: &str = "consent";

/// The option of a proposal. `text` says what the proposal shows to the server.
pub(crate) const fn setting(text: &'static str, source: &'static str) -> Setting {
    Setting { name: CONSENT, kind: SettingKind::Choice(&["ask", "true", "false"]), default: "ask", text, source }
}

/// Whether the user lets a proposal show the conversation to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    Given,
    Refused,
    /// Nobody has answered yet.
    Open {
        /// Whether the user was asked.
        is_asked: bool,
        /// Whether the host has reported that something was not sent.
        is_reported: bool,
    },
}

impl Consent {
    /// The consent at the beginning: what the option says, else given for a server whose command the user gave.
    pub(crate) fn of(policy: &Policy, view: &ServerView) -> Self {
        match policy.word(CONSENT) {
            "true" => Self::Given,
            "false" => Self::Refused,
            _ if view.is_own => Self::Given,
            _ => Self::Open { is_asked: false, is_reported: false },
        }
    }

    /// Whether the conversation may be shown.
    pub(crate) fn is_given(self) -> bool {
        self == Self::Given
    }

    /// Takes the user's answer.
    pub(crate) fn decide(&mut self, is_given: bool) {
        *self = if is_given { Self::Given } else { Self::Refused };
    }

    /// Asks the user, unless there is an answer or the question was asked before.
    pub(crate) fn ask(&mut self, cx: &mut HostCx<'_>, server: ServerId, question: impl FnOnce(&str) -> String) {
        if let (Self::Open { is_asked, .. }, Some(view)) = (self, cx.server(server))
            && !std::mem::replace(is_asked, true)
        {
            cx.ask_consent(server, question(&view.name));
        }
    }

    /// The gate: whether something of the conversation may go to the server now. If nobody has answered, reports once
    /// what the server does not get.
    pub(crate) fn admits(&mut self, cx: &mut HostCx<'_>, server: ServerId, what: &str) -> bool {
        if let Self::Open { is_reported, .. } = self
            && !std::mem::replace(is_reported, true)
        {
            let name = cx.server(server).map_or("", |view| view.name.as_str());
            let text = format!(
                "gets no {what} without your consent; give it with /approve {name}, --consent or --set \
                 {name}:{}.{CONSENT}=true",
                cx.proposal
            );
            cx.report("left out", Some(server), text, Value::Null);
        }
        self.is_given()
    }
}
