//! What a server offers in place of the built-in tools, resources and prompts. The engine lists it, checks arguments and
//! keeps to the rules of the revision; the runner answers the requests.

use super::Server;
use super::incoming::Origin;
use super::io_requests::Task;
use super::methods::{in_era, not_found};
use crate::proposals::server::{Answer, Refusal, failure};
use crate::protocol::{Revision, errors};
use serde_json::{Value, json};

/// Maximum number of requests in progress. Each further one is refused.
const MAX_IN_PROGRESS: usize = 64;

/// What a server offers.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// What the server says about itself.
    pub instructions: String,
    /// The tools, as `tools/list` has them.
    pub tools: Vec<Value>,
    /// Returns what is wrong with a tool's arguments, if anything is.
    pub fault: fn(&str, &Value) -> Option<String>,
    /// The prompts, as `prompts/list` has them.
    pub prompts: Vec<Value>,
    /// The templates, as `resources/templates/list` has them.
    pub templates: Vec<Value>,
}

/// A request for the runner: `tools/call`, `resources/list`, `resources/read`, `prompts/get` or `completion/complete`.
///
/// Its result is an object with one of these members: `result`, the result of the method; `refused`, a text for the error
/// "invalid params"; `missing`, the URI of a resource that does not exist. The result of a tool has `structuredContent`
/// whatever the revision is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogueRequest {
    /// The method.
    pub method: String,
    /// The params. Of a tool, the arguments conform to their schema.
    pub params: Value,
}

impl Server {
    /// Whether the runner answers requests with this method. It also answers calls of tools.
    pub(super) fn is_for_runner(&self, method: &str) -> bool {
        let methods = ["resources/list", "resources/read", "prompts/get", "completion/complete"];
        self.config.catalogue.is_some() && methods.contains(&method)
    }

    /// Passes a call on to the runner. Returns an answer if it cannot be passed on.
    pub(super) fn call_in(
        &mut self,
        catalogue: &Catalogue,
        origin: &Origin,
        tool: &str,
        arguments: &Value,
    ) -> Option<Answer> {
        if !catalogue.tools.iter().any(|known| known["name"] == tool) {
            return Some(Err(Refusal::params(format!("Unknown tool: {tool}"))));
        }
        if let Some(fault) = (catalogue.fault)(tool, arguments) {
            return Some(Ok(failure(&format!("arguments of {tool}: {fault}"))));
        }
        let params = json!({"name": tool, "arguments": arguments});
        self.pass_on(origin, CatalogueRequest { method: "tools/call".to_owned(), params })
    }

    /// Passes a request on to the runner. Returns an answer if too many are in progress.
    pub(super) fn pass_on(&mut self, origin: &Origin, request: CatalogueRequest) -> Option<Answer> {
        if self.io_requests.in_progress() >= MAX_IN_PROGRESS {
            let busy = format!("{MAX_IN_PROGRESS} requests are in progress; try again later");
            return Some(Err(Refusal::new(errors::INTERNAL_ERROR, busy)));
        }
        self.send_out(origin, Task::Catalogue(request));
        None
    }
}

/// The response to a request, from the runner's result.
pub(super) fn answer(origin: &Origin, request: &CatalogueRequest, completed: Option<Value>) -> Answer {
    let Some(mut completed) = completed else {
        return Err(Refusal::new(errors::INTERNAL_ERROR, "the request could not be processed"));
    };
    if let Some(refused) = completed["refused"].as_str() {
        return Err(Refusal::params(refused));
    }
    if let Some(uri) = completed["missing"].as_str() {
        return Err(not_found(origin, uri));
    }
    let mut result = completed.get_mut("result").map(Value::take).unwrap_or_default();
    match request.method.as_str() {
        "resources/list" | "resources/read" => Ok(in_era(origin, result)),
        "tools/call" => {
            if let Some(members) = result.as_object_mut().filter(|_| origin.revision() < Revision::V2025_06_18) {
                members.shift_remove("structuredContent");
            }
            Ok(result)
        }
        _ => Ok(result),
    }
}
