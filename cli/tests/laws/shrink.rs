//! Finds the smallest form of a history with a property.

use crate::case::Case;

/// Removes operations, many at a time and then one by one, as long as `is_so` returns true.
pub(crate) fn smallest(case: &Case, is_so: &dyn Fn(&Case) -> bool) -> Case {
    let mut kept: Vec<Vec<usize>> = case.operations();
    let history = |operations: &[Vec<usize>]| case.of(operations.concat());
    let mut size = kept.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < kept.len() {
            let mut fewer = kept.clone();
            fewer.drain(at..(at + size).min(kept.len()));
            if !fewer.is_empty() && is_so(&history(&fewer)) {
                kept = fewer;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    history(&kept)
}

#[test]
fn the_smallest_form_has_what_it_needs_and_no_more() {
    let world = &crate::world::WORLDS[2];
    let (case, _) = crate::world::generate(world, 3);
    let writes = |case: &Case| case.0.iter().filter(|event| event.f == "write").count();
    assert!(writes(&case) > 10);
    let small = smallest(&case, &|case| writes(case) >= 4);
    assert_eq!((writes(&small), small.0.len()), (4, 4), "two writes and their completions");
}
