//! Tests of dropped histories, repeated checks, and cancelled checks.

#![cfg(unix)]

use crate::client::{Answer, Served, put, serve};
use histcheck_serve::{Config, Judge, Suggest, SuggestFn, Suggested};
use serde_json::Value;
use std::sync::Arc;

pub(crate) fn judged(config: &mut Config) {
    let checkers = ["finds", "refuses", "fails", "sleeps"].map(|name| (name.to_owned(), format!("It {name}.")));
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/judge.sh").into();
    let mut judge = Judge::new(program, checkers.to_vec());
    judge.history_bytes_max = 1000;
    config.judge = Some(judge);
}

pub(crate) fn json(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}

/// The check, as soon as it reaches one of these stages.
pub(crate) fn at_stage(served: &Served, id: &str, stages: &[&str]) -> Value {
    loop {
        let check = json(&served.get(&format!("/api/checks/{id}")));
        if stages.iter().any(|stage| check["stage"] == *stage) {
            return check;
        }
        std::thread::yield_now();
    }
}

pub(crate) fn dropped(served: &Served, checker: &str) -> Value {
    let answer = served.request(&format!("POST /api/check?checker={checker}&name=../../my.jsonl"), "", "{}\n");
    assert_eq!(answer.status, 202, "{}", answer.text());
    let id = json(&answer)["id"].as_str().unwrap().to_owned();
    at_stage(served, &id, &["done", "failed", "cancelled"])
}

#[test]
fn a_dropped_history_becomes_a_run_with_its_verdict() {
    let served = serve(judged);
    let check = dropped(&served, "finds");
    assert_eq!((&check["result"]["valid"], &check["result"]["anomaly_types"][0]), (&false.into(), &"G0".into()));
    let run = check["run"].as_str().unwrap();
    let kept = std::fs::read_to_string(served.directory.path().join(run).join("history.jsonl")).unwrap();
    assert_eq!(kept, "{}\n");
    while served.runs()["runs"]
        .as_array()
        .unwrap()
        .iter()
        .all(|listed| listed["id"] != run || listed["verdict"] != "invalid")
    {
        std::thread::yield_now();
    }
    let page = served.get(check["page"].as_str().unwrap()).text();
    assert!(
        page.contains("invalid") && page.contains("G0") && page.contains("Check of <bdi>../../my.jsonl</bdi>"),
        "{page}"
    );
    assert!(served.get(&format!("{}/report.html", check["page"].as_str().unwrap())).text().contains("found"));
}

#[test]
fn each_key_is_checked_separately_if_that_is_asked_for() {
    let served = serve(judged);
    for (query, expected) in [("keyed=yes", true), ("keyed=no", false), ("", false)] {
        let check = dropped(&served, &format!("finds&{query}"));
        let told = (check["keyed"].as_bool(), check["result"]["keyed"].as_bool());
        assert_eq!(told, (Some(expected), Some(expected)), "{query}");
        let page = served.get(check["page"].as_str().unwrap()).text();
        assert_eq!(page.contains("Checker: finds, each key separately"), expected, "{page}");
    }
    for (query, what) in [
        ("keyed=maybe", "keyed must be yes or no."),
        ("keys=yes", "Unknown parameter keys; expected one of checker, levels, keyed, name, run."),
    ] {
        let refused = served.request(&format!("POST /api/check?checker=finds&{query}"), "", "{}");
        assert_eq!((refused.status, &json(&refused)["error"]["message"]), (400, &what.into()));
    }
}

#[test]
fn what_is_wrong_is_shown_where_it_is() {
    let served = serve(judged);
    let check = dropped(&served, "refuses");
    assert_eq!((&check["result"]["error"]["line"], &check["result"]["error"]["column"]), (&3.into(), &4.into()));
    let page = served.get(check["page"].as_str().unwrap()).text();
    assert!(page.contains("Line 3, column 4: ") && page.contains("no &lt;b&gt;map&lt;/b&gt;"), "{page}");
    let check = dropped(&served, "fails");
    assert_eq!((&check["stage"], &check["messages"]), (&"failed".into(), &"error: <b>no such level</b>\n".into()));
    let page = served.get(check["page"].as_str().unwrap()).text();
    assert!(
        page.contains("there is no result.") && page.contains("&lt;b&gt;no such level"),
        "no verdict at all: {page}"
    );
}

#[test]
fn a_run_can_be_checked_again_and_keeps_its_files() {
    let served = serve(judged);
    served.runs();
    let id = "etcd/20260107T093012.123Z";
    let started = served.request("POST /check", "", &format!("run={id}&checker=finds&levels=serializable"));
    assert_eq!(started.status, 303, "{}", started.text());
    let address = started.header("location").unwrap();
    let check = at_stage(&served, address.strip_prefix("/checks/").unwrap(), &["done"]);
    assert_eq!((&check["run"], &check["levels"]), (&id.into(), &"serializable".into()));
    assert!(served.get(&format!("/runs/{id}")).text().contains(address), "the run leads to it");
    assert!(!served.directory.path().join(id).join("report.html").exists());
    assert_eq!(served.request("POST /api/runs/redis/check?checker=finds", "", "").status, 404, "it has no history");
    assert_eq!(served.request("POST /api/runs/none/check?checker=finds", "", "").status, 404);
}

#[test]
fn a_run_of_any_name_can_be_checked_again() {
    let served = serve(judged);
    served.runs();
    let name = "%3Cb%3E%26%22%27%E2%80%AE.jsonl";
    let page = served.get(&format!("/runs/{name}")).text();
    assert!(!page.contains('\u{202e}') && page.contains(&format!("name=\"run\" value=\"{name}\"")), "{page}");
    let started = served.request("POST /check", "", &format!("run={}&checker=finds", name.replace('%', "%25")));
    assert_eq!(started.status, 303, "{}", started.text());
    let address = started.header("location").unwrap();
    at_stage(&served, address.strip_prefix("/checks/").unwrap(), &["done"]);
    let page = served.get(address).text();
    assert!(!page.contains('\u{202e}') && !page.contains("<b>"), "{page}");
}

#[test]
fn a_run_is_not_taken_for_another_whose_name_looks_like_its_address() {
    let served = serve(|config| {
        judged(config);
        put(&config.directory, "a b.edn", "{");
        put(&config.directory, "a%20b.edn", "{:index 0}\n");
    });
    served.runs();
    for (id, address) in [("a b.edn", "a%20b.edn"), ("a%20b.edn", "a%2520b.edn")] {
        let page = served.get(&format!("/runs/{address}")).text();
        let field = format!("name=\"run\" value=\"{address}\"");
        assert_eq!(page.matches(&field).count(), 2, "in both forms: {page}");
        // The form as a browser sends it.
        let sent = address.replace('%', "%25");
        let started = served.request("POST /check", "", &format!("run={sent}&checker=finds"));
        assert_eq!(started.status, 303, "{}", started.text());
        let check = started.header("location").unwrap().strip_prefix("/checks/").unwrap().to_owned();
        assert_eq!(at_stage(&served, &check, &["done"])["run"], id);
        let title = format!("<bdi>{id}</bdi></a></th>");
        for query in [format!("run={sent}&b=redis"), format!("a={address}&b=redis"), format!("a=redis&b={address}")] {
            let compared = served.get(&format!("/compare?{query}"));
            assert!(compared.text().contains(&title), "{query}: {}", compared.text());
        }
    }
}

#[test]
fn a_check_is_cancelled_with_all_that_it_started() {
    let served = serve(judged);
    let start =
        || json(&served.request("POST /api/check?checker=sleeps", "", "{}\n"))["id"].as_str().unwrap().to_owned();
    let ids = [start(), start(), start()];
    for id in &ids[..2] {
        at_stage(&served, id, &["running"]);
    }
    assert_eq!(json(&served.get(&format!("/api/checks/{}", ids[2])))["stage"], "waiting", "two at one time");
    assert_eq!(served.request(&format!("DELETE /api/checks/{}", ids[0]), "", "").status, 202);
    let check = at_stage(&served, &ids[0], &["cancelled"]);
    assert_eq!(check.get("result"), None, "what is cancelled has no verdict");
    at_stage(&served, &ids[2], &["running"]);
    assert_eq!(served.request(&format!("POST /checks/{}/cancel", ids[1]), "", "").status, 303);
    at_stage(&served, &ids[1], &["cancelled"]);
    // The server ends here.
}

#[test]
fn who_asks_for_nonsense_is_told_so_and_nothing_is_left() {
    let served = serve(judged);
    let post = |query: &str, body: &str| served.request(&format!("POST /api/check{query}"), "", body);
    for (query, body, status, part) in [
        ("", "{}", 400, "No checker was chosen"),
        ("?checker=nope", "{}", 400, "Unknown checker nope"),
        ("?checker=finds,nope", "{}", 400, "Unknown checker nope"),
        ("?checker=--plugin", "{}", 400, "Unknown checker --plugin"),
        ("?checker=finds&levels=a%20--plugin%20b", "{}", 400, "must be comma-separated names"),
        ("?checker=finds", "", 400, "The history is empty"),
        ("?checker=finds", &"x".repeat(1001), 413, "more than 1000 bytes"),
    ] {
        let answer = post(query, body);
        assert_eq!(answer.status, status, "{query}: {}", answer.text());
        assert!(answer.text().contains(part), "{query}: {}", answer.text());
    }
    let foreign = served.request("POST /api/check?checker=finds", "Origin: http://evil.example\r\n", "{}");
    assert_eq!(foreign.status, 403, "{}", foreign.text());
    let left = std::fs::read_dir(served.directory.path().join("dropped")).map_or(0, Iterator::count);
    assert_eq!((left, json(&served.get("/api/checks"))["checks"].as_array().unwrap().len()), (0, 0));
}

#[test]
fn checkers_are_suggested() {
    let served = serve(|config| {
        judged(config);
        let suggest: SuggestFn = Arc::new(|source| {
            let mut text = String::new();
            source.read_to_string(&mut text).map_err(|error| error.to_string())?;
            let suggested = |keyed| Suggested { checker: text.trim().to_owned(), keyed };
            if text.contains("nothing") {
                Err("line 1: no op".to_owned())
            } else {
                Ok(vec![suggested(text == "refuses")])
            }
        });
        if let Some(judge) = &mut config.judge {
            judge.suggest = Some(Suggest(suggest));
        }
    });
    served.runs();
    put(served.directory.path(), "a.edn", "finds");
    put(served.directory.path(), "a b.edn", "a run with a space");
    put(served.directory.path(), "a%20b.edn", "a run with a percent sign");
    while served.runs()["total"] != 6 {
        std::thread::yield_now();
    }
    let post = |query: &str, body: &str| served.request(&format!("POST /api/suggest{query}"), "", body);
    let said = |answer: &Answer| (json(answer)["checkers"].to_string(), json(answer)["keyed"].to_string());
    assert_eq!(said(&post("", "refuses")), (r#"["refuses"]"#.to_owned(), r#"["refuses"]"#.to_owned()));
    assert_eq!(said(&post("?run=a.edn", "")), (r#"["finds"]"#.to_owned(), "[]".to_owned()));
    // The id is decoded once, as in every address.
    assert_eq!(said(&post("?run=a%20b.edn", "")).0, r#"["a run with a space"]"#);
    assert_eq!(said(&post("?run=a%2520b.edn", "")).0, r#"["a run with a percent sign"]"#);
    assert_eq!(post("?run=etcd%252F20260107T093012.123Z", "").status, 404, "it is not decoded twice");
    let wrong = post("", "nothing");
    assert_eq!((wrong.status, &json(&wrong)["error"]["message"]), (422, &"line 1: no op".into()));
    assert_eq!((post("?run=none", "").status, post("?run=redis", "").status), (404, 404));
    assert_eq!(post("", &"x".repeat((1 << 20) + 1)).status, 413);
    assert_eq!(served.request("POST /api/suggest", "Origin: http://evil.example\r\n", "x").status, 403);
}

#[test]
fn a_server_that_only_reads_checks_nothing() {
    let served = serve(|config| {
        judged(config);
        config.is_read_only = true;
    });
    served.runs();
    for line in [
        "POST /api/check?checker=finds",
        "POST /check",
        "POST /api/runs/redis/check?checker=finds",
        "DELETE /api/checks/1",
    ] {
        assert_eq!(served.request(line, "", "{}").status, 403, "{line}");
    }
    assert!(!served.get("/").text().contains("Check a history"));
    assert!(
        !served.directory.path().join("dropped").exists() && !served.directory.path().join(".histcheck-serve").exists()
    );
}

#[test]
fn no_link_leads_a_check_out_of_the_directory() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(outside.path().join("checks/1")).unwrap();
    let text = r#"{"id":"1","run":"a","history":"a","name":null,"checkers":"finds","levels":"","stage":"done","begun_ms":1,"ended_ms":1}"#;
    std::fs::write(outside.path().join("checks/1/check.json"), text).unwrap();
    std::fs::write(outside.path().join("checks/1/report.html"), "secret").unwrap();
    let served = serve(|config| {
        judged(config);
        std::os::unix::fs::symlink(outside.path(), config.directory.join(".histcheck-serve")).unwrap();
        std::os::unix::fs::symlink(outside.path(), config.directory.join("dropped")).unwrap();
    });
    served.runs();
    assert_eq!(served.get("/checks/1/report.html").status, 404);
    assert_eq!(served.request("POST /api/check?checker=finds", "", "{}").status, 507);
    assert_eq!(served.request("POST /api/runs/etcd/20260107T093012.123Z/check?checker=finds", "", "").status, 503);
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1, "nothing was written there");
}

#[test]
fn checks_are_known_after_a_restart() {
    let first = serve(judged);
    let done = dropped(&first, "finds")["id"].as_str().unwrap().to_owned();
    let folder = first.directory.path().join(".histcheck-serve/checks/20260101T000000.000Z");
    std::fs::create_dir_all(&folder).unwrap();
    // The record that a killed server leaves.
    let text = r#"{"id":"20260101T000000.000Z","run":"a","history":"a","name":null,"checkers":"finds","levels":"","stage":"running","begun_ms":1,"ended_ms":null}"#;
    std::fs::write(folder.join("check.json"), text).unwrap();
    let directory = first.directory.path().to_owned();
    let second = serve(|config| {
        judged(config);
        config.directory = directory;
    });
    assert_eq!(at_stage(&second, &done, &["done"])["result"]["valid"], false);
    at_stage(&second, "20260101T000000.000Z", &["interrupted"]);
}
