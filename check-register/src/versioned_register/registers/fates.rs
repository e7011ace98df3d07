//! Fates of writes: processes their completions, and determines when they can be discarded.

use super::Registers;
use crate::versioned_register::findings::Kind;
use crate::versioned_register::ops::Seen;
use crate::versioned_register::versions::{State, VersionId, flag};
use history_core::HistoryError;

/// The maximum number of failed writes that are kept. A write that is kept and observed later can be distinguished from
/// a version that was never written.
const FAILURES_KEPT_MAX: usize = 16_384;
/// With fewer crashed writes than this, a sweep is not worthwhile.
const SWEPT_MIN: usize = 64;

impl Registers {
    /// Processes the `ok` of a write.
    pub(crate) fn acknowledge(&mut self, version: VersionId, seen: Seen) -> Result<(), HistoryError> {
        self.end(version, flag::ACKED);
        self.observe(version, seen)?;
        self.remove_old(version);
        Ok(())
    }

    /// Processes the `fail` of a write.
    pub(crate) fn fail(&mut self, version: VersionId) {
        self.end(version, flag::FAILED);
        let row = &self.versions[version];
        match row.state {
            State::Accepted | State::Old => {
                let key = row.key;
                self.report(key, Kind::FailedWriteObserved, |explainer| explainer.failed_write_observed(version, None));
                self.remove_old(version);
            }
            // Until a version was observed, the first observation may still show this write.
            State::Idle if !self.keeps_all && self.register(row.key).head != VersionId::NONE => {
                self.failures.push_back((version, row.written.index));
                if self.failures.len() > FAILURES_KEPT_MAX {
                    self.forget_failure();
                }
            }
            _ => {}
        }
    }

    fn forget_failure(&mut self) {
        let Some((version, index)) = self.failures.pop_front() else { return };
        let row = &self.versions[version];
        // The id may have been used again since.
        if row.written.index == index && row.state == State::Idle && row.has(flag::FAILED) {
            self.versions.remove(version);
        }
    }

    /// Processes the `info` of a write: it may still happen.
    pub(crate) fn crash(&mut self, version: VersionId) {
        self.end(version, 0);
        self.remove_old(version);
        if self.settings.window.is_some() && !self.keeps_all && self.versions[version].state == State::Idle {
            self.crashed.push((version, self.versions[version].written.index));
            if self.crashed.len() > 2 * self.crashed_after_sweep + SWEPT_MIN {
                self.sweep();
            }
        }
    }

    /// Discards crashed writes that can no longer happen, because another write replaced the version that they would
    /// replace.
    fn sweep(&mut self) {
        let mut crashed = std::mem::take(&mut self.crashed);
        crashed.retain(|(version, index)| {
            let row = &self.versions[*version];
            // The row may belong to another version by now.
            if row.state != State::Idle || row.written.index != *index || row.has(flag::OPEN) {
                return false;
            }
            let register = self.register(row.key);
            let is_dead = match self.versions.find(row.key, row.prev) {
                Some(prev) => self.versions[prev].state == State::Accepted && prev != register.head,
                None => false,
            };
            if is_dead {
                self.versions.remove(*version);
            }
            !is_dead
        });
        self.crashed_after_sweep = crashed.len();
        self.crashed = crashed;
    }

    fn end(&mut self, version: VersionId, how: u8) {
        let row = &mut self.versions[version];
        row.flags = row.flags & !flag::OPEN | how;
    }

    fn remove_old(&mut self, version: VersionId) {
        if self.versions[version].state == State::Old {
            self.versions.remove(version);
        }
    }
}
