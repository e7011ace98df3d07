//! A history that can be changed: its ops in order, and their text.

use history_core::{Datum, Format, History, HistoryBuilder, NewOp, OpKind, Process, Writer};

/// Steele, Lea and Flood's splitmix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    pub(crate) fn number(&mut self, end: u64) -> i64 {
        self.below(end).cast_signed()
    }

    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// The process of an op.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    Number(i64),
    Name(String),
}

/// An op.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) kind: OpKind,
    pub(crate) who: Who,
    pub(crate) f: String,
    pub(crate) value: Datum,
    pub(crate) time: Option<i64>,
    pub(crate) extra: Vec<(String, Datum)>,
}

/// A history.
#[derive(Clone, Debug)]
pub(crate) struct Case(pub(crate) Vec<Event>);

impl Case {
    pub(crate) fn parse(text: &[u8]) -> Case {
        let history = History::parse(std::str::from_utf8(text).unwrap()).unwrap();
        let who = |op: &history_core::Op<'_>| match op.process {
            Process::Other(name) => Who::Name(name.to_owned()),
            Process::Client(number) => Who::Number(number),
            Process::Unknown => panic!("somebody did it"),
        };
        let extra = |op: &history_core::Op<'_>| {
            let fields = op.extra.iter();
            fields.map(|(name, value)| (name.as_name().unwrap().to_owned(), value.to_datum())).collect()
        };
        let event = |op: history_core::Op<'_>| Event {
            kind: op.kind,
            who: who(&op),
            f: op.f.unwrap_or_default().to_owned(),
            value: op.value.to_datum(),
            time: op.time,
            extra: extra(&op),
        };
        Case(history.ops().map(event).collect())
    }

    pub(crate) fn text(&self, format: Format) -> Vec<u8> {
        let mut builder = HistoryBuilder::new();
        for event in &self.0 {
            let process = match &event.who {
                Who::Number(number) => Process::Client(*number),
                Who::Name(name) => Process::Other(name),
            };
            let mut op = NewOp::new(event.kind, process).f(&event.f).value(event.value.clone());
            op.time_ns = event.time;
            op.extra = event.extra.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
            builder.push_op(&op).unwrap();
        }
        let mut writer = Writer::new(Vec::new(), format);
        builder.build().ops().for_each(|op| writer.write(&op).unwrap());
        writer.finish().unwrap()
    }

    pub(crate) fn edn(&self) -> Vec<u8> {
        self.text(Format::Edn)
    }

    /// The history with each op changed.
    pub(crate) fn map(&self, mut change: impl FnMut(&mut Event)) -> Case {
        let mut changed = self.clone();
        changed.0.iter_mut().for_each(&mut change);
        changed
    }

    /// The operations: the position of each invocation with that of its completion, or a position without a partner.
    pub(crate) fn operations(&self) -> Vec<Vec<usize>> {
        let mut open = std::collections::HashMap::new();
        let mut operations: Vec<Vec<usize>> = Vec::new();
        for (at, event) in self.0.iter().enumerate() {
            match (event.kind, open.remove(&event.who)) {
                (OpKind::Invoke, _) => {
                    open.insert(event.who.clone(), operations.len());
                    operations.push(vec![at]);
                }
                (_, Some(number)) => operations[number].push(at),
                (_, None) => operations.push(vec![at]),
            }
        }
        operations
    }

    /// The history of the ops at some positions.
    pub(crate) fn of(&self, mut positions: Vec<usize>) -> Case {
        positions.sort_unstable();
        Case(positions.into_iter().map(|at| self.0[at].clone()).collect())
    }
}
