//! The runs below a directory: their data ([`run`]), their places ([`find`]), their results ([`outcome`], [`ops`]), how
//! these are stored ([`index`]) and updated ([`watcher`]), and which of them a user views ([`view`]).

mod edn;
mod find;
pub(crate) mod index;
mod ops;
pub(crate) mod outcome;
pub(crate) mod run;
pub(crate) mod view;
pub(crate) mod watcher;

pub(crate) use run::Run;
