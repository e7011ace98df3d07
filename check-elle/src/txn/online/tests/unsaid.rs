//! Histories whose invocations do not contain their micro-ops: for tests of both workloads.

use super::{AT_ONCE, Bugs, NEVER, Random, batch, bugs, history, judge, sizes};
use crate::model::Model;
use crate::txn::online::judge::Judge;
use history_core::{Checker, Report, Verdict};

/// The history, with one in `one_in` operations invoked without micro-ops. If `never`, some of those that failed or
/// whose end is unknown never get micro-ops.
pub(crate) fn unsaid(text: &str, random: &mut Random, one_in: u64, never: bool) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let process = |line: &str| line.split(',').next().unwrap().to_owned();
    for at in 0..lines.len() {
        if !lines[at].contains(":invoke") || random.below(one_in) > 0 {
            continue;
        }
        let end = (at + 1..lines.len()).find(|end| process(&lines[*end]) == process(&lines[at]));
        let is_ok = end.is_some_and(|end| lines[end].contains(":ok"));
        if !is_ok && !never {
            continue;
        }
        let is_said = is_ok || random.below(3) == 0;
        for line in [Some(at), end.filter(|_| !is_said)].into_iter().flatten() {
            lines[line] = format!("{} nil}}", lines[line].split_once(" [").unwrap().0);
        }
    }
    lines.join("\n") + "\n"
}

fn is_garbage(report: &Report) -> bool {
    report.anomaly_types().any(|anomaly| anomaly == "garbage-read")
}

/// Tests that the judge reports such histories exactly when the batch checker does. Returns the number of violations.
pub(crate) fn prefixes<J: Judge>(
    checker: &dyn Checker,
    model: Model,
    settings: &J::Settings,
    is_register: bool,
    rounds: u64,
) -> u32 {
    let mut refused = 0;
    // An unwritten value may be written later, which only real time rules out.
    let has_times = model.name().starts_with("str") && !model.name().starts_with("strong-session");
    for seed in 0..rounds {
        let mut random = Random(seed + 77_000);
        let (mut bugs, txns) = (bugs(&mut random), 3 + random.below(20));
        bugs.odd *= 2;
        let one_in = [1, 2, 4][usize::try_from(seed % 3).unwrap()];
        let text = unsaid(&history(seed, txns, bugs, is_register), &mut random, one_in, seed % 2 == 0);
        let ops = text.lines().count();
        let reports = || (1..=ops).map(|ops| batch(checker, &text, ops));
        let invalid = |report: &Report| report.verdict == Verdict::Invalid;
        let first = reports().position(|report| invalid(&report));
        let sure = reports().position(|report| invalid(&report) && (has_times || !is_garbage(&report)));
        let whole = batch(checker, &text, ops);
        refused += u32::from(first.is_some());
        for limits in [NEVER, AT_ONCE] {
            let (found, verdict) = judge::<J>(&text, model, settings.clone(), sizes(limits));
            let at = format!("{model}, seed {seed}, {limits:?}");
            if let Some(found) = found.filter(|found| first.is_none_or(|first| *found < first)) {
                // The batch checker does not compare times, so an operation that began later may have written the
                // value.
                let so_far = batch(checker, &text, found + 1);
                assert!(has_times && so_far.notes[0].contains("no op says it wrote"), "{at}: {so_far:?}\n{text}");
            } else if sure == first {
                assert_eq!(found, first, "{at}\n{text}");
            } else {
                assert!(found.is_none() || found >= first, "{at}: a false alarm\n{text}");
            }
            assert!(verdict != Verdict::Valid || whole.verdict == Verdict::Valid, "{at}\n{text}");
            // The batch checker does not compare times here: an operation that began later, and whose writes are
            // unknown, may have written a value that was read before.
            assert!(
                found.is_some() || verdict != Verdict::Invalid || whole.verdict == Verdict::Invalid,
                "{at}\n{text}"
            );
            let is_known = !is_register && model == Model::STRICT_SERIALIZABLE && found.is_none();
            assert!(!is_known || verdict == whole.verdict, "{at}: {verdict:?} {:?}\n{text}", whole.verdict);
        }
    }
    refused
}

/// Tests long histories with rare faults whose completions contain the writes: discarding changes nothing, and the
/// batch checker agrees. Returns the number of violations.
pub(crate) fn forgetting<J: Judge>(
    checker: &dyn Checker,
    settings: &J::Settings,
    is_register: bool,
    rounds: u64,
) -> u32 {
    let mut refused = 0;
    for seed in 0..rounds {
        let mut random = Random(seed + 20_000);
        let txns = 300 + random.below(500);
        let mut rarely = || if random.below(3) == 0 { 1 + random.below(4) } else { 0 };
        let bugs = Bugs { torn: 5 * rarely(), stale: rarely(), lost: rarely(), odd: 0, failed: 0 };
        let text = history(seed, txns, bugs, is_register);
        let text = unsaid(&text, &mut random, 1 + seed % 2, false);
        let judged = |limits| judge::<J>(&text, Model::STRICT_SERIALIZABLE, settings.clone(), sizes(limits));
        let at_once = judged(AT_ONCE);
        assert_eq!(at_once.0, judged(NEVER).0, "seed {seed}");
        let ops = text.lines().count();
        let whole = batch(checker, &text, ops).verdict;
        assert_eq!(at_once.1 == Verdict::Invalid, whole == Verdict::Invalid, "seed {seed}");
        assert!(is_register || at_once.1 == whole, "seed {seed}");
        if let Some(op) = at_once.0 {
            refused += 1;
            let verdicts = [op, op + 1].map(|ops| batch(checker, &text, ops).verdict == Verdict::Invalid);
            assert_eq!(verdicts, [false, true], "seed {seed}");
        }
    }
    refused
}
