//! Registers: the chain of accepted versions of each, to which every observed version must lead back.

pub(crate) mod by_time;
mod fates;
mod reads;
mod walk;

use super::clock::Order;
use super::explain::Explainer;
use super::findings::{Findings, Kind};
use super::ops::{Proposal, ReadOp};
use super::packed::{Interner, Packed};
use super::register::{Doubt, Register, Settings};
use super::versions::{KeyId, State, VersionId, Versions, flag};
use crate::engine::ids;
use by_time::ByTime;
use history_core::hash::HashMap;
use history_core::{Client, HistoryError};
use std::collections::VecDeque;

/// All registers of a history.
#[derive(Clone, Debug)]
pub(crate) struct Registers {
    pub(crate) settings: Settings,
    pub(crate) interner: Interner,
    pub(crate) versions: Versions,
    pub(crate) all: Vec<Register>,
    keys: HashMap<Packed, KeyId>,
    pub(crate) clients: Vec<Client>,
    pub(crate) findings: Findings,
    /// Versions that were read although no write had proposed them by then.
    pub(crate) garbage: Vec<VersionId>,
    /// First completions and last reads by time, once the order of the ops is not that of the times.
    pub(crate) by_time: Option<ByTime>,
    /// The order in which the ops are processed.
    pub(crate) order: Order,
    /// Whether all versions may be needed again.
    pub(crate) keeps_all: bool,
    /// Whether some version was discarded because of the window.
    pub(crate) has_forgotten: bool,
    pub(crate) failures: VecDeque<(VersionId, u64)>,
    pub(crate) crashed: Vec<(VersionId, u64)>,
    /// The number of crashed writes after the last sweep.
    pub(crate) crashed_after_sweep: usize,
    pub(crate) path: Vec<VersionId>,
}

impl Registers {
    pub(crate) fn new(settings: Settings, interner: Interner) -> Registers {
        Registers {
            settings,
            interner,
            versions: Versions::default(),
            all: Vec::new(),
            keys: HashMap::default(),
            clients: Vec::new(),
            findings: Findings::new(settings.witnesses_max),
            garbage: Vec::new(),
            by_time: None,
            order: Order::Index,
            keeps_all: false,
            has_forgotten: false,
            failures: VecDeque::new(),
            crashed: Vec::new(),
            crashed_after_sweep: 0,
            path: Vec::new(),
        }
    }

    /// The register of a key.
    #[inline]
    pub(crate) fn key(&mut self, key: Packed) -> Result<KeyId, HistoryError> {
        if let (Packed::NIL, [first, ..]) = (key, &self.all[..])
            && first.key == Packed::NIL
        {
            return Ok(KeyId(0));
        }
        match self.keys.get(&key) {
            Some(id) => Ok(*id),
            None => self.add_key(key),
        }
    }

    #[cold]
    fn add_key(&mut self, key: Packed) -> Result<KeyId, HistoryError> {
        // A history has fewer than 2^32 ops.
        let id = KeyId(ids::number(self.all.len()));
        self.keys.insert(key, id);
        self.all.push(Register {
            key,
            head: VersionId::NONE,
            head_place: 0,
            oldest: VersionId::NONE,
            oldest_place: 0,
            inferred: VersionId::NONE,
            inferred_id: None,
            doubt: None,
            stopped: false,
            reported: 0,
        });
        if let Some(initial) = self.settings.initial_id {
            let version = self.insert(id, initial)?;
            if let Some(value) = self.settings.initial_value {
                self.versions[version].value = value;
                self.versions[version].flags |= flag::VALUED;
            }
            self.begin(id, version);
        }
        Ok(id)
    }

    pub(crate) fn register(&self, key: KeyId) -> &Register {
        &self.all[ids::index(key.0)]
    }

    pub(crate) fn register_mut(&mut self, key: KeyId) -> &mut Register {
        &mut self.all[ids::index(key.0)]
    }

    pub(crate) fn insert(&mut self, key: KeyId, id: Packed) -> Result<VersionId, HistoryError> {
        let version = self.versions.insert(key, id)?;
        if let Some(by_time) = &mut self.by_time {
            by_time.reset(version, &self.versions);
        }
        Ok(version)
    }

    /// Resets everything that depends on the order of ops, to process them in another order.
    pub(crate) fn rewind(&mut self) {
        self.findings.clear_ordered();
        self.garbage.clear();
        let versions: Vec<VersionId> = self.versions.ids().collect();
        for version in versions {
            let row = &mut self.versions[version];
            (row.state, row.next, row.place) = (State::Idle, VersionId::NONE, 0);
        }
        for at in 0..self.all.len() {
            let register = &mut self.all[at];
            register.head = VersionId::NONE;
            register.head_place = 0;
            (register.inferred, register.inferred_id) = (VersionId::NONE, None);
            register.reported &= Kind::LASTING;
            let key = KeyId(ids::number(at));
            let initial = self.settings.initial_id.and_then(|id| self.versions.find(key, id));
            if let Some(initial) = initial {
                self.begin(key, initial);
            }
        }
    }

    /// Makes a version the first of a chain.
    pub(crate) fn begin(&mut self, key: KeyId, version: VersionId) {
        self.versions[version].state = State::Accepted;
        let register = self.register_mut(key);
        (register.head, register.oldest) = (version, version);
    }

    /// Records a write. Returns `None` if the register is no longer examined.
    pub(crate) fn propose(&mut self, key: KeyId, write: &Proposal) -> Result<Option<VersionId>, HistoryError> {
        if self.register(key).stopped {
            return Ok(None);
        }
        let version = match self.versions.find(key, write.id) {
            None if self.settings.initial_id == Some(write.id) => {
                self.stop(key, write, 0);
                return Ok(None);
            }
            None => {
                if self.register(key).inferred_id == Some(write.id) {
                    self.report(key, Kind::FutureRead, |explainer| explainer.forgotten_future_read(write));
                }
                self.insert(key, write.id)?
            }
            Some(version) => {
                let row = &mut self.versions[version];
                let again = row.has(flag::FAILED) && row.state == State::Idle && !row.has(flag::OPEN);
                if again {
                    // The previous attempt with this id did not happen.
                    row.flags = 0;
                } else if row.has(flag::PROPOSED) || self.settings.initial_id == Some(write.id) {
                    let first = row.written.index;
                    self.stop(key, write, first);
                    return Ok(None);
                }
                version
            }
        };
        let row = &mut self.versions[version];
        let read_as = (row.has(flag::VALUED) && row.value != write.value).then_some(row.value);
        row.prev = write.prev;
        row.value = write.value;
        row.written = write.at;
        row.writer = write.client;
        row.flags |= flag::PROPOSED | flag::VALUED | write.flags;
        if let Some(value) = read_as {
            let read = ReadOp::first_of(&self.versions[version], value);
            self.report(key, Kind::WrongValue, |explainer| explainer.wrong_value(version, None, &read));
        }
        self.proposed(version);
        Ok(Some(version))
    }

    /// Stops the register, because two writes, or a write and the initial version, have the same id.
    fn stop(&mut self, key: KeyId, write: &Proposal, first: u64) {
        let register = self.register_mut(key);
        register.stopped = true;
        register.doubt.get_or_insert(Doubt::Twice { id: write.id, first, second: write.at.index });
    }

    /// Checks a version after its write was invoked.
    pub(crate) fn proposed(&mut self, version: VersionId) {
        let row = &self.versions[version];
        let key = row.key;
        if matches!(row.state, State::Accepted | State::Old) && self.register(key).inferred == version {
            self.report(key, Kind::FutureRead, |explainer| explainer.future_read(version));
        }
    }

    /// Counts a violation, and explains the first of its kind for each key.
    #[cold]
    pub(crate) fn report(
        &mut self,
        key: KeyId,
        kind: Kind,
        explain: impl FnOnce(&Explainer<'_>) -> history_core::Witness,
    ) {
        let register = &self.all[ids::index(key.0)];
        let explainer = Explainer {
            versions: &self.versions,
            interner: &self.interner,
            clients: &self.clients,
            settings: &self.settings,
            register,
            order: self.order,
        };
        let bit = kind.bit();
        let is_first = register.reported & bit == 0;
        if self.findings.add(kind, is_first, || explain(&explainer)) {
            self.all[ids::index(key.0)].reported |= bit;
        }
    }

    /// Returns true if an anomaly was found, on the assumption that the order does not change.
    pub(crate) fn has_found(&self) -> bool {
        !self.findings.is_clean() || !self.garbage.is_empty()
    }

    /// Reports reads of versions that no write had proposed.
    pub(crate) fn report_garbage(&mut self, is_end: bool) {
        for version in std::mem::take(&mut self.garbage) {
            let row = &self.versions[version];
            let key = row.key;
            if row.has(flag::PROPOSED) {
                self.report(key, Kind::FutureRead, |explainer| explainer.future_read(version));
            } else {
                self.report(key, Kind::GarbageRead, |explainer| explainer.garbage_read(version, is_end));
            }
        }
    }
}
