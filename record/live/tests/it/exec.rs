//! Clients in other processes, written for the shell.

use crate::setup::Setup;
use history_core::Verdict;
use record_live::store::Exec;
use record_live::{Fault, LiveError, Nemesis, serve};
use std::fs;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

/// A client that rejects appends, and returns empty lists.
const FORGETS: &str = r#"while read -r line; do
    case "$line" in
        *append*) echo '{"type":"fail","error":"read only"}' ;;
        *) echo "$line" | sed 's/"f":"txn",/"type":"ok",/; s/null/[]/g' ;;
    esac
done"#;

/// A client that acknowledges every append, and returns none of them.
const LOSES: &str = r#"while read -r line; do echo "$line" | sed 's/"f":"txn",/"type":"ok",/; s/null/[]/g'; done"#;

#[test]
fn a_store_that_never_shows_an_append_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let store = Exec::new(LOSES);
    let ended = Setup { ops_max: 200, ..Setup::new(&store, "list-append") }.run(directory.path()).unwrap();
    assert_eq!(ended.report.verdict, Verdict::Invalid, "{:?}", ended.report.anomalies);
}

#[test]
fn reasons_of_failures_are_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let store = Exec::new(FORGETS);
    let ended = Setup { ops_max: 200, ..Setup::new(&store, "list-append") }.run(directory.path()).unwrap();
    assert_eq!(ended.report.verdict, Verdict::Valid, "reads of empty lists, to which nothing was appended");
    let text = fs::read_to_string(ended.history).unwrap();
    assert!(text.contains(r#""error":"read only""#));
    assert_eq!(text.lines().count() as u64, ended.ops);
}

#[test]
fn an_answer_that_is_no_json_names_the_client() {
    let directory = tempfile::tempdir().unwrap();
    let error = Setup::new(&Exec::new("echo hello; cat"), "list-append").run(directory.path()).unwrap_err();
    assert!(matches!(&error, LiveError::Protocol { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains("echo hello") && message.contains("JSON object"), "{message}");
    let text = fs::read_to_string(directory.path().join("history.jsonl")).unwrap();
    assert!(text.contains(r#""type":"info""#), "the op in flight is kept: {text}");
}

#[test]
fn a_client_that_ends_makes_the_operation_indeterminate_and_another_takes_its_place() {
    let directory = tempfile::tempdir().unwrap();
    // It responds once; at the next request the process has ended.
    let store = Exec::new(r#"read -r line; echo '{"type":"fail","error":"no"}'"#);
    _ = Setup { ops_max: 400, ..Setup::new(&store, "cas-register") }.run(directory.path());
    let text = fs::read_to_string(directory.path().join("history.jsonl")).unwrap();
    let ended: Vec<&str> = text.lines().filter(|line| line.contains("the worker has ended")).collect();
    assert!(ended.iter().any(|line| line.contains(r#""type":"info""#) && !line.contains(r#""f":"read""#)), "{text}");
    assert!(ended.iter().all(|line| line.contains(r#""type":"fail""#) == line.contains(r#""f":"read""#)), "{text}");
    let is_another = |line: &&str| (8..16).any(|process| line.contains(&format!("\"process\":{process},")));
    assert!(
        text.lines().filter(is_another).any(|line| line.contains(r#""error":"no""#)),
        "another process goes on: {text}"
    );
}

#[test]
fn a_client_that_does_not_answer_is_given_up() {
    let directory = tempfile::tempdir().unwrap();
    let store = Exec::new("cat > /dev/null");
    let timeout = Duration::from_millis(20);
    let setup = Setup { ops_max: 16, timeout, ..Setup::new(&store, "cas-register") };
    let error = setup.run(directory.path()).unwrap_err();
    assert_eq!(error.to_string(), "no operation succeeded");
    let text = fs::read_to_string(directory.path().join("history.jsonl")).unwrap();
    assert!(text.contains(r#""error":"timeout""#), "{text}");
}

/// A client with a late first response. Each response contains its own number: the late response must not be taken for
/// that of the second request.
const LATE: &str = r#"number=0; while read -r line; do
    [ $number = 0 ] && sleep 5
    echo "{\"type\":\"ok\",\"value\":$number}"; number=$((number + 1))
done"#;

#[test]
fn a_late_answer_is_not_taken_for_the_next_one() {
    let directory = tempfile::tempdir().unwrap();
    let store = Exec::new(LATE);
    let timeout = Duration::from_millis(100);
    _ = Setup { ops_max: 24, timeout, ..Setup::new(&store, "cas-register") }.run(directory.path());
    let text = fs::read_to_string(directory.path().join("history.jsonl")).unwrap();
    assert!(text.contains(r#""error":"timeout""#) && !text.contains(r#""type":"ok""#), "{text}");
}

#[test]
fn commands_are_faults() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name).display().to_string();
    // There is no response before the first fault.
    let forgets = format!("until [ -e {} ]; do sleep 0.01; done; {FORGETS}", file("begun"));
    let store = Exec::new(forgets)
        .with_nodes(vec!["a".into(), "b".into()])
        .with_fault(format!("touch {}", file("begun")), format!("touch {}", file("ended")));
    let every = Duration::from_millis(1);
    let nemesis = Nemesis { faults: vec![Fault::Command], every, longer: every, ..Nemesis::default() };
    let ended = Setup { nemesis, ops_max: 400, ..Setup::new(&store, "list-append") }.run(directory.path()).unwrap();
    assert!(ended.faults > 0);
    assert!(fs::exists(file("begun")).unwrap() && fs::exists(file("ended")).unwrap());
    let text = fs::read_to_string(ended.history).unwrap();
    assert!(text.contains(r#""process":"nemesis","f":"command""#) && text.contains(r#""f":"heal""#), "{text}");
    assert!(text.contains(r#""host":"b""#));
}

/// An additional response would be taken for that of the next request, even if it follows the last one.
#[test]
fn an_answer_too_many_ends_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let fail = r#"{"type":"fail"}\n"#;
    for (client, ops_max) in [
        (format!("while read -r line; do printf '{fail}{fail}'; done"), 400),
        (format!("read -r line; printf '{fail}'; while read -r line; do :; done; printf '{fail}'"), 8),
    ] {
        let error_of =
            |store: &Exec| Setup { ops_max, ..Setup::new(store, "cas-register") }.run(directory.path()).unwrap_err();
        let error = error_of(&Exec::new(client.as_str()));
        assert!(matches!(error, LiveError::Surplus { .. }), "{error}");
        // The same with another machine.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || serve::listen(&listener, &client));
        let remote = error_of(&Exec::over(&address.to_string()).unwrap()).to_string();
        let said = error.to_string();
        assert!(said.split_once(": ").is_some_and(|(_, why)| remote.contains(why)), "{said}\n{remote}");
    }
}

#[test]
fn a_client_may_say_goodbye() {
    let directory = tempfile::tempdir().unwrap();
    let store = Exec::new(format!("{FORGETS}; echo goodbye"));
    let ended = Setup { ops_max: 200, ..Setup::new(&store, "list-append") }.run(directory.path()).unwrap();
    assert!(ended.failure.is_none() && ended.report.verdict == Verdict::Valid, "{:?}", ended.failure);
}

#[test]
fn an_answer_that_its_client_did_not_end_is_none() {
    let directory = tempfile::tempdir().unwrap();
    let store = Exec::new(r#"read -r line; printf '{"type": "ok'"#);
    let error = Setup { ops_max: 16, ..Setup::new(&store, "cas-register") }.run(directory.path()).unwrap_err();
    assert_eq!(error.to_string(), "no operation succeeded");
    let text = fs::read_to_string(directory.path().join("history.jsonl")).unwrap();
    assert!(text.contains("the worker has ended"), "{text}");
}

/// The run does not start it again and again until its time is over.
#[test]
fn a_command_that_never_answers_ends_the_run_with_its_exit_status() {
    for (command, why, ops_max) in [
        ("exit 3", "ended without an answer: exit status: 3, as did 79 others; no operation has succeeded", 200),
        ("no-such-command", "exit status: 127 (a command was not found); no operation has succeeded", 40),
        ("/dev/null", "exit status: 126 (a command cannot be executed); no operation has succeeded", 40),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let error = Setup::new(&Exec::new(command), "cas-register").run(directory.path()).unwrap_err().to_string();
        assert!(error.starts_with("client ") && error.contains(&format!("({command}) ended")), "{error}");
        assert!(error.ends_with(why), "{error}");
        let text = fs::read_to_string(directory.path().join("history.jsonl")).unwrap();
        assert!(text.lines().count() < ops_max, "{text}");
        // The same with another machine.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || serve::listen(&listener, command));
        let store = Exec::over(&address.to_string()).unwrap();
        let remote = Setup::new(&store, "cas-register").run(directory.path()).unwrap_err().to_string();
        assert!(remote.starts_with("the worker at ") && remote.ends_with(why), "{remote}");
    }
}

#[test]
fn a_command_that_has_worked_is_started_again_whenever_it_ends() {
    let directory = tempfile::tempdir().unwrap();
    let worked = directory.path().join("worked");
    // Each client works until its first read. All that are started after one of these end at once.
    let store = Exec::new(format!(
        r#"[ -e {0} ] && exit 3
        while read -r line; do
            case "$line" in
                *'"f":"read"'*) touch {0}; echo '{{"type":"ok","value":null}}'; exit ;;
                *) echo '{{"type":"fail","error":"no"}}' ;;
            esac
        done"#,
        worked.display()
    ));
    let ended = Setup { ops_max: 160, ..Setup::new(&store, "cas-register") }.run(directory.path()).unwrap();
    assert!(ended.failure.is_none() && ended.ok > 0, "{:?}", ended.failure);
    assert_eq!(ended.ops, 320);
}

/// It may be the fault that ends it.
#[test]
fn a_command_that_never_answers_during_faults_is_started_again() {
    let directory = tempfile::tempdir().unwrap();
    let store = Exec::new("exit 3").with_fault("true", "true");
    let every = Duration::from_millis(1);
    let nemesis = Nemesis { faults: vec![Fault::Command], every, longer: every, ..Nemesis::default() };
    let setup = Setup { nemesis, ops_max: 160, ..Setup::new(&store, "cas-register") };
    assert_eq!(setup.run(directory.path()).unwrap_err().to_string(), "no operation succeeded");
    let text = fs::read_to_string(directory.path().join("history.jsonl")).unwrap();
    assert_eq!(text.lines().filter(|line| line.contains("\"invoke\"")).count(), 160);
}
