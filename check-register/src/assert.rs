//! Linearizability as an assertion of a test.

use crate::{End, Model, Operation, Outcome, check};
use history_core::Budget;
use std::fmt::Write as _;

/// Fails the test unless operations are linearizable to a model, and reports which operation cannot be placed and why.
///
/// Takes a [`Model`] and a slice of [`Operation`]s, both by reference or not. No operations, and operations none of
/// which returned, are linearizable: the author of the test knows what it records. Only recorded histories without `ok`
/// ops are [`Unknown`](history_core::Verdict::Unknown) ([`Linearizable`](crate::Linearizable)).
///
/// ```
/// use check_register::models::{PlainRegister, RegisterOp};
/// use check_register::{Operation, assert_linearizable};
///
/// let history = [
///     Operation::new(0, RegisterOp::Write(1), 0, 10),
///     Operation::new(1, RegisterOp::Read(1), 5, 20),
/// ];
/// assert_linearizable!(PlainRegister::default(), history);
/// ```
///
/// ```should_panic
/// # use check_register::models::{PlainRegister, RegisterOp};
/// # use check_register::{Operation, assert_linearizable};
/// let history = [Operation::new(1, RegisterOp::Read(1), 5, 20)];
/// assert_linearizable!(PlainRegister::default(), history);
/// ```
#[macro_export]
macro_rules! assert_linearizable {
    ($model:expr, $history:expr $(,)?) => {
        if let Some(why) = $crate::explain_refusal(&$model, &$history[..]) {
            panic!("{why}");
        }
    };
}

/// The number of the last operations of a linearization that are shown.
const TAIL: usize = 6;

/// Why operations are not linearizable to a model, in several lines; `None` if they are. This is the text that
/// [`assert_linearizable!`] prints.
///
/// Searches without a budget, within the limits of [`Settings::default`](crate::Settings::default); if these are not
/// sufficient, the text says so.
pub fn explain_refusal<M: Model>(model: &M, operations: &[Operation<M::Op>]) -> Option<String> {
    let answer = check(model, operations, &Budget::default());
    let name = |op: usize| {
        let Operation { process, call, ret, .. } = &operations[op];
        let ret = ret.map_or_else(|| "never returned".into(), |ret| format!("returned at {ret}"));
        format!(
            "{} (operation {op}, process {process}, called at {call}, {ret})",
            model.describe_op(&operations[op].op)
        )
    };
    for part in &answer.parts {
        let of = part.part.as_ref().map(|part| format!(" of {part}")).unwrap_or_default();
        match &part.outcome {
            Outcome::Linearizable(_) => {}
            Outcome::Unknown(reason) => {
                return Some(format!("whether the history{of} is linearizable is unknown: {}", reason.because()));
            }
            Outcome::Refused(refusal) => {
                let mut text =
                    format!("the history{of} is not linearizable\n  cannot be placed: {}\n", name(refusal.op));
                if let Some(last) = refusal.last {
                    _ = writeln!(text, "  the last one that can: {}", name(last));
                }
                for End { state, order } in &refusal.ends {
                    _ = writeln!(text, "  the state may be {state}, after");
                    let skipped = order.len().saturating_sub(TAIL);
                    if skipped > 0 {
                        _ = writeln!(text, "    ({skipped} operations)");
                    }
                    for op in &order[skipped..] {
                        _ = writeln!(text, "    {}", name(*op));
                    }
                }
                return Some(text);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::explain_refusal;
    use crate::Operation;
    use crate::models::{PlainRegister, RegisterOp};

    #[test]
    fn a_refusal_names_what_it_is_about() {
        let history = [
            Operation::new(0, RegisterOp::Write(1), 0, 10),
            Operation::crashed(2, RegisterOp::Write(3), 1),
            Operation::new(1, RegisterOp::Read(2), 20, 30),
        ];
        insta::assert_snapshot!(explain_refusal(&PlainRegister::default(), &history).unwrap(), @r"
        the history is not linearizable
          cannot be placed: read of 2 (operation 2, process 1, called at 20, returned at 30)
          the last one that can: write of 1 (operation 0, process 0, called at 0, returned at 10)
          the state may be 1, after
            write of 1 (operation 0, process 0, called at 0, returned at 10)
        ");
        assert_eq!(explain_refusal(&PlainRegister::default(), &history[..2]), None);
        assert_eq!(explain_refusal(&PlainRegister::default(), &[]), None);
    }
}
