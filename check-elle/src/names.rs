//! Names of anomalies and models: looked up in constant tables at compile time, and in user input with suggestions.

use std::fmt;

/// The maximum length in bytes of a name for which suggestions are searched.
const NAME_BYTES_MAX: usize = 64;

/// The maximum number of suggested names.
const NEAREST_MAX: usize = 3;

/// A name that no anomaly or model has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// The kind of name: `"anomaly"`, `"consistency level"`.
    pub kind: &'static str,
    /// The name as given.
    pub name: String,
    /// The most similar names, all equally similar; empty if none is.
    pub nearest: Vec<&'static str>,
    /// One name for each thing of this kind, in the order of the table.
    pub known: Vec<&'static str>,
}

impl UnknownName {
    /// The error for a name that is not in `all`; `known` has the first name of each thing.
    pub(crate) fn new(
        kind: &'static str,
        name: &str,
        known: Vec<&'static str>,
        all: impl Iterator<Item = &'static str>,
    ) -> UnknownName {
        UnknownName { kind, name: name.to_owned(), nearest: nearest(name, all), known }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {}: {:?}", self.kind, self.name)?;
        match self.nearest.as_slice() {
            [] => f.write_str(".")?,
            nearest => write!(f, "; did you mean {}?", nearest.join(" or "))?,
        }
        write!(f, " Known: {}", self.known.join(", "))
    }
}

impl std::error::Error for UnknownName {}

/// The names at the least edit distance, if that is at most a third of the name (rounded up).
fn nearest(name: &str, all: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    if name.len() > NAME_BYTES_MAX {
        return Vec::new();
    }
    let typed = name.to_ascii_lowercase();
    let mut least = name.chars().count().div_ceil(3);
    let mut nearest = Vec::new();
    for candidate in all {
        let distance = strsim::osa_distance(&typed, &candidate.to_ascii_lowercase());
        if distance < least {
            least = distance;
            nearest.clear();
        }
        if distance == least {
            nearest.push(candidate);
        }
    }
    nearest.truncate(NEAREST_MAX);
    nearest
}

/// Returns true if two texts are equal, also at compile time.
pub(crate) const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
