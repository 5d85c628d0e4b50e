//! Listeners: Streamable HTTP in front of other transports, a transparent reverse proxy, and access checks.

mod cors;
pub(crate) mod gateway;
mod head_gate;
pub(crate) mod heads;
pub(crate) mod json_listener;
pub(crate) mod origin_check;
mod outlet;
mod passing;
pub(crate) mod proxy;
pub(crate) mod redirect;
pub(crate) mod refusals;
pub(crate) mod request_body;
mod spread;
pub(crate) mod upstream;
