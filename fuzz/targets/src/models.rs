//! Every checker on any bytes: no panic, and the same verdict for all ways of reading, repeated runs, and engines.

use history_core::{Budget, Checker, HistoryError, Keyed, Options, Reader, Report, Run, Verdict};

/// The maximum number of states and of configurations of a search, which takes milliseconds.
const STATES_MAX: u64 = 20_000;

/// All checkers of histories.
pub(crate) fn checkers() -> Vec<Box<dyn Checker>> {
    let mut all = check_elle::checkers();
    all.extend(check_register::checkers());
    all.extend(check_jepsen::checkers());
    all.extend(check_log::checkers());
    all
}

pub(crate) fn budget() -> Budget {
    Budget::default().with_states_max(STATES_MAX)
}

/// The options with which a checker is fast, and those that it requires.
pub(crate) fn options(checker: &dyn Checker) -> Options {
    let limit = "max-configurations";
    let is_limited = checker.options().iter().any(|option| option.name == limit);
    let fast = if is_limited { Options::new().with(limit, "2000") } else { Options::new() };
    if checker.name() == "linearizable" { fast.with("spec", "register") } else { fast }
}

/// Any bytes, by every checker, as a whole and by key.
pub fn models(data: &[u8]) -> String {
    let mut said = String::new();
    for checker in checkers() {
        let checker = &*checker;
        let judge = |reader: &mut Reader<'_>, options: &Options, is_keyed: bool| -> Result<Report, HistoryError> {
            let run: Box<dyn Run + '_> = if is_keyed {
                Box::new(Keyed::start(checker, options).expect("options that it has"))
            } else {
                checker.start(options).expect("options that it has")
            };
            history_core::check(run, reader, &budget())
        };
        let options = options(checker);
        for is_keyed in [false, true] {
            let judged = judge(&mut Reader::new(data), &options, is_keyed);
            let again = judge(&mut Reader::new(data).with_block_bytes(64), &options, is_keyed);
            // Compared as text, ##NaN equals itself.
            assert!(
                again == judged || format!("{again:?}") == format!("{judged:?}"),
                "{}: {again:?}\n{judged:?}",
                checker.name()
            );
            said += &judged
                .as_ref()
                .map_or_else(|error| format!("{:?} ", error.kind), |report| format!("{} ", report.verdict.name()));
            let Ok(report) = judged else { continue };
            assert!(
                report.verdict == Verdict::Invalid || report.keys.iter().all(|key| key.verdict != Verdict::Invalid)
            );
            said.extend(report.anomaly_types().map(|name| format!("{name} ")));
            for engine in ["just-in-time", "wing-gong"] {
                if !checker.options().iter().any(|option| option.name == "engine") {
                    break;
                }
                let other = judge(&mut Reader::new(data), &options.clone().with("engine", engine), is_keyed);
                let other = other.expect("it was judged").verdict;
                let differ = other != report.verdict && other != Verdict::Unknown && report.verdict != Verdict::Unknown;
                assert!(!differ, "{}, {engine}: {}, not {}", checker.name(), other.name(), report.verdict.name());
            }
        }
    }
    said
}
