//! Many workers say what one machine says, or nothing.

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
