//! Which stream of one recording corresponds to which stream of the other.

use super::{HashMap, HashSet, Reel};
use std::collections::BTreeMap;

/// Returns the streams of a recording, in the order in which they began.
pub(super) fn streams_of(reel: &Reel<'_>) -> Vec<u32> {
    let mut known = HashSet::default();
    reel.units.iter().map(|unit| unit.stream).filter(|stream| known.insert(*stream)).collect()
}

/// Returns, for streams on the right, the stream on the left that shares the most distinctive units; else the one that
/// began at the same position.
pub(super) fn partner_streams(left: &Reel<'_>, right: &Reel<'_>) -> HashMap<u32, u32> {
    let (on_left, on_right) = (streams_of(left), streams_of(right));
    if on_left.len() == 1 && on_right.len() == 1 {
        return HashMap::from_iter([(on_right[0], on_left[0])]);
    }
    let once = |reel: &Reel<'_>| {
        let mut found: HashMap<u64, Option<u32>> = HashMap::default();
        for place in 0..reel.units.len() {
            let stream = Some(reel.units[place].stream);
            found.entry(reel.token(place)).and_modify(|known| *known = None).or_insert(stream);
        }
        found
    };
    let known = once(left);
    let mut votes: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for (token, stream) in once(right) {
        if let (Some(other), Some(Some(stream_on_left))) = (stream, known.get(&token)) {
            *votes.entry((other, *stream_on_left)).or_default() += 1;
        }
    }
    let rank = |streams: &[u32], stream: u32| streams.iter().position(|known| *known == stream);
    let mut votes: Vec<_> = votes.into_iter().collect();
    votes.sort_by_key(|((other, one), count)| {
        (std::cmp::Reverse(*count), rank(&on_left, *one).max(rank(&on_right, *other)), rank(&on_left, *one))
    });
    let mut partner: HashMap<u32, u32> = HashMap::default();
    let mut taken: HashSet<u32> = HashSet::default();
    for ((other, one), _) in votes {
        if !partner.contains_key(&other) && taken.insert(one) {
            partner.insert(other, one);
        }
    }
    let free_left: Vec<_> = on_left.into_iter().filter(|stream| !taken.contains(stream)).collect();
    let free_right = on_right.into_iter().filter(|stream| !partner.contains_key(stream)).collect::<Vec<_>>();
    partner.extend(free_right.into_iter().zip(free_left));
    partner
}
