//! The effects of the operations of a part on a collection, with numbered values; or that no monitor can decide it.

use super::{Handling, Object};
use crate::search::part::Part;
use history_core::cast::Cast as _;
use history_core::hash::HashMap;

/// Stands for no operation, and for no value.
pub(super) const NONE: u32 = u32::MAX;

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Doing {
    /// It put the value in.
    Put(u32),
    /// It took the value out.
    Take(u32),
    /// It found nothing.
    Nothing,
    /// It crashed, and may have taken any value.
    Any,
}

/// What the operations of a part do.
#[derive(Debug)]
pub(super) struct Sheet {
    /// By operation.
    pub(super) doings: Vec<Doing>,
    /// The values at the start, in the order in which they were put in.
    pub(super) initial: Vec<u32>,
    /// By value: who puts it in, if anybody ever does.
    pub(super) put: Vec<u32>,
    /// By value.
    pub(super) priority: Vec<i64>,
}

impl Sheet {
    /// `None` if a value is put in twice, or an operation does something that no monitor knows.
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

/// The values at the start that the part is about.
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
