//! What a mock reports when it ends.

use super::library::{Anchor, Exchange, Initiated, Library, Place, Traits};
use super::miss::Miss;
use crate::wire::text::counted;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write;

/// What was asked of a mock, over all its sessions.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The number of sessions.
    pub(crate) sessions: u32,
    /// The number of requests that were answered from the recording.
    pub(crate) answered: u64,
    /// The number of requests that were answered by the server behind the mock.
    pub(crate) forwarded: u64,
    /// What was asked for in vain.
    pub(crate) misses: Vec<Miss>,
    /// The number of misses beyond those that are kept.
    pub(crate) more_misses: u64,
    /// The exchanges that were used.
    pub(crate) used: Bits,
    /// The messages of the server that were sent.
    pub(crate) sent: Bits,
    /// How often each fault hit.
    pub(crate) faults: Vec<(String, u64)>,
}

/// At most this many misses are kept.
pub(super) const MAX_MISSES: usize = 1000;
/// At most this many lines of each list are printed.
const MAX_LINES: usize = 20;

impl Report {
    /// Whether no request was answered.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.answered == 0 && self.forwarded == 0
    }

    /// Adds what happened in another session.
    pub fn add(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.answered += other.answered;
        self.forwarded += other.forwarded;
        self.more_misses += other.more_misses;
        for miss in other.misses {
            match self.misses.len() < MAX_MISSES {
                true => self.misses.push(miss),
                false => self.more_misses += 1,
            }
        }
        self.used.add(&other.used);
        self.sent.add(&other.sent);
        for (fault, hits) in other.faults {
            match self.faults.iter_mut().find(|(known, _)| *known == fault) {
                Some((_, known)) => *known += hits,
                None => self.faults.push((fault, hits)),
            }
        }
    }

    /// Returns the recorded exchanges that were never asked for. Pings, and polls of tasks, which depend on timing, do not
    /// count, nor do requests with wrong HTTP headers, which the mock refuses itself.
    fn unused<'l>(&self, library: &'l Library) -> impl Iterator<Item = &'l Exchange> {
        // One handshake stands for those of all recorded sessions: a client makes no more than one.
        let is_used = |number: usize| self.used.has(number);
        let mut exchanges = library.exchanges.iter().enumerate();
        let was_greeted = exchanges.any(|(number, one)| is_used(number) && library.called_by(one) == "initialize");
        let unused = library.exchanges.iter().enumerate();
        let unused = unused.filter(|(number, one)| !self.used.has(*number) && !one.has(Traits::IS_OF_HEADERS));
        unused
            .map(|(_, one)| one)
            .filter(|one| !matches!(library.called_by(one), "ping" | "tasks/get" | "server/discover"))
            .filter(move |one| !(was_greeted && library.called_by(one) == "initialize"))
    }

    /// Returns the messages of the recorded server that were never sent, because what they followed never came. Those
    /// that follow an unused exchange, or the client's response to another one of these, are left out.
    fn unreached<'l>(&self, library: &'l Library) -> impl Iterator<Item = &'l Initiated> {
        let is_explained = move |anchor: Anchor| match anchor {
            Anchor::Asked(exchange) | Anchor::Answered(exchange) => !self.used.has(exchange as usize),
            Anchor::Replied(before) => !self.sent.has(before as usize),
            Anchor::Start(_) | Anchor::Notified(..) => false,
        };
        let unsent = library.initiated.iter().enumerate().filter(|(number, _)| !self.sent.has(*number));
        unsent.map(|(_, one)| one).filter(move |one| !is_explained(one.anchor))
    }

    /// Returns whether there is something that a strict mock refuses: a miss, an exchange that was never asked for, or a
    /// message of the server that was never sent.
    pub(crate) fn has_findings(&self, library: &Library) -> bool {
        !self.misses.is_empty() || self.unused(library).next().is_some() || self.unreached(library).next().is_some()
    }

    /// Returns the report as one JSON object.
    pub(crate) fn to_json(&self, library: &Library) -> Value {
        // The lists of a large recording would take more memory than the recording.
        let unused = self.unused(library).take(MAX_MISSES).map(|one| {
            let about = json!({"method": library.called_by(one), "message": one.label(library)});
            at(library.place(one.request), about)
        });
        let unreached = self.unreached(library).take(MAX_MISSES).map(|one| {
            let about = json!({"method": library.sent_as(one), "follows": awaited(library, one.anchor)});
            at(library.place(one.message), about)
        });
        let more = |count: usize| count.saturating_sub(MAX_MISSES);
        json!({
            "sessions": self.sessions,
            "exchanges": library.len(),
            "answered": self.answered,
            "forwarded": self.forwarded,
            "misses": self.misses.iter().map(Miss::to_json).collect::<Vec<_>>(),
            "more_misses": self.more_misses,
            "unused": unused.collect::<Vec<_>>(),
            "more_unused": more(self.unused(library).count()),
            "unreached": unreached.collect::<Vec<_>>(),
            "more_unreached": more(self.unreached(library).count()),
            "faults": self.faults.iter().map(|(fault, hits)| json!({"fault": fault, "hits": hits})).collect::<Vec<_>>(),
        })
    }

    /// Returns the report as text.
    pub(crate) fn to_text(&self, library: &Library) -> String {
        let mut out = String::new();
        let mut list = |title: String, count: usize, lines: &mut dyn Iterator<Item = String>| {
            if count == 0 {
                return;
            }
            let _ = writeln!(out, "{title}:");
            for line in lines.take(MAX_LINES) {
                let _ = writeln!(out, "  {line}");
            }
            if let Some(more @ 1..) = count.checked_sub(MAX_LINES) {
                let _ = writeln!(out, "  and {more} more");
            }
        };
        let misses = distinct(self.misses.iter().map(|miss| &*miss.message));
        let title = counted(self.misses.len() as u64 + self.more_misses, "request") + " without a recorded answer";
        list(title, misses.len(), &mut misses.into_iter());
        let unused = self.unused(library).count();
        let title = counted(unused as u64, "recorded request") + " never asked for";
        list(title, unused, &mut self.unused(library).map(|one| line(library.place(one.request), one.label(library))));
        let unreached = self.unreached(library).count();
        let title = counted(unreached as u64, "message") + " of the server never sent";
        list(
            title,
            unreached,
            &mut self.unreached(library).map(|one| {
                let about = format!("{}, which follows {}", library.sent_as(one), awaited(library, one.anchor));
                line(library.place(one.message), about)
            }),
        );
        let hits = self.faults.iter().map(|(fault, hits)| match hits {
            0 => format!("{fault}  never"),
            hits => format!("{fault}  {}", counted(*hits, "time")),
        });
        list("faults".to_owned(), self.faults.len(), &mut { hits });
        let (sessions, answered) = (counted(self.sessions, "session"), counted(self.answered, "answer"));
        let _ = write!(out, "{sessions}, {answered} from the recording");
        if self.forwarded > 0 {
            let _ = write!(out, ", {} from the server", self.forwarded);
        }
        out.push('\n');
        out
    }
}

fn line(place: Place, about: String) -> String {
    format!("{place}  {about}")
}

/// Returns an object about a recorded message, with its place first.
fn at(place: Place, about: Value) -> Value {
    let mut found = json!({});
    if let Some(reel) = place.reel {
        found["reel"] = reel.into();
    }
    found["seq"] = place.seq.into();
    if let (Some(members), Value::Object(about)) = (found.as_object_mut(), about) {
        members.extend(about);
    }
    found
}

/// Returns what the client has to do before the server sends a message of its own.
fn awaited(library: &Library, anchor: Anchor) -> String {
    let exchange = |number: u32| library.exchanges[number as usize].label(library);
    match anchor {
        Anchor::Start(_) => "the beginning of a session".to_owned(),
        Anchor::Asked(number) => format!("the request {}", exchange(number)),
        Anchor::Answered(number) => format!("the response to {}", exchange(number)),
        Anchor::Notified(_, method, _) => format!("the client's {}", library.methods[usize::from(method)]),
        Anchor::Replied(number) => {
            format!("the client's response to {}", library.sent_as(&library.initiated[number as usize]))
        }
    }
}

/// Returns each line once, with the number of times if there are several.
fn distinct<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<String> {
    let (mut order, mut counts) = (Vec::new(), HashMap::new());
    for line in lines {
        let count = counts.entry(line).or_insert(0);
        *count += 1;
        if *count == 1 {
            order.push(line);
        }
    }
    let shown = |line: &str| match counts[line] {
        1 => line.to_owned(),
        count => format!("{line} ({})", counted(count, "time")),
    };
    order.into_iter().map(shown).collect()
}

/// A set of small numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// Adds a number. Returns whether it is new.
    pub(super) fn insert(&mut self, number: usize) -> bool {
        let (word, bit) = (number / 64, 1 << (number % 64));
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }

    /// Returns whether a number is in the set.
    pub(super) fn has(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word & (1 << (number % 64)) != 0)
    }

    fn add(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }
}
