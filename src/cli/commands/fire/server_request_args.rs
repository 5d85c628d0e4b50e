//! Requests and notifications of an MCPL server of its own accord: inference, model, scope, feature sets.

use super::emit::{self, DeliveryOptions};
use super::server_messages::{INFERENCE, MODEL_INFO, SCOPE, SETS_CHANGED, ServerMessageRequest};
use crate::cli::text::TextParser;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::runtime::parameters::{self, TextArgument};
use clap::Args;
use serde_json::{Map, Value, json};

/// Ask the host's model for an answer (`inference/request`), as a server (MCPL).
///
/// Put this command where a host's configuration expects a server's command, or send the request in a running session
/// with --session. The host's response is checked against the proposal's schema and, if it is streamed, against its
/// chunks.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire inference 'sum up: a, b, c'        # as a host's server
  mcpreel fire inference hello --stream --session everything
  mcpreel fire inference hello --listen 8080 --max-tokens 50
  mcpreel fire inference hello --session serve --expect .content

Exit codes: 0 every response is valid; 1 one was refused, invalid, late or missing, or a request was not sent.")]
pub(crate) struct InferenceArgs {
    /// The prompt: a text, @file, or - for stdin (default: a request to summarise the server's memories).
    #[arg(value_parser = TextParser, allow_hyphen_values = true)]
    prompt: Option<TextArgument>,
    /// The request's feature set (default: the server's own one that declares inferenceRequest).
    #[arg(long, value_name = "NAME")]
    feature_set: Option<String>,
    /// The request's conversation.
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// Ask for a streamed answer, if the host supports it.
    #[arg(long)]
    stream: bool,
    /// The maximum number of tokens in the answer.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    max_tokens: Option<u64>,
    /// The sampling temperature.
    #[arg(long, value_name = "NUMBER")]
    temperature: Option<f64>,
    #[command(flatten)]
    ways: DeliveryOptions,
}

impl InferenceArgs {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// The command failed; the error's kind decides the exit code.
    pub(crate) fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        self.ways.keep_stdin();
        let prompt = self.prompt.as_ref().map(TextArgument::read).transpose()?;
        let params = json!({
            "prompt": prompt, "featureSet": self.feature_set, "conversationId": self.conversation,
            "stream": self.stream, "maxTokens": self.max_tokens, "temperature": self.temperature,
        });
        emit::run(&ServerMessageRequest::new(&INFERENCE, params), &self.ways, context)
    }
}

/// Ask the host which model it uses (`model/info`), as a server (MCPL).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire model-info                         # as a host's server
  mcpreel fire model-info --session everything --format json
  mcpreel fire model-info --session serve --expect .result.vendor

Exit codes: 0 valid response; 1 the host refused, its response was invalid, late or missing, or nothing was sent.")]
pub(crate) struct ModelInfoArgs {
    #[command(flatten)]
    ways: DeliveryOptions,
}

impl ModelInfoArgs {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// The command failed; the error's kind decides the exit code.
    pub(crate) fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        emit::run(&ServerMessageRequest::new(&MODEL_INFO, json!({})), &self.ways, context)
    }
}

/// Ask the host for access to a scope (`scope/elevate`), as a server (MCPL).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire scope /etc/hosts --payload path=/etc/hosts
  mcpreel fire scope '#general' --feature-set discord.post --session everything
  mcpreel fire scope /etc/hosts --session serve --expect '.approved == false'

Exit codes: 0 the host approved; 1 it denied or refused, its response was invalid, late or missing, or nothing was sent.")]
pub(crate) struct ScopeArgs {
    /// The scope's label, to which white- and blacklists apply.
    label: String,
    /// Data that comes back with an approval (repeatable): name=text, name:=JSON, a JSON object, @file, or - for stdin.
    #[arg(long = "payload", value_name = "VALUE")]
    payload: Vec<String>,
    /// The scope's feature set (default: the server's own one that is scoped).
    #[arg(long, value_name = "NAME")]
    feature_set: Option<String>,
    #[command(flatten)]
    ways: DeliveryOptions,
}

impl ScopeArgs {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// The command failed; the error's kind decides the exit code.
    pub(crate) fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        self.ways.keep_stdin();
        let payload = if self.payload.is_empty() { None } else { Some(parameters::object(&self.payload)?) };
        let params = json!({"label": self.label, "payload": payload, "featureSet": self.feature_set});
        emit::run(&ServerMessageRequest::new(&SCOPE, params), &self.ways, context)
    }
}

/// Report feature sets that were added or removed (`featureSets/changed`), as a server (MCPL).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire feature-sets changed --add memory.semantic=inferenceRequest
  mcpreel fire feature-sets changed --remove memory.proactive --session serve

Exit codes: 0 all were sent; 1 one was not sent.")]
pub(crate) struct ChangedArgs {
    /// A new feature set (repeatable): NAME=USE,USE… or NAME:=DECLARATION.
    #[arg(long = "add", value_name = "NAME=USES", value_parser = added, required_unless_present = "removed")]
    added: Vec<(String, Value)>,
    /// The name of a removed feature set (repeatable).
    #[arg(long = "remove", value_name = "NAME")]
    removed: Vec<String>,
    #[command(flatten)]
    ways: DeliveryOptions,
}

impl ChangedArgs {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// The command failed; the error's kind decides the exit code.
    pub(crate) fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        let added = (!self.added.is_empty()).then(|| self.added.iter().cloned().collect::<Map<_, _>>());
        let removed = if self.removed.is_empty() { None } else { Some(&self.removed) };
        let request = ServerMessageRequest::new(&SETS_CHANGED, json!({"added": added, "removed": removed}));
        emit::run(&request.with_sets(self.removed.clone()), &self.ways, context)
    }
}

/// Parses a feature set's name and declaration. The declaration may be a list of uses.
fn added(text: &str) -> Result<(String, Value), String> {
    if let Some((name, declaration)) = text.split_once(":=") {
        let declaration = serde_json::from_str(declaration).map_err(|error| format!("not JSON: {error}"))?;
        return Ok((name.to_owned(), declaration));
    }
    let (name, uses) = text.split_once('=').ok_or("expected NAME=USES or NAME:=DECLARATION")?;
    let uses: Vec<&str> = uses.split(',').map(str::trim).filter(|used| !used.is_empty()).collect();
    Ok((name.to_owned(), json!({"description": "Added by hand", "uses": uses})))
}
