//! Laws that relate verdicts to the definitions of the levels: a history that a level allows is not invalid, and a
//! history that it forbids is not valid.

use super::graph::Order;
use super::semantic::{
    certainly_orders_writes, is_read_committed, is_serializable, is_snapshot_isolated, orders_writes,
};
use super::world::World;
use super::{Question, Workload};
use history_core::Verdict;

/// The histories that a level allows, and how a verdict relates to them.
struct Level {
    model: &'static str,
    may_have_happened: fn(&World) -> bool,
    law: Law,
}

#[derive(Clone, Copy)]
enum Law {
    /// The level's anomalies allow exactly the histories for which this returns true.
    Lets(fn(&World) -> bool),
    /// The level's anomalies forbid less than the level does, and the difference is defined nowhere.
    Incomplete,
    /// Not all of the level's anomalies are searched for: `may_have_happened` is the definition of a stronger level,
    /// and no history that violates it is valid.
    Implied,
}

const fn complete(model: &'static str, may_have_happened: fn(&World) -> bool) -> Level {
    Level { model, may_have_happened, law: Law::Lets(may_have_happened) }
}

const fn implied(model: &'static str, may_have_happened: fn(&World) -> bool) -> Level {
    Level { model, may_have_happened, law: Law::Implied }
}

const LEVELS: &[Level] = &[
    complete("strict-serializable", |world| is_serializable(world, Order::Realtime)),
    complete("strong-session-serializable", |world| is_serializable(world, Order::Process)),
    complete("serializable", |world| is_serializable(world, Order::None)),
    complete("strong-snapshot-isolation", |world| is_snapshot_isolated(world, Order::Realtime)),
    complete("strong-session-snapshot-isolation", |world| is_snapshot_isolated(world, Order::Process)),
    complete("snapshot-isolation", |world| is_snapshot_isolated(world, Order::None)),
    // Read committed allows a transaction's reads to contradict each other in ways that its definition by executions,
    // which is used here, does not allow.
    Level { model: "read-committed", may_have_happened: is_read_committed, law: Law::Incomplete },
    // Where reads contradict each other, one of them is right, and only what they all agree on is certain.
    Level { model: "read-uncommitted", may_have_happened: orders_writes, law: Law::Lets(certainly_orders_writes) },
    implied("update-serializable", |world| is_serializable(world, Order::None)),
    implied("read-atomic", |world| is_snapshot_isolated(world, Order::None)),
    implied("prefix", |world| is_snapshot_isolated(world, Order::None)),
    implied("linearizable", in_time),
    implied("read-your-writes", in_time),
];

fn in_time(world: &World) -> bool {
    is_serializable(world, Order::Realtime)
}

/// Returns the models that have laws.
pub(crate) fn models() -> impl Iterator<Item = &'static str> {
    LEVELS.iter().map(|level| level.model)
}

/// Returns true if a model is not searched for by itself.
pub(crate) fn is_implied(model: &str) -> bool {
    LEVELS.iter().any(|level| level.model == model && matches!(level.law, Law::Implied))
}

/// Checks a verdict against the definition of the one requested model.
///
/// # Errors
///
/// The law that the verdict violates.
pub(crate) fn hold(world: &World, question: &Question<'_>, verdict: Verdict) -> Result<(), String> {
    let Some(level) = LEVELS.iter().find(|level| question.models == [level.model]) else { return Ok(()) };
    let happened = (level.may_have_happened)(world);
    if happened && verdict == Verdict::Invalid {
        return Err(format!("invalid, yet {} lets it happen", level.model));
    }
    let is_let = match level.law {
        Law::Lets(let_happen) => let_happen(world),
        Law::Incomplete => true,
        Law::Implied => {
            let is_wrong = verdict == Verdict::Valid && !happened;
            return if is_wrong { Err(format!("valid, yet nothing shows {}", level.model)) } else { Ok(()) };
        }
    };
    if !is_let && shows_all_orders(world, &question.workload) && verdict != Verdict::Invalid {
        return Err(format!("{}, yet {} does not let it happen", verdict.name(), level.model));
    }
    Ok(())
}

/// Returns true if the version order of each key is known, as far as the verdict depends on it.
fn shows_all_orders(world: &World, workload: &Workload<'_>) -> bool {
    match workload {
        Workload::ListAppend => true,
        // If every write replaces a version that its transaction read, versions form a chain, or an update is lost.
        Workload::RwRegister(sources) => {
            sources.wfr_keys && {
                let mut writes = world
                    .txns
                    .iter()
                    .filter(|txn| txn.may_have_happened())
                    .flat_map(|txn| txn.writes().map(move |(key, _)| txn.external_read(key).is_some()));
                writes.all(|replaces| replaces)
            }
        }
    }
}
