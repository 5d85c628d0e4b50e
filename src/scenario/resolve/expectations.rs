//! Resolves expectations.

use super::{Resolver, Result, in_words, unknown, way};
use crate::proposals::REGISTRY;
use crate::scenario::expect::{Bound, Expectation, Want, WantHostEvent, WantMessage, WantPrompt, WantResult};
use crate::scenario::format::{
    ExpectPart, HostEventPart, KindPart, MessagePart, Placed, PromptPart, ResultPart, TextPosition,
};
use crate::session::filter::Filter;
use crate::wire::MessageKind;

impl Resolver<'_> {
    /// Resolves expectations and returns their indices.
    ///
    /// # Errors
    ///
    /// An expectation is invalid.
    pub(super) fn expectations(&mut self, parts: Vec<Placed<ExpectPart>>) -> Result<Vec<usize>> {
        parts.into_iter().map(|part| self.expectation(part)).collect()
    }

    /// Resolves the ids in `after`.
    ///
    /// # Errors
    ///
    /// There is no expectation with such an id.
    pub(super) fn settle_waiting(&mut self) -> Result<()> {
        for (waits, id) in std::mem::take(&mut self.waiting) {
            let found = self.expectations.iter().position(|one| one.id.as_deref() == Some(id.value.as_str()));
            let Some(found) = found else {
                let known = self.expectations.iter().filter_map(|one| one.id.as_deref());
                return self.wrong(id.place, unknown("expectation", &id.value, known));
            };
            let expectation = &self.expectations[found];
            if found == waits {
                return self.wrong(id.place, "an expectation cannot come after itself");
            }
            if expectation.bound == Bound::Never || matches!(expectation.want, Want::Validates(_)) {
                return self.wrong(id.place, format!("{:?} is never met, so nothing can come after it", id.value));
            }
            self.expectations[waits].after = Some(found);
        }
        Ok(())
    }

    fn expectation(&mut self, placed: Placed<ExpectPart>) -> Result<usize> {
        let Placed { value: part, place } = placed;
        let bound = self.bound(&part, place)?;
        let is_timed = part.within.is_some() || part.after.is_some() || bound != Bound::AtLeast(1);
        if part.validates.is_some() && is_timed {
            return self
                .wrong(place, "validates is decided once, at the end, and cannot be combined with anything else");
        }
        let mut wants = Vec::new();
        wants.extend(part.message.map(|part| self.message(part)).transpose()?);
        wants.extend(part.prompt.map(|part| self.prompt(part, place)).transpose()?);
        wants.extend(part.fact.map(|part| self.report(part)).transpose()?);
        wants.extend(part.result.map(|part| self.result(part, place)).transpose()?);
        wants.extend(part.validates.map(|is_clean| {
            (Want::Validates(is_clean), if is_clean { "no rule is broken" } else { "a rule is broken" }.to_owned())
        }));
        let Some((want, mut what)) = wants.pop().filter(|_| wants.is_empty()) else {
            return self
                .wrong(place, "an expectation needs exactly one of message, prompt, fact, result and validates");
        };
        let within = part.within.map(|span| span.0);
        what += &match bound {
            Bound::AtLeast(1) => String::new(),
            Bound::AtLeast(count) => format!("; at least {count} times"),
            Bound::Exactly(1) => "; exactly once".to_owned(),
            Bound::Exactly(count) => format!("; exactly {count} times"),
            Bound::Never => "; never".to_owned(),
        };
        what += &within.map_or_else(String::new, |within| format!("; within {within:?}"));
        if let Some(id) = &part.after {
            what += &format!("; after {}", id.value);
            self.waiting.push((self.expectations.len(), id.clone()));
        }
        if let Some(id) = &part.id
            && self.expectations.iter().any(|one| one.id.as_ref() == Some(&id.value))
        {
            return self.wrong(id.place, format!("another expectation already has the id {:?}", id.value));
        }
        let id = part.id.map(|id| id.value);
        self.expectations.push(Expectation { place, id, what, want, bound, within, after: None });
        Ok(self.expectations.len() - 1)
    }

    fn bound(&self, part: &ExpectPart, place: TextPosition) -> Result<Bound> {
        match (part.times, part.at_least, part.never) {
            (None, None, false) => Ok(Bound::AtLeast(1)),
            (Some(0), None, false) | (None, None, true) => Ok(Bound::Never),
            (Some(times), None, false) => Ok(Bound::Exactly(times)),
            (None, Some(0), false) => self.wrong(place, "at_least: 0 is always met"),
            (None, Some(count), false) => Ok(Bound::AtLeast(count)),
            _ => self.wrong(place, "expected only one of times, at_least and never"),
        }
    }

    fn message(&self, part: MessagePart) -> Result<(Want, String)> {
        for (pointer, _) in &part.pointer.0 {
            self.pointer(&pointer.value, pointer.place)?;
        }
        let filter = match &part.filter {
            Some(text) => Some(Filter::parse(&text.value).map_err(|error| self.error(text.place, error.to_string()))?),
            None => None,
        };
        let direction = part.direction.map(way);
        let pointers = part.pointer.0.iter().map(|(pointer, value)| format!("{} {value}", pointer.value));
        let pointers: Vec<String> = pointers.collect();
        let what = in_words(&[
            ("", direction.map(|direction| direction.short().to_owned())),
            ("method", part.method.as_ref().map(|method| method.value.clone())),
            ("server", part.server.as_ref().map(|server| server.value.clone())),
            ("kind", part.kind.map(|part| kind(part).name().to_owned())),
            ("filter", part.filter.as_ref().map(|filter| filter.value.clone())),
            ("at", Some(pointers.join(", at ")).filter(|pointers| !pointers.is_empty())),
            ("content", part.content.as_ref().map(ToString::to_string)),
        ]);
        let want = WantMessage {
            server: self.known_server(&part.server)?,
            direction,
            method: part.method.as_ref().map(|method| self.glob(method)).transpose()?,
            kind: part.kind.map(kind),
            content: part.content,
            pointer: part.pointer.0.into_iter().map(|(pointer, value)| (pointer.value, value)).collect(),
            filter,
        };
        Ok((Want::Message(Box::new(want)), format!("message {}", what.trim_start())))
    }

    fn prompt(&self, part: PromptPart, place: TextPosition) -> Result<(Want, String)> {
        if let Some(slot) = &part.slot {
            let slots = || REGISTRY.iter().flat_map(|proposal| proposal.slots()).map(|slot| slot.name);
            if !slots().chain(["instructions"]).any(|known| known == slot.value) {
                return self.wrong(slot.place, unknown("slot", &slot.value, slots().chain(["instructions"])));
            }
        }
        if part.lacks.is_some() && part.contains.is_some() {
            return self.wrong(place, "contains and lacks need two separate expectations");
        }
        let what = in_words(&[
            ("of turn", part.turn.map(|turn| turn.to_string())),
            ("round", part.round.map(|round| round.to_string())),
            ("server", part.server.as_ref().map(|server| server.value.clone())),
            ("slot", part.slot.as_ref().map(|slot| slot.value.clone())),
            ("contains", part.contains.as_ref().map(|text| format!("{text:?}"))),
            ("lacks", part.lacks.as_ref().map(|text| format!("{text:?}"))),
        ]);
        let want = WantPrompt {
            turn: part.turn,
            round: part.round,
            server: self.server_name(part.server)?,
            slot: part.slot.map(|slot| slot.value),
            contains: part.contains,
            lacks: part.lacks,
        };
        Ok((Want::Prompt(want), format!("prompt {what}")))
    }

    fn report(&self, part: HostEventPart) -> Result<(Want, String)> {
        if let Some(proposal) = part.proposal.as_ref().filter(|proposal| proposal.value != "host") {
            self.proposal(proposal)?;
        }
        let what = in_words(&[
            ("", part.what.as_ref().map(|what| format!("{what:?}"))),
            ("of", part.proposal.as_ref().map(|proposal| proposal.value.clone())),
            ("server", part.server.as_ref().map(|server| server.value.clone())),
            ("contains", part.contains.as_ref().map(|text| format!("{text:?}"))),
            ("data", part.data.as_ref().map(ToString::to_string)),
        ]);
        let want = WantHostEvent {
            proposal: part.proposal.as_ref().map(|proposal| proposal.value.clone()),
            what: part.what,
            server: self.known_server(&part.server)?,
            contains: part.contains,
            data: part.data,
        };
        Ok((Want::HostEvent(want), format!("fact {}", what.trim_start())))
    }

    fn result(&self, part: ResultPart, place: TextPosition) -> Result<(Want, String)> {
        self.pointer(&part.pointer, place)?;
        let what = in_words(&[
            ("at", Some(part.pointer.clone()).filter(|pointer| !pointer.is_empty())),
            ("equals", part.equals.as_ref().map(ToString::to_string)),
            ("contains", part.contains.as_ref().map(|text| format!("{text:?}"))),
            ("lacks", part.lacks.as_ref().map(|text| format!("{text:?}"))),
        ]);
        let ResultPart { pointer, equals, contains, lacks } = part;
        Ok((Want::Result(WantResult { pointer, equals, contains, lacks }), format!("result {what}")))
    }

    fn pointer(&self, pointer: &str, place: TextPosition) -> Result<()> {
        if pointer.is_empty() || pointer.starts_with('/') {
            return Ok(());
        }
        self.wrong(place, format!("invalid JSON Pointer {pointer:?}: it must begin with a slash"))
    }
}

fn kind(part: KindPart) -> MessageKind {
    match part {
        KindPart::Request => MessageKind::Request,
        KindPart::Notification => MessageKind::Notification,
        KindPart::Result => MessageKind::Result,
        KindPart::Error => MessageKind::Error,
    }
}
