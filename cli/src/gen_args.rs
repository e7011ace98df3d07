//! The options of `histcheck gen`: what is to be simulated, and where the history goes.

use crate::args::Wrong;
use crate::gen_objects;
use crate::help;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use record_simulate::{
    Bug, Format, KeyDistribution, ListAppend, Object, Objects, OverLists, OverRegisters, ParameterError, RwRegister,
    Simulation, Transactions, Workload,
};
use std::path::{Path, PathBuf};

/// A history to be made.
pub(crate) struct Gen {
    pub(crate) parameters: Parameters,
    pub(crate) format: Format,
    /// Standard output if there is none.
    pub(crate) out: Option<PathBuf>,
}

/// What is to be simulated.
pub(crate) enum Parameters {
    ListAppend(ListAppend),
    RwRegister(RwRegister),
    Objects(Objects),
}

impl Parameters {
    pub(crate) fn simulation(&self) -> Result<Simulation, ParameterError> {
        match self {
            Parameters::ListAppend(parameters) => parameters.simulation(),
            Parameters::RwRegister(parameters) => parameters.simulation(),
            Parameters::Objects(parameters) => parameters.simulation(),
        }
    }

    fn validate(&self) -> Result<(), ParameterError> {
        match self {
            Parameters::ListAppend(parameters) => parameters.validate(),
            Parameters::RwRegister(parameters) => parameters.validate(),
            Parameters::Objects(parameters) => parameters.validate(),
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
        .subcommands(Object::ALL.map(gen_objects::command))
}

/// What the options mean, and the bugs, a line each.
fn after(workload: &str, bugs: impl IntoIterator<Item = Bug>) -> String {
    let (mut names, mut levels) = (Vec::new(), Vec::new());
    for bug in bugs {
        names.push((bug.name(), bug.summary()));
        levels.extend(bug.level().map(|level| (level, bug.name())));
    }
    let (names, levels) = (two_columns(&names), two_columns(&levels));
    help::GEN.replace("WORKLOAD", workload).replace("LEVELS", &levels).replace("BUGS", &names)
}

/// Lines of two words or more, the second ones below each other.
pub(crate) fn two_columns(lines: &[(&str, &str)]) -> String {
    let width = lines.iter().map(|line| line.0.len()).max().unwrap_or_default();
    let lines: Vec<String> = lines.iter().map(|(left, right)| format!("  {left:width$}  {right}")).collect();
    lines.join("\n")
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

/// What clients ask for. What Elle calls otherwise can be said as there.
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

/// What goes wrong.
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

/// The bugs of all workloads, and the levels of isolation that some are: a bug of another workload is told apart from
/// an unknown one later.
fn bugs() -> Vec<PossibleValue> {
    let named = |bug: Bug| PossibleValue::new(bug.name());
    Bug::ALL.into_iter().map(|bug| bug.level().map_or(named(bug), |level| named(bug).alias(level))).collect()
}

pub(crate) fn key_distribution() -> Arg {
    Arg::new("key-distribution")
        .long("key-distribution")
        .visible_alias("key-dist")
        .value_name("KIND")
        .value_parser(|text: &str| text.parse::<KeyDistribution>())
        .default_value("uniform")
        .help("Distribution of keys: uniform, exponential:BASE or zipf:S; BASE defaults to 2 and S to 1")
}

pub(crate) fn bug_rate(help: &'static str) -> Arg {
    let arg = Arg::new("bug-rate").long("bug-rate").value_name("SHARE").help(help);
    arg.allow_negative_numbers(true).value_parser(value_parser!(f64))
}

pub(crate) fn nemesis() -> Arg {
    let arg = Arg::new("nemesis").long("nemesis").action(ArgAction::SetTrue);
    arg.help("Add a nemesis that partitions the network from time to time")
}

/// Where the history goes.
pub(crate) fn destination() -> [Arg; 2] {
    [
        Arg::new("format")
            .short('f')
            .long("format")
            .value_name("FORMAT")
            .value_parser(PossibleValuesParser::new(Format::ALL.map(Format::name)))
            .help("Output format [default: from the file extension, else edn]"),
        Arg::new("out")
            .short('o')
            .long("out")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help("Output file, compressed if its name ends in .gz or .zst [default: standard output]"),
    ]
}

pub(crate) fn number(name: &'static str, value_name: &'static str, default: u64, help: &'static str) -> Arg {
    option(name, value_name, default.to_string(), help).value_parser(value_parser!(u64))
}

pub(crate) fn small(name: &'static str, value_name: &'static str, default: u32, help: &'static str) -> Arg {
    option(name, value_name, default.to_string(), help).value_parser(value_parser!(u32))
}

pub(crate) fn share(name: &'static str, default: f64, help: &'static str) -> Arg {
    option(name, "SHARE", default.to_string(), help).value_parser(value_parser!(f64))
}

fn option(name: &'static str, value_name: &'static str, default: String, help: &'static str) -> Arg {
    let arg = Arg::new(name).long(name).value_name(value_name).help(help);
    // So that they are told apart from options, and refused as values.
    arg.default_value(default).allow_negative_numbers(true)
}

/// Understands what follows `gen`.
pub(crate) fn parse(matches: &ArgMatches) -> Result<Gen, Wrong> {
    // Clap has seen that one was named.
    let (name, matches) = matches.subcommand().unwrap_or((OverLists::NAME, matches));
    let out = matches.get_one::<PathBuf>("out").cloned();
    let format = match matches.get_one::<String>("format") {
        Some(name) => name.parse().unwrap_or(Format::Edn),
        None => out.as_deref().map_or(Format::Edn, format_of),
    };
    let parameters = match name {
        OverRegisters::NAME => Parameters::RwRegister(parameters(matches)),
        name => match name.parse() {
            Ok(object) => Parameters::Objects(gen_objects::parameters(object, matches)),
            Err(_) => Parameters::ListAppend(parameters(matches)),
        },
    };
    // The ranges are the simulator's to know.
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

/// Both ends of a range. An end that was not given makes room for the other.
fn range(matches: &ArgMatches, min: &str, max: &str) -> (u32, u32) {
    let end = |name: &str| matches.get_one(name).copied().unwrap_or(1);
    let given = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    match (end(min), end(max)) {
        (low, high) if low <= high => (low, high),
        (low, _) if given(min) && !given(max) => (low, low),
        (_, high) if given(max) && !given(min) => (high, high),
        // Refused later.
        both => both,
    }
}

fn wrong(error: &ParameterError) -> Wrong {
    Wrong::new(format!("--{}: {}", error.parameter.replace('_', "-"), error.message))
}

/// The format that a file's name asks for; EDN if it does not.
fn format_of(path: &Path) -> Format {
    extension_of(path).and_then(|extension| extension.parse().ok()).unwrap_or(Format::Edn)
}

/// The end of a file's name, before what says how it is compressed.
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
