//! Compares bank with its definition: reads of every form, alone and in sequence.

use crate::common::{
    Event, anomalies, assert_sound, count, each_history, history, judge, random_history, read, story, verdict,
};
use check_jepsen::bank::Bank;
use history_core::{Checker as _, Datum, OpKind, Verdict};
use proptest::prelude::*;

type Balances = Vec<(Datum, Datum)>;

/// The first error that applies, by the definition.
fn error_of(read: &Balances, accounts: &[Datum], total: i64, negative: bool) -> Option<&'static str> {
    if read.iter().any(|(account, _)| !accounts.contains(account)) {
        return Some("unexpected-key");
    }
    if read.iter().any(|(_, balance)| *balance == Datum::Nil) {
        return Some("nil-balance");
    }
    let ints: Vec<i64> = read.iter().map(|(_, balance)| int(balance)).collect();
    if ints.iter().sum::<i64>() != total {
        return Some("wrong-total");
    }
    (!negative && ints.iter().any(|balance| *balance < 0)).then_some("negative-value")
}

fn int(datum: &Datum) -> i64 {
    let Datum::Int(int) = datum else { panic!("{datum}") };
    *int
}

fn expected(events: &[Event], options: &Bank) -> Vec<(&'static str, u64)> {
    let reads = events.iter().filter(|event| event.kind == OpKind::Ok && event.f == "read");
    let reads: Vec<&Balances> = reads
        .map(|event| {
            let Datum::Map(balances) = &event.value else { panic!("{event:?}") };
            balances
        })
        .collect();
    let Some(first) = reads.first() else { return Vec::new() };
    let accounts =
        options.accounts.clone().unwrap_or_else(|| first.iter().map(|(account, _)| account.clone()).collect());
    let good =
        |read: &&&Balances| read.iter().all(|(account, balance)| accounts.contains(account) && *balance != Datum::Nil);
    let sum = |read: &&Balances| read.iter().map(|(_, balance)| int(balance)).sum();
    let total = options.total_amount.unwrap_or_else(|| reads.iter().find(good).map_or(0, sum));
    let mut errors: Vec<(&str, u64)> = Vec::new();
    for read in reads {
        if let Some(error) = error_of(read, &accounts, total, options.allow_negative_balances) {
            match errors.iter_mut().find(|(name, _)| *name == error) {
                Some((_, count)) => *count += 1,
                None => errors.push((error, 1)),
            }
        }
    }
    errors.sort_unstable();
    errors
}

fn agrees(events: &[Event], options: &Bank) {
    let report = options.check(&history(events)).unwrap();
    assert_eq!(anomalies(&report), expected(events, options), "{events:?} {options:?}");
    assert_sound(&report, events);
    let shows = |event: &&Event| event.kind == OpKind::Ok && event.f == "read" && event.value != balances(&[]);
    let observed = events.iter().filter(shows).count() as u64;
    let wrong = report.anomalies.len() as u64;
    assert_eq!(report.verdict, verdict(&report, wrong, observed));
}

fn balances(of: &[(i64, Option<i64>)]) -> Datum {
    Datum::Map(of.iter().map(|(account, balance)| (Datum::from(*account), Datum::from(*balance))).collect())
}

/// Every read of up to two of three accounts, with balances from -1 to 2 or nil.
fn reads() -> Vec<Datum> {
    let some = [None, Some(-1), Some(0), Some(1), Some(2)];
    let mut all = vec![balances(&[])];
    for a in some {
        all.extend((0..3).map(|account| balances(&[(account, a)])));
        for b in some {
            all.extend([(0, 1), (0, 2), (1, 2)].map(|(x, y)| balances(&[(x, a), (y, b)])));
        }
    }
    all
}

fn options() -> Vec<Bank> {
    let accounts = Some(vec![Datum::from(0), Datum::from(1)]);
    let given = Bank { accounts, ..Bank::default() };
    let mut all = Vec::new();
    for base in [Bank::default(), given] {
        for total_amount in [None, Some(1)] {
            for allow_negative_balances in [false, true] {
                all.push(Bank { total_amount, allow_negative_balances, ..base.clone() });
            }
        }
    }
    all
}

#[test]
fn every_pair_of_reads_is_judged_as_defined() {
    let menu = [read("read", reads())];
    for options in options() {
        let count = each_history(&menu, 1, 4, &mut |events| agrees(events, &options));
        assert!(count > 8_000, "{count}");
    }
}

proptest! {
    #[test]
    fn random_reads_are_judged_as_defined(numbers in prop::collection::vec((0..4u8, any::<u8>()), 0..60), at in 0..8usize) {
        let transfer = crate::common::item("transfer", 3, &[OpKind::Ok, OpKind::Fail, OpKind::Info]);
        let events = random_history(&[read("read", reads()), transfer], 4, &numbers);
        agrees(&events, &options()[at]);
    }
}

#[test]
fn what_a_person_reads() {
    let text = r#"
        {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value {0 10, 1 10}}
        {:process 1, :type :invoke, :f :read} {:process 1, :type :ok, :f :read, :value {0 9, 1 10}}
        {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value {0 90, 1 10}}
        {:process 1, :type :invoke, :f :read} {:process 1, :type :ok, :f :read, :value {0 12, 1 10}}
        {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value {0 -5, 1 25}}
        {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value {0 10, 1 nil}}
        {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value {0 10, 2 5, "x" 5}}
        {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value {0 20}}
    "#;
    insta::assert_snapshot!(story(&judge(&Bank::default(), &[], text)));
}

#[test]
fn options_by_name_say_what_to_expect() {
    let text = "{:process 0, :type :ok, :f :read, :value {0 11, 1 -1}}";
    let judge = |options: &[(&str, &str)]| judge(&Bank::default(), options, text);
    assert_eq!(anomalies(&judge(&[])), [("negative-value", 1)]);
    assert_eq!(judge(&[("allow-negative-balances", "true")]).verdict, Verdict::Valid);
    assert_eq!(anomalies(&judge(&[("total-amount", "11")])), [("wrong-total", 1)]);
    assert_eq!(judge(&[("total-amount", "10"), ("allow-negative-balances", "true")]).verdict, Verdict::Valid);
}

#[test]
fn keys_of_json_objects_are_accounts_all_the_same() {
    let text = r#"{"process":0,"type":"ok","f":"read","value":{"0":5,"1":5}}
                  {"process":0,"type":"ok","f":"read","value":{"1":6,"0":4}}"#;
    let report = judge(&Bank::default(), &[], text);
    assert_eq!((report.verdict, count(&report, "account-count")), (Verdict::Valid, 2));
    let accounts = Some(vec![Datum::from(0), Datum::from("1")]);
    assert_eq!(judge(&Bank { accounts, ..Bank::default() }, &[], text).verdict, Verdict::Valid);
    // Texts that only resemble integers remain distinct.
    let text = r#"{"process":0,"type":"ok","f":"read","value":{"01":5,"1":5,"-0":1,"0":1}}"#;
    assert_eq!(count(&judge(&Bank::default(), &[], text), "account-count"), 4);
}

#[test]
fn balances_may_be_huge() {
    let text = "{:process 0, :type :ok, :f :read, :value {0 99999999999999999999999, 1 9223372036854775807}}
                {:process 0, :type :ok, :f :read, :value {0 100000000000000000000000, 1 9223372036854775806}}";
    assert_eq!(judge(&Bank::default(), &[], text).verdict, Verdict::Valid);
    let text = text.replace("806", "807");
    let report = judge(&Bank::default(), &[], &text);
    assert_eq!(anomalies(&report), [("wrong-total", 1)]);
    assert!(report.anomalies[0].witnesses[0].explanation.contains(": 1 too much"), "{report:?}");
}

#[test]
fn what_cannot_be_read_is_unknown_unless_the_rest_is_wrong() {
    let good = "{:process 0, :type :ok, :f :read, :value {0 5}}";
    let wrong = "{:process 0, :type :ok, :f :read, :value {0 6}}";
    for (value, reason) in [
        ("nil", "expected a map of account to balance, found nil"),
        ("[1 2]", "found a vector"),
        ("{0 1.5}", "expected an integer of at most 128 bits as the balance of 0, found 1.5"),
        ("{0 \"5\"}", "expected an integer of at most 128 bits as the balance of 0, found \"5\""),
        ("{0 5, \"0\" 5}", "contains the account \"0\" twice"),
        ("{0 1000000000000000000000000000000000000000}", "expected an integer of at most 128 bits"),
    ] {
        let odd = format!("{{:process 0, :type :ok, :f :read, :value {value}}}");
        let report = judge(&Bank::default(), &[], &format!("{good}\n{odd}\n{odd}\n{good}"));
        assert_eq!(report.verdict, Verdict::Unknown, "{value}");
        assert!(report.notes[0].contains("at index 1 (line 2)"), "{:?}", report.notes);
        assert!(report.notes[0].contains(reason), "{:?}", report.notes);
        assert!(report.notes[0].contains("One more op has a problem of this kind"), "{:?}", report.notes);
        let report = judge(&Bank::default(), &[], &format!("{good}\n{odd}\n{wrong}"));
        assert_eq!(anomalies(&report), [("wrong-total", 1)], "{value}");
        // Without a first read the accounts are unknown, but two different sums cannot both be the total.
        let report = judge(&Bank::default(), &[], &format!("{odd}\n{good}\n{wrong}"));
        assert_eq!(anomalies(&report), [("wrong-total", 1)], "{value}");
        assert!(report.notes[0].starts_with("The verdict ignores the op at index 0"), "{:?}", report.notes);
        let report = judge(&Bank::default(), &[], &format!("{odd}\n{good}\n{good}"));
        assert_eq!(report.verdict, Verdict::Unknown, "{value}");
    }
}

#[test]
fn other_ops_are_passed_over() {
    let text = "{:process :nemesis, :type :info, :f :read, :value :kill}
                {:process 0, :type :invoke, :f :read} {:process 0, :type :fail, :f :read, :value {0 6}}
                {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value {0 5}}
                {:process 0, :type :invoke, :f :transfer, :value 7} {:process 0, :type :ok, :f :transfer, :value 7}
                {:process 0, :type :invoke, :f :read} {:process 0, :type :info, :f :read, :value {0 6}}
                {:process 1, :type :invoke, :f :read}";
    let report = judge(&Bank::default(), &[], text);
    assert_eq!((report.verdict, count(&report, "read-count")), (Verdict::Valid, 1));
    assert_eq!(count(&report, "nonclient-op-count"), 1);
    let report = judge(&Bank::default(), &[], "{:process 0, :type :ok, :f :txn}");
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("supports none of the 1 client ops"), "{:?}", report.notes);
}
