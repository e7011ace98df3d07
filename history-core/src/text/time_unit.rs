//! Times in histories, in nanoseconds: exact, from their decimal text.

use super::syntax::Fault;
use crate::cast::Cast as _;
use crate::values::tape::{Tag, Tape};
use crate::values::value::Value;
use std::borrow::Cow;

/// The unit of times in a history. By default they are nanoseconds, and a fraction of one is an error: it indicates
/// another unit, and truncating it would lose the order of ops.
///
/// ```
/// use history_core::{Reader, TimeUnit};
///
/// let text = r#"{"process": 0, "type": "invoke", "f": "read", "time": 1700000000.123456789}"#;
/// let mut times = Vec::new();
/// Reader::new(text.as_bytes()).with_time_unit(TimeUnit::Seconds).for_each(|op| {
///     times.extend(op.time);
///     Ok(std::ops::ControlFlow::Continue(()))
/// })?;
/// assert_eq!(times, [1_700_000_000_123_456_789]);
/// assert!(Reader::new(text.as_bytes()).for_each(|_| unreachable!()).is_err());
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds, as Unix time.
    Seconds,
    /// Thousandths of a second.
    Milliseconds,
    /// Millionths of a second.
    Microseconds,
    /// Nanoseconds, the unit to which all times are converted.
    Nanoseconds,
}

impl TimeUnit {
    /// The names of all units, as [`FromStr`](std::str::FromStr) reads them.
    pub const NAMES: [&'static str; 4] = ["s", "ms", "us", "ns"];

    /// Its name: `"s"`, `"ms"`, `"us"` or `"ns"`.
    pub fn name(self) -> &'static str {
        match self {
            TimeUnit::Seconds => "s",
            TimeUnit::Milliseconds => "ms",
            TimeUnit::Microseconds => "us",
            TimeUnit::Nanoseconds => "ns",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<TimeUnit> {
        Some(match name {
            "s" => TimeUnit::Seconds,
            "ms" => TimeUnit::Milliseconds,
            "us" => TimeUnit::Microseconds,
            "ns" => TimeUnit::Nanoseconds,
            _ => return None,
        })
    }

    /// The nanoseconds of a decimal number of this unit; fractions are rounded towards the past. `None` if they do not
    /// fit.
    ///
    /// ```
    /// use history_core::TimeUnit;
    ///
    /// assert_eq!(TimeUnit::Milliseconds.nanoseconds("1.5"), Some(1_500_000));
    /// assert_eq!(TimeUnit::Seconds.nanoseconds("9223372037"), None);
    /// ```
    pub fn nanoseconds(self, number: &str) -> Option<i64> {
        nanoseconds(number, self).map(|(ns, _)| ns)
    }

    /// The number of decimal places of this unit that are whole nanoseconds.
    fn places(self) -> i64 {
        match self {
            TimeUnit::Seconds => 9,
            TimeUnit::Milliseconds => 6,
            TimeUnit::Microseconds => 3,
            TimeUnit::Nanoseconds => 0,
        }
    }
}

/// The nanoseconds of the value at a node; none if it is nil. `what` names the time, for messages: `"the op's time"`.
pub(crate) fn read(tape: &Tape, what: &str, at: usize, unit: Option<TimeUnit>) -> Result<Option<i64>, Fault> {
    let value = Value::at(tape, at);
    let text: Cow<'_, str> = match value {
        Value::Nil => return Ok(None),
        Value::Int(ns) if unit.is_none_or(|unit| unit == TimeUnit::Nanoseconds) => return Ok(Some(ns)),
        Value::Int(count) => count.to_string().into(),
        Value::Float(x) if x.is_finite() => float_text(tape, at, x),
        Value::Big(text) => text.into(),
        _ => return Err(Fault::op(format!("{what} is {value}"), "nanoseconds, as an integer")),
    };
    let Some((ns, is_exact)) = nanoseconds(&text, unit.unwrap_or(TimeUnit::Nanoseconds)) else {
        return Err(Fault::op(format!("{what} is {text}"), "nanoseconds between -2^63 and 2^63"));
    };
    if !is_exact && unit.is_none() {
        let expected = "nanoseconds, as an integer; or the unit of such times (--time-unit s, ms, us or ns)";
        return Err(Fault::op(format!("{what} is {text}"), expected));
    }
    Ok(Some(ns))
}

/// The text that a float was read from; if unknown, a text that parses as this float.
fn float_text(tape: &Tape, at: usize, x: f64) -> Cow<'_, str> {
    let start = tape.nodes[at].a.to_usize();
    let is_number = |b: &u8| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    let text = tape.source.get(start..).unwrap_or_default();
    let len = text.bytes().take_while(|b| is_number(b)).count();
    if tape.nodes[at].tag == Tag::Float && start > 0 && text[..len].parse() == Ok(x) {
        return text[..len].into();
    }
    x.to_string().into()
}

/// The nanoseconds of a decimal number of units, rounded towards the past, and whether that is exact. `None` if there
/// are too many.
fn nanoseconds(text: &str, unit: TimeUnit) -> Option<(i64, bool)> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        // An exponent beyond an `i64` is rejected.
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (is_negative, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => (true, mantissa),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    // The number of digits before the decimal point of the nanoseconds.
    let digits = i64::try_from(whole.len()).ok()?.checked_add(exponent)?.checked_add(unit.places())?;
    let (mut ns, mut is_exact) = (0_i128, true);
    let mut at = 0;
    for digit in whole.bytes().chain(fraction.bytes()) {
        let digit = i128::from(digit.wrapping_sub(b'0'));
        if at < digits {
            ns = ns.checked_mul(10)?.checked_add(digit)?;
        } else {
            is_exact &= digit == 0;
        }
        at += 1;
    }
    while ns != 0 && at < digits {
        ns = ns.checked_mul(10)?;
        at += 1;
    }
    if is_negative {
        ns = -ns - i128::from(!is_exact);
    }
    Some((i64::try_from(ns).ok()?, is_exact))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_are_exact() {
        use TimeUnit::{Microseconds, Milliseconds, Nanoseconds, Seconds};
        let cases = [
            ("1700000000.123456789", Seconds, Some((1_700_000_000_123_456_789, true))),
            ("1700000000.1234567891", Seconds, Some((1_700_000_000_123_456_789, false))),
            ("-0.0000000001", Seconds, Some((-1, false))),
            ("-1.5", Seconds, Some((-1_500_000_000, true))),
            ("17", Milliseconds, Some((17_000_000, true))),
            ("1.5e3", Microseconds, Some((1_500_000, true))),
            ("1.5E-3", Microseconds, Some((1, false))),
            ("1.5e9", Nanoseconds, Some((1_500_000_000, true))),
            ("2.50", Nanoseconds, Some((2, false))),
            ("0.000", Nanoseconds, Some((0, true))),
            ("0e999999999999", Seconds, Some((0, true))),
            ("1e-999999999999", Seconds, Some((0, false))),
            ("9223372036854775807", Nanoseconds, Some((i64::MAX, true))),
            ("-9223372036.854775808", Seconds, Some((i64::MIN, true))),
            ("9223372036854775808", Nanoseconds, None),
            ("9223372036.854775808", Seconds, None),
            ("1e30", Nanoseconds, None),
            ("1e999999999999", Nanoseconds, None),
        ];
        for (text, unit, expected) in cases {
            assert_eq!(nanoseconds(text, unit), expected, "{text} {unit:?}");
        }
    }
}
