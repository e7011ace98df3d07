//! Learning from contradictions: finds decided orders that together are impossible, and the decision to revoke.
//!
//! Starting from the orders on which a contradiction is based, the latest order is repeatedly replaced by those from
//! which it follows, until only one order of the latest level is left (the first unique implication point). The
//! remaining orders together are impossible. This is a clause, all but one of whose literals are false at the level to
//! go back to, so the last one follows. Marques-Silva and Sakallah, "GRASP" (1996); Moskewicz et al., "Chaff" (2001).
//! An order follows from the orders on the path that made a rule fire, so every clause has a derivation that can be
//! verified step by step.

use super::paths::{Paths, Step, Teller};
use super::state::{Conflict, NONE, Reason, State, reverse};
use crate::evidence::{Before, Fact, Item, Lemma, Refutation};
use history_core::cast::Cast as _;
use history_core::hash::HashMap;
use std::collections::BTreeSet;

/// The maximum number of steps of lemmas that are kept.
const LEMMA_STEPS_MAX: usize = 1 << 22;

/// Orders that together are impossible, learned from a contradiction.
#[derive(Debug)]
pub(super) struct Clause {
    /// At least one of these orders holds.
    pub(super) literals: Vec<Before>,
    /// Its derivation, unless that would be too large.
    lemma: Option<Lemma>,
    /// The clauses, and the orders decided without assumptions, on which it is based.
    rests_on: (Vec<u32>, Vec<Before>),
    moment: u64,
}

/// All learned clauses.
#[derive(Debug, Default)]
pub(super) struct Learned {
    pub(super) clauses: Vec<Clause>,
    /// For each order, the clauses that watch it, because it makes one of their literals false.
    watches: HashMap<Before, Vec<u32>>,
    paths: Paths,
    steps: usize,
    /// The number of literals in all clauses.
    pub(super) literals: usize,
}

/// The consequence of a contradiction.
pub(super) enum Lesson {
    /// It depends on no assumption.
    Refuted(Refutation),
    /// Go back to this level and decide this order.
    Decide { level: u32, order: Before, clause: u32 },
}

/// The state of the search from a contradiction to a clause.
#[derive(Default)]
struct Analysis {
    /// Orders of the latest level that are still to be replaced.
    pending: BTreeSet<u32>,
    /// Orders of lower levels.
    lower: BTreeSet<u32>,
    /// Orders that were replaced, with the path that each follows from.
    replaced: Vec<(u32, Vec<Step>)>,
    clauses: Vec<u32>,
    ground: BTreeSet<u32>,
}

impl Learned {
    /// The orders on which a decided order or a contradiction is based, given its path of arcs.
    fn rests_on(
        state: &State<'_>,
        steps: &[Step],
        clause: Option<u32>,
        own: Option<Before>,
        clauses: &[Clause],
    ) -> Vec<u32> {
        let mut all: Vec<u32> = steps.iter().map(|step| step.2).filter(|why| *why != NONE).collect();
        if let Some(clause) = clause {
            let others = clauses[clause.to_usize()].literals.iter().filter(|literal| Some(**literal) != own);
            all.extend(others.filter_map(|literal| state.numbers.get(&reverse(*literal)).copied()));
        }
        all
    }

    fn of_decided(&mut self, state: &mut State<'_>, number: u32) -> (Vec<u32>, Vec<Step>, Option<u32>) {
        let steps = self.paths.of_decided(state, number);
        let decided = state.decided[number.to_usize()];
        let clause = if let Reason::Clause(clause) = decided.reason { Some(clause) } else { None };
        let rests = Learned::rests_on(state, &steps, clause, Some(decided.order), &self.clauses);
        (rests, steps, clause)
    }

    /// Learns from a contradiction.
    pub(super) fn learn(&mut self, state: &mut State<'_>, teller: &Teller<'_>, conflict: Conflict) -> Lesson {
        let cycle = self.paths.of_conflict(state, conflict);
        let clause = if let Conflict::Clause(clause) = conflict { Some(clause) } else { None };
        let seeds = Learned::rests_on(state, &cycle, clause, None, &self.clauses);
        let level_of = |state: &State<'_>, number: u32| state.decided[number.to_usize()].level;
        let mut analysis = Analysis { clauses: clause.into_iter().collect(), ..Analysis::default() };
        let below = self.below_newest(state, conflict, &seeds, &mut analysis);
        let latest = below.iter().map(|number| level_of(state, *number)).max().unwrap_or(0);
        if latest == 0 {
            return Lesson::Refuted(self.refute(state, teller, conflict, &cycle, &seeds));
        }
        analysis.add(state, latest, &below);
        while analysis.pending.len() > 1 {
            let number = analysis.pending.pop_last().expect("more than one");
            let (rests, steps, clause) = self.of_decided(state, number);
            analysis.replaced.push((number, steps));
            analysis.clauses.extend(clause);
            analysis.add(state, latest, &rests);
        }
        let last = analysis.pending.pop_last().expect("one is left, as the level's first order was assumed");
        let back_to = analysis.lower.iter().map(|number| level_of(state, *number)).max().unwrap_or(0);
        // The second literal is one of the level to go back to, so that the two watched literals are the last to become
        // false.
        let mut lower: Vec<u32> = analysis.lower.iter().copied().collect();
        lower.sort_by_key(|number| std::cmp::Reverse(level_of(state, *number)));
        let assumed: Vec<Before> =
            std::iter::once(last).chain(lower).map(|number| state.decided[number.to_usize()].order).collect();
        let lemma = self.lemma(state, teller, conflict, &cycle, &assumed, &mut analysis);
        state.moment += 1;
        let literals: Vec<Before> = assumed.iter().map(|order| reverse(*order)).collect();
        let order = literals[0];
        let number = self.clauses.len().to_u32();
        self.literals += literals.len();
        if literals.len() > 1 {
            for literal in &literals[..2] {
                self.watches.entry(reverse(*literal)).or_default().push(number);
            }
        }
        let ground = analysis.ground.iter().map(|number| state.decided[number.to_usize()].order).collect();
        self.clauses.push(Clause { literals, lemma, rests_on: (analysis.clauses, ground), moment: state.moment });
        Lesson::Decide { level: back_to, order, clause: number }
    }

    /// The orders on which a contradiction is based, with the newest one replaced by those from which it follows. The
    /// opposite of the newest order was already known, so a clause that contains it would always hold.
    fn below_newest(
        &mut self,
        state: &mut State<'_>,
        conflict: Conflict,
        seeds: &[u32],
        analysis: &mut Analysis,
    ) -> Vec<u32> {
        let mut below = seeds.to_vec();
        let Conflict::Arc { why, .. } = conflict else { return below };
        let is_newest = why != NONE && why.to_usize() + 1 == state.decided.len();
        if is_newest && state.decided[why.to_usize()].reason != Reason::Guess {
            let (rests, steps, clause) = self.of_decided(state, why);
            analysis.replaced.push((why, steps));
            analysis.clauses.extend(clause);
            below.retain(|number| *number != why);
            below.extend(rests);
        }
        below
    }

    /// The derivation of a clause, if there is room for it.
    fn lemma(
        &mut self,
        state: &State<'_>,
        teller: &Teller<'_>,
        conflict: Conflict,
        cycle: &[Step],
        assumed: &[Before],
        analysis: &mut Analysis,
    ) -> Option<Lemma> {
        let size: usize = analysis.replaced.iter().map(|(_, steps)| steps.len() + 1).sum();
        self.steps += size + cycle.len();
        if self.steps > LEMMA_STEPS_MAX {
            return None;
        }
        analysis.replaced.sort_unstable_by_key(|(number, _)| *number);
        let fact = |(number, steps): &(u32, Vec<Step>)| Fact {
            order: state.decided[number.to_usize()].order,
            because: teller.because(state, *number, steps, u32::to_usize),
        };
        let facts = analysis.replaced.iter().map(fact).collect();
        let cycle = teller.conflict_links(state, conflict, cycle);
        let by = if let Conflict::Clause(clause) = conflict { Some(clause.to_usize()) } else { None };
        Some(Lemma { assumed: assumed.to_vec(), facts, cycle, by })
    }

    /// Examines the clauses of which a decided order makes a literal false.
    pub(super) fn notice(&mut self, state: &mut State<'_>, order: Before) -> Result<(), Conflict> {
        let Some(watching) = self.watches.remove(&order) else { return Ok(()) };
        let falsified = reverse(order);
        let mut kept = Vec::with_capacity(watching.len());
        let mut found = Ok(());
        for number in watching {
            if found.is_err() {
                kept.push(number);
                continue;
            }
            state.steps += 1;
            let literals = &mut self.clauses[number.to_usize()].literals;
            if literals[0] == falsified {
                literals.swap(0, 1);
            }
            let first = literals[0];
            if state.value(first) == Some(true) {
                kept.push(number);
                continue;
            }
            let other = (2..literals.len()).find(|at| state.value(literals[*at]) != Some(false));
            if let Some(at) = other {
                literals.swap(1, at);
                let watch = reverse(literals[1]);
                self.watches.entry(watch).or_default().push(number);
                continue;
            }
            kept.push(number);
            found = match state.value(first) {
                Some(_) => Err(Conflict::Clause(number)),
                None => state.assert(first, Reason::Clause(number)),
            };
        }
        self.watches.entry(order).or_default().extend(kept);
        found
    }

    /// The derivation of a contradiction that depends on no assumption: the orders and lemmas that it needs, in their
    /// order.
    fn refute(
        &mut self,
        state: &mut State<'_>,
        teller: &Teller<'_>,
        conflict: Conflict,
        cycle: &[Step],
        seeds: &[u32],
    ) -> Refutation {
        let mut orders: Vec<u32> = seeds.to_vec();
        let mut clauses: Vec<u32> = if let Conflict::Clause(clause) = conflict { vec![clause] } else { Vec::new() };
        let (mut known_orders, mut known_clauses) = (BTreeSet::new(), BTreeSet::new());
        let mut facts: Vec<(u64, u32, Vec<Step>)> = Vec::new();
        loop {
            if let Some(number) = orders.pop() {
                if known_orders.insert(number) {
                    let (rests, steps, clause) = self.of_decided(state, number);
                    facts.push((state.decided[number.to_usize()].moment, number, steps));
                    orders.extend(rests);
                    clauses.extend(clause);
                }
            } else if let Some(number) = clauses.pop() {
                if known_clauses.insert(number) {
                    let (others, ground) = &self.clauses[number.to_usize()].rests_on;
                    clauses.extend(others);
                    orders.extend(ground.iter().filter_map(|order| state.numbers.get(order).copied()));
                }
            } else {
                break;
            }
        }
        let mut items: Vec<(u64, bool, u32)> =
            facts.iter().enumerate().map(|(at, fact)| (fact.0, true, at.to_u32())).collect();
        items.extend(known_clauses.iter().map(|number| (self.clauses[number.to_usize()].moment, false, *number)));
        items.sort_unstable();
        // Lemmas are numbered in the order in which they appear.
        let lemmas: Vec<u32> = items.iter().filter(|item| !item.1).map(|item| item.2).collect();
        let number_of = |clause: u32| lemmas.iter().position(|lemma| *lemma == clause).unwrap_or(usize::MAX);
        let mut refutation = Refutation::of_facts((state.shape.axiom, teller.base), Vec::new(), Vec::new());
        for (_, is_fact, at) in items {
            if is_fact {
                let (_, number, steps) = &facts[at.to_usize()];
                let because = teller.because(state, *number, steps, number_of);
                let order = state.decided[number.to_usize()].order;
                refutation.items.push(Item::Fact(Fact { order, because }));
            } else if let Some(lemma) = &self.clauses[at.to_usize()].lemma {
                refutation.items.push(Item::Lemma(lemma.renumbered(|clause| number_of(clause.to_u32()))));
            } else {
                refutation.is_complete = false;
            }
        }
        refutation.cycle = teller.conflict_links(state, conflict, cycle);
        refutation.by = if let Conflict::Clause(clause) = conflict { Some(number_of(clause)) } else { None };
        if !refutation.is_complete {
            refutation.items.clear();
        }
        refutation.plain()
    }
}

impl Analysis {
    fn add(&mut self, state: &State<'_>, latest: u32, numbers: &[u32]) {
        for number in numbers {
            match state.decided[number.to_usize()].level {
                0 => _ = self.ground.insert(*number),
                level if level == latest => {
                    self.pending.insert(*number);
                }
                _ => _ = self.lower.insert(*number),
            }
        }
    }
}
