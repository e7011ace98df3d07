//! Texts that are not histories: how many ops are read, the message of the error, and its position.

use crate::common::{check_errors as check, error, read};

#[test]
fn what_is_no_history_at_all() {
    check(&[
        ("", 0, "it contains no op; expected @op"),
        ("   \n", 0, "it contains no op; expected @op"),
        (";just a comment", 0, "it contains no op; expected @op"),
        ("hello", 0, "line 1, column 1: unknown history format; expected @any"),
        ("[1 2]", 0, "line 1, column 1: unknown history format; expected @any"),
        ("[nil]", 0, "line 1, column 1: unknown history format; expected @any"),
        ("0\t:invok\t:read\tnil", 0, "line 1, column 1: unknown history format; expected @any"),
        (":invoke\t:read\tnil", 0, "line 1, column 1: unknown history format; expected @any"),
    ]);
}

#[test]
fn a_last_line_of_the_table_that_may_be_cut() {
    let cut =
        "line 2, column 1: the last line has no line end, so it may be cut; expected a line end after the last op";
    for last in
        ["ok\t:read\t1", "ok\t:read", "ok\t:read\t", "fail\t:read\t:timed", "info\t:read\tnil\t:tim", "ok\t:r\t[1] "]
    {
        let text = format!("0\t:invoke\t:read\tnil\n0\t:{last}");
        assert_eq!(error(&text), cut, "{text}");
        let whole = read(format!("{text}\n"));
        assert_eq!((whole.ops.len(), whole.error), (2, None), "{text}");
    }
    for last in ["ok\t:read\t[1]", "ok\t:read\t{:a 1}", "ok\t:read\t(1)", "ok\t:read\t\"1\"", "ok\t:read\tnil"] {
        let whole = read(format!("0\t:invoke\t:read\tnil\n0\t:{last}"));
        assert_eq!((whole.ops.len(), whole.error), (2, None), "{last}");
    }
}

#[test]
fn lines_that_are_not_of_the_table() {
    check(&[
        ("0\t:invoke\t:read\tnil\ngarbage", 1, "line 2, column 1: this line has no process and type; expected @line"),
        ("0\t:invoke", 0, "line 1, column 10: this line has no f; expected @line"),
        (
            "0\t:invoke\t:read\t[1 2",
            0,
            "line 1, column 17: the line ends before this [ is closed; expected the rest of it",
        ),
        (
            "0\t:invoke\t:read\tnil\n0\t:ok\t:read\t\"x",
            1,
            "line 2, column 13: the line ends before this string is closed; expected a closing quote",
        ),
        (
            "0\t:invoke\t:read\tnil\n0\t:ok\t:read\t3\t:boom\nDetail: foo\n1\t:invok\t:read\tnil",
            2,
            "line 4, column 1: this line has no process and type; expected @line",
        ),
        (
            "INFO  a.b - 0\t:invoke\t:read\tnil\nINFO  a.b - 0\t:oak\t:read\t3",
            1,
            "line 2, column 1: this line has no process and type; expected @line",
        ),
        (
            "INFO  a.b - 0\t:invoke\t:read\tnil\nINFO  a.b - 0   :oak   :read   3",
            1,
            "line 2, column 1: this line has no process and type; expected @line",
        ),
        (
            "INFO  a.b - 0\t:invoke\t:read\tnil\nINFO  a.b - 0\t:o",
            1,
            "line 2, column 1: this line has no process and type; expected @line",
        ),
        (
            "INFO  a.b - 0\t:invoke\t:read\tnil\nINFO  a.b - 0",
            1,
            "line 2, column 1: this line has no process and type; expected @line",
        ),
        (
            "INFO  a.b - 0\t:invoke\t:read\tnil\nINFO  a.b",
            1,
            "line 2, column 1: this line has no process and type; expected @line",
        ),
        ("INFO  a.b - nothing\nand more of it\n", 0, "it contains no op; expected @op"),
        (
            "INFO  a.b - nothing\nINFO  a.b - 0\t:ok\t:read\t[1",
            0,
            "line 2, column 25: the line ends before this [ is closed; expected the rest of it",
        ),
        ("[0 1]\t:invoke\t:read\tnil", 0, "line 1, column 4: the process is not an EDN value; expected @line"),
    ]);
}

#[test]
fn values_that_are_no_ops_and_ops_that_do_not_fit() {
    check(&[
        ("{:type :ok} garbage {:type :ok}", 1, "line 1, column 13: found a symbol in the place of an op; expected @op"),
        ("{:f :x}", 0, "line 1, column 1: the map has no :type; expected @op"),
        ("{:type :okay}", 0, "line 1, column 1: the op's type is :okay; expected invoke, ok, fail or info"),
        ("{:type nil}", 0, "line 1, column 1: the op's type is nil; expected invoke, ok, fail or info"),
        ("{:type :ok :type :ok}", 0, "line 1, column 1: the op has two fields named type; expected each field once"),
        ("{:type :ok :index -1}", 0, "line 1, column 1: the op's index is -1; expected an integer from 0 on"),
        (r#"{:type :ok :index "x"}"#, 0, r#"line 1, column 1: the op's index is "x"; expected an integer from 0 on"#),
        (
            "{:type :ok, :time 0}\n{:type :ok, :time 1700000000.123}",
            1,
            "line 2, column 1: the op's time is 1700000000.123; expected nanoseconds, as an integer; \
             or the unit of such times (--time-unit s, ms, us or ns)",
        ),
        (
            "{:type :ok, :time 9223372036854775808}",
            0,
            "line 1, column 1: the op's time is 9223372036854775808; expected nanoseconds between -2^63 and 2^63",
        ),
        (
            r#"{:type :ok :time "x"}"#,
            0,
            r#"line 1, column 1: the op's time is "x"; expected nanoseconds, as an integer"#,
        ),
        (
            "{:type :ok :process [1]}",
            0,
            "line 1, column 1: the op's process is [1]; expected an integer, or a name such as :nemesis",
        ),
        (
            "{:type :ok :process 1.5}",
            0,
            "line 1, column 1: the op's process is 1.5; expected an integer, or a name such as :nemesis",
        ),
        ("{:type :ok}\n[1 2]", 1, "line 2, column 1: found a vector in the place of an op; expected @op"),
        ("{:type :ok}\n\"foo\"", 1, "line 2, column 1: found a string in the place of an op; expected @op"),
        (
            "{:type :ok, :index 1} {:type :ok}",
            1,
            "line 1, column 23: this op has no index, though those before it have one; expected an index in every op, or in none",
        ),
        (
            "{:type :ok} {:type :ok, :index 1}",
            1,
            "line 1, column 13: this op has an index, though those before it have none; expected an index in every op, or in none",
        ),
        (
            "{:type :ok, :index 1} {:type :ok, :index 1}",
            1,
            "line 1, column 23: the op's index, 1, follows 1; expected indices that increase; sort the ops by index, or leave the indices out",
        ),
        (
            "{:process 0 :type :invoke} {:process 0 :type :invoke}",
            1,
            "line 1, column 28: process 0 invokes an op while its op of line 1 is in flight; expected the completion of that op first",
        ),
        (
            "{:process 0 :type :invoke} {:process 1 :type :ok}",
            1,
            "line 1, column 28: process 1 completes an op without having invoked one; expected an invocation by that process before it",
        ),
        (
            "{:process 0 :type :invoke} {:process 0 :type :info} {:process 0 :type :invoke}",
            2,
            "line 1, column 53: process 0 is used again after an info; expected a new process number for a client that continues after a crash",
        ),
        (
            "{:process 0 :type :ok}\n{:process 0 :type :invoke}",
            1,
            "line 2, column 1: this op is an invocation, but the history began with a completion without one; expected an invocation before every completion, or no invocations",
        ),
        (r#"[{"type":"ok"}, 3]"#, 1, "line 1, column 17: found an integer in the place of an op; expected @op"),
        ("{}", 0, "line 1, column 1: the map has no :type; expected @op"),
        ("[{}]", 0, "line 1, column 2: the map has no :type; expected @op"),
    ]);
}

#[test]
fn bytes_that_are_not_utf_8_are_told_where_they_stand() {
    let mut text = b"{:type :ok}\n{:type :ok, :value \"ab".to_vec();
    text.extend([0xff, b'"', b'}']);
    assert_eq!(error(&text), "line 2, column 23: these bytes are not UTF-8; expected UTF-8 text");
    assert_eq!(read(&text).ops.len(), 1);
    // The text ends within a character.
    let text = &"{:type :ok} é".as_bytes()[..13];
    assert_eq!(error(text), "line 1, column 13: these bytes are not UTF-8; expected UTF-8 text");
    assert_eq!(error([0xff, 0xfe, b'{', 0]), "this text is UTF-16; expected UTF-8; convert it with iconv");
}

#[test]
fn what_comes_first_is_told_first() {
    // Several errors in one block: an op that contradicts those before it, a value that is not an op, a syntax error,
    // invalid bytes.
    let mut text = b"{:process 0 :type :ok} {:process 0 :type :invoke} 3 ] ".to_vec();
    text.push(0xff);
    assert!(
        error(&text)
            .starts_with("line 1, column 24: this op is an invocation, but the history began with a completion"),
        "{}",
        error(&text)
    );
    assert!(error(&text[23..]).starts_with("line 1, column 28: found an integer"), "{}", error(&text[23..]));
    assert!(
        error([&text[..22], &text[51..]].concat()).starts_with("line 1, column 24: ']' without an opening bracket")
    );
    assert!(error([&text[..22], &text[53..]].concat()).starts_with("line 1, column 24: these bytes"));
}

#[test]
fn snippets_show_the_line_with_a_caret() {
    let long = "x".repeat(300);
    let text = format!("{{:type :ok}}\n{{:type :ok, :value [\"{long}\" )], :f \"{long}\"}}\n{{:type :ok}}");
    let snippet = read(&text).error.unwrap().snippet.unwrap();
    assert_eq!(snippet.text, format!("{}\" )], :f \"{}", "x".repeat(58), "x".repeat(52)));
    assert_eq!(snippet.caret, 60);
    assert_eq!(snippet.text.chars().nth(snippet.caret), Some(')'));
}

#[test]
fn an_error_is_told_again_to_who_asks_again() {
    let mut reader = history_core::Reader::new("{:type :ok} ]".as_bytes());
    let mut batch = history_core::Batch::new();
    let first = reader.read_batch(&mut batch).unwrap_err();
    assert_eq!(batch.len(), 1, "the op before the error");
    assert_eq!(reader.read_batch(&mut batch), Err(first));
    assert_eq!(batch.len(), 0);
}

#[test]
fn limits_hold_wherever_blocks_end() {
    let text = format!("{{:type :ok}} {{:type :ok, :value \"{}\"}}", "x".repeat(1000));
    for block_bytes in [1, 7, 100, 10_000] {
        let reader = |bytes| {
            let limits = crate::common::op_bytes_max(bytes);
            crate::common::drain(
                history_core::Reader::new(text.as_bytes()).with_limits(limits).with_block_bytes(block_bytes),
            )
        };
        assert_eq!(reader(1022).error, None, "{block_bytes}");
        let short = reader(1021);
        assert_eq!(short.error.unwrap().to_string(), "line 1, column 13: an op is longer than 1021 bytes");
        assert_eq!(short.ops.len(), 1);
    }
    let limits = history_core::Limits { ops_max: 1, ..Default::default() };
    let read = crate::common::drain(history_core::Reader::new(text.as_bytes()).with_limits(limits));
    assert_eq!(read.error.unwrap().to_string(), "line 1, column 13: more than 1 ops");
    // The limit applies to a text without ops, too.
    let text_bytes_max = 100;
    for (newlines, error) in [(90, None), (150, Some("the text is longer than 100 bytes"))] {
        let text = "\n".repeat(newlines) + "{:type :ok}";
        let limits = history_core::Limits { text_bytes_max, ..Default::default() };
        let reader = history_core::Reader::new(text.as_bytes()).with_limits(limits).with_block_bytes(16);
        let read = crate::common::drain(reader);
        assert_eq!(read.error.map(|error| error.to_string()).as_deref(), error, "{newlines}");
        assert_eq!(read.ops.len(), usize::from(error.is_none()), "{newlines}");
    }
}
