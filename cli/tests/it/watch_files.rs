//! `histcheck watch FILE`: behaviour that depends on the history being in a file.

use super::watch::Started;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::ChildStdout;

/// A watch of a history in progress, and its output.
struct Printing {
    watch: Started,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Printing {
    fn new(model: &str, path: &Path) -> Printing {
        let mut watch = Started::new(&format!("watch -m {model} --keep-going {}", path.display()));
        let lines = BufReader::new(watch.child.stdout.take().unwrap()).lines();
        Printing { watch, lines }
    }

    /// The report on the next violation.
    fn violation(&mut self) -> Vec<String> {
        let lines = self.lines.by_ref().map(Result::unwrap);
        lines.take_while(|line| !line.contains("The history continues.")).collect()
    }

    /// The report on the whole history, and the exit code.
    fn end(mut self) -> (Vec<String>, Option<i32>) {
        self.watch.interrupt();
        let lines = self.lines.map(Result::unwrap).collect();
        (lines, self.watch.child.wait().unwrap().code())
    }
}

/// Transactions of list-append, each with a read before its append; four per key. Some reads miss the last append.
fn appends(txns: u32, stale: [u32; 2]) -> String {
    let op = |kind: &str, process: u32, value: String| {
        format!("{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"txn\",\"value\":{value}}}\n")
    };
    let txn = |txn: u32| {
        let (key, process) = (txn / 4, txn % 4);
        let mut before: Vec<u32> = (4 * key..txn).collect();
        if stale.contains(&txn) {
            before.pop();
        }
        let value = |read: String| format!("[[\"r\",{key},{read}],[\"append\",{key},{txn}]]");
        op("invoke", process, value("null".to_owned())) + &op("ok", process, value(format!("{before:?}")))
    };
    (0..txns).map(txn).collect()
}

/// Only a part of this history is read again. The report also contains the counts of the run itself, and nothing that
/// only the part shows, such as elements that were appended before it.
#[test]
fn a_report_on_a_part_counts_all_violations() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.jsonl");
    std::fs::write(&path, appends(50_060, [50_051, 50_058])).unwrap();
    let mut watch = Printing::new("list-append", &path);
    (0..2).for_each(|_| _ = watch.violation());
    let (report, code) = watch.end();
    let has = |note: &str| report.iter().any(|line| line.contains(note));
    assert!(has("This report covers the ops from index 100100 to 100103"), "{report:?}");
    assert!(has("2 ops proved a violation, the last one at index 100117."), "{report:?}");
    assert!(!has("garbage-read"), "{report:?}");
    assert_eq!(code, Some(1));
}

/// The file is emptied after its last op was read. It may have contained further ops by then, although the indices of
/// all others are consecutive.
#[test]
fn ops_may_be_missing_behind_the_last_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.jsonl");
    let op = |index: u64, kind: &str, f: &str, value: i64| {
        format!("{{\"index\":{index},\"process\":0,\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value}}}\n")
    };
    let text =
        op(0, "invoke", "add", 1) + &op(1, "ok", "add", 1) + &op(2, "invoke", "read", 7) + &op(3, "ok", "read", 7);
    std::fs::write(&path, text).unwrap();
    let mut watch = Printing::new("counter", &path);
    // Everything was read by then.
    let first = watch.violation();
    assert!(!first.iter().any(|line| line.contains("emptied")), "{first:?}");
    std::fs::write(&path, "").unwrap();
    let (report, code) = watch.end();
    assert!(report.iter().any(|line| line.contains("was emptied or replaced while it was watched")), "{report:?}");
    assert_eq!(code, Some(1), "what was certain stays so");
}
