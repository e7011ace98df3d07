//! Micro-ops: the parts of a transaction, and the part to which a step belongs.

use crate::text;
use history_core::{Datum, Step, WitnessOp};

/// The maximum number of columns of a micro-op's text.
const MOP_COLUMNS_MAX: usize = 34;
/// The same for a micro-op without edges.
const ASIDE_COLUMNS_MAX: usize = 24;
/// The maximum number of columns of the key.
const KEY_COLUMNS_MAX: usize = 14;

/// The parts of a micro-op `[f k v]`.
struct Mop<'a> {
    f: &'a str,
    key: &'a Datum,
    value: &'a Datum,
}

/// The micro-ops of a transaction; empty if its value is not a list.
pub(super) fn all(op: &WitnessOp) -> &[Datum] {
    items(&op.value).unwrap_or_default()
}

fn items(datum: &Datum) -> Option<&[Datum]> {
    match datum {
        Datum::Vector(items) | Datum::List(items) => Some(items),
        _ => None,
    }
}

fn parse(mop: &Datum) -> Option<Mop<'_>> {
    let Some([f, key, value]) = items(mop) else { return None };
    let (Datum::Keyword(f) | Datum::Str(f) | Datum::Symbol(f)) = f else { return None };
    Some(Mop { f, key, value })
}

/// The text of a micro-op in its cell: `r 7 [1 2 3]`.
pub(super) fn show(mop: &Datum, is_aside: bool) -> String {
    let columns_max = if is_aside { ASIDE_COLUMNS_MAX } else { MOP_COLUMNS_MAX };
    let Some(Mop { f, key, value }) = parse(mop) else { return text::datum(mop, columns_max) };
    let f = text::shorten(f, KEY_COLUMNS_MAX);
    let key = text::datum(key, KEY_COLUMNS_MAX);
    // Keeps space for a version, even if the key is long.
    let room = columns_max.saturating_sub(text::columns(&f) + text::columns(&key) + 2).max(KEY_COLUMNS_MAX);
    format!("{f} {key} {}", text::datum(value, room))
}

/// The positions of the micro-ops from and to which a step leads. `None` if the step concerns the whole transaction, or
/// none of its micro-ops.
pub(super) fn ends(step: &Step, from: &WitnessOp, to: &WitnessOp) -> [Option<usize>; 2] {
    let Some(key) = &step.key else { return [None, None] };
    let value = step.value.as_ref().unwrap_or(&Datum::Nil);
    let next = step.next_value.as_ref();
    match step.relation.as_ref() {
        "ww" => [find_write(from, key, value), next.and_then(|next| find_write(to, key, next))],
        "wr" => {
            let write = find_write(from, key, value);
            let appended = write.is_some_and(|at| is_append(&all(from)[at]));
            [write, find_read(to, key, next.unwrap_or(value), appended)]
        }
        "rw" => {
            let write = next.and_then(|next| find_write(to, key, next));
            let appended = write.is_some_and(|at| is_append(&all(to)[at]));
            [find_read(from, key, value, appended), write]
        }
        _ => [None, None],
    }
}

fn is_append(mop: &Datum) -> bool {
    parse(mop).is_some_and(|mop| mop.f == "append")
}

/// Finds the last write, because other transactions see that one.
fn find_write(op: &WitnessOp, key: &Datum, value: &Datum) -> Option<usize> {
    all(op).iter().rposition(|mop| {
        parse(mop).is_some_and(|mop| matches!(mop.f, "append" | "w") && mop.key == key && mop.value == value)
    })
}

/// Finds the first read, because the transaction's own writes do not affect it.
fn find_read(op: &WitnessOp, key: &Datum, value: &Datum, appended: bool) -> Option<usize> {
    let shows = |read: &Datum| match items(read) {
        // Nil is the initial version: the empty list.
        Some(list) if appended => list.last().unwrap_or(&Datum::Nil) == value,
        _ => read == value,
    };
    let is_read = |mop: Mop<'_>| mop.f == "r" && mop.key == key && shows(mop.value);
    all(op).iter().position(|mop| parse(mop).is_some_and(is_read))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{op, step};
    use super::*;

    fn ends_of(
        relation: &'static str,
        versions: (Option<Datum>, Option<Datum>),
        texts: [&str; 2],
    ) -> [Option<usize>; 2] {
        let [from, to] = texts.map(|text| op(0, text));
        let step = step(0, 1, relation).with_versions(Some(7.into()), versions.0, versions.1);
        ends(&step, &from, &to)
    }

    fn int(i: i64) -> Option<Datum> {
        Datum::from(i).into()
    }

    #[test]
    fn appends_and_the_reads_that_end_in_them() {
        let from = "[[:r 7 [1]] [:append 8 3] [:append 7 3] [:r 7 [1 3]]]";
        let to = "[[:r 8 [3]] [:r 7 [1 3]] [:append 7 4]]";
        assert_eq!(ends_of("ww", (int(3), int(4)), [from, to]), [Some(2), Some(2)]);
        assert_eq!(ends_of("wr", (int(3), None), [from, to]), [Some(2), Some(1)]);
        assert_eq!(ends_of("rw", (int(1), int(4)), [from, to]), [Some(0), Some(2)]);
        assert_eq!(ends_of("rw", (Some(Datum::Nil), int(4)), ["[[:r 7 [4]] [:r 7 []]]", to]), [Some(1), Some(2)]);
        assert_eq!(ends_of("rw", (None, int(4)), ["[[:r 7 []]]", to]), [Some(0), Some(2)], "no version is the first");
    }

    #[test]
    fn writes_of_registers_and_the_reads_that_equal_them() {
        let from = "[[:w 7 1] [:r 7 1] [:w 7 3]]";
        assert_eq!(ends_of("wr", (int(3), int(3)), [from, "[[:r 8 3] [:r 7 3]]"]), [Some(2), Some(1)]);
        assert_eq!(ends_of("ww", (int(3), int(5)), [from, "[[:w 7 5]]"]), [Some(2), Some(0)]);
        assert_eq!(ends_of("rw", (Some(Datum::Nil), int(5)), ["[[:r 7 nil]]", "[[:w 7 5]]"]), [Some(0), Some(0)]);
        let twice = ["[[:w 7 3] [:w 7 4] [:w 7 3]]", "[[:r 7 3] [:r 7 3]]"];
        assert_eq!(ends_of("wr", (int(3), None), twice), [Some(2), Some(0)], "the last write, the first read");
        let pair = Datum::Vector(vec![1.into(), 2.into()]);
        let found = ends_of("wr", (Some(pair), None), ["[[:w 7 [1 2]]]", "[[:r 7 [[1 2]]] [:r 7 [1 2]]]"]);
        assert_eq!(found, [Some(0), Some(1)], "a register that contains a list");
    }

    #[test]
    fn json_micro_ops_are_strings() {
        let texts = ["[[\"append\" 7 3]]", "[[\"r\" 7 [3]]]"];
        assert_eq!(ends_of("wr", (int(3), None), texts), [Some(0), Some(0)]);
        assert_eq!(show(&all(&op(0, texts[1]))[0], false), "r 7 [3]");
    }

    #[test]
    fn steps_between_whole_transactions_and_steps_without_a_matching_micro_op() {
        let texts = ["[[:append 7 3]]", "[[:r 7 [3]]]"];
        assert_eq!(ends_of("realtime", (int(3), None), texts), [None, None]);
        assert_eq!(ends_of("wr", (int(4), None), texts), [None, None]);
        assert_eq!(ends_of("wr", (int(3), None), ["nil", "[7 [:r 7] [:x 7 3] [:r 7 4]]"]), [None, None]);
    }

    #[test]
    fn values_that_are_no_micro_ops_are_shown_unchanged() {
        assert_eq!(show(&7.into(), true), "7");
        assert_eq!(show(&Datum::Vector(vec![Datum::keyword("r"), 7.into()]), true), "[:r 7]");
    }
}
