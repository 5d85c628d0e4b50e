//! Error codes with all their meanings. The same number means different things in different places.

use crate::proposals::Registry;
use crate::protocol::errors;

/// One meaning of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodeMeaning {
    /// The code.
    pub code: i64,
    /// Its name.
    pub name: &'static str,
    /// What happened, as a sentence; empty if the name says it.
    pub about: &'static str,
    /// Who gives it this meaning.
    pub source: &'static str,
    /// The proposal whose methods it answers.
    pub proposal: Option<&'static str>,
}

/// Returns every meaning of every code.
pub(super) fn all(registry: &Registry) -> Vec<CodeMeaning> {
    let known = errors::MEANINGS.iter().map(|one| CodeMeaning {
        code: one.code,
        name: one.name,
        about: one.about,
        source: one.source,
        proposal: None,
    });
    let proposed = registry.iter().flat_map(|proposal| {
        let descriptor = proposal.descriptor();
        let (source, proposal) = (descriptor.source, Some(descriptor.name));
        let errors = descriptor.errors.iter();
        errors.map(move |(code, name)| CodeMeaning { code: *code, name, about: "", source, proposal })
    });
    let mut all: Vec<CodeMeaning> = known.chain(proposed).collect();
    all.sort_by_key(|one| -one.code);
    all
}

impl CodeMeaning {
    /// Returns the meaning as a sentence.
    pub(super) fn text(&self) -> String {
        let separator = if self.about.is_empty() { "" } else { ": " };
        let end = if self.about.is_empty() { "." } else { "" };
        let mut letters = self.name.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
        format!("{first}{}{separator}{}{end}", letters.as_str(), self.about)
    }

    /// Returns the rules that mention the code: those of its proposal, or of none.
    pub(super) fn rules(&self, registry: &'static Registry) -> Vec<String> {
        let family = |rule: &str| rule.split('/').next().and_then(|name| registry.by_name(name));
        let owner = |rule: &str| family(rule).map(|proposal| proposal.descriptor().name);
        let mut rules = super::rules_about(&self.code.to_string(), registry);
        rules.retain(|rule| owner(rule) == self.proposal);
        rules
    }

    /// Returns the facts about this meaning.
    pub(super) fn facts(&self, registry: &Registry) -> Vec<(&'static str, String)> {
        let place = match self.proposal {
            Some(name) => format!("in responses to methods of {name}"),
            None => "in responses to any method".to_owned(),
        };
        let others = all(registry).iter().filter(|one| one.code == self.code && *one != self).count();
        let mut facts = vec![("used", place)];
        if others > 0 {
            let others = crate::wire::text::counted(others as u64, "other meaning");
            facts.push(("conflict", format!("the code has {others}; the method that was answered decides")));
        }
        facts
    }
}
