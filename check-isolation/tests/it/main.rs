//! The checker against definitions: all orders of small histories, and a judge of evidence that shares nothing with the
//! solver.

mod certify;
mod formats;
mod histories;
mod mini;
mod oracle;
mod prefixes;
mod relaxed;
mod repaired;
mod small;
mod special_cases;
mod timestamps;
mod undecoded;
mod watched;
mod worlds;
