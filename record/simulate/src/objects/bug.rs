//! The bugs of an object: a table.

use super::object::Object;
use crate::named::named;

/// What an object does wrong.
///
/// A bug names what the object does, not what a checker must find: a short history may happen to be valid nevertheless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum ObjectBug {
    /// No bug: the object is linearizable.
    #[default]
    None,
    /// Some reads return a past state.
    StaleRead,
    /// Some writes are acknowledged, but not performed.
    LostWrite,
    /// Some operations are reported as failed, but take effect.
    FalseFail,
    /// One read near the end returns an impossible value: one that was certainly overwritten before the read began, if
    /// there is one, otherwise one that was never written. It always occurs if there is a read.
    WrongRead,
    /// Operations that should be refused because of an earlier write are performed on a past state.
    SplitBrain,
    /// Some locks are granted although other clients hold them.
    DoubleAcquire,
    /// Some elements are acknowledged, but not stored.
    LostElement,
    /// Some elements are stored twice.
    DuplicateElement,
    /// Some elements are stored before the one that was last.
    ReorderedElement,
    /// Some reads of a counter differ slightly from the sum.
    WrongSum,
    /// Some reads return one part of the current state, and another part of a past state.
    ReadSkew,
    /// Some transfers take an amount from one account and add it to none.
    HalfTransfer,
    /// Some ids were already returned by the previous operation.
    RepeatedId,
}

struct Row {
    bug: ObjectBug,
    name: &'static str,
    summary: &'static str,
    /// The share of operations to which it applies by default, from 0 to 1.
    rate: f64,
}

const fn row(bug: ObjectBug, name: &'static str, rate: f64, summary: &'static str) -> Row {
    Row { bug, name, summary, rate }
}

/// One row per bug, in the order of the variants.
const TABLE: [Row; 14] = [
    row(ObjectBug::None, "none", 0.0, "no bug"),
    row(ObjectBug::StaleRead, "stale-read", 0.1, "reads see an old state"),
    row(ObjectBug::LostWrite, "lost-write", 0.05, "writes are acknowledged, but not applied"),
    row(ObjectBug::FalseFail, "false-fail", 0.05, "operations are reported as failed, but take effect"),
    row(ObjectBug::WrongRead, "wrong-read", 1.0, "one read near the end returns an impossible value"),
    row(ObjectBug::SplitBrain, "split-brain", 0.5, "late operations are applied to an old state"),
    row(ObjectBug::DoubleAcquire, "double-acquire", 0.05, "locks are granted while others hold them"),
    row(ObjectBug::LostElement, "lost-element", 0.05, "elements are acknowledged, but not stored"),
    row(ObjectBug::DuplicateElement, "duplicate-element", 0.05, "elements are stored twice"),
    row(ObjectBug::ReorderedElement, "reordered-element", 0.05, "elements are inserted before the last one"),
    row(ObjectBug::WrongSum, "wrong-sum", 0.05, "reads of a counter are off by a little"),
    row(ObjectBug::ReadSkew, "read-skew", 0.1, "reads see parts of the state at different times"),
    row(ObjectBug::HalfTransfer, "half-transfer", 0.05, "transfers debit one account, but do not credit the other"),
    row(ObjectBug::RepeatedId, "repeated-id", 0.05, "ids are issued again"),
];

impl ObjectBug {
    /// The bugs that apply to an object, [`ObjectBug::None`] first.
    ///
    /// ```
    /// use record_simulate::{Object, ObjectBug};
    ///
    /// assert!(ObjectBug::of(Object::Stack).any(|bug| bug == ObjectBug::ReorderedElement));
    /// assert!(!ObjectBug::of(Object::Register).any(|bug| bug == ObjectBug::ReorderedElement));
    /// ```
    pub fn of(object: Object) -> impl Iterator<Item = ObjectBug> {
        ObjectBug::ALL.into_iter().filter(move |bug| bug.is_of(object))
    }

    pub(crate) fn is_of(self, object: Object) -> bool {
        if let Some(bugs) = ObjectBug::of_workload(object) {
            return self == ObjectBug::None || bugs.contains(&self);
        }
        let ordered = matches!(object, Object::FifoQueue | Object::Stack | Object::Deque);
        match self {
            ObjectBug::None | ObjectBug::FalseFail => true,
            ObjectBug::StaleRead => !object.is_lock() && !object.is_sequence(),
            ObjectBug::LostWrite => !object.is_lock() && !object.is_sequence() && object != Object::Set,
            ObjectBug::WrongRead => !object.is_lock(),
            ObjectBug::SplitBrain => matches!(object, Object::CasRegister | Object::VersionedRegister),
            ObjectBug::DoubleAcquire => object.is_lock(),
            // If elements are dequeued in no order, a lost element cannot be distinguished from one that was not
            // dequeued yet.
            ObjectBug::LostElement => ordered || matches!(object, Object::PriorityQueue | Object::Set),
            ObjectBug::DuplicateElement => object.is_sequence(),
            ObjectBug::ReorderedElement => ordered,
            ObjectBug::WrongSum => object == Object::Counter,
            ObjectBug::ReadSkew | ObjectBug::HalfTransfer | ObjectBug::RepeatedId => false,
        }
    }

    /// The bugs of one of Jepsen's workloads that has no object: those that its checker can find.
    fn of_workload(object: Object) -> Option<&'static [ObjectBug]> {
        Some(match object {
            Object::Bank => &[ObjectBug::WrongRead, ObjectBug::ReadSkew, ObjectBug::HalfTransfer],
            Object::SetFull => &[ObjectBug::StaleRead, ObjectBug::LostElement, ObjectBug::DuplicateElement],
            Object::Queue => &[ObjectBug::WrongRead, ObjectBug::DuplicateElement],
            Object::TotalQueue => &[ObjectBug::WrongRead, ObjectBug::LostElement],
            Object::UniqueIds => &[ObjectBug::RepeatedId],
            Object::LongFork => &[ObjectBug::ReadSkew],
            Object::Comments => &[ObjectBug::LostElement, ObjectBug::ReadSkew],
            Object::Sequential => &[ObjectBug::LostWrite, ObjectBug::ReadSkew],
            _ => return None,
        })
    }

    /// The default share of operations that the bug affects, from 0 to 1.
    pub fn default_rate(self) -> f64 {
        self.row().rate
    }
}

named!(ObjectBug, UnknownObjectBug, bug, "bug of objects", "A name that no bug of objects has.", also | _ | None);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_parsed_to_its_bug() {
        for bug in ObjectBug::ALL {
            assert_eq!(bug.name().parse(), Ok(bug));
            assert!(!bug.summary().is_empty() && !bug.summary().ends_with('.'), "{bug}");
            assert!(Object::ALL.into_iter().any(|object| bug.is_of(object)), "{bug} applies to no object");
        }
        let error = "stale".parse::<ObjectBug>().unwrap_err().to_string();
        assert!(
            error.starts_with("stale is not a known bug of objects: expected one of none, stale-read, lost-write, "),
            "{error}"
        );
    }

    #[test]
    fn every_name_is_parsed_to_its_object() {
        for object in Object::ALL {
            assert_eq!(object.name().parse(), Ok(object));
        }
        let error = "lock".parse::<Object>().unwrap_err().to_string();
        assert!(error.starts_with("lock is not a known object: expected one of register, cas-register, "), "{error}");
    }

    #[test]
    fn the_readme_contains_the_tables() {
        let readme = include_str!("../../README.md");
        let bugs = |object| ObjectBug::of(object).skip(1).map(|bug| format!("`{bug}`")).collect::<Vec<_>>().join(", ");
        let objects = Object::ALL.map(|object| format!("| `{object}` | {} | {} |\n", object.summary(), bugs(object)));
        assert!(readme.contains(&objects.concat()), "the README should contain\n{}", objects.concat());
        let bugs = ObjectBug::ALL.map(|bug| format!("| `{bug}` | {} |\n", bug.summary()));
        assert!(readme.contains(&bugs.concat()), "the README should contain\n{}", bugs.concat());
    }
}
