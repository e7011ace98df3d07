//! The state of a run as bytes, so that another process can continue it: see [`Run::save`](crate::Run::save).
//!
//! Columns in the order of their fields, without names: integers in groups of seven bits, everything else as lengths
//! and items. Maps are in the order of their keys, so equal states have equal bytes. The bytes do not identify their
//! own format: the code that stores them adds a version and a checksum.
//!
//! serde would need another crate for the bytes, and a derived implementation for each type of a checker. Here, a type
//! lists its fields, and a type with a new field does not compile until the field is added to the list.

mod values;

use std::fmt;

/// A type that can be saved and loaded.
pub trait State: Sized {
    /// Appends the value.
    fn save(&self, out: &mut Out);

    /// Reads the next value.
    ///
    /// # Errors
    ///
    /// If the bytes are not those of such a value.
    fn load(from: &mut In<'_>) -> Result<Self, Damaged>;
}

/// A type that is created from its settings, and then loads the rest.
pub trait Parts {
    /// Appends the fields that are not settings.
    fn save_parts(&self, out: &mut Out);

    /// Reads these fields.
    ///
    /// # Errors
    ///
    /// If the bytes are not those of such a value.
    fn load_parts(&mut self, from: &mut In<'_>) -> Result<(), Damaged>;
}

/// The bytes are not a state of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the state is damaged, or of another version")
    }
}

impl std::error::Error for Damaged {}

/// Bytes that are being written, up to a maximum length.
#[derive(Clone, Debug)]
pub struct Out {
    bytes: Vec<u8>,
    max: usize,
    is_full: bool,
}

impl Out {
    /// Creates an output that keeps at most `max` bytes.
    pub fn new(max: usize) -> Out {
        Out { bytes: Vec::new(), max, is_full: false }
    }

    /// Appends bytes. Nothing is kept any more once the limit is exceeded.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.is_full || bytes.len() > self.max - self.bytes.len() {
            self.is_full = true;
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// The bytes; `None` if the limit was exceeded.
    pub fn into_bytes(self) -> Option<Vec<u8>> {
        (!self.is_full).then_some(self.bytes)
    }
}

/// Bytes that are being read.
#[derive(Clone, Debug)]
pub struct In<'a> {
    bytes: &'a [u8],
    /// The nesting depth of the next value.
    depth: u32,
}

/// The maximum nesting depth of values: greater than the limit of readers.
const DEPTH_MAX: u32 = 1024;

impl<'a> In<'a> {
    /// Creates an input from these bytes.
    pub fn new(bytes: &'a [u8]) -> In<'a> {
        In { bytes, depth: 0 }
    }

    /// Reads the content of the current value.
    pub(crate) fn within<T>(&mut self, load: impl FnOnce(&mut In<'a>) -> Result<T, Damaged>) -> Result<T, Damaged> {
        if self.depth == DEPTH_MAX {
            return Err(Damaged);
        }
        self.depth += 1;
        let loaded = load(self);
        self.depth -= 1;
        loaded
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    ///
    /// If fewer bytes are left.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Damaged> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(Damaged)?;
        self.bytes = rest;
        Ok(taken)
    }

    /// The number of bytes left. At most as many items can follow, since each takes a byte.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len()
    }

    /// Ends the input.
    ///
    /// # Errors
    ///
    /// If bytes are left.
    pub fn end(self) -> Result<(), Damaged> {
        if self.bytes.is_empty() { Ok(()) } else { Err(Damaged) }
    }
}

/// Implements [`State`](crate::state::State) for a struct or an enum without fields, or [`Parts`](crate::state::Parts)
/// for a struct. All fields are named; `parts` are fields that implement `Parts`, and `same` are settings or reused
/// memory, which remain unchanged.
///
/// ```
/// use history_core::state::{In, Out, State as _};
///
/// #[derive(Debug, PartialEq)]
/// struct Interval { from: u64, to: Option<u64> }
/// history_core::state!(struct Interval { from, to });
///
/// let mut out = Out::new(100);
/// Interval { from: 3, to: None }.save(&mut out);
/// let bytes = out.into_bytes().unwrap();
/// assert_eq!(Interval::load(&mut In::new(&bytes))?, Interval { from: 3, to: None });
/// # Ok::<(), history_core::state::Damaged>(())
/// ```
#[macro_export]
macro_rules! state {
    (struct $name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::state::State for $name {
            fn save(&self, out: &mut $crate::state::Out) {
                let $name { $($field),* } = self;
                $($crate::state::State::save($field, out);)*
            }

            fn load(from: &mut $crate::state::In<'_>) -> Result<$name, $crate::state::Damaged> {
                Ok($name { $($field: $crate::state::State::load(from)?),* })
            }
        }
    };
    (enum $name:ident { $($variant:ident),* $(,)? }) => {
        impl $crate::state::State for $name {
            fn save(&self, out: &mut $crate::state::Out) {
                let at = [$($name::$variant),*].iter().position(|it| it == self);
                $crate::state::State::save(&at.unwrap_or(usize::MAX), out);
            }

            fn load(from: &mut $crate::state::In<'_>) -> Result<$name, $crate::state::Damaged> {
                let at = <usize as $crate::state::State>::load(from)?;
                [$($name::$variant),*].into_iter().nth(at).ok_or($crate::state::Damaged)
            }
        }
    };
    (parts $name:ident { $($field:ident),* $(,)?; parts: $($part:ident),*; same: $($same:ident),* $(,)? }) => {
        impl $crate::state::Parts for $name {
            fn save_parts(&self, out: &mut $crate::state::Out) {
                let $name { $($field,)* $($part,)* $($same: _),* } = self;
                $($crate::state::State::save($field, out);)*
                $($crate::state::Parts::save_parts($part, out);)*
            }

            fn load_parts(
                &mut self,
                from: &mut $crate::state::In<'_>,
            ) -> Result<(), $crate::state::Damaged> {
                let $name { $($field,)* $($part,)* $($same: _),* } = self;
                $(*$field = $crate::state::State::load(from)?;)*
                $($crate::state::Parts::load_parts($part, from)?;)*
                Ok(())
            }
        }
    };
}
