//! Who waited for what, and when: the requests of a session by what they call, with the time until each response.

use super::participants::Participants;
use super::steps::{Mark, Step, StepKind, Steps};
use crate::wire::Direction;
use std::collections::HashMap;
use unicode_width::UnicodeWidthStr;

/// At most this many different things that are called are kept.
const MAX_LANES: usize = 2000;

/// One request that somebody waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    /// The number of the event with the request.
    pub seq: u64,
    /// Its time in nanoseconds since the reel's clock base.
    pub start: i64,
    /// The time of the response, if there is one.
    pub end: Option<i64>,
    /// The response says that it failed.
    pub failed: bool,
}

/// All requests for the same thing.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    /// The stream.
    pub stream: u32,
    /// The direction of the requests.
    pub direction: Direction,
    /// The method; like the next one, any text.
    pub method: String,
    /// The name of the tool, prompt, resource or task; empty if the method has none.
    pub name: String,
    /// The requests, by the times of their responses; those without one are last.
    pub waits: Vec<Wait>,
    /// The number of requests, and of those without a response.
    pub count: u64,
    pub open: u64,
    /// The time until the responses together, in nanoseconds.
    pub total: i64,
    /// The longest time until a response, and the number of its request.
    pub longest: Option<(i64, u64)>,
}

impl Lane {
    /// What is called.
    pub(crate) fn label(&self) -> &str {
        if self.name.is_empty() { &self.method } else { &self.name }
    }

    /// The number of columns of the label, at most; control characters become visible.
    pub(crate) fn label_width(&self) -> usize {
        self.label().chars().map(crate::wire::text::visible).collect::<String>().width()
    }

    fn add(&mut self, wait: Wait) {
        self.count += 1;
        match wait.end {
            None => self.open += 1,
            Some(end) => {
                let time = end.saturating_sub(wait.start);
                self.total = self.total.saturating_add(time);
                self.longest = self.longest.max(Some((time, wait.seq)));
            }
        }
        self.waits.push(wait);
    }
}

/// All requests of a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waits {
    /// The sides and their names.
    pub participants: Participants,
    lanes: Vec<Lane>,
    left_out: u64,
    start: i64,
    end: i64,
}

impl Waits {
    /// Finds the requests among the steps.
    pub(crate) fn of(steps: &Steps) -> Self {
        let mut waits = Self { participants: steps.participants.clone(), ..Self::default() };
        let mut places = HashMap::new();
        for step in steps.all() {
            if let Some(wait) = wait(step) {
                waits.add(step, wait, &mut places);
            }
        }
        let times = || steps.all().iter().map(|step| step.time);
        let began = waits.lanes.iter().flat_map(|lane| &lane.waits).map(|wait| wait.start);
        waits.start = times().chain(began).min().unwrap_or_default();
        waits.end = times().max().unwrap_or_default();
        waits.lanes.sort_by_key(|lane| (lane.stream, lane.direction, lane.waits.iter().map(|wait| wait.start).min()));
        waits
    }

    fn add<'a>(&mut self, step: &'a Step, wait: Wait, places: &mut HashMap<(u32, Direction, &'a str, &'a str), usize>) {
        // A response goes the other way than its request.
        let direction = step.direction.unwrap_or(Direction::ClientToServer);
        let direction = if step.kind == StepKind::Response { direction.reversed() } else { direction };
        let name = step.about.get(..step.subject).unwrap_or_default();
        let key = (step.stream, direction, step.title.as_str(), name);
        let at = places.get(&key).copied().unwrap_or(self.lanes.len());
        if at == MAX_LANES {
            self.left_out += 1;
            return;
        }
        if at == self.lanes.len() {
            let (method, name) = (step.title.clone(), name.to_owned());
            let (waits, stream) = (Vec::new(), step.stream);
            self.lanes.push(Lane {
                stream,
                direction,
                method,
                name,
                waits,
                count: 0,
                open: 0,
                total: 0,
                longest: None,
            });
            places.insert(key, at);
        }
        self.lanes[at].add(wait);
    }

    /// The rows, by stream, by who waits, and by the time of the first request.
    pub(crate) fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// How many requests belong to rows for which there was no space.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The time of the first and of the last step, in nanoseconds since the reel's clock base.
    pub(crate) fn start(&self) -> i64 {
        self.start
    }

    /// See [`Self::start`].
    pub(crate) fn end(&self) -> i64 {
        self.end
    }

    /// The time during which the senders of requests in this direction waited for at least one response, in nanoseconds.
    pub(crate) fn waited(&self, direction: Direction) -> i64 {
        covered(self.intervals(|lane| lane.direction == direction))
    }

    /// The time during which nobody waited, in nanoseconds.
    pub(crate) fn idle(&self) -> i64 {
        self.end - self.start - covered(self.intervals(|_| true))
    }

    fn intervals(&self, is_meant: impl Fn(&Lane) -> bool) -> Vec<(i64, i64)> {
        let waits = self.lanes.iter().filter(|lane| is_meant(lane)).flat_map(|lane| &lane.waits);
        waits.map(|wait| (wait.start, wait.end.unwrap_or(self.end))).collect()
    }
}

/// Returns the wait that a step ends, or that never ends.
fn wait(step: &Step) -> Option<Wait> {
    match (step.kind, step.latency, step.asked) {
        (StepKind::Response, Some(latency), Some(seq)) => {
            let start = step.time.saturating_sub(latency);
            Some(Wait { seq, start, end: Some(step.time), failed: step.failed })
        }
        (StepKind::Request, ..) if step.marks.contains(&Mark::Unanswered) => {
            Some(Wait { seq: step.seq, start: step.time, end: None, failed: false })
        }
        _ => None,
    }
}

/// Returns the length of the union of intervals.
fn covered(mut intervals: Vec<(i64, i64)>) -> i64 {
    intervals.sort_unstable();
    let (mut sum, mut reached) = (0, i64::MIN);
    for (start, end) in intervals {
        sum += (end - start.max(reached)).max(0);
        reached = reached.max(end);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::steps::tests::conversation;
    use super::*;

    #[test]
    fn time_that_several_wait_counts_once() {
        assert_eq!(covered(vec![(0, 10), (5, 8), (20, 25), (9, 12)]), 17);
        assert_eq!(covered(Vec::new()), 0);
    }

    #[test]
    fn requests_for_the_same_thing_share_a_row() {
        let waits = Waits::of(&conversation());
        let rows: Vec<_> =
            waits.lanes().iter().map(|lane| (lane.direction.short(), lane.label(), lane.count, lane.open)).collect();
        let expected = [
            ("c2s", "initialize", 1, 0),
            ("c2s", "query", 1, 0),
            ("c2s", "file:///etc/hosts", 1, 0),
            ("c2s", "review", 1, 0),
            ("c2s", "sleep", 1, 1),
            ("s2c", "sampling/createMessage", 1, 0),
        ];
        assert_eq!(rows, expected);
        // 20 ms + 1,570 ms + 600 ms + 10 ms; the last request is the last event.
        assert_eq!(waits.waited(Direction::ClientToServer), 2_200_000_000);
        assert_eq!(waits.waited(Direction::ServerToClient), 1_200_000_000);
        assert_eq!((waits.end() - waits.start(), waits.idle()), (3_100_000_000, 900_000_000));
    }
}
