//! What serde sees of reports and values.
//!
//! EDN has kinds of values that serde's data model lacks: keywords, symbols, sets. They travel as newtypes of private
//! names, which [`to_edn`](crate::to_edn) knows and any other format ignores: JSON gets strings and arrays.

mod datum;
pub(crate) mod named;
pub(crate) mod report;

use serde::ser::{Serialize, Serializer};

/// A newtype of this name around a string is a keyword.
pub(crate) const KEYWORD: &str = "$history_core::Keyword";
/// Around a string: a string, even where strings become keywords.
pub(crate) const STR: &str = "$history_core::Str";
/// Around a string: EDN text as it is to be written.
pub(crate) const EDN: &str = "$history_core::Edn";
/// Around a sequence: a list.
pub(crate) const LIST: &str = "$history_core::List";
/// Around a sequence: a set.
pub(crate) const SET: &str = "$history_core::Set";
/// A struct of this name has two fields, a tag and a value.
pub(crate) const TAGGED: &str = "$history_core::Tagged";

/// A keyword in EDN, a string elsewhere.
pub(crate) struct Keyword<'a>(pub(crate) &'a str);

impl Serialize for Keyword<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(KEYWORD, self.0)
    }
}
