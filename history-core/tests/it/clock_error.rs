//! Intervals from several machines whose clocks are not exact.

use history_core::{ErrorKind, History, HistoryError, OpKind, Reader};
use std::time::Duration;

fn read(text: &str, error_ns: u64) -> Result<History, HistoryError> {
    History::read(&mut Reader::new(text.as_bytes()).with_clock_error(Duration::from_nanos(error_ns)))
}

/// Each op as its client, `(` or `)`, and its time.
fn ops(text: &str, error_ns: u64) -> Vec<String> {
    let history = read(text, error_ns).unwrap();
    let show = |op: history_core::Op<'_>| {
        let bracket = if op.kind == OpKind::Invoke { '(' } else { ')' };
        let client = op.client_name.map_or_else(|| format!("{:?}", op.process), str::to_owned);
        format!("{}{bracket}{}", client.replace("Client(", "").replace(')', ""), op.time.unwrap())
    };
    history.ops().map(show).collect()
}

/// The number of operations that are not ordered after the previous one of the same client.
fn dropped(text: &str, error_ns: u64) -> u64 {
    let mut reader = Reader::new(text.as_bytes()).with_clock_error(Duration::from_nanos(error_ns));
    History::read(&mut reader).unwrap();
    reader.dropped_client_orders()
}

const TWO: &str = r#"{"client": 0, "call": 100, "return": 110, "input": ["write", 1]}
    {"client": 1, "call": 121, "return": 130, "input": ["read"], "output": 2}"#;

#[test]
fn operations_nearer_than_twice_the_error_overlap() {
    assert_eq!(ops(TWO, 0), ["0(100", "0)110", "1(121", "1)130"]);
    assert_eq!(ops(TWO, 5), ["0(95", "0)115", "1(116", "1)135"]);
    assert_eq!(ops(TWO, 6), ["0(94", "1(115", "0)116", "1)136"]);
}

#[test]
fn operations_of_one_client_stay_in_order() {
    let one = r#"{"client": 3, "call": 100, "return": 110, "input": ["write", 1]}
        {"client": 3, "call": 112, "return": 120, "input": ["write", 2]}
        {"client": 3, "call": 140, "return": 150, "input": ["write", 3]}"#;
    assert_eq!(ops(one, 5), ["3(95", "3)107", "3(107", "3)125", "3(135", "3)155"]);
    assert_eq!(ops(one, 500), ["3(-400", "3)-388", "3(-388", "3)-360", "3(-360", "3)650"]);
    assert_eq!(dropped(one, 500), 0);
}

#[test]
fn an_order_that_cannot_be_shown_is_dropped_and_counted() {
    // Each client returns and calls again within twice the error, so each of its two operations may overlap each of the
    // other client's.
    let two = r#"{"client": 3, "call": 100, "return": 110, "input": ["write", 1]}
        {"client": 3, "call": 112, "return": 120, "input": ["write", 2]}
        {"client": "w", "call": 101, "return": 111, "input": ["read"]}
        {"client": "w", "call": 113, "return": 121, "input": ["read"]}
        {"client": "w", "call": 200, "return": 201, "input": ["read"]}"#;
    let shown = ["3(95", "w(96", "w.2(108", "3)108", "3(108", "w)116", "3)125", "w.2)126", "w(195", "w)206"];
    assert_eq!(ops(two, 5), shown);
    assert_eq!((dropped(two, 5), dropped(two, 0)), (1, 0));
    // All ops of the client with two names have its original name in a field.
    let history = read(two, 5).unwrap();
    let origins: Vec<_> =
        history.ops().filter_map(|op| op.extra.get("original-client").map(|name| name.to_string())).collect();
    assert_eq!(origins, vec!["\"w\""; 6]);
}

#[test]
fn a_reader_begins_again_with_the_recorded_times_where_an_order_was_dropped() {
    let row = |client: &str, call: u32| {
        format!(r#"{{"client": {client}, "call": {call}, "return": {}, "input": ["read"], "output": 1}}"#, call + 8)
    };
    let text = [row("0", 0), row("0", 12), row("\"w\"", 0), row("\"w\"", 12)].join("\n");
    for (error_ns, expected) in [(0, 0), (1, 0), (5, 1)] {
        let mut reader = Reader::new(text.as_bytes()).with_clock_error(Duration::from_nanos(error_ns));
        let widened = History::read(&mut reader).unwrap();
        assert_eq!(reader.dropped_client_orders(), expected);
        assert_eq!(reader.begin_as_recorded(), Ok(expected > 0));
        if expected > 0 {
            let (again, recorded) = (History::read(&mut reader).unwrap(), read(&text, 0).unwrap());
            let shown = |history: &History| history.ops().map(|op| format!("{op:?}")).collect::<Vec<_>>();
            assert_eq!(shown(&again), shown(&recorded));
            assert_ne!(shown(&widened), shown(&recorded));
            assert_eq!((reader.dropped_client_orders(), reader.begin_as_recorded()), (0, Ok(false)));
        }
    }
}

#[test]
fn what_never_returned_never_does() {
    let text = r#"{"client": 0, "call": 100, "input": ["write", 1]}
        {"client": 0, "call": 120, "return": 130, "input": ["write", 2]}"#;
    assert_eq!(ops(text, 50), ["0(50", "1(70", "1)180"]);
}

#[test]
fn only_intervals_have_it() {
    let ops = "{:process 0, :type :invoke, :f :read}";
    let error = read(ops, 1).unwrap_err();
    assert_eq!((error.kind, error.message.contains("only to intervals")), (ErrorKind::Unexpected, true));
    assert_eq!(read(ops, 0).unwrap().len(), 1);
    // A single client has one clock, so overlapping operations of it are an error.
    let overlap = r#"{"client": 0, "call": 1, "return": 9, "input": ["read"]} {"client": 0, "call": 5, "return": 6, "input": ["read"]}"#;
    assert!(read(overlap, 1).unwrap_err().message.contains("overlaps"));
}

/// An operation of a small history: client, call, return, and whether it returned with a known outcome.
type Span = (usize, i64, i64, bool);

/// Which operations certainly precede which, if clocks are off by at most `error`.
fn certain(world: &[Span], error: i64) -> Vec<Vec<bool>> {
    let precedes = |a: &Span, b: &Span| {
        let follows = a.0 == b.0 && a.2 <= b.1 && (a.1, a.2) < (b.1, b.2);
        a.3 && (follows || a.2 + 2 * error < b.1)
    };
    world.iter().map(|a| world.iter().map(|b| precedes(a, b)).collect()).collect()
}

/// Which operations precede which in the ops, and how many orders were dropped; `None` if the text is rejected.
fn shown(world: &[Span], error: i64, is_reversed: bool) -> Option<(Vec<Vec<bool>>, u64)> {
    let mut lines: Vec<(usize, String)> = world
        .iter()
        .enumerate()
        .map(|(i, (client, call, end, ok))| {
            let kind = if *ok { "" } else { ",\"type\":\"info\"" };
            (i, format!("{{\"client\":{client},\"call\":{call},\"return\":{end},\"input\":\"r\"{kind}}}\n"))
        })
        .collect();
    if is_reversed {
        lines.reverse();
    }
    let text: String = lines.iter().map(|(_, line)| line.as_str()).collect();
    let mut reader = Reader::new(text.as_bytes()).with_clock_error(Duration::from_nanos(error.unsigned_abs()));
    let mut at = vec![[usize::MAX; 2]; world.len()];
    let mut seen = 0;
    let ended = reader.for_each(|op| {
        let row = lines[usize::try_from(op.position.unwrap().line).unwrap() - 1].0;
        at[row][usize::from(op.kind != OpKind::Invoke)] = seen;
        seen += 1;
        Ok(std::ops::ControlFlow::Continue(()))
    });
    ended.ok()?;
    // An operation with an unknown outcome may still take effect later.
    let precedes = |a: usize, b: usize| world[a].3 && at[a][1] < at[b][0];
    let all = 0..world.len();
    Some((all.clone().map(|a| all.clone().map(|b| precedes(a, b)).collect()).collect(), reader.dropped_client_orders()))
}

/// Returns true if some sequence of calls and returns has this order: no two pairs of operations are a 2+2.
fn is_of_intervals(order: &[Vec<bool>]) -> bool {
    let pairs = || (0..order.len()).flat_map(|a| (0..order.len()).map(move |b| (a, b))).filter(|(a, b)| order[*a][*b]);
    pairs().all(|(a, b)| pairs().all(|(c, d)| order[a][d] || order[c][b]))
}

/// A few operations of up to three clients; those of each client follow one another.
fn world(seed: u64) -> Vec<Span> {
    let mut state = seed;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let mut world = Vec::new();
    for client in 0..=usize::from(below(8) > 0) + usize::from(below(3) == 0) {
        let mut time = 0;
        for _ in 0..=below(4) {
            let call = time + below(4).cast_signed();
            let end = call + below(4).cast_signed();
            world.push((client, call, end, below(5) > 0));
            // If two operations of a client have the same single time, their order is unknown.
            time = end + i64::from(call == end);
        }
    }
    world
}

/// No false order is created. No order between clients that is certain is lost, and none of one client unless it is
/// counted. Lines may be in any order.
#[test]
fn widened_operations_have_the_order_that_is_certain() {
    let (mut judged, mut whole, mut without) = (0, 0, 0);
    for (seed, error) in (0..6_000).flat_map(|seed| [(seed, 1), (seed, 2), (seed, 5)]) {
        let world = world(seed);
        let Some((order, dropped)) = shown(&world, error, false) else { continue };
        judged += 1;
        let certain = certain(&world, error);
        for (a, b) in (0..world.len()).flat_map(|a| (0..world.len()).map(move |b| (a, b))) {
            assert!(!order[a][b] || certain[a][b], "{world:?} {error}: {a} before {b}");
            assert!(
                order[a][b] || !world[a].3 || world[a].2 + 2 * error >= world[b].1,
                "{world:?} {error}: {a} not before {b}"
            );
        }
        whole += u32::from(dropped == 0);
        without += u32::from(is_of_intervals(&certain) && dropped > 0);
        assert!(dropped > 0 || order == certain, "{world:?} {error}");
        assert_eq!(shown(&world, error, true), Some((order, dropped)), "{world:?} {error}");
    }
    assert!(judged > 10_000 && whole > 1000, "{judged} {whole}");
    assert_eq!(without, 0, "of {judged}");
}
