//! Transparent recording: bytes pass through unchanged and without delay, and a copy goes to a recorder thread.
//!
//! Never uses `render` or `cli`.

pub(crate) mod answer_filter;
pub(crate) mod http;
pub(crate) mod injectable_writer;
pub(crate) mod queue;
pub(crate) mod recorder;
pub(crate) mod recording;
pub(crate) mod relay;
mod repack;
pub(crate) mod startup_error;
pub(crate) mod stdio;
pub(crate) mod stdio_gateway;
pub(crate) mod stdio_to_url;
pub(crate) mod storage;
