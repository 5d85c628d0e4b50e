//! Lines that control a host: where they come from, and what they mean.

pub(crate) mod editor;
pub(crate) mod lines;
