//! Compares the linear check of versioned registers with the general search: on ids alone, such a register is a
//! compare-and-set register.
//!
//!     agree FILE_OR_FOLDER...
//!
//! Prints a line for each history with different results, and ends with 1 if there is one. Errors in a *value* are not
//! visible on ids; histories with only anomalies of that kind are not compared.

use check_register::models::{CasRegister, RegisterOp};
use check_register::versioned_register::{self, VersionedRegister};
use check_register::{Operation, check};
use history_core::{Budget, Datum, History, OpKind, Pair, Process, Verdict};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Anomalies of values, which the translation omits.
const OF_VALUES: [&str; 2] = ["wrong-value", "wrong-initial-value"];

fn main() -> Result<()> {
    let mut files = Vec::new();
    for path in std::env::args().skip(1) {
        collect(Path::new(&path), &mut files)?;
    }
    if files.is_empty() {
        return Err("usage: agree FILE_OR_FOLDER...".into());
    }
    files.sort();
    let (mut same, mut differ, mut left_out) = (0, 0, 0);
    for path in &files {
        let history = History::parse(&std::fs::read_to_string(path)?)?;
        let report = versioned_register::check(&history, &VersionedRegister::default())?;
        if report.verdict == Verdict::Invalid
            && report.anomalies.iter().all(|anomaly| OF_VALUES.contains(&&*anomaly.name))
        {
            left_out += 1;
            continue;
        }
        let searched = search(&history)?;
        if report.verdict == searched {
            same += 1;
        } else {
            differ += 1;
            println!("{}: {:?} in linear time, {searched:?} by search", path.display(), report.verdict);
        }
    }
    println!("{same} agree, {differ} do not, {left_out} left out");
    if differ > 0 {
        std::process::exit(1);
    }
    Ok(())
}

/// The histories at a path: the file itself, or all files in a folder.
fn collect(path: &Path, into: &mut Vec<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        into.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path)? {
        let path = entry?.path();
        let is_history = path.extension().is_some_and(|end| end == "edn" || end == "json" || end == "jsonl");
        if is_history && path.file_name().is_none_or(|name| name != "expected.jsonl") {
            into.push(path);
        }
    }
    Ok(())
}

/// An operation in flight: the register, its call, and its arguments.
struct Asked {
    call: u64,
    process: i64,
    write: Option<(i64, i64)>,
    key: String,
}

/// One register: its operations on ids.
#[derive(Default)]
struct Register {
    operations: Vec<Operation<RegisterOp>>,
    /// Ids by their text.
    ids: HashMap<String, i64>,
    /// Ids that were proposed.
    proposed: Vec<i64>,
    /// Ids that were read or replaced, by the time at which they are known to have been current.
    met: Vec<(u64, i64)>,
}

impl Register {
    fn id(&mut self, id: &Datum) -> i64 {
        let next = i64::try_from(self.ids.len()).unwrap_or(i64::MAX);
        *self.ids.entry(id.to_string()).or_insert(next)
    }

    /// The verdict of the search.
    fn verdict(&mut self) -> Verdict {
        self.met.sort_unstable();
        let initial = self.met.iter().map(|(_, id)| *id).find(|id| !self.proposed.contains(id)).unwrap_or(-1);
        check(&CasRegister::starting_with(initial), &self.operations, &Budget::default()).verdict()
    }
}

/// The verdict of the general search on ids, all registers together.
fn search(history: &History) -> Result<Verdict> {
    // If all ops have times, these order the ops; the order of the file decides at equal times.
    let clients = || history.ops().filter(|op| matches!(op.process, Process::Client(_)));
    let timed = clients().all(|op| op.time.is_some());
    let mut order: Vec<(i64, u64)> = clients().map(|op| (op.time.filter(|_| timed).unwrap_or(0), op.index)).collect();
    order.sort_unstable();
    let now: HashMap<u64, u64> = (0..).zip(order).map(|(now, (_, index))| (index, now)).collect();
    let mut registers: HashMap<String, Register> = HashMap::new();
    let mut open: HashMap<u32, Asked> = HashMap::new();
    for op in clients() {
        let Process::Client(process) = op.process else { continue };
        let key = op.extra.get("key").map(|key| key.to_string()).unwrap_or_default();
        let id = |name: &str| op.extra.get(name).map(Datum::from);
        match op.pair {
            Pair::Invokes { slot } => {
                let register = registers.entry(key.clone()).or_default();
                let write = match (op.f, id("write-id"), id("prev-write-id")) {
                    (Some("write"), Some(new), Some(prev)) => Some((register.id(&prev), register.id(&new))),
                    (Some("read"), ..) => None,
                    _ => return Err(format!("index {}: neither a read nor a write with ids", op.index).into()),
                };
                open.insert(slot, Asked { call: now[&op.index], process, write, key });
            }
            Pair::Completes { slot, .. } => {
                let asked = open.remove(&slot).ok_or("a completion without an invocation")?;
                let read = (op.kind == OpKind::Ok).then(|| id("write-id")).flatten();
                close(&mut registers, asked, op.kind, Some(now[&op.index]), read.as_ref());
            }
            Pair::Alone => return Err(format!("index {}: it has no partner", op.index).into()),
        }
    }
    for (_, asked) in open {
        close(&mut registers, asked, OpKind::Info, None, None);
    }
    Ok(registers.values_mut().map(Register::verdict).fold(Verdict::Valid, Verdict::and))
}

/// Ends an operation.
fn close(
    registers: &mut HashMap<String, Register>,
    asked: Asked,
    kind: OpKind,
    now: Option<u64>,
    read: Option<&Datum>,
) {
    let register = registers.entry(asked.key).or_default();
    let ret = now.filter(|_| kind == OpKind::Ok);
    let op = match (asked.write, read) {
        (Some((prev, new)), _) => {
            register.proposed.push(new);
            if kind == OpKind::Fail {
                return;
            }
            register.met.extend(ret.map(|ret| (ret, prev)));
            RegisterOp::Cas(prev, new)
        }
        (None, Some(id)) => {
            let id = register.id(id);
            register.met.extend(ret.map(|ret| (ret, id)));
            RegisterOp::Read(id)
        }
        (None, None) => return,
    };
    register.operations.push(Operation { process: asked.process, op, call: asked.call, ret });
}
