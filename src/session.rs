//! One connection, watched: requests paired with their answers, negotiation followed, messages put into words.
//!
//! Live taps and recorded reels go through this same code.
//!
//! Never: tokio, printing, clocks.

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
