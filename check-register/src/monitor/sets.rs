//! A set that is read as a whole; values may be added again.
//!
//! The results of reads only grow: the sets that were read and the initial set are a chain under inclusion, or the
//! history is refused. A group consists of the reads of one set; group 0 is that of the initial set. A value is *first
//! seen* in the least group whose set contains it. Then any linearization consists of blocks: adds of the values first
//! seen in group 1, reads of group 1, adds of those first seen in group 2, and so on; adds of values that no read
//! returned come last. Of several adds of one value, the one that was called first is in its block. The others have no
//! effect, and can be anywhere after the reads of the group before. The history is linearizable exactly if no operation
//! of a block returned before an operation of an earlier block was called.

use super::{Handling, Known, Object};
use crate::Conflict;
use crate::search::part::Part;
use history_core::cast::Cast as _;
use history_core::hash::HashMap;

/// The operations of a part.
pub(super) struct Sets<'a> {
    initial: Vec<i64>,
    /// Adds with their values, in the order of their calls.
    adds: Vec<(u32, i64)>,
    /// Reads, each with the position of its result in `found`.
    reads: Vec<(u32, u32)>,
    /// The results of reads, each set once, smaller ones first.
    found: Vec<&'a [i64]>,
}

/// A block of operations: adds in even blocks, reads in odd ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Block(usize);

impl Block {
    fn adds(group: usize) -> Block {
        Block(2 * group)
    }

    fn reads(group: usize) -> Block {
        Block(2 * group + 1)
    }
}

/// An operation in its block.
struct Placed {
    op: u32,
    block: Block,
    /// Whether operations of later blocks must come after it.
    counts: bool,
}

impl<'a> Sets<'a> {
    pub(super) fn new(part: &Part, object: &Object<'a>) -> Option<Sets<'a>> {
        let mut initial: Vec<i64> = object.initial.to_vec();
        initial.sort_unstable();
        initial.dedup();
        let (mut adds, mut reads, mut found) = (Vec::new(), Vec::new(), Vec::new());
        // Equal operations have the same class.
        let mut of_class = HashMap::default();
        for (at, op) in part.ops.iter().enumerate() {
            match (object.handling)(at)? {
                Handling::Put(value) => adds.push((at.to_u32(), value)),
                Handling::All(values) => {
                    let new = found.len();
                    let set = *of_class.entry(op.class).or_insert(new);
                    if set == new {
                        found.push(values);
                    }
                    reads.push((at.to_u32(), set));
                }
                Handling::Take(_) | Handling::Nothing | Handling::Any => return None,
            }
        }
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by_key(|set| found[*set].len());
        let mut place = vec![0; found.len()];
        for (at, set) in order.iter().enumerate() {
            place[*set] = at.to_u32();
        }
        let reads = reads.into_iter().map(|(op, set)| (op, place[set])).collect();
        Some(Sets { initial, adds, reads, found: order.into_iter().map(|set| found[set]).collect() })
    }

    pub(super) fn decide(&self, part: &Part, end: usize) -> Known {
        self.order(part, end).map_or(Known::Refused, Known::Linearizable)
    }

    pub(super) fn conflict(&self, part: &Part, end: usize) -> Option<Conflict<u32>> {
        self.order(part, end).err()
    }

    /// A linearization of the first events, or the reason why there is none.
    fn order(&self, part: &Part, end: usize) -> Result<Vec<u32>, Conflict<u32>> {
        let call = |op: u32| part.ops[op.to_usize()].call.to_usize();
        let ret = |op: u32| Some(part.ops[op.to_usize()].ret.to_usize()).filter(|ret| *ret < end);
        let reads: Vec<(u32, u32)> = self.reads.iter().copied().filter(|(op, _)| ret(*op).is_some()).collect();
        let groups = self.groups(&reads)?;
        let last = groups.reader.len();
        let mut placed: Vec<Placed> = reads
            .iter()
            .map(|(op, set)| Placed { op: *op, block: Block::reads(groups.of_set[set.to_usize()]), counts: true })
            .collect();
        let mut is_added: HashMap<i64, bool> = groups.first_seen.keys().map(|value| (*value, false)).collect();
        for (op, value) in self.adds.iter().filter(|(op, _)| call(*op) < end) {
            let is_initial = self.initial.binary_search(value).is_ok();
            let group = if is_initial { 0 } else { groups.first_seen.get(value).copied().unwrap_or(last) };
            let is_first = is_added.get_mut(value).is_some_and(|is_added| !std::mem::replace(is_added, true));
            if is_first || ret(*op).is_some() {
                placed.push(Placed { op: *op, block: Block::adds(group), counts: is_first || group == last });
            }
        }
        if let Some((value, _)) = is_added.iter().filter(|(_, is_added)| !**is_added).min() {
            let take = groups.reader[groups.first_seen[value]];
            let put = self.adds.iter().find(|(_, added)| added == value);
            return Err(put.map_or(Conflict::NeverPut { take }, |(put, _)| Conflict::BeforePut { take, put: *put }));
        }
        place(placed, &groups, call, ret)
    }

    /// The sets that were read, as a chain.
    fn groups(&self, reads: &[(u32, u32)]) -> Result<Groups, Conflict<u32>> {
        let mut reader = vec![None; self.found.len()];
        for (op, set) in reads {
            reader[set.to_usize()].get_or_insert(*op);
        }
        let mut groups =
            Groups { of_set: vec![0; reader.len()], reader: vec![u32::MAX], first_seen: HashMap::default() };
        let mut before = &self.initial[..];
        for (at, (set, reader)) in self.found.iter().zip(reader).enumerate() {
            let Some(reader) = reader else { continue };
            if *set == before {
                groups.of_set[at] = groups.reader.len() - 1;
                continue;
            }
            let new = groups.reader.len();
            let mut missing = before.iter().peekable();
            for value in *set {
                if missing.next_if_eq(&value).is_none() {
                    groups.first_seen.insert(*value, new);
                }
            }
            if missing.peek().is_some() {
                return Err(match groups.reader[new - 1] {
                    u32::MAX => Conflict::WithoutInitial { read: reader },
                    other => Conflict::Reads { read: reader, other },
                });
            }
            groups.of_set[at] = new;
            groups.reader.push(reader);
            before = set;
        }
        Ok(groups)
    }
}

/// The chain of the sets that were read.
struct Groups {
    /// By set: its group.
    of_set: Vec<usize>,
    /// By group: one of its reads; group 0 has none.
    reader: Vec<u32>,
    /// By value that is not initial: the group in which it is first seen.
    first_seen: HashMap<i64, usize>,
}

/// Orders the operations by block, each as early as possible; or finds two that contradict this.
fn place(
    mut placed: Vec<Placed>,
    groups: &Groups,
    call: impl Fn(u32) -> usize,
    ret: impl Fn(u32) -> Option<usize>,
) -> Result<Vec<u32>, Conflict<u32>> {
    let is_free = |placed: &Placed| placed.block == Block::adds(0);
    // By block: the operation that was called last in the blocks before it.
    let mut last: Vec<Option<(usize, u32, Block)>> = vec![None; Block::reads(groups.reader.len()).0 + 2];
    for placed in placed.iter().filter(|placed| placed.counts && !is_free(placed)) {
        let behind = &mut last[placed.block.0 + 1];
        *behind = (*behind).max(Some((call(placed.op), placed.op, placed.block)));
    }
    for at in 1..last.len() {
        last[at] = last[at].max(last[at - 1]);
    }
    for placed in &placed {
        if let (Some((first_call, first, block)), Some(ret)) = (last[placed.block.0], ret(placed.op))
            && ret < first_call
        {
            return Err(backwards((first, block), (placed.op, placed.block), groups));
        }
    }
    placed.sort_by_cached_key(|placed| {
        let instant = last[placed.block.0].map_or(0, |(call, ..)| call).max(call(placed.op));
        (instant, placed.block, placed.op)
    });
    Ok(placed.into_iter().map(|placed| placed.op).collect())
}

/// The reason why `first` must come before `second`, although `second` had returned when `first` was called.
fn backwards((first, block): (u32, Block), (second, other): (u32, Block), groups: &Groups) -> Conflict<u32> {
    let is_add = |block: Block| block.0.is_multiple_of(2);
    match (is_add(block), is_add(other)) {
        // The read returned a value whose add was called only after the read.
        (true, false) => Conflict::BeforePut { take: second, put: first },
        (true, true) => Conflict::Backwards { first, second, read: groups.reader.get(block.0 / 2).copied() },
        (false, _) => Conflict::Backwards { first, second, read: None },
    }
}
