//! Compares the results of online checks with those of batch checks of the same history.

mod budget;
mod clients;
mod handle;
#[path = "../../../check-register/tests/it/hidden.rs"]
mod hidden;
mod larger;
#[path = "../../../check-register/tests/it/nothing.rs"]
mod nothing;
mod online_equals_batch;
mod prose;
mod vacuous;

#[test]
fn whatever_can_be_checked_can_be_watched() {
    // `linearizable` selects one of these by an option, and decides only at the end; `linearizable-register` is one of
    // them by key, and `versioned-register` watches by itself.
    let mut names: Vec<String> = check_register::checkers().iter().map(|checker| checker.name().to_owned()).collect();
    names.retain(|name| !["linearizable", "linearizable-register", "versioned-register"].contains(&name.as_str()));
    let online: Vec<String> = check_online::checkers().iter().map(|checker| checker.name().to_owned()).collect();
    assert_eq!(online, names);
}
