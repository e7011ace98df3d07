//! An owned value, as used by reports and options.

use crate::Value;
use std::fmt;

/// An owned value; [`Value`] is the borrowed type that readers return.
///
/// It is meant for the few values of a report, not for whole histories.
///
/// ```
/// use history_core::Datum;
///
/// let key = Datum::from(3);
/// let order = Datum::Vector(vec![1.into(), 2.into()]);
/// assert_eq!(format!("{key} holds {order}"), "3 holds [1 2]");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// `nil`.
    Nil,
    /// `true` or `false`.
    Bool(bool),
    /// An integer that fits in `i64`.
    Int(i64),
    /// Any other number, as it is written; an integer without EDN's `N`.
    Big(String),
    /// A floating-point number.
    Float(f64),
    /// A character.
    Char(char),
    /// A string.
    Str(String),
    /// A keyword, without its colon.
    Keyword(String),
    /// A symbol.
    Symbol(String),
    /// `[...]`.
    Vector(Vec<Datum>),
    /// `(...)`.
    List(Vec<Datum>),
    /// `#{...}`, in the order written.
    Set(Vec<Datum>),
    /// `{...}`, in the order written.
    Map(Vec<(Datum, Datum)>),
    /// `#tag value`.
    Tagged(String, Box<Datum>),
}

impl Datum {
    /// A keyword.
    pub fn keyword(name: impl Into<String>) -> Datum {
        Datum::Keyword(name.into())
    }
}

impl From<Value<'_>> for Datum {
    fn from(value: Value<'_>) -> Datum {
        // Readers limit nesting, so this recursion is bounded.
        let all = |seq: crate::Seq<'_>| seq.iter().map(Datum::from).collect();
        match value {
            Value::Nil => Datum::Nil,
            Value::Bool(b) => Datum::Bool(b),
            Value::Int(i) => Datum::Int(i),
            Value::Big(s) => Datum::Big(s.into()),
            Value::Float(x) => Datum::Float(x),
            Value::Char(c) => Datum::Char(c),
            Value::Str(s) => Datum::Str(s.into()),
            Value::Keyword(s) => Datum::Keyword(s.into()),
            Value::Symbol(s) => Datum::Symbol(s.into()),
            Value::Vector(s) => Datum::Vector(all(s)),
            Value::List(s) => Datum::List(all(s)),
            Value::Set(s) => Datum::Set(all(s)),
            Value::Map(m) => Datum::Map(m.iter().map(|(k, v)| (k.into(), v.into())).collect()),
            Value::Tagged(tag, inner) => Datum::Tagged(tag.into(), Box::new(inner.value().into())),
        }
    }
}

impl From<i64> for Datum {
    fn from(i: i64) -> Datum {
        Datum::Int(i)
    }
}

impl From<i32> for Datum {
    fn from(i: i32) -> Datum {
        Datum::Int(i.into())
    }
}

impl From<u32> for Datum {
    fn from(i: u32) -> Datum {
        Datum::Int(i.into())
    }
}

impl From<u64> for Datum {
    fn from(i: u64) -> Datum {
        i128::from(i).into()
    }
}

impl From<i128> for Datum {
    fn from(i: i128) -> Datum {
        i64::try_from(i).map_or_else(|_| Datum::Big(i.to_string()), Datum::Int)
    }
}

impl From<&str> for Datum {
    fn from(s: &str) -> Datum {
        Datum::Str(s.into())
    }
}

impl From<String> for Datum {
    fn from(s: String) -> Datum {
        Datum::Str(s)
    }
}

impl From<bool> for Datum {
    fn from(b: bool) -> Datum {
        Datum::Bool(b)
    }
}

impl From<f64> for Datum {
    fn from(x: f64) -> Datum {
        Datum::Float(x)
    }
}

impl<T: Into<Datum>> From<Vec<T>> for Datum {
    fn from(items: Vec<T>) -> Datum {
        Datum::Vector(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Datum>> From<Option<T>> for Datum {
    fn from(value: Option<T>) -> Datum {
        value.map_or(Datum::Nil, Into::into)
    }
}

impl fmt::Display for Datum {
    /// Writes EDN.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::text::write::edn::datum(f, self)
    }
}
