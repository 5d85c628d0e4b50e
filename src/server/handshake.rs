//! What the server declares: in `initialize` of the legacy era, and in `server/discover` of the modern one.

use super::incoming::Origin;
use super::{Phase, Report, Server};
use crate::proposals::server::{Answer, Declaration, Refusal};
use crate::proposals::{Declared, Proposal, REGISTRY, Side};
use crate::protocol::revision::meta;
use crate::protocol::{Era, Revision, errors};
use serde_json::{Map, Value, json};

const INSTRUCTIONS: &str = "A small server to try out MCP and five proposals that let a server take part in \
a conversation. It keeps notes (`add_note`), has a few tools that \
show how tools behave (`echo`, `add`, `fail`, `count_slowly`), and sends messages on request (`emit`).";

const MEMORY: &str = "It remembers things (`remember`, `search_memories`).";
const FILES: &str = "It watches files, offers them as resources, and reports when one has changed.";
const COMMANDS: &str = "It watches the results of some commands; `check` runs them now.";

const NO_CARRIER: &str = "This revision of MCP cannot carry the proposals, so this server offers only plain MCP; \
connect with a revision up to 2025-11-25 to use them.";

impl Server {
    pub(super) fn initialize(&mut self, params: &Value) -> Answer {
        let asked = params["protocolVersion"].as_str();
        let asked = asked.ok_or_else(|| Refusal::params("`protocolVersion` must be a string"))?;
        let Some(revision) = self.config.agree(asked) else { return Err(self.unsupported(asked)) };
        let client = &params["capabilities"];
        self.session.phase = Phase::Answered;
        self.session.revision = Some(revision);
        self.cx.client = name_of(&params["clientInfo"]);
        self.session.samples = client["sampling"].is_object();
        let mut capabilities = self.plain(revision);
        for Declaration { path, value } in self.config.besides.iter().cloned().chain(self.proposals.declare(client)) {
            put(&mut capabilities, path, value);
        }
        self.connected(revision, client);
        Ok(json!({
            "protocolVersion": revision.as_str(),
            "capabilities": capabilities,
            "serverInfo": self.info(),
            "instructions": self.instructions(),
        }))
    }

    /// `server/discover` (MCP 2026-07-28): like `initialize`, without the proposals.
    pub(super) fn discover(&self, origin: &Origin) -> Value {
        let instructions = match &self.config.catalogue {
            Some(catalogue) => catalogue.instructions.clone(),
            None => format!("{} {NO_CARRIER}", self.instructions()),
        };
        json!({
            "supportedVersions": self.spoken_versions(),
            "capabilities": self.plain(origin.revision()),
            "instructions": instructions,
        })
    }

    fn instructions(&self) -> String {
        if let Some(catalogue) = &self.config.catalogue {
            return catalogue.instructions.clone();
        }
        let outside = &self.config.outside;
        let parts = [
            (true, INSTRUCTIONS),
            (self.config.memory, MEMORY),
            (!outside.folders.is_empty(), FILES),
            (!outside.commands.is_empty(), COMMANDS),
        ];
        let reported: Vec<&str> = parts.into_iter().filter_map(|(is_so, text)| is_so.then_some(text)).collect();
        reported.join(" ")
    }

    /// Handles the first modern request, which identifies the host.
    pub(super) fn meet(&mut self, revision: Revision, params: &Value) {
        if self.session.is_modern {
            return;
        }
        self.session.is_modern = true;
        let about = &params["_meta"];
        if self.session.phase == Phase::New {
            self.cx.client = name_of(&about[meta::CLIENT_INFO]);
        }
        self.connected(revision, &about[meta::CLIENT_CAPABILITIES]);
        let proposals = self.proposals.wanted();
        if !proposals.is_empty() {
            self.report(Report::NoCarrier { revision: revision.as_str(), proposals });
        }
    }

    fn connected(&mut self, revision: Revision, client: &Value) {
        let declared = declared_by(client);
        self.report(Report::Connected { client: self.cx.client.clone(), revision: revision.as_str(), declared });
    }

    /// `serverInfo`.
    pub(super) fn info(&self) -> Value {
        json!({"name": self.config.name, "version": self.config.version})
    }

    /// The error -32022: the requested revision is not supported without a handshake.
    pub(super) fn unsupported(&self, requested: &str) -> Refusal {
        let data = json!({"supported": self.spoken_versions(), "requested": requested});
        Refusal::new(errors::UNSUPPORTED_VERSION, format!("Unsupported protocol version {requested}")).about(data)
    }

    /// MCP's own capabilities. In the modern era nothing can be sent unasked: no log messages, no resource updates.
    fn plain(&self, revision: Revision) -> Map<String, Value> {
        let sends_unasked = revision.era() == Era::Legacy && self.config.catalogue.is_none();
        let mut all = Map::new();
        if sends_unasked {
            all.insert("logging".to_owned(), json!({}));
        }
        if revision >= Revision::V2025_03_26 {
            all.insert("completions".to_owned(), json!({}));
        }
        all.insert("prompts".to_owned(), json!({}));
        all.insert("resources".to_owned(), if sends_unasked { json!({"subscribe": true}) } else { json!({}) });
        all.insert("tools".to_owned(), json!({}));
        all
    }

    fn spoken_versions(&self) -> Vec<&'static str> {
        self.config.spoken(Era::Modern).map(Revision::as_str).collect()
    }
}

fn name_of(client: &Value) -> String {
    client["name"].as_str().unwrap_or("unnamed").to_owned()
}

/// Sets a value at a path, creating the objects on the way.
fn put(all: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [name] => {
            all.insert((*name).to_owned(), value);
        }
        [name, rest @ ..] => {
            if let Some(inner) = all.entry(*name).or_insert_with(|| json!({})).as_object_mut() {
                put(inner, rest, value);
            }
        }
    }
}

/// The proposals that the client declares, and their paths.
fn declared_by(client: &Value) -> Vec<(String, String)> {
    let declared = Declared { client: client.clone(), ..Declared::default() };
    let place = |proposal: &&dyn Proposal| {
        let (place, _) = declared.find(proposal.descriptor(), Side::Client)?;
        Some((proposal.descriptor().name.to_owned(), place.path.join(".")))
    };
    REGISTRY.iter().filter_map(place).collect()
}
