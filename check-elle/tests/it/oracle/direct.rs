//! The anomalies that are not cycles, each implemented directly from its sentence in the specification.

use super::graph::{certain_order, version_order};
use super::world::{Kind, Mop, Name, Txn, World};

type Test = fn(&World) -> bool;

/// Returns the types of all such anomalies in a world.
pub(crate) fn types(world: &World) -> Vec<&'static str> {
    let both: [(&str, Test); 7] = [
        ("cyclic-versions", cyclic_versions),
        ("G1a", g1a),
        ("G1b", g1b),
        ("future-read", future_read),
        ("garbage-read", garbage_read),
        ("internal", internal),
        ("lost-update", lost_update),
    ];
    let lists: [(&str, Test); 3] = [
        ("dirty-update", dirty_update),
        ("duplicate-elements", duplicate_elements),
        ("incompatible-order", incompatible_order),
    ];
    let own: &[(&str, Test)] = if world.versions.is_some() { &[] } else { &lists };
    both.iter().chain(own).filter(|(_, is_there)| is_there(world)).map(|(name, _)| *name).collect()
}

fn g1a(world: &World) -> bool {
    world.txns.iter().filter(|txn| txn.is_ok()).flat_map(Txn::reads).any(|(key, list)| {
        list.iter()
            .any(|element| world.writer(key, *element).is_some_and(|writer| world.txns[writer].kind == Kind::Fail))
    })
}

fn g1b(world: &World) -> bool {
    world.txns.iter().enumerate().filter(|(_, txn)| txn.is_ok()).any(|(reader, txn)| {
        txn.reads().any(|(key, list)| {
            let Some(&last) = list.last() else { return false };
            let Some(writer) = world.writer(key, last) else { return false };
            let final_append = world.txns[writer].writes().filter(|(k, _)| *k == key).last();
            writer != reader && final_append != Some((key, last))
        })
    })
}

fn internal(world: &World) -> bool {
    world.txns.iter().filter(|txn| txn.is_ok()).any(|txn| {
        (0..txn.mops.len()).any(|at| {
            let Mop::Read(key, Some(list)) = &txn.mops[at] else { return false };
            if world.versions.is_some() {
                return register_disagrees(&txn.mops[..at], *key, list);
            }
            disagrees(&txn.mops[..at], *key, list)
        })
    })
}

/// Returns true if a read of `key` after these micro-ops cannot show this list.
fn disagrees(before: &[Mop], key: Name, list: &[Name]) -> bool {
    // The transaction's last read of this key, and its appends since.
    let mut known: Option<Vec<Name>> = None;
    let mut appended: Vec<Name> = Vec::new();
    for mop in before {
        match mop {
            Mop::Read(k, Some(list)) if *k == key => {
                known = Some(list.clone());
                appended.clear();
            }
            Mop::Write(k, element) if *k == key => appended.push(*element),
            _ => {}
        }
    }
    match known {
        Some(known) => [known, appended].concat() != list,
        None => !list.ends_with(&appended),
    }
}

/// Returns true if a read differs from the transaction's last read or write of the register.
fn register_disagrees(before: &[Mop], key: Name, seen: &[Name]) -> bool {
    before.iter().rev().find_map(|mop| match mop {
        Mop::Read(k, Some(last)) if *k == key => Some(last != seen),
        Mop::Write(k, last) if *k == key => Some([*last] != *seen),
        _ => None,
    }) == Some(true)
}

/// For lists: returns true if two appends of one transaction are certainly in the opposite order.
fn cyclic_versions(world: &World) -> bool {
    if let Some(versions) = &world.versions {
        return versions.cyclic;
    }
    (0..world.keys.len()).any(|key| {
        let order = certain_order(world, key);
        // Elements without a certain place come after all that have one.
        let place = |element: &Name| order.iter().position(|e| e == element).unwrap_or(order.len());
        world.txns.iter().filter(|txn| txn.may_have_happened()).any(|txn| {
            let own = txn.writes().filter(|(k, _)| *k == key).map(|(_, element)| place(&element));
            !own.collect::<Vec<_>>().is_sorted()
        })
    })
}

fn garbage_read(world: &World) -> bool {
    let mut reads = world.txns.iter().filter(|txn| txn.is_ok()).flat_map(Txn::reads);
    reads.any(|(key, list)| list.iter().any(|element| world.writer(key, *element).is_none()))
}

fn future_read(world: &World) -> bool {
    world.txns.iter().filter(|txn| txn.is_ok()).any(|txn| {
        (0..txn.mops.len()).any(|at| {
            let Mop::Read(key, Some(list)) = &txn.mops[at] else { return false };
            txn.mops[at..].iter().any(|later| matches!(later, Mop::Write(k, e) if k == key && list.contains(e)))
        })
    })
}

fn dirty_update(world: &World) -> bool {
    (0..world.keys.len()).any(|key| {
        let order = version_order(world, key);
        let mut last_known = None;
        for element in order {
            let kind = world.writer(key, element).map(|writer| world.txns[writer].kind);
            if (last_known, kind) == (Some(Kind::Fail), Some(Kind::Ok)) {
                return true;
            }
            if matches!(kind, Some(Kind::Ok | Kind::Fail)) {
                last_known = kind;
            }
        }
        false
    })
}

fn lost_update(world: &World) -> bool {
    let mut updates: Vec<(Name, &Vec<Name>)> = Vec::new();
    for txn in world.txns.iter().filter(|txn| txn.is_ok()) {
        for key in 0..world.keys.len() {
            let first_read = txn.mops.iter().position(|mop| matches!(mop, Mop::Read(k, _) if *k == key));
            let Some(at) = first_read else { continue };
            let Mop::Read(_, Some(list)) = &txn.mops[at] else { continue };
            if !txn.mops[at..].iter().any(|mop| matches!(mop, Mop::Write(k, _) if *k == key)) {
                continue;
            }
            if updates.contains(&(key, list)) {
                return true;
            }
            updates.push((key, list));
        }
    }
    false
}

fn duplicate_elements(world: &World) -> bool {
    world
        .txns
        .iter()
        .filter(|txn| txn.may_have_happened())
        .flat_map(Txn::reads)
        .any(|(_, list)| list.iter().enumerate().any(|(at, element)| list[..at].contains(element)))
}

fn incompatible_order(world: &World) -> bool {
    let reads: Vec<_> = world.txns.iter().filter(|txn| txn.may_have_happened()).flat_map(Txn::reads).collect();
    reads
        .iter()
        .any(|(a_key, a)| reads.iter().any(|(b_key, b)| a_key == b_key && !a.starts_with(b) && !b.starts_with(a)))
}
