//! Tests of the content of pages, and that no text breaks out of its place.

use super::*;
use history_core::cast::Cast as _;
use serde_json::Value;

fn page(timeline: &Timeline) -> String {
    html(timeline, &PageOptions::default()).unwrap()
}

/// The data part of a page, as text.
fn data(page: &str) -> &str {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    rest.split_once("</script>").unwrap().0
}

/// The part between the header and the data.
fn body(page: &str) -> String {
    let (_, rest) = page.split_once("<section class=\"facts\">").unwrap();
    let (body, _) = rest.split_once("</section>").unwrap();
    // Writes each row and item on a separate line.
    ["<h2>", "<ul", "<li>", "</ul>", "<details", "<summary>", "<div", "<tbody>", "<tr", "</tbody>", "</details>"]
        .iter()
        .fold(body.to_owned(), |body, tag| body.replace(tag, &format!("\n{tag}")))
        .trim_start()
        .to_owned()
}

#[test]
fn the_data_of_a_small_page() {
    insta::assert_snapshot!(data(&page(&register())), @r##"
    {"unit":"ns","parts":1,"extent":[0,700],"base":"",
    "rows":["process 0","process 1"],
    "row":[0,1,1,0],
    "start":[0,100,100,300],
    "length":[300,300,-1,200],
    "index":[0,1,1,3],
    "completed":[3,3,0,2],
    "status":[0,0,1,2],
    "label":[0,1,2,3],
    "detail":[4,4,5,4],
    "orders":[{"skipped":0,"before":6,"refusal":7,
    "earlier":[],
    "bar":[0,1],
    "at":[150,125],
    "state":[8,8]}],
    "texts":["write 1",
    "read -\u003e 1",
    "write 2",
    "read -\u003e 3",
    "",
    "error: timeout",
    "nil",
    "The register holds 1, and the read saw 3.",
    "1"]}
    "##);
}

#[test]
fn a_page_shows_the_failure_without_script() {
    insta::assert_snapshot!(body(&page(&register())), @r##"
    <h2>Operations that cannot be placed</h2>
    <ul class="refused">
    <li><b>read -&gt; 3</b>, process 0, index 5 to 7, 500 ns to 700 ns</li>
    </ul>
    <details open>
    <summary>The order</summary>
    <div class="wide" tabindex="0" role="region" aria-label="The order"><table aria-label="The order"><thead>
    <tr><th scope="col">step</th><th scope="col">operation</th><th scope="col">by</th><th scope="col">index</th><th scope="col">state after it</th></tr></thead>
    <tbody>
    <tr><th scope="row">at first</th><td></td><td></td><td></td><td>nil</td></tr>
    <tr><th scope="row">1</th><td>write 1</td><td>process 0</td><td>0</td><td>1</td></tr>
    <tr><th scope="row">2</th><td>read -&gt; 1</td><td>process 1</td><td>1</td><td>1</td></tr>
    <tr class="refused"><th scope="row">✕</th><td>read -&gt; 3</td><td>process 0</td><td>5</td><td>The register holds 1, and the read saw 3.</td></tr>
    </tbody></table></div>
    </details>
    "##);
}

#[test]
fn positions_are_divided_so_that_steps_at_one_are_side_by_side() {
    let mut timeline = register();
    timeline.scale = Scale::Positions;
    timeline.bars.iter_mut().for_each(|bar| (bar.start, bar.end) = (3, Some(3)));
    timeline.bars[1].end = Some(4);
    timeline.bars[2].end = Some(4);
    let data: Value = serde_json::from_str(data(&page(&timeline))).unwrap();
    assert_eq!(data["unit"], "position");
    assert_eq!(data["orders"][0]["at"], serde_json::json!([3333, 333]), "a third and two thirds of the way");
}

#[test]
fn times_too_large_to_be_exact_are_counted_from_the_first() {
    let mut timeline = register();
    let epoch = 1_700_000_000_000_000_123;
    for bar in &mut timeline.bars {
        bar.start += epoch;
        bar.end = bar.end.map(|end| end + epoch);
    }
    let page = page(&timeline);
    let data: Value = serde_json::from_str(data(&page)).unwrap();
    assert_eq!(data["base"], "1700000000.000000123 s");
    assert_eq!(data["extent"], serde_json::json!([0, 700]));
    assert_eq!(data["start"], serde_json::json!([0, 100, 100, 300]));
    assert!(
        body(&page).contains("1700000000.000000623 s to 1700000000.000000823 s"),
        "the text contains the exact times"
    );
}

#[test]
fn hostile_texts_do_not_escape_their_elements() {
    let text = "</script><script>alert(1)</script><!--{{data}}]]>&\"'\\\u{2028}\u{202e}\0\n";
    let mut timeline = register();
    for place in [&mut timeline.title, &mut timeline.summary, &mut timeline.orders[0].before] {
        text.clone_into(place);
    }
    timeline.note = Some(text.into());
    timeline.rows.iter_mut().for_each(|row| text.clone_into(row));
    for bar in &mut timeline.bars {
        text.clone_into(&mut bar.label);
        text.clone_into(&mut bar.detail);
    }
    text.clone_into(&mut timeline.orders[0].refusal);
    timeline.orders[0].steps.iter_mut().for_each(|step| text.clone_into(&mut step.state));
    let (hostile, tame) = (page(&timeline), page(&register()));
    for tag in ["<script", "</script", "<!--", "<p", "<tr", "<td"] {
        let notes = usize::from(tag == "<p");
        assert_eq!(hostile.matches(tag).count(), tame.matches(tag).count() + notes, "{tag}");
    }
    assert!(!hostile.contains(['\0', '\u{2028}', '\u{202e}']));
    let data: Value = serde_json::from_str(data(&hostile)).unwrap();
    let shown = "</script><script>alert(1)</script><!--{{data}}]]>&\"'\\\\u{2028}\\u{202e}\\u{0} ";
    assert_eq!(data["texts"][0], shown, "the text is complete, and hidden characters are escaped");
}

#[test]
fn a_page_requests_no_external_resource() {
    let page = page(&register());
    assert!(page.contains("content=\"default-src 'none';"), "the browser forbids external requests");
    for word in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn an_order_that_contradicts_the_times_is_reported() {
    let mut timeline = register();
    timeline.orders[0].steps = vec![step(0, "3"), step(1, "1")];
    assert!(page(&timeline).contains("2 steps contradict the times: they are drawn"));
    assert!(!page(&register()).contains("steps contradict the times"));
}

#[test]
fn references_to_missing_items_are_errors() {
    let error = |change: fn(&mut Timeline)| {
        let mut timeline = register();
        change(&mut timeline);
        html(&timeline, &PageOptions::default()).unwrap_err()
    };
    assert_eq!(error(|timeline| timeline.bars[2].row = 2), TimelineError::Bar { at: 2 });
    assert_eq!(error(|timeline| timeline.bars[1].end = Some(-1)), TimelineError::Bar { at: 1 });
    assert_eq!(error(|timeline| timeline.orders[0].steps[1].bar = 4), TimelineError::Order { at: 0, bar: 4 });
    assert_eq!(error(|timeline| timeline.orders[0].steps[1].bar = 1), TimelineError::Order { at: 0, bar: 1 });
    assert_eq!(error(|timeline| timeline.orders[0].earlier = vec![2]), TimelineError::Order { at: 0, bar: 2 });
    let many = error(|timeline| timeline.bars = vec![bar(0, None); BARS_MAX + 1]);
    assert_eq!(
        many.to_string(),
        "No timeline was drawn, because 100001 operations are more than the maximum of 100000."
    );
    let many = error(|timeline| timeline.orders = vec![Order::default(); ORDERS_MAX + 1]);
    assert_eq!(many, TimelineError::Orders { count: ORDERS_MAX + 1 });
}

#[test]
fn every_order_may_place_the_same_bars() {
    let mut timeline = register();
    timeline.orders.push(timeline.orders[0].clone());
    assert!(page(&timeline).contains("<summary>Order 2 of 2: its last 2 steps</summary>"));
}

#[test]
fn a_page_that_is_too_large_omits_other_orders_first_and_then_the_ends_of_texts() {
    let mut timeline = register();
    let frame = page(&timeline).len();
    timeline.bars[3].detail = format!("{}{}", "x".repeat(1000), "y".repeat(1000));
    timeline.orders.push(timeline.orders[0].clone());
    timeline.orders[1].steps[0].state = "z".repeat(1000);
    let sized = |bytes_max| html(&timeline, &PageOptions { bytes_max });
    let whole = sized(1 << 20).unwrap();
    let no_orders = sized(whole.len() - 1).unwrap();
    assert!(no_orders.contains("1 more orders were omitted") && !no_orders.contains("zzz"));
    assert!(no_orders.contains(&"x".repeat(1000)));
    let short = sized(no_orders.len() - 1).unwrap();
    assert!(!short.contains(&"x".repeat(200)) && short.contains("...yyy"));
    assert!(short.contains("Texts are shortened to 200 characters"));
    for bytes_max in [0, 1, 1000, frame / 2, frame - 1] {
        assert_eq!(sized(bytes_max), Err(TimelineError::Bytes { bytes_max }));
    }
}

/// Converts differences to sums.
fn summed(value: &Value) -> Vec<i64> {
    let mut sum = 0;
    let numbers = value.as_array().unwrap().iter().map(|number| number.as_i64().unwrap());
    numbers
        .map(|number| {
            sum += number;
            sum
        })
        .collect()
}

fn timeline() -> impl Strategy<Value = Timeline> {
    let bar = (0..4_u32, 0..1000_i64, prop::option::of(0..50_i64), 0..90_u64, "[a-c<\"]{0,3}").prop_map(
        |(row, start, long, index, label)| Bar {
            row,
            index,
            completed: long.map(|long| index + 1 + long.cast_unsigned()),
            detail: label.clone(),
            label,
            ..bar(start, long.map(|long| start + long))
        },
    );
    (prop::collection::vec(bar, 0..30), any::<bool>()).prop_map(|(bars, positions)| {
        let steps =
            (0..bars.len().to_u32()).filter(|bar| bar % 3 > 0).map(|bar| step(bar, &bars[bar.to_usize()].label));
        Timeline {
            rows: (0..4).map(|row| format!("process {row}")).collect(),
            scale: if positions { Scale::Positions } else { Scale::Nanoseconds },
            orders: vec![Order { steps: steps.collect(), ..Order::default() }],
            bars,
            ..Timeline::default()
        }
    })
}

proptest! {
    #[test]
    fn a_page_contains_each_bar_and_step_exactly(timeline in timeline()) {
        let page = page(&timeline);
        // A second hash map has another seed.
        prop_assert_eq!(&page, &self::page(&timeline));
        let data: Value = serde_json::from_str(data(&page)).unwrap();
        let parts = data["parts"].as_i64().unwrap();
        let (starts, indices) = (summed(&data["start"]), summed(&data["index"]));
        let text = |column: &Value, at: usize| data["texts"][column[at].as_u64().unwrap().to_usize()].as_str().unwrap().to_owned();
        let found: Vec<Bar> = (0..starts.len()).map(|at| {
            let start = starts[at] / parts;
            let index = indices[at].cast_unsigned();
            Bar {
                row: data["row"][at].as_u64().unwrap().to_u32(),
                index,
                completed: Some(data["completed"][at].as_u64().unwrap()).filter(|d| *d > 0).map(|d| index + d),
                label: text(&data["label"], at),
                detail: text(&data["detail"], at),
                ..bar(start, Some(data["length"][at].as_i64().unwrap()).filter(|d| *d >= 0).map(|d| start + d / parts))
            }
        }).collect();
        let mut expected = timeline.bars.clone();
        expected.sort_by_key(|bar| bar.start);
        prop_assert_eq!(&found, &expected);
        let order = &data["orders"][0];
        for (nth, at) in summed(&order["bar"]).into_iter().enumerate() {
            let step = &timeline.orders[0].steps[nth];
            prop_assert_eq!(&found[usize::try_from(at).unwrap()], &timeline.bars[step.bar.to_usize()]);
            prop_assert_eq!(text(&order["state"], nth), step.state.clone());
        }
        for (instant, at) in summed(&order["at"]).into_iter().zip(summed(&order["bar"])) {
            let bar = &found[usize::try_from(at).unwrap()];
            prop_assert!(bar.start * parts <= instant && bar.end.is_none_or(|end| instant <= end * parts));
        }
    }
}
