//! check-elle as a plugin: transactions, for a histcheck that was built without them.

histcheck_plugin::export_checkers!(all: check_elle::checkers());
