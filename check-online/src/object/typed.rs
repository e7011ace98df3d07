//! An object of one model, whose inputs and results are operations of the model.

use super::{AnyObject, ObjectOf};
use crate::engine::ops::{Event, OpIx};
use crate::engine::rules::ModelRules;
use crate::violation::Violation;
use crate::{OnlineModel, Outcome};
use check_register::engine::ids::ClassId;
use history_core::Budget;
use std::sync::Arc;

/// The check of an object's history so far.
pub(crate) struct Object<M: OnlineModel> {
    object: ObjectOf<ModelRules<M>>,
    violations: Vec<Arc<Violation<M::Op>>>,
}

impl<M: OnlineModel> Object<M> {
    pub(crate) fn new(model: M, configurations_max: usize, lag_max: usize) -> Object<M> {
        let object = ObjectOf::new(ModelRules::new(model), configurations_max, lag_max);
        Object { object, violations: Vec::new() }
    }

    /// Processes the call of an operation. `event` is one of the three events of calls.
    #[inline]
    pub(crate) fn call(&mut self, client: i64, start: u64, finish: u64, op: Option<&M::Op>, event: Event) -> OpIx {
        let class = self.class(op);
        let ix = self.any_mut().call(client, start, finish, class, event);
        self.note();
        ix
    }

    /// Processes another event of an operation that was called.
    #[inline]
    pub(crate) fn happen(&mut self, op: OpIx, event: Event) {
        self.any_mut().happen(op, event);
        self.note();
    }

    /// Makes all pending decisions: no more events will follow.
    pub(crate) fn conclude(&mut self, budget: &Budget) {
        self.any_mut().conclude(budget);
        self.note();
    }

    /// The class of an operation, for an event.
    pub(crate) fn class(&mut self, op: Option<&M::Op>) -> Option<ClassId> {
        op.map(|op| self.object.world.table.rules.class(op))
    }

    /// Records the violations that were found last.
    #[inline]
    fn note(&mut self) {
        if self.object.begins_again {
            self.object.begins_again = false;
            self.violations.clear();
        }
        let rules = &self.object.world.table.rules;
        for found in &self.object.violations[self.violations.len()..] {
            self.violations.push(Arc::new(found.with_ops(|class| rules.op(class).clone())));
        }
    }

    /// The outcome so far.
    pub(crate) fn outcome(&self) -> Outcome<M::Op> {
        match (self.violations.first(), self.object.unknown) {
            (Some(violation), _) => Outcome::Violation(violation.clone()),
            (None, Some(reason)) => Outcome::Unknown(reason),
            (None, None) => Outcome::Ok,
        }
    }

    /// One violation per part, for the first parts.
    pub(crate) fn violations(&self) -> &[Arc<Violation<M::Op>>] {
        &self.violations
    }

    pub(crate) fn model(&self) -> &M {
        &self.object.world.table.rules.model
    }

    pub(crate) fn model_mut(&mut self) -> &mut M {
        &mut self.object.world.table.rules.model
    }

    /// The same without its model.
    pub(crate) fn any(&self) -> &AnyObject<'_> {
        &self.object
    }

    /// The same without its model. Calls and ends of operations are not included, since they may find violations.
    pub(crate) fn any_mut(&mut self) -> &mut AnyObject<'_> {
        &mut self.object
    }
}
