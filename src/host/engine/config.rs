//! The configuration of a host: its servers, its options, and what it declares.

use crate::host::client::ClientConfig;
use crate::host::prompt::Layout;
use crate::proposals::host::ModelView;
use crate::proposals::policy::{Policies, Setting, SettingKind};
use crate::proposals::settings;

/// The host's own options, beside those of the proposals.
pub(crate) static SETTINGS: &[Setting] = &[
    Setting {
        name: "prompt_bytes",
        kind: SettingKind::Bytes,
        default: "64k",
        text: "Maximum size of all injections in one prompt",
        source: "mcpreel",
    },
    Setting {
        name: "history",
        kind: SettingKind::Count,
        default: "40",
        text: "Maximum number of earlier messages in a prompt",
        source: "mcpreel",
    },
    Setting {
        name: "instructions",
        kind: SettingKind::Flag,
        default: "true",
        text: "Whether the servers' instructions are added to the prompt",
        source: "SEP-2282, Interaction with SERVER_INSTRUCTIONS",
    },
    Setting {
        name: "final_turn",
        kind: SettingKind::Flag,
        default: "true",
        text: "Whether the model gets a last turn if hooks inject text at the session's end; otherwise, the text is lost",
        source: "SEP-2282, Event types",
    },
    Setting {
        name: "hooks_per_event",
        kind: SettingKind::Count,
        default: "32",
        text: "How many hooks of all servers together fire at one event; those with the highest priority are preferred",
        source: "SEP-2282, Client behaviour",
    },
    Setting {
        name: "tool_timeout",
        kind: SettingKind::Time,
        default: "30s",
        text: "Timeout of a tool call, and of a list of tools",
        source: "mcpreel",
    },
    Setting {
        name: "tool_rounds",
        kind: SettingKind::Count,
        default: "8",
        text: "Maximum number of times the model may use tools in one turn",
        source: "mcpreel",
    },
];

/// The options of the host and of all proposals, at their defaults.
pub fn policies() -> Policies {
    Policies::new(std::iter::once(("host", SETTINGS)).chain(settings()))
}

/// A server that the host connects to.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Its name within the host.
    pub name: String,
    /// The client's configuration. What the proposals declare is merged into the capabilities.
    pub client: ClientConfig,
    /// Whether the user gave its command where the host was started.
    pub is_own: bool,
}

/// The configuration of a host.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Its servers, in order.
    pub servers: Vec<ServerConfig>,
    /// The values of its options.
    pub policies: Policies,
    /// The positions of injections in the prompt.
    pub layout: Layout,
    /// The seed of ids.
    pub seed: u64,
    /// The project, for templates.
    pub project: String,
    /// The session, for templates.
    pub session: String,
    /// The system prompt.
    pub system: String,
    /// What servers may learn about the model.
    pub model: ModelView,
}

impl Default for HostConfig {
    fn default() -> Self {
        Self {
            servers: Vec::new(),
            policies: policies(),
            layout: Layout::default(),
            seed: 0,
            project: String::new(),
            session: "session-1".to_owned(),
            system: String::new(),
            model: ModelView::default(),
        }
    }
}
