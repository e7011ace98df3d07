//! Histories of a faulty store: clients run transactions on lists with weak isolation, and results are sometimes
//! altered.

use super::choices::Choices;

/// An op before it is converted to text.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) who: Who,
    pub(crate) kind: &'static str,
    pub(crate) mops: Vec<Shown>,
    /// Whether the op has a value.
    pub(crate) has_value: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Client(usize),
    Nobody,
    Nemesis,
}

/// A micro-op in the form in which an op shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Append(usize, u32),
    Read(usize, Option<Vec<u32>>),
    /// For registers, like the next one.
    Write(usize, u32),
    /// `None`: nil.
    Value(usize, Option<u32>),
}

impl Shown {
    pub(crate) fn key(&self) -> usize {
        let (Shown::Append(key, _) | Shown::Read(key, _) | Shown::Write(key, _) | Shown::Value(key, _)) = self;
        *key
    }
}

/// Converts the history to registers: each read shows the element that was appended last.
pub(crate) fn as_registers(mut ops: Vec<Entry>) -> Vec<Entry> {
    for mop in ops.iter_mut().flat_map(|op| &mut op.mops) {
        match mop {
            Shown::Append(key, element) => *mop = Shown::Write(*key, *element),
            Shown::Read(key, list) => *mop = Shown::Value(*key, list.as_ref().and_then(|list| list.last().copied())),
            Shown::Write(..) | Shown::Value(..) => {}
        }
    }
    ops
}

/// When other transactions can see a transaction's appends, and what it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Isolation {
    /// All micro-ops take effect at once, as a whole.
    Serial,
    /// Appends are visible at the commit; reads show the state at the beginning of the transaction.
    Snapshot,
    /// Appends are visible at the commit; reads show the current state.
    Committed,
    /// Each micro-op takes effect at once.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Full,
    CompletionsOnly,
    /// No op has a process.
    Nameless,
}

/// The maximum of transactions in one history: the oracle's running time limits it.
pub(crate) const TXNS_MAX: usize = 12;

const NEMESIS: Entry = Entry { who: Who::Nemesis, kind: "info", mops: Vec::new(), has_value: false };
const KEYS: usize = 3;
/// An element that no transaction appends.
const NOBODYS: u32 = 99;

struct Txn {
    process: usize,
    mops: Vec<Shown>,
    done: usize,
    snapshot: Vec<Vec<u32>>,
    fate: &'static str,
}

struct Store<'a> {
    choices: &'a mut Choices,
    isolation: Isolation,
    lists: Vec<Vec<u32>>,
    elements: u32,
    /// The store makes an error once in this many choices.
    error_rate: usize,
}

/// Makes a history of at most [`TXNS_MAX`] transactions.
pub(crate) fn history(choices: &mut Choices) -> Vec<Entry> {
    let left = 1 + choices.pick(TXNS_MAX);
    let isolation = choices.of(&[Isolation::Serial, Isolation::Snapshot, Isolation::Committed, Isolation::None]);
    let layout = choices.of(&[Layout::Full, Layout::Full, Layout::Full, Layout::CompletionsOnly, Layout::Nameless]);
    let error_rate = choices.of(&[1000, 30, 10]);
    let mut store = Store { choices, isolation, lists: vec![Vec::new(); KEYS], elements: 0, error_rate };
    let mut ops = store.run(left);
    if layout == Layout::Nameless {
        ops.iter_mut().filter(|op| op.who != Who::Nemesis).for_each(|op| op.who = Who::Nobody);
    }
    if layout == Layout::CompletionsOnly {
        ops.retain(|op| op.kind != "invoke");
    }
    if ops.is_empty() {
        // Empty text is not a history.
        ops.push(NEMESIS);
    }
    ops
}

impl Store<'_> {
    fn run(&mut self, mut left: usize) -> Vec<Entry> {
        let mut ops = Vec::new();
        let mut running: Vec<Txn> = Vec::new();
        let mut processes = 0;
        let mut free: Vec<usize> = Vec::new();
        while left > 0 || !running.is_empty() {
            if self.choices.rarely(40) {
                ops.push(NEMESIS);
            }
            let invoke = usize::from(left > 0 && running.len() < 4);
            let choice = self.choices.pick(invoke + running.len());
            if choice < invoke {
                left -= 1;
                let process = free.pop().unwrap_or_else(|| {
                    processes += 1;
                    processes - 1
                });
                let txn = self.begin(process);
                ops.push(Entry { who: Who::Client(process), kind: "invoke", mops: txn.mops.clone(), has_value: true });
                running.push(txn);
                continue;
            }
            let txn = &mut running[choice - invoke];
            if txn.done < txn.mops.len() {
                self.step(txn);
                continue;
            }
            let txn = running.remove(choice - invoke);
            if matches!(txn.fate, "ok" | "fail") {
                free.insert(0, txn.process);
            }
            ops.extend(self.complete(txn));
        }
        ops
    }

    fn begin(&mut self, process: usize) -> Txn {
        let len = 1 + self.choices.pick(4);
        let mut mop = || {
            let key = self.choices.pick(KEYS);
            if self.choices.pick(2) == 0 {
                return Shown::Read(key, None);
            }
            self.elements += 1;
            Shown::Append(key, self.elements)
        };
        let mops = (0..len).map(|_| mop()).collect();
        let fate = self.choices.of(&["ok", "ok", "ok", "ok", "ok", "ok", "fail", "info", "open"]);
        Txn { process, mops, done: 0, snapshot: self.lists.clone(), fate }
    }

    /// Executes the next micro-op, or all of them.
    fn step(&mut self, txn: &mut Txn) {
        loop {
            match txn.mops[txn.done].clone() {
                Shown::Append(key, element) | Shown::Write(key, element) => {
                    if matches!(self.isolation, Isolation::Serial | Isolation::None) {
                        self.append(key, element, txn.fate);
                    } else {
                        txn.snapshot[key].push(element);
                    }
                }
                Shown::Read(key, _) | Shown::Value(key, _) => {
                    let list = match self.isolation {
                        Isolation::Serial | Isolation::None => self.lists[key].clone(),
                        Isolation::Snapshot => txn.snapshot[key].clone(),
                        Isolation::Committed => {
                            let own = txn.mops[..txn.done].iter().filter_map(|mop| match mop {
                                Shown::Append(k, element) if *k == key => Some(*element),
                                _ => None,
                            });
                            self.lists[key].iter().copied().chain(own).collect()
                        }
                    };
                    txn.mops[txn.done] = Shown::Read(key, Some(self.distort(list)));
                }
            }
            txn.done += 1;
            if self.isolation != Isolation::Serial || txn.done == txn.mops.len() {
                return;
            }
        }
    }

    /// Makes an append visible to other transactions: nearly always if the fate is ok, rarely if it is fail, half the
    /// time otherwise.
    fn append(&mut self, key: usize, element: u32, fate: &str) {
        let mistaken = self.choices.rarely(self.error_rate);
        let happens = match fate {
            "ok" => !mistaken,
            "fail" => mistaken,
            _ => self.choices.pick(2) == 0,
        };
        let list = &mut self.lists[key];
        if happens {
            let back = if self.choices.rarely(self.error_rate) { self.choices.pick(1 + list.len()) } else { 0 };
            list.insert(list.len() - back, element);
        }
    }

    /// Returns the list, or sometimes an altered one.
    fn distort(&mut self, mut list: Vec<u32>) -> Vec<u32> {
        if !self.choices.rarely(self.error_rate) || list.is_empty() {
            return list;
        }
        let at = self.choices.pick(list.len());
        match self.choices.pick(6) {
            0 => list.truncate(at),
            1 => drop(list.remove(at)),
            2 => list.push(list[at]),
            3 => list.rotate_left(at),
            4 => list.push(1 + self.choices.pick(self.elements as usize) as u32),
            _ => list.insert(at, NOBODYS),
        }
        list
    }

    fn complete(&mut self, mut txn: Txn) -> Option<Entry> {
        if matches!(self.isolation, Isolation::Snapshot | Isolation::Committed) {
            for mop in txn.mops.clone() {
                if let Shown::Append(key, element) = mop {
                    self.append(key, element, txn.fate);
                }
            }
        }
        if txn.fate == "open" {
            return None;
        }
        // The reads of an info op are usually unknown, and those of a failed op always.
        let known = txn.fate == "ok" || txn.fate == "info" && self.choices.rarely(4);
        for mop in &mut txn.mops {
            if let Shown::Read(_, list) = mop {
                let empty = list.as_ref().is_some_and(Vec::is_empty);
                if !known || empty && self.choices.rarely(4) {
                    *list = None;
                }
            }
        }
        let has_value = txn.fate == "ok" || !self.choices.rarely(4);
        Some(Entry { who: Who::Client(txn.process), kind: txn.fate, mops: txn.mops, has_value })
    }
}
