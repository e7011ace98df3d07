//! Many workers have the same results as one machine, or none.

mod broken;
mod equal;
mod made;
#[cfg(feature = "objects")]
mod objects;
#[cfg(target_os = "linux")]
mod processes;
mod registers;
mod store;
mod txns;
