//! Tests for both workloads: a run that is saved and restored after each event has the results of an uninterrupted run.

use super::unsaid::unsaid;
use super::{AT_ONCE, Bugs, NEVER, Random, bugs, history, one_after_another, online, sizes};
use crate::model::Model;
use crate::txn::online::judge::Judge;
use crate::txn::online::run::{OnlineRun, Sizes};
use history_core::state::Damaged;
use history_core::{Budget, History, Run as _, Saved};

/// A fresh run that continues from the state of this one.
fn again<J: Judge>(run: &OnlineRun<J>, mut fresh: OnlineRun<J>, history: &History) -> OnlineRun<J> {
    let Saved::State { state, first_ops } = run.save(usize::MAX) else { panic!("the run has a state") };
    for op in history.ops().take(usize::try_from(first_ops).unwrap()) {
        let _ = fresh.observe(&op).unwrap();
    }
    fresh.restore(&state).unwrap();
    assert_eq!(
        fresh.save(usize::MAX),
        Saved::State { state, first_ops },
        "a state contains everything that a run needs"
    );
    fresh
}

/// Compares the two runs after each event. Returns the number of ops that proved a violation.
fn compare<J: Judge>(text: &str, model: Model, settings: &J::Settings, sizes: Sizes, keeps_going: bool) -> u64 {
    let history = History::parse(text).unwrap();
    let new = || {
        let mut run = online::<J>(model, settings.clone(), sizes);
        if keeps_going {
            run.keep_going();
        }
        run
    };
    let (mut whole, mut parted) = (new(), new());
    for op in history.ops() {
        let flows = (whole.observe(&op).unwrap(), parted.observe(&op).unwrap());
        assert_eq!(flows.0, flows.1, "{model}, op {}\n{text}", op.index);
        parted = again(&parted, new(), &history);
        let violations = (whole.violations(), whole.is_violated(), whole.evidence());
        assert_eq!((parted.violations(), parted.is_violated(), parted.evidence()), violations, "{model}\n{text}");
    }
    assert_eq!(parted.violation(), whole.violation(), "{model}\n{text}");
    assert_eq!(parted.last_violation(), whole.last_violation(), "{model}\n{text}");
    let violations = whole.violations();
    let reports = [whole, parted].map(|run| Box::new(run).finish(&Budget::default()).unwrap());
    assert_eq!(reports[0], reports[1], "{model}\n{text}");
    violations
}

/// Tests random histories at these levels. Half of the runs continue after a violation.
pub(crate) fn at_every_event<J: Judge>(models: &[Model], settings: &J::Settings, is_register: bool) {
    let mut violations = 0;
    for seed in 0..120 {
        let mut random = Random(seed + 55_000);
        let (bugs, txns) = (bugs(&mut random), 3 + random.below(30));
        let mut text = history(seed, txns, bugs, is_register);
        if seed % 3 == 0 {
            text = unsaid(&text, &mut random, 2, true);
        }
        if seed % 3 == 1 {
            text = one_after_another(&text, &history(seed + 1, txns, Bugs::default(), is_register));
        }
        let model = models[usize::try_from(seed).unwrap() % models.len()];
        for (at, limits) in [NEVER, AT_ONCE].into_iter().enumerate() {
            // At first the batch checker has the whole history.
            let sizes = Sizes { batch_ops: [1, 8][at], ..sizes(limits) };
            violations += compare::<J>(&text, model, settings, sizes, seed % 2 == 0);
        }
    }
    assert!(violations > 100, "{violations}");
}

/// Tests runs in which keys are dropped and operations are given up.
pub(crate) fn at_limits<J: Judge>(settings: &J::Settings, is_register: bool) {
    for seed in 0..30 {
        let mut random = Random(seed + 66_000);
        let text = history(seed, 60, bugs(&mut random), is_register);
        let mut sizes = sizes(AT_ONCE);
        sizes.forgetting.txns = 4;
        (sizes.forgetting.values, sizes.forgetting.idle, sizes.forgetting.values_max) = (6, 4, 10);
        compare::<J>(&text, Model::STRICT_SERIALIZABLE, settings, sizes, seed % 2 == 0);
    }
}

/// Tests that no truncated or extended state can be restored, and that the limit on its size is respected.
pub(crate) fn damaged<J: Judge>(settings: &J::Settings, is_register: bool) {
    let text = history(5, 12, Bugs { stale: 100, ..Bugs::default() }, is_register);
    let new = || online::<J>("serializable".parse().unwrap(), settings.clone(), sizes(NEVER));
    let mut run = new();
    for op in History::parse(&text).unwrap().ops() {
        let _ = run.observe(&op).unwrap();
    }
    let Saved::State { state, .. } = run.save(usize::MAX) else { panic!("the run has a state") };
    assert_eq!(run.save(state.len()), run.save(usize::MAX));
    assert_eq!(run.save(state.len() - 1), Saved::TooLarge);
    for end in 0..state.len() {
        assert_eq!(new().restore(&state[..end]), Err(Damaged), "{end} bytes");
    }
    assert_eq!(new().restore(&[&state[..], &[0]].concat()), Err(Damaged));
    let mut other = state;
    other[0] += 1;
    assert_eq!(new().restore(&other), Err(Damaged), "another version");
}
