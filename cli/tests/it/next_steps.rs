//! Every unknown verdict names its next step: an existing option, another level, or a change of the recording.
//!
//! Each row is a history without a verdict, and the same history after the next step, which has a verdict. `vacuous.rs`
//! tests the same for every checker.

use crate::{histcheck, stdout};
use serde_json::{Value, json};

/// All options of `histcheck`, including those of its checkers.
pub(crate) fn options() -> Vec<String> {
    let help = stdout(&histcheck("--help").assert().code(0));
    let words = help.split_whitespace().filter_map(|word| word.strip_prefix("--"));
    let name = |word: &str| word.split(|c: char| c != '-' && !c.is_ascii_alphanumeric()).next().unwrap().to_owned();
    let mut names: Vec<String> = words.map(name).collect();
    names.sort();
    names.dedup();
    names
}

/// The error in the next steps of a report, and of its member reports, if there is one.
pub(crate) fn fault(report: &Value, options: &[String]) -> Option<String> {
    let mut several = report["checkers"].as_object().into_iter().flatten();
    if let Some(why) = several.find_map(|(_, one)| fault(one, options)) {
        return Some(why);
    }
    let steps = report["next"].as_array().map_or(&[][..], Vec::as_slice);
    let needs_steps = report["valid"] == "unknown" && report["checkers"].is_null();
    if needs_steps == steps.is_empty() {
        return Some(format!("valid is {}, and these are the next steps: {steps:?}", report["valid"]));
    }
    steps.iter().find_map(|step| {
        let what = step["what"].as_str().unwrap_or_default();
        let option = step["option"].as_str();
        let is_sentence = what.len() > 10 && what.ends_with('.');
        let is_known = option.is_none_or(|option| options.iter().any(|known| known == option));
        (!is_sentence || !is_known).then(|| format!("not a step: {step}"))
    })
}

/// The exit code and the report of one history.
fn judge(words: &str, text: &str) -> (i32, Value) {
    let output = histcheck(&format!("{words} --output json -")).stdin(text.to_owned()).output().unwrap();
    let report = serde_json::from_slice(&output.stdout);
    (output.status.code().unwrap(), report.unwrap_or_else(|error| panic!("{words}: {error}: {output:?}")))
}

fn generate(words: &str) -> String {
    stdout(&histcheck(&format!("gen {words} -f jsonl")).assert().code(0))
}

/// One op, as a line.
fn op(process: u64, kind: &str, f: &str, value: &Value) -> String {
    json!({"process": process, "type": kind, "f": f, "value": value}).to_string() + "\n"
}

/// An operation that ends in this way, with its requested value.
fn done(process: u64, kind: &str, f: &str, value: &Value) -> String {
    op(process, "invoke", f, value) + &op(process, kind, f, value)
}

/// A history without a verdict: the command line, the option of the first step, and the change that gives a verdict.
struct Row {
    words: &'static str,
    text: String,
    option: Option<&'static str>,
    then: &'static str,
    changed: String,
}

fn row(words: &'static str, text: &str, option: Option<&'static str>, then: &'static str, changed: &str) -> Row {
    Row { words, text: text.to_owned(), option, then, changed: changed.to_owned() }
}

fn searches() -> Vec<Row> {
    let (cas, keyed) = (generate("cas-register --ops 60"), generate("cas-register --ops 60 --keyed"));
    let txns = generate("rw-register --txns 60 --bug stale-read --seed 3");
    let stale = generate("rw-register --txns 60 --bug stale-read --seed 2");
    let twice = [1, 1].map(|value| done(0, "ok", "txn", &json!([["w", "x", value]]))).concat();
    let read = done(1, "ok", "txn", &json!([["r", "x", 1]]));
    let once = done(0, "ok", "txn", &json!([["w", "x", 1]])) + &read;
    let (max, model, keys) = (Some("max-configurations"), Some("model"), Some("keyed"));
    let (levels, exact) = (Some("consistency-models"), Some("exact"));
    vec![
        row("-m cas-register --max-configurations 1", &cas, max, "-m cas-register", &cas),
        row("-m cas-register --engine monitor", &cas, Some("engine"), "-m cas-register --engine portfolio", &cas),
        row("-m cas-register --keyed", &cas, keys, "-m cas-register", &cas),
        row("-m cas-register --keyed", &cas, keys, "-m cas-register --keyed", &keyed),
        row("-m list-append", &cas, model, "-m cas-register", &cas),
        row("-m isolation", &cas, model, "-m cas-register", &cas),
        row("-m kafka", &cas, model, "-m cas-register", &cas),
        row("-m rw-register --exact no -c prefix", &txns, exact, "-m rw-register -c prefix", &txns),
        row("-m rw-register --exact no -c cursor-stability", &txns, levels, "-m rw-register -c read-committed", &txns),
        row("-m isolation -c sequential", &stale, levels, "-m isolation -c strict-serializable", &stale),
        row("-m isolation --timestamps", &txns, Some("timestamps"), "-m isolation", &txns),
        row("-m isolation", &(twice + &read), None, "-m isolation", &once),
        row(
            "-m rw-register",
            &done(0, "ok", "txn", &json!([["w", "x", 1]])),
            None,
            "-m rw-register -c serializable",
            &once,
        ),
    ]
}

/// Writes of versions to a register, at these times.
fn writes(times: [i64; 4], ids: [&str; 2]) -> String {
    let mut text = String::new();
    for (at, (id, prev)) in [(ids[0], "0"), (ids[1], ids[0])].into_iter().enumerate() {
        for (kind, time) in [("invoke", times[2 * at]), ("ok", times[2 * at + 1])] {
            let more = json!({"process": 0, "type": kind, "f": "write", "value": at, "time": time, "write-id": id,
                "prev-write-id": prev});
            text += &(more.to_string() + "\n");
        }
    }
    text
}

fn recordings() -> Vec<Row> {
    let (good, backwards) = (writes([1, 2, 3, 4], ["a", "b"]), writes([3, 4, 1, 2], ["a", "b"]));
    let twice = writes([1, 2, 3, 4], ["a", "a"]);
    let order = Some("in-order");
    let adds =
        |kind: &str| -> String { (0..39).map(|at| done(u64::from(at), kind, "add", &json!(3_u64.pow(at)))).collect() };
    let last = |shown: u64| {
        let more = json!({"process": 99, "type": "ok", "f": "read", "value": shown, "final?": true});
        op(99, "invoke", "read", &Value::Null) + &more.to_string() + "\n"
    };
    let equal: String = (0..40).map(|at| done(at, "info", "add", &json!(1))).collect();
    let add = done(0, "ok", "add", &json!(1));
    let read = |shown: Value| op(1, "invoke", "read", &Value::Null) + &op(1, "ok", "read", &shown);
    let put = done(0, "ok", "enqueue", &json!(1));
    let drain = op(1, "invoke", "drain", &Value::Null) + &op(1, "info", "drain", &Value::Null);
    let taken = op(1, "invoke", "dequeue", &Value::Null) + &op(1, "ok", "dequeue", &json!(1));
    let (acquired, failed) = (done(0, "ok", "acquire", &Value::Null), done(0, "fail", "acquire", &Value::Null));
    vec![
        row("-m versioned-register", &backwards, order, "-m versioned-register --in-order", &backwards),
        row("-m versioned-register", &backwards, order, "-m versioned-register", &good),
        row("-m versioned-register", &twice, None, "-m versioned-register", &good),
        row("-m pn-counter", &(adds("info") + &last(3_u64.pow(38))), None, "-m pn-counter", &(equal + &last(1))),
        row("-m set-full", &add, None, "-m set-full", &(add.clone() + &read(json!([1])))),
        row("-m set", &(add.clone() + &read(json!(7))), Some("model"), "-m set", &(add + &read(json!([1])))),
        row("-m total-queue", &(put.clone() + &drain), None, "-m total-queue", &(put + &taken)),
        row("-m stats", &failed, None, "-m stats", &acquired),
        row("-m mutex", &failed, None, "-m mutex", &acquired),
    ]
}

#[test]
fn the_next_step_gives_an_answer() {
    let options = options();
    for Row { words, text, option, then, changed } in searches().into_iter().chain(recordings()) {
        let (code, report) = judge(words, &text);
        assert_eq!((code, fault(&report, &options)), (2, None), "{words}: {report}");
        assert_eq!(report["next"][0]["option"].as_str(), option, "{words}: {report}");
        let (code, report) = judge(then, &changed);
        assert!(code < 2, "{words}, then {then}: {report}");
        assert!(report["next"].is_null(), "{report}");
    }
}

#[test]
fn one_of_several_checkers_has_its_own_step() {
    let cas = generate("cas-register --ops 60");
    let (code, report) = judge("-m list-append,cas-register", &cas);
    assert_eq!((code, fault(&report, &options())), (2, None), "{report}");
    assert_eq!(report["checkers"]["list-append"]["next"][0]["option"], "model");
    assert!(report["checkers"]["cas-register"]["next"].is_null() && report["next"].is_null(), "{report}");
}

#[test]
fn keys_share_their_steps() {
    let of_key = |key: u64, f: &str| done(key, "fail", f, &json!([key, [0, 1]]));
    let text = of_key(1, "cas") + &of_key(2, "cas");
    let (_, report) = judge("-m cas-register --keyed", &text);
    let step = "Every key: Record an ok :read of a value or ok :cas.";
    assert_eq!(report["next"], json!([{"what": step}]), "{report}");
}

#[test]
fn every_format_has_the_step() {
    let text = done(0, "fail", "acquire", &Value::Null);
    let step = "Record an ok op.";
    for format in ["text", "text -v", "json", "edn", "edn --compat jepsen", "junit", "sarif", "github", "markdown"] {
        let output = histcheck(&format!("-m mutex --output {format} -")).stdin(text.clone()).output().unwrap();
        let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert!(printed.contains(step), "{format}: {printed}");
    }
    let whole = stdout(&histcheck("-m mutex -v -").stdin(text.clone()).assert().code(2));
    assert!(whole.contains("\n  next: Record an ok op.\n"), "{whole}");
}
