//! What there is to say of a violation: what all possibilities had in common, what became of each, and why none goes on.

use crate::kernel::World;
use crate::ops::{Fate, NEVER, OpIx};
use crate::part::Part;
use crate::paths::Paths;
use check_register::Model;
use std::fmt;

/// A proof that a history is not linearizable: no order of the operations up to the return of one of them is admitted.
///
/// Its `Display` tells it in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The part of the object; `None` if it is the whole of it.
    pub part: Option<String>,
    /// The operation that cannot take effect before it returns.
    pub refused: Step,
    /// How many operations all possibilities had begun with.
    pub common_len: u64,
    /// The last ones of these.
    pub common: Vec<Step>,
    /// What the history could have come to before the refused operation returned: each state once.
    pub possibilities: Vec<Possibility>,
    /// Further states that are not listed.
    pub more_possibilities: usize,
}

/// An operation of a [`Violation`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Who did it.
    pub client: i64,
    /// What it did, as the model describes it.
    pub what: String,
    /// When it was called: the span's start, or the invocation's index.
    pub start: u64,
    /// When it returned; `None` if it has not, or never will.
    pub finish: Option<u64>,
}

/// A state that the object may have come to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Possibility {
    /// The operations that took effect after the common ones, in order. Up to the first one of them that is kept, if there are
    /// very many.
    pub after: Vec<Step>,
    /// The state, as the model describes it.
    pub state: String,
    /// What could come next: the operations in flight that have not taken effect, and whether each can. The refused one is
    /// among them, and cannot.
    pub next: Vec<(Step, Next)>,
}

/// Whether an operation can take effect in some state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Next {
    /// The model does not admit it.
    NotAdmitted,
    /// It can, and leads to another possibility, from which the refused operation cannot follow either.
    LeadsOn,
}

/// States that are listed. More are no help.
const POSSIBILITIES_MAX: usize = 8;

/// Operations that are listed of one possibility, the last ones.
const AFTER_MAX: usize = 64;

/// Describes the refusal of the operation that was to return last in `part`'s kernel.
pub(crate) fn describe<M: Model>(world: &mut World<M>, part: &Part, name: Option<String>, refused: OpIx) -> Violation {
    let heads = &part.kernel.set.heads;
    let mut paths = heads.iter().map(|head| head.path);
    let first = paths.next().unwrap_or(Paths::ROOT);
    let common = paths.fold(first, |common, path| world.paths.common(common, path));
    let mut violation = Violation {
        part: name,
        refused: step(world, refused),
        common_len: world.paths.len(common),
        common: Vec::new(),
        possibilities: Vec::new(),
        more_possibilities: 0,
    };
    let trunk = world.paths.down_to(common, Paths::ROOT);
    violation.common = trunk[trunk.len().saturating_sub(4)..].iter().map(|op| step(world, *op)).collect();
    let mut states = Vec::new();
    for (at, head) in heads.iter().enumerate() {
        if states.contains(&head.state) {
            continue;
        }
        if states.len() == POSSIBILITIES_MAX {
            violation.more_possibilities += 1;
            continue;
        }
        states.push(head.state);
        let after = world.paths.down_to(head.path, common);
        let after = after[after.len().saturating_sub(AFTER_MAX)..].iter().map(|op| step(world, *op)).collect();
        let left: Vec<_> = part.kernel.in_flight().filter(|(slot, _)| !part.kernel.set.has(at, *slot)).collect();
        let mut next = Vec::new();
        for (_, in_flight) in left {
            let admits = world.table.admits(head.state, in_flight.class);
            next.push((step(world, in_flight.op), if admits { Next::LeadsOn } else { Next::NotAdmitted }));
        }
        violation.possibilities.push(Possibility { after, state: world.table.describe_state(head.state), next });
    }
    violation
}

fn step<M: Model>(world: &World<M>, op: OpIx) -> Step {
    let row = world.ops.get(op);
    Step {
        client: row.client,
        what: row.class.map_or_else(|| "nothing".into(), |class| world.table.describe_class(class)),
        start: row.start,
        finish: (row.fate == Fate::Returns && row.finish != NEVER).then_some(row.finish),
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by client {}, ", self.what, self.client)?;
        match self.finish {
            Some(finish) => write!(f, "{} to {finish}", self.start),
            None => write!(f, "from {} on", self.start),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not linearizable")?;
        if let Some(part) = &self.part {
            write!(f, ", of {part}")?;
        }
        writeln!(f, ": {} cannot take effect before it returns.", self.refused)?;
        match self.common.last() {
            None => writeln!(f, "Nothing is sure to have come first.")?,
            Some(_) => {
                writeln!(f, "Up to here there is one order, of {} operations; its last ones are:", self.common_len)?;
                self.common.iter().try_for_each(|step| writeln!(f, "  {step}"))?;
            }
        }
        for possibility in &self.possibilities {
            if possibility.after.is_empty() {
                writeln!(f, "The state may then be {}:", possibility.state)?;
            } else {
                writeln!(f, "After that there may have come:")?;
                possibility.after.iter().try_for_each(|step| writeln!(f, "  {step}"))?;
                writeln!(f, "with which the state is {}:", possibility.state)?;
            }
            for (step, next) in &possibility.next {
                let what = &step.what;
                match next {
                    Next::NotAdmitted => writeln!(f, "  it does not admit {what} by client {}", step.client)?,
                    Next::LeadsOn => writeln!(f, "  {what} by client {} may follow, which helps no more", step.client)?,
                }
            }
        }
        if self.more_possibilities > 0 {
            writeln!(f, "There are {} more states, which do not admit it either.", self.more_possibilities)?;
        }
        Ok(())
    }
}
