//! Plots over time: their content, and that their size does not grow with the history.

use histcheck_draw::bands::{Annotation, Annotations};
use histcheck_draw::plot::{Performance, plots};
use histcheck_draw::{Drawing, Limits, draw};
use history_core::History;
use history_core::figure::{Content, Figure, Line, Series, Unit};
use history_core::visible::is_hidden;
use roxmltree::{Document, Node};
use std::fmt::Write as _;

fn drawn(text: &str) -> Vec<Drawing> {
    let mut performance = Performance::default();
    History::parse(text).unwrap().ops().for_each(|op| performance.observe(&op));
    plots(&performance)
}

fn of<'d>(drawings: &'d [Drawing], path: &str) -> Document<'d> {
    let drawing = drawings.iter().find(|drawing| drawing.path == path).unwrap_or_else(|| panic!("no {path}"));
    Document::parse(&drawing.content).unwrap()
}

fn texts<'a>(document: &'a Document<'_>, class: &str) -> Vec<&'a str> {
    let has = |node: &Node<'_, '_>| node.has_tag_name("text") && node.attribute("class") == Some(class);
    document.descendants().filter(has).filter_map(|node| node.text()).collect()
}

fn number(node: &Node<'_, '_>, name: &str) -> i64 {
    node.attribute(name).unwrap().parse().unwrap()
}

/// Reads of 2 ms every millisecond, a write that fails, one whose outcome is unknown, and a fault in the middle.
fn run() -> String {
    let mut text = String::new();
    for at in 0..100 {
        let (process, time) = (at % 3, at * 1_000_000);
        _ = writeln!(text, "{{:process {process}, :type :invoke, :f :read, :time {time}}}");
        if at == 40 {
            text += "{:process :nemesis, :type :info, :f :start-partition, :value [\"n1\"], :time 40000000}\n";
        }
        if at == 60 {
            text += "{:process :nemesis, :type :info, :f :stop-partition, :time 60000000}\n";
        }
        _ = writeln!(text, "{{:process {process}, :type :ok, :f :read, :time {}}}", time + 2_000_000);
    }
    text += "{:process 5, :type :invoke, :f :write, :time 100000000} {:process 5, :type :fail, :f :write, :time 100001000}\n";
    text += "{:process 6, :type :invoke, :f :write, :time 100002000} {:process 6, :type :info, :f :write, :time 101000000}\n";
    text
}

#[test]
fn operations_that_never_complete_are_ticks() {
    let open =
        "{:process 7, :type :invoke, :f :read, :time 50000000} {:process 8, :type :invoke, :f :write, :time 99000000}";
    let (with, without) = (drawn(&(run() + open)), drawn(&run()));
    let ticks = |drawings: &[Drawing]| {
        let raw = of(drawings, "latency-raw.svg");
        let paths = raw.descendants().filter(|node| node.attribute("class") == Some("op"));
        paths
            .filter_map(|group| group.children().find_map(|path| path.attribute("d").map(str::to_owned)))
            .collect::<Vec<_>>()
    };
    assert_eq!(ticks(&without), Vec::<String>::new());
    let ticks = ticks(&with);
    assert_eq!(ticks.iter().map(|path| path.matches('M').count()).collect::<Vec<_>>(), [1, 1], "one in each panel");
    assert!(with[0].content.contains("not completed") && !without[0].content.contains("not completed"));
}

#[test]
fn each_function_has_a_panel_and_each_outcome_its_marks() {
    let drawings = drawn(&run());
    let paths: Vec<&str> = drawings.iter().map(|drawing| drawing.path.as_str()).collect();
    assert_eq!(paths, ["latency-raw.svg", "latency-quantiles.svg", "rate.svg"]);
    let raw = of(&drawings, "latency-raw.svg");
    assert_eq!(texts(&raw, "t"), ["read: 100 completions", "write: 2 completions"]);
    let marks = |class: &str| {
        let groups = raw.descendants().filter(|node| node.attribute("class") == Some(class));
        let paths = groups.flat_map(|group| group.children()).filter_map(|path| path.attribute("d"));
        paths.map(|path| path.matches('M').count()).sum::<usize>()
    };
    assert_eq!([marks("o0"), marks("o1"), marks("o2")], [100, 1, 1], "a mark an operation");
    // The axis of the reads is from the power of ten below 2 ms to the one above.
    assert_eq!(texts(&raw, "y")[..2], ["1 ms", "10 ms"]);
    assert_eq!(texts(&raw, "x")[..2], ["0 ns", "20 ms"]);
}

#[test]
fn a_fault_is_a_band_in_each_panel_named_once() {
    for drawing in drawn(&run()) {
        let document = Document::parse(&drawing.content).unwrap();
        let bands: Vec<_> = document.descendants().filter(|node| node.attribute("class") == Some("f")).collect();
        assert_eq!(bands.len(), 2, "{}", drawing.path);
        let rect = bands[0].children().find(|node| node.has_tag_name("rect")).unwrap();
        let number = |name: &str| rect.attribute(name).unwrap().parse::<i64>().unwrap();
        // The interval from 40 to 60 of 101 ms is drawn between 84 and 942.
        assert_eq!((number("x"), number("width")), (84 + 40 * 858 / 101, 84 + 60 * 858 / 101 - (84 + 40 * 858 / 101)));
        let named = bands.iter().flat_map(Node::children).filter(|node| node.has_tag_name("text"));
        assert_eq!(named.filter_map(|name| name.text()).collect::<Vec<_>>(), ["partition n1"]);
    }
}

#[test]
fn a_long_run_is_a_heat_map_no_larger_than_a_short_one() {
    let mut text = String::new();
    for at in 0..40_000_u64 {
        let latency = 1000 + at.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 50_000_000;
        let time = at * 3_000_000;
        _ = writeln!(text, "{{:process {at}, :type :invoke, :f :f{}, :time {time}}}", at % 12);
        _ = writeln!(text, "{{:process {at}, :type :ok, :f :f{}, :time {}}}", at % 12, time + latency);
    }
    let drawings = drawn(&text);
    let raw = of(&drawings, "latency-raw.svg");
    let titles = texts(&raw, "t");
    assert_eq!(titles.len(), 8, "seven functions, and one panel for the other five");
    assert_eq!(titles[7], "other functions: 16,665 completions");
    for drawing in &drawings {
        assert!(drawing.content.len() < 400_000, "{}: {} bytes", drawing.path, drawing.content.len());
    }
}

#[test]
fn the_offsets_of_clocks_are_lines() {
    let text = "{:process :nemesis, :type :info, :f :bump, :time 5, :clock-offsets {\"n1\" 0.5, \"n2\" -2}}
        {:process :nemesis, :type :info, :f :reset, :time 1000, :clock-offsets {\"n1\" 0.25, \"n2\" 0}}
        {:process 0, :type :invoke, :f :read, :time 1005}";
    let drawings = drawn(text);
    assert_eq!(drawings.len(), 1, "no operation completed");
    let clocks = of(&drawings, "clock-skew.svg");
    assert_eq!(
        texts(&clocks, "y"),
        ["\u{2212}2 s", "\u{2212}1.5 s", "\u{2212}1 s", "\u{2212}500 ms", "0 ns", "500 ms"]
    );
    // An offset holds until the next one is measured.
    let lines = clocks.descendants().filter_map(|node| node.attribute("d")).filter(|path| path.contains('V'));
    assert_eq!(lines.count(), 2);
}

#[test]
fn a_legend_that_has_no_room_beside_the_title_is_below_it() {
    let heights = [2, 8].map(|nodes| {
        let offsets: Vec<String> = (0..nodes).map(|node| format!("\"node-number-{node}\" {node}")).collect();
        let offsets = offsets.join(" ");
        let text = format!(
            "{{:process :nemesis, :type :info, :f :bump, :time 5, :clock-offsets {{{offsets}}}}}
             {{:process :nemesis, :type :info, :f :bump, :time 99, :clock-offsets {{{offsets}}}}}"
        );
        let drawings = drawn(&text);
        let clocks = of(&drawings, "clock-skew.svg");
        let names: Vec<(i64, i64)> = clocks
            .descendants()
            .filter(|node| {
                node.text().is_some_and(|text| text.starts_with("node-number-")) && node.has_tag_name("text")
            })
            .map(|node| (number(&node, "x"), number(&node, "y")))
            .collect();
        assert_eq!(names.len(), nodes);
        let title_end = 84 + 9 * 39;
        assert!(names.iter().all(|(x, y)| *y > 20 || *x > title_end), "{names:?}");
        number(&clocks.root_element(), "height")
    });
    assert_eq!(heights[1] - heights[0], 36, "two rows");
}

/// The notes below a plot of latencies.
fn notes(nemesis: &str) -> Vec<String> {
    let ops = "{:process 0, :type :invoke, :f :read, :time 1000} {:process 0, :type :ok, :f :read, :time 51000}";
    let drawings = drawn(&format!("{nemesis} {ops}"));
    texts(&of(&drawings, "latency-raw.svg"), "s").into_iter().map(str::to_owned).collect()
}

#[test]
fn what_a_chart_omits_or_guesses_stands_below_it() {
    assert!(notes("").is_empty());
    let told = "{:process :nemesis, :type :info, :f :kill, :fault :begin, :time 1000}
        {:process :nemesis, :type :info, :f :start, :fault :end, :time 2000}";
    assert!(notes(told).is_empty(), "nothing is guessed");
    let guessed = told.replace(":fault :begin, ", "").replace(":fault :end, ", "");
    assert_eq!(notes(&guessed), ["Faults are paired by the names of ops (start-x, stop-x), because no op has :fault."]);
    let moment = "{:process :nemesis, :type :info, :f :shrink, :time 1000}";
    assert_eq!(notes(&moment.repeat(1200)), ["Only the first 1,000 of 1,200 faults are drawn."]);

    let at = |from_ns, until_ns| Annotation { text: "restart".into(), lane: "n1".into(), from_ns, until_ns };
    let mut run = Performance::new(Annotations::new(vec![at(0, 999), at(0, 1000), at(51_000, 99_000), at(51_001, 0)]));
    let text = "{:process 0, :type :invoke, :f :read, :time 1000} {:process 0, :type :ok, :f :read, :time 51000}";
    History::parse(text).unwrap().ops().for_each(|op| run.observe(&op));
    assert_eq!(run.notes(), ["2 of 4 annotations are outside of the run's times and not drawn."]);
}

/// The titles of the faults in a panel. The run takes 51 microseconds, and has `count` faults.
fn titles_of_faults(count: u64, time: impl Fn(u64) -> u64) -> Vec<String> {
    let mut text = String::new();
    for at in 0..count {
        _ = writeln!(text, "{{:process :nemesis, :type :info, :f :shrink-{at}, :time {}}}", time(at));
    }
    text += "{:process 0, :type :invoke, :f :read, :time 0} {:process 0, :type :ok, :f :read, :time 51000}";
    let drawings = drawn(&text);
    let raw = of(&drawings, "latency-raw.svg");
    let titles = raw.descendants().filter(|node| node.has_tag_name("title")).filter_map(|node| node.text());
    titles.filter(|title| title.contains("fault")).map(str::to_owned).collect()
}

#[test]
fn faults_at_one_place_are_one_band_that_counts_them() {
    let one_band = ["700 faults: shrink-0, shrink-1, shrink-2, shrink-3, shrink-4 and 695 more"];
    assert_eq!(titles_of_faults(700, |at| 1000 + at % 2), one_band);
    // Faults over the whole run, each one pixel from the next.
    let bands = titles_of_faults(700, |at| 1000 + 70 * at);
    let counted: u64 = bands.iter().map(|title| title.split(' ').next().unwrap().parse::<u64>().unwrap()).sum();
    assert!(counted == 700 && (50..150).contains(&bands.len()), "{counted} in {} bands", bands.len());
    assert_eq!(titles_of_faults(2, |at| 1000 + 2000 * at), ["fault: shrink-0", "fault: shrink-1"]);
}

#[test]
fn a_history_without_times_has_no_plots() {
    assert!(drawn("{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read}").is_empty());
    assert!(plots(&Performance::default()).is_empty());
}

#[test]
fn times_out_of_order_and_at_the_ends_of_their_range_are_drawn() {
    let mut text = String::new();
    for (at, time) in [5, -5, i64::MAX, i64::MIN, 0, 1_700_000_000_000_000_000].into_iter().enumerate() {
        _ = writeln!(text, "{{:process {at}, :type :invoke, :f :read, :time {time}}}");
        _ = writeln!(text, "{{:process {at}, :type :ok, :f :read, :time {}}}", time / 2);
    }
    for drawing in drawn(&text) {
        Document::parse(&drawing.content).unwrap_or_else(|error| panic!("{}: {error}", drawing.path));
    }
}

#[test]
fn hostile_names_stay_texts() {
    let name = "</text><script>\\u202e\\u0000]]>&";
    let text = format!(
        r#"{{"process":"nemesis","type":"info","f":"{name}","time":1,"value":["{name}"],"clock-offsets":{{"{name}":1}}}}
{{"process":0,"type":"invoke","f":"{name}","time":2}}
{{"process":0,"type":"ok","f":"{name}","time":3000}}"#
    );
    let drawings = drawn(&text);
    assert_eq!(drawings.len(), 4);
    for drawing in drawings {
        let document = Document::parse(&drawing.content).unwrap();
        assert!(document.descendants().all(|node| !node.has_tag_name("script")), "{}", drawing.path);
        let bad: Vec<char> = drawing.content.chars().filter(|c| is_hidden(*c) && *c != '\n').collect();
        assert!(bad.is_empty(), "{}: {bad:?}", drawing.path);
    }
}

#[test]
fn a_series_is_lines_with_their_names() {
    let points = vec![(0, 0), (1_000_000, 3), (2_000_000, 1)];
    let lines = vec![Line { name: "key <1>".into(), points }, Line { name: "one".into(), points: vec![(5, 2)] }];
    let content = Content::Series(Box::new(Series { title: "Unseen".into(), unit: Unit::Count, lines }));
    let drawing = draw(&Figure { name: "unseen".into(), content }, &Limits::default());
    assert_eq!(drawing.path, "unseen.svg");
    let document = Document::parse(&drawing.content).unwrap();
    assert_eq!(texts(&document, "y"), ["0", "1", "2", "3"]);
    let names = document.descendants().filter(|node| node.has_tag_name("text") && node.attribute("class").is_none());
    assert_eq!(names.filter_map(|node| node.text()).collect::<Vec<_>>(), ["key <1>", "one"]);
    let none = Content::Series(Box::default());
    assert_eq!(draw(&Figure { name: "unseen".into(), content: none }, &Limits::default()).path, "unseen.txt");
}
