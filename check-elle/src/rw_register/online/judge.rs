//! Checks one level event by event: what each invocation and each completion adds to the version orders and to the
//! graph, and the first violation.

use super::choice::Choice;
use super::registers::{Registers, Version, VersionKind};
use super::within::{Touch, Within};
use crate::anomaly::AnomalyType;
use crate::cycle_spec::CycleExistsSpec;
use crate::txn::online::decode::{self, Mop, Vocabulary};
use crate::txn::online::judge::{Findings, Judge, Kept, Rules, Said, Stop};
use crate::txn::online::order::Order;
use crate::txn::online::time::{At, Graph, NEVER, NONE};
use history_core::{Datum, Interner};

/// The assumptions about a store.
#[derive(Clone, Debug)]
pub(in crate::rw_register) struct Assumed {
    pub(in crate::rw_register) rules: Rules,
    /// The initial value of registers.
    pub(in crate::rw_register) initial: Datum,
    /// Its code.
    pub(in crate::rw_register) initial_code: i64,
    pub(in crate::rw_register) wfr_keys: bool,
    pub(in crate::rw_register) sequential_keys: bool,
    pub(in crate::rw_register) linearizable_keys: bool,
}

impl Assumed {
    /// Real time implies the process order; if real time is unknown, the process order replaces it.
    fn in_use(&self, lacks_invocations: bool) -> Assumed {
        let is_timed = self.linearizable_keys && !lacks_invocations;
        let sequential_keys = !is_timed && (self.sequential_keys || self.linearizable_keys);
        Assumed { sequential_keys, linearizable_keys: is_timed, ..self.clone() }
    }
}

#[derive(Clone, Debug)]
pub(super) struct RegisterJudge {
    pub(super) assumed: Assumed,
    pub(super) findings: Findings,
    pub(super) graph: Graph,
    pub(super) registers: Registers,
    /// A topological order of the versions.
    pub(super) order: Order,
    within: Within,
    pub(super) kept: Kept,
    /// A key with a dead version that was in no known order with all others.
    pub(super) unordered: Option<i64>,
    pub(super) choice: Choice,
    /// Choices to reverse.
    pub(super) turned: Vec<u64>,
}

history_core::state!(parts RegisterJudge {
    registers, kept, unordered, choice; parts: findings, graph, order; same: assumed, within, turned
});

impl Judge for RegisterJudge {
    const NAME: &'static str = "rw-register";
    const VOCABULARY: Vocabulary = Vocabulary { write: "w", is_register: true };
    const GARBAGE: &'static str = "written";
    const BOUND: Option<&'static str> = Some("with --linearizable-keys, memory at strict-serializable is bounded");
    const TAKES_BACK: bool = false;

    type Settings = Assumed;

    /// A value that is too large for any history does not occur in this one.
    fn resolve(assumed: &mut Assumed, interner: &mut Interner) {
        let code = assumed.initial.with_value(|value| interner.code(value));
        assumed.initial_code = code.unwrap_or(Interner::NIL);
    }

    fn new(level: CycleExistsSpec, assumed: &Assumed, lacks_invocations: bool) -> RegisterJudge {
        let mut judge = RegisterJudge {
            assumed: assumed.in_use(lacks_invocations),
            findings: Findings::new(assumed.rules.prohibited(level.model)),
            graph: Graph::new(level, lacks_invocations),
            registers: Registers::default(),
            order: Order::default(),
            within: Within::default(),
            kept: Kept::default(),
            unordered: None,
            choice: Choice::None,
            turned: Vec::new(),
        };
        if judge.forgets() {
            judge.choice = Choice::Later(false);
        }
        judge
    }

    fn invoke(&mut self, at: At, process: Option<i64>, mops: &[Mop]) -> Result<u32, Stop> {
        let txn = self.graph.begin(process, at)?;
        self.begin(txn, at.index, mops, Said::First)?;
        Ok(txn)
    }

    fn declare(&mut self, txn: u32, index: u64, mops: &[Mop], said: Said) -> Result<(), Stop> {
        if self.kept.given_up.contains(&txn) {
            return if said == Said::Failed { Ok(()) } else { Err(Stop::Late) };
        }
        let writes = decode::writes(mops);
        let shown = writes.clone().filter_map(|(key, value)| self.first_read(key, value)).min();
        if said == Said::Late {
            // The first gate after a read of a write must be known before edges of the write are added.
            self.graph.show_at(txn, shown.unwrap_or(NEVER))?;
        }
        writes.for_each(|(key, value)| self.findings.said(key, value));
        self.begin(txn, index, mops, said)?;
        if shown.is_some() {
            self.count_writes(txn);
        }
        Ok(())
    }

    fn complete(&mut self, txn: u32, index: u64, mops: &[Mop], codes: &[i64]) -> Result<(), Stop> {
        let is_given_up = self.kept.given_up.contains(&txn);
        let process = self.graph.process(txn);
        if !is_given_up {
            self.graph.complete(txn);
        }
        let inner = self.within.look(mops, codes, self.assumed.initial_code);
        if let Some((key, value)) = inner.future_read {
            let at = self.key_id(key, index);
            if self.registers.key(at).repeated.contains(value) {
                // The read may have observed the other write.
                return Err(Stop::Twice { key, value });
            }
        }
        self.findings.within(index, inner)?;
        // Before any version is removed next to them.
        self.count_writes(txn);
        for mop in mops {
            if let Mop::Read { key, seen } = mop
                && let Some(value) = codes[seen.clone()].first()
            {
                let seen = self.see(txn, index, *key, *value);
                self.findings.go_on(seen)?;
            }
        }
        if is_given_up {
            return self.crash(txn);
        }
        for (code, touch) in self.within.touches.clone() {
            let touched = self.touch(txn, process, index, code, touch);
            self.findings.go_on(touched)?;
        }
        // If the reads are unknown, the transaction's writes are its first versions.
        for version in self.graph.at(txn).writes.clone() {
            let code = self.registers.key(self.registers.version(version).key).code;
            if self.within.touches.iter().all(|(key, _)| *key != code) && self.registers.version(version).is_installed()
            {
                let touched = self.touch(txn, process, index, code, Touch::default());
                self.findings.go_on(touched)?;
            }
        }
        self.end_writes(txn);
        Ok(())
    }

    fn fail(&mut self, txn: u32) -> Result<(), Stop> {
        let mut found = Ok(());
        for version in self.graph.at(txn).writes.clone() {
            let Version { key, code, index, is_read, is_repetition, .. } = *self.registers.version(version);
            let key_code = self.registers.key(key).code;
            self.remove(version);
            if is_read {
                found = found.and(self.findings.direct(AnomalyType::G1A, index, key_code, Some(code)));
            }
            if !is_repetition {
                self.registers.keep_value(key, code, |key| &mut key.failed);
            }
        }
        self.kept.given_up.retain(|other| *other != txn);
        self.graph.remove(txn);
        self.findings.go_on(found)
    }

    fn conclude(&mut self) {
        self.put_all_in_order();
    }

    fn is_contradicted(&self) -> bool {
        self.findings.is_contradicted
    }

    fn hides_reads(&self) -> bool {
        self.findings.hides_reads
    }

    fn reads_unsaid(&self) -> bool {
        self.findings.reads_unsaid
    }

    fn findings(&mut self) -> &mut Findings {
        &mut self.findings
    }

    fn crash(&mut self, txn: u32) -> Result<(), Stop> {
        let process = self.graph.process(txn);
        self.kept.given_up.retain(|other| *other != txn);
        self.graph.crash(txn);
        for version in self.graph.at(txn).writes.clone() {
            if self.registers.version(version).is_installed() {
                let raised = self.raise_until(version, self.graph.at(txn).after);
                self.findings.go_on(raised)?;
                let followed = self.follow_process(process, version);
                self.findings.go_on(followed)?;
                self.end_process(process, version, version);
            }
        }
        self.end_writes(txn);
        if self.graph.at(txn).writes.is_empty() {
            self.graph.remove(txn);
        }
        Ok(())
    }

    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn graph_mut(&mut self) -> &mut Graph {
        &mut self.graph
    }

    fn forgets(&self) -> bool {
        self.graph.has_floors && self.assumed.linearizable_keys
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
        self.registers.keys()
    }

    fn values(&self) -> usize {
        self.registers.len()
    }

    fn renamed(&self) -> u64 {
        self.registers.renamed
    }

    fn has_read(&self) -> bool {
        self.registers.has_read
    }

    fn garbage(&self) -> Option<(i64, i64)> {
        self.registers.garbage()
    }

    fn fork(&mut self) -> Option<RegisterJudge> {
        if self.choice != Choice::Later(true) || self.graph.leaves_out || self.findings.goes_on {
            return None;
        }
        self.choice = Choice::None;
        let mut fork = RegisterJudge { choice: Choice::Made(0), ..self.clone() };
        fork.place_all_shown();
        Some(fork)
    }

    fn settle(&mut self) {
        self.settle_late();
    }

    fn chosen(&self) -> u64 {
        if let Choice::Made(before) = self.choice { before } else { 0 }
    }

    fn turn(&mut self, choices: &[u64]) {
        self.turned.clear();
        self.turned.extend_from_slice(choices);
    }

    fn lost_key(&self) -> Option<i64> {
        self.unordered
    }

    fn unordered_key(&self) -> Option<i64> {
        self.unordered.or_else(|| {
            let mut keys = self.registers.all_keys();
            keys.find(|key| !self.is_ordered(*key)).map(|key| self.registers.key(key).code)
        })
    }
}

impl RegisterJudge {
    /// Processes a read of an `ok` transaction, at any position in it.
    fn see(&mut self, txn: u32, index: u64, code: i64, value: i64) -> Result<(), Stop> {
        let key = self.key_id(code, index);
        self.registers.note_read(key);
        if self.registers.key(key).repeated.contains(value) {
            return Err(Stop::Twice { key: code, value });
        }
        // A dead version matters only to external reads.
        let Some(version) = self.find_or_insert(key, index, value)? else { return Ok(()) };
        let Version { is_intermediate, writer, index: written, kind, .. } = *self.registers.version(version);
        if kind == VersionKind::Unwritten {
            let (gate, reader) = (self.graph.next(), self.graph.at(txn).index);
            let at = self.registers.version_mut(version);
            // This becomes the writer's `done` as soon as the writer is known.
            at.done = gate.min(at.done);
            at.seen.get_or_insert(reader);
        }
        if is_intermediate && written != self.graph.at(txn).index {
            self.findings.direct(AnomalyType::G1B, index, code, Some(value))?;
        }
        self.registers.version_mut(version).is_read = true;
        if writer != NONE && writer != txn {
            self.graph.show(writer);
            self.count_writes(writer);
            self.place_shown(writer);
        }
        Ok(())
    }

    /// The version with this value; `None` if it is dead.
    fn find_or_insert(&mut self, key: u32, index: u64, value: i64) -> Result<Option<u32>, Stop> {
        let at = self.registers.key(key);
        let code = at.code;
        if value == self.assumed.initial_code {
            return Ok(Some(at.initial).filter(|initial| *initial != NONE));
        }
        if let Some(version) = self.registers.version_id(key, value) {
            return Ok(Some(version));
        }
        if at.failed.contains(value) {
            self.findings.direct(AnomalyType::G1A, index, code, Some(value))?;
        }
        if at.overwritten.contains(value) {
            self.findings.direct(AnomalyType::G1B, index, code, Some(value))?;
        }
        if at.dead.contains(value) {
            let is_known = at.dead.is_exact() || !(self.assumed.rules.garbage_allowed || self.findings.has_unsaid);
            return if is_known { Ok(None) } else { Err(Stop::Twice { key: code, value }) };
        }
        // If the key was dropped, the value may have been written before.
        let may_be_garbage = self.assumed.rules.garbage_allowed || at.is_renamed;
        if self.graph.has_real_time() && !may_be_garbage {
            self.findings.garbage(index, code, value)?;
        }
        Ok(Some(self.insert(Version::new(key, value, VersionKind::Unwritten))))
    }

    /// Processes the external read and write of a key by an `ok` transaction.
    fn touch(&mut self, txn: u32, process: Option<i64>, index: u64, code: i64, touch: Touch) -> Result<(), Stop> {
        let key = self.key_id(code, index);
        let read = match touch.read {
            None => None,
            Some(value) => match self.find_or_insert(key, index, value)? {
                // The version preceded another one long ago, which the reader follows: each precedes the other.
                None => return self.findings.direct(AnomalyType::CYCLIC_VERSIONS, index, code, Some(value)),
                version => version,
            },
        };
        let mut writes = self.graph.at(txn).writes.iter().copied();
        let write = writes.find(|version| {
            let version = self.registers.version(*version);
            version.key == key && version.is_installed()
        });
        let (Some(first), Some(last)) = (read.or(write), write.or(read)) else { return Ok(()) };
        if let Some(read) = read {
            self.lead_to_reader(read, txn).map_err(|stop| stop.at_key(code))?;
        }
        self.raise_until(first, self.graph.at(txn).after)?;
        if let (Some(read), Some(write)) = (read, write)
            && self.assumed.wfr_keys
            && self.registers.version(read).kind != VersionKind::Initial
        {
            self.precede(read, write)?;
        }
        self.follow_process(process, first)?;
        self.end_process(process, first, last);
        let gate = self.graph.next();
        let since = &mut self.registers.version_mut(last).since;
        *since = gate.min(*since);
        if let Some(updated) = touch.updated {
            self.find_lost_update(txn, index, key, updated)?;
        }
        self.drop_dead(key);
        Ok(())
    }

    /// Finds two transactions that read the same version of a key and then wrote the key.
    fn find_lost_update(&mut self, txn: u32, index: u64, key: u32, value: i64) -> Result<(), Stop> {
        let own = self.graph.at(txn).index;
        let is_initial = value == self.assumed.initial_code;
        let initial = self.registers.key(key).initial;
        let version = if is_initial { Some(initial) } else { self.registers.version_id(key, value) };
        let Some(version) = version.filter(|version| *version != NONE) else { return Ok(()) };
        if *self.registers.version_mut(version).updater.get_or_insert(own) == own {
            return Ok(());
        }
        self.findings.direct(AnomalyType::LOST_UPDATE, index, self.registers.key(key).code, None)
    }

    /// Marks the writes of a transaction that happened as known.
    fn count_writes(&mut self, txn: u32) {
        for version in self.graph.at(txn).writes.clone() {
            self.registers.version_mut(version).is_known = true;
        }
    }

    /// Removes the versions that a transaction itself overwrote, when it ends: they will not be read.
    fn end_writes(&mut self, txn: u32) {
        for version in self.graph.at(txn).writes.clone() {
            let Version { key, code, is_intermediate, is_read, is_repetition, .. } = *self.registers.version(version);
            if !is_intermediate {
                continue;
            }
            self.remove(version);
            if is_read {
                // This transaction read it.
                self.registers.keep_value(key, code, |key| &mut key.dead);
            } else if !is_repetition {
                self.registers.keep_value(key, code, |key| &mut key.overwritten);
            }
        }
    }
}
