//! A local listener for JSON posts: checks their origin, form and size, and returns the handler's answers.

use super::accept::{accept_http, serve_connection};
use super::origin_check::{Access, is_json};
use super::refusals::Refusals;
use super::request_body::{self, BodyFault};
use crate::transport::budget::{Budget, IntakeLimits};
use crate::transport::client::http::{Body, full};
use crate::wire::MessageLimit;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use tokio::net::TcpListener;

/// A received post.
#[derive(Clone, Debug, Default)]
pub(crate) struct Post {
    /// The path of the URL.
    pub path: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// An HTTP status and a JSON body.
pub(crate) type JsonReply = (u16, Value);
/// Handles posts.
pub(crate) type PostHandler = Arc<dyn Fn(Post) -> Pin<Box<dyn Future<Output = JsonReply> + Send>> + Send + Sync>;

/// Serves forever. Bodies longer than `most` bytes are rejected.
pub(crate) async fn serve(listener: TcpListener, most: usize, take: PostHandler) {
    let most = MessageLimit::of_bytes(most);
    let limits = Arc::new((most, Budget::new(most)));
    let refusals = Refusals::silent();
    let at_the_door = Arc::clone(&refusals);
    accept_http(
        async || listener.accept().await.map(|(stream, _)| stream),
        move |stream, _| {
            let (take, limits) = (Arc::clone(&take), Arc::clone(&limits));
            let service = service_fn(move |request| {
                let (take, limits) = (Arc::clone(&take), Arc::clone(&limits));
                async move { Ok::<_, Infallible>(respond(answer(request, &limits, &take).await)) }
            });
            let refusals = Arc::clone(&refusals);
            async move { serve_connection(stream, service, std::future::pending(), (None, &refusals)).await }
        },
        &at_the_door,
    )
    .await;
}

async fn answer(
    request: Request<Incoming>,
    (most, budget): &(MessageLimit, Arc<Budget>),
    take: &PostHandler,
) -> JsonReply {
    let (head, body) = request.into_parts();
    if let Err((status, why)) = Access::default().check(&head) {
        // The hint after the semicolon names options that do not exist here.
        return refuse(status, why.split(';').next().unwrap_or_default());
    }
    if head.method != Method::POST {
        return refuse(StatusCode::METHOD_NOT_ALLOWED, "only POST is supported");
    }
    if !is_json(&head.headers) {
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body must be application/json");
    }
    let mut intake = IntakeLimits::of_client(*most, budget);
    match request_body::read(body, &mut intake).await {
        Err(BodyFault::TooLong) => {
            refuse(StatusCode::PAYLOAD_TOO_LARGE, &format!("the body is larger than {} B", most.bytes()))
        }
        Err(fault) => refuse(fault.status(), &fault.reported(&intake)),
        Ok(body) => take(Post { path: head.uri.path().to_owned(), headers: head.headers, body: body.into() }).await,
    }
}

fn refuse(status: StatusCode, why: &str) -> JsonReply {
    (status.as_u16(), json!({"error": why}))
}

fn respond((status, body): JsonReply) -> Response<Body> {
    let mut response = Response::new(full(format!("{body}\n")));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    }
    response
}
