//! The runs below a directory: what they are ([`run`]), where they are ([`find`]), what is known of them ([`outcome`],
//! [`ops`]), how that is kept ([`index`]) and followed ([`watcher`]), and which of them a reader wants to see
//! ([`view`]).

mod edn;
mod find;
pub(crate) mod index;
mod ops;
pub(crate) mod outcome;
pub(crate) mod run;
pub(crate) mod view;
pub(crate) mod watcher;

pub(crate) use run::Run;
