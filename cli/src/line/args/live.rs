//! Converts the command line of `histcheck live` into a task.

use super::{check, output};
use crate::job::{Check, OutputFormat, PageOptions};
use crate::judge::input::Input;
use crate::line::common;
use crate::line::usage::UsageError;
use crate::live::{Around, Live, Worker, replay};
use crate::minimize::Minimize;
use clap::ArgMatches;
use histcheck_front::Registry;
use histcheck_front::setup::WhetherKeyed;
use record_live::store::{self, KINDS};
use record_live::{Fault, Kind, Nodes, Place, Stands, Target, Workload};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The task of the command.
pub(crate) enum Asked<'c> {
    /// A run.
    Run(Box<Live<'c>>),
    /// A list of the stores.
    Stores(OutputFormat),
    /// Serve a part of a run on another machine.
    Worker(Worker),
}

/// The complete words of a command line: for `--replay`, the words of the earlier run come before the user's own; the
/// checker of the workload is added if none was named.
///
/// # Errors
///
/// If the directory contains no run to replay.
pub(crate) fn whole(words: Vec<OsString>, matches: &ArgMatches) -> Result<Option<Vec<OsString>>, UsageError> {
    if matches.subcommand().is_some() {
        return Ok(None);
    }
    if let Some(directory) = matches.get_one::<OsString>("replay") {
        let begin = words.get(..2).unwrap_or(&words).to_vec();
        let own = replay::without_directories(&words[begin.len()..], false);
        let earlier = replay::words(directory.as_ref()).map_err(UsageError::new)?;
        let steps = [OsString::from("--steps"), directory.clone()];
        return Ok(Some([begin, earlier, own, steps.into()].concat()));
    }
    if matches.get_flag("stores") || matches.contains_id("model") {
        return Ok(None);
    }
    let name = workload(matches, kind(matches)?)?.name;
    Ok(Some([words, vec!["-m".into(), name.into()]].concat()))
}

/// Parses the command line.
///
/// # Errors
///
/// Wrong usage.
pub(crate) fn parse<'c>(
    words: Vec<OsString>,
    matches: &ArgMatches,
    checkers: &'c Registry,
) -> Result<Asked<'c>, UsageError> {
    if let Some((_, matches)) = matches.subcommand() {
        return worker(matches).map(Asked::Worker);
    }
    if matches.get_flag("stores") {
        return Ok(Asked::Stores(output(matches)));
    }
    let kind = kind(matches)?;
    let workload = workload(matches, kind)?;
    let nodes = nodes(matches);
    let options = options(matches, kind)?;
    let around = around(matches, kind, &nodes)?;
    let are_machines = matches!(around, Around::Ssh(_));
    kind.check(&options, &nodes, are_machines).map_err(|error| UsageError::new(error.to_string()))?;
    let (steps, directory) = (matches.get_one::<OsString>("steps"), matches.get_one::<OsString>("directory"));
    if steps.is_some()
        && steps.map(|path| Path::new(path).canonicalize().ok())
            == directory.map(|path| Path::new(path).canonicalize().ok())
    {
        return Err(UsageError::new(
            "-d and --replay name the same directory: the run would overwrite the one it replays",
        ));
    }
    let check = live_check(matches, checkers, workload)?;
    let output = check.pages.as_ref().map(|pages| pages.directory.join(MINIMAL).into());
    let faults = chosen_faults(matches, kind, &options)?;
    let minutes = matches.get_one("minutes").copied().unwrap_or(MINUTES);
    let time_limit = Duration::try_from_secs_f64(minutes * 60.0).ok().filter(|limit| !limit.is_zero());
    let time_limit =
        time_limit.ok_or_else(|| UsageError::new("--minutes: expected a number above 0, such as 2 or 0.5"))?;
    let times = |name: &str| matches.get_one::<Duration>(name).copied();
    Ok(Asked::Run(Box::new(Live {
        minimal: Minimize { check, anomaly: None, output, checks_max: CHECKS_MAX },
        kind,
        command: kind.command.and_then(|_| matches.get_one::<String>(kind.name)).cloned().unwrap_or_default(),
        options,
        nodes,
        around,
        workload,
        clients: matches.get_one("clients").copied(),
        stands: if is(matches, "topology", "hub") { Stands::InHub } else { Stands::AtNode },
        rate: matches.get_one("rate").copied(),
        time_limit,
        ops_max: matches.get_one("ops").copied(),
        keep_going: matches.get_flag("keep-going"),
        serve: common::served(matches),
        timeout: times("timeout").unwrap_or(Duration::from_secs(1)),
        seed: matches.get_one("seed").copied(),
        faults,
        target: if is(matches, "target", "random") { Target::Random } else { Target::Primary },
        every: times("every"),
        longer: times("longer"),
        steps: steps.map(PathBuf::from),
        words,
    })))
}

/// The file with the smallest part of an invalid history.
const MINIMAL: &str = "minimal.jsonl";
const CHECKS_MAX: u64 = 2000;
/// The default duration of a run in minutes.
const MINUTES: f64 = 2.0;

fn is(matches: &ArgMatches, name: &str, value: &str) -> bool {
    matches.get_one::<String>(name).is_some_and(|given| given == value)
}

fn kind(matches: &ArgMatches) -> Result<&'static Kind, UsageError> {
    let commands = KINDS.iter().filter(|kind| kind.command.is_some() && matches.contains_id(kind.name));
    let named = matches.get_one::<String>("store").and_then(|name| store::kind(name));
    match commands.copied().chain(named).collect::<Vec<_>>()[..] {
        [kind] => Ok(kind),
        [] => Err(UsageError::missing("missing --store: the store to start")
            .tip("`histcheck live --stores` lists all stores")),
        [first, second, ..] => {
            Err(UsageError::new(format!("--{} and --{} exclude each other", first.name, second.name)))
        }
    }
}

/// The named workload, or the one of the checker, or the first one of the store.
fn workload(matches: &ArgMatches, kind: &Kind) -> Result<&'static Workload, UsageError> {
    let named = matches.get_one::<String>("workload").map(String::as_str);
    let checkers: Vec<&String> = matches.get_many("model").into_iter().flatten().collect();
    let of_checker = checkers.iter().find_map(|name| Workload::named(name).map(|workload| workload.name));
    let name = named.or(of_checker);
    if name.is_none() && !checkers.is_empty() {
        let all = kind.workloads.join(", ");
        return Err(UsageError::missing("missing --workload: no workload has the name of the checker")
            .tip(format!("{} has the workloads {all}", kind.name)));
    }
    let name = name.or(kind.workloads.first().copied()).unwrap_or_default();
    let workload = Workload::named(name).filter(|workload| kind.workloads.contains(&workload.name));
    workload.ok_or_else(|| {
        UsageError::new(format!("{} has no workload {name}; expected one of {}", kind.name, kind.workloads.join(", ")))
    })
}

fn nodes(matches: &ArgMatches) -> Nodes {
    match matches.get_one::<String>("nodes") {
        None => Nodes::Default,
        Some(text) => text
            .parse()
            .map_or_else(|_| Nodes::Named(text.split(',').map(|name| name.trim().to_owned()).collect()), Nodes::Count),
    }
}

/// The environment of the nodes.
fn around(matches: &ArgMatches, kind: &Kind, nodes: &Nodes) -> Result<Around, UsageError> {
    let ssh = matches.get_one::<String>("ssh");
    if kind.place(&[]) != Place::World && (ssh.is_some() || matches.contains_id("world")) {
        let option = if ssh.is_some() { "ssh" } else { "world" };
        return Err(UsageError::new(format!("--{option} needs a cluster of servers; {} is not one", kind.name)));
    }
    if let Some(ssh) = ssh {
        if !matches!(nodes, Nodes::Named(_)) {
            return Err(UsageError::new("--ssh needs the names of machines: --nodes a,b,c"));
        }
        return Ok(Around::Ssh(ssh.clone()));
    }
    if is(matches, "world", "proxies") && kind.ports().is_none() {
        return Err(UsageError::new(format!(
            "--world proxies is not possible for {}: its servers use fixed ports",
            kind.name
        )));
    }
    Ok(match matches.get_one::<String>("world").map(String::as_str) {
        Some("proxies") => Around::Proxies,
        Some(_) => Around::Namespaces,
        None => Around::Any,
    })
}

fn worker(matches: &ArgMatches) -> Result<Worker, UsageError> {
    if let Some(directory) = matches.get_one::<String>("stdio") {
        return Ok(Worker::Node(directory.into()));
    }
    let words: Vec<&str> = matches.get_many::<String>("client").into_iter().flatten().map(String::as_str).collect();
    if words.is_empty() {
        return Err(UsageError::missing("missing -- COMMAND: the command of each client"));
    }
    let address = matches.get_one::<String>("listen").cloned().unwrap_or_default();
    Ok(Worker::Clients { address, command: words.join(" ") })
}

/// The given options of the store.
fn options(matches: &ArgMatches, kind: &Kind) -> Result<BTreeMap<String, String>, UsageError> {
    let mut given = BTreeMap::new();
    for option in KINDS.iter().flat_map(|kind| kind.options) {
        let Some(value) = matches.get_one::<String>(option.name) else { continue };
        if !kind.options.iter().any(|own| own.name == option.name) {
            let by: Vec<&str> = KINDS
                .iter()
                .filter(|other| other.options.iter().any(|it| it.name == option.name))
                .map(|other| other.name)
                .collect();
            let message = format!("{} has no option --{}", kind.name, option.name);
            return Err(UsageError::new(message).tip(format!("it is an option of {}", by.join(", "))));
        }
        given.insert(option.name.to_owned(), value.clone());
    }
    Ok(given)
}

fn chosen_faults(
    matches: &ArgMatches,
    kind: &Kind,
    options: &BTreeMap<String, String>,
) -> Result<Vec<Fault>, UsageError> {
    let Some(names) = matches.get_many::<String>("faults") else {
        // The fault that runs commands needs a command.
        let is_possible = |fault: &Fault| *fault != Fault::Command || !options.is_empty();
        return Ok(kind.default_faults.iter().copied().filter(is_possible).collect());
    };
    let names: Vec<&String> = names.collect();
    if names == ["none"] {
        return Ok(Vec::new());
    }
    let fault = |name: &&String| {
        let fault: Fault = name.parse().map_err(|error: String| UsageError::new(format!("--faults: {error}")))?;
        if !kind.faults.contains(&fault) {
            let all: Vec<String> = kind.faults.iter().map(ToString::to_string).collect();
            return Err(UsageError::new(format!("--faults: {} has no fault {fault}", kind.name))
                .tip(format!("expected one of {}", all.join(", "))));
        }
        if fault == Fault::Command && options.is_empty() {
            return Err(UsageError::new(
                "--faults command needs --fault and --heal, the commands that begin and end the fault",
            ));
        }
        Ok(fault)
    };
    let faults: Vec<Fault> = names.iter().map(fault).collect::<Result<_, _>>()?;
    if faults.contains(&Fault::PowerCut) && faults.contains(&Fault::FullDisk) {
        let message = "--faults: power-cut and full-disk need different file systems";
        return Err(UsageError::new(message).tip("choose one of them"));
    }
    Ok(faults)
}

/// How the history of a run is checked: as one that is watched, with the options that the workload requires.
fn live_check<'c>(matches: &ArgMatches, checkers: &'c Registry, workload: &Workload) -> Result<Check<'c>, UsageError> {
    let directory = matches.get_one::<OsString>("directory").map(PathBuf::from);
    let path = directory.as_ref().map_or_else(PathBuf::new, |directory| directory.join("history.jsonl"));
    let mut check = check(matches, checkers, vec![Input::new(path.into())])?;
    check.directory = None;
    check.pages = directory.map(|directory| PageOptions { directory, bytes_max: LIVE_PAGE_BYTES });
    check.verbose = true;
    check.is_live = true;
    let setup = &mut check.setup;
    setup.keyed = if workload.keyed { WhetherKeyed::Yes } else { WhetherKeyed::No };
    let watching = setup.checker.about().watching;
    let watching = watching.iter().map(|(name, value)| (name.as_ref(), value.as_ref()));
    for (name, value) in workload.options.iter().copied().chain(watching) {
        let is_taken = setup.checker.options().iter().any(|spec| spec.name == name);
        if is_taken && setup.options.text(name).is_none() {
            setup.options.set(name.to_owned(), value.to_owned());
        }
    }
    Ok(check)
}

/// The maximum length of the page about a run, in bytes.
const LIVE_PAGE_BYTES: usize = 4_000_000;
