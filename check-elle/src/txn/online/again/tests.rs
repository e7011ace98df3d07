//! Tests that the first violating prefix is reported: at its last op if it is short, else before it has grown much.

use super::{EACH_MAX, GROWTH, SO_FAR};
use crate::anomaly::AnomalyType;
use crate::list_append::ListAppend;
use crate::model::Model;
use crate::rw_register::RwRegister;
use crate::txn::online::tests::{Bugs, Random, batch, bugs, history};
use history_core::{Budget, Checker, History, Options, Run, Verdict};

fn models(name: &str) -> Vec<Model> {
    vec![name.parse().unwrap()]
}

fn lists(name: &str) -> ListAppend {
    ListAppend { consistency_models: models(name), ..ListAppend::default() }
}

fn registers(name: &str) -> RwRegister {
    let linearizable_keys = name.ends_with("read-uncommitted");
    RwRegister { consistency_models: models(name), wfr_keys: true, linearizable_keys, ..RwRegister::default() }
}

/// A run of a history, and the number of ops after which a violation was found.
fn run(checker: &dyn Checker, text: &str) -> (Box<dyn Run>, Option<usize>) {
    let mut run = checker.start_online(&Options::new()).unwrap();
    let mut violated = None;
    for (at, op) in History::parse(text).unwrap().ops().enumerate() {
        assert!(run.observe(&op).unwrap().is_continue());
        if run.is_violated() {
            violated.get_or_insert(at + 1);
        }
    }
    (run, violated)
}

/// Compares all prefixes of random histories. Returns the number of histories with a violation.
///
/// `of_beginnings` is the same checker, which does not count a read of an unwritten value as a violation yet.
fn hold((checker, of_beginnings): (&dyn Checker, &dyn Checker), level: &str, is_register: bool, rounds: u64) -> u32 {
    let stays = !level.ends_with("read-uncommitted");
    let mut refused = 0;
    for seed in 0..rounds {
        let mut random = Random(seed + 5_000);
        let (bugs, txns) = (bugs(&mut random), 3 + random.below(20));
        let text = history(seed, txns, Bugs { torn: bugs.torn.max(random.below(900)), ..bugs }, is_register);
        let count = text.lines().count();
        let first = (1..=count).find(|ops| batch(of_beginnings, &text, *ops).verdict == Verdict::Invalid);
        let (run, found) = run(checker, &text);
        assert_eq!(found, first, "{level}, seed {seed}\n{text}");
        let reported = run.violation().map(|report| report.notes.iter().any(|note| note == SO_FAR));
        assert_eq!(reported, first.map(|_| !stays), "{level}, seed {seed}");
        let (whole, verdict) = (batch(checker, &text, count), run.finish(&Budget::default()).unwrap().verdict);
        assert_eq!(verdict, whole.verdict, "{level}, seed {seed}\n{text}");
        refused += u32::from(first.is_some());
        assert!(!stays || first.is_none() || verdict == Verdict::Invalid, "{level}, seed {seed}\n{text}");
    }
    refused
}

#[test]
fn every_prefix_at_levels_that_cycles_do_not_decide() {
    for level in ["consistent-view", "monotonic-atomic-view", "causal-cerone", "prefix", "update-serializable"] {
        let lists_so_far = ListAppend { garbage_reads_allowed: true, ..lists(level) };
        let registers_so_far = RwRegister { garbage_reads_allowed: true, ..registers(level) };
        let checkers: [(&dyn Checker, &dyn Checker, bool); 2] =
            [(&lists(level), &lists_so_far, false), (&registers(level), &registers_so_far, true)];
        for (checker, of_beginnings, is_register) in checkers {
            let refused = hold((checker, of_beginnings), level, is_register, 150);
            let least = if cfg!(feature = "exact") { 20 } else { 5 };
            assert!((least..140).contains(&refused), "{level}: {refused}");
        }
    }
}

#[test]
fn at_read_uncommitted_a_violation_is_of_the_history_so_far() {
    for level in ["read-uncommitted", "strong-session-read-uncommitted", "strong-read-uncommitted"] {
        let refused = hold((&registers(level), &registers(level)), level, true, 500);
        assert!((20..400).contains(&refused), "{level}: {refused}");
    }
}

/// Two transactions write two registers in different orders, and one of them fails.
#[test]
fn a_failure_retracts_a_violation() {
    let text = "{:process 0, :type :invoke, :f :txn, :value [[:w x 1] [:w y 1]]}
                {:process 1, :type :invoke, :f :txn, :value [[:r x nil] [:w x 3] [:w y 3]]}
                {:process 1, :type :ok, :f :txn, :value [[:r x 1] [:w x 3] [:w y 3]]}
                {:process 2, :type :invoke, :f :txn, :value [[:r y nil]]}
                {:process 2, :type :ok, :f :txn, :value [[:r y 1]]}
                {:process 0, :type :fail, :f :txn, :value [[:w x 1] [:w y 1]]}\n";
    let checker = registers("read-uncommitted");
    let (run, found) = run(&checker, text);
    assert_eq!(found, Some(5));
    let report = run.violation().unwrap();
    assert_eq!((report.anomaly_types().next(), report.notes.last().unwrap().as_str()), (Some("G0"), SO_FAR));
    assert!(!run.decides_early());
    assert_eq!(run.finish(&Budget::default()).unwrap().verdict, Verdict::Unknown, "nothing is related any more");
    let (again, _) = super::tests::run(&checker, text);
    assert!(again.finish_before_unread(&Budget::default()).unwrap().is_none(), "the next op may retract the violation");
}

#[test]
fn an_anomaly_by_name_is_found_while_the_history_is_written() {
    let text = "{:process 0, :type :invoke, :f :txn, :value [[:append x 1] [:r x nil]]}
                {:process 0, :type :ok, :f :txn, :value [[:append x 1] [:r x []]]}
                {:process 0, :type :invoke, :f :txn, :value [[:r x nil]]}\n";
    let checker = ListAppend { anomalies: AnomalyType::INTERNAL.into(), ..lists("read-committed") };
    assert_eq!(run(&checker, text).1, Some(2));
    assert_eq!(run(&lists("read-committed"), text).1, None);
}

/// A later op may write the value.
#[test]
fn a_read_of_an_unwritten_value_counts_at_the_end() {
    let text = "{:process 0, :type :invoke, :f :txn, :value [[:r x nil] [:append x 1]]}
                {:process 0, :type :ok, :f :txn, :value [[:r x [9]] [:append x 1]]}\n";
    let (run, found) = run(&lists("consistent-view"), text);
    assert_eq!(found, None);
    assert_eq!(run.finish(&Budget::default()).unwrap().verdict, Verdict::Invalid);
}

/// The second transaction contradicts itself, whatever is written later.
#[test]
fn a_read_of_an_unwritten_value_hides_no_other_violation() {
    let text = "{:process 0, :type :invoke, :f :txn, :value [[:r x nil]]}
                {:process 0, :type :ok, :f :txn, :value [[:r x [6]]]}
                {:process 1, :type :invoke, :f :txn, :value [[:append y 1] [:r y nil]]}
                {:process 1, :type :ok, :f :txn, :value [[:append y 1] [:r y []]]}
                {:process 2, :type :invoke, :f :txn, :value [[:append x 6]]}
                {:process 2, :type :ok, :f :txn, :value [[:append x 6]]}\n";
    for level in ["prefix", "causal-cerone"] {
        let (run, found) = run(&lists(level), text);
        assert_eq!(found, Some(4), "{level}");
        let report = run.violation().unwrap();
        let types: Vec<&str> = report.anomaly_types().collect();
        assert!(types.contains(&"internal") && !types.contains(&"garbage-read"), "{level}: {types:?}");
        assert!(!report.notes.iter().any(|note| note.contains("garbage-read")), "{level}: {:?}", report.notes);
        assert_eq!(run.finish(&Budget::default()).unwrap().verdict, Verdict::Invalid);
    }
}

/// Without invocations, a value may be read before the completion that writes it, at every level.
#[test]
fn a_value_read_before_its_write_completes_counts_at_the_end() {
    let ends = "{:process 0, :type :ok, :f :txn, :value [[:r x [6]]]}
                {:process 1, :type :ok, :f :txn, :value [[:append x 6]]}\n";
    let without_value = "{:process 1, :type :invoke, :f :txn, :value nil}
                  {:process 0, :type :invoke, :f :txn, :value [[:r x nil]]}
                  {:process 0, :type :ok, :f :txn, :value [[:r x [6]]]}
                  {:process 1, :type :ok, :f :txn, :value [[:append x 6]]}\n";
    let twice = "{:process 2, :type :ok, :f :txn, :value [[:append z 1]]}
                 {:process 3, :type :ok, :f :txn, :value [[:append z 1]]}\n"
        .to_owned();
    let named = ListAppend { anomalies: AnomalyType::G2_ITEM.into(), ..lists("strict-serializable") };
    let several = ListAppend {
        consistency_models: ["strict-serializable", "prefix"].map(|level| level.parse().unwrap()).into(),
        ..ListAppend::default()
    };
    for checker in [&named, &several] {
        for text in [ends, without_value] {
            let (run, found) = run(checker, text);
            assert_eq!(found, None, "{text}");
            assert_eq!(run.finish(&Budget::default()).unwrap().verdict, Verdict::Valid, "{text}");
        }
    }
    // Here the judges stop.
    let (run, found) = run(&lists("strict-serializable"), &(twice + ends));
    assert_eq!((found, run.finish(&Budget::default()).unwrap().verdict), (None, Verdict::Unknown));
}

#[test]
fn a_longer_history_is_judged_when_it_has_grown() {
    let checker = lists("consistent-view");
    let good = history(3, 300, Bugs::default(), false);
    let bad = good.clone()
        + "{:process 90, :type :invoke, :f :txn, :value [[:append z 1]]}
           {:process 90, :type :ok, :f :txn, :value [[:append z 1]]}
           {:process 91, :type :invoke, :f :txn, :value [[:r z nil]]}
           {:process 91, :type :ok, :f :txn, :value [[:r z [1 1]]]}\n"
        + &good.replace(":append ", ":append 9").replace(":r ", ":r 9").replace(":process ", ":process 9");
    let (run, found) = run(&checker, &bad);
    let (found, first) = (found.unwrap() as u64, good.lines().count() as u64 + 4);
    assert!((first..=first + first / GROWTH).contains(&found) && first > EACH_MAX, "{found}, {first}");
    let report = run.finish_early(&Budget::default()).unwrap();
    let note = &report.notes[report.notes.len() - 1];
    let begins = format!("Checked while the history was written: the ops up to index {}", found - 1);
    assert!(note.starts_with(&begins) && note.contains(", and the ops up to index "), "{note}");
}

/// If judges reach an op that they do not understand, the batch checker replaces them.
#[test]
fn after_an_op_that_is_not_understood_prefixes_are_judged_again() {
    let twice = "{:process 90, :type :invoke, :f :txn, :value [[:append z 1]]}
        {:process 90, :type :ok, :f :txn, :value [[:append z 1]]}
        {:process 90, :type :invoke, :f :txn, :value [[:append z 1]]}
        {:process 90, :type :ok, :f :txn, :value [[:append z 1]]}\n";
    let other = "{:process 90, :type :invoke, :f :txn, :value [[:append z 1]]}
        {:process 90, :type :ok, :f :txn, :value [[:append z 2]]}\n";
    let mut refused = 0;
    for seed in 0..200 {
        let mut random = Random(seed + 9_000);
        let (bugs, txns) = (bugs(&mut random), 3 + random.below(20));
        let level = ["strict-serializable", "serializable", "snapshot-isolation"][usize::try_from(seed % 3).unwrap()];
        let text = history(seed, txns, Bugs { odd: 0, failed: 0, ..bugs }, false);
        let text = if seed % 2 == 0 { twice.to_owned() + &text } else { other.to_owned() + &text };
        let checker = lists(level);
        let invalid = |ops: &usize| batch(&checker, &text, *ops).verdict == Verdict::Invalid;
        let first = (1..=text.lines().count()).find(invalid);
        let (run, found) = run(&checker, &text);
        assert_eq!(found, first, "{level}, seed {seed}\n{text}");
        let Some(first) = first else { continue };
        refused += 1;
        let report = run.violation().unwrap();
        let note = format!("the ops up to index {} show the violation", first - 1);
        assert!(report.notes.iter().any(|other| other.contains(&note)), "{level}, seed {seed}: {:?}", report.notes);
        assert_eq!(run.violations(), 1);
        assert_eq!(run.finish_early(&Budget::default()).unwrap().verdict, Verdict::Invalid);
    }
    assert!((50..190).contains(&refused), "{refused}");
}

/// With real time, no operation that begins later can have written the value.
#[test]
fn with_real_time_a_read_of_an_unwritten_value_counts_at_once() {
    let append = |kind| format!("{{:process 0, :type :{kind}, :f :txn, :value [[:append x 1]]}}\n");
    let mut text = [append("invoke"), append("ok"), append("invoke"), append("ok")].concat();
    text += "{:process 0, :type :invoke, :f :txn, :value [[:r y nil]]}
        {:process 0, :type :ok, :f :txn, :value [[:r y [2]]]}
        {:process 0, :type :invoke, :f :txn, :value [[:append z 1]]}\n";
    assert_eq!(run(&lists("strict-serializable"), &text).1, Some(6));
    assert_eq!(run(&lists("serializable"), &text).1, None);
}
