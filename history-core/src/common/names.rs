//! Names of variants: printing and parsing.

use crate::{Format, OpKind, Rule, Severity, TimeUnit, Verdict};
use std::fmt;
use std::str::FromStr;

/// An unknown name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownName {
    /// What it should be the name of: `"format"`.
    pub what: &'static str,
    /// The name.
    pub name: String,
    /// The valid names.
    pub known: &'static [&'static str],
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {}: {}; expected {}", self.what, self.name, self.known.join(", "))
    }
}

impl std::error::Error for UnknownName {}

macro_rules! display {
    ($($name:ident)*) => {
        $(impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        })*
    };
}

display!(Format OpKind Rule Severity TimeUnit Verdict);

macro_rules! from_str {
    ($($name:ident $what:literal [$($known:literal)*];)*) => {
        $(impl FromStr for $name {
            type Err = UnknownName;

            fn from_str(name: &str) -> Result<$name, UnknownName> {
                let unknown = || UnknownName { what: $what, name: name.to_owned(), known: &[$($known),*] };
                $name::from_name(name).ok_or_else(unknown)
            }
        })*
    };
}

from_str! {
    Format "format" [
        "edn" "json" "jsonl" "ndjson" "intervals" "txt" "log" "plume" "awdit" "dbcop" "dbcop-json" "hist" "cobra" "chronos"
    ];
    OpKind "type of op" ["invoke" "ok" "fail" "info"];
    TimeUnit "unit of time" ["s" "ms" "us" "ns"];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_name_is_read_back() {
        fn read_back<T: FromStr<Err = UnknownName> + fmt::Display>() {
            let unknown = "?".parse::<T>().err().unwrap();
            for name in unknown.known {
                let value = name.parse::<T>().unwrap_or_else(|error| panic!("{error}"));
                assert!(unknown.known.contains(&value.to_string().as_str()));
            }
        }
        read_back::<Format>();
        read_back::<OpKind>();
        read_back::<TimeUnit>();
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let error = "hours".parse::<TimeUnit>().unwrap_err();
        assert_eq!(error.to_string(), "unknown unit of time: hours; expected s, ms, us, ns");
    }
}
