//! The options of `histcheck gen`: what is to be simulated, and where the history goes.

use crate::args::Wrong;
use crate::help;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use record_simulate::{Bug, Format, KeyDistribution, ListAppend, ParameterError};
use std::path::{Path, PathBuf};

/// A history to be made.
pub(crate) struct Gen {
    pub(crate) parameters: ListAppend,
    pub(crate) format: Format,
    /// Standard output if there is none.
    pub(crate) out: Option<PathBuf>,
}

pub(crate) fn command() -> Command {
    Command::new("gen")
        .about("Writes a history of a simulated store, correct or broken in a chosen way")
        .after_help(after())
        .subcommand_required(true)
        .disable_help_subcommand(true)
        .subcommand_value_name("WORKLOAD")
        .subcommand_help_heading("Workloads")
        .subcommand(list_append())
}

/// What the options mean, and the bugs, a line each.
fn after() -> String {
    let width = Bug::ALL.iter().map(|bug| bug.name().len()).max().unwrap_or_default();
    let lines = Bug::ALL.iter().map(|bug| format!("\n  {:width$}  {}", bug.name(), bug.summary()));
    help::GEN.to_owned() + &lines.collect::<String>()
}

fn list_append() -> Command {
    let d = ListAppend::default();
    Command::new("list-append")
        .about("Transactions that append to lists and read them")
        .after_help(after())
        .args_override_self(true)
        .args([
            number("txns", "N", d.txns, "Transactions that clients ask for"),
            number("seed", "N", d.seed, "Chooses one of the histories that the other options allow"),
            small("clients", "N", d.clients, "Clients that ask at the same time"),
            small("keys", "N", d.keys, "Keys that are live at a time"),
            small("ops-per-txn-min", "N", d.ops_per_txn_min, "Fewest micro-operations of a transaction"),
            small("ops-per-txn-max", "N", d.ops_per_txn_max, "Most micro-operations of a transaction"),
            small("writes-per-key-min", "N", d.writes_per_key_min, "Fewest appends after which a key is replaced"),
            small("writes-per-key-max", "N", d.writes_per_key_max, "Most appends after which a key is replaced"),
            share("read-fraction", d.read_fraction, "How many of the micro-operations are reads, from 0 to 1"),
            share(
                "reuse-fraction",
                d.reuse_fraction,
                "How many of the micro-operations go to a key that their transaction has named already, from 0 to 1",
            ),
            share("fail-rate", d.fail_rate, "How many of the transactions the store refuses, from 0 to 1"),
            share("info-rate", d.info_rate, "How many of the transactions end in info, from 0 to 1"),
            share("lost-rate", d.lost_rate, "How many of the transactions never complete, from 0 to 1"),
            Arg::new("key-distribution")
                .long("key-distribution")
                .value_name("KIND")
                .value_parser(distribution)
                .default_value("uniform")
                .help("Which keys are chosen: uniform, exponential:BASE or zipf:S"),
            Arg::new("bug")
                .long("bug")
                .value_name("BUG")
                .value_parser(PossibleValuesParser::new(Bug::ALL.map(Bug::name)))
                .hide_possible_values(true)
                .default_value(d.bug.name())
                .help("What the store does wrong; the bugs are listed below"),
            Arg::new("bug-rate")
                .long("bug-rate")
                .value_name("SHARE")
                .allow_negative_numbers(true)
                .value_parser(value_parser!(f64))
                .help("How many of the transactions the bug applies to, from 0 to 1 [default: the bug's own]"),
            Arg::new("nemesis")
                .long("nemesis")
                .action(ArgAction::SetTrue)
                .help("Let a nemesis cut the network now and then"),
        ])
        .arg(
            Arg::new("format")
                .short('f')
                .long("format")
                .value_name("FORMAT")
                .value_parser(PossibleValuesParser::new(Format::ALL.map(Format::name)))
                .help("How to write it [default: by the name of the file, else edn]"),
        )
        .arg(
            Arg::new("out")
                .short('o')
                .long("out")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Where to write it, compressed if it ends in .gz or .zst [default: standard output]"),
        )
}

fn number(name: &'static str, value_name: &'static str, default: u64, help: &'static str) -> Arg {
    option(name, value_name, default.to_string(), help).value_parser(value_parser!(u64))
}

fn small(name: &'static str, value_name: &'static str, default: u32, help: &'static str) -> Arg {
    option(name, value_name, default.to_string(), help).value_parser(value_parser!(u32))
}

fn share(name: &'static str, default: f64, help: &'static str) -> Arg {
    option(name, "SHARE", default.to_string(), help).value_parser(value_parser!(f64))
}

fn option(name: &'static str, value_name: &'static str, default: String, help: &'static str) -> Arg {
    let arg = Arg::new(name).long(name).value_name(value_name).help(help);
    // So that they are told apart from options, and refused as values.
    arg.default_value(default).allow_negative_numbers(true)
}

fn distribution(text: &str) -> Result<KeyDistribution, String> {
    let parameter = |text: &str| text.parse::<f64>().map_err(|_| format!("{text} is no number"));
    match text.split_once(':') {
        None if text == "uniform" => Ok(KeyDistribution::Uniform),
        Some(("exponential", base)) => Ok(KeyDistribution::Exponential { base: parameter(base)? }),
        Some(("zipf", s)) => Ok(KeyDistribution::Zipf { s: parameter(s)? }),
        _ => Err("there are uniform, exponential:BASE and zipf:S".into()),
    }
}

/// Understands what follows `gen`.
pub(crate) fn parse(matches: &ArgMatches) -> Result<Gen, Wrong> {
    // There is one workload, and clap has seen that it was named.
    let matches = matches.subcommand().map_or(matches, |(_, matches)| matches);
    let out = matches.get_one::<PathBuf>("out").cloned();
    let format = match matches.get_one::<String>("format") {
        Some(name) => name.parse().unwrap_or(Format::Edn),
        None => out.as_deref().map_or(Format::Edn, format_of),
    };
    let parameters = parameters(matches);
    // The ranges are the simulator's to know.
    parameters.validate().map_err(|error| wrong(&error))?;
    Ok(Gen { parameters, format, out })
}

fn parameters(matches: &ArgMatches) -> ListAppend {
    let d = ListAppend::default();
    let number = |name: &str, default: u64| matches.get_one(name).copied().unwrap_or(default);
    let small = |name: &str, default: u32| matches.get_one(name).copied().unwrap_or(default);
    let share = |name: &str, default: f64| matches.get_one(name).copied().unwrap_or(default);
    ListAppend {
        txns: number("txns", d.txns),
        seed: number("seed", d.seed),
        clients: small("clients", d.clients),
        keys: small("keys", d.keys),
        ops_per_txn_min: small("ops-per-txn-min", d.ops_per_txn_min),
        ops_per_txn_max: small("ops-per-txn-max", d.ops_per_txn_max),
        writes_per_key_min: small("writes-per-key-min", d.writes_per_key_min),
        writes_per_key_max: small("writes-per-key-max", d.writes_per_key_max),
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

fn wrong(error: &ParameterError) -> Wrong {
    Wrong::new(format!("--{}: {}", error.parameter.replace('_', "-"), error.message))
}

/// The format that a file's name asks for; EDN if it does not.
fn format_of(path: &Path) -> Format {
    let packed = path.extension().is_some_and(|extension| extension == "gz" || extension == "zst");
    let name = if packed { path.file_stem().map(Path::new) } else { Some(path) };
    let extension = name.and_then(Path::extension).and_then(|extension| extension.to_str());
    extension.and_then(|extension| extension.parse().ok()).unwrap_or(Format::Edn)
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

    #[test]
    fn distributions_are_read() {
        assert_eq!(distribution("uniform"), Ok(KeyDistribution::Uniform));
        assert_eq!(distribution("zipf:0.99"), Ok(KeyDistribution::Zipf { s: 0.99 }));
        assert_eq!(distribution("exponential:2"), Ok(KeyDistribution::Exponential { base: 2.0 }));
        assert_eq!(distribution("zipf:x"), Err("x is no number".into()));
        assert!(distribution("zipf").is_err() && distribution("normal:3").is_err());
    }
}
