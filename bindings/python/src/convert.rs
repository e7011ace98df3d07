//! Converts Python objects to ops and values.

use history_core::{Datum, NewOp, OpKind, Process, TimeUnit};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple};

/// The maximum depth of containers. histcheck has its own limit; this one is for objects that contain themselves.
const DEPTH_MAX: usize = 200;

/// An op with the texts that it borrows.
pub(crate) struct GivenOp<'py> {
    kind: OpKind,
    process: GivenProcess<'py>,
    f: Option<Bound<'py, PyString>>,
    value: Datum,
    index: Option<u64>,
    time_ns: Option<i64>,
    extra: Vec<(Bound<'py, PyString>, Datum)>,
}

enum GivenProcess<'py> {
    Client(i64),
    Name(Bound<'py, PyString>),
    Unknown,
}

impl<'py> GivenOp<'py> {
    /// Converts a dict, whose time is in this unit.
    pub(crate) fn of(op: &Bound<'py, PyAny>, unit: Option<TimeUnit>) -> PyResult<GivenOp<'py>> {
        let expected = "expected a dict like {'type': 'invoke', 'process': 0, 'f': 'read', 'value': None}";
        let Ok(fields) = op.cast::<PyDict>() else {
            return Err(PyTypeError::new_err(format!("an op is a {}; {expected}", op.get_type().name()?)));
        };
        let mut given = GivenOp {
            kind: OpKind::Invoke,
            process: GivenProcess::Unknown,
            f: None,
            value: Datum::Nil,
            index: None,
            time_ns: None,
            extra: Vec::new(),
        };
        let mut has_type = false;
        // The dict is copied, because reading a value may run code that changes it.
        for (name, value) in fields.copy()? {
            let Ok(name) = name.cast_into::<PyString>() else {
                return Err(PyTypeError::new_err(format!("the names of an op's fields are strings; {expected}")));
            };
            match utf8(&name)? {
                "type" => (given.kind, has_type) = (kind(&value)?, true),
                "process" => given.process = process(value)?,
                "f" => given.f = (!value.is_none()).then(|| text(value, "f")).transpose()?,
                "value" => given.value = datum(&value, 0)?,
                "index" => given.index = integer(&value, "index")?,
                "time" => given.time_ns = time(&value, unit)?,
                _ => given.extra.push((name.clone(), datum(&value, 1)?)),
            }
        }
        if has_type { Ok(given) } else { Err(PyValueError::new_err(format!("an op has no 'type'; {expected}"))) }
    }

    /// Passes the op to `take` in histcheck's type.
    pub(crate) fn with_op<R>(self, take: impl FnOnce(&NewOp<'_>) -> R) -> PyResult<R> {
        let process = match &self.process {
            GivenProcess::Client(number) => Process::Client(*number),
            GivenProcess::Name(name) => Process::from(utf8(name)?),
            GivenProcess::Unknown => Process::Unknown,
        };
        let mut extra = Vec::with_capacity(self.extra.len());
        for (name, value) in &self.extra {
            extra.push((utf8(name)?, value.clone()));
        }
        let mut op = NewOp::new(self.kind, process);
        op.f = self.f.as_ref().map(utf8).transpose()?;
        (op.value, op.index, op.time_ns, op.extra) = (self.value, self.index, self.time_ns, extra);
        Ok(take(&op))
    }
}

fn kind(value: &Bound<'_, PyAny>) -> PyResult<OpKind> {
    let name = value.cast::<PyString>().ok().map(utf8).transpose()?;
    name.and_then(|name| name.parse().ok()).ok_or_else(|| {
        let expected = "expected 'invoke', 'ok', 'fail' or 'info'";
        PyValueError::new_err(format!("the type of an op is {}; {expected}", shown(value)))
    })
}

fn process(value: Bound<'_, PyAny>) -> PyResult<GivenProcess<'_>> {
    if value.is_none() {
        return Ok(GivenProcess::Unknown);
    }
    match value.cast_into::<PyString>() {
        Ok(name) => Ok(GivenProcess::Name(name)),
        Err(other) => {
            let value = other.into_inner();
            let number = value.extract::<i64>().ok().filter(|_| !value.is_instance_of::<PyBool>());
            number.map(GivenProcess::Client).ok_or_else(|| {
                PyTypeError::new_err(format!(
                    "the process of an op is {}; expected an int, a str or None",
                    shown(&value)
                ))
            })
        }
    }
}

fn text<'py>(value: Bound<'py, PyAny>, field: &str) -> PyResult<Bound<'py, PyString>> {
    value.cast_into::<PyString>().map_err(|other| {
        let value = other.into_inner();
        PyTypeError::new_err(format!("the field {field} of an op is {}; expected a str or None", shown(&value)))
    })
}

/// The UTF-8 text of a string. A string with half of a surrogate pair has none.
fn utf8<'t>(text: &'t Bound<'_, PyString>) -> PyResult<&'t str> {
    text.to_str().map_err(|_| {
        let why = "it has half of a surrogate pair";
        PyTypeError::new_err(format!("{} cannot be in a history; {why}", shown(text)))
    })
}

/// A time in nanoseconds. With a unit, it may be a float, as in a text.
fn time(value: &Bound<'_, PyAny>, unit: Option<TimeUnit>) -> PyResult<Option<i64>> {
    let Some(unit) = unit.filter(|_| !value.is_none()) else {
        return integer(value, "time");
    };
    let text = match value.cast::<PyFloat>() {
        Ok(number) if number.value().is_finite() => Some(number.value().to_string()),
        _ => integer::<i64>(value, "time")?.map(|number| number.to_string()),
    };
    let ns = text.and_then(|text| unit.nanoseconds(&text));
    ns.map(Some).ok_or_else(|| {
        let expected = "a number of nanoseconds between -2^63 and 2^63";
        PyValueError::new_err(format!(
            "the field time of an op is {} in {}; expected {expected}",
            shown(value),
            unit.name()
        ))
    })
}

fn integer<'py, T: for<'a> FromPyObject<'a, 'py>>(value: &Bound<'py, PyAny>, field: &str) -> PyResult<Option<T>> {
    if value.is_none() {
        return Ok(None);
    }
    value.extract::<T>().map(Some).map_err(|_| {
        let expected = if field == "time" { "an int of nanoseconds" } else { "an int that is not negative" };
        PyTypeError::new_err(format!("the field {field} of an op is {}; expected {expected} or None", shown(value)))
    })
}

/// A value, `depth` containers deep.
pub(crate) fn datum(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Datum> {
    if depth > DEPTH_MAX {
        return Err(PyValueError::new_err(format!("a value is nested more than {DEPTH_MAX} deep")));
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
        return items.iter().map(|item| datum(&item, depth + 1)).collect::<PyResult<_>>().map(Datum::Vector);
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Datum::Bool(value.is_true()));
    }
    if let Ok(number) = value.cast::<PyInt>() {
        return int(number);
    }
    if let Ok(fields) = value.cast::<PyDict>() {
        // Copied for the same reason as the op's dict.
        let fields = fields.copy()?;
        let entries = fields.iter().map(|(key, value)| Ok((datum(&key, depth + 1)?, datum(&value, depth + 1)?)));
        return Ok(Datum::Map(entries.collect::<PyResult<_>>()?));
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(Datum::Float(number.value()));
    }
    other(value, depth)
}

#[inline]
fn int(number: &Bound<'_, PyInt>) -> PyResult<Datum> {
    if let Ok(number) = number.extract() {
        return Ok(Datum::Int(number));
    }
    // Not `str`, which a subclass may override: two different numbers could then have the same text.
    let text = number.py().get_type::<PyInt>().call_method1("__repr__", (number,))?.extract::<String>()?;
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if is_number { Ok(Datum::Big(text)) } else { Err(PyValueError::new_err(format!("{text} is no int"))) }
}

/// Converts a list. Most values in histories are integers in lists.
fn list(list: &Bound<'_, PyList>, depth: usize) -> PyResult<Datum> {
    let len = list.len();
    let mut items = Vec::with_capacity(len);
    for at in 0..len {
        let item = list.get_item(at)?;
        items.push(match item.cast_exact::<PyInt>() {
            Ok(number) => int(number)?,
            Err(_) => datum(&item, depth + 1)?,
        });
    }
    // Converting numbers of other libraries runs their code, which may change the list.
    if list.len() != len {
        return Err(PyValueError::new_err("a list became longer or shorter while it was read"));
    }
    Ok(Datum::Vector(items))
}

/// Converts rare types: sets, and numbers of other libraries.
#[cold]
fn other(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Datum> {
    if value.is_instance_of::<PySet>() || value.is_instance_of::<PyFrozenSet>() {
        let mut items = Vec::new();
        for item in value.try_iter()? {
            items.push(datum(&item?, depth + 1)?);
        }
        // The order of a set of strings differs between runs of Python.
        items.sort_by_cached_key(Datum::to_string);
        return Ok(Datum::Set(items));
    }
    // An array or a number of numpy and similar libraries can convert itself to a Python object. If it has no such
    // form, it returns itself.
    if value.hasattr("dtype")? && value.hasattr("tolist")? {
        let plain = value.call_method0("tolist")?;
        if !plain.get_type().is(value.get_type()) {
            return datum(&plain, depth + 1);
        }
    }
    // By Python's contract, an object with `__index__` is an integer. `__float__` has no such contract: Decimal,
    // Fraction and numpy's bool have it, and different values of theirs become the same float.
    if let Ok(number) = value.py().import("operator")?.call_method1("index", (value,)) {
        return int(number.cast::<PyInt>()?);
    }
    let expected = "expected None, a bool, int, float, str, list, tuple, set or dict";
    Err(PyTypeError::new_err(format!("{} cannot be in a history; {expected}", shown(value))))
}

/// The text of a value in Python, cut to a readable length.
fn shown(value: &Bound<'_, PyAny>) -> String {
    const CHARS_MAX: usize = 60;
    let text = value.repr().map_or_else(|_| "an object".to_owned(), |text| text.to_string());
    if text.chars().count() > CHARS_MAX { text.chars().take(CHARS_MAX).chain("...".chars()).collect() } else { text }
}
