//! All checkers there are. A new one needs a line here and nothing else.

use check_elle::list_append::ListAppend;
use check_elle::rw_register::RwRegister;
use check_jepsen::bank::Bank;
use history_core::Checker;

/// The checkers, in the order in which they are listed.
pub(crate) fn checkers() -> Vec<Box<dyn Checker>> {
    vec![Box::new(ListAppend::default()), Box::new(RwRegister::default()), Box::new(Bank::default())]
}
