//! Histories in the formats of other checkers: what a format cannot represent is rejected; everything else reads back
//! unchanged.

use crate::common::drain;
use history_core::cast::Cast as _;
use history_core::{ConvertOptions, Converter, Datum, Format, History, HistoryBuilder, NewOp, OpKind, Reader};
use proptest::prelude::*;

/// Converts a history to a format.
fn convert(history: &History, format: Format, options: ConvertOptions) -> Result<Vec<u8>, String> {
    let mut converter = Converter::new(format, options).expect("a format of sessions");
    for op in history.ops() {
        converter.push(&op).map_err(|error| error.to_string())?;
    }
    let mut bytes = Vec::new();
    converter.finish().map_err(|error| error.to_string())?.write(&mut bytes).unwrap();
    Ok(bytes)
}

#[test]
fn what_a_format_cannot_hold_is_refused_with_the_op() {
    let of = |text: &str, format| convert(&History::parse(text).unwrap(), format, ConvertOptions::new()).unwrap_err();
    for (text, format, wanted) in [
        (
            "[[:w :x 1]]",
            Format::Plume,
            "line 1, column 1: the op with index 0 cannot be written as plume: expected a number from 0 on as the key, found :x",
        ),
        ("[[:w 1 0]]", Format::Plume, "it writes 0, which is the first state in plume"),
        ("[[:r 1 0]]", Format::Dbcop, "it reads 0, which is the first state in dbcop"),
        ("[[:w 1 -1]]", Format::DbcopJson, "expected a number from 0 on as the value, found -1"),
        ("[[:w 1 nil]]", Format::Hist, "it writes nothing: [:w 1 nil]"),
        ("[[:r 1 nil]]", Format::Awdit, "it reads the first state, which awdit does not have"),
        ("[]", Format::Awdit, "it reads and writes nothing, and awdit has no such transactions"),
        ("[[:append 1 2]]", Format::Plume, "it appends to a list: [:append 1 2]"),
        ("[[:w 1 3200183278]]", Format::Cobra, "the value 3200183278 is the first state in cobra"),
        ("[[:w 1 1] [:w 2 1]]", Format::Cobra, "1 is written to another key as well, and is to be unique"),
        ("[[:w 1 1]]", Format::Chronos, "it has no timestamp in a field start-ts, which chronos needs"),
        ("[[:w \"a b\" 1]]", Format::Hist, "the key \"a b\" is neither a number from 0 on nor a name"),
        ("7", Format::Plume, "its value is no transaction"),
    ] {
        let told = of(&format!("{{:process 0, :type :ok, :f :txn, :value {text}}}"), format);
        assert!(told.contains(wanted), "{text}: {told}");
    }
    let both =
        "{:process 0, :type :ok, :f :txn, :value [[:w :x 1]]} {:process 1, :type :ok, :f :txn, :value [[:r \"x\" 1]]}";
    assert!(of(both, Format::Hist).contains("the key x is a string here, and a keyword before; expected"), "{both}");
    let info = "{:process 0, :type :invoke, :f :txn, :value [[:w 1 1]]}\n{:process 0, :type :info, :f :txn, :value [[:w 1 1]]}";
    assert!(
        of(info, Format::Plume)
            .contains("line 2, column 1: the op with index 1 cannot be written as plume: its outcome is unknown")
    );
    let open = "{:process 0, :type :invoke, :f :txn, :value [[:w 1 1]]}";
    assert!(of(open, Format::Plume).contains("it never completed"));
}

#[test]
fn unknown_outcomes_are_settled_by_what_was_read() {
    let text = "
        {:process 0, :type :invoke, :f :txn, :value [[:r 9 nil] [:w 1 1]]}
        {:process 1, :type :invoke, :f :txn, :value [[:w 1 2]]}
        {:process 2, :type :invoke, :f :txn, :value [[:r 1 nil]]}
        {:process 0, :type :info, :f :txn, :value [[:r 9 nil] [:w 1 1]]}
        {:process 1, :type :info, :f :txn, :value [[:w 1 2]]}
        {:process 2, :type :ok, :f :txn, :value [[:r 1 1]]}
        {:process :nemesis, :type :info, :f :kill}";
    let history = History::parse(text).unwrap();
    let lossy = ConvertOptions::new().with_lossy(true);
    let plume = convert(&history, Format::Plume, lossy).unwrap();
    assert_eq!(String::from_utf8(plume).unwrap(), "w(1,1,0,1)\nw(1,2,1,-1)\nr(1,1,2,3)\n");
    let awdit = convert(&history, Format::Awdit, lossy).unwrap();
    assert_eq!(String::from_utf8(awdit).unwrap(), "w 1 1\n----\n====\nr 1 1\n----\n====\n");
    let mut converter = Converter::new(Format::Awdit, lossy).unwrap();
    history.ops().for_each(|op| converter.push(&op).unwrap());
    let omitted = converter.finish().unwrap().omitted();
    let wanted = [
        ("invocations, and with them the real-time order", 3),
        ("ops of processes that are not clients", 1),
        ("transactions of unknown outcome that nobody read", 1),
    ];
    assert_eq!(omitted, wanted);
}

#[test]
fn lossy_conversion_leaves_no_one_out_who_may_have_been_read_from() {
    let lossy = ConvertOptions::new().with_lossy(true);
    let of = |text: &str, format| convert(&History::parse(text).unwrap(), format, lossy);
    let read = "{:process 2, :type :ok, :value [[:r 1 5]]}";
    let (ok, fail) = ("{:process 0, :type :ok, :value [[:w 1 5]]}", "{:process 1, :type :fail, :value [[:w 1 5]]}");
    for twice in [format!("{ok} {fail} {read}"), format!("{fail} {fail} {read}")] {
        let error = of(&twice, Format::Awdit).unwrap_err();
        let wanted = "with index 1 cannot be written as awdit: it failed, and wrote a value that another wrote, too, and that was read";
        assert!(error.contains(wanted), "{error}");
        assert!(error.contains("expected a format that has aborted transactions"), "{error}");
    }
    assert!(of(fail, Format::Awdit).unwrap_err().contains("no transaction is left, and awdit needs one"));
    // With its timestamps the transaction committed; without them its outcome is unknown.
    let info = "{:process 0, :type :info, :value [[:w 1 2]], :start-ts 3, :commit-ts 4}";
    let timed = "{:process 1, :type :ok, :value [[:r 1 5]], :start-ts 9, :commit-ts 9}";
    let error = of(&format!("{info} {timed}"), Format::Chronos).unwrap_err();
    assert!(error.contains("no transaction read its writes, but by its timestamps it committed"), "{error}");
    let seen = timed.replace("[:r 1 5]", "[:r 1 2]");
    assert!(of(&format!("{info} {seen}"), Format::Chronos).is_ok());
    // No other transaction wrote the value, or none read it, or the format has aborted transactions.
    assert_eq!(of(&format!("{fail} {read}"), Format::Awdit).unwrap(), b"r 1 5\n----\n====\n");
    assert_eq!(of(&format!("{ok} {fail}"), Format::Awdit).unwrap(), b"w 1 5\n----\n====\n");
    assert_eq!(of(&format!("{ok} {fail} {read}"), Format::Plume).unwrap(), b"w(1,5,0,1)\nw(1,5,1,-1)\nr(1,5,2,3)\n");
}

#[test]
fn keys_and_values_become_numbers() {
    let text = "{:process 0, :type :ok, :f :txn, :value [[:w :x 0] [:w \"x\" 0] [:r [1 2] nil] [:r :x 0]]}";
    let options = ConvertOptions::new().with_renumber(true);
    let plume = convert(&History::parse(text).unwrap(), Format::Plume, options).unwrap();
    assert_eq!(String::from_utf8(plume).unwrap(), "w(1,1,0,1)\nw(2,2,0,1)\nr(3,0,0,1)\nr(1,1,0,1)\n");
}

/// A transaction: its process, whether it succeeded, and its micro-ops: whether it is a write, the key, the value if
/// any.
type Txn = (i64, bool, Vec<(bool, i64, Option<i64>)>);

fn txns() -> impl Strategy<Value = Vec<Txn>> {
    let number = prop_oneof![0..4_i64, Just(i64::MAX)];
    let value = prop::option::of(prop_oneof![1..9_i64, Just(i64::MAX - 1)]);
    let mops = prop::collection::vec((any::<bool>(), number, value), 1..5);
    prop::collection::vec((0..4_i64, prop::bool::weighted(0.8), mops), 1..12)
}

/// A history that a format can represent. Its sessions are numbered in order of first occurrence.
fn history(txns: &[Txn], format: Format) -> History {
    let mut builder = HistoryBuilder::new();
    let mut sessions: Vec<i64> = Vec::new();
    let mut last_failed = None;
    let mut next = 1_i64;
    for (i, (process, succeeded, mops)) in txns.iter().enumerate() {
        let has_aborted = matches!(format, Format::Plume | Format::Dbcop | Format::DbcopJson | Format::Hist);
        let at = sessions.iter().position(|session| session == process).unwrap_or_else(|| {
            sessions.push(*process);
            sessions.len() - 1
        });
        // Plume merges two consecutive transactions that failed.
        let succeeded = *succeeded || !has_aborted || format == Format::Plume && last_failed == Some(at);
        last_failed = (!succeeded).then_some(at);
        let mop = |(is_write, key, value): &(bool, i64, Option<i64>)| {
            let (name, nil) =
                (if *is_write { "w" } else { "r" }, if format == Format::Awdit { Datum::Int(3) } else { Datum::Nil });
            let value = match (value, is_write, format) {
                (_, true, Format::Cobra) => {
                    next += 1;
                    Datum::Int(next)
                }
                (None, true, _) => Datum::Int(7),
                // A failed transaction has no results of reads.
                (_, false, Format::Plume | Format::Dbcop | Format::DbcopJson | Format::Hist) if !succeeded => {
                    Datum::Nil
                }
                (None, false, _) => nil,
                (Some(value), ..) => Datum::Int(*value),
            };
            Datum::Vector(vec![Datum::keyword(name), Datum::Int(*key), value])
        };
        let value = Datum::Vector(mops.iter().map(mop).collect());
        let kind = if succeeded { OpKind::Ok } else { OpKind::Fail };
        let mut op = NewOp::new(kind, at.to_i64()).f("txn").value(value);
        if format == Format::Chronos {
            let stamp = |p: usize| Datum::Vector(vec![Datum::Int(p.to_i64()), Datum::Int(1)]);
            op = op.with("start-ts", stamp(i)).with("commit-ts", stamp(i + 5));
        }
        builder.push_op(&op).unwrap();
    }
    builder.build()
}

/// The ops of each process, with their further fields: formats in which sessions are separate do not represent their
/// interleaving.
fn by_process(history: &History) -> Vec<String> {
    let mut ops: Vec<(i64, String)> = history
        .ops()
        .map(|op| {
            let history_core::Process::Client(process) = op.process else { panic!("{:?}", op.process) };
            let fields: Vec<String> = op.extra.iter().map(|(key, value)| format!("{key} {value}")).collect();
            (process, format!("{process} {} {} {fields:?}", op.kind.name(), op.value))
        })
        .collect();
    ops.sort_by_key(|(process, _)| *process);
    ops.into_iter().map(|(_, op)| op).collect()
}

proptest! {
    #[test]
    fn what_a_format_can_hold_is_read_as_it_was(txns in txns(), block_bytes in 1..200_usize) {
        for format in Format::ALL.into_iter().filter(|format| format.is_of_sessions()) {
            let history = history(&txns, format);
            let bytes = convert(&history, format, ConvertOptions::new()).map_err(TestCaseError::fail)?;
            let again = History::read(&mut Reader::new(&bytes[..]).with_block_bytes(block_bytes));
            let again = again.map_err(|error| TestCaseError::fail(format!("{format}: {error}")))?;
            prop_assert_eq!(by_process(&again), by_process(&history), "{}", format);
            // Writing the result again gives the same bytes, except in formats that order sessions differently.
            let twice = convert(&again, format, ConvertOptions::new()).map_err(TestCaseError::fail)?;
            if !matches!(format, Format::Cobra) {
                prop_assert_eq!(twice, bytes, "{}", format);
            }
        }
    }

    #[test]
    fn any_bytes_end_in_a_history_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for format in Format::ALL.into_iter().filter(|format| format.is_of_sessions()) {
            let whole = drain(Reader::new(&bytes[..]).with_format(format));
            let parts = drain(Reader::new(&bytes[..]).with_format(format).with_block_bytes(7));
            prop_assert_eq!(&parts, &whole, "{}", format);
            prop_assert!(whole.error.is_some() || !whole.ops.is_empty());
        }
    }
}
