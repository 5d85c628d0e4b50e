//! Listeners: Streamable HTTP in front of other transports, a transparent reverse proxy, and access checks.

mod accept;
mod client_end;
mod cors;
pub(crate) mod gateway;
mod head_gate;
pub(crate) mod heads;
mod hop;
pub(crate) mod json_listener;
pub(crate) mod origin_check;
mod outlet;
mod passing;
pub(crate) mod proxy;
pub(crate) mod redirect;
pub(crate) mod refusals;
mod repairs;
pub(crate) mod request_body;
mod spread;
mod tee;
mod tunnel;
pub(crate) mod upstream;
mod watched;
