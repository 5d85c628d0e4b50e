//! A listener of this machine that takes JSON posts: checked for who sends them, for their form and their size, and
//! answered as their taker says.

use super::access::{Access, is_json};
use super::http::{Body, full};
use super::proxy::{accept, serve_connection};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// How long a body may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// What came.
#[derive(Clone, Debug)]
pub struct Post {
    /// The path of the URL.
    pub path: String,
    /// The body.
    pub body: Bytes,
}

/// A status of HTTP, and a JSON body.
pub type Reply = (u16, Value);
/// Takes posts.
pub type Take = Arc<dyn Fn(Post) -> Pin<Box<dyn Future<Output = Reply> + Send>> + Send + Sync>;

/// Serves for ever. Bodies end at `most` bytes.
pub async fn serve(listener: TcpListener, most: usize, take: Take) {
    accept(
        async || listener.accept().await.map(|(stream, _)| stream),
        move |stream, _| {
            let take = Arc::clone(&take);
            let service = service_fn(move |request| {
                let take = Arc::clone(&take);
                async move { Ok::<_, Infallible>(respond(answer(request, most, &take).await)) }
            });
            serve_connection(stream, service, std::future::pending())
        },
    )
    .await;
}

async fn answer(request: Request<Incoming>, most: usize, take: &Take) -> Reply {
    let (head, body) = request.into_parts();
    if let Err((status, why)) = Access::default().check(&head) {
        // What lets more in elsewhere is no option here.
        return refuse(status, why.split(';').next().unwrap_or_default());
    }
    if head.method != Method::POST {
        return refuse(StatusCode::METHOD_NOT_ALLOWED, "only POST is taken here");
    }
    if !is_json(&head.headers) {
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body must be application/json");
    }
    match tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, most).collect()).await {
        Err(_) => refuse(StatusCode::REQUEST_TIMEOUT, "the body did not come in time"),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            refuse(StatusCode::PAYLOAD_TOO_LARGE, &format!("the body is larger than {most} B"))
        }
        Ok(Err(error)) => refuse(StatusCode::BAD_REQUEST, &format!("the body cannot be read: {error}")),
        Ok(Ok(body)) => take(Post { path: head.uri.path().to_owned(), body: body.to_bytes() }).await,
    }
}

fn refuse(status: StatusCode, why: &str) -> Reply {
    (status.as_u16(), json!({"error": why}))
}

fn respond((status, body): Reply) -> Response<Body> {
    let mut response = Response::new(full(format!("{body}\n")));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    }
    response
}
