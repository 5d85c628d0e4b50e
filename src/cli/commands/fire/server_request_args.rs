//! What an MCPL server asks or tells of its own will, by hand: an inference, the model, a scope, feature sets.

use super::emit::{self, DeliveryOptions};
use super::server_messages::{INFERENCE, MODEL_INFO, SCOPE, SETS_CHANGED, Shot};
use crate::cli::{Context, Outcome, values};
use crate::error::CommandError;
use clap::Args;
use serde_json::{Map, Value, json};

/// Ask the host's model something (`inference/request`), as a server.
///
/// Put this command where a host's configuration names a server, or fire into a running session with --session. The
/// host's answer is held against the proposal's schema and, where it streams, against its chunks.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire inference 'sum up: a, b, c'        as a host's server command
  mcpreel fire inference hello --stream --session everything
  mcpreel fire inference hello --listen 8080 --max-tokens 50
  mcpreel fire inference hello --session serve --expect '.chunks > 1'

Exit codes: 0 every answer is sound; 1 one was refused, odd, late, not answered, or not sent.")]
pub struct InferenceArgs {
    /// What to ask; a summary of the server's memories where nothing is given.
    prompt: Option<String>,
    /// The feature set that it belongs to; the server's own that declares inferenceRequest where none is named.
    #[arg(long, value_name = "NAME")]
    feature_set: Option<String>,
    /// The conversation that it belongs to.
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// Have the answer streamed, where the host can.
    #[arg(long)]
    stream: bool,
    /// How many tokens the model may give at most.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    max_tokens: Option<u64>,
    /// How freely the model may choose.
    #[arg(long, value_name = "NUMBER")]
    temperature: Option<f64>,
    #[command(flatten)]
    ways: DeliveryOptions,
}

impl InferenceArgs {
    pub fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        let params = json!({
            "prompt": self.prompt, "featureSet": self.feature_set, "conversationId": self.conversation,
            "stream": self.stream, "maxTokens": self.max_tokens, "temperature": self.temperature,
        });
        emit::run(&Shot::new(&INFERENCE, params), &self.ways, context)
    }
}

/// Ask the host which model it runs (`model/info`), as a server.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire model-info                         as a host's server command
  mcpreel fire model-info --session everything --format json
  mcpreel fire model-info --session serve --expect .result.vendor

Exit codes: 0 the answer is sound; 1 it was refused, odd, late, not there, or nothing was sent.")]
pub struct ModelInfoArgs {
    #[command(flatten)]
    ways: DeliveryOptions,
}

impl ModelInfoArgs {
    pub fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        emit::run(&Shot::new(&MODEL_INFO, json!({})), &self.ways, context)
    }
}

/// Ask the host for a scope (`scope/elevate`), as a server.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire scope /etc/hosts --payload path=/etc/hosts
  mcpreel fire scope '#general' --feature-set discord.post --session everything
  mcpreel fire scope /etc/hosts --session serve --expect '.approved == false'

Exit codes: 0 it was approved; 1 it was denied, refused, odd, late, not answered, or not sent.")]
pub struct ScopeArgs {
    /// The scope's label: what white- and blacklists are about.
    label: String,
    /// What comes back with an approval (repeatable): name=text, name:=JSON, a JSON object.
    #[arg(long = "payload", value_name = "VALUE")]
    payload: Vec<String>,
    /// The feature set that it belongs to; the server's own that is scoped where none is named.
    #[arg(long, value_name = "NAME")]
    feature_set: Option<String>,
    #[command(flatten)]
    ways: DeliveryOptions,
}

impl ScopeArgs {
    pub fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        let payload = if self.payload.is_empty() { None } else { Some(values::object(&self.payload)?) };
        let params = json!({"label": self.label, "payload": payload, "featureSet": self.feature_set});
        emit::run(&Shot::new(&SCOPE, params), &self.ways, context)
    }
}

/// Tell the host of feature sets that came or went (`featureSets/changed`), as a server.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire feature-sets changed --add memory.semantic=inferenceRequest
  mcpreel fire feature-sets changed --remove memory.proactive --session serve

Exit codes: 0 all were sent; 1 one was not.")]
pub struct ChangedArgs {
    /// A set that is new (repeatable): NAME=USE,USE… or NAME:=DECLARATION.
    #[arg(long = "add", value_name = "NAME=USES", value_parser = added, required_unless_present = "removed")]
    added: Vec<(String, Value)>,
    /// A set that goes (repeatable).
    #[arg(long = "remove", value_name = "NAME")]
    removed: Vec<String>,
    #[command(flatten)]
    ways: DeliveryOptions,
}

impl ChangedArgs {
    pub fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        let added = (!self.added.is_empty()).then(|| self.added.iter().cloned().collect::<Map<_, _>>());
        let removed = if self.removed.is_empty() { None } else { Some(&self.removed) };
        let shot = Shot::new(&SETS_CHANGED, json!({"added": added, "removed": removed}));
        emit::run(&shot.with_sets(self.removed.clone()), &self.ways, context)
    }
}

/// A set's declaration by its name, of which its uses may be given alone.
fn added(text: &str) -> Result<(String, Value), String> {
    if let Some((name, declaration)) = text.split_once(":=") {
        let declaration = serde_json::from_str(declaration).map_err(|error| format!("not JSON: {error}"))?;
        return Ok((name.to_owned(), declaration));
    }
    let (name, uses) = text.split_once('=').ok_or("a set is NAME=USES or NAME:=DECLARATION")?;
    let uses: Vec<&str> = uses.split(',').map(str::trim).filter(|used| !used.is_empty()).collect();
    Ok((name.to_owned(), json!({"description": "Added by hand", "uses": uses})))
}
