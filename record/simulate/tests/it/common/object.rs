//! The permitted behaviour of each object, and whether a history obeys it: definitions, written for clarity and
//! independently of the simulation.

use record_simulate::{
    Kind, Object, ObjectKey, ObjectOp, ObjectValue, Objects, Observer, Payload, Process, RegisterMop, SimOp,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;

/// An argument or a result that owns its content.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    Nothing,
    Int(i64),
    Cas(i64, i64),
    /// The elements of a set, the pieces of a string, balances, or a key and its subkeys.
    Many(Vec<i64>),
    Transfer(u32, u32, i64),
    Id(u128),
    Mops(Vec<RegisterMop>),
    Owner(i64),
    /// A value with its version and, for a write, the version that it replaces.
    Version(Option<i64>, Option<u128>, Option<u128>),
}

fn said(op: ObjectOp<'_>) -> Said {
    if op.write_id.is_some() {
        let ObjectValue::Int(value) = op.value else { panic!("{op:?}") };
        return Said::Version(Some(value), op.write_id.map(|id| id.0), op.prev_write_id.map(|id| id.0));
    }
    match op.value {
        ObjectValue::Nil => Said::Nothing,
        ObjectValue::Int(n) => Said::Int(n),
        ObjectValue::Piece(n) => Said::Many(vec![n]),
        ObjectValue::Cas(old, new) => Said::Cas(old, new),
        ObjectValue::Set(elements) | ObjectValue::List(elements) | ObjectValue::Balances(elements) => {
            Said::Many(elements.to_vec())
        }
        ObjectValue::Subkeys(key, subkeys) => Said::Many([&[key], subkeys].concat()),
        ObjectValue::Subkey(key, subkey) => Said::Cas(key, subkey.into()),
        ObjectValue::Transfer { from, to, amount } => Said::Transfer(from, to, amount),
        ObjectValue::Id(id) => Said::Id(id.0),
        ObjectValue::Text(text) => Said::Many(text.split_terminator(',').map(|piece| piece.parse().unwrap()).collect()),
        ObjectValue::Mops { mops, shown } | ObjectValue::Group { mops, shown } => {
            let hide = |mop: &RegisterMop| match *mop {
                RegisterMop::Read { key, .. } if !shown => RegisterMop::Read { key, value: None },
                mop => mop,
            };
            Said::Mops(mops.iter().map(hide).collect())
        }
        ObjectValue::Owner(client) => Said::Owner(client.into()),
        _ => panic!("{op:?}"),
    }
}

/// An invocation with its completion.
#[derive(Clone, Debug)]
pub struct Did {
    pub f: &'static str,
    pub key: Option<ObjectKey>,
    pub process: i64,
    pub invoked: u64,
    pub completed: Option<u64>,
    /// `Info` if it has no completion.
    pub kind: Kind,
    pub asked: Said,
    /// The result of an `ok` operation.
    pub answer: Option<Said>,
    /// The number of ops that had been recorded when it took effect, and the result.
    pub effect: Option<(u64, Said)>,
}

/// All operations by invocation, and the order in which they took effect.
#[derive(Default)]
pub struct Recorded {
    pub ops: Vec<Did>,
    pub effects: Vec<usize>,
    pub len: u64,
    open: HashMap<i64, usize>,
    by_index: HashMap<u64, usize>,
}

impl Recorded {
    pub fn of(parameters: &Objects) -> Recorded {
        let mut recorded = Recorded::default();
        parameters.simulation().unwrap().observe(&mut recorded).unwrap();
        recorded
    }
}

impl Observer for Recorded {
    fn op(&mut self, op: &SimOp<'_>) -> io::Result<()> {
        assert_eq!(op.index, self.len);
        self.len += 1;
        let (Process::Client(process), Payload::Object(object)) = (op.process, op.payload) else { return Ok(()) };
        if op.kind == Kind::Invoke {
            let at = self.ops.len();
            assert_eq!(self.open.insert(process, at), None, "process {process} waits already");
            self.by_index.insert(op.index, at);
            let (f, key, kind, asked) = (op.f, object.key, Kind::Info, said(object));
            let (invoked, completed, answer, effect) = (op.index, None, None, None);
            self.ops.push(Did { f, key, process, invoked, completed, kind, asked, answer, effect });
            return Ok(());
        }
        let at = self.open.remove(&process).expect("a completion follows its invocation");
        let did = &mut self.ops[at];
        assert_eq!((did.f, did.key), (op.f, object.key));
        (did.completed, did.kind) = (Some(op.index), op.kind);
        match op.kind {
            Kind::Ok => did.answer = Some(said(object)),
            _ => assert_eq!(did.asked, said(object), "only ok tells more than was asked"),
        }
        Ok(())
    }

    fn commit(&mut self, invoked: u64, _: u64, result: Payload<'_>) {
        let Payload::Object(result) = result else { panic!("{result:?}") };
        let at = self.by_index[&invoked];
        self.effects.push(at);
        assert_eq!(self.ops[at].effect.replace((self.len, said(result))), None, "it takes effect once");
    }
}

/// The state of an object; its form depends on the object.
pub type State = Vec<i64>;

/// The number of permits of semaphores, and the number of times that reentrant mutexes can be held.
const PERMITS: i64 = 1;
const TIMES: i64 = 2;

/// The initial state of an object; registers hold -9.
pub fn fresh(object: Object) -> State {
    match object {
        Object::Register | Object::CasRegister => vec![NIL],
        Object::MultiRegister => vec![NIL; 3],
        // The owner, and how often it holds the lock; for a semaphore, the number of free permits.
        Object::Mutex | Object::OwnerMutex | Object::ReentrantMutex => vec![NIL, 0],
        Object::Semaphore => vec![PERMITS],
        Object::Counter => vec![0],
        Object::Bank => vec![100; 8],
        // The value, and the two halves of the id.
        Object::VersionedRegister => vec![0, 0, 0],
        _ => vec![],
    }
}

const NIL: i64 = -9;

fn id(id: u128) -> [i64; 2] {
    [(id >> 64) as i64, id as i64]
}

/// The position of a key's value in a multi-register.
fn place(key: i64) -> usize {
    usize::try_from(key).unwrap()
}

/// The states after an operation with this result; none if the result is not possible.
pub fn step(object: Object, state: &State, did: &Did, result: Option<&Said>) -> Vec<State> {
    let only = |holds: bool, state: State| if holds { vec![state] } else { vec![] };
    let same = |holds: bool| only(holds, state.clone());
    let with = |change: &dyn Fn(&mut State)| {
        let mut state = state.clone();
        change(&mut state);
        vec![state]
    };
    // The elements are stored in order.
    let and = |element: i64| {
        with(&|state| {
            if let Err(at) = state.binary_search(&element) {
                state.insert(at, element);
            }
        })
    };
    match (object, did.f, &did.asked) {
        (Object::VersionedRegister, "read", _) => same(result.is_none_or(|said| {
            let Said::Version(Some(value), Some(version), None) = said else { panic!("{said:?}") };
            state[..] == [&[*value][..], &id(*version)].concat()
        })),
        (_, "write", Said::Version(Some(value), Some(new), Some(prev))) => {
            only(state[1..] == id(*prev), [&[*value][..], &id(*new)].concat())
        }
        (Object::Bank, "transfer", Said::Transfer(from, to, amount)) => {
            let (from, to) = (place((*from).into()), place((*to).into()));
            let mut after = state.clone();
            after[from] -= amount;
            after[to] += amount;
            only(after[from] >= 0, after)
        }
        // The halves of the generated ids, in order. If an operation has no result, its id is unknown.
        (Object::UniqueIds, "generate", _) => match result {
            Some(Said::Id(new)) => {
                let new = id(*new);
                let at = state.chunks(2).position(|given| *given >= new[..]).map_or(state.len(), |pair| 2 * pair);
                only(state[at..].chunks(2).next() != Some(&new[..]), [&state[..at], &new, &state[at..]].concat())
            }
            _ => same(true),
        },
        // The numbers of the keys that were written.
        (Object::LongFork, "write", Said::Mops(mops)) => match mops[..] {
            [RegisterMop::Write { key, value: 1 }] => and(key),
            _ => panic!("{did:?}"),
        },
        (Object::LongFork, "read", _) => same(result.is_none_or(|said| {
            let Said::Mops(mops) = said else { panic!("{said:?}") };
            let sees = |mop: &RegisterMop| match mop {
                RegisterMop::Read { key, value } => *value == state.contains(key).then_some(1),
                mop @ RegisterMop::Write { .. } => panic!("{mop:?}"),
            };
            mops.iter().all(sees)
        })),
        // For each subkey that was written: its number plus a hundred times the number of its key.
        (Object::Sequential, "write", Said::Cas(key, subkey)) => and(key * 100 + subkey),
        (Object::Sequential, "read", _) => same(result.is_none_or(|said| {
            let Said::Many(shown) = said else { panic!("{said:?}") };
            let is_there = |subkey: i64| state.contains(&(said_key(said) * 100 + subkey));
            let sees = |(subkey, shown): (i64, &i64)| if is_there(subkey) { *shown == subkey } else { *shown < 0 };
            shown.len() == 6 && (0..).zip(shown[1..].iter().rev()).all(sees)
        })),
        (Object::Set | Object::SetFull | Object::Comments | Object::Bank, "read", _) => {
            same(result.is_none_or(|said| *said == Said::Many(state.clone())))
        }
        (Object::Kv, "get", _) => same(result.is_none_or(|said| *said == Said::Many(state.clone()))),
        (_, "read", _) => same(match result {
            None => true,
            Some(Said::Nothing) => state[0] == NIL,
            Some(said) => *said == Said::Int(state[0]),
        }),
        (_, "cas", Said::Cas(old, new)) => only(state[0] == *old, vec![*new]),
        (Object::Counter, "add", Said::Int(n)) => vec![vec![state[0] + n]],
        (Object::Set | Object::SetFull, "add", Said::Int(n)) | (Object::Comments, "write", Said::Int(n)) => and(*n),
        (_, "write", Said::Int(new)) => vec![vec![*new]],
        (_, "put", Said::Many(piece)) => vec![piece.clone()],
        (_, "append", Said::Many(piece)) => vec![[&state[..], piece].concat()],
        (_, "enqueue" | "push" | "push-back" | "insert", Said::Int(n)) => with(&|state| state.push(*n)),
        (_, "push-front", Said::Int(n)) => with(&|state| state.insert(0, *n)),
        (_, "drain", _) => only(result.is_none_or(|said| *said == Said::Many(state.clone())), vec![]),
        (_, "dequeue" | "pop" | "pop-front" | "pop-back" | "delete-min", _) => take(object, did.f, state, result),
        (_, "txn", Said::Mops(asked)) => {
            let Some(Said::Mops(mops)) = result.or(Some(&did.asked)) else { panic!("{did:?}") };
            let mut state = state.clone();
            for (mop, asked) in mops.iter().zip(asked) {
                match (*mop, *asked) {
                    (RegisterMop::Write { key, value }, asked) => {
                        assert_eq!(asked, RegisterMop::Write { key, value });
                        state[place(key)] = value;
                    }
                    (RegisterMop::Read { key, value }, _) => {
                        if result.is_some() && state[place(key)] != value.unwrap_or(NIL) {
                            return vec![];
                        }
                    }
                }
            }
            vec![state]
        }
        (Object::Semaphore, "acquire", _) => only(state[0] > 0, vec![state[0] - 1]),
        (Object::Semaphore, "release", _) => only(state[0] < PERMITS, vec![state[0] + 1]),
        (_, "acquire" | "release", owner) => {
            // A plain mutex ignores the owner.
            let who = if let Said::Owner(who) = owner { *who } else { 0 };
            let (held, mine) = (state[1], state[0] == who);
            match (did.f, object) {
                ("release", _) => only(held > 0 && mine, if held > 1 { vec![who, held - 1] } else { vec![NIL, 0] }),
                (_, Object::ReentrantMutex) => only(held == 0 || (mine && held < TIMES), vec![who, held + 1]),
                _ => only(held == 0, vec![who, 1]),
            }
        }
        _ => panic!("{object}: {did:?}"),
    }
}

/// The key that was read.
fn said_key(said: &Said) -> i64 {
    let Said::Many(shown) = said else { panic!("{said:?}") };
    shown[0]
}

fn take(object: Object, f: &str, state: &State, result: Option<&Said>) -> Vec<State> {
    if result == Some(&Said::Nothing) && state.is_empty() {
        return vec![vec![]];
    }
    let candidates: Vec<usize> = match object {
        Object::FifoQueue | Object::Queue | Object::TotalQueue => (0..state.len().min(1)).collect(),
        Object::PriorityQueue => (0..state.len()).filter(|at| state.iter().all(|other| state[*at] <= *other)).collect(),
        Object::Deque if f == "pop-front" => (0..state.len().min(1)).collect(),
        Object::Stack | Object::Deque => (state.len().saturating_sub(1)..state.len()).collect(),
        _ => (0..state.len()).collect(),
    };
    let fits = |at: &usize| result.is_none_or(|said| *said == Said::Int(state[*at]));
    let without = |at: usize| {
        let mut state = state.clone();
        state.remove(at);
        if object == Object::UnorderedQueue {
            state.sort_unstable();
        }
        state
    };
    candidates.into_iter().filter(fits).map(without).collect()
}

/// Returns true if there is an order of the operations of each object that respects real time and in which every result
/// is right.
///
/// Goes through the history with all possible states, each with the operations in flight that led to it.
pub fn is_linearizable(object: Object, recorded: &Recorded) -> bool {
    let mut by_key: BTreeMap<String, Vec<&Did>> = BTreeMap::new();
    for did in recorded.ops.iter().filter(|did| did.kind != Kind::Fail) {
        by_key.entry(format!("{:?}", did.key)).or_default().push(did);
    }
    by_key.values().all(|ops| is_linearizable_alone(object, ops))
}

/// A set of operations in flight: one bit per operation, by position.
type Done = u128;

fn is_linearizable_alone(object: Object, ops: &[&Did]) -> bool {
    let mut events: Vec<(u64, usize)> = Vec::new();
    for (at, did) in ops.iter().enumerate() {
        events.push((did.invoked, at));
        events.extend(did.completed.filter(|_| did.kind == Kind::Ok).map(|index| (index, at)));
    }
    events.sort_unstable();
    assert!(ops.len() <= Done::BITS as usize, "small histories");
    let mut worlds: BTreeSet<(State, Done)> = BTreeSet::from([(fresh(object), 0)]);
    let mut open: BTreeSet<usize> = BTreeSet::new();
    for (index, at) in events {
        if index == ops[at].invoked {
            open.insert(at);
            continue;
        }
        let mut stack: Vec<_> = worlds.iter().cloned().collect();
        while let Some((state, done)) = stack.pop() {
            // Operations after the one that completes now need not take effect yet.
            if done >> at & 1 == 1 {
                continue;
            }
            for op in open.iter().filter(|op| done >> **op & 1 == 0) {
                for after in step(object, &state, ops[*op], ops[*op].answer.as_ref()) {
                    let next = (after, done | 1 << op);
                    if worlds.insert(next.clone()) {
                        stack.push(next);
                    }
                }
            }
        }
        open.remove(&at);
        let goes_on = worlds.into_iter().filter(|(_, done)| done >> at & 1 == 1);
        worlds = goes_on.map(|(state, done)| (state, done & !(1 << at))).collect();
        if worlds.is_empty() {
            return false;
        }
    }
    true
}
