//! A schedule as a table: a column for each thread, a row for each step.

use crate::execution::Outcome;
use crate::ids::index;
use crate::op::{ObjectId, Step, ThreadId};
use std::fmt::Write as _;

/// Rows that are shown at the beginning and at the end of a long table.
const ROWS_SHOWN: usize = 60;
/// How wide a column is; what is wider sticks out.
const COLUMN_MAX: usize = 120;

/// What threads and objects are called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    threads: Vec<Option<String>>,
    objects: Vec<String>,
    /// Notes on steps, by their numbers: what was picked, calls and returns.
    pub(crate) notes: Vec<(usize, String)>,
}

impl Names {
    pub(crate) fn of(outcome: &Outcome) -> Names {
        let mut objects: Vec<String> = Vec::with_capacity(outcome.rows.len());
        let mut counts: Vec<(&str, u32)> = Vec::new();
        for row in &outcome.rows {
            let known = counts.iter().position(|(what, _)| *what == row.what);
            let at = known.unwrap_or(counts.len());
            if known.is_none() {
                counts.push((row.what, 0));
            }
            let count = &mut counts[at].1;
            *count += 1;
            // Threads have letters, everything else is counted by its kind.
            let name = if row.what == "thread" {
                let letter = ThreadId::new(index(*count) - 1).map_or('?', ThreadId::letter);
                format!("thread {letter}")
            } else {
                format!("{} {count}", row.what)
            };
            objects.push(name);
        }
        let threads = outcome.threads.iter().map(|thread| thread.name.clone()).collect();
        Names { threads, objects, notes: outcome.picked.clone() }
    }

    fn object(&self, object: ObjectId) -> Option<&str> {
        self.objects.get(index(object.0)).map(String::as_str)
    }
}

/// Draws the table, without a line break at its end.
pub(crate) fn draw(steps: &[Step], names: &Names) -> String {
    let all = (0..names.threads.len()).filter_map(ThreadId::new);
    let used: Vec<ThreadId> = all.filter(|thread| steps.iter().any(|step| step.thread == *thread)).collect();
    let cell = |step: &Step| match names.object(step.op.object) {
        Some(object) => format!("{} {object}", step.op.kind.name()),
        None => step.op.kind.name().to_owned(),
    };
    let title = |thread: ThreadId| match &names.threads[thread.at()] {
        Some(name) => format!("{thread} {name}"),
        None => thread.to_string(),
    };
    let width = |thread: &ThreadId| {
        let own = steps.iter().filter(|step| step.thread == *thread);
        own.map(|step| cell(step).chars().count()).fold(title(*thread).chars().count(), usize::max).min(COLUMN_MAX)
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
            let text = if *thread == step.thread { cell(step) } else { "|".into() };
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
