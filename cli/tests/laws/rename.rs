//! Renames values and keys: equal values get the same new name everywhere.

use crate::case::{Case, Event, Random, Who};
use crate::world::{Values, World};
use history_core::Datum;
use std::collections::HashMap;

/// A renaming of integers: different integers get different names.
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

    /// Renames all integers in a value.
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

    /// Renames the part of each micro-op at a position.
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

/// Replaces each character, so that concatenations remain concatenations.
fn rotated(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_graphic() { char::from(b'!' + (c as u8 - b'!' + 33) % 94) } else { c }).collect()
}

/// The history with other values, if the values have no meaning of their own.
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

/// The history with other keys, if it has keys without a meaning of their own.
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

/// The history with other clients: with other numbers, in another order, or with names.
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
                // 7919 is a prime, so all numbers differ. Their order differs from the previous one, too.
                _ => Who::Number((number * 5003 + first + 1000) % 7919),
            })
            .clone();
    };
    case.map(&mut rename)
}
