//! The rules of the repository, one subject a module.

mod counts;
mod dependencies;
mod files;
mod packages;
mod structure;
