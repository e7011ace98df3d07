//! Laws that tie verdicts to what the levels mean: whatever could have happened is not invalid, and what could not is
//! not valid.

use super::graph::Order;
use super::semantic::{
    certainly_orders_writes, is_read_committed, is_serializable, is_snapshot_isolated, orders_writes,
};
use super::world::World;
use super::{Question, Workload};
use history_core::Verdict;

/// What a level lets happen, and what a verdict on it has to do with that.
struct Level {
    model: &'static str,
    may_have_happened: fn(&World) -> bool,
    law: Law,
}

#[derive(Clone, Copy)]
enum Law {
    /// The level's anomalies let this happen, and nothing else.
    Lets(fn(&World) -> bool),
    /// They forbid less than the level does, and nobody has written down what.
    Incomplete,
    /// They are not all searched for: `may_have_happened` is what a stronger level lets happen, and without it no
    /// history is valid.
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
    // Read committed lets a transaction's reads disagree with each other, in ways that its definition by executions,
    // which we use, does not follow.
    Level { model: "read-committed", may_have_happened: is_read_committed, law: Law::Incomplete },
    // Where reads disagree, one of them is right, and what all of them say is known.
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

/// The models that there are laws for.
pub(crate) fn models() -> impl Iterator<Item = &'static str> {
    LEVELS.iter().map(|level| level.model)
}

/// Whether a model is not searched for by itself.
pub(crate) fn is_implied(model: &str) -> bool {
    LEVELS.iter().any(|level| level.model == model && matches!(level.law, Law::Implied))
}

/// Holds a verdict against the meaning of the one model asked for.
///
/// # Errors
///
/// Which law it breaks.
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

/// Whether the order of each key's versions is known, as far as it matters.
fn shows_all_orders(world: &World, workload: &Workload<'_>) -> bool {
    match workload {
        Workload::ListAppend => true,
        // Where all that is written replaces what was read, versions form a chain; or an update is lost.
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
