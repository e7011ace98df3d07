//! Figures as data between host and plugin.

use super::forms::{Edn, OpForm, StepForm, is_inside, named};
use history_core::figure::{Content, Figure, KeyRead, LogPart, Series, Timeline};
use history_core::{Client, OpKind, Participants};
use serde::{Deserialize, Serialize};

/// The maximum number of figures in one report.
const FIGURES_MAX: usize = 1000;

/// The form of a [`Figure`].
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub(super) struct FigureForm {
    name: String,
    content: ContentForm,
}

#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum ContentForm {
    Graph {
        #[serde(default)]
        title: String,
        ops: Vec<OpForm>,
        steps: Vec<StepForm>,
    },
    Reads {
        #[serde(default)]
        title: String,
        key: Edn,
        reads: Vec<ReadForm>,
    },
    Timeline(Box<Timeline>),
    Series(Box<Series>),
    Log(Box<LogPart>),
    TooLarge(String),
}

#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
struct ReadForm {
    index: u64,
    #[serde(default)]
    process: Option<Client>,
    kind: OpKind,
    list: Vec<Edn>,
}

/// Converts figures to JSON. Figures of a kind without a form are omitted.
pub(super) fn forms(figures: Vec<Figure>) -> Vec<serde_json::Value> {
    figures.into_iter().filter_map(form).filter_map(|form| serde_json::to_value(form).ok()).collect()
}

fn form(figure: Figure) -> Option<FigureForm> {
    let content = match figure.content {
        Content::Graph { title, ops, steps } => ContentForm::Graph {
            title,
            ops: ops.into_iter().map(OpForm::from).collect(),
            steps: steps.into_iter().map(StepForm::from).collect(),
        },
        Content::Reads { title, key, reads } => {
            let read = |read: KeyRead| {
                let KeyRead { index, process, kind, list } = read;
                ReadForm { index, process, kind, list: list.iter().map(Edn::of).collect() }
            };
            ContentForm::Reads { title, key: Edn::of(&key), reads: reads.into_iter().map(read).collect() }
        }
        Content::Timeline(timeline) => ContentForm::Timeline(timeline),
        Content::Series(series) => ContentForm::Series(series),
        Content::Log(part) => ContentForm::Log(part),
        Content::TooLarge(sentence) => ContentForm::TooLarge(sentence),
        _ => return None,
    };
    Some(FigureForm { name: figure.name, content })
}

/// Converts received figures. Kinds that only a newer plugin has are ignored.
///
/// # Errors
///
/// If a figure is invalid.
pub(super) fn figures(forms: Vec<serde_json::Value>, participants: &Participants) -> Result<Vec<Figure>, String> {
    if forms.len() > FIGURES_MAX {
        return Err(format!("more than {FIGURES_MAX} figures"));
    }
    let known = forms.into_iter().filter_map(|form| serde_json::from_value::<FigureForm>(form).ok());
    known.map(|form| form.figure(participants)).collect()
}

impl FigureForm {
    fn figure(self, participants: &Participants) -> Result<Figure, String> {
        let name = self.name;
        if !is_inside(&name) {
            return Err(format!("the path {name:?} leaves the directory of figures"));
        }
        let content = match self.content {
            ContentForm::Graph { title, ops, steps } => {
                let ops = ops.into_iter().map(|op| op.op(participants)).collect::<Result<_, _>>()?;
                let steps = steps.into_iter().map(StepForm::step).collect::<Result<_, _>>()?;
                Content::Graph { title, ops, steps }
            }
            ContentForm::Reads { title, key, reads } => {
                let read = |read: ReadForm| {
                    let ReadForm { index, process, kind, list } = read;
                    let process = process.map(|client| named(client, participants));
                    let list = list.iter().map(Edn::datum).collect::<Result<_, String>>()?;
                    Ok::<_, String>(KeyRead { index, process, kind, list })
                };
                let reads = reads.into_iter().map(read).collect::<Result<_, _>>()?;
                Content::Reads { title, key: key.datum()?, reads }
            }
            ContentForm::Timeline(timeline) => Content::Timeline(timeline),
            ContentForm::Series(series) => Content::Series(series),
            ContentForm::Log(part) => Content::Log(part),
            ContentForm::TooLarge(sentence) => Content::TooLarge(sentence),
        };
        Ok(Figure { name, content })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::{Datum, Step, WitnessOp};

    fn sample() -> Vec<Figure> {
        let op = |name: &str, index| WitnessOp {
            name: name.into(),
            index,
            process: Some(1.into()),
            kind: OpKind::Ok,
            time_ns: None,
            value: Datum::keyword("x"),
        };
        let step = Step::new(0, 1, "ww", "so").with_versions(Some(Datum::keyword("x")), None, None);
        let read = KeyRead { index: 3, process: None, kind: OpKind::Ok, list: vec![Datum::Int(1)] };
        let contents = [
            Content::Graph { title: "t".into(), ops: vec![op("T1", 1), op("T2", 3)], steps: vec![step] },
            Content::Reads { title: String::new(), key: Datum::keyword("k"), reads: vec![read] },
            Content::Timeline(Box::new(Timeline { title: "t".into(), ..Timeline::default() })),
            Content::Series(Box::new(Series { title: "t".into(), ..Series::default() })),
            Content::Log(Box::new(LogPart { title: "t".into(), ..LogPart::default() })),
            Content::TooLarge("Too much.".into()),
        ];
        contents.into_iter().map(|content| Figure { name: "sccs/0".into(), content }).collect()
    }

    #[test]
    fn all_figures_cross() {
        assert_eq!(figures(forms(sample()), &Participants::new()), Ok(sample()));
    }

    #[test]
    fn what_only_a_newer_plugin_knows_is_passed_over_and_what_leads_out_is_refused() {
        let newer = serde_json::json!({ "name": "x", "content": { "hologram": 1 } });
        assert_eq!(figures(vec![newer], &Participants::new()), Ok(Vec::new()));
        let out = serde_json::json!({ "name": "../x", "content": { "too-large": "no" } });
        assert!(figures(vec![out], &Participants::new()).unwrap_err().contains("leaves the directory"));
    }
}
