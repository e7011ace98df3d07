//! The requests of clients: transactions over a few live keys, each of which is retired after its share of appends.

use crate::ids::{index, wide};
use crate::key_distribution::Popularity;
use crate::lists::mops::{Action, Asked, Seen};
use crate::lists::{ListId, Lists};
use crate::rng::{Chance, Purpose, Rng};
use crate::transactions::parameters::Transactions;

/// A key that clients use.
struct LiveKey {
    list: ListId,
    /// The number of appends requested so far. Values count from 1.
    appends: u64,
    /// The number of appends after which the key is replaced by a new one.
    appends_max: u64,
}

/// Draws transactions.
pub(crate) struct Planner {
    rng: Rng,
    popularity: Popularity,
    live: Vec<LiveKey>,
    ops_per_txn: (u64, u64),
    writes_per_key: (u64, u64),
    reads: Chance,
    reuse: Chance,
    /// The positions of the transaction's keys among the live ones.
    places: Vec<usize>,
}

impl Planner {
    pub(crate) fn new<W>(parameters: &Transactions<W>, lists: &mut Lists) -> Planner {
        let mut planner = Planner {
            rng: Rng::new(parameters.seed, Purpose::Plan),
            popularity: Popularity::new(parameters.key_distribution, parameters.keys),
            live: Vec::new(),
            ops_per_txn: (parameters.ops_per_txn_min.into(), parameters.ops_per_txn_max.into()),
            writes_per_key: (parameters.writes_per_key_min.into(), parameters.writes_per_key_max.into()),
            reads: Chance::new(parameters.read_fraction),
            reuse: Chance::new(parameters.reuse_fraction),
            places: Vec::new(),
        };
        for _ in 0..parameters.keys {
            let key = planner.new_key(lists);
            planner.live.push(key);
        }
        planner
    }

    /// Draws a transaction into `asked`, which must be empty.
    pub(crate) fn plan(&mut self, lists: &mut Lists, asked: &mut Vec<Asked>) {
        assert!(asked.is_empty());
        self.places.clear();
        for _ in 0..self.rng.between(self.ops_per_txn.0, self.ops_per_txn.1) {
            let place = self.place();
            let action =
                if self.rng.happens(self.reads) { Action::Read(Seen::Prefix(0)) } else { self.append(place, lists) };
            let list = self.live[place].list;
            lists.hold(list);
            asked.push(Asked { list, action });
        }
    }

    /// The position of the next key among the live ones.
    fn place(&mut self) -> usize {
        let place = if !self.places.is_empty() && self.rng.happens(self.reuse) {
            self.places[index(self.rng.below(wide(self.places.len())))]
        } else {
            self.popularity.draw(&mut self.rng)
        };
        self.places.push(place);
        place
    }

    /// An append to the key at this position. If the key has had its share of appends, a new one replaces it.
    fn append(&mut self, place: usize, lists: &mut Lists) -> Action {
        if self.live[place].appends == self.live[place].appends_max {
            lists.retire(self.live[place].list);
            self.live[place] = self.new_key(lists);
        }
        self.live[place].appends += 1;
        Action::Append(self.live[place].appends.cast_signed())
    }

    fn new_key(&mut self, lists: &mut Lists) -> LiveKey {
        let appends_max = self.rng.between(self.writes_per_key.0, self.writes_per_key.1);
        LiveKey { list: lists.create(), appends: 0, appends_max }
    }
}
