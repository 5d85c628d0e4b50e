//! The subjects of MCP: one file for each, with its rules, their checks and their test sessions.

pub(super) mod capabilities;
pub(super) mod tasks;

/// Sessions that break a rule, by the rule.
#[cfg(test)]
pub(super) const CASES: &[&[(&str, &str)]] = &[capabilities::cases::CASES, tasks::cases::CASES];
/// Sessions that break no rule.
#[cfg(test)]
pub(super) const QUIET: &[&[&str]] = &[capabilities::cases::QUIET, tasks::cases::QUIET];
