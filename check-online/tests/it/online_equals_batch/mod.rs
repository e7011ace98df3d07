//! Compares the online results with the batch results for the same prefix: on every history of up to three operations
//! of each model, and on random ones of up to seven.

mod certify;
mod events;
mod horizon;
#[path = "../../../../check-register/tests/it/brute/models.rs"]
mod models;
#[path = "../../../../check-register/tests/it/brute/oracle.rs"]
mod oracle;
#[path = "../../../../check-register/tests/it/brute/recorded.rs"]
mod recorded;
mod spans;
mod unread;
#[expect(dead_code, reason = "the tests of check-register also enumerate orders")]
#[path = "../../../../check-register/tests/it/brute/world.rs"]
mod world;

use check_online::OnlineModel;
use check_register::models::{QueueOp, Removed, Spec};
use check_register::{Model, Operation, Outcome, check};
use history_core::Budget;
use std::any::Any;

/// The operation that the batch search refuses first, by position.
fn refused<M: Model>(model: &M, operations: &[Operation<M::Op>]) -> Option<usize> {
    let answer = check(model, operations, &Budget::default());
    let refusals = answer.parts.iter().filter_map(|part| match &part.outcome {
        Outcome::Linearizable(_) => None,
        Outcome::Refused(refusal) => {
            assert!(refusal.is_first, "small histories are searched to the end");
            Some(refusal.op)
        }
        Outcome::Unknown(reason) => panic!("{reason:?} of {operations:?}"),
    });
    refusals.min_by_key(|op| operations[*op].ret)
}

/// The known effect of an operation without a result: `None` if there is none.
fn without_result<M: Model>(model: &M, op: &M::Op) -> Option<M::Op>
where
    M::Op: 'static,
{
    if let Some(QueueOp::Take(_)) = (op as &dyn Any).downcast_ref::<QueueOp>() {
        let unknown = QueueOp::Take(Removed::Unknown);
        return (&unknown as &dyn Any).downcast_ref::<M::Op>().cloned();
    }
    (!model.shortcuts().reads_only(op)).then(|| op.clone())
}

/// Pseudo-random numbers from Knuth's multiplier; the upper bits are the best ones.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Feeds events and spans, for each model.
fn hold_model<M: Spec + OnlineModel + Default + Clone>(ops: &[M::Op])
where
    M::Op: 'static,
{
    events::hold_model::<M>(ops);
    spans::hold_model::<M>(ops);
}
