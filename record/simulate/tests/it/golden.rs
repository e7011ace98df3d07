//! Equal parameters give equal bytes, on every machine and in every version: the expected bytes are recorded here.
//!
//! A change that fails a test here changes the meaning of every `--seed`. If that is intended, it belongs in the
//! changelog.

use record_simulate::{
    Bug, Format, KeyDistribution, ListAppend, Object, ObjectBug, Objects, OverRegisters, RwRegister, Transactions,
    Workload,
};

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

fn object_text(parameters: &Objects, format: Format) -> String {
    String::from_utf8(parameters.simulation().unwrap().write(Vec::new(), format).unwrap()).unwrap()
}

const OBJECTS_EDN: &str = r#"{:index 40, :type :ok, :process 6, :f :read, :value 1, :time 317397}
{:index 44, :type :ok, :process 5, :f :write, :value 2, :time 363125}
{:index 40, :type :ok, :process 6, :f :read, :value 0, :time 317397}
{:index 44, :type :ok, :process 5, :f :write, :value 4, :time 363125}
{:index 64, :type :ok, :process 1, :f :cas, :value [3 4], :time 523003}
{:index 40, :type :ok, :process 6, :f :txn, :value [[:read 2 3] [:write 2 2]], :time 317397}
{:index 44, :type :ok, :process 5, :f :release, :value nil, :time 1181304}
{:index 45, :type :ok, :process 9, :f :acquire, :value nil, :time 1211948}
{:index 44, :type :ok, :process 5, :f :release, :value {:client 5}, :time 1181304}
{:index 45, :type :ok, :process 9, :f :acquire, :value {:client 9}, :time 1211948}
{:index 40, :type :ok, :process 9, :f :release, :value {:client 9}, :time 1198303}
{:index 44, :type :ok, :process 4, :f :acquire, :value {:client 4}, :time 1378828}
{:index 44, :type :ok, :process 5, :f :release, :value nil, :time 1181304}
{:index 45, :type :ok, :process 9, :f :acquire, :value nil, :time 1211948}
{:index 40, :type :ok, :process 6, :f :enqueue, :value 10, :time 317397}
{:index 43, :type :ok, :process 3, :f :dequeue, :value 7, :time 351199}
{:index 40, :type :ok, :process 6, :f :enqueue, :value 10, :time 317397}
{:index 43, :type :ok, :process 3, :f :dequeue, :value 4, :time 351199}
{:index 40, :type :ok, :process 6, :f :push, :value 10, :time 317397}
{:index 43, :type :ok, :process 3, :f :pop, :value 10, :time 351199}
{:index 40, :type :ok, :process 6, :f :pop-front, :value 6, :time 317397}
{:index 41, :type :ok, :process 8, :f :push-back, :value 9, :time 339618}
{:index 44, :type :ok, :process 5, :f :pop-back, :value 9, :time 363125}
{:index 62, :type :ok, :process 5, :f :push-front, :value 12, :time 513974}
{:index 40, :type :ok, :process 6, :f :insert, :value 774553834, :time 317397}
{:index 43, :type :ok, :process 3, :f :delete-min, :value 267601721, :time 351199}
{:index 40, :type :ok, :process 6, :f :read, :value #{4 10 18 19 23 24 25 32 33 34 40 45}, :time 317397}
{:index 41, :type :ok, :process 8, :f :add, :value 25, :time 339618}
{:index 40, :type :ok, :process 6, :f :read, :value 29, :time 317397}
{:index 41, :type :ok, :process 8, :f :add, :value 2, :time 339618}
{:index 40, :type :ok, :process 6, :f :append, :value "11,", :key "8", :time 317397}
{:index 41, :type :ok, :process 8, :f :get, :value "1,", :key "1", :time 339618}
{:index 61, :type :ok, :process 6, :f :put, :value "17,", :key "0", :time 509231}
{:index 40, :type :ok, :process 6, :f :read, :value 51, :write-id "651e8c6b-0292-4c75-9a1e-162a6017950c", :time 317397}
{:index 43, :type :ok, :process 3, :f :write, :value 14, :write-id "883551aa-403c-43cf-b56e-9a805b88debe", :prev-write-id "651e8c6b-0292-4c75-9a1e-162a6017950c", :time 351199}
{:index 40, :type :ok, :process 6, :f :transfer, :value {:from 4, :to 3, :amount 18}, :time 317397}
{:index 41, :type :ok, :process 8, :f :read, :value {0 104, 1 67, 2 52, 3 100, 4 69, 5 97, 6 172, 7 139}, :time 339618}
{:index 40, :type :ok, :process 6, :f :add, :value 10, :time 317397}
{:index 43, :type :ok, :process 3, :f :read, :value [0 1 2 3 4 5 6 7 8 9 10], :time 351199}
{:index 40, :type :ok, :process 6, :f :enqueue, :value 10, :time 317397}
{:index 43, :type :ok, :process 3, :f :dequeue, :value 7, :time 351199}
{:index 40, :type :ok, :process 6, :f :enqueue, :value 10, :time 317397}
{:index 43, :type :ok, :process 3, :f :dequeue, :value 7, :time 351199}
{:index 2001, :type :ok, :process 4, :f :drain, :value [492 494 498 497 496 499 500 502 501 503 505 504 506], :time 16364569}
{:index 40, :type :ok, :process 6, :f :generate, :value "da2e1d7b-7b53-4043-8a10-28670f3c6b1a", :time 317397}
{:index 40, :type :ok, :process 6, :f :read, :value [[:r 4 1] [:r 5 1]], :time 317397}
{:index 43, :type :ok, :process 3, :f :write, :value [[:w 7 1]], :time 351199}
{:index 40, :type :ok, :process 6, :f :write, :value 10, :time 317397}
{:index 43, :type :ok, :process 3, :f :read, :value #{0 1 2 3 4 5 6 7 8 9 10}, :time 351199}
{:index 40, :type :ok, :process 6, :f :read, :value [0 [nil nil nil nil 0]], :time 317397}
{:index 41, :type :ok, :process 8, :f :write, :value [6 0], :time 339618}
{:index 41, :type :ok, :process 8, :f :write, :value [3 2], :time 339618}
{:index 43, :type :ok, :process 3, :f :read, :value [2 1], :time 351199}
{:index 105, :type :ok, :process 0, :f :cas, :value [3 [2 4]], :time 875760}
{:index 40, :type :ok, :process 8, :f :release, :value [4 {:client 8}], :time 393993}
{:index 48, :type :ok, :process 3, :f :acquire, :value [0 {:client 3}], :time 480804}
{:index 40, :type :ok, :process 6, :f :write, :value 79, :key 7, :write-id "3be498fe-35e0-4cdf-8ffc-42f50b1269ce", :prev-write-id "00000000-0000-0000-0000-000000000000", :time 317397}
{:index 41, :type :ok, :process 8, :f :read, :value 89, :key 1, :write-id "dbbef44d-c074-479c-9e7b-edcfd8d5c5c7", :time 339618}
"#;

const OBJECTS_JSON_LINES: &str = r#"{"index":40,"type":"ok","process":6,"f":"read","value":1,"time":317397}
{"index":44,"type":"ok","process":5,"f":"write","value":2,"time":363125}
{"index":40,"type":"ok","process":6,"f":"read","value":0,"time":317397}
{"index":44,"type":"ok","process":5,"f":"write","value":4,"time":363125}
{"index":64,"type":"ok","process":1,"f":"cas","value":[3,4],"time":523003}
{"index":40,"type":"ok","process":6,"f":"txn","value":[["read",2,3],["write",2,2]],"time":317397}
{"index":44,"type":"ok","process":5,"f":"release","value":null,"time":1181304}
{"index":45,"type":"ok","process":9,"f":"acquire","value":null,"time":1211948}
{"index":44,"type":"ok","process":5,"f":"release","value":{"client":5},"time":1181304}
{"index":45,"type":"ok","process":9,"f":"acquire","value":{"client":9},"time":1211948}
{"index":40,"type":"ok","process":9,"f":"release","value":{"client":9},"time":1198303}
{"index":44,"type":"ok","process":4,"f":"acquire","value":{"client":4},"time":1378828}
{"index":44,"type":"ok","process":5,"f":"release","value":null,"time":1181304}
{"index":45,"type":"ok","process":9,"f":"acquire","value":null,"time":1211948}
{"index":40,"type":"ok","process":6,"f":"enqueue","value":10,"time":317397}
{"index":43,"type":"ok","process":3,"f":"dequeue","value":7,"time":351199}
{"index":40,"type":"ok","process":6,"f":"enqueue","value":10,"time":317397}
{"index":43,"type":"ok","process":3,"f":"dequeue","value":4,"time":351199}
{"index":40,"type":"ok","process":6,"f":"push","value":10,"time":317397}
{"index":43,"type":"ok","process":3,"f":"pop","value":10,"time":351199}
{"index":40,"type":"ok","process":6,"f":"pop-front","value":6,"time":317397}
{"index":41,"type":"ok","process":8,"f":"push-back","value":9,"time":339618}
{"index":44,"type":"ok","process":5,"f":"pop-back","value":9,"time":363125}
{"index":62,"type":"ok","process":5,"f":"push-front","value":12,"time":513974}
{"index":40,"type":"ok","process":6,"f":"insert","value":774553834,"time":317397}
{"index":43,"type":"ok","process":3,"f":"delete-min","value":267601721,"time":351199}
{"index":40,"type":"ok","process":6,"f":"read","value":[4,10,18,19,23,24,25,32,33,34,40,45],"time":317397}
{"index":41,"type":"ok","process":8,"f":"add","value":25,"time":339618}
{"index":40,"type":"ok","process":6,"f":"read","value":29,"time":317397}
{"index":41,"type":"ok","process":8,"f":"add","value":2,"time":339618}
{"index":40,"type":"ok","process":6,"f":"append","value":"11,","key":"8","time":317397}
{"index":41,"type":"ok","process":8,"f":"get","value":"1,","key":"1","time":339618}
{"index":61,"type":"ok","process":6,"f":"put","value":"17,","key":"0","time":509231}
{"index":40,"type":"ok","process":6,"f":"read","value":51,"write-id":"651e8c6b-0292-4c75-9a1e-162a6017950c","time":317397}
{"index":43,"type":"ok","process":3,"f":"write","value":14,"write-id":"883551aa-403c-43cf-b56e-9a805b88debe","prev-write-id":"651e8c6b-0292-4c75-9a1e-162a6017950c","time":351199}
{"index":40,"type":"ok","process":6,"f":"transfer","value":{"from":4,"to":3,"amount":18},"time":317397}
{"index":41,"type":"ok","process":8,"f":"read","value":{"0":104,"1":67,"2":52,"3":100,"4":69,"5":97,"6":172,"7":139},"time":339618}
{"index":40,"type":"ok","process":6,"f":"add","value":10,"time":317397}
{"index":43,"type":"ok","process":3,"f":"read","value":[0,1,2,3,4,5,6,7,8,9,10],"time":351199}
{"index":40,"type":"ok","process":6,"f":"enqueue","value":10,"time":317397}
{"index":43,"type":"ok","process":3,"f":"dequeue","value":7,"time":351199}
{"index":40,"type":"ok","process":6,"f":"enqueue","value":10,"time":317397}
{"index":43,"type":"ok","process":3,"f":"dequeue","value":7,"time":351199}
{"index":2001,"type":"ok","process":4,"f":"drain","value":[492,494,498,497,496,499,500,502,501,503,505,504,506],"time":16364569}
{"index":40,"type":"ok","process":6,"f":"generate","value":"da2e1d7b-7b53-4043-8a10-28670f3c6b1a","time":317397}
{"index":40,"type":"ok","process":6,"f":"read","value":[["r",4,1],["r",5,1]],"time":317397}
{"index":43,"type":"ok","process":3,"f":"write","value":[["w",7,1]],"time":351199}
{"index":40,"type":"ok","process":6,"f":"write","value":10,"time":317397}
{"index":43,"type":"ok","process":3,"f":"read","value":[0,1,2,3,4,5,6,7,8,9,10],"time":351199}
{"index":40,"type":"ok","process":6,"f":"read","value":[0,[null,null,null,null,0]],"time":317397}
{"index":41,"type":"ok","process":8,"f":"write","value":[6,0],"time":339618}
{"index":41,"type":"ok","process":8,"f":"write","value":[3,2],"time":339618}
{"index":43,"type":"ok","process":3,"f":"read","value":[2,1],"time":351199}
{"index":105,"type":"ok","process":0,"f":"cas","value":[3,[2,4]],"time":875760}
{"index":40,"type":"ok","process":8,"f":"release","value":[4,{"client":8}],"time":393993}
{"index":48,"type":"ok","process":3,"f":"acquire","value":[0,{"client":3}],"time":480804}
{"index":40,"type":"ok","process":6,"f":"write","value":79,"key":7,"write-id":"3be498fe-35e0-4cdf-8ffc-42f50b1269ce","prev-write-id":"00000000-0000-0000-0000-000000000000","time":317397}
{"index":41,"type":"ok","process":8,"f":"read","value":89,"key":1,"write-id":"dbbef44d-c074-479c-9e7b-edcfd8d5c5c7","time":339618}
"#;

/// A completion of each function of each object, and of some with keys.
fn answers(format: Format) -> String {
    let ok = if format == Format::Edn { ":ok" } else { "\"ok\"" };
    let plain = Object::ALL.map(|object| Objects { seed: 42, ..Objects::of(object) });
    let keyed = [Object::CasRegister, Object::OwnerMutex, Object::VersionedRegister];
    let keyed = keyed.map(|object| Objects { keyed: true, keys: 9, seed: 42, ..Objects::of(object) });
    let mut answers = String::new();
    for parameters in plain.iter().chain(&keyed) {
        let text = object_text(parameters, format);
        let mut seen = Vec::new();
        for line in text.split_inclusive('\n').skip(40).filter(|line| line.contains(ok)) {
            let f = line.split('f').nth(1).and_then(|rest| rest.split("value").next());
            if !seen.contains(&f) {
                answers.push_str(line);
                seen.push(f);
            }
        }
    }
    answers
}

#[test]
fn answers_of_objects_are_as_written_down() {
    for (format, expected) in [(Format::Edn, OBJECTS_EDN), (Format::JsonLines, OBJECTS_JSON_LINES)] {
        let answers = answers(format);
        assert!(answers == expected, "{answers}");
    }
}

const OBJECT_CHECKSUMS: &str = "\
ae32b4b55134e62d register none
669f931cfa09fcf7 register stale-read
4bc9d1596542082d register lost-write
62074b79012176b9 register false-fail
c97c505b2a6c8062 register wrong-read
45f513c95be4afea cas-register none
5336b6b3482cf30b cas-register stale-read
16aa93b4564035d6 cas-register lost-write
56f44608d472e666 cas-register false-fail
f90f927a97a571be cas-register wrong-read
cb4ebc1084be03f6 cas-register split-brain
e0d9aee6a70c4fc2 multi-register none
ddfa71ab7f735d98 multi-register stale-read
3a1f0931ac37a2d0 multi-register lost-write
0104da5041fdb8c7 multi-register false-fail
302b7b704bc47730 multi-register wrong-read
02b18012156e4747 mutex none
a4f39323deecbef1 mutex false-fail
566b568b37ec5890 mutex double-acquire
71914291ec214d9d owner-mutex none
f35ffd6d6f954f5f owner-mutex false-fail
2aff1eda58b687e8 owner-mutex double-acquire
8f13dc9f8a10a64e reentrant-mutex none
3c440bc90e40f82f reentrant-mutex false-fail
27502c385426fdbf reentrant-mutex double-acquire
02b18012156e4747 semaphore none
a4f39323deecbef1 semaphore false-fail
566b568b37ec5890 semaphore double-acquire
d7154826121d2dbb fifo-queue none
d158cc2dcbc5b6d0 fifo-queue false-fail
f93356be5029f22b fifo-queue wrong-read
7dc7327480afae4c fifo-queue lost-element
afb14fb8f3a2eebc fifo-queue duplicate-element
eeb8da139d5082bf fifo-queue reordered-element
1158dad1cc09af3b unordered-queue none
7608e3b27fee3c78 unordered-queue false-fail
dc8cdb9e850ff5ee unordered-queue wrong-read
0ce33aa5fa2d6565 unordered-queue duplicate-element
0d9fca1f02c1e7c7 stack none
b9560c3d9f06a10c stack false-fail
a8c5eca5dd91e00c stack wrong-read
44b96c62759ebb69 stack lost-element
458ed079de2240e3 stack duplicate-element
5a1c4904e71844e3 stack reordered-element
d183f9ee94fac62e deque none
38cc35f90376d076 deque false-fail
8aaafc4b753b93e1 deque wrong-read
71e446e532b40614 deque lost-element
33c1fffb9d898dac deque duplicate-element
0a4b20655dcf81d6 deque reordered-element
3cb07360c620ef72 priority-queue none
4d7cbd9a79167b93 priority-queue false-fail
0e844db086d3840b priority-queue wrong-read
b328206e340a3ade priority-queue lost-element
b4b7e173adc0abe6 priority-queue duplicate-element
c8132ab242629a61 set none
2fab5c89ef00067e set stale-read
daa59e2b970e849f set false-fail
09d31df238484195 set wrong-read
a99a3b12bef4f8fa set lost-element
df1ef32e29c0ed4e counter none
315401e6e41341d3 counter stale-read
e02adc982d6a284a counter lost-write
590691046e1f3580 counter false-fail
3976d14694d4ae04 counter wrong-read
a47c774c6cc2aff1 counter wrong-sum
87f5cbae20c9adf1 kv none
b0fe61581b598723 kv stale-read
419b2c48c074cf69 kv lost-write
1c94cb74c45ed491 kv false-fail
aafb04d7c90f02a3 kv wrong-read
28f4a5297e2aee23 versioned-register none
5a87b2338b1962f1 versioned-register stale-read
7b3197c240d74340 versioned-register lost-write
9b388604a1a0301f versioned-register false-fail
365f9b0e928e71f1 versioned-register wrong-read
4d5054f4e3a8dec1 versioned-register split-brain
8359bdc4b6bf6909 bank none
b9f6d0527da26189 bank wrong-read
5d87b8b8714666bf bank read-skew
e44fa6dcd4184799 bank half-transfer
87811a4f22ab4784 set-full none
794ca1287a8ff482 set-full stale-read
69c866e8073e55a0 set-full lost-element
83aef94173fd0bce set-full duplicate-element
d7154826121d2dbb queue none
f93356be5029f22b queue wrong-read
afb14fb8f3a2eebc queue duplicate-element
91af6c8ac4d7a7d0 total-queue none
f645c1a8acb05684 total-queue wrong-read
44dab00ea3fc30d0 total-queue lost-element
290c069f6430c3dc unique-ids none
2fbde6162181b3d0 unique-ids repeated-id
a1bd10b549596dd9 long-fork none
ccb54034e209f461 long-fork read-skew
88661cffd87fa6e1 comments none
3ea75022c92cf8dc comments lost-element
0d599ec3f68c24dd comments read-skew
b4b7e02704f34327 sequential none
ded1985a31c04075 sequential lost-write
478f2888b555a567 sequential read-skew
";

#[test]
fn checksums_of_objects_are_as_written_down() {
    let rows = Object::ALL.into_iter().flat_map(|object| ObjectBug::of(object).map(move |bug| (object, bug)));
    let found: Vec<String> = rows
        .map(|(object, bug)| {
            let parameters = Objects { seed: 42, info_rate: 0.02, bug, ..Objects::of(object) };
            let checksum = checksum(&object_text(&parameters, Format::Edn));
            format!("{checksum:016x} {object} {bug}\n")
        })
        .collect();
    let found = found.concat();
    assert!(found == OBJECT_CHECKSUMS, "{found}");
}
