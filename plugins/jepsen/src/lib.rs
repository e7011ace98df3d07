//! check-jepsen and check-log as a plugin: Jepsen's workloads, for a histcheck that was built without them.

histcheck_plugin::export_checkers!(all: {
    let mut all = check_jepsen::checkers();
    all.extend(check_log::checkers());
    all
});
