//! Stores that can be driven.

mod etcd;
mod exec;
pub mod maelstrom;
mod mariadb;
mod nats;
mod postgres;
mod redis;
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;
mod worker;
mod zookeeper;

pub use exec::Exec;
#[cfg(feature = "sqlite")]
pub use sqlite::{Locks, Sqlite};

use crate::kind::Kind;

/// All kinds of stores, in the order of lists. Add a new one here.
pub const KINDS: &[&Kind] = &[
    #[cfg(feature = "sqlite")]
    &sqlite::KIND,
    &redis::KIND,
    &etcd::KIND,
    &postgres::KIND,
    &postgres::FAILOVER,
    &mariadb::KIND,
    &mariadb::GALERA,
    &zookeeper::KIND,
    &nats::KIND,
    &nats::CLUSTER,
    &exec::KIND,
    &exec::WORKERS,
    &maelstrom::KIND,
    &maelstrom::toy::KIND,
];

/// Serves as a part of a store, if this process was started for that: nodes of the kind `toy`, and the process on a
/// node of the kind `sqlite`, are the same program as the one that starts these kinds. That program must call this
/// function first.
pub fn serve() -> Option<std::io::Result<()>> {
    let served = maelstrom::toy::serve();
    #[cfg(feature = "sqlite")]
    let served = served.or_else(sqlite::serve);
    served
}

/// The kind of this name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Nodes;
    use std::collections::BTreeMap;

    #[test]
    fn options_of_one_name_have_the_same_shape_in_all_stores() {
        for kind in KINDS {
            for option in kind.options {
                assert!(option.values.is_empty() || option.values.contains(&option.default), "--{}", option.name);
                let others = KINDS.iter().flat_map(|kind| kind.options).filter(|other| other.name == option.name);
                others.for_each(|other| assert_eq!(other.value_name, option.value_name, "--{}", option.name));
            }
        }
    }

    #[test]
    fn each_kind_has_workloads_that_there_are() {
        for kind in KINDS {
            assert!(!kind.workloads.is_empty(), "{}", kind.name);
            kind.workloads.iter().for_each(|name| assert!(crate::Workload::named(name).is_some(), "{name}"));
            kind.default_faults.iter().for_each(|fault| assert!(kind.faults.contains(fault), "{}", kind.name));
        }
    }

    #[test]
    fn other_options_values_and_nodes_are_refused() {
        let exec = kind("exec").unwrap();
        let given = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
        let error = exec.check(&given("colour", "blue"), &Nodes::Default, false).unwrap_err().to_string();
        assert_eq!(error, "exec has no option --colour");
        assert!(exec.check(&given("fault", "true"), &Nodes::Named(vec!["a".into()]), false).is_ok());
        let maelstrom = kind("maelstrom").unwrap();
        let error = maelstrom.check(&given("dialect", "latin"), &Nodes::Default, false).unwrap_err().to_string();
        assert!(error.contains("expected one of g-set, broadcast, found latin"), "{error}");
        assert!(maelstrom.check(&BTreeMap::new(), &Nodes::Count(0), false).is_err());
        let (etcd, machines) = (kind("etcd").unwrap(), Nodes::Named(vec!["a".into(), "b".into()]));
        let check = |are_machines| etcd.check(&BTreeMap::new(), &machines, are_machines).unwrap_err().to_string();
        assert_eq!(check(true), "etcd needs 3 nodes, but --nodes names 2");
        assert_eq!(check(false), "--nodes: the names of the nodes of etcd are fixed");
    }
}
