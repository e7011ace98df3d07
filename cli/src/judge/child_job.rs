//! Hidden options with which this program starts itself to check one history in a separate process.
//!
//! The child has the same command line, with these options before it. The history is given by its path, because the
//! content of a directory may change between two listings.

use crate::judge::input::Unmatched;
use crate::output::terminal::Terminal;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::PathBuf;

/// The name of the option with which `histcheck serve` passes its process id to the checks that it starts. They end
/// with that process.
pub(crate) const ONLY_WHILE: &str = "only-while";

/// The data that a child process receives.
#[derive(Clone, Debug)]
pub(crate) struct ChildJob {
    /// The path of the history, as it is shown.
    pub(crate) path: OsString,
    /// The history's folder in the directory of reports, if there are several histories.
    pub(crate) folder: Option<String>,
    /// The id of the parent process. The child ends with it.
    pub(crate) parent: u32,
}

/// Adds the hidden options to the commands that check histories. They do not appear in help or completions.
pub(crate) fn add(grammar: Command) -> Command {
    grammar.args(options()).mut_subcommand("report", |report| report.args(options()))
}

/// The hidden options. Users should not pass them.
fn options() -> [Arg; 6] {
    let hidden = |name: &'static str| Arg::new(name).long(name).hide(true);
    [
        hidden("only-input").value_parser(value_parser!(OsString)).requires("only-for"),
        hidden("only-folder"),
        // Read before the grammar is complete: see `plugins`.
        hidden("only-without").value_parser(value_parser!(OsString)).action(ArgAction::Append),
        hidden("only-for").value_parser(value_parser!(u32)),
        hidden("only-terminal"),
        hidden(ONLY_WHILE).value_parser(value_parser!(u32)),
    ]
}

impl ChildJob {
    pub(crate) fn from_matches(matches: &ArgMatches) -> Option<ChildJob> {
        let path = matches.try_get_one::<OsString>("only-input").ok().flatten()?;
        let letters = matches.get_one::<String>("only-terminal").map_or("", String::as_str);
        Terminal::from_letters(letters).stand_in();
        Some(ChildJob {
            path: path.clone(),
            folder: matches.get_one::<String>("only-folder").cloned(),
            parent: matches.get_one::<u32>("only-for").copied()?,
        })
    }

    /// The options for a child process, which come before all others.
    pub(crate) fn words(path: &OsStr, folder: Option<&str>, without: &[PathBuf]) -> Vec<OsString> {
        let mut input = OsString::from("--only-input=");
        input.push(path);
        let mut words = vec![
            input,
            format!("--only-for={}", std::process::id()).into(),
            format!("--only-terminal={}", Terminal::get().letters()).into(),
        ];
        words.extend(without.iter().map(|plugin| {
            let mut word = OsString::from("--only-without=");
            word.push(plugin);
            word
        }));
        words.extend(folder.map(|folder| format!("--only-folder={folder}").into()));
        words
    }

    /// Ends this process when its parent has ended, for any reason.
    pub(crate) fn end_with_parent(&self) {
        end_with(self.parent);
    }
}

/// Ends this process with the server that started it, if a server did. A child process that checks one history ends
/// with this process instead.
pub(crate) fn end_with_server(matches: &ArgMatches) {
    if let Some(server) = matches.get_one::<u32>(ONLY_WHILE)
        && !matches.contains_id("only-input")
    {
        end_with(*server);
    }
}

/// The prefix of a line on standard error for the parent process. Diagnostics contain no NUL, so no other line begins
/// like this.
const UNMATCHED: &[u8] = b"\0unmatched ";

/// Passes the names for clients that the history does not have to the parent process.
pub(crate) fn pass_unmatched(unmatched: &Unmatched) {
    let Some(names) = unmatched.names() else { return };
    // The names are written as JSON, which contains no newlines.
    let names = serde_json::to_vec(&names).unwrap_or_default();
    let _ = io::stderr().write_all(&[UNMATCHED, &names, b"\n"].concat());
}

/// Removes these names from the end of a child's output. Returns `None` if the child passed none.
pub(crate) fn take_unmatched(stderr: &mut Vec<u8>) -> Option<Vec<String>> {
    let at = stderr.windows(UNMATCHED.len()).rposition(|text| text == UNMATCHED)?;
    let line = stderr.split_off(at);
    serde_json::from_slice(&line[UNMATCHED.len()..]).ok()
}

/// Ends this process when the process with id `parent`, which started it, has ended.
#[cfg(unix)]
pub(crate) fn end_with(parent: u32) {
    const LOOK: std::time::Duration = std::time::Duration::from_millis(50);
    // If the thread cannot be started, the process ends only when its work is done.
    let _ = std::thread::Builder::new().spawn(move || {
        while std::os::unix::process::parent_id() == parent {
            std::thread::sleep(LOOK);
        }
        std::process::exit(130);
    });
}

/// On other systems, the parent process is unknown, so this does nothing.
#[cfg(not(unix))]
pub(crate) fn end_with(_: u32) {}
