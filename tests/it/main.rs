//! All integration tests in one binary, which needs only one link step. Each module tests one part of mcpreel, mostly
//! by running the real program; `common` is the harness.
//!
//! A test that needs more than this repository, the usual Unix tools and python3 is `#[ignore]`d with its reason:
//! `real` needs other people's clients and servers, `transcripts` recordings of their traffic. `tests/run.sh` and
//! `tests/full.sh` say which of them they run.
//!
//! Tests must not depend on shared state of this process, such as environment variables or the current folder. Memory,
//! open files and signals are measured in the child process that runs mcpreel.
#![cfg(unix)]
#![expect(clippy::expect_used, clippy::panic, reason = "a test's helpers fail the test by panicking")]

mod common;

mod agents;
mod architecture;
mod attacks;
mod bad_input;
mod behaviours;
mod clients;
mod command_line;
mod comparing;
mod completing;
mod cutting;
mod diff_views;
mod events;
#[cfg(target_os = "linux")]
mod everyday;
mod files;
mod framing;
mod gateway;
mod generated;
mod hostile_output;
mod housekeeping;
mod imports;
mod inherited;
mod issued;
mod jq_programs;
mod many_values;
mod mcpl;
mod mcpl_hosts;
mod mcpl_peers;
mod mcpl_tools;
mod mocking;
mod oauth;
mod oracle;
mod outcomes;
mod overlay;
mod packs;
mod page;
#[cfg(feature = "parquet")]
mod parquet;
mod passing;
mod peers;
mod programs;
mod project;
mod proposal_peers;
mod real;
mod recipes;
mod reels;
mod remote;
mod replay;
mod replay_control;
mod replaying;
mod reports;
mod scenarios;
mod screen;
mod selecting;
mod sessions;
mod stats;
mod stumbling;
mod surface;
mod survive;
#[cfg(target_os = "linux")]
mod telemetry;
mod terminal;
mod threads;
mod trace_format;
mod transcripts;
mod tui;

#[cfg(target_os = "linux")]
mod fire;
#[cfg(target_os = "linux")]
mod guide;
#[cfg(target_os = "linux")]
mod handlers;
#[cfg(target_os = "linux")]
mod help_examples;
#[cfg(target_os = "linux")]
mod host;
#[cfg(target_os = "linux")]
mod http_tap;
#[cfg(target_os = "linux")]
mod leaks;
mod listeners;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod pictures;
mod play;
#[cfg(target_os = "linux")]
mod recordings;
mod redact;
#[cfg(target_os = "linux")]
mod serving;
#[cfg(target_os = "linux")]
mod shared_reports;
#[cfg(target_os = "linux")]
mod sharing;
#[cfg(target_os = "linux")]
mod tap;
