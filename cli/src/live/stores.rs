//! `histcheck live --stores`: the stores, their requirements, and whether they are available here.

use crate::job::OutputFormat;
use crate::output::exit::{self, Exit};
use histcheck_front::result;
use record_live::store::KINDS;
use record_live::{Fault, Kind, Need};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// Lists the stores.
pub(crate) fn list(format: OutputFormat) -> Exit {
    let mut text = String::new();
    for kind in KINDS {
        match format.notation() {
            None => describe(&mut text, kind),
            Some(notation) => match result::row(notation, &row(kind)) {
                Ok(line) => _ = writeln!(text, "{line}"),
                Err(error) => return exit::stopped(&error),
            },
        }
    }
    match io::stdout().lock().write_all(text.as_bytes()) {
        Ok(()) => Exit::OK,
        Err(error) => exit::stopped(&error),
    }
}

fn describe(text: &mut String, kind: &Kind) {
    let option = kind.command.map_or_else(|| kind.name.to_owned(), |(value, _)| format!("--{} {value}", kind.name));
    _ = writeln!(text, "{option}\n    {}", kind.summary);
    _ = writeln!(text, "    workloads: {}", kind.workloads.join(", "));
    let faults: Vec<String> = kind.faults.iter().map(ToString::to_string).collect();
    if !faults.is_empty() {
        _ = writeln!(text, "    faults: {}", faults.join(", "));
    }
    let options: Vec<String> = kind.options.iter().map(|option| format!("--{}", option.name)).collect();
    if !options.is_empty() {
        _ = writeln!(text, "    options: {}", options.join(", "));
    }
    let needs = kind.needs_with_namespaces(&[]);
    _ = writeln!(text, "    {}", state(&needs));
    let with_faults = kind.needs_with_namespaces(kind.faults);
    if with_faults != needs {
        _ = writeln!(text, "    with faults: {}", state(&with_faults));
    }
}

/// Describes whether these programs are installed, and how to install the missing ones.
fn state(needs: &[Need]) -> String {
    let missing = Need::missing(needs);
    let packages = |needs: &[Need]| {
        let mut packages: Vec<&str> = needs.iter().map(|need| need.package).collect();
        packages.dedup();
        packages.join(" ")
    };
    match (needs.is_empty(), missing.is_empty()) {
        (true, _) => "no requirements".to_owned(),
        (false, true) => format!("installed: {}", packages(needs)),
        (false, false) => format!("missing, on Debian: apt-get install {}", packages(&missing)),
    }
}

/// A row of the list, for programs.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Row {
    name: &'static str,
    summary: &'static str,
    workloads: &'static [&'static str],
    faults: Vec<String>,
    options: Vec<OptionRow>,
    needs: Vec<NeedRow>,
    needs_with_faults: Vec<NeedRow>,
    nodes: u32,
    takes_command: bool,
}

#[derive(Serialize)]
struct OptionRow {
    name: &'static str,
    help: &'static str,
    values: &'static [&'static str],
    default: &'static str,
}

#[derive(Serialize)]
struct NeedRow {
    program: &'static str,
    package: &'static str,
    installed: bool,
}

fn row(kind: &Kind) -> Row {
    let needs = |faults: &[Fault]| {
        let row =
            |need: Need| NeedRow { program: need.program, package: need.package, installed: need.find().is_some() };
        kind.needs_with_namespaces(faults).into_iter().map(row).collect()
    };
    let options = kind.options.iter();
    Row {
        name: kind.name,
        summary: kind.summary,
        workloads: kind.workloads,
        faults: kind.faults.iter().map(ToString::to_string).collect(),
        options: options
            .map(|option| OptionRow {
                name: option.name,
                help: option.help,
                values: option.values,
                default: option.default,
            })
            .collect(),
        needs: needs(&[]),
        needs_with_faults: needs(kind.faults),
        nodes: kind.nodes,
        takes_command: kind.command.is_some(),
    }
}
