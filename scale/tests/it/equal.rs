//! The report is the same as that of one machine, byte for byte, for any number of workers and any cuts.

use crate::made::{Made, many, many_read_as, one_machine, registers, setup, valid};
use check_register::Linearizable;
use check_register::models::CasRegister;
use histcheck_scale::histcheck_front::history_core::{
    Checker, ClientRule, Compose, Format, Options, Reader, TimeUnit, Writer,
};
use histcheck_scale::histcheck_front::{ReadAs, Setup};
use std::fmt::Write as _;
use std::ops::ControlFlow;

fn register() -> Linearizable<CasRegister> {
    Linearizable::default()
}

fn made(seed: u64) -> Made {
    Made { seed, ops: 400, keys: 7, is_json: seed.is_multiple_of(2), has_indices: seed.is_multiple_of(3), wrong: 0 }
}

fn assert_equal(setup: &Setup<'_>, text: &[u8]) -> String {
    let expected = one_machine(setup, text);
    for (workers, range_bytes) in [(1, 1 << 20), (2, 3000), (4, 700), (7, 5000)] {
        assert_eq!(many(setup, text, workers, range_bytes), expected, "{workers} workers, {range_bytes} bytes");
    }
    expected
}

#[test]
fn valid_and_invalid_histories_of_keys() {
    let setup = setup(register());
    for seed in 0..8 {
        let wrong = if seed < 4 { 0 } else { 10 };
        let said = assert_equal(&setup, registers(Made { wrong, ..made(seed) }).as_bytes());
        assert_eq!(valid(&said), wrong == 0, "{said}");
    }
}

#[test]
fn more_keys_than_a_report_lists() {
    let text = registers(Made { keys: 300, ops: 3000, wrong: 30, ..made(5) });
    let said = assert_equal(&setup(register()), text.as_bytes());
    assert!(said.contains("\"key-count\":300") && valid(&said) == false, "{said}");
}

#[test]
fn one_key_and_fewer_ranges_than_workers() {
    let text = registers(Made { keys: 1, ops: 30, ..made(6) });
    let said = assert_equal(&setup(register()), text.as_bytes());
    assert!(said.contains("\"key-count\":1"), "{said}");
}

/// Each of several checkers has its own report on all keys.
#[test]
fn several_checkers() {
    let checkers = check_jepsen::checkers().into_iter().filter(|checker| checker.name() == "stats");
    let checkers: Vec<Box<dyn Checker>> = checkers.chain([Box::new(register()) as Box<dyn Checker>]).collect();
    let setup = setup(Compose::new(checkers).unwrap());
    let said = assert_equal(&setup, registers(Made { wrong: 40, ..made(9) }).as_bytes());
    assert!(said.contains("\"stats\"") && said.contains("\"nonlinearizable\""), "{said}");
}

#[test]
fn keyed_workloads() {
    let checkers = check_jepsen::checkers();
    let set = checkers.iter().find(|checker| checker.name() == "set").unwrap();
    let setup = setup(&**set);
    let mut text = String::new();
    for at in 0..60 {
        let key = at % 3;
        for kind in ["invoke", "ok"] {
            _ = writeln!(text, "{{:process {at}, :type :{kind}, :f :add, :value [{key} {at}]}}");
        }
    }
    for key in 0..3 {
        let elements: Vec<String> = (0..60).filter(|at| at % 3 == key && *at != 31).map(|at| at.to_string()).collect();
        _ = writeln!(text, "{{:process 9{key}, :type :invoke, :f :read, :value [{key} nil]}}");
        _ = writeln!(text, "{{:process 9{key}, :type :ok, :f :read, :value [{key} #{{{}}}]}}", elements.join(" "));
    }
    let said = assert_equal(&setup, text.as_bytes());
    assert!(said.contains("\"invalid-key-count\":1"), "{said}");
}

/// Keys in a field, of any kind. Two different texts of the same key are one key.
#[test]
fn keys_of_any_kind() {
    let keys = ["3", "\"3\"", ":x", "x", "[1 2]", "(1 2)", "0.0", "-0.0", "\\c", "12345678901234567890123", "{:a 1}"];
    let mut text = String::new();
    for (process, key) in keys.iter().enumerate() {
        _ = writeln!(text, "{{:process {process}, :type :invoke, :f :write, :key {key}, :value 1}}");
    }
    for (process, key) in keys.iter().enumerate().rev() {
        let key = if process % 2 == 0 { format!(":key {key},") } else { String::new() };
        _ = writeln!(text, "{{:process {process}, :type :ok, :f :write, {key} :value 1}}");
    }
    for (process, key) in keys.iter().enumerate() {
        let seen = if process == 4 { 2 } else { 1 };
        _ = writeln!(text, "{{:process {process}, :type :invoke, :f :read, :key {key}}}");
        _ = writeln!(text, "{{:process {process}, :type :ok, :f :read, :key {key}, :value {seen}}}");
    }
    let said = assert_equal(&setup(register()), text.as_bytes());
    assert!(said.contains("\"key-count\":9") && valid(&said) == false, "{said}");
}

/// Formats that cannot be cut are read by one worker, with the same result.
#[test]
fn any_other_form_is_one_range() {
    let text = registers(Made { wrong: 50, is_json: false, has_indices: false, ..made(11) });
    let setup = setup(register());
    let said = one_machine(&setup, text.as_bytes());
    let array = format!("[{}]", text.trim_end());
    let several = text.replace(", :type", ",\n :type");
    let comments = text.replace("}\n", "} ; an op\n#_\n{:not :one}\n");
    let two_a_line = text.replace("}\n{:process 1", "} {:process 1");
    let mut gzip = Vec::new();
    let mut writer = Writer::new(&mut gzip, Format::Json);
    let mut write = |op: &histcheck_scale::histcheck_front::history_core::Op<'_>| {
        writer.write(op).unwrap();
        Ok(ControlFlow::Continue(()))
    };
    Reader::new(text.as_bytes()).for_each(&mut write).unwrap();
    for other in [array, several, comments, two_a_line] {
        let expected = one_machine(&setup, other.as_bytes());
        assert_eq!(expected, said, "the same ops");
        for (workers, range_bytes) in [(1, 1000), (3, 200)] {
            assert_eq!(many(&setup, other.as_bytes(), workers, range_bytes), expected, "{}", &other[..60]);
        }
    }
    assert_equal(&setup, &gzip);
}

/// Clients with names, histories of completions, and client rules: read by one worker, with the same result.
#[test]
fn unusual_clients() {
    let text = registers(Made { wrong: 50, is_json: false, ..made(12) });
    let setup = setup(register());
    let named = text.replace(":process 1,", ":process :w1,").replace(":process 5,", ":process \"5x\",");
    let completions: String = text.lines().filter(|line| !line.contains(":invoke")).collect::<Vec<_>>().join("\n");
    let nameless = text.replace(":process 3,", "");
    let chaos = text.replace(":process :nemesis", ":process :chaos");
    for other in [named, completions, nameless, chaos] {
        assert_equal(&setup, other.as_bytes());
    }
    let mut read_as = ReadAs::default();
    read_as.clients = ClientRule::new().other("3").other("missing*");
    let expected = crate::made::json(&setup.check_reader(read_as.bytes(text.as_bytes())));
    assert_eq!(many_read_as(&setup, text.as_bytes(), &read_as, 3, 500), expected);
}

#[test]
fn times_in_other_units() {
    let mut text = String::new();
    for (at, kind) in ["invoke", "ok", "invoke", "ok"].iter().enumerate() {
        let value = if at == 3 { "[1, 8]" } else { "[1, null]" };
        _ = writeln!(
            text,
            "{{\"process\": 0, \"type\": \"{kind}\", \"f\": \"read\", \"value\": {value}, \"time\": {at}.5}}"
        );
    }
    let mut read_as = ReadAs::default();
    read_as.time_unit = Some(TimeUnit::Seconds);
    let setup = setup(register());
    let expected = crate::made::json(&setup.check_reader(read_as.bytes(text.as_bytes())));
    assert!(expected.contains("3500000000"), "{expected}");
    for range_bytes in [50, 10_000] {
        assert_eq!(many_read_as(&setup, text.as_bytes(), &read_as, 2, range_bytes), expected);
    }
    // Without the unit, the times are an error at the same position.
    assert_eq!(many(&setup, text.as_bytes(), 2, 50), one_machine(&setup, text.as_bytes()));
}

/// Every worker receives a checker's options.
#[test]
fn options_reach_all_workers() {
    let text =
        "{:process 0, :type :invoke, :f :read, :value [1 nil]}\n{:process 0, :type :ok, :f :read, :value [1 5]}\n";
    let mut setup = setup(register());
    assert_eq!(valid(&assert_equal(&setup, text.as_bytes())), false);
    setup.options = Options::new().with("initial", "5");
    assert_eq!(valid(&assert_equal(&setup, text.as_bytes())), true);
}
