//! Tests of concurrent programs: which schedules are tried, which outcomes they have, and that failures reproduce.

mod bounded_queue;
mod complete;
mod double_checked;
mod fair;
mod interleavings;
mod lru;
mod memory;
mod noting;
mod oracle;
mod outcomes;
mod picks;
mod racy_counter;
mod replay;
mod report;
mod simplify;
mod sync;
mod ticket_dispenser;
mod treiber_stack;
