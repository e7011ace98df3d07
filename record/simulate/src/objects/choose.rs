//! Creates the simulation for given parameters: chooses the model of an object, and the parameters of that model.

use super::flight::Ask;
use super::models::Model;
use super::models::bank::Bank;
use super::models::counter::Counter;
use super::models::ids::Ids;
use super::models::kv::Kv;
use super::models::locks::{Belief, Lock};
use super::models::long_fork::LongFork;
use super::models::multi_register::MultiRegister;
use super::models::register::Register;
use super::models::sequences::Sequence;
use super::models::sequential::Sequential;
use super::models::set::Set;
use super::models::versioned::Versioned;
use super::object::Object;
use super::parameters::Objects;
use super::store::Store;
use super::values::Values;
use crate::ids::index;
use crate::key_distribution::Popularity;
use crate::parameters::ParameterError;
use crate::rng::Chance;
use crate::simulation::Simulation;
use crate::simulation::system::System;

/// The number of keys per client that a store keeps of keys that are written once. While one client waits for an
/// answer, another one is answered at most about fifty times.
const ROOM_PER_CLIENT: i64 = 256;

impl Objects {
    /// The simulation of these parameters.
    ///
    /// # Errors
    ///
    /// If a parameter is out of its range.
    pub fn simulation(&self) -> Result<Simulation, ParameterError> {
        self.validate()?;
        Ok(Simulation::new(self.load(), system(self)))
    }
}

/// The system that these parameters describe.
fn system(parameters: &Objects) -> Box<dyn System> {
    let values = Values::new(parameters.values);
    let reads = Chance::new(parameters.read_fraction);
    let object = parameters.object;
    match object {
        Object::Register | Object::CasRegister => {
            let cas = Chance::new(if object == Object::CasRegister { parameters.cas_fraction } else { 0.0 });
            boxed(parameters, Register { values, reads, cas })
        }
        Object::MultiRegister => {
            let popularity = Popularity::new(parameters.key_distribution, parameters.keys);
            let (keys, ops_per_txn_max) = (parameters.keys, parameters.ops_per_txn_max);
            boxed(parameters, MultiRegister { values, reads, keys, popularity, ops_per_txn_max })
        }
        Object::Mutex | Object::OwnerMutex | Object::ReentrantMutex | Object::Semaphore => {
            let clients = vec![Belief::default(); index(parameters.clients)];
            boxed(parameters, Lock { object, permits: parameters.permits, clients })
        }
        Object::FifoQueue
        | Object::UnorderedQueue
        | Object::Stack
        | Object::Deque
        | Object::PriorityQueue
        | Object::Queue
        | Object::TotalQueue => {
            let capacity = parameters.capacity;
            let empty_ok = parameters.empty_ok && object.may_show_nothing();
            boxed(parameters, Sequence { object, values, takes: reads, capacity, empty_ok })
        }
        Object::Set | Object::SetFull | Object::Comments => {
            let last = object.has_last().then_some(Ask::Read);
            boxed(parameters, Set { values, reads, writes: object == Object::Comments, last })
        }
        Object::Bank => boxed(parameters, Bank { reads, accounts: parameters.values }),
        Object::UniqueIds => boxed(parameters, Ids),
        Object::LongFork => {
            let group_size = parameters.values;
            let room = ROOM_PER_CLIENT * i64::from(parameters.clients) + 8 * i64::from(group_size);
            boxed(parameters, LongFork { reads, group_size, next: 0, room })
        }
        Object::Sequential => {
            let clients = vec![None; index(parameters.clients)];
            let room = ROOM_PER_CLIENT * i64::from(parameters.clients);
            boxed(parameters, Sequential { reads, subkeys: parameters.values, clients, next: 0, room })
        }
        Object::Counter => boxed(parameters, Counter { reads, amount_max: parameters.values.into(), asked: 0 }),
        Object::Kv => boxed(parameters, Kv { values, reads, puts: Chance::new(parameters.put_fraction) }),
        Object::VersionedRegister => boxed(parameters, Versioned { values, reads, proposed: 0 }),
    }
}

fn boxed<M: Model + 'static>(parameters: &Objects, model: M) -> Box<dyn System> {
    Box::new(Store::new(parameters, model))
}
