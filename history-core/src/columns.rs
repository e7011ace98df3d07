//! A batch as flat columns of plain numbers and text: what a checker in another library is handed.
//!
//! Nothing is converted at the border: a [`Batch`] keeps its ops like this anyway, and the other side reads them
//! through a batch of its own that was made of the same columns ([`Batch::from_columns`]). So the layout of [`Node`]
//! and [`Row`] and the meaning of their numbers are frozen: interface 1 of plugins has these, and additional data needs
//! another column. The tests below hold them where they are.
//!
//! A row takes one or two cache lines. It is not split further, because every checker reads nearly all of it.
//!
//! This is for `histcheck-plugin`, and hidden from everybody else.

use crate::batch::{Batch, Extra, ProcessRecord, Record};
pub use crate::tape::Node;
use crate::tape::Tape;
use crate::{OpKind, Pair, Position};
use std::borrow::Cow;

/// The columns of a batch, as slices.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// The block of text as it was read.
    pub source: &'a str,
    /// Text that had escapes, without them.
    pub unescaped: &'a str,
    /// The tape of values.
    pub nodes: &'a [Node],
    /// Runs of small integers, apart from the tape.
    pub ints: &'a [i64],
    /// The ops.
    pub rows: &'a [Row],
    /// For each op the node of its client's name, where the history calls that by a name; ends with the last of these,
    /// and so is empty where clients have numbers.
    pub names: &'a [u32],
    /// The offset of `source` in the whole text.
    pub starts_at: u64,
}

/// One op; its values are on the tape.
///
/// Numbers only, any of which may be anything: a row that makes no sense is some other op, or one that panics when its
/// values are looked at, but never worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Row {
    /// Two bits each for the kind, who did it and how it is paired, then one for each thing that may be absent.
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

/// As it stands in the lowest flags.
#[inline]
fn kind_bits(kind: OpKind) -> u32 {
    match kind {
        OpKind::Invoke => 0,
        OpKind::Ok => 1,
        OpKind::Fail => 2,
        OpKind::Info => 3,
    }
}

/// Who did it, as two flags and a number.
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

    /// An op at a position, that says nothing more.
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
            // A node that is not a number of one is refused by the tape.
            1 => ProcessRecord::Other(u32::try_from(self.process).unwrap_or(u32::MAX)),
            _ => ProcessRecord::Unknown,
        }
    }

    /// Says which client did it, after all.
    pub(crate) fn set_client(&mut self, number: i64) {
        self.set_process(ProcessRecord::Client(number));
    }

    /// Says that who did it is not a client, and at which node its name is.
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

impl Batch {
    /// What it consists of.
    #[doc(hidden)]
    pub fn columns(&self) -> Columns<'_> {
        Columns {
            source: &self.tape.source,
            unescaped: &self.tape.unescaped,
            nodes: &self.tape.nodes,
            ints: &self.tape.ints,
            rows: &self.records,
            names: &self.names,
            starts_at: self.starts_at,
        }
    }

    /// A batch that reads these columns where they are. No batch hands out what it holds for longer than it is
    /// borrowed, so whoever sees to it that this one is gone before the columns are may say that they live forever.
    #[doc(hidden)]
    pub fn from_columns(columns: Columns<'static>) -> Batch {
        let tape = Tape {
            source: Cow::Borrowed(columns.source),
            unescaped: Cow::Borrowed(columns.unescaped),
            nodes: Cow::Borrowed(columns.nodes),
            ints: Cow::Borrowed(columns.ints),
            ..Tape::default()
        };
        Batch {
            tape,
            records: Cow::Borrowed(columns.rows),
            names: Cow::Borrowed(columns.names),
            starts_at: columns.starts_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{History, Op, Value};
    use std::mem::{align_of, offset_of, size_of};

    /// What plugins of interface 1 were built with. A failure here means that they would misread every op.
    #[test]
    fn the_layout_is_that_of_interface_1() {
        assert_eq!((size_of::<Node>(), align_of::<Node>()), (16, 8));
        assert_eq!([offset_of!(Node, tag), offset_of!(Node, a), offset_of!(Node, b)], [0, 4, 8]);
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
    fn the_numbers_of_tags_are_those_of_interface_1() {
        let text = "nil false true 7 1.5 \\c 1/2 \"s\" :k y #t 1 [:a] (:a) #{:a} {:a 1} [1] (1) #{1}";
        let history = History::parse(&format!("{{:type :ok, :value [{text}]}}")).unwrap();
        let Value::Vector(items) = history.op(0).value else { panic!() };
        let mut batch = Batch::new();
        let mut tags = Vec::new();
        for value in items {
            batch.assign(&Op { value, ..history.op(0) });
            tags.push(batch.columns().nodes[0].tag as u8);
        }
        assert_eq!(tags, (0..=17).collect::<Vec<u8>>());
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

    /// Both ways to hand over ops show what was read.
    #[test]
    fn ops_are_the_same_on_the_other_side() {
        let text = "{:process 0, :type :invoke, :f :txn, :value [[:append 7 1] [:r \"a\\nb\" nil] {:k #{1 :x}}], :time 5}
                    {:index 7, :process :nemesis, :type :info, :value #inst \"1985\", :node \"n\\t1\", :f \"\\u00e9\", :more [1 2]}
                    {:index 9, :process 0, :type :ok, :f :txn, :value ([] (1 2) \\c 1.5 12345678901234567890), :time 9}
                    {:index 10, :type :fail, :f 3, :error [:a {1 2}]} {:index 11, :process :w1, :type :invoke}
                    {:index 12, :process 3, :type :invoke} {:index 13, :process \"w\\u0031\", :type :ok}";
        let text = text.replace("{:process 0, :type :invoke", "{:index 0, :process 0, :type :invoke");
        let mut reader = crate::Reader::new(text.as_bytes());
        let mut batch = Batch::new();
        let mut seen = 0;
        while reader.read_batch(&mut batch).unwrap() {
            let (source, unescaped) = (batch.tape.source.to_string(), batch.tape.unescaped.to_string());
            let Columns { nodes, ints, rows, names, starts_at, .. } = batch.columns();
            let (nodes, ints, rows, names) = (nodes.to_vec(), ints.to_vec(), rows.to_vec(), names.to_vec());
            let other = Batch::from_columns(Columns {
                source: source.leak(),
                unescaped: unescaped.leak(),
                nodes: nodes.leak(),
                ints: ints.leak(),
                rows: rows.leak(),
                names: names.leak(),
                starts_at,
            });
            let mut one = Batch::new();
            for (op, lent) in batch.ops().zip(other.ops()) {
                one.assign(&op);
                let shown = |op: Op<'_>| format!("{op:?} {:?}", op.extra.iter().collect::<Vec<_>>());
                assert_eq!(shown(op), shown(lent));
                let copied = one.op(0);
                // The copy leaves out of the further fields what is none.
                assert_eq!(format!("{:?}", copied.value), format!("{:?}", op.value));
                let of = |op: Op<'_>| {
                    let extra: Vec<String> = op.extra.iter().map(|(key, value)| format!("{key} {value}")).collect();
                    let own = format!("{:?} {:?} {:?} {:?}", op.process, op.client_name, op.f, op.pair);
                    (op.index, op.time, op.kind, own, extra, op.position)
                };
                assert_eq!(of(copied), of(op));
                seen += 1;
            }
        }
        assert_eq!(seen, 7);
    }
}
