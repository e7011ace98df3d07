//! check-elle as a plugin: transactions, for a histcheck that was built without them.

use check_elle::list_append::ListAppend;
use check_elle::rw_register::RwRegister;

histcheck_plugin::export_checkers![ListAppend::default(), RwRegister::default()];
