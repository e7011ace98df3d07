//! Partitions between machines: each node drops packets from nodes that are cut off from it.

use crate::fault::partition::Cuts;
use crate::world::{CONTROL, Node};
use history_core::cast::Cast as _;
use std::fmt::Write as _;
use std::net::Ipv4Addr;

/// The input with which `nft` drops, at node `at`, packets from links that are cut.
pub(super) fn rules(cuts: &Cuts, at: u32, nodes: &[Node]) -> String {
    let from = cuts.iter().filter(|(_, to)| *to == at).map(|(from, _)| nodes[from.to_usize()].address);
    table(&from.collect::<Vec<_>>(), "drop", &[])
}

/// The input with which `nft` drops three in ten packets from and to the other nodes.
pub(super) fn loss_rules(at: u32, nodes: &[Node]) -> String {
    let others = (0..).zip(nodes).filter(|(number, _)| *number != at).map(|(_, node)| node.address);
    let others: Vec<Ipv4Addr> = others.collect();
    table(&others, "numgen random mod 10 < 3 drop", &others)
}

/// The table that contains the rules.
const TABLE: &str = "table inet histcheck_live";

/// The input with which `nft` drops nothing.
pub(super) fn no_rules() -> String {
    format!("{TABLE}\ndelete {TABLE}\n")
}

fn table(from: &[Ipv4Addr], verdict: &str, to: &[Ipv4Addr]) -> String {
    let mut text = no_rules();
    if from.is_empty() && to.is_empty() {
        return text;
    }
    let list = |addresses: &[Ipv4Addr]| addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    _ = writeln!(text, "{TABLE} {{");
    for (hook, direction, peer, addresses) in [("input", "in", "saddr", from), ("output", "out", "daddr", to)] {
        if !addresses.is_empty() {
            let rule = format!("ip {peer} {{ {} }} {verdict};", list(addresses));
            // The connection of the run itself is not affected.
            _ = writeln!(
                text,
                "chain {direction} {{\ntype filter hook {hook} priority -10;\n{CONTROL} {hook}\n{rule}\n}}"
            );
        }
    }
    text + "}\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Fault;
    use crate::fault::partition::cuts;

    fn nodes() -> Vec<Node> {
        let address = |last: u8| Ipv4Addr::new(10, 0, 0, last);
        (1..=3).map(|last| Node { name: format!("n{last}"), address: address(last), own: address(last) }).collect()
    }

    #[test]
    fn each_node_drops_what_comes_over_cut_links() {
        let cut = cuts(Fault::DropOutgoing, &[0], 3);
        let begin = "table inet histcheck_live\ndelete table inet histcheck_live\n";
        assert_eq!(rules(&cut, 0, &nodes()), begin);
        assert_eq!(
            rules(&cut, 1, &nodes()),
            format!(
                "{begin}table inet histcheck_live {{\nchain in {{\ntype filter hook input priority -10;\n{CONTROL} input\n\
                 ip saddr {{ 10.0.0.1 }} drop;\n}}\n}}\n"
            )
        );
        let isolated = rules(&cuts(Fault::Isolate, &[0], 3), 0, &nodes());
        assert!(isolated.contains("ip saddr { 10.0.0.2, 10.0.0.3 } drop;"), "{isolated}");
    }

    #[test]
    fn packets_are_lost_in_both_directions() {
        let text = loss_rules(1, &nodes());
        let lost = "{ 10.0.0.1, 10.0.0.3 } numgen random mod 10 < 3 drop;";
        assert!(text.contains(&format!("ip saddr {lost}")) && text.contains(&format!("ip daddr {lost}")), "{text}");
    }
}
