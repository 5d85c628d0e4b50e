//! Listeners: Streamable HTTP in front of other transports, a transparent reverse proxy, and access checks.

pub mod gateway;
pub mod heads;
pub mod json_listener;
pub mod origin_check;
pub mod proxy;
pub mod request_body;
pub mod upstream;
