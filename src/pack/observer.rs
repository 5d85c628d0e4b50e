//! Checks one connection against the rules of a pack.

use super::plan::{Check, Plan, Sign};
use super::state::{At, State};
use crate::proposals::{Declared, Findings, Observed, Observer};
use serde_json::Value;

/// Follows one connection.
pub(super) struct PackObserver {
    plan: &'static Plan,
    /// What the check of each rule remembers.
    states: Vec<State>,
    /// The dialect of the session, by its place in the plan.
    dialect: Option<usize>,
    last_time: i64,
}

impl PackObserver {
    pub(super) fn new(plan: &'static Plan) -> Self {
        let states = plan.checks.iter().map(|check| State::new(&check.kind)).collect();
        Self { plan, states, dialect: None, last_time: 0 }
    }

    /// Returns whether a rule is about the session.
    fn applies(&self, check: &Check) -> bool {
        check.dialects.is_empty() || self.dialect.is_some_and(|dialect| check.dialects.contains(&dialect))
    }

    /// Returns the dialects that only this message has.
    fn dialects_of(&self, message: &Observed<'_>) -> Vec<usize> {
        let signs = self.plan.dialects.iter().enumerate();
        let has = |sign: &Sign| is_sign(sign, self.plan, message);
        signs.filter(|(_, dialect)| dialect.signs.iter().any(has)).map(|(at, _)| at).collect()
    }
}

impl Observer for PackObserver {
    fn observe(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        self.last_time = message.time;
        let shown = self.dialects_of(message);
        self.dialect = self.dialect.or(shown.first().copied());
        let name = |at: usize| self.plan.dialects.get(at).map_or("", |dialect| &dialect.name);
        let odd = self.dialect.filter(|own| !shown.is_empty() && !shown.contains(own));
        let mixed = odd.map(|own| (name(own), name(shown[0])));
        let states = std::mem::take(&mut self.states);
        self.states = states
            .into_iter()
            .zip(&self.plan.checks)
            .zip(self.plan.rules)
            .map(|((mut state, check), rule)| {
                if self.applies(check) {
                    let at = At { plan: self.plan, rule, message, is_sign: !shown.is_empty(), mixed };
                    state.take(&check.kind, &at, findings);
                }
                state
            })
            .collect();
    }

    fn lose_track(&mut self) {
        self.states.iter_mut().for_each(State::lose_track);
    }

    fn finish(&mut self, _declared: &Declared, _time: i64, findings: &mut Findings) {
        for ((state, check), rule) in self.states.iter_mut().zip(&self.plan.checks).zip(self.plan.rules) {
            state.finish(&check.kind, rule, self.last_time, findings);
        }
    }

    fn dialect(&self) -> Option<&'static str> {
        self.plan.dialects.get(self.dialect?).map(|dialect| dialect.name.as_str())
    }
}

fn is_sign(sign: &Sign, plan: &Plan, message: &Observed<'_>) -> bool {
    if !sign.messages.have(message) {
        return false;
    }
    let capabilities = message.content.get("capabilities").unwrap_or(&Value::Null);
    let declares = |at: &usize| plan.descriptor.places.get(*at).is_some_and(|it| it.value(capabilities).is_some());
    let fits = |definition: &String| {
        plan.descriptor.schemas.check(definition, message.whole).is_some_and(|violations| violations.is_empty())
    };
    sign.declares.iter().all(declares) && !sign.lacks.iter().any(declares) && sign.definition.as_ref().is_none_or(fits)
}
