//! Tests the checker against definitions: all orders of small histories, and a certifier of evidence that shares no
//! code with the solver.

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
