//! Data races: two accesses to data that is not atomic, at least one of which writes, and neither of which happens
//! before the other.
//!
//! Flanagan and Freund, "`FastTrack`: Efficient and Precise Dynamic Race Detection" (PLDI 2009): for each cell the last
//! write is kept, and for each thread its last read since. Each access has a number in its thread; the known numbers of
//! other threads are part of a thread's view, see `memory`. So a race is found in whatever order its two accesses are
//! executed: accesses need not be pause points, and one schedule of each kind is enough.

use super::Execution;
use super::cause::{Access, AccessKind, Cause, Race};
use crate::ThreadId;
use crate::ids::index;
use crate::op::ObjectId;
use std::panic::Location;

/// The accesses to each cell that later ones may race with.
#[derive(Debug, Default)]
pub(super) struct Races {
    cells: Vec<Cell>,
    /// By the numbers of objects: which cell it is, from 1 on.
    numbers: Vec<usize>,
}

#[derive(Debug, Default)]
struct Cell {
    write: Option<Numbered>,
    /// Those since the write, the last one of each thread.
    reads: Vec<Numbered>,
}

#[derive(Clone, Copy, Debug)]
struct Numbered {
    thread: ThreadId,
    number: u32,
    kind: AccessKind,
    place: &'static Location<'static>,
    /// Its step; `None` if its thread had not reached a pause point.
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
    /// Processes an access of the running thread to a cell. Returns whether it is a data race, which ends the
    /// execution.
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

    /// What was allocated in this execution and is not freed.
    pub(crate) fn leaked(&self) -> Vec<(&'static str, &'static Location<'static>)> {
        self.rows.iter().filter(|row| row.is_live).map(|row| (row.what, row.made)).collect()
    }
}
