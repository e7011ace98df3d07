//! Stores that can be driven.

#[cfg(target_os = "linux")]
mod cluster;
#[cfg(target_os = "linux")]
mod etcd;
mod exec;
pub mod maelstrom;
#[cfg(target_os = "linux")]
mod mariadb;
#[cfg(target_os = "linux")]
mod postgres;
#[cfg(target_os = "linux")]
mod redis;
#[cfg(target_os = "linux")]
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;
mod worker;
#[cfg(target_os = "linux")]
mod zookeeper;

#[cfg(target_os = "linux")]
pub use etcd::{Etcd, Reads as EtcdReads};
pub use exec::Exec;
#[cfg(target_os = "linux")]
pub use redis::RedisSentinel;
#[cfg(feature = "sqlite")]
pub use sqlite::{Locks, Sqlite};

use crate::kind::Kind;

/// All kinds of stores, in the order in which they are listed. A new one is added here.
pub const KINDS: &[&Kind] = &[
    #[cfg(feature = "sqlite")]
    &sqlite::KIND,
    #[cfg(target_os = "linux")]
    &redis::KIND,
    #[cfg(target_os = "linux")]
    &etcd::KIND,
    #[cfg(target_os = "linux")]
    &postgres::KIND,
    #[cfg(target_os = "linux")]
    &postgres::FAILOVER,
    #[cfg(target_os = "linux")]
    &mariadb::KIND,
    #[cfg(target_os = "linux")]
    &mariadb::GALERA,
    #[cfg(target_os = "linux")]
    &zookeeper::KIND,
    &exec::KIND,
    &maelstrom::KIND,
    &maelstrom::toy::KIND,
];

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
        let error = exec.check(&given("colour", "blue"), &Nodes::Default).unwrap_err().to_string();
        assert_eq!(error, "exec has no option --colour");
        assert!(exec.check(&given("fault", "true"), &Nodes::Named(vec!["a".into()])).is_ok());
        let maelstrom = kind("maelstrom").unwrap();
        let error = maelstrom.check(&given("dialect", "latin"), &Nodes::Default).unwrap_err().to_string();
        assert!(error.contains("latin is not one of"), "{error}");
        assert!(maelstrom.check(&BTreeMap::new(), &Nodes::Count(0)).is_err());
    }
}
