//! Transactions of many clients over keys that contain lists or registers, in a store that is correct or broken in a
//! chosen way.

mod bug;
mod parameters;
mod store;
mod workload;

pub use bug::{Bug, UnknownBug};
pub use parameters::{ListAppend, RwRegister, Transactions};
pub use workload::{OverLists, OverRegisters, Workload};

use crate::parameters::ParameterError;
use crate::simulation::Simulation;
use store::Store;

impl<W: Workload> Transactions<W> {
    /// The simulation of these parameters.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn simulation(&self) -> Result<Simulation, ParameterError> {
        self.validate()?;
        Ok(Simulation::new(self.load(), Box::new(Store::new(self))))
    }
}
