//! What there is to say of a violation: what all configurations had in common, what became of each, and why none goes
//! on.

use crate::OnlineModel;
use crate::engine::kernel::World;
use crate::engine::ops::{Fate, NEVER, OpIx};
use crate::engine::part::Part;
use crate::engine::part::ledger::Contradiction;
use crate::engine::paths::TRUNK;
use check_register::engine::paths::PathId;

/// A proof that a history is not linearizable: no order of the operations up to the return of one of them is admitted.
///
/// Its `Display` explains it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation<O> {
    /// The part of the object; `None` if it is the whole of it.
    pub part: Option<String>,
    /// The operation that cannot take effect before it returns.
    pub refused: Step<O>,
    /// How many operations all configurations had begun with: the last common linearization.
    pub common_len: u64,
    /// The last ones of these, in order.
    pub common: Vec<Step<O>>,
    /// What the history could have come to before the refused operation returned: each state once.
    pub configurations: Vec<Configuration<O>>,
    /// Further states that are not listed.
    pub more_configurations: usize,
    /// If the values of a collection are distinct and much was in flight: operations that contradict each other,
    /// whatever else happened. There are no `configurations` then.
    pub conflict: Vec<Step<O>>,
}

/// An operation of a [`Violation`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step<O> {
    /// Who did it.
    pub client: i64,
    /// What it did.
    pub op: O,
    /// The same, as the model describes it.
    pub what: String,
    /// When it was called: the span's start, or the invocation's index.
    pub start: u64,
    /// When it returned; `None` if it has not, or never will.
    pub finish: Option<u64>,
}

/// A state that the object may have come to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Configuration<O> {
    /// The operations that took effect after the common ones, in order; the last ones, if there are very many.
    pub after: Vec<Step<O>>,
    /// The state, as the model describes it.
    pub state: String,
    /// What could come next: the operations in flight that have not taken effect and that will return, and whether each
    /// can. The refused one is among them, and cannot.
    pub next: Vec<(Step<O>, Next)>,
}

/// Whether an operation can take effect in some state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Next {
    /// The model does not admit it.
    NotAdmitted,
    /// It can, and leads to another configuration, from which the refused operation cannot follow either.
    LeadsOn,
}

/// States that are listed. More are no help.
const CONFIGURATIONS_MAX: usize = 8;

/// Operations that are listed of one configuration, the last ones.
const AFTER_MAX: usize = 64;

/// Describes the refusal of an operation that was to return, of which `part` has no configuration left.
pub(crate) fn describe<M: OnlineModel>(
    world: &mut World<M>,
    part: &Part,
    name: Option<String>,
    refused: OpIx,
) -> Option<Violation<M::Op>> {
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
        violation.configurations.push(Configuration { after, state: world.table.describe_state(head.state), next });
    }
    Some(violation)
}

/// Describes what a monitor refused.
pub(crate) fn of_conflict<M: OnlineModel>(world: &World<M>, contradiction: &Contradiction) -> Option<Violation<M::Op>> {
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

fn steps<M: OnlineModel>(world: &World<M>, ops: &[OpIx]) -> Vec<Step<M::Op>> {
    ops.iter().filter_map(|op| step(world, *op)).collect()
}

fn step<M: OnlineModel>(world: &World<M>, op: OpIx) -> Option<Step<M::Op>> {
    let row = world.ops.get(op);
    let class = row.class?;
    Some(Step {
        client: row.client,
        op: world.table.op(class).clone(),
        what: world.table.describe_class(class),
        start: row.start,
        finish: (row.fate == Fate::Returns && row.finish != NEVER).then_some(row.finish),
    })
}
