//! The formats of other checkers of transactions: their meaning, and their errors.

use crate::common::{Read, drain, error, read};
use history_core::{FirstValue, Format, History, Reader, Severity};

/// The kinds, processes and values of the ops of a history.
fn ops(history: &History) -> Vec<String> {
    let op = |op: history_core::Op<'_>| {
        assert_eq!(op.f, Some("txn"));
        format!("{:?} {} {}", op.process, op.kind.name(), op.value)
    };
    history.ops().map(op).collect()
}

fn parse(text: &[u8], format: Format) -> History {
    let mut reader = Reader::new(text);
    let history = History::read(&mut reader).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(reader.format(), Some(format), "detected");
    history
}

fn le(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The header of dbcop's format, with one session of this number of transactions.
fn bincode(txns: u64) -> Vec<u8> {
    let mut bytes = le(&[0, 1, 2, 1, 2]);
    for text in ["a", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"] {
        bytes.extend(le(&[text.len() as u64]));
        bytes.extend(text.as_bytes());
    }
    bytes.extend(le(&[1, txns]));
    bytes
}

fn event(is_write: bool, key: u64, value: u64, success: bool) -> Vec<u8> {
    let mut bytes = vec![u8::from(is_write)];
    bytes.extend(le(&[key, value]));
    bytes.push(u8::from(success));
    bytes
}

fn record(letter: u8, numbers: &[i64]) -> Vec<u8> {
    let mut bytes = vec![letter];
    bytes.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
    bytes
}

#[test]
fn plume_has_a_line_a_read_or_write() {
    let history = parse(b"w(3,17,0,5)\nr(3,0,1,6)\nw(4,9,1,-1)\n", Format::Plume);
    let wanted = ["Client(0) ok [[:w 3 17]]", "Client(1) ok [[:r 3 nil]]", "Client(1) fail [[:w 4 9]]"];
    assert_eq!(ops(&history), wanted);
    assert_eq!(history.op(2).position.unwrap().line, 3);
}

#[test]
fn a_transaction_that_is_the_first_state_is_no_op() {
    // PolySI and AWDIT write the first state in this form when they convert histories.
    let history = parse(b"w(1,7,0,5)\nr(2,0,0,6)\nw(1,0,3,1)\nw(2,0,3,1)\n", Format::Plume);
    assert_eq!(ops(&history), ["Client(0) ok [[:w 1 7]]", "Client(0) ok [[:r 2 nil]]"]);
    // There is only one first state: the transaction of the other session is a write.
    let history = parse(b"w(1,0,0,1)\nw(1,7,1,2)\nw(1,0,2,4)\n", Format::Plume);
    assert_eq!(ops(&history), ["Client(1) ok [[:w 1 7]]", "Client(2) ok [[:w 1 nil]]"]);
    let mut bytes = bincode(1);
    let sessions = bytes.len() - 16;
    bytes[sessions] = 2;
    let txn = [le(&[1]), event(true, 1, 0, true), vec![1]].concat();
    bytes.extend([&txn[..], &le(&[1]), &txn].concat());
    assert_eq!(ops(&parse(&bytes, Format::Dbcop)), ["Client(1) ok [[:w 1 nil]]"]);
    // The transaction is not the only one of its session.
    let history = parse(b"w(1,0,0,5)\nr(2,0,0,6)\n", Format::Plume);
    assert_eq!(ops(&history), ["Client(0) ok [[:w 1 nil]]", "Client(0) ok [[:r 2 nil]]"]);
    let mut bytes = bincode(1);
    bytes.extend(le(&[1]));
    bytes.extend([event(true, 1, 0, true), vec![1]].concat());
    assert_eq!(
        read(&bytes).error.unwrap().to_string(),
        "there is no transaction in it; expected one transaction at least"
    );
}

#[test]
fn lines_of_a_plume_transaction_may_stand_apart() {
    let history = parse(b"w(1,1,0,5)\nw(1,2,1,6)\nr(1,2,0,7)\nr(2,0,0,5)\n", Format::Plume);
    let wanted = ["Client(0) ok [[:w 1 1] [:r 2 nil]]", "Client(1) ok [[:w 1 2]]", "Client(0) ok [[:r 1 2]]"];
    assert_eq!(ops(&history), wanted);
}

#[test]
fn a_plume_transaction_is_of_one_session() {
    let wanted = "line 3, column 1: transaction 5 is of session 0 (line 1), and of session 1 here; expected numbers of transactions \
                  that are unique in the file";
    assert_eq!(error("w(1,1,0,5)\nw(2,1,0,6)\nw(1,2,1,5)\n"), wanted);
}

#[test]
fn awdit_has_lines_between_transactions_and_sessions() {
    let history = parse(b"w 1 1\n----\nr 1 1\nw 2 0\n====\n\n----\nr 2 0\n", Format::Awdit);
    assert_eq!(
        ops(&history),
        ["Client(0) ok [[:w 1 1]]", "Client(0) ok [[:r 1 1] [:w 2 0]]", "Client(1) ok [[:r 2 0]]"]
    );
}

#[test]
fn hist_has_transactions_in_brackets() {
    let history = parse(b"// one\n[x:=1 y==2 z==?] [7==3]!\n---\n\n[y:=2]\n", Format::Hist);
    let wanted = [
        r#"Client(0) ok [[:w "x" 1] [:r "y" 2] [:r "z" nil]]"#,
        "Client(0) fail [[:r 7 3]]",
        r#"Client(1) ok [[:w "y" 2]]"#,
    ];
    assert_eq!(ops(&history), wanted);
}

#[test]
fn dbcop_json_is_sessions_alone_or_in_an_object() {
    let sessions = r#"[[{"events":[{"Write":{"variable":3,"version":17}},["r",4,null]],"committed":true}],
        [{"committed":false,"events":[["w",4,9]]}], []]"#;
    let wrapped = format!(
        r#"{{"params":{{"id":0,"n_node":2,"n_variable":2,"n_transaction":1,"n_event":2}},"info":"[[","data":{sessions},"end":"x"}}"#
    );
    for text in [sessions, &wrapped] {
        let history = parse(text.as_bytes(), Format::DbcopJson);
        assert_eq!(ops(&history), ["Client(0) ok [[:w 3 17] [:r 4 nil]]", "Client(1) fail [[:w 4 9]]"]);
    }
}

#[test]
fn bincode_holds_what_failed() {
    let mut bytes = bincode(3);
    bytes.extend(le(&[2]));
    bytes.extend([event(true, 3, 17, true), event(false, 4, 0, true), vec![1]].concat());
    // A read without success is ignored. A write without success is aborted.
    bytes.extend(le(&[3]));
    bytes.extend([event(false, 3, 5, false), event(true, 4, 9, false), event(false, 3, 17, true), vec![1]].concat());
    bytes.extend(le(&[1]));
    bytes.extend([event(true, u64::MAX, 2, true), vec![0]].concat());
    let history = parse(&bytes, Format::Dbcop);
    let wanted = [
        "Client(0) ok [[:w 3 17] [:r 4 nil]]",
        "Client(0) fail [[:r 3 5] [:w 4 9]]",
        "Client(0) ok [[:r 3 17]]",
        "Client(0) fail [[:w 18446744073709551615N 2]]",
    ];
    assert_eq!(ops(&history), wanted);
    assert_eq!(history.op(0).position.unwrap().to_string(), format!("byte {}", bincode(0).len()));
}

#[test]
fn bincode_is_not_trusted() {
    let mut long = bincode(1);
    long.extend(le(&[u64::MAX]));
    let message = read(&long).error.unwrap().to_string();
    assert!(message.contains("the file ends within a transaction; expected the rest of it"), "{message}");
    let message = read(bincode(u64::MAX)).error.unwrap().to_string();
    assert!(message.contains("the file ends within a transaction"), "{message}");
    let mut text = le(&[0, 1, 2, 1, 2]);
    text.extend(le(&[u64::MAX]));
    let told = drain(Reader::new(&text[..]).with_format(Format::Dbcop)).error.unwrap().to_string();
    assert_eq!(told, format!("byte 40: a string of the head has {} bytes; expected a short text", u64::MAX));
    let mut more = bincode(0);
    more.push(0);
    let message = read(&more).error.unwrap().to_string();
    assert!(message.contains("there are bytes after the end of the history"), "{message}");
    let mut odd = bincode(1);
    odd.extend(le(&[1]));
    odd.extend([event(true, 1, 1, true), vec![2]].concat());
    let message = read(&odd).error.unwrap().to_string();
    assert!(message.contains("found the byte 2 in a transaction; expected 0 or 1"), "{message}");
}

#[test]
fn cobra_has_records_with_letters() {
    let first = 0xbebe_ebee;
    let log = [
        record(b'S', &[1]),
        record(b'W', &[17, 3, 99]),
        record(b'R', &[first, first, 4, 0]),
        // A read of Cobra's own garbage collection.
        record(b'R', &[first, 0x2333_2333, 4, 0]),
        record(b'C', &[1]),
        vec![255],
        record(b'S', &[2]),
        record(b'R', &[1, 17, 3, 99]),
        record(b'R', &[0xdead_beef, 0xdead_beef, -5, 0]),
        record(b'C', &[2]),
        vec![255],
    ];
    let history = parse(&log.concat(), Format::Cobra);
    assert_eq!(ops(&history), ["Client(0) ok [[:w 3 17] [:r 4 nil]]", "Client(1) ok [[:r 3 17] [:r -5 nil]]"]);
    // Positions are offsets in the file of the session.
    assert_eq!(history.op(1).position.unwrap().to_string(), "byte 0");
}

#[test]
fn cobra_logs_that_end_early_or_hold_something_else_are_refused() {
    let of = |records: &[Vec<u8>]| {
        drain(Reader::new(&records.concat()[..]).with_format(Format::Cobra)).error.unwrap().to_string()
    };
    let start = record(b'S', &[1]);
    assert_eq!(
        of(&[start.clone(), vec![b'W', 0, 0]]),
        "byte 12: the file ends within a record; expected the rest of it"
    );
    assert_eq!(of(std::slice::from_ref(&start)), "byte 9: the file ends within a transaction; expected the rest of it");
    assert!(of(&[start.clone(), record(b'C', &[2])]).contains("transaction 1 ends as 2"));
    assert!(of(&[record(b'W', &[1, 2, 3])]).contains("there is no transaction that this belongs to; expected S"));
    assert!(of(&[start.clone(), start.clone()]).contains("a transaction begins before the one before it ended"));
    assert!(of(&[start.clone(), record(b'R', &[0xbebe_ebee, 7, 1, 0])]).contains("of the writer and the write-id"));
    assert!(of(&[start, vec![b'A']]).contains("found the byte 65; expected S, R, W or C"));
}

#[test]
fn chronos_has_timestamps() {
    let text = r#"[{"tid":67,"sid":"a","sts":{"p":1691420095436341,"l":61},"cts":{"p":"1691420095436342","l":0},
        "ops":[{"t":"w","k":7,"v":2},{"t":"READ","k":8}]},
        {"tid":68,"sid":3,"sts":{"p":1,"l":0},"cts":{"p":2,"l":0},"ops":[{"t":"a","k":1,"v":5},{"t":"r","k":1,"v":[4,5]},{"t":"r","k":2,"v":[]}]}]"#;
    let history = parse(text.as_bytes(), Format::Chronos);
    let op = history.op(0);
    assert_eq!((op.client_name, op.value.to_string().as_str()), (Some("a"), "[[:w 7 2] [:r 8 nil]]"));
    assert_eq!(op.extra.get("start-ts").unwrap().to_string(), "[1691420095436341 61]");
    assert_eq!(op.extra.get("commit-ts").unwrap().to_string(), "[1691420095436342 0]");
    assert_eq!(history.op(1).value.to_string(), "[[:append 1 5] [:r 1 [4 5]] [:r 2 []]]");
}

#[test]
fn the_first_value_is_nil() {
    let first = |text: &str, format, first| {
        let mut reader = Reader::new(text.as_bytes()).with_format(format).with_first_value(first);
        History::read(&mut reader).map(|history| history.op(0).value.to_string()).map_err(|error| error.to_string())
    };
    let plume = "w(1,0,0,1)\nr(2,0,0,1)\nr(3,7,0,1)\n";
    assert_eq!(first(plume, Format::Plume, FirstValue::OfFormat).unwrap(), "[[:w 1 nil] [:r 2 nil] [:r 3 7]]");
    assert_eq!(first(plume, Format::Plume, FirstValue::Null).unwrap(), "[[:w 1 0] [:r 2 0] [:r 3 7]]");
    assert_eq!(first(plume, Format::Plume, FirstValue::Number(7)).unwrap(), "[[:w 1 0] [:r 2 0] [:r 3 nil]]");
    assert_eq!(first("r 1 0\n", Format::Awdit, FirstValue::OfFormat).unwrap(), "[[:r 1 0]]");
    assert_eq!(first("r 1 0\n", Format::Awdit, FirstValue::Number(0)).unwrap(), "[[:r 1 nil]]");
    let dbcop = r#"[[{"events": [["w",1,0], {"Read": {"variable": 2, "version": 0}}], "committed": true}]]"#;
    assert_eq!(first(dbcop, Format::DbcopJson, FirstValue::OfFormat).unwrap(), "[[:w 1 0] [:r 2 0]]");
    assert_eq!(first(dbcop, Format::DbcopJson, FirstValue::Number(0)).unwrap(), "[[:w 1 nil] [:r 2 nil]]");
    assert_eq!(first("[x==0]\n", Format::Hist, FirstValue::Number(0)).unwrap(), "[[:r \"x\" nil]]");
    let chronos = r#"[{"tid":6,"sid":1,"sts":{"p":1,"l":0},"cts":{"p":2,"l":0},"ops":[{"t":"r","k":7,"v":0}]}]"#;
    assert_eq!(first(chronos, Format::Chronos, FirstValue::Number(0)).unwrap(), "[[:r 7 nil]]");
    let refused = first("{:type :ok}", Format::Edn, FirstValue::Number(0)).unwrap_err();
    assert!(refused.starts_with("a first value was given for a history in edn"), "{refused}");
}

#[test]
fn what_is_wrong_has_its_place() {
    for (text, wanted) in [
        ("w(1,1,0,5)\nr(1,1,0)\n", "line 2, column 8: found ')' here; expected a comma"),
        ("w(1,1,0,5)\nx\n", "line 2, column 1: found 'x' here; expected r(KEY,VALUE"),
        ("w(1,99999999999999999999,0,5)\n", "unknown history format"),
        ("w(1,1,0,5)\nw(1,99999999999999999999,0,5)", "line 2, column 5: this number does not fit 64 bits"),
        ("w(1,1,0,5)\nw(1,1,0,-2)", "line 2, column 9: the transaction is -2; expected a number from 0 on, or -1"),
        ("w 1 1\nr 1\n", "line 2, column 4: the line ends here; expected r KEY VALUE"),
        ("w 1 1\n-=\n", "line 2, column 1: found '-' here"),
        ("[x:=1]\n[x==]\n", "line 2, column 5: found ']' here; expected a number from 0 on, or ?"),
        ("[x:=1]\n[x:=1y:=2]", "line 2, column 6: found 'y' here; expected a space or ]"),
        ("[x:=1]\n[x=1]", "line 2, column 3: found '=' here; expected := before"),
        (
            "[[{\"events\":[],\"committed\":1}]]",
            "line 1, column 3: the transaction does not say whether it was committed",
        ),
        ("[[{\"events\":[1],\"committed\":true}]]", "line 1, column 3: the transaction has no array of events"),
        ("[[{\"events\":[[\"w\",1,null]],\"committed\":true}]]", "line 1, column 3: an event is [\"w\" 1 nil]"),
        ("[[{\"events\":[],\"committed\":true}],", "the text ends"),
        (
            r#"[{"sid":1,"sts":{"p":1},"cts":{"p":1,"l":0},"ops":[]}]"#,
            "line 1, column 2: the transaction has no timestamp sts",
        ),
        (
            r#"[{"sid":1,"sts":{"p":1,"l":0},"cts":{"p":1,"l":0},"ops":[{"t":"x","k":1}]}]"#,
            r#"line 1, column 2: an operation is {"t" "x", "k" 1}"#,
        ),
    ] {
        let told = error(text);
        assert!(told.contains(wanted), "{text}: {told}");
    }
}

#[test]
fn a_history_that_is_being_written_must_end_whole_too() {
    let growing = |text: &'static str| drain(Reader::new(text.as_bytes()).growing());
    let read = growing("w 1 1\n--\nr 1 1\n");
    assert_eq!((read.ops.len(), read.error), (2, None));
    let read = growing("w 1 1\n--\nr 1 1");
    assert!(read.ops.len() == 1 && read.error.is_some(), "{read:?}");
    let read = growing("[[{\"events\":[],\"committed\":true},");
    assert!(read.ops.len() == 1 && read.error.is_some(), "{read:?}");
}

#[test]
fn a_last_line_that_may_be_cut_is_refused() {
    for (text, wanted) in [
        ("w 1 12\n--\nr 1 1", "line 3, column 1: the last line has no line end, so it may be cut"),
        ("[x:=1]\n[x:=2]", "line 2, column 1: the last line has no line end, so a ! may be cut off"),
    ] {
        let read = drain(Reader::new(text.as_bytes()));
        assert!(read.error.unwrap().to_string().starts_with(wanted), "{text}");
        assert_eq!(drain(Reader::new(format!("{text}\n").as_bytes())).error, None, "{text}");
    }
    for text in ["w 1 12\n--\nr 1 12\n--", "[x:=1]\n[x:=2]!", "w(1,1,0,5)\nr(1,1,0,6)"] {
        assert_eq!(drain(Reader::new(text.as_bytes())).error, None, "{text}");
    }
}

#[test]
fn validate_stops_at_the_first_that_cannot_be_read() {
    let problems = history_core::validate(Reader::new(&b"w(1,1,0,5)\nr(1,1,0,6)\n"[..]), 9);
    assert_eq!((problems.ops, problems.count(Severity::Error), problems.complete), (2, 0, true));
    let problems = history_core::validate(Reader::new(&b"w 1 1\n-\nr 1 x\n"[..]), 9);
    assert_eq!((problems.ops, problems.count(Severity::Error), problems.complete), (1, 1, false));
    let problems = history_core::validate(Reader::new(&record(b'S', &[1])[..]).with_format(Format::Cobra), 9);
    assert_eq!(
        problems.list[0].to_string(),
        "error: byte 9: the file ends within a transaction; expected the rest of it"
    );
}

#[test]
fn binary_formats_are_read_alike_in_all_blocks() {
    let mut dbcop = bincode(2);
    for _ in 0..2 {
        dbcop.extend(le(&[2]));
        dbcop.extend([event(true, 3, 17, true), event(false, 4, 0, true), vec![1]].concat());
    }
    let log = [record(b'S', &[1]), record(b'W', &[17, 3, 99]), record(b'C', &[1]), vec![255]].concat();
    let cobra = [log.clone(), log].concat();
    for bytes in [dbcop, cobra] {
        for end in 0..=bytes.len() {
            let whole: Read = read(&bytes[..end]);
            for size in [1, 2, 7, 31, 64] {
                assert_eq!(
                    drain(Reader::new(&bytes[..end]).with_block_bytes(size)),
                    whole,
                    "{end} bytes in blocks of {size}"
                );
            }
        }
    }
}

#[test]
fn texts_are_read_alike_in_all_blocks_however_they_are_cut_or_damaged() {
    let texts: [&str; 5] = [
        "w(3,17,0,5)\nr(3,0,1,6)\nw(4,9,1,-1)\n",
        "----\nw 1 1\n----\nr 1 1\n====\nr 2 0\n",
        "// one\n[x:=1 y==2] [7==?]!\n---\n[y:=2]\n",
        r#"{"params":{"n_node":2,"n_variable":2},"info":"[[","data":[[{"events":[["r",4,null]],"committed":true}],[]],"x":1}"#,
        r#"[{"sid":"a","sts":{"p":1,"l":0},"cts":{"p":2,"l":0},"ops":[{"t":"w","k":7,"v":2}]}]"#,
    ];
    let check = |text: &[u8], size: usize| {
        let parts = drain(Reader::new(text).with_block_bytes(size));
        assert_eq!(parts, read(text), "in blocks of {size}: {}", String::from_utf8_lossy(text));
    };
    for text in texts {
        assert_eq!(read(text).error, None, "{text}");
        for at in 0..text.len() {
            for size in [1, 7, 64] {
                check(&text.as_bytes()[..at], size);
            }
            for byte in *b"\0\"\\[]{}(),:=-0 \n\xc3" {
                let mut bytes = text.as_bytes().to_vec();
                bytes[at] = byte;
                check(&bytes, 1 + at % 9);
            }
        }
    }
}
