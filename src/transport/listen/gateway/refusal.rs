//! What the gateway answers by itself.

use crate::transport::client::http::{Body, full};
use crate::wire::Envelope;
use bytes::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};

/// An error response of the gateway: plain text, or a JSON-RPC error with this code.
pub(super) struct Refusal {
    status: StatusCode,
    code: Option<i64>,
    /// The JSON text of the id of the request that is refused.
    id: Option<Box<str>>,
    reason: String,
}

impl Refusal {
    /// Names the request that is refused.
    pub(super) fn of(self, request: &Envelope<'_>) -> Self {
        let id = request.id.map(|id| String::from_utf8_lossy(id.echoed()).into());
        Self { id, ..self }
    }

    /// As a JSON-RPC error.
    pub(super) fn as_error(&self) -> String {
        let error = serde_json::json!({"code": self.code.unwrap_or(-32000), "message": self.reason});
        format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, self.id.as_deref().unwrap_or("null"))
    }

    pub(super) fn answer(self) -> Response<Body> {
        let Self { status, code, ref reason, .. } = self;
        if code.is_some() {
            return with_json(status, self.as_error().into_bytes());
        }
        let mut response = Response::new(full(format!("mcpreel: {reason}\n")));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        if status == StatusCode::METHOD_NOT_ALLOWED {
            headers.insert(header::ALLOW, HeaderValue::from_static("GET, POST, DELETE"));
        }
        response
    }
}

/// A refusal as plain text.
pub(super) fn plain(status: StatusCode, reason: &str) -> Refusal {
    Refusal { status, code: None, id: None, reason: reason.to_owned() }
}

/// A refusal as a JSON-RPC error with this code.
pub(super) fn rpc_error(status: StatusCode, code: i64, reason: &str) -> Refusal {
    Refusal { status, code: Some(code), id: None, reason: reason.to_owned() }
}

/// The response to a message that needs no answer.
pub(super) fn accepted() -> Response<Body> {
    let mut response = Response::new(crate::transport::client::http::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

/// A response with a JSON body.
pub(super) fn with_json(status: StatusCode, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(full(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
