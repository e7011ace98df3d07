//! Pictures tested from outside: they are valid XML with the expected content.

use check_elle::list_append::ListAppend;
use histcheck_draw::graph::{self, PlotOptions, STEPS_MAX, TXNS_MAX, TooLarge};
use histcheck_draw::reads;
use history_core::figure::KeyRead;
use history_core::visible::is_hidden;
use history_core::{Checker as _, Client, Datum, History, OpKind, Step, WitnessOp};
use proptest::prelude::*;
use roxmltree::{Document, Node};

fn op(name: &str, index: u64, value: Datum) -> WitnessOp {
    WitnessOp { name: name.into(), index, process: Some(1.into()), kind: OpKind::Ok, time_ns: None, value }
}

fn mop(f: &str, key: impl Into<Datum>, value: impl Into<Datum>) -> Datum {
    Datum::Vector(vec![Datum::keyword(f), key.into(), value.into()])
}

fn step(from: usize, to: usize, relation: &'static str) -> Step {
    Step::new(from, to, relation, "")
}

/// Limits that are large enough for every picture of these tests.
fn large() -> PlotOptions {
    PlotOptions { max_plot_bytes: 1 << 24, ..PlotOptions::default() }
}

fn texts(node: Node<'_, '_>) -> Vec<String> {
    let texts = node.descendants().filter(|node| node.has_tag_name("text"));
    texts.map(|node| node.text().unwrap_or_default().to_owned()).collect()
}

fn of_class<'a>(document: &'a Document<'_>, class: &str) -> Vec<Node<'a, 'a>> {
    let has = |node: &Node<'_, '_>| node.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class));
    document.descendants().filter(has).collect()
}

/// A read-write dependency in each direction: a write skew.
fn write_skew() -> String {
    let history = History::parse(
        "{:type :ok, :process 0, :value [[:append :x 1] [:r :y []]]}
         {:type :info, :process 1, :value [[:append :y 1] [:r :x nil]]}
         {:type :ok, :process 2, :value [[:append :y 2] [:r :x []]]}
         {:type :ok, :process 3, :value [[:r :x [1]] [:r :y [2]]]}",
    )
    .unwrap();
    let report = ListAppend::default().check(&history).unwrap();
    let witness = &report.anomaly("G2-item").expect("write skew").witnesses[0];
    let options = PlotOptions { title: "G2-item".into(), ..PlotOptions::default() };
    graph::svg(&witness.ops, &witness.steps, &options).unwrap()
}

/// Registers, a failed write, a wrapped transaction, and two transactions with all relations between them.
fn component() -> String {
    let long: Vec<Datum> = (0..14).map(|key| mop("r", key, 1000 + key)).collect();
    let ops = [
        op("T1", 5, Datum::Vector(vec![mop("w", 3, 1003), mop("w", "k", 2)])),
        op("T2", 9, Datum::Vector(long)),
        WitnessOp { kind: OpKind::Fail, process: None, ..op("T3", 12, Datum::Vector(vec![mop("w", 13, 7)])) },
    ];
    let versions = |key: Datum, value: i64, next: i64, mut step: Step| {
        step.because = "of a reason".into();
        step.with_versions(Some(key), Some(value.into()), Some(next.into()))
    };
    let steps = [
        versions(3.into(), 1003, 1003, step(0, 1, "wr")),
        versions(13.into(), 1013, 7, step(1, 2, "rw")),
        step(2, 0, "realtime"),
        step(0, 1, "process"),
        step(2, 1, "else"),
    ];
    graph::svg(&ops, &steps, &PlotOptions::default()).unwrap()
}

#[test]
fn pictures_stay_as_they_are() {
    // Colours may change, but content and positions should not change by accident.
    let plain = |svg: &str| svg.lines().filter(|line| !line.starts_with("<style>")).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!("write_skew", plain(&write_skew()));
    insta::assert_snapshot!("component", plain(&component()));
}

#[test]
fn every_op_and_every_step_is_there() {
    let svg = component();
    let document = Document::parse(&svg).unwrap();
    let boxes = of_class(&document, "txn");
    assert_eq!(boxes.len(), 3);
    assert_eq!(texts(boxes[0]), ["T1", "ok, index 5, process 1", "w 3 1003", "w \"k\" 2"]);
    assert_eq!(texts(boxes[2]), ["T3", "fail, index 12", "w 13 7"]);
    assert!(boxes[2].attribute("class").unwrap().contains("fail"));
    let edges: Vec<_> = of_class(&document, "e").into_iter().filter(|node| !texts(*node).is_empty()).collect();
    let labels: Vec<Vec<String>> = edges.iter().map(|edge| texts(*edge)).collect();
    assert_eq!(labels, [["wr"], ["rw"], ["realtime"], ["process"], ["else"]]);
    let title = edges[0].children().find(|node| node.has_tag_name("title")).and_then(|node| node.text());
    assert_eq!(title, Some("T1 wr T2: of a reason"));
    let described = document.descendants().find(|node| node.has_tag_name("desc")).and_then(|node| node.text());
    assert_eq!(
        described,
        Some("3 transactions; relations: T1 wr T2, T2 rw T3, T3 realtime T1, T1 process T2, T3 else T2.")
    );
}

#[test]
fn steps_that_lead_nowhere_are_counted() {
    let ops = [op("T1", 0, Datum::Nil), op("T2", 1, Datum::Nil)];
    let steps = [step(0, 1, "ww"), step(1, 1, "ww"), step(0, 2, "ww"), step(usize::MAX, 0, "ww")];
    let svg = graph::svg(&ops, &steps, &large()).unwrap();
    assert!(svg.contains("Not drawn: 3 of 4 relations"), "{svg}");
    assert!(!graph::svg(&ops, &steps[..1], &large()).unwrap().contains("Not drawn"));
}

#[test]
fn what_is_too_large_is_not_drawn_and_says_so() {
    let ops = vec![op("T", 0, Datum::Nil); TXNS_MAX + 1];
    let steps = vec![step(0, 1, "ww"); STEPS_MAX + 1];
    let said = graph::svg(&ops, &[], &large()).unwrap_err();
    assert_eq!(said, TooLarge::Txns { count: TXNS_MAX + 1 });
    assert_eq!(said.to_string(), "No picture was drawn, because 121 transactions are more than the maximum of 120.");
    assert_eq!(graph::svg(&ops[1..], &steps, &large()), Err(TooLarge::Steps { count: STEPS_MAX + 1 }));
    assert!(graph::svg(&ops[1..], &steps[1..], &large()).is_ok(), "the limits themselves are allowed");

    let whole = graph::svg(&ops[..5], &steps[..5], &large()).unwrap().len();
    let limited = |max_plot_bytes| graph::svg(&ops[..5], &steps[..5], &PlotOptions { max_plot_bytes, ..large() });
    assert_eq!(limited(whole).unwrap().len(), whole);
    for bytes_max in [0, 1000, whole - 1] {
        let said = limited(bytes_max).unwrap_err();
        assert_eq!(said, TooLarge::Bytes { bytes_max });
        assert!(said.to_string().contains(&format!("more than {bytes_max} bytes")), "{said}");
    }
}

#[test]
fn nothing_at_all_is_a_picture_too() {
    let svg = graph::svg(&[], &[], &large()).unwrap();
    Document::parse(&svg).unwrap();
}

/// Texts that break XML or its context if they are not escaped.
fn hostile() -> impl Strategy<Value = String> {
    const KNOWN: &[&str] =
        &["<", "&", "\"", "]]>", "<!--", "</text>", "\0", "\u{1b}", "\u{fffe}", "\u{202e}", "\u{2028}", "\n", "漢字"];
    prop_oneof![
        prop::sample::select(KNOWN).prop_map(str::to_owned),
        "\\PC{0,40}",
        prop::collection::vec(any::<char>(), 0..20).prop_map(|chars| chars.into_iter().collect()),
    ]
}

fn process() -> impl Strategy<Value = Option<Client>> {
    prop::option::of(prop_oneof![any::<i64>().prop_map(Client::Number), hostile().prop_map(Client::Name)])
}

fn datum() -> impl Strategy<Value = Datum> {
    let leaf = prop_oneof![
        Just(Datum::Nil),
        any::<i64>().prop_map(Datum::Int),
        any::<f64>().prop_map(Datum::Float),
        hostile().prop_map(Datum::Str),
        hostile().prop_map(Datum::Keyword),
        hostile().prop_map(Datum::Symbol),
        any::<char>().prop_map(Datum::Char),
    ];
    leaf.prop_recursive(3, 40, 8, |inner| {
        let all = prop::collection::vec(inner.clone(), 0..8);
        prop_oneof![
            all.clone().prop_map(Datum::Vector),
            all.clone().prop_map(Datum::List),
            all.prop_map(Datum::Set),
            (hostile(), inner).prop_map(|(tag, inner)| Datum::Tagged(tag, Box::new(inner))),
        ]
    })
}

proptest! {
    #[test]
    fn any_ops_and_steps_make_xml_inside_its_frame(
        ops in prop::collection::vec((hostile(), any::<u64>(), process(), datum()), 0..9),
        steps in prop::collection::vec((0..10_usize, 0..9_usize, hostile(), datum(), hostile()), 0..20),
        title in hostile(),
    ) {
        let ops: Vec<WitnessOp> = ops
            .into_iter()
            .map(|(name, index, process, value)| WitnessOp { process, ..op(&name, index, value) })
            .collect();
        let steps: Vec<Step> = steps
            .into_iter()
            .map(|(from, to, relation, key, because)| {
                Step::new(from, to, relation, because).with_versions(Some(key), None, None)
            })
            .collect();
        let options = PlotOptions { title, ..large() };
        let svg = graph::svg(&ops, &steps, &options).unwrap();
        prop_assert_eq!(&svg, &graph::svg(&ops, &steps, &options).unwrap());
        prop_assert!(!svg.contains(|c| c != '\n' && is_hidden(c)), "{:?}", svg);
        let document = Document::parse(&svg).map_err(|error| TestCaseError::fail(format!("{error}: {svg}")))?;
        let root = document.root_element();
        let parse = |text: &str| text.parse::<i64>().unwrap();
        let number = |node: Node<'_, '_>, name: &str| node.attribute(name).map_or(0, parse);
        let (width, height) = (number(root, "width"), number(root, "height"));
        for node in document.descendants().filter(|node| node.has_tag_name("rect") || node.has_tag_name("text")) {
            // Groups shift their content.
            let (mut x, mut y) = (number(node, "x"), number(node, "y"));
            for shift in node.ancestors().filter_map(|node| node.attribute("transform")) {
                let inner = shift.strip_prefix("translate(").and_then(|rest| rest.strip_suffix(')')).unwrap();
                let (dx, dy) = inner.split_once(' ').unwrap();
                x += dx.parse::<i64>().unwrap();
                y += dy.parse::<i64>().unwrap();
            }
            prop_assert!(x >= 0 && x + number(node, "width") <= width, "{:?}", node);
            prop_assert!(y >= 0 && y + number(node, "height") <= height, "{:?}", node);
        }
        prop_assert_eq!(of_class(&document, "txn").len(), ops.len());
    }

    #[test]
    fn any_reads_make_a_page_that_is_well_formed(
        key in datum(),
        lists in prop::collection::vec((process(), prop::collection::vec(datum(), 0..6)), 0..6),
        title in hostile(),
    ) {
        let read = |(index, (process, list))| KeyRead { index, process, kind: OpKind::Info, list };
        let reads: Vec<KeyRead> = (0..).zip(lists).map(read).collect();
        let page = reads::html(&key, &reads, &PlotOptions { title, ..large() });
        prop_assert!(!page.contains(|c| c != '\n' && is_hidden(c)), "{:?}", page);
        // Except for tags that HTML permits to be open, the page is also XML.
        let xml = page.replace("<!DOCTYPE html>", "").replace("<br>", "<br/>");
        let xml = ["utf-8\"", "initial-scale=1\""].iter().fold(xml, |xml, end| xml.replace(&format!("{end}>"), &format!("{end}/>")));
        let document = Document::parse(&xml).map_err(|error| TestCaseError::fail(format!("{error}: {page}")))?;
        let widths: Vec<usize> = document
            .descendants()
            .filter(|node| node.has_tag_name("tr"))
            .filter(|row| row.children().all(|cell| cell.attribute("colspan").is_none()))
            .map(|row| row.children().filter(Node::is_element).count())
            .collect();
        prop_assert!(widths.windows(2).all(|two| two[0] == two[1]), "rows of one width: {:?}", widths);
    }
}
