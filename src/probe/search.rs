//! Finds the declarations that break a client only together: a smallest group of them, by halving.

use super::report::ClientEnd;

/// A search in progress. All declarations together break the client; none of them alone does.
#[derive(Debug)]
pub(super) struct Search {
    /// The places that are certainly part of the group.
    group: Vec<usize>,
    /// The other places in question.
    others: Vec<usize>,
    /// The group with the first of the others up to here does not break the client; `None` if that is unknown even for
    /// the group alone.
    sound: Option<usize>,
    /// The group with the first of the others up to here breaks the client.
    broken: usize,
    /// How the client ended.
    pub end: ClientEnd,
}

impl Search {
    /// A search among these places, which together end the client like this.
    pub(super) fn new(places: Vec<usize>, end: ClientEnd) -> Self {
        Self { group: Vec::new(), broken: places.len(), others: places, sound: Some(0), end }
    }

    /// The places to declare next; `None` if the group is complete.
    pub(super) fn next(&mut self) -> Option<Vec<usize>> {
        loop {
            let count = match self.sound {
                None => 0,
                Some(_) if self.broken == 0 => return None,
                Some(sound) if self.broken - sound > 1 => sound.midpoint(self.broken),
                Some(sound) => {
                    // The client breaks with this place, but not without it.
                    self.group.extend(self.others.get(sound));
                    self.others.truncate(sound);
                    (self.sound, self.broken) = (None, sound);
                    continue;
                }
            };
            return Some(self.group.iter().chain(&self.others[..count]).copied().collect());
        }
    }

    /// Takes the result of the last places: how they ended the client, if they did.
    pub(super) fn take(&mut self, declared: usize, end: Option<ClientEnd>) {
        let count = declared.saturating_sub(self.group.len());
        match end {
            Some(end) => {
                (self.broken, self.end) = (count, end);
                self.sound = if count == 0 { Some(0) } else { self.sound };
            }
            None => self.sound = Some(count),
        }
    }

    /// The group.
    pub(super) fn group(&self) -> &[usize] {
        &self.group
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The group that is found if the client breaks with all of `culprits`, and how many runs that took.
    fn found(places: usize, culprits: &[usize]) -> (BTreeSet<usize>, usize) {
        let mut search = Search::new((0..places).collect(), ClientEnd::default());
        let mut runs = 0;
        while let Some(declared) = search.next() {
            runs += 1;
            let breaks = culprits.iter().all(|culprit| declared.contains(culprit));
            search.take(declared.len(), breaks.then(ClientEnd::default));
        }
        (search.group().iter().copied().collect(), runs)
    }

    #[test]
    fn the_smallest_group_is_found_in_few_runs() {
        for places in 2..=10 {
            for one in 0..places {
                for other in 0..places {
                    let (group, runs) = found(places, &[one, other]);
                    assert_eq!(group, BTreeSet::from([one, other]), "of {places}");
                    assert!(runs <= 11, "{runs} runs for {places}");
                }
            }
        }
        assert_eq!(found(10, &[1, 5, 9]).0, BTreeSet::from([1, 5, 9]));
        assert_eq!(found(3, &[0, 1, 2]).0, BTreeSet::from([0, 1, 2]));
    }

    #[test]
    fn a_client_that_breaks_at_random_does_not_make_it_endless() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..200 {
            let mut search = Search::new((0..10).collect(), ClientEnd::default());
            let mut runs = 0;
            while let Some(declared) = search.next() {
                runs += 1;
                search.take(declared.len(), random.bool().then(ClientEnd::default));
                assert!(runs < 100);
            }
            assert!(!search.group().is_empty());
        }
    }
}
