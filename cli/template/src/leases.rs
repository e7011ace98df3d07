//! Leader leases: spans in which a client is certainly the leader must not overlap.
//!
//! A client is certainly the leader from the completion of its `:acquire` to the invocation of its `:release`. Before
//! and after that the lease may still be on its way, so nothing is held against it. An acquire that ends in `:info` may
//! have been granted, but this is unknown, so it is not counted either.
//!
//! A `:release` that ends in `:fail` certainly did not happen: the client was the leader all the time, and still is.
//! One that ends in `:info` may have happened, so the client is not certainly the leader any more.

use histcheck_plugin::{
    Anomaly, Budget, Checker, Client, Coverage, Datum, Expected, HistoryError, Op, OpKind, OpUse, OptionError,
    OptionKind, OptionSpec, Options, Report, Run, Verdict, Witness, WitnessOp,
};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

const NAME: &str = "leader-lease";
const MAX_WITNESSES: &str = "max-witnesses";

/// What the history should hold. Where there is no such op the verdict is unknown, and a note says this.
const EXPECTED: Expected = Expected { ops: ":acquire and :release", observation: "ok :acquire" };

/// What `-m leader-lease` represents.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeaderLease;

static OPTIONS: [OptionSpec; 1] =
    [OptionSpec::new(MAX_WITNESSES, OptionKind::Integer, "How many pairs of leaders to show; all are counted.")
        .with_value_name("N")
        .with_default("10")];

impl Checker for LeaderLease {
    fn name(&self) -> &str {
        NAME
    }

    fn summary(&self) -> &str {
        "No two clients hold the lease at one time."
    }

    fn options(&self) -> &[OptionSpec] {
        &OPTIONS
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let witnesses_max = options.size(MAX_WITNESSES)?.unwrap_or(10);
        Ok(Box::new(Leases {
            witnesses_max,
            leaders: BTreeMap::new(),
            releasing: BTreeMap::new(),
            acquired: 0,
            coverage: Coverage::default(),
            overlaps: 0,
            witnesses: Vec::new(),
        }))
    }
}

/// One history on its way through the checker.
struct Leases {
    witnesses_max: usize,
    /// Those who are certainly the leader now, and the op that made them so.
    leaders: BTreeMap<Client, WitnessOp>,
    /// Those whose release has not completed.
    releasing: BTreeMap<Client, Releasing>,
    acquired: u64,
    coverage: Coverage,
    overlaps: u64,
    witnesses: Vec<Witness>,
}

/// A release that has not completed: until then, it is unknown whether its client is the leader.
struct Releasing {
    /// The op that made its client the leader.
    held: WitnessOp,
    /// The ops that made others the leader since the release began; as many as are shown.
    others: Vec<WitnessOp>,
    /// How many these are in total.
    count: u64,
}

impl Leases {
    fn acquire(&mut self, process: Client, op: &Op<'_>) {
        let new = WitnessOp {
            name: "second".into(),
            index: op.index,
            process: Some(process.clone()),
            kind: op.kind,
            time_ns: op.time,
            value: Datum::from(op.value),
        };
        for (other, held) in self.leaders.iter().filter(|(other, _)| **other != process) {
            self.overlaps += 1;
            if self.witnesses.len() < self.witnesses_max {
                let explanation = format!(
                    "Process {other} had the lease since the op at index {}, and had not begun to give it back when process \
                     {process} got it at index {}.",
                    held.index, new.index
                );
                self.witnesses.push(witness(held, &new, explanation));
            }
        }
        // If one of these releases fails, its client was the leader at this time.
        for (_, releasing) in self.releasing.iter_mut().filter(|(other, _)| **other != process) {
            releasing.count += 1;
            if releasing.others.len() < self.witnesses_max {
                releasing.others.push(new.clone());
            }
        }
        self.acquired += 1;
        self.leaders.insert(process, new);
    }

    fn begin_release(&mut self, process: Client) {
        if let Some(held) = self.leaders.remove(&process) {
            self.releasing.insert(process, Releasing { held, others: Vec::new(), count: 0 });
        }
    }

    fn end_release(&mut self, process: Client, op: &Op<'_>) {
        let Some(Releasing { held, others, count }) = self.releasing.remove(&process) else { return };
        if op.kind != OpKind::Fail {
            return;
        }
        // The lease was never given back.
        self.overlaps += count;
        for other in others.iter().take(self.witnesses_max.saturating_sub(self.witnesses.len())) {
            let name = other.process.as_ref().map(Client::to_string).unwrap_or_default();
            let explanation = format!(
                "Process {process} had the lease since the op at index {}, and its release failed at index {}, so it had the \
                 lease when process {name} got it at index {}.",
                held.index, op.index, other.index
            );
            self.witnesses.push(witness(&held, other, explanation));
        }
        self.leaders.insert(process, held);
    }

    fn report(&self) -> Report {
        let mut report = Report::new(NAME, if self.overlaps > 0 { Verdict::Invalid } else { Verdict::Valid });
        if self.overlaps > 0 {
            let witnesses = self.witnesses.clone();
            report.anomalies.push(Anomaly { name: "two-leaders".into(), count: self.overlaps, witnesses });
        }
        report.counts.push(("acquire-ok-count".into(), self.acquired));
        // If no process ever led, nothing was tried: this makes the verdict unknown.
        self.coverage.conclude(&EXPECTED, &mut report);
        report
    }
}

/// Two ops that made different clients the leader.
fn witness(first: &WitnessOp, second: &WitnessOp, explanation: String) -> Witness {
    let first = WitnessOp { name: "first".into(), ..first.clone() };
    Witness::new(vec![first, second.clone()], explanation)
}

impl Run for Leases {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        // The nemesis and similar processes are not clients; without a number or a name, processes cannot be
        // distinguished.
        let Some(process) = Client::of(op) else {
            self.coverage.count(op, OpUse::PassedOver);
            return Ok(ControlFlow::Continue(()));
        };
        let op_use = match (op.f, op.kind) {
            (Some("acquire"), OpKind::Ok) => {
                self.acquire(process, op);
                OpUse::Observed
            }
            (Some("release"), OpKind::Invoke) => {
                self.begin_release(process);
                OpUse::Understood
            }
            (Some("release"), _) => {
                self.end_release(process, op);
                OpUse::Understood
            }
            (Some("acquire"), _) => OpUse::Understood,
            _ => OpUse::PassedOver,
        };
        self.coverage.count(op, op_use);
        Ok(ControlFlow::Continue(()))
    }

    fn is_violated(&self) -> bool {
        self.overlaps > 0
    }

    fn violation(&self) -> Option<Report> {
        self.is_violated().then(|| self.report())
    }

    fn finish(self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
        Ok(self.report())
    }
}
