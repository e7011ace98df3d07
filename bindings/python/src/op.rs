//! Converts Python's dicts to ops.

use crate::convert::{datum, shown, utf8};
use crate::error::Refused;
use history_core::{Datum, NewOp, OpKind, Process, TimeUnit};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyMapping, PyString};

/// What an op is.
const EXPECTED: &str = "a dict like {'type': 'invoke', 'process': 0, 'f': 'read', 'value': None}";

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
    pub(crate) fn of(op: &Bound<'py, PyAny>, unit: Option<TimeUnit>) -> Result<GivenOp<'py>, Refused> {
        let fields = fields(op)?;
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
        for (name, value) in fields {
            let Ok(name) = name.cast::<PyString>() else {
                return Err(Refused::new(format!("a field of an op has the name {}", shown(&name)), "a str"));
            };
            match utf8(name)? {
                "type" => (given.kind, has_type) = (kind(&value)?, true),
                "process" => given.process = process(value)?,
                "f" => given.f = (!value.is_none()).then(|| text(value, "f")).transpose()?,
                "value" => given.value = datum(&value, 0)?,
                "index" => given.index = integer(&value, "index")?,
                "time" => given.time_ns = time(&value, unit)?,
                _ => given.extra.push((name.clone(), datum(&value, 1)?)),
            }
        }
        if has_type { Ok(given) } else { Err(Refused::new("an op has no 'type'", EXPECTED)) }
    }

    /// Passes the op to `take` in histcheck's type.
    pub(crate) fn with_op<R>(self, take: impl FnOnce(&NewOp<'_>) -> R) -> Result<R, Refused> {
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

/// A copy of the op's fields, because reading a value may run code that changes them.
fn fields<'py>(op: &Bound<'py, PyAny>) -> Result<Bound<'py, PyDict>, Refused> {
    if let Ok(fields) = op.cast::<PyDict>() {
        return Ok(fields.copy()?);
    }
    if op.cast::<PyMapping>().is_ok() {
        return Ok(op.py().get_type::<PyDict>().call1((op,))?.cast_into::<PyDict>().map_err(PyErr::from)?);
    }
    let is_text = op.is_instance_of::<PyString>() || op.is_instance_of::<PyBytes>();
    let hint = if is_text { " (pass the path or bytes of a text)" } else { "" };
    Err(Refused::new(format!("an op is a {}", op.get_type().name()?), &format!("{EXPECTED}{hint}")))
}

fn kind(value: &Bound<'_, PyAny>) -> Result<OpKind, Refused> {
    let name = value.cast::<PyString>().ok().map(utf8).transpose()?;
    name.and_then(|name| name.parse().ok()).ok_or_else(|| {
        Refused::new(format!("the type of an op is {}", shown(value)), "'invoke', 'ok', 'fail' or 'info'")
    })
}

fn process(value: Bound<'_, PyAny>) -> Result<GivenProcess<'_>, Refused> {
    if value.is_none() {
        return Ok(GivenProcess::Unknown);
    }
    match value.cast_into::<PyString>() {
        Ok(name) => Ok(GivenProcess::Name(name)),
        Err(other) => {
            let value = other.into_inner();
            let number = value.extract::<i64>().ok().filter(|_| !value.is_instance_of::<PyBool>());
            number.map(GivenProcess::Client).ok_or_else(|| {
                Refused::new(format!("the process of an op is {}", shown(&value)), "an int, a str or None")
            })
        }
    }
}

fn text<'py>(value: Bound<'py, PyAny>, field: &str) -> Result<Bound<'py, PyString>, Refused> {
    value.cast_into::<PyString>().map_err(|other| {
        let value = other.into_inner();
        Refused::new(format!("the field {field} of an op is {}", shown(&value)), "a str or None")
    })
}

/// A time in nanoseconds. With a unit, it may be a float, as in a text.
fn time(value: &Bound<'_, PyAny>, unit: Option<TimeUnit>) -> Result<Option<i64>, Refused> {
    let Some(unit) = unit.filter(|_| !value.is_none()) else {
        return integer(value, "time");
    };
    let text = match value.cast::<PyFloat>() {
        Ok(number) if number.value().is_finite() => Some(number.value().to_string()),
        _ => integer::<i64>(value, "time")?.map(|number| number.to_string()),
    };
    let ns = text.and_then(|text| unit.nanoseconds(&text));
    ns.map(Some).ok_or_else(|| {
        let message = format!("the field time of an op is {} in {}", shown(value), unit.name());
        Refused::new(message, "a number of nanoseconds between -2^63 and 2^63")
    })
}

fn integer<'py, T: for<'a> FromPyObject<'a, 'py>>(
    value: &Bound<'py, PyAny>,
    field: &str,
) -> Result<Option<T>, Refused> {
    if value.is_none() {
        return Ok(None);
    }
    let number = value.extract::<T>().ok().filter(|_| !value.is_instance_of::<PyBool>());
    number.map(Some).ok_or_else(|| {
        let is_date = ["timestamp", "total_seconds"].iter().any(|name| value.hasattr(*name).unwrap_or(false));
        let expected = match field {
            "time" if is_date => "an int of nanoseconds, such as (t - start) // timedelta(microseconds=1) * 1000",
            "time" => "an int of nanoseconds or None",
            _ => "an int that is not negative or None",
        };
        Refused::new(format!("the field {field} of an op is {}", shown(value)), expected)
    })
}
