//! Values and keys under other names, the same one for the same value wherever it stands.

use crate::case::{Case, Event, Random, Who};
use crate::world::{Values, World};
use history_core::Datum;
use std::collections::HashMap;

/// Another name for an integer: a different one for each.
#[derive(Clone, Copy, Debug)]
enum Renaming {
    Affine(i64, i64),
    Text,
    Keyword,
}

impl Renaming {
    fn chosen(random: &mut Random) -> Renaming {
        match random.below(4) {
            0 => Renaming::Text,
            1 => Renaming::Keyword,
            2 => Renaming::Affine(-1, 1_000_000 + random.number(1000)),
            _ => Renaming::Affine(7, 1_000_000 + random.number(1000)),
        }
    }

    fn of(self, number: i64) -> Datum {
        match self {
            Renaming::Affine(a, b) => Datum::Int(a * number + b),
            Renaming::Text => Datum::Str(format!("v{number}")),
            Renaming::Keyword => Datum::Keyword(format!("v{number}")),
        }
    }

    /// All integers in a value.
    fn all(self, value: &mut Datum) {
        match value {
            Datum::Int(number) => *value = self.of(*number),
            Datum::Vector(items) | Datum::List(items) | Datum::Set(items) => {
                for item in items {
                    self.all(item);
                }
            }
            Datum::Map(entries) => entries.iter_mut().for_each(|(_, item)| self.all(item)),
            _ => {}
        }
    }

    /// The part of each micro-op at a place.
    fn mops(self, value: &mut Datum, place: usize) {
        let Datum::Vector(mops) = value else { return };
        for mop in mops {
            if let Datum::Vector(parts) = mop
                && let Some(part) = parts.get_mut(place)
            {
                self.all(part);
            }
        }
    }
}

/// Each character is another one: what is put together of texts stays that.
fn rotated(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_graphic() { char::from(b'!' + (c as u8 - b'!' + 33) % 94) } else { c }).collect()
}

/// The history with other values, if they mean nothing but themselves.
pub(crate) fn values(world: &World, case: &Case, random: &mut Random) -> Option<Case> {
    let renaming = Renaming::chosen(random);
    Some(match world.values {
        Values::Mops => case.map(|event| renaming.mops(&mut event.value, 2)),
        Values::Plain => case.map(|event| renaming.all(&mut event.value)),
        Values::Strings | Values::Ids => case.map(|event| {
            if let Datum::Str(text) = &mut event.value {
                *text = rotated(text);
            }
        }),
        Values::Meaningful => return None,
    })
}

/// The history with other keys, if it has some that mean nothing but themselves.
pub(crate) fn keys(world: &World, case: &Case, random: &mut Random) -> Option<Case> {
    let renaming = Renaming::chosen(random);
    Some(match world.values {
        Values::Mops => case.map(|event| renaming.mops(&mut event.value, 1)),
        Values::Strings => case.map(|event| {
            for (name, value) in &mut event.extra {
                if let ("key", Datum::Str(text)) = (name.as_str(), value) {
                    *text = rotated(text);
                }
            }
        }),
        _ => return None,
    })
}

/// The history with other clients: other numbers, in another order, or names.
pub(crate) fn clients(case: &Case, random: &mut Random) -> Case {
    let mut seen: HashMap<i64, Who> = HashMap::new();
    let first = random.number(1000);
    let some_have_names = random.below(2) == 0;
    let mut rename = |event: &mut Event| {
        let Who::Number(number) = event.who else { return };
        event.who = seen
            .entry(number)
            .or_insert_with(|| match number {
                _ if some_have_names && number % 3 != 1 => Who::Name(format!("worker {number}")),
                // 7919 is a prime: all are different, and neither in their order nor in the one before.
                _ => Who::Number((number * 5003 + first + 1000) % 7919),
            })
            .clone();
    };
    case.map(&mut rename)
}
