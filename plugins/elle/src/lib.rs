//! check-elle and check-isolation as a plugin: transactions, for a histcheck that was built without them.

histcheck_plugin::export_checkers!(all: {
    let mut all = check_elle::checkers();
    all.extend(check_isolation::checkers());
    all
});
