//! Histories of independent keys, each with its own transactions: when judged by key, each key gets the verdict of its
//! history alone.

use check_elle::Exact;
use check_elle::list_append::ListAppend;
use check_elle::rw_register::RwRegister;
use history_core::{
    Budget, Checker, Datum, Decision, History, HistoryBuilder, Keyed, KeyedAuto, NewOp, Op, Options, Process, Report,
    Run, Verdict, Writer,
};
use record_simulate::{Bug, Format, OverLists, OverRegisters, Transactions};

/// The number of histories, each of one store; some stores are correct, some are not.
const STORES: u32 = 24;

fn store<W>(seed: u32) -> History
where
    W: record_simulate::Workload,
    Transactions<W>: Default,
{
    let bug = [Bug::ReadCommitted, Bug::LostUpdate, Bug::StaleRead][seed as usize % 3];
    let wrong = if seed.is_multiple_of(4) { Some(bug) } else { None };
    let mut parameters =
        Transactions::<W> { txns: 40, seed: seed.into(), clients: 4, keys: 3, ..Transactions::default() };
    if let Some(bug) = wrong {
        parameters.bug = bug;
    }
    let text = parameters.simulation().unwrap().write(Vec::new(), Format::Edn).unwrap();
    History::parse(std::str::from_utf8(&text).unwrap()).unwrap()
}

/// Interleaves the histories, each under its own key, one op of each in turn; returns the text.
fn side_by_side(histories: &[History]) -> String {
    let mut builder = HistoryBuilder::new();
    let longest = histories.iter().map(History::len).max().unwrap_or_default();
    for at in 0..longest {
        for (key, history) in (0..).zip(histories).filter(|(_, history)| at < history.len()) {
            builder.push_op(&under(key, &history.op(at))).unwrap();
        }
    }
    let mut writer = Writer::new(Vec::new(), history_core::Format::Edn);
    for op in builder.build().ops() {
        writer.write(&op).unwrap();
    }
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

/// Converts an op of one history to an op of the combined history. A nil value stays nil, without a key: the op belongs
/// to the key of its invocation.
fn under<'a>(key: u32, op: &Op<'a>) -> NewOp<'a> {
    let mut new = NewOp::from(op);
    new.index = None;
    if let Process::Client(number) = op.process {
        new.process = Process::Client(number * i64::from(STORES) + i64::from(key));
        if new.value != Datum::Nil {
            new.value = Datum::Vector(vec![key.into(), new.value]);
        }
    }
    new
}

fn judge<'c>(run: Box<dyn Run + 'c>, text: &str) -> Report {
    let mut reader = history_core::Reader::new(text.as_bytes());
    history_core::check(run, &mut reader, &Budget::default()).unwrap()
}

fn alone(checker: &dyn Checker, options: &Options, history: &History) -> Report {
    let run = checker.start(options).unwrap();
    history_core::check_history(run, history, &Budget::default()).unwrap()
}

fn check_all(checker: &dyn Checker, options: &Options, histories: &[History]) {
    let text = side_by_side(histories);
    let keyed = judge(Box::new(Keyed::start(checker, options).unwrap()), &text);
    assert_eq!(keyed.keys.len(), histories.len(), "{:?}", keyed.notes);
    let mut verdict = Verdict::Valid;
    for (key, history) in keyed.keys.iter().zip(histories) {
        let alone = alone(checker, options, history);
        verdict = verdict.and(alone.verdict);
        assert_eq!(key.verdict, alone.verdict, "key {}", key.key);
        assert!(key.anomaly_types.iter().map(AsRef::as_ref).eq(alone.anomaly_types()), "key {}", key.key);
    }
    assert_eq!(keyed.verdict, verdict);
    let verdicts = |verdict| keyed.keys.iter().filter(|key| key.verdict == verdict).count();
    assert!(verdicts(Verdict::Valid) > 3 && verdicts(Verdict::Invalid) > 1, "both sorts are tried");
    let all: u64 = keyed.anomalies.iter().map(|anomaly| anomaly.count).sum();
    let each = histories.iter().flat_map(|history| self::alone(checker, options, history).anomalies);
    assert_eq!(all, each.map(|anomaly| anomaly.count).sum::<u64>());

    let mut told = Vec::new();
    let auto = KeyedAuto::start(checker, options, |decision| told.push(decision.clone())).unwrap();
    assert_eq!(judge(Box::new(auto), &text), keyed);
    assert!(matches!(told[..], [Decision::Keyed { .. }]), "{told:?}");
}

#[test]
fn each_key_of_lists_is_judged_as_if_it_were_alone() {
    check_all(&ListAppend::default(), &Options::new(), &(0..STORES).map(store::<OverLists>).collect::<Vec<_>>());
}

#[test]
fn each_key_of_registers_is_judged_as_if_it_were_alone() {
    let options = Options::new().with("linearizable-keys", "true");
    check_all(&RwRegister::default(), &options, &(0..STORES).map(store::<OverRegisters>).collect::<Vec<_>>());
}

/// While the history is being written, a violation is reported at the first op up to which the whole history is
/// invalid.
fn watch_all(checker: &dyn Checker, options: &Options, histories: &[History]) {
    let history = History::parse(&side_by_side(histories)).unwrap();
    let of_first = |count: usize| {
        let mut run = Keyed::start(checker, options).unwrap();
        for op in history.ops().take(count) {
            assert!(run.observe(&op).unwrap().is_continue());
        }
        Box::new(run).finish(&Budget::default()).unwrap()
    };
    let mut keyed = Keyed::start_online(checker, options).unwrap();
    assert!(keyed.decides_early());
    let mut auto = KeyedAuto::start_online(checker, options, |_| {}).unwrap();
    let mut seen = None;
    for (at, op) in history.ops().enumerate() {
        assert!(keyed.observe(&op).unwrap().is_continue());
        assert!(auto.observe(&op).unwrap().is_continue());
        if keyed.is_violated() {
            seen.get_or_insert(at + 1);
        }
    }
    let seen = seen.expect("some of them are wrong");
    assert_eq!(of_first(seen).verdict, Verdict::Invalid);
    assert_ne!(of_first(seen - 1).verdict, Verdict::Invalid);
    let report = keyed.violation().unwrap();
    assert_eq!(report.keys.len(), 1, "{report:?}");
    assert!(auto.is_violated() && auto.violation() == Some(report));
    assert_eq!(Box::new(keyed).finish(&Budget::default()).unwrap(), of_first(history.len()));
}

#[test]
fn each_key_is_judged_while_the_history_is_written() {
    watch_all(&ListAppend::default(), &Options::new(), &(0..STORES).map(store::<OverLists>).collect::<Vec<_>>());
    let options = Options::new().with("linearizable-keys", "true");
    // Commit orders are searched for only at the end.
    let checker = RwRegister { exact: Exact::No, ..RwRegister::default() };
    watch_all(&checker, &options, &(0..STORES).map(store::<OverRegisters>).collect::<Vec<_>>());
}

/// The first key with an undecodable op that did not fail is reported with its name.
#[test]
fn a_key_that_will_stay_unknown_says_so_while_the_history_is_written() {
    let text = "{:process 0, :type :invoke, :f :txn, :value [:a [[:append 1 1]]]}
        {:process 0, :type :ok, :f :txn, :value [:a [[:append 1 1]]]}
        {:process 0, :type :invoke, :f :txn, :value [:b [[:add 1 1]]]}
        {:process 0, :type :ok, :f :txn, :value [:b [[:add 1 1]]]}\n";
    let (checker, options) = (ListAppend::default(), Options::new());
    let mut run = Keyed::start_online(&checker, &options).unwrap();
    let mut doubts = Vec::new();
    for op in History::parse(text).unwrap().ops() {
        let _ = run.observe(&op).unwrap();
        doubts.push(run.doubt());
    }
    let [None, None, None, Some(doubt)] = &doubts[..] else { panic!("{doubts:?}") };
    assert!(doubt.starts_with("of key :b: list-append does not understand the op at index 2"), "{doubt}");
}

#[test]
fn auto_leaves_transactions_whole() {
    let history = store::<OverLists>(3);
    let mut writer = Writer::new(Vec::new(), history_core::Format::Edn);
    for op in history.ops() {
        writer.write(&op).unwrap();
    }
    let text = String::from_utf8(writer.finish().unwrap()).unwrap();
    let mut told = Vec::new();
    let checker = ListAppend::default();
    let auto = KeyedAuto::start(&checker, &Options::new(), |decision| told.push(decision.clone())).unwrap();
    assert_eq!(judge(Box::new(auto), &text), alone(&checker, &Options::new(), &history));
    assert!(matches!(told[..], [Decision::Whole { .. }]), "{told:?}");
}
