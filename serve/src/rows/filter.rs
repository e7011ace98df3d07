//! The search for rows of a history.

use super::traits::{self, Traits};
use crate::http::query::{Query, address};
use history_core::{Op, OpKind};

/// The maximum number of characters of a text to search for.
const CHARS_MAX: usize = 1000;
const KINDS: [OpKind; 4] = [OpKind::Invoke, OpKind::Ok, OpKind::Fail, OpKind::Info];

/// The conditions of a search; all rows match if it is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) process: String,
    pub(crate) key: String,
    pub(crate) function: String,
    pub(crate) kind: Option<OpKind>,
    /// A part of the op's text.
    pub(crate) text: String,
}

impl Filter {
    /// The parameter names in an address.
    pub(crate) const NAMES: [&'static str; 5] = ["process", "key", "f", "type", "text"];

    /// The search in an address.
    ///
    /// # Errors
    ///
    /// A sentence with the error in it.
    pub(crate) fn of(query: &Query) -> Result<Filter, String> {
        let text = |name: &str| query.get(name).unwrap_or_default().trim().to_owned();
        // Removes the marks of names in EDN or JSON.
        let name = |of: &str| {
            let text = text(of);
            let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            inner.or(text.strip_prefix(':')).map(str::to_owned).unwrap_or(text)
        };
        let kind = text("type");
        let kind = match KINDS.into_iter().find(|known| known.name() == kind.trim_start_matches(':')) {
            None if !kind.is_empty() => {
                return Err(format!("unknown op type {kind}: expected invoke, ok, fail or info"));
            }
            kind => kind,
        };
        let filter =
            Filter { process: name("process"), key: name("key"), function: name("f"), kind, text: text("text") };
        if [&filter.process, &filter.key, &filter.function, &filter.text].iter().any(|text| text.len() > CHARS_MAX) {
            return Err(format!("the search text has more than {CHARS_MAX} bytes"));
        }
        Ok(filter)
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    /// The parameters of an address for the same search.
    pub(crate) fn pairs(&self) -> Vec<(&'static str, &str)> {
        let kind = self.kind.map_or("", OpKind::name);
        let values = [self.process.as_str(), &self.key, &self.function, kind, &self.text];
        Filter::NAMES.into_iter().zip(values).filter(|(_, value)| !value.is_empty()).collect()
    }

    /// An address with this filter and further parameters.
    pub(crate) fn address(&self, path: &str, more: &[(&str, &str)]) -> String {
        address(path, self.pairs().into_iter().chain(more.iter().copied()))
    }

    /// The marks of a part that may contain matches.
    pub(super) fn traits(&self) -> Traits {
        let mut wanted = self.kind.map(Traits::of_kind).unwrap_or_default();
        let mut want = |text: &str, of: fn(&str) -> Traits| {
            if !text.is_empty() {
                wanted.join(&of(text));
            }
        };
        want(&self.process, Traits::of_process);
        want(&self.function, Traits::of_function);
        want(&self.key, Traits::of_key);
        wanted
    }

    /// Returns true if an op with this text matches.
    pub(super) fn is(&self, op: &Op<'_>, written: &str) -> bool {
        if self.kind.is_some_and(|kind| kind != op.kind) || !self.function.is_empty() && op.f != Some(&*self.function) {
            return false;
        }
        if !self.process.is_empty() && traits::process(op).is_none_or(|process| process != self.process) {
            return false;
        }
        if !self.key.is_empty() {
            let mut has = false;
            traits::each_key(op, &mut |key| {
                has = key == self.key;
                has
            });
            if !has {
                return false;
            }
        }
        self.text.is_empty() || written.contains(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::History;

    fn of(text: &str) -> Result<Filter, String> {
        Filter::of(&Query::parse(text).unwrap())
    }

    #[test]
    fn matching_rows_are_found() {
        let text = "{:process 3, :type :ok, :f :txn, :value [[:append \"x\" 1]]}";
        let history = History::parse(text).unwrap();
        let op = history.op(0);
        for found in ["", "process=3", "f=:txn", "f=txn&type=ok", "key=x", "key=%22x%22", "key=:x", "text=append"] {
            let filter = of(found).unwrap();
            assert!(filter.is(&op, text), "{found}");
            assert!(Traits::of(&op).may_hold(&filter.traits()), "{found}");
            assert_eq!(of(filter.address("", &[]).trim_start_matches('?')).unwrap(), filter, "{found}");
        }
        for other in ["process=4", "f=read", "type=fail", "key=y", "text=Append", "process=3&key=y"] {
            assert!(!of(other).unwrap().is(&op, text), "{other}");
        }
        assert!(of("type=okay").unwrap_err().contains("expected invoke, ok, fail or info"));
        assert!(of(&format!("text={}", "x".repeat(1001))).is_err());
    }
}
