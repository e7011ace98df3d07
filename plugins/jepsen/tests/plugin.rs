//! The library of this crate is a plugin with the checkers of check-jepsen and check-log.

#[path = "../../as_built.rs"]
mod as_built;

#[test]
fn the_plugin_has_all_checkers_and_they_judge() {
    let mut local = check_jepsen::checkers();
    local.extend(check_log::checkers());
    as_built::assert_is_plugin(
        "histcheck_jepsen",
        &local,
        "unique-ids",
        "{:process 0, :type :invoke, :f :generate}
             {:process 0, :type :ok, :f :generate, :value 7}
             {:process 0, :type :invoke, :f :generate}
             {:process 0, :type :ok, :f :generate, :value 7}",
    );
}
