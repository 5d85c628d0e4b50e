//! Inferences: the host's model, what a server asks it, and what it answers.

use super::{ServerId, Utterance};

/// The host's model, as servers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelView {
    /// Its id.
    pub id: String,
    /// The vendor.
    pub vendor: String,
    /// The size of its context window, in tokens.
    pub context_window: u64,
    /// Its capabilities, as words.
    pub capabilities: Vec<String>,
}

impl Default for ModelView {
    fn default() -> Self {
        Self {
            id: "echo".to_owned(),
            vendor: "mcpreel".to_owned(),
            context_window: 128_000,
            capabilities: vec!["tools".to_owned()],
        }
    }
}

/// The size of an inference in tokens. It is an estimate, because no model here reports it: a token is four bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The size of the prompt.
    pub input: u64,
    /// The size of the answer.
    pub output: u64,
}

/// The estimated number of tokens of a text.
pub(crate) fn tokens(text: &str) -> u64 {
    text.len().div_ceil(4) as u64
}

/// An inference that a proposal requests, outside of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Inference {
    /// Identifies the inference when its pieces and its end arrive.
    pub token: u64,
    /// The server that asked for it.
    pub server: ServerId,
    /// The messages for the model, oldest first.
    pub messages: Vec<Utterance>,
    /// The maximum length of the answer, in tokens.
    pub max_tokens: Option<u64>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// Whether the answer is wanted in pieces, as they arrive.
    pub stream: bool,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// The answer was complete.
    #[default]
    EndTurn,
    /// The answer had reached the maximum length.
    MaxTokens,
}

/// The result of an inference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inferred {
    /// The model's answer.
    pub text: String,
    /// Why the model stopped.
    pub finish: Finish,
}
