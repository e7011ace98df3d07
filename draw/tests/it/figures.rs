//! The files of a report, and the files drawn from its figures.

use check_elle::list_append::ListAppend;
use check_elle::rw_register::RwRegister;
use histcheck_draw::Limits;
use histcheck_draw::plot::Performance;
use history_core::figure::{Content, Figure, LogCell, LogPart, LogRow};
use history_core::{Artifact, Budget, Checker, OpKind, Options, Reader, Report, Verdict};
use roxmltree::Document;

fn check(checker: &dyn Checker, text: &str) -> Report {
    let run = checker.start(&Options::new()).unwrap();
    let budget = Budget::default().with_figures(true);
    history_core::check(run, &mut Reader::new(text.as_bytes()), &budget).unwrap()
}

/// A report with its figures drawn as files.
fn drawn(checker: &dyn Checker, text: &str, limits: &Limits) -> Report {
    let mut report = check(checker, text);
    let drawn = histcheck_draw::draw_all(&mut report, limits, &Performance::default()).into_iter();
    report.artifacts.extend(drawn.map(|it| Artifact { path: it.path, content: it.content.into_bytes() }));
    report
}

fn paths(report: &Report) -> Vec<&str> {
    report.artifacts.iter().map(|artifact| artifact.path.as_str()).collect()
}

fn content<'r>(report: &'r Report, path: &str) -> &'r str {
    let artifact: Option<&Artifact> = report.artifacts.iter().find(|artifact| artifact.path == path);
    let artifact = artifact.unwrap_or_else(|| panic!("no {path} among {:?}", paths(report)));
    std::str::from_utf8(&artifact.content).unwrap()
}

/// All texts in a picture, separated by spaces.
fn words(svg: &str) -> String {
    let document = Document::parse(svg).unwrap();
    assert!(document.root_element().has_tag_name("svg"));
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.flat_map(|text| text.descendants()).filter_map(|node| node.text()).collect::<Vec<_>>().join(" ")
}

/// Two reads of :x/y that disagree, and two transactions that saw each other's writes.
const BOTH: &str = "
    {:type :ok, :process 0, :value [[:append :x/y 1]]}
    {:type :ok, :process 0, :value [[:append :x/y 2]]}
    {:type :ok, :process 1, :value [[:r :x/y [1 2]]]}
    {:type :ok, :process 2, :value [[:r :x/y [2]]]}
    {:type :ok, :process 3, :value [[:append :a 3] [:r :b [4]]]}
    {:type :ok, :process 4, :value [[:append :b 4] [:r :a [3]]]}
";

#[test]
fn a_cycle_and_reads_that_do_not_agree_are_drawn() {
    let report = drawn(&ListAppend::default(), BOTH, &Limits::default());
    assert_eq!(report.verdict, Verdict::Invalid);
    let all = ["G1c.txt", "incompatible-order.txt", "G1c/0.svg", "sccs/0.svg", "incompatible-order/:x_y.html"];
    for path in all {
        let _ = content(&report, path);
    }
    assert_eq!(report.artifacts.len(), all.len(), "{:?}", paths(&report));

    let cycle = words(content(&report, "G1c/0.svg"));
    assert!(cycle.contains("G1c #0"), "{cycle}");
    for part in ["T1", "T2", "wr", ":a", "[4]", "[3]"] {
        assert!(cycle.contains(part), "no {part} in {cycle}");
    }
    assert!(!cycle.contains(":x/y"), "another key's transactions are no part of it: {cycle}");

    let component = words(content(&report, "sccs/0.svg"));
    assert!(component.contains("component #0: 2 transactions"), "{component}");

    let page = content(&report, "incompatible-order/:x_y.html");
    assert!(page.contains("<html") && page.contains(":x/y"), "{page}");
    for read in ["[1 2]", "[2]"] {
        let elements: Vec<&str> = read.trim_matches(['[', ']']).split(' ').collect();
        assert!(elements.iter().all(|element| page.contains(element)), "{page}");
    }

    let story = content(&report, "G1c.txt");
    let told = story.strip_prefix("G1c #0\n").unwrap();
    assert_eq!(told.trim(), report.anomaly("G1c").unwrap().witnesses[0].explanation.trim());
}

#[test]
fn nothing_is_drawn_unless_it_is_asked_for() {
    let run = ListAppend::default().start(&Options::new()).unwrap();
    let report = history_core::check(run, &mut Reader::new(BOTH.as_bytes()), &Budget::default()).unwrap();
    assert_eq!(paths(&report), ["G1c.txt", "incompatible-order.txt"]);
    assert_eq!(report.figures, []);
}

#[test]
fn a_picture_that_would_be_too_large_gives_way_to_the_reason() {
    let mut small = Limits::default();
    small.plot_bytes_max = 200;
    let report = drawn(&ListAppend::default(), BOTH, &small);
    assert!(content(&report, "G1c/0.txt").contains("it would need more than 200 bytes"), "{:?}", paths(&report));
    assert!(!paths(&report).contains(&"G1c/0.svg"));
}

#[test]
fn registers_are_drawn_too() {
    let text = "
        {:type :ok, :process 3, :value [[:w :a 3] [:r :b 4]]}
        {:type :ok, :process 4, :value [[:w :b 4] [:r :a 3]]}";
    let report = drawn(&RwRegister::default(), text, &Limits::default());
    assert_eq!(paths(&report), ["G1c.txt", "G1c/0.svg", "sccs/0.svg"]);
    let cycle = words(content(&report, "G1c/0.svg"));
    assert!(cycle.contains("wr") && cycle.contains(":b 4"), "{cycle}");
}

#[test]
fn cycles_of_a_report_without_figures_are_drawn() {
    let mut report = check(&ListAppend::default(), BOTH);
    report.figures.clear();
    let mut several = Report::new("a,b", Verdict::Invalid);
    several.checkers = vec![report];
    let paths: Vec<String> = histcheck_draw::draw_all(&mut several, &Limits::default(), &Performance::default())
        .into_iter()
        .map(|it| it.path)
        .collect();
    assert_eq!(paths, ["list-append/G1c/0.svg"]);
}

#[test]
fn a_part_of_a_log_shows_where_messages_differ() {
    let cell = |offset, is_sent, message: &str| LogCell { offset, is_sent, message: message.into() };
    let row = |name: &str, kind, cells| LogRow { name: name.into(), kind, cells };
    let part = LogPart {
        title: "inconsistent-offsets in the log of <x>\u{202e}".into(),
        offsets: vec![3, 4, 9],
        rows: vec![
            row("T1: send by process 0, index 1", OpKind::Info, vec![cell(4, true, "7")]),
            row("T2: poll by process 1, index 3", OpKind::Ok, vec![cell(3, false, "6"), cell(4, false, "<8>")]),
            row("elsewhere", OpKind::Fail, vec![cell(5, true, "not shown")]),
        ],
    };
    let figure = Figure { name: "inconsistent-offsets/0".into(), content: Content::Log(Box::new(part)) };
    let drawing = histcheck_draw::draw(&figure, &Limits::default());
    assert_eq!(drawing.path, "inconsistent-offsets/0.svg");
    let document = Document::parse(&drawing.content).unwrap();
    let texts = document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text());
    let shown = texts.collect::<Vec<_>>().join(" ");
    assert!(shown.starts_with("inconsistent-offsets in the log of <x>"), "{shown}");
    assert!(shown.contains("offset 3 4 … 9 T1: send by process 0, index 1 w 7 T2"), "{shown}");
    assert!(shown.contains("r 6 r <8> elsewhere") && !shown.contains("not shown"), "{shown}");
    assert!(!drawing.content.contains('\u{202e}'), "hidden characters are escaped");
    let groups = document.descendants().filter(|node| node.has_tag_name("g"));
    let classes: Vec<&str> = groups.filter_map(|group| group.attribute("class")).collect();
    assert_eq!(classes, ["info two", "", " two"], "offset 4 has two messages");
}
