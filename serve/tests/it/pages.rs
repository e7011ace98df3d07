//! Tests of the content of pages.

use crate::client::{put, serve};
use histcheck_serve::{Config, Server};

#[test]
fn the_list_has_each_run_with_its_verdict() {
    let served = serve(|_| {});
    let runs = served.runs();
    assert_eq!((&runs["schema"], &runs["total"], &runs["pages"]), (&1.into(), &3.into(), &1.into()));
    let run = runs["runs"].as_array().unwrap().iter().find(|run| run["id"] == "etcd/20260107T093012.123Z").unwrap();
    assert_eq!(
        (&run["verdict"], &run["ops"], &run["length_ns"]),
        (&"invalid".into(), &2.into(), &61_000_000_000_u64.into())
    );
    assert_eq!((&run["anomaly_types"][0], &run["time"]), (&"G1c".into(), &"2026-01-07T09:30:12.000Z".into()));
    let page = served.get("/").text();
    for part in [
        "3 runs: 1 invalid, 1 valid, 1 without a verdict.",
        "href=\"/runs/etcd/20260107T093012.123Z\"",
        "1 min 1 s",
        "G1c",
        "2026-01-07 09:30:12",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn an_address_says_what_is_seen() {
    let served = serve(|_| {});
    served.runs();
    let page = served.get("/?verdict=invalid&sort=name").text();
    assert!(page.contains("1 of 3 runs: 1 invalid.") && !page.contains("/runs/redis"), "{page}");
    assert!(page.contains("href=\"/?verdict=invalid&amp;sort=-name\""), "a second click turns it around: {page}");
    assert!(served.get("/?name=nothing").text().contains("No run matches."));
    let wrong = served.get("/?verdict=red");
    assert_eq!(wrong.status, 400);
    assert!(wrong.text().contains("expected valid, invalid, unknown, error or none"));
    let wrong = served.get("/api/runs?verdikt=invalid");
    assert_eq!(wrong.status, 400, "a filter that is not understood is not left out");
    assert!(wrong.text().contains("unknown parameter verdikt"), "{}", wrong.text());
}

#[test]
fn a_run_has_its_report_its_pictures_and_its_files() {
    let served = serve(|_| {});
    served.runs();
    let page = served.get("/runs/redis").text();
    for part in [
        "src=\"/files/redis/report.html\"",
        "src=\"/files/redis/n/cycle.svg\"",
        "href=\"/zip/redis.zip\"",
        "timelines/a.html",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let report = served.get("/files/redis/report.html");
    assert_eq!(report.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(report.text().ends_with("<p>fine</p>"));
    let history = served.get("/files/etcd/20260107T093012.123Z/history.edn");
    assert_eq!(
        (history.header("content-type"), history.header("content-length")),
        (Some("text/plain; charset=utf-8"), Some("50"))
    );
    let head = served.request("HEAD /files/redis/report.html", "", "");
    assert_eq!((head.status, head.body.len(), head.header("content-length")), (200, 0, Some("57")));
    let run: serde_json::Value = serde_json::from_slice(&served.get("/api/runs/redis").body).unwrap();
    assert_eq!((&run["verdict"], &run["files"][2]["path"]), (&"valid".into(), &"timelines/a.html".into()));
}

#[test]
fn the_contract_has_each_address_for_programs() {
    let served = serve(|_| {});
    let contract: serde_json::Value = serde_json::from_slice(&served.get("/api/openapi.json").body).unwrap();
    let paths: Vec<&String> = contract["paths"].as_object().unwrap().keys().collect();
    let all = [
        "/check",
        "/checks",
        "/checks/{id}",
        "/live",
        "/ops/{id}",
        "/runs",
        "/runs/{id}",
        "/runs/{id}/check",
        "/suggest",
    ];
    assert_eq!(paths, all.map(|path| format!("/api{path}")).iter().collect::<Vec<_>>());
    let listed = &served.runs()["runs"][0];
    let mut required: Vec<&str> = contract["components"]["schemas"]["Run"]["required"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|key| key.as_str())
        .collect();
    required.sort_unstable();
    assert_eq!(required, listed.as_object().unwrap().keys().collect::<Vec<_>>(), "a run has just these keys");
    for absent in ["/live", "/api/live"] {
        assert_eq!(served.get(absent).status, 404, "{absent}: no run goes on");
    }
}

#[test]
fn two_runs_are_compared() {
    let served = serve(|_| {});
    served.runs();
    let page = served.get("/compare?a=redis&b=etcd/20260107T093012.123Z").text();
    for part in [
        "<tr class=\"differs\"><th scope=\"row\">Verdict",
        "1 min 1 s",
        "<div><bdi>G1c</bdi></div>",
        "results.edn (50 bytes)",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let same = served.get("/compare?a=redis&b=redis").text();
    assert!(!same.contains("differs\""), "{same}");
    assert_eq!(served.get("/compare?a=redis&b=nothing").status, 404);
    assert!(served.get("/runs/redis").text().contains("action=\"/compare\""));
}

#[test]
fn many_runs_have_pages() {
    let served = serve(|_| {});
    for at in 0..450 {
        put(served.directory.path(), &format!("many/{at:03}.jsonl"), "{\"index\":0}\n");
    }
    while served.runs()["total"] != 453 {
        std::thread::yield_now();
    }
    let page = served.get("/?name=many&sort=name&page=2").text();
    assert!(page.contains("Page 2 of 3") && page.contains("many/200.jsonl") && !page.contains("many/199.jsonl"));
    assert!(page.contains("rel=\"next\" href=\"/?name=many&amp;sort=name&amp;page=3\""));
    assert!(served.get("/?name=many&page=99").text().contains("Page 3 of 3"), "the last one instead of none");
}

#[test]
fn a_server_needs_a_directory_and_a_free_address() {
    let mut config = Config::new("/nonexistent".into());
    config.listen.set_port(0);
    assert!(Server::bind(config).is_err());
    let served = serve(|_| {});
    let mut config = Config::new(served.directory.path().into());
    config.listen = served.address;
    assert_eq!(Server::bind(config).unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
}
