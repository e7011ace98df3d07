//! Lists of what there is to choose from: checkers, anomalies, models of consistency.

use crate::job::OutputFormat;
use crate::line::registry::Registry;
use crate::tell::exit::{self, Exit};
use crate::tell::output::{self, wrapped};
#[cfg(feature = "elle")]
use check_elle::anomaly::{AnomalySet, AnomalyType};
#[cfg(feature = "elle")]
use check_elle::model::{Model, ModelSet};
use history_core::visible;
use serde::Serialize;
use std::io::{self, BufWriter, Write};

/// A line of a table: a name, a sentence, and how it stands to other names. What is empty is not shown.
#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<&'a str>,
    summary: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    implies: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forbids: Option<Vec<&'a str>>,
    /// Whether it is decided, and why or why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<Vec<&'a str>>,
    /// What brought it along.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
}

impl<'a> Row<'a> {
    fn new(name: &'a str, summary: &'a str) -> Row<'a> {
        let (decided, because) = (None, None);
        Row {
            name,
            aliases: Vec::new(),
            summary,
            implies: None,
            forbids: None,
            decided,
            because,
            options: None,
            from: None,
        }
    }
}

/// What -m takes.
pub(crate) fn models(checkers: &Registry, format: OutputFormat) -> Exit {
    let rows = checkers.iter().zip(checkers.origins()).map(|(checker, from)| Row {
        options: Some(checker.options().iter().map(|spec| spec.name).collect()),
        from: Some(from),
        ..Row::new(checker.name(), checker.summary())
    });
    print(rows, format)
}

/// What -a takes.
#[cfg(feature = "elle")]
pub(crate) fn anomalies(format: OutputFormat) -> Exit {
    let rows = AnomalySet::ALL.iter().map(|anomaly| Row {
        implies: Some(anomaly.implies().map(AnomalyType::name).collect()),
        ..Row::new(anomaly.name(), anomaly.summary())
    });
    print(rows, format)
}

/// What -c takes.
#[cfg(feature = "elle")]
pub(crate) fn consistency_models(format: OutputFormat) -> Exit {
    let rows = ModelSet::ALL.iter().map(|model| Row {
        aliases: model.aliases().to_vec(),
        implies: Some(model.implies().map(Model::name).collect()),
        forbids: Some(model.forbids().map(AnomalyType::name).collect()),
        decided: Some(model.is_decided()),
        because: Some(model.decision()),
        ..Row::new(model.name(), model.summary())
    });
    print(rows, format)
}

fn print<'a>(rows: impl Iterator<Item = Row<'a>>, format: OutputFormat) -> Exit {
    let mut out = BufWriter::new(io::stdout());
    let written = rows.enumerate().try_for_each(|(i, row)| match format {
        OutputFormat::Text => write_text(&mut out, &row, i == 0),
        OutputFormat::Json | OutputFormat::Edn => output::row(&mut out, format, &row),
    });
    match written.and_then(|()| out.flush()) {
        Ok(()) => Exit::OK,
        Err(error) => exit::stopped(&error),
    }
}

fn write_text(out: &mut dyn Write, row: &Row<'_>, first: bool) -> io::Result<()> {
    if !first {
        writeln!(out)?;
    }
    let mut lines = vec![row.summary.to_owned()];
    let lists = [
        ("also called", Some(&row.aliases)),
        ("implies", row.implies.as_ref()),
        ("forbids", row.forbids.as_ref()),
        ("options", row.options.as_ref()),
    ];
    for (word, names) in lists {
        if let Some(names) = names.filter(|names| !names.is_empty()) {
            lines.push(format!("{word}: {}", names.join(", ")));
        }
    }
    if let (Some(decided), Some(because)) = (row.decided, row.because) {
        lines.push(format!("decided: {}, because {because}", if decided { "yes" } else { "no" }));
    }
    if let Some(from) = &row.from {
        lines.push(format!("from: {from}"));
    }
    writeln!(out, "{}", row.name)?;
    for line in lines {
        for part in wrapped(&visible::line(&line)).lines() {
            writeln!(out, "    {part}")?;
        }
    }
    Ok(())
}
