//! The command line's grammar: histcheck's own options, and those of the registered checkers.

use crate::convert::Target;
#[cfg(all(unix, feature = "live"))]
use crate::line::live_grammar;
use crate::line::texts::{format, node_logs, rules, torn};
use crate::line::{common, compat, config, gen_args, help, manual, shells, units};
use crate::output::{known, policy};
use crate::report;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, Command, ValueHint, value_parser};
use histcheck_front::Registry;
use history_core::{OptionKind, OptionSpec};
use std::ffi::OsString;

/// An option that at least one checker accepts.
pub(crate) struct Taken<'a> {
    pub(crate) spec: &'a OptionSpec,
    /// The names of those checkers.
    pub(crate) by: Vec<&'a str>,
}

/// The options of all checkers, each once, in order of first occurrence.
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
        .args_conflicts_with_subcommands(true)
        .args_override_self(true)
        .arg_required_else_help(true)
        .max_term_width(100)
        .subcommands(subcommands(checkers))
        .args(own_options(checkers))
        .args(rules())
        .arg(torn())
        .args(node_logs())
        .args(policy::options())
        .args(known::options())
        .args(common::limits())
        .args(config::options())
        .args(plugin_options());
    command = with_options_of(checkers, command);
    let names: Vec<&str> = taken(checkers).iter().map(|taken| taken.spec.name).collect();
    command.after_long_help(help::AFTER_LONG.to_owned() + &compat::paragraph(&names))
}

/// A command with the options of all checkers added.
fn with_options_of(checkers: &Registry, mut command: Command) -> Command {
    command = command.next_help_heading("Options of checkers");
    let taken = taken(checkers);
    for Taken { spec, by } in &taken {
        if !PASSED_ON.contains(&spec.name) {
            command = command.arg(option(spec.name, spec.kind, spec.value_name).help(help_of(spec, by)));
        }
    }
    let names: Vec<&str> = taken.iter().map(|taken| taken.spec.name).collect();
    for known in compat::KNOWN.iter().filter(|known| !names.contains(&known.name)) {
        command = command.arg(option(known.name, known.kind, known.value_name).hide(true));
    }
    command
}

/// Options of the command line that are also passed to the checkers that declare them: older plugins draw pictures by
/// themselves.
pub(crate) const PASSED_ON: [&str; 4] = ["directory", "plot-format", MAX_PLOT_BYTES, MAX_TIMELINE_BYTES];
pub(crate) const MAX_PLOT_BYTES: &str = "max-plot-bytes";
pub(crate) const MAX_TIMELINE_BYTES: &str = "max-timeline-bytes";

/// The names of the command line's own options, including those for watching, which no checker may use.
pub(crate) fn own_names() -> Vec<String> {
    let own = command(&Registry::default());
    let others = ["watch", "live"].into_iter().filter_map(|name| own.find_subcommand(name));
    let names = own.get_arguments().chain(others.flat_map(Command::get_arguments)).filter_map(Arg::get_long);
    let names = names.filter(|name| !PASSED_ON.contains(name) && compat::find(name).is_none());
    names.chain(["help", "version"]).map(str::to_owned).collect()
}

/// The options for loading plugins. They were evaluated before this grammar was built, because it depends on the
/// plugins.
fn plugin_options() -> [Arg; 4] {
    let path = |name: &'static str, value: &'static str| {
        Arg::new(name).long(name).value_name(value).action(ArgAction::Append).value_parser(value_parser!(OsString))
    };
    let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    [
        path("plugin", "PATH")
            .value_hint(ValueHint::FilePath)
            .help("Load checkers from this library, or start one in another process: exec:COMMAND (it runs with your permissions)"),
        path("plugin-dir", "DIR")
            .value_hint(ValueHint::DirPath)
            .help("Load checkers from all libraries in this directory"),
        flag("trust").help("Also load libraries that other users can write to"),
        flag("debug").help("Print details about each library that cannot be loaded"),
    ]
}

fn own_options(checkers: &Registry) -> [Arg; 13] {
    let names = checkers.names().into_iter().map(PossibleValue::new);
    let names = names.chain(checkers.full_names().into_iter().map(|name| PossibleValue::new(name).hide(true)));
    let names: Vec<PossibleValue> = names.collect();
    [
        common::files(),
        Arg::new("model")
            .short('m')
            .long("model")
            .value_name("CHECKERS")
            .value_parser(PossibleValuesParser::new(names))
            .value_delimiter(',')
            .action(ArgAction::Append)
            .help("Checkers to run, comma-separated; `histcheck models` lists them"),
        format(),
        Arg::new("keyed")
            .long("keyed")
            .value_name("WHEN")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("yes")
            .value_parser(["yes", "no", "auto"])
            .help(
                "Check each key separately: each op has a value of the form [key value], or a field key. auto: decide from the \
                 first ops and report the decision on stderr [default: no]",
            ),
        Arg::new("verbose")
            .short('v')
            .long("verbose")
            .action(ArgAction::SetTrue)
            .help("Explain every anomaly below the history's line (json, edn, junit and sarif always include explanations)"),
        Arg::new("quiet")
            .short('q')
            .long("quiet")
            .action(ArgAction::SetTrue)
            .conflicts_with("verbose")
            .help("Print only the lines of histories that are not valid, without notes, summary and progress"),
        common::color(),
        common::results(help::OUTPUT),
        common::directory("Directory for reports and pictures; several histories get a subdirectory each"),
        Arg::new("annotations")
            .long("annotations")
            .value_name("FILE")
            .value_hint(ValueHint::FilePath)
            .value_parser(value_parser!(OsString))
            .hide_short_help(true)
            .help(
                "Draw the events in this file beside the ops: JSON Lines with text, time (or from and to; in nanoseconds, as in the \
                 ops), and optionally lane",
            ),
        Arg::new("plot-format")
            .short('p')
            .long("plot-format")
            .value_name("FORMAT")
            .value_parser(["svg", "png"])
            .help("Format of pictures in the directory [default: svg]"),
        bytes(MAX_PLOT_BYTES)
            .short('b')
            .help("Maximum size of a picture, in bytes or like 64kB; a larger picture is replaced by a sentence [default: 65536]"),
        bytes(MAX_TIMELINE_BYTES)
            .help("Maximum size of a timeline, in bytes or like 32MB; a larger timeline is replaced by a sentence [default: 33554432]"),
    ]
}

/// An option that is a number of bytes; zero disables pictures.
fn bytes(name: &'static str) -> Arg {
    let arg = Arg::new(name).long(name).value_name("SIZE").hide_short_help(true);
    arg.allow_negative_numbers(true).value_parser(|text: &str| if text == "0" { Ok(0) } else { units::size(text) })
}

fn output(help: &'static str) -> Arg {
    Arg::new("output")
        .long("output")
        .value_name("FORMAT")
        .value_parser(["text", "json", "edn"])
        .default_value("text")
        .help(help)
}

/// `watch` has the options for checking, but takes one history.
fn watch(checkers: &Registry) -> Command {
    let [files, own @ ..] = own_options(checkers);
    let command = Command::new("watch")
        .about("Check a history while it is being written")
        .override_usage(help::WATCH_USAGE)
        .after_help(help::WATCH)
        .max_term_width(100)
        .arg(files.num_args(1).conflicts_with("listen").help("History file to follow, or - for standard input [default: -]"))
        .arg(Arg::new("listen").long("listen").value_name("ADDRESS").help(
            "Address to receive ops on, one per line: 127.0.0.1:PORT (0 = any free port), unix:PATH or unix-datagram:PATH",
        ))
        .arg(
            Arg::new("until-closed")
                .long("until-closed")
                .action(ArgAction::SetTrue)
                .requires("listen")
                .help("End the history when the last client closes its connection (with --listen)"),
        )
        .arg(
            Arg::new("keep-going")
                .long("keep-going")
                .action(ArgAction::SetTrue)
                .help("Continue after a violation instead of exiting"),
        )
        .args(common::checkpoints())
        .args(own.into_iter().filter(|arg| !["verbose", "quiet"].contains(&arg.get_id().as_str())))
        .args(rules())
        .args(common::watch_limits())
        .args(common::serve())
        .arg(Arg::new("verbose").short('v').long("verbose").action(ArgAction::SetTrue).hide(true))
        .args(policy::options())
        .args(config::options())
        .args(plugin_options());
    with_options_of(checkers, command)
}

/// `report` has the options for checking.
fn report(checkers: &Registry) -> Command {
    let command = Command::new("report")
        .about("Check histories and write an HTML report for each")
        .override_usage(help::REPORT_USAGE)
        .after_help(help::REPORT)
        .max_term_width(100)
        .args(own_options(checkers).into_iter().filter(|arg| arg.get_id() != "plot-format").map(|arg| {
            if arg.get_id() == "directory" {
                arg.help("Directory for report.html; several histories get a subdirectory each, and an index.html")
            } else {
                arg
            }
        }))
        .args(rules())
        .arg(torn())
        .args(node_logs())
        .arg(
            Arg::new("max-report-bytes")
                .long("max-report-bytes")
                .value_name("BYTES")
                .value_parser(value_parser!(u64).range(report::BYTES_LEAST..))
                .default_value("4000000")
                .help("Maximum size of a report, in bytes (at least 16384); longer reports are shortened"),
        )
        .args(policy::options())
        .args(known::options())
        .args(common::limits())
        .args(config::options())
        .args(plugin_options());
    with_options_of(checkers, command)
}

/// A command that produces one output from one history: the options for checking, without those for its output.
fn of_one(checkers: &Registry, command: Command, out: &'static str, more: Vec<Arg>) -> Command {
    let [files, own @ ..] = own_options(checkers);
    let command = command
        .max_term_width(100)
        .arg(
            files
                .num_args(1)
                .required(true)
                .help("History file, directory of one test in Jepsen's store, or - for standard input"),
        )
        .args(own.into_iter().filter(|arg| ["model", "format", "keyed", "color"].contains(&arg.get_id().as_str())))
        .args(rules())
        .arg(torn())
        .arg(Arg::new("out").short('o').long("out").value_name("FILE").value_parser(value_parser!(OsString)).help(out))
        .args(more)
        .args(config::options())
        .args(plugin_options());
    // In these commands -o is the output file; elle-cli has no such commands.
    let is_taken = |arg: &Arg| arg.get_short() == Some('o') && arg.get_id() != "out";
    with_options_of(checkers, command).mut_args(|arg| if is_taken(&arg) { arg.short(None) } else { arg })
}

fn minimize(checkers: &Registry) -> Command {
    let command = Command::new("minimize")
        .about("Write a small part of a history that still shows the anomaly")
        .override_usage(help::MINIMIZE_USAGE)
        .after_help(help::MINIMIZE);
    let more = vec![
        Arg::new("anomaly")
            .long("anomaly")
            .value_name("NAME")
            .help("Type of anomaly to keep [default: the one that needs the fewest operations]"),
        Arg::new("max-checks")
            .long("max-checks")
            .value_name("N")
            .value_parser(value_parser!(u64).range(1..))
            .default_value("5000")
            .help("Maximum number of parts to check; the smallest one found so far is written"),
    ];
    let one = |arg: Arg| arg.value_name("CHECKER").help("Checker that found the anomaly; `histcheck models` lists all");
    let out =
        "Output file, EDN or JSON Lines by its extension, else in the format of the history [default: standard output]";
    of_one(checkers, command, out, more).mut_arg("model", one)
}

fn anonymize(checkers: &Registry) -> Command {
    let command = Command::new("anonymize")
        .about("Rename clients, keys and values of a history, with the same verdict")
        .override_usage(help::ANONYMIZE_USAGE)
        .after_help(help::ANONYMIZE);
    let out =
        "Output file, EDN or JSON Lines by its extension, else in the format of the history [default: standard output]";
    of_one(checkers, command, out, Vec::new())
}

/// `live` has the options for checking that apply to a history that it records itself.
#[cfg(all(unix, feature = "live"))]
fn live(checkers: &Registry) -> Command {
    let command = live_grammar::command(own_options(checkers).into_iter()).args(plugin_options());
    with_options_of(checkers, command)
}

/// `scale` has the options for checking, without those for files beside the results.
#[cfg(feature = "scale")]
fn scale(checkers: &Registry) -> Command {
    let command = crate::line::args::scale::command(own_options(checkers).into_iter());
    let command = command.args(rules()).arg(torn()).args(node_logs()).args(policy::options()).args(known::options());
    with_options_of(checkers, command.args(config::options()).args(plugin_options()))
}

fn subcommands(checkers: &Registry) -> Vec<Command> {
    let table = |name: &'static str, about: &'static str| {
        Command::new(name).about(about).arg(output("Output format: text, or one JSON object or EDN map per line"))
    };
    vec![
        report(checkers),
        minimize(checkers),
        anonymize(checkers),
        watch(checkers),
        #[cfg(all(unix, feature = "live"))]
        live(checkers),
        #[cfg(feature = "serve")]
        crate::serve::args::command(),
        #[cfg(feature = "scale")]
        scale(checkers),
        Command::new("validate")
            .about("List errors and doubtful ops in histories")
            .after_help(help::VALIDATE)
            .arg(common::files().required(true))
            .arg(format())
            .args(rules().into_iter().filter(|arg| arg.get_id() != "clock-error"))
            .arg(
                Arg::new("max-each")
                    .long("max-each")
                    .value_name("N")
                    .value_parser(value_parser!(usize))
                    .default_value("20")
                    .help("Number of problems of each kind to list; all are counted"),
            )
            .arg(output("Output format: text, or one JSON object or EDN map per line"))
            .arg(common::color())
            .args(config::options()),
        convert(),
        gen_args::command(),
        plugin_command(),
        shells::command(),
        manual::command(),
        table("models", "List the checkers that -m accepts").args(plugin_options()),
        #[cfg(feature = "elle")]
        table("anomalies", "List and describe the anomalies that -a accepts"),
        #[cfg(feature = "elle")]
        table("consistency-models", "List the consistency levels that -c accepts and what each rules out"),
    ]
    .into_iter()
    .map(|command| command.args_override_self(true))
    .collect()
}

/// The command that writes a history in another format.
fn convert() -> Command {
    let names = Target::ALL.map(|target| PossibleValue::new(target.name()));
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    Command::new("convert")
        .about("Write a history in another format")
        .override_usage(help::CONVERT_USAGE)
        .after_help(help::CONVERT)
        .max_term_width(100)
        .arg(
            common::files()
                .num_args(1)
                .required(true)
                .help("History file, directory of one history, or - for standard input"),
        )
        .arg(format())
        .arg(
            Arg::new("to")
                .short('t')
                .long("to")
                .value_name("FORMAT")
                .value_parser(PossibleValuesParser::new(names))
                .help("Output format [default: by the extension of the output file]"),
        )
        .arg(
            Arg::new("out")
                .short('o')
                .long("out")
                .value_name("FILE")
                .value_hint(ValueHint::AnyPath)
                .value_parser(value_parser!(OsString))
                .help("Output file, compressed if it ends in .gz or .zst; for cobra, a directory [default: standard output]"),
        )
        .arg(flag("renumber", "Replace keys and values by numbers from 1 on, in order of appearance"))
        .arg(flag(
            "lossy",
            "Omit what the format cannot hold and isolation levels do not need, and report the number of omitted items",
        ))
        .arg(flag("index-times", "Write the index of each op in place of its time (intervals)"))
        .args(rules())
        .args(config::options())
}

/// The command that generates plugins.
fn plugin_command() -> Command {
    let new = Command::new("new")
        .about("Create a crate for a checker plugin, with an example checker, tests and a README")
        .arg(Arg::new("name").value_name("NAME").required(true).help("Name of the crate and of its directory"))
        .arg(
            Arg::new("path")
                .long("path")
                .value_name("CHECKOUT")
                .value_hint(ValueHint::DirPath)
                .value_parser(value_parser!(OsString))
                .help("Clone of histcheck with the crate histcheck-plugin [default: the one histcheck was built from, else a registry]"),
        );
    Command::new("plugin")
        .about("Scaffold a checker plugin")
        .subcommand(new)
        .subcommand_required(true)
        .arg_required_else_help(true)
}

/// A checker's option on the command line. Options of elle-cli keep their short forms.
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
        // The value may be negative, such as the value of a register.
        _ => arg.allow_negative_numbers(true),
    }
}

fn help_of(spec: &OptionSpec, by: &[&str]) -> String {
    let default = if spec.default.is_empty() { String::new() } else { format!(" [default: {}]", spec.default) };
    format!("{} ({}){default}", spec.help.trim_end_matches('.'), some(by))
}

/// Names in a line of help: all, or the first few of many.
fn some(names: &[&str]) -> String {
    const SHOWN: usize = 4;
    match names.split_at_checked(SHOWN) {
        Some((first, more)) if more.len() > 1 => format!("{} and {} others", first.join(", "), more.len()),
        _ => names.join(", "),
    }
}
