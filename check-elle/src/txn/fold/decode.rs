//! Decodes the micro-ops of an op.

use super::{TxnRun, Workload};
use crate::txn::columns::Undecoded;
use history_core::keyed_parts::place_of;
use history_core::{ErrorKind, HistoryError, MopParts, Op, Seq, Value};

/// The smallest prime above 2^63. Multiplication by it is invertible.
const PRIME: u64 = 0x8000_0000_0000_001d;

impl<W: Workload> TxnRun<W> {
    /// Decodes all micro-ops of an op that can be decoded, and returns why another cannot, if so.
    pub(super) fn read_mops(
        &mut self,
        op: &Op<'_>,
        mops: &mut Vec<W::Mop>,
    ) -> Result<Result<(), Undecoded>, HistoryError> {
        (self.writes_elsewhere, self.all_writes) = (false, 0);
        let items = match op.value {
            Value::Nil => return Ok(Ok(())),
            Value::Vector(items) | Value::List(items) => items,
            other => {
                if let Some(read) = self.workload.decode_whole(op, mops) {
                    return Ok(read.map_err(|reason| undecoded(reason, true, false)));
                }
                let reason = format!("the op's value is not a list of micro-ops, but {other}; expected {}", W::MOPS);
                return Ok(Err(undecoded(reason, true, true)));
            }
        };
        let read = if self.share.is_part() { self.read_share(op, items, mops) } else { self.read_all(op, items, mops) };
        if self.workload.ids().max(self.txns.all_mops().len()) >= W::IDS_MAX {
            return Err(HistoryError::new(ErrorKind::Limit, "more than 2^31 micro-ops or versions"));
        }
        Ok(read)
    }

    #[inline]
    fn read_all(&mut self, op: &Op<'_>, items: Seq<'_>, mops: &mut Vec<W::Mop>) -> Result<(), Undecoded> {
        let mut read = Ok(());
        for (at, parts) in items.mops().enumerate() {
            let mop = match parts {
                MopParts::Ints { name, key, value } => {
                    self.workload.decode(op.kind, name, Value::Int(key), value.map_or(Value::Nil, Value::Int))
                }
                MopParts::List { name, key, list } => {
                    self.workload.decode(op.kind, name, Value::Int(key), Value::Vector(list))
                }
                MopParts::Other(item) => self.read_mop(op, item),
            };
            match mop {
                Some(mop) => mops.push(mop),
                None => no_mop::<W>(items.iter().nth(at).unwrap_or(Value::Nil), &mut read),
            }
        }
        read
    }

    /// Decodes the micro-ops on keys of this share.
    fn read_share(&mut self, op: &Op<'_>, items: Seq<'_>, mops: &mut Vec<W::Mop>) -> Result<(), Undecoded> {
        let mut read = Ok(());
        for item in items {
            if self.is_elsewhere(item) {
                continue;
            }
            match self.read_mop(op, item) {
                Some(mop) => mops.push(mop),
                None => no_mop::<W>(item, &mut read),
            }
        }
        read
    }

    /// Returns true for a micro-op on a key of another share. An item that is not a micro-op matters to all shares.
    fn is_elsewhere(&mut self, item: Value<'_>) -> bool {
        let Some([f, key, value]) = item.as_seq().and_then(Seq::as_array) else { return false };
        let Some(writes) = f.as_name().and_then(|f| W::shape(f, value)) else { return false };
        let place = place_of(key);
        if writes {
            let before = self.all_writes.rotate_left(1) ^ place;
            self.all_writes = before.wrapping_mul(PRIME) ^ place_of(value);
        }
        let is_elsewhere = !self.share.has_place(place);
        self.writes_elsewhere |= writes && is_elsewhere;
        is_elsewhere
    }

    #[inline]
    fn read_mop(&mut self, op: &Op<'_>, item: Value<'_>) -> Option<W::Mop> {
        let mut parts = item.as_seq()?.iter();
        let (Some(f), Some(key)) = (parts.next(), parts.next()) else { return None };
        let f = f.as_name()?.as_bytes();
        let value = match parts.next() {
            None if W::may_lack_value(op.kind, f) => Value::Nil,
            value => value?,
        };
        if parts.next().is_some() {
            return None;
        }
        self.workload.decode(op.kind, f, key, value)
    }
}

/// Records that an item is not a micro-op of the workload. An item whose name is that of a read writes nothing.
#[cold]
fn no_mop<W: Workload>(item: Value<'_>, read: &mut Result<(), Undecoded>) {
    let name = item.as_seq().and_then(|parts| parts.iter().next()).and_then(Value::as_name);
    let may_write = !name.is_some_and(|name| W::READS.contains(&name));
    match read {
        Ok(()) => {
            let reason = format!("{item} is not a micro-op of {}; expected {}", W::NAME, W::MOPS);
            *read = Err(undecoded(reason, may_write, false));
        }
        Err(undecoded) => undecoded.may_write |= may_write,
    }
}

fn undecoded(reason: String, may_write: bool, is_whole: bool) -> Undecoded {
    Undecoded { reason, may_write, is_whole, line: None }
}
