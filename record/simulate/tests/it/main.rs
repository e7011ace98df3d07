//! Tests of simulated histories: their content, the visible bugs, and the formats.

mod bugs;
mod common;
mod formats;
mod golden;
mod nemesis;
mod objects;
mod parameters;
mod planted;
mod registers;
mod strict;
