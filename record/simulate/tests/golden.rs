//! Equal parameters give equal bytes, on every machine and in every version: these are written down here.
//!
//! A change that fails a test here changes what every `--seed` means. Where that is meant, it is news for the changelog.

use record_simulate::{Bug, Format, KeyDistribution, ListAppend, OverRegisters, RwRegister, Transactions, Workload};

fn text<W: Workload>(parameters: &Transactions<W>, format: Format) -> String {
    String::from_utf8(parameters.simulation().unwrap().write(Vec::new(), format).unwrap()).unwrap()
}

/// FNV-1a, 64 bits.
fn checksum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn small() -> ListAppend {
    ListAppend { txns: 1000, seed: 42, keys: 4, clients: 3, ..ListAppend::default() }
}

fn registers() -> RwRegister {
    RwRegister { txns: 1000, seed: 42, keys: 4, clients: 3, ..RwRegister::default() }
}

const JSON_LINES: &str = r#"{"index":0,"type":"invoke","process":1,"f":"txn","value":[["append",0,1]],"time":13210}
{"index":1,"type":"invoke","process":0,"f":"txn","value":[["append",1,1],["append",0,2],["r",1,null],["r",0,null]],"time":27067}
{"index":2,"type":"ok","process":0,"f":"txn","value":[["append",1,1],["append",0,2],["r",1,[1]],["r",0,[1,2]]],"time":84381}
{"index":3,"type":"invoke","process":2,"f":"txn","value":[["r",2,null],["append",3,1],["append",1,2]],"time":87010}
{"index":4,"type":"invoke","process":0,"f":"txn","value":[["append",2,1],["append",2,2],["append",2,3]],"time":89108}
{"index":5,"type":"ok","process":1,"f":"txn","value":[["append",0,1]],"time":104116}
"#;

const EDN: &str = "\
{:index 0, :type :invoke, :process 1, :f :txn, :value [[:append 0 1]], :time 13210}
{:index 1, :type :invoke, :process 0, :f :txn, :value [[:append 1 1] [:append 0 2] [:r 1 nil] [:r 0 nil]], :time 27067}
{:index 2, :type :ok, :process 0, :f :txn, :value [[:append 1 1] [:append 0 2] [:r 1 [1]] [:r 0 [1 2]]], :time 84381}
{:index 3, :type :invoke, :process 2, :f :txn, :value [[:r 2 nil] [:append 3 1] [:append 1 2]], :time 87010}
{:index 4, :type :invoke, :process 0, :f :txn, :value [[:append 2 1] [:append 2 2] [:append 2 3]], :time 89108}
{:index 5, :type :ok, :process 1, :f :txn, :value [[:append 0 1]], :time 104116}
";

const JSON: &str = r#"[{"index":0,"type":"invoke","process":1,"f":"txn","value":[["append",0,1]],"time":13210},
{"index":1,"type":"invoke","process":0,"f":"txn","value":[["append",1,1],["append",0,2],["r",1,null],["r",0,null]],"time":27067},
"#;

const REGISTERS: &str = "\
{:index 0, :type :invoke, :process 1, :f :txn, :value [[:w 0 1]], :time 13210}
{:index 1, :type :invoke, :process 0, :f :txn, :value [[:w 1 1] [:w 0 2] [:r 1 nil] [:r 0 nil]], :time 27067}
{:index 2, :type :ok, :process 0, :f :txn, :value [[:w 1 1] [:w 0 2] [:r 1 1] [:r 0 2]], :time 84381}
{:index 3, :type :invoke, :process 2, :f :txn, :value [[:r 2 nil] [:w 3 1] [:w 1 2]], :time 87010}
{:index 4, :type :invoke, :process 0, :f :txn, :value [[:w 2 1] [:w 2 2] [:w 2 3]], :time 89108}
{:index 5, :type :ok, :process 1, :f :txn, :value [[:w 0 1]], :time 104116}
";

const REGISTER_CHECKSUMS: &str = "\
1892f438fc06a6a2 json lines
223a23ac51efdec4 json
881cbd62db31f588 none
5738382b93d98b38 stale-read
0784e57fdf2d1577 session-stale
9bb5c7e826ac7a31 strong-snapshot-isolation
d7da5a00aa4026b7 strong-session-snapshot-isolation
62e7120669c1095e snapshot-isolation
d5501608b6a52a56 long-fork
384425fbf3b9ef62 lost-update
93862095ca1a65d4 cursor-stability
4b21eaeee9343c00 read-committed
499f75388844a44d read-uncommitted
b66f8c1112fc65bd stale-keys
b6227796bede0d10 aborted-read
e8879b281db0f238 dropped-write
c987916ff8a66a1e duplicate-write
060a2d8c15f84be8 internal
3739b00b003da893 false-fail
6c8590da155374fc future-read
2aefccff75d8c905 dirty-write
fa8f8d2f8dcbb5b2 planted-G1c
861546026744ea40 planted-G-single
";

const CHECKSUMS: &str = "\
f565a8e18fc8f591 json lines
d11060b08b4d9c2d edn
a9e9d21c8328fd21 json
dce350ab15e79548 zipf
5bdd8a2a039285e4 exponential
a5b6957fce9dac12 nemesis
287f580d2c8462ef stale-read
f0529afada5e93a1 session-stale
9c9be0d8b79eeb8b strong-snapshot-isolation
c41625feea844a59 strong-session-snapshot-isolation
f1e0463fce7c4661 snapshot-isolation
0ad7a0c15c9061d3 long-fork
37c71ea0d18161c3 lost-update
79d54fce0d8915a6 cursor-stability
79a11279ab603b90 read-committed
1ccfdf02f8c96ddf read-uncommitted
5c17d0c60c97f0f3 stale-keys
445101010cea1fc5 aborted-read
607598a253a57ae5 dropped-write
6c3c277b10eb9fe7 duplicate-write
4431d8132b0a8af1 reordered-append
21bdf03bdfb5f484 internal
a703e31c41981185 false-fail
e1d0387b3e7662db future-read
1153334365ac9c78 dirty-write
748f5c4a6b81fbf9 planted-G1c
53fd83e66b67914e planted-G-single
";

#[track_caller]
fn assert_begins(text: &str, expected: &str) {
    let begins: String = text.split_inclusive('\n').take(expected.lines().count()).collect();
    assert_eq!(begins, expected);
}

#[test]
fn json_lines_begin_as_written_down() {
    assert_begins(&text(&small(), Format::JsonLines), JSON_LINES);
}

#[test]
fn edn_begins_as_written_down() {
    assert_begins(&text(&small(), Format::Edn), EDN);
}

#[test]
fn json_begins_as_written_down() {
    assert_begins(&text(&small(), Format::Json), JSON);
}

#[test]
fn registers_begin_as_written_down() {
    assert_begins(&text(&registers(), Format::Edn), REGISTERS);
}

#[test]
fn checksums_are_as_written_down() {
    let zipf = KeyDistribution::Zipf { s: 1.1 };
    let exponential = KeyDistribution::Exponential { base: 1.3 };
    let mut found = vec![
        ("json lines", checksum(&text(&small(), Format::JsonLines))),
        ("edn", checksum(&text(&small(), Format::Edn))),
        ("json", checksum(&text(&small(), Format::Json))),
        ("zipf", checksum(&text(&ListAppend { key_distribution: zipf, keys: 100, ..small() }, Format::Edn))),
        (
            "exponential",
            checksum(&text(&ListAppend { key_distribution: exponential, keys: 50, ..small() }, Format::Edn)),
        ),
        ("nemesis", checksum(&text(&ListAppend { nemesis: true, lost_rate: 0.1, ..small() }, Format::Edn))),
    ];
    let bugs = Bug::ALL.into_iter().filter(|bug| *bug != Bug::None);
    found.extend(bugs.map(|bug| (bug.name(), checksum(&text(&ListAppend { bug, ..small() }, Format::Edn)))));
    assert_eq!(written(found), CHECKSUMS);
}

#[test]
fn checksums_of_registers_are_as_written_down() {
    let mut found = vec![
        ("json lines", checksum(&text(&registers(), Format::JsonLines))),
        ("json", checksum(&text(&registers(), Format::Json))),
    ];
    let bugs = Bug::of::<OverRegisters>();
    found.extend(bugs.map(|bug| (bug.name(), checksum(&text(&RwRegister { bug, ..registers() }, Format::Edn)))));
    assert_eq!(written(found), REGISTER_CHECKSUMS);
}

fn written(checksums: Vec<(&str, u64)>) -> String {
    let lines: Vec<String> =
        checksums.into_iter().map(|(name, checksum)| format!("{checksum:016x} {name}\n")).collect();
    lines.concat()
}

#[test]
fn another_seed_is_another_history() {
    let other = ListAppend { seed: 43, ..small() };
    assert_ne!(text(&small(), Format::Edn), text(&other, Format::Edn));
}
