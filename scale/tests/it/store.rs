//! Generated histories of transactions, and their results in shares.

use crate::made::{Dice, many, many_with, one_machine};
use histcheck_scale::Spill;
use histcheck_scale::histcheck_front::Setup;
use histcheck_scale::histcheck_front::history_core::share::{KnotsRun, Share, ShareRun, Totals};
use histcheck_scale::histcheck_front::history_core::{Checker, OptionError, OptionSpec, Options, Report, Run};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The bug of a store.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bug {
    None,
    /// Some transactions read the state at the time when another one was invoked, long before.
    Stale,
    /// Some transactions write although they failed.
    Aborted,
    /// Some transactions read one key later than the others.
    Skew,
}

/// A micro-op: its key, and the appended value; without a value it is a read.
type Mop = (u64, Option<u64>);
type Lists = BTreeMap<u64, Vec<u64>>;

/// A transaction in flight: its micro-ops, and the results of its reads once it ran.
struct Txn {
    mops: Vec<Mop>,
    ran: Option<Vec<Vec<u64>>>,
}

/// The objects that transactions append to or write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Objects {
    Lists,
    /// Each contains the last element of a list.
    Registers,
}

/// A history of six clients.
struct Store {
    objects: Objects,
    dice: Dice,
    bug: Bug,
    lists: Lists,
    before: Lists,
    /// The last element appended.
    last: u64,
    text: String,
}

impl Store {
    fn run(&mut self, mops: &[Mop], is_wrong: bool) -> Vec<Vec<u64>> {
        let mut own = if is_wrong && self.bug == Bug::Stale { self.before.clone() } else { self.lists.clone() };
        if self.dice.below(5) == 0 {
            self.before = self.lists.clone();
        }
        let mut seen = Vec::new();
        for (key, append) in mops {
            let list = own.entry(*key).or_default();
            if let Some(element) = append {
                list.push(*element);
                self.lists.entry(*key).or_default().push(*element);
            }
            seen.push(list.clone());
        }
        seen
    }

    fn write(&mut self, process: u64, kind: &str, mops: &[Mop], seen: Option<&[Vec<u64>]>) {
        let mut value = String::new();
        let write = if self.objects == Objects::Lists { "append" } else { "w" };
        for (at, (key, append)) in mops.iter().enumerate() {
            let list = seen.map(|seen| &seen[at]);
            match (append, list) {
                (Some(element), _) => _ = write!(value, "[:{write} {key} {element}] "),
                (None, Some(list)) if self.objects == Objects::Lists => _ = write!(value, "[:r {key} {list:?}] "),
                (None, Some(list)) => {
                    let last = list.last().map_or("nil".to_owned(), u64::to_string);
                    _ = write!(value, "[:r {key} {last}] ");
                }
                (None, None) => _ = write!(value, "[:r {key} nil] "),
            }
        }
        _ = writeln!(self.text, "{{:process {process}, :type :{kind}, :f :txn, :value [{value}]}}");
    }
}

/// A history of this number of transactions on this number of keys.
pub(crate) fn history(objects: Objects, seed: u64, txns: u64, keys: u64, bug: Bug) -> String {
    let (lists, before) = (Lists::new(), Lists::new());
    let mut store = Store { objects, dice: Dice(seed), bug, lists, before, last: 0, text: String::new() };
    let mut clients: Vec<(u64, Option<Txn>)> = (0..6).map(|number| (number, None)).collect();
    let mut left = txns;
    while left > 0 || clients.iter().any(|(_, txn)| txn.is_some()) {
        let at = usize::try_from(store.dice.below(6)).unwrap();
        let (process, txn) = (clients[at].0, clients[at].1.take());
        clients[at].1 = match txn {
            None if left == 0 => None,
            None => {
                left -= 1;
                let mops = (0..=store.dice.below(3)).map(|_| {
                    let appends = store.dice.below(2) == 0;
                    store.last += u64::from(appends);
                    (store.dice.below(keys), appends.then_some(store.last))
                });
                let mops: Vec<Mop> = mops.collect();
                store.write(process, "invoke", &mops, None);
                Some(Txn { mops, ran: None })
            }
            Some(Txn { mops, ran: None }) => {
                let is_wrong = store.dice.below(15) == 0;
                let ran = if is_wrong && bug == Bug::Skew && mops.len() > 1 {
                    let mut seen = store.run(&mops[1..], false);
                    store.run(&[(0, Some(1_000_000 + left))], false);
                    seen.splice(0..0, store.run(&mops[..1], false));
                    seen
                } else {
                    store.run(&mops, is_wrong)
                };
                Some(Txn { mops, ran: Some(ran) })
            }
            Some(Txn { mops, ran: Some(seen) }) => {
                match store.dice.below(30) {
                    0 => {
                        store.write(process, "info", &mops, None);
                        clients[at].0 += 6;
                    }
                    1 if bug == Bug::Aborted => store.write(process, "fail", &mops, None),
                    _ => store.write(process, "ok", &mops, Some(&seen)),
                }
                None
            }
        };
    }
    store.text
}

/// The result of the workers, after a comparison with one machine.
pub(crate) fn assert_equal(setup: &Setup<'_>, text: &str) -> String {
    let expected = one_machine(setup, text.as_bytes());
    for (workers, range_bytes) in [(1, 1 << 20), (2, 3000), (4, 700), (7, 200)] {
        let said = many(setup, text.as_bytes(), workers, range_bytes);
        assert_eq!(said, expected, "{workers} workers, {range_bytes} bytes");
    }
    expected
}

/// A checker that can check only shares.
pub(crate) struct OnlyShares<C>(pub(crate) C);

impl<C: Checker> Checker for OnlyShares<C> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn summary(&self) -> &str {
        self.0.summary()
    }

    fn options(&self) -> &[OptionSpec] {
        self.0.options()
    }

    fn start(&self, _: &Options) -> Result<Box<dyn Run>, OptionError> {
        Err(OptionError::new("none", "a whole history"))
    }

    fn start_share(&self, options: &Options, share: Share) -> Result<Option<Box<dyn ShareRun>>, OptionError> {
        self.0.start_share(options, share)
    }

    fn join_shares(&self, reports: Vec<Report>, totals: &Totals) -> Option<Report> {
        self.0.join_shares(reports, totals)
    }

    fn start_knots(&self, options: &Options, count: usize) -> Result<Option<Box<dyn KnotsRun>>, OptionError> {
        self.0.start_knots(options, count)
    }
}

/// The result with a limit on memory. `memory` returns the memory in use.
pub(crate) fn spilled(
    checker: impl Checker,
    text: &str,
    bytes_max: u64,
    memory: fn() -> Option<u64>,
) -> serde_json::Value {
    let dir = tempfile::tempdir().unwrap();
    let only = Setup::new(OnlyShares(checker), Options::new());
    let said = many_with(&only, text.as_bytes(), 1, |job| {
        job.spill = Some(Spill::new(dir.path(), bytes_max, memory));
    });
    serde_json::from_str(&said).unwrap()
}

/// Memory above the limit until some passes have begun, so that the number of passes is doubled, and doubled again.
pub(crate) fn too_much(times: u64) -> u64 {
    thread_local! {
        static LOOKS: Cell<u64> = const { Cell::new(0) };
    }
    let looks = LOOKS.get();
    LOOKS.set(if times == 0 { 0 } else { looks + 1 });
    if looks < times { 1 << 30 } else { 0 }
}
