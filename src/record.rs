//! Transparent recording: bytes pass through unchanged and without delay, and a copy goes to a recorder thread.
//!
//! Never uses `render` or `cli`.

pub mod answer_filter;
pub mod http;
pub mod injectable_writer;
pub mod queue;
pub mod recorder;
pub mod relay;
pub mod status;
pub mod stdio;
pub mod stdio_gateway;
pub mod stdio_to_url;
pub mod storage;
