//! Shows a schedule as a table: a column for each thread, a row for each step.

use crate::execution::row::Row;
use crate::execution::{Outcome, Value};
use crate::ids::index;
use crate::op::{ObjectId, Step, ThreadId};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::panic::Location;

/// The number of rows shown at the beginning and at the end of a long table.
const ROWS_SHOWN: usize = 60;
/// The width of a column; longer texts extend beyond it.
const COLUMN_MAX: usize = 120;

/// Types whose values are named after their fields and variables, in addition to the atomics.
const NAMED: [&str; 8] = ["Arc", "Barrier", "Condvar", "Mutex", "Once", "OnceLock", "RwLock", "UnsafeCell"];

/// The names of threads and objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    threads: Vec<Option<String>>,
    objects: Vec<String>,
    /// The values that steps read and stored, by the numbers of steps.
    values: HashMap<usize, String>,
    /// The values of atomics after steps that stored one.
    stored: HashMap<usize, String>,
    /// Notes on steps, by their numbers: picks, calls and returns.
    pub(crate) notes: Vec<(usize, String)>,
}

impl Names {
    pub(crate) fn of(outcome: &Outcome) -> Names {
        let mut sources = Sources::default();
        let mut counts: HashMap<String, u32> = HashMap::new();
        let mut numbered: Vec<(String, u32)> = Vec::with_capacity(outcome.rows.len());
        for row in &outcome.rows {
            // A name given by the user is kept.
            let is_type = row.what.starts_with("Atomic") || NAMED.contains(&row.what);
            let declared = if is_type { sources.name(row.made) } else { None };
            let name = declared.unwrap_or_else(|| row.what.to_owned());
            let count = counts.entry(name.clone()).or_default();
            *count += 1;
            numbered.push((name, *count));
        }
        let object = |((name, number), row): ((String, u32), &Row)| {
            if row.what == "thread" {
                // Threads are named by letters; other objects are numbered among those with the same name.
                let letter = ThreadId::new(index(number) - 1).map_or('?', ThreadId::letter);
                format!("thread {letter}")
            } else if name != row.what && counts.get(&name) == Some(&1) {
                name
            } else {
                format!("{name} {number}")
            }
        };
        let objects = numbered.into_iter().zip(&outcome.rows).map(object).collect();
        let threads = outcome.threads.iter().map(|thread| thread.name.clone()).collect();
        let value = |noted: &Value| {
            let at = index(noted.step);
            let what = outcome.rows.get(index(outcome.steps.get(at)?.op.object.0))?.what;
            let shown = |bits: Option<u64>| bits.and_then(|bits| value(what, bits));
            let text = match (shown(noted.before()), shown(noted.after())) {
                (Some(before), Some(after)) => format!(" {before} -> {after}"),
                (Some(value), None) | (None, Some(value)) => format!(" = {value}"),
                (None, None) => return None,
            };
            Some((at, text))
        };
        let values = outcome.values.iter().filter_map(value).collect();
        let stored = |noted: &Value| {
            let at = index(noted.step);
            let what = outcome.rows.get(index(outcome.steps.get(at)?.op.object.0))?.what;
            Some((at, self::value(what, noted.after().filter(|_| what.starts_with("Atomic"))?)?))
        };
        let stored = outcome.values.iter().filter_map(stored).collect();
        let notes = outcome.picked.iter().map(|(at, remark)| (*at, remark.to_string())).collect();
        Names { threads, objects, values, stored, notes }
    }

    /// The threads that took at least one step.
    pub(super) fn used(&self, steps: &[Step]) -> Vec<ThreadId> {
        let all = (0..self.threads.len()).filter_map(ThreadId::new);
        all.filter(|thread| steps.iter().any(|step| step.thread == *thread)).collect()
    }

    /// The description of a step.
    pub(super) fn cell(&self, at: usize, step: &Step) -> String {
        let (kind, value) = (step.op.kind.name(), self.values.get(&at).map_or("", String::as_str));
        match self.object(step.op.object) {
            Some(object) => format!("{kind} {object}{value}"),
            None => kind.to_owned(),
        }
    }

    /// The title of a thread.
    pub(super) fn title(&self, thread: ThreadId) -> String {
        match &self.threads[thread.at()] {
            Some(name) => format!("{thread} {name}"),
            None => thread.to_string(),
        }
    }

    /// The value of an atomic after a step that stored one.
    pub(super) fn stored(&self, at: usize) -> Option<&str> {
        self.stored.get(&at).map(String::as_str)
    }

    pub(super) fn object(&self, object: ObjectId) -> Option<&str> {
        self.objects.get(index(object.0)).map(String::as_str)
    }
}

/// Draws the table, without a line break at its end.
pub(crate) fn draw(steps: &[Step], names: &Names) -> String {
    let used = names.used(steps);
    let cell = |at: usize| names.cell(at, &steps[at]);
    let title = |thread: ThreadId| names.title(thread);
    let width = |thread: &ThreadId| {
        let own = steps.iter().enumerate().filter(|(_, step)| step.thread == *thread);
        own.map(|(at, _)| cell(at).chars().count()).fold(title(*thread).chars().count(), usize::max).min(COLUMN_MAX)
    };
    let widths: Vec<usize> = used.iter().map(width).collect();
    let mut text = String::from("  step  ");
    for (thread, width) in used.iter().zip(&widths) {
        _ = write!(text, " {:width$} ", title(*thread));
    }
    let mut lines = vec![text.trim_end().to_owned()];
    for (at, step) in steps.iter().enumerate() {
        if steps.len() > 2 * ROWS_SHOWN && at == ROWS_SHOWN {
            lines.push(format!("        ({} steps are not shown)", steps.len() - 2 * ROWS_SHOWN));
        }
        if steps.len() > 2 * ROWS_SHOWN && (ROWS_SHOWN..steps.len() - ROWS_SHOWN).contains(&at) {
            continue;
        }
        let mark = if step.is_preemption() { '*' } else { ' ' };
        let mut line = format!("{:>6} {mark}", at + 1);
        for (thread, width) in used.iter().zip(&widths) {
            let text = if *thread == step.thread { cell(at) } else { "|".into() };
            _ = write!(line, " {text:width$} ");
        }
        let place = step.op.place;
        _ = write!(line, " {}:{}", place.file(), place.line());
        for (_, note) in names.notes.iter().filter(|(of, _)| *of == at) {
            _ = write!(line, "; {note}");
        }
        lines.push(line);
    }
    if steps.iter().any(Step::is_preemption) {
        lines.push("        * a preemption: the thread that ran before could have continued".into());
    }
    lines.join("\n")
}

/// Formats a value of an atomic. Addresses are not shown, since they differ between runs.
fn value(what: &str, bits: u64) -> Option<String> {
    fn signed<U: TryFrom<u64>>(bits: u64, sign: impl Fn(U) -> i64) -> Option<String> {
        Some(sign(U::try_from(bits).ok()?).to_string())
    }
    match what {
        "AtomicPtr" => None,
        "AtomicBool" => Some((bits != 0).to_string()),
        "connection" | "ports" => Some(format!("{bits} bytes")),
        "AtomicI8" => signed(bits, |bits: u8| bits.cast_signed().into()),
        "AtomicI16" => signed(bits, |bits: u16| bits.cast_signed().into()),
        "AtomicI32" => signed(bits, |bits: u32| bits.cast_signed().into()),
        "AtomicI64" | "AtomicIsize" => signed(bits, u64::cast_signed),
        _ => Some(bits.to_string()),
    }
}

/// The program's source files, as far as they are found.
#[derive(Default)]
struct Sources {
    files: HashMap<&'static str, Option<String>>,
}

impl Sources {
    /// The name of the field or variable in whose declaration an object is created.
    fn name(&mut self, made: &'static Location<'static>) -> Option<String> {
        let text = self.files.entry(made.file()).or_insert_with(|| {
            // Paths are relative to the workspace, and tests run in the folder of their crate.
            let here = std::env::current_dir().ok()?;
            here.ancestors().find_map(|folder| std::fs::read_to_string(folder.join(made.file())).ok())
        });
        let line = text.as_ref()?.lines().nth(index(made.line()) - 1)?;
        let before: String = line.chars().take(index(made.column()) - 1).collect();
        declared(&before).map(str::to_owned)
    }
}

/// The name in a declaration, given the text before its value: `let name = `, `name: `, `static NAME: T = Arc::new(`.
fn declared(before: &str) -> Option<&str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut before = before.trim_end();
    while let Some(call) = before.strip_suffix('(') {
        let outer = call.trim_end_matches(|c| is_name(c) || matches!(c, ':' | '<' | '>'));
        if outer.len() == call.len() {
            // The text declares several objects.
            return None;
        }
        before = outer.trim_end();
    }
    let last = |text: &'_ str| text.len() - text.trim_end_matches(is_name).len();
    let left = if let Some(field) = before.strip_suffix(':') {
        field
    } else {
        let left = before.strip_suffix('=')?.trim_end();
        let declaration = ["let ", "static ", "const "].iter().find_map(|word| Some(left.rsplit_once(word)?.1));
        declaration.map_or(left, |declaration| declaration.split(':').next().unwrap_or_default().trim_end())
    };
    let name = &left[left.len() - last(left)..];
    let is_named = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    is_named.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{declared, value};

    #[test]
    fn a_name_is_found_before_the_created_value() {
        for (before, name) in [
            ("    let head = ", Some("head")),
            ("    let mut head: Mutex<Vec<u8>> = ", Some("head")),
            ("    let head = Arc::new(", Some("head")),
            ("            head: ", Some("head")),
            ("        Stack { is_broken, head: Arc::<u8>::new(", Some("head")),
            ("static HEAD: AtomicU32 = ", Some("HEAD")),
            ("    pub const fn new() -> Self { Self(", None),
            ("        self.head = ", Some("head")),
            ("    let both = Arc::new((", None),
            ("    let both = Arc::new((AtomicU32::new(0), ", None),
            ("    [(); 3].map(|()| ", None),
            ("        ", None),
            ("", None),
            ("    let (a, b) = ", None),
            ("    x == ", None),
            ("    1 => ", None),
        ] {
            assert_eq!(declared(before), name, "{before:?}");
        }
    }

    #[test]
    fn values_are_shown_in_the_form_of_their_types() {
        let shown = [
            ("AtomicI8", 255, Some("-1")),
            ("AtomicU8", 255, Some("255")),
            ("AtomicI64", u64::MAX, Some("-1")),
            ("AtomicBool", 1, Some("true")),
            ("AtomicPtr", 1, None),
        ];
        for (what, bits, text) in shown {
            assert_eq!(value(what, bits).as_deref(), text, "{what}");
        }
    }
}
