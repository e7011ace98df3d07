//! The serde representation of reports and values.
//!
//! EDN has kinds of values that serde's data model lacks: keywords, symbols, sets. They are serialized as newtypes with
//! private names. [`to_edn`](crate::to_edn) recognizes these names; all other formats ignore them, so JSON contains
//! strings and arrays.

mod datum;
pub(crate) mod named;
pub(crate) mod report;

use serde::ser::{Serialize, Serializer};

/// The name of a newtype around a string that is a keyword.
pub(crate) const KEYWORD: &str = "$history_core::Keyword";
/// The name of a newtype around a string that remains a string, even where strings become keywords.
pub(crate) const STR: &str = "$history_core::Str";
/// The name of a newtype around a string that is EDN text and is written unchanged.
pub(crate) const EDN: &str = "$history_core::Edn";
/// The name of a newtype around a sequence that is a list.
pub(crate) const LIST: &str = "$history_core::List";
/// The name of a newtype around a sequence that is a set.
pub(crate) const SET: &str = "$history_core::Set";
/// The name of a struct with two fields, a tag and a value.
pub(crate) const TAGGED: &str = "$history_core::Tagged";

/// A keyword in EDN, a string elsewhere.
pub(crate) struct Keyword<'a>(pub(crate) &'a str);

impl Serialize for Keyword<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(KEYWORD, self.0)
    }
}
