//! All prefixes against the batch checker, on random histories of a store that errs, with limits so small that what may
//! be forgotten is forgotten at once, and with limits that are never reached.

use super::forget::Limits;
use super::run::{OnlineRun, Sizes, levels};
use crate::Exact;
use crate::list_append::ListAppend;
use crate::model::Model;
use crate::txn::expected::Expected;
use history_core::{Checker as _, History, Report, Run, Verdict};
use std::fmt::Write as _;

/// Numbers that look random, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    /// True so many times in 1,000.
    fn in_1000(&mut self, times: u64) -> bool {
        self.below(1000) < times
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Append(i64),
    Read,
}

/// A transaction on its way: its micro-ops, and how far it has come.
struct Txn {
    process: u64,
    mops: Vec<(usize, Kind)>,
    lists: Vec<Vec<i64>>,
    next: usize,
}

/// How often something goes wrong, in 1,000 times.
#[derive(Clone, Copy, Debug, Default)]
struct Bugs {
    /// Another transaction comes between two micro-ops.
    torn: u64,
    /// A read misses the last elements.
    stale: u64,
    /// An append is lost.
    lost: u64,
    /// An element of a read is something else.
    odd: u64,
    /// A failed transaction has happened.
    failed: u64,
}

/// A history of so many transactions.
struct World {
    random: Random,
    bugs: Bugs,
    store: Vec<Vec<i64>>,
    written: i64,
    open: Vec<Txn>,
    /// What crashed, and may happen yet.
    crashed: Vec<Txn>,
    text: String,
    /// In 1,000.
    unsure: u64,
}

fn history(seed: u64, txns: u64, bugs: Bugs) -> String {
    let mut random = Random(seed);
    let (keys, clients, unsure) = (1 + random.below(3), 2 + random.below(5), random.below(200));
    let (store, open) = (vec![Vec::new(); usize::try_from(keys).unwrap()], Vec::new());
    let crashed = Vec::new();
    let mut world = World { random, bugs, store, written: 0, open, crashed, text: String::new(), unsure };
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

    /// Takes one transaction a step further. The process that crashed, if one did.
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

    /// Does the next micro-op, or all of them.
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
                Kind::Append(value) => write!(self.text, "[:append {key} {value}]").unwrap(),
                Kind::Read if is_known => write!(self.text, "[:r {key} {:?}]", lists.next().unwrap()).unwrap(),
                Kind::Read => write!(self.text, "[:r {key} nil]").unwrap(),
            }
        }
        self.text.push_str("]}\n");
    }
}

/// Limits under which a clean-up comes after each event, and none.
const AT_ONCE: Limits = Limits { txns: usize::MAX, elems: usize::MAX, idle: u64::MAX, elems_max: usize::MAX, pause: 0 };
const NEVER: Limits = Limits { pause: usize::MAX / 2, ..AT_ONCE };

fn sizes(forgetting: Limits) -> Sizes {
    Sizes { forgetting, batch_ops: 1, whole: usize::MAX / 16, names: usize::MAX }
}

/// Nothing: the judges are alone.
struct Nobody;

impl Run for Nobody {
    fn observe(&mut self, _: &history_core::Op<'_>) -> Result<std::ops::ControlFlow<()>, history_core::HistoryError> {
        Ok(std::ops::ControlFlow::Continue(()))
    }

    fn finish(self: Box<Self>, _: &history_core::Budget) -> Result<history_core::Report, history_core::HistoryError> {
        unreachable!("it is let go at the first op")
    }
}

fn online(model: Model, sizes: Sizes) -> OnlineRun {
    let expected = Expected { models: vec![model], ..Expected::default() };
    OnlineRun::new(expected, &levels(&[model]).unwrap(), sizes, Box::new(Nobody))
}

/// The op at which a violation is known, if there is one, and the verdict at the end.
fn judge(text: &str, model: Model, sizes: Sizes) -> (Option<usize>, Verdict) {
    let history = History::parse(text).unwrap();
    let mut run = online(model, sizes);
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

/// What the batch checker says of the first `ops`.
fn batch(text: &str, ops: usize, model: Model) -> history_core::Report {
    let end = text.match_indices('\n').nth(ops - 1).map_or(text.len(), |(at, _)| at + 1);
    let history = History::parse(&text[..end]).unwrap();
    let checker = ListAppend { consistency_models: vec![model], exact: Exact::No, ..ListAppend::default() };
    checker.check(&history).unwrap()
}

/// The first op from which on the batch checker refuses every prefix. Bisection will do, since it takes nothing back;
/// but for reads of what is appended later, without real time.
fn first_refused(text: &str, model: Model) -> Option<usize> {
    let ops = text.lines().count();
    let is_refused = |ops: usize| batch(text, ops, model).verdict == Verdict::Invalid;
    if !is_refused(ops) {
        return None;
    }
    let mut at = ops;
    while at > 1 && is_refused(at - 1) {
        at -= 1;
    }
    Some(at - 1)
}

fn bugs(random: &mut Random) -> Bugs {
    let mut often = |times: u64| if random.below(3) == 0 { random.below(times) } else { 0 };
    Bugs { torn: often(900), stale: often(300), lost: often(100), odd: often(100), failed: often(600) }
}

fn model(name: &str) -> Model {
    name.parse().unwrap()
}

/// Compares all prefixes; how many histories were refused.
fn all_prefixes(name: &str, seeds: std::ops::Range<u64>, txns: u64) -> u32 {
    let model = model(name);
    let mut refused = 0;
    for seed in seeds {
        let mut random = Random(seed);
        let (bugs, txns) = (bugs(&mut random), 3 + random.below(txns));
        let text = history(seed, txns, bugs);
        let expected = first_refused(&text, model);
        let whole = batch(&text, text.lines().count(), model);
        // What nobody appended may be appended later, which only real time rules out.
        let has_times = name.starts_with("str") && !name.starts_with("strong-session");
        let first = expected.map(|at| batch(&text, at + 1, model));
        let is_garbage = |report: &Report| report.anomaly_types().any(|anomaly| anomaly == "garbage-read");
        let is_garbage = !has_times && first.is_some_and(|first| is_garbage(&first));
        refused += u32::from(expected.is_some());
        for limits in [NEVER, AT_ONCE] {
            let (found, verdict) = judge(&text, model, sizes(limits));
            if is_garbage {
                assert!(found.is_none() || found >= expected, "{name}, seed {seed}: a false alarm\n{text}");
                assert_eq!(verdict, Verdict::Invalid, "{name}, seed {seed}\n{text}");
                continue;
            }
            assert_eq!(
                found,
                expected,
                "{name}, seed {seed}, {limits:?}, {:?}\n{text}",
                whole.anomaly_types().collect::<Vec<_>>()
            );
            if verdict == Verdict::Valid {
                assert_eq!(whole.verdict, Verdict::Valid, "{name}, seed {seed}\n{text}");
            }
        }
    }
    refused
}

#[test]
fn every_prefix_at_strict_serializable() {
    let refused = all_prefixes("strict-serializable", 0..3000, 27);
    assert!((1_000..2_900).contains(&refused), "{refused}");
}

#[test]
fn every_prefix_at_other_levels() {
    for name in [
        "strong-snapshot-isolation",
        "strong-read-committed",
        "strong-session-serializable",
        "strong-session-snapshot-isolation",
        "serializable",
        "snapshot-isolation",
        "read-committed",
    ] {
        let refused = all_prefixes(name, 0..800, 27);
        assert!((150..780).contains(&refused), "{name}: {refused}");
    }
}

/// Long histories with rare bugs: forgetting changes nothing, and the batch checker agrees.
#[test]
fn what_is_forgotten_makes_no_difference() {
    let mut refused = 0;
    for seed in 0..300 {
        let mut random = Random(seed + 10_000);
        let txns = 300 + random.below(700);
        let mut rarely = || if random.below(3) == 0 { 1 + random.below(4) } else { 0 };
        let bugs = Bugs { torn: 5 * rarely(), stale: rarely(), lost: rarely(), odd: 0, failed: rarely() };
        let text = history(seed, txns, bugs);
        let at_once = judge(&text, Model::STRICT_SERIALIZABLE, sizes(AT_ONCE));
        assert_eq!(at_once, judge(&text, Model::STRICT_SERIALIZABLE, sizes(NEVER)), "seed {seed}");
        let whole = batch(&text, text.lines().count(), Model::STRICT_SERIALIZABLE).verdict;
        assert_eq!(at_once.1, whole, "seed {seed}");
        if let Some(op) = at_once.0 {
            refused += 1;
            let before = batch(&text, op, Model::STRICT_SERIALIZABLE).verdict;
            let then = batch(&text, op + 1, Model::STRICT_SERIALIZABLE).verdict;
            assert!(before != Verdict::Invalid && then == Verdict::Invalid, "seed {seed}: {before:?} {then:?}");
        }
    }
    assert!((100..280).contains(&refused), "{refused}");
}

/// Ops, a line each: process, type, micro-ops.
fn ops(lines: &[(u32, &str, &str)]) -> String {
    let line = |(process, kind, mops): &(u32, &str, &str)| {
        format!("{{:process {process}, :type :{kind}, :f :txn, :value [{mops}]}}\n")
    };
    lines.iter().map(line).collect()
}

/// Two unread appends of concurrent transactions, one of which is long over, and a transaction between them that read
/// before the other wrote: a read places them the other way around.
#[test]
fn what_is_between_two_unread_appends_is_kept() {
    let text = ops(&[
        (2, "invoke", "[:append y 1][:append x 2]"),
        (1, "invoke", "[:append x 1]"),
        (1, "ok", "[:append x 1]"),
        (3, "invoke", "[:r y nil]"),
        (3, "ok", "[:r y []]"),
        (4, "invoke", "[:append z 1]"),
        (2, "ok", "[:append y 1][:append x 2]"),
        (5, "invoke", "[:append z 2]"),
        (4, "ok", "[:append z 1]"),
        (6, "invoke", "[:append z 3]"),
        (5, "ok", "[:append z 2]"),
        (6, "ok", "[:append z 3]"),
        (7, "invoke", "[:r x nil]"),
        (7, "ok", "[:r x [2 1]]"),
    ]);
    assert_eq!(first_refused(&text, Model::STRICT_SERIALIZABLE), Some(13));
    assert_eq!(judge(&text, Model::STRICT_SERIALIZABLE, sizes(AT_ONCE)), (Some(13), Verdict::Invalid));
}

/// An append whose outcome is unknown is read long after.
#[test]
fn an_append_that_crashed_may_be_read_at_any_time() {
    let mut lines = vec![(0, "invoke", "[:append x 1]"), (0, "info", "[:append x 1]")];
    for _ in 0..500 {
        lines.extend([(1, "invoke", "[:r x nil]"), (1, "ok", "[:r x []]")]);
    }
    lines.extend([(1, "invoke", "[:r x nil]"), (1, "ok", "[:r x [1]]"), (1, "invoke", "[:r x nil]")]);
    let (good, stale) =
        ([&lines[..], &[(1, "ok", "[:r x [1]]")]].concat(), [&lines[..], &[(1, "ok", "[:r x []]")]].concat());
    assert_eq!(judge(&ops(&good), Model::STRICT_SERIALIZABLE, sizes(AT_ONCE)), (None, Verdict::Valid));
    let violated = (Some(stale.len() - 1), Verdict::Invalid);
    assert_eq!(judge(&ops(&stale), Model::STRICT_SERIALIZABLE, sizes(AT_ONCE)), violated);
}

/// While one operation is open, nothing is forgotten; at the limit it is given up, and then nothing is known to hold.
#[test]
fn an_operation_that_stays_open_is_given_up() {
    let values: Vec<String> = (1..2000).map(|value| format!("[:append x {value}]")).collect();
    let mut lines = vec![(0, "invoke", "[:r x nil]")];
    for value in &values {
        lines.extend([(1, "invoke", &value[..]), (1, "ok", &value[..])]);
    }
    lines.extend([(2, "invoke", "[:r x nil]"), (2, "ok", "[:r x [1]]")]);
    let few = Limits { txns: 100, pause: 1, ..AT_ONCE };
    let valid = &lines[..lines.len() - 2];
    let whole = judge(&ops(valid), Model::STRICT_SERIALIZABLE, sizes(AT_ONCE));
    assert_eq!(whole, (None, Verdict::Unknown), "no read has shown anything");
    let history = History::parse(&ops(valid)).unwrap();
    let mut run = online(Model::STRICT_SERIALIZABLE, sizes(few));
    for op in history.ops() {
        let _ = run.observe(&op).unwrap();
        assert!(run.transactions() <= 101, "{}", run.transactions());
    }
    let report = Box::new(run).finish(&history_core::Budget::default()).unwrap();
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("stayed open for so long"), "{:?}", report.notes);
    // What is found is found nevertheless.
    let found = judge(&ops(&lines), Model::STRICT_SERIALIZABLE, sizes(few));
    assert_eq!(found, (Some(lines.len() - 1), Verdict::Invalid));
}

/// Keys that come and go leave their names; one that comes again makes the verdict unknown, but no false alarm.
#[test]
fn a_key_that_was_dropped_is_known_by_its_name() {
    let mut text = String::new();
    for key in 0..400 {
        let (append, read) = (format!("[:append {key} 1]"), format!("[:r {key} nil]"));
        text += &ops(&[(0, "invoke", &append), (0, "ok", &append), (0, "invoke", &read)]);
        text += &ops(&[(0, "ok", &format!("[:r {key} [1]]"))]);
    }
    let few = Limits { elems: 20, idle: 40, pause: 1, ..AT_ONCE };
    assert_eq!(judge(&text, Model::STRICT_SERIALIZABLE, sizes(few)), (None, Verdict::Valid));
    let again = ops(&[(0, "invoke", "[:r 3 nil]"), (0, "ok", "[:r 3 [1]]")]);
    let (found, verdict) = judge(&(text + &again), Model::STRICT_SERIALIZABLE, sizes(few));
    assert_eq!((found, verdict), (None, Verdict::Unknown));
}

/// What crashed before its key was dropped, and is read after the key was named again, is no violation.
#[test]
fn an_append_to_a_key_that_was_dropped_may_be_read() {
    let mut text = ops(&[(9, "invoke", "[:append k 7]"), (9, "info", "[:append k 7]")]);
    for key in 0..400 {
        let (append, read) = (format!("[:append {key} 1]"), format!("[:r {key} nil]"));
        text += &ops(&[(0, "invoke", &append), (0, "ok", &append), (0, "invoke", &read)]);
        text += &ops(&[(0, "ok", &format!("[:r {key} [1]]"))]);
    }
    text += &ops(&[(0, "invoke", "[:append k 8]"), (0, "ok", "[:append k 8]"), (0, "invoke", "[:r k nil]")]);
    text += &ops(&[(0, "ok", "[:r k [8]]"), (0, "invoke", "[:r k nil]"), (0, "ok", "[:r k [8 7]]")]);
    let few = Limits { elems: 20, idle: 40, pause: 1, ..AT_ONCE };
    assert_eq!(judge(&text, Model::STRICT_SERIALIZABLE, sizes(few)), (None, Verdict::Unknown));
    let mut run = online(Model::STRICT_SERIALIZABLE, sizes(few));
    for op in History::parse(&text).unwrap().ops() {
        let _ = run.observe(&op).unwrap();
    }
    assert!(run.transactions() < 5, "{} are kept", run.transactions());
}

/// Without real time everything is kept, up to a limit; from there on it is enough that real time holds.
#[test]
fn a_level_without_real_time_rests_on_strict_serializability() {
    let mut lines = Vec::new();
    for _ in 0..40 {
        lines.extend([(1, "invoke", "[:r x nil]"), (1, "ok", "[:r x [1]]")]);
    }
    let start = [(0, "invoke", "[:append x 1]"), (0, "ok", "[:append x 1]")];
    let stale = [(1, "invoke", "[:r x nil]"), (1, "ok", "[:r x []]")];
    let few = Sizes { whole: 20, ..sizes(AT_ONCE) };
    let serializable = model("serializable");
    let at_end = [&start[..], &lines, &stale].concat();
    assert_eq!(judge(&ops(&at_end), serializable, few), (None, Verdict::Unknown), "it was not judged any more");
    assert_eq!(judge(&ops(&at_end), serializable, sizes(AT_ONCE)), (None, Verdict::Valid));
    assert_eq!(judge(&ops(&[&start[..], &lines].concat()), serializable, few), (None, Verdict::Valid));
}
