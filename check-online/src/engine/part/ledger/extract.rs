//! Entries as operations for a monitor, with numbers for values: a value that is inserted again gets another number.

use super::entry::{Doing, Entry};
use crate::engine::ops::{NEVER, Seq};
use check_register::models::{Deque, DequeOp, End, FifoQueue, PriorityQueue, QueueOp, Removed, Stack, UnorderedQueue};
use check_register::{Answer, Collection, Engine, Operation, Refusal, Settings, check_with};
use history_core::cast::Cast as _;
use history_core::hash::{HashMap, HashSet};
use history_core::{Budget, Verdict};

/// Some of the entries as operations for the monitor.
pub(super) struct Extract {
    operations: Vec<Operation<QueueOp>>,
    /// By operation: whether it acts at the front.
    is_front: Vec<bool>,
    /// By operation: the position of its entry.
    pub(super) entries: Vec<usize>,
    /// By number of a value: its put and its take, if the extract contains them.
    pub(super) moved: Vec<(Option<usize>, Option<usize>)>,
    /// By number of a value: its priority, if it was inserted.
    priorities: Vec<i64>,
    /// Numbers of values that were inserted again while they may have been present, or taken again.
    pub(super) repeated: HashSet<usize>,
}

impl Extract {
    /// Creates the operations called up to an event, with the results known by then.
    pub(super) fn new(all: &[Entry], until: Seq) -> Extract {
        let mut times: Vec<(Seq, bool, usize)> = Vec::with_capacity(2 * all.len());
        for (at, entry) in all.iter().enumerate().filter(|(_, entry)| entry.call <= until) {
            if entry.doing == Doing::Failed {
                continue;
            }
            times.push((entry.call, false, at));
            if entry.ret != NEVER && entry.ret <= until {
                times.push((entry.ret, true, at));
            }
        }
        times.sort_unstable();
        let mut extract = Extract {
            operations: Vec::new(),
            is_front: Vec::new(),
            entries: Vec::new(),
            moved: Vec::new(),
            priorities: Vec::new(),
            repeated: HashSet::default(),
        };
        let mut place = vec![0; all.len()];
        // By value: its current number.
        let mut now: HashMap<i64, usize> = HashMap::default();
        for (time, is_return, at) in times {
            let doing = all[at].doing;
            if !is_return {
                let op = match doing {
                    Doing::Put(value) => {
                        let number = extract.put(&mut now, value, at);
                        extract.priorities[number] = all[at].priority;
                        QueueOp::Put(number.to_i64())
                    }
                    Doing::Take(_) | Doing::Nothing | Doing::Open | Doing::Failed => QueueOp::Take(Removed::Unknown),
                };
                place[at] = extract.operations.len();
                extract.operations.push(Operation::crashed(0, op, time));
                extract.is_front.push(all[at].is_front);
                extract.entries.push(at);
                continue;
            }
            let op = match doing {
                Doing::Take(value) => QueueOp::Take(Removed::Value(extract.take(&mut now, value, at).to_i64())),
                Doing::Nothing => QueueOp::Take(Removed::Nothing),
                Doing::Put(_) | Doing::Open | Doing::Failed => extract.operations[place[at]].op,
            };
            let operation = &mut extract.operations[place[at]];
            (operation.op, operation.ret) = (op, Some(time));
        }
        extract
    }

    /// The number of a value that is inserted.
    fn put(&mut self, now: &mut HashMap<i64, usize>, value: i64, at: usize) -> usize {
        let new = self.moved.len();
        let number = match now.get(&value) {
            Some(number) if self.moved[*number].0.is_none() || self.moved[*number].1.is_none() => {
                self.repeated.insert(*number);
                *number
            }
            Some(number) if self.repeated.contains(number) => *number,
            _ => new,
        };
        if number == new {
            self.moved.push((Some(at), None));
            self.priorities.push(0);
            now.insert(value, number);
        }
        number
    }

    /// The number of a value that is removed.
    fn take(&mut self, now: &mut HashMap<i64, usize>, value: i64, at: usize) -> usize {
        let new = self.moved.len();
        let number = *now.entry(value).or_insert(new);
        if number == new {
            self.moved.push((None, None));
            self.priorities.push(0);
        }
        if self.moved[number].1.replace(at).is_some() {
            self.repeated.insert(number);
        }
        number
    }

    /// The operations as those of a deque.
    fn at_ends(&self) -> Vec<Operation<DequeOp>> {
        let at_end = |(operation, is_front): (&Operation<QueueOp>, &bool)| {
            let end = if *is_front { End::Front } else { End::Back };
            let op = match operation.op {
                QueueOp::Put(value) => DequeOp::Push(end, value),
                QueueOp::Take(removed) => DequeOp::Pop(end, removed),
            };
            Operation { process: operation.process, op, call: operation.call, ret: operation.ret }
        };
        self.operations.iter().zip(&self.is_front).map(at_end).collect()
    }

    /// Decides by the monitor or, if it cannot, by a search with this maximum number of configurations.
    pub(super) fn decide(&self, collection: Collection, most: usize, budget: &Budget) -> Answer {
        let answer = self.by(Engine::Monitor, collection, most, budget);
        if answer.verdict() == Verdict::Unknown { self.by(Engine::Portfolio, collection, most, budget) } else { answer }
    }

    /// The refusal, if there is one. Only the monitor returns operations that contradict each other. But if it cannot
    /// decide all earlier events, it may name a later operation than a search does.
    pub(super) fn refusal(&self, collection: Collection, most: usize) -> Option<Refusal> {
        let of = |engine| super::refusal(self.by(engine, collection, most, &Budget::default()));
        match (of(Engine::Portfolio), of(Engine::Monitor)) {
            (Some(first), Some(monitored)) if first.op == monitored.op => Some(monitored),
            (first, monitored) => first.or(monitored),
        }
    }

    fn by(&self, engine: Engine, collection: Collection, most: usize, budget: &Budget) -> Answer {
        let settings = Settings { engine, configurations_max: most };
        let operations = &self.operations;
        match collection {
            Collection::Fifo => check_with(&FifoQueue::default(), operations, settings, budget),
            Collection::Stack => check_with(&Stack::default(), operations, settings, budget),
            Collection::Priority => {
                let priorities = (0..).zip(self.priorities.iter().copied());
                check_with(&PriorityQueue::with_priorities(priorities), operations, settings, budget)
            }
            Collection::Deque => check_with(&Deque::default(), &self.at_ends(), settings, budget),
            Collection::Bag | Collection::Set => check_with(&UnorderedQueue::default(), operations, settings, budget),
        }
    }
}
