//! Slices: a part that is not linearizable decides the verdict, and the results for the others do not depend on
//! threads.

use check_register::models::{Kv, KvAction, KvOp};
use check_register::{Engine, Operation, Outcome, PartAnswer, Reason, Settings, check_with};
use history_core::{Budget, Verdict};

fn op(key: i64, action: KvAction) -> KvOp {
    KvOp { key, action }
}

/// Concurrent appends of this number of letters to a key, and then gets with these results.
fn appended(key: i64, letters: u8, found: &[&str]) -> Vec<Operation<KvOp>> {
    let letter = |at: u8| char::from(b'a' + at).to_string();
    let append = |at: u8| {
        let at_ns = 100 * key.unsigned_abs() + u64::from(at);
        Operation::new(i64::from(at), op(key, KvAction::Append(letter(at).into())), at_ns, 10_000 + at_ns)
    };
    let get = |(at, found): (u64, &&str)| {
        let at_ns = 20_000 + 100 * key.unsigned_abs() + 10 * at;
        Operation::new(0, op(key, KvAction::Get((*found).into())), at_ns, at_ns + 5)
    };
    (0..letters).map(append).chain((0..).zip(found).map(get)).collect()
}

/// A key to which twenty letters were appended at the same time, whose order takes long to find, and which is read in
/// two different orders.
fn endless(key: i64) -> Vec<Operation<KvOp>> {
    appended(key, 20, &["tsrqponmlkjihgfedcba", "abcdefghijklmnopqrst"])
}

/// A key whose value was never written.
fn stale(key: i64) -> Vec<Operation<KvOp>> {
    appended(key, 1, &["a", "b"])
}

fn judge(operations: &[Operation<KvOp>], engine: Engine) -> Vec<PartAnswer> {
    let settings = Settings { engine, ..Settings::default() };
    let budget = Budget::default().with_states_max(100_000_000);
    check_with(&Kv::default(), operations, settings, &budget).parts
}

fn verdicts(parts: &[PartAnswer]) -> Vec<Verdict> {
    parts.iter().map(|part| part.outcome.verdict()).collect()
}

#[test]
fn a_refused_part_does_not_affect_the_others() {
    let few = [endless(0), endless(1), stale(2), endless(3), stale(4)].concat();
    let of_few = judge(&few, Engine::Portfolio);
    use Verdict::{Invalid, Unknown};
    assert_eq!(verdicts(&of_few), [Unknown, Unknown, Invalid, Unknown, Invalid]);
    assert!([0, 1, 3].iter().all(|at| of_few[*at].outcome == Outcome::Unknown(Reason::OtherPart)), "{of_few:?}");
    // With so many more operations that several threads process parts.
    let busy = (0..22_000).map(|at| {
        let at_ns = 100_000 + 10 * at;
        Operation::new(0, op(5, KvAction::Put("a".into())), at_ns, at_ns + 5)
    });
    let many: Vec<Operation<KvOp>> = few.into_iter().chain(busy).collect();
    let of_many = judge(&many, Engine::Portfolio);
    assert_eq!(of_many[..5], of_few);
    assert_eq!(of_many[5].outcome.verdict(), Verdict::Valid);
}

#[test]
fn parts_that_take_more_than_a_slice_are_decided() {
    // More than 100,000 configurations each, all of which one engine visits.
    let slow = |key| appended(key, 8, &["hgfedcba"]);
    let parts = judge(&[slow(0), slow(1)].concat(), Engine::JustInTime);
    assert_eq!(verdicts(&parts), [Verdict::Valid; 2]);
    // A part is refused in a later slice, in which the others are decided too.
    let wrong = appended(1, 8, &["hgfedcbb"]);
    let parts = judge(&[slow(0), wrong, slow(2), endless(3)].concat(), Engine::JustInTime);
    assert_eq!(verdicts(&parts), [Verdict::Valid, Verdict::Invalid, Verdict::Valid, Verdict::Unknown]);
    assert_eq!(parts[3].outcome, Outcome::Unknown(Reason::OtherPart));
}

#[test]
fn a_budget_spent_on_one_part_hides_no_violation_of_another() {
    let budget = Budget::default().with_states_max(5_000);
    let answer = check_with(&Kv::default(), &[endless(0), stale(1)].concat(), Settings::default(), &budget);
    assert_eq!(verdicts(&answer.parts), [Verdict::Unknown, Verdict::Invalid]);
    assert_eq!(answer.verdict(), Verdict::Invalid);
}
