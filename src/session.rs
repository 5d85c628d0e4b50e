//! Follows one connection: pairs requests with their responses, tracks the negotiation, and describes messages in
//! words.
//!
//! Live recordings and stored reels use the same code.
//!
//! This module must never use tokio, print or read a clock.

pub mod audit;
pub mod checkpoint_trees;
pub mod filter;
pub mod message_replay;
pub mod pairing;
pub mod summary;
pub mod tracker;
pub mod view;

pub use message_replay::MessageReplay;
pub use pairing::Pairing;
pub use tracker::Tracker;
