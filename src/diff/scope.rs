//! Narrows a report to a part of the session.

use super::recording::{Recording, Unit, UnitKind};
use super::report::{Report, Status, UnitDiff, UnitSide};
use crate::wire::Direction;
use std::collections::HashSet;

/// A part of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// What the server sent: its results, requests, notifications and standard error.
    Server,
    /// What the client sent: its requests, notifications and results.
    Client,
    /// The handshake: revision, capabilities, names and versions.
    Capabilities,
    /// The lists and calls of tools.
    Tools,
}

impl Scope {
    /// Returns whether a message of this kind, method and direction belongs to it, at least partly.
    fn contains(self, kind: UnitKind, method: Option<&str>, direction: Direction) -> bool {
        let method = method.unwrap_or_default();
        match self {
            Self::Server => direction == Direction::ServerToClient || kind == UnitKind::Request,
            Self::Client => {
                kind != UnitKind::Stderr && (direction == Direction::ClientToServer || kind == UnitKind::Request)
            }
            Self::Capabilities => {
                matches!(method, "initialize" | "server/discover" | "notifications/initialized")
            }
            Self::Tools => method.starts_with("tools/") || method == "notifications/tools/list_changed",
        }
    }

    /// Returns whether a part of a message belongs to it.
    fn contains_side(self, side: UnitSide, kind: UnitKind, direction: Direction) -> bool {
        let is_answer = kind != UnitKind::Orphan && side.is_of_answer();
        let sender = if is_answer { direction.reversed() } else { direction };
        match self {
            Self::Server => sender == Direction::ServerToClient,
            Self::Client => sender == Direction::ClientToServer,
            Self::Capabilities | Self::Tools => true,
        }
    }
}

/// A report of a part of the sessions.
#[derive(Debug, Default)]
pub(crate) struct Narrowed {
    /// The report.
    pub report: Report,
    /// The numbers of the left units that were not compared.
    pub left_out: HashSet<u64>,
}

/// Returns the report of the parts that belong to any of the scopes; all of it if there are none.
pub(crate) fn narrowed(mut report: Report, scopes: &[Scope], left: &Recording) -> Narrowed {
    if scopes.is_empty() {
        return Narrowed { report, left_out: HashSet::new() };
    }
    let is_within =
        |kind, method: Option<&str>, direction| scopes.iter().any(|it| it.contains(kind, method, direction));
    let units: Vec<UnitDiff> = std::mem::take(&mut report.units);
    let units: Vec<UnitDiff> =
        units.into_iter().filter(|unit| is_within(unit.kind, unit.method.as_deref(), unit.direction)).collect();
    let is_outside = |unit: &&Unit| !is_within(unit.kind, unit.method.as_deref(), unit.direction);
    let mut left_out: HashSet<u64> = left.units.iter().filter(is_outside).map(|unit| unit.seq).collect();
    let all = left.units.len() - left_out.len();
    let only_left = |units: &[UnitDiff]| -> Vec<u64> {
        let only = units.iter().filter(|unit| unit.status == Status::OnlyLeft);
        only.filter_map(|unit| unit.left.as_ref()).map(|unit| unit.seq).collect()
    };
    let missing = only_left(&units);
    report.units = units.into_iter().filter_map(|unit| narrowed_unit(unit, scopes)).collect();
    left_out.extend(&missing);
    let compared: HashSet<u64> = only_left(&report.units).into_iter().collect();
    left_out.retain(|seq| !compared.contains(seq));
    let count = |status: Status| report.units.iter().filter(|unit| unit.status == status).count();
    let [only_left, only_right, changed, moved] =
        [Status::OnlyLeft, Status::OnlyRight, Status::Changed, Status::Moved].map(count);
    let same = all.saturating_sub(missing.len() + changed + moved);
    Narrowed { report: Report { only_left, only_right, changed, same, moved, ..report }, left_out }
}

fn narrowed_unit(mut unit: UnitDiff, scopes: &[Scope]) -> Option<UnitDiff> {
    let (kind, direction) = (unit.kind, unit.direction);
    let scopes: Vec<&Scope> =
        scopes.iter().filter(|scope| scope.contains(kind, unit.method.as_deref(), direction)).collect();
    let belongs = |side| scopes.iter().any(|scope| scope.contains_side(side, kind, direction));
    // Whether there is a message at all, and where, is up to its sender.
    let is_senders = belongs(UnitSide::Envelope);
    unit.changes.retain(|change| belongs(change.side));
    match unit.status {
        Status::Changed => !unit.changes.is_empty(),
        Status::OnlyLeft | Status::OnlyRight | Status::Moved => is_senders,
    }
    .then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::{Options, compare, testing::recorded};

    const LEFT: &[&str] = &[
        r#"> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"a":1}}"#,
        r#"< {"jsonrpc":"2.0","id":1,"result":{"b":1}}"#,
        r#"> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{"x":"one"}}}"#,
        r#"< {"jsonrpc":"2.0","id":2,"result":{"content":["same"]}}"#,
        r#"> {"jsonrpc":"2.0","id":3,"method":"ping"}"#,
        r#"< {"jsonrpc":"2.0","id":3,"result":{}}"#,
    ];

    const RIGHT: &[&str] = &[
        r#"> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"a":1}}"#,
        r#"< {"jsonrpc":"2.0","id":1,"result":{"b":2}}"#,
        r#"> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{"x":"two"}}}"#,
        r#"< {"jsonrpc":"2.0","id":2,"result":{"content":["same"]}}"#,
        r#"< {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
    ];

    fn counts(scopes: &[Scope]) -> [usize; 4] {
        let options = Options::default();
        let (left, right) = (recorded(LEFT, &options), recorded(RIGHT, &options));
        let report = compare(&left, &right, &options).expect("all texts");
        let Narrowed { report, left_out } = narrowed(report, scopes, &left);
        let rows = crate::diff::summary(&report, &left, &left_out);
        let sum = |count: fn(&crate::diff::SummaryRow) -> usize| rows.iter().map(count).sum::<usize>();
        assert_eq!((sum(|row| row.same), sum(|row| row.only_left)), (report.same, report.only_left), "{scopes:?}");
        assert_eq!(report.units.len(), report.changed + report.only_left + report.only_right);
        [report.changed, report.only_left, report.only_right, report.same]
    }

    #[test]
    fn a_scope_keeps_what_belongs_to_it() {
        assert_eq!(counts(&[]), [2, 1, 1, 0]);
        assert_eq!(counts(&[Scope::Server]), [1, 0, 1, 1], "initialize changed; the call is the same");
        assert_eq!(counts(&[Scope::Client]), [1, 1, 0, 1], "the call changed, and ping is missing");
        assert_eq!(counts(&[Scope::Capabilities]), [1, 0, 0, 0]);
        assert_eq!(counts(&[Scope::Tools]), [1, 0, 1, 0]);
        assert_eq!(counts(&[Scope::Server, Scope::Client]), [2, 1, 1, 0]);
    }
}
