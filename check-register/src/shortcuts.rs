//! Shortcuts: properties that a model may declare so that the search is faster.

use crate::{Access, Collection, Handling, Settlement};

/// What the search may use in addition to [`Model::step`](crate::Model::step) to be faster.
///
/// No model needs any of this: the defaults are right for all. But each method makes a promise about `step`, and a
/// wrong promise makes verdicts wrong. [`assert_model_laws`](crate::assert_model_laws) verifies the promises of a
/// model; call it in a test.
///
/// A model that implements this trait returns itself from [`Model::shortcuts`](crate::Model::shortcuts).
///
/// - To try fewer orders: [`reads_only`](Shortcuts::reads_only), [`part`](Shortcuts::part).
/// - To omit crashed operations: [`effect`](Shortcuts::effect), [`sees`](Shortcuts::sees),
///   [`may_see`](Shortcuts::may_see), [`effect_lasts`](Shortcuts::effect_lasts).
/// - To refuse immediately: [`needs`](Shortcuts::needs).
/// - To let states represent many orders: [`pend`](Shortcuts::pend), [`begin`](Shortcuts::begin),
///   [`end`](Shortcuts::end), [`may_wait`](Shortcuts::may_wait), [`settle`](Shortcuts::settle).
/// - To decide registers without a search: [`access`](Shortcuts::access),
///   [`initial_access`](Shortcuts::initial_access).
/// - To decide collections without a search: [`collection`](Shortcuts::collection), [`handling`](Shortcuts::handling),
///   [`contents`](Shortcuts::contents), [`priority`](Shortcuts::priority).
pub trait Shortcuts<S: Clone, O> {
    /// Whether an operation never changes the state, whatever the state is. The search then need not try when it is
    /// best placed: the first instant that admits it is.
    fn reads_only(&self, op: &O) -> bool {
        let _ = op;
        false
    }

    /// A number for the effect through which others can observe an operation; `None` if there is no such number. A
    /// crashed operation is omitted from the search as soon as no operation can observe it any more.
    ///
    /// The following must hold for all operations with the same effect: if none of those after one in a linearization
    /// observes the effect, the model permits the others without it as well.
    fn effect(&self, op: &O) -> Option<u64> {
        let _ = op;
        None
    }

    /// Adds the effects that an operation may observe to `effects`: see [`Shortcuts::effect`]. Returns whether it may
    /// observe any effect.
    fn sees(&self, op: &O, effects: &mut Vec<u64>) -> bool {
        let _ = (op, effects);
        true
    }

    /// The number of the effect ([`Shortcuts::effect`]) without which no possible state of the object permits the
    /// operation; `None` if there is none, or if [`Model::init`](crate::Model::init) has it. So an operation with a
    /// result that no operation can have caused is refused immediately.
    fn needs(&self, op: &O) -> Option<u64> {
        let _ = op;
        None
    }

    /// Whether an operation's effect with a number may still be observed after another operation has changed the state.
    /// A crashed operation whose effect does not last is tried only if an operation in flight may observe it, and is
    /// not permitted without it. So `false` may also be returned if the operation can be delayed until just before the
    /// first one that observes it, like an add to a set.
    fn effect_lasts(&self, op: &O) -> bool {
        let _ = op;
        true
    }

    /// Whether `op` may observe `other`, whose effect has no number: as for [`Shortcuts::effect`], if none of the
    /// operations after it in a linearization may observe it, the model must permit them without it as well.
    fn may_see(&self, op: &O, other: &O) -> bool {
        let _ = (op, other);
        true
    }

    /// A state that represents `state` with a crashed operation which may take effect at any time from now on, or
    /// never; `None` if the search should try it where it may matter, which in the worst case takes time exponential in
    /// the number of such operations. The choice must depend on the operation alone.
    ///
    /// Such a state must permit an operation that returned if and only if `state` would permit it after some of the
    /// pending operations (none, one or more, in some order) have taken effect: [`Model::step`](crate::Model::step)
    /// returns the states (which again represent others) that it may lead to. An operation of
    /// [`Shortcuts::reads_only`] may lead to another state there, if it shows that something took effect.
    ///
    /// Pending operations need not observe each other: if one that is pending is observed by no operation that returned
    /// and by no crashed one that the search tries, it may be omitted. [`Queue`](crate::models::Queue)s are an example.
    fn pend(&self, state: &S, op: &O) -> Option<S> {
        let _ = (state, op);
        None
    }

    /// The same for an operation that is called now and returns later: the state stores it under the number `flight`,
    /// which is unique among those in flight, until [`Shortcuts::end`]. The search does not try it; it takes effect
    /// when the steps of others show it. So it must be an operation that every state permits, without a result: its
    /// return is never refused.
    fn begin(&self, state: &S, op: &O, flight: u32) -> Option<S> {
        let _ = (state, op, flight);
        None
    }

    /// The state when an operation that [`Shortcuts::begin`] stored returns: it must then have taken effect.
    fn end(&self, state: &S, op: &O, flight: u32) -> S {
        let _ = (op, flight);
        state.clone()
    }

    /// Whether an operation that is permitted before the [`Shortcuts::end`] of another is also permitted, with the same
    /// effect on all others, after it. Most are; but an operation that finds a value absent must come before the value
    /// is inserted.
    fn may_wait(&self, op: &O) -> bool {
        let _ = op;
        false
    }

    /// Reports which operations that states stored took effect, and where: at a step that shows it, or at the last. It
    /// is called for every step of a linearization in order, if anything was stored; the answers are part of the
    /// result. All operations passed to [`Shortcuts::end`] must be named.
    fn settle(&self, settlement: &mut Settlement<'_, S, O>) {
        let _ = settlement;
    }

    /// The part of the object to which an operation belongs; `None` if it concerns the whole object. If every operation
    /// of a history belongs to some part, each part is checked separately, from the state of
    /// [`Model::init`](crate::Model::init). So operations on different parts must not observe each other (Herlihy and
    /// Wing's locality; Horn and Kroening, "Faster linearizability checking via P-compositionality", FORTE 2015).
    fn part(&self, op: &O) -> Option<u64> {
        let _ = op;
        None
    }

    /// Whether a state is that of one part, so that [`Model::step`](crate::Model::step) is right for operations of one
    /// part only. Then every operation must have a part. The search does not use this;
    /// [`assert_model_laws`](crate::assert_model_laws) does, because it can compare [`Shortcuts::part`] with the steps
    /// only for an object whose states are of the whole.
    fn states_are_of_parts(&self) -> bool {
        false
    }

    /// The effect of an operation, if the object is a register of numbers (or of numbered values): each part's
    /// operations then may be decided in O(n log n) if no value is written twice and none is the initial one. `None`
    /// for any other operation.
    fn access(&self, op: &O) -> Option<Access> {
        let _ = op;
        None
    }

    /// The result of reads of a register before the first write: see [`Shortcuts::access`]. `None` if it is not
    /// determined.
    fn initial_access(&self) -> Option<i64> {
        None
    }

    /// The order in which the object returns its values, if it is a collection of numbers (or of numbered values): its
    /// operations then are decided in O(n log n) if no value is put in twice. `None` for any other object.
    fn collection(&self) -> Option<Collection> {
        None
    }

    /// The same, with the initial content, if all operations of a history are known (some of those given may be equal):
    /// the object may have no such order in general, but behave in this history as one that has.
    fn collection_of(&self, ops: &mut dyn Iterator<Item = &O>) -> Option<(Collection, Vec<i64>)> {
        let _ = ops;
        self.collection().map(|collection| (collection, self.contents()))
    }

    /// The effect of an operation on the [collection](Shortcuts::collection). `None` for any other operation.
    fn handling<'a>(&'a self, op: &'a O) -> Option<Handling<'a>> {
        let _ = op;
        None
    }

    /// The priority of a value of the [collection](Shortcuts::collection), if the least is removed first. The order of
    /// several values with one priority is not defined.
    fn priority(&self, value: i64) -> i64 {
        value
    }

    /// Whether an operation inserts or removes at the front, if the [collection](Shortcuts::collection) has two ends.
    fn is_at_front(&self, op: &O) -> bool {
        let _ = op;
        false
    }

    /// The values of the [collection](Shortcuts::collection) at the start, the oldest first.
    fn contents(&self) -> Vec<i64> {
        Vec::new()
    }
}

/// The shortcuts of a model that has none.
#[derive(Debug)]
pub(crate) struct NoShortcuts;

impl<S: Clone, O> Shortcuts<S, O> for NoShortcuts {}
