//! Where in a history a view begins, as specified in an address.

use crate::http::query::Query;

/// The beginning of a view: a row, the rows before a row, the op with an index, or a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The first row, unless one of the other fields is set.
    pub(crate) from: u64,
    /// The row after the last one.
    pub(crate) before: Option<u64>,
    /// The index of an op, which is then highlighted.
    pub(crate) at: Option<u64>,
    pub(crate) time_ns: Option<i64>,
}

impl Place {
    /// The parameter names in an address.
    pub(crate) const NAMES: [&'static str; 4] = ["from", "before", "at", "time"];

    /// The place in an address.
    ///
    /// # Errors
    ///
    /// A sentence with the error in it.
    pub(crate) fn of(query: &Query) -> Result<Place, String> {
        let text = |name: &str| query.get(name).map(str::trim).filter(|text| !text.is_empty());
        let number = |name: &str| match text(name).map(str::parse::<u64>) {
            None => Ok(None),
            Some(Ok(number)) => Ok(Some(number)),
            Some(Err(_)) => Err(format!("{name}={}: expected a number from 0 on", text(name).unwrap_or_default())),
        };
        let time_ns = match text("time") {
            None => None,
            Some(text) => {
                Some(nanoseconds(text).ok_or_else(|| format!("time={text}: expected seconds, such as 12.5"))?)
            }
        };
        Ok(Place { from: number("from")?.unwrap_or(0), before: number("before")?, at: number("at")?, time_ns })
    }
}

/// Converts seconds to nanoseconds, exactly.
fn nanoseconds(text: &str) -> Option<i64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + part.len() == 0 || !is_digits(whole) || !is_digits(part) || part.len() > 9 {
        return None;
    }
    let seconds: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let part: i64 = format!("{part:0<9}").parse().ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_determines_the_place() {
        let of = |text: &str| Place::of(&Query::parse(text).unwrap());
        assert_eq!(of(""), Ok(Place::default()));
        assert_eq!(of("from=7&at="), Ok(Place { from: 7, ..Place::default() }));
        assert_eq!(of("at=8"), Ok(Place { at: Some(8), ..Place::default() }));
        assert_eq!(of("time=12.5"), Ok(Place { time_ns: Some(12_500_000_000), ..Place::default() }));
        assert_eq!(of("time=.000000001").unwrap().time_ns, Some(1));
        for wrong in ["from=-1", "at=x", "before=1.5", "time=.", "time=1e9", "time=9999999999999", "time=0.0000000001"]
        {
            assert!(of(wrong).unwrap_err().contains("expected"), "{wrong}");
        }
    }
}
