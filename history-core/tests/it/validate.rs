//! Validation: all problems of a text, and the relation of validation to reading.

use crate::common::read;
use crate::common::texts::TEXTS;
use history_core::{Problems, Reader, Rule, Severity, validate};

fn problems(text: impl AsRef<[u8]>) -> Problems {
    validate(Reader::new(text.as_ref()), 100)
}

/// All problems of a text, one per line.
fn said(text: impl AsRef<[u8]>) -> Vec<String> {
    problems(text).list.iter().map(ToString::to_string).collect()
}

/// Asserts the problems of a text: the rule, line and column of each.
fn check(text: &str, found: &[(Rule, u64, u64)]) {
    let problems = problems(text);
    let got: Vec<_> = problems
        .list
        .iter()
        .map(|problem| (problem.rule, problem.position.map_or((0, 0), |position| (position.line, position.column))))
        .map(|(rule, (line, column))| (rule, line, column))
        .collect();
    assert_eq!(got, found, "{text}\n{:#?}", problems.list);
}

#[test]
fn a_good_history_has_no_problems() {
    let text = "{:index 0, :process 0, :type :invoke, :f :txn, :value [[:append 1 2] [:r 1 nil]], :time 1}
        {:index 1, :process 0, :type :ok, :f :txn, :value [[:append 1 2] [:r 1 [2]]], :time 2}";
    assert_eq!(said(text), Vec::<String>::new());
    let found = problems(text);
    assert!(found.is_history() && found.complete);
    assert_eq!(found.ops, 2);
}

#[test]
fn all_problems_of_pairing_are_told() {
    check(
        "{:process 0, :type :invoke, :f :a}
{:process 1, :type :ok, :f :a}
{:process 0, :type :invoke, :f :b}
{:process 0, :type :info, :f :b}
{:process 0, :type :invoke, :f :c}
{:process 0, :type :ok, :f :c}
{:process 2, :type :fail}
{:process 0, :type :invoke, :f :c}",
        &[
            (Rule::UnpairedCompletion, 2, 1),
            (Rule::DoubleInvocation, 3, 1),
            (Rule::ProcessAfterInfo, 5, 1),
            (Rule::UnpairedCompletion, 7, 1),
            (Rule::OpenOps, 0, 0),
        ],
    );
    // An invocation late in a history of completions begins a history with both.
    check(
        "{:process 0, :type :ok}\n{:process 1, :type :ok}\n{:process 1, :type :invoke}\n{:process 1, :type :ok}",
        &[(Rule::UnpairedCompletion, 3, 1)],
    );
    check("{:process 0, :type :ok}\n{:process 1, :type :ok}", &[(Rule::CompletionsOnly, 0, 0)]);
}

#[test]
fn indices_that_go_back_or_are_missing_are_told() {
    check(
        "{:index 1, :type :ok}\n{:index 5, :type :ok}\n{:index 2, :type :ok}\n{:index 3, :type :ok}\n{:type :ok}\n{:index 4, :type :ok}",
        &[(Rule::Index, 3, 1), (Rule::Index, 5, 1), (Rule::Index, 6, 1), (Rule::UnknownProcesses, 0, 0)],
    );
}

#[test]
fn after_an_op_that_cannot_be_read_the_next_line_is() {
    // The result does not depend on brackets around the ops, or on the error.
    for broken in [
        "{:process 0, :type :ok, :f }",
        "{:process 0, :type :ok, :value [1 2}",
        "{:process 0, :type :ok, :value [1 2",
        "{:process 0, :type :ok, :f \"x}",
        "{:process 0, :type :ok, :value 12x}",
        "{:process 0, :type :ok, :value [[[}",
        "garbage",
    ] {
        for (open, close) in [("", ""), ("[", "]"), ("(", ")")] {
            let text = format!(
                "{open}{{:type :ok}}\n{broken}\n {{:type :fine}}\n{{:type :ok}}\n{broken}\n{{:type :ok}}{close}"
            );
            let found = problems(&text);
            let errors: Vec<u64> = found
                .list
                .iter()
                .filter(|problem| problem.severity == Severity::Error)
                .map(|problem| problem.position.unwrap().line)
                .collect();
            // Within an open bracket, a line that is further right is treated as a part of the op.
            let one_less = [2, 5];
            assert!(errors == [2, 3, 5] || errors == one_less, "{text}\n{:#?}", found.list);
            assert_eq!(found.ops, 3, "{text}");
            assert!(found.complete, "{text}");
        }
    }
}

#[test]
fn broken_lines_of_json_are_told_one_by_one() {
    check(
        "[{\"type\":\"ok\"},\n{\"type\":\"ok\",\n{\"type\":\"ok\"},\n{\"type\":ok},\n{\"type\":\"ok\"}\n{\"type\":\"ok\"},\n3,\n{\"type\":\"ok\"}]",
        &[
            (Rule::Syntax, 2, 1),
            (Rule::Syntax, 4, 9),
            (Rule::Syntax, 6, 1),
            (Rule::NotAnOp, 7, 1),
            (Rule::UnknownProcesses, 0, 0),
        ],
    );
}

#[test]
fn broken_lines_of_the_table_are_told_one_by_one() {
    check(
        "0\t:invoke\t:read\tnil\ngarbage\n0\t:ok\t:read\t[1 2\n1\t:invoke\t:read\n2\t:invok\t:read\tnil\n1\t:ok\t:read\t3\n",
        &[(Rule::Syntax, 2, 1), (Rule::Syntax, 3, 13), (Rule::Syntax, 5, 1), (Rule::OpenOps, 0, 0)],
    );
}

#[test]
fn an_op_that_was_not_closed_is_told_where_it_begins() {
    let text = "{:type :ok}\n{:type :ok, :value [1 2\n{:type :ok}\n{:type :ok}\n";
    assert_eq!(
        said(text)[0],
        "error: line 2, column 1: this op is not closed before the next one begins in line 3; \
         expected its closing brackets and quotes"
    );
    // The same holds for an op at the end, and for one whose value spans lines.
    check("{:type :ok}\n{:type :ok,\n :value [1 2\n", &[(Rule::Syntax, 3, 9), (Rule::UnknownProcesses, 0, 0)]);
}

#[test]
fn what_was_not_looked_at_is_told() {
    let text = r#"[{"type":"ok"},{"type":ok},{"type":"ok"}]"#;
    let found = problems(text);
    assert!(!found.complete);
    assert_eq!(found.ops, 1);
    check(text, &[(Rule::Syntax, 1, 24), (Rule::Stopped, 1, 24), (Rule::UnknownProcesses, 0, 0)]);
    let text = format!("{{:type :ok}}\n{}", "{:type 1x}\n".repeat(200));
    let found = validate(Reader::new(text.as_bytes()), 10);
    assert!(!found.complete);
    assert_eq!(found.count(Severity::Error), 11);
    assert_eq!(found.list.iter().filter(|problem| problem.rule == Rule::Syntax).count(), 10, "the limit");
    assert!(found.list.iter().any(|problem| problem.rule == Rule::Stopped));
}

#[test]
fn of_each_rule_the_first_are_listed_and_all_are_counted() {
    let text = "{:process 0, :type :invoke}\n".to_owned() + &"{:process 1, :type :ok}\n".repeat(1000);
    let found = validate(Reader::new(text.as_bytes()), 3);
    assert_eq!(found.list.len(), 4, "three completions, and the op in flight");
    assert_eq!(found.counts, [(Rule::UnpairedCompletion, 1000), (Rule::OpenOps, 1)]);
    assert_eq!(found.count(Severity::Error), 1000);
    assert!(found.complete);
}

#[test]
fn doubtful_fields_are_warnings() {
    check(
        "{:process 0, :type :invoke, :x 1, :x 2, :f [1], :time 5}
{:process \"0\", :type :ok, :f :b, :time 4}
{:process 1, :type :invoke}",
        &[
            (Rule::DuplicateField, 1, 1),
            (Rule::OddFunction, 1, 1),
            (Rule::MixedProcesses, 2, 1),
            (Rule::TimeGoesBack, 2, 1),
            (Rule::FMismatch, 2, 1),
            (Rule::MissingTime, 3, 1),
            (Rule::OpenOps, 0, 0),
        ],
    );
    let many = (0..40).fold(String::new(), |fields, i| fields + &format!(":a{i} 0, "));
    check(&format!("{{:type :ok, {many} :a7 1}}"), &[(Rule::DuplicateField, 1, 1), (Rule::UnknownProcesses, 0, 0)]);
}

#[test]
fn a_completion_with_another_key_is_a_warning() {
    let pair = |completed: &str| {
        format!("{{:process 0, :type :invoke, :f :put, :key 1}}\n{{:process 0, :type :ok, :f :put{completed}}}")
    };
    check(&pair(", :key 2"), &[(Rule::KeyMismatch, 2, 1)]);
    check(&pair(", :key 1"), &[]);
    check(&pair(""), &[]);
}

#[test]
fn micro_ops_that_differ_from_those_invoked_are_warnings() {
    let pair = |invoked: &str, completed: &str| {
        said(format!("{{:process 0, :type :invoke, :value {invoked}}}\n{{:process 0, :type :ok, :value {completed}}}"))
    };
    for (invoked, completed, message) in [
        (
            "[[:append 1 2]]",
            "[[:append 1 3]]",
            "micro-op 1 of this completion is [:append 1 3], of its invocation [:append 1 2]",
        ),
        (
            "[[:r 1 nil] [:w 1 2]]",
            "[[:r 1 3] [:w 2 2]]",
            "micro-op 2 of this completion is [:w 2 2], of its invocation [:w 1 2]",
        ),
        ("[[:r 1 nil]]", "[[:r 2 [3]]]", "micro-op 1 of this completion is [:r 2 ...], of its invocation [:r 1 ...]"),
        ("[[:r 1 nil]]", "[[:w 1 2]]", "micro-op 1 of this completion is [:w 1 2], of its invocation [:r 1 ...]"),
        ("[[:r 1 nil]]", "[[:r 1 3] [:r 2 3]]", "this completion has 2 micro-ops, its invocation 1"),
        ("[[:r 1 nil]]", "nil", "this completion has no list of micro-ops, but its invocation has one"),
    ] {
        let expected = "; expected the micro-ops invoked in line 1, with the values read filled in";
        assert_eq!(pair(invoked, completed), [format!("warning: line 2, column 1: {message}{expected}")]);
    }
    for (invoked, completed) in [
        ("[[:r 1 nil] [\"append\" 2 3]]", "[[:r 1 [1 2]] [:append 2 3]]"),
        ("[[:r 1 9]]", "[[:r 1 3]]"),
        ("[1 2]", "3"),
        ("nil", "[[:r 1 3]]"),
    ] {
        assert_eq!(pair(invoked, completed), Vec::<String>::new(), "{invoked} {completed}");
    }
    // The value of a crashed op may be anything.
    assert_eq!(
        said("{:process 0, :type :invoke, :value [[:r 1 nil]]}\n{:process 0, :type :info, :value :timeout}"),
        Vec::<String>::new()
    );
}

#[test]
fn what_is_written_twice_is_a_warning() {
    let text = "{:process 0, :type :invoke, :value [[:append 1 2] [:append 1 3]]}
{:process 0, :type :ok, :value [[:append 1 2] [:append 1 3]]}
{:process 0, :type :invoke, :value [[:append 1 3] [:append 2 3]]}
{:process 1, :type :invoke, :value [[:w \"a\" :x] [:w \"b\" :x]]}
{:process 2, :type :invoke, :value [[:w \"b\" :x]]}";
    assert_eq!(
        said(text),
        [
            "warning: line 3, column 1: [:append 1 3] was already written in line 1: which of the two a read saw is ambiguous; \
             expected each value at most once per key",
            "warning: line 4, column 1: the key \"a\" is a string, but a key in line 1 is an integer; \
             expected keys of one type; 1 and \"1\" are different keys",
            "warning: line 5, column 1: [:w \"b\" :x] was already written in line 4: which of the two a read saw is ambiguous; \
             expected each value at most once per key",
            "note: 3 ops are in flight at the end, the first from line 3; they count as info",
        ]
    );
    // The same write twice in one op, and in ops that were never invoked.
    check(
        "{:type :ok, :value [[:append 1 2] [:append 1 2]]}\n{:type :ok, :value [[:append 1 2]]}",
        &[(Rule::DuplicateWrite, 1, 1), (Rule::DuplicateWrite, 2, 1), (Rule::UnknownProcesses, 0, 0)],
    );
}

#[test]
fn snippets_show_what_is_meant() {
    let found = problems("{:type :ok}\n{:type :ok, :value [1 2)}\n");
    let snippet = found.list[0].snippet.as_ref().unwrap();
    assert_eq!((snippet.text.as_str(), snippet.caret), ("{:type :ok, :value [1 2)}", 23));
}

#[test]
fn what_is_no_history_is_told_as_reading_tells_it() {
    for text in ["", " ", "hello", "[1]", "; nothing", "\u{feff}"] {
        let error = read(text).error.unwrap();
        assert_eq!(said(text), [format!("error: {error}")], "{text}");
    }
    let mut bytes = b"{:type :ok}\n{:type :ok, :value \"".to_vec();
    bytes.push(0xff);
    let error = read(&bytes).error.unwrap();
    assert_eq!(said(&bytes)[0], format!("error: {error}"));
}

#[test]
fn rules_have_names_of_their_own() {
    let mut names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Rule::ALL.len());
}

/// The property: there are errors exactly if reading fails, and the first of them is the error that reading returns,
/// unless validation later found that an op was not closed.
fn agrees(text: &[u8]) {
    let shown = String::from_utf8_lossy(text);
    let (reading, found) = (read(text), problems(text));
    assert_eq!(found.is_history(), reading.error.is_none(), "{shown}\n{:#?}", found.list);
    if let Some(error) = reading.error {
        let first = found.list.iter().find(|problem| problem.severity == Severity::Error).unwrap();
        let not_closed = first.message.contains("not closed before the next");
        assert!(
            not_closed || first.message == error.message && first.position == error.position,
            "{shown}\n{first} {error}"
        );
        // Reading ends with the error, so the text that it shows after the position may go beyond invalid bytes.
        let text = std::str::from_utf8(text).is_ok();
        assert!(
            not_closed || !text || first.snippet.as_ref() == error.snippet.as_deref(),
            "{shown}\n{first:?} {error:?}"
        );
    } else {
        assert_eq!(found.ops, reading.ops.len() as u64);
        assert!(found.complete);
    }
}

#[test]
fn validation_finds_errors_exactly_where_reading_fails() {
    for (_, text) in TEXTS {
        for end in 0..=text.len() {
            agrees(&text.as_bytes()[..end]);
        }
        for at in 0..text.len() {
            for byte in *b"\0\"\\[]{}(),:;#_-+.e0x/ \n\t\xc3\xff" {
                let mut text = text.as_bytes().to_vec();
                text[at] = byte;
                agrees(&text);
            }
        }
    }
}

#[test]
fn a_number_written_in_two_ways_is_doubtful() {
    let told = |invoked: &str, read: &str| {
        let text = format!(
            "{{:process 0, :type :invoke, :f {invoked}}}\n{{:process 0, :type :ok, :f {invoked}}}
{{:process 0, :type :invoke, :f :read}}\n{{:process 0, :type :ok, {read}}}"
        );
        let found: Vec<String> = said(&text).into_iter().filter(|line| line.contains("different values")).collect();
        assert!(found.len() < 2, "{found:#?}");
        found.into_iter().next().map(|line| line.split_once("; expected").unwrap().0.to_owned())
    };
    let here = "warning: line 4, column 1: a value";
    let cases = [
        (":write, :value 1", ":f :read, :value \"1\"", Some("is a string here, \"1\", but an integer in line 1")),
        (":write, :value 1", ":f :read, :value 1.0", Some("is a float here, 1.0, but an integer in line 1")),
        (":write, :value \"-1.5\"", ":f :read, :value -1", Some("is an integer here, -1, but a string in line 1")),
        (":write, :value 1", ":f :read, :value 1.5", None),
        (":write, :value 1", ":f :read, :value \"x1\"", None),
        (":write, :value 1", ":f :read, :value :1", None),
        (":add, :value 1", ":f :read, :value #{2 \"1\"}", Some("is a string here, \"1\", but an integer in line 1")),
        (":add, :value 1", ":f :read, :value [2 3 1]", None),
        (":cas, :value [1 2]", ":f :read, :value \"2\"", Some("is a string here, \"2\", but an integer in line 1")),
        (
            ":write, :value [:x 1]",
            ":f :read, :value [:x \"1\"]",
            Some("of key :x is a string here, \"1\", but an integer in line 1"),
        ),
        (":write, :value [:x 1]", ":f :read, :value [:y \"1\"]", None),
        (
            ":write, :value 1, :key 7",
            ":f :read, :value 1.0, :key 7",
            Some("of key 7 is a float here, 1.0, but an integer in line 1"),
        ),
        (
            ":txn, :value [[:append 5 1]]",
            ":f :txn, :value [[:r 5 [1 2 \"1\"]]]",
            Some("of key 5 is a string here, \"1\", but an integer in line 1"),
        ),
        (":txn, :value [[:w 5 1]]", ":f :txn, :value [[:r 5 1] [:r 6 \"1\"]]", None),
    ];
    for (invoked, read, expected) in cases {
        assert_eq!(told(invoked, read), expected.map(|expected| format!("{here} {expected}")), "{invoked} {read}");
    }
    // Error messages in place of values are not problems.
    assert_eq!(
        said("{:process 0, :type :invoke, :f :w, :value 1} {:process 0, :type :fail, :f :w, :value \"500\"}"),
        Vec::<String>::new()
    );
}
