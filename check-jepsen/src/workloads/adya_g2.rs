//! adya-g2: at most one of the transactions succeeds that insert a row where they found none.
//!
//! Each transaction reads two tables by a predicate with its key, and inserts a row into one of them if neither
//! contains a row with that key: `:insert` of `[key [a-id b-id]]`, one of the ids nil. If two such transactions commit
//! for one key, each read before the other wrote. These are two anti-dependencies on a predicate, Adya's **G2**, which
//! `serializable` forbids.
//!
//! The `ok` inserts of each key are counted: more than one is wrong, wherever in the history they are. Failed inserts
//! did not happen, and `info` ones are not counted; a note gives the number of keys with one of those and one that was
//! `ok`.
//!
//! An `ok` insert is **observed**: without one the verdict is unknown. A note is added if no key has more than one
//! insert.
//!
//! After Jepsen's `adya/g2-checker`. Time is linear. Memory: 72 bytes a key in addition to the key itself.

use crate::elements::{ElemId, Elements};
use crate::fold::{self, InFlight, Workload, WorkloadRun};
use crate::intervals::{NOTE_RUNS_MAX, interval_set};
use crate::witness::{self, Extremes, OpRef, counted};
use history_core::cast::Cast as _;
use history_core::{
    Checker, Datum, Expected, Op, OpFault, OpKind, OpUse, OptionError, OptionSpec, Options, Pair, Report, Run, Value,
    Verdict, Witness,
};

/// The adya-g2 checker. It has no options.
///
/// ```
/// use check_jepsen::adya_g2::AdyaG2;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :insert, :value [7 [1 nil]]}
///     {:process 1, :type :invoke, :f :insert, :value [7 [nil 2]]}
///     {:process 0, :type :ok, :f :insert, :value [7 [1 nil]]}
///     {:process 1, :type :ok, :f :insert, :value [7 [nil 2]]}
/// ")?;
/// let report = AdyaG2::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// assert_eq!(report.anomaly("G2").unwrap().count, 1);
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdyaG2 {}

impl Checker for AdyaG2 {
    fn name(&self) -> &'static str {
        "adya-g2"
    }

    fn summary(&self) -> &'static str {
        "Transactions that insert a row only if they find none: at most one succeeds for each key."
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn about(&self) -> history_core::About {
        let mut about = history_core::About::default().with_parts(history_core::Parts::Reads);
        // Its values are [key [a b]].
        about.is_keyed = true;
        about
    }

    fn start(&self, _options: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(WorkloadRun::new(AdyaRun::default())))
    }
}

/// The inserts of a key.
#[derive(Clone, Copy, Debug)]
struct Inserts {
    begun: u64,
    ok: u64,
    /// Those with an unknown outcome.
    unknown: u64,
    /// The first two that were `ok`, and the tables into which they inserted.
    first: OpRef,
    second: OpRef,
    tables: [Table; 2],
}

const NONE_YET: Inserts =
    Inserts { begun: 0, ok: 0, unknown: 0, first: OpRef::NONE, second: OpRef::NONE, tables: [Table::A; 2] };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table {
    A,
    B,
}

impl Table {
    fn name(self) -> &'static str {
        match self {
            Table::A => "the first table",
            Table::B => "the second table",
        }
    }
}

#[derive(Clone, Debug, Default)]
struct AdyaRun {
    keys: Elements,
    /// The inserts of each key.
    inserts: Vec<Inserts>,
    in_flight: InFlight<(ElemId, Table)>,
    illegal: u64,
}

/// The key and the table of an insert.
fn decode(value: Value<'_>) -> Option<(Value<'_>, Table)> {
    let (key, ids) = value.as_pair()?;
    let (a, b) = ids.as_pair()?;
    match (a.is_nil(), b.is_nil()) {
        (false, true) => Some((key, Table::A)),
        (true, false) => Some((key, Table::B)),
        _ => None,
    }
}

impl AdyaRun {
    fn target(&mut self, value: Value<'_>) -> Result<(ElemId, Table), OpFault> {
        let Some((key, table)) = decode(value) else {
            return Err(OpFault::Undecodable(format!(
                "expected [key [a-id b-id]] with one of the ids nil as the value of an insert, found {value}"
            )));
        };
        let id = self.keys.id(key)?;
        if id.at() == self.inserts.len() {
            self.inserts.push(NONE_YET);
        }
        Ok((id, table))
    }

    fn insert(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        if op.kind == OpKind::Invoke {
            let target = self.target(op.value)?;
            self.in_flight.put(op, target);
            self.inserts[target.0.at()].begun += 1;
            return Ok(OpUse::Understood);
        }
        let invoked = self.in_flight.take(op.pair);
        let (id, table) = match invoked {
            // A failed or crashed op may have the reason in place of its value.
            Some(target) if op.kind != OpKind::Ok || op.value.is_nil() => target,
            _ => self.target(op.value)?,
        };
        if op.kind == OpKind::Ok && invoked.is_some_and(|invoked| invoked != (id, table)) {
            return Err(OpFault::Blocking("the completion's value differs from its invocation's".into()));
        }
        let inserts = &mut self.inserts[id.at()];
        inserts.begun += u64::from(op.pair == Pair::Alone);
        match op.kind {
            OpKind::Ok => {
                inserts.ok += 1;
                match inserts.ok {
                    1 => (inserts.first, inserts.tables[0]) = (OpRef::of(op), table),
                    2 => (inserts.second, inserts.tables[1]) = (OpRef::of(op), table),
                    _ => {}
                }
                self.illegal += u64::from(inserts.ok == 2);
            }
            OpKind::Info => inserts.unknown += 1,
            OpKind::Fail | OpKind::Invoke => {}
        }
        Ok(fold::observed_if(op.kind == OpKind::Ok))
    }

    fn explain(&self, id: ElemId) -> Witness {
        let (key, inserts) = (self.keys.datum(id), &self.inserts[id.at()]);
        let ops = vec![
            inserts.first.named("T1", OpKind::Ok, key.clone()),
            inserts.second.named("T2", OpKind::Ok, key.clone()),
        ];
        let [one, other] = inserts.tables.map(Table::name);
        let mut sentences = vec![
            format!("T1 inserted a row of {key} into {one}, T2 into {other}, each after it had found none in either"),
            "So T1 did not see what T2 wrote, and T2 not what T1 wrote: neither can come first".to_owned(),
        ];
        if inserts.ok > 2 {
            sentences.push(format!("{} of {key} were ok in total", counted(inserts.ok, "insert")));
        }
        let facts = vec![("key", key), ("ok-count", Datum::from(inserts.ok))];
        witness::witness(ops, facts, &sentences)
    }
}

impl Workload for AdyaRun {
    const EXPECTED: Expected = Expected { ops: ":insert of [key [a-id b-id]]", observation: "ok :insert" };
    const IS_OF_ONE_OBJECT: bool = false;

    fn take(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        match op.f {
            Some("insert") => self.insert(op),
            _ => Ok(OpUse::PassedOver),
        }
    }

    fn is_violated(&self) -> bool {
        self.illegal > 0
    }

    fn report(self, _whole: bool) -> Report {
        let mut report = Report::new("adya-g2", Verdict::Valid);
        let ids = || (0..self.inserts.len()).map(ElemId::new);
        let of = |id: ElemId| &self.inserts[id.at()];
        let mut illegal = Extremes::default();
        for id in ids().filter(|id| of(*id).ok > 1) {
            illegal.push(of(id).ok, id);
        }
        witness::add_anomalies(&mut report, [illegal.anomaly("G2", |id| self.explain(*id))]);
        if self.illegal > 0 {
            report.verdict = Verdict::Invalid;
            let set = interval_set(&self.keys, ids().filter(|id| of(*id).ok > 1), NOTE_RUNS_MAX);
            report.notes.push(format!("Keys with more than one ok insert: {set}."));
        }
        let doubtful = ids().filter(|id| of(*id).ok == 1 && of(*id).unknown > 0).count().to_u64();
        if doubtful > 0 {
            report.notes.push(format!(
                "{} one ok insert and one whose outcome is unknown, which was not counted.",
                if doubtful == 1 { "1 key has".to_owned() } else { format!("{doubtful} keys have") }
            ));
        }
        if !self.inserts.is_empty() && self.inserts.iter().all(|inserts| inserts.begun < 2) {
            report.notes.push("No key has more than one insert, so no two could both succeed.".into());
        }
        let with_one = ids().filter(|id| of(*id).ok > 0).count().to_u64();
        report.counts = vec![
            ("key-count".into(), self.inserts.len().to_u64()),
            ("legal-count".into(), with_one - self.illegal),
            ("illegal-count".into(), self.illegal),
        ];
        report
    }
}
