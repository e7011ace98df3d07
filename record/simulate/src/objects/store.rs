//! The store: objects by key, and the bugs that apply to them, for any model.

use super::bug::ObjectBug;
use super::flight::{Ask, Flight, Reads, Shape, Versions};
use super::keys::{Keys, ObjectId};
use super::models::{Model, Outcome, Want};
use super::object::Object;
use super::parameters::Objects;
use super::wrong_read::{Plan, Tracker};
use crate::ids::{index, wide};
use crate::op::object::ObjectKey;
use crate::op::{Kind, Payload};
use crate::rng::{Chance, Purpose, Rng};
use crate::simulation::system::{Intent, Progress, System};
use crate::slot::Slot;

/// The number of times that an operation may find a lock held before it is refused.
const WAITS_MAX: u32 = 40;
/// The maximum number of past states that are kept for bugs.
const PAST_MAX: usize = 8;
/// The maximum error of a wrong sum.
const OFF_MAX: u64 = 9;

/// The result of a step if the operation does not happen.
const REFUSED: Progress = Progress::Answer { ok: false, more: false };
/// The result of a step if the operation is done.
const DONE: Progress = Progress::Answer { ok: true, more: false };

/// The objects of a model, and their operations in flight.
pub(super) struct Store<M: Model> {
    model: M,
    shape: Shape,
    keys: Keys<M::State>,
    flights: Vec<Flight>,
    /// By client: the object that its next operation must use, if there is one.
    bound: Vec<Option<ObjectId>>,
    /// Random numbers for requests.
    plans: Rng,
    /// Random numbers for the bug.
    rng: Rng,
    bug: ObjectBug,
    bug_rate: Chance,
    /// The plan for the bug that occurs once.
    wrong_read: Option<Plan>,
    /// The number of different values that are written to a register, if the bug is a wrong read.
    tracked: Option<u32>,
    asked: u64,
    /// Whether all operations except the final ones are finished.
    ending: bool,
    /// Counts invocations and completions, from 1.
    clock: u64,
}

impl<M: Model> Store<M> {
    pub(super) fn new(parameters: &Objects, model: M) -> Store<M> {
        let (object, bug) = (parameters.object, parameters.bug);
        let count = if object.joins_keys() { 1 } else { parameters.keys };
        let has_last = model.last().is_some();
        let mut ids = Rng::new(parameters.seed, Purpose::Ids);
        Store {
            shape: shape(object, parameters.keyed, &mut ids),
            keys: Keys::new(parameters.key_distribution, count, parameters.ops_per_key, has_last, || model.fresh()),
            flights: Vec::new(),
            bound: vec![None; index(parameters.clients)],
            plans: Rng::new(parameters.seed, Purpose::Plan),
            rng: Rng::new(parameters.seed, Purpose::Bug),
            bug,
            bug_rate: Chance::new(parameters.bug_rate.unwrap_or(bug.default_rate())),
            wrong_read: (bug == ObjectBug::WrongRead)
                .then(|| Plan::new(parameters.ops, parameters.bug_at_or_default())),
            tracked: (bug == ObjectBug::WrongRead && object.is_register()).then_some(parameters.values),
            asked: 0,
            ending: false,
            clock: 0,
            model,
        }
    }

    /// Performs an operation, with the bug if it applies.
    fn execute(&mut self, slot: Slot) -> Progress {
        let Store { model, keys, flights, rng, bug, .. } = self;
        let flight = &mut flights[index(slot)];
        let entry = keys.get_mut(flight.object);
        let bug = if flight.spoilt { *bug } else { ObjectBug::None };
        match bug {
            ObjectBug::StaleRead if flight.is_read() && !entry.past.is_empty() => {
                let at = index(rng.below(wide(entry.past.len())));
                model.apply(&mut entry.past[at].clone(), flight);
                return DONE;
            }
            ObjectBug::ReadSkew if flight.is_read() && !entry.past.is_empty() => {
                let at = index(rng.below(wide(entry.past.len())));
                model.apply(&mut entry.state, flight);
                model.skew(&entry.past[at], flight, rng);
                return DONE;
            }
            ObjectBug::RepeatedId => {
                if let Some(past) = entry.past.back() {
                    model.apply(&mut past.clone(), flight);
                    return DONE;
                }
            }
            ObjectBug::LostWrite | ObjectBug::LostElement if changes(flight) => {
                let outcome = model.apply(&mut entry.state.clone(), flight);
                return if outcome == Outcome::Done { DONE } else { REFUSED };
            }
            ObjectBug::DoubleAcquire if flight.ask == Ask::Acquire => {
                model.force(&mut entry.state, flight);
                return DONE;
            }
            _ => {}
        }
        let before = self.remembers().then(|| self.keys.get(self.flights[index(slot)].object).state.clone());
        let progress = self.apply(slot, bug);
        let entry = self.keys.get_mut(self.flights[index(slot)].object);
        if let Some(before) = before
            && progress == DONE
            && !self.flights[index(slot)].is_read()
        {
            if entry.past.len() == PAST_MAX {
                entry.past.pop_front();
            }
            entry.past.push_back(before);
        }
        progress
    }

    /// Performs an operation, and applies bugs that affect what follows.
    fn apply(&mut self, slot: Slot, bug: ObjectBug) -> Progress {
        let Store { model, keys, flights, rng, .. } = self;
        let flight = &mut flights[index(slot)];
        let entry = keys.get_mut(flight.object);
        match model.apply(&mut entry.state, flight) {
            Outcome::Done => {}
            Outcome::Busy if flight.waits < WAITS_MAX => {
                flight.waits += 1;
                return Progress::Again;
            }
            _ if bug == ObjectBug::SplitBrain => {
                // The newest state that accepts the operation is closest to what clients expect.
                let accepts = |past: &M::State| {
                    let mut past = past.clone();
                    (model.apply(&mut past, flight) == Outcome::Done).then_some(past)
                };
                let Some(fork) = entry.past.iter().rev().find_map(accepts) else { return REFUSED };
                entry.state = fork;
            }
            _ => return REFUSED,
        }
        match bug {
            // If a client held a lock without knowing it, the lock would stay held and nothing more would happen.
            ObjectBug::FalseFail if !flight.is_read() && flight.ask != Ask::Acquire => return REFUSED,
            ObjectBug::DuplicateElement if changes(flight) => model.double(&mut entry.state, flight),
            ObjectBug::HalfTransfer => model.halve(&mut entry.state, flight),
            ObjectBug::ReorderedElement if changes(flight) => model.disorder(&mut entry.state),
            ObjectBug::WrongSum if flight.is_read() => {
                let off = rng.between(1, OFF_MAX).cast_signed();
                let off = if rng.happens(Chance::HALF) { off } else { -off };
                flight.seen = flight.seen.map(|sum| sum + off);
            }
            _ => {}
        }
        DONE
    }

    /// Returns true if past states are needed.
    fn remembers(&self) -> bool {
        matches!(self.bug, ObjectBug::StaleRead | ObjectBug::SplitBrain | ObjectBug::ReadSkew | ObjectBug::RepeatedId)
    }

    /// Replaces the result by a wrong one, if this is the operation that must be wrong. Every concurrent operation has
    /// been invoked by now.
    fn distort(&mut self, slot: Slot) {
        let Some(plan) = &mut self.wrong_read else { return };
        let flight = &mut self.flights[index(slot)];
        if !flight.is_observation() || !plan.is_due(flight.number) {
            return;
        }
        let Some(tracker) = &self.keys.get(flight.object).tracker else {
            self.model.distort(flight);
            return plan.finish();
        };
        if let Some(value) = plan.value(tracker, flight.overwriters, flight.number, &mut self.rng) {
            flight.seen = Some(value);
        }
    }
}

/// The form of the ops of an object; each object has its own key if it is `keyed`. `ids` provides the salt for the ids
/// of writes.
fn shape(object: Object, keyed: bool, ids: &mut Rng) -> Shape {
    let key: Option<fn(i64) -> ObjectKey> = match object {
        Object::Kv => Some(ObjectKey::NamedField),
        Object::VersionedRegister if keyed => Some(ObjectKey::Field),
        _ if keyed => Some(ObjectKey::InValue),
        _ => None,
    };
    let reads = match object {
        Object::Set | Object::Comments => Reads::Sets,
        Object::SetFull => Reads::Lists,
        Object::Bank => Reads::Balances,
        Object::LongFork => Reads::Groups,
        _ => Reads::Value,
    };
    Shape {
        key,
        versions: (object == Object::VersionedRegister).then(|| Versions { salt: ids.next() }),
        ids: (object == Object::UniqueIds).then(|| Versions { salt: ids.next() }),
        reads,
        owners: matches!(object, Object::OwnerMutex | Object::ReentrantMutex),
    }
}

/// Returns true if an operation adds or writes something, and does not read, remove or release.
fn changes(flight: &Flight) -> bool {
    match flight.ask {
        Ask::Drain | Ask::Acquire | Ask::Release => false,
        _ => !flight.is_read() && !flight.is_take(),
    }
}

impl<M: Model> System for Store<M> {
    fn f(&self, slot: Slot) -> &'static str {
        self.flights[index(slot)].ask.f()
    }

    fn plan(&mut self, slot: Slot, client: u32) -> bool {
        if self.flights.len() == index(slot) {
            self.flights.push(Flight::default());
        }
        let Store { model, keys, plans, .. } = self;
        let last = if self.ending { keys.choose_last() } else { None };
        let object = match (last, self.bound[index(client)]) {
            (Some(object), _) => object,
            (None, Some(object)) => {
                keys.hold(object);
                object
            }
            (None, None) => keys.choose(plans, || model.fresh()),
        };
        let flight = &mut self.flights[index(slot)];
        flight.begin(client, self.asked, plans.next());
        let must_read = self.wrong_read.is_some_and(|plan| plan.wants_read(self.asked));
        let entry = keys.get_mut(object);
        (flight.object, flight.key) = (object, entry.key);
        match model.last().filter(|_| last.is_some()) {
            Some(ask) => flight.ask = ask,
            None => model.draw(&entry.state, flight, if must_read { Want::Read } else { Want::Anything }, plans),
        }
        let must_succeed = must_read || last.is_some() || model.is_sure(flight);
        flight.spoilt = self.rng.happens(self.bug_rate);
        self.asked += 1;
        self.clock += 1;
        flight.invoked = self.clock;
        if let Some(values) = self.tracked {
            let tracker = entry.tracker.get_or_insert_with(|| Tracker::new(values));
            flight.overwriters = tracker.overwriters();
            flight.writes().into_iter().for_each(|value| tracker.open(value));
        }
        must_succeed
    }

    fn end(&mut self) -> u64 {
        self.ending = true;
        wide(self.keys.last_count())
    }

    fn step(&mut self, slot: Slot, intent: Intent) -> Progress {
        let flight = &mut self.flights[index(slot)];
        if intent == Intent::Abort {
            flight.aborted = true;
            return REFUSED;
        }
        if self.model.is_late(flight) {
            return REFUSED;
        }
        self.execute(slot)
    }

    fn payload(&self, slot: Slot, kind: Kind) -> Payload<'_> {
        Payload::Object(self.flights[index(slot)].op(&self.shape, kind))
    }

    fn hear(&mut self, slot: Slot, kind: Kind) {
        self.clock += 1;
        if kind == Kind::Ok {
            self.distort(slot);
        }
        let flight = &self.flights[index(slot)];
        let (client, object) = (flight.client, flight.object);
        let entry = self.keys.get_mut(object);
        if let Some(tracker) = &mut entry.tracker
            && kind != Kind::Info
            && let Some(value) = flight.writes()
        {
            tracker.close(value, flight.invoked, self.clock, kind == Kind::Ok);
        }
        self.model.hear(&mut entry.state, flight, kind);
        let bound = &mut self.bound[index(client)];
        match (*bound, self.model.is_bound(client)) {
            (None, true) => {
                self.keys.hold(object);
                *bound = Some(object);
            }
            (Some(object), false) => {
                self.keys.let_go(object);
                *bound = None;
            }
            _ => {}
        }
    }

    fn release(&mut self, slot: Slot) {
        self.keys.let_go(self.flights[index(slot)].object);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::models::counter::Counter;
    use crate::objects::models::locks::{Belief, Lock};
    use crate::op::SimOp;
    use crate::simulation::clients::{Clients, Observer};
    use std::io;

    struct Nobody;
    impl Observer for Nobody {
        fn op(&mut self, _: &SimOp<'_>) -> io::Result<()> {
            Ok(())
        }
    }

    /// Runs a simulation to its end. Returns the number of objects and of operations that fit the allocated memory.
    fn room<M: Model>(parameters: &Objects, model: M) -> (usize, usize) {
        parameters.validate().unwrap();
        let mut store = Store::new(parameters, model);
        Clients::new(parameters.load()).run(&mut store, &mut Nobody).unwrap();
        (store.keys.room(), store.flights.len())
    }

    #[test]
    fn memory_depends_on_clients_and_live_keys_only() {
        let (keyed, keys, ops_per_key, info_rate, lost_rate) = (true, 8, 5, 0.05, 0.05);
        for bug in [ObjectBug::None, ObjectBug::FalseFail] {
            let of = |object| {
                let ops = 20_000;
                Objects { ops, keyed, keys, ops_per_key, info_rate, lost_rate, bug, ..Objects::of(object) }
            };
            let clients = vec![Belief::default(); 10];
            let lock = Lock { object: Object::ReentrantMutex, permits: 2, clients };
            let counter = Counter { reads: Chance::HALF, amount_max: 5, asked: 0 };
            for (objects, flights) in [room(&of(Object::ReentrantMutex), lock), room(&of(Object::Counter), counter)] {
                assert!(objects < 60, "{bug}: {objects} objects for 8 live keys and some 4,000 in all");
                assert!(flights < 40, "{bug}: {flights} operations in flight for 10 clients");
            }
        }
    }
}
