//! An object as independent parts, each checked separately, with common states and operations.
//!
//! Parts are as in [`Shortcuts::part`](check_register::Shortcuts::part). Whether every operation belongs to a part is
//! unknown before the end. While all do, parts are checked separately; the first inputs are kept, so that the object
//! can be checked as a whole from its start if an operation concerns the whole of it.

mod collect;
mod monitored;
mod typed;

use crate::Reason;
use crate::engine::kernel::{Stop, World, WorldOf};
use crate::engine::ops::{Event, Fate, NEVER, OpIx, OpRow, Seq};
use crate::engine::part::Part;
use crate::engine::part::ledger::{Ledger, SEARCHED_MAX};
use crate::engine::rules::Rules;
use crate::violation::{self, Violation};
use check_register::engine::ids;
use check_register::engine::ids::ClassId;
use history_core::hash::HashMap;
use std::collections::VecDeque;
pub(crate) use typed::Object;

/// An input.
#[derive(Clone, Copy, Debug)]
struct Input {
    op: OpIx,
    /// The class that the operation was assumed to have.
    class: Option<ClassId>,
    seq: Seq,
    event: Event,
}

/// The maximum number of inputs that are kept in case the object must be checked as a whole.
const INPUTS_MAX: usize = 1 << 14;

/// Up to this number of events, an object that turns out to be one part is searched again as one, if a monitor could
/// decide it.
const WHOLE_SEARCHED_MAX: Seq = 1 << 10;

/// The maximum number of violations that are kept, one per part.
const VIOLATIONS_MAX: usize = 8;

/// The number of inputs between checks whether something can be discarded.
const COLLECT_EVERY: u32 = 64;

/// The check of an object's history so far, by rules of any model.
pub(crate) struct ObjectOf<R: ?Sized> {
    parts: Vec<Part>,
    names: Vec<Option<u64>>,
    by_name: HashMap<u64, u32>,
    /// Whether the object is one part.
    whole: bool,
    /// All inputs, as long as they fit and the object is checked part by part.
    inputs: Option<Vec<Input>>,
    /// Operations in flight whose part is not known, in order of their calls.
    unplaced: VecDeque<(Seq, OpIx)>,
    /// The part of each operation in use; by `OpIx`.
    part_of: Vec<u32>,
    seq: Seq,
    lag_max: usize,
    /// The maximum number of configurations if there is no ledger.
    configurations_max: usize,
    countdown: u32,
    /// The input for a monitor, if the object is a collection and its values are distinct so far.
    ledger: Option<Ledger>,
    /// Whether the monitor decides: there are no parts then.
    is_monitored: bool,
    /// The maximum number of configurations before it does.
    searched_max: usize,
    violations: Vec<Violation<ClassId>>,
    /// Whether previous results are ignored.
    begins_again: bool,
    pub(crate) refused: u64,
    pub(crate) unknown: Option<Reason>,
    pub(crate) world: WorldOf<R>,
}

/// An object of any model.
pub(crate) type AnyObject<'m> = ObjectOf<dyn Rules + 'm>;

const NONE: u32 = u32::MAX;

impl<R> ObjectOf<R> {
    fn new(rules: R, configurations_max: usize, lag_max: usize) -> ObjectOf<R> {
        ObjectOf {
            parts: Vec::new(),
            names: Vec::new(),
            by_name: HashMap::default(),
            whole: false,
            inputs: Some(Vec::new()),
            unplaced: VecDeque::new(),
            part_of: Vec::new(),
            seq: 0,
            lag_max,
            configurations_max,
            countdown: COLLECT_EVERY,
            ledger: None,
            is_monitored: false,
            searched_max: SEARCHED_MAX,
            violations: Vec::new(),
            begins_again: false,
            refused: 0,
            unknown: None,
            world: WorldOf::new(rules, configurations_max),
        }
    }
}

impl AnyObject<'_> {
    /// Processes the call of an operation. `event` is one of the three events of calls.
    #[inline]
    pub(crate) fn call(&mut self, client: i64, start: u64, finish: u64, class: Option<ClassId>, event: Event) -> OpIx {
        let fate = match event {
            Event::Known => Fate::Returns,
            Event::Crashed => Fate::Crashed,
            _ => Fate::Open,
        };
        self.seq += 1;
        let in_flight = fate != Fate::Crashed;
        let ix =
            self.world.ops.push(OpRow { client, start, finish, ret: finish, seq: self.seq, class, fate, in_flight });
        if ix.at() == self.part_of.len() {
            self.part_of.push(NONE);
        }
        self.part_of[ix.at()] = NONE;
        self.take(Input { op: ix, class, seq: self.seq, event });
        ix
    }

    /// Processes another event of an operation that was called.
    #[inline]
    pub(crate) fn happen(&mut self, ix: OpIx, event: Event) {
        self.seq += 1;
        let row = self.world.ops.get_mut(ix);
        if let Event::Completes(_) = event {
            row.ret = self.seq;
        }
        row.in_flight = false;
        let input = Input { op: ix, class: row.class, seq: self.seq, event };
        self.take(input);
    }

    fn take(&mut self, input: Input) {
        if self.ledger.is_some() {
            self.enter(input);
        }
        if !self.is_monitored {
            if !self.whole {
                self.remember(input);
            }
            if !self.is_monitored {
                self.judge(input);
                self.watch_search(input);
            }
        }
        self.countdown -= 1;
        if self.countdown == 0 {
            self.countdown = COLLECT_EVERY;
            self.collect();
        }
    }

    /// Stores an input while the object is checked part by part. If it concerns the whole object, everything is checked
    /// again.
    #[cold]
    fn remember(&mut self, input: Input) {
        let class = match input.event {
            Event::Known | Event::Open | Event::Crashed => input.class,
            Event::Completes(class) | Event::Crashes(class) => class,
            Event::Returns | Event::Fails => None,
        };
        let about_all = |class: ClassId| {
            let table = &self.world.table;
            let says = !matches!(input.event, Event::Open | Event::Crashed | Event::Crashes(_));
            table.rules.part(class).is_none() && (says || !table.reads_only(class))
        };
        let about_all = class.is_some_and(about_all);
        match &mut self.inputs {
            _ if about_all && self.ledger.is_some() && self.seq > WHOLE_SEARCHED_MAX => self.monitor(input),
            Some(inputs) if about_all => {
                let inputs = std::mem::take(inputs);
                self.judge_whole(inputs);
            }
            Some(inputs) if inputs.len() < INPUTS_MAX => inputs.push(input),
            Some(_) => self.inputs = None,
            None if about_all => self.unknown = Some(Reason::Whole),
            None => {}
        }
    }

    /// Starts again with the object as one part.
    fn judge_whole(&mut self, inputs: Vec<Input>) {
        self.whole = true;
        self.inputs = None;
        self.unplaced.clear();
        self.by_name.clear();
        self.violations.clear();
        self.begins_again = true;
        (self.refused, self.unknown) = (0, None);
        self.part_of.fill(NONE);
        self.names = vec![None];
        self.parts = vec![Part::new(&mut self.world)];
        for input in inputs {
            if matches!(input.event, Event::Known | Event::Open | Event::Crashed) {
                let row = self.world.ops.get_mut(input.op);
                row.class = input.class;
                row.fate = match input.event {
                    Event::Known => Fate::Returns,
                    Event::Crashed => Fate::Crashed,
                    _ => Fate::Open,
                };
            }
            self.judge(input);
        }
    }

    /// The part of an operation with this class, if it is known.
    #[inline]
    fn part(&mut self, class: Option<ClassId>) -> Option<u32> {
        if self.whole {
            return Some(0);
        }
        let name = self.world.table.rules.part(class?)?;
        if let Some(part) = self.by_name.get(&name) {
            return Some(*part);
        }
        let part = ids::number(self.parts.len());
        self.parts.push(Part::new(&mut self.world));
        self.names.push(Some(name));
        self.by_name.insert(name, part);
        Some(part)
    }

    fn judge(&mut self, input: Input) {
        let Input { op, class, seq, event } = input;
        match event {
            Event::Known | Event::Open | Event::Crashed => match self.part(class) {
                Some(part) => {
                    self.part_of[op.at()] = part;
                    self.on(part, op, seq, event, class);
                }
                None if matches!(event, Event::Open) => self.unplaced.push_back((seq, op)),
                // Without a known effect, the operation does not matter.
                None => {}
            },
            _ => {
                let mut part = self.part_of[op.at()];
                if part == NONE {
                    let row = *self.world.ops.get(op);
                    if let Ok(at) = self.unplaced.binary_search_by_key(&row.seq, |(seq, _)| *seq) {
                        self.unplaced.remove(at);
                    }
                    let (Event::Completes(now) | Event::Crashes(now)) = event else { return };
                    if now.is_some() && row.fate == Fate::PassedOver {
                        self.unknown.get_or_insert(Reason::Lag);
                        return;
                    }
                    let Some(found) = self.part(now) else { return };
                    part = found;
                    self.part_of[op.at()] = part;
                    self.parts[ids::index(part)].adopt(&mut self.world, op);
                }
                self.on(part, op, seq, event, class);
            }
        }
    }

    /// Processes an event of an operation of a part.
    #[inline]
    fn on(&mut self, at: u32, op: OpIx, seq: Seq, event: Event, class: Option<ClassId>) {
        let part = &mut self.parts[ids::index(at)];
        if part.over.is_some() {
            return;
        }
        let world = &mut self.world;
        let taken = match event {
            _ if world.ops.get(op).fate == Fate::PassedOver => {
                if part.is_missed(world, op, event, class) {
                    self.unknown.get_or_insert(Reason::Lag);
                }
                return;
            }
            Event::Known => part.call_known(world, op),
            Event::Returns => part.ret(world, op, seq),
            Event::Open => {
                part.call_open(world, op);
                Ok(())
            }
            Event::Crashed => {
                part.call_crashed(world, op);
                Ok(())
            }
            Event::Completes(_) | Event::Fails | Event::Crashes(_) => end(part, world, op, seq, event, class),
        };
        if let Err(stop) = taken {
            self.give_up(at, stop);
            return;
        }
        if !part.is_logged() {
            return;
        }
        part.release(world, op);
        part.trim(world, self.unplaced.front().map_or(NEVER, |(seq, _)| *seq));
        if part.log.len() > self.lag_max.min(world.basis_max) || part.pile.len() > self.lag_max {
            self.pass_over(at);
        }
    }

    /// Handles a part whose log is too long.
    #[cold]
    fn pass_over(&mut self, at: u32) {
        let part = &mut self.parts[ids::index(at)];
        if part.pile.len() > self.lag_max && part.log.len() <= self.lag_max {
            part.over = Some(Stop::Full);
            self.unknown.get_or_insert(Reason::Crashed);
            return;
        }
        match part.move_basis(&mut self.world) {
            Err(stop) => return self.give_up(at, stop),
            Ok(true) => {
                let pin = self.unplaced.front().map_or(NEVER, |(seq, _)| *seq);
                return part.trim(&mut self.world, pin);
            }
            Ok(false) if part.log.len() <= self.lag_max => return,
            Ok(false) => {}
        }
        if let Some((_, op)) = self.unplaced.pop_front() {
            self.world.ops.get_mut(op).fate = Fate::PassedOver;
        } else if let Err(stop) = part.pass_over(&mut self.world) {
            self.give_up(at, stop);
            return;
        }
        let pin = self.unplaced.front().map_or(NEVER, |(seq, _)| *seq);
        self.parts[ids::index(at)].trim(&mut self.world, pin);
    }

    /// Handles a part with no configuration left, or too many.
    #[cold]
    fn give_up(&mut self, at: u32, stop: Stop) {
        let part = &mut self.parts[ids::index(at)];
        part.over = Some(stop);
        match stop {
            Stop::Full => _ = self.unknown.get_or_insert(Reason::Full),
            Stop::Spent(spent) => _ = self.unknown.get_or_insert(Reason::Spent(spent)),
            Stop::Wide => debug_assert!(false, "a part continues with fewer configurations"),
            Stop::InFlight => _ = self.unknown.get_or_insert(Reason::InFlight),
            Stop::Refused(op) => {
                self.refused += 1;
                if self.violations.len() < VIOLATIONS_MAX {
                    let name = self.names[ids::index(at)].map(|name| self.world.table.rules.describe_part(name));
                    let violation = violation::describe(&mut self.world, part, name, op);
                    self.violations.extend(violation);
                }
            }
        }
        // The part's data is not needed any more.
        part.forget(&mut self.world);
    }

    /// Returns true if no further event can change the outcome.
    pub(crate) fn is_over(&self) -> bool {
        self.whole && self.parts.first().is_some_and(|part| part.over.is_some()) || self.unknown == Some(Reason::Whole)
    }

    #[cfg(test)]
    pub(crate) fn widths(&self) -> Vec<(bool, usize)> {
        self.parts.iter().map(Part::width).collect()
    }

    /// The maximum current number of configurations of any part.
    pub(crate) fn configurations(&self) -> usize {
        self.parts.iter().map(Part::configurations).max().unwrap_or(0)
    }
}

/// Processes the end of an operation that was in flight.
fn end(
    part: &mut Part,
    world: &mut World<'_>,
    op: OpIx,
    seq: Seq,
    event: Event,
    was: Option<ClassId>,
) -> Result<(), Stop> {
    let row = world.ops.get_mut(op);
    match event {
        Event::Completes(class @ Some(_)) => {
            (row.class, row.fate) = (class, Fate::Returns);
            part.complete(world, op, was, seq)
        }
        Event::Crashes(class) => {
            (row.class, row.fate) = (class, Fate::Crashed);
            part.crash(world, op, was)
        }
        _ => {
            row.fate = Fate::Failed;
            part.fail(world, op, was)
        }
    }
}
