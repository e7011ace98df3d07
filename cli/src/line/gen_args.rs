//! The options of `histcheck gen`: the simulation, and the destination of the history.

pub(crate) mod gen_objects;
pub(crate) mod gen_parts;

use crate::line::help;
use crate::line::usage::UsageError;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use gen_objects::logs;
use gen_parts::{bug_rate, destination, key_distribution, nemesis, number, share, small, two_columns};
use record_simulate::{
    Bug, Format, ListAppend, Logs, Object, Objects, OverLists, OverRegisters, ParameterError, RwRegister, Simulation,
    Transactions, Workload,
};
use std::path::{Path, PathBuf};

/// The task: a history to generate.
pub(crate) struct Gen {
    pub(crate) parameters: Parameters,
    pub(crate) format: Format,
    /// The path of the output; standard output if absent.
    pub(crate) out: Option<PathBuf>,
}

/// The parameters of the simulation.
pub(crate) enum Parameters {
    ListAppend(ListAppend),
    RwRegister(RwRegister),
    Objects(Objects),
    Logs(Logs),
}

impl Parameters {
    pub(crate) fn simulation(&self) -> Result<Simulation, ParameterError> {
        match self {
            Parameters::ListAppend(parameters) => parameters.simulation(),
            Parameters::RwRegister(parameters) => parameters.simulation(),
            Parameters::Objects(parameters) => parameters.simulation(),
            Parameters::Logs(parameters) => parameters.simulation(),
        }
    }

    fn validate(&self) -> Result<(), ParameterError> {
        match self {
            Parameters::ListAppend(parameters) => parameters.validate(),
            Parameters::RwRegister(parameters) => parameters.validate(),
            Parameters::Objects(parameters) => parameters.validate(),
            Parameters::Logs(parameters) => parameters.validate(),
        }
    }
}

pub(crate) fn command() -> Command {
    Command::new("gen")
        .about("Generate a history of a simulated store, correct or with a bug")
        .after_help(help::GEN_ALL.to_owned() + &after("list-append", Bug::ALL))
        .subcommand_required(true)
        .disable_help_subcommand(true)
        .subcommand_value_name("WORKLOAD")
        .subcommand_help_heading("Workloads")
        .subcommand(workload::<OverLists>("Transactions that append to lists and read them"))
        .subcommand(workload::<OverRegisters>("Transactions that write registers and read them"))
        .subcommand(logs::command())
        .subcommands(Object::ALL.map(gen_objects::command))
}

/// The part of the help after the options: the meaning of the options, and the bugs, one per line.
fn after(workload: &str, bugs: impl IntoIterator<Item = Bug>) -> String {
    let (mut names, mut levels) = (Vec::new(), Vec::new());
    for bug in bugs {
        names.push((bug.name(), bug.summary()));
        levels.extend(bug.level().map(|level| (level, bug.name())));
    }
    let (names, levels) = (two_columns(&names), two_columns(&levels));
    help::GEN.replace("WORKLOAD", workload).replace("LEVELS", &levels).replace("BUGS", &names)
}

fn workload<W: Workload>(about: &'static str) -> Command {
    Command::new(W::NAME)
        .about(about)
        .after_help(after(W::NAME, Bug::of::<W>()))
        .args_override_self(true)
        .args(load(&Transactions::<W>::default()))
        .args(mishaps(&Transactions::<W>::default()))
        .args(destination())
}

/// Options for the operations of clients. Options with another name in Elle accept that name, too.
fn load<W>(d: &Transactions<W>) -> [Arg; 11] {
    [
        number("txns", "N", d.txns, "Number of transactions"),
        number("seed", "N", d.seed, "Seed of the random number generator"),
        small("clients", "N", d.clients, "Number of concurrent clients"),
        small("keys", "N", d.keys, "Number of keys in use at a time").visible_alias("key-count"),
        key_distribution(),
        small("ops-per-txn-min", "N", d.ops_per_txn_min, "Minimum number of micro-operations per transaction")
            .visible_alias("min-txn-length"),
        small("ops-per-txn-max", "N", d.ops_per_txn_max, "Maximum number of micro-operations per transaction")
            .visible_alias("max-txn-length"),
        small(
            "writes-per-key-min",
            "N",
            d.writes_per_key_min,
            "Minimum number of writes to a key before a new key replaces it",
        )
        .visible_alias("min-writes-per-key"),
        small(
            "writes-per-key-max",
            "N",
            d.writes_per_key_max,
            "Maximum number of writes to a key before a new key replaces it",
        )
        .visible_alias("max-writes-per-key"),
        share("read-fraction", d.read_fraction, "Share of micro-operations that are reads, from 0 to 1"),
        share(
            "reuse-fraction",
            d.reuse_fraction,
            "Share of micro-operations on a key that their transaction already uses, from 0 to 1",
        ),
    ]
}

/// Options for faults.
fn mishaps<W>(d: &Transactions<W>) -> [Arg; 6] {
    [
        share("fail-rate", d.fail_rate, "Share of transactions that fail, from 0 to 1"),
        share("info-rate", d.info_rate, "Share of transactions that end in info, from 0 to 1"),
        share("lost-rate", d.lost_rate, "Share of transactions that never complete, from 0 to 1"),
        Arg::new("bug")
            .long("bug")
            .value_name("BUG")
            .value_parser(PossibleValuesParser::new(bugs()))
            .hide_possible_values(true)
            .default_value(d.bug.name())
            .help("Bug of the store; see the list below"),
        bug_rate("Share of transactions that the bug affects, from 0 to 1 [default: depends on the bug]"),
        nemesis(),
    ]
}

/// The bugs of all workloads, and the isolation levels that some have as a bug. With this list, a bug of another
/// workload is distinguished from an unknown one later.
fn bugs() -> Vec<PossibleValue> {
    let named = |bug: Bug| PossibleValue::new(bug.name());
    Bug::ALL.into_iter().map(|bug| bug.level().map_or(named(bug), |level| named(bug).alias(level))).collect()
}

/// Parses the words after `gen`.
pub(crate) fn parse(matches: &ArgMatches) -> Result<Gen, UsageError> {
    // clap requires a subcommand.
    let (name, matches) = matches.subcommand().unwrap_or((OverLists::NAME, matches));
    let out = matches.get_one::<PathBuf>("out").cloned();
    let format = match matches.get_one::<String>("format") {
        Some(name) => name.parse().unwrap_or(Format::Edn),
        None => out.as_deref().map_or(Format::Edn, format_of),
    };
    let parameters = match name {
        OverRegisters::NAME => Parameters::RwRegister(parameters(matches)),
        Logs::NAME => Parameters::Logs(logs::parameters(matches)),
        name => match name.parse() {
            Ok(object) => Parameters::Objects(gen_objects::parameters(object, matches)),
            Err(_) => Parameters::ListAppend(parameters(matches)),
        },
    };
    // The simulator checks the ranges of its parameters.
    parameters.validate().map_err(|error| wrong(&error))?;
    Ok(Gen { parameters, format, out })
}

fn parameters<W: Workload>(matches: &ArgMatches) -> Transactions<W> {
    let d = Transactions::<W>::default();
    let number = |name: &str, default: u64| matches.get_one(name).copied().unwrap_or(default);
    let small = |name: &str, default: u32| matches.get_one(name).copied().unwrap_or(default);
    let share = |name: &str, default: f64| matches.get_one(name).copied().unwrap_or(default);
    let (ops_per_txn_min, ops_per_txn_max) = range(matches, "ops-per-txn-min", "ops-per-txn-max");
    let (writes_per_key_min, writes_per_key_max) = range(matches, "writes-per-key-min", "writes-per-key-max");
    Transactions {
        workload: d.workload,
        txns: number("txns", d.txns),
        seed: number("seed", d.seed),
        clients: small("clients", d.clients),
        keys: small("keys", d.keys),
        ops_per_txn_min,
        ops_per_txn_max,
        writes_per_key_min,
        writes_per_key_max,
        read_fraction: share("read-fraction", d.read_fraction),
        reuse_fraction: share("reuse-fraction", d.reuse_fraction),
        key_distribution: matches.get_one("key-distribution").copied().unwrap_or(d.key_distribution),
        fail_rate: share("fail-rate", d.fail_rate),
        info_rate: share("info-rate", d.info_rate),
        lost_rate: share("lost-rate", d.lost_rate),
        bug: matches.get_one::<String>("bug").and_then(|name| name.parse().ok()).unwrap_or(d.bug),
        bug_rate: matches.get_one("bug-rate").copied(),
        nemesis: matches.get_flag("nemesis"),
    }
}

/// The two ends of a range. If only one end was given, the default of the other end is adjusted to it.
fn range(matches: &ArgMatches, min: &str, max: &str) -> (u32, u32) {
    let end = |name: &str| matches.get_one(name).copied().unwrap_or(1);
    let given = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    match (end(min), end(max)) {
        (low, high) if low <= high => (low, high),
        (low, _) if given(min) && !given(max) => (low, low),
        (_, high) if given(max) && !given(min) => (high, high),
        // An empty range is rejected later.
        both => both,
    }
}

fn wrong(error: &ParameterError) -> UsageError {
    UsageError::new(format!("--{}: {}", error.parameter.replace('_', "-"), error.message))
}

/// The format for a file's extension; EDN by default.
fn format_of(path: &Path) -> Format {
    extension_of(path).and_then(|extension| extension.parse().ok()).unwrap_or(Format::Edn)
}

/// The extension of a file's name, before an extension for compression.
pub(crate) fn extension_of(path: &Path) -> Option<&str> {
    let packed = path.extension().is_some_and(|extension| extension == "gz" || extension == "zst");
    let name = if packed { path.file_stem().map(Path::new) } else { Some(path) };
    name.and_then(Path::extension)?.to_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_tells_its_format() {
        for (path, format) in [
            ("h.edn", Format::Edn),
            ("h.json", Format::Json),
            ("a.b/h.jsonl", Format::JsonLines),
            ("h.jsonl.gz", Format::JsonLines),
            ("h.json.zst", Format::Json),
            ("h.gz", Format::Edn),
            ("json", Format::Edn),
        ] {
            assert_eq!(format_of(Path::new(path)), format, "{path}");
        }
    }
}
