//! Small worlds: all histories of a few operations, and random histories of more.

use check_register::Operation;

/// Calls `f` with every history of up to `len` of these operations: with every order of their calls and returns, and
/// each operation crashed or not.
pub(crate) fn enumerate<O: Clone>(len: usize, ops: &[O], mut f: impl FnMut(&[Operation<O>])) {
    for count in 1..=len {
        let mut history = Vec::new();
        events(count, &mut history, 0, &mut |times: &[(u64, Option<u64>)]| {
            let mut chosen = vec![0; count];
            loop {
                let operation = |(at, op): (usize, &usize)| Operation {
                    process: 0,
                    op: ops[*op].clone(),
                    call: times[at].0,
                    ret: times[at].1,
                };
                f(&chosen.iter().enumerate().map(operation).collect::<Vec<_>>());
                // Counts in base `ops.len()`.
                let Some(at) = chosen.iter().position(|op| op + 1 < ops.len()) else { break };
                chosen[at] += 1;
                chosen[..at].fill(0);
            }
        });
    }
}

/// Calls `f` with the calls and returns of `count` operations, in every order.
pub(crate) fn orders(count: usize, mut f: impl FnMut(&[(u64, Option<u64>)])) {
    events(count, &mut Vec::new(), 0, &mut f);
}

/// All orders of `count` calls, each with a return after it or none. Operations are called in order, because their
/// names do not matter.
fn events(count: usize, history: &mut Vec<(u64, Option<u64>)>, now: u64, f: &mut impl FnMut(&[(u64, Option<u64>)])) {
    if history.len() == count {
        returns(history, now, f);
        return;
    }
    history.push((now, None));
    events(count, history, now + 1, f);
    history.pop();
    for at in 0..history.len() {
        if history[at].1.is_none() {
            history[at].1 = Some(now);
            events(count, history, now + 1, f);
            history[at].1 = None;
        }
    }
}

/// All operations were called: the others return in any order, or never.
fn returns(history: &mut Vec<(u64, Option<u64>)>, now: u64, f: &mut impl FnMut(&[(u64, Option<u64>)])) {
    f(history);
    for at in 0..history.len() {
        if history[at].1.is_none() {
            history[at].1 = Some(now);
            returns(history, now + 1, f);
            history[at].1 = None;
        }
    }
}

/// Calls `f` with random histories of up to `len` of these operations, some of them concurrent, of which one in
/// `crash_one_in` crashed.
pub(crate) fn random<O: Clone>(
    len: u64,
    ops: &[O],
    (count, crash_one_in): (u64, u64),
    mut f: impl FnMut(&[Operation<O>]),
) {
    let mut seed = 0x5EED;
    let mut below = move |end: u64| {
        // Knuth's multiplier; the upper bits are the best ones.
        seed = u64::wrapping_add(u64::wrapping_mul(seed, 6_364_136_223_846_793_005), 1_442_695_040_888_963_407);
        (seed >> 33) % end
    };
    for _ in 0..count {
        let span = 4 + below(24);
        let history: Vec<Operation<O>> = (0..=below(len))
            .map(|at| {
                let begin = below(span);
                let end = begin + below(8);
                Operation {
                    process: at.cast_signed(),
                    op: ops[below(ops.len() as u64) as usize].clone(),
                    // All events have different times.
                    call: 16 * begin + 2 * at,
                    ret: (below(crash_one_in) > 0).then_some(16 * end + 2 * at + 1),
                }
            })
            .collect();
        f(&history);
    }
}
