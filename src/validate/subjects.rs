//! The subjects of MCP: one file for each, with its rules, their checks and their test sessions.

pub(super) mod capabilities;
pub(super) mod content;
pub(super) mod elicitation;
pub(super) mod input_required;
pub(super) mod logging;
pub(super) mod pagination;
pub(super) mod progress;
pub(super) mod sampling;
pub(super) mod stateless;
pub(super) mod subscriptions;
pub(super) mod tasks;
pub(super) mod tools;

/// Sessions that break a rule, by the rule.
#[cfg(test)]
pub(super) const CASES: &[&[(&str, &str)]] = &[
    capabilities::cases::CASES,
    content::cases::CASES,
    elicitation::cases::CASES,
    input_required::cases::CASES,
    logging::cases::CASES,
    pagination::cases::CASES,
    progress::cases::CASES,
    sampling::cases::CASES,
    stateless::cases::CASES,
    subscriptions::cases::CASES,
    tasks::cases::CASES,
    tools::cases::CASES,
];
/// Sessions that break no rule.
#[cfg(test)]
pub(super) const QUIET: &[&[&str]] = &[
    capabilities::cases::QUIET,
    content::cases::QUIET,
    elicitation::cases::QUIET,
    input_required::cases::QUIET,
    logging::cases::QUIET,
    pagination::cases::QUIET,
    progress::cases::QUIET,
    sampling::cases::QUIET,
    stateless::cases::QUIET,
    subscriptions::cases::QUIET,
    tasks::cases::QUIET,
    tools::cases::QUIET,
];
