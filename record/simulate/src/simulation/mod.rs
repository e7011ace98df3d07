//! A simulation: clients and a store.

pub(crate) mod clients;
mod nemesis;
pub(crate) mod schedule;
pub(crate) mod system;

use crate::op::SimOp;
use crate::write::{Format, Writer};
use clients::{Clients, Load, Observer};
use std::io::{self, Write};
use system::System;

/// A simulation that is ready to run.
///
/// Takes about 0.5 µs per transaction in addition to the time for writing its lists. Memory depends on the number of
/// clients and live keys, not on the number of transactions.
pub struct Simulation {
    clients: Clients,
    system: Box<dyn System>,
}

impl Simulation {
    pub(crate) fn new(load: Load, system: Box<dyn System>) -> Simulation {
        Simulation { clients: Clients::new(load), system }
    }

    /// Passes every op to `sink`, in order of time.
    ///
    /// # Errors
    ///
    /// Those of `sink`; they end the simulation.
    pub fn run(self, sink: &mut dyn FnMut(&SimOp<'_>) -> io::Result<()>) -> io::Result<()> {
        struct Ops<'s>(&'s mut dyn FnMut(&SimOp<'_>) -> io::Result<()>);
        impl Observer for Ops<'_> {
            fn op(&mut self, op: &SimOp<'_>) -> io::Result<()> {
                (self.0)(op)
            }
        }
        self.observe(&mut Ops(sink))
    }

    /// Passes every op to `observer`, in order of time, and also data that clients cannot observe: when transactions
    /// took effect.
    ///
    /// # Errors
    ///
    /// Those of `observer`; they end the simulation.
    pub fn observe(mut self, observer: &mut dyn Observer) -> io::Result<()> {
        self.clients.run(&mut *self.system, observer)
    }

    /// Writes the history as text, and returns `out`, flushed. `out` need not be buffered.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written to.
    pub fn write<W: Write>(self, out: W, format: Format) -> io::Result<W> {
        let mut writer = Writer::new(out, format);
        self.run(&mut |op| writer.write(op))?;
        writer.finish()
    }
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation").finish_non_exhaustive()
    }
}
