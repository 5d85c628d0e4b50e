//! The revisions of MCP, and the two eras that they belong to.

/// A published revision of MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Revision {
    /// 2024-11-05: stdio, HTTP+SSE.
    V2024_11_05,
    /// 2025-03-26: Streamable HTTP, batches.
    V2025_03_26,
    /// 2025-06-18: elicitation, no batches.
    V2025_06_18,
    /// 2025-11-25: tasks.
    V2025_11_25,
    /// 2026-07-28: stateless, `server/discover`, no requests from the server.
    V2026_07_28,
}

/// The two forms of MCP: with a handshake and traffic in both directions, or stateless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// Up to 2025-11-25: `initialize`, sessions, requests and notifications from both sides.
    Legacy,
    /// From 2026-07-28: no handshake; every request carries its version and capabilities.
    Modern,
}

impl Era {
    /// Returns the era of a version by its name. Names are dates, so unknown ones can be compared, too.
    pub fn of_version(version: &str) -> Self {
        let is_later = version >= Revision::V2026_07_28.as_str();
        Revision::parse(version).map_or(if is_later { Self::Modern } else { Self::Legacy }, Revision::era)
    }

    /// Returns `legacy` or `modern`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

    /// The newest revision of the legacy era.
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;

    /// The newest revision.
    pub const NEWEST: Self = Self::V2026_07_28;

    /// Returns the date that names the revision on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Parses the date.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    /// Returns the era of the revision.
    pub fn era(self) -> Era {
        if self >= Self::V2026_07_28 { Era::Modern } else { Era::Legacy }
    }
}

/// Members of `_meta` that every request of the modern era carries (2026-07-28).
pub(crate) mod meta {
    /// The revision of the request.
    pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// Name and version of the client.
    pub(crate) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// The client's capabilities, for this request.
    pub(crate) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// The lowest level of the log messages that the client wants during this request; if absent, it wants none.
    pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// Name and version of the server, in results.
    pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The id of the `subscriptions/listen` request that a notification belongs to.
    pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
}
