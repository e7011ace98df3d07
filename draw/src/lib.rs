//! Pictures of the results of checkers.
//!
//! Checkers return the content of pictures as data: a [`Figure`], a [`Witness`](history_core::Witness) with steps, the
//! levels of [`About`](history_core::About). This crate draws it. [`draw`] draws any figure.
//!
//! Every picture and page is self-contained: no external script, font or other file; they follow the reader's choice of
//! light or dark mode. Equal data gives equal bytes. Texts may contain anything: [`text`] makes them safe.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod bands;
pub mod graph;
pub mod lattice;
mod log;
pub mod plot;
pub mod reads;
pub mod text;
pub mod timeline;

use graph::PlotOptions;
use history_core::Report;
use history_core::figure::{Content, Figure};
use plot::Performance;
use timeline::{PageOptions, Timeline};

/// The maximum sizes of drawings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum number of bytes of a picture.
    pub plot_bytes_max: usize,
    /// The maximum number of bytes of a timeline's page.
    pub timeline_bytes_max: usize,
}

impl Default for Limits {
    /// 65,536 bytes for a picture, and 32 MiB for a timeline.
    fn default() -> Limits {
        let plots = PlotOptions::default().max_plot_bytes;
        Limits { plot_bytes_max: plots, timeline_bytes_max: PageOptions::default().bytes_max }
    }
}

/// A figure as a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawing {
    /// The figure's name with an extension: `"sccs/0.svg"`; `"sccs/0.txt"` if a sentence replaces the picture.
    pub path: String,
    /// The content of the file.
    pub content: String,
}

/// Draws a figure. A sentence replaces one that is too large.
///
/// ```
/// use histcheck_draw::{Limits, draw};
/// use history_core::figure::{Content, Figure};
///
/// let content = Content::Graph { title: "component #0".into(), ops: Vec::new(), steps: Vec::new() };
/// let drawing = draw(&Figure { name: "sccs/0".into(), content }, &Limits::default());
/// assert_eq!(drawing.path, "sccs/0.svg");
/// assert!(drawing.content.starts_with("<svg "));
/// ```
pub fn draw(figure: &Figure, limits: &Limits) -> Drawing {
    drawn(figure, limits, &Performance::default())
}

fn drawn(figure: &Figure, limits: &Limits, run: &Performance) -> Drawing {
    let faults = || run.bands().into_iter().filter(|band| band.lane.is_none()).collect();
    let plot =
        |title: &str| PlotOptions { title: title.to_owned(), max_plot_bytes: limits.plot_bytes_max, faults: faults() };
    let (extension, drawn) = match &figure.content {
        Content::Graph { title, ops, steps } => {
            ("svg", graph::svg(ops, steps, &plot(title)).map_err(|error| error.to_string()))
        }
        Content::Reads { title, key, reads } => ("html", Ok(reads::html(key, reads, &plot(title)))),
        Content::Timeline(timeline) => {
            let options = PageOptions { bytes_max: limits.timeline_bytes_max };
            ("html", timeline::html(timeline, &options).map_err(|error| error.to_string()))
        }
        Content::Series(series) => match plot::series::range(series) {
            Some(_) => ("svg", Ok(plot::draw_series(series, run))),
            None => ("txt", Err("There is nothing to plot: no op has a time.".to_owned())),
        },
        Content::Log(part) => ("svg", Ok(log::svg(part))),
        Content::TooLarge(sentence) => ("txt", Err(sentence.clone())),
        _ => ("txt", Err("This version cannot draw this figure.".to_owned())),
    };
    let name = &figure.name;
    match drawn {
        Ok(content) => Drawing { path: format!("{name}.{extension}"), content },
        Err(why) => Drawing { path: format!("{name}.txt"), content: format!("{why}\n") },
    }
}

/// Draws all figures of a report, and removes them from it; if none of them shows transactions or operations, also the
/// cycles among its witnesses, as `TYPE/0.svg`. The faults and annotations of the run are drawn over timelines, and
/// transactions name the faults during which they completed; numbers over time are drawn from the first time of the run
/// to the last. Timelines of several keys have one more page, `timeline-by-key.html`, with a lane for each key.
pub fn draw_all(report: &mut Report, limits: &Limits, run: &Performance) -> Vec<Drawing> {
    let mut figures = report.take_figures();
    if figures.iter().all(|figure| matches!(figure.content, Content::Series(_) | Content::Log(_))) {
        figures.extend(cycles(report, ""));
    }
    let timelines: Vec<&Timeline> = figures
        .iter()
        .filter_map(|figure| match &figure.content {
            Content::Timeline(timeline) => Some(&**timeline),
            _ => None,
        })
        .collect();
    if let Some(timeline) = timeline::by_key(&timelines) {
        figures.push(Figure { name: "timeline-by-key".to_owned(), content: Content::Timeline(Box::new(timeline)) });
    }
    figures
        .iter_mut()
        .map(|figure| {
            if let Content::Timeline(timeline) = &mut figure.content {
                timeline::lay_over(timeline, &run.bands());
            }
            drawn(figure, limits, run)
        })
        .collect()
}

fn cycles(report: &Report, folder: &str) -> Vec<Figure> {
    let mut figures = Vec::new();
    for anomaly in &report.anomalies {
        let witnesses = anomaly.witnesses.iter().enumerate();
        for (at, witness) in witnesses.filter(|(_, witness)| !witness.steps.is_empty()) {
            let figure = Figure::of_cycle(&anomaly.name, at, witness);
            figures.push(Figure { name: format!("{folder}{}", figure.name), ..figure });
        }
    }
    for one in &report.checkers {
        figures.extend(cycles(one, &format!("{folder}{}/", one.checker.replace('/', "_"))));
    }
    figures
}

/// Includes the README, so that its example runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
