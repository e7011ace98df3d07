//! What no simulation can be run with is refused, in a sentence that says what would be right.

use record_simulate::{Bug, KeyDistribution, Kind, ListAppend, OverRegisters, RwRegister, Transactions, Workload};

#[test]
fn parameters_out_of_their_range_are_refused() {
    let ok = ListAppend::default;
    let refused = [
        (ListAppend { txns: 1_000_000_001, ..ok() }, "txns is 1000000001; it must be from 0 to 1000000000"),
        (ListAppend { clients: 0, ..ok() }, "clients is 0; it must be from 1 to 100000"),
        (ListAppend { keys: 0, ..ok() }, "keys is 0; it must be from 1 to 1000000"),
        (ListAppend { ops_per_txn_min: 0, ..ok() }, "ops per txn min is 0; it must be from 1 to 1000"),
        (ListAppend { ops_per_txn_max: 1001, ..ok() }, "ops per txn max is 1001; it must be from 1 to 1000"),
        (ListAppend { ops_per_txn_min: 5, ..ok() }, "ops per txn min is 5, which is more than ops per txn max, 4"),
        (ListAppend { writes_per_key_min: 0, ..ok() }, "writes per key min is 0; it must be from 1 to 1000000"),
        (
            ListAppend { writes_per_key_min: 9, writes_per_key_max: 8, ..ok() },
            "writes per key min is 9, which is more than writes per key max, 8",
        ),
        (ListAppend { read_fraction: 1.5, ..ok() }, "read fraction is 1.5; it must be from 0 to 1"),
        (ListAppend { reuse_fraction: 2.0, ..ok() }, "reuse fraction is 2; it must be from 0 to 1"),
        (ListAppend { fail_rate: -0.1, ..ok() }, "fail rate is -0.1; it must be from 0 to 1"),
        (ListAppend { info_rate: f64::NAN, ..ok() }, "info rate is NaN; it must be from 0 to 1"),
        (
            ListAppend { fail_rate: 0.5, info_rate: 0.5, lost_rate: 0.5, ..ok() },
            "fail rate, info rate and lost rate add up to 1.5, more than 1",
        ),
        (ListAppend { bug: Bug::StaleRead, bug_rate: Some(2.0), ..ok() }, "bug rate is 2; it must be from 0 to 1"),
        (ListAppend { bug_rate: Some(0.5), ..ok() }, "a bug rate is given, but no bug that it could be of"),
        (
            ListAppend { bug: Bug::PlantedG1c, bug_rate: Some(0.5), ..ok() },
            "a bug rate is given, but planted-G1c is done exactly once",
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

#[track_caller]
fn assert_runs<W: Workload>(parameters: &Transactions<W>) {
    let mut invocations = 0;
    let result = parameters.simulation().unwrap().run(&mut |op| {
        invocations += u64::from(op.kind == Kind::Invoke);
        Ok(())
    });
    result.unwrap();
    assert_eq!(invocations, parameters.txns, "{parameters:?}");
}
