//! Shortcuts: what a model may say of its operations so that the search is faster.

use crate::{Access, Collection, Handling, Settlement};

/// What the search may use besides [`Model::step`](crate::Model::step) to be faster.
///
/// No model needs any of this: the defaults are right for all. But each method promises something about `step`, and a
/// promise that is not kept makes verdicts wrong. [`assert_model_laws`](crate::assert_model_laws) holds a model to its
/// promises; call it in a test.
///
/// A model that implements this trait returns itself from [`Model::shortcuts`](crate::Model::shortcuts).
///
/// - To try fewer orders: [`reads_only`](Shortcuts::reads_only), [`part`](Shortcuts::part).
/// - To leave out crashed operations: [`effect`](Shortcuts::effect), [`sees`](Shortcuts::sees),
///   [`may_see`](Shortcuts::may_see), [`effect_lasts`](Shortcuts::effect_lasts).
/// - To refuse at once: [`needs`](Shortcuts::needs).
/// - To let states stand for many orders: [`pend`](Shortcuts::pend), [`begin`](Shortcuts::begin),
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

    /// What others must see of an operation for it to matter whether it happened, as a number; `None` if there is no
    /// such number. A crashed operation is left out of the search as soon as no operation can see it any more.
    ///
    /// For all operations of the same effect it must hold that, if none of those behind one in a linearization sees
    /// the effect, the model admits the others without it as well.
    fn effect(&self, op: &O) -> Option<u64> {
        let _ = op;
        None
    }

    /// Puts the effects that an operation may see into `effects`: see [`Shortcuts::effect`]. Returns whether it may see
    /// any effect whatever.
    fn sees(&self, op: &O, effects: &mut Vec<u64>) -> bool {
        let _ = (op, effects);
        true
    }

    /// The effect by number ([`Shortcuts::effect`]) without which no state that the object can come to admits the
    /// operation; `None` if there is none, or if [`Model::init`](crate::Model::init) has it. So an operation that found
    /// what no operation can have brought about is refused at once.
    fn needs(&self, op: &O) -> Option<u64> {
        let _ = op;
        None
    }

    /// Whether an operation's effect by number may still be seen after another operation has changed the state. A
    /// crashed operation whose effect does not last is tried only where an operation in flight may see it, and is not
    /// admitted without it. So `false` may also be said where the operation can be put off until just before the
    /// first one that sees it, like an add to a set.
    fn effect_lasts(&self, op: &O) -> bool {
        let _ = op;
        true
    }

    /// Whether `op` may see that `other` happened, which has no effect by number: as for [`Shortcuts::effect`], if none
    /// of those behind it in a linearization may see it, the model must admit them without it as well.
    fn may_see(&self, op: &O, other: &O) -> bool {
        let _ = (op, other);
        true
    }

    /// A state that stands for `state` with a crashed operation which may take effect at any time from now on, or
    /// never; `None` if the search should try where it may matter, which in the worst case takes time exponential in
    /// the number of such operations. Which it is depends on the operation alone.
    ///
    /// Operations that returned must find in such a state just what they could find if any of the pending operations
    /// had taken effect by then: [`Model::step`](crate::Model::step) gives the states (that again stand for others)
    /// that they may lead to. An operation of [`Shortcuts::reads_only`] may lead to another state there, if it shows
    /// that something took effect.
    ///
    /// Pending operations need not see each other: if one that is pending is seen by no operation that returned and
    /// by no crashed one that the search tries, it may be left out. [`Queue`](crate::models::Queue)s are an example.
    fn pend(&self, state: &S, op: &O) -> Option<S> {
        let _ = (state, op);
        None
    }

    /// The same for an operation that is called now and returns later: the state remembers it under the number
    /// `flight`, which no other one that is in flight has, until [`Shortcuts::end`]. It is not tried by the search, but
    /// takes effect as the steps of others show. So it must be one that every state admits, with nothing to return: no
    /// return of it is ever refused.
    fn begin(&self, state: &S, op: &O, flight: u32) -> Option<S> {
        let _ = (state, op, flight);
        None
    }

    /// The state as an operation that [`Shortcuts::begin`] remembered returns: by now it must have taken effect.
    fn end(&self, state: &S, op: &O, flight: u32) -> S {
        let _ = (op, flight);
        state.clone()
    }

    /// Whether an operation that is admitted before the [`Shortcuts::end`] of another is also admitted, with the same
    /// effect on all others, behind it. Most are; but who finds that something is not there must come before it is.
    fn may_wait(&self, op: &O) -> bool {
        let _ = op;
        false
    }

    /// Says which operations that states remembered took effect, and where: at a step that shows it, or at the last.
    /// It is called for every step of a linearization in order, if anything was remembered; the answers are part of
    /// what is found. All operations passed to [`Shortcuts::end`] must be named.
    fn settle(&self, settlement: &mut Settlement<'_, S, O>) {
        let _ = settlement;
    }

    /// The part of the object that an operation is about; `None` if it is about the whole of it. If every operation of
    /// a history is about some part, each part is checked on its own, from the state of
    /// [`Model::init`](crate::Model::init). So operations on different parts must not see each other (Herlihy and
    /// Wing's locality; Horn and Kroening, "Faster linearizability checking via P-compositionality", FORTE 2015).
    fn part(&self, op: &O) -> Option<u64> {
        let _ = op;
        None
    }

    /// Whether a state is that of one part, so that [`Model::step`](crate::Model::step) is right for operations of one
    /// part only. Then every operation must have a part. The search does not ask;
    /// [`assert_model_laws`](crate::assert_model_laws) does, because it can hold [`Shortcuts::part`] to the steps only
    /// of an object whose states are of the whole.
    fn states_are_of_parts(&self) -> bool {
        false
    }

    /// What an operation does, if the object is a register of numbers (or of whatever was numbered): each part's
    /// operations then may be decided in O(n log n) where no value is written twice and none is the initial one. `None`
    /// for any other operation.
    fn access(&self, op: &O) -> Option<Access> {
        let _ = op;
        None
    }

    /// What reads of a register find before the first write: see [`Shortcuts::access`]. `None` if this determines none.
    fn initial_access(&self) -> Option<i64> {
        None
    }

    /// How the object gives its values back, if it is a collection of numbers (or of whatever was numbered): its
    /// operations then are decided in O(n log n) where no value is put in twice. `None` for any other object.
    fn collection(&self) -> Option<Collection> {
        None
    }

    /// The same, and what is in it at the start, for those who know all operations of a history, of whom some of those
    /// given may be equal: they may be of an object that has no such order of its own, but behaves in this history as
    /// one that has.
    fn collection_of(&self, ops: &mut dyn Iterator<Item = &O>) -> Option<(Collection, Vec<i64>)> {
        let _ = ops;
        self.collection().map(|collection| (collection, self.contents()))
    }

    /// What an operation does to the [collection](Shortcuts::collection). `None` for any other operation.
    fn handling<'a>(&'a self, op: &'a O) -> Option<Handling<'a>> {
        let _ = op;
        None
    }

    /// The priority of a value of the [collection](Shortcuts::collection), if the least leaves first. Which of several
    /// that are alike leaves first is not said.
    fn priority(&self, value: i64) -> i64 {
        value
    }

    /// Whether an operation puts in or takes out at the front, if the [collection](Shortcuts::collection) has two ends.
    fn is_at_front(&self, op: &O) -> bool {
        let _ = op;
        false
    }

    /// The values of the [collection](Shortcuts::collection) at the start, the oldest first.
    fn contents(&self) -> Vec<i64> {
        Vec::new()
    }
}

/// Those of a model that has none.
#[derive(Debug)]
pub(crate) struct NoShortcuts;

impl<S: Clone, O> Shortcuts<S, O> for NoShortcuts {}
