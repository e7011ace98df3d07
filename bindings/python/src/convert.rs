//! Converts Python objects to values.

use crate::error::Refused;
use history_core::Datum;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyMapping, PySet, PyString, PyTuple};

/// The maximum depth of containers. histcheck has its own limit; this one is for objects that contain themselves.
const DEPTH_MAX: usize = 200;

/// The types of values.
const EXPECTED: &str = "None, a bool, int, float, str, list, tuple, set or dict";

/// The UTF-8 text of a string. A string with half of a surrogate pair has none.
pub(crate) fn utf8<'t>(text: &'t Bound<'_, PyString>) -> Result<&'t str, Refused> {
    text.to_str().map_err(|_| excluded(text, "it has half of a surrogate pair"))
}

/// A value, `depth` containers deep.
pub(crate) fn datum(value: &Bound<'_, PyAny>, depth: usize) -> Result<Datum, Refused> {
    if depth > DEPTH_MAX {
        return Err(Refused::because(format!("a value is nested more than {DEPTH_MAX} deep, or contains itself")));
    }
    // Tests the most frequent type first, with one comparison: a bool is an int in Python, but not exactly one.
    if let Ok(number) = value.cast_exact::<PyInt>() {
        return int(number);
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Datum::Str(utf8(text)?.to_owned()));
    }
    if let Ok(items) = value.cast::<PyList>() {
        return list(items, depth);
    }
    if value.is_none() {
        return Ok(Datum::Nil);
    }
    if let Ok(items) = value.cast::<PyTuple>() {
        return items.iter().map(|item| datum(&item, depth + 1)).collect::<Result<_, _>>().map(Datum::Vector);
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Datum::Bool(value.is_true()));
    }
    if let Ok(number) = value.cast::<PyInt>() {
        return int(number);
    }
    if let Ok(fields) = value.cast::<PyDict>() {
        // Copied for the same reason as the op's dict.
        return map(&fields.copy()?, depth);
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(Datum::Float(number.value()));
    }
    other(value, depth)
}

fn map(fields: &Bound<'_, PyDict>, depth: usize) -> Result<Datum, Refused> {
    let entries = fields.iter().map(|(key, value)| Ok((datum(&key, depth + 1)?, datum(&value, depth + 1)?)));
    entries.collect::<Result<_, Refused>>().map(Datum::Map)
}

#[inline]
fn int(number: &Bound<'_, PyInt>) -> Result<Datum, Refused> {
    if let Ok(number) = number.extract() {
        return Ok(Datum::Int(number));
    }
    // Not `str`, which a subclass may override: two different numbers could then have the same text.
    let text = number.py().get_type::<PyInt>().call_method1("__repr__", (number,));
    // Python limits the number of digits.
    let text =
        text.map_err(|error| Refused::because(format!("an int cannot be in a history: {}", error.value(number.py()))));
    let text = text?.extract::<String>()?;
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if is_number { Ok(Datum::Big(text)) } else { Err(Refused::because(format!("{text} is no int"))) }
}

/// Converts a list. Most values in histories are integers in lists.
fn list(list: &Bound<'_, PyList>, depth: usize) -> Result<Datum, Refused> {
    let len = list.len();
    let mut items = Vec::with_capacity(len);
    for at in 0..len {
        let Ok(item) = list.get_item(at) else { break };
        items.push(match item.cast_exact::<PyInt>() {
            Ok(number) => int(number)?,
            Err(_) => datum(&item, depth + 1)?,
        });
    }
    // Converting numbers of other libraries runs their code, which may change the list.
    if list.len() != len {
        return Err(Refused::because("a list became longer or shorter while it was read"));
    }
    Ok(Datum::Vector(items))
}

/// Converts rare types: sets, other mappings than dicts, and numbers of other libraries.
#[cold]
fn other(value: &Bound<'_, PyAny>, depth: usize) -> Result<Datum, Refused> {
    if value.is_instance_of::<PySet>() || value.is_instance_of::<PyFrozenSet>() {
        let mut items = Vec::new();
        for item in value.try_iter()? {
            items.push(datum(&item?, depth + 1)?);
        }
        // The order of a set of strings differs between runs of Python.
        items.sort_by_cached_key(Datum::to_string);
        return Ok(Datum::Set(items));
    }
    if let Ok(fields) = value.cast::<PyMapping>() {
        return map(
            &value.py().get_type::<PyDict>().call1((fields,))?.cast_into::<PyDict>().map_err(PyErr::from)?,
            depth,
        );
    }
    // An array or a number of numpy and similar libraries can convert itself to a Python object. If it has no such
    // form, it returns itself.
    if value.hasattr("dtype")? && value.hasattr("tolist")? {
        require_meaning(value)?;
        let plain = value.call_method0("tolist")?;
        if !plain.get_type().is(value.get_type()) {
            return datum(&plain, depth + 1);
        }
    }
    // By Python's contract, an object with `__index__` is an integer. `__float__` has no such contract: Decimal,
    // Fraction and numpy's bool have it, and different values of theirs become the same float.
    match value.py().import("operator")?.call_method1("index", (value,)) {
        Ok(number) => int(number.cast::<PyInt>().map_err(PyErr::from)?),
        Err(error) if !error.is_instance_of::<PyTypeError>(value.py()) => Err(error.into()),
        Err(_) => Err(Refused::Object {
            message: format!("{} cannot be in a history", shown(value)),
            expected: Some(EXPECTED.to_owned()),
        }),
    }
}

/// Refuses arrays that omit a part of the meaning when they convert themselves: the unit of a time (5 ns and 5 years
/// both become 5), and that a value is masked.
fn require_meaning(value: &Bound<'_, PyAny>) -> Result<(), Refused> {
    let dtype = value.getattr("dtype")?.str()?.to_string();
    if ["datetime64", "timedelta64", "M8[", "m8["].iter().any(|name| dtype.contains(name)) {
        return Err(excluded(value, &format!("{dtype} has a unit; convert it to an int of one unit")));
    }
    if value.hasattr("filled")? && value.hasattr("mask")? {
        return Err(excluded(value, "an array with a mask has no value there"));
    }
    Ok(())
}

fn excluded(value: &Bound<'_, PyAny>, why: &str) -> Refused {
    Refused::because(format!("{} cannot be in a history; {why}", shown(value)))
}

/// The text of a value in Python, cut to a readable length.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    const CHARS_MAX: usize = 60;
    let text = value.repr().map_or_else(|_| "an object".to_owned(), |text| text.to_string());
    // Arrays have lines.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() > CHARS_MAX { text.chars().take(CHARS_MAX).chain("...".chars()).collect() } else { text }
}
