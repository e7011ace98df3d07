//! `--allow`: an option of checkers, which takes known anomalies as well.
//!
//! A checker takes what is then no violation, and says so in its verdict. The rest is known: the verdict stays, and
//! only the exit code changes.

use clap::ArgMatches;
use history_core::{Checker, Options};

/// The option of checkers.
pub(crate) const ALLOW: &str = "allow";

/// The option with known anomalies.
pub(crate) const ALLOW_ANOMALIES: &str = "allow-anomalies";

/// Whether known anomalies can be named here: not where a violation ends the run. The option has a default, so it is
/// there if the command has it. What no command has is an error only in builds with debug assertions.
pub(crate) fn may_be_known(matches: &ArgMatches) -> bool {
    matches.try_contains_id(ALLOW_ANOMALIES).unwrap_or(false)
}

/// Of the names given to [`ALLOW`], those that the checker takes itself.
pub(crate) fn taken_by<'n>(checker: &dyn Checker, allowed: &'n str) -> Vec<&'n str> {
    let has_option = checker.options().iter().any(|spec| spec.name == ALLOW);
    let takes = |name: &&str| {
        let mut options = Options::new();
        options.set(ALLOW, *name);
        checker.start(&options).is_ok()
    };
    names(allowed).filter(|name| has_option && takes(name)).collect()
}

/// The names of a list with commas.
pub(crate) fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty())
}
