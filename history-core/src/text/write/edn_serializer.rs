//! Writes anything that serde can serialize as EDN.

mod items;

use super::edn;
use crate::checking::serialize::{EDN, KEYWORD, LIST, SET, STR, TAGGED};
use items::Items;
use serde::ser::{self, Serialize, Serializer as _};
use std::fmt::{self, Write};

/// Why something cannot be written as EDN: the error of its `Serialize`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdnError(String);

impl fmt::Display for EdnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EdnError {}

impl ser::Error for EdnError {
    fn custom<T: fmt::Display>(message: T) -> EdnError {
        EdnError(message.to_string())
    }
}

impl From<fmt::Error> for EdnError {
    fn from(error: fmt::Error) -> EdnError {
        EdnError(error.to_string())
    }
}

/// The EDN of a value, as Clojure would write a similar value.
///
/// Names of fields and variants become keywords, with dashes instead of underscores; so do string keys of maps that can
/// be keywords. `None` and `()` are `nil`. A [`Datum`](crate::Datum) is written as the value that it represents.
///
/// ```
/// use history_core::{Datum, Report, Verdict, to_edn};
///
/// #[derive(serde::Serialize)]
/// struct Read { op_index: u64, value: Datum }
///
/// let read = Read { op_index: 3, value: Datum::keyword("x") };
/// assert_eq!(to_edn(&read)?, "{:op-index 3, :value :x}");
/// let report = Report::new("set", Verdict::Unknown);
/// assert!(to_edn(&report)?.starts_with("{:checker :set, :valid :unknown, :anomaly-types [], "));
/// # Ok::<(), history_core::EdnError>(())
/// ```
///
/// # Errors
///
/// If the value's own `Serialize` fails.
pub fn to_edn(value: &(impl Serialize + ?Sized)) -> Result<String, EdnError> {
    let mut out = String::new();
    value.serialize(EdnSerializer { out: &mut out, place: Place::Value })?;
    Ok(out)
}

/// The kind of the next string or sequence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Value,
    Key,
    Keyword,
    Str,
    Edn,
    Tag,
    List,
    Set,
}

struct EdnSerializer<'a> {
    out: &'a mut String,
    place: Place,
}

fn serializer(out: &mut String, place: Place) -> EdnSerializer<'_> {
    EdnSerializer { out, place }
}

/// Writes a field or variant, in Clojure's style of names.
fn name(out: &mut String, name: &str) -> fmt::Result {
    edn::name(out, &name.replace('_', "-"))
}

impl<'a> EdnSerializer<'a> {
    fn shown(self, value: impl fmt::Display) -> Result<(), EdnError> {
        Ok(write!(self.out, "{value}")?)
    }

    /// Writes an integer, with the suffix `N` if it is beyond `i64`.
    fn integer(self, v: impl fmt::Display + Copy + TryInto<i64>) -> Result<(), EdnError> {
        match v.try_into() {
            Ok(small) => self.serialize_i64(small),
            Err(_) => Ok(edn::big(self.out, &v.to_string())?),
        }
    }

    fn seq(self) -> Items<'a> {
        let (open, close) = match self.place {
            Place::List => ("(", ")"),
            Place::Set => ("#{", "}"),
            _ => ("[", "]"),
        };
        Items::open(self.out, open, close)
    }

    fn variant(self, variant: &str, open: &str, close: &'static str) -> Result<Items<'a>, EdnError> {
        self.out.push('{');
        name(self.out, variant)?;
        self.out.push(' ');
        Ok(Items::open(self.out, open, close))
    }
}

impl<'a> ser::Serializer for EdnSerializer<'a> {
    type Ok = ();
    type Error = EdnError;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Items<'a>;
    type SerializeStruct = Items<'a>;
    type SerializeStructVariant = Items<'a>;

    fn serialize_bool(self, v: bool) -> Result<(), EdnError> {
        self.shown(v)
    }

    fn serialize_i8(self, v: i8) -> Result<(), EdnError> {
        self.shown(v)
    }

    fn serialize_i16(self, v: i16) -> Result<(), EdnError> {
        self.shown(v)
    }

    fn serialize_i32(self, v: i32) -> Result<(), EdnError> {
        self.shown(v)
    }

    fn serialize_i64(self, v: i64) -> Result<(), EdnError> {
        self.shown(v)
    }

    fn serialize_i128(self, v: i128) -> Result<(), EdnError> {
        self.integer(v)
    }

    fn serialize_u8(self, v: u8) -> Result<(), EdnError> {
        self.shown(v)
    }

    fn serialize_u16(self, v: u16) -> Result<(), EdnError> {
        self.shown(v)
    }

    fn serialize_u32(self, v: u32) -> Result<(), EdnError> {
        self.shown(v)
    }

    fn serialize_u64(self, v: u64) -> Result<(), EdnError> {
        self.integer(v)
    }

    fn serialize_u128(self, v: u128) -> Result<(), EdnError> {
        self.integer(v)
    }

    fn serialize_f32(self, v: f32) -> Result<(), EdnError> {
        // The shortest text of the f32 itself, not that of the nearest f64.
        if v.is_finite() { self.shown(format_args!("{v:?}")) } else { self.serialize_f64(v.into()) }
    }

    fn serialize_f64(self, v: f64) -> Result<(), EdnError> {
        Ok(edn::float(self.out, v)?)
    }

    fn serialize_char(self, v: char) -> Result<(), EdnError> {
        Ok(edn::shown_char(self.out, v)?)
    }

    fn serialize_str(self, v: &str) -> Result<(), EdnError> {
        match self.place {
            Place::Key => edn::name(self.out, v)?,
            Place::Keyword => edn::shown_keyword(self.out, v)?,
            Place::Edn => self.out.push_str(v),
            Place::Tag => edn::shown_tag(self.out, v)?,
            Place::Value | Place::Str | Place::List | Place::Set => edn::string(self.out, v)?,
        }
        Ok(())
    }

    fn serialize_bytes(self, v: &[u8]) -> Result<(), EdnError> {
        v.serialize(self)
    }

    fn serialize_none(self) -> Result<(), EdnError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), EdnError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), EdnError> {
        self.shown("nil")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), EdnError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), EdnError> {
        Ok(name(self.out, variant)?)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<(), EdnError> {
        let place = match name {
            KEYWORD => Place::Keyword,
            STR => Place::Str,
            EDN => Place::Edn,
            LIST => Place::List,
            SET => Place::Set,
            _ => self.place,
        };
        value.serialize(serializer(self.out, place))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), EdnError> {
        let mut items = Items::open(self.out, "{", "}");
        items.field(variant, value)?;
        items.finish();
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'a>, EdnError> {
        Ok(self.seq())
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'a>, EdnError> {
        Ok(self.seq())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'a>, EdnError> {
        Ok(self.seq())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'a>, EdnError> {
        self.variant(variant, "[", "]}")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Items<'a>, EdnError> {
        Ok(Items::open(self.out, "{", "}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Items<'a>, EdnError> {
        if name == TAGGED {
            return Ok(Items::tagged(self.out));
        }
        Ok(Items::open(self.out, "{", "}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'a>, EdnError> {
        self.variant(variant, "{", "}}")
    }
}
