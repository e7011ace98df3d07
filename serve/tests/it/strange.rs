//! Tests with pipes and links in place of the server's files.

#![cfg(unix)]

use crate::checks::{dropped, json, judged};
use crate::client::{put, serve};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// Runs `work` with a time limit: opening a pipe would block forever.
fn within_a_minute(work: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    match is_done.recv_timeout(Duration::from_mins(1)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("something waits"),
        _ => thread.join().unwrap(),
    }
}

fn pipe(path: &Path) {
    let _ = fs::remove_file(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Writes the record of a check into a folder.
fn put_record(root: &Path, folder: &str, stage: &str) {
    let id = folder.rsplit('/').next().unwrap();
    let text = format!(
        r#"{{"id":"{id}","run":"redis","history":"a","name":null,"checkers":"finds","levels":"","stage":"{stage}","begun_ms":1,"ended_ms":1}}"#
    );
    put(root, &format!("{folder}/check.json"), &text);
}

#[test]
fn nothing_waits_for_a_pipe() {
    within_a_minute(|| {
        let served = serve(|config| {
            judged(config);
            let root = &config.directory;
            pipe(&root.join("dropped/20260101T000000.000Z/check.json"));
            pipe(&root.join(".histcheck-serve/index.jsonl"));
            for (id, stage, file) in [("1", "failed", "messages.txt"), ("2", "done", "result.json")] {
                put_record(root, &format!(".histcheck-serve/checks/{id}"), stage);
                pipe(&root.join(format!(".histcheck-serve/checks/{id}/{file}")));
                pipe(&root.join(format!(".histcheck-serve/checks/{id}/report.html")));
            }
        });
        served.runs();
        assert_eq!(json(&served.get("/api/checks"))["checks"].as_array().unwrap().len(), 2);
        for (id, key, nothing) in [("1", "messages", "".into()), ("2", "result", serde_json::Value::Null)] {
            assert_eq!(json(&served.get(&format!("/api/checks/{id}")))[key], nothing, "{id}");
            let page = served.get(&format!("/checks/{id}"));
            assert_eq!((page.status, page.text().contains("<iframe")), (200, false), "{}", page.text());
            for file in ["messages.txt", "result.json", "report.html"] {
                assert_eq!(served.get(&format!("/checks/{id}/{file}")).status, 404, "{id}/{file}");
            }
        }
    });
}

#[test]
fn no_link_leads_from_a_check_to_another_file() {
    let outside = tempfile::tempdir().unwrap();
    put(outside.path(), "secret", r#"{"schema":1,"secret":"outside"}"#);
    put(outside.path(), "folder/report.html", "secret");
    let served = serve(|config| {
        judged(config);
        for (id, stage, file) in [("1", "failed", "messages.txt"), ("2", "done", "result.json")] {
            put_record(&config.directory, &format!("dropped/{id}"), stage);
            for file in [file, "report.html"] {
                symlink(outside.path().join("secret"), config.directory.join(format!("dropped/{id}/{file}"))).unwrap();
            }
        }
    });
    served.runs();
    for (id, file) in [("1", "messages.txt"), ("2", "result.json")] {
        for address in [format!("/api/checks/{id}"), format!("/checks/{id}")] {
            let answer = served.get(&address);
            let is_shown = answer.text().contains("secret") || answer.text().contains("<iframe");
            assert_eq!((answer.status, is_shown), (200, false), "{address}: {}", answer.text());
        }
        for file in [file, "report.html"] {
            assert_eq!(served.get(&format!("/checks/{id}/{file}")).status, 404, "{id}/{file}");
        }
    }
    // A link replaces the folder while the server runs.
    let id = dropped(&served, "finds")["id"].as_str().unwrap().to_owned();
    assert!(served.get(&format!("/checks/{id}")).text().contains("<iframe"));
    let folder = served.directory.path().join("dropped").join(&id);
    fs::rename(&folder, served.directory.path().join("elsewhere")).unwrap();
    symlink(outside.path().join("folder"), folder).unwrap();
    assert_eq!(served.get(&format!("/checks/{id}/report.html")).status, 404);
    assert!(!served.get(&format!("/checks/{id}")).text().contains("<iframe"));
}
