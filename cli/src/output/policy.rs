//! `--unknown` and `--compat`: the meaning of verdicts for the caller, if it differs from the default.

use crate::output::exit::Exit;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgMatches};
use history_core::Verdict;

/// The consequences of verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Policy {
    pub(crate) unknown: Unknown,
    pub(crate) compat: Option<Compat>,
}

/// The meaning of an unknown verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// Unknown.
    #[default]
    Itself,
    Pass,
    Fail,
}

/// The program that this one replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compat {
    ElleCli,
    Jepsen,
}

/// The options, for commands that check histories.
pub(crate) fn options() -> [Arg; 2] {
    let value = |name: &'static str, help: &'static str| PossibleValue::new(name).help(help);
    [
        Arg::new("unknown")
            .long("unknown")
            .value_name("AS")
            .value_parser(PossibleValuesParser::new([
                value("pass", "exit with 0, as for a valid history"),
                value("fail", "exit with 1, as for an invalid one"),
            ]))
            .help("How to count an unknown verdict [default: exit with 2]"),
        Arg::new("compat")
            .long("compat")
            .value_name("PROGRAM")
            .value_parser(PossibleValuesParser::new([
                value(
                    "elle-cli",
                    "exit with 1 if some history is invalid, else with 0, even if a verdict is unknown; stop with 255 at the \
                     first file that cannot be checked; print `PATH <TAB> VERDICT`",
                ),
                value("jepsen", "with --output edn, print results in the shape of Jepsen's checkers: :valid?, :anomalies"),
            ]))
            .help("Imitate the exit codes or output of this program"),
    ]
}

impl Policy {
    /// The policy from the command line. `--unknown` has priority over `--compat`.
    pub(crate) fn of(matches: &ArgMatches) -> Policy {
        // Some commands do not have these options.
        let given = |name: &str| matches.try_get_one::<String>(name).ok().flatten().map(String::as_str);
        let compat = given("compat").map(|name| if name == "jepsen" { Compat::Jepsen } else { Compat::ElleCli });
        let unknown = match given("unknown") {
            Some("fail") => Unknown::Fail,
            Some(_) => Unknown::Pass,
            None if compat == Some(Compat::ElleCli) => Unknown::Pass,
            None => Unknown::Itself,
        };
        Policy { unknown, compat }
    }

    /// Returns true if checking ends after a history that could not be checked.
    pub(crate) fn ends_at_errors(self) -> bool {
        self.compat == Some(Compat::ElleCli)
    }

    /// The exit status of a verdict.
    pub(crate) fn exit(self, verdict: Verdict) -> Exit {
        Exit::of(match (verdict, self.unknown) {
            (Verdict::Unknown, Unknown::Pass) => Verdict::Valid,
            (Verdict::Unknown, Unknown::Fail) => Verdict::Invalid,
            (verdict, _) => verdict,
        })
    }
}
