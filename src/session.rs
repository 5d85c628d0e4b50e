//! One connection, watched: requests paired with their answers, negotiation followed, messages put into words.
//!
//! Live taps and recorded reels go through this same code.
//!
//! Never: tokio, printing, clocks.

pub mod audit;
pub mod filter;
pub mod lineages;
pub mod pairing;
pub mod summary;
pub mod tracker;
pub mod view;
pub mod witness;

pub use pairing::Pairing;
pub use tracker::Tracker;
pub use witness::Witness;
