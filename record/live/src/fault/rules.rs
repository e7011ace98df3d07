//! The rules by which `nft` drops packets between the nodes of a bridge.
//!
//! The port of node `n`, counted from 0, is named `v` followed by `n + 1`.

use super::partition::Cuts;
use crate::error::LiveError;
use history_core::cast::Cast as _;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The table that contains the rules.
const TABLE: &str = "table bridge partition";

/// The input with which `nft` drops packets on these links. The table is replaced as a whole, so it always exists. Each
/// rule is on a separate line.
pub(crate) fn rules(cuts: &Cuts) -> Result<String, LiveError> {
    if cuts.is_empty() {
        return Err(LiveError::Unsupported("a partition needs nodes on both sides".to_owned()));
    }
    let mut lines = String::new();
    for from in cuts.iter().map(|(from, _)| *from).collect::<BTreeSet<_>>() {
        let to: Vec<String> = cuts.iter().filter(|cut| cut.0 == from).map(|(_, to)| port(*to)).collect();
        _ = writeln!(lines, "iifname {} oifname {{ {} }} drop;", port(from), to.join(", "));
    }
    Ok(table(&lines))
}

/// The input with which `nft` drops three in ten packets from and to these nodes.
pub(crate) fn loss_rules(nodes: &[u32]) -> String {
    let ports = nodes.iter().map(|node| port(*node)).collect::<Vec<_>>().join(", ");
    let direction = |name: &str| format!("{name} {{ {ports} }} numgen random mod 10 < 3 drop;\n");
    table(&(direction("iifname") + &direction("oifname")))
}

/// The input with which `nft` drops nothing.
pub(crate) fn no_rules() -> String {
    format!("{TABLE}\ndelete {TABLE}\n")
}

fn table(lines: &str) -> String {
    format!("{}{TABLE} {{\nchain cut {{\ntype filter hook forward priority 0;\n{lines}}}\n}}\n", no_rules())
}

fn port(node: u32) -> String {
    format!("\"v{}\"", node.to_u64() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Fault;
    use crate::fault::partition::cuts;

    #[test]
    fn rules_name_the_ports() {
        let text = rules(&cuts(Fault::Isolate, &[0], 3)).unwrap();
        let expected = "table bridge partition\ndelete table bridge partition\ntable bridge partition {\nchain cut {\n\
                        type filter hook forward priority 0;\niifname \"v1\" oifname { \"v2\", \"v3\" } drop;\n\
                        iifname \"v2\" oifname { \"v1\" } drop;\niifname \"v3\" oifname { \"v1\" } drop;\n}\n}\n";
        assert_eq!(text, expected);
        assert!(loss_rules(&[1]).contains("\niifname { \"v2\" } numgen random mod 10 < 3 drop;\noifname { \"v2\" } "));
    }

    #[test]
    fn a_partition_without_two_sides_is_refused() {
        let error = rules(&cuts(Fault::Isolate, &[0, 1, 2], 3)).unwrap_err();
        assert!(error.to_string().contains("both sides"), "{error}");
    }
}
