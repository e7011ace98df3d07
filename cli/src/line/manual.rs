//! `histcheck man`: manual pages, generated from the texts of the help.

use crate::line::common;
use crate::output::diagnose;
use crate::output::exit::{self, Exit};
use clap::builder::PossibleValue;
use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

pub(crate) fn command() -> Command {
    Command::new("man")
        .about("Print or write manual pages")
        .after_help("Example:\n  histcheck man -d ~/.local/share/man/man1 && man histcheck")
        .arg(common::directory("Directory for a page per command [default: print the main page]"))
}

pub(crate) fn run(directory: Option<&Path>, mut command: Command) -> Exit {
    command.build();
    let command = without_help(command);
    let Some(directory) = directory else {
        let mut out = io::stdout().lock();
        let written = page(&command).and_then(|page| out.write_all(&page.text)).and_then(|()| out.flush());
        return written.map_or_else(|error| exit::stopped(&error), |()| Exit::OK);
    };
    let mut pages = Vec::new();
    let written = collect(&command, &mut pages)
        .and_then(|()| fs::create_dir_all(directory))
        .and_then(|()| pages.iter().try_for_each(|page| fs::write(directory.join(&page.name), &page.text)));
    if let Err(error) = written {
        diagnose::error(&format!("cannot write manual pages into {}: {error}", directory.display()));
        return Exit::FAILED;
    }
    Exit::OK
}

/// The width of lines that are not filled, which leaves some margin on a terminal of 80 columns.
const WIDTH: usize = 73;
/// Lines that are at least this long are paragraphs.
const PARAGRAPH_MIN: usize = 100;

struct Page {
    name: String,
    text: Vec<u8>,
}

/// The command without its `help` subcommand, whose pages would repeat the others.
fn without_help(command: Command) -> Command {
    command.mut_subcommands(|command| match command.get_name() {
        "help" => command.hide(true),
        _ => without_help(command),
    })
}

fn collect(command: &Command, pages: &mut Vec<Page>) -> io::Result<()> {
    pages.push(page(command)?);
    command.get_subcommands().filter(|command| !command.is_hide_set()).try_for_each(|command| collect(command, pages))
}

/// An option with its values in one line, unless a value has a description.
fn inline(arg: Arg) -> Arg {
    let values: Vec<PossibleValue> =
        arg.get_possible_values().into_iter().filter(|value| !value.is_hide_set()).collect();
    if arg.is_hide_possible_values_set() || values.is_empty() || values.iter().any(|value| value.get_help().is_some()) {
        return arg;
    }
    let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    arg.hide_possible_values(true).help(format!("{help} [possible values: {}]", names.join(", ")))
}

fn page(command: &Command) -> io::Result<Page> {
    // `clap_mangen` fills lines, which would turn examples and tables into paragraphs.
    let after = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
    let version = env!("CARGO_PKG_VERSION");
    let man = Man::new(command.clone().mut_args(inline)).source(format!("histcheck {version}")).manual("histcheck");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    if command.get_arguments().any(|arg| !arg.is_hide_set()) {
        man.render_options_section(&mut text)?;
    }
    if command.get_subcommands().next().is_some() {
        man.render_subcommands_section(&mut text)?;
    }
    if let Some(after) = after {
        let mut roff = Roff::new();
        roff.control("SH", ["MORE"]).control("nf", []);
        for line in after.lines() {
            let indent = &line[..line.len() - line.trim_start().len()];
            let options = textwrap::Options::new(WIDTH).initial_indent(indent).subsequent_indent(indent);
            // Commands stay on one line; paragraphs are wrapped.
            let is_paragraph = line.len() > PARAGRAPH_MIN;
            let parts = if is_paragraph { textwrap::wrap(line.trim_start(), options) } else { vec![line.into()] };
            for part in parts {
                roff.text([roman(part.into_owned())]);
            }
        }
        roff.control("fi", []);
        roff.to_writer(&mut text)?;
    }
    Ok(Page { name: man.get_filename(), text })
}
