//! Reports and errors in messages to the first worker, without loss.
//!
//! The JSON of a report is for readers: a keyword becomes a string. So every value of the history in a report is sent
//! as a string that includes its type.

use history_core::keyed_parts::KeyEnd;
use history_core::{Datum, ErrorKind, HistoryError, Position, Report, Snippet};
use serde::{Deserialize, Serialize};

/// A value with its kind.
#[derive(Serialize, Deserialize)]
enum Exact {
    Nil,
    Bool(bool),
    Int(i64),
    Big(String),
    /// The bits of a float, because JSON has no NaN.
    Float(u64),
    Char(char),
    Str(String),
    Keyword(String),
    Symbol(String),
    Vector(Vec<Exact>),
    List(Vec<Exact>),
    Set(Vec<Exact>),
    Map(Vec<(Exact, Exact)>),
    Tagged(String, Box<Exact>),
}

impl From<&Datum> for Exact {
    fn from(datum: &Datum) -> Exact {
        let all = |items: &[Datum]| items.iter().map(Exact::from).collect();
        match datum {
            Datum::Nil => Exact::Nil,
            Datum::Bool(b) => Exact::Bool(*b),
            Datum::Int(i) => Exact::Int(*i),
            Datum::Big(text) => Exact::Big(text.clone()),
            Datum::Float(x) => Exact::Float(x.to_bits()),
            Datum::Char(c) => Exact::Char(*c),
            Datum::Str(text) => Exact::Str(text.clone()),
            Datum::Keyword(name) => Exact::Keyword(name.clone()),
            Datum::Symbol(name) => Exact::Symbol(name.clone()),
            Datum::Vector(items) => Exact::Vector(all(items)),
            Datum::List(items) => Exact::List(all(items)),
            Datum::Set(items) => Exact::Set(all(items)),
            Datum::Map(entries) => Exact::Map(entries.iter().map(|(key, value)| (key.into(), value.into())).collect()),
            Datum::Tagged(tag, value) => Exact::Tagged(tag.clone(), Box::new(Exact::from(&**value))),
        }
    }
}

impl From<Exact> for Datum {
    fn from(exact: Exact) -> Datum {
        let all = |items: Vec<Exact>| items.into_iter().map(Datum::from).collect();
        match exact {
            Exact::Nil => Datum::Nil,
            Exact::Bool(b) => Datum::Bool(b),
            Exact::Int(i) => Datum::Int(i),
            Exact::Big(text) => Datum::Big(text),
            Exact::Float(bits) => Datum::Float(f64::from_bits(bits)),
            Exact::Char(c) => Datum::Char(c),
            Exact::Str(text) => Datum::Str(text),
            Exact::Keyword(name) => Datum::Keyword(name),
            Exact::Symbol(name) => Datum::Symbol(name),
            Exact::Vector(items) => Datum::Vector(all(items)),
            Exact::List(items) => Datum::List(all(items)),
            Exact::Set(items) => Datum::Set(all(items)),
            Exact::Map(entries) => {
                Datum::Map(entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
            }
            Exact::Tagged(tag, value) => Datum::Tagged(tag, Box::new(Datum::from(*value))),
        }
    }
}

/// Encodes a value as a string.
fn sealed(datum: &Datum) -> Datum {
    // All keys of these maps are names.
    Datum::Str(serde_json::to_string(&Exact::from(datum)).unwrap_or_default())
}

/// Decodes a value that [`sealed`] encoded; returns any other unchanged.
fn opened(datum: &Datum) -> Datum {
    let Datum::Str(text) = datum else { return datum.clone() };
    serde_json::from_str::<Exact>(text).map_or_else(|_| datum.clone(), Datum::from)
}

/// Replaces all values of the history in a report.
fn replace(report: &mut Report, with: fn(&Datum) -> Datum) {
    let each = |datum: &mut Datum| *datum = with(datum);
    for witness in report.anomalies.iter_mut().flat_map(|anomaly| &mut anomaly.witnesses) {
        witness.facts.iter_mut().map(|(_, fact)| fact).for_each(each);
        witness.ops.iter_mut().map(|op| &mut op.value).for_each(each);
        for step in &mut witness.steps {
            [&mut step.key, &mut step.value, &mut step.next_value].into_iter().flatten().for_each(each);
        }
    }
    report.keys.iter_mut().map(|key| &mut key.key).for_each(each);
    report.checkers.iter_mut().for_each(|report| replace(report, with));
}

/// A [`KeyEnd`] in a message.
#[derive(Serialize, Deserialize)]
pub(crate) struct SentEnd {
    /// See [`KeyEnd::first`].
    pub(crate) first: u64,
    key: Datum,
    report: Result<Option<SentReport>, SentError>,
}

/// A [`Report`] in a message.
#[derive(Serialize, Deserialize)]
pub(crate) struct SentReport(Report);

impl From<Report> for SentReport {
    fn from(mut report: Report) -> SentReport {
        replace(&mut report, sealed);
        SentReport(report)
    }
}

impl From<SentReport> for Report {
    fn from(sent: SentReport) -> Report {
        let mut report = sent.0;
        replace(&mut report, opened);
        report
    }
}

impl From<KeyEnd> for SentEnd {
    fn from(end: KeyEnd) -> SentEnd {
        let seal = |report: Option<Report>| report.map(SentReport::from);
        SentEnd {
            first: end.first,
            key: sealed(&end.key),
            report: end.report.map(seal).map_err(|error| SentError::from(&error)),
        }
    }
}

impl From<SentEnd> for KeyEnd {
    fn from(sent: SentEnd) -> KeyEnd {
        let open = |report: Option<SentReport>| report.map(Report::from);
        KeyEnd { first: sent.first, key: opened(&sent.key), report: sent.report.map(open).map_err(HistoryError::from) }
    }
}

/// A [`HistoryError`] in a message.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SentError {
    kind: u8,
    message: String,
    expected: Option<String>,
    position: Option<Position>,
    snippet: Option<Snippet>,
}

const KINDS: [ErrorKind; 6] =
    [ErrorKind::Unexpected, ErrorKind::Io, ErrorKind::Syntax, ErrorKind::NotAnOp, ErrorKind::Pairing, ErrorKind::Limit];

impl From<&HistoryError> for SentError {
    fn from(error: &HistoryError) -> SentError {
        let kind = KINDS.iter().position(|kind| *kind == error.kind).unwrap_or_default();
        SentError {
            kind: u8::try_from(kind).unwrap_or_default(),
            message: error.message.clone(),
            expected: error.expected.clone(),
            position: error.position,
            snippet: error.snippet.as_deref().cloned(),
        }
    }
}

impl From<SentError> for HistoryError {
    fn from(sent: SentError) -> HistoryError {
        let kind = KINDS.get(usize::from(sent.kind)).copied().unwrap_or(ErrorKind::Unexpected);
        let mut error = HistoryError::new(kind, sent.message);
        error.expected = sent.expected;
        error.position = sent.position;
        error.snippet = sent.snippet.map(Box::new);
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::{Anomaly, KeyReport, OpKind, Step, Verdict, Witness, WitnessOp};

    fn values() -> Vec<Datum> {
        let names = || ["", "a", "x y", "\u{202e}", "Nil", "{\"Int\":1}", "\"Nil\""].map(str::to_owned);
        let mut all =
            vec![Datum::Nil, Datum::Bool(true), Datum::Int(i64::MIN), Datum::Float(-0.0), Datum::Char('\u{0}')];
        all.push(Datum::Float(f64::INFINITY));
        all.push(Datum::Big("123456789012345678901234567890".to_owned()));
        for name in names() {
            all.push(Datum::Str(name.clone()));
            all.push(Datum::Keyword(name.clone()));
            all.push(Datum::Symbol(name.clone()));
            all.push(Datum::Tagged(name, Box::new(Datum::Keyword("inner".to_owned()))));
        }
        let inner = all.clone();
        all.push(Datum::Vector(inner.clone()));
        all.push(Datum::List(inner.clone()));
        all.push(Datum::Set(inner.clone()));
        all.push(Datum::Map(inner.iter().cloned().zip(inner.iter().rev().cloned()).collect()));
        all
    }

    fn report(value: &Datum) -> Report {
        let mut report = Report::new("some", Verdict::Invalid);
        let op = WitnessOp {
            name: "T1".to_owned(),
            index: 3,
            process: Some(4.into()),
            kind: OpKind::Ok,
            time_ns: Some(5),
            value: value.clone(),
        };
        let step = Step::new(0, 0, "ww", "so").with_versions(Some(value.clone()), Some(value.clone()), None);
        let witness =
            Witness::new(vec![op], "text").with_steps(vec![step]).with_facts(vec![("k".into(), value.clone())]);
        report.anomalies.push(Anomaly { name: "bad".into(), count: 2, witnesses: vec![witness] });
        let (key, notes) = (value.clone(), vec!["note".to_owned()]);
        report.keys.push(KeyReport { key, verdict: Verdict::Unknown, anomaly_types: vec!["bad".into()], notes });
        report.counts.push(("z-count".into(), 1));
        report.counts.push(("a-count".into(), 2));
        report.next.push(history_core::NextStep::option("timeout", "more time"));
        let inner = report.clone();
        report.checkers.push(inner);
        report
    }

    #[test]
    fn reports_arrive_as_they_were_sent() {
        for value in values() {
            let end = KeyEnd { first: 7, key: value.clone(), report: Ok(Some(report(&value))) };
            let bytes = serde_json::to_vec(&SentEnd::from(end)).unwrap();
            let arrived = KeyEnd::from(serde_json::from_slice::<SentEnd>(&bytes).unwrap());
            assert_eq!((arrived.first, &arrived.key), (7, &value));
            assert_eq!(arrived.report, Ok(Some(report(&value))), "{value:?}");
        }
    }

    #[test]
    fn errors_arrive_as_they_were_sent() {
        for kind in KINDS {
            let mut error = HistoryError::new(kind, "wrong").expected("right");
            error.position = Some(Position { offset: 1, line: 2, column: 3 });
            error.snippet = Some(Box::new(Snippet { text: "the text".to_owned(), caret: 2 }));
            let bytes = serde_json::to_vec(&SentError::from(&error)).unwrap();
            assert_eq!(HistoryError::from(serde_json::from_slice::<SentError>(&bytes).unwrap()), error);
        }
        let end = KeyEnd { first: 0, key: Datum::Nil, report: Ok(None) };
        let bytes = serde_json::to_vec(&SentEnd::from(end)).unwrap();
        assert_eq!(KeyEnd::from(serde_json::from_slice::<SentEnd>(&bytes).unwrap()).report, Ok(None));
    }
}
