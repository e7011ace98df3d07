//! Verifies anomalies that do not depend on the order, as the checker isolation reports them: each by its definition,
//! for registers and lists.

use crate::log::{Mop, Txn};
use crate::{Claim, Uncertified, claim};
use history_core::{Datum, OpKind};

/// Verifies that the witness shows an anomaly with this name: its first op read what its facts state.
pub(super) fn certify(claims: &Claim<'_>, anomaly: &str) -> Result<(), Uncertified> {
    let reader = *claims.txns.first().ok_or_else(|| Uncertified::new("the witness has no op"))?;
    claim(reader.is_ok(), || format!("op {} is not ok, so what it read is unknown", reader.index))?;
    let key = claims.fact("key")?;
    let stated = claims.workload.mop(claims.fact("mop")?, OpKind::Ok)?;
    let Mop::Read { seen: Some(seen), .. } = &stated else { return Err(Uncertified::new("it states no read")) };
    let places = reader.mops.iter().enumerate().filter(|(_, mop)| **mop == stated && mop.is_of(key));
    let mut places = places.map(|(at, _)| at).peekable();
    claim(places.peek().is_some(), || format!("op {} did not read that", reader.index))?;
    let read = Read { claims, reader, key, seen };
    let holds = places.any(|at| read.shows(anomaly, at));
    claim(holds, || format!("what op {} read of key {key} is no {anomaly}", reader.index))
}

struct Read<'a> {
    claims: &'a Claim<'a>,
    reader: &'a Txn,
    key: &'a Datum,
    seen: &'a Datum,
}

impl Read<'_> {
    /// The values in the read: for a register, one.
    fn values(&self) -> &[Datum] {
        match self.seen {
            Datum::Vector(values) => values,
            Datum::Nil => &[],
            value => std::slice::from_ref(value),
        }
    }

    fn writers(&self, value: &Datum) -> impl Iterator<Item = &Txn> {
        self.claims.log.txns.iter().filter(move |txn| txn.wrote(self.key, value))
    }

    /// The values that these micro-ops wrote to the key.
    fn written<'m>(&self, mops: &'m [Mop]) -> Vec<&'m Datum> {
        let own = mops.iter().filter(|mop| mop.is_of(self.key));
        own.filter_map(|mop| if let Mop::Write { value, .. } = mop { Some(value) } else { None }).collect()
    }

    /// Returns true if the read at this position of its transaction shows the anomaly.
    fn shows(&self, anomaly: &str, at: usize) -> bool {
        let (before, values) = (self.written(&self.reader.mops[..at]), self.values());
        let later = || self.written(&self.reader.mops[at..]);
        let is_own = |value: &Datum| self.reader.wrote(self.key, value);
        match anomaly {
            "G1a" => values.iter().any(|value| {
                let mut writers = self.writers(value).peekable();
                writers.peek().is_some() && writers.all(|txn| txn.kind == OpKind::Fail)
            }),
            "G1b" => values.last().is_some_and(|last| {
                let overwrote = |txn: &Txn| self.written(&txn.mops).last().is_some_and(|kept| *kept != last);
                !is_own(last) && self.writers(last).any(overwrote)
            }),
            "thin-air-read" => values.iter().any(|value| self.writers(value).next().is_none()),
            "future-read" => values.iter().any(|value| later().contains(&value)),
            "internal" => !before.is_empty() && !self.ends_in(&before),
            "duplicate-elements" => (1..values.len()).any(|at| values[..at].contains(&values[at])),
            "incompatible-order" => {
                let reads = self.claims.log.txns.iter().filter(|txn| txn.is_ok()).flat_map(|txn| &txn.mops);
                let mut others = reads.filter_map(|mop| match mop {
                    Mop::Read { key, seen: Some(Datum::Vector(list)) } if key == self.key => Some(list),
                    _ => None,
                });
                others.any(|other| !other.starts_with(values) && !values.starts_with(other))
            }
            "G0" => self.claims.txns.get(1).is_some_and(|other| {
                let appended = self.written(&other.mops);
                let places: Vec<usize> = (0..values.len()).filter(|at| appended.contains(&&values[*at])).collect();
                let in_order = places.iter().map(|at| &values[*at]).eq(appended.iter().copied().take(places.len()));
                let together = places.windows(2).all(|pair| pair[0] + 1 == pair[1]);
                // All of them, unless they are at the end of the list.
                let is_whole = places.len() == appended.len() || places.last() == values.len().checked_sub(1).as_ref();
                !(places.is_empty() || in_order && together && is_whole)
            }),
            _ => false,
        }
    }

    fn ends_in(&self, own: &[&Datum]) -> bool {
        match self.seen {
            Datum::Vector(list) => {
                list.len().checked_sub(own.len()).is_some_and(|from| own.iter().copied().eq(&list[from..]))
            }
            value => own.last() == Some(&value),
        }
    }
}
