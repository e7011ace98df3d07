//! The library of this crate is a plugin with the checkers of check-elle and check-isolation.

#[path = "../../as_built.rs"]
mod as_built;

#[test]
fn the_plugin_has_all_checkers_and_they_judge() {
    let mut local = check_elle::checkers();
    local.extend(check_isolation::checkers());
    as_built::assert_is_plugin(
        "histcheck_elle",
        &local,
        "list-append",
        "{:process 0, :type :invoke, :f :txn, :value [[:r :x nil] [:append :x 1]]}
             {:process 0, :type :ok, :f :txn, :value [[:r :x [1]] [:append :x 1]]}",
    );
}
