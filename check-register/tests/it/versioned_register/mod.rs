//! The versioned-register checker, held against what its words mean.

mod cases;
mod certify;
mod enumerate;
mod general;
mod oracle;
mod properties;
mod so_far;
mod world;
