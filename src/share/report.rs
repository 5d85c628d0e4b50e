//! What was found in a reel, and where; never the secrets themselves.

use crate::redact::detectors::Severity;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The maximum number of places that are remembered; more are only counted.
const MAX_PLACES: usize = 10_000;

/// The maximum number of different secrets that are counted.
const MAX_DIFFERENT: usize = 1 << 20;

/// The place of secrets found by one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The number of the event; `None` for the reel's own header.
    pub seq: Option<u64>,
    /// A JSON Pointer in a message, or the name of another place.
    pub place: String,
    /// The rule's name.
    pub rule: String,
    /// How many.
    pub count: u64,
}

/// What was found by one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    /// How bad it is.
    pub severity: Severity,
    /// How many secrets.
    pub count: u64,
}

/// Stands for a secret where only different ones are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SecretId(u64);

impl SecretId {
    /// Returns the id of a secret.
    pub(super) fn of(secret: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        secret.trim_ascii().hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    rules: BTreeMap<String, Tally>,
    /// The different secrets, as far as they are remembered.
    different: HashSet<SecretId, foldhash::fast::RandomState>,
    /// The number of secrets that stay where nothing tells what they are.
    ordinary: usize,
    /// The first place of each of them, as far as they are remembered.
    pub(super) ordinary_places: Vec<Place>,
    /// Whether the events are the lines of a text.
    pub(super) is_text: bool,
    places: Vec<Place>,
    /// The number of findings without a remembered place.
    omitted: u64,
    /// The numbers of the events with binary data, as far as they are remembered.
    unread: Vec<u64>,
}

impl Report {
    /// Adds one finding.
    pub(super) fn add(
        &mut self,
        (seq, place): (Option<u64>, String),
        (rule, severity): (&str, Severity),
        secret: SecretId,
    ) {
        if self.different.len() < MAX_DIFFERENT {
            self.different.insert(secret);
        }
        self.rules.entry(rule.to_owned()).or_insert(Tally { severity, count: 0 }).count += 1;
        let is_same = |last: &&mut Place| last.seq == seq && last.place == place && last.rule == rule;
        if let Some(last) = self.places.last_mut().filter(is_same) {
            last.count += 1;
        } else if self.places.len() < MAX_PLACES {
            self.places.push(Place { seq, place, rule: rule.to_owned(), count: 1 });
        } else {
            self.omitted += 1;
        }
    }

    /// Adds an event that was not looked into.
    pub(super) fn add_unread(&mut self, seq: u64) {
        if self.unread.len() < MAX_PLACES {
            self.unread.push(seq);
        }
    }

    /// Returns the numbers of the events that were not looked into, because they contain binary data.
    pub(crate) fn unread(&self) -> &[u64] {
        &self.unread
    }

    /// Returns the number of different secrets.
    pub(crate) fn different(&self) -> u64 {
        self.different.len() as u64
    }

    /// Adds a secret that stays where nothing tells what it is, with its first place.
    pub(super) fn add_ordinary(&mut self, place: Place) {
        self.ordinary += 1;
        if self.ordinary_places.len() < MAX_PLACES {
            self.ordinary_places.push(place);
        }
    }

    /// Returns the number of secrets that stay where nothing tells what they are: short ones, and ordinary words.
    pub(crate) fn ordinary(&self) -> usize {
        self.ordinary
    }

    /// Returns the first place of each of these secrets, where something tells what it is.
    pub(crate) fn ordinary_places(&self) -> &[Place] {
        &self.ordinary_places
    }

    /// Returns whether a text was searched, in which places are lines.
    pub(crate) fn is_text(&self) -> bool {
        self.is_text
    }

    /// Returns the number of places with a secret.
    pub fn count(&self) -> u64 {
        self.rules.values().map(|tally| tally.count).sum()
    }

    /// Returns what each rule found.
    pub(crate) fn rules(&self) -> impl Iterator<Item = (&str, Tally)> {
        self.rules.iter().map(|(name, tally)| (name.as_str(), *tally))
    }

    /// Returns the places of a rule's findings.
    pub(crate) fn places_of<'a>(&'a self, rule: &'a str) -> impl Iterator<Item = &'a Place> {
        self.places.iter().filter(move |place| place.rule == rule)
    }

    /// Returns the report as JSON. `digest` is that of the rules and settings.
    pub(crate) fn to_json(&self, digest: &str) -> Value {
        let rules = self
            .rules
            .iter()
            .map(|(name, tally)| json!({"rule": name, "severity": tally.severity.name(), "count": tally.count}));
        let shown = |place: &Place| match self.is_text {
            true => json!({"line": place.seq, "rule": place.rule, "count": place.count}),
            false => json!({"seq": place.seq, "place": place.place, "rule": place.rule, "count": place.count}),
        };
        let all = |places: &[Place]| places.iter().map(shown).collect::<Vec<Value>>();
        json!({
            "secrets": self.count(), "different": self.different(),
            "ordinary": self.ordinary, "ordinary_places": all(&self.ordinary_places), "digest": digest,
            "rules": rules.collect::<Vec<_>>(), "places": all(&self.places), "omitted": self.omitted,
            "unread": self.unread,
        })
    }
}
