//! A corpus of planted secrets and of texts without any, made from a seed. It judges what `redact` finds and keeps, by what
//! a reader sees, and knows nothing of detectors.
//!
//! `REGENERATE=1` writes the rates into `docs/corpus.md`.

mod encodings;
mod judge;
mod kinds;
mod places;

use super::{Learner, header_of};
use crate::redact::Settings;
use crate::trace::{Event, EventHeader, EventKind, Flags, NewEvent};
use crate::wire::Framing;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fastrand::Rng;
use places::{Carrier, Place};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The least share of secrets to find, and of texts to keep. Unit: percent.
const LEAST: usize = 99;

/// How many variants of a text with a hole there are.
const VARIANTS: usize = 3;

/// What the names of places begin or end with where another event gives the secret away, or only the secret is encoded.
const KNOWN: &str = "known from elsewhere";
const ALONE: &str = "alone";

/// An event of a recording.
#[derive(Clone)]
struct Reel {
    kind: EventKind,
    framing: Framing,
    payload: Vec<u8>,
}

impl Reel {
    /// The same, with another text in place of one.
    fn replaced(self, from: &str, to: &str) -> Self {
        Self { payload: String::from_utf8_lossy(&self.payload).replace(from, to).into_bytes(), ..self }
    }
}

/// A planted secret.
struct Planted {
    /// The names of its kind, its place and its encoding.
    names: [&'static str; 3],
    /// What gave it away before.
    known: Option<Reel>,
    reel: Reel,
    parts: Vec<String>,
    /// The words around it.
    words: Vec<String>,
}

type Kind = (&'static str, &'static str);

/// What stands for a secret in documentation.
const PLACEHOLDERS: &[&str] = &[
    "your-api-key-here",
    "YOUR_API_KEY",
    "your_token_here",
    "changeme",
    "CHANGE_ME",
    "<token>",
    "<your-api-key>",
    "${TOKEN}",
    "$TOKEN",
    "{{ token }}",
    "xxxx",
    "xxxxxxxxxxxxxxxx",
    "********",
    "...",
    "sk-...",
    "ghp_xxxxxxxxxxxx",
    "%TOKEN%",
    "[REDACTED]",
    "null",
    "replace-with-your-key",
];

impl Planted {
    /// A secret in a place. Encodings are numbered: none, then those of texts, then those of messages.
    fn new(kind: Kind, place: Place, encoding: usize, random: &mut Rng) -> Self {
        let value = kinds::value(kind.1, random);
        let is_json = matches!(place.carrier, Carrier::Json | Carrier::Sse);
        let inner = serde_json::json!(value.text).to_string();
        let inner = inner.trim_matches('"');
        let secret = if is_json { inner } else { &value.text };
        let base64 = STANDARD.encode(format!("kim:{secret}"));
        let fill = |secret: &str| place.text().replacen("{}", secret, 1).replacen("{64}", &base64, 1);
        let of_text = encoding.checked_sub(1).and_then(|number| encodings::OF_TEXTS.get(number));
        let of_message =
            encoding.checked_sub(1 + encodings::OF_TEXTS.len()).map(|number| encodings::OF_MESSAGES[number]);
        let text = match of_text {
            Some((_, encode)) if place.name.ends_with(ALONE) => fill(&encode(secret)),
            Some((_, encode)) => encode(&fill(secret)),
            None => fill(secret),
        };
        let mut reel = place.carrier.reel(&text);
        if let Some((_, wrap)) = of_message {
            reel = wrap(reel, inner);
        }
        let encoding = of_text.map(|(name, _)| *name).or(of_message.map(|(name, _)| name)).unwrap_or("none");
        let known = place.name.starts_with(KNOWN).then(|| Carrier::Json.reel(&format!("{{\"password\":\"{inner}\"}}")));
        Self { names: [kind.0, place.name, encoding], known, reel, parts: value.parts, words: place.words() }
    }

    fn is_found_in(&self, redacted: &[u8]) -> bool {
        let seen = |payload: &[u8]| {
            let views = judge::views(payload);
            (judge::survives(&self.parts, &views), judge::has_words(&self.words, &views))
        };
        assert_eq!(seen(&self.reel.payload), (true, true), "{:?}: {}", self.names, shown(&self.reel.payload));
        seen(redacted) == (false, true)
    }
}

/// The places in a list that can have an encoding. Only a secret alone is percent-encoded in part.
fn encodable(list: &[Place], encoding: usize) -> Vec<Place> {
    let name = encodings::OF_TEXTS.get(encoding - 1).map_or("", |(name, _)| name);
    let is_whole = |place: &Place| name != "percent, some" || place.name.ends_with(ALONE);
    let is_message = encoding > encodings::OF_TEXTS.len();
    let carries = |place: &Place| place.carrier.is_text() && !(is_message && place.carrier == Carrier::Stderr);
    list.iter().filter(|place| carries(place) && is_whole(place)).copied().collect()
}

/// All planted secrets: each kind in several places and encodings, each place with several values, each encoding in several
/// places.
fn planted() -> Vec<Planted> {
    let mut random = Rng::with_seed(49);
    let [bare, telling] = [include_str!("corpus/bare.txt"), include_str!("corpus/telling.txt")].map(places::listed);
    let (known, bare): (Vec<Place>, Vec<Place>) = bare.into_iter().partition(|place| place.name.starts_with(KNOWN));
    let count = encodings::OF_TEXTS.len() + encodings::OF_MESSAGES.len();
    let mut all = Vec::new();
    for (number, kind) in kinds::TOKENS.iter().enumerate() {
        // A header, a target or a command has one line.
        let fits = |place: &&Place| !kind.1.contains('\n') || place.carrier.is_text();
        let plain: Vec<&Place> = bare.iter().filter(fits).collect();
        for turn in 0..3 {
            all.push(Planted::new(*kind, *plain[(number + turn * 4) % plain.len()], 0, &mut random));
            let encoding = 1 + (number + turn * 5) % count;
            let places = encodable(&bare, encoding);
            all.push(Planted::new(*kind, places[(number + turn) % places.len()], encoding, &mut random));
        }
        let command = plain.iter().find(|place| place.carrier == Carrier::Command);
        all.extend(command.map(|place| Planted::new(*kind, **place, 0, &mut random)));
    }
    // A short password as the user's name in a URL is like any other name.
    let passwords = |place: &Place| match place.name {
        "user name of a URL" => &kinds::PASSWORDS[1..4],
        _ => kinds::PASSWORDS,
    };
    let password = |number: usize, place: &Place| passwords(place)[number % passwords(place).len()];
    for (number, place) in telling.iter().enumerate() {
        all.extend((0..3).map(|turn| Planted::new(password(number + turn, place), *place, 0, &mut random)));
    }
    for encoding in 1..=count {
        let (telling, known) = (encodable(&telling, encoding), encodable(&known, encoding));
        let telling = (0..8).filter_map(|turn| telling.get((encoding * 13 + turn * 11) % telling.len().max(1)));
        for (turn, place) in telling.chain(&known).enumerate() {
            all.push(Planted::new(password(turn, place), *place, encoding, &mut random));
        }
    }
    all
}

/// All texts without a secret, with their classes.
fn kept() -> Vec<(&'static str, Reel)> {
    let mut random = Rng::with_seed(50);
    let mut all = Vec::new();
    for place in places::listed(include_str!("corpus/kept.txt")) {
        let mut add = |text: &str| all.push((place.name, place.carrier.reel(text)));
        let template = place.text();
        if place.name == "placeholder" {
            PLACEHOLDERS.iter().for_each(|one| add(&template.replacen("{}", one, 1)));
            continue;
        }
        let texts: BTreeSet<String> = (0..VARIANTS).map(|_| kinds::value(&template, &mut random).text).collect();
        texts.iter().for_each(|text| add(text));
    }
    all
}

/// Redacts an event. Nothing else gives its secret away but what was known before.
fn redacted(reel: &Reel, known: Option<&Reel>) -> Vec<u8> {
    let mut learner = Learner::new(&Settings::default(), b"a key of 16 bytes").expect("no settings");
    for Reel { kind, framing, payload } in known.into_iter().chain([reel]) {
        learner.learn(&Event { header: &header(*kind, *framing, payload), payload });
    }
    learner.finish().payload(&header(reel.kind, reel.framing, &reel.payload), &reel.payload).into_owned()
}

fn header(kind: EventKind, framing: Framing, payload: &[u8]) -> EventHeader {
    header_of(&NewEvent { time: 0, stream: 0, exchange: 0, kind, flags: Flags::default(), framing, payload })
}

/// How many there are of each name, and how many of those are as they should be.
#[derive(Default)]
struct Rates(BTreeMap<&'static str, [usize; 2]>);

impl Rates {
    fn count(&mut self, name: &'static str, is_right: bool) {
        let counts = self.0.entry(name).or_default();
        counts[0] += 1;
        counts[1] += usize::from(is_right);
    }

    fn sums(&self) -> [usize; 2] {
        self.0.values().fold([0, 0], |[all, right], counts| [all + counts[0], right + counts[1]])
    }

    fn table(&self, names: &str, right: &str) -> String {
        let mut table = format!("| {names} | texts | {right} |\n| --- | ---: | ---: |\n");
        for (name, [all, right]) in &self.0 {
            writeln!(table, "| {name} | {all} | {right} |").expect("a string");
        }
        table
    }
}

/// Fails if too few are right; prints what is wrong, and writes a document if `REGENERATE` says so.
#[test]
fn secrets_are_found_and_other_texts_are_kept() {
    let mut found = [Rates::default(), Rates::default(), Rates::default()];
    let (mut rates, mut misses) = (Rates::default(), String::new());
    for planted in planted() {
        let made = redacted(&planted.reel, planted.known.as_ref());
        let is_found = planted.is_found_in(&made);
        found.iter_mut().zip(planted.names).for_each(|(rates, name)| rates.count(name, is_found));
        if !is_found {
            writeln!(misses, "{}: {}", planted.names.join(" \u{d7} "), shown(&planted.reel.payload)).expect("a string");
        }
    }
    for (class, reel) in kept() {
        let made = redacted(&reel, None);
        rates.count(class, made == reel.payload);
        if made != reel.payload {
            writeln!(misses, "changed, {class}: {}\n  {}", shown(&reel.payload), shown(&made)).expect("a string");
        }
    }
    let ([planted, right], [all, kept]) = (found[0].sums(), rates.sums());
    let [kinds, places, encodings] = &found;
    let document = format!(
        "{HEAD}\nOf {planted} planted secrets, {right} are found. Of {all} texts without a secret, {kept} stay as they are.\n\n\
         ## Found, by place\n\n{}\n## Found, by encoding\n\n{}\n## Found, by kind\n\n{}\n## Kept\n\n{}",
        places.table("place", "found"),
        encodings.table("encoding", "found"),
        kinds.table("kind", "found"),
        rates.table("class", "kept"),
    );
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/corpus.md");
    if std::env::var_os("REGENERATE").is_some() {
        std::fs::write(path, &document).expect("writable");
    }
    assert!(planted >= 600 && all >= 300, "{planted} {all}");
    let is_enough = right * 100 >= planted * LEAST && kept * 100 >= all * LEAST;
    assert!(is_enough, "{misses}found {right} of {planted}, kept {kept} of {all}");
    let published = std::fs::read_to_string(path).unwrap_or_default();
    assert!(published == document, "{misses}make docs/corpus.md anew: REGENERATE=1 cargo test corpus");
}

const HEAD: &str = "\
# What redaction finds and keeps

A test makes secrets of many kinds, plants each in a recording of its own, and redacts it: `src/share/redaction/corpus.rs`.
A secret counts as found if no eight consecutive characters of it are left in any decoded form, and the text around it is
still there. A text without a secret counts as kept if no byte changed. The test fails below 99 %.
The test made this document: `REGENERATE=1 cargo test corpus`.
";

fn shown(payload: &[u8]) -> String {
    judge::opened(payload).replace('\n', "\\n").replace(char::is_control, "")
}
