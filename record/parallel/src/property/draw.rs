//! Draws programs with proptest, in a way that can be repeated: from a seed, which commands are kept, and how each was
//! simplified.

use super::ParallelModel;
use super::program::{Program, makes_sense};
use crate::ids::index;
use crate::scheduler::rng::Rng;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// How large programs are.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    pub(crate) prefix_max: u32,
    pub(crate) branches: RangeInclusive<u32>,
    pub(crate) commands_max: u32,
}

/// How often a command is drawn anew because it makes no sense where it stands.
const DRAWS_MAX: u32 = 20;

/// Moves by which one command is simplified, at most.
pub(crate) const MOVES_MAX: usize = 256;

/// A command as it was drawn.
struct Slot<C> {
    /// `None` for the prefix.
    branch: Option<usize>,
    tree: Box<dyn ValueTree<Value = C>>,
    /// What was done to the tree since it was drawn: true for `simplify`, false for `complicate`.
    moves: Vec<bool>,
    /// What of this leads to `value`.
    kept_moves: usize,
    value: C,
    is_kept: bool,
}

/// A program as it was drawn, with what was taken away from it since.
pub(crate) struct Drawn<C> {
    seed: u64,
    branches: usize,
    slots: Vec<Slot<C>>,
}

impl<C: Clone + std::fmt::Debug + 'static> Drawn<C> {
    pub(crate) fn new<M: ParallelModel<Command = C>>(model: &M, sizes: &Sizes, seed: u64) -> Drawn<C> {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let config = Config { failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
        let mut rng = Rng::fork(seed, 1);
        let (low, high) = (*sizes.branches.start(), *sizes.branches.end());
        let branches = index(low + rng.below(high - low + 1));
        let mut drawn = Drawn { seed, branches, slots: Vec::new() };
        let mut state = model.init();
        for _ in 0..rng.below(sizes.prefix_max + 1) {
            state = drawn.draw(model, None, state, &mut runner);
        }
        for branch in 0..branches {
            let mut own = state.clone();
            for _ in 0..=rng.below(sizes.commands_max) {
                own = drawn.draw(model, Some(branch), own, &mut runner);
            }
        }
        drawn
    }

    /// Adds a command that may be given in a state, and returns the state after it.
    fn draw<M: ParallelModel<Command = C>>(
        &mut self,
        model: &M,
        branch: Option<usize>,
        state: M::State,
        runner: &mut TestRunner,
    ) -> M::State {
        for _ in 0..DRAWS_MAX {
            let Ok(tree) = model.generate(&state).new_tree(runner) else { continue };
            let value = tree.current();
            if !model.precondition(&state, &value) {
                continue;
            }
            let next = model.step(&state, &value).0;
            let slot = Slot { branch, tree: Box::new(tree), moves: Vec::new(), kept_moves: 0, value, is_kept: true };
            self.slots.push(slot);
            if makes_sense(model, &self.program()) {
                return next;
            }
            self.slots.pop();
        }
        state
    }

    /// The program. Branches without commands are omitted.
    pub(crate) fn program(&self) -> Program<C> {
        let of = |branch| {
            let slots = self.slots.iter().filter(move |slot| slot.is_kept && slot.branch == branch);
            slots.map(|slot| slot.value.clone()).collect::<Vec<C>>()
        };
        let branches = (0..self.branches).map(|branch| of(Some(branch)));
        Program { prefix: of(None), branches: branches.filter(|commands| !commands.is_empty()).collect() }
    }

    /// How many commands were drawn.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn is_kept(&self, slot: usize) -> bool {
        self.slots[slot].is_kept
    }

    pub(crate) fn keep(&mut self, slot: usize, is_kept: bool) {
        self.slots[slot].is_kept = is_kept;
    }

    /// The position of a command that is kept among all of them.
    pub(crate) fn position(&self, slot: usize) -> usize {
        self.slots[..slot].iter().filter(|slot| slot.is_kept).count()
    }

    /// Makes a command simpler, or less simple again. Returns whether it could be.
    pub(crate) fn move_slot(&mut self, slot: usize, is_simplifying: bool) -> bool {
        let slot = &mut self.slots[slot];
        if slot.moves.len() >= MOVES_MAX {
            return false;
        }
        let moved = if is_simplifying { slot.tree.simplify() } else { slot.tree.complicate() };
        if moved {
            slot.moves.push(is_simplifying);
            slot.value = slot.tree.current();
        }
        moved
    }

    /// The value of a command, to be put back with [`Drawn::put_back`] if its simplification turns out to be too much.
    pub(crate) fn value(&self, slot: usize) -> C {
        self.slots[slot].value.clone()
    }

    /// The command is now what it is: the moves that led to it are part of the program's description.
    pub(crate) fn settle(&mut self, slot: usize) {
        self.slots[slot].kept_moves = self.slots[slot].moves.len();
    }

    /// Puts back the value that was settled.
    pub(crate) fn put_back(&mut self, slot: usize, value: C) {
        self.slots[slot].value = value;
    }

    /// All that is needed to draw it again: the seed, a `1` or `0` for each command, and the moves of those that have
    /// any.
    pub(crate) fn describe(&self) -> String {
        let kept: String = self.slots.iter().map(|slot| if slot.is_kept { '1' } else { '0' }).collect();
        let mut text = format!("{:x}/{kept}/", self.seed);
        for (at, slot) in self.slots.iter().enumerate().filter(|(_, slot)| slot.is_kept && slot.kept_moves > 0) {
            _ = write!(text, "{at}");
            text.extend(slot.moves[..slot.kept_moves].iter().map(|simplify| if *simplify { 's' } else { 'c' }));
        }
        text
    }

    /// Draws a program from its description.
    pub(crate) fn from_description<M: ParallelModel<Command = C>>(
        model: &M,
        sizes: &Sizes,
        text: &str,
    ) -> Result<Drawn<C>, String> {
        let error = |what: &str| format!("{what} in {text:?}");
        let mut parts = text.split('/');
        let (Some(seed), Some(kept), Some(moves), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(error("expected SEED/KEPT/MOVES"));
        };
        let seed = u64::from_str_radix(seed, 16).map_err(|_| error("the seed is not a hexadecimal number"))?;
        let mut drawn = Drawn::new(model, sizes, seed);
        if kept.len() != drawn.len() || !kept.bytes().all(|b| matches!(b, b'0' | b'1')) {
            return Err(error(&format!("expected {} times 0 or 1", drawn.len())));
        }
        for (slot, byte) in kept.bytes().enumerate() {
            drawn.keep(slot, byte == b'1');
        }
        let mut rest = moves;
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let slot: usize =
                rest[..digits].parse().map_err(|_| error("expected the number of a command in the moves"))?;
            rest = &rest[digits..];
            let count = rest.bytes().take_while(|b| matches!(b, b's' | b'c')).count();
            if slot >= drawn.len() || count == 0 {
                return Err(error("the moves do not belong to a command"));
            }
            for byte in rest.bytes().take(count) {
                if !drawn.move_slot(slot, byte == b's') {
                    return Err(error("a command cannot be simplified in this way"));
                }
            }
            drawn.settle(slot);
            rest = &rest[count..];
        }
        Ok(drawn)
    }
}
