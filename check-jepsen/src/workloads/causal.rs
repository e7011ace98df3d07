//! causal: a register that one client after another increments, where each op names the one on which it depends.
//!
//! The register is initially 0. Each `ok` op has a `:position`, its own, and a `:link`: the position of the previous
//! op, or `:init`. In the order of the history, in which only one op is in flight at a time,
//!
//! - the link must be `:init` or the last position (`wrong-link`);
//! - `:write v` must write one more than the current value (`wrong-write`);
//! - `:read v`, and `:read-init v` alike, must return the current value, or nil (`wrong-read`).
//!
//! Failed ops did not happen. A write that is `info` may have happened, may happen later, or never: the register is
//! then in one of several states, and each op keeps those that explain it. As writes increment, a crashed write adds at
//! most one state. Its own position, if it has one, may be linked to where it happened.
//!
//! The check ends with the first op that no state explains. An `ok` read of a number is **observed**: links and written
//! values come from the client. Ops that overlap have no order. So an op in flight when another one is invoked counts
//! as crashed: it may take effect at any time from then on, at a position that is unknown so far. If it does complete
//! with `ok`, or is a write that fails, the verdict is unknown from there on. A history of several keys needs
//! `--keyed`.
//!
//! After Jepsen's `tests/causal`, which treats a read of a crashed write, and a read of nil before the first write, as
//! a violation. Time is linear except for crashed writes: an op costs the number of states. Memory grows only with
//! these.

use crate::fold::{self, Workload, WorkloadRun};
use crate::witness::{self, Extremes, OpRef};
use history_core::{
    Checker, Datum, Expected, Op, OpFault, OpKind, OpUse, OptionError, OptionSpec, Options, Pair, Report, Run, Value,
    Verdict, Witness,
};
use std::collections::BTreeMap;

/// The causal checker. It has no options.
///
/// ```
/// use check_jepsen::causal::Causal;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :ok, :f :read-init, :value 0, :position 1, :link :init}
///     {:process 0, :type :ok, :f :write, :value 1, :position 2, :link 1}
///     {:process 0, :type :ok, :f :read, :value 0, :position 3, :link 2}
/// ")?;
/// let report = Causal::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// assert_eq!(report.anomaly("wrong-read").unwrap().count, 1);
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Causal {}

impl Checker for Causal {
    fn name(&self) -> &'static str {
        "causal"
    }

    fn summary(&self) -> &'static str {
        "A register that counts up, and ops that name the one they depend on: each read shows the last write."
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn about(&self) -> history_core::About {
        history_core::About::default().with_parts(history_core::Parts::Whole)
    }

    fn start(&self, _options: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(WorkloadRun::new(CausalRun::default())))
    }
}

/// A possible state of the register.
#[derive(Clone, Debug, PartialEq)]
struct State {
    value: i64,
    /// The position to which the next op may link, besides `:init`, as text in a normal form; nil before the first op.
    position: String,
}

/// The maximum number of states and crashed writes.
const STATES_MAX: usize = 256;

/// An error in an op.
#[derive(Clone, Debug, PartialEq)]
struct Bad {
    kind: Kind,
    op: OpRef,
    value: Datum,
    /// The previous op, with the value at that time.
    before: Option<(OpRef, Datum)>,
    why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Link,
    Read,
    Write,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Link => "wrong-link",
            Kind::Read => "wrong-read",
            Kind::Write => "wrong-write",
        }
    }
}

/// A write that may have happened, or may still happen.
#[derive(Clone, Debug)]
struct Crashed {
    /// The index of its invocation or, without one, of its completion.
    index: u64,
    value: i64,
    position: Option<String>,
}

/// An op in flight.
#[derive(Clone, Copy, Debug)]
struct Flight {
    index: u64,
    writes: bool,
    /// The value that it writes, if it is an integer.
    value: Option<i64>,
}

/// Why the order of ops is unknown.
const OVERLAPS: &str = "it overlaps another op, so which came first is unknown: check each key separately with --keyed";

#[derive(Clone, Debug)]
struct CausalRun {
    /// All states that explain the history so far, in order of occurrence.
    states: Vec<State>,
    crashed: Vec<Crashed>,
    /// The last op that was invoked, while it is in flight.
    flight: Option<Flight>,
    /// Earlier ops that are still in flight, by index, and whether they write. They count as crashed until they
    /// complete.
    overtaken: BTreeMap<u64, bool>,
    /// An error if none of the overtaken ops was `ok`.
    suspect: Option<Bad>,
    /// The last op that counts.
    last: Option<(OpRef, Datum)>,
    bad: Option<Bad>,
    ops: u64,
}

impl Default for CausalRun {
    fn default() -> CausalRun {
        CausalRun {
            states: vec![State { value: 0, position: "nil".into() }],
            crashed: Vec::new(),
            flight: None,
            overtaken: BTreeMap::new(),
            suspect: None,
            last: None,
            bad: None,
            ops: 0,
        }
    }
}

/// The claim of an op.
#[derive(Clone, Copy)]
enum Claim {
    Writes(i64),
    Shows(i64),
    Nothing,
}

impl CausalRun {
    /// Processes the invocation of an op. One that is still in flight counts as crashed: there is no order of the two.
    fn begin(&mut self, op: &Op<'_>, writes: bool) -> Result<(), OpFault> {
        let Pair::Invokes { .. } = op.pair else {
            // Such a write may take effect at any time from now on.
            return if writes { Err(fold::unpaired()) } else { Ok(()) };
        };
        let value = op.value.as_int().filter(|_| writes);
        let Some(before) = self.flight.replace(Flight { index: op.index, writes, value }) else { return Ok(()) };
        self.overtaken.insert(before.index, before.writes);
        match (before.writes, before.value) {
            (false, _) => Ok(()),
            (true, Some(value)) => self.crash(Crashed { index: before.index, value, position: None }),
            (true, None) => Err(OpFault::Blocking(OVERLAPS.into())),
        }
    }

    /// Ends the last invoked op, and returns the value that it writes, if known.
    fn end(&mut self, op: &Op<'_>) -> Option<i64> {
        let Pair::Completes { invoked, .. } = op.pair else { return None };
        self.flight.take_if(|flight| flight.index == invoked)?.value
    }

    /// Ends an op that counts as crashed, because others were invoked meanwhile. Returns false for all other ops.
    fn end_overtaken(&mut self, op: &Op<'_>) -> Result<bool, OpFault> {
        let Pair::Completes { invoked, .. } = op.pair else { return Ok(false) };
        let Some(writes) = self.overtaken.remove(&invoked) else { return Ok(false) };
        match op.kind {
            OpKind::Ok => return Err(OpFault::Blocking(OVERLAPS.into())),
            OpKind::Info if writes && self.suspect.is_none() => {
                if let Some(crashed) = self.crashed.iter_mut().find(|crashed| crashed.index == invoked) {
                    crashed.position = position(op);
                    self.spread()?;
                }
            }
            // The ops meanwhile may be explained only by this write.
            OpKind::Fail if writes && self.suspect.is_none() => {
                return Err(OpFault::Blocking("it failed, but another op began while it was in flight".into()));
            }
            OpKind::Fail | OpKind::Info | OpKind::Invoke => {}
        }
        if self.overtaken.is_empty() {
            self.bad = self.suspect.take();
        }
        Ok(true)
    }

    /// The claim of a completed op.
    fn claim(op: &Op<'_>, writes: bool, invoked: Option<i64>) -> Result<Claim, OpFault> {
        match (op.value, invoked, writes) {
            (Value::Int(value), Some(invoked), true) if value != invoked => {
                Err(OpFault::Blocking("the completion's value differs from its invocation's".into()))
            }
            (Value::Int(value), _, true) | (Value::Nil, Some(value), true) => Ok(Claim::Writes(value)),
            (Value::Int(value), _, false) => Ok(Claim::Shows(value)),
            (Value::Nil, _, false) => Ok(Claim::Nothing),
            (value, ..) => Err(OpFault::Blocking(expected_integer(value))),
        }
    }

    fn complete(&mut self, op: &Op<'_>, claim: Claim) -> Result<OpUse, OpFault> {
        let missing = |field| OpFault::Blocking(format!("the op has no :{field}, so its place is unknown"));
        let link = op.extra.get("link").filter(|link| !link.is_nil()).ok_or_else(|| missing("link"))?;
        let position = op.extra.get("position").filter(|at| !at.is_nil()).ok_or_else(|| missing("position"))?;
        self.ops += 1;
        let bad = |(kind, why)| {
            let before = self.last.clone();
            Bad { kind, op: OpRef::of(op), value: op.value.to_datum(), before, why }
        };
        match self.explain(link, claim, false) {
            Ok(values) => {
                let position = canonical(position);
                let state = |value| State { value, position: position.clone() };
                self.states = values.into_iter().map(state).collect();
                let least = self.states.iter().map(|state| state.value).min().unwrap_or_default();
                self.crashed.retain(|crashed| crashed.value > least);
                self.spread()?;
                self.last = Some((OpRef::of(op), op.value.to_datum()));
            }
            Err(error) if self.overtaken.is_empty() => self.bad = Some(bad(error)),
            // The positions of ops in flight are unknown.
            Err(_) => match self.explain(link, claim, true) {
                Ok(_) => {
                    let reason = "its link may be the position of an op in flight, which is unknown";
                    return Err(OpFault::Blocking(reason.into()));
                }
                Err(error) => self.suspect = Some(bad(error)),
            },
        }
        Ok(fold::observed_if(matches!(claim, Claim::Shows(_))))
    }

    /// The possible values of the register after an op, or why no state explains it. `anywhere`: whatever its link.
    fn explain(&self, link: Value<'_>, claim: Claim, anywhere: bool) -> Result<Vec<i64>, (Kind, String)> {
        let is_init = anywhere || matches!(link, Value::Keyword("init") | Value::Str("init"));
        let link = canonical(link);
        let linked = || self.states.iter().filter(|state| is_init || state.position == link);
        let mut values: Vec<i64> = linked().map(|state| state.value).collect();
        values.sort_unstable();
        values.dedup();
        if values.is_empty() {
            let shown = |state: &State| state.position.clone();
            let why = if self.last.is_none() {
                "there is none before".to_owned()
            } else {
                format!("the last position is {}", listed(self.states.iter().map(shown)))
            };
            return Err((Kind::Link, format!("is linked to position {link}, but {why}")));
        }
        let holds = listed(values.iter().map(i64::to_string));
        match claim {
            Claim::Nothing => {}
            Claim::Shows(value) => {
                values.retain(|there| *there == value);
                if values.is_empty() {
                    return Err((Kind::Read, format!("shows {value}, but the register holds {holds}")));
                }
            }
            Claim::Writes(value) => {
                if !values.iter().any(|there| there.checked_add(1) == Some(value)) {
                    let why = format!("writes {value}, but the register holds {holds}, and each write adds 1");
                    return Err((Kind::Write, why));
                }
                values = vec![value];
            }
        }
        Ok(values)
    }

    fn crash(&mut self, crashed: Crashed) -> Result<(), OpFault> {
        self.crashed.push(crashed);
        self.spread()
    }

    /// Adds the states to which crashed writes may lead at any time.
    fn spread(&mut self) -> Result<(), OpFault> {
        let mut at = 0;
        while at < self.states.len() {
            let State { value, position } = self.states[at].clone();
            for Crashed { value: written, position: own, .. } in &self.crashed {
                if value.checked_add(1) != Some(*written) {
                    continue;
                }
                for position in [Some(position.clone()), own.clone()].into_iter().flatten() {
                    let next = State { value: *written, position };
                    if !self.states.contains(&next) {
                        self.states.push(next);
                    }
                }
            }
            if self.states.len() + self.crashed.len() > STATES_MAX {
                return Err(OpFault::Blocking(format!("more than {STATES_MAX} states and crashed writes")));
            }
            at += 1;
        }
        Ok(())
    }
}

/// The position that an op states.
fn position(op: &Op<'_>) -> Option<String> {
    op.extra.get("position").filter(|at| !at.is_nil()).map(canonical)
}

fn expected_integer(found: Value<'_>) -> String {
    format!("expected an integer as the op's value, found {found}")
}

/// Returns true if the result of a read is neither an integer, nor nil, nor a collection. A collection may be a pair of
/// a key and a value: then the ops belong to several registers, and nothing can be concluded.
fn is_scalar_fault(value: Value<'_>) -> bool {
    !matches!(
        value,
        Value::Int(_)
            | Value::Nil
            | Value::Vector(_)
            | Value::List(_)
            | Value::Set(_)
            | Value::Map(_)
            | Value::Tagged(..)
    )
}

/// A text that is the same for equal values: a list is written as a vector, and the keys of a map are sorted.
fn canonical(value: Value<'_>) -> String {
    let mut text = String::new();
    value.write_canonical(&mut text);
    text
}

/// The distinct alternatives: `1 or 2`.
fn listed(all: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = all.collect();
    all.sort_unstable();
    all.dedup();
    all.join(" or ")
}

impl Workload for CausalRun {
    const EXPECTED: Expected = Expected {
        ops: ":read-init, :read and :write of an integer, with :position and :link",
        observation: "ok :read of a number",
    };

    fn take(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        let writes = match op.f {
            Some("write") => true,
            Some("read" | "read-init") => false,
            _ => return Ok(OpUse::PassedOver),
        };
        if self.bad.is_some() {
            return Ok(OpUse::Understood);
        }
        if !self.overtaken.is_empty() && self.end_overtaken(op)? || self.suspect.is_some() {
            return Ok(OpUse::Understood);
        }
        let is_alone = op.pair == Pair::Alone && op.kind != OpKind::Invoke;
        if is_alone && self.flight.is_some_and(|flight| flight.writes) {
            return Err(fold::unpaired());
        }
        let invoked = self.end(op);
        match op.kind {
            OpKind::Invoke => self.begin(op, writes).map(|()| OpUse::Understood),
            OpKind::Fail => Ok(OpUse::Understood),
            OpKind::Ok if !writes && is_scalar_fault(op.value) => {
                // The read changes nothing, and its position can be linked to.
                self.complete(op, Claim::Nothing)?;
                Err(OpFault::Undecodable(expected_integer(op.value)))
            }
            OpKind::Ok => self.complete(op, CausalRun::claim(op, writes, invoked)?),
            OpKind::Info if !writes => Ok(OpUse::Understood),
            // A crashed op may have the reason in place of its value.
            OpKind::Info => match invoked.or(op.value.as_int()) {
                Some(value) => {
                    let crashed = Crashed { index: op.index, value, position: position(op) };
                    self.crash(crashed).map(|()| OpUse::Understood)
                }
                None => Err(OpFault::Blocking("a write that may have happened does not say what it writes".into())),
            },
        }
    }

    fn is_violated(&self) -> bool {
        self.bad.is_some()
    }

    fn report(self, whole: bool) -> Report {
        let mut report = Report::new("causal", Verdict::Valid);
        // At the end, the ops in flight never complete.
        let found = self.bad.or(self.suspect.filter(|_| whole));
        if let Some(bad) = &found {
            report.verdict = Verdict::Invalid;
            let mut found = Extremes::<(), Bad>::default();
            found.push_equal(bad.clone());
            witness::add_anomalies(&mut report, [found.anomaly(bad.kind.name(), explain)]);
        }
        report.counts = vec![("ok-count".into(), self.ops), ("error-count".into(), u64::from(found.is_some()))];
        report
    }
}

fn explain(bad: &Bad) -> Witness {
    let mut ops: Vec<_> = bad.before.iter().map(|(op, value)| op.named("A1", OpKind::Ok, value.clone())).collect();
    ops.push(bad.op.named("A2", OpKind::Ok, bad.value.clone()));
    let sentences = [format!("A2 {}", bad.why)];
    witness::witness(ops, vec![("value", bad.value.clone())], &sentences)
}
