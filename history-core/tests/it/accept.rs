//! Texts that are histories, and the ops that are read from them.

use crate::common::{each, read, values};
use history_core::{Format, History, OpKind, Pair, Process, Reader, TimeUnit};

/// Asserts the value of an op, as EDN, for each text of the value.
fn check_values(op: impl Fn(&str) -> String, cases: &[(&str, &str)]) {
    for (text, value) in cases {
        assert_eq!(values(&op(text)), [*value], "{text}");
    }
}

#[test]
fn edn_values_are_read_as_clojure_reads_them() {
    check_values(
        |value| format!("{{:type :ok, :value {value}}}"),
        &[
            ("nil", "nil"),
            ("true", "true"),
            ("false", "false"),
            ("0", "0"),
            ("-0", "0"),
            ("+7", "7"),
            ("-12", "-12"),
            ("9223372036854775807", "9223372036854775807"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("9223372036854775808", "9223372036854775808N"),
            ("+9223372036854775808", "9223372036854775808N"),
            ("-9223372036854775809N", "-9223372036854775809N"),
            ("12N", "12"),
            ("999999999999999999", "999999999999999999"),
            ("1000000000000000000", "1000000000000000000"),
            ("0x1F", "31"),
            ("-0X1f", "-31"),
            ("1/3", "1/3"),
            ("+1/3", "1/3"),
            ("1.50M", "1.50M"),
            ("1.5", "1.5"),
            ("-1.5e3", "-1500.0"),
            ("1e21", "1e21"),
            ("1.", "1.0"),
            ("0.1", "0.1"),
            ("-0.0", "-0.0"),
            ("##Inf", "##Inf"),
            ("##-Inf", "##-Inf"),
            ("##NaN", "##NaN"),
            (r"\a", r"\a"),
            (r"\é", r"\é"),
            (r"\u", r"\u"),
            (r"\u0041", r"\A"),
            (r"\o101", r"\A"),
            (r"\newline", r"\newline"),
            (r"\space", r"\space"),
            (r"\(", r"\("),
            (r#"\""#, r#"\""#),
            (r"\;", r"\;"),
            (r"\,", r"\,"),
            (r#""a b""#, r#""a b""#),
            (r#""""#, r#""""#),
            (r#""\n\t\r\b\f\"\\""#, r#""\n\t\r\u0008\u000c\"\\""#),
            (r#""é\u00e9""#, r#""éé""#),
            (r#""\ud83d\ude00😀""#, r#""😀😀""#),
            ("\"two\nlines\"", r#""two\nlines""#),
            (":a", ":a"),
            (":jepsen.history/op", ":jepsen.history/op"),
            (":a:b", ":a:b"),
            ("a-symbol", "a-symbol"),
            ("-", "-"),
            ("->x", "->x"),
            ("nilly", "nilly"),
            ("[]", "[]"),
            ("[ , ]", "[]"),
            ("()", "()"),
            ("#{}", "#{}"),
            ("{}", "{}"),
            ("[1 2 3]", "[1 2 3]"),
            ("[1,2,,3 , ]", "[1 2 3]"),
            ("[1 2 :a 3]", "[1 2 :a 3]"),
            ("[1 2.5]", "[1 2.5]"),
            ("[1 2N]", "[1 2]"),
            ("[-1 -2 -]", "[-1 -2 -]"),
            ("[1[2]3]", "[1 [2] 3]"),
            ("[1\"a\"2]", "[1 \"a\" 2]"),
            ("(1 2)", "(1 2)"),
            ("#{1 2}", "#{1 2}"),
            ("#{:a}", "#{:a}"),
            ("[1 1234567890123456789 2]", "[1 1234567890123456789 2]"),
            ("[[:append 1 2] [:r 3 [4 5]] [:r 6 nil]]", "[[:append 1 2] [:r 3 [4 5]] [:r 6 nil]]"),
            ("{:a 1, 2 [3], \"x\" nil}", "{:a 1, 2 [3], \"x\" nil}"),
            ("#inst \"2024-01-01\"", "#inst \"2024-01-01\""),
            ("#a.b.C{:x 1}", "#a.b.C {:x 1}"),
            ("#a #b [1]", "#a #b [1]"),
            ("#:ns{:a 1}", "#:ns {:a 1}"),
            ("#\"a\\d\\\"\"", r#""a\\d\\\"""#),
            ("[1 #_2 3]", "[1 3]"),
            ("[#_ #_ 1 2 3]", "[3]"),
            ("[1 #_[2 [3]] 4]", "[1 4]"),
            ("[#a #_1 2]", "[#a 2]"),
            ("[#_ #a 1 2]", "[2]"),
            ("{:a #_1 2}", "{:a 2}"),
            ("#_:x :y", ":y"),
            ("[1 ;]\n 2]", "[1 2]"),
            ("[1 2 ; 3\n]", "[1 2]"),
            ("#object[a.B 0x1f \"b\"]", "#object [a.B 31 \"b\"]"),
        ],
    );
}

#[test]
fn json_values_are_read_as_json() {
    check_values(
        |value| format!("{{\"type\":\"ok\",\"value\":{value}}}"),
        &[
            ("null", "nil"),
            ("true", "true"),
            ("false", "false"),
            ("0", "0"),
            ("-0", "0"),
            ("-12", "-12"),
            ("9223372036854775807", "9223372036854775807"),
            ("9223372036854775808", "9223372036854775808N"),
            ("1.5", "1.5"),
            ("-1.5E+3", "-1500.0"),
            ("1e2", "100.0"),
            ("NaN", "##NaN"),
            ("Infinity", "##Inf"),
            ("-Infinity", "##-Inf"),
            (r#""a b""#, r#""a b""#),
            (r#""\n\t\r\b\f\"\\\/""#, r#""\n\t\r\u0008\u000c\"\\/""#),
            (r#""\ud83d\ude00😀""#, r#""😀😀""#),
            (r#""{[;""#, r#""{[;""#),
            ("[]", "[]"),
            ("[ ]", "[]"),
            ("{}", "{}"),
            ("{ }", "{}"),
            ("[1,2,3]", "[1 2 3]"),
            ("[ 1 , 2 ,3 ]", "[1 2 3]"),
            ("[1,\"a\",2]", "[1 \"a\" 2]"),
            ("[1,2.5,3]", "[1 2.5 3]"),
            ("[-1,-2]", "[-1 -2]"),
            ("[1234567890123456789]", "[1234567890123456789]"),
            ("[[],[[]],{}]", "[[] [[]] {}]"),
            ("[[\"append\",1,2],[\"r\",3,[4,5]],[\"r\",6,null]]", "[[\"append\" 1 2] [\"r\" 3 [4 5]] [\"r\" 6 nil]]"),
            ("{\"a\":1,\"b\":{\"c\":[]}}", "{\"a\" 1, \"b\" {\"c\" []}}"),
        ],
    );
}

#[test]
fn ops_may_be_enclosed_or_not() {
    let edn = "{:type :ok, :value 1}";
    let json = r#"{"type":"ok","value":1}"#;
    let cases: &[(String, usize, Format)] = &[
        (edn.into(), 1, Format::Edn),
        (format!("{edn}{edn}"), 2, Format::Edn),
        (format!("\u{feff}{edn}\r\n{edn}\r\n"), 2, Format::Edn),
        (format!("  ,\n{edn},{edn} ,"), 2, Format::Edn),
        (format!("[{edn} {edn}]"), 2, Format::Edn),
        (format!("({edn}\n {edn})\n; done"), 2, Format::Edn),
        (format!("[ ;nothing\n{edn}]"), 1, Format::Edn),
        (format!("; first\n#_{edn} ;\n[#_{edn}{edn}#_1]"), 1, Format::Edn),
        (format!("#jepsen.history.Op{edn} #a #b {edn}"), 2, Format::Edn),
        (format!("[#jepsen.history.Op{edn}]"), 1, Format::Edn),
        ("[ ; none\n]".into(), 0, Format::Edn),
        ("()".into(), 0, Format::Edn),
        ("[]".into(), 0, Format::Json),
        (json.into(), 1, Format::Json),
        (format!("{json}{json}"), 2, Format::Json),
        (format!("{json}\n{json}\r\n\n"), 2, Format::Json),
        (format!("\u{feff}[{json},{json}]\n"), 2, Format::Json),
        (format!(" [ {json} , {json} ] "), 2, Format::Json),
        ("0\t:invoke\t:read\tnil".into(), 1, Format::Table),
        ("\n0\t:invoke\t:read\tnil\r\n\n1\t:invoke\t:read\t\n".into(), 2, Format::Table),
        ("[main] INFO  util - 0\t:invoke\t:read\tnil\n".into(), 1, Format::Table),
    ];
    for (text, ops, format) in cases {
        let read = read(text);
        assert_eq!((read.error, read.ops.len(), read.format), (None, *ops, Some(*format)), "{text}");
    }
}

#[test]
fn the_table_is_read_with_tabs_or_spaces_and_behind_a_loggers_prefix() {
    let text = "0\t:invoke\t:write\t3\n\
        INFO  jepsen.util - 1   :invoke :cas    [1 2]\n\
        :nemesis\t:info\t:start\t{:n1 \"a b\"}\n\
        \"my nemesis\"\t:info\t:stop\tnil\n\
        2024-01-01 00:00:00,000{GMT}\tINFO\t[jepsen worker 1] jepsen.util: 2\t:invoke\tnil\n\
        0\t:fail\t:write\t3\t:timed-out\n\
        1\t:info\t:cas\t[1 2]\tcrash: broken pipe\n  at some.Code\n\n\tat other.Code 3\n\
        2\t:ok\tnil\tnil\t[:a \"b\"]\n\
        3\t:invoke\t:txn\t[[:r 1 nil]]";
    let mut seen = Vec::new();
    each(text, |op| {
        let error = op.extra.get("error").map(|error| error.to_string()).unwrap_or_default();
        seen.push(format!("{:?} {} {:?} {} {error}", op.process, op.kind.name(), op.f, op.value));
    });
    assert_eq!(
        seen,
        [
            r#"Client(0) invoke Some("write") 3 "#,
            r#"Client(1) invoke Some("cas") [1 2] "#,
            r#"Other("nemesis") info Some("start") {:n1 "a b"} "#,
            r#"Other("my nemesis") info Some("stop") nil "#,
            "Client(2) invoke None nil ",
            r#"Client(0) fail Some("write") 3 :timed-out"#,
            r#"Client(1) info Some("cas") [1 2] "crash: broken pipe""#,
            r#"Client(2) ok None nil [:a "b"]"#,
            r#"Client(3) invoke Some("txn") [[:r 1 nil]] "#,
        ]
    );
}

/// A log of Jepsen's, as Porcupine's tests read it.
#[test]
fn a_log_is_read_past_what_is_no_op() {
    let text = "INFO  jepsen.core - Worker 1 starting\n\
        INFO  jepsen.util - 1\t:invoke\t:write\t3\n\
        WARN  jepsen.core - Process 1 indeterminate\n\
        java.net.SocketTimeoutException: Read timed out\n\
        \tat java.net.Socket.read(Socket.java:150)\n\
        INFO  jepsen.util - 1\t:info\t:write\t:timed-out\n\
        2024-01-01 00:00:00,000{GMT}\tINFO\t[jepsen worker 2] jepsen.core: Everything: fine\n\
        2024-01-01 00:00:00,000{GMT}\tINFO\t[jepsen worker 2] jepsen.util: 2\t:invoke\t:read\tnil\n\
        INFO  jepsen.util - 2   :fail   :read   :timed-out\n";
    let read = read(text);
    assert_eq!((read.error, read.ops.len(), read.format), (None, 4, Some(Format::Table)));
}

#[test]
fn timed_out_is_an_error_where_the_value_of_a_failure_belongs() {
    let text = "1\t:invoke\t:write\t:timed-out\n\
        1\t:info\t:write\t:timed-out\n\
        2\t:invoke\t:write\t3\n\
        2\t:fail\t:write\t:timed-out \n\
        3\t:invoke\t:write\t3\n\
        3\t:info\t:write\t:timed-out\t:closed\n\
        4\t:invoke\t:read\tnil\n\
        4\t:ok\t:read\t:timed-out\n\
        5\t:invoke\t:read\tnil\n\
        5\t:fail\t:read\t\"timed-out\"\n\
        :nemesis\t:info\t:start\t:timed-out\n";
    let mut seen = Vec::new();
    each(text, |op| {
        if op.kind != OpKind::Invoke {
            let error = op.extra.get("error").map(|error| error.to_string()).unwrap_or_default();
            seen.push(format!("{} {} {error}", op.kind.name(), op.value));
        }
    });
    assert_eq!(
        seen,
        [
            "info nil :timed-out",
            "fail nil :timed-out",
            "info nil :closed",
            "ok :timed-out ",
            "fail \"timed-out\" ",
            "info :timed-out ",
        ]
    );
    // `History::value` returns the value of the invocation.
    let history = History::parse(text).unwrap();
    assert_eq!(history.value(3).as_int(), Some(3));
}

#[test]
fn the_fields_of_an_op_are_the_same_in_edn_and_json() {
    let edn = r#"{:index 7, :time 12, :process 3, :type :invoke, :f :read, :value [:r 1], :host "n1", :write-id 5}"#;
    let json =
        r#"{"index":7,"time":12,"process":"3","type":"invoke","f":"read","value":["r",1],"host":"n1","write-id":5}"#;
    for text in [edn, json] {
        each(text, |op| {
            assert_eq!((op.index, op.time, op.process), (7, Some(12), Process::Client(3)));
            assert_eq!((op.kind, op.f, op.pair), (OpKind::Invoke, Some("read"), Pair::Invokes { slot: 0 }));
            assert_eq!(op.value.as_seq().unwrap().iter().next().unwrap().as_name(), Some("r"));
            assert_eq!(op.extra.get("host").unwrap().as_name(), Some("n1"));
            assert_eq!(op.extra.get("write-id").unwrap().as_int(), Some(5));
            assert_eq!(op.extra.get("index").map(|_| ()), None, "it has a place of its own");
            assert_eq!(op.extra.iter().count(), 2);
        });
    }
}

#[test]
fn fields_may_be_left_out() {
    each("{:type :info}", |op| {
        assert_eq!((op.index, op.time, op.process, op.f), (0, None, Process::Unknown, None));
        assert!(op.value.is_nil());
        assert_eq!(op.extra.iter().count(), 0);
    });
    each("{:type :ok, :index nil, :time nil, :process nil, :f nil, :value nil}", |op| {
        assert_eq!((op.index, op.time, op.process, op.f), (0, None, Process::Unknown, None));
    });
}

#[test]
fn a_time_may_be_a_float() {
    each("{:type :ok, :time 1.5e9}", |op| assert_eq!(op.time, Some(1_500_000_000)));
}

#[test]
fn a_time_may_have_another_unit() {
    let cases = [
        ("{:type :ok, :time 1700000000.123456789}", TimeUnit::Seconds, 1_700_000_000_123_456_789),
        ("{\"type\": \"ok\", \"time\": 1700000000.123456789}", TimeUnit::Seconds, 1_700_000_000_123_456_789),
        ("{:type :ok, :time 1700000000123}", TimeUnit::Milliseconds, 1_700_000_000_123_000_000),
        ("{:type :ok, :time 0.5}", TimeUnit::Microseconds, 500),
        ("{:type :ok, :time 7}", TimeUnit::Nanoseconds, 7),
        ("{:type :ok, :time 7.9}", TimeUnit::Nanoseconds, 7),
    ];
    for (text, unit, expected) in cases {
        let mut times = Vec::new();
        let read = Reader::new(text.as_bytes()).with_time_unit(unit).for_each(|op| {
            times.push(op.time);
            Ok(std::ops::ControlFlow::Continue(()))
        });
        assert_eq!((read, times), (Ok(()), vec![Some(expected)]), "{text}");
    }
}

#[test]
fn positions_are_those_of_the_ops() {
    let mut seen = Vec::new();
    each("\u{feff}\n  {:type :ok, :value \"é\"} {:type :ok}\r\n{:type :ok}", |op| {
        let position = op.position.unwrap();
        seen.push((position.offset, position.line, position.column));
    });
    assert_eq!(seen, [(6, 2, 3), (31, 2, 27), (44, 3, 1)]);
}

#[test]
fn runs_of_integers_are_slices() {
    let value = |text: &str, see: &dyn Fn(Option<&[i64]>)| {
        each(&format!("{{:type :ok, :value {text}}}"), |op| see(op.value.as_seq().unwrap().as_ints()));
    };
    value("[1 -2 3]", &|ints| assert_eq!(ints, Some(&[1, -2, 3][..])));
    value("[]", &|ints| assert_eq!(ints, Some(&[][..])));
    value("[1 999999999999999999]", &|ints| assert_eq!(ints, Some(&[1, 999_999_999_999_999_999][..])));
    value("[1 1000000000000000000]", &|ints| assert_eq!(ints, None, "too large for checkers' marks"));
    value("[1 nil]", &|ints| assert_eq!(ints, None));
}

#[test]
fn nesting_is_taken_up_to_a_limit() {
    let nested = |depth: usize| format!("{{:type :ok, :value {}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(read(nested(511)).error, None);
    let error = read(nested(513)).error.unwrap();
    assert_eq!(error.message, "values are nested more than 512 deep here");
    assert_eq!(error.kind, history_core::ErrorKind::Limit);
    for opening in ["#_ ", "#a ", "[", "{:a ", "("] {
        let text = format!("{{:type :ok, :value {}", opening.repeat(100_000));
        assert_eq!(read(text).error.unwrap().kind, history_core::ErrorKind::Limit, "{opening}");
    }
}
