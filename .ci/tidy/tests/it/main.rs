//! The rules of the repository, one subject per module.

mod counts;
mod dependencies;
mod files;
mod packages;
mod structure;
