//! Small worlds: every history of a few transactions on two keys, with every possible result of reads, and some
//! impossible ones.
//!
//! Histories that differ only in names are omitted: the first micro-op is always of key x; elements are numbered in the
//! order of their writes; transactions are numbered in the order of their invocations (or of their completions, where
//! there are no invocations).

use super::choices::Choices;
use std::fmt::Write;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) txns: usize,
    /// The maximum of micro-ops in a transaction.
    pub(crate) mops_max: usize,
    pub(crate) fates: &'static [Fate],
    pub(crate) clocks: &'static [Clock],
    pub(crate) seen: Seen,
    pub(crate) kind: Kind,
    /// The maximum of clients; a client whose op crashed continues as another process.
    pub(crate) clients_max: usize,
}

pub(crate) const FATES: &[Fate] = &[Fate::Ok, Fate::Fail, Fate::Info, Fate::Open];
pub(crate) const CLOCKS: &[Clock] = &[Clock::None, Clock::Some];

/// The type of the value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    List,
    Register,
}

/// How a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Ok,
    Fail,
    /// The outcome is unknown; reads are unknown or known.
    Info,
    /// The transaction never completes.
    Open,
}

/// Whether there are invocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Completions only, distributed over processes in every way.
    None,
    /// Invocations and completions, interleaved in every way.
    Some,
}

/// The results that reads may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// For lists, all arrangements of all sets of elements that were appended to the key; for registers, nil or a value
    /// that was written to it.
    Possible,
    /// Also a repeated element, and an element that was never written.
    Any,
}

#[derive(Clone, Copy, Debug)]
enum Mop {
    Write(usize, u32),
    Read(usize),
}

const KEYS: [&str; 2] = [":x", ":y"];

/// Makes the next history, as EDN.
pub(crate) fn history(choices: &mut Choices, size: &Size) -> String {
    let mut elements = 0;
    let txns: Vec<Vec<Mop>> = (0..size.txns).map(|txn| mops(choices, size, txn == 0, &mut elements)).collect();
    let clock = choices.of(size.clocks);
    // Where invocations are not recorded, an open op leaves no trace.
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
        Mop::Write(key, *elements)
    };
    (0..len).map(mop).collect()
}

struct Scribe<'a> {
    choices: &'a mut Choices,
    size: &'a Size,
    txns: &'a [Vec<Mop>],
    fates: &'a [Fate],
    /// The processes of the transactions so far.
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
            let invoke = usize::from(next < self.txns.len() && waiting.len() < self.size.clients_max);
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

    /// Chooses a free process, or a new one if the maximum of clients is not reached.
    fn choose_process(&mut self, txn: usize, done: &[usize]) {
        let crashed = |at: &usize| matches!(self.fates[*at], Fate::Info | Fate::Open);
        let busy: Vec<usize> =
            (0..txn).filter(|at| crashed(at) || !done.contains(at)).map(|at| self.processes[at]).collect();
        let mut free: Vec<usize> = done.iter().map(|at| self.processes[*at]).filter(|p| !busy.contains(p)).collect();
        free.sort_unstable();
        free.dedup();
        let is_gone = |at: &usize| self.fates[*at] == Fate::Open || self.fates[*at] == Fate::Info && done.contains(at);
        let gone: Vec<usize> = (0..txn).filter(is_gone).map(|at| self.processes[at]).collect();
        let mut alive = self.processes.clone();
        alive.retain(|process| !gone.contains(process));
        alive.sort_unstable();
        alive.dedup();
        let may_be_new = alive.len() < self.size.clients_max;
        let choice = usize::from(!may_be_new) + self.choices.pick(usize::from(may_be_new) + free.len());
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
                Mop::Write(key, element) if self.size.kind == Kind::List => {
                    format!("[:append {} {element}]", KEYS[key])
                }
                Mop::Write(key, element) => format!("[:w {} {element}]", KEYS[key]),
                Mop::Read(key) if known => format!("[:r {} {}]", KEYS[key], self.choose_seen(key)),
                Mop::Read(key) => format!("[:r {} nil]", KEYS[key]),
            });
        }
        let mops = mops.join(" ");
        writeln!(self.text, "{{:process {process}, :type :{kind}, :f :txn, :value [{mops}]}}")
            .expect("strings take all");
    }

    fn choose_seen(&mut self, key: usize) -> String {
        let written = self.txns.iter().flatten().filter_map(|mop| match *mop {
            Mop::Write(k, element) if k == key => Some(element),
            _ => None,
        });
        let written: Vec<u32> = written.collect();
        match self.size.kind {
            Kind::List => format!("{:?}", self.choose_list(written)),
            Kind::Register => {
                let nobodys = (self.size.seen == Seen::Any).then_some(NOBODY);
                let values: Vec<Option<u32>> =
                    std::iter::once(None).chain(written.into_iter().chain(nobodys).map(Some)).collect();
                self.choices.of(&values).map_or("nil".into(), |value| value.to_string())
            }
        }
    }

    fn choose_list(&mut self, mut left: Vec<u32>) -> Vec<u32> {
        let mut list = Vec::new();
        loop {
            let more = match self.size.seen {
                Seen::Any if list.len() < 2 => 2,
                _ => 0,
            };
            // Stop, or take one of the remaining elements, or an impossible one.
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

/// An element that no transaction appends.
const NOBODY: u32 = 99;
