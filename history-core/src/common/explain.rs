//! The layout of a witness's explanation: its ops by name, then what follows from them.
//!
//! ```text
//! Let:
//!   T1 = {:index 3, :type :ok, :process 0, :value [[:append :x 1] [:r :y []]]}
//!   T2 = {:index 4, :type :ok, :process 1, :value [[:append :y 2] [:r :x []]]}
//!
//! Then:
//!   - T1 < T2, because T1 read [] in key :y, before T2 appended 2.
//!   - However, T2 < T1, because T2 read [] in key :x, before T1 appended 1: a contradiction!
//! ```

use crate::cast::Cast as _;
use crate::{Anomaly, Artifact, Client, Datum, OpKind, WitnessOp};
use std::fmt::{self, Display, Write as _};

/// The name of the op at a position, counted from 0: `"T1"`.
pub fn name(at: usize) -> String {
    format!("T{}", at + 1)
}

/// Things that get names in the order in which an explanation mentions them.
#[derive(Clone, Debug)]
pub struct Names<T>(Vec<T>);

impl<T> Default for Names<T> {
    fn default() -> Names<T> {
        Names(Vec::new())
    }
}

impl<T> Names<T> {
    /// The name of a thing: that of the first thing for which `is_same` returns true, or the next unused name.
    pub fn name(&mut self, thing: T, is_same: impl Fn(&T) -> bool) -> String {
        let at = self.0.iter().position(is_same).unwrap_or_else(|| {
            self.0.push(thing);
            self.0.len() - 1
        });
        name(at)
    }

    /// All things that have names, in the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &T> {
        self.0.iter()
    }
}

/// The last operations of an order, which an explanation names: the beginning of the order hardly matters.
pub fn tail<T>(order: &[T]) -> &[T] {
    const NAMED_MAX: usize = 4;
    &order[order.len().saturating_sub(NAMED_MAX)..]
}

/// Names separated by commas, after an ellipsis if they are fewer than `count`: `"..., T1, T2"`.
pub fn after_ellipsis(names: &[String], count: u64) -> String {
    let before = if names.len().to_u64() == count { "" } else { "..., " };
    format!("{before}{}", names.join(", "))
}

/// The items of a list in a sentence, with the number of those omitted out of `count`: `["T1", "T2", "3 more"]`.
pub fn with_more(mut listed: Vec<String>, count: usize) -> Vec<String> {
    if count > listed.len() {
        listed.push(format!("{} more", count - listed.len()));
    }
    listed
}

/// The first fields of an op as EDN, without the end of the map: `"{:index 3, :type :ok, :process 0"`.
pub fn op_start(index: u64, kind: OpKind, process: Option<&Client>) -> String {
    let mut text = format!("{{:index {index}, :type :{}", kind.name());
    if let Some(process) = process {
        _ = write!(text, ", :process {}", Datum::from(process));
    }
    text
}

/// The ops of a witness by their names, as an explanation begins.
pub fn introduction(ops: &[WitnessOp]) -> String {
    Explanation::of(ops).introduction()
}

/// An explanation under construction.
///
/// ```
/// use history_core::explain::Explanation;
///
/// let mut explanation = Explanation::default().about("key 3");
/// explanation.op("T1", "read 7");
/// explanation.then("No write of 7 came before T1.");
/// assert_eq!(explanation.to_string(), "Let, of key 3:\n  T1 = read 7\n\nThen:\n  - No write of 7 came before T1.\n");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    part: Option<String>,
    ops: Vec<(String, String)>,
    then: String,
}

impl Explanation {
    /// An explanation of a witness with these ops.
    pub fn of(ops: &[WitnessOp]) -> Explanation {
        let mut explanation = Explanation::default();
        for op in ops {
            let start = op_start(op.index, op.kind, op.process.as_ref());
            explanation.op(&*op.name, format!("{start}, :value {}}}", op.value));
        }
        explanation
    }

    /// The same, about one part of the history.
    #[must_use]
    pub fn about(self, part: impl Into<String>) -> Explanation {
        Explanation { part: Some(part.into()), ..self }
    }

    /// Adds an op by its name.
    pub fn op(&mut self, name: impl Into<String>, what: impl Into<String>) {
        self.ops.push((name.into(), what.into()));
    }

    /// Adds a conclusion, as an item of a list.
    pub fn then(&mut self, sentence: impl Display) {
        _ = writeln!(self.then, "  - {sentence}");
    }

    /// Adds a line that is not an item of a list.
    pub fn line(&mut self, line: impl Display) {
        _ = writeln!(self.then, "  {line}");
    }

    fn introduction(&self) -> String {
        let mut text = self.part.as_ref().map_or_else(|| "Let:\n".into(), |part| format!("Let, of {part}:\n"));
        let width = self.ops.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        for (name, what) in &self.ops {
            _ = writeln!(text, "  {name:width$} = {what}");
        }
        text
    }
}

impl Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nThen:\n{}", self.introduction(), self.then)
    }
}

/// The explanations of an anomaly's witnesses as a file, `NAME.txt`, and the number of further witnesses.
pub fn artifact(anomaly: &Anomaly) -> Artifact {
    let mut text = String::new();
    for (at, witness) in anomaly.witnesses.iter().enumerate() {
        let gap = if at == 0 { "" } else { "\n\n" };
        _ = write!(text, "{gap}{} #{at}\n{}", anomaly.name, witness.explanation);
    }
    let left = anomaly.count - anomaly.witnesses.len().to_u64();
    if left > 0 {
        _ = write!(text, "\n\n({left} more of this type are not shown.)\n");
    }
    Artifact { path: format!("{}.txt", anomaly.name), content: text.into_bytes() }
}
