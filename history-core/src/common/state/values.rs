//! States of numbers, texts, collections and values of histories.

use super::{Damaged, In, Out, State};
use crate::cast::Cast as _;
use crate::{Datum, Position};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{BuildHasher, Hash};

impl State for u64 {
    fn save(&self, out: &mut Out) {
        let mut rest = *self;
        while rest >= 0x80 {
            out.push(&[(rest & 0x7f).to_u8() | 0x80]);
            rest >>= 7;
        }
        out.push(&[rest.to_u8()]);
    }

    fn load(from: &mut In<'_>) -> Result<u64, Damaged> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = u64::from(from.take(1)?[0]);
            let bits = byte & 0x7f;
            if shift == 63 && bits > 1 {
                return Err(Damaged);
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Damaged)
    }
}

impl State for i64 {
    /// Numbers near zero take few bytes, both positive and negative.
    fn save(&self, out: &mut Out) {
        ((self.cast_unsigned() << 1) ^ (self >> 63).cast_unsigned()).save(out);
    }

    fn load(from: &mut In<'_>) -> Result<i64, Damaged> {
        let value = u64::load(from)?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}

macro_rules! by_u64 {
    ($($number:ty),*) => {
        $(impl State for $number {
            fn save(&self, out: &mut Out) {
                self.to_u64().save(out);
            }

            fn load(from: &mut In<'_>) -> Result<$number, Damaged> {
                <$number>::try_from(u64::load(from)?).map_err(|_| Damaged)
            }
        })*
    };
}

by_u64!(u32, usize);

impl State for u8 {
    fn save(&self, out: &mut Out) {
        out.push(&[*self]);
    }

    fn load(from: &mut In<'_>) -> Result<u8, Damaged> {
        Ok(from.take(1)?[0])
    }
}

impl State for bool {
    fn save(&self, out: &mut Out) {
        u8::from(*self).save(out);
    }

    fn load(from: &mut In<'_>) -> Result<bool, Damaged> {
        match u8::load(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Damaged),
        }
    }
}

impl State for () {
    fn save(&self, _: &mut Out) {}

    fn load(_: &mut In<'_>) -> Result<(), Damaged> {
        Ok(())
    }
}

impl State for String {
    fn save(&self, out: &mut Out) {
        self.len().save(out);
        out.push(self.as_bytes());
    }

    fn load(from: &mut In<'_>) -> Result<String, Damaged> {
        let count = usize::load(from)?;
        let text = str::from_utf8(from.take(count)?).map_err(|_| Damaged)?;
        Ok(text.to_owned())
    }
}

impl State for Box<str> {
    fn save(&self, out: &mut Out) {
        self.len().save(out);
        out.push(self.as_bytes());
    }

    fn load(from: &mut In<'_>) -> Result<Box<str>, Damaged> {
        String::load(from).map(String::into_boxed_str)
    }
}

impl<T: State> State for Option<T> {
    fn save(&self, out: &mut Out) {
        self.is_some().save(out);
        if let Some(value) = self {
            value.save(out);
        }
    }

    fn load(from: &mut In<'_>) -> Result<Option<T>, Damaged> {
        bool::load(from)?.then(|| T::load(from)).transpose()
    }
}

impl<T: State> State for Vec<T> {
    fn save(&self, out: &mut Out) {
        self.len().save(out);
        for item in self {
            item.save(out);
        }
    }

    fn load(from: &mut In<'_>) -> Result<Vec<T>, Damaged> {
        let count = usize::load(from)?;
        let mut items = Vec::with_capacity(count.min(from.left()));
        for _ in 0..count {
            items.push(T::load(from)?);
        }
        Ok(items)
    }
}

impl<T: State> State for VecDeque<T> {
    fn save(&self, out: &mut Out) {
        self.len().save(out);
        for item in self {
            item.save(out);
        }
    }

    fn load(from: &mut In<'_>) -> Result<VecDeque<T>, Damaged> {
        Vec::load(from).map(VecDeque::from)
    }
}

impl<A: State, B: State> State for (A, B) {
    fn save(&self, out: &mut Out) {
        self.0.save(out);
        self.1.save(out);
    }

    fn load(from: &mut In<'_>) -> Result<(A, B), Damaged> {
        Ok((A::load(from)?, B::load(from)?))
    }
}

impl<A: State, B: State, C: State> State for (A, B, C) {
    fn save(&self, out: &mut Out) {
        self.0.save(out);
        self.1.save(out);
        self.2.save(out);
    }

    fn load(from: &mut In<'_>) -> Result<(A, B, C), Damaged> {
        Ok((A::load(from)?, B::load(from)?, C::load(from)?))
    }
}

impl<K: State + Ord, V: State> State for BTreeMap<K, V> {
    fn save(&self, out: &mut Out) {
        self.len().save(out);
        for (key, value) in self {
            key.save(out);
            value.save(out);
        }
    }

    fn load(from: &mut In<'_>) -> Result<BTreeMap<K, V>, Damaged> {
        let count = usize::load(from)?;
        (0..count).map(|_| <(K, V)>::load(from)).collect()
    }
}

impl<K: State + Ord + Hash, V: State, S: BuildHasher + Default> State for HashMap<K, V, S> {
    fn save(&self, out: &mut Out) {
        let mut entries: Vec<(&K, &V)> = self.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        entries.len().save(out);
        for (key, value) in entries {
            key.save(out);
            value.save(out);
        }
    }

    fn load(from: &mut In<'_>) -> Result<HashMap<K, V, S>, Damaged> {
        let count = usize::load(from)?;
        (0..count).map(|_| <(K, V)>::load(from)).collect()
    }
}

crate::state!(struct Position { offset, line, column });

impl State for Datum {
    /// Readers limit how deep values nest, and therefore the depth of this recursion.
    fn save(&self, out: &mut Out) {
        let mut number = |number: u8| number.save(out);
        match self {
            Datum::Nil => number(0),
            Datum::Bool(_) => number(1),
            Datum::Int(_) => number(2),
            Datum::Big(_) => number(3),
            Datum::Float(_) => number(4),
            Datum::Char(_) => number(5),
            Datum::Str(_) => number(6),
            Datum::Keyword(_) => number(7),
            Datum::Symbol(_) => number(8),
            Datum::Vector(_) => number(9),
            Datum::List(_) => number(10),
            Datum::Set(_) => number(11),
            Datum::Map(_) => number(12),
            Datum::Tagged(..) => number(13),
        }
        match self {
            Datum::Nil => {}
            Datum::Bool(value) => value.save(out),
            Datum::Int(value) => value.save(out),
            Datum::Float(value) => value.to_bits().save(out),
            Datum::Char(value) => u32::from(*value).save(out),
            Datum::Big(text) | Datum::Str(text) | Datum::Keyword(text) | Datum::Symbol(text) => text.save(out),
            Datum::Vector(items) | Datum::List(items) | Datum::Set(items) => items.save(out),
            Datum::Map(entries) => entries.save(out),
            Datum::Tagged(tag, value) => {
                tag.save(out);
                value.save(out);
            }
        }
    }

    fn load(from: &mut In<'_>) -> Result<Datum, Damaged> {
        Ok(match u8::load(from)? {
            0 => Datum::Nil,
            1 => Datum::Bool(State::load(from)?),
            2 => Datum::Int(State::load(from)?),
            3 => Datum::Big(State::load(from)?),
            4 => Datum::Float(f64::from_bits(State::load(from)?)),
            5 => Datum::Char(char::from_u32(State::load(from)?).ok_or(Damaged)?),
            6 => Datum::Str(State::load(from)?),
            7 => Datum::Keyword(State::load(from)?),
            8 => Datum::Symbol(State::load(from)?),
            9 => Datum::Vector(from.within(State::load)?),
            10 => Datum::List(from.within(State::load)?),
            11 => Datum::Set(from.within(State::load)?),
            12 => Datum::Map(from.within(State::load)?),
            13 => Datum::Tagged(State::load(from)?, Box::new(from.within(Datum::load)?)),
            _ => return Err(Damaged),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(value: &impl State) -> Vec<u8> {
        let mut out = Out::new(usize::MAX);
        value.save(&mut out);
        out.into_bytes().unwrap()
    }

    fn again<T: State + PartialEq + std::fmt::Debug>(value: &T) {
        let bytes = bytes(value);
        let mut from = In::new(&bytes);
        assert_eq!(T::load(&mut from).as_ref(), Ok(value));
        assert_eq!(from.end(), Ok(()));
        // No proper prefix of a state is a state.
        for end in 0..bytes.len() {
            assert_eq!(T::load(&mut In::new(&bytes[..end])), Err(Damaged), "{value:?}, {end} bytes");
        }
    }

    #[test]
    fn what_is_saved_is_loaded() {
        for value in [0, 1, 127, 128, 300, u64::MAX - 1, u64::MAX] {
            again(&value);
            again(&value.cast_signed());
            again(&value.cast_signed().wrapping_neg());
        }
        again(&(u32::MAX, usize::MAX, i64::MIN));
        again(&vec![Some(true), None, Some(false)]);
        again(&VecDeque::from(vec!["a".to_owned(), String::new(), "\u{e9}".to_owned()]));
        again(&BTreeMap::from([(3_u8, Box::<str>::from("x"))]));
        again(&(0..100_i64).map(|at| (at - 50, at)).collect::<crate::hash::HashMap<_, _>>());
        assert_eq!(bytes(&-1_i64), [1]);
    }

    #[test]
    fn values_are_loaded_as_they_were() {
        let text = r#"{:type :ok, :value [nil true 3 -4611686018427387905 123456789012345678901234567890N 1.5 -0.0 \a "s" :k sym
            (1 [2]) #{1 :a} {:k [1] "s" nil} #inst "2020"]}"#;
        let history = crate::History::parse(text).unwrap();
        again(&history.op(0).value.to_datum());
    }

    #[test]
    fn maps_have_one_form() {
        let (mut up, mut down) = (crate::hash::HashMap::default(), crate::hash::HashMap::default());
        for at in 0..1000_u64 {
            up.insert(at, at);
            down.insert(999 - at, 999 - at);
        }
        assert_eq!(bytes(&up), bytes(&down));
    }

    #[test]
    fn nothing_is_kept_beyond_the_limit() {
        let mut out = Out::new(3);
        out.push(&[1, 2, 3]);
        assert_eq!(out.clone().into_bytes(), Some(vec![1, 2, 3]));
        out.push(&[4]);
        out.push(&[]);
        assert_eq!(out.into_bytes(), None);
    }

    #[test]
    fn numbers_that_do_not_fit_are_damage() {
        assert_eq!(u64::load(&mut In::new(&[0xff; 11])), Err(Damaged));
        assert_eq!(u64::load(&mut In::new(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2])), Err(Damaged));
        assert_eq!(u32::load(&mut In::new(&bytes(&(1_u64 << 32)))), Err(Damaged));
        assert_eq!(bool::load(&mut In::new(&[2])), Err(Damaged));
        assert_eq!(In::new(&[1]).end(), Err(Damaged));
        // Lists that each contain one list, without an end.
        assert_eq!(Datum::load(&mut In::new(&[9, 1].repeat(1_000_000))), Err(Damaged));
    }
}
