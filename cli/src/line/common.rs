//! Arguments that several commands have.

use crate::job::PageAt;
use crate::line::units;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use std::ffi::{OsStr, OsString};
use std::net::SocketAddr;

/// `-d DIR`.
pub(crate) fn directory(help: &'static str) -> Arg {
    Arg::new("directory")
        .short('d')
        .long("directory")
        .value_name("DIR")
        .value_hint(ValueHint::DirPath)
        .value_parser(value_parser!(OsString))
        .help(help)
}

/// Histories, one or more.
pub(crate) fn files() -> Arg {
    Arg::new("files")
        .value_name("FILE")
        .num_args(1..)
        .value_hint(ValueHint::AnyPath)
        .value_parser(value_parser!(OsString))
        .help("History files, directories of histories (such as Jepsen's store), or - for standard input")
}

/// `--serve`, with or without an address, and how long the server runs, in programs that include the server.
pub(crate) fn serve() -> impl Iterator<Item = Arg> {
    let stays = || {
        let help = "Keep serving the page of --serve after the end, until an interrupt (Ctrl-C)";
        Arg::new("keep-serving").long("keep-serving").action(ArgAction::SetTrue).requires("serve").help(help)
    };
    cfg!(feature = "serve").then(|| [serve_at(), stays()]).into_iter().flatten()
}

fn serve_at() -> Arg {
    let own = |text: &str| {
        let listen = listen(text)?;
        let is_own = listen.ip().is_loopback();
        is_own.then_some(listen).ok_or_else(|| {
            format!("{text} is reachable from other machines: listen at 127.0.0.1, and use a tunnel (ssh -L 8090:localhost:8090 HOST)")
        })
    };
    Arg::new("serve")
        .long("serve")
        .value_name("ADDRESS")
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("127.0.0.1:8090")
        .value_parser(own)
        .help("Show the current run in the browser [default ADDRESS: 127.0.0.1:8090]")
}

/// The address of the page, if one was requested.
pub(crate) fn served(matches: &ArgMatches) -> Option<PageAt> {
    // A program without the server does not have these options.
    let listen = *matches.try_get_one("serve").ok().flatten()?;
    let stays = matches.try_get_one("keep-serving").ok().flatten().copied().unwrap_or(false);
    Some(PageAt { listen, stays })
}

/// Parses an address to listen on.
///
/// # Errors
///
/// The expected form.
pub(crate) fn listen(text: &str) -> Result<SocketAddr, String> {
    let expected = || format!("expected an address and a port, such as 127.0.0.1:8090 or [::1]:0, found {text}");
    text.replacen("localhost:", "127.0.0.1:", 1).parse().map_err(|_| expected())
}

/// The limits for a history.
pub(crate) fn limits() -> [Arg; 3] {
    let jobs = Arg::new("jobs")
        .short('j')
        .long("jobs")
        .value_name("N")
        .allow_negative_numbers(true)
        .value_parser(|text: &str| {
            text.parse::<u16>().map_err(|_| "expected a number from 0 to 65535 (0 = one per core)")
        })
        .help("Check N histories in parallel (memory grows with N; 0 = one per core) [default: 1]");
    [
        timeout(
            "Limit the time per history, in seconds or like 5m; at the limit the verdict is false if a violation was found, else unknown [default: none]",
        ),
        max_memory(
            "Limit the memory per history, in bytes or like 2GB; at the limit the verdict is unknown [default: none]",
        ),
        jobs,
    ]
}

/// The limits for a watch.
pub(crate) fn watch_limits() -> [Arg; 2] {
    [
        timeout(
            "End the watch after this time, in seconds or like 5m; the verdict is false if a violation was found, else unknown [default: none]",
        ),
        max_memory(
            "End the watch when histcheck takes more memory than this, in bytes or like 2GB, with the same verdicts [default: none]",
        ),
    ]
}

/// The options of checkpoints.
pub(crate) fn checkpoints() -> [Arg; 3] {
    let of = |name: &'static str, value_name: &'static str| Arg::new(name).long(name).value_name(value_name);
    [
        of("checkpoint", "FILE").value_hint(ValueHint::FilePath).value_parser(value_parser!(OsString)).help(
            "Keep the state of the watch in this file, and continue from it if it exists (needs a history in a file)",
        ),
        of("checkpoint-interval", "TIME")
            .value_parser(units::time)
            .default_value("10")
            .requires("checkpoint")
            .hide_short_help(true)
            .help("Time between two checkpoints, in seconds or like 5m"),
        of("checkpoint-max-size", "SIZE")
            .value_parser(units::size)
            .default_value("1GB")
            .requires("checkpoint")
            .hide_short_help(true)
            .help("Maximum size of a checkpoint, in bytes or like 2GB; a larger one is not written, with a warning"),
    ]
}

fn timeout(help: &'static str) -> Arg {
    let arg = Arg::new("timeout").long("timeout").value_name("TIME").value_parser(units::time);
    arg.allow_negative_numbers(true).help(help)
}

fn max_memory(help: &'static str) -> Arg {
    let arg = Arg::new("max-memory").long("max-memory").value_name("SIZE").value_parser(units::size);
    arg.allow_negative_numbers(true).help(help)
}

/// `--color`, for commands that print for people.
pub(crate) fn color() -> Arg {
    Arg::new("color")
        .long("color")
        .value_name("WHEN")
        .value_parser(["auto", "always", "never"])
        .hide_short_help(true)
        .help("Print with colour [default: auto: on a terminal, unless NO_COLOR is set]")
}

/// `--output`, for commands that check histories.
pub(crate) fn results(help: &'static str) -> Arg {
    Arg::new("output")
        .long("output")
        .value_name("FORMAT[=FILE]")
        .action(ArgAction::Append)
        .value_parser(OutputParser)
        .help(help)
}

/// Parses a format, or a format and a file.
#[derive(Clone)]
struct OutputParser;

impl OutputParser {
    const FORMATS: [&'static str; 7] = ["text", "json", "edn", "junit", "sarif", "github", "markdown"];
}

impl TypedValueParser for OutputParser {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        let text = value.to_string_lossy();
        let (name, file) = text.split_once('=').map_or((&*text, None), |(name, file)| (name, Some(file)));
        // The error is that of an unknown name in a list.
        PossibleValuesParser::new(OutputParser::FORMATS).parse_ref(command, arg, OsStr::new(name))?;
        if file == Some("") || value.to_str().is_none() {
            let message = format!("--output {name}= needs the name of a file, in UTF-8");
            return Err(clap::Error::raw(ErrorKind::ValueValidation, message).with_cmd(command));
        }
        Ok(text.into_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(OutputParser::FORMATS.into_iter().map(PossibleValue::new)))
    }
}
