//! Errors for parameters that no simulation accepts.

/// A parameter that no simulation can be run with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParameterError {
    /// The parameter's name, which is that of the field: `"writes_per_key_max"`.
    pub parameter: &'static str,
    /// The error, in a sentence, and the valid values.
    pub message: String,
}

/// Returns the error for a parameter.
pub(crate) fn refuse(parameter: &'static str, message: impl Into<String>) -> Result<(), ParameterError> {
    Err(ParameterError { parameter, message: message.into() })
}

/// Rejects a number outside of a range.
pub(crate) fn check_count(parameter: &'static str, n: u64, low: u64, high: u64) -> Result<(), ParameterError> {
    if (low..=high).contains(&n) {
        return Ok(());
    }
    refuse(parameter, format!("{} is {n}: expected {low} to {high}", spoken(parameter)))
}

/// Rejects a range that ends before it begins.
pub(crate) fn check_range(low: (&'static str, u64), high: (&'static str, u64)) -> Result<(), ParameterError> {
    if low.1 <= high.1 {
        return Ok(());
    }
    let (low_name, high_name) = (spoken(low.0), spoken(high.0));
    refuse(low.0, format!("{low_name} is {}, which is more than {high_name}, {}", low.1, high.1))
}

/// Rejects a number that is no probability.
pub(crate) fn check_rate(parameter: &'static str, rate: f64) -> Result<(), ParameterError> {
    if (0.0..=1.0).contains(&rate) {
        return Ok(());
    }
    refuse(parameter, format!("{} is {rate}: expected 0 to 1", spoken(parameter)))
}

/// Rejects rates that are no probabilities, or whose sum is above 1.
pub(crate) fn check_fates(fail_rate: f64, info_rate: f64, lost_rate: f64) -> Result<(), ParameterError> {
    check_rate("fail_rate", fail_rate)?;
    check_rate("info_rate", info_rate)?;
    check_rate("lost_rate", lost_rate)?;
    let spoilt = fail_rate + info_rate + lost_rate;
    if spoilt > 1.0 {
        return refuse("fail_rate", format!("fail rate, info rate and lost rate add up to {spoilt}, more than 1"));
    }
    Ok(())
}

fn spoken(parameter: &str) -> String {
    parameter.replace('_', " ")
}
