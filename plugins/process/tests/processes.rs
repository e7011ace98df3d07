//! Checkers and models in processes that follow the protocol, and in processes that do not.

#![cfg(unix)]

use histcheck_plugin::host::Trust;
use histcheck_process::{AnyObject, Limits, load};
use history_core::{Checker, History, HistoryError, Keyed, Options, Report, Verdict, check_history};
use std::time::Duration;

const REGISTER: &str = concat!("exec:python3 '", env!("CARGO_MANIFEST_DIR"), "/examples/cas_register.py'");
const READS: &str = concat!("exec:python3 '", env!("CARGO_MANIFEST_DIR"), "/examples/monotonic_reads.py'");

/// A limit that ends a test of a process that would never end.
fn quick() -> Limits {
    Limits { silence: Duration::from_secs(2), ..Limits::default() }
}

fn ops(text: &str) -> History {
    History::parse(text).unwrap()
}

fn run(checker: &dyn Checker, options: &Options, history: &History) -> Result<Report, HistoryError> {
    let run =
        checker.start(options).map_err(|error| HistoryError::new(history_core::ErrorKind::Io, error.to_string()))?;
    check_history(run, history, &history_core::Budget::default())
}

fn object(limits: Limits) -> AnyObject {
    AnyObject::new(Box::new(check_register::AnyObject), Trust::All, limits)
}

fn model(command: &str, history: &str) -> Result<Report, HistoryError> {
    run(&object(Limits::default()), &Options::new().with("spec", command), &ops(history))
}

/// A process that sends these lines, one for each line that it reads, and then runs a command.
fn saying(lines: &[&str], then: &str) -> String {
    let echo = |line: &&str| format!("read l; echo '{}'; ", line.replace('\'', ""));
    let said = lines.iter().map(echo).collect::<Vec<_>>().concat();
    format!("exec:sh -c \"{}\"", format!("{said}{then}").replace('\\', "\\\\").replace('"', "\\\""))
}

const WRITE: &str = "{:process 0, :type :invoke, :f :write, :value 1} {:process 0, :type :ok, :f :write, :value 1}";
const READ_1: &str = "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 1}";
const READ_2: &str = "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 2}";

#[test]
fn a_model_in_python_decides_as_the_built_in_one() {
    for (history, verdict) in [
        (format!("{WRITE} {READ_1}"), Verdict::Valid),
        (format!("{WRITE} {READ_2}"), Verdict::Invalid),
        // A write whose outcome is unknown may have happened, or not.
        (
            format!(
                "{{:process 1, :type :invoke, :f :write, :value 2}} {{:process 1, :type :info, :f :write}} {WRITE} {READ_2}"
            ),
            Verdict::Valid,
        ),
        (
            format!(
                "{{:process 1, :type :invoke, :f :write, :value 2}} {{:process 1, :type :info, :f :write}} {WRITE} {READ_1}"
            ),
            Verdict::Valid,
        ),
        (
            format!(
                "{{:process 1, :type :invoke, :f :write, :value 2}} {{:process 1, :type :fail, :f :write}} {WRITE} {READ_2}"
            ),
            Verdict::Invalid,
        ),
        (WRITE.to_owned(), Verdict::Unknown),
        // The model does not have this function.
        (format!("{WRITE} {{:process 1, :type :invoke, :f :push, :value 1}} {READ_1}"), Verdict::Unknown),
    ] {
        let report = model(REGISTER, &history).unwrap();
        let built_in =
            run(&check_register::AnyObject, &Options::new().with("spec", "cas-register"), &ops(&history)).unwrap();
        assert_eq!((report.verdict, built_in.verdict), (verdict, verdict), "{history}: {:?}", report.notes);
    }
    let report = model(REGISTER, &format!("{WRITE} {READ_2}")).unwrap();
    let explanation = &report.anomalies[0].witnesses[0].explanation;
    assert!(explanation.contains("T1 = read of 2 by process 0, index 2 to 3"), "{explanation}");
    assert!(explanation.contains("  1, after T2\n"), "{explanation}");
}

#[test]
fn a_model_starts_where_the_user_says() {
    let checker = object(Limits::default());
    for (initial, verdict) in [("2", Verdict::Valid), ("1", Verdict::Invalid)] {
        let options = Options::new().with("spec", REGISTER).with("initial", initial);
        assert_eq!(run(&checker, &options, &ops(READ_2)).unwrap().verdict, verdict, "{initial}");
    }
    let error = checker.start(&Options::new().with("spec", REGISTER).with("initial", "[1")).err().unwrap();
    assert_eq!(error.to_string(), "--initial: expected an EDN or JSON value, found [1");
}

#[test]
fn the_keys_of_a_history_share_a_process() {
    let key = |key: usize, read: usize| {
        format!(
            "{{:process {key}, :type :invoke, :f :write, :value [{key} 1]}} {{:process {key}, :type :ok, :f :write, :value [{key} 1]}}
             {{:process {key}, :type :invoke, :f :read, :value [{key} nil]}} {{:process {key}, :type :ok, :f :read, :value [{key} {read}]}}\n"
        )
    };
    let history: String = (0..100).map(|at| key(at, 1)).collect::<String>() + &key(100, 2);
    let (checker, options) = (object(Limits::default()), Options::new().with("spec", REGISTER));
    let report = check_history(
        Box::new(Keyed::start(&checker, &options).unwrap()),
        &ops(&history),
        &history_core::Budget::default(),
    );
    let report = report.unwrap();
    assert_eq!((report.verdict, report.keys[0].key.to_string()), (Verdict::Invalid, "100".to_owned()));
}

#[test]
fn a_checker_in_python_gets_all_ops_and_its_options() {
    let checker = load(READS, Trust::All, Limits::default()).unwrap();
    assert_eq!(
        (checker.name(), checker.options()[0].name, checker.options()[0].default),
        ("monotonic-reads", "f", "read")
    );
    assert_eq!(
        checker.about().anomaly("backwards-read").unwrap().summary,
        "A process read less than it had read before."
    );
    let (up, down) = (format!("{READ_1} {READ_2}"), format!("{READ_2} {READ_1}"));
    assert_eq!(run(&*checker, &Options::new(), &ops(&up)).unwrap().verdict, Verdict::Valid);
    let report = run(&*checker, &Options::new(), &ops(&down)).unwrap();
    assert_eq!(report.verdict, Verdict::Invalid);
    let witness = &report.anomalies[0].witnesses[0];
    assert_eq!(witness.explanation, "process 0 read 1 after 2");
    assert_eq!(witness.ops.iter().map(|op| op.index).collect::<Vec<_>>(), [1, 3]);
    let other = Options::new().with("f", "look");
    assert_eq!(run(&*checker, &other, &ops(&down)).unwrap().verdict, Verdict::Unknown, "it observed nothing");
}

#[test]
fn much_is_sent_in_parts() {
    let checker = load(READS, Trust::All, Limits::default()).unwrap();
    let many = format!("{READ_1}\n").repeat(20_000);
    let report = run(&*checker, &Options::new(), &ops(&many)).unwrap();
    assert_eq!((report.verdict, report.counts[0].1), (Verdict::Valid, 19_999));
}

const HELLO: &str = r#"{"hello": {"protocol": 1, "kind": "checker", "name": "c"}}"#;
const STARTED: &str = r#"{"started": {}}"#;

/// The error for a checker that sends these lines.
fn refused(lines: &[&str], then: &str) -> String {
    let command = saying(lines, then);
    let checker = load(&command, Trust::All, quick());
    let error = match checker {
        Ok(checker) => run(&*checker, &Options::new(), &ops(READ_1)).unwrap_err().message,
        Err(error) => error,
    };
    error.strip_prefix(&format!("{command} ")).unwrap_or_else(|| panic!("it is not named: {error}")).to_owned()
}

#[test]
fn what_a_process_does_wrong_is_said_and_names_it() {
    let finished = "read l; read l; ";
    for (lines, then, what) in [
        (&[][..], "exit 3", "ended before it answered (exit status: 3)"),
        (&[], "echo no >&2; exit 3", "ended before it answered (exit status: 3); its last line on standard error: no"),
        (&[], "kill -9 $$", "ended before it answered (signal: 9 (SIGKILL))"),
        (&[], "exec sleep 1000", "sent no \"hello\" for 2 seconds"),
        (&[], "printf {; exit", "ended within a line ({); expected \"hello\""),
        (&[r#"{"started": {}}"#], "", "sent \"started\", expected \"hello\""),
        (&["[1]"], "", "sent an invalid line (expected value"),
        (
            &[r#"{"hello": {"protocol": 2, "kind": "checker", "name": "c"}}"#],
            "",
            "uses protocol 2, but this histcheck uses 1",
        ),
        (
            &[r#"{"hello": {"protocol": 1, "kind": "model", "name": "c"}}"#],
            "",
            "is a model, not a checker; pass it with -m linearizable --spec",
        ),
        (
            &[r#"{"hello": {"protocol": 1, "kind": "checker", "name": "c", "needs": ["wings"]}}"#],
            "",
            "needs wings, which this histcheck lacks",
        ),
        (
            &[r#"{"hello": {"protocol": 1, "kind": "checker", "name": "a b"}}"#],
            "",
            "has a checker with the name \"a b\"",
        ),
        (&[HELLO, HELLO], "", "sent \"hello\", expected \"started\""),
        (&[HELLO, STARTED, STARTED], &format!("{finished}exit 4"), "ended before it answered (exit status: 4)"),
        (&[HELLO, STARTED, STARTED], &format!("{finished}exec sleep 1000"), "sent no \"report\" for 2 seconds"),
        (
            &[HELLO, STARTED, STARTED],
            &format!("{finished}echo '{{\"report\": {{\"verdict\": true}}}}'; exec sleep 1000"),
            "sent an invalid report: the verdict true without \"observed\"",
        ),
    ] {
        let error = refused(lines, then);
        assert!(error.starts_with(what), "{lines:?} {then}: {error}");
    }
}

#[test]
fn a_process_that_does_not_read_is_ended() {
    let command = saying(&[HELLO, STARTED, STARTED], "exec sleep 1000");
    let checker = load(&command, Trust::All, quick()).unwrap();
    let many = format!("{READ_1}\n").repeat(20_000);
    let error = run(&*checker, &Options::new(), &ops(&many)).unwrap_err().message;
    assert!(error.ends_with("did not read its input for 2 seconds"), "{error}");
}

#[test]
fn a_process_that_is_working_is_not_silent() {
    // The process reports progress four times within the limit, and answers after it.
    let working = "for i in 1 2 3 4; do sleep .6; echo '{\"working\": 1}'; done; ";
    let report = "echo '{\"report\": {\"verdict\": \"unknown\", \"notes\": [\"hard\"]}}'; read l";
    let command = saying(&[HELLO, STARTED, STARTED], &format!("read l; read l; {working}{report}"));
    let checker = load(&command, Trust::All, quick()).unwrap();
    let report = run(&*checker, &Options::new(), &ops(READ_1)).unwrap();
    assert_eq!((report.verdict, &report.notes[..]), (Verdict::Unknown, &["hard".to_owned()][..]));
}

#[test]
fn limits_of_the_user_make_the_verdict_unknown() {
    let command = saying(&[HELLO, STARTED, STARTED], "exec sleep 1000");
    let limits = Limits { timeout: Some(Duration::from_secs(2)), ..Limits::default() };
    let checker = load(&command, Trust::All, limits).unwrap();
    let report = run(&*checker, &Options::new(), &ops(READ_1)).unwrap();
    assert_eq!(report.verdict, Verdict::Unknown);
    let note = format!("No verdict, because the time limit was reached: {command} sent no \"report\".");
    assert_eq!(report.notes, [note]);
    if cfg!(target_os = "linux") {
        let limits = Limits { bytes_max: Some(1), ..Limits::default() };
        let command = saying(&[HELLO, STARTED, STARTED], "sleep 1000");
        // Even the description takes more than the limit.
        let checker = load(&command, Trust::All, limits);
        let said = match checker {
            Ok(checker) => run(&*checker, &Options::new(), &ops(READ_1)).unwrap().notes.join(" "),
            Err(error) => error,
        };
        assert!(said.contains("took more than 1 bytes of memory"), "{said}");
    }
}

const MODEL: &str = r#"{"hello": {"protocol": 1, "kind": "model", "name": "m", "ops": ["read", "write"], "reads": ["read"], "shows": ["read"]}}"#;

#[test]
fn a_model_that_fails_gives_no_verdict() {
    let state = r#"{"started": {"state": 0}}"#;
    for (lines, then, what) in [
        (&[MODEL, state][..], "read l; exit 5", "ended before it answered (exit status: 5)"),
        (&[MODEL, state], "read l; exec sleep 1000", "sent no \"states\" for 2 seconds"),
        (&[MODEL, state, r#"{"states": []}"#], "read l", "sent 0 lists of states for 2 operations"),
        (
            &[MODEL, state, r#"{"states": [{"error": "no"}, [0]]}"#],
            "read l",
            "refused the operation {\"f\":\"write\",\"type\":\"ok\",\"value\":1}: no",
        ),
        (
            &[MODEL, r#"{"started": {"state": 0}}"#, r#"{"states": [[0], [7]]}"#],
            "read l",
            "lists a function in \"reads\" that changes the state",
        ),
    ] {
        let command = saying(lines, then);
        let options = Options::new().with("spec", command.as_str());
        let error = run(&object(quick()), &options, &ops(&format!("{WRITE} {READ_1}"))).unwrap_err().message;
        let error = error.strip_prefix(&format!("{command} ")).unwrap_or_else(|| panic!("it is not named: {error}"));
        assert!(error.starts_with(what), "{lines:?} {then}: {error}");
    }
    let error = model(&saying(&[HELLO], "read l"), WRITE).unwrap_err().message;
    assert!(error.ends_with("is a checker, not a model; pass it with --plugin"), "{error}");
    let error = model("exec:./no-such-program", WRITE).unwrap_err().message;
    assert_eq!(error, "exec:./no-such-program cannot be started: ./no-such-program or its interpreter was not found");
}

/// An additional line would be taken for the answer to the next question, and so would each later one.
#[test]
fn a_model_that_answers_once_too_often_gives_no_verdict() {
    let script = tempfile::NamedTempFile::new().unwrap();
    let twice = "
import json, sys
asked = 0
for line in sys.stdin:
    (name, given), = json.loads(line).items()
    if name == 'hello':
        print(json.dumps({'hello': {'protocol': 1, 'kind': 'model', 'name': 'm', 'ops': ['read', 'write'],
                                    'reads': ['read'], 'shows': ['read']}}), flush=True)
    elif name == 'start':
        print(json.dumps({'started': {'state': None}}), flush=True)
    else:
        asked += 1
        leads = lambda op: [op['value']] if op['f'] == 'write' else [given['state']] if op['value'] == given['state'] else []
        answer = json.dumps({'states': [leads(op) for op in given['ops']]}) + '\\n'
        sys.stdout.write(answer * (2 if asked == WHEN else 1))
        sys.stdout.flush()
";
    let history =
        format!("{WRITE} {READ_1} {}", format!("{WRITE} {READ_2}").replace(":write, :value 1", ":write, :value 2"));
    let mut verdicts = Vec::new();
    for when in 0..8 {
        std::fs::write(script.path(), twice.replace("WHEN", &when.to_string())).unwrap();
        let command = format!("exec:python3 {}", script.path().display());
        match model(&command, &history) {
            Ok(report) => verdicts.push(report.verdict),
            // The error then depends on the question to which the answer was assigned.
            Err(error) => assert!(error.message.starts_with(&command), "{when}: {}", error.message),
        }
    }
    // In one case, fewer questions are sent.
    assert!(verdicts.iter().all(|verdict| *verdict == Verdict::Valid) && verdicts.len() < 8, "{verdicts:?}");
}

#[test]
fn values_reach_a_model_as_they_are() {
    let nested = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for (written, read, verdict) in [
        ("5", "36893488147419103239", Verdict::Invalid),
        ("36893488147419103239", "36893488147419103239", Verdict::Valid),
        ("0.22893928559866938", "0.22893928559866938", Verdict::Valid),
        ("#{2 1}", "#{1 2}", Verdict::Valid),
        (&nested, &nested, Verdict::Valid),
        (&nested, "[]", Verdict::Invalid),
    ] {
        let history = format!(
            "{{:process 0, :type :invoke, :f :write, :value {written}}} {{:process 0, :type :ok, :f :write}}
             {{:process 0, :type :invoke, :f :read}} {{:process 0, :type :ok, :f :read, :value {read}}}"
        );
        assert_eq!(model(REGISTER, &history).unwrap().verdict, verdict, "{history}");
    }
}
