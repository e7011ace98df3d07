//! Pictures of what checkers report.

mod figures;
mod plot;
