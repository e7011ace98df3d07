//! How this program starts itself to check one history in a separate process.
//!
//! The words of the command line remain; these are put before them. The history is given by its path: the content of a
//! directory may change between two listings.

use crate::judge::input::Unmatched;
use crate::output::terminal::Terminal;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::PathBuf;

/// What `histcheck serve` passes to the checks that it starts: its own process, with which they end.
pub(crate) const ONLY_WHILE: &str = "only-while";

/// What such a process receives.
#[derive(Clone, Debug)]
pub(crate) struct ChildJob {
    /// The history's path, as it is to be called.
    pub(crate) path: OsString,
    /// The folder for it in the directory of reports, if there are several.
    pub(crate) folder: Option<String>,
    /// The process that wants to know. Without it nobody does.
    pub(crate) parent: u32,
}

/// Lets a command line have these words, where histories are judged. Neither help nor completions should.
pub(crate) fn add(grammar: Command) -> Command {
    grammar.args(options()).mut_subcommand("report", |report| report.args(options()))
}

/// Words that nobody else should type.
fn options() -> [Arg; 6] {
    let hidden = |name: &'static str| Arg::new(name).long(name).hide(true);
    [
        hidden("only-input").value_parser(value_parser!(OsString)).requires("only-for"),
        hidden("only-folder"),
        // Read before the grammar is known: see `plugins`.
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

    /// The words that say so, to be put before all others.
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

    /// Ends this process when the one that started it has ended, for whatever reason.
    pub(crate) fn end_with_parent(&self) {
        end_with(self.parent);
    }
}

/// Ends this process with the server that started it, if one did; a process that this one starts for a history ends
/// with this one.
pub(crate) fn end_with_server(matches: &ArgMatches) {
    if let Some(server) = matches.get_one::<u32>(ONLY_WHILE)
        && !matches.contains_id("only-input")
    {
        end_with(*server);
    }
}

/// The beginning of a line on standard error that is for the parent process and not for people: no diagnostic has a
/// NUL.
const UNMATCHED: &[u8] = b"\0unmatched ";

/// Passes the names for clients that the history does not have to the parent process.
pub(crate) fn pass_unmatched(unmatched: &Unmatched) {
    let Some(names) = unmatched.names() else { return };
    // Names are JSON, which has no end of a line in it.
    let names = serde_json::to_vec(&names).unwrap_or_default();
    let _ = io::stderr().write_all(&[UNMATCHED, &names, b"\n"].concat());
}

/// Takes these names, which come last, out of what the process of a history wrote; nothing if it passed none.
pub(crate) fn take_unmatched(stderr: &mut Vec<u8>) -> Option<Vec<String>> {
    let at = stderr.windows(UNMATCHED.len()).rposition(|text| text == UNMATCHED)?;
    let line = stderr.split_off(at);
    serde_json::from_slice(&line[UNMATCHED.len()..]).ok()
}

/// Ends this process when that one, which started it, has ended.
#[cfg(unix)]
pub(crate) fn end_with(parent: u32) {
    const LOOK: std::time::Duration = std::time::Duration::from_millis(50);
    // Without this thread the process ends when its work does.
    let _ = std::thread::Builder::new().spawn(move || {
        while std::os::unix::process::parent_id() == parent {
            std::thread::sleep(LOOK);
        }
        std::process::exit(130);
    });
}

/// Elsewhere nobody says which process that is.
#[cfg(not(unix))]
pub(crate) fn end_with(_: u32) {}
