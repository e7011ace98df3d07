//! Writes sample timelines, for inspection and for the browser's test: a register with one wrong read, from a fixed
//! seed.
//!
//!     timeline DIRECTORY

use histcheck_draw::timeline::{self, Bar, BarStatus, Order, PageOptions, Scale, Step, Timeline};
use std::path::Path;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let dir = std::env::args().nth(1).ok_or("usage: timeline DIRECTORY")?;
    let dir = Path::new(&dir);
    std::fs::create_dir_all(dir)?;
    for (name, timeline) in [
        ("small", sample(60, 5, Scale::Nanoseconds)),
        ("positions", sample(40, 4, Scale::Positions)),
        ("many-rows", sample(3000, 60, Scale::Nanoseconds)),
        ("large", sample(timeline::BARS_MAX, 10, Scale::Nanoseconds)),
        ("slivers", slivers()),
        ("late", late()),
        ("hostile", hostile()),
        ("empty", Timeline { title: "nothing".into(), ..Timeline::default() }),
    ] {
        let page = timeline::html(&timeline, &PageOptions::default())?;
        let path = dir.join(format!("{name}.html"));
        std::fs::write(&path, &page)?;
        println!("{}\t{} bars\t{} bytes", path.display(), timeline.bars.len(), page.len());
    }
    Ok(())
}

/// Xorshift (Marsaglia 2003), which gives the same numbers on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn time_below(&mut self, limit_ns: i64) -> i64 {
        self.below(limit_ns.cast_unsigned()).cast_signed()
    }
}

/// An operation of the simulated register, and the time when it takes effect.
struct Simulated {
    row: u32,
    start: i64,
    end: i64,
    at: i64,
    write: Option<u64>,
    crashed: bool,
}

fn simulate(count: usize, rows: u32, random: &mut Random) -> Vec<Simulated> {
    let mut free = vec![0; rows as usize];
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        // The next operation is in the row that has been free for longest.
        let row = (0..rows as usize).min_by_key(|row| free[*row]).unwrap_or(0);
        let start = free[row] + 20_000 + random.time_below(900_000);
        let end = start + 150_000 + random.time_below(1_500_000);
        let at = start + random.time_below(end - start);
        let write = (random.below(5) < 2).then(|| random.below(9));
        let crashed = write.is_some() && random.below(15) == 0;
        free[row] = if crashed { end + 2_000_000 } else { end };
        all.push(Simulated { row: row as u32, start, end, at, write, crashed });
    }
    all.sort_by_key(|op| op.start);
    all
}

fn sample(count: usize, rows: u32, scale: Scale) -> Timeline {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let ops = simulate(count, rows, &mut random);
    let refused = (count * 5 / 6..count).find(|op| ops[*op].write.is_none()).unwrap_or(count - 1);
    let limit = ops[refused].end;
    let mut by_instant: Vec<usize> = (0..count).filter(|op| *op != refused && ops[*op].at < limit).collect();
    by_instant.sort_by_key(|op| (ops[*op].at, *op));
    let mut bars = bars(&ops, scale);
    let (mut state, mut steps) = (None, Vec::new());
    let name = |state: Option<u64>| state.map_or("nil".to_owned(), |value| value.to_string());
    for op in by_instant {
        state = ops[op].write.or(state);
        match ops[op].write {
            Some(value) => bars[op].label = format!("write {value}"),
            None => bars[op].label = format!("read -> {}", name(state)),
        }
        bars[op].status = BarStatus::Placed;
        steps.push(Step { bar: op as u32, state: name(state) });
    }
    let wrong = (state.unwrap_or(0) + 4) % 9;
    bars[refused].status = BarStatus::Refused;
    bars[refused].label = format!("read -> {wrong}");
    bars[refused].detail = "nobody had written this value for a while".into();
    for (op, bar) in bars.iter_mut().enumerate().filter(|(_, bar)| bar.status == BarStatus::Pending) {
        bar.status = if ops[op].start > limit { BarStatus::After } else { BarStatus::Pending };
        bar.label = ops[op].write.map_or("read -> ?".to_owned(), |value| format!("write {value}"));
    }
    let refusal = |state: &str| format!("The register holds {state}, and the read saw {wrong}.");
    let mut shorter = steps.clone();
    shorter.truncate(steps.len().saturating_sub(3));
    let orders = [steps, shorter].map(|steps| Order {
        before: "nil".into(),
        refusal: refusal(steps.last().map_or("nil", |step| &step.state)),
        steps,
        ..Order::default()
    });
    Timeline {
        title: "register.edn is not linearizable".into(),
        summary: format!(
            "No order of its {count} operations explains the read of {wrong} by process {} at index {}: whatever comes \
             before it, the register does not hold {wrong} while it runs.",
            bars[refused].row, bars[refused].index
        ),
        scale,
        rows: (0..rows).map(|row| format!("process {row}")).collect(),
        bars,
        orders: orders.into(),
        ..Timeline::default()
    }
}

/// Operations of a few microseconds, about a second apart: on a scale of time they are invisible.
fn slivers() -> Timeline {
    let mut timeline = sample(20, 3, Scale::Nanoseconds);
    for bar in &mut timeline.bars {
        bar.start += bar.start / 100_000 * 50_000_000;
        bar.end = bar.end.map(|_| bar.start + 5_000);
    }
    timeline.orders.clear();
    timeline
}

/// Bars with indices as in a recorded history, in which all operations are pending.
fn bars(ops: &[Simulated], scale: Scale) -> Vec<Bar> {
    let starts = ops.iter().enumerate().map(|(op, simulated)| (simulated.start, 0, op));
    let mut events: Vec<(i64, u8, usize)> = starts.collect();
    events.extend(ops.iter().enumerate().map(|(op, simulated)| (simulated.end, 1, op)));
    events.sort_unstable();
    let mut bars: Vec<Bar> = ops.iter().map(bar).collect();
    for (index, (_, is_end, op)) in (0_u64..).zip(events) {
        let position = index.cast_signed();
        if is_end == 0 {
            bars[op].index = index;
            bars[op].start = if scale == Scale::Positions { position } else { ops[op].start };
        } else {
            bars[op].completed = Some(index);
            let end = if scale == Scale::Positions { position } else { ops[op].end };
            bars[op].end = (!ops[op].crashed).then_some(end);
        }
    }
    bars
}

fn bar(op: &Simulated) -> Bar {
    Bar {
        row: op.row,
        index: 0,
        completed: None,
        start: op.start,
        end: Some(op.end),
        label: String::new(),
        detail: if op.crashed { "error: timeout".into() } else { String::new() },
        status: BarStatus::Pending,
    }
}

/// A window late in a history with calendar times. An operation at its beginning crashed.
fn late() -> Timeline {
    let mut timeline = sample(60, 5, Scale::Nanoseconds);
    let epoch = 1_700_000_000_000_000_000;
    for bar in &mut timeline.bars {
        bar.start += epoch;
        bar.end = bar.end.map(|end| end + epoch);
    }
    let first = timeline.bars.iter().map(|bar| bar.start).min().unwrap_or(epoch);
    let last = timeline.bars.iter().filter_map(|bar| bar.end).max().unwrap_or(epoch);
    timeline.extent = Some((first, last));
    timeline.rows.push("process 17".into());
    timeline.bars.push(Bar {
        row: 5,
        index: 3,
        completed: None,
        start: 5,
        end: None,
        label: "write 9".into(),
        detail: "error: connection refused".into(),
        status: BarStatus::Pending,
    });
    timeline.note = Some("The page shows 61 of 2000000 operations: those around the failure.".into());
    timeline
}

/// Texts that try to break out of the page's markup.
fn hostile() -> Timeline {
    let mut timeline = sample(12, 3, Scale::Nanoseconds);
    let text =
        "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)> {{data}} & \" ' \\ \u{2028}\u{202e}\0";
    text.clone_into(&mut timeline.title);
    text.clone_into(&mut timeline.summary);
    timeline.note = Some(text.into());
    timeline.rows.iter_mut().for_each(|row| text.clone_into(row));
    for bar in &mut timeline.bars {
        text.clone_into(&mut bar.label);
        text.clone_into(&mut bar.detail);
    }
    for order in &mut timeline.orders {
        text.clone_into(&mut order.refusal);
        order.steps.iter_mut().for_each(|step| text.clone_into(&mut step.state));
    }
    timeline
}
