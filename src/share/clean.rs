//! Remembers the events in which the first pass found nothing. The second one has to search them only if a secret that is
//! known from elsewhere may be in them.

use super::known::Known;
use crate::trace::EventHeader;
use aho_corasick::AhoCorasick;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::collections::HashSet;
use std::hash::BuildHasher;
use std::mem::discriminant;

/// The maximum number of events that are remembered.
const MAX_EVENTS: usize = 1 << 20;
/// The maximum number of known secrets; with more, all events are searched.
const MAX_SECRETS: usize = 2000;
/// The shortest part of a secret that is looked for.
const SHORTEST_PART: usize = 4;

/// The events without secrets, as far as they are remembered.
#[derive(Default)]
pub(super) struct Clean {
    /// Hashes of the events.
    events: HashSet<u64, foldhash::fast::RandomState>,
    /// Finds what stands in an event in which there is a known secret.
    traces: Option<AhoCorasick>,
}

impl Clean {
    /// Remembers an event in which nothing was found, and in which no encoding hides a text.
    pub(super) fn add(&mut self, header: &EventHeader, payload: &[u8]) {
        if self.events.len() < MAX_EVENTS {
            self.events.insert(self.hash(header, payload));
        }
    }

    /// Returns whether nothing was found in an event.
    pub(super) fn has(&self, header: &EventHeader, payload: &[u8]) -> bool {
        self.events.contains(&self.hash(header, payload))
    }

    /// Forgets all events, because more is a secret from now on.
    pub(super) fn clear(&mut self) {
        self.events.clear();
    }

    /// Prepares the second pass.
    pub(super) fn end(&mut self, known: &Known) {
        let texts: Option<Vec<Vec<u8>>> = match known.secrets().count() {
            0..=MAX_SECRETS => {
                known.secrets().map(|secret| traces(secret)).collect::<Option<Vec<_>>>().map(|texts| texts.concat())
            }
            _ => None,
        };
        match texts.and_then(|texts| AhoCorasick::new(texts).ok()) {
            Some(traces) => self.traces = Some(traces),
            None => self.clear(),
        }
    }

    /// Returns whether an event stays as it is.
    pub(super) fn stays(&self, header: &EventHeader, payload: &[u8]) -> bool {
        self.has(header, payload) && !self.traces.as_ref().is_none_or(|traces| traces.is_match(payload))
    }

    fn hash(&self, header: &EventHeader, payload: &[u8]) -> u64 {
        self.events.hasher().hash_one((discriminant(&header.kind), discriminant(&header.framing), payload))
    }
}

/// Returns what stands in an event in which there is a secret: its longest part that has the same form in strings, URLs and
/// markup, or its base64, which depends on what precedes it. `None` if no part is long enough.
fn traces(secret: &[u8]) -> Option<Vec<Vec<u8>>> {
    let parts = secret.split(|byte| !byte.is_ascii_alphanumeric());
    let part = parts.max_by_key(|part| part.len()).filter(|part| part.len() >= SHORTEST_PART)?;
    let mut all = vec![part.to_vec()];
    for before in 0..3 {
        let text = [&[0; 3][..before], secret].concat();
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let encoded = engine.encode(&text).into_bytes();
            all.push(encoded[(before * 8).div_ceil(6)..text.len() * 8 / 6].to_vec());
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;

    #[test]
    fn the_traces_of_a_secret_are_in_texts_and_data_with_it() {
        let secret = b"p%ss/w0rd+f\xff?>x".to_vec();
        let search = AhoCorasick::new(traces(&secret).expect("it is long")).expect("texts");
        for before in 0..9 {
            let data = [&vec![0xfe; before][..], &secret, b"\xfe\xfe"].concat();
            assert!(search.is_match(&STANDARD.encode(&data)), "{before}");
            assert!(search.is_match(&URL_SAFE_NO_PAD.encode(&data)), "{before}");
        }
        assert!(search.is_match("p%25ss%2Fw0rd") && !search.is_match("password"));
        assert!(traces(b"ab-cd-ef").is_none());
    }
}
