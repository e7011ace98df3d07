//! The runs that a user views, and their order: the address contains all settings, so a view can be shared.

use super::outcome::Verdict;
use super::run::Run;
use crate::http::query::{self, Query};
use std::cmp::Ordering;
use std::time::UNIX_EPOCH;

/// The number of runs on a page.
pub(crate) const PAGE_RUNS: usize = 200;

/// A column to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Verdict,
    Name,
    Time,
    Length,
    Ops,
    Checker,
}

impl Column {
    pub(crate) const ALL: [(Column, &'static str); 6] = [
        (Column::Verdict, "verdict"),
        (Column::Name, "name"),
        (Column::Time, "time"),
        (Column::Length, "length"),
        (Column::Ops, "ops"),
        (Column::Checker, "checker"),
    ];
}

/// The verdict of the runs to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Any,
    /// Runs without a verdict.
    Without,
    Only(Verdict),
}

impl Wanted {
    /// The name in an address.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Wanted::Any => "",
            Wanted::Without => "none",
            Wanted::Only(verdict) => verdict.name(),
        }
    }

    fn is(self, verdict: Option<Verdict>) -> bool {
        match self {
            Wanted::Any => true,
            Wanted::Without => verdict.is_none(),
            Wanted::Only(wanted) => verdict == Some(wanted),
        }
    }
}

/// A view of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    /// A part of the name, without regard to case.
    pub(crate) name: String,
    pub(crate) verdict: Wanted,
    /// A part of a checker's name.
    pub(crate) checker: String,
    /// The first and the last time, as given.
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) column: Column,
    pub(crate) is_descending: bool,
    /// The page, from 1 on.
    pub(crate) page: usize,
}

impl Default for View {
    fn default() -> View {
        View {
            name: String::new(),
            verdict: Wanted::Any,
            checker: String::new(),
            from: String::new(),
            to: String::new(),
            column: Column::Time,
            is_descending: true,
            page: 1,
        }
    }
}

impl View {
    /// The view of an address.
    ///
    /// # Errors
    ///
    /// A sentence with the error in it.
    pub(crate) fn of(query: &Query) -> Result<View, String> {
        let mut view = View::default();
        let text = |name: &str| query.get(name).unwrap_or_default().trim().to_owned();
        (view.name, view.checker, view.from, view.to) = (text("name"), text("checker"), text("from"), text("to"));
        for time in [&view.from, &view.to].into_iter().filter(|text| !text.is_empty()) {
            day(time).ok_or_else(|| format!("{time} is not a time: expected 2026-01-31 or 2026-01-31T12:00:00"))?;
        }
        view.verdict = match text("verdict").as_str() {
            "" => Wanted::Any,
            "none" => Wanted::Without,
            name => match Verdict::ALL.into_iter().find(|verdict| verdict.name() == name) {
                Some(verdict) => Wanted::Only(verdict),
                None => {
                    return Err(format!("unknown verdict {name}: expected valid, invalid, unknown, error or none"));
                }
            },
        };
        let sort = text("sort");
        if !sort.is_empty() {
            let name = sort.trim_start_matches('-');
            let found = Column::ALL.iter().find(|(_, column)| *column == name);
            let (column, _) = found.ok_or_else(|| {
                format!("cannot sort by {name}: expected verdict, name, time, length, ops or checker, with - before it for the reverse")
            })?;
            (view.column, view.is_descending) = (*column, sort.starts_with('-'));
        }
        if let Some(page) = query.get("page").filter(|page| !page.is_empty()) {
            view.page = page.parse().ok().filter(|page| *page > 0).ok_or_else(|| format!("{page} is not a page"))?;
        }
        Ok(view)
    }

    /// The address of the view, without default values.
    pub(crate) fn address(&self) -> String {
        let default = View::default();
        let mut pairs = Vec::new();
        let verdict = self.verdict.name();
        let texts = [("name", self.name.as_str()), ("verdict", verdict), ("checker", &self.checker)];
        pairs.extend(texts.into_iter().chain([("from", self.from.as_str()), ("to", &self.to)]));
        let sort = self.sort();
        if (self.column, self.is_descending) != (default.column, default.is_descending) {
            pairs.push(("sort", &sort));
        }
        let page = self.page.to_string();
        if self.page > 1 {
            pairs.push(("page", &page));
        }
        query::address("/", pairs.into_iter().filter(|(_, value)| !value.is_empty()))
    }

    /// The order in the form of the address.
    pub(crate) fn sort(&self) -> String {
        let (_, name) = Column::ALL.iter().find(|(column, _)| *column == self.column).unwrap_or(&Column::ALL[0]);
        format!("{}{name}", if self.is_descending { "-" } else { "" })
    }

    /// The runs of this view in its order, on all pages. Takes O(n log n).
    pub(crate) fn select<'r>(&self, runs: &'r [Run]) -> Vec<&'r Run> {
        let name = self.name.to_lowercase();
        let (from, to) = (day(&self.from), day(&self.to).map(|to| to.saturating_add(span(&self.to))));
        let mut selected: Vec<&Run> = runs
            .iter()
            .filter(|run| {
                name.split_whitespace().all(|part| run.id.to_lowercase().contains(part))
                    && self.verdict.is(run.outcome.verdict)
                    && (self.checker.is_empty() || run.outcome.checkers.iter().any(|it| it.contains(&self.checker)))
                    && from.is_none_or(|from| run.time_ms >= from)
                    && to.is_none_or(|to| run.time_ms < to)
            })
            .collect();
        // Runs that compare equal are ordered by id, in both directions.
        selected.sort_by(|a, b| {
            let order = self.compare(a, b);
            if self.is_descending { order.reverse() } else { order }
        });
        selected
    }

    fn compare(&self, a: &Run, b: &Run) -> Ordering {
        match self.column {
            Column::Verdict => a.outcome.verdict.cmp(&b.outcome.verdict),
            Column::Name => a.id.cmp(&b.id),
            Column::Time => a.time_ms.cmp(&b.time_ms),
            Column::Length => a.length_ns.cmp(&b.length_ns),
            Column::Ops => a.ops.cmp(&b.ops),
            Column::Checker => a.outcome.checkers.cmp(&b.outcome.checkers),
        }
    }
}

/// Parses a day (its beginning) or a time, in milliseconds since 1970.
fn day(text: &str) -> Option<u64> {
    let text = text.trim_end_matches('Z');
    let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { format!("{text}Z") };
    let time = humantime::parse_rfc3339_weak(&whole).ok()?;
    time.duration_since(UNIX_EPOCH).ok().map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// The length of the time span that a text names: a day or a second.
fn span(text: &str) -> u64 {
    if text.len() == 10 { 86_400_000 } else { 1000 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::outcome::Outcome;

    fn run(id: &str, verdict: Option<Verdict>, time_ms: u64) -> Run {
        let outcome = Outcome { verdict, checkers: vec![format!("{id}-checker")], ..Outcome::default() };
        let (mark, id) = (String::new(), id.to_owned());
        Run {
            id,
            is_directory: true,
            history: None,
            time_ms,
            length_ns: None,
            ops: None,
            outcome,
            is_unread: false,
            mark,
        }
    }

    fn ids(address: &str) -> Vec<String> {
        let runs = [
            run("etcd/a", Some(Verdict::Valid), 86_400_000),
            run("etcd/b", Some(Verdict::Invalid), 0),
            run("redis", None, 2 * 86_400_000),
        ];
        let view = View::of(&Query::parse(address).unwrap()).unwrap();
        assert_eq!(View::of(&Query::parse(view.address().trim_start_matches(['/', '?'])).unwrap()).unwrap(), view);
        view.select(&runs).into_iter().map(|run| run.id.clone()).collect()
    }

    #[test]
    fn an_address_determines_the_view() {
        assert_eq!(ids(""), ["redis", "etcd/a", "etcd/b"], "the latest first");
        assert_eq!(ids("sort=name"), ["etcd/a", "etcd/b", "redis"]);
        assert_eq!(ids("sort=-verdict"), ["etcd/b", "etcd/a", "redis"], "the worst first");
        assert_eq!(ids("name=ETCD"), ["etcd/a", "etcd/b"]);
        assert_eq!(ids("name=a+etcd"), ["etcd/a"], "all words must match");
        assert_eq!(ids("verdict=invalid"), ["etcd/b"]);
        assert_eq!(ids("verdict=none"), ["redis"]);
        assert_eq!(ids("checker=b-ch"), ["etcd/b"]);
        assert_eq!(ids("from=1970-01-02&to=1970-01-02"), ["etcd/a"], "the last day is included");
        assert_eq!(ids("to=1970-01-01T00%3A00%3A00"), ["etcd/b"]);
    }

    #[test]
    fn invalid_parameters_are_reported() {
        let error_of = |address: &str| View::of(&Query::parse(address).unwrap()).unwrap_err();
        assert!(error_of("verdict=red").contains("expected valid, invalid"));
        assert!(error_of("sort=size").contains("expected verdict, name, time"));
        assert!(error_of("from=yesterday").contains("expected 2026-01-31"));
        assert!(error_of("page=0").contains("not a page"));
    }
}
