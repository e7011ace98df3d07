//! Test helpers: random histories of a faulty store, runs with small limits, and the batch checker to compare with.

pub(crate) mod restored;
pub(crate) mod unsaid;

use super::again::Beside;
use super::judge::Judge;
use super::limits::Limits;
use super::run::{OnlineRun, Sizes, levels};
use crate::model::Model;
use crate::txn::expected::Expected;
use history_core::{Checker, Datum, History, Report, Run, Verdict};
use std::fmt::Write as _;

/// A pseudorandom generator with the same numbers in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    /// Returns true `times` times in 1,000.
    pub(crate) fn in_1000(&mut self, times: u64) -> bool {
        self.below(1000) < times
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Append(i64),
    Read,
}

/// A transaction in progress: its micro-ops, and the next one.
struct Txn {
    process: u64,
    mops: Vec<(usize, Kind)>,
    lists: Vec<Vec<i64>>,
    next: usize,
}

/// The frequency of each fault, per 1,000.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bugs {
    /// Another transaction comes between two micro-ops.
    pub(crate) torn: u64,
    /// A read misses the last elements.
    pub(crate) stale: u64,
    /// An append is lost.
    pub(crate) lost: u64,
    /// An element of a read is something else.
    pub(crate) odd: u64,
    /// A failed transaction has happened.
    pub(crate) failed: u64,
}

/// A simulated store that records a history.
struct World {
    random: Random,
    bugs: Bugs,
    store: Vec<Vec<i64>>,
    written: i64,
    open: Vec<Txn>,
    /// Crashed transactions that may still happen.
    crashed: Vec<Txn>,
    text: String,
    /// Per 1,000.
    unsure: u64,
    is_register: bool,
}

/// A history of lists, or of registers that hold the last element of each list.
pub(crate) fn history(seed: u64, txns: u64, bugs: Bugs, is_register: bool) -> String {
    let mut random = Random(seed);
    let (keys, clients, unsure) = (1 + random.below(3), 2 + random.below(5), random.below(200));
    let (store, open) = (vec![Vec::new(); usize::try_from(keys).unwrap()], Vec::new());
    let crashed = Vec::new();
    let mut world = World { random, bugs, store, written: 0, open, crashed, text: String::new(), unsure, is_register };
    let mut processes: Vec<u64> = (0..clients).collect();
    let mut started = 0;
    while started < txns || !world.open.is_empty() {
        let free: Vec<usize> =
            (0..processes.len()).filter(|at| !world.open.iter().any(|txn| txn.process == processes[*at])).collect();
        if started < txns && !free.is_empty() && world.random.below(2) == 0 {
            let client = free[usize::try_from(world.random.below(free.len() as u64)).unwrap()];
            world.invoke(processes[client]);
            started += 1;
        } else if !world.open.is_empty()
            && let Some(crashed) = world.advance()
        {
            let at = processes.iter().position(|process| *process == crashed).unwrap();
            processes[at] += clients;
        }
        if started == txns && world.random.below(40) == 0 {
            break;
        }
    }
    world.text
}

impl World {
    fn invoke(&mut self, process: u64) {
        let mut mops = Vec::new();
        for _ in 0..=self.random.below(3) {
            let key = usize::try_from(self.random.below(self.store.len() as u64)).unwrap();
            if self.random.below(2) == 0 {
                self.written += 1;
                mops.push((key, Kind::Append(self.written)));
            } else {
                mops.push((key, Kind::Read));
            }
        }
        let txn = Txn { process, mops, lists: Vec::new(), next: 0 };
        self.write(&txn, "invoke", false);
        self.open.push(txn);
    }

    /// Advances one transaction by a step. Returns its process if that crashed.
    fn advance(&mut self) -> Option<u64> {
        let number = self.random.below(self.open.len() as u64);
        let mut txn = self.open.remove(usize::try_from(number).unwrap());
        if !self.crashed.is_empty() && self.random.below(4) == 0 {
            let mut late = self.crashed.remove(0);
            self.apply(&mut late);
        }
        if self.random.in_1000(self.unsure) {
            let process = txn.process;
            if self.random.below(2) == 0 {
                if self.random.in_1000(self.bugs.failed) {
                    self.apply(&mut txn);
                }
                if txn.next == 0 || self.random.in_1000(self.bugs.failed) {
                    self.write(&txn, "fail", false);
                    return None;
                }
            }
            self.write(&txn, "info", false);
            self.crashed.push(txn);
            return Some(process);
        }
        if txn.next < txn.mops.len() {
            self.apply(&mut txn);
            self.open.push(txn);
        } else {
            self.write(&txn, "ok", true);
        }
        None
    }

    /// Applies the next micro-op, or all of them.
    fn apply(&mut self, txn: &mut Txn) {
        while let Some((key, kind)) = txn.mops.get(txn.next).copied() {
            txn.next += 1;
            match kind {
                Kind::Append(_) if self.random.in_1000(self.bugs.lost) => {}
                Kind::Append(value) => self.store[key].push(value),
                Kind::Read => {
                    let mut list = self.store[key].clone();
                    if self.random.in_1000(self.bugs.stale) {
                        let len = self.random.below(list.len() as u64 + 1);
                        list.truncate(usize::try_from(len).unwrap());
                    }
                    if self.random.in_1000(self.bugs.odd) && !list.is_empty() {
                        let at = usize::try_from(self.random.below(list.len() as u64)).unwrap();
                        list[at] = i64::try_from(self.random.below(8)).unwrap() + self.written - 4;
                    }
                    txn.lists.push(list);
                }
            }
            if self.random.in_1000(self.bugs.torn) {
                break;
            }
        }
    }

    fn write(&mut self, txn: &Txn, kind: &str, is_known: bool) {
        let mut lists = txn.lists.iter();
        let process = txn.process;
        write!(self.text, "{{:process {process}, :type :{kind}, :f :txn, :value [").unwrap();
        for (key, mop) in &txn.mops {
            match mop {
                Kind::Append(value) => {
                    let f = if self.is_register { "w" } else { "append" };
                    write!(self.text, "[:{f} {key} {value}]").unwrap();
                }
                Kind::Read if is_known && self.is_register => {
                    let last = lists.next().unwrap().last().map_or("nil".to_owned(), i64::to_string);
                    write!(self.text, "[:r {key} {last}]").unwrap();
                }
                Kind::Read if is_known => write!(self.text, "[:r {key} {:?}]", lists.next().unwrap()).unwrap(),
                Kind::Read => write!(self.text, "[:r {key} nil]").unwrap(),
            }
        }
        self.text.push_str("]}\n");
    }
}

/// Limits under which a clean-up follows each event, and limits under which there is none.
pub(crate) const AT_ONCE: Limits =
    Limits { txns: usize::MAX, values: usize::MAX, idle: u64::MAX, values_max: usize::MAX, pause: 0 };
pub(crate) const NEVER: Limits = Limits { pause: usize::MAX / 2, ..AT_ONCE };

pub(crate) fn sizes(forgetting: Limits) -> Sizes {
    Sizes { forgetting, batch_ops: 1, whole: usize::MAX / 16, names: usize::MAX }
}

/// A batch checker that does nothing, so the judges run alone.
struct Nobody;

impl Beside for Nobody {
    fn step_in(&mut self, _: u64) -> Result<(), history_core::HistoryError> {
        Ok(())
    }

    fn sound(&self) -> Option<u64> {
        None
    }
}

impl Run for Nobody {
    fn observe(&mut self, _: &history_core::Op<'_>) -> Result<std::ops::ControlFlow<()>, history_core::HistoryError> {
        Ok(std::ops::ControlFlow::Continue(()))
    }

    fn finish(self: Box<Self>, _: &history_core::Budget) -> Result<history_core::Report, history_core::HistoryError> {
        // The judges found a violation at the first op.
        Ok(Report::new("nobody", Verdict::Unknown))
    }
}

pub(crate) fn online<J: Judge>(model: Model, settings: J::Settings, sizes: Sizes) -> OnlineRun<J> {
    let expected = Expected { models: vec![model], ..Expected::default() };
    OnlineRun::new(expected, &levels::<J>(&[model]).unwrap(), settings, sizes, Box::new(Nobody))
}

/// Returns the op at which a violation is found, if there is one, and the final verdict.
pub(crate) fn judge<J: Judge>(
    text: &str,
    model: Model,
    settings: J::Settings,
    sizes: Sizes,
) -> (Option<usize>, Verdict) {
    let history = History::parse(text).unwrap();
    let mut run = online::<J>(model, settings, sizes);
    let mut violated = None;
    for (at, op) in history.ops().enumerate() {
        let _ = run.observe(&op).unwrap();
        if run.is_violated() && violated.is_none() {
            violated = Some(at);
            assert_eq!(run.violation().unwrap().verdict, Verdict::Invalid);
        }
    }
    (violated, Box::new(run).finish(&history_core::Budget::default()).unwrap().verdict)
}

/// Returns each op that proves a violation, in a run that continues after violations; `None` if it was not judged to
/// the end.
pub(crate) fn violations<J: Judge>(
    text: &str,
    model: Model,
    settings: J::Settings,
    sizes: Sizes,
) -> Option<Vec<usize>> {
    let history = History::parse(text).unwrap();
    let mut run = online::<J>(model, settings, sizes);
    assert!(run.keep_going());
    let mut found = Vec::new();
    for (at, op) in history.ops().enumerate() {
        assert!(run.observe(&op).unwrap().is_continue());
        if run.violations() > found.len() as u64 {
            found.push(at);
            assert_eq!((run.violations(), run.is_violated()), (found.len() as u64, true));
            let report = run.last_violation().unwrap();
            assert_eq!(report.anomalies[0].witnesses[0].facts[0].1, Datum::from(at as u64));
        }
    }
    run.is_judging().then_some(found)
}

/// A history, followed by one with its own keys and processes.
pub(crate) fn one_after_another(first: &str, second: &str) -> String {
    let mut text = first.to_owned();
    for line in second.lines() {
        let line = line.replace(":process ", ":process 9").replace(":append ", ":append 9");
        text += &line.replace(":w ", ":w 9").replace(":r ", ":r 9");
        text.push('\n');
    }
    text
}

/// The batch checker's report on the first `ops` ops.
pub(crate) fn batch(checker: &dyn Checker, text: &str, ops: usize) -> Report {
    let end = text.match_indices('\n').nth(ops - 1).map_or(text.len(), |(at, _)| at + 1);
    checker.check(&History::parse(&text[..end]).unwrap()).unwrap()
}

/// The first op from which on the batch checker finds every prefix invalid. Bisection would suffice, since violations
/// are permanent, except for reads of values that are written later, without real time.
pub(crate) fn first_refused(checker: &dyn Checker, text: &str) -> Option<usize> {
    let ops = text.lines().count();
    let is_refused = |ops: usize| batch(checker, text, ops).verdict == Verdict::Invalid;
    if !is_refused(ops) {
        return None;
    }
    let mut at = ops;
    while at > 1 && is_refused(at - 1) {
        at -= 1;
    }
    Some(at - 1)
}

/// Random frequencies of faults; each fault is absent in two of three histories.
pub(crate) fn bugs(random: &mut Random) -> Bugs {
    let mut often = |times: u64| if random.below(3) == 0 { random.below(times) } else { 0 };
    Bugs { torn: often(900), stale: often(300), lost: often(100), odd: often(100), failed: often(600) }
}
