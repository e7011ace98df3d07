//! The law of all shortcuts together: the search finds a linearization exactly if trying all orders does, and the model
//! admits the order that it returns.

use super::{Broken, World};
use crate::{Engine, Operation, Outcome, Settings, check_with};

/// The maximum number of histories that are tried.
const HISTORIES_MAX: usize = 4_000;

impl World<'_> {
    /// Tries histories in which two operations overlap others: both return, or crash, or one of each.
    pub(super) fn breaks_search(&self) -> Option<Broken> {
        let all: Vec<usize> = (0..self.ops).collect();
        let words = Self::words(&all, 1);
        let pairs: Vec<(usize, usize)> = all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b))).collect();
        let shapes = [(true, true), (true, false), (false, false)];
        let count = words.len() * pairs.len() * shapes.len();
        // The step is odd, which spreads the histories over all combinations.
        let step = (count / HISTORIES_MAX).max(1) | 1;
        (0..count).step_by(step).find_map(|at| {
            let (at, shape) = (at / shapes.len(), shapes[at % shapes.len()]);
            self.breaks_one(pairs[at % pairs.len()], shape, &words[at / pairs.len()])
        })
    }

    fn breaks_one(&self, (a, b): (usize, usize), returns: (bool, bool), word: &[usize]) -> Option<Broken> {
        let len = u64::try_from(word.len()).unwrap_or(u64::MAX / 8);
        let mut order = vec![a, b];
        let operation = |op: usize, call: u64, ret: Option<u64>| {
            let operation = Operation::crashed(0, op, call);
            Operation { ret, ..operation }
        };
        // The first operation ends after half of the others, the second one after all.
        let mut history = vec![
            operation(a, 0, returns.0.then_some(10 * (len / 2) + 15)),
            operation(b, 1, returns.1.then_some(10 * len + 30)),
        ];
        for (at, op) in (1..).zip(word) {
            history.push(operation(*op, 10 * at, Some(10 * at + 1)));
            order.push(*op);
        }
        let settings = Settings { engine: Engine::JustInTime, ..Settings::default() };
        let answer = check_with(&self.model, &history, settings, &self.budget);
        let is_parted = answer.parts.len() > 1;
        let mut found = Ok(());
        for part in &answer.parts {
            match &part.outcome {
                Outcome::Linearizable(shown) => {
                    let named: Vec<usize> = shown.iter().map(|at| order[*at]).collect();
                    let is_all =
                        (0..history.len()).all(|at| is_parted || history[at].ret.is_none() || shown.contains(&at));
                    if !is_all || !self.admits(self.model.init(), &named) {
                        let names: Vec<String> = named.iter().map(|op| self.name(*op)).collect();
                        let found = format!("the order {}", names.join(", "));
                        let expected = "an order of all returned operations that the steps admit".into();
                        return Some(self.broken("settle", self.model.init(), &order, (expected, found)));
                    }
                }
                Outcome::Refused(_) => found = Err(()),
                Outcome::Unknown(_) => return None,
            }
        }
        let is_linearizable = self.is_linearizable(&history, &order, self.model.init(), &mut vec![false; order.len()]);
        if found.is_ok() == is_linearizable {
            return None;
        }
        let say = |is: bool| if is { "an order" } else { "no order" };
        let how = |returns: bool| if returns { "returns" } else { "crashes" };
        let expected = format!(
            "{} of all returned operations; the first two overlap the others, the first {}, the second {}",
            say(is_linearizable),
            how(returns.0),
            how(returns.1)
        );
        Some(self.broken("shortcuts", self.model.init(), &order, (expected, say(found.is_ok()).into())))
    }

    /// Returns true if the remaining operations can be placed in some order. Crashed ones need not be placed.
    fn is_linearizable(
        &self,
        history: &[Operation<usize>],
        ops: &[usize],
        state: usize,
        placed: &mut Vec<bool>,
    ) -> bool {
        let left = |placed: &[bool]| -> Vec<usize> { (0..ops.len()).filter(|at| !placed[*at]).collect() };
        let left = left(placed);
        let Some(first) = left.iter().filter_map(|at| history[*at].ret).min() else { return true };
        left.into_iter().filter(|at| history[*at].call <= first).any(|at| {
            placed[at] = true;
            let next = self.step(&[state], ops[at]);
            let is_it = next.into_iter().any(|state| self.is_linearizable(history, ops, state, placed));
            placed[at] = false;
            is_it
        })
    }
}
