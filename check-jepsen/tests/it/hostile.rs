//! Tests nonsensical histories: every workload returns a report, which no further ops can refute.

use check_jepsen::bank::Bank;
use check_jepsen::comments::Comments;
use check_jepsen::counter::Counter;
use check_jepsen::long_fork::LongFork;
use check_jepsen::queue::Queue;
use check_jepsen::sequential::Sequential;
use check_jepsen::set::Set;
use check_jepsen::set_full::SetFull;
use check_jepsen::stats::Stats;
use check_jepsen::total_queue::TotalQueue;
use check_jepsen::unique_ids::UniqueIds;
use history_core::{Budget, Checker, Options, Reader, Report, Verdict};
use proptest::prelude::*;
use std::fmt::Write;

const FS: [&str; 10] = ["read", "write", "read", "add", "enqueue", "dequeue", "drain", "generate", "transfer", ""];

const VALUES: [&str; 32] = [
    "nil",
    "1",
    "2",
    "-1",
    "1",
    "2",
    "[1]",
    "[1 2]",
    "#{2 1}",
    "(1 1)",
    "[]",
    "{}",
    "{0 1}",
    "{0 1, 1 -1}",
    "{\"0\" nil}",
    "{0 1, 1 0}",
    "1.5",
    "\"1\"",
    "9223372036854775807",
    "-9223372036854775808",
    "340282366920938463463374607431768211455",
    ":x",
    "[nil [1 2] #{{}}]",
    "#inst \"2020\"",
    "[0 [nil 1]]",
    "[[:r 0 1] [:r 1 nil]]",
    "[[:r 0 nil] [:r 1 1]]",
    "[[:r 0 2] [:r 1 1]]",
    "[[:w 0 1]]",
    "[[:w 0 nil]]",
    "[1 [2 nil 0]]",
    "[1 #{1}]",
];

type Choice = (u8, u8, u8, u8);

/// Ops that pair, but are otherwise inconsistent: completions differ from their invocations, and some clients have no
/// name.
fn ops(choices: &[Choice]) -> Vec<String> {
    let mut open = [None; 3];
    let mut crashes = 0;
    let mut processes = [0, 1, 2];
    let mut ops = Vec::new();
    for (who, kind, f, value) in choices {
        let (who, f, mut value) = (*who as usize % 16, *f as usize, VALUES[*value as usize % VALUES.len()]);
        let completion = ["ok", "ok", "ok", "fail", "info"][*kind as usize % 5];
        let (process, kind, f) = match who {
            0 => (String::new(), if kind % 2 == 0 { "invoke" } else { completion }, f % FS.len()),
            1 => (":process :nemesis, ".to_owned(), "info", f % FS.len()),
            who => {
                let client = who % 3;
                let process = processes[client];
                let (kind, f) = match open[client].take() {
                    None => {
                        // A few workloads are of few functions.
                        open[client] = Some((f % FS.len(), value));
                        ("invoke", f % FS.len())
                    }
                    Some((invoked, argument)) => {
                        // Half of them repeat the argument of the invocation.
                        value = if *kind >= 128 { argument } else { value };
                        (completion, if f > 250 { f % FS.len() } else { invoked })
                    }
                };
                if kind == "info" {
                    crashes += 1;
                    processes[client] = 2 + crashes;
                }
                (format!(":process {process}, "), kind, f)
            }
        };
        let mut op = format!("{{{process}:type :{kind}, :value {value}");
        if !FS[f].is_empty() {
            _ = write!(op, ", :f :{}", FS[f]);
        }
        ops.push(op + "}");
    }
    ops
}

fn judge(checker: &dyn Checker, text: &str, block_bytes: usize) -> Report {
    let run = checker.start(&Options::new()).unwrap();
    history_core::check(run, &mut Reader::new(text.as_bytes()).with_block_bytes(block_bytes), &Budget::default())
        .unwrap()
}

/// Returns true if a text is certainly invalid.
fn is_violated(checker: &dyn Checker, text: &str) -> bool {
    let mut run = checker.start(&Options::new()).unwrap();
    Reader::new(text.as_bytes()).for_each(|op| run.observe(op)).unwrap();
    run.is_violated()
}

/// The checkers, and whether a violation is permanent as soon as an op shows it.
fn checkers() -> [(Box<dyn Checker>, bool); 13] {
    [
        (Box::new(Bank::default()), true),
        (Box::new(Counter::default()), true),
        (Box::new(Set::default()), false),
        (Box::new(SetFull::default()), false),
        (Box::new(SetFull { linearizable: true }), false),
        (Box::new(LongFork::default()), false),
        (Box::new(LongFork { general: true, ..LongFork::default() }), false),
        (Box::new(Comments::default()), true),
        (Box::new(Sequential::default()), true),
        (Box::new(Queue::default()), true),
        (Box::new(TotalQueue::default()), false),
        (Box::new(UniqueIds::default()), true),
        (Box::new(Stats::default()), true),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_too_strange(choices in prop::collection::vec(any::<Choice>(), 1..60), cut in any::<prop::sample::Index>()) {
        let ops = ops(&choices);
        let (whole, beginning) = (ops.join("\n"), ops[..=cut.index(ops.len())].join("\n"));
        for (checker, lasts) in checkers() {
            let report = judge(checker.as_ref(), &whole, 1 << 20);
            prop_assert_eq!(&report, &judge(checker.as_ref(), &whole, 64), "in small blocks");
            prop_assert_eq!(report.verdict == Verdict::Invalid, !report.anomalies.is_empty(), "{:?}", report);
            prop_assert!(report.verdict != Verdict::Unknown || !report.notes.is_empty(), "{:?}", report);
            let is_invalid = judge(checker.as_ref(), &beginning, 1 << 20).verdict == Verdict::Invalid;
            let is_certain = is_violated(checker.as_ref(), &beginning);
            prop_assert!(if lasts { is_certain == is_invalid } else { is_certain <= is_invalid }, "{}", &beginning);
            if is_certain {
                prop_assert_eq!(report.verdict, Verdict::Invalid, "{} of {}", checker.name(), &whole);
                prop_assert!(is_violated(checker.as_ref(), &whole), "{} of {}", checker.name(), &whole);
            }
        }
    }
}

#[test]
fn strange_histories_get_every_verdict() {
    // Without this, the law above might hold vacuously.
    let mut seen = std::collections::BTreeSet::new();
    let mut state = 1u64;
    for _ in 0..3_000 {
        let choices: Vec<Choice> = (0..24)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let [a, b, c, d, ..] = (state >> 24).to_le_bytes();
                (a | 2, b, c, d)
            })
            .collect();
        for (checker, _) in checkers() {
            seen.insert((
                checker.name().to_owned(),
                judge(checker.as_ref(), &ops(&choices).join("\n"), 1 << 20).verdict,
            ));
        }
    }
    // Stats never returns invalid.
    assert_eq!(seen.len(), 11 * 3 - 1, "{seen:?}");
}
