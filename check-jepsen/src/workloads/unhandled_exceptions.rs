//! unhandled-exceptions: errors that clients did not expect, by their number.
//!
//! An `info` op with an `:exception`, a map that Clojure creates from a throwable, is one whose client did not handle
//! it. These are grouped by the `:type` of the first entry of `:via`, the outermost exception. Ops that did not succeed
//! and have an `:error` instead are grouped by that: by its first element if it is a collection, as the others mostly
//! contain details of the single case. The nemesis's ops count as well.
//!
//! This is an overview, not a check: nothing in it is wrong, so the verdict is never false. It is valid if there was an
//! operation that ended, otherwise unknown. The end of an operation is **observed**.
//!
//! After Jepsen's `checker/unhandled-exceptions`, which has no table of errors. Time is linear. Memory grows with the
//! number of different exceptions and errors.

use crate::fold::{self, Workload, WorkloadRun};
use crate::witness::counted;
use history_core::cast::Cast as _;
use history_core::{
    Checker, Client, Expected, Op, OpFault, OpKind, OpUse, OptionError, OptionSpec, Options, Process, Report, Run,
    Value, Verdict, visible,
};
use std::collections::BTreeMap;

/// The unhandled-exceptions checker. It has no options.
///
/// ```
/// use check_jepsen::unhandled_exceptions::UnhandledExceptions;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse(r#"
///     {:process 0, :type :invoke, :f :read}
///     {:process 0, :type :info, :f :read, :exception {:via [{:type java.io.IOException, :message "reset"}]}}
/// "#)?;
/// let report = UnhandledExceptions::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Valid);
/// assert!(report.notes[0].starts_with("1 info op has an exception of java.io.IOException"));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnhandledExceptions {}

impl Checker for UnhandledExceptions {
    fn name(&self) -> &'static str {
        "unhandled-exceptions"
    }

    fn summary(&self) -> &'static str {
        "Exceptions and errors of ops that did not succeed, the most frequent first; an overview, never false."
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn about(&self) -> history_core::About {
        history_core::About::default().with_parts(history_core::Parts::Whole)
    }

    fn start(&self, _options: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(WorkloadRun::new(ExceptionsRun::default())))
    }
}

/// The maximum number of different exceptions and errors that are counted separately.
const GROUPS_MAX: usize = 1_000;
/// The maximum number of rows of each table in notes.
const SHOWN_MAX: usize = 16;
/// The maximum number of characters of a text from the history in a note.
const CHARS_MAX: usize = 120;

/// Ops with the same kind of exception or error.
#[derive(Clone, Debug)]
struct Group {
    count: u64,
    /// A description of the first one, as a clause.
    example: String,
}

/// The groups by their common name.
#[derive(Clone, Debug, Default)]
struct Groups {
    by_name: BTreeMap<String, Group>,
    /// The number of ops in groups beyond the maximum.
    others: u64,
}

impl Groups {
    fn push(&mut self, name: String, example: impl FnOnce() -> String) {
        if let Some(group) = self.by_name.get_mut(&name) {
            group.count += 1;
        } else if self.by_name.len() < GROUPS_MAX {
            self.by_name.insert(name, Group { count: 1, example: example() });
        } else {
            self.others += 1;
        }
    }

    fn ops(&self) -> u64 {
        self.others + self.by_name.values().map(|group| group.count).sum::<u64>()
    }

    /// The groups as sentences, the most frequent first.
    fn notes(&self, each: impl Fn(u64, &str) -> String, notes: &mut Vec<String>) {
        let mut groups: Vec<(&String, &Group)> = self.by_name.iter().collect();
        groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.count));
        let mut rest = self.ops();
        for (name, group) in groups.into_iter().take(SHOWN_MAX) {
            rest -= group.count;
            let which = if group.count == 1 { "" } else { ", the first" };
            notes.push(format!("{}{which}{}.", each(group.count, name), group.example));
        }
        if rest > 0 {
            notes.push(format!("{} with other ones are not listed.", counted(rest, "op")));
        }
    }
}

#[derive(Clone, Debug, Default)]
struct ExceptionsRun {
    exceptions: Groups,
    errors: Groups,
}

/// A text from the history, shortened for a note.
fn short(text: &str) -> String {
    let beginning: String = text.chars().take(CHARS_MAX).collect();
    let dots = if beginning.len() < text.len() { "..." } else { "" };
    format!("{}{dots}", visible::line(&beginning))
}

fn shown(value: Value<'_>) -> String {
    short(&value.as_name().map_or_else(|| value.to_string(), str::to_owned))
}

/// An op as a clause: `: index 7, process 3, :f :read`.
fn place(op: &Op<'_>, message: Option<Value<'_>>) -> String {
    let who = match (Client::of(op), op.process) {
        (Some(client), _) => format!(", process {client}"),
        (None, Process::Other(name)) => format!(", process {}", short(name)),
        (None, _) => String::new(),
    };
    let f = op.f.map_or_else(String::new, |f| format!(", :f :{}", short(f)));
    let message = message.map_or_else(String::new, |message| format!(", {}", short(&message.to_string())));
    format!(" at index {}{who}{f}{message}", op.index)
}

impl ExceptionsRun {
    fn see(&mut self, op: &Op<'_>) {
        if matches!(op.kind, OpKind::Invoke | OpKind::Ok) {
            return;
        }
        let exception = op.extra.get("exception").filter(|exception| !exception.is_nil());
        if let (OpKind::Info, Some(exception)) = (op.kind, exception) {
            let outermost = match exception {
                Value::Map(fields) => fields.get("via").and_then(Value::as_seq).and_then(|via| via.iter().next()),
                _ => None,
            };
            let field = |name| match outermost {
                Some(Value::Map(fields)) => fields.get(name),
                _ => None,
            };
            let name = field("type").map_or_else(|| "unknown type".to_owned(), shown);
            self.exceptions.push(name, || place(op, field("message")));
        } else if let Some(error) = op.extra.get("error").filter(|error| !error.is_nil()) {
            let first = error.as_seq().and_then(|all| all.iter().next());
            self.errors.push(shown(first.unwrap_or(error)), || place(op, first.map(|_| error)));
        }
    }
}

impl Workload for ExceptionsRun {
    const EXPECTED: Expected = Expected { ops: "ops of any :f", observation: "op that ended" };
    const IS_OF_ONE_OBJECT: bool = false;
    const NEEDS_PROCESSES: bool = false;

    fn take(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        self.see(op);
        Ok(fold::observed_if(op.kind != OpKind::Invoke))
    }

    fn take_other(&mut self, op: &Op<'_>) {
        self.see(op);
    }

    fn report(self, _whole: bool) -> Report {
        let mut report = Report::new("unhandled-exceptions", Verdict::Valid);
        let have = |count: u64, kind: &str| {
            let verb = if count == 1 { "has" } else { "have" };
            format!("{} {verb}", counted(count, kind))
        };
        self.exceptions
            .notes(|count, name| format!("{} an exception of {name}", have(count, "info op")), &mut report.notes);
        self.errors.notes(|count, name| format!("{} the error {name}", have(count, "op")), &mut report.notes);
        report.counts = vec![
            ("exception-count".into(), self.exceptions.ops()),
            ("exception-class-count".into(), self.exceptions.by_name.len().to_u64()),
            ("error-count".into(), self.errors.ops()),
        ];
        report
    }
}
