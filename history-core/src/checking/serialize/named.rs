//! Serializes pairs of a name and a value as a map that keeps their order.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

type Name = Cow<'static, str>;

/// The function for `#[serde(with)]`.
pub(crate) fn serialize<S: Serializer, T: Serialize>(pairs: &[(Name, T)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

/// The function for `#[serde(with)]`.
pub(crate) fn deserialize<'de, D, T>(deserializer: D) -> Result<Vec<(Name, T)>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct PairsVisitor<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for PairsVisitor<T> {
        type Value = Vec<(Name, T)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut pairs = Vec::new();
            while let Some((name, value)) = map.next_entry::<String, T>()? {
                pairs.push((Cow::Owned(name), value));
            }
            Ok(pairs)
        }
    }

    deserializer.deserialize_map(PairsVisitor(PhantomData))
}
