//! The choice of a live key for an op: uniform, or a few keys much more often than the others.

use crate::parameters::{ParameterError, refuse};
use crate::rng::Rng;
use std::fmt;
use std::str::FromStr;

/// The frequency with which each of the live keys is chosen. Keys are chosen by their place among the live ones; a key
/// that replaces a retired one gets its place, and so its frequency.
///
/// ```
/// use record_simulate::KeyDistribution;
///
/// assert_eq!("uniform".parse(), Ok(KeyDistribution::Uniform));
/// assert_eq!("exponential:2".parse(), Ok(KeyDistribution::Exponential { base: 2.0 }));
/// assert_eq!("zipf:1.1".parse(), Ok(KeyDistribution::Zipf { s: 1.1 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum KeyDistribution {
    /// All keys equally often.
    #[default]
    Uniform,
    /// Each key `base` times as often as the next one.
    Exponential {
        /// At least 1, which is uniform.
        base: f64,
    },
    /// The n-th key 1/n<sup>s</sup> times as often as the first.
    Zipf {
        /// From 0, which is uniform, to 16.
        s: f64,
    },
}

impl KeyDistribution {
    pub(crate) fn check(self) -> Result<(), ParameterError> {
        match self {
            KeyDistribution::Uniform => Ok(()),
            KeyDistribution::Exponential { base } if (1.0..=1e6).contains(&base) => Ok(()),
            KeyDistribution::Exponential { base } => refuse(
                "key_distribution",
                format!("the base of an exponential distribution is {base}, not from 1 to 1e6"),
            ),
            KeyDistribution::Zipf { s } if (0.0..=16.0).contains(&s) => Ok(()),
            KeyDistribution::Zipf { s } => {
                refuse("key_distribution", format!("the exponent of a Zipf distribution is {s}, not from 0 to 16"))
            }
        }
    }
}

impl fmt::Display for KeyDistribution {
    /// Writes the form that can be parsed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyDistribution::Uniform => f.write_str("uniform"),
            KeyDistribution::Exponential { base } => write!(f, "exponential:{base}"),
            KeyDistribution::Zipf { s } => write!(f, "zipf:{s}"),
        }
    }
}

impl FromStr for KeyDistribution {
    type Err = ParameterError;

    /// Parses the name of a distribution, with its parameter after a colon. Without a parameter, the base is 2, as in
    /// Elle, and s is 1.
    fn from_str(text: &str) -> Result<KeyDistribution, ParameterError> {
        let number = |number: &str| number.parse::<f64>().ok();
        let distribution = match text.split_once(':') {
            None if text == "uniform" => Some(KeyDistribution::Uniform),
            None if text == "exponential" => Some(KeyDistribution::Exponential { base: 2.0 }),
            None if text == "zipf" => Some(KeyDistribution::Zipf { s: 1.0 }),
            Some(("exponential", base)) => number(base).map(|base| KeyDistribution::Exponential { base }),
            Some(("zipf", s)) => number(s).map(|s| KeyDistribution::Zipf { s }),
            _ => None,
        };
        let Some(distribution) = distribution else {
            let message = format!("{text} is not a distribution of keys: expected uniform, exponential:BASE or zipf:S");
            return Err(ParameterError { parameter: "key_distribution", message });
        };
        distribution.check()?;
        Ok(distribution)
    }
}

/// A [`KeyDistribution`] over a number of places, prepared for drawing. O(log places) per draw.
pub(crate) struct Popularity {
    places: u64,
    /// By place: the sum of the weights up to and including this place, in units of 2^-53 of the total. Nondecreasing;
    /// empty if uniform.
    until: Vec<u64>,
}

impl Popularity {
    #[expect(clippy::cast_precision_loss, reason = "places are limited far below 2^53")]
    #[expect(clippy::cast_sign_loss, reason = "weights are positive")]
    pub(crate) fn new(distribution: KeyDistribution, places: u32) -> Popularity {
        // The exponentials and roots of the system's mathematics library differ between machines; those of libm do not.
        let weight = |place: u32| match distribution {
            KeyDistribution::Uniform => 1.0,
            KeyDistribution::Exponential { base } => libm::pow(base, -f64::from(place)),
            KeyDistribution::Zipf { s } => libm::pow(f64::from(place) + 1.0, -s),
        };
        if distribution == KeyDistribution::Uniform {
            return Popularity { places: u64::from(places), until: Vec::new() };
        }
        let mut sum = 0.0;
        let sums: Vec<f64> = (0..places)
            .map(|place| {
                sum += weight(place);
                sum
            })
            .collect();
        let scale = (1_u64 << 53) as f64 / sum;
        Popularity { places: u64::from(places), until: sums.iter().map(|sum| (sum * scale) as u64).collect() }
    }

    pub(crate) fn draw(&self, rng: &mut Rng) -> usize {
        if self.until.is_empty() {
            return rng.below(self.places) as usize;
        }
        let ticket = rng.ticket();
        self.until.partition_point(|until| *until <= ticket).min(self.until.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    fn counts(distribution: KeyDistribution) -> [u32; 4] {
        let popularity = Popularity::new(distribution, 4);
        let mut rng = Rng::new(3, Purpose::Plan);
        let mut counts = [0; 4];
        for _ in 0..15_000 {
            counts[popularity.draw(&mut rng)] += 1;
        }
        counts
    }

    #[track_caller]
    fn near(counts: [u32; 4], expected: [u32; 4]) {
        assert!(counts.iter().zip(expected).all(|(n, e)| n.abs_diff(e) < 300), "{counts:?}, expected {expected:?}");
    }

    #[test]
    fn places_are_drawn_by_their_weight() {
        near(counts(KeyDistribution::Uniform), [3750; 4]);
        near(counts(KeyDistribution::Exponential { base: 2.0 }), [8000, 4000, 2000, 1000]);
        // 1, 1/2, 1/3 and 1/4, of 25/12.
        near(counts(KeyDistribution::Zipf { s: 1.0 }), [7200, 3600, 2400, 1800]);
        near(counts(KeyDistribution::Zipf { s: 0.0 }), [3750; 4]);
    }

    #[test]
    fn a_weight_too_small_to_count_is_still_a_place() {
        let popularity = Popularity::new(KeyDistribution::Exponential { base: 1e6 }, 1000);
        let mut rng = Rng::new(3, Purpose::Plan);
        assert!((0..1000).all(|_| popularity.draw(&mut rng) < 1000));
    }

    #[test]
    fn a_written_distribution_is_parsed_to_the_same_one() {
        for text in ["uniform", "exponential:1.5", "zipf:0"] {
            assert_eq!(text.parse::<KeyDistribution>().unwrap().to_string(), text);
        }
        for (text, whole) in [("exponential", "exponential:2"), ("zipf", "zipf:1")] {
            assert_eq!(text.parse::<KeyDistribution>().unwrap().to_string(), whole);
        }
        for (text, message) in [
            ("normal", "normal is not a distribution of keys: expected uniform, exponential:BASE or zipf:S"),
            ("zipf:x", "zipf:x is not a distribution of keys: expected uniform, exponential:BASE or zipf:S"),
            ("exponential:0.5", "the base of an exponential distribution is 0.5, not from 1 to 1e6"),
            ("zipf:NaN", "the exponent of a Zipf distribution is NaN, not from 0 to 16"),
        ] {
            assert_eq!(text.parse::<KeyDistribution>().unwrap_err().to_string(), message);
        }
    }
}
