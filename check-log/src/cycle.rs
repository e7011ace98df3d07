//! Cycles of ops: which op polled the messages of which other op, the order of messages in logs, and real time.

use crate::columns::sightings::Role;
use crate::columns::{MsgId, OpId};
use crate::direct::{each_of, each_polled_unsettled};
use crate::scene::Scene;
use check_elle::dependency::{self, Cycle, Dependencies, Dependency, Txn};
use history_core::cast::Cast as _;
use history_core::explain::{self, Explanation};
use history_core::{Anomaly, Budget, Spent, Step, Witness, WitnessOp};
use std::fmt::Write;

/// The result of the search.
#[derive(Debug, Default)]
pub(crate) struct Cycles {
    pub(crate) found: Vec<Cycle>,
    pub(crate) spent: Option<Spent>,
}

/// The dependencies between ops.
struct Polls<'a> {
    scene: Scene<'a>,
    ww_deps: bool,
}

impl Polls<'_> {
    /// The op that sent a message which another op polled.
    fn sender(&self, msg: MsgId, reader: OpId) -> Option<OpId> {
        self.scene.seen.messages.writer(msg).filter(|writer| *writer != reader)
    }
}

impl Dependencies for Polls<'_> {
    fn each_of(&self, txn: u32, call: &mut dyn FnMut(u32, Dependency)) {
        let op = OpId::from(txn);
        each_of(self.scene, op, Role::Polled, |msg| {
            self.sender(msg, op).into_iter().for_each(|writer| call(writer.number(), Dependency::Wr));
        });
        if self.ww_deps {
            each_of(self.scene, op, Role::Sent, |msg| {
                if let Some((before, _)) = overwritten(self.scene, op, msg) {
                    call(before.number(), Dependency::Ww);
                }
            });
        }
    }

    fn each_untimely(&self, call: &mut dyn FnMut(u32, u32)) {
        // The sender of a settled message was `ok` before the poll.
        each_polled_unsettled(self.scene, |reader, msg| {
            self.sender(msg, reader).into_iter().for_each(|writer| call(writer.number(), reader.number()));
        });
        if self.ww_deps {
            for op in self.scene.seen.ops.ids() {
                each_of(self.scene, op, Role::Sent, |msg| {
                    if let Some((before, _)) = overwritten(self.scene, op, msg) {
                        call(before.number(), op.number());
                    }
                });
            }
        }
    }
}

/// Finds cycles of polls and real time and, if `ww_deps`, of the order in logs.
pub(crate) fn find(scene: Scene<'_>, ww_deps: bool, budget: &Budget) -> Cycles {
    let ops = &scene.seen.ops;
    let txn = |op| Txn { is_ok: ops.is_ok(op), oks_before: ops.oks_before(op) };
    let txns: Vec<Txn> = ops.ids().map(txn).collect();
    let cycles = dependency::find_cycles(&txns, &Polls { scene, ww_deps }, budget);
    let mut found = cycles.found;
    found.sort_by_key(|cycle| cycle.steps.len());
    Cycles { found, spent: cycles.spent }
}

/// The op that sent the message directly before `msg` in its log, and this message. `None` if the same op sent both, or
/// if `msg` has another writer.
fn overwritten(scene: Scene<'_>, writer: OpId, msg: MsgId) -> Option<(OpId, MsgId)> {
    let (messages, logs) = (&scene.seen.messages, scene.logs);
    if messages.writer(msg) != Some(writer) {
        return None;
    }
    let index = logs.index(msg)?.checked_sub(1)?;
    let before = logs.message(messages.key(msg), index);
    let other = messages.writer(before).filter(|other| *other != writer)?;
    Some((other, before))
}

/// The anomaly of a type.
pub(crate) fn anomaly(scene: Scene<'_>, name: &'static str, cycles: &[Cycle], shown_max: usize) -> Anomaly {
    let of_type = || cycles.iter().filter(|cycle| cycle.anomaly == name);
    let witnesses = of_type().take(shown_max).map(|cycle| witness(scene, cycle)).collect();
    Anomaly { name: name.into(), count: of_type().count().to_u64(), witnesses }
}

fn witness(scene: Scene<'_>, cycle: &Cycle) -> Witness {
    let ids: Vec<OpId> = cycle.steps.iter().map(|(op, _)| OpId::from(*op)).collect();
    let ops: Vec<WitnessOp> = ids.iter().enumerate().map(|(at, op)| scene.op(explain::name(at), *op)).collect();
    let step = |(from, (_, relation)): (usize, &(u32, &'static str))| {
        let to = (from + 1) % ids.len();
        step(scene, (from, ids[from]), (to, ids[to]), relation)
    };
    let steps: Vec<Step> = cycle.steps.iter().enumerate().map(step).collect();
    let mut explanation = Explanation::of(&ops);
    for (at, step) in steps.iter().enumerate() {
        let (a, b) = (explain::name(step.from), explain::name(step.to));
        let last = at + 1 == steps.len();
        let (lead, end) = if last { ("However, ", ": a contradiction!") } else { ("", ".") };
        explanation.then(format_args!("{lead}{a} < {b}, because {}{end}", step.because));
    }
    Witness::new(ops, explanation.to_string()).with_steps(steps)
}

/// The reason why one op comes before the next.
fn step(scene: Scene<'_>, (from, a): (usize, OpId), (to, b): (usize, OpId), relation: &'static str) -> Step {
    let (one, next) = (explain::name(from), explain::name(to));
    let messages = &scene.seen.messages;
    let of_role = |op, role| {
        let ops = &scene.seen.ops;
        let segments = ops.segments(op).filter(move |(segment, _)| segment.role() == role);
        segments.flat_map(move |(_, range)| scene.sightings(range)).map(|seen| seen.msg)
    };
    match relation {
        "wr" => {
            let polled = of_role(b, Role::Polled).find(|msg| messages.writer(*msg) == Some(a));
            let Some(msg) = polled else { return Step::new(from, to, relation, "") };
            let (key, value) = (scene.key(messages.key(msg)), scene.message(msg));
            let because = format!("{one} sent {value} to {key} which was polled by {next}");
            Step::new(from, to, relation, because).with_versions(Some(key), Some(value), None)
        }
        "ww" => {
            let pair = of_role(b, Role::Sent).find_map(|msg| {
                overwritten(scene, b, msg).filter(|(writer, _)| *writer == a).map(|(_, before)| (before, msg))
            });
            let Some((before, after)) = pair else { return Step::new(from, to, relation, "") };
            let key = scene.key(messages.key(after));
            let (value, next_value) = (scene.message(before), scene.message(after));
            let because = format!("{one} sent {value} to {key} before {next} sent {next_value}");
            Step::new(from, to, relation, because).with_versions(Some(key), Some(value), Some(next_value))
        }
        _ => Step::new(from, to, relation, because_of_time(scene, (&one, a), (&next, b))),
    }
}

fn because_of_time(scene: Scene<'_>, (one, a): (&str, OpId), (next, b): (&str, OpId)) -> String {
    let ops = &scene.seen.ops;
    let mut text = format!("{one} completed at index {},", ops.index(a));
    if let (Some(end), Some(begin)) = (ops.time_ns(a), ops.invoked_time_ns(b)) {
        match begin.checked_sub(end) {
            Some(ns) if ns > 0 => {
                // Rounded to milliseconds.
                let ms = ns / 1_000_000 + i64::from(ns % 1_000_000 >= 500_000);
                _ = write!(text, " {}.{:03} s", ms / 1_000, ms % 1_000);
            }
            _ => text.push_str(" just"),
        }
    }
    let invoked = ops.invoked(b).unwrap_or_default();
    _ = write!(text, " before the invocation of {next} at index {invoked}");
    text
}
