//! All objects of this crate, for code that handles each of them.

use super::{
    CasRegister, Counter, Deque, FifoQueue, Kv, MultiRegister, Mutex, OwnerMutex, PlainRegister, PriorityQueue,
    ReentrantMutex, Semaphore, Set, Spec, Stack, UnorderedQueue,
};

/// Code that handles each object.
///
/// ```
/// use check_register::models::{self, Spec, Visitor};
///
/// struct Names(Vec<&'static str>);
///
/// impl Visitor for Names {
///     fn visit<S: Spec<State: Send + Sync + 'static> + Clone + Default + 'static>(&mut self) {
///         self.0.push(S::NAME);
///     }
/// }
///
/// let mut names = Names(Vec::new());
/// models::visit_all(&mut names);
/// assert_eq!(names.0[..3], ["register", "cas-register", "multi-register"]);
/// ```
pub trait Visitor {
    /// Handles the object whose model is `S`.
    fn visit<S: Spec<State: Send + Sync + 'static> + Clone + Default + 'static>(&mut self);
}

/// Passes each object of this module to the visitor, in the order of lists. This is the only list of objects;
/// `check-online` uses it, too.
pub fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit::<PlainRegister>();
    visitor.visit::<CasRegister>();
    visitor.visit::<MultiRegister>();
    visitor.visit::<Kv>();
    visitor.visit::<Mutex>();
    visitor.visit::<OwnerMutex>();
    visitor.visit::<ReentrantMutex>();
    visitor.visit::<Semaphore>();
    visitor.visit::<FifoQueue>();
    visitor.visit::<UnorderedQueue>();
    visitor.visit::<Stack>();
    visitor.visit::<Deque>();
    visitor.visit::<PriorityQueue>();
    visitor.visit::<Set>();
    visitor.visit::<Counter>();
}
