//! Connections to servers over HTTP and WebSocket.

pub(crate) mod authorization_server;
pub(crate) mod error_response;
pub(crate) mod http;
pub(crate) mod http_endpoint;
pub(crate) mod http_post;
pub(crate) mod login;
pub(crate) mod plain_body;
pub(crate) mod proxy_connector;
pub(crate) mod remote;
pub(crate) mod streamable;
pub(crate) mod tls;
pub(crate) mod waiting;
pub(crate) mod websocket;
