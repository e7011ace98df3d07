//! check-jepsen as a plugin: Jepsen's workloads, for a histcheck that was built without them.

histcheck_plugin::export_checkers!(all: check_jepsen::checkers());
