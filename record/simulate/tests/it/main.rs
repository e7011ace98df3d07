//! Tests of simulated histories: what is generated, which bugs show, and how it is written.

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
