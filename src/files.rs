//! Files on disk: which folders and reels there are, how a reel is opened, and how a file is replaced safely.
//!
//! Never says what is in a file.

pub(crate) mod consents;
pub(crate) mod created;
pub(crate) mod logins;
pub(crate) mod output;
pub(crate) mod places;
pub(crate) mod private;
pub(crate) mod pruning;
pub(crate) mod reels;
pub(crate) mod text;
