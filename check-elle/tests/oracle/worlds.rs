//! Small worlds: every history of a few transactions on two keys, with everything that can be read, and some that cannot.
//!
//! What is left out, because it changes nothing but names: the first micro-op is always of key x; elements are numbered in
//! the order in which they stand; transactions are numbered in the order in which they were invoked (or completed,
//! where there are no invocations).

use super::choices::Choices;
use std::fmt::Write;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) txns: usize,
    /// Micro-ops in a transaction, at the most.
    pub(crate) mops_max: usize,
    pub(crate) fates: &'static [Fate],
    pub(crate) clocks: &'static [Clock],
    pub(crate) lists: Lists,
}

/// How a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Ok,
    Fail,
    /// With its reads unknown, or known.
    Info,
    /// Never.
    Open,
}

/// Whether there are invocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Completions only, in every distribution over processes.
    None,
    /// In every interleaving.
    Some,
}

/// What reads may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lists {
    /// All arrangements of all sets of elements that were appended to the key.
    Possible,
    /// Also an element twice, and one that nobody appended.
    Any,
}

#[derive(Clone, Copy, Debug)]
enum Mop {
    Append(usize, u32),
    Read(usize),
}

const KEYS: [&str; 2] = [":x", ":y"];

/// The next history: EDN.
pub(crate) fn history(choices: &mut Choices, size: &Size) -> String {
    let mut elements = 0;
    let txns: Vec<Vec<Mop>> = (0..size.txns).map(|txn| mops(choices, size, txn == 0, &mut elements)).collect();
    let clock = choices.of(size.clocks);
    // Nothing is left of an open op where invocations are not recorded.
    let fates: Vec<Fate> =
        size.fates.iter().copied().filter(|fate| clock == Clock::Some || *fate != Fate::Open).collect();
    let fates: Vec<Fate> = txns.iter().map(|_| choices.of(&fates)).collect();
    let mut scribe = Scribe { choices, size, txns: &txns, fates: &fates, processes: Vec::new(), text: String::new() };
    match clock {
        Clock::None => scribe.completions(),
        Clock::Some => scribe.interleaving(),
    }
    scribe.text
}

fn mops(choices: &mut Choices, size: &Size, first_txn: bool, elements: &mut u32) -> Vec<Mop> {
    let len = 1 + choices.pick(size.mops_max);
    let mop = |at: usize| {
        let key = if first_txn && at == 0 { 0 } else { choices.pick(KEYS.len()) };
        if choices.pick(2) == 0 {
            return Mop::Read(key);
        }
        *elements += 1;
        Mop::Append(key, *elements)
    };
    (0..len).map(mop).collect()
}

struct Scribe<'a> {
    choices: &'a mut Choices,
    size: &'a Size,
    txns: &'a [Vec<Mop>],
    fates: &'a [Fate],
    /// Of the transactions so far.
    processes: Vec<usize>,
    text: String,
}

impl Scribe<'_> {
    fn completions(&mut self) {
        for txn in 0..self.txns.len() {
            self.choose_process(txn, &(0..txn).collect::<Vec<_>>());
            self.complete(txn);
        }
    }

    fn interleaving(&mut self) {
        let mut waiting: Vec<usize> = Vec::new();
        let mut done: Vec<usize> = Vec::new();
        let mut next = 0;
        while next < self.txns.len() || !waiting.is_empty() {
            let invoke = usize::from(next < self.txns.len());
            let choice = self.choices.pick(invoke + waiting.len());
            if choice < invoke {
                self.choose_process(next, &done);
                self.op(next, "invoke", false);
                if self.fates[next] != Fate::Open {
                    waiting.push(next);
                }
                next += 1;
            } else {
                let txn = waiting.remove(choice - invoke);
                self.complete(txn);
                done.push(txn);
            }
        }
    }

    /// A new process, or one that is free.
    fn choose_process(&mut self, txn: usize, done: &[usize]) {
        let crashed = |at: &usize| matches!(self.fates[*at], Fate::Info | Fate::Open);
        let busy: Vec<usize> =
            (0..txn).filter(|at| crashed(at) || !done.contains(at)).map(|at| self.processes[at]).collect();
        let mut free: Vec<usize> = done.iter().map(|at| self.processes[*at]).filter(|p| !busy.contains(p)).collect();
        free.sort_unstable();
        free.dedup();
        let choice = self.choices.pick(1 + free.len());
        let new = self.processes.iter().max().map_or(0, |max| max + 1);
        self.processes.push(if choice == 0 { new } else { free[choice - 1] });
    }

    fn complete(&mut self, txn: usize) {
        match self.fates[txn] {
            Fate::Ok => self.op(txn, "ok", true),
            Fate::Fail => self.op(txn, "fail", false),
            Fate::Info => {
                let reads = self.txns[txn].iter().any(|mop| matches!(mop, Mop::Read(_)));
                let known = reads && self.choices.pick(2) == 1;
                self.op(txn, "info", known);
            }
            Fate::Open => {}
        }
    }

    fn op(&mut self, txn: usize, kind: &str, known: bool) {
        let process = self.processes[txn];
        let mut mops = Vec::new();
        for mop in &self.txns[txn] {
            mops.push(match *mop {
                Mop::Append(key, element) => format!("[:append {} {element}]", KEYS[key]),
                Mop::Read(key) if known => format!("[:r {} {:?}]", KEYS[key], self.choose_list(key)),
                Mop::Read(key) => format!("[:r {} nil]", KEYS[key]),
            });
        }
        let mops = mops.join(" ");
        writeln!(self.text, "{{:process {process}, :type :{kind}, :f :txn, :value [{mops}]}}")
            .expect("strings take all");
    }

    fn choose_list(&mut self, key: usize) -> Vec<u32> {
        let mut left: Vec<u32> = Vec::new();
        for mop in self.txns.iter().flatten() {
            match *mop {
                Mop::Append(k, element) if k == key => left.push(element),
                _ => {}
            }
        }
        let mut list = Vec::new();
        loop {
            let more = match self.size.lists {
                Lists::Any if list.len() < 2 => 2,
                _ => 0,
            };
            // Stop, or take one that is left, or one that cannot be.
            let choice = self.choices.pick(1 + left.len() + more);
            if choice == 0 {
                return list;
            }
            if choice <= left.len() {
                list.push(left.remove(choice - 1));
            } else {
                list.push(if choice == left.len() + 1 { NOBODY } else { list.last().copied().unwrap_or(NOBODY) });
                return list;
            }
        }
    }
}

/// No transaction appends this.
const NOBODY: u32 = 99;
