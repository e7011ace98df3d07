//! The rows of a history: any part of a history of any length, of which only what is on screen is read.
//!
//! An index ([`index`]) contains the positions of the parts of a history, and which processes, functions, keys and
//! types of ops each may contain ([`traits`]). It is built once, by a thread ([`library`]) that reads the history from
//! its beginning ([`build`]), and is stored in a file ([`file`]). A view ([`window`]) reads the parts that it shows,
//! and for a search ([`filter`]) those that may contain matches.
//!
//! EDN and JSON are read where they are. Compressed histories and other formats cannot be entered in the middle: while
//! the index is built, their ops are written to a file of ours, one a line, and are read from there.

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
