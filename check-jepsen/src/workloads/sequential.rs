//! sequential: the writes of one client are observed in their order.
//!
//! A client writes the subkeys of a key one after another, k₀ first, and others read all of them in the reverse order,
//! so that each subkey is read after those that were written later: `[k [v_n ... v_1 v_0]]`, `nil` if a subkey has no
//! value yet. If the store is sequentially consistent, a read that finds one of them finds all that were written before
//! it: after a value that is not `nil` comes none that is. A read that shows a later subkey and not an earlier one is
//! `out-of-order`.
//!
//! Each `ok` read is checked separately. One of two subkeys or more that shows at least one of them is **observed**:
//! without it the verdict is unknown. Writes and values are not checked. Reads are counted as in Jepsen: `all` shows
//! every subkey, `some` lacks at least one, `none` shows nothing, `bad` is out of order; the latter two are among the
//! second. After `sequential` of Jepsen's test of `CockroachDB`. Time is linear; memory is constant.

use crate::fold::{self, Workload, WorkloadRun};
use crate::witness::{self, Extremes, OpRef, counted};
use history_core::cast::Cast as _;
use history_core::{
    Checker, Datum, Expected, Op, OpFault, OpKind, OpUse, OptionError, OptionKind, OptionSpec, Options, Report, Run,
    Seq, Value, Verdict, Witness,
};

/// The sequential checker, and its options.
///
/// ```
/// use check_jepsen::sequential::Sequential;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :ok, :f :read, :value [7 [nil \"7_1\" \"7_0\"]]}
///     {:process 0, :type :ok, :f :read, :value [8 [\"8_2\" nil \"8_0\"]]}
/// ")?;
/// let report = Sequential::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// assert!(report.anomalies[0].witnesses[0].explanation.contains("R1 shows subkey 2 of 8"));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sequential {
    /// The number of subkeys of a key; if absent, the number in the longest read. At least 1. Only counts depend on it.
    pub key_count: Option<u32>,
}

const KEY_COUNT: OptionSpec = OptionSpec::new("key-count", OptionKind::Integer, "Number of subkeys per key.")
    .with_value_name("KEYS")
    .with_default("as many as the longest read shows");

impl Checker for Sequential {
    fn name(&self) -> &'static str {
        "sequential"
    }

    fn summary(&self) -> &'static str {
        "Subkeys written in order and read in reverse: no read shows a later subkey without the earlier ones."
    }

    fn options(&self) -> &[OptionSpec] {
        &[KEY_COUNT]
    }

    fn about(&self) -> history_core::About {
        history_core::About::default().with_parts(history_core::Parts::Reads)
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let mut settings = *self;
        if let Some(count) = options.integer(KEY_COUNT.name)? {
            let count = u32::try_from(count).ok().filter(|count| *count > 0);
            settings.key_count =
                Some(count.ok_or_else(|| {
                    OptionError::new(KEY_COUNT.name, "a key has at least 1 subkey, and fewer than 2^32")
                })?);
        }
        Ok(Box::new(WorkloadRun::new(SequentialRun::new(settings))))
    }
}

/// A read that is out of order. Subkeys are numbered in the order of their writes, from 0.
#[derive(Clone, Debug, PartialEq)]
struct Bad {
    op: OpRef,
    value: Datum,
    key: Datum,
    shown: usize,
    absent: usize,
    absent_count: u64,
}

/// The content of a read.
#[derive(Clone, Copy, Debug, Default)]
struct Shown {
    subkeys: usize,
    nils: u64,
    /// Positions in the read: the first `nil` after another value, and the last value before it.
    gap: Option<(usize, usize)>,
    /// The number of nils after another value.
    late_nils: u64,
}

#[derive(Clone, Debug)]
struct SequentialRun {
    /// The number of subkeys of a key, and whether the option is set.
    key_count: usize,
    given: bool,
    reads: u64,
    all: u64,
    some: u64,
    none: u64,
    /// The number of reads with as many subkeys as a key has.
    whole: u64,
    bad: Extremes<u64, Bad>,
}

impl SequentialRun {
    fn new(options: Sequential) -> SequentialRun {
        SequentialRun {
            key_count: options.key_count.unwrap_or(0).to_usize(),
            given: options.key_count.is_some(),
            reads: 0,
            all: 0,
            some: 0,
            none: 0,
            whole: 0,
            bad: Extremes::default(),
        }
    }

    fn count(&mut self, shown: &Shown) {
        self.reads += 1;
        if shown.subkeys > self.key_count && !self.given {
            (self.key_count, self.whole, self.all) = (shown.subkeys, 0, 0);
        }
        let whole = shown.subkeys == self.key_count;
        self.whole += u64::from(whole);
        self.all += u64::from(whole && shown.nils == 0);
        self.some += u64::from(shown.nils > 0);
        self.none += u64::from(shown.nils == shown.subkeys.to_u64());
    }

    fn explain(bad: &Bad) -> Witness {
        let Bad { key, shown, absent, .. } = bad;
        let mut sentences = vec![
            format!("R1 shows subkey {shown} of {key}, but not subkey {absent}"),
            format!("Subkeys were written in order, {absent} before {shown}, and R1 read {absent} after {shown}"),
        ];
        if bad.absent_count > 1 {
            let count = counted(bad.absent_count, "subkey");
            sentences.push(format!("In total, {count} are absent although a later one is present"));
        }
        let number = |at: usize| Datum::from(at.to_u64());
        let facts = vec![("key", key.clone()), ("shown", number(*shown)), ("absent", number(*absent))];
        witness::witness(vec![bad.op.named("R1", OpKind::Ok, bad.value.clone())], facts, &sentences)
    }
}

/// The key and the values of its subkeys, the last subkey first.
fn pair(mut value: Value<'_>) -> Result<(Value<'_>, Seq<'_>), OpFault> {
    let all = value;
    while let Value::Tagged(_, inner) = value {
        value = inner.value();
    }
    let mut parts = value.as_seq().map(Seq::iter).into_iter().flatten();
    match (parts.next(), parts.next().and_then(Value::as_seq), parts.next()) {
        (Some(key), Some(values), None) if key.as_seq().is_some_and(is_mop) && is_mop(values) => {
            Err(OpFault::Undecodable("expected a pair of a key and its subkeys' values, found a transaction".into()))
        }
        (Some(key), Some(values), None) => Ok((key, values)),
        _ => Err(OpFault::Undecodable(format!(
            "expected a pair of a key and the list of its subkeys' values, found {}",
            all.kind()
        ))),
    }
}

/// Returns true for a micro-op of a transaction, such as `[:r key value]`.
fn is_mop(seq: Seq<'_>) -> bool {
    seq.len() == 3 && matches!(seq.iter().next().and_then(Value::as_name), Some("r" | "w" | "append"))
}

fn look(values: Seq<'_>) -> Result<Shown, OpFault> {
    let mut shown = Shown { subkeys: values.len(), ..Shown::default() };
    if values.as_ints().is_some() {
        return Ok(shown);
    }
    let mut last = None;
    for (at, value) in values.iter().enumerate() {
        if let Value::Bool(_) = value {
            return Err(OpFault::Undecodable(format!(
                "a subkey's value is {value}; expected a value, or nil for none"
            )));
        }
        if !value.is_nil() {
            // If pairs are nested, the outer key would be taken for a subkey.
            if value.as_seq().is_some() {
                return Err(OpFault::Undecodable(
                    "a subkey's value is a collection: if the values have a key around them, check each key \
                     separately with --keyed"
                        .into(),
                ));
            }
            last = Some(at);
            continue;
        }
        shown.nils += 1;
        if let Some(last) = last {
            shown.late_nils += 1;
            shown.gap.get_or_insert((last, at));
        }
    }
    Ok(shown)
}

impl Workload for SequentialRun {
    const EXPECTED: Expected = Expected {
        ops: ":write of a key, and :read of [key values]",
        observation: "ok :read of two subkeys or more that shows one",
    };

    fn take(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        match op.f {
            Some("read") if op.kind == OpKind::Ok => {}
            Some("read" | "write") => return Ok(OpUse::Understood),
            _ => return Ok(OpUse::PassedOver),
        }
        let (key, values) = pair(op.value)?;
        let shown = look(values)?;
        self.count(&shown);
        if let Some((before, nil)) = shown.gap {
            let number = |place: usize| shown.subkeys - 1 - place;
            let bad = Bad {
                op: OpRef::of(op),
                value: op.value.to_datum(),
                key: key.to_datum(),
                shown: number(before),
                absent: number(nil),
                absent_count: shown.late_nils,
            };
            self.bad.push(shown.late_nils, bad);
        }
        Ok(fold::observed_if(shown.subkeys > 1 && shown.nils < shown.subkeys.to_u64()))
    }

    fn is_violated(&self) -> bool {
        self.bad.count > 0
    }

    fn report(self, _whole: bool) -> Report {
        let mut report = Report::new("sequential", Verdict::Valid);
        witness::add_anomalies(&mut report, [self.bad.anomaly("out-of-order", SequentialRun::explain)]);
        if self.bad.count > 0 {
            report.verdict = Verdict::Invalid;
        }
        if self.reads > 0 && self.some == 0 {
            report.notes.push(
                "No read shows a nil, so none lacks a subkey. If what is absent is shown as something else, nothing was \
                 checked."
                    .into(),
            );
        }
        if self.whole < self.reads {
            let others = counted(self.reads - self.whole, "read");
            let count = self.key_count;
            report.notes.push(format!(
                "{others} of another number of subkeys than {count}; the order was checked in \
                them too."
            ));
        }
        report.counts = vec![
            ("read-count".into(), self.reads),
            ("all-count".into(), self.all),
            ("some-count".into(), self.some),
            ("none-count".into(), self.none),
            ("bad-count".into(), self.bad.count),
            ("key-count".into(), self.key_count.to_u64()),
        ];
        report
    }
}
