//! The description of a violation: what all configurations have in common, the state of each, and why none can
//! continue.

use crate::engine::kernel::World;
use crate::engine::ops::{Fate, NEVER, OpIx};
use crate::engine::part::Part;
use crate::engine::part::ledger::Contradiction;
use crate::engine::paths::TRUNK;
use check_register::engine::ids::ClassId;
use check_register::engine::paths::PathId;

/// A proof that a history is not linearizable: no order of the operations up to the return of one of them is valid.
///
/// `Display` prints an explanation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation<O> {
    /// The part of the object; `None` if it is the whole object.
    pub part: Option<String>,
    /// The operation that cannot take effect before it returns.
    pub refused: Step<O>,
    /// The number of operations with which all configurations begin: their longest common linearization.
    pub common_len: u64,
    /// The last of these operations, in order.
    pub common: Vec<Step<O>>,
    /// The possible states of the history before the refused operation returned, each once.
    pub configurations: Vec<Configuration<O>>,
    /// The number of further states that are not listed.
    pub more_configurations: usize,
    /// Operations that contradict each other, whatever else happened, if the values of a collection are distinct and
    /// many operations were in flight. There are no `configurations` then.
    pub conflict: Vec<Step<O>>,
}

impl Violation<ClassId> {
    /// The same violation, with the operations of the classes.
    pub(crate) fn with_ops<O>(&self, op: impl Fn(ClassId) -> O) -> Violation<O> {
        let step = |step: &Step<ClassId>| step.with_op(op(step.op));
        let steps = |steps: &[Step<ClassId>]| steps.iter().map(step).collect();
        let configuration = |configuration: &Configuration<ClassId>| Configuration {
            after: steps(&configuration.after),
            state: configuration.state.clone(),
            next: configuration.next.iter().map(|(next, why)| (step(next), *why)).collect(),
        };
        Violation {
            part: self.part.clone(),
            refused: step(&self.refused),
            common_len: self.common_len,
            common: steps(&self.common),
            configurations: self.configurations.iter().map(configuration).collect(),
            more_configurations: self.more_configurations,
            conflict: steps(&self.conflict),
        }
    }

    /// The classes of its operations.
    pub(crate) fn classes(&self) -> impl Iterator<Item = ClassId> {
        let of_configurations = self.configurations.iter().flat_map(|configuration| {
            configuration.after.iter().chain(configuration.next.iter().map(|(step, _)| step))
        });
        let steps = [&self.refused].into_iter().chain(&self.common).chain(&self.conflict).chain(of_configurations);
        steps.map(|step| step.op)
    }
}

/// An operation of a [`Violation`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step<O> {
    /// Its client.
    pub client: i64,
    /// The operation.
    pub op: O,
    /// The operation, as described by the model.
    pub what: String,
    /// When it was called: the span's start, or the invocation's index.
    pub start: u64,
    /// When it returned; `None` if it has not, or never will.
    pub finish: Option<u64>,
}

impl Step<ClassId> {
    fn with_op<O>(&self, op: O) -> Step<O> {
        let Step { client, start, finish, .. } = *self;
        Step { client, op, what: self.what.clone(), start, finish }
    }
}

/// A possible state of the object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Configuration<O> {
    /// The operations that took effect after the common ones, in order; only the last ones, if there are very many.
    pub after: Vec<Step<O>>,
    /// The state, as described by the model.
    pub state: String,
    /// The possible next operations: those in flight that have not taken effect and that will return, and whether each
    /// is valid. The refused operation is among them, and is not.
    pub next: Vec<(Step<O>, Next)>,
}

/// Whether an operation can take effect in some state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Next {
    /// The operation is not valid in this state.
    NotAdmitted,
    /// The operation is valid, and leads to another configuration, from which the refused operation cannot follow
    /// either.
    LeadsOn,
}

/// The maximum number of states that are listed.
const CONFIGURATIONS_MAX: usize = 8;

/// The maximum number of operations that are listed of one configuration: the last ones.
const AFTER_MAX: usize = 64;

/// Describes the refusal of an operation at its return, after which `part` has no configuration left.
pub(crate) fn describe(
    world: &mut World<'_>,
    part: &Part,
    name: Option<String>,
    refused: OpIx,
) -> Option<Violation<ClassId>> {
    let heads = &part.kernel.set.heads;
    let mut paths = heads.iter().map(|head| head.path);
    let first = paths.next().unwrap_or(PathId::ROOT);
    let common = paths.fold(first, |common, path| world.paths.common(common, path));
    let trunk = world.paths.get(common, PathId::ROOT);
    let mut violation = Violation {
        part: name,
        refused: step(world, refused)?,
        common_len: world.paths.node(common).len,
        common: steps(world, &trunk[trunk.len().saturating_sub(TRUNK)..]),
        configurations: Vec::new(),
        more_configurations: 0,
        conflict: Vec::new(),
    };
    let mut states = Vec::new();
    for (at, head) in heads.iter().enumerate() {
        if states.contains(&head.state) {
            continue;
        }
        if states.len() == CONFIGURATIONS_MAX {
            violation.more_configurations += 1;
            continue;
        }
        states.push(head.state);
        let after = world.paths.get(head.path, common);
        let after = steps(world, &after[after.len().saturating_sub(AFTER_MAX)..]);
        let left = part.kernel.in_flight().filter(|(slot, _)| !part.kernel.set.has(at, *slot));
        let mut next = Vec::new();
        for (_, in_flight) in left {
            let admits = world.table.admits(head.state, in_flight.class);
            let why = if admits { Next::LeadsOn } else { Next::NotAdmitted };
            next.extend(step(world, in_flight.op).map(|step| (step, why)));
        }
        violation.configurations.push(Configuration {
            after,
            state: world.table.rules.describe_state(head.state),
            next,
        });
    }
    Some(violation)
}

/// Describes the refusal of a monitor.
pub(crate) fn of_conflict(world: &World<'_>, contradiction: &Contradiction) -> Option<Violation<ClassId>> {
    Some(Violation {
        part: None,
        refused: step(world, contradiction.refused)?,
        common_len: contradiction.settled,
        common: Vec::new(),
        configurations: Vec::new(),
        more_configurations: 0,
        conflict: steps(world, &contradiction.conflict),
    })
}

fn steps(world: &World<'_>, ops: &[OpIx]) -> Vec<Step<ClassId>> {
    ops.iter().filter_map(|op| step(world, *op)).collect()
}

fn step(world: &World<'_>, op: OpIx) -> Option<Step<ClassId>> {
    let row = world.ops.get(op);
    let class = row.class?;
    Some(Step {
        client: row.client,
        op: class,
        what: world.table.rules.describe_class(class),
        start: row.start,
        finish: (row.fate == Fate::Returns && row.finish != NEVER).then_some(row.finish),
    })
}
