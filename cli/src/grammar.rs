//! The command line's grammar: histcheck's own options, and those that the registered checkers ask for.

use crate::{compat, gen_args, help};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, Command, value_parser};
use history_core::{Checker, OptionKind, OptionSpec};
use std::ffi::OsString;

/// An option that one or more checkers take.
pub(crate) struct Taken<'a> {
    pub(crate) spec: &'a OptionSpec,
    /// The names of those checkers.
    pub(crate) by: Vec<&'a str>,
}

/// The options of all checkers, each once, in the order in which they first come up.
pub(crate) fn taken<'a>(checkers: &'a [Box<dyn Checker>]) -> Vec<Taken<'a>> {
    let mut all: Vec<Taken<'a>> = Vec::new();
    for checker in checkers {
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
pub(crate) fn command(checkers: &[Box<dyn Checker>]) -> Command {
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
        .args(own_options(checkers));
    command = with_options_of(checkers, command);
    let names: Vec<&str> = taken(checkers).iter().map(|taken| taken.spec.name).collect();
    command.after_long_help(help::AFTER_LONG.to_owned() + &compat::paragraph(&names))
}

/// A command that takes the options of all checkers as well.
fn with_options_of(checkers: &[Box<dyn Checker>], mut command: Command) -> Command {
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

fn own_options(checkers: &[Box<dyn Checker>]) -> [Arg; 8] {
    let names = checkers.iter().map(|checker| checker.name().to_owned());
    [
        Arg::new("files")
            .value_name("FILE")
            .num_args(1..)
            .value_parser(value_parser!(OsString))
            .help("Histories: files, directories of Jepsen's store, or - for standard input"),
        Arg::new("model")
            .short('m')
            .long("model")
            .value_name("MODEL")
            .value_parser(PossibleValuesParser::new(names))
            .value_delimiter(',')
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
            .help("Explain every anomaly below its history's line (json and edn always do)"),
        output("How to write results: a line a file, or the whole report as one JSON object or EDN map a line"),
        Arg::new("directory")
            .short('d')
            .long("directory")
            .value_name("DIR")
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

fn output(help: &'static str) -> Arg {
    Arg::new("output")
        .long("output")
        .value_name("FORMAT")
        .value_parser(["text", "json", "edn"])
        .default_value("text")
        .help(help)
}

/// Watching takes what judging does, but for one history.
fn watch(checkers: &[Box<dyn Checker>]) -> Command {
    let [files, own @ ..] = own_options(checkers);
    let command = Command::new("watch")
        .about("Judges a history while it is still being written")
        .override_usage(help::WATCH_USAGE)
        .after_help(help::WATCH)
        .max_term_width(100)
        .arg(files.num_args(1).conflicts_with("listen").help("A file that grows, or - for standard input [default: -]"))
        .arg(
            Arg::new("listen").long("listen").value_name("ADDRESS").help(
                "Where clients connect to write ops as JSON Lines: 127.0.0.1:PORT (0: any free one) or unix:PATH",
            ),
        )
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
        .arg(Arg::new("verbose").short('v').long("verbose").action(ArgAction::SetTrue).hide(true));
    with_options_of(checkers, command)
}

fn subcommands(checkers: &[Box<dyn Checker>]) -> Vec<Command> {
    let table = |name: &'static str, about: &'static str| {
        Command::new(name).about(about).arg(output("As text, or as one JSON object or EDN map a line"))
    };
    let files = Arg::new("files").value_name("FILE").num_args(1..).required(true).value_parser(value_parser!(OsString));
    vec![
        watch(checkers),
        Command::new("validate")
            .about("Says what keeps files from being histories, and what looks doubtful")
            .after_help(help::VALIDATE)
            .arg(files.help("Files, directories of Jepsen's store, or - for standard input"))
            .arg(format())
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
        table("models", "Lists the checkers that -m takes"),
        table("anomalies", "Lists the anomalies that -a takes, and what they are"),
        table("consistency-models", "Lists the models that -c takes, and what they rule out"),
    ]
    .into_iter()
    .map(|command| command.args_override_self(true))
    .collect()
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
