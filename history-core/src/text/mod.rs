//! Histories as text and bytes: reading them, writing them, and finding errors in them.

#[cfg(feature = "files")]
pub(crate) mod files;
mod one_value;
pub(crate) mod read;
pub(crate) mod syntax;
pub(crate) mod time_unit;
pub(crate) mod validate;
pub(crate) mod write;
