//! The handshake: which revision, which capabilities, and of the proposals those that the host can use.

use super::incoming::{Answer, Refusal};
use super::{Phase, Report, Server, tools};
use crate::extension::{Declared, REGISTRY, Side, conversation, hooks, mcpe, mcpl, reminder};
use crate::protocol::Revision;
use serde_json::{Map, Value, json};

const INSTRUCTIONS: &str = "A small live server for trying out MCP and five proposals that let a server take part in \
a conversation. It remembers things (`remember`, `search_memories`), keeps notes (`add_note`), has a few tools that \
show how tools behave (`echo`, `add`, `fail`, `count_slowly`), and sends what it is told to with `emit`.";

impl Server {
    pub(super) fn initialize(&mut self, params: &Value) -> Answer {
        let asked = params["protocolVersion"].as_str();
        let asked = asked.ok_or_else(|| Refusal::params("`protocolVersion` must be a string"))?;
        let revision = self.config.agree(asked);
        let client = &params["capabilities"];
        self.session.phase = Phase::Answered;
        self.session.revision = Some(revision);
        self.session.client = params["clientInfo"]["name"].as_str().unwrap_or("unnamed").to_owned();
        let sets = &self.config.push_sets;
        self.session.mcpl = self.config.declares("mcpl").then(|| mcpl::server::Mcpl::negotiate(client, sets)).flatten();
        let capabilities = self.capabilities(revision, client);
        self.report(Report::Connected {
            client: self.session.client.clone(),
            revision: revision.as_str(),
            declared: declared_by(client),
        });
        Ok(json!({
            "protocolVersion": revision.as_str(),
            "capabilities": capabilities,
            "serverInfo": {"name": self.config.name, "version": self.config.version},
            "instructions": INSTRUCTIONS,
        }))
    }

    /// MCP's own capabilities and, each at its place, those of the proposals.
    fn capabilities(&self, revision: Revision, client: &Value) -> Map<String, Value> {
        let mut all = Map::new();
        all.insert("logging".to_owned(), json!({}));
        if revision >= Revision::V2025_03_26 {
            all.insert("completions".to_owned(), json!({}));
        }
        all.insert("prompts".to_owned(), json!({}));
        all.insert("resources".to_owned(), json!({"subscribe": true}));
        all.insert("tools".to_owned(), json!({}));
        if self.config.declares("conversation") {
            put(&mut all, &["conversationEvents"], conversation::server::capability());
        }
        if self.config.declares("reminder") {
            put(&mut all, &["reminders"], reminder::server::capability());
        }
        if let Some(mcpl) = &self.session.mcpl {
            put(&mut all, &["experimental", "mcpl"], mcpl.block());
        }
        if self.config.declares("hooks") {
            let offered = hooks::server::memory_hooks(tools::SEARCH, tools::ADD_NOTE);
            if let Some(declaration) = hooks::server::negotiate(client, &offered) {
                put(&mut all, declaration.path, declaration.value);
            }
        }
        if self.config.declares("mcpe") {
            put(&mut all, &["events"], mcpe::server::capability());
        }
        all
    }
}

/// Puts a value at a place, making the objects on the way.
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

/// The proposals that the client declares itself, and where.
fn declared_by(client: &Value) -> Vec<(String, String)> {
    let declared = Declared { client: client.clone(), ..Declared::default() };
    let place = |room: &&dyn crate::extension::Extension| {
        let (place, _) = declared.find(room.descriptor(), Side::Client)?;
        Some((room.descriptor().name.to_owned(), place.path.join(".")))
    };
    REGISTRY.iter().filter_map(place).collect()
}
