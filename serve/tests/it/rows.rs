//! The rows of histories, as pages and as JSON.

use crate::client::{Served, put, serve};
use serde_json::Value;
use std::fmt::Write as _;

/// A store with a run of this number of transactions, each an invocation and a completion.
fn with_history(txns: u64) -> Served {
    let mut text = String::new();
    for txn in 0..txns {
        let (process, key) = (txn % 3, txn / 10);
        for (at, kind) in ["invoke", "ok"].into_iter().enumerate() {
            let index = txn * 2 + u64::try_from(at).unwrap();
            let time = index * 1_000_000_000;
            _ = writeln!(
                text,
                "{{:index {index}, :time {time}, :process {process}, :type :{kind}, :f :txn, :value [[:append {key} {txn}]]}}"
            );
        }
    }
    let served = serve(|config| put(&config.directory, "runs/a/history.edn", &text));
    put(
        served.directory.path(),
        "runs/a/report.html",
        "<meta name=\"histcheck-verdict\" content=\"false\"><p><span class=\"op\" data-op=\"15\">index 15</span>",
    );
    served.runs();
    served
}

/// The ops in JSON, as soon as the history was read.
fn ops(served: &Served, query: &str) -> Value {
    loop {
        let answer = served.get(&format!("/api/ops/runs/a?{query}"));
        if answer.status != 202 {
            return serde_json::from_slice(&answer.body).unwrap();
        }
        std::thread::yield_now();
    }
}

fn indices(answer: &Value) -> Vec<u64> {
    answer["ops"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer}"))
        .iter()
        .map(|op| op["index"].as_u64().unwrap())
        .collect()
}

#[test]
fn any_part_of_a_history_is_read_by_its_place() {
    let served = with_history(1000);
    let answer = ops(&served, "from=1000&count=3");
    assert_eq!(
        (indices(&answer), &answer["total"], &answer["to"]),
        (vec![1000, 1001, 1002], &2000.into(), &1003.into())
    );
    let op = &answer["ops"][0];
    assert_eq!((&op["process"], &op["type"], &op["line"]), (&"2".into(), &"invoke".into(), &1001.into()));
    assert_eq!(op["value"], "[[:append 50 500]]");
    assert_eq!(indices(&ops(&served, "at=77&count=1")), [77]);
    assert_eq!(indices(&ops(&served, "time=99.5&count=1")), [100]);
    assert_eq!(indices(&ops(&served, "before=10&count=2")), [8, 9]);
    assert_eq!(indices(&ops(&served, "key=50&type=ok&count=500")).len(), 10);
    assert_eq!(indices(&ops(&served, "text=%2050%20505")), [1010, 1011]);
    let wrong = |query: &str| served.get(&format!("/api/ops/runs/a?{query}"));
    for (query, part) in [
        ("kind=ok", "unknown parameter kind"),
        ("from=x", "expected a number"),
        ("count=501", "from 1 to 500"),
        ("type=x", "expected invoke"),
    ] {
        let answer = wrong(query);
        assert_eq!(answer.status, 400, "{query}");
        assert!(answer.text().contains(part), "{query}: {}", answer.text());
    }
    assert_eq!(served.get("/api/ops/runs/none").status, 404);
    assert_eq!(served.get("/api/ops/redis").status, 404, "it has no history");
}

#[test]
fn a_page_leads_from_an_op_to_its_neighbours_and_its_other_half() {
    let served = with_history(1000);
    ops(&served, "");
    let page = served.get("/rows/runs/a?at=15").text();
    for part in [
        "data-total=\"2000\"",
        "data-at=\"15\"",
        "Op 15<span class=\"note\">, line 16</span>",
        "{:index 15, :time 15000000000, :process 1, :type :ok, :f :txn, :value [[:append 0 7]]}",
        "Invoked: <a href=\"/rows/runs/a?at=14\">op 14</a>, invoke, 1 s before.",
        "href=\"/rows/runs/a?process=1\"",
        "<tr class=\"ok\" aria-current=\"true\">",
        "href=\"/rows/runs/a?at=16\"",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let found = served.get("/rows/runs/a?key=99&type=ok").text();
    assert_eq!(found.matches("<tr class=\"ok\"").count(), 10, "{found}");
    assert!(!found.contains("data-total"), "what is searched has pages");
    assert!(served.get("/rows/runs/a?key=none").text().contains("No row matches."));
    assert_eq!(served.get("/rows/runs/a?type=x").status, 400);
    assert_eq!((served.get("/rows/redis").status, served.get("/rows/none").status), (404, 404));
    assert!(served.get("/runs/runs/a").text().contains("href=\"/rows/runs/a\""));
}

#[test]
fn an_op_of_many_fields_shows_the_first_ones() {
    let fields = (0..5000).map(|at| format!(", :field{at} {at}")).collect::<Vec<_>>().concat();
    let text =
        format!("{{:process 0, :type :ok, :f :read{fields}}}\n{{:process 0, :type :ok, :f :read, :a 1, :b 2}}\n");
    let served = serve(|config| put(&config.directory, "runs/a/history.edn", &text));
    served.runs();
    let answer = ops(&served, "");
    let more = answer["ops"][0]["more"].as_str().unwrap();
    assert!(more.starts_with("field0 0, field1 1, ") && more.ends_with('\u{2026}'), "{more}");
    assert_eq!(more.chars().count(), 200);
    assert_eq!(answer["ops"][1]["more"], "a 1, b 2");
}

/// A store with a run that has one op of 17 MB between two short ones.
fn with_a_long_op() -> Served {
    let op = |index: u64, value: &str| {
        format!("{{:index {index}, :time {index}, :process 0, :type :ok, :f :read, :value {value}}}\n")
    };
    let text = [op(3, "1"), op(5, &format!("\"{}\"", "x".repeat(17 << 20))), op(9, "2")].concat();
    let served = serve(|config| put(&config.directory, "runs/a/history.edn", &text));
    served.runs();
    ops(&served, "");
    served
}

#[test]
fn an_op_that_is_too_long_is_named() {
    let served = with_a_long_op();
    let answer = ops(&served, "");
    assert_eq!((indices(&answer), &answer["to"], &answer["ops"][1]["row"]), (vec![3, 9], &3.into(), &2.into()));
    assert_eq!(answer["too_long"], serde_json::json!([{"from": 1, "to": 2}]));
    assert_eq!(ops(&served, "before=3")["too_long"], serde_json::json!([{"from": 1, "to": 2}]));
    assert_eq!(ops(&served, "from=2")["too_long"], serde_json::json!([]));
    let page = served.get("/rows/runs/a").text();
    let (before, behind) = page.split_once("Row 1 is too long to be shown.").unwrap_or_else(|| panic!("{page}"));
    assert!(before.contains("?at=3") && behind.contains("?at=9"), "it stands between the others: {page}");
    let found = served.get("/rows/runs/a?text=x").text();
    assert!(found.contains("Row 1 is too long to be searched and shown.") && !found.contains("No row is"), "{found}");
    let page = served.get("/rows/runs/a?at=5").text();
    assert!(page.contains("The op with index 5, or the next one, is too long to be shown."), "{page}");
    assert!(!page.contains("aria-current"), "{page}");
}

#[test]
fn an_index_that_no_op_has_is_named() {
    let served = with_history(10);
    put(served.directory.path(), "b.edn", "{:index 3, :type :ok, :process 0}\n{:index 8, :type :ok, :process 0}\n");
    while served.runs()["total"] != 5 {
        std::thread::yield_now();
    }
    while served.get("/api/ops/b.edn").status == 202 {
        std::thread::yield_now();
    }
    for (at, shown, note) in [
        (3, 3, None),
        (4, 8, Some("No op has index 4; this is the next one.")),
        (8, 8, None),
        (17, 8, Some("No op has index 17; this is the last one.")),
    ] {
        let page = served.get(&format!("/rows/b.edn?at={at}")).text();
        assert!(page.contains(&format!("<h2>Op {shown}<")), "{at}: {page}");
        assert_eq!(page.contains("No op has index"), note.is_some(), "{at}: {page}");
        assert!(page.contains(note.unwrap_or_default()), "{at}: {page}");
    }
}

#[test]
fn ops_in_a_report_lead_to_their_rows() {
    let served = with_history(20);
    let report = served.get("/files/runs/a/report.html");
    let link = "<a class=\"op\" target=\"_top\" href=\"/rows/runs/a?at=15\">index 15</a>";
    assert!(report.text().contains(link), "{}", report.text());
    let policy = report.header("content-security-policy").unwrap();
    assert!(policy.starts_with("sandbox allow-top-navigation-by-user-activation; default-src 'none'"), "{policy}");
    assert!(!policy.contains("script-src") && !policy.contains("allow-scripts"), "{policy}");
    let kept = std::fs::read_to_string(served.directory.path().join("runs/a/report.html")).unwrap();
    assert!(kept.contains("<span class=\"op\""), "the file stays as it is");
}

#[test]
fn values_are_only_text() {
    let served = serve(|config| {
        put(
            &config.directory,
            "a.edn",
            "{:process \"<b>\", :type :ok, :f \"<i>\u{202e}\", :value \"<script>\", :error \"<u>\"}",
        );
    });
    served.runs();
    while served.get("/api/ops/a.edn").status == 202 {
        std::thread::yield_now();
    }
    for address in ["/rows/a.edn", "/rows/a.edn?at=0", "/rows/a.edn?text=%3Cscript%3E"] {
        let page = served.get(address).text();
        for part in ["<b>", "<i>", "<u>", "<script>\"", "\u{202e}"] {
            assert!(!page.contains(part), "{address}: {part}: {page}");
        }
        assert!(page.contains("&lt;script&gt;"), "{address}: {page}");
    }
    assert!(!served.get("/api/ops/a.edn").text().contains('\u{202e}'));
}

#[test]
fn the_directory_itself_may_be_a_run() {
    let served = serve(|config| {
        put(&config.directory, "results.edn", "{:valid? true}");
        put(&config.directory, "history.edn", "{:index 7, :process 0, :type :ok, :f :read, :value 3}\n");
    });
    while !served.runs()["runs"].as_array().unwrap().iter().any(|run| run["id"] == ".") {
        std::thread::yield_now();
    }
    while served.get("/api/ops/").status == 202 {
        std::thread::yield_now();
    }
    // A browser requests /rows/ for a link to /rows/. (with a dot).
    for address in ["/runs/", "/runs/.", "/rows/?at=7", "/rows/.?at=7", "/api/ops/", "/api/runs/"] {
        assert_eq!(served.get(address).status, 200, "{address}");
    }
}
