//! Transparent recording: bytes pass through unchanged and without delay, and a copy goes to a recorder thread.
//!
//! Never uses `render` or `cli`.

pub mod answer_filter;
pub mod http;
pub mod injectable_writer;
pub mod output;
pub mod places;
pub mod queue;
pub mod recorder;
pub mod recording;
pub mod reels;
pub mod relay;
pub mod startup_error;
pub mod status;
pub mod stdio;
pub mod stdio_gateway;
pub mod stdio_to_url;
pub mod storage;
