//! Finds notifications that moved across a result: they came before it on one side and after it on the other.

use super::recording::{Unit, UnitKind};
use crate::wire::Direction;
use std::collections::{HashMap, HashSet};

/// Returns which pairs are notifications that moved across the result of their request. That is the request that they
/// refer to, or else, for those of the server, the only one that was in progress when they were sent.
pub(super) fn crossed(left: &[Unit], right: &[Unit], pairs: &[(usize, usize)]) -> HashSet<usize> {
    let partners: HashMap<usize, usize> = pairs.iter().copied().collect();
    let (owners, others) = (owners(left), owners(right));
    let backward: HashMap<usize, usize> = pairs.iter().map(|(one, other)| (*other, *one)).collect();
    let notifications = pairs.iter().enumerate().filter(|(_, (one, _))| left[*one].kind == UnitKind::Notification);
    let is_crossed = |one: usize, other: usize| {
        let request = owners[one].or_else(|| backward.get(&others[other]?).copied());
        let Some(request) = request else { return false };
        let Some(partner) = partners.get(&request) else { return false };
        is_before_result(&left[one], &left[request]) != is_before_result(&right[other], &right[*partner])
    };
    notifications.filter(|(_, (one, other))| is_crossed(*one, *other)).map(|(at, _)| at).collect()
}

/// Returns for each unit the request that it belongs to.
fn owners(units: &[Unit]) -> Vec<Option<usize>> {
    let places: HashMap<u64, usize> = requests(units).map(|(place, unit)| (unit.seq, place)).collect();
    let mut open: HashMap<(u32, usize), u64> = HashMap::new();
    let mut found = Vec::with_capacity(units.len());
    for (place, unit) in units.iter().enumerate() {
        open.retain(|_, end| *end > unit.seq);
        let mut near = open.keys().filter(|(stream, _)| *stream == unit.stream).map(|(_, place)| *place);
        let only = near.next().filter(|_| near.next().is_none());
        let only = only.filter(|_| unit.direction == Direction::ServerToClient);
        found.push(unit.refers.and_then(|seq| places.get(&seq).copied()).or(only));
        if let Some(answer) = unit.answer.as_ref().filter(|_| unit.kind == UnitKind::Request) {
            open.insert((unit.stream, place), answer.seq);
        }
    }
    found
}

fn requests(units: &[Unit]) -> impl Iterator<Item = (usize, &Unit)> {
    units.iter().enumerate().filter(|(_, unit)| unit.kind == UnitKind::Request)
}

fn is_before_result(notification: &Unit, request: &Unit) -> bool {
    request.answer.as_ref().is_none_or(|answer| notification.seq < answer.seq)
}
