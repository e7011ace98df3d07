//! The kinds of faults that a run can have, and the nodes that each one affects.

pub(crate) mod partition;
#[cfg(target_os = "linux")]
pub(crate) mod rules;

use crate::chance::Chance;
use history_core::cast::Cast as _;
use std::fmt;
use std::str::FromStr;

/// A kind of fault.
///
/// A fault is begun at a list of nodes; the meaning of the list is given at each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The nodes and the others cannot reach each other.
    Isolate,
    /// The nodes and the others cannot reach each other; the nodes are a minority with the target in it.
    Split,
    /// Two parts cannot reach each other, and the first node reaches both; the further nodes are one part.
    Bridge,
    /// Each node hears a majority, and no two nodes the same one; the nodes are all, in the order of the ring. With an
    /// odd majority links work in both directions or not at all; with an even one they are cut in one direction.
    Ring,
    /// Messages from the nodes do not arrive.
    DropOutgoing,
    /// Messages to the nodes do not arrive.
    DropIncoming,
    /// Of the packets from and to the nodes three in ten are lost.
    Loss,
    /// The nodes' network links are down, that to the hub as well.
    LinkDown,
    /// Everything from and to the nodes is a tenth of a second late.
    Delay,
    /// The nodes' processes are killed, and started again when the fault ends.
    Kill,
    /// The nodes' processes are stopped until the fault ends.
    Pause,
    /// The nodes lose all that they have not flushed to their disks, and end. They start again when the fault ends.
    PowerCut,
    /// The nodes' disks are full until the fault ends.
    FullDisk,
    /// The nodes' clocks are an hour late until the fault ends.
    Clock,
    /// A command of the user's.
    Command,
}

/// All kinds, with their names.
const ALL: [(Fault, &str); 15] = [
    (Fault::Isolate, "isolate"),
    (Fault::Split, "split"),
    (Fault::Bridge, "bridge"),
    (Fault::Ring, "ring"),
    (Fault::DropOutgoing, "drop-outgoing"),
    (Fault::DropIncoming, "drop-incoming"),
    (Fault::Loss, "loss"),
    (Fault::LinkDown, "link-down"),
    (Fault::Delay, "delay"),
    (Fault::Kill, "kill"),
    (Fault::Pause, "pause"),
    (Fault::PowerCut, "power-cut"),
    (Fault::FullDisk, "full-disk"),
    (Fault::Clock, "clock"),
    (Fault::Command, "command"),
];

/// The faults of a network that a packet filter can cause.
pub(crate) const NETWORK: &[Fault] = NODES_AND_CLOCKS.split_at(8).0;
/// The faults of a single server whose programs support a clock that can be set.
pub(crate) const SERVER_AND_CLOCK: &[Fault] = NODES_AND_CLOCKS.split_at(9).1;
/// The faults of a single server whose programs need the system's clock.
pub(crate) const SERVER: &[Fault] = SERVER_AND_CLOCK.split_at(4).0;
/// The faults of a cluster whose programs need the system's clock.
pub(crate) const NODES: &[Fault] = NODES_AND_CLOCKS.split_at(13).0;
/// The faults of a cluster whose programs support a clock that can be set.
pub(crate) const NODES_AND_CLOCKS: &[Fault] = &[
    Fault::Isolate,
    Fault::Split,
    Fault::Bridge,
    Fault::Ring,
    Fault::DropOutgoing,
    Fault::DropIncoming,
    Fault::Loss,
    Fault::LinkDown,
    Fault::Delay,
    Fault::Kill,
    Fault::Pause,
    Fault::PowerCut,
    Fault::FullDisk,
    Fault::Clock,
];

impl Fault {
    /// All kinds.
    pub fn all() -> impl Iterator<Item = Fault> {
        ALL.iter().map(|(fault, _)| *fault)
    }

    /// The nodes that a fault aimed at `target` is begun at, of `count` nodes.
    pub fn nodes(self, target: u32, count: u32, chance: &mut Chance) -> Vec<u32> {
        let mut others: Vec<u32> = (0..count).filter(|node| *node != target).collect();
        shuffle(&mut others, chance);
        match self {
            Fault::Split => {
                others.truncate((count.saturating_sub(1) / 2).saturating_sub(1).to_usize());
                others.insert(0, target);
                others
            }
            Fault::Bridge if count > 2 => {
                let bridge = others.pop().unwrap_or(target);
                others.truncate(((count - 1) / 2 - 1).to_usize());
                [vec![bridge, target], others].concat()
            }
            Fault::Ring => {
                others.insert(0, target);
                others
            }
            _ => vec![target],
        }
    }
}

fn shuffle(nodes: &mut [u32], chance: &mut Chance) {
    for end in (1..nodes.len()).rev() {
        let at = usize::try_from(chance.below(end.to_u64() + 1)).unwrap_or(0);
        nodes.swap(end, at);
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = ALL.iter().find(|(fault, _)| fault == self).map_or("", |(_, name)| name);
        f.pad(name)
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Fault, String> {
        ALL.iter().find(|(_, name)| *name == text).map(|(fault, _)| *fault).ok_or_else(|| {
            let names: Vec<&str> = ALL.iter().map(|(_, name)| *name).collect();
            format!("unknown fault {text:?}: expected one of {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_fault_is_found_by_its_name() {
        for fault in Fault::all() {
            assert_eq!(fault.to_string().parse(), Ok(fault));
        }
        let error = "fire".parse::<Fault>().unwrap_err();
        assert!(error.contains("\"fire\"") && error.contains("power-cut, full-disk"), "{error}");
    }

    #[test]
    fn every_fault_hits_its_target() {
        for seed in 0..50 {
            let mut chance = Chance::new(seed, 0);
            for (count, fault) in (1..8).flat_map(|count| Fault::all().map(move |fault| (count, fault))) {
                let target = u32::try_from(seed).unwrap() % count;
                let nodes = fault.nodes(target, count, &mut chance);
                assert!(nodes.contains(&target), "{fault} of {count}: {nodes:?}");
                let different: BTreeSet<u32> = nodes.iter().copied().collect();
                assert_eq!(different.len(), nodes.len(), "{fault} of {count}: {nodes:?}");
                assert!(nodes.iter().all(|node| *node < count));
            }
        }
    }

    #[test]
    fn a_split_leaves_a_majority() {
        let mut chance = Chance::new(1, 0);
        for (count, size) in [(2, 1), (3, 1), (4, 1), (5, 2), (7, 3)] {
            assert_eq!(Fault::Split.nodes(0, count, &mut chance).len(), size, "of {count}");
        }
    }

    #[test]
    fn a_bridge_stands_between_the_target_and_others() {
        let mut chance = Chance::new(1, 0);
        let nodes = Fault::Bridge.nodes(2, 5, &mut chance);
        assert_eq!(nodes.len(), 3);
        assert!(nodes[0] != 2 && nodes[1] == 2, "{nodes:?}");
    }
}
