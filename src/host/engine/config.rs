//! What a host is made of: its servers, its options, and what it says of itself.

use crate::host::client::ClientConfig;
use crate::host::prompt::Layout;
use crate::proposals::host::ModelView;
use crate::proposals::policy::{Policies, Setting, SettingKind};
use crate::proposals::settings;

/// What is the host's own to choose.
pub static SETTINGS: &[Setting] = &[
    Setting {
        name: "prompt_bytes",
        kind: SettingKind::Bytes,
        default: "64k",
        text: "How much servers may inject into one prompt, all together",
        source: "the host's own",
    },
    Setting {
        name: "history",
        kind: SettingKind::Count,
        default: "40",
        text: "How many earlier messages stand in a prompt",
        source: "the host's own",
    },
    Setting {
        name: "instructions",
        kind: SettingKind::Flag,
        default: "true",
        text: "Whether the servers' instructions stand in the prompt",
        source: "seed 003, Interaction with SERVER_INSTRUCTIONS (D39)",
    },
    Setting {
        name: "tool_timeout",
        kind: SettingKind::Time,
        default: "60s",
        text: "How long a tool's answer is waited for",
        source: "the host's own",
    },
    Setting {
        name: "tool_rounds",
        kind: SettingKind::Count,
        default: "8",
        text: "How often a model may use tools in one turn",
        source: "the host's own",
    },
];

/// The host's options and those of all rooms, at their defaults.
pub fn policies() -> Policies {
    Policies::new(std::iter::once(("host", SETTINGS)).chain(settings()))
}

/// A server that the host is to talk to.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Its name here.
    pub name: String,
    /// How to be its client; what rooms declare is laid over the capabilities.
    pub client: ClientConfig,
}

/// How to be a host.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Its servers, in order.
    pub servers: Vec<ServerConfig>,
    /// What the proposals leave to it.
    pub policies: Policies,
    /// Where injections stand.
    pub layout: Layout,
    /// What ids are drawn from.
    pub seed: u64,
    /// The project, for templates.
    pub project: String,
    /// The session, for templates.
    pub session: String,
    /// What the host itself says to the model.
    pub system: String,
    /// What servers may learn of the model.
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
