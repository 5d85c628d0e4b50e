//! What an MCPL host asks and tells a server, by hand: the hooks around an inference, feature sets, a rollback.

use super::host_request::{self, AFTER, BEFORE, Call, Form, ROLLBACK, Toward, UPDATE};
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::proposals::host::{ModelView, tokens};
use crate::proposals::mcpl;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

/// The inference that a hook is about.
#[derive(Debug, Args)]
struct About {
    /// Its id; a new one where none is given.
    #[arg(long, value_name = "ID")]
    inference: Option<String>,
    /// The conversation's id.
    #[arg(long, value_name = "ID", default_value = "conv_mcpreel")]
    conversation: String,
    /// The turn's number, from 0; it counts up with --repeat.
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

/// Ask a server for context before an inference (`context/beforeInference`), as its host.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire before-inference 'what did we decide?' -- my-memory-server
  mcpreel fire before-inference hello --session memory     into a live session
  mcpreel fire before-inference hi --channel d:#general --url https://host/mcp
  mcpreel fire before-inference hi --repeat 9 --expect .result -- my-server

Exit codes: 0 a sound answer in time; 1 not declared, refused, or odd; 4 the server failed; 5 no answer in time.")]
pub struct BeforeArgs {
    /// What the user said; null for generation that goes on without it.
    message: Option<String>,
    #[command(flatten)]
    about: About,
    /// The channel that the message came in by.
    #[arg(long, value_name = "ID")]
    channel: Option<String>,
    #[command(flatten)]
    toward: Toward,
}

impl BeforeArgs {
    pub fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        host_request::run(&BEFORE, &self.toward, context, |done, _| {
            let mut params = self.about.params(done, self.message.as_deref());
            if let Some(channel) = &self.channel {
                params["channels"] = json!({"incoming": {"channelId": channel},
                    "defaultOutgoing": {"channelId": channel}, "candidates": ["ui", channel]});
            }
            Ok(vec![Call { method: "context/beforeInference", form: Form::Request, params }])
        })
    }
}

/// Tell a server what the model said (`context/afterInference`), as its host.
///
/// It is a request where the server declares that it blocks, and its answer may change the response; else a
/// notification.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire after-inference 'The key is sk-123' --message which? -- my-server
  mcpreel fire after-inference done --session memory
  mcpreel fire after-inference sk-1 --carrier request -- my-server

Exit codes: 0 a sound answer in time, or sent where none is asked for; 1 not declared, refused, or odd; \
4 the server failed; 5 no answer in time.")]
pub struct AfterArgs {
    /// What the model said.
    response: String,
    /// What the user had said.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    #[command(flatten)]
    about: About,
    /// How it travels.
    #[arg(long, value_enum, default_value_t = Carrier::Auto)]
    carrier: Carrier,
    #[command(flatten)]
    toward: Toward,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Carrier {
    /// As the server declares it.
    Auto,
    /// A request.
    Request,
    /// A notification.
    Notification,
}

impl AfterArgs {
    pub fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        host_request::run(&AFTER, &self.toward, context, |done, block| {
            let mut params = self.about.params(done, self.message.as_deref());
            params["assistantMessage"] = self.response.as_str().into();
            let given = tokens(self.message.as_deref().unwrap_or_default());
            params["usage"] = json!({"inputTokens": given, "outputTokens": tokens(&self.response)});
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

/// Tell a server which of its feature sets are on (`featureSets/update`), as its host.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire feature-sets update --disable memory.proactive --session memory
  mcpreel fire feature-sets update --enable 'memory.*' --session memory
  mcpreel fire feature-sets update --allow files.edit=/p/** -- my-server

Exit codes: 0 sent; 1 the server declares no feature sets; 4 the server failed.")]
pub struct UpdateArgs {
    /// A set that is on (repeatable).
    #[arg(long = "enable", value_name = "NAME")]
    enabled: Vec<String>,
    /// A set that is off (repeatable).
    #[arg(long = "disable", value_name = "NAME")]
    disabled: Vec<String>,
    /// A pattern for a set's whitelist (repeatable): SET=PATTERN.
    #[arg(long = "allow", value_name = "SET=PATTERN", value_parser = pattern)]
    allowed: Vec<(String, String)>,
    /// A pattern for a set's blacklist (repeatable): SET=PATTERN.
    #[arg(long = "deny", value_name = "SET=PATTERN", value_parser = pattern)]
    denied: Vec<(String, String)>,
    #[command(flatten)]
    toward: Toward,
}

fn pattern(text: &str) -> Result<(String, String), String> {
    let split = text.split_once('=').filter(|(set, pattern)| !set.is_empty() && !pattern.is_empty());
    split.map(|(set, pattern)| (set.to_owned(), pattern.to_owned())).ok_or_else(|| "a pattern is SET=PATTERN".into())
}

impl UpdateArgs {
    pub fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        if self.enabled.is_empty() && self.disabled.is_empty() && self.allowed.is_empty() && self.denied.is_empty() {
            return Err(CommandError::usage("nothing is to be told")
                .hint("name sets with --enable and --disable, their scopes with --allow and --deny"));
        }
        host_request::run(&UPDATE, &self.toward, context, |_, _| {
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

/// Have a server go back to a checkpoint (`state/rollback`), as its host.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire rollback chk_abc --session notes
  mcpreel fire rollback chk_abc --feature-set notes.edit --session notes
  mcpreel fire rollback x --session notes --expect '.error.code == -32005'

Exit codes: 0 it went back; 1 it did not, or the checkpoint is not known; 4 the server failed; 5 no answer in time.")]
pub struct RollbackArgs {
    /// The checkpoint.
    checkpoint: String,
    /// The feature set; the server's first that can roll back where none is named.
    #[arg(long, value_name = "NAME")]
    feature_set: Option<String>,
    #[command(flatten)]
    toward: Toward,
}

impl RollbackArgs {
    pub fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        host_request::run(&ROLLBACK, &self.toward, context, |_, block| {
            let sets = mcpl::feature_sets(&block["featureSets"]);
            let able = || sets.iter().find(|(_, set)| set["rollback"] == true).map(|(name, _)| name.clone());
            let set = self.feature_set.clone().or_else(able).ok_or_else(|| {
                CommandError::usage("none of the server's feature sets can roll back")
                    .hint("name one with --feature-set")
            })?;
            let params = json!({"featureSet": set, "checkpoint": self.checkpoint});
            Ok(vec![Call { method: "state/rollback", form: Form::Request, params }])
        })
    }
}
