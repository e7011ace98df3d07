//! The options of `histcheck serve`.

use super::command::Serve;
use crate::judge::program;
use crate::line::usage::UsageError;
use crate::line::{common, units};
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use histcheck_front::Registry;
use histcheck_serve::{Config, Judge, Suggest, Suggested, Token};
use history_core::{Limits, Reader};
use std::ffi::OsString;
use std::io::Read;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

const USAGE: &str = "histcheck serve [OPTIONS] [DIR]";

const AFTER: &str = "\
Lists the runs below DIR with their verdicts, and shows each with its report, pictures and files, at an address for your browser. A run is a \
directory of Jepsen's store, of `histcheck live -d`, `histcheck report -d` or `histcheck -d`, or a history file (*.edn, *.json, *.jsonl or \
*.ndjson, also with .gz or .zst). New runs appear without reloading. Ends with an interrupt (Ctrl-C).

A history that is dropped on the page is checked on this machine, within the limits of --timeout and --max-memory, and becomes a run in \
DIR/dropped. Runs can be checked again with another checker. --read-only switches this off.

Prints its address on standard output. Addresses of views can be shared; `curl ADDRESSapi/runs` prints the list as JSON. Serves no hidden \
files, no links, and nothing outside of DIR. Keeps an index in DIR/.histcheck-serve, which may be deleted; with --read-only it writes nothing.

Only this machine can connect, unless --listen names another address. That needs --token; the browser prompts for it once, and \
programs send it as the header `Authorization: Bearer TOKEN`. The connection is not encrypted: on a network that others can listen \
to, use a tunnel (`ssh -L 8090:localhost:8090 HOST`) instead of --listen.

Examples:
  histcheck serve store
      The runs in Jepsen's store, at http://127.0.0.1:8090/.
  histcheck serve --open
      The runs in this directory, in your browser.
  histcheck serve --listen 127.0.0.1:0 store
      At any free port.
  histcheck serve --listen 0.0.0.0:8090 --token @token.txt --host ci.example store
      For other machines, as http://ci.example:8090/. The token is in a file, so that no list of processes shows it.";

/// The grammar of the command.
pub(crate) fn command() -> Command {
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    Command::new("serve")
        .about("Show runs, verdicts and reports in the browser")
        .override_usage(USAGE)
        .after_help(AFTER)
        .max_term_width(100)
        .arg(
            Arg::new("directory")
                .value_name("DIR")
                .value_hint(ValueHint::DirPath)
                .value_parser(value_parser!(OsString))
                .default_value(".")
                .help("Directory with runs"),
        )
        .arg(
            Arg::new("listen")
                .long("listen")
                .value_name("ADDRESS")
                .value_parser(common::listen)
                .default_value("127.0.0.1:8090")
                .help("Address to listen at, ADDRESS:PORT (port 0 = any free port)"),
        )
        .arg(flag("open", "Open the address in your browser"))
        .arg(
            Arg::new("token")
                .long("token")
                .value_name("TOKEN")
                .value_parser(value_parser!(OsString))
                .help("Require this token, of 16 to 256 characters; @FILE reads it from a file"),
        )
        .arg(
            Arg::new("host")
                .long("host")
                .value_name("NAME")
                .action(ArgAction::Append)
                .help("Additional host name of this server, besides localhost and addresses (may be repeated)"),
        )
        .arg(
            Arg::new("timeout")
                .long("timeout")
                .value_name("TIME")
                .value_parser(units::time)
                .help("Limit the time of a check, in seconds or like 5m; at the limit the verdict is false if a violation was found, else unknown [default: 5m]"),
        )
        .arg(
            Arg::new("max-memory")
                .long("max-memory")
                .value_name("SIZE")
                .value_parser(units::size)
                .help("Limit the memory of a check, in bytes or like 2GB; at the limit the verdict is unknown [default: 4GB]"),
        )
        .arg(flag("read-only", "Write nothing: check no history, and keep no index"))
}

/// Parses the command line.
///
/// # Errors
///
/// Wrong usage.
pub(crate) fn parse(matches: &ArgMatches, checkers: &Registry) -> Result<Serve, UsageError> {
    let directory = matches.get_one::<OsString>("directory").map(PathBuf::from).unwrap_or_default();
    if !directory.is_dir() {
        let message = format!("{} is not a directory", directory.display());
        return Err(UsageError::new(message).tip("pass the directory that contains the runs"));
    }
    let mut config = Config::new(directory);
    if let Some(listen) = matches.get_one::<SocketAddr>("listen") {
        config.listen = *listen;
    }
    config.token = matches.get_one::<OsString>("token").map(token).transpose()?;
    config.hosts = matches.get_many::<String>("host").into_iter().flatten().cloned().collect();
    config.is_read_only = matches.get_flag("read-only");
    config.judge = judge(matches, checkers);
    let tip = "--token @FILE, with at least 16 characters in the file: `openssl rand -hex 16 > FILE` creates one";
    config.check().map_err(|why| UsageError::new(why).tip(tip))?;
    Ok(Serve { config, opens: matches.get_flag("open") })
}

/// The program that checks histories: this one.
fn judge(matches: &ArgMatches, checkers: &Registry) -> Option<Judge> {
    let checkers = checkers.iter().map(|checker| (checker.name().to_owned(), checker.summary().to_owned()));
    let mut judge = Judge::new(program::path().ok()?, checkers.collect());
    judge.suggest = Some(Suggest(Arc::new(suggest)));
    judge.timeout = matches.get_one("timeout").copied().unwrap_or(judge.timeout);
    judge.memory_bytes = matches.get_one("max-memory").copied().unwrap_or(judge.memory_bytes);
    Some(judge)
}

/// The checkers that understand a history. Plugins are not asked, because they run in separate processes.
fn suggest(source: &mut (dyn Read + Send)) -> Result<Vec<Suggested>, String> {
    /// The maximum length of an op in bytes.
    const OP_BYTES_MAX: usize = 4 << 20;
    /// The maximum length of the text in bytes: the compressed text may be much shorter.
    const TEXT_BYTES_MAX: u64 = 64 << 20;
    let limits = Limits {
        op_bytes_max: OP_BYTES_MAX,
        held_bytes_max: TEXT_BYTES_MAX,
        text_bytes_max: TEXT_BYTES_MAX,
        ..Limits::default()
    };
    let reader = Reader::new(source).with_limits(limits).growing();
    let suggested = histcheck_front::suggest(&Registry::built_in(), reader).map_err(|error| {
        let at = error.position.map(|position| format!("{position}: ")).unwrap_or_default();
        format!("{at}{}", error.message)
    })?;
    Ok(suggested.into_iter().map(|one| Suggested { checker: one.name, keyed: one.keyed }).collect())
}

/// The given token, or one from a file.
fn token(given: &OsString) -> Result<Token, UsageError> {
    /// The maximum length of the file in bytes.
    const BYTES_MAX: u64 = 4096;
    let wrong = |why: String| UsageError::new(format!("--token: {why}"));
    let text = given.to_str().ok_or_else(|| wrong("it is not UTF-8".to_owned()))?;
    let Some(path) = text.strip_prefix('@') else { return Token::new(text).map_err(wrong) };
    let read = || {
        use std::io::Read as _;
        let mut text = String::new();
        std::fs::File::open(path)?.take(BYTES_MAX).read_to_string(&mut text).map(|_| text)
    };
    let text = read().map_err(|error| wrong(format!("cannot read {path}: {error}")))?;
    Token::new(text.trim_end_matches(['\r', '\n'])).map_err(wrong)
}
