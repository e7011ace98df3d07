//! Checks one level event by event: what each invocation and each completion adds to the version orders and to the
//! graph, and the first violation.

use super::lists::{Elem, ElemKind, Lists, UNREAD, drop_one};
use super::within::Within;
use crate::anomaly::AnomalyType;
use crate::cycle_spec::{CycleExistsSpec, RwUse};
use crate::txn::online::decode::{self, Mop, Vocabulary};
use crate::txn::online::judge::{Findings, Judge, Kept, Rules, Said, Stop};
use crate::txn::online::time::{At, Cycle, Dependency, End, Gate, Graph, NEVER, NONE};
use history_core::cast::Cast as _;
use std::ops::Range;

#[derive(Clone, Debug)]
pub(super) struct ListJudge {
    level: CycleExistsSpec,
    pub(super) findings: Findings,
    /// Whether a read may return an element that no transaction appended.
    garbage_allowed: bool,
    pub(super) graph: Graph,
    pub(super) lists: Lists,
    within: Within,
    pub(super) kept: Kept,
    /// Reused for unread appends.
    ends: Vec<End>,
    /// Reused for lists that may contain an element twice.
    pub(super) sorted: Vec<i64>,
    /// Reused for the reads of a transaction.
    pub(super) reads: Vec<(i64, Range<usize>)>,
}

history_core::state!(parts ListJudge {
    kept; parts: lists, findings, graph; same: level, garbage_allowed, within, ends, sorted, reads
});

impl Judge for ListJudge {
    const NAME: &'static str = "list-append";
    const VOCABULARY: Vocabulary = Vocabulary { write: "append", is_register: false };
    const GARBAGE: &'static str = "appended";
    const BOUND: Option<&'static str> = None;
    const TAKES_BACK: bool = true;

    type Settings = Rules;

    fn new(level: CycleExistsSpec, rules: &Rules, lacks_invocations: bool) -> ListJudge {
        ListJudge {
            level,
            findings: Findings::new(rules.prohibited(level.model)),
            garbage_allowed: rules.garbage_allowed,
            graph: Graph::new(level, lacks_invocations),
            lists: Lists::default(),
            within: Within::default(),
            kept: Kept::default(),
            ends: Vec::new(),
            sorted: Vec::new(),
            reads: Vec::new(),
        }
    }

    fn invoke(&mut self, at: At, process: Option<i64>, mops: &[Mop]) -> Result<u32, Stop> {
        let txn = self.graph.begin(process, at)?;
        for mop in mops {
            match mop {
                Mop::Write { key, value } => {
                    let appended = self.append(txn, at.index, *key, *value, Said::First);
                    self.findings.go_on(appended)?;
                }
                Mop::Read { key, .. } => _ = self.lists.key_id(*key, at.index),
            }
        }
        if !self.graph.has_floors {
            let found = self.find_late_g1b(txn);
            self.findings.go_on(found)?;
        }
        Ok(txn)
    }

    fn declare(&mut self, txn: u32, index: u64, mops: &[Mop], said: Said) -> Result<(), Stop> {
        if self.kept.given_up.contains(&txn) {
            return if said == Said::Failed { Ok(()) } else { Err(Stop::Late) };
        }
        let writes = decode::writes(mops);
        if said == Said::Late {
            // The first gate after a read of a write must be known before edges of the write are added.
            let shown = writes.clone().filter_map(|(key, value)| self.first_read(key, value)).min();
            self.graph.show_at(txn, shown.unwrap_or(NEVER))?;
        }
        for (key, value) in writes {
            self.findings.said(key, value);
            let appended = self.append(txn, index, key, value, said);
            self.findings.go_on(appended)?;
        }
        let found = if said == Said::Late { self.find_late_g1b(txn) } else { Ok(()) };
        self.findings.go_on(found)
    }

    fn complete(&mut self, txn: u32, index: u64, mops: &[Mop], codes: &[i64]) -> Result<(), Stop> {
        let is_given_up = self.kept.given_up.contains(&txn);
        if !is_given_up {
            self.graph.complete(txn);
        }
        self.findings.within(index, self.within.look(mops, codes))?;
        if !self.graph.counts_wr() {
            self.find_disputes(index, mops, codes);
        }
        for mop in mops {
            if let Mop::Read { key, seen } = mop {
                let read = self.read(txn, index, *key, &codes[seen.clone()], is_given_up);
                self.findings.go_on(read)?;
            }
        }
        if self.level.rw != RwUse::Free && self.findings.is_prohibited(AnomalyType::LOST_UPDATE) {
            let found = self.find_lost_update(txn, index, mops);
            self.findings.go_on(found)?;
        }
        if is_given_up {
            self.end_unread(txn);
        }
        Ok(())
    }

    fn fail(&mut self, txn: u32) -> Result<(), Stop> {
        let mut found = Ok(());
        let failed = std::mem::take(&mut self.graph.txns[txn.to_usize()].writes);
        for elem in failed.iter().copied() {
            let at = self.lists.elem_mut(elem);
            (at.kind, at.writer) = (ElemKind::Failed, NONE);
            let (key, pos, code, index) = (at.key, at.pos, at.code, at.index);
            let key = self.lists.key_mut(key);
            if pos == UNREAD {
                drop_one(&mut key.unread, elem);
                key.failed.push(elem);
            } else {
                key.unwritten += 1;
                let key = key.code;
                found = found.and(self.findings.direct(AnomalyType::G1A, index, key, Some(code)));
            }
        }
        self.kept.given_up.retain(|other| *other != txn);
        self.graph.remove(txn);
        if !self.graph.counts_wr() {
            for elem in failed {
                self.bridge(elem);
            }
        }
        self.findings.go_on(found)
    }

    fn is_contradicted(&self) -> bool {
        self.findings.is_contradicted
    }

    fn relates_by_reads(&self) -> bool {
        self.findings.relates_by_reads
    }

    fn reads_unsaid(&self) -> bool {
        self.findings.reads_unsaid
    }

    fn findings(&mut self) -> &mut Findings {
        &mut self.findings
    }

    fn crash(&mut self, txn: u32) -> Result<(), Stop> {
        self.graph.crash(txn);
        self.end_unread(txn);
        Ok(())
    }

    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn graph_mut(&mut self) -> &mut Graph {
        &mut self.graph
    }

    fn forgets(&self) -> bool {
        self.graph.has_floors
    }

    fn forget(&mut self) {
        self.forget_settled();
    }

    fn drop_keys(&mut self, op: u64, values: usize) {
        self.drop_idle_keys(op, values);
    }

    fn kept(&mut self) -> &mut Kept {
        &mut self.kept
    }

    fn keys(&self) -> usize {
        self.lists.keys()
    }

    fn values(&self) -> usize {
        self.lists.len()
    }

    fn renamed(&self) -> u64 {
        self.lists.renamed
    }

    fn has_read(&self) -> bool {
        self.lists.has_read
    }

    fn garbage(&self) -> Option<(i64, i64)> {
        self.lists.garbage()
    }

    /// Unread appends can be placed in the order of an acyclic graph, except at levels that allow some cycles.
    fn unordered_key(&self) -> Option<i64> {
        let is_allowed = self.level.rw == RwUse::OneHop;
        let mut keys = self.lists.all_keys().filter(|_| is_allowed).map(|key| self.lists.key(key));
        keys.find(|key| key.unread.len() > 1).map(|key| key.code)
    }
}

impl ListJudge {
    /// Adds an append of a transaction.
    fn append(&mut self, txn: u32, op: u64, key_code: i64, value: i64, said: Said) -> Result<(), Stop> {
        let key = self.lists.key_id(key_code, op);
        let index = self.graph.at(txn).index;
        let known = self.lists.elem_id(key, value);
        let (last, before) = self.lists.key(key).last_append;
        let before = if last == index { before } else { NONE };
        let after = self.graph.at(txn).after;
        let mut is_placed = false;
        let elem = match known {
            // The element may also have been appended before the key was dropped.
            Some(_) if self.lists.key(key).is_renamed => return Err(Stop::Twice { key: key_code, value }),
            Some(elem) if self.lists.elem(elem).kind == ElemKind::Unwritten => {
                let at = self.lists.elem_mut(elem);
                (at.kind, at.writer, at.index, at.after, at.before) = (ElemKind::Possible, txn, index, after, before);
                is_placed = at.pos != UNREAD;
                if is_placed {
                    self.lists.key_mut(key).unwritten -= 1;
                } else {
                    self.lists.keep_unread(key, elem);
                }
                elem
            }
            Some(_) => return Err(Stop::Twice { key: key_code, value }),
            None => {
                let elem = self.lists.new_elem(Elem {
                    key,
                    code: value,
                    pos: UNREAD,
                    writer: txn,
                    after,
                    done: NEVER,
                    index,
                    kind: ElemKind::Possible,
                    is_intermediate: false,
                    before,
                });
                self.lists.keep_unread(key, elem);
                elem
            }
        };
        self.graph.txns[txn.to_usize()].writes.push(elem);
        self.lists.note_append(key);
        self.lists.key_mut(key).last_append = (index, elem);
        if before != NONE {
            self.lists.elem_mut(before).is_intermediate = true;
        }
        match said {
            Said::Failed => Ok(()),
            Said::First if self.graph.has_floors && is_placed => {
                // Its reader completed before this invocation, but follows from it.
                Err(Cycle { indices: vec![index], begins: self.graph.at(txn).begins }.into())
            }
            // The readers and writers of the last version have led to a gate by now.
            Said::First if self.graph.has_floors => Ok(()),
            Said::First | Said::Late if is_placed => self.append_read(key, elem),
            Said::First | Said::Late => self.append_unread(key, elem),
        }
    }

    /// Adds the edges to an append that no read has shown.
    fn append_unread(&mut self, key: u32, elem: u32) -> Result<(), Stop> {
        let to = self.end(elem);
        let len = self.lists.key(key).elems.len();
        let last = self.lists.last_written(key, len);
        if let Some(last) = last {
            self.graph.relate(self.end(last), to, Dependency::Dep)?;
        }
        self.readers_lead(key, self.pos_after(last), len + 1, to)
    }

    /// Adds the edges of an append that was read before its writer was known.
    fn append_read(&mut self, key: u32, elem: u32) -> Result<(), Stop> {
        let own = self.end(elem);
        self.find_reversed(elem)?;
        let pos = self.lists.elem(elem).pos.to_usize();
        let before = self.lists.last_written(key, pos);
        if let Some(before) = before {
            self.graph.relate(self.end(before), own, Dependency::Dep)?;
        }
        let next = self.lists.next_written(key, pos + 1);
        match next {
            Some(next) => self.graph.relate(own, self.end(next), Dependency::Dep)?,
            None => self.lead_to_unread(key, own, Dependency::Dep)?,
        }
        let len = self.lists.key(key).elems.len();
        let end = next.map_or(len + 1, |next| self.lists.elem(next).pos.to_usize() + 1);
        for len in pos + 1..end {
            for at in 0..self.lists.key(key).readers.get(len).map_or(0, Vec::len) {
                let reader = self.graph.end(self.lists.key(key).readers[len][at]);
                self.graph.relate(own, reader, Dependency::Dep)?;
            }
        }
        self.readers_lead(key, self.pos_after(before), pos + 1, own)
    }

    /// The first gate after a read of an element whose writer is unknown; `None` if the writer is known.
    fn first_read(&self, key: i64, value: i64) -> Option<Gate> {
        let elem = self.lists.elem(self.lists.elem_id(self.lists.find_key(key)?, value)?);
        (elem.kind == ElemKind::Unwritten).then_some(elem.done)
    }

    /// The length of the list that ends in an element.
    fn pos_after(&self, elem: Option<u32>) -> usize {
        elem.map_or(0, |elem| self.lists.elem(elem).pos.to_usize() + 1)
    }

    /// Adds edges from the readers of lists of these lengths.
    fn readers_lead(&mut self, key: u32, from: usize, end: usize, to: End) -> Result<(), Stop> {
        if !self.graph.counts_rw() {
            return Ok(());
        }
        for len in from..end {
            for at in 0..self.lists.key(key).readers.get(len).map_or(0, Vec::len) {
                let reader = self.graph.end(self.lists.key(key).readers[len][at]);
                self.graph.relate(reader, to, Dependency::Rw)?;
            }
        }
        Ok(())
    }

    /// The transaction that appended an element.
    pub(super) fn end(&self, elem: u32) -> End {
        let elem = self.lists.elem(elem);
        if elem.writer != NONE {
            return self.graph.end(elem.writer);
        }
        // A discarded transaction is concurrent with none that matters.
        End { txn: NONE, after: elem.after, done: elem.done, floor: 0, index: elem.index }
    }

    /// Ends a transaction of which later reads can only show the appends.
    fn end_unread(&mut self, txn: u32) {
        self.kept.given_up.retain(|other| *other != txn);
        if self.graph.at(txn).writes.is_empty() {
            self.graph.remove(txn);
        }
    }

    fn read(&mut self, txn: u32, index: u64, code: i64, list: &[i64], is_given_up: bool) -> Result<(), Stop> {
        let key = self.lists.key_id(code, index);
        let list = self.agreed(index, key, list)?;
        let known = &self.lists.key(key).list;
        let common = known.len().min(list.len());
        if known[..common] != list[..common] {
            let at = known.iter().zip(list).position(|(a, b)| a != b).unwrap_or_default();
            return self.findings.direct(AnomalyType::INCOMPATIBLE_ORDER, index, code, Some(list[at]));
        }
        if common < list.len() {
            self.grow(index, key, code, &list[common..])?;
        }
        self.lists.note_read(key);
        if !self.graph.counts_wr() {
            let version = self.lists.last_written(key, list.len());
            self.findings.relates_by_reads |= version.is_some_and(|version| self.lists.elem(version).writer != txn);
            return Ok(());
        }
        self.find_g1b(txn, index, key, list.len())?;
        if is_given_up {
            return Ok(());
        }
        let own = self.graph.end(txn);
        if let Some(version) = self.lists.last_written(key, list.len()) {
            let writer = self.end(version);
            self.graph.relate(writer, own, Dependency::Dep).map_err(|cycle| at_key(cycle, code))?;
        }
        if !self.graph.has_floors || self.findings.awaits {
            let readers = &mut self.lists.key_mut(key).readers;
            if readers.len() <= list.len() {
                readers.resize_with(list.len() + 1, Vec::new);
            }
            readers[list.len()].push(txn);
        }
        if !self.graph.counts_rw() {
            return Ok(());
        }
        let led = match self.lists.next_written(key, list.len()) {
            Some(next) => self.graph.relate(own, self.end(next), Dependency::Rw).map_err(Stop::from),
            None => self.lead_to_unread(key, own, Dependency::Rw),
        };
        led.map_err(|stop| stop.at_key(code))
    }

    /// Appends elements to a key's list.
    fn grow(&mut self, index: u64, key: u32, code: i64, rest: &[i64]) -> Result<(), Stop> {
        // If the key was dropped, the element may have been appended before.
        let may_be_garbage = self.garbage_allowed || self.lists.key(key).is_renamed;
        let mut before: Option<u32> = None;
        for value in rest {
            let elem = if let Some(elem) = self.lists.elem_id(key, *value) {
                elem
            } else {
                if self.graph.has_real_time() && !may_be_garbage {
                    self.findings.garbage(index, code, *value)?;
                }
                self.unwritten(key, *value)
            };
            let at = self.lists.elem(elem);
            if at.pos != UNREAD {
                return self.findings.direct(AnomalyType::DUPLICATE_ELEMENTS, index, code, Some(*value));
            }
            if at.kind == ElemKind::Failed {
                self.findings.direct(AnomalyType::G1A, index, code, Some(*value))?;
            }
            self.lists.place(key, elem);
            if !self.lists.is_written(elem) {
                // This becomes the writer's `done` as soon as the writer is known.
                self.lists.elem_mut(elem).done = self.graph.next();
                continue;
            }
            self.find_reversed(elem)?;
            self.show(elem);
            if let Some(before) = before.replace(elem) {
                let led = self.graph.relate(self.end(before), self.end(elem), Dependency::Dep);
                led.map_err(|cycle| at_key(cycle, code))?;
            }
        }
        match before {
            Some(last) => self.lead_to_unread(key, self.end(last), Dependency::Dep),
            None => Ok(()),
        }
    }

    fn unwritten(&mut self, key: u32, code: i64) -> u32 {
        self.lists.new_elem(Elem {
            key,
            code,
            pos: UNREAD,
            writer: NONE,
            after: 0,
            done: NEVER,
            index: u64::MAX,
            kind: ElemKind::Unwritten,
            is_intermediate: false,
            before: NONE,
        })
    }

    /// Records that an append was read for the first time.
    fn show(&mut self, elem: u32) {
        let writer = self.lists.elem(elem).writer;
        if writer != NONE {
            self.graph.show(writer);
        }
    }

    /// Adds edges to all appends to a key that no read has shown.
    fn lead_to_unread(&mut self, key: u32, from: End, kind: Dependency) -> Result<(), Stop> {
        let mut ends = std::mem::take(&mut self.ends);
        ends.clear();
        ends.extend(self.lists.key(key).unread.iter().map(|elem| self.end(*elem)));
        let led = ends.iter().try_for_each(|to| self.graph.relate(from, *to, kind));
        self.ends = ends;
        Ok(led?)
    }
}

fn at_key(cycle: Cycle, key: i64) -> Stop {
    Stop::from(cycle).at_key(key)
}
