//! check-register as a plugin: linearizability, for a histcheck that was built without it.

histcheck_plugin::export_checkers!(all: check_register::checkers());
