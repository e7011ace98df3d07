//! Serialization of values: exact in EDN, and as the most similar value in other formats.

use super::{EDN, Keyword, LIST, SET, STR, TAGGED};
use crate::Datum;
use serde::de::{Deserialize, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};
use std::fmt;

impl Serialize for Datum {
    /// JSON: keywords, symbols and characters become strings, lists and sets arrays, a tagged value
    /// `{"tag": ..., "value": ...}`, keys that are not names their EDN text.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Datum::Nil => serializer.serialize_unit(),
            Datum::Bool(b) => serializer.serialize_bool(*b),
            Datum::Int(i) => serializer.serialize_i64(*i),
            Datum::Big(text) => match text.parse() {
                Ok(i) => serializer.serialize_i128(i),
                Err(_) => written(self, serializer),
            },
            Datum::Float(x) if x.is_finite() => serializer.serialize_f64(*x),
            Datum::Char(c) => serializer.serialize_char(*c),
            Datum::Str(s) => serializer.serialize_str(s),
            Datum::Keyword(name) => Keyword(name).serialize(serializer),
            Datum::Float(_) | Datum::Symbol(_) => written(self, serializer),
            Datum::Vector(items) => serializer.collect_seq(items),
            Datum::List(items) => serializer.serialize_newtype_struct(LIST, items),
            Datum::Set(items) => serializer.serialize_newtype_struct(SET, items),
            Datum::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(&Key(key), value)?;
                }
                map.end()
            }
            Datum::Tagged(tag, value) => {
                let mut tagged = serializer.serialize_struct(TAGGED, 2)?;
                tagged.serialize_field("tag", tag)?;
                tagged.serialize_field("value", value)?;
                tagged.end()
            }
        }
    }
}

/// Serializes the EDN text of a value that has no other form.
fn written<S: Serializer>(datum: &Datum, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_newtype_struct(EDN, &datum.to_string())
}

/// A key of a map. Serializers for JSON convert integers and booleans to strings, because JSON's keys are strings.
struct Key<'a>(&'a Datum);

impl Serialize for Key<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Datum::Str(s) => serializer.serialize_newtype_struct(STR, s),
            key @ (Datum::Bool(_) | Datum::Int(_) | Datum::Keyword(_)) => key.serialize(serializer),
            key => written(key, serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Datum {
    /// Deserializes the kinds of values that the format has: JSON's strings become strings, and its arrays vectors.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Datum, D::Error> {
        deserializer.deserialize_any(DatumVisitor)
    }
}

struct DatumVisitor;

impl<'de> Visitor<'de> for DatumVisitor {
    type Value = Datum;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Datum, E> {
        Ok(Datum::Nil)
    }

    fn visit_none<E>(self) -> Result<Datum, E> {
        Ok(Datum::Nil)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Datum, D::Error> {
        Datum::deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Datum, D::Error> {
        Datum::deserialize(deserializer)
    }

    fn visit_bool<E>(self, b: bool) -> Result<Datum, E> {
        Ok(Datum::Bool(b))
    }

    fn visit_i64<E>(self, i: i64) -> Result<Datum, E> {
        Ok(Datum::Int(i))
    }

    fn visit_u64<E>(self, i: u64) -> Result<Datum, E> {
        Ok(i.into())
    }

    fn visit_i128<E>(self, i: i128) -> Result<Datum, E> {
        Ok(i64::try_from(i).map_or_else(|_| Datum::Big(i.to_string()), Datum::Int))
    }

    fn visit_u128<E>(self, i: u128) -> Result<Datum, E> {
        Ok(i64::try_from(i).map_or_else(|_| Datum::Big(i.to_string()), Datum::Int))
    }

    fn visit_f64<E>(self, x: f64) -> Result<Datum, E> {
        Ok(Datum::Float(x))
    }

    fn visit_char<E>(self, c: char) -> Result<Datum, E> {
        Ok(Datum::Char(c))
    }

    fn visit_str<E>(self, s: &str) -> Result<Datum, E> {
        Ok(s.into())
    }

    fn visit_string<E>(self, s: String) -> Result<Datum, E> {
        Ok(s.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Datum, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Datum::Vector(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Datum, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Datum::Map(entries))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Datum, A::Error> {
        let (variant, access) = data.variant::<String>()?;
        access.unit_variant()?;
        Ok(Datum::Keyword(variant))
    }
}
