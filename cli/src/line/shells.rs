//! `histcheck completions`: scripts with which shells complete command lines.

use crate::output::exit::{self, Exit};
use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use std::io::{self, Write as _};

const AFTER: &str = "\
The completions do not include checkers of plugins.

Examples:
  histcheck completions bash > ~/.local/share/bash-completion/completions/histcheck
  histcheck completions zsh > ~/.zfunc/_histcheck      (a directory of $fpath)
  histcheck completions fish > ~/.config/fish/completions/histcheck.fish";

pub(crate) fn command() -> Command {
    Command::new("completions")
        .about("Print shell completions")
        .after_help(AFTER)
        .arg(Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell)))
}

/// The shell on the command line.
pub(crate) fn of(matches: &ArgMatches) -> Shell {
    // The argument is required, so the default is never used.
    matches.get_one("shell").copied().unwrap_or(Shell::Bash)
}

/// Fixes the fish script of `clap_complete`: it parses the text before the cursor, which fails if an option there still
/// needs its value. It then treats the text as a subcommand, and offers no values.
fn waiting_options(text: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(text).replacen("    or return\n", "    or return 0\n", 1).into_bytes()
}

pub(crate) fn run(shell: Shell, mut grammar: Command) -> Exit {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut grammar, "histcheck", &mut text);
    if shell == Shell::Fish {
        text = waiting_options(&text);
    }
    let mut out = io::stdout().lock();
    match out.write_all(&text).and_then(|()| out.flush()) {
        Ok(()) => Exit::OK,
        Err(error) => exit::stopped(&error),
    }
}
