//! The library of this crate is a plugin with the checkers of check-register.

#[path = "../../as_built.rs"]
mod as_built;

#[test]
fn the_plugin_has_all_checkers_and_they_judge() {
    as_built::assert_is_plugin(
        "histcheck_register",
        &check_register::checkers(),
        "register",
        "{:process 0, :type :invoke, :f :write, :value 1}
             {:process 0, :type :ok, :f :write, :value 1}
             {:process 0, :type :invoke, :f :read}
             {:process 0, :type :ok, :f :read, :value 2}",
    );
}
