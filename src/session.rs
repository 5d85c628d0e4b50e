//! Follows one connection: pairs requests with their responses, tracks the negotiation, and describes messages in
//! words.
//!
//! Live recordings and stored reels use the same code.
//!
//! This module must never use tokio, print or read a clock.

pub(crate) mod audit;
pub(crate) mod checkpoint_tree;
pub(crate) mod details;
pub(crate) mod endings;
pub(crate) mod filter;
pub(crate) mod message_replay;
pub(crate) mod outcome;
pub(crate) mod participants;
pub(crate) mod prompts;
pub(crate) mod reading;
pub(crate) mod selection;
pub(crate) mod stats;
pub(crate) mod steps;
pub(crate) mod summary;
pub(crate) mod tracker;
pub(crate) mod turns;
pub(crate) mod view;
pub(crate) mod waits;

pub(crate) use message_replay::LeftOut;
pub(crate) use message_replay::MessageReplay;
pub(crate) use outcome::Outcome;
pub(crate) use tracker::Tracker;
