//! An event fired once or often: how often, what its result must be, and what came of all.

use crate::cli::jq::Jq;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::proposals::clip;
use crate::render::line::duration;
use crate::wire::units::parse_time;
use clap::Args;
use serde_json::Value;
use std::time::Duration;

/// How much of a result is told where it was not what was expected.
const MAX_SEEN: usize = 2000;

/// How often, and what is expected.
#[derive(Debug, Args)]
pub struct Repeating {
    /// What must be true of each result, in jq's language, on what --format json prints. It decides alone what is a
    /// failure, but for a peer that fails.
    #[arg(long, value_name = "EXPR")]
    expect: Option<String>,
    /// How often, on one connection. A summary is told at the end, on standard error.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub repeat: u64,
    /// How long from the beginning of one to that of the next; at once where that is over.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse_time, requires = "repeat")]
    pub interval: Duration,
}

impl Repeating {
    /// An empty tally; an error where the expression has a mistake in it.
    pub fn tally(&self) -> Result<Tally, CommandError> {
        let compile = |code: &String| Jq::compile("--expect", code).map(|jq| (code.clone(), jq));
        let expect = self.expect.as_ref().map(compile).transpose()?;
        Ok(Tally { expect, latencies: Vec::new(), taken: 0, failed: 0, error: None })
    }

    /// When the next begins, where there is one: `done` are over, the last of them began at `began`.
    pub fn next(&self, done: u64, began: Duration) -> Option<Duration> {
        (done < self.repeat).then(|| began.saturating_add(self.interval))
    }
}

/// What came of the events so far.
pub struct Tally {
    expect: Option<(String, Jq)>,
    latencies: Vec<Duration>,
    taken: u64,
    failed: u64,
    /// Why the first failed, where it is told as an error.
    error: Option<CommandError>,
}

impl Tally {
    /// How many events are over.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Takes one event's result: as JSON, what the command holds of it, and the time it took.
    pub fn take(
        &mut self,
        reported: &Value,
        judged: Result<Outcome, CommandError>,
        latency: Option<Duration>,
        context: &Context,
    ) {
        self.taken += 1;
        self.latencies.extend(latency);
        let unmet = self.expect.as_ref().map(|(code, jq)| (code, jq.holds(reported.to_string().as_bytes())));
        let is_good = match (unmet, judged) {
            (Some((_, Ok(true))), _) => true,
            (Some((code, held)), _) => {
                let why = held.err().map(|error| format!(" ({error})")).unwrap_or_default();
                let seen = reported.to_string();
                context.printer.note(&format!("expected {code}, and saw {}{why}", clip(&seen, MAX_SEEN)));
                false
            }
            (None, Ok(outcome)) => matches!(outcome, Outcome::Clean),
            (None, Err(error)) => {
                self.error.get_or_insert(error);
                false
            }
        };
        self.failed += u64::from(!is_good);
    }

    /// So many more went out, and nothing came of them.
    pub fn lose(&mut self, lost: u64) {
        self.taken += lost;
        self.failed += lost;
    }

    /// Tells the summary of several. Fails as the first of them did.
    pub fn finish(mut self, context: &Context) -> Result<Outcome, CommandError> {
        if self.taken > 1 {
            context.printer.note(&self.summary());
        }
        match self.error.take() {
            Some(error) => Err(error),
            None if self.failed > 0 || self.taken == 0 => Ok(Outcome::Findings),
            None => Ok(Outcome::Clean),
        }
    }

    fn summary(&mut self) -> String {
        let counted = format!("{} fired, {} failed", self.taken, self.failed);
        self.latencies.sort_unstable();
        let text = |time: &Duration| duration(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
        let median = self.latencies.get(self.latencies.len() / 2);
        match (self.latencies.first(), median, self.latencies.last()) {
            (Some(least), Some(median), Some(most)) => {
                format!("{counted}; latency min {}, median {}, max {}", text(least), text(median), text(most))
            }
            _ => counted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_counts_and_orders() {
        let repeating = Repeating { expect: None, repeat: 3, interval: Duration::from_secs(1) };
        assert_eq!(repeating.next(2, Duration::from_secs(5)), Some(Duration::from_secs(6)));
        assert_eq!(repeating.next(3, Duration::from_secs(5)), None);
        let mut tally = repeating.tally().expect("nothing to compile");
        assert_eq!(tally.summary(), "0 fired, 0 failed");
        tally.latencies = [30, 10, 20].map(Duration::from_millis).to_vec();
        (tally.taken, tally.failed) = (3, 1);
        assert_eq!(tally.summary(), "3 fired, 1 failed; latency min 10.0 ms, median 20.0 ms, max 30.0 ms");
    }
}
