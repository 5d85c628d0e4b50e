//! Why a request is refused: a JSON-RPC error, whichever side gives it.

use crate::protocol::errors;
use serde_json::{Value, json};

/// An error in answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// Its code.
    pub code: i64,
    /// Why, in words.
    pub message: String,
    /// What it is about.
    pub data: Option<Value>,
}

impl Refusal {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The params are not as they must be.
    pub fn params(message: impl Into<String>) -> Self {
        Self::new(errors::INVALID_PARAMS, message)
    }

    /// The same with data.
    pub fn about(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// The error as it stands in an answer.
    pub fn to_value(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        error
    }
}
