//! The rules of a model for the operations of a history, by class. Because this is a trait object, the search is
//! compiled once for all models.

use super::origins::Origin;
use super::part::Kind;
use super::transitions::Transitions;
use crate::engine::ids::ClassId;
use crate::monitor::{Collection, Handling};
use crate::{Access, Model};
use history_core::Budget;
use indexmap::set::Slice;

/// The queries to a model of any type: see [`Shortcuts`](crate::Shortcuts) for most of them.
pub(crate) trait Rules: Sync {
    /// How operations of each class are searched.
    fn kinds(&self) -> Vec<Kind>;

    /// The states and steps of the model.
    fn transitions<'r>(&'r self, budget: &'r Budget) -> Transitions<'r>;

    /// By class: the part of the object to which its operations belong. `None` if some class concerns the whole object.
    fn parts(&self) -> Option<Vec<u64>>;

    /// The kind of collection that the object is, with its initial content.
    fn collection(&self) -> Option<(Collection, Vec<i64>)>;

    /// The same as [`Shortcuts::effect`](crate::Shortcuts::effect).
    fn effect(&self, class: ClassId) -> Option<u64>;

    /// Returns true if the effect of a class lasts when the state changes again.
    fn effect_lasts(&self, class: ClassId) -> bool;

    /// The same as [`Shortcuts::sees`](crate::Shortcuts::sees).
    fn sees(&self, class: ClassId, effects: &mut Vec<u64>) -> bool;

    /// Returns true if an operation of one class may observe an operation of another.
    fn may_see(&self, class: ClassId, other: ClassId) -> bool;

    /// For each of these classes: whether states store its operations at their calls.
    fn pend(&self, classes: &[ClassId]) -> Vec<bool>;

    /// The effect of a class, unless it only reads, and the effect that it needs.
    fn origin(&self, class: ClassId, kind: Kind) -> Origin;

    /// The effect of a class on a register.
    fn access(&self, class: ClassId) -> Option<Access>;

    /// The initial value of a register.
    fn initial_access(&self) -> Option<i64>;

    /// The effect of a class on an element of a collection.
    fn handling(&self, class: ClassId) -> Option<Handling<'_>>;

    /// Returns true if a class works at the front of a deque.
    fn is_at_front(&self, class: ClassId) -> bool;

    /// The priority of an element.
    fn priority(&self, value: i64) -> i64;
}

/// A model with the operations of a history.
pub(crate) struct ModelRules<'m, M: Model> {
    model: &'m M,
    classes: &'m Slice<M::Op>,
}

impl<'m, M: Model> ModelRules<'m, M> {
    pub(crate) fn new(model: &'m M, classes: &'m Slice<M::Op>) -> ModelRules<'m, M> {
        ModelRules { model, classes }
    }

    fn op(&self, class: ClassId) -> &'m M::Op {
        &self.classes[class.at()]
    }
}

impl<M: Model> Rules for ModelRules<'_, M> {
    fn kinds(&self) -> Vec<Kind> {
        self.classes.iter().map(|op| Kind::of(self.model, op)).collect()
    }

    fn transitions<'r>(&'r self, budget: &'r Budget) -> Transitions<'r> {
        Transitions::new(self.model, self.classes, budget)
    }

    fn parts(&self) -> Option<Vec<u64>> {
        self.classes.iter().map(|op| self.model.shortcuts().part(op)).collect()
    }

    fn collection(&self) -> Option<(Collection, Vec<i64>)> {
        self.model.shortcuts().collection_of(&mut self.classes.iter())
    }

    fn effect(&self, class: ClassId) -> Option<u64> {
        self.model.shortcuts().effect(self.op(class))
    }

    fn effect_lasts(&self, class: ClassId) -> bool {
        let (shortcuts, op) = (self.model.shortcuts(), self.op(class));
        shortcuts.effect(op).is_none() || shortcuts.effect_lasts(op)
    }

    fn sees(&self, class: ClassId, effects: &mut Vec<u64>) -> bool {
        self.model.shortcuts().sees(self.op(class), effects)
    }

    fn may_see(&self, class: ClassId, other: ClassId) -> bool {
        self.model.shortcuts().may_see(self.op(class), self.op(other))
    }

    fn pend(&self, classes: &[ClassId]) -> Vec<bool> {
        let init = self.model.init();
        classes.iter().map(|class| self.model.shortcuts().pend(&init, self.op(*class)).is_some()).collect()
    }

    fn origin(&self, class: ClassId, kind: Kind) -> Origin {
        let (shortcuts, op) = (self.model.shortcuts(), self.op(class));
        let effect = if kind == Kind::Reads { None } else { shortcuts.effect(op) };
        Origin { effect, needs: shortcuts.needs(op) }
    }

    fn access(&self, class: ClassId) -> Option<Access> {
        self.model.shortcuts().access(self.op(class))
    }

    fn initial_access(&self) -> Option<i64> {
        self.model.shortcuts().initial_access()
    }

    fn handling(&self, class: ClassId) -> Option<Handling<'_>> {
        self.model.shortcuts().handling(self.op(class))
    }

    fn is_at_front(&self, class: ClassId) -> bool {
        self.model.shortcuts().is_at_front(self.op(class))
    }

    fn priority(&self, value: i64) -> i64 {
        self.model.shortcuts().priority(value)
    }
}
