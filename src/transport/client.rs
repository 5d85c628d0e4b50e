//! Connections to servers over HTTP and WebSocket.

pub mod error_response;
pub mod http;
pub mod http_endpoint;
pub mod http_post;
pub mod proxy_connector;
pub mod remote;
pub mod streamable;
pub mod tls;
pub mod websocket;
