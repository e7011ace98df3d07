//! The effects of the operations of a part on a collection, with numbered values, if a monitor may decide it.

use super::{Handling, Object};
use crate::search::part::Part;
use history_core::cast::Cast as _;
use history_core::hash::HashMap;

/// Represents no operation and no value.
pub(super) const NONE: u32 = u32::MAX;

/// The effect of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Doing {
    /// It inserted the value.
    Put(u32),
    /// It removed the value.
    Take(u32),
    /// It found the collection empty.
    Nothing,
    /// It crashed, and may have removed any value.
    Any,
}

/// The effects of the operations of a part.
#[derive(Debug)]
pub(super) struct Sheet {
    /// By operation.
    pub(super) doings: Vec<Doing>,
    /// The initial values, in the order in which they were inserted.
    pub(super) initial: Vec<u32>,
    /// By value: the operation that inserts it; `NONE` if none does.
    pub(super) put: Vec<u32>,
    /// By value.
    pub(super) priority: Vec<i64>,
}

impl Sheet {
    /// Returns `None` if a value is inserted twice, or if some operation has an effect that monitors do not support.
    pub(super) fn new(part: &Part, object: &Object<'_>) -> Option<Sheet> {
        let doings = Vec::with_capacity(part.ops.len());
        let mut sheet = Sheet { doings, initial: Vec::new(), put: Vec::new(), priority: Vec::new() };
        let mut values: HashMap<i64, u32> = HashMap::default();
        for value in values_at_start(part, object)? {
            let id = sheet.value(&mut values, object, value);
            if id.to_usize() < sheet.initial.len() {
                return None;
            }
            sheet.initial.push(id);
        }
        let from_start = sheet.initial.len();
        for (at, op) in part.ops.iter().enumerate() {
            let doing = match (object.handling)(at)? {
                Handling::Put(value) => {
                    let id = sheet.value(&mut values, object, value);
                    let place = id.to_usize();
                    if place < from_start || sheet.put[place] != NONE {
                        return None;
                    }
                    sheet.put[place] = at.to_u32();
                    Doing::Put(id)
                }
                Handling::Take(value) => Doing::Take(sheet.value(&mut values, object, value)),
                Handling::Nothing => Doing::Nothing,
                Handling::Any if op.is_crashed() => Doing::Any,
                Handling::Any | Handling::All(_) => return None,
            };
            sheet.doings.push(doing);
        }
        Some(sheet)
    }

    /// The number of a value.
    fn value(&mut self, values: &mut HashMap<i64, u32>, object: &Object<'_>, value: i64) -> u32 {
        let new = self.put.len().to_u32();
        let id = *values.entry(value).or_insert(new);
        if id == new {
            self.put.push(NONE);
            self.priority.push((object.priority)(value));
        }
        id
    }
}

/// The initial values that concern the part.
fn values_at_start(part: &Part, object: &Object<'_>) -> Option<Vec<i64>> {
    if !object.is_part {
        return Some(object.initial.to_vec());
    }
    let mut values = Vec::new();
    for at in 0..part.ops.len() {
        if let Handling::Put(value) | Handling::Take(value) = (object.handling)(at)? {
            values.push(value);
        }
    }
    values.sort_unstable();
    values.dedup();
    let mut there = Vec::new();
    for value in values {
        let first = object.initial.partition_point(|other| *other < value);
        there.extend(object.initial[first..].iter().take_while(|other| **other == value));
    }
    Some(there)
}
