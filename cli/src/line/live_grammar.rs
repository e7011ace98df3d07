//! The grammar of `histcheck live`.

use crate::line::common;
use crate::output::policy;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, Command, value_parser};
use record_live::store::KINDS;
use record_live::{StoreOption, Workload, time};
use std::ffi::OsString;

const USAGE: &str = "\
histcheck live --store NAME [OPTIONS]
       histcheck live --exec COMMAND -m CHECKER [OPTIONS]
       histcheck live --maelstrom COMMAND -m CHECKER [OPTIONS]
       histcheck live --workers HOST:PORT,... -m CHECKER [OPTIONS]
       histcheck live --replay DIR
       histcheck live --stores
       histcheck live worker --listen ADDRESS -- COMMAND";

const AFTER: &str = "\
Starts a store, drives it with concurrent clients under faults, records the history and checks it while it grows. Ends at the first \
violation, after --minutes or --ops, or with an interrupt (Ctrl-C, SIGTERM), and prints the verdict on what was recorded. A store on \
several nodes gets a namespace for each; this needs no root, and all processes and files are removed at the end.

Exits with 1 if the history is invalid, 0 if it is valid, 2 if the verdict is unknown, 255 if the store did not start or nothing was tested: \
no operation succeeded, or no fault took effect.

With -d, the directory gets history.jsonl, schedule.jsonl (the faults), run.json (the options), logs/, and after the run report.html and, of an \
invalid history, minimal.jsonl. Without -d, no files are kept.

Examples:
  histcheck live --store sqlite --locks none
      SQLite on a file system without locks.
  histcheck live --store redis-sentinel -d redis
      Isolate the primary of a Redis cluster, until a violation is found.
  histcheck live --store etcd --reads serializable --faults isolate,kill,pause --every 5s --seed 17
      Choose the faults, their interval, and the seed.
  histcheck live --exec \"python3 my_client.py\" -m list-append --fault \"docker pause db\" --heal \"docker unpause db\"
      Any store, in any language. Faults are commands.
  histcheck live --maelstrom ./node -m cas-register --latency 10ms --faults isolate
      A program that implements Maelstrom's protocol.
  histcheck live --store etcd --nodes a,b,c --ssh --faults isolate,kill
      Three machines, over ssh, as a user who may start servers and filter packets there.
  histcheck live --replay redis
      Repeat the operations and faults of an earlier run.";

const WORKER: &str = "\
Starts COMMAND for each client of a run that connects, and passes on operations and responses: see `histcheck live --workers`. \
COMMAND is what --exec takes. Any program that can connect to the address can perform operations, and nothing else: choose an \
address that only the machine of the run can reach, and that no partition affects. Runs until it is stopped.";

/// The grammar of the command.
pub(crate) fn command(own: impl Iterator<Item = Arg>) -> Command {
    let checks = own.filter(|arg| ["model", "output", "directory", "verbose"].contains(&arg.get_id().as_str()));
    let checks = checks.map(|arg| match arg.get_id().as_str() {
        "directory" => arg.help(
            "Directory for the history, the faults, logs, the report and a minimal history [default: no files are kept]",
        ),
        "verbose" => arg.hide(true),
        "model" => arg.help("Checkers to run, comma-separated [default: the checker of the workload]"),
        _ => arg,
    });
    Command::new("live")
        .about("Drive a store under faults, and check the history while it is recorded")
        .override_usage(USAGE)
        .after_help(AFTER)
        .max_term_width(100)
        .args(stores())
        .args(checks)
        .args(drive())
        .args(faults())
        .args(common::serve())
        .arg(hidden())
        .args(policy::options())
        .next_help_heading("Options of stores")
        .args(options_of_stores())
        .next_help_heading("Options")
        .args_conflicts_with_subcommands(true)
        .disable_help_subcommand(true)
        .subcommand(worker())
}

/// The command that serves clients or a node on another machine.
fn worker() -> Command {
    Command::new("worker")
        .about("Serve the clients of a run on another machine")
        .override_usage("histcheck live worker --listen ADDRESS -- COMMAND")
        .after_help(WORKER)
        .max_term_width(100)
        .arg(
            Arg::new("listen")
                .long("listen")
                .value_name("ADDRESS")
                .required_unless_present("stdio")
                .help("Address to listen at, HOST:PORT (port 0 = any free port, printed at the start)"),
        )
        .arg(
            Arg::new("client")
                .value_name("COMMAND")
                .num_args(1..)
                .last(true)
                .help("Command of each client, run by sh -c"),
        )
        // A run uses this option when it starts a worker over ssh, with the worker's directory.
        .arg(Arg::new("stdio").long("stdio").value_name("DIR").hide(true).conflicts_with_all(["listen", "client"]))
}

/// Options that select the store.
fn stores() -> Vec<Arg> {
    let named =
        KINDS.iter().filter(|kind| kind.command.is_none()).map(|kind| PossibleValue::new(kind.name).help(kind.summary));
    let mut args = vec![
        Arg::new("store")
            .long("store")
            .value_name("NAME")
            .value_parser(PossibleValuesParser::new(named))
            .help("Store to start"),
    ];
    for kind in KINDS {
        if let Some((value_name, what)) = kind.command {
            let help = format!("Start {}: {what}", kind.summary);
            args.push(Arg::new(kind.name).long(kind.name).value_name(value_name).conflicts_with("store").help(help));
        }
    }
    args.push(Arg::new("replay").long("replay").value_name("DIR").value_parser(value_parser!(OsString)).help(
        "Repeat the operations and faults of an earlier run, from its directory (executes the commands stored there)",
    ));
    args.push(
        Arg::new("stores")
            .long("stores")
            .action(ArgAction::SetTrue)
            .help("List stores, their requirements, and whether these are installed"),
    );
    args
}

/// Options for the workload.
fn drive() -> Vec<Arg> {
    let workloads = Workload::ALL.iter().map(|workload| PossibleValue::new(workload.name).help(workload.summary));
    let value = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).allow_negative_numbers(true).help(help)
    };
    let number =
        |name: &'static str, help: &'static str| value(name, "N", help).value_parser(value_parser!(u64).range(1..));
    vec![
        value("workload", "NAME", "Operations of the clients [default: those of the checker, else of the store]")
            .value_parser(PossibleValuesParser::new(workloads)),
        value("nodes", "NODES", "Number of nodes, or their names, comma-separated"),
        value(
            "world",
            "KIND",
            "Isolation of the nodes of a cluster: namespaces, or proxies between plain processes on this machine \
[default: namespaces; proxies where these are not allowed]",
        )
        .value_parser(["namespaces", "proxies"])
        .conflicts_with("ssh"),
        Arg::new("ssh")
            .long("ssh")
            .value_name("COMMAND")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("ssh")
            .requires("nodes")
            .help("Use the machines in --nodes as nodes, over ssh [default command: ssh]"),
        value("clients", "N", "Number of clients [default: by workload]")
            .value_parser(value_parser!(u32).range(1..=1000)),
        value(
            "topology",
            "WHERE",
            "Place of clients: at a node, on its side of a partition (sticky), or outside, with access to \
all nodes (hub) [default: sticky]",
        )
        .value_parser(["sticky", "hub"]),
        number("rate", "Mean rate of all clients together, in operations per second [default: as fast as possible]"),
        value("minutes", "N", "Time limit, in minutes [default: 2]").value_parser(value_parser!(f64)),
        Arg::new("keep-going")
            .long("keep-going")
            .action(ArgAction::SetTrue)
            .help("Continue after a violation until the end of the run, and report all violations"),
        number("ops", "Maximum number of operations [default: no limit]"),
        value("timeout", "TIME", "Time limit of a request, such as 500ms [default: 1s]").value_parser(time),
        value("seed", "N", "Seed of operations and faults [default: chosen at random, and printed]")
            .value_parser(value_parser!(u64)),
    ]
}

/// Options for faults.
fn faults() -> Vec<Arg> {
    vec![
        Arg::new("faults").long("faults").value_name("NAMES").value_delimiter(',').help(
            "Kinds of faults, comma-separated, or none; `histcheck live --stores` lists those of each store [default: by store]",
        ),
        Arg::new("target")
            .long("target")
            .value_name("WHICH")
            .value_parser(["primary", "random"])
            .help("Node that a fault affects: the current primary, or any [default: primary]"),
        Arg::new("every").long("every").value_name("TIME").value_parser(time).help("Mean pause before each fault [default: 2s]"),
        Arg::new("longer")
            .long("longer")
            .value_name("TIME")
            .value_parser(time)
            .help("Time that a fault lasts after the primary has changed [default: 2s]"),
    ]
}

/// The options of all stores, without duplicates.
fn options_of_stores() -> Vec<Arg> {
    let mut all: Vec<(&StoreOption, Vec<&str>)> = Vec::new();
    for kind in KINDS {
        for option in kind.options {
            match all.iter_mut().find(|(other, _)| other.name == option.name) {
                Some((_, by)) => by.push(kind.name),
                None => all.push((option, vec![kind.name])),
            }
        }
    }
    let arg = |(option, by): (&StoreOption, Vec<&str>)| {
        let default = if option.default.is_empty() { String::new() } else { format!(" [default: {}]", option.default) };
        let arg = Arg::new(option.name).long(option.name).value_name(option.value_name);
        arg.help(format!("{} ({}){default}", option.help, by.join(", ")))
    };
    all.into_iter().map(arg).collect()
}

/// The hidden option that replaces `--replay`.
fn hidden() -> Arg {
    Arg::new("steps").long("steps").value_name("DIR").hide(true).value_parser(value_parser!(OsString))
}
