//! Pictures of what checkers report.

mod figures;
mod over_time;
mod plot;
