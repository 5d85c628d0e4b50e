//! Rules that this proposal lays on a session, and the observer that checks them.

use crate::extension::{Finding, Observed, Observer, Rule};

/// The rules.
pub const RULES: &[Rule] = &[];

/// Checks one connection.
#[derive(Debug, Default)]
pub struct McpeObserver {}

impl Observer for McpeObserver {
    fn observe(&mut self, _message: &Observed<'_>, _findings: &mut Vec<Finding>) {}
}
