//! A batch as flat columns of plain numbers and text: the form in which a checker in another library receives it.
//!
//! Nothing is converted at the boundary: a [`Batch`] stores its ops in this form anyway, and the other side reads them
//! through its own batch of the same columns ([`Batch::from_columns`]). The layout of [`Node`] and [`Row`] and the
//! meaning of their numbers are therefore frozen: interface 1 of plugins has these, and additional data needs another
//! column. Tests verify that they do not change.
//!
//! A row takes one or two cache lines. It is not split further, because every checker reads nearly all of it.
//!
//! This is for `histcheck-plugin`, and hidden in the documentation.

use super::batch::Batch;
pub use super::row::Row;
pub use crate::values::tape::Node;
use crate::values::tape::Tape;
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
    /// Runs of small integers, separate from the tape.
    pub ints: &'a [i64],
    /// The ops.
    pub rows: &'a [Row],
    /// For each op the node of its client's name, if the history uses names; ends with the last name, and so is empty
    /// if clients have numbers.
    pub names: &'a [u32],
    /// The offset of `source` in the whole text.
    pub starts_at: u64,
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

    /// A batch that reads these columns in place. No batch returns its content for longer than it is borrowed, so a
    /// caller that drops this batch before the columns may declare them `'static`.
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

    /// The layout with which plugins of interface 1 were built. If this test fails, they would misread every op.
    #[test]
    fn the_layout_of_nodes_is_that_of_interface_1() {
        assert_eq!((size_of::<Node>(), align_of::<Node>()), (16, 8));
        assert_eq!([offset_of!(Node, tag), offset_of!(Node, a), offset_of!(Node, b)], [0, 4, 8]);
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

    /// Both ways to pass ops to another library give it the ops that were read.
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
                // The copy omits further fields whose value is nil.
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
