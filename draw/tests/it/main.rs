//! Tests of pictures of checkers' reports.

mod figures;
mod over_time;
mod plot;
