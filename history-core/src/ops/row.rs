//! One op as a row of plain numbers, with its values on a tape, and the record from which such a row is built.

mod parse;

use crate::{OpKind, Pair, Position};
pub(crate) use parse::OP;

/// An op whose values are on a tape, before it becomes a [`Row`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) index: Option<u64>,
    pub(crate) time: Option<i64>,
    pub(crate) process: ProcessRecord,
    pub(crate) kind: OpKind,
    pub(crate) pair: Pair,
    /// The node of `f`, if that is a name.
    pub(crate) f: Option<u32>,
    pub(crate) value: Option<u32>,
    /// The further fields, if there are any.
    pub(crate) extra: Option<Extra>,
    /// The position in the text; absent for ops that were built, not read.
    pub(crate) position: Option<Position>,
}

/// The entries of an op's map from the first to the last one that has no field in [`Record`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extra {
    /// The node of the first entry's key.
    pub(crate) node: u32,
    /// The number of entries. Entries for which the record has a field may be among them.
    pub(crate) entries: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessRecord {
    Client(i64),
    /// The node of its name.
    Other(u32),
    Unknown,
}

/// One op; its values are on the tape.
///
/// Only numbers, with no invalid combination that is unsafe: a meaningless row is some other op, or one that panics
/// when its values are read, but nothing worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Row {
    /// Two bits each for the kind, the process and the pairing, then one for each optional part.
    flags: u32,
    slot: u32,
    f: u32,
    value: u32,
    extra_node: u32,
    extra_entries: u32,
    index: u64,
    time_ns: i64,
    /// A number, or the node of a name that is not a client's.
    process: i64,
    invoked: u64,
    invoked_time_ns: i64,
    offset: u64,
    line: u64,
    column: u64,
}

const PROCESS_SHIFT: u32 = 2;
const PAIR_SHIFT: u32 = 4;
const TWO_BITS: u32 = 3;
const HAS_INDEX: u32 = 1 << 6;
const HAS_TIME: u32 = 1 << 7;
const HAS_F: u32 = 1 << 8;
const HAS_VALUE: u32 = 1 << 9;
const HAS_EXTRA: u32 = 1 << 10;
const HAS_POSITION: u32 = 1 << 11;
const HAS_INVOKED_TIME: u32 = 1 << 12;

/// The kind as the lowest flags.
#[inline]
fn kind_bits(kind: OpKind) -> u32 {
    match kind {
        OpKind::Invoke => 0,
        OpKind::Ok => 1,
        OpKind::Fail => 2,
        OpKind::Info => 3,
    }
}

/// The process, as two flags and a number.
#[inline]
fn who(process: ProcessRecord) -> (u32, i64) {
    match process {
        ProcessRecord::Client(number) => (0, number),
        ProcessRecord::Other(node) => (1, i64::from(node)),
        ProcessRecord::Unknown => (2, 0),
    }
}

impl Row {
    #[inline]
    pub(crate) fn of(record: &Record) -> Row {
        let mut row = Row::at(Position { offset: 0, line: 0, column: 0 });
        row.flags = kind_bits(record.kind);
        row.set_process(record.process);
        record.index.into_iter().for_each(|index| row.set_index(index));
        record.time.into_iter().for_each(|time_ns| row.set_time_ns(time_ns));
        record.f.into_iter().for_each(|node| row.set_f(node));
        record.value.into_iter().for_each(|node| row.set_value(node));
        record.extra.into_iter().for_each(|extra| row.set_extra(extra));
        record.position.into_iter().for_each(|position| row.set_position(position));
        row.set_pair(record.pair);
        row
    }

    /// An op at a position, without further data.
    #[inline]
    pub(crate) fn at(position: Position) -> Row {
        Row {
            flags: 2 << PROCESS_SHIFT | HAS_POSITION,
            slot: 0,
            f: 0,
            value: 0,
            extra_node: 0,
            extra_entries: 0,
            index: 0,
            time_ns: 0,
            process: 0,
            invoked: 0,
            invoked_time_ns: 0,
            offset: position.offset,
            line: position.line,
            column: position.column,
        }
    }

    #[inline]
    fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    #[inline]
    pub(crate) fn index(&self) -> Option<u64> {
        self.has(HAS_INDEX).then_some(self.index)
    }

    #[inline]
    pub(crate) fn set_index(&mut self, index: u64) {
        self.flags |= HAS_INDEX;
        self.index = index;
    }

    #[inline]
    pub(crate) fn time_ns(&self) -> Option<i64> {
        self.has(HAS_TIME).then_some(self.time_ns)
    }

    #[inline]
    pub(crate) fn set_time_ns(&mut self, time_ns: i64) {
        self.flags |= HAS_TIME;
        self.time_ns = time_ns;
    }

    #[inline]
    pub(crate) fn set_process(&mut self, process: ProcessRecord) {
        let (who, number) = who(process);
        self.flags = self.flags & !(TWO_BITS << PROCESS_SHIFT) | who << PROCESS_SHIFT;
        self.process = number;
    }

    #[inline]
    pub(crate) fn set_kind(&mut self, kind: OpKind) {
        self.flags = self.flags & !TWO_BITS | kind_bits(kind);
    }

    #[inline]
    pub(crate) fn set_f(&mut self, node: u32) {
        self.flags |= HAS_F;
        self.f = node;
    }

    #[inline]
    pub(crate) fn set_value(&mut self, node: u32) {
        self.flags |= HAS_VALUE;
        self.value = node;
    }

    #[inline]
    pub(crate) fn set_extra(&mut self, extra: Extra) {
        self.flags |= HAS_EXTRA;
        (self.extra_node, self.extra_entries) = (extra.node, extra.entries);
    }

    #[inline]
    pub(crate) fn process(&self) -> ProcessRecord {
        match self.flags >> PROCESS_SHIFT & TWO_BITS {
            0 => ProcessRecord::Client(self.process),
            // An invalid number becomes a node that the tape rejects.
            1 => ProcessRecord::Other(u32::try_from(self.process).unwrap_or(u32::MAX)),
            _ => ProcessRecord::Unknown,
        }
    }

    /// Sets which client the process is, after the row was built.
    pub(crate) fn set_client(&mut self, number: i64) {
        self.set_process(ProcessRecord::Client(number));
    }

    /// Marks the process as one that is not a client, whose name is at this node.
    pub(crate) fn set_other(&mut self, node: u32) {
        self.set_process(ProcessRecord::Other(node));
    }

    #[inline]
    pub(crate) fn kind(&self) -> OpKind {
        match self.flags & TWO_BITS {
            0 => OpKind::Invoke,
            1 => OpKind::Ok,
            2 => OpKind::Fail,
            _ => OpKind::Info,
        }
    }

    #[inline]
    pub(crate) fn f(&self) -> Option<u32> {
        self.has(HAS_F).then_some(self.f)
    }

    #[inline]
    pub(crate) fn value(&self) -> Option<u32> {
        self.has(HAS_VALUE).then_some(self.value)
    }

    #[inline]
    pub(crate) fn extra(&self) -> Option<Extra> {
        self.has(HAS_EXTRA).then_some(Extra { node: self.extra_node, entries: self.extra_entries })
    }

    #[inline]
    pub(crate) fn position(&self) -> Option<Position> {
        self.has(HAS_POSITION).then_some(Position { offset: self.offset, line: self.line, column: self.column })
    }

    pub(crate) fn set_position(&mut self, position: Position) {
        self.flags |= HAS_POSITION;
        (self.offset, self.line, self.column) = (position.offset, position.line, position.column);
    }

    #[inline]
    pub(crate) fn pair(&self) -> Pair {
        match self.flags >> PAIR_SHIFT & TWO_BITS {
            1 => Pair::Invokes { slot: self.slot },
            2 => Pair::Completes {
                slot: self.slot,
                invoked: self.invoked,
                invoked_time_ns: self.has(HAS_INVOKED_TIME).then_some(self.invoked_time_ns),
            },
            _ => Pair::Alone,
        }
    }

    #[inline]
    pub(crate) fn set_pair(&mut self, pair: Pair) {
        self.flags &= !(TWO_BITS << PAIR_SHIFT | HAS_INVOKED_TIME);
        match pair {
            Pair::Alone => {}
            Pair::Invokes { slot } => {
                self.flags |= 1 << PAIR_SHIFT;
                self.slot = slot;
            }
            Pair::Completes { slot, invoked, invoked_time_ns } => {
                self.flags |= 2 << PAIR_SHIFT | if invoked_time_ns.is_some() { HAS_INVOKED_TIME } else { 0 };
                self.slot = slot;
                self.invoked = invoked;
                self.invoked_time_ns = invoked_time_ns.unwrap_or_default();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Batch, History};
    use std::mem::{align_of, offset_of, size_of};

    /// The layout with which plugins of interface 1 were built. If this test fails, they would misread every op.
    #[test]
    fn the_layout_of_rows_is_that_of_interface_1() {
        assert_eq!((size_of::<Row>(), align_of::<Row>()), (88, 8));
        let words = [offset_of!(Row, flags), offset_of!(Row, slot), offset_of!(Row, f), offset_of!(Row, value)];
        assert_eq!(words, [0, 4, 8, 12]);
        assert_eq!([offset_of!(Row, extra_node), offset_of!(Row, extra_entries)], [16, 20]);
        let longs = [offset_of!(Row, index), offset_of!(Row, time_ns), offset_of!(Row, process)];
        assert_eq!(longs, [24, 32, 40]);
        let longs = [offset_of!(Row, invoked), offset_of!(Row, invoked_time_ns), offset_of!(Row, offset)];
        assert_eq!(longs, [48, 56, 64]);
        assert_eq!([offset_of!(Row, line), offset_of!(Row, column)], [72, 80]);
    }

    #[test]
    fn the_flags_are_those_of_interface_1() {
        let text = "{:process 3, :type :invoke, :f :r, :value 1, :time 5, :k 2} {:process 3, :type :ok, :time 6}
                    {:process :nemesis, :type :info} {:type :fail}";
        let history = History::parse(text).unwrap();
        let mut batch = Batch::new();
        let flags = history.ops().map(|op| {
            batch.assign(&op);
            batch.columns().rows[0].flags
        });
        let kind_who_pair = |flags: u32| (flags & 3, flags >> 2 & 3, flags >> 4 & 3);
        let flags: Vec<u32> = flags.collect();
        let small: Vec<(u32, u32, u32)> = flags.iter().copied().map(kind_who_pair).collect();
        assert_eq!(small, [(0, 0, 1), (1, 0, 2), (3, 1, 0), (2, 2, 0)]);
        let absent: Vec<u32> = flags.iter().map(|flags| flags >> 6).collect();
        // From the lowest: index, time, f, value, extra, position, invoked_time.
        assert_eq!(absent, [0b011_1111, 0b110_1011, 0b010_1001, 0b010_1001]);
    }
}
