//! Slices: the parts of an object are searched in turn, so that no part is searched for long if another one is not
//! linearizable.
//!
//! Every part gets the same slices, counted in turns of the engines and so in steps of the model. When some part is
//! refused in a slice, the parts that are undecided at its end are not searched further. So the result is the same on
//! any number of threads.
//!
//! A part that needs a further slice is searched again from its beginning, because paused engines would keep their
//! memory. Each slice is many times as long as all slices before, so that costs little.

use crate::engine::ids;
use crate::engine::ids::ClassId;
use crate::explain::find_evidence;
use crate::history::{Calls, Columns, Parts};
use crate::monitor::{Collection, Object};
use crate::search::part::Kind;
use crate::search::part::visible::Visibility;
use crate::search::rules::{ModelRules, Rules};
use crate::search::transitions::Transitions;
use crate::search::{Decision, Limits, Question};
use crate::{Answer, End, Model, Outcome, PartAnswer, Reason, Refusal, Settings};
use history_core::{Budget, parallel};

/// The number of turns by which a slice is longer than the one before. Each turn lets the engines go four times as far.
const TURNS: u32 = 3;

/// The results for the parts so far.
#[derive(Debug, Default)]
pub(crate) struct Slices {
    /// The names of the parts; `None` for the whole object. Empty before the first slice.
    names: Vec<Option<u64>>,
    /// By part: its outcome; `None` if it is not decided.
    outcomes: Vec<Option<Outcome>>,
    /// The number of slices taken.
    taken: u32,
}

impl Slices {
    /// Returns true if all parts are decided.
    pub(crate) fn is_done(&self) -> bool {
        self.taken > 0 && self.outcomes.iter().all(Option::is_some)
    }

    /// Returns true if some part is not linearizable.
    pub(crate) fn is_refused(&self) -> bool {
        self.outcomes.iter().any(|outcome| matches!(outcome, Some(Outcome::Refused(_))))
    }

    /// Takes slices until all parts are decided or some part is not linearizable.
    pub(crate) fn take_all<M: Model>(
        &mut self,
        model: &M,
        columns: &Columns<M::Op>,
        settings: Settings,
        budget: &Budget,
    ) {
        let rules = ModelRules::new(model, columns.classes.as_slice());
        let search = Search::new(&rules, &columns.calls, settings, budget);
        while !self.is_done() && !self.is_refused() {
            self.take_of(&search, true);
        }
    }

    /// Takes the next slice.
    pub(crate) fn take<M: Model>(&mut self, model: &M, columns: &Columns<M::Op>, settings: Settings, budget: &Budget) {
        let rules = ModelRules::new(model, columns.classes.as_slice());
        self.take_of(&Search::new(&rules, &columns.calls, settings, budget), false);
    }

    /// Takes the next slice of all undecided parts. If only one is left and `may_end`, it is searched to the end.
    fn take_of(&mut self, search: &Search<'_>, may_end: bool) {
        if self.taken == 0 {
            self.names.clone_from(&search.parts.names);
            self.outcomes.resize_with(self.names.len(), || None);
        }
        let left: Vec<usize> = (0..self.outcomes.len()).filter(|at| self.outcomes[*at].is_none()).collect();
        let turns_max = (left.len() > 1 || !may_end).then_some(1 + TURNS * self.taken);
        let worth = search.calls.len() > parallel::WORTH_OPS;
        let found = parallel::map_with(
            worth,
            left.len(),
            || search.transitions(),
            |transitions, at| {
                if self.taken > 0 {
                    // The memory available to a part must not depend on the other parts that its thread searched.
                    *transitions = search.transitions();
                }
                search.decide(left[at], transitions, turns_max)
            },
        );
        for (at, outcome) in left.into_iter().zip(found) {
            self.outcomes[at] = outcome;
        }
        self.taken += 1;
    }

    /// The results as an answer.
    pub(crate) fn into_answer<M: Model>(self, model: &M) -> Answer {
        let part = |(name, outcome): (Option<u64>, Option<Outcome>)| PartAnswer {
            part: name.map(|name| model.describe_part(name)),
            outcome: outcome.unwrap_or(Outcome::Unknown(Reason::OtherPart)),
        };
        Answer { parts: self.names.into_iter().zip(self.outcomes).map(part).collect() }
    }
}

/// The data and the settings of a search.
struct Search<'a> {
    rules: &'a dyn Rules,
    calls: &'a Calls,
    parts: Parts<'a>,
    /// By class.
    kinds: Vec<Kind>,
    settings: Settings,
    budget: &'a Budget,
    collection: Option<Collection>,
    /// The initial content.
    contents: Vec<i64>,
}

impl<'a> Search<'a> {
    fn new(rules: &'a dyn Rules, calls: &'a Calls, settings: Settings, budget: &'a Budget) -> Search<'a> {
        let kinds = rules.kinds();
        let (collection, mut contents) =
            rules.collection().map_or((None, Vec::new()), |(one, holds)| (Some(one), holds));
        if collection == Some(Collection::Bag) {
            contents.sort_unstable();
        }
        Search { rules, calls, parts: calls.by_part(kinds.len(), rules), kinds, settings, budget, collection, contents }
    }

    fn transitions(&self) -> Transitions<'a> {
        self.rules.transitions(self.budget)
    }

    /// Decides a part; `None` if that takes more turns.
    fn decide(&self, at: usize, transitions: &mut Transitions<'a>, turns_max: Option<u32>) -> Option<Outcome> {
        // Each part has its own limits, so that its memory does not depend on the other parts that its thread searched.
        let limits = Limits::new(self.budget, self.settings.configurations_max);
        let mut part = self.parts.get(at);
        if !part.crashed.is_empty() {
            part.visibility = Visibility::new(&part, self.rules);
        }
        let more_transitions = || self.transitions();
        let handling = |op: usize| self.rules.handling(part.ops[op].class);
        let priority = |value: i64| self.rules.priority(value);
        let is_front = |op: usize| self.rules.is_at_front(part.ops[op].class);
        let object = self.collection.map(|collection| Object {
            collection,
            initial: &self.contents,
            priority: &priority,
            is_front: &is_front,
            handling: &handling,
            is_part: self.parts.names[at].is_some(),
        });
        let mut question = Question {
            part: &part,
            transitions,
            more_transitions: &more_transitions,
            kinds: &self.kinds,
            origin: &|class| self.rules.origin(class, self.kinds[class.at()]),
            access: &|class: ClassId| self.rules.access(class),
            initial: self.rules.initial_access(),
            object: object.as_ref(),
            limits: &limits,
            engine: self.settings.engine,
        };
        let of_part = |op: u32| part.ids[ids::index(op)].at();
        Some(match question.decide(turns_max)? {
            Decision::Linearizable(order) => Outcome::Linearizable(order.into_iter().map(of_part).collect()),
            Decision::Unknown(reason) => Outcome::Unknown(reason),
            Decision::Refused(refused) => {
                let evidence = find_evidence(&part, &refused, (transitions, &more_transitions), &self.kinds);
                let end =
                    |(state, order): (String, Vec<u32>)| End { state, order: order.into_iter().map(of_part).collect() };
                Outcome::Refused(Refusal {
                    op: of_part(evidence.op),
                    is_first: refused.is_first,
                    last: evidence.last.map(of_part),
                    ends: evidence.ends.into_iter().map(end).collect(),
                    others: evidence.others.into_iter().map(|order| order.into_iter().map(of_part).collect()).collect(),
                    more_ends: evidence.more_ends,
                    all_ends: evidence.all_ends,
                    conflict: refused.conflict.as_ref().map(|conflict| conflict.map(of_part)),
                })
            }
        })
    }
}
