//! Tests of the versioned-register checker, compared with its definition.

mod cases;
mod certify;
mod enumerate;
mod general;
mod oracle;
mod properties;
mod so_far;
mod world;
