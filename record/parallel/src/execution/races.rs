//! Data races: two accesses to non-atomic data, of which at least one writes and neither happens before the other.
//!
//! Flanagan and Freund, "`FastTrack`: Efficient and Precise Dynamic Race Detection" (PLDI 2009): for each cell, the
//! last write is kept, and the last read of each thread since then. Each access has a number in its thread; a thread's
//! view contains the numbers of the accesses of other threads that happened before, see `memory`. So a race is found in
//! whatever order its two accesses are executed: accesses need not be pause points, and one schedule of each kind is
//! enough.

use super::Execution;
use super::cause::{Access, AccessKind, Cause, Race};
use crate::ThreadId;
use crate::ids::index;
use crate::op::ObjectId;
use std::panic::Location;

/// For each cell, the accesses with which later ones may race.
#[derive(Debug, Default)]
pub(super) struct Races {
    cells: Vec<Cell>,
    /// By object number: the number of the cell, counted from 1; 0 for an object that is no cell.
    numbers: Vec<usize>,
}

#[derive(Debug, Default)]
struct Cell {
    write: Option<Numbered>,
    /// The reads since the last write: the last one of each thread.
    reads: Vec<Numbered>,
}

#[derive(Clone, Copy, Debug)]
struct Numbered {
    thread: ThreadId,
    number: u32,
    kind: AccessKind,
    place: &'static Location<'static>,
    /// The step of the access; `None` if its thread had not reached a pause point.
    step: Option<usize>,
}

impl Races {
    fn cell(&mut self, object: ObjectId) -> &mut Cell {
        let at = index(object.0);
        if self.numbers.len() <= at {
            self.numbers.resize(at + 1, 0);
        }
        if self.numbers[at] == 0 {
            self.cells.push(Cell::default());
            self.numbers[at] = self.cells.len();
        }
        &mut self.cells[self.numbers[at] - 1]
    }
}

impl Execution {
    /// Records an access of the running thread to a cell. Returns true if the execution ends because the access is a
    /// data race, or has ended before.
    pub(crate) fn access(&mut self, object: ObjectId, kind: AccessKind, place: &'static Location<'static>) -> bool {
        let me = self.current;
        let seen = &mut self.memory.own(me).seen;
        let number = seen.count_access(me);
        let cell = self.races.cell(object);
        let is_unseen = |access: &&Numbered| seen.accesses(access.thread) < access.number;
        let writes = kind != AccessKind::Read;
        let reads = if writes { &cell.reads[..] } else { &[] };
        let rival = cell.write.iter().chain(reads).find(is_unseen).copied();
        if kind == AccessKind::Write {
            self.threads[me.at()].wrote = self.steps.len();
        }
        let access = Numbered { thread: me, number, kind, place, step: self.steps.len().checked_sub(1) };
        if writes {
            cell.reads.clear();
            cell.write = Some(access);
        } else if let Some(own) = cell.reads.iter_mut().find(|read| read.thread == me) {
            *own = access;
        } else {
            cell.reads.push(access);
        }
        let Some(rival) = rival.filter(|_| !self.over) else { return self.over };
        let row = &self.rows[index(object.0)];
        let accesses = [rival, access].map(|access| Access {
            thread: access.thread,
            name: self.threads[access.thread.at()].name.clone(),
            kind: access.kind,
            place: access.place,
            step: access.step,
        });
        self.cause = Some(Cause::Race(Race { what: row.what, made: row.made, accesses }));
        self.over = true;
        true
    }

    /// The types of the values that were allocated in this execution and not freed, and the places of their creation.
    pub(crate) fn leaked(&self) -> Vec<(&'static str, &'static Location<'static>)> {
        self.rows.iter().filter(|row| row.is_live).map(|row| (row.what, row.made)).collect()
    }
}
