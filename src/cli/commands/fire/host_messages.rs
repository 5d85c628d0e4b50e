//! Messages of an MCPL host to a server: hooks around an inference, feature sets, rollback.

use super::host_request::{self, AFTER, BEFORE, Call, Form, ROLLBACK, Recipient, UPDATE};
use crate::cli::text::TextParser;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::proposals::host::{ModelView, tokens};
use crate::proposals::mcpl;
use crate::runtime::parameters::TextArgument;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

/// The inference that a hook is about.
#[derive(Debug, Args)]
struct About {
    /// The inference's id (default: a new one).
    #[arg(long, value_name = "ID")]
    inference: Option<String>,
    /// The conversation's id.
    #[arg(long, value_name = "ID", default_value = "conv_mcpreel")]
    conversation: String,
    /// The turn's number, from 0; incremented with --repeat.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    turn: u64,
    /// The model's id.
    #[arg(long, value_name = "ID", default_value = "echo")]
    model: String,
}

impl About {
    fn params(&self, done: u64, message: Option<&str>) -> Value {
        let id = match &self.inference {
            None => format!("inf_{}", uuid::Uuid::now_v7().simple()),
            Some(given) if done == 0 => given.clone(),
            Some(given) => format!("{given}-{}", done + 1),
        };
        let model = ModelView::default();
        json!({
            "inferenceId": id, "conversationId": self.conversation, "turnIndex": self.turn.saturating_add(done),
            "userMessage": message,
            "model": {"id": self.model, "vendor": model.vendor, "contextWindow": model.context_window,
                "capabilities": model.capabilities},
        })
    }
}

/// The text, if there is one.
fn read(text: Option<&TextArgument>) -> Result<Option<&str>, CommandError> {
    text.map(TextArgument::read).transpose()
}

/// Ask a server for context before an inference (`context/beforeInference`), as its host (MCPL).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire before-inference 'which database schema?' -- my-memory-server
  mcpreel fire before-inference hello --session memory     # a live session
  mcpreel fire before-inference hi --channel d:#general --url https://host/mcp
  mcpreel fire before-inference hi --repeat 9 --expect .result -- my-server

Exit codes: 0 valid response; 1 not declared, refused, or an invalid response; 4 the server failed; 5 no response in time.")]
pub(crate) struct BeforeArgs {
    /// The user's message: a text, @file, or - for stdin; omit it for an inference without one.
    #[arg(value_parser = TextParser, allow_hyphen_values = true)]
    message: Option<TextArgument>,
    #[command(flatten)]
    about: About,
    /// The channel that the message came from.
    #[arg(long, value_name = "ID")]
    channel: Option<String>,
    #[command(flatten)]
    recipient: Recipient,
}

impl BeforeArgs {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// The command failed; the error's kind decides the exit code.
    pub(crate) fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        host_request::run(&BEFORE, &self.recipient, context, |done, _| {
            let mut params = self.about.params(done, read(self.message.as_ref())?);
            if let Some(channel) = &self.channel {
                params["channels"] = json!({"incoming": {"channelId": channel},
                    "defaultOutgoing": {"channelId": channel}, "candidates": ["ui", channel]});
            }
            Ok(vec![Call { method: "context/beforeInference", form: Form::Request, params }])
        })
    }
}

/// Report the model's answer to a server (`context/afterInference`), as its host (MCPL).
///
/// This is a request if the server declares a blocking hook; its response may then change the answer. Otherwise it is
/// a notification.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire after-inference 'The key is sk-123' --message which? -- my-server
  mcpreel fire after-inference done --session memory
  mcpreel fire after-inference sk-1 --carrier request -- my-server

Exit codes: 0 valid response, or sent as a notification; 1 not declared, refused, or an invalid response; \
4 the server failed; 5 no response in time.")]
pub(crate) struct AfterArgs {
    /// The model's answer: a text, @file, or - for stdin.
    #[arg(value_parser = TextParser, allow_hyphen_values = true)]
    response: TextArgument,
    /// The user's message before it.
    #[arg(long, value_name = "TEXT", value_parser = TextParser, allow_hyphen_values = true)]
    message: Option<TextArgument>,
    #[command(flatten)]
    about: About,
    /// How to send it.
    #[arg(long, value_enum, default_value_t = Carrier::Auto)]
    carrier: Carrier,
    #[command(flatten)]
    recipient: Recipient,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Carrier {
    /// As the server has declared.
    Auto,
    /// As a request.
    Request,
    /// As a notification.
    Notification,
}

impl AfterArgs {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// The command failed; the error's kind decides the exit code.
    pub(crate) fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        host_request::run(&AFTER, &self.recipient, context, |done, block| {
            let (message, response) = (read(self.message.as_ref())?, self.response.read()?);
            let mut params = self.about.params(done, message);
            params["assistantMessage"] = response.into();
            let given = tokens(message.unwrap_or_default());
            params["usage"] = json!({"inputTokens": given, "outputTokens": tokens(response)});
            let blocks = block["contextHooks"]["afterInference"]["blocking"] == true;
            let form = match self.carrier {
                Carrier::Request => Form::Request,
                Carrier::Auto if blocks => Form::Request,
                _ => Form::Notification,
            };
            Ok(vec![Call { method: "context/afterInference", form, params }])
        })
    }
}

/// Inform a server which feature sets are enabled (`featureSets/update`), as its host (MCPL).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire feature-sets update --disable memory.proactive --session memory
  mcpreel fire feature-sets update --enable 'memory.*' --session memory
  mcpreel fire feature-sets update --allow files.edit=/p/** -- my-server

Exit codes: 0 sent; 1 the server declares no feature sets; 4 the server failed.")]
pub(crate) struct UpdateArgs {
    /// Enable this feature set (repeatable).
    #[arg(long = "enable", value_name = "NAME")]
    enabled: Vec<String>,
    /// Disable this feature set (repeatable).
    #[arg(long = "disable", value_name = "NAME")]
    disabled: Vec<String>,
    /// Add a pattern to a feature set's whitelist (repeatable): SET=PATTERN.
    #[arg(long = "allow", value_name = "SET=PATTERN", value_parser = pattern)]
    allowed: Vec<(String, String)>,
    /// Add a pattern to a feature set's blacklist (repeatable): SET=PATTERN.
    #[arg(long = "deny", value_name = "SET=PATTERN", value_parser = pattern)]
    denied: Vec<(String, String)>,
    #[command(flatten)]
    recipient: Recipient,
}

fn pattern(text: &str) -> Result<(String, String), String> {
    let split = text.split_once('=').filter(|(set, pattern)| !set.is_empty() && !pattern.is_empty());
    split.map(|(set, pattern)| (set.to_owned(), pattern.to_owned())).ok_or_else(|| "expected SET=PATTERN".into())
}

impl UpdateArgs {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// The command failed; the error's kind decides the exit code.
    pub(crate) fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        if self.enabled.is_empty() && self.disabled.is_empty() && self.allowed.is_empty() && self.denied.is_empty() {
            return Err(CommandError::usage("nothing to send")
                .hint("name feature sets with --enable and --disable, and scope patterns with --allow and --deny"));
        }
        host_request::run(&UPDATE, &self.recipient, context, |_, _| {
            let params = self.params();
            Ok(vec![Call { method: "featureSets/update", form: Form::Notification, params }])
        })
    }

    fn params(&self) -> Value {
        let mut params = Map::new();
        for (name, sets) in [("enabled", &self.enabled), ("disabled", &self.disabled)] {
            if !sets.is_empty() {
                params.insert(name.to_owned(), json!(sets));
            }
        }
        let mut scopes = Map::new();
        for (list, patterns) in [("whitelist", &self.allowed), ("blacklist", &self.denied)] {
            for (set, pattern) in patterns {
                let rules = scopes.entry(set.clone()).or_insert_with(|| json!({}));
                match rules[list].as_array_mut() {
                    Some(patterns) => patterns.push(pattern.as_str().into()),
                    None => rules[list] = json!([pattern]),
                }
            }
        }
        if !scopes.is_empty() {
            params.insert("scopes".to_owned(), scopes.into());
        }
        params.into()
    }
}

/// Ask a server to return to a checkpoint (`state/rollback`), as its host (MCPL).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire rollback chk_abc --session notes
  mcpreel fire rollback chk_abc --feature-set notes.edit --session notes
  mcpreel fire rollback x --session notes --expect '.error.code == -32005'

Exit codes: 0 the state was rolled back; 1 it was not, or the checkpoint is unknown; 4 the server failed; 5 no response in time.")]
pub(crate) struct RollbackArgs {
    /// The checkpoint's id.
    checkpoint: String,
    /// The feature set (default: the server's first one that supports rollback).
    #[arg(long, value_name = "NAME")]
    feature_set: Option<String>,
    #[command(flatten)]
    recipient: Recipient,
}

impl RollbackArgs {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// The command failed; the error's kind decides the exit code.
    pub(crate) fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        host_request::run(&ROLLBACK, &self.recipient, context, |_, block| {
            let sets = mcpl::feature_sets(&block["featureSets"]);
            let able = || sets.iter().find(|(_, set)| set["rollback"] == true).map(|(name, _)| name.clone());
            let set = self.feature_set.clone().or_else(able).ok_or_else(|| {
                CommandError::usage("none of the server's feature sets supports rollback")
                    .hint("name one with --feature-set")
            })?;
            let params = json!({"featureSet": set, "checkpoint": self.checkpoint});
            Ok(vec![Call { method: "state/rollback", form: Form::Request, params }])
        })
    }
}
