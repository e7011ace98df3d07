//! The options of `histcheck scale`.

#[cfg(feature = "objects")]
use super::objects::objects;
use crate::job::Check;
use crate::judge::child;
use crate::judge::input::Input;
use crate::judge::scale::Scale;
use crate::line::units;
use crate::line::usage::UsageError;
use clap::{Arg, ArgMatches, Command, ValueHint, value_parser};
use histcheck_front::setup::WhetherKeyed;
use histcheck_scale::{Cluster, Sample, Spill};
use history_core::cast::Cast as _;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// The maximum number of workers in a process. Each sends to each, so the number of messages in a round grows with
/// their square.
const WORKERS_MAX: i64 = 256;

const USAGE: &str = "histcheck scale -m CHECKERS [--keyed] [OPTIONS] FILE...";

const AFTER: &str = "\
Checks large histories with many workers: threads of this process, or of several processes on several machines. The report is that of \
`histcheck -m CHECKERS`, byte for byte.

With --keyed, each key is checked by one worker. A history of list-append or rw-register is split by key, too: each worker finds version \
orders and dependencies of its keys, and the first worker looks for one order of all transactions. If the history is not strictly serializable, the \
first worker checks all of it, with the memory of one machine. Other histories without keys cannot be split: check them on one machine.

A file with one op per line, in JSON or EDN and not compressed, is read in parts by all workers. Any other file is read by one worker. All \
machines need the files, under the same paths. A pattern such as 'runs/*.jsonl', in quotes, stands for all files that match. A build with \
--features objects also reads objects in stores: s3://BUCKET/KEY and gs://BUCKET/KEY, patterns of them, and all below an address that ends in /.

With --spill and --max-memory, a history of list-append or rw-register in any format is read several times on one core, for some of the keys each time, so \
that it fits into the memory allowed. If it is invalid, the report shows an anomaly of some of its keys.

With --hostfile, start the same command on each machine, with its own --process. Only process 0 prints, after all others are done; they exit \
with 0. If a process cannot be reached, stops or is killed, or has other options, all others exit with 255, without any verdict. \
Connections are not authenticated: use a private network.

Examples:
  histcheck scale -m cas-register --keyed --workers 4 history.jsonl
      On four threads.
  histcheck scale -m list-append --spill /var/tmp --max-memory 4GB history.jsonl.zst
      Transactions in 4 GB of memory, with temporary files in /var/tmp.
  histcheck scale -m cas-register --keyed --hostfile hosts.txt --process 0 history.jsonl
      On the machines in hosts.txt (one `host:port` per line); this machine is the first.";

/// The grammar of the command, with the arguments of all commands that check histories.
pub(crate) fn command(own: impl Iterator<Item = Arg>) -> Command {
    const KEPT: [&str; 8] = ["files", "model", "format", "keyed", "verbose", "quiet", "color", "output"];
    Command::new("scale")
        .about("Check large histories on many cores or machines")
        .override_usage(USAGE)
        .after_help(AFTER)
        .max_term_width(100)
        .args(own.filter(|arg| KEPT.contains(&arg.get_id().as_str())).map(|arg| match arg.get_id().as_str() {
            "files" => arg.help("History files, directories of histories, or patterns such as 'runs/*.jsonl'"),
            // Automatic detection is impossible, because only one worker receives the first ops.
            "keyed" => arg.value_parser(["yes", "no"]).help(
                "Check each key separately: each op has a value of the form [key value], or a field key [default: no]",
            ),
            _ => arg,
        }))
        .arg(Arg::new("workers").long("workers").value_name("N").value_parser(value_parser!(u16).range(1..=WORKERS_MAX)).help(
            "Number of workers of this process, at most 256; all processes need the same number [default: one per core]",
        ))
        .arg(
            Arg::new("spill")
                .long("spill")
                .value_name("DIR")
                .value_hint(ValueHint::DirPath)
                .value_parser(value_parser!(PathBuf))
                .requires("max-memory")
                .conflicts_with_all(["workers", "hostfile"])
                .help("Check transactions on one core in limited memory, with temporary files in this directory"),
        )
        .arg(
            Arg::new("max-memory")
                .long("max-memory")
                .value_name("SIZE")
                .value_parser(units::size)
                .requires("spill")
                .help("Limit the memory with --spill, in bytes or like 2GB"),
        )
        .arg(
            Arg::new("hostfile")
                .long("hostfile")
                .value_name("FILE")
                .value_hint(ValueHint::FilePath)
                .value_parser(value_parser!(OsString))
                .requires("process")
                .help("File with the addresses of all processes, one `host:port` per line"),
        )
        .arg(
            Arg::new("process")
                .long("process")
                .value_name("N")
                .value_parser(value_parser!(usize))
                .requires("hostfile")
                .help("Line of the hostfile for this process, counted from 0"),
        )
        .arg(time(
            "connect-timeout",
            "Exit with 255 if not all processes are connected within this time [default: 60s]",
        ))
        .arg(time("peer-timeout", "Exit with 255 if nothing is received from a process for this time [default: 30s]"))
}

fn time(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("TIME").requires("hostfile").value_parser(units::time).help(help)
}

/// The given files and objects, with all matches of patterns.
///
/// # Errors
///
/// If a pattern is invalid or has no match, or if a store cannot be listed.
pub(crate) fn matching(files: &[OsString]) -> Result<Vec<OsString>, UsageError> {
    let mut all = Vec::new();
    for file in files {
        if let Some(address) = file.to_str().filter(|name| histcheck_scale::is_address(name)) {
            all.extend(objects(address)?);
            continue;
        }
        let pattern =
            file.to_str().filter(|name| name.contains(['*', '?', '[']) && !std::path::Path::new(name).exists());
        let Some(pattern) = pattern else {
            all.push(file.clone());
            continue;
        };
        let found = glob::glob(pattern).map_err(|error| UsageError::new(format!("{pattern}: {error}")))?;
        let before = all.len();
        // The order is alphabetical, so it is the same on all machines.
        for path in found {
            all.push(path.map_err(|error| UsageError::new(error.to_string()))?.into());
        }
        if all.len() == before {
            return Err(UsageError::new(format!("no file matches {pattern}")));
        }
    }
    Ok(all)
}

#[cfg(not(feature = "objects"))]
fn objects(address: &str) -> Result<Vec<OsString>, UsageError> {
    let message = format!("{address}: this build of histcheck reads no objects in stores");
    Err(UsageError::new(message).tip("build it with --features objects, or copy the history to a file"))
}

/// Parses the command line.
///
/// # Errors
///
/// Wrong usage.
pub(crate) fn parse<'c>(matches: &ArgMatches, check: Check<'c>) -> Result<Scale<'c>, UsageError> {
    histcheck_scale::can_judge(&check.setup).map_err(UsageError::new)?;
    if let Some(input) = check.inputs.iter().find(|input| input.is_stdin() || !input.is_readable_again()) {
        let message = format!("{} can be read only once, but scale reads files more than once", input.place());
        return Err(UsageError::new(message).tip("write it to a file"));
    }
    let given = matches.get_one::<u16>("workers").and_then(|workers| NonZeroUsize::new(usize::from(*workers)));
    let cores = || {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        NonZeroUsize::new(cores.min(WORKERS_MAX.to_usize()))
    };
    let workers = given.or_else(cores).unwrap_or(NonZeroUsize::MIN);
    let spill = spill(matches, &check)?;
    let cluster = match (matches.get_one::<OsString>("hostfile"), matches.get_one::<usize>("process")) {
        (Some(path), Some(process)) => {
            let mut cluster = cluster(path, *process)?;
            let time = |name: &str, otherwise| matches.get_one::<Duration>(name).copied().unwrap_or(otherwise);
            cluster.connect_timeout = time("connect-timeout", cluster.connect_timeout);
            cluster.peer_timeout = time("peer-timeout", cluster.peer_timeout);
            cluster.facts = facts(&check, workers);
            Some(cluster)
        }
        _ => None,
    };
    Ok(Scale { check, workers, spill, cluster })
}

fn spill(matches: &ArgMatches, check: &Check<'_>) -> Result<Option<Spill>, UsageError> {
    let (Some(dir), Some(bytes_max)) = (matches.get_one::<PathBuf>("spill"), matches.get_one::<u64>("max-memory"))
    else {
        return Ok(None);
    };
    if check.setup.keyed == WhetherKeyed::Yes {
        return Err(UsageError::new("--spill is for transactions; with --keyed, use more machines".to_owned()));
    }
    let memory = || child::memory(std::process::id());
    if memory().is_none() {
        return Err(UsageError::new("--spill: this system does not say how much memory a process has".to_owned()));
    }
    if !dir.is_dir() {
        return Err(UsageError::new(format!("--spill: {} is not a directory", dir.display())));
    }
    Ok(Some(Spill::new(dir, *bytes_max, memory)))
}

fn cluster(path: &OsString, process: usize) -> Result<Cluster, UsageError> {
    let shown = path.to_string_lossy();
    let text = std::fs::read_to_string(path)
        .map_err(|error| UsageError::new(format!("--hostfile: cannot read {shown}: {error}")))?;
    let hosts = Cluster::hosts_in(&text);
    if let Some(host) =
        hosts.iter().find(|host| host.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_err()))
    {
        return Err(UsageError::new(format!("--hostfile: {shown}: expected host:port, found {host}")));
    }
    if process >= hosts.len() {
        return Err(UsageError::new(format!(
            "--process {process}: {shown} has {} addresses, counted from 0",
            hosts.len()
        )));
    }
    Ok(Cluster::new(hosts, process))
}

/// The settings that must be the same in all processes.
fn facts(check: &Check<'_>, workers: NonZeroUsize) -> Vec<(String, String)> {
    let options: Vec<String> = check.setup.options.iter().map(|(name, value)| format!("--{name}={value}")).collect();
    let how: Vec<String> = check.inputs.first().map(|input| format!("{:?}", input.how())).into_iter().collect();
    let inputs: Vec<String> = check.inputs.iter().map(content).collect();
    let fact = |name: &str, value: String| (name.to_owned(), value);
    vec![
        fact("versions", env!("CARGO_PKG_VERSION").to_owned()),
        fact("checkers (-m)", check.setup.checker.name().to_owned()),
        fact("checker options", options.join(" ")),
        fact("input options", how.join(" ")),
        fact("node logs", format!("{:?}", check.node_logs)),
        fact("numbers of workers", workers.to_string()),
        fact("histories or contents", inputs.join("\n")),
    ]
}

/// The name of a history, with the size and the checksum of its file.
fn content(input: &Input) -> String {
    let name = input.name();
    match Sample::of(input.path()) {
        Ok(Some(Sample { bytes, checksum, .. })) => format!("{name} ({bytes} bytes, checksum {checksum:08x})"),
        Ok(None) => name.into_owned(),
        Err(error) => format!("{name} ({error})"),
    }
}
