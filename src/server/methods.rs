//! The methods of MCP itself, except for the handshake and tool calls.

use super::incoming::Origin;
use super::{Server, content, fire};
use crate::proposals::server::{Answer, Refusal, text};
use crate::protocol::{Era, Revision, errors};
use serde_json::{Value, json};

/// The error "resource not found" up to MCP 2025-11-25; later revisions use "invalid params".
const RESOURCE_NOT_FOUND: i64 = -32002;

/// Whether this file or the tools handle an era's request.
fn serves(era: Era, method: &str) -> bool {
    const BOTH: &[&str] = &[
        "completion/complete",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "tools/call",
        "tools/list",
    ];
    const LEGACY: &[&str] = &["logging/setLevel", "resources/subscribe", "resources/unsubscribe"];
    let own = if era == Era::Legacy { LEGACY } else { &["server/discover"] };
    BOTH.contains(&method) || own.contains(&method)
}

/// The error for an unknown method.
pub(super) fn unknown(method: &str) -> Refusal {
    Refusal::new(errors::METHOD_NOT_FOUND, format!("Method not found: {method}"))
}

impl Server {
    /// Whether the server handles an era's request itself.
    pub(super) fn serves(&self, era: Era, method: &str) -> bool {
        let needs_messages = ["logging/setLevel", "resources/subscribe", "resources/unsubscribe"];
        serves(era, method) && !(self.config.catalogue.is_some() && needs_messages.contains(&method))
    }

    pub(super) fn serve_core(&mut self, origin: &Origin, method: &str, params: &Value) -> Answer {
        let answer = match method {
            "server/discover" => Ok(self.discover(origin)),
            "tools/list" => whole(params, "tools", self.list_tools(origin.revision())),
            "prompts/list" => whole(params, "prompts", self.prompts()),
            "resources/list" => whole(params, "resources", content::resources(self.config.memory)),
            "resources/templates/list" => whole(params, "resourceTemplates", self.templates()),
            "resources/read" => self.read(origin, params),
            "prompts/get" => return self.prompt(params),
            "completion/complete" => return self.complete(params),
            "resources/subscribe" => {
                let uri = self.known_uri(origin, params)?;
                self.cx.watched.insert(uri);
                Ok(json!({}))
            }
            "resources/unsubscribe" => {
                let uri = text(params, "uri")?;
                self.cx.watched.remove(uri);
                Ok(json!({}))
            }
            "logging/setLevel" => self.set_level(params),
            _ => Err(unknown(method)),
        };
        answer.map(|result| in_era(origin, result))
    }

    /// The tools, without members that the revision does not define.
    fn list_tools(&self, revision: Revision) -> Vec<Value> {
        let mut listed = self.all_tools();
        if revision.era() == Era::Legacy {
            self.proposals.list_tools(&mut listed);
        }
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

    fn prompts(&self) -> Vec<Value> {
        self.config.catalogue.as_ref().map_or_else(|| content::prompts(self.config.memory), |it| it.prompts.clone())
    }

    fn templates(&self) -> Vec<Value> {
        self.config.catalogue.as_ref().map_or_else(|| content::templates(self.config.memory), |it| it.templates.clone())
    }

    fn set_level(&mut self, params: &Value) -> Answer {
        let level = text(params, "level")?;
        let rank = fire::level_rank(level).ok_or_else(|| Refusal::params(format!("unknown level {level:?}")))?;
        self.session.log_level = rank;
        Ok(json!({}))
    }

    fn known_uri(&self, origin: &Origin, params: &Value) -> Result<String, Refusal> {
        let uri = text(params, "uri")?;
        match self.config.outside.has(uri) || self.contents(uri).is_some() {
            true => Ok(uri.to_owned()),
            false => Err(not_found(origin, uri)),
        }
    }

    fn contents(&self, uri: &str) -> Option<Value> {
        content::contents(uri, &self.cx.store, self.config.memory)
    }

    fn read(&self, origin: &Origin, params: &Value) -> Answer {
        let uri = self.known_uri(origin, params)?;
        let contents = self.contents(&uri);
        Ok(json!({"contents": contents.into_iter().collect::<Vec<_>>()}))
    }

    fn prompt(&self, params: &Value) -> Answer {
        let name = text(params, "name")?;
        let topic = params["arguments"]["topic"].as_str();
        match (name, topic) {
            (content::RECALL, _) if !self.config.memory => Err(Refusal::params(format!("unknown prompt {name}"))),
            (content::RECALL, None) => Err(Refusal::params("prompt recall needs the argument `topic`")),
            (content::RECALL, Some(topic)) => Ok(content::recall(topic, &self.cx.store.memories)),
            (content::REVIEW_NOTES, _) => Ok(content::review(&self.cx.store.notes)),
            _ => Err(Refusal::params(format!("unknown prompt {name}"))),
        }
    }

    fn complete(&self, params: &Value) -> Answer {
        const MAX: usize = 100;
        let value = params["argument"]["value"].as_str();
        let value = value.ok_or_else(|| Refusal::params("`argument.value` must be a string"))?;
        let argument = params["argument"]["name"].as_str().unwrap_or_default();
        let reference = &params["ref"];
        let of = reference["name"].as_str().or(reference["uri"].as_str()).unwrap_or_default();
        let mut values = match (of, argument) {
            (content::RECALL, "topic") => self.cx.store.memories.words_from(value),
            (content::MEMORY, "id") => {
                let ids = self.cx.store.memories.all().map(|memory| memory.id.clone());
                ids.filter(|id| id.starts_with(value)).collect()
            }
            _ => return Err(Refusal::params(format!("no completion for argument {argument:?} of {of:?}"))),
        };
        let total = values.len();
        values.truncate(MAX);
        Ok(json!({"completion": {"values": values, "total": total, "hasMore": total > MAX}}))
    }
}

/// A list in one page, so that no cursor is ever valid.
fn whole(params: &Value, name: &str, items: Vec<Value>) -> Answer {
    if params.get("cursor").is_some() {
        return Err(Refusal::params("unknown cursor: the list has one page"));
    }
    Ok(json!({name: items}))
}

/// Adds the caching members of the modern era to a result: do not cache it, because the next one may differ (MCP
/// 2026-07-28, Caching).
pub(super) fn in_era(origin: &Origin, mut result: Value) -> Value {
    if origin.revision().era() == Era::Modern {
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("private");
    }
    result
}

/// The error for a resource that does not exist or cannot be read.
pub(super) fn not_found(origin: &Origin, uri: &str) -> Refusal {
    let code = match origin.revision().era() {
        Era::Legacy => RESOURCE_NOT_FOUND,
        Era::Modern => errors::INVALID_PARAMS,
    };
    Refusal::new(code, "Resource not found").about(json!({"uri": uri}))
}
