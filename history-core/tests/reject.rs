//! Texts that are no histories: how many ops are read, what is said, and where.

mod common;

use common::{error, read};

/// What is said to be expected, where it is long.
const LONG: [(&str, &str); 3] = [
    ("@op", "an op: a map with :type (invoke, ok, fail or info), :process, :f and :value"),
    ("@line", "PROCESS<TAB>TYPE<TAB>F<TAB>VALUE, like 0<TAB>:invoke<TAB>:read<TAB>nil"),
    ("@any", "op maps in EDN or JSON (one after another, one a line, or in one array), or the columns of history.txt"),
];

/// Each text, the ops before its first error, and that error.
fn check(cases: &[(&str, usize, &str)]) {
    for (text, ops, message) in cases {
        let full = LONG.iter().fold((*message).to_owned(), |message, (short, long)| message.replace(short, long));
        assert_eq!(error(text), full, "{text}");
        assert_eq!(read(text).ops.len(), *ops, "{text}");
    }
}

#[test]
fn what_is_no_history_at_all() {
    check(&[
        ("", 0, "there is no op in it; expected @op"),
        ("   \n", 0, "there is no op in it; expected @op"),
        (";just a comment", 0, "there is no op in it; expected @op"),
        ("hello", 0, "line 1, column 1: this is not a history in any format known here; expected @any"),
        ("[1 2]", 0, "line 1, column 1: this is not a history in any format known here; expected @any"),
        ("[nil]", 0, "line 1, column 1: this is not a history in any format known here; expected @any"),
        ("0\t:invok\t:read\tnil", 0, "line 1, column 1: this is not a history in any format known here; expected @any"),
        (":invoke\t:read\tnil", 0, "line 1, column 1: this is not a history in any format known here; expected @any"),
    ]);
}

#[test]
fn edn_that_is_none() {
    check(&[
        ("[", 0, "line 1, column 2: the text ends before the history does; expected ] after the last op"),
        ("{", 0, "line 1, column 1: the text ends before this { is closed; expected the rest of it"),
        ("{:type :ok", 0, "line 1, column 1: the text ends before this { is closed; expected the rest of it"),
        (
            "{:type :ok, :value [1 2}",
            0,
            "line 1, column 24: found '}' while [ is open (opened at line 1, column 20); expected ]",
        ),
        (
            "{:type :ok, :value [1 2)]}",
            0,
            "line 1, column 24: found ')' while [ is open (opened at line 1, column 20); expected ]",
        ),
        (
            "{:type :ok, :value}",
            0,
            "line 1, column 19: the last key of this map has no value (opened at line 1, column 1); expected an even number of forms",
        ),
        (
            "{:type :ok, :value #{1 2]}",
            0,
            "line 1, column 25: found ']' while #{ is open (opened at line 1, column 20); expected }",
        ),
        ("{:type :ok}}", 1, "line 1, column 12: '}' closes nothing; expected an EDN value"),
        (
            "[{:type :ok}] {:type :ok}",
            1,
            "line 1, column 15: there is text after the end of the history; expected nothing more",
        ),
        ("[{:type :ok}", 1, "line 1, column 13: the text ends before the history does; expected ] after the last op"),
        ("({:type :ok}]", 1, "line 1, column 13: ']' closes nothing; expected an EDN value"),
        (
            "[{:type :ok}\n {:type :ok}",
            2,
            "line 2, column 13: the text ends before the history does; expected ] after the last op",
        ),
        (
            r#"{:type :ok :value "abc}"#,
            0,
            "line 1, column 19: the text ends before this string is closed; expected a closing quote",
        ),
        (
            r#"{:type :ok :value "a\qc"}"#,
            0,
            r#"line 1, column 21: a backslash before 'q' means nothing; expected one of \n \t \r \b \f \" \\ \uXXXX"#,
        ),
        (
            r#"{:type :ok :value "\u12G4"}"#,
            0,
            r"line 1, column 20: \u wants four hexadecimal digits; expected something like \u00e9",
        ),
        (
            r#"{:type :ok :value "\ud800"}"#,
            0,
            r"line 1, column 20: half a surrogate pair stands for no character; expected both halves, like \ud83d\ude00",
        ),
        (
            r#"{:type :ok :value "\ud800\u0041"}"#,
            0,
            r"line 1, column 20: half a surrogate pair stands for no character; expected both halves, like \ud83d\ude00",
        ),
        (
            r"{:type :ok :value \}",
            0,
            "line 1, column 1: the text ends before this { is closed; expected the rest of it",
        ),
        (
            r"{:type :ok :value \foo}",
            0,
            r"line 1, column 19: \foo is no character; expected \a, \newline, \space, \tab or \u0041",
        ),
        (
            "{:type :ok :value 012}",
            0,
            "line 1, column 19: a number that begins with a zero; expected a number, like 12, 0.5 or 12N",
        ),
        (
            "{:type :ok :value 1e999}",
            0,
            "line 1, column 19: this number is too large for a float; expected at most about 1.8e308",
        ),
        (
            "{:type :ok :value 12abc}",
            0,
            "line 1, column 19: 12abc is not a number; expected a number, like 12, 0.5 or 12N",
        ),
        ("{:type :ok :value 0x}", 0, "line 1, column 19: 0x is not a number; expected a number, like 12, 0.5 or 12N"),
        ("{:type :ok :value ##Foo}", 0, "line 1, column 19: this is no number; expected ##NaN, ##Inf or ##-Inf"),
        (
            "{:type :ok :value #<Foo>}",
            0,
            "line 1, column 19: a # before '<' means nothing; expected #{...}, #tag, #_ or ##NaN",
        ),
        (
            "{:type :ok :value #}",
            0,
            "line 1, column 19: a # before '}' means nothing; expected #{...}, #tag, #_ or ##NaN",
        ),
        ("{:type :ok :value #_}", 0, "line 1, column 21: #_ without a value to discard; expected a value after #_"),
        ("{:type :ok :value #foo}", 0, "line 1, column 23: a tag without a value; expected a value after the tag"),
        (
            "{:type :ok :value : }",
            0,
            "line 1, column 19: nothing stands behind this character; expected a name after the colon",
        ),
        ("{:type :ok :value ^x}", 0, "line 1, column 19: '^' means nothing in EDN; expected an EDN value"),
        ("{:type :ok :value @x}", 0, "line 1, column 19: '@' means nothing in EDN; expected an EDN value"),
        ("{:type :ok :value \0}", 0, r"line 1, column 19: found '\0'; expected an EDN value"),
        (
            "{:type :ok :value [1 2 3 #_ ]}",
            0,
            "line 1, column 29: #_ without a value to discard; expected a value after #_",
        ),
        (
            "{:type :ok, :value {:a 1 :b}}\n",
            0,
            "line 1, column 28: the last key of this map has no value (opened at line 1, column 20); expected an even number of forms",
        ),
    ]);
}

#[test]
fn json_that_is_none() {
    check(&[
        (r#"{"type":"ok""#, 0, "line 1, column 1: the text ends before this { is closed; expected the rest of it"),
        (
            r#"{"type":"ok",}"#,
            0,
            "line 1, column 14: found '}' where a key belongs; expected a string in double quotes",
        ),
        (
            r#"{"type":"ok" "f":"x"}"#,
            0,
            r#"line 1, column 14: found '"' after a value while { is open (opened at line 1, column 1); expected a comma or }"#,
        ),
        (r#"{"type" "ok"}"#, 0, r#"line 1, column 9: found '"' after a key; expected a colon"#),
        (
            r#"{"type":"ok","value":[1,]}"#,
            0,
            "line 1, column 25: found ']' where a value belongs; expected a JSON value",
        ),
        (
            r#"{"type":"ok","value":[1 2]}"#,
            0,
            "line 1, column 25: found '2' after a value while [ is open (opened at line 1, column 22); expected a comma or ]",
        ),
        (
            r#"{"type":"ok","value":[1,2}"#,
            0,
            "line 1, column 26: found '}' after a value while [ is open (opened at line 1, column 22); expected a comma or ]",
        ),
        (
            r#"{"type":"ok","value":[,1]}"#,
            0,
            "line 1, column 23: found ',' where a value belongs; expected a JSON value",
        ),
        (
            r#"{"type":"ok","value":01}"#,
            0,
            "line 1, column 22: a number that begins with a zero; expected a number, like 12, -3 or 0.5",
        ),
        (
            r#"{"type":"ok","value":-}"#,
            0,
            "line 1, column 22: a minus sign without digits; expected a number, like 12, -3 or 0.5",
        ),
        (
            r#"{"type":"ok","value":1.}"#,
            0,
            "line 1, column 22: a number that ends in a point; expected a number, like 12, -3 or 0.5",
        ),
        (
            r#"{"type":"ok","value":1e}"#,
            0,
            "line 1, column 22: a number whose exponent has no digits; expected a number, like 12, -3 or 0.5",
        ),
        (r#"{"type":"ok","value":+1}"#, 0, "line 1, column 22: found '+' where a value belongs; expected a JSON value"),
        (
            r#"{"type":"ok","value":nul}"#,
            0,
            "line 1, column 22: this word is not JSON; expected null, true, false, a number, a string, [ or {",
        ),
        (
            r#"{"type":"ok","value":nulls}"#,
            0,
            "line 1, column 22: this word is not JSON; expected null, true, false, a number, a string, [ or {",
        ),
        (
            r#"{"type":"ok","value":-Inf}"#,
            0,
            "line 1, column 23: this word is not JSON; expected null, true, false, a number, a string, [ or {",
        ),
        (
            r#"{"type":"ok","value":1e999}"#,
            0,
            "line 1, column 22: this number is too large for a float; expected at most about 1.8e308",
        ),
        (
            r#"{"type":"ok","value":'a'}"#,
            0,
            r"line 1, column 22: found '\'' where a value belongs; expected a JSON value",
        ),
        (
            "{\"type\":\"ok\",\"value\":\"a\nb\"}",
            0,
            r"line 1, column 24: '\n' inside a string; expected an escape like \n, or a quote that closes the string",
        ),
        (
            r#"{"type":"ok","value":"\'"}"#,
            0,
            r#"line 1, column 23: a backslash before '\'' means nothing; expected one of \n \t \r \b \f \" \\ \uXXXX"#,
        ),
        (
            r#"{"type":"ok","value":"\udc00"}"#,
            0,
            r"line 1, column 23: half a surrogate pair stands for no character; expected both halves, like \ud83d\ude00",
        ),
        (
            r#"{"type":"ok",3:4}"#,
            0,
            "line 1, column 14: found '3' where a key belongs; expected a string in double quotes",
        ),
        (r#"[{"type":"ok"},]"#, 1, "line 1, column 16: found ] after a comma; expected an op"),
        (
            r#"[{"type":"ok"} {"type":"ok"}]"#,
            1,
            "line 1, column 16: no comma stands between two ops of an array; expected a comma or ]",
        ),
        (
            r#"[{"type":"ok"},{"type":"ok"}"#,
            2,
            "line 1, column 29: the text ends before the history does; expected ] after the last op",
        ),
        (r#"[,{"type":"ok"}]"#, 0, "line 1, column 2: found ',' where a value belongs; expected a JSON value"),
        (
            r#"{"type":"ok"},{"type":"ok"}"#,
            1,
            "line 1, column 14: found ',' where a value belongs; expected a JSON value",
        ),
        (
            r#"[{"type":"ok"}]]"#,
            1,
            "line 1, column 16: there is text after the end of the history; expected nothing more",
        ),
        (r#"{"type":"ok"} // comment"#, 1, "line 1, column 15: found '/' where a value belongs; expected a JSON value"),
    ]);
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
        ("[0 1]\t:invoke\t:read\tnil", 0, "line 1, column 4: the process is not one EDN value; expected @line"),
    ]);
}

#[test]
fn values_that_are_no_ops_and_ops_that_do_not_fit() {
    check(&[
        ("{:type :ok} garbage {:type :ok}", 1, "line 1, column 13: found a symbol where an op belongs; expected @op"),
        ("{:f :x}", 0, "line 1, column 1: the map has no :type; expected @op"),
        ("{:type :okay}", 0, "line 1, column 1: the op's type is :okay; expected invoke, ok, fail or info"),
        ("{:type nil}", 0, "line 1, column 1: the op's type is nil; expected invoke, ok, fail or info"),
        ("{:type :ok :type :ok}", 0, "line 1, column 1: the op has two fields named type; expected one of each"),
        ("{:type :ok :index -1}", 0, "line 1, column 1: the op's index is -1; expected an integer from 0 on"),
        (r#"{:type :ok :index "x"}"#, 0, r#"line 1, column 1: the op's index is "x"; expected an integer from 0 on"#),
        (
            r#"{:type :ok :time "x"}"#,
            0,
            r#"line 1, column 1: the op's time is "x"; expected nanoseconds since the test began, as a number"#,
        ),
        (
            "{:type :ok :process [1]}",
            0,
            "line 1, column 1: the op's process is [1]; expected an integer, or a name like :nemesis",
        ),
        (
            "{:type :ok :process 1.5}",
            0,
            "line 1, column 1: the op's process is 1.5; expected an integer, or a name like :nemesis",
        ),
        ("{:type :ok}\n[1 2]", 1, "line 2, column 1: found a vector where an op belongs; expected @op"),
        ("{:type :ok}\n\"foo\"", 1, "line 2, column 1: found a string where an op belongs; expected @op"),
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
            "line 1, column 28: process 0 invokes while its op of line 1 is in flight; expected that op's completion first",
        ),
        (
            "{:process 0 :type :invoke} {:process 1 :type :ok}",
            1,
            "line 1, column 28: process 1 completes an op that it did not invoke; expected an invocation by that process before it",
        ),
        (
            "{:process 0 :type :invoke} {:process 0 :type :info} {:process 0 :type :invoke}",
            2,
            "line 1, column 53: process 0 is back after an info; expected a new process number for the client that goes on after a crash",
        ),
        (
            "{:process 0 :type :ok}\n{:process 0 :type :invoke}",
            1,
            "line 2, column 1: this history began with a completion that nobody invoked, and now comes an invocation; expected every completion after its invocation, or no invocation at all",
        ),
        (r#"[{"type":"ok"}, 3]"#, 1, "line 1, column 17: found an integer where an op belongs; expected @op"),
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
    // The text ends inside a character.
    let text = &"{:type :ok} é".as_bytes()[..13];
    assert_eq!(error(text), "line 1, column 13: these bytes are not UTF-8; expected UTF-8 text");
    assert_eq!(error([0xff, 0xfe, b'{', 0]), "this text is UTF-16; expected UTF-8; convert it with iconv");
}

#[test]
fn what_comes_first_is_told_first() {
    // Of several errors in one block: an op that does not fit, a value that is no op, a fault of syntax, bad bytes.
    let mut text = b"{:process 0 :type :ok} {:process 0 :type :invoke} 3 ] ".to_vec();
    text.push(0xff);
    assert!(error(&text).starts_with("line 1, column 24: this history began with a completion"), "{}", error(&text));
    assert!(error(&text[23..]).starts_with("line 1, column 28: found an integer"), "{}", error(&text[23..]));
    assert!(error([&text[..22], &text[51..]].concat()).starts_with("line 1, column 24: ']' closes nothing"));
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
            let limits = common::op_bytes_max(bytes);
            common::drain(history_core::Reader::new(text.as_bytes()).with_limits(limits).with_block_bytes(block_bytes))
        };
        assert_eq!(reader(1022).error, None, "{block_bytes}");
        let short = reader(1021);
        assert_eq!(short.error.unwrap().to_string(), "line 1, column 13: an op is longer than 1021 bytes");
        assert_eq!(short.ops.len(), 1);
    }
    let limits = history_core::Limits { ops_max: 1, ..Default::default() };
    let read = common::drain(history_core::Reader::new(text.as_bytes()).with_limits(limits));
    assert_eq!(read.error.unwrap().to_string(), "line 1, column 13: more than 1 ops");
}
