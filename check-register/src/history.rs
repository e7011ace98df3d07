//! Operations of a history as columns.

use crate::Model;
use crate::engine::ids;
use crate::engine::ids::{ClassId, OpId};
use crate::search::part::{Event, Part, RawEvent};
use crate::search::rules::Rules;
use history_core::hash::{HashMap, RandomState};
use indexmap::IndexSet;
use std::hash::Hash;

/// An operation with its result, and when it was in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Operation<O> {
    /// The process that called it.
    pub process: i64,
    /// The operation, with its result.
    pub op: O,
    /// When it was called; on the clock of all others. Any unit will do.
    pub call: u64,
    /// When it returned, not before the call; `None` if it never did: it may then have happened at any time since, or
    /// never. An operation that was called at the time of another's return was concurrent with it.
    pub ret: Option<u64>,
}

impl<O> Operation<O> {
    /// An operation that returned.
    pub fn new(process: i64, op: O, call: u64, ret: u64) -> Operation<O> {
        Operation { process, op, call, ret: Some(ret) }
    }

    /// An operation that never returned.
    pub fn crashed(process: i64, op: O, call: u64) -> Operation<O> {
        Operation { process, op, call, ret: None }
    }
}

/// The data of a history for the search. Operations are numbered in the order of their calls.
#[derive(Debug)]
pub(crate) struct Columns<O> {
    /// The distinct effects of operations.
    pub(crate) classes: IndexSet<O, RandomState>,
    pub(crate) calls: Calls,
}

/// The calls and returns of operations, and the class of each operation.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    ops: Vec<OpClass>,
    /// Calls and returns.
    events: Vec<Event>,
}

const NONE: u32 = u32::MAX;

/// The class of an operation, and in the lowest bit whether it returned.
///
/// It is one word, because a history of many keys has as many of these columns, and each column that an op touches is a
/// cache miss.
#[derive(Clone, Copy, Debug)]
struct OpClass(u32);

impl OpClass {
    /// An operation without an effect.
    const NOTHING: OpClass = OpClass(NONE - 1);

    /// The position of its class; out of range if the operation has no effect.
    #[inline]
    fn class(self) -> usize {
        ids::index(self.0 >> 1)
    }

    #[inline]
    fn returns(self) -> bool {
        self.0 & 1 == 1
    }

    #[inline]
    fn set_class(&mut self, class: ClassId) {
        self.0 = ids::number(class.at()) << 1 | self.0 & 1;
    }

    #[inline]
    fn set_returns(&mut self) {
        self.0 |= 1;
    }
}

impl<O: Eq + Hash> Columns<O> {
    /// The maximum number of operations.
    pub(crate) const OPS_MAX: usize = 1 << 30;

    pub(crate) fn new() -> Columns<O> {
        Columns { classes: IndexSet::default(), calls: Calls::default() }
    }

    /// The number of operations.
    pub(crate) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Adds the call of an operation. It has no effect until one is set.
    #[inline]
    pub(crate) fn call(&mut self) -> OpId {
        let id = OpId::new(self.calls.ops.len());
        self.calls.ops.push(OpClass::NOTHING);
        self.calls.events.push(Event::call(id.at()));
        id
    }

    /// Adds the return of an operation.
    #[inline]
    pub(crate) fn ret(&mut self, id: OpId) {
        self.calls.ops[id.at()].set_returns();
        self.calls.events.push(Event::ret(id.at()));
    }

    /// Sets the effect of an operation.
    pub(crate) fn set(&mut self, id: OpId, op: O) {
        let class = ClassId::new(self.classes.insert_full(op).0);
        self.calls.ops[id.at()].set_class(class);
    }

    /// Drops what happened since some moment: operations that were called later, and returns. Operations in flight at
    /// that moment may have happened; those that only read lose their effect. Operations keep their numbers.
    pub(crate) fn cut(
        &mut self,
        was_called: impl Fn(OpId) -> bool,
        had_returned: impl Fn(OpId) -> bool,
        reads_only: impl Fn(&O) -> bool,
    ) {
        for at in 0..self.len() {
            let id = OpId::new(at);
            let stays = was_called(id) && (had_returned(id) || !self.op(id).is_some_and(&reads_only));
            let op = &mut self.calls.ops[at];
            if !stays {
                *op = OpClass::NOTHING;
            } else if !had_returned(id) {
                op.0 &= !1;
            }
        }
        self.calls.events.retain(|event| !event.is_return() || had_returned(OpId::new(event.op())));
    }

    /// The effect of an operation, if it has one.
    pub(crate) fn op(&self, id: OpId) -> Option<&O> {
        self.classes.get_index(self.calls.ops[id.at()].class())
    }

    /// Returns true if an operation returned.
    pub(crate) fn returns(&self, id: OpId) -> bool {
        self.calls.ops[id.at()].returns()
    }
}

impl Calls {
    /// The number of operations.
    pub(crate) fn len(&self) -> usize {
        self.ops.len()
    }

    /// The events of each part. Parts are in the order of their first call in the history.
    pub(crate) fn by_part(&self, classes: usize, rules: &dyn Rules) -> Parts<'_> {
        let class = |event: &Event| self.ops[event.op()].class();
        let (names, part_of) = self.parts(classes, rules);
        let mut starts = vec![0; names.len() + 1];
        for event in &self.events {
            if let Some(part) = part_of.get(class(event)) {
                starts[ids::index(*part) + 1] += 1;
            }
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut ends = starts.clone();
        let mut events = vec![Event::call(0); starts[names.len()]];
        for event in &self.events {
            if let Some(part) = part_of.get(class(event)) {
                let end = &mut ends[ids::index(*part)];
                events[*end] = *event;
                *end += 1;
            }
        }
        Parts { calls: self, names, starts, events }
    }

    /// The parts, in the order of their first call in the history, and the part of each class.
    fn parts(&self, classes: usize, rules: &dyn Rules) -> (Vec<Option<u64>>, Vec<u32>) {
        let Some(named) = rules.parts() else { return (vec![None], vec![0; classes]) };
        let mut names = Vec::new();
        let mut ids: HashMap<u64, u32> = HashMap::default();
        let mut part_of = vec![NONE; named.len()];
        // Some classes may no longer be in use.
        for op in &self.ops {
            let Some(part) = part_of.get_mut(op.class()) else { continue };
            if *part == NONE {
                let name = named[op.class()];
                *part = *ids.entry(name).or_insert_with(|| {
                    names.push(Some(name));
                    ids::number(names.len()) - 1
                });
            }
        }
        (names, part_of)
    }
}

/// The events of a history, part by part.
pub(crate) struct Parts<'c> {
    calls: &'c Calls,
    /// The name of each part; `None` for the whole object.
    pub(crate) names: Vec<Option<u64>>,
    /// By part: the position of its first event. The last entry is `events.len()`.
    starts: Vec<usize>,
    events: Vec<Event>,
}

impl Parts<'_> {
    /// Creates the input of the search for a part.
    pub(crate) fn get(&self, at: usize) -> Part {
        Part::new(self.events[self.starts[at]..self.starts[at + 1]].iter().map(|event| {
            let op = self.calls.ops[event.op()];
            let (id, class) = (OpId::new(event.op()), ClassId::new(op.class()));
            RawEvent { id, class, is_return: event.is_return(), returns: op.returns() }
        }))
    }
}

/// The columns of operations in a slice, and by id the position of the operation in this slice. O(n log n).
pub(crate) fn columns<M: Model>(model: &M, operations: &[Operation<M::Op>]) -> (Columns<M::Op>, Vec<usize>) {
    // At equal times calls come before returns, so operations that touch were in flight together.
    let mut events: Vec<(u64, bool, usize)> = Vec::with_capacity(2 * operations.len());
    for (at, operation) in operations.iter().enumerate() {
        events.push((operation.call, false, at));
        // An operation returns no earlier than its call.
        events.extend(operation.ret.map(|ret| (ret.max(operation.call), true, at)));
    }
    events.sort_unstable();
    let mut columns = Columns::new();
    let mut ids = vec![None; operations.len()];
    let mut positions = Vec::with_capacity(operations.len());
    for (_, is_return, at) in events {
        let operation = &operations[at];
        match ids[at] {
            Some(id) if is_return => columns.ret(id),
            _ => {
                let id = columns.call();
                ids[at] = Some(id);
                positions.push(at);
                if operation.ret.is_some() || !model.shortcuts().reads_only(&operation.op) {
                    columns.set(id, operation.op.clone());
                }
            }
        }
    }
    (columns, positions)
}
