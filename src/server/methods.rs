//! Methods of MCP itself, but for the handshake and tool calls.

use super::incoming::{Answer, Refusal};
use super::{Server, catalog, fire, tools};
use crate::protocol::Revision;
use serde_json::{Value, json};

/// Resource not found (MCP, up to 2025-11-25).
const RESOURCE_NOT_FOUND: i64 = -32002;

/// Whether a request is served here or by the tools.
pub fn serves(method: &str) -> bool {
    const SERVED: &[&str] = &[
        "completion/complete",
        "logging/setLevel",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/subscribe",
        "resources/templates/list",
        "resources/unsubscribe",
        "tools/call",
        "tools/list",
    ];
    SERVED.contains(&method)
}

impl Server {
    pub(super) fn serve_core(&mut self, method: &str, params: &Value) -> Answer {
        match method {
            "tools/list" => whole(params, "tools", self.list_tools()),
            "prompts/list" => whole(params, "prompts", catalog::prompts()),
            "prompts/get" => self.prompt(params),
            "resources/list" => whole(params, "resources", catalog::resources()),
            "resources/templates/list" => whole(params, "resourceTemplates", catalog::templates()),
            "resources/read" => self.read(params),
            "resources/subscribe" => {
                let uri = self.known_uri(params)?;
                self.session.watched.insert(uri);
                Ok(json!({}))
            }
            "resources/unsubscribe" => {
                let uri = text(params, "uri")?;
                self.session.watched.remove(uri);
                Ok(json!({}))
            }
            "logging/setLevel" => self.set_level(params),
            "completion/complete" => self.complete(params),
            _ => Err(Refusal::unknown_method(method)),
        }
    }

    fn revision(&self) -> Revision {
        self.session.revision.unwrap_or(Revision::NEWEST_LEGACY)
    }

    /// The tools, without members that the revision does not have yet.
    fn list_tools(&self) -> Vec<Value> {
        let revision = self.revision();
        let mut listed = tools::all(&self.config, self.session.mcpl.is_some());
        for tool in listed.iter_mut().filter_map(Value::as_object_mut) {
            if revision < Revision::V2025_06_18 {
                tool.shift_remove("title");
                tool.shift_remove("outputSchema");
            }
            if revision < Revision::V2025_03_26 {
                tool.shift_remove("annotations");
            }
        }
        listed
    }

    /// Whether results carry `structuredContent`.
    pub(super) fn has_structured_content(&self) -> bool {
        self.revision() >= Revision::V2025_06_18
    }

    /// Whether progress may carry a `message`.
    pub(super) fn has_progress_messages(&self) -> bool {
        self.revision() >= Revision::V2025_03_26
    }

    fn set_level(&mut self, params: &Value) -> Answer {
        let level = text(params, "level")?;
        let rank = fire::level_rank(level).ok_or_else(|| Refusal::params(format!("unknown level {level:?}")))?;
        self.session.log_level = rank;
        Ok(json!({}))
    }

    fn known_uri(&self, params: &Value) -> Result<String, Refusal> {
        let uri = text(params, "uri")?;
        match catalog::contents(uri, &self.memories, &self.notes) {
            Some(_) => Ok(uri.to_owned()),
            None => Err(Refusal::new(RESOURCE_NOT_FOUND, "Resource not found").about(json!({"uri": uri}))),
        }
    }

    fn read(&self, params: &Value) -> Answer {
        let uri = self.known_uri(params)?;
        let contents = catalog::contents(&uri, &self.memories, &self.notes);
        Ok(json!({"contents": contents.into_iter().collect::<Vec<_>>()}))
    }

    fn prompt(&self, params: &Value) -> Answer {
        let name = text(params, "name")?;
        let topic = params["arguments"]["topic"].as_str();
        match (name, topic) {
            (catalog::RECALL, None) => Err(Refusal::params("prompt recall needs the argument `topic`")),
            (catalog::RECALL, Some(topic)) => Ok(catalog::recall(topic, &self.memories)),
            (catalog::REVIEW_NOTES, _) => Ok(catalog::review(&self.notes)),
            _ => Err(Refusal::params(format!("there is no prompt {name}"))),
        }
    }

    fn complete(&self, params: &Value) -> Answer {
        const MOST: usize = 100;
        let value = params["argument"]["value"].as_str();
        let value = value.ok_or_else(|| Refusal::params("`argument.value` must be a string"))?;
        let argument = params["argument"]["name"].as_str().unwrap_or_default();
        let reference = &params["ref"];
        let of = reference["name"].as_str().or(reference["uri"].as_str()).unwrap_or_default();
        let mut values = match (of, argument) {
            (catalog::RECALL, "topic") => self.memories.words_from(value),
            (catalog::MEMORY, "id") => {
                let ids = self.memories.all().map(|memory| memory.id.clone());
                ids.filter(|id| id.starts_with(value)).collect()
            }
            _ => return Err(Refusal::params(format!("nothing to complete at {of:?}, argument {argument:?}"))),
        };
        let total = values.len();
        values.truncate(MOST);
        Ok(json!({"completion": {"values": values, "total": total, "hasMore": total > MOST}}))
    }

    /// Tells the host that a resource changed, if it watches it.
    pub(super) fn changed(&mut self, uri: &str) {
        if self.session.watched.contains(uri) {
            self.notify("notifications/resources/updated", &json!({"uri": uri}));
        }
    }
}

/// A list in one page: no cursor was ever given out.
fn whole(params: &Value, name: &str, items: Vec<Value>) -> Answer {
    if params.get("cursor").is_some() {
        return Err(Refusal::params("unknown cursor: the list has one page"));
    }
    Ok(json!({name: items}))
}

fn text<'a>(params: &'a Value, name: &str) -> Result<&'a str, Refusal> {
    params[name].as_str().ok_or_else(|| Refusal::params(format!("`{name}` must be a string")))
}
