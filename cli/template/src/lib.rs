//! A checker of leader leases, as a plugin of histcheck: no two leaders at once.

mod leases;

pub use leases::LeaderLease;

histcheck_plugin::export_checkers![LeaderLease];
