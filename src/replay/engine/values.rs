//! Puts the live server's values in place of the recorded ones.

use super::super::bindings::{Binding, Source};
use super::super::conversation::Entry;
use super::super::leaves::leaves;
use super::super::substitute::{place_in, quoted, splice};
use super::{Note, Output, ReplayEngine};
use crate::wire::Envelope;
use std::borrow::Cow;

impl ReplayEngine {
    /// Returns a message of the client with the live server's values in it.
    pub(super) fn bound(&mut self, seq: u64, body: &[u8], bindings: &[Binding], outputs: &mut Vec<Output>) -> Vec<u8> {
        if bindings.is_empty() {
            return body.to_vec();
        }
        let envelope = Envelope::scan(body);
        let Some(content) = envelope.params.or(envelope.result).or(envelope.error) else { return body.to_vec() };
        let offset = place_in(body, content).start;
        let mut changes: Vec<(std::ops::Range<usize>, String)> = Vec::new();
        let all = leaves(content);
        for leaf in &all {
            let mut text = leaf.value.clone().into_owned();
            for binding in bindings.iter().filter(|binding| binding.place == leaf.pointer) {
                let Some(live) = self.resolve(seq, binding, outputs) else { continue };
                self.sent.substitutions.add_generated(&binding.value, &live);
                text = if binding.is_part { text.replace(&binding.value, &live) } else { live };
            }
            if text != *leaf.value {
                let range = leaf.range.start + offset..leaf.range.end + offset;
                changes.push((range, if leaf.is_string { quoted(&text) } else { text }));
            }
        }
        if changes.is_empty() { body.to_vec() } else { splice(body, changes) }
    }

    /// Returns the live value of a binding: the one at the place where the recorded server returned it, unless the live
    /// server returned the recorded value itself.
    fn resolve(&mut self, seq: u64, binding: &Binding, outputs: &mut Vec<Output>) -> Option<String> {
        let contents: Vec<_> = binding
            .sources
            .iter()
            .filter_map(|source| Some((source, self.live.get(&source.entry)?.as_deref()?)))
            .collect();
        let has_it = |content: &[u8]| leaves(content).iter().any(|leaf| leaf.value.contains(&binding.value));
        if contents.iter().any(|(_, content)| has_it(content)) {
            return None;
        }
        let mut values: Vec<String> = Vec::new();
        let value_in = |(source, content): &(&Source, &[u8])| {
            let recorded = self.entry(source.entry).content().filter(|_| source.part.is_some());
            let amid = recorded.and_then(|recorded| source.value_amid(recorded, &binding.value, content));
            amid.or_else(|| source.value_in(content).map(Cow::into_owned))
        };
        for value in contents.iter().filter_map(value_in) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let (place, value) = (binding.place.clone(), binding.value.clone());
        match &values[..] {
            [] => {
                let from = binding.sources.first().map(|source| self.entry(source.entry).seq()).unwrap_or_default();
                self.note(Note::Unbound { seq, place, value, from }, outputs);
                None
            }
            [only] => Some(only.clone()),
            [latest, ..] => {
                let latest = latest.clone();
                self.note(Note::Ambiguous { seq, place, value, candidates: values }, outputs);
                Some(latest)
            }
        }
    }

    fn entry(&self, number: usize) -> &Entry {
        &self.plan.conversation.entries[number]
    }
}
