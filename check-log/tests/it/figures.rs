//! The figures of a report over time.

use check_log::Kafka;
use history_core::figure::{Content, LogCell, Series, Unit};
use history_core::{Budget, Checker, Options, Reader, Report};

fn judge(text: &str, figures: bool) -> Report {
    let run = Kafka::default().start(&Options::new()).unwrap();
    let budget = Budget::default().with_figures(figures);
    history_core::check(run, &mut Reader::new(text.as_bytes()), &budget).unwrap()
}

/// An op that takes one nanosecond.
fn op(process: u32, f: &str, time: i64, asked: &str, got: &str) -> String {
    let half = |kind: &str, value: &str, time: i64| {
        format!("{{:process {process}, :type :{kind}, :f :{f}, :value {value}, :time {time}}}\n")
    };
    half("invoke", asked, time) + &half("ok", got, time + 1)
}

fn send(key: &str, value: u32, offset: u64, time: i64) -> String {
    op(0, "send", time, &format!("[[:send :{key} {value}]]"), &format!("[[:send :{key} [{offset} {value}]]]"))
}

fn poll(key: &str, list: &str, time: i64) -> String {
    op(1, "poll", time, "[[:poll]]", &format!("[[:poll {{:{key} {list}}}]]"))
}

/// Two messages of x and one of y are sent. A poll returns nothing before the first one, another returns the first
/// message of x, and the last one returns the others.
fn run() -> String {
    send("x", 1, 0, 4)
        + &poll("x", "[]", 6)
        + &send("x", 2, 1, 8)
        + &poll("x", "[[0 1]]", 10)
        + &send("y", 7, 0, 12)
        + &poll("x", "[[1 2]]", 30)
        + &poll("y", "[[0 7]]", 32)
}

fn series(report: &Report, name: &str) -> Series {
    let figure = report.figures.iter().find(|figure| figure.name == name).unwrap_or_else(|| panic!("no {name}"));
    let Content::Series(series) = &figure.content else { panic!("{name} is not a series") };
    (**series).clone()
}

#[test]
fn unseen_messages_are_counted_until_they_are_polled() {
    let unseen = series(&judge(&run(), true), "unseen");
    assert_eq!(unseen.unit, Unit::Count);
    let lines: Vec<(&str, &[(i64, i64)])> =
        unseen.lines.iter().map(|line| (line.name.as_str(), &*line.points)).collect();
    let all: &[(i64, i64)] = &[(5, 1), (9, 2), (11, 1), (13, 2), (31, 1), (33, 0)];
    let x: &[(i64, i64)] = &[(5, 1), (9, 2), (11, 1), (31, 0)];
    let y: &[(i64, i64)] = &[(13, 1), (33, 0)];
    assert_eq!(lines, [("all keys", all), ("key :x", x), ("key :y", y)]);
}

#[test]
fn lag_is_the_time_since_the_next_message_was_there() {
    let lag = series(&judge(&run(), true), "realtime-lag");
    // Message 1 of x was known at 5, and message 2 at 9; the message of y at 13.
    let points = &lag.lines.iter().find(|line| line.name == "key :x" || lag.lines.len() == 1).unwrap().points;
    assert_eq!(points[..2], [(7, 1), (11, 1)]);
}

#[test]
fn figures_are_made_only_where_someone_draws_them() {
    assert!(judge(&run(), false).figures.is_empty());
    let without_times =
        run().lines().map(|line| line.split(", :time").next().unwrap().to_owned() + "}\n").collect::<String>();
    assert!(judge(&without_times, true).figures.is_empty());
}

#[test]
fn the_log_around_an_anomaly_is_shown() {
    let sent: String = (0..8).map(|at: u32| send("x", at, (10 * at).into(), i64::from(at) * 10)).collect();
    // Message 7 is at offset 70; this poll shows 9 there.
    let report = judge(&(sent + &poll("x", "[[50 5] [60 6] [70 9]]", 100)), true);
    let figure = report.figures.iter().find(|figure| figure.name == "inconsistent-offsets/0").unwrap();
    let Content::Log(part) = &figure.content else { panic!("no part of a log") };
    assert_eq!(part.title, "inconsistent-offsets in the log of :x");
    assert_eq!(part.offsets, [40, 50, 60, 70], "three to each side, as far as there are any");
    let cell = |cell: &LogCell| (cell.offset, cell.is_sent, cell.message.clone());
    let rows: Vec<(&str, Vec<_>)> =
        part.rows.iter().map(|row| (row.name.as_str(), row.cells.iter().map(cell).collect())).collect();
    let polled = [(50, false, "5".to_owned()), (60, false, "6".to_owned()), (70, false, "9".to_owned())];
    assert_eq!(rows[0], ("T1: send by process 0, index 15", vec![(70, true, "7".to_owned())]));
    assert_eq!(rows[1], ("T2: poll by process 1, index 17", polled.to_vec()));
    let others: Vec<&str> = rows[2..].iter().map(|(name, _)| *name).collect();
    assert_eq!(others, ["send by process 0, index 9", "send by process 0, index 11", "send by process 0, index 13"]);
}

#[test]
fn a_long_history_has_no_more_points() {
    let text: String = (0..3000).map(|at: u32| send("x", at, at.into(), i64::from(at) * 10)).collect();
    let unseen = series(&judge(&text, true), "unseen");
    assert_eq!(unseen.lines.len(), 1, "the only key is all keys");
    assert!((150..=201).contains(&unseen.lines[0].points.len()), "{}", unseen.lines[0].points.len());
    assert_eq!(unseen.lines[0].points.last(), Some(&(29_991, 3000)));
}
