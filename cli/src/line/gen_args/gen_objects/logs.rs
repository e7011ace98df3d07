//! The options of `histcheck gen` for logs.

use crate::line::gen_args::gen_parts::{bug_rate, destination, nemesis, number, share, small, two_columns};
use crate::line::help;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command};
use record_simulate::{LogBug, Logs};

/// The command for logs.
pub(crate) fn command() -> Command {
    let d = Logs::default();
    let bugs: Vec<_> = LogBug::ALL.map(|bug| (bug.name(), bug.summary())).to_vec();
    Command::new(Logs::NAME)
        .about("Logs with offsets, to which clients send messages and which they poll")
        .after_help(help::GEN_LOGS.replace("BUGS", &two_columns(&bugs)))
        .args_override_self(true)
        .args([
            number("ops", "N", d.ops, "Number of operations, without the polls at the end"),
            number("seed", "N", d.seed, "Seed of the random number generator"),
            small("clients", "N", d.clients, "Number of concurrent clients"),
            small("keys", "N", d.keys, "Number of logs").visible_alias("key-count"),
            small(
                "ops-per-txn-max",
                "N",
                d.ops_per_txn_max,
                "Maximum number of micro-operations per transaction; 1 = no transactions",
            )
            .visible_alias("max-txn-length"),
            share("read-fraction", d.read_fraction, "Share of micro-operations that are polls, from 0 to 1"),
            share("fail-rate", d.fail_rate, "Share of operations that fail, from 0 to 1"),
            share("info-rate", d.info_rate, "Share of operations that end in info, from 0 to 1"),
            share("lost-rate", d.lost_rate, "Share of operations that never complete, from 0 to 1"),
            Arg::new("bug")
                .long("bug")
                .value_name("BUG")
                .value_parser(PossibleValuesParser::new(LogBug::ALL.map(LogBug::name)))
                .hide_possible_values(true)
                .default_value(d.bug.name())
                .help("Bug of the store; see the list below"),
            bug_rate("Share of operations that the bug affects, from 0 to 1 [default: depends on the bug]"),
            nemesis(),
        ])
        .args(destination())
}

/// The parameters from the command line.
pub(crate) fn parameters(matches: &ArgMatches) -> Logs {
    let d = Logs::default();
    let number = |name: &str, default: u64| matches.get_one(name).copied().unwrap_or(default);
    let small = |name: &str, default: u32| matches.get_one(name).copied().unwrap_or(default);
    let share = |name: &str, default: f64| matches.get_one(name).copied().unwrap_or(default);
    Logs {
        ops: number("ops", d.ops),
        seed: number("seed", d.seed),
        clients: small("clients", d.clients),
        keys: small("keys", d.keys),
        ops_per_txn_max: small("ops-per-txn-max", d.ops_per_txn_max),
        read_fraction: share("read-fraction", d.read_fraction),
        fail_rate: share("fail-rate", d.fail_rate),
        info_rate: share("info-rate", d.info_rate),
        lost_rate: share("lost-rate", d.lost_rate),
        bug: matches.get_one::<String>("bug").and_then(|name| name.parse().ok()).unwrap_or(d.bug),
        bug_rate: matches.get_one("bug-rate").copied(),
        nemesis: matches.get_flag("nemesis"),
    }
}
