//! Runs a replay on a link.

use super::client::{Engine, Sorted};
use crate::replay::{Output, ReplayEngine};
use crate::transport::Undelivered;
use std::time::Duration;

impl Engine for ReplayEngine {
    type Output = Output;

    fn start(&mut self, now: Duration) -> Vec<Output> {
        Self::start(self, now)
    }

    fn receive(&mut self, now: Duration, message: &[u8]) -> Vec<Output> {
        Self::receive(self, now, message)
    }

    fn undelivered(&mut self, now: Duration, lost: &Undelivered) -> Vec<Output> {
        match lost.unreached || lost.session_over {
            true => Self::lost(self, now, &lost.reason),
            false => Self::undelivered(self, now, &lost.id, &lost.reason, lost.refusal.as_deref()),
        }
    }

    fn handle_timeout(&mut self, now: Duration) -> Vec<Output> {
        Self::handle_timeout(self, now)
    }

    fn next_timeout(&self) -> Option<Duration> {
        Self::next_timeout(self)
    }

    fn closed(&mut self, now: Duration) -> Vec<Output> {
        Self::closed(self, now)
    }

    fn lost(&mut self, now: Duration, why: &str) -> Vec<Output> {
        Self::lost(self, now, why)
    }

    fn sort(output: Output) -> Sorted<Output> {
        match output {
            Output::Send(message) => Sorted::Send(message),
            other => Sorted::Report(other),
        }
    }
}
