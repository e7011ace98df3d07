//! Names that would become one: JSON has strings where EDN has keywords, symbols and strings.

use history_core::{ErrorKind, HistoryError, Op, Value};
use std::collections::HashMap;

/// What kind of value each name was that came up so far.
#[derive(Default)]
pub(super) struct Names(HashMap<String, &'static str>);

impl Names {
    /// Refuses an op with a name that has been another kind of value before: in JSON both would be one string.
    pub(super) fn verify(&mut self, op: &Op<'_>) -> Result<(), HistoryError> {
        let mut open = vec![(op.value, true)];
        open.extend(op.extra.iter().map(|(_, value)| (value, false)));
        while let Some((value, is_txn)) = open.pop() {
            match value {
                Value::Str(name) => self.note(name, "a string", op)?,
                Value::Keyword(name) => self.note(name, "a keyword", op)?,
                Value::Symbol(name) => self.note(name, "a symbol", op)?,
                Value::Vector(items) | Value::List(items) | Value::Set(items) => {
                    for item in items {
                        open.push((item, false));
                        if let (true, Value::Vector(mop) | Value::List(mop)) = (is_txn, item) {
                            // What a micro-op does is a name in any notation.
                            open.pop();
                            open.extend(mop.iter().skip(1).map(|part| (part, false)));
                        }
                    }
                }
                Value::Map(entries) => {
                    open.extend(entries.iter().flat_map(|(key, value)| [(key, false), (value, false)]));
                }
                Value::Tagged(_, inner) => open.push((inner.value(), false)),
                _ => {}
            }
        }
        Ok(())
    }

    fn note(&mut self, name: &str, kind: &'static str, op: &Op<'_>) -> Result<(), HistoryError> {
        match self.0.get(name) {
            Some(known) if *known == kind => Ok(()),
            Some(known) => {
                let message = format!(
                    "the op with index {} cannot be written: {name} is {kind} here and {known} before; JSON cannot distinguish them",
                    op.index
                );
                let error = HistoryError::new(ErrorKind::Unexpected, message).expected("edn as the format");
                Err(match op.position {
                    Some(position) => error.at(position),
                    None => error,
                })
            }
            None => {
                self.0.insert(name.to_owned(), kind);
                Ok(())
            }
        }
    }
}
