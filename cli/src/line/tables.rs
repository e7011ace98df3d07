//! Lists of what options accept: checkers, anomalies, consistency levels.

use crate::job::OutputFormat;
use crate::output::exit::{self, Exit};
use crate::output::formats::wrapped;
use histcheck_front::{Registry, result};
use history_core::visible;
use serde::Serialize;
#[cfg(feature = "elle")]
use std::borrow::Cow;
use std::io::{self, BufWriter, Write};

/// A row of a table: a name, a sentence, and the relations to other names. Empty parts are not shown.
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
    /// Whether the level is decided; `because` has the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<&'a str>,
    /// The checkers that know it, if there are others for the same ops that do not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    checkers: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<Vec<&'a str>>,
    /// The plugin that provides it.
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
            checkers: Vec::new(),
            options: None,
            from: None,
        }
    }
}

/// The values of -m.
pub(crate) fn models(checkers: &Registry, format: OutputFormat) -> Exit {
    let rows = checkers.iter().zip(checkers.origins()).map(|(checker, from)| Row {
        options: Some(checker.options().iter().map(|spec| spec.name).collect()),
        from: Some(from),
        ..Row::new(checker.name(), checker.summary())
    });
    print(rows, format)
}

/// The values of -a.
#[cfg(feature = "elle")]
pub(crate) fn anomalies(format: OutputFormat) -> Exit {
    let anomalies = Registry::built_in().anomalies();
    let rows = anomalies
        .iter()
        .map(|anomaly| Row { implies: Some(names(&anomaly.implies)), ..Row::new(&anomaly.name, &anomaly.summary) });
    print(rows, format)
}

/// The values of -c.
#[cfg(feature = "elle")]
pub(crate) fn consistency_levels(format: OutputFormat) -> Exit {
    let checkers = Registry::built_in();
    let (levels, all) = (checkers.levels(), checkers.knowing("serializable"));
    let rows = levels.iter().map(|level| Row {
        checkers: Some(checkers.knowing(&level.name)).filter(|some| some.len() < all.len()).unwrap_or_default(),
        aliases: names(&level.aliases),
        implies: Some(names(&level.implies)),
        forbids: Some(names(&level.forbids)),
        decided: Some(level.is_decided),
        because: Some(&level.because),
        ..Row::new(&level.name, &level.summary)
    });
    print(rows, format)
}

#[cfg(feature = "elle")]
fn names<'a>(names: &'a [Cow<'static, str>]) -> Vec<&'a str> {
    names.iter().map(|name| &**name).collect()
}

fn print<'a>(rows: impl Iterator<Item = Row<'a>>, format: OutputFormat) -> Exit {
    let mut out = BufWriter::new(io::stdout());
    let written = rows.enumerate().try_for_each(|(i, row)| match format.notation() {
        None => write_text(&mut out, &row, i == 0),
        Some(notation) => writeln!(out, "{}", result::row(notation, &row)?),
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
        ("checkers", Some(&row.checkers)),
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
