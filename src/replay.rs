//! Replays recordings: sends the client side of a session to a server again ([`ReplayEngine`]).
//!
//! [`conversation`] reads the messages of one session. [`bindings`] finds the values that the server generated and the
//! client sent back. [`Plan`] says what is sent, in which order, and what each message waits for. The engine follows the
//! plan. [`modern`] translates a recording of the legacy era for a modern server.
//!
//! [`mock`] serves a recording instead of its server.
//!
//! This module must never use tokio, open a file, read a clock or print.

mod bindings;
pub(crate) mod conversation;
mod engine;
mod leaves;
pub(crate) mod mock;
pub(crate) mod modern;
mod plan;
mod replies;
mod safety;
mod substitute;

pub use conversation::{Conversation, Conversations};
pub(crate) use conversation::{Entry, Loss};
pub(crate) use engine::{End, Outcome, Sent};
pub use engine::{Output, ReplayEngine, Settings};
pub use plan::{Plan, Selection};
pub use replies::Answers;
pub(crate) use replies::with_id;
pub(crate) use substitute::Substitutions;

#[cfg(test)]
mod tests;
