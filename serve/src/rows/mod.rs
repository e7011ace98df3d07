//! The rows of a history of any length: only the rows on the screen are read.
//!
//! An index ([`index`]) contains the positions of the parts of a history, and which processes, functions, keys and
//! types of ops each may contain ([`traits`]). It is built once, by a thread ([`library`]) that reads the history from
//! its beginning ([`build`]), and is stored in a file ([`file`]). A view ([`window`]) reads the parts that it shows; a
//! search ([`filter`]) reads those that may contain matches.
//!
//! EDN and JSON are read from the history itself. Compressed histories and other formats cannot be read from the
//! middle: while the index is built, their ops are written to a copy, one per line, and later read from it.

mod build;
mod file;
pub(crate) mod filter;
mod index;
pub(crate) mod library;
mod place;
mod traits;
pub(crate) mod window;

pub(crate) use index::Index;
pub(crate) use place::Place;
