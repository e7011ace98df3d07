//! The common setup of runs.

use history_core::{Budget, Checker, ErrorKind, HistoryError, Keyed, OptionError, Options};
use record_live::{Check, Ended, Live, LiveError, Nemesis, Stands, Start, Stop, Store, Workload};
use std::path::Path;
use std::time::Duration;

/// A run of a few seconds with eight clients.
pub(crate) struct Setup<'s> {
    pub(crate) store: &'s dyn Store,
    pub(crate) workload: &'s str,
    pub(crate) options: &'s [(&'s str, &'s str)],
    pub(crate) ops_max: u64,
    pub(crate) nemesis: Nemesis,
    /// The run ends when this number of faults is over.
    pub(crate) faults_max: Option<u64>,
    pub(crate) timeout: Duration,
}

impl<'s> Setup<'s> {
    pub(crate) fn new(store: &'s dyn Store, workload: &'s str) -> Setup<'s> {
        Setup {
            store,
            workload,
            options: &[],
            ops_max: 2_000,
            nemesis: Nemesis::default(),
            faults_max: None,
            timeout: Duration::from_secs(5),
        }
    }

    pub(crate) fn run(self, directory: &Path) -> Result<Ended, LiveError> {
        let workload = Workload::named(self.workload).expect("a workload");
        let mut options = Options::default();
        for (name, value) in workload.options.iter().chain(self.options) {
            options.set(*name, *value);
        }
        let (stop, mut over, mut was_on) = (Stop::new(), 0, false);
        let checker = checker(self.workload);
        let wrong = |error: OptionError| HistoryError::new(ErrorKind::Unexpected, error.to_string());
        let start: &Start<'_> = &|| {
            Ok(if workload.keyed {
                Box::new(Keyed::start(&*checker, &options).map_err(wrong)?)
            } else {
                checker.start(&options).map_err(wrong)?
            })
        };
        Live {
            store: self.store,
            workload,
            check: Check {
                start,
                start_online: None,
                watches: self.workload != "list-append",
                budget: Budget::default(),
                keeps_going: false,
                found: None,
            },
            directory: directory.to_owned(),
            clients: 8,
            stands: Stands::AtNode,
            // This limit is never reached, because runs end after a number of operations.
            time_limit: Duration::from_mins(2),
            ops_max: Some(self.ops_max),
            pause: Duration::ZERO,
            timeout: self.timeout,
            seed: 7,
            nemesis: self.nemesis,
            stop: stop.clone(),
        }
        .run(&mut |progress| {
            over += u64::from(was_on && progress.fault.is_none());
            was_on = progress.fault.is_some();
            if self.faults_max == Some(over) {
                stop.set();
            }
        })
        .and_then(|mut ended| ended.failure.take().map_or(Ok(ended), Err))
    }
}

/// The checker of a workload for these tests.
pub(crate) fn checker(workload: &str) -> Box<dyn Checker> {
    let all = check_elle::checkers().into_iter().chain(check_online::checkers());
    let all = all.chain(check_register::checkers()).chain(check_jepsen::checkers()).chain(check_log::checkers());
    all.into_iter().find(|checker| checker.name() == workload).expect("a checker of this name")
}
