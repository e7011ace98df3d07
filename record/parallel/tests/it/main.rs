//! Tests of concurrent programs: which schedules are tried, which outcomes they have, and that failures reproduce.

mod bounded_queue;
mod complete;
mod double_checked;
mod fair;
mod interleavings;
mod lru;
mod memory;
mod net;
mod noting;
mod oracle;
mod outcomes;
mod picks;
mod races;
mod racy_counter;
mod replay;
mod report;
mod ring;
mod simplify;
mod std_like;
mod stuck;
mod sync;
mod tasks;
mod threads;
mod ticket_dispenser;
mod time;
mod treiber_stack;
