//! The command line's grammar: histcheck's own options, and those that the registered checkers ask for.

use crate::registry::Registry;
use crate::{compat, gen_args, help, manual, policy, report, shells};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, Command, ValueHint, value_parser};
use history_core::{OptionKind, OptionSpec, TimeUnit};
use std::ffi::OsString;

/// An option that one or more checkers take.
pub(crate) struct Taken<'a> {
    pub(crate) spec: &'a OptionSpec,
    /// The names of those checkers.
    pub(crate) by: Vec<&'a str>,
}

/// The options of all checkers, each once, in the order in which they first come up.
pub(crate) fn taken<'a>(checkers: &'a Registry) -> Vec<Taken<'a>> {
    let mut all: Vec<Taken<'a>> = Vec::new();
    for checker in checkers.iter() {
        for spec in checker.options() {
            match all.iter_mut().find(|taken| taken.spec.name == spec.name) {
                Some(taken) => taken.by.push(checker.name()),
                None => all.push(Taken { spec, by: vec![checker.name()] }),
            }
        }
    }
    all
}

/// The whole grammar.
pub(crate) fn command(checkers: &Registry) -> Command {
    let mut command = Command::new("histcheck")
        .version(env!("CARGO_PKG_VERSION"))
        .about(help::ABOUT)
        .long_about(help::LONG_ABOUT)
        .override_usage(help::USAGE)
        .after_help(help::AFTER)
        .subcommand_help_heading("Commands")
        .disable_help_subcommand(true)
        .args_conflicts_with_subcommands(true)
        .args_override_self(true)
        .arg_required_else_help(true)
        .max_term_width(100)
        .subcommands(subcommands(checkers))
        .args(own_options(checkers))
        .args(rules())
        .args(policy::options())
        .args(limit_options())
        .args(plugin_options());
    command = with_options_of(checkers, command);
    let names: Vec<&str> = taken(checkers).iter().map(|taken| taken.spec.name).collect();
    command.after_long_help(help::AFTER_LONG.to_owned() + &compat::paragraph(&names))
}

/// A command that takes the options of all checkers as well.
fn with_options_of(checkers: &Registry, mut command: Command) -> Command {
    command = command.next_help_heading("Options of checkers");
    let taken = taken(checkers);
    for Taken { spec, by } in &taken {
        // The command line asks for these itself, and tells the checkers that want to know.
        if !matches!(spec.name, "directory" | "plot-format") {
            command = command.arg(option(spec.name, spec.kind, spec.value_name).help(help_of(spec, by)));
        }
    }
    let names: Vec<&str> = taken.iter().map(|taken| taken.spec.name).collect();
    for known in compat::KNOWN.iter().filter(|known| !names.contains(&known.name)) {
        command = command.arg(option(known.name, known.kind, known.value_name).hide(true));
    }
    command
}

/// The options that the command line itself has, so that no checker can; with those of a history that is watched.
pub(crate) fn own_names() -> Vec<String> {
    let own = command(&Registry::default());
    let watch = own.find_subcommand("watch").into_iter().flat_map(Command::get_arguments);
    let names = own.get_arguments().chain(watch).filter_map(Arg::get_long);
    // These are for the checkers that want them.
    let names = names.filter(|name| !matches!(*name, "directory" | "plot-format") && compat::find(name).is_none());
    names.chain(["help", "version"]).map(str::to_owned).collect()
}

/// What loads plugins. It was looked at before this grammar was made, for it depends on the plugins' options.
fn plugin_options() -> [Arg; 4] {
    let path = |name: &'static str, value: &'static str| {
        Arg::new(name).long(name).value_name(value).action(ArgAction::Append).value_parser(value_parser!(OsString))
    };
    let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    [
        path("plugin", "PATH")
            .value_hint(ValueHint::FilePath)
            .help("Load the checkers in this library, which can do all that you can"),
        path("plugin-dir", "DIR").value_hint(ValueHint::DirPath).help("Load all libraries in this directory"),
        flag("trust").help("Load libraries that other users could have written, too"),
        flag("debug").help("Say all there is to know of a library that cannot be loaded"),
    ]
}

/// What a history may take.
fn limit_options() -> [Arg; 3] {
    [
        Arg::new("timeout")
            .long("timeout")
            .value_name("SECONDS")
            .value_parser(value_parser!(f64))
            .allow_negative_numbers(true)
            .help("Give up on a history after so long: what was found by then counts, else its verdict is unknown"),
        Arg::new("max-memory")
            .long("max-memory")
            .value_name("BYTES")
            .allow_negative_numbers(true)
            .value_parser(|text: &str| match text.parse::<u64>() {
                Ok(bytes) if bytes > 0 => Ok(bytes),
                _ => Err("it takes a number of bytes, like 8000000000"),
            })
            .help("Give up on a history that takes more memory"),
        Arg::new("jobs")
            .short('j')
            .long("jobs")
            .value_name("N")
            .allow_negative_numbers(true)
            .value_parser(|text: &str| {
                text.parse::<u16>().map_err(|_| "it takes a number up to 65535, and 0 for one a core")
            })
            .help(
                "Judge so many histories at one time, which takes as many times the memory; 0: one a core [default: 1]",
            ),
    ]
}

fn own_options(checkers: &Registry) -> [Arg; 8] {
    let names = checkers.names().into_iter().map(PossibleValue::new);
    let names = names.chain(checkers.full_names().into_iter().map(|name| PossibleValue::new(name).hide(true)));
    let names: Vec<PossibleValue> = names.collect();
    [
        Arg::new("files")
            .value_name("FILE")
            .num_args(1..)
            .value_hint(ValueHint::AnyPath)
            .value_parser(value_parser!(OsString))
            .help("Histories: files, directories of them (like Jepsen's store), or - for standard input"),
        Arg::new("model")
            .short('m')
            .long("model")
            .value_name("MODEL")
            .value_parser(PossibleValuesParser::new(names))
            .value_delimiter(',')
            .action(ArgAction::Append)
            .help("What the histories should be, or several with commas between; `histcheck models` says more"),
        format(),
        Arg::new("keyed")
            .long("keyed")
            .value_name("WHEN")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("yes")
            .value_parser(["yes", "no", "auto"])
            .help(
                "Judge each key on its own: ops have values like [key value], or a field key. With auto, if the first ops \
                 look so (stderr says) [default: no]",
            ),
        Arg::new("verbose")
            .short('v')
            .long("verbose")
            .action(ArgAction::SetTrue)
            .help("Explain every anomaly below its history's line (json, edn, junit and sarif always do)"),
        output(help::OUTPUT).value_parser(["text", "json", "edn", "junit", "sarif", "github"]),
        Arg::new("directory")
            .short('d')
            .long("directory")
            .value_name("DIR")
            .value_hint(ValueHint::DirPath)
            .value_parser(value_parser!(OsString))
            .help("Write a report of each history here, in a folder for each if there are several"),
        Arg::new("plot-format")
            .short('p')
            .long("plot-format")
            .value_name("FORMAT")
            .value_parser(["svg", "png"])
            .help("How to write pictures into the directory [default: svg]"),
    ]
}

fn format() -> Arg {
    let json = PossibleValue::new("json").aliases(["jsonl", "ndjson"]);
    Arg::new("format")
        .short('f')
        .long("format")
        .value_name("FORMAT")
        .value_parser(PossibleValuesParser::new([
            PossibleValue::new("edn"),
            json,
            PossibleValue::new("intervals"),
            PossibleValue::new("txt").alias("log"),
        ]))
        .help("How the histories are written [default: told by their content]")
}

/// What histories do not say of themselves.
fn rules() -> [Arg; 3] {
    let names = |name: &'static str| Arg::new(name).long(name).value_name("NAMES").value_delimiter(',');
    [
        names("clients").help("Take these processes for clients, with commas between; NAME* means all that begin so"),
        names("not-clients").help(
            "Leave out the ops of these processes, names or numbers; always of those with nemesis in their names",
        ),
        Arg::new("time-unit")
            .long("time-unit")
            .value_name("UNIT")
            .value_parser(PossibleValuesParser::new(TimeUnit::NAMES))
            .help("Unit of recorded times, which may then have fractions [default: whole nanoseconds]"),
    ]
}

fn output(help: &'static str) -> Arg {
    Arg::new("output")
        .long("output")
        .value_name("FORMAT")
        .value_parser(["text", "json", "edn"])
        .default_value("text")
        .help(help)
}

/// Watching takes what judging does, but for one history.
fn watch(checkers: &Registry) -> Command {
    let [files, own @ ..] = own_options(checkers);
    let command = Command::new("watch")
        .about("Judges a history while it is still being written")
        .override_usage(help::WATCH_USAGE)
        .after_help(help::WATCH)
        .max_term_width(100)
        .arg(files.num_args(1).conflicts_with("listen").help("A file that grows, or - for standard input [default: -]"))
        .arg(Arg::new("listen").long("listen").value_name("ADDRESS").help(
            "Where clients write ops, a line each: 127.0.0.1:PORT (0: any free one), unix:PATH or unix-datagram:PATH",
        ))
        .arg(
            Arg::new("until-closed")
                .long("until-closed")
                .action(ArgAction::SetTrue)
                .requires("listen")
                .help("With --listen, end the history when the last client has closed its connection"),
        )
        .arg(
            Arg::new("keep-going")
                .long("keep-going")
                .action(ArgAction::SetTrue)
                .help("Print a violation and go on, instead of ending there"),
        )
        .args(own.into_iter().filter(|arg| arg.get_id() != "verbose"))
        .args(rules())
        .arg(Arg::new("verbose").short('v').long("verbose").action(ArgAction::SetTrue).hide(true))
        .args(policy::options())
        .args(plugin_options());
    with_options_of(checkers, command)
}

/// Writing pages takes what judging does.
fn report(checkers: &Registry) -> Command {
    let command = Command::new("report")
        .about("Judges histories, and writes a page of HTML about each")
        .override_usage(help::REPORT_USAGE)
        .after_help(help::REPORT)
        .max_term_width(100)
        .args(own_options(checkers).into_iter().filter(|arg| arg.get_id() != "plot-format").map(|arg| {
            if arg.get_id() == "directory" {
                arg.help("Write report.html here; of several histories, each in a folder, and index.html")
            } else {
                arg
            }
        }))
        .args(rules())
        .arg(
            Arg::new("max-report-bytes")
                .long("max-report-bytes")
                .value_name("BYTES")
                .value_parser(value_parser!(u64).range(report::BYTES_LEAST..))
                .default_value("4000000")
                .help("Leave out of a page what would make it larger; not below 16384, which its frame may take"),
        )
        .args(policy::options())
        .args(limit_options())
        .args(plugin_options());
    with_options_of(checkers, command)
}

/// Making a history smaller takes what judging one does, but for what is about its output.
fn minimize(checkers: &Registry) -> Command {
    let [files, own @ ..] = own_options(checkers);
    let command = Command::new("minimize")
        .about("Writes the smallest part of a history that still shows what is wrong with it")
        .override_usage(help::MINIMIZE_USAGE)
        .after_help(help::MINIMIZE)
        .max_term_width(100)
        .arg(files.num_args(1).required(true).help("A file, a directory of Jepsen's store, or - for standard input"))
        .args(own.into_iter().filter(|arg| ["model", "format", "keyed"].contains(&arg.get_id().as_str())))
        .args(rules())
        .arg(
            Arg::new("out")
                .short('o')
                .long("out")
                .value_name("FILE")
                .value_parser(value_parser!(OsString))
                .help("Where to write it, as EDN or JSON Lines: as the name ends, or else as the history is written [default: standard output]"),
        )
        .arg(
            Arg::new("anomaly")
                .long("anomaly")
                .value_name("NAME")
                .help("The kind of anomaly to be shown [default: the first that is found]"),
        )
        .arg(
            Arg::new("max-checks")
                .long("max-checks")
                .value_name("N")
                .value_parser(value_parser!(u64).range(1..))
                .default_value("5000")
                .help("Judge no more parts of it than this; what is left then still shows the anomaly"),
        )
        .args(plugin_options());
    // Here -o is what it is elsewhere, and elle-cli has no such command.
    let is_taken = |arg: &Arg| arg.get_short() == Some('o') && arg.get_id() != "out";
    with_options_of(checkers, command).mut_args(|arg| if is_taken(&arg) { arg.short(None) } else { arg })
}

fn subcommands(checkers: &Registry) -> Vec<Command> {
    let table = |name: &'static str, about: &'static str| {
        Command::new(name).about(about).arg(output("As text, or as one JSON object or EDN map a line"))
    };
    let files = Arg::new("files").value_name("FILE").num_args(1..).required(true);
    let files = files.value_hint(ValueHint::AnyPath).value_parser(value_parser!(OsString));
    vec![
        report(checkers),
        minimize(checkers),
        watch(checkers),
        Command::new("validate")
            .about("Says what keeps files from being histories, and what looks doubtful")
            .after_help(help::VALIDATE)
            .arg(files.help("Files, directories of them (like Jepsen's store), or - for standard input"))
            .arg(format())
            .args(rules())
            .arg(
                Arg::new("max-each")
                    .long("max-each")
                    .value_name("N")
                    .value_parser(value_parser!(usize))
                    .default_value("20")
                    .help("How many problems of each kind to list; all are counted"),
            )
            .arg(output("As text, or as one JSON object or EDN map a line")),
        gen_args::command(),
        plugin_command(),
        shells::command(),
        manual::command(),
        table("models", "Lists the checkers that -m takes").args(plugin_options()),
        #[cfg(feature = "elle")]
        table("anomalies", "Lists the anomalies that -a takes, and what they are"),
        #[cfg(feature = "elle")]
        table("consistency-models", "Lists the models that -c takes, and what they rule out"),
    ]
    .into_iter()
    .map(|command| command.args_override_self(true))
    .collect()
}

/// Making plugins.
fn plugin_command() -> Command {
    let new = Command::new("new")
        .about("Writes a crate for a plugin: a checker, its tests, and how to build and load it")
        .arg(Arg::new("name").value_name("NAME").required(true).help("The crate's name, and the directory to make"));
    Command::new("plugin")
        .about("Makes checkers of your own")
        .subcommand(new)
        .subcommand_required(true)
        .arg_required_else_help(true)
}

/// An option as the command line takes it; elle-cli's keep their short forms.
fn option(name: &'static str, kind: OptionKind, value_name: &'static str) -> Arg {
    let arg = Arg::new(name).long(name).value_name(value_name);
    let arg = match compat::find(name).and_then(|known| known.short) {
        Some(short) => arg.short(short),
        None => arg,
    };
    match kind {
        OptionKind::Flag => arg.action(ArgAction::SetTrue),
        OptionKind::Integer => arg.allow_negative_numbers(true).value_parser(value_parser!(i64)),
        OptionKind::Names => arg.action(ArgAction::Append),
        _ => arg,
    }
}

fn help_of(spec: &OptionSpec, by: &[&str]) -> String {
    let default = if spec.default.is_empty() { String::new() } else { format!(" [default: {}]", spec.default) };
    format!("{} ({}){default}", spec.help.trim_end_matches('.'), some(by))
}

/// Names in a line of help: all, or the first of many.
fn some(names: &[&str]) -> String {
    const SHOWN: usize = 4;
    match names.split_at_checked(SHOWN) {
        Some((first, more)) if more.len() > 1 => format!("{} and {} others", first.join(", "), more.len()),
        _ => names.join(", "),
    }
}
