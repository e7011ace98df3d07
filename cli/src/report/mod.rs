//! `histcheck report`: writes a self-contained page about each history.
//!
//! A page has the verdict and its meaning, the levels that are ruled out and that may still hold, each anomaly with its
//! picture, its explanation and the operations around it, and statistics of the history. It is generated from the
//! report and from the history, which is read once more. Equal histories and options give equal bytes.

mod facts;
mod gather;
mod meaning;
mod page;
mod severity;
mod statistics;
mod timeline;
mod witness;

use crate::job::{Check, PageOptions, PlotFormat};
use crate::judge::input::Input;
use crate::output::artifacts::Directory;
use crate::output::diagnose;
use crate::output::folder;
use gather::{Around, Gathered};
use histcheck_draw::bands::Annotations;
use histcheck_draw::text;
use histcheck_front::options::CONSISTENCY_LEVELS;
use history_core::cast::Cast as _;
use history_core::{About, HistoryError, Report, Verdict};
use maud::html;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

/// The maximum number of witnesses of one type of anomaly on a page.
const WITNESSES_MAX: usize = 4;

/// The smallest limit on a page, in bytes: enough for the parts that are never omitted.
pub(crate) const BYTES_LEAST: u64 = 16_384;
/// The file name of a history's page.
const PAGE: &str = "report.html";
/// The file name of the page with links to all others.
const INDEX: &str = "index.html";

/// Writes the pages of a run.
pub(crate) struct Pages {
    options: PageOptions,
    annotations: Annotations,
    /// Chooses the folders of histories.
    directory: Directory,
    asked: Option<String>,
    /// The checker's own description.
    about: About,
    inputs: usize,
    listed: Vec<Listed>,
    /// Whether this process writes the page with links to all pages.
    has_index: bool,
}

/// A history that was processed.
struct Listed {
    name: String,
    page: PathBuf,
    /// The data on it; `None` if another process wrote the page.
    said: Option<Said>,
}

/// The data for programs in the head of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Said {
    /// A name from [`Verdict::name`], or `error`.
    verdict: String,
    checker: String,
    /// The types of anomalies.
    found: String,
}

impl Pages {
    /// Creates the pages of a job, if it requests any.
    pub(crate) fn new(job: &Check<'_>) -> Option<Pages> {
        let mut options = job.pages.clone()?;
        let alone = job.child.as_ref().and_then(|child| child.folder.as_ref());
        options.directory.extend(alone);
        let inputs = job.inputs.len();
        Some(Pages {
            directory: Directory::new(options.directory.clone(), inputs, PlotFormat::Svg)
                .below(alone.is_some())
                .without(INDEX),
            options,
            annotations: job.annotations.clone(),
            asked: job.setup.options.text(CONSISTENCY_LEVELS).filter(|text| !text.is_empty()).map(str::to_owned),
            about: job.setup.checker.about(),
            inputs,
            listed: Vec::new(),
            has_index: inputs > 1 && job.child.is_none(),
        })
    }

    /// The directory, which chooses the folders of histories.
    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Omits a history that was not checked.
    ///
    /// # Errors
    ///
    /// If it was the last one, and the page with links to all others cannot be written.
    pub(crate) fn skip(&mut self, input: &Input) -> Result<(), String> {
        self.directory.pass_over(input);
        self.inputs -= 1;
        self.end()
    }

    /// Reserves a page for a child process.
    pub(crate) fn pass_over(&mut self, input: &Input) -> Result<(), String> {
        let page = self.directory.folder_of(input).join(PAGE);
        self.listed.push(Listed { name: input.place().into_owned(), page, said: None });
        self.end()
    }

    /// Writes the page of a history.
    ///
    /// # Errors
    ///
    /// If it cannot be written; returns the reason.
    pub(crate) fn write(&mut self, input: &Input, judged: Result<&Report, &HistoryError>) -> Result<(), String> {
        let sorted = judged.map(|report| severity::worst_first(report, &self.about));
        let judged = sorted.as_ref().map_err(|error| *error);
        let mut gathered = Gathered::new(self.annotations.clone());
        // An error in the history was reported when it was checked. The part that can be read gives statistics.
        let read = gathered.read(input);
        let unread = match (&read, judged) {
            (Err(error), Ok(_)) => Some(format!("The history could not be read again: {error}")),
            (Err(_), Err(_)) => Some("The numbers cover the part before the error.".to_owned()),
            _ => None,
        };
        let around = around(input, judged, &gathered);
        let name = input.place();
        let (asked, about) = (self.asked.as_deref(), &self.about);
        let facts = facts::Facts { name: &name, judged, asked, about, gathered: &gathered, unread, around };
        let page = page::write(&facts, self.options.bytes_max);
        let path = self.directory.own_folder_of(input, PAGE)?.join(PAGE);
        folder::put(&path, page.html.as_bytes())?;
        if page.left_out > 0 {
            let what = text::count(page.left_out, "part", "parts");
            let limit = self.options.bytes_max;
            diagnose::hint(&name, &format!("note: {what} omitted: the page is limited to {limit} bytes"));
        }
        diagnose::hint(&name, &format!("report: {}", path.display()));
        let said = match judged {
            Ok(report) => Said {
                verdict: report.verdict.name().to_owned(),
                checker: report.checker.to_string(),
                found: severity::found(report),
            },
            Err(_) => Said { verdict: "error".to_owned(), ..Said::default() },
        };
        self.listed.push(Listed { name: name.into_owned(), page: path, said: Some(said) });
        self.end()
    }

    /// Writes the page with links to all others, once all are there.
    fn end(&self) -> Result<(), String> {
        if !self.has_index || self.listed.len() < self.inputs {
            return Ok(());
        }
        let path = self.options.directory.join(INDEX);
        folder::put(&path, self.index().as_bytes())?;
        diagnose::note(&format!("all reports: {}", path.display()));
        Ok(())
    }

    fn index(&self) -> String {
        let said: Vec<(&Listed, Said)> = self.listed.iter().map(|listed| (listed, listed.said())).collect();
        let rows: Vec<(&Listed, &Said, Option<Verdict>)> =
            said.iter().map(|(listed, said)| (*listed, said, said.verdict())).collect();
        let count = |wanted: Option<Verdict>| rows.iter().filter(|(.., verdict)| *verdict == wanted).count().to_u64();
        let all = [Some(Verdict::Invalid), Some(Verdict::Unknown), None, Some(Verdict::Valid)];
        let counts: Vec<String> = all
            .into_iter()
            .filter(|verdict| count(*verdict) > 0)
            .map(|verdict| format!("{} {}", text::grouped(count(verdict)), meaning::badge(verdict).1))
            .collect();
        let link = |listed: &Listed| {
            let relative = listed.page.strip_prefix(&self.options.directory).unwrap_or(&listed.page);
            relative.iter().map(|part| encoded(&part.to_string_lossy())).collect::<Vec<_>>().join("/")
        };
        html! {
            (page::head_of("Histories", [""; 5]))
            header { p.kicker { "histcheck" } h1 { (text::count(self.listed.len().to_u64(), "history", "histories")) } p.verdict { (counts.join(", ")) "." } }
            main {
                div.scroll tabindex="0" role="region" aria-label="Histories" {
                    table {
                        thead { tr { @for title in ["Verdict", "History", "Anomalies", "Checker"] { th scope="col" { (title) } } } }
                        tbody {
                            @for (listed, said, verdict) in &rows {
                                @let (mark, word, class) = meaning::badge(*verdict);
                                tr {
                                    td { span class={ "badge " (class) } { span aria-hidden="true" { (mark) " " } (word) } }
                                    td.what { a href=(link(listed)) { bdi { (text::shown(&listed.name, 300)) } } }
                                    td.what { bdi { (text::shown(&said.found, 600)) } }
                                    td { bdi { (text::shown(&said.checker, 120)) } }
                                }
                            }
                        }
                    }
                }
            }
            (maud::PreEscaped("</body>\n</html>\n"))
        }
        .into_string()
    }
}

impl Listed {
    /// The data on the history. If another process wrote the page, reads it from the head of the page.
    fn said(&self) -> Said {
        const HEAD_BYTES: u64 = 8 * 1024;
        let read = || {
            // A page below a symbolic link does not belong to this program.
            self.page.parent().filter(|folder| !folder.is_symlink())?;
            let mut bytes = Vec::new();
            File::open(&self.page).ok()?.take(HEAD_BYTES).read_to_end(&mut bytes).ok()?;
            let head = String::from_utf8_lossy(&bytes).into_owned();
            Some(Said {
                verdict: meta(&head, "verdict")?,
                checker: meta(&head, "checker")?,
                found: meta(&head, "found")?,
            })
        };
        self.said.clone().or_else(read).unwrap_or_default()
    }
}

impl Said {
    fn verdict(&self) -> Option<Verdict> {
        [Verdict::Valid, Verdict::Invalid, Verdict::Unknown].into_iter().find(|verdict| verdict.name() == self.verdict)
    }
}

/// The unescaped content of a named element in the head of a page.
fn meta(head: &str, name: &str) -> Option<String> {
    let (_, rest) = head.split_once(&format!("name=\"histcheck-{name}\" content=\""))?;
    let (html, _) = rest.split_once('"')?;
    Some(html.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}

/// Encodes one part of a link's path.
fn encoded(part: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    part.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// The operations around each witness; without witnesses, the beginning of the history.
fn around(input: &Input, judged: Result<&Report, &HistoryError>, gathered: &Gathered) -> Vec<Around> {
    let witnesses = judged.map(gather::witnesses).unwrap_or_default();
    let shown: Vec<_> =
        if witnesses.is_empty() { vec![None] } else { witnesses.into_iter().map(Some).collect::<Vec<_>>() };
    let chosen: Vec<Vec<usize>> = shown.iter().map(|witness| gathered.choose(*witness)).collect();
    let wanted: BTreeSet<u64> = chosen.iter().flat_map(|chosen| gathered.indices_of(chosen)).collect();
    let Ok(halves) = gather::look_up(input, &wanted) else { return Vec::new() };
    chosen.iter().zip(&shown).map(|(chosen, witness)| gathered.around(chosen, *witness, &halves)).collect()
}
