//! A corpus of planted secrets and of texts without any, made from a seed. It judges what `redact` finds and keeps, by what
//! a reader sees, and knows nothing of detectors.
//!
//! `REGENERATE=1` writes the rates into `docs/corpus.md`.

mod encodings;
mod judge;
mod kept;
mod kinds;
mod places;

use super::{Redaction, header_of};
use crate::redact::Settings;
use crate::trace::{Event, EventKind, Flags, NewEvent};
use crate::wire::Framing;
use fastrand::Rng;
use places::Carrier;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The least share of secrets to find, and of texts to keep. Unit: percent.
const LEAST: usize = 99;

/// How many variants of a text with a hole there are.
const VARIANTS: usize = 3;

/// A recording of one event.
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
    reel: Reel,
    parts: Vec<String>,
    /// The words around it.
    words: Vec<String>,
}

type Place = (&'static str, Carrier, &'static str);
type Kind = (&'static str, &'static str);

impl Planted {
    /// The encoding is given by its number: first none, then those of texts, then those of messages.
    fn new((kind, shape): Kind, (place, carrier, template): Place, encoding: usize, random: &mut Rng) -> Self {
        let value = kinds::value(shape, random);
        let is_bare = places::BARE.iter().any(|bare| bare.2 == template);
        let mut text = value.text.clone();
        if matches!(carrier, Carrier::Json | Carrier::Sse) {
            text = serde_json::json!(text).to_string().trim_matches('"').to_owned();
        }
        let of_text = encoding.checked_sub(1).and_then(|number| encodings::OF_TEXTS.get(number));
        let of_message =
            encoding.checked_sub(1 + encodings::OF_TEXTS.len()).map(|number| encodings::OF_MESSAGES[number]);
        let filled = match of_text {
            // Half of the tokens are encoded alone.
            Some((_, encode)) if is_bare && random.bool() => template.replacen("{}", &encode(&text), 1),
            Some((_, encode)) => encode(&template.replacen("{}", &text, 1)),
            None => template.replacen("{}", &text, 1),
        };
        let reel = carrier.reel(&filled);
        let inner = serde_json::json!(text).to_string();
        let reel = of_message.map_or(reel.clone(), |(_, wrap)| wrap(reel, inner.trim_matches('"')));
        let encoding = of_text.map(|(name, _)| *name).or(of_message.map(|(name, _)| name)).unwrap_or("none");
        let words = template.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.len() > 2);
        Self { names: [kind, place, encoding], reel, parts: value.parts, words: words.map(str::to_owned).collect() }
    }

    fn is_found_in(&self, redacted: &[u8]) -> bool {
        let views = judge::views(redacted);
        !judge::survives(&self.parts, &views) && judge::has_words(&self.words, &views)
    }
}

/// All planted secrets: each kind in several places and encodings, each place with several values, each encoding in several
/// places.
fn planted() -> Vec<Planted> {
    let mut random = Rng::with_seed(49);
    let mut all = Vec::new();
    let encodings = encodings::OF_TEXTS.len() + encodings::OF_MESSAGES.len();
    let encoded = |places: &[Place], number: usize| {
        let is_message = number > encodings::OF_TEXTS.len();
        let fits = |place: &Place| place.1.is_text() && !(is_message && place.1 == Carrier::Stderr);
        places.iter().filter(|place| fits(place)).copied().collect::<Vec<Place>>()
    };
    for (number, kind) in kinds::TOKENS.iter().enumerate() {
        // A header, a target or a command has one line.
        let fits = |place: &Place| !kind.1.contains('\n') || place.1.is_text();
        let bare: Vec<Place> = places::BARE.iter().filter(|place| fits(place)).copied().collect();
        for turn in 0..3 {
            all.push(Planted::new(*kind, bare[(number + turn * 4) % bare.len()], 0, &mut random));
        }
        for turn in 0..3 {
            let encoding = 1 + (number + turn * 5) % encodings;
            let bare = encoded(places::BARE, encoding);
            all.push(Planted::new(*kind, bare[(number + turn) % bare.len()], encoding, &mut random));
        }
    }
    for (number, place) in places::TELLING.iter().enumerate() {
        for turn in 0..3 {
            all.push(Planted::new(kinds::PASSWORDS[(number + turn) % kinds::PASSWORDS.len()], *place, 0, &mut random));
        }
    }
    for encoding in 1..=encodings {
        let telling = encoded(places::TELLING, encoding);
        for turn in 0..8 {
            let place = telling[(encoding * 13 + turn * 11) % telling.len()];
            all.push(Planted::new(kinds::PASSWORDS[turn % kinds::PASSWORDS.len()], place, encoding, &mut random));
        }
    }
    all
}

/// All texts without a secret, with their classes.
fn kept() -> Vec<(&'static str, Reel)> {
    let mut random = Rng::with_seed(50);
    let mut all = Vec::new();
    for (class, carrier, template) in kept::TEXTS {
        for _ in 0..VARIANTS {
            let text = kinds::value(template, &mut random).text;
            all.push((*class, carrier.reel(&text)));
            if text == *template {
                break;
            }
        }
    }
    for placeholder in kept::PLACEHOLDERS {
        let places = kept::FOR_PLACEHOLDERS.iter();
        all.extend(places.map(|(carrier, text)| ("placeholder", carrier.reel(&text.replacen("{}", placeholder, 1)))));
    }
    all
}

/// Redacts a recording of one event: nothing else gives its secret away.
fn redacted(reel: &Reel) -> Vec<u8> {
    let Reel { kind, framing, ref payload } = *reel;
    let header =
        header_of(&NewEvent { time: 0, stream: 0, exchange: 0, kind, flags: Flags::default(), framing, payload });
    let mut redaction = Redaction::new(&Settings::default(), b"a key of 16 bytes").expect("no settings");
    redaction.learn(&Event { header: &header, payload });
    redaction.end_learning();
    redaction.payload(&header, payload).into_owned()
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
        let made = redacted(&planted.reel);
        let is_found = planted.is_found_in(&made);
        found.iter_mut().zip(planted.names).for_each(|(rates, name)| rates.count(name, is_found));
        if !is_found {
            writeln!(misses, "{}: {}", planted.names.join(" \u{d7} "), shown(&planted.reel.payload)).expect("a string");
        }
    }
    for (class, reel) in kept() {
        let made = redacted(&reel);
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
