//! versioned-register: registers whose every write names the version it replaces, checked in linear time.
//!
//! Each write has its own id, the **write-id**, and the id of the version that it replaces, the **prev-write-id**: it
//! is a compare-and-set on the version. Reads return the value and its write-id. Then all versions form one chain, and
//! linearizability can be decided in one pass: Gibbons and Korach, "Testing Shared Memories" (SIAM J. Comput. 26(4),
//! 1997), theorem 4.13.
//!
//! # Definition
//!
//! The object's state is a version: an id and a value. A read returns it. A write (id, prev, value) may happen only
//! when the state's id is prev; it changes the state to (id, value). A history is valid if this object permits some
//! sequence of its operations that contains all `ok` ones, none that failed, and any of those that were left open or
//! ended with `info`, and in which an operation that completed before another was invoked precedes it. The reason why a
//! write failed is not examined. **Ids are unique**: no two writes that may have happened propose the same id, and none
//! proposes the initial one. Unless it is given, the initial id may be any other one, with any value. If two writes
//! propose the same id, the verdict on that register is unknown.
//!
//! # Algorithm
//!
//! A completion shows a version if it is the `ok` of the version's write, or an `ok` read. If the version is not in the
//! chain yet, its prev-ids are followed through the writes invoked so far. They must lead to the chain's last version,
//! its *head*; all of them are added, and the version becomes the new head. At a read's invocation the head is
//! recorded; the version that the read returns must be the head or a later version.
//!
//! This is exact. *If the history is valid*, take a sequence that proves it, cut off after each completion: its writes
//! are the versions in their order, and each is the prev of the next. The sequence contains each version shown by now,
//! and its prevs back to the initial one, all of which were invoked by now; of two writes with the same prev it
//! contains only one. So nothing is found. A version shown before a read began precedes the read in the sequence, so
//! the read returns it or a later one. *If nothing is found*, let the sequence be the chain, where each write is
//! followed by the reads of its version in the order of their invocations. The object allows it. Let a complete before
//! b is invoked, a on version i and b on version j. If j < i and b is a read, the head was i or later when b was
//! invoked, and b would have been found. If j < i and b is a write, or j = i and b is the write that a shows, then b
//! was invoked before i was shown, hence before a completed, which contradicts the assumption. Otherwise a precedes b
//! in the sequence. A write that fails after it was shown is found at its completion.
//!
//! An anomaly in a prefix of a history is permanent: no continuation makes the prefix linearizable. So a violation is
//! known at the op that proves it, as soon as it is certain what the prefix is: see the end of the next section.
//!
//! # Order
//!
//! The order is by `:time` if all ops of clients have a time, otherwise by index. If the file is in the order of the
//! times, ops at the same time are in the order of the file, as Jepsen records them. If it is not, the order of ops at
//! the same time is unknown; if the verdict depends on that order, the verdict is unknown. A file that is out of order
//! is not read twice, nor stored: see `replay`. In a history without invocations, or with ops without processes, reads
//! may have begun at any time.
//!
//! While all ops have times, nothing is certain before the end, because an op with an earlier time may follow. It may
//! propose a version that no write had proposed, or propose a version a second time; then it is unknown which version
//! other ops replaced or read. If some op has no time, or with [`VersionedRegister::in_order`], anomalies are certain:
//! later ops cannot have happened before. They remain if a later op cannot be read, or names no process; then the
//! verdict covers only the ops before it. A read of a version that no write has proposed is a `garbage-read`, and a
//! `future-read` if a later write proposes it.
//! later write proposes it.
//!
//! # Cost
//!
//! O(1) per op, and O(v log v) in the versions for a file that is not sorted. Memory: about 160 bytes for each version
//! of the chain and each write in flight or of unknown outcome, and up to 16,384 failed ones. With
//! [`VersionedRegister::forget`] the chain is a window: the verdict is the same, except for reads that began before the
//! window, which are reported. (Each id or value that is a string of more than 11 bytes and no UUID, or no scalar, is
//! stored as well.)
//!
//! Each stage is a module: `request` decodes ops, `fold` pairs them and finds their register, `registers` records them,
//! keeps the chains (`walk`) and determines what may be discarded (`fates`); `versions` has the rows, `packed` the ids,
//! `clock` the order. `findings` and `explain` describe the anomalies, `outcome` combines them.

mod clock;
mod explain;
mod findings;
mod fold;
mod ops;
mod outcome;
mod packed;
mod register;
mod registers;
mod replay;
mod request;
mod scalar;
#[cfg(test)]
mod tests;
mod versions;

use fold::{Fold, Keying, OpFault};
use history_core::{
    About, Budget, Checker, Datum, History, HistoryError, NextStep, Op, OptionError, OptionKind, OptionSpec, Options,
    Participants, Parts, Report, Run, Subject, UndecodedOps,
};
use packed::{Interner, Packed};
use register::Settings;
use registers::Registers;
use request::{Request, Shape};
use std::num::NonZeroU32;
use std::ops::ControlFlow;

const NAME: &str = "versioned-register";

/// The versioned-register checker, and its options.
///
/// Histories of several registers name them in the field `:key` of each op, or before each value, `[key value]`, as
/// Jepsen's `independent` does.
///
/// ```
/// use check_register::versioned_register::{self, VersionedRegister};
/// use history_core::{History, Verdict};
///
/// let history = History::parse(r#"
///     {:process 0, :type :invoke, :f :write, :value 1, :write-id "b", :prev-write-id "a"}
///     {:process 0, :type :ok,     :f :write, :value 1, :write-id "b", :prev-write-id "a"}
///     {:process 1, :type :invoke, :f :read,  :value nil}
///     {:process 1, :type :ok,     :f :read,  :value 0, :write-id "a"}
/// "#)?;
/// let report = versioned_register::check(&history, &VersionedRegister::default())?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// let stale = &report.anomaly("stale-read").unwrap().witnesses[0];
/// assert!(stale.explanation.contains(r#"in this order: "a" -> "b""#), "{}", stale.explanation);
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VersionedRegister {
    /// The id of the initial version. If absent, the initial version is the first one that is read, or replaced,
    /// although no write has proposed it.
    pub initial_write_id: Option<Datum>,
    /// The value of that version. If absent, the first value read of it.
    pub initial_value: Option<Datum>,
    /// The number of the newest versions of each chain that are kept. If absent, all versions are kept.
    ///
    /// This bounds the memory of long runs, but makes reports less specific: a read of a version that is no longer in
    /// the window is reported as `unknown-version`, whatever the version was.
    pub forget: Option<NonZeroU32>,
    /// Whether the ops are in the order in which they happened, independently of their times. Then a violation is known
    /// at the op that proves it.
    pub in_order: bool,
    /// The maximum number of witnesses per type of anomaly: the first one of each key. All anomalies are counted.
    pub witnesses_max: usize,
}

impl Default for VersionedRegister {
    /// The initial version is unknown, and nothing is discarded.
    fn default() -> VersionedRegister {
        VersionedRegister {
            initial_write_id: None,
            initial_value: None,
            forget: None,
            in_order: false,
            witnesses_max: 8,
        }
    }
}

/// Checks a history that is in memory. O(n), and O(n log n) if it is not sorted by time.
///
/// # Errors
///
/// If the history is too large to be checked, or an initial value nests too deeply.
pub fn check(history: &History, checker: &VersionedRegister) -> Result<Report, HistoryError> {
    let run = Box::new(VersionedRun::new(checker.clone())?);
    history_core::check_history(run, history, &Budget::default())
}

const INITIAL_WRITE_ID: OptionSpec = OptionSpec::new(
    "initial-write-id",
    OptionKind::Text,
    "Id of the initial version, as EDN or JSON; a bare word or UUID is a string.",
)
.with_value_name("ID")
.with_default("the first id that is read or replaced but not written");

const INITIAL_VALUE: OptionSpec = OptionSpec::new(
    "initial-value",
    OptionKind::Text,
    "Value of the initial version, as EDN or JSON; a bare word is a string.",
)
.with_value_name("VALUE")
.with_default("the value in the first read");

const FORGET: OptionSpec = OptionSpec::new(
    "forget",
    OptionKind::Integer,
    "Keep only the last N versions of each register, to save memory in long runs.",
)
.with_value_name("N")
.with_default("all");

const IN_ORDER: OptionSpec = OptionSpec::new(
    "in-order",
    OptionKind::Flag,
    "Order ops by their position in the file, not by their times. Violations are then found immediately.",
);

const MAX_WITNESSES: OptionSpec = OptionSpec::new(
    "max-witnesses",
    OptionKind::Integer,
    "Number of witnesses to report per type of anomaly. All anomalies are counted.",
)
.with_value_name("N")
.with_default("8");

const OPTIONS: &[OptionSpec] = &[INITIAL_WRITE_ID, INITIAL_VALUE, FORGET, IN_ORDER, MAX_WITNESSES];

impl Checker for VersionedRegister {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "Linearizability, in linear time, of registers in which every write is a compare-and-set on the previous \
         write-id."
    }

    fn options(&self) -> &[OptionSpec] {
        OPTIONS
    }

    fn about(&self) -> About {
        let mut about = About::new(Subject::Object).with_parts(Parts::Sums);
        // A failed write that was observed is one of the anomalies.
        about.reduction.failed_count = true;
        // A history that is watched arrives in order, even if clocks differ.
        about.watching.push((IN_ORDER.name.into(), "true".into()));
        about
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let mut checker = self.clone();
        for (spec, setting) in
            [(INITIAL_WRITE_ID, &mut checker.initial_write_id), (INITIAL_VALUE, &mut checker.initial_value)]
        {
            if let Some(text) = options.text(spec.name) {
                *setting = Some(scalar::parse(text).map_err(|message| OptionError::new(spec.name, message))?);
            }
        }
        if let Some(window) = options.integer(FORGET.name)? {
            let window = u32::try_from(window).ok().and_then(NonZeroU32::new);
            let wrong = || OptionError::new(FORGET.name, "expected a number from 1 to 4294967295");
            checker.forget = Some(window.ok_or_else(wrong)?);
        }
        checker.in_order |= options.flag(IN_ORDER.name);
        if let Some(max) = options.size(MAX_WITNESSES.name)? {
            checker.witnesses_max = max;
        }
        let run = VersionedRun::new(checker);
        Ok(Box::new(run.map_err(|error| OptionError::new(INITIAL_WRITE_ID.name, error.to_string()))?))
    }
}

/// The known place of keys.
enum Stage {
    /// No op has shown it.
    Start,
    /// It is known.
    One(Box<Fold>),
    /// Every value so far is a pair. They may be plain values, or contain keys: both are tried.
    Either { plain: Box<Fold>, keyed: Box<Fold> },
}

impl Stage {
    fn each(&mut self, mut f: impl FnMut(&mut Fold)) {
        match self {
            Stage::Start => {}
            Stage::One(fold) => f(fold),
            Stage::Either { plain, keyed } => {
                f(plain);
                f(keyed);
            }
        }
    }

    /// Returns true if the history is violated for every possible place of keys, on the assumption that no later op has
    /// an earlier time.
    fn is_violated_so_far(&self) -> bool {
        match self {
            Stage::Start => false,
            Stage::One(fold) => fold.is_violated_so_far(),
            Stage::Either { plain, keyed } => plain.is_violated_so_far() && keyed.is_violated_so_far(),
        }
    }
}

/// The check of one history.
struct VersionedRun {
    checker: VersionedRegister,
    stage: Stage,
    /// The clients of the history, and the number of its other ops.
    participants: Participants,
    /// The first op that cannot be processed, and why.
    malformed: Option<String>,
    /// `ok` reads that do not record which version they returned.
    unread: UndecodedOps,
}

impl VersionedRun {
    fn new(checker: VersionedRegister) -> Result<VersionedRun, HistoryError> {
        // An error in the options is reported here, so that this cannot fail later.
        registers(&checker)?;
        Ok(VersionedRun {
            checker,
            stage: Stage::Start,
            participants: Participants::new(),
            malformed: None,
            unread: UndecodedOps::default(),
        })
    }

    fn take(&mut self, op: &Op<'_>) -> Result<(), OpFault> {
        let request = Request::new(op).map_err(OpFault::Malformed)?;
        if let Stage::One(fold) = &mut self.stage {
            return fold.take(op, &request);
        }
        self.settle(op, &request)?;
        match &mut self.stage {
            Stage::Start => Ok(()),
            Stage::One(fold) => fold.take(op, &request),
            Stage::Either { plain, keyed } => {
                let of_plain = plain.take(op, &request);
                if let Err(OpFault::Unread(_)) = of_plain {
                    // The keyed fold returns the same error, or a more severe one.
                    return keyed.take(op, &request).and(of_plain);
                }
                of_plain?;
                keyed.take(op, &request)
            }
        }
    }

    /// Determines from an op where keys are.
    fn settle(&mut self, op: &Op<'_>, request: &Request<'_>) -> Result<(), HistoryError> {
        let shape = Shape::of(op, request);
        let fold = |keying| Ok::<_, HistoryError>(Box::new(Fold::new(keying, registers(&self.checker)?)));
        self.stage = match (std::mem::replace(&mut self.stage, Stage::Start), shape) {
            (Stage::Start, _) if request.key.is_some() => Stage::One(fold(Keying::Field)?),
            (Stage::Start, Shape::Plain) => Stage::One(fold(Keying::None)?),
            (Stage::Start, Shape::Keyed) => Stage::One(fold(Keying::Value)?),
            (Stage::Start, Shape::Any | Shape::Pair) => {
                Stage::Either { plain: fold(Keying::None)?, keyed: fold(Keying::Value)? }
            }
            (Stage::Either { plain, .. }, Shape::Plain) => Stage::One(plain),
            (Stage::Either { keyed, .. }, Shape::Keyed) => Stage::One(keyed),
            (same, _) => same,
        };
        Ok(())
    }
}

impl VersionedRun {
    /// Adds notes about the op at which the check stopped, and about the ops that were omitted.
    fn noted(&self, mut report: Report) -> Report {
        report.notes.extend(self.participants.note());
        self.unread.conclude(&mut report);
        if let Some(place) = &self.malformed {
            report.is_partial = true;
            report.notes.insert(0, format!("The verdict covers only the ops before {place}"));
        }
        report
    }
}

/// Creates the registers, without any versions.
fn registers(checker: &VersionedRegister) -> Result<Registers, HistoryError> {
    let mut interner = Interner::default();
    let mut pack = |datum: &Option<Datum>| datum.as_ref().map(|datum| scalar::pack(&mut interner, datum)).transpose();
    let settings = Settings {
        initial_id: pack(&checker.initial_write_id)?,
        initial_value: pack(&checker.initial_value)?,
        window: checker.forget.map(NonZeroU32::get),
        in_order: checker.in_order,
        witnesses_max: checker.witnesses_max,
    };
    Ok(Registers::new(settings, interner))
}

impl Run for VersionedRun {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        let is_client = if self.malformed.is_none() { self.participants.see(op) } else { op.process.is_client() };
        if !is_client {
            return Ok(ControlFlow::Continue(()));
        }
        if self.malformed.is_none() {
            match self.take(op) {
                Ok(()) => return Ok(ControlFlow::Continue(())),
                Err(OpFault::Error(error)) => return Err(error),
                Err(OpFault::Unread(reason)) => {
                    self.unread.push(op, &reason, false);
                    return Ok(ControlFlow::Continue(()));
                }
                Err(OpFault::Malformed(reason)) => {
                    self.malformed = Some(format!("the op at {}: {reason}.", op.place()));
                }
            }
        }
        self.stage.each(|fold| fold.pass(op));
        // The anomalies found remain, unless an op that is still to come was earlier.
        let is_open = self.stage.is_violated_so_far() && !self.is_violated();
        Ok(if is_open { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    fn is_violated(&self) -> bool {
        // If the place of keys is unknown, it is also unknown which ops belong to one register.
        matches!(&self.stage, Stage::One(fold) if fold.is_violated())
    }

    fn violation(&self) -> Option<Report> {
        let Stage::One(fold) = &self.stage else { return None };
        fold.is_violated().then(|| self.noted(Fold::clone(fold).so_far(self.participants.others())))
    }

    fn finish(mut self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
        if let Some(place) = &self.malformed {
            let unknown = || outcome::unknown(format!("No verdict, because of {place}"), NextStep::correct_op(place));
            if !self.stage.is_violated_so_far() {
                return Ok(unknown());
            }
            return match std::mem::replace(&mut self.stage, Stage::Start) {
                Stage::One(fold) | Stage::Either { keyed: fold, .. } => {
                    Ok(self.noted(fold.so_far(self.participants.others())))
                }
                Stage::Start => Ok(unknown()),
            };
        }
        let others = self.participants.others();
        let report = match std::mem::replace(&mut self.stage, Stage::Start) {
            Stage::Start => Fold::new(Keying::None, registers(&self.checker)?).finish(others),
            Stage::One(fold) => fold.finish(others),
            Stage::Either { plain, keyed } => {
                let (plain, keyed) = (plain.finish(others)?, keyed.finish(others)?);
                if plain.verdict == keyed.verdict {
                    return Ok(self.noted(keyed));
                }
                let [plain, keyed] = [plain, keyed].map(|report| report.verdict.name());
                let note = format!(
                    "Every value is a pair. If its first element is a key, the verdict is {keyed}; if the pairs are \
                     values of one register, it is {plain}. Record the key of each op in a field :key, or record [key \
                     nil] as the value of each invocation of a read."
                );
                let next = NextStep::new("Record the key of each op in a field :key.");
                Ok(outcome::unknown(note, next))
            }
        };
        report.map(|report| self.noted(report))
    }
}
