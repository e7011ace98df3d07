//! Wrong usage: exit code 254, and a hint.

use crate::{check, fixtures, histcheck, stderr, stdout};
use snapbox::str;

#[test]
fn without_a_model_it_says_how() {
    histcheck("valid.edn").assert().code(254).stdout_eq("").stderr_eq(str![[r#"
error: missing -m: the checkers to run

  tip: histcheck -m list-append valid.edn
       `histcheck validate valid.edn` names the checkers that fit, and `histcheck models` lists all

Usage: histcheck -m CHECKERS [OPTIONS] FILE...
       histcheck COMMAND ...

For more information, try '--help'.

"#]]);
}

#[test]
fn commands_without_a_model_say_how_it_is_given_to_them() {
    for (words, called) in [
        ("anonymize valid.edn", "histcheck anonymize -m list-append valid.edn"),
        ("watch", "histcheck watch -m list-append history.edn"),
        ("report valid.edn", "histcheck report -d report -m list-append valid.edn"),
    ] {
        let told = stderr(&histcheck(words).assert().code(254));
        assert!(told.contains(&format!("tip: {called}\n")), "{words}: {told}");
    }
}

#[test]
fn a_command_that_was_misspelt_is_recognized() {
    let assert = histcheck("modles").assert().code(254);
    assert!(stderr(&assert).contains("did you mean the command `histcheck models`?"), "{}", stderr(&assert));
}

#[test]
fn a_file_named_nearly_like_a_command_is_a_file() {
    // The file exists, so it is treated as a file.
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("modles"), "").unwrap();
    let assert = histcheck("modles").current_dir(dir.path()).assert().code(254);
    assert!(stderr(&assert).contains("histcheck -m list-append modles"), "{}", stderr(&assert));
}

#[test]
fn without_files_it_asks_for_some() {
    check("").code(254).stdout_eq("").stderr_eq(str![[r#"
error: no history given

  tip: pass files, or - for standard input

Usage: histcheck -m CHECKERS [OPTIONS] FILE...
       histcheck COMMAND ...

For more information, try '--help'.

"#]]);
}

#[test]
fn an_unknown_model_lists_the_known_and_the_nearest() {
    histcheck("-m lst-append valid.edn").assert().code(254).stdout_eq("").stderr_eq(str![[r#"
error: invalid value 'lst-append' for '--model <CHECKERS>'
  [possible values: list-append, rw-register, [..]]

  tip: a similar value exists: 'list-append'

For more information, try '--help'.

"#]]);
}

#[test]
fn an_unknown_option_suggests_one() {
    check("--consistency-model serializable valid.edn").code(254).stdout_eq("").stderr_eq(str![[r#"
error: unexpected argument '--consistency-model' found

  tip: a similar argument exists: '--consistency-models'

Usage: histcheck -m CHECKERS [OPTIONS] FILE...
       histcheck COMMAND ...

For more information, try '--help'.

"#]]);
}

#[test]
fn an_unknown_consistency_model_or_anomaly_is_wrong_usage() {
    for (words, nearest) in [("-c serialisable", "did you mean serializable"), ("-a G-singel", "did you mean G-single")]
    {
        let assert = check(&format!("{words} valid.edn")).code(254);
        assert_eq!(stdout(&assert), "", "nothing is judged");
        assert!(stderr(&assert).contains(nearest), "{}", stderr(&assert));
    }
}

#[test]
fn an_unknown_format_is_wrong_usage() {
    check("-f yaml valid.edn").code(254);
    check("--output xml valid.edn").code(254);
}

#[test]
fn standard_input_can_be_read_once() {
    let assert = histcheck("-m list-append - valid.edn -").stdin("").assert().code(254);
    assert!(stderr(&assert).contains("standard input can be read only once"), "{}", stderr(&assert));
}

#[test]
fn the_last_of_two_values_counts() {
    check("-c serializable -c strict-serializable stale.edn").code(1);
    check("-c strict-serializable -c serializable stale.edn").code(0);
}

#[test]
fn options_may_stand_anywhere_and_in_any_form() {
    for words in [
        "-m list-append -c serializable stale.edn valid.edn",
        "stale.edn -m list-append valid.edn -c serializable",
        "-mlist-append -cserializable stale.edn valid.edn",
        "--model=list-append --consistency-models=:serializable stale.edn -- valid.edn",
        "-vm list-append --consistency-models serializable,read-committed stale.edn valid.edn",
    ] {
        let assert = histcheck(words).assert().code(0);
        assert_eq!(stdout(&assert), "stale.edn\ttrue\nvalid.edn\ttrue\n", "{words}");
    }
}

#[test]
fn a_wrong_number_is_told_what_is_expected() {
    for (words, tip) in [
        ("validate --max-each x valid.edn", "pass a whole number"),
        ("minimize -m list-append --max-checks 0 valid.edn", "pass a whole number, 1 or more"),
    ] {
        let said = stderr(&histcheck(words).assert().code(254));
        assert!(said.contains(&format!("  tip: {tip}\n")), "{said}");
    }
}

#[test]
fn all_options_of_elle_cli_are_taken_and_those_without_effect_say_so() {
    check("-f edn -c strict-serializable -a G0 -s 1000 -p svg -t 5000 -b 65536 -g 2 -n --max-transfer 5 -o 100 valid.edn")
        .code(0)
        .stdout_eq("valid.edn\ttrue\n")
        .stderr_eq(str![[r#"
warning: --total-amount has no effect on list-append: it is for the bank workload
warning: --allow-negative-balances has no effect on list-append: it is for the bank workload
warning: --group-size has no effect on list-append: it is for the long-fork workload
warning: --cycle-search-timeout has no effect on list-append: no search for cycles takes so long that it needs a limit
warning: --plot-timeout has no effect on list-append: plots of cycles are not drawn, or are drawn fast enough without a limit
warning: --max-transfer has no effect on list-append: it is for generating histories, not for checking them
warning: --plot-format has no effect without --directory: pictures are written there
warning: --max-plot-bytes has no effect without --directory: pictures are written there

"#]]);
}

#[test]
fn elle_clis_long_forms_are_taken_too() {
    let words = "--format edn --verbose --cycle-search-timeout 1000 --plot-format png --plot-timeout 5000 \
                 --max-plot-bytes 65536 --group-size 2 --allow-negative-balances --total-amount 100";
    let assert = check(&format!("{words} valid.edn")).code(0);
    assert_eq!(
        stderr(&assert).lines().filter(|line| line.starts_with("warning: --")).count(),
        7,
        "{}",
        stderr(&assert)
    );
}

#[test]
fn values_of_options_without_effect_must_make_sense_all_the_same() {
    check("-s soon valid.edn").code(254);
    check("--total-amount much valid.edn").code(254);
    check("-p gif valid.edn").code(254);
}

#[test]
fn after_m_a_commands_name_is_a_file() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::copy(crate::fixtures().join("valid.edn"), dir.path().join("models")).unwrap();
    for words in ["-m list-append models", "-m list-append ./models"] {
        let assert = histcheck(words).current_dir(dir.path()).assert().code(0);
        assert!(stdout(&assert).ends_with("models\ttrue\n"), "{}", stdout(&assert));
    }
}

#[test]
fn commands_refuse_what_is_not_theirs() {
    histcheck("models -m list-append").assert().code(254);
    histcheck("validate").assert().code(254);
    histcheck("gen").assert().code(254);
    histcheck("gen banks").assert().code(254);
}

#[test]
fn an_option_that_names_nothing_is_refused() {
    // For example from an unset variable of a shell. Without any level, every history would be valid.
    for (option, said) in [("-c", "it has no consistency level"), ("-d", "needs a path")] {
        let assert = histcheck("-m list-append valid.edn").arg(option).arg("").assert().code(254).stdout_eq("");
        assert!(stderr(&assert).contains(said), "{}", stderr(&assert));
    }
}

/// A file without a name never appears.
#[test]
fn a_watch_needs_a_path() {
    let assert = histcheck("watch -m counter").arg("").assert().code(254).stdout_eq("");
    assert!(stderr(&assert).contains("the path of the history is empty"), "{}", stderr(&assert));
}

#[test]
fn an_order_of_transactions_is_read_from_a_file() {
    // The last transaction that writes key 1 must be the one whose write is read.
    let history = "{:index 3, :process 0, :type :ok, :value [[:w 1 1]]} {:index 5, :process 0, :type :ok, :value [[:w 1 2]]}
         {:index 7, :process 0, :type :ok, :value [[:r 1 1] [:r 2 nil]]} {:index 9, :process 0, :type :ok, :value [[:w 2 1]]}";
    let dir = tempfile::tempdir().unwrap();
    let order = dir.path().join("order.txt");
    std::fs::write(&order, "5, 3\n7 9").unwrap();
    let with = |order: &str| {
        let check = histcheck("-m rw-register -c serializable - --transaction-order");
        check.arg(order).stdin(history).assert()
    };
    with(order.to_str().unwrap()).code(0).stdout_eq("-\ttrue\n").stderr_eq("");
    std::fs::write(&order, "3 5 7 9").unwrap();
    with(order.to_str().unwrap()).code(1).stdout_eq("-\tfalse\n");
    std::fs::write(&order, "5 3 7 9 9 100").unwrap();
    let assert = with(order.to_str().unwrap()).code(0);
    assert!(stderr(&assert).contains("note: Ignored 2 indices in the order of transactions"), "{}", stderr(&assert));
    std::fs::write(&order, "3 five").unwrap();
    with(order.to_str().unwrap())
        .code(254)
        .stderr_eq("error: --transaction-order: expected the index of an op, a number from 0 on, found five\n...");
    with("nowhere.txt").code(254).stderr_eq("error: --transaction-order: cannot read nowhere.txt: [..]\n...");
}

#[test]
fn models_that_are_given_one_by_one_add_up() {
    let run = |words: &str| histcheck(words).current_dir(fixtures().join("../../examples")).assert();
    // The last option alone would find nothing.
    run("-m list-append -m stats g-single.edn").code(1);
    let last = run("-m list-append -c serializable -c read-committed g-single.edn").code(0);
    let said = "warning: --consistency-models is given more than once; the last value is used: read-committed\n";
    assert_eq!(stderr(&last), said);
    let twice = run("-m list-append -m list-append g-single.edn").code(254);
    assert!(stderr(&twice).contains("-m: list-append is given twice"), "{}", stderr(&twice));
}

#[test]
fn numbers_that_are_none_say_what_is_wanted() {
    for (words, wanted) in [
        ("--max-memory 8Q", "a number of bytes above 0, such as 8000000000"),
        ("--max-memory -1", "a number of bytes"),
        ("--jobs x", "0 = one per core"),
        ("--jobs -1", "0 = one per core"),
        ("--timeout -1", "a time above 0"),
    ] {
        let assert = histcheck(&format!("-m bank {words} h.edn")).assert().code(254);
        assert!(stderr(&assert).contains(wanted), "{words}: {}", stderr(&assert));
    }
}

#[test]
fn a_plugin_needs_a_name_that_a_crate_can_have() {
    let directory = tempfile::tempdir().unwrap();
    for (name, said) in [
        ("Foo", "a letter from a to z"),
        ("fn", "is reserved"),
        ("histcheck-plugin", "is reserved"),
        ("bank", "a checker named bank exists already"),
    ] {
        let assert = histcheck(&format!("plugin new {name}")).current_dir(directory.path()).assert().code(254);
        assert!(stderr(&assert).contains(said), "{name}: {}", stderr(&assert));
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn whether_it_is_keyed_stands_behind_a_sign() {
    let assert = histcheck("-m cas-register --keyed auto h.edn").assert().code(254);
    assert!(stderr(&assert).contains("write --keyed=auto, with an equals sign"), "{}", stderr(&assert));
}

#[cfg(feature = "serve")]
#[test]
fn where_a_page_is_stands_behind_a_sign() {
    let assert = histcheck("watch -m bank --serve 127.0.0.1:0").assert().code(254);
    assert!(stderr(&assert).contains("write --serve=127.0.0.1:0, with an equals sign"), "{}", stderr(&assert));
}
