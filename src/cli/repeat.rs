//! Repeated messages: how often to send them, what to expect of each result, and the summary.

use crate::cli::jq::{Jq, Program};
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::render::line::duration;
use crate::wire::units::parse_time;
use clap::Args;
use serde_json::Value;
use std::borrow::Cow;
use std::time::Duration;

/// How often to send, and what to expect.
#[derive(Clone, Debug, Args)]
pub(super) struct Repeating {
    /// A jq expression that must be true for each result, as printed by --format json. Overrides the default success
    /// check; connection failures still count as failures.
    #[arg(long, value_name = "EXPR")]
    pub expect: Option<String>,
    /// How many times to send the message, on one connection. A summary is printed to stderr at the end.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub repeat: u64,
    /// Time from the start of one message to the start of the next (0s: as soon as the previous one is done).
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse_time, requires = "repeat")]
    pub interval: Duration,
}

impl Repeating {
    /// An empty tally.
    ///
    /// # Errors
    ///
    /// The expression of `--expect` is invalid.
    pub(super) fn tally(&self) -> Result<Tally, CommandError> {
        let compile = |code: &String| {
            let mut jq = Jq::new(false);
            jq.compile("--expect", code).map(|program| (jq, program))
        };
        let expect = self.expect.as_ref().map(compile).transpose()?;
        Ok(Tally { expect, latencies: Vec::new(), taken: 0, failed: 0, error: None })
    }

    /// When the next message is due, if there is one. `done` messages are done, and the last of them began at
    /// `began`.
    pub(super) fn next(&self, done: u64, began: Duration) -> Option<Duration> {
        (done < self.repeat).then(|| began.saturating_add(self.interval))
    }
}

/// The results so far.
pub(super) struct Tally {
    expect: Option<(Jq, Program)>,
    latencies: Vec<Duration>,
    taken: u64,
    failed: u64,
    /// Why the first one failed, if that is to be reported as an error.
    error: Option<CommandError>,
}

impl Tally {
    /// How many messages are done.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Counts one result: as JSON, the command's own judgement, and the latency.
    pub(super) fn take(
        &mut self,
        reported: &Value,
        judged: Result<Outcome, CommandError>,
        latency: Option<Duration>,
        context: &Context,
    ) {
        self.take_text(|| Cow::Owned(reported.to_string().into_bytes()), judged, latency, context);
    }

    /// Does the same with the text of the result, which may be too large for a value in memory, and is only made if
    /// something is expected of it.
    pub(super) fn take_text<'a>(
        &mut self,
        reported: impl FnOnce() -> Cow<'a, [u8]>,
        judged: Result<Outcome, CommandError>,
        latency: Option<Duration>,
        context: &Context,
    ) {
        self.taken += 1;
        self.latencies.extend(latency);
        let unmet = self.expect.as_mut().map(|(jq, program)| jq.unmet(*program, &reported()));
        let is_good = match (unmet, judged) {
            (Some(Ok(None)), _) => true,
            (Some(Err(error)), _) | (None, Err(error)) => {
                self.error.get_or_insert(error);
                false
            }
            (Some(Ok(Some(why))), _) => {
                context.printer.note(&why);
                false
            }
            (None, Ok(outcome)) => matches!(outcome, Outcome::Clean),
        };
        self.failed += u64::from(!is_good);
    }

    /// Counts messages that were sent and have no result.
    pub(super) fn lose(&mut self, lost: u64) {
        self.taken += lost;
        self.failed += lost;
    }

    /// Prints the summary of several messages.
    ///
    /// # Errors
    ///
    /// The error of the first message that failed with one.
    pub(super) fn finish(mut self, context: &Context) -> Result<Outcome, CommandError> {
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
        let counted = format!("{} sent, {} failed", self.taken, self.failed);
        self.latencies.sort_unstable();
        let text = |time: &Duration| duration(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
        // Of an even number, the median is the mean of the two in the middle.
        let middle = self.latencies.len() / 2;
        let below = self.latencies.get(self.latencies.len().saturating_sub(1) / 2);
        match (self.latencies.first(), below.zip(self.latencies.get(middle)), self.latencies.last()) {
            (Some(least), Some((below, above)), Some(most)) => {
                let median = (*below + *above) / 2;
                format!("{counted}; latency min {}, median {}, max {}", text(least), text(&median), text(most))
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
        assert_eq!(tally.summary(), "0 sent, 0 failed");
        tally.latencies = [30, 10, 20].map(Duration::from_millis).to_vec();
        (tally.taken, tally.failed) = (3, 1);
        assert_eq!(tally.summary(), "3 sent, 1 failed; latency min 10.0 ms, median 20.0 ms, max 30.0 ms");
        tally.latencies = [30, 10].map(Duration::from_millis).to_vec();
        assert!(tally.summary().contains("median 20.0 ms"), "{}", tally.summary());
    }
}
