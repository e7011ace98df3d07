//! Parameters that no simulation accepts are rejected, with an error that gives the valid values.

use record_simulate::{
    Bug, KeyDistribution, Kind, ListAppend, Object, ObjectBug, Objects, OverRegisters, RwRegister, Simulation,
    Transactions, Workload,
};

#[test]
fn parameters_out_of_their_range_are_refused() {
    let ok = ListAppend::default;
    let refused = [
        (ListAppend { txns: 1_000_000_001, ..ok() }, "txns is 1000000001: expected 0 to 1000000000"),
        (ListAppend { clients: 0, ..ok() }, "clients is 0: expected 1 to 100000"),
        (ListAppend { keys: 0, ..ok() }, "keys is 0: expected 1 to 1000000"),
        (ListAppend { ops_per_txn_min: 0, ..ok() }, "ops per txn min is 0: expected 1 to 1000"),
        (ListAppend { ops_per_txn_max: 1001, ..ok() }, "ops per txn max is 1001: expected 1 to 1000"),
        (ListAppend { ops_per_txn_min: 5, ..ok() }, "ops per txn min is 5, which is more than ops per txn max, 4"),
        (ListAppend { writes_per_key_min: 0, ..ok() }, "writes per key min is 0: expected 1 to 1000000"),
        (
            ListAppend { writes_per_key_min: 9, writes_per_key_max: 8, ..ok() },
            "writes per key min is 9, which is more than writes per key max, 8",
        ),
        (ListAppend { read_fraction: 1.5, ..ok() }, "read fraction is 1.5: expected 0 to 1"),
        (ListAppend { reuse_fraction: 2.0, ..ok() }, "reuse fraction is 2: expected 0 to 1"),
        (ListAppend { fail_rate: -0.1, ..ok() }, "fail rate is -0.1: expected 0 to 1"),
        (ListAppend { info_rate: f64::NAN, ..ok() }, "info rate is NaN: expected 0 to 1"),
        (
            ListAppend { fail_rate: 0.5, info_rate: 0.5, lost_rate: 0.5, ..ok() },
            "fail rate, info rate and lost rate add up to 1.5, more than 1",
        ),
        (ListAppend { bug: Bug::StaleRead, bug_rate: Some(2.0), ..ok() }, "bug rate is 2: expected 0 to 1"),
        (ListAppend { bug_rate: Some(0.5), ..ok() }, "a bug rate is given without a bug"),
        (
            ListAppend { bug: Bug::PlantedG1c, bug_rate: Some(0.5), ..ok() },
            "a bug rate is given, but planted-G1c occurs exactly once",
        ),
        (
            ListAppend { key_distribution: KeyDistribution::Zipf { s: -1.0 }, ..ok() },
            "the exponent of a Zipf distribution is -1, not from 0 to 16",
        ),
    ];
    for (parameters, message) in refused {
        assert_eq!(parameters.simulation().unwrap_err().to_string(), message);
    }
}

#[test]
fn the_ends_of_the_ranges_can_be_run() {
    let edges = [
        ListAppend { txns: 0, ..ListAppend::default() },
        ListAppend { clients: 1, keys: 1, writes_per_key_min: 1, writes_per_key_max: 1, ..ListAppend::default() },
        ListAppend { ops_per_txn_min: 1000, ops_per_txn_max: 1000, txns: 10, ..ListAppend::default() },
        ListAppend { fail_rate: 1.0, info_rate: 0.0, ..ListAppend::default() },
        ListAppend { fail_rate: 0.0, info_rate: 0.0, lost_rate: 1.0, ..ListAppend::default() },
        ListAppend { read_fraction: 0.0, ..ListAppend::default() },
        ListAppend { read_fraction: 1.0, ..ListAppend::default() },
    ];
    for bug in Bug::ALL {
        for parameters in &edges {
            assert_runs(&ListAppend { bug, ..parameters.clone() });
        }
    }
    for bug in Bug::of::<OverRegisters>() {
        assert_runs(&RwRegister {
            bug,
            keys: 1,
            writes_per_key_min: 1,
            writes_per_key_max: 1,
            ..RwRegister::default()
        });
        assert_runs(&RwRegister { bug, read_fraction: 1.0, lost_rate: 0.5, ..RwRegister::default() });
    }
    assert_runs(&ListAppend { clients: 100_000, keys: 1_000_000, ..ListAppend::default() });
}

#[test]
fn parameters_of_objects_out_of_their_range_are_refused() {
    let ok = || Objects::of(Object::CasRegister);
    let refused = [
        (Objects { ops: 1_000_000_001, ..ok() }, "ops is 1000000001: expected 0 to 1000000000"),
        (Objects { clients: 0, ..ok() }, "clients is 0: expected 1 to 100000"),
        (Objects { think_ns: 1_000_000_000_001, ..ok() }, "think ns is 1000000000001: expected 0 to 1000000000000"),
        (Objects { keys: 0, ..ok() }, "keys is 0: expected 1 to 1000000"),
        (Objects { keys: 2, ..ok() }, "keys is 2: more than one key needs keyed ops"),
        (Objects { keys: 1001, ..Objects::of(Object::MultiRegister) }, "keys is 1001: expected 1 to 1000"),
        (Objects { ops_per_key: 9, ..ok() }, "ops per key needs keyed ops"),
        (Objects { keyed: true, ..Objects::of(Object::Kv) }, "ops of a kv have keys anyway"),
        (Objects { values: 1_000_001, ..ok() }, "values is 1000001: expected 0 to 1000000"),
        (Objects { values: 0, ..Objects::of(Object::Counter) }, "values is 0: expected 1 to 1000000"),
        (Objects { read_fraction: 1.5, ..ok() }, "read fraction is 1.5: expected 0 to 1"),
        (Objects { cas_fraction: -1.0, ..ok() }, "cas fraction is -1: expected 0 to 1"),
        (Objects { put_fraction: f64::NAN, ..ok() }, "put fraction is NaN: expected 0 to 1"),
        (Objects { ops_per_txn_max: 0, ..ok() }, "ops per txn max is 0: expected 1 to 1000"),
        (Objects { permits: 0, ..ok() }, "permits is 0: expected 1 to 1000000"),
        (Objects { capacity: 0, ..ok() }, "capacity is 0: expected 1 to 1000000"),
        (
            Objects { fail_rate: 0.5, info_rate: 0.5, lost_rate: 0.5, ..ok() },
            "fail rate, info rate and lost rate add up to 1.5, more than 1",
        ),
        (
            Objects { bug: ObjectBug::DoubleAcquire, ..ok() },
            "cas-register has no bug double-acquire: expected one of none, stale-read, lost-write, false-fail, \
             wrong-read, split-brain",
        ),
        (Objects { bug: ObjectBug::StaleRead, bug_rate: Some(2.0), ..ok() }, "bug rate is 2: expected 0 to 1"),
        (Objects { bug_rate: Some(0.5), ..ok() }, "a bug rate is given without a bug"),
        (
            Objects { bug: ObjectBug::WrongRead, bug_rate: Some(0.5), ..ok() },
            "a bug rate is given, but wrong-read occurs exactly once",
        ),
        (Objects { bug: ObjectBug::WrongRead, bug_at: Some(1.1), ..ok() }, "bug at is 1.1: expected 0 to 1"),
        (
            Objects { bug: ObjectBug::StaleRead, bug_at: Some(0.5), ..ok() },
            "a position of the bug is given, but stale-read has no position",
        ),
        (
            Objects { key_distribution: KeyDistribution::Zipf { s: -1.0 }, ..ok() },
            "the exponent of a Zipf distribution is -1, not from 0 to 16",
        ),
    ];
    for (parameters, message) in refused {
        assert_eq!(parameters.simulation().unwrap_err().to_string(), message);
    }
}

#[test]
fn the_ends_of_the_ranges_of_objects_can_be_run() {
    for object in Object::ALL {
        for bug in ObjectBug::of(object) {
            let ok = || Objects { ops: 300, bug, ..Objects::of(object) };
            let (fewest, most) = object.values_range();
            let fewest = fewest.max(1).min(most);
            let edges = [
                Objects { ops: 0, ..ok() },
                Objects { ops: 1, ..ok() },
                Objects {
                    clients: 1,
                    values: fewest,
                    capacity: 1,
                    permits: 1,
                    ops_per_txn_max: 1,
                    think_ns: 0,
                    ..ok()
                },
                Objects { fail_rate: 1.0, info_rate: 0.0, ..ok() },
                Objects { fail_rate: 0.0, info_rate: 0.0, lost_rate: 1.0, ..ok() },
                Objects { fail_rate: 0.0, info_rate: 1.0, ..ok() },
                Objects { read_fraction: 0.0, cas_fraction: 1.0, put_fraction: 0.0, ..ok() },
                Objects { read_fraction: 1.0, cas_fraction: 0.0, put_fraction: 1.0, ..ok() },
                Objects { values: most, think_ns: 1_000_000_000_000, ..ok() },
                Objects {
                    keyed: !object.has_keys(),
                    keys: 9,
                    key_distribution: KeyDistribution::Zipf { s: 1.0 },
                    ..ok()
                },
            ];
            for parameters in &edges {
                let last = if object.has_last() { parameters.keys.into() } else { 0 };
                let (simulation, expected) = (parameters.simulation().unwrap(), parameters.ops + last);
                assert_invokes(simulation, expected, &format!("{parameters:?}"));
            }
        }
    }
}

#[track_caller]
fn assert_runs<W: Workload>(parameters: &Transactions<W>) {
    assert_invokes(parameters.simulation().unwrap(), parameters.txns, &format!("{parameters:?}"));
}

#[track_caller]
fn assert_invokes(simulation: Simulation, expected: u64, parameters: &str) {
    let mut invocations = 0;
    let result = simulation.run(&mut |op| {
        invocations += u64::from(op.kind == Kind::Invoke);
        Ok(())
    });
    result.unwrap();
    assert_eq!(invocations, expected, "{parameters}");
}
