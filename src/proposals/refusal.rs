//! The JSON-RPC error of a refused request, for either side.

use crate::protocol::errors;
use serde_json::{Value, json};

/// An error response to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The error code.
    pub code: i64,
    /// The message.
    pub message: String,
    /// Additional data.
    pub data: Option<Value>,
}

impl Refusal {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Invalid params (-32602).
    pub fn params(message: impl Into<String>) -> Self {
        Self::new(errors::INVALID_PARAMS, message)
    }

    /// Adds data to the error.
    pub fn about(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// The error object of a JSON-RPC response.
    pub fn to_value(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        error
    }
}
