//! Draws programs with proptest so that they can be drawn again from a description: the seed, the commands that are
//! kept, their parts of the program, and the moves that simplified each.

use super::ParallelModel;
use super::passed::{Rejected, Rejection};
use super::program::{Program, nonsense};
use super::reference::{Reference, moved, with_responses};
use crate::ids::index;
use crate::scheduler::rng::Rng;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The limits on the size of a program.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    pub(crate) prefix_max: u32,
    pub(crate) branches: RangeInclusive<u32>,
    pub(crate) commands_max: u32,
    pub(crate) suffix_max: u32,
}

/// A part of a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Part {
    Prefix,
    Branch(usize),
    Suffix,
}

/// The letters of branches.
const BRANCHES: [char; 8] = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

/// The maximum number of times a command is drawn again because it is not valid in its place.
const DRAWS_MAX: u32 = 20;

/// The maximum number of moves that simplify one command.
pub(crate) const MOVES_MAX: usize = 256;

/// A command as it was drawn.
struct Slot<C> {
    /// The part for which the command was drawn, and the part that contains it now.
    drawn: Part,
    part: Part,
    tree: Box<dyn ValueTree<Value = C>>,
    /// The moves in the tree since it was drawn: true for `simplify`, false for `complicate`.
    moves: Vec<bool>,
    /// The moves that lead to `value`.
    kept_moves: usize,
    value: C,
    is_kept: bool,
}

/// The model's state after some commands, and their responses, each with the slot of its command.
struct Reached<M: ParallelModel> {
    state: M::State,
    responses: Vec<(usize, Arc<M::Response>)>,
}

impl<M: ParallelModel> Clone for Reached<M> {
    fn clone(&self) -> Reached<M> {
        Reached { state: self.state.clone(), responses: self.responses.clone() }
    }
}

impl<M: ParallelModel> Reached<M> {
    fn response(&self, slot: usize) -> Option<Arc<M::Response>> {
        self.responses.iter().find(|(of, _)| *of == slot).map(|(_, response)| Arc::clone(response))
    }

    fn step(&mut self, model: &M, slot: usize, command: &M::Command) {
        let Some(command) = with_responses(model, command, |slot| self.response(slot)) else { return };
        let (state, response) = model.step(&self.state, &command);
        self.state = state;
        self.responses.push((slot, Arc::new(response)));
    }
}

/// A program as it was drawn, and the changes since then.
pub(crate) struct Drawn<C> {
    seed: u64,
    branches: usize,
    slots: Vec<Slot<C>>,
    /// The commands that were omitted because no valid one was found.
    rejected: Rejected,
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
        let mut drawn = Drawn { seed, branches, slots: Vec::new(), rejected: Rejected::default() };
        let mut reached = Reached { state: model.init(), responses: Vec::new() };
        for _ in 0..rng.below(sizes.prefix_max + 1) {
            drawn.draw(model, Part::Prefix, &mut reached, &mut runner);
        }
        // For the suffix, the branches are assumed to run one after another.
        let mut after = reached.clone();
        for branch in 0..branches {
            let first = drawn.slots.len();
            let mut own = reached.clone();
            for _ in 0..=rng.below(sizes.commands_max) {
                drawn.draw(model, Part::Branch(branch), &mut own, &mut runner);
            }
            if sizes.suffix_max > 0 {
                for slot in first..drawn.slots.len() {
                    after.step(model, slot, &drawn.slots[slot].value);
                }
            }
        }
        for _ in 0..rng.below(sizes.suffix_max + 1) {
            drawn.draw(model, Part::Suffix, &mut after, &mut runner);
        }
        drawn
    }

    /// Draws a command that the model allows in the current state, adds it, and advances the state.
    fn draw<M: ParallelModel<Command = C>>(
        &mut self,
        model: &M,
        part: Part,
        reached: &mut Reached<M>,
        runner: &mut TestRunner,
    ) {
        let earlier = reached.responses.iter().map(|(slot, _)| (Reference::to(*slot), self.slots[*slot].value.clone()));
        let earlier: Vec<(Reference<M::Response>, C)> = earlier.collect();
        let slot = self.slots.len();
        let mut why = Rejection::Strategy;
        for _ in 0..DRAWS_MAX {
            let Ok(tree) = model.generate_after(&reached.state, &earlier).new_tree(runner) else {
                why = Rejection::Strategy;
                continue;
            };
            let value = tree.current();
            let is_possible = |command| model.precondition(&reached.state, &command);
            if !with_responses(model, &value, |slot| reached.response(slot)).is_some_and(is_possible) {
                why = Rejection::Precondition;
                continue;
            }
            let (tree, moves) = (Box::new(tree), Vec::new());
            self.slots.push(Slot { drawn: part, part, tree, moves, kept_moves: 0, value, is_kept: true });
            let Err(nonsense) = nonsense(model, &self.program(model)) else {
                reached.step(model, slot, &self.slots[slot].value);
                return;
            };
            why = Rejection::Program(nonsense);
            self.slots.pop();
        }
        self.rejected.add(&why);
    }

    /// The commands that were omitted from the program.
    pub(crate) fn rejected(&self) -> &Rejected {
        &self.rejected
    }

    /// The program. Branches without commands are omitted.
    pub(crate) fn program<M: ParallelModel<Command = C>>(&self, model: &M) -> Program<C> {
        // A removed command has no position, so a program that refers to it is not valid.
        let is_kept = |slot: usize| self.slots.get(slot).is_some_and(|slot| slot.is_kept);
        let position = |slot: usize| if is_kept(slot) { self.position(slot) } else { usize::MAX };
        let command = |slot: &usize| moved(model, &self.slots[*slot].value, position);
        let of = |part| self.kept_in(part).iter().map(command).collect::<Vec<C>>();
        let branches = (0..self.branches).map(|branch| of(Part::Branch(branch)));
        let branches = branches.filter(|commands| !commands.is_empty()).collect();
        Program { prefix: of(Part::Prefix), branches, suffix: of(Part::Suffix) }
    }

    /// The number of commands that were drawn.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn is_kept(&self, slot: usize) -> bool {
        self.slots[slot].is_kept
    }

    pub(crate) fn keep(&mut self, slot: usize, is_kept: bool) {
        self.slots[slot].is_kept = is_kept;
    }

    /// The commands that are kept in a part of the program, in the order in which they run.
    pub(crate) fn kept_in(&self, part: Part) -> Vec<usize> {
        let here = |slot: &usize| self.slots[*slot].is_kept && self.slots[*slot].part == part;
        let mut slots: Vec<usize> = (0..self.slots.len()).filter(here).collect();
        slots.sort_by_key(|slot| self.place(*slot));
        slots
    }

    /// The sort key of a command: commands moved to a part follow those drawn for it.
    fn place(&self, slot: usize) -> (Part, bool, usize) {
        let Slot { part, drawn, .. } = self.slots[slot];
        (part, part != drawn, slot)
    }

    /// The branches that have commands.
    pub(crate) fn branches(&self) -> Vec<usize> {
        (0..self.branches).filter(|branch| !self.kept_in(Part::Branch(*branch)).is_empty()).collect()
    }

    /// The part that contains a command.
    pub(crate) fn part(&self, slot: usize) -> Part {
        self.slots[slot].part
    }

    /// Moves a command to another part of the program.
    pub(crate) fn put_in(&mut self, slot: usize, part: Part) {
        self.slots[slot].part = part;
    }

    /// The position of a command among all commands that are kept.
    pub(crate) fn position(&self, slot: usize) -> usize {
        let place = self.place(slot);
        (0..self.slots.len()).filter(|other| self.slots[*other].is_kept && self.place(*other) < place).count()
    }

    /// Simplifies a command, or undoes part of a simplification. Returns false if that is not possible.
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

    /// The value of a command, to be restored with [`Drawn::put_back`] if a simplification is not accepted.
    pub(crate) fn value(&self, slot: usize) -> C {
        self.slots[slot].value.clone()
    }

    /// Accepts the current value of a command. The moves that led to it become part of the program's description.
    pub(crate) fn settle(&mut self, slot: usize) {
        self.slots[slot].kept_moves = self.slots[slot].moves.len();
    }

    /// Restores the accepted value of a command.
    pub(crate) fn put_back(&mut self, slot: usize, value: C) {
        self.slots[slot].value = value;
    }

    /// The description of the program: the seed, a character for each command, and the moves of those that have any.
    /// The character is `0` for a command that was removed, `1` for a command in the part for which it was drawn, and
    /// otherwise the letter of the branch to which it was moved, or `P` for the prefix.
    pub(crate) fn describe(&self) -> String {
        let character = |slot: &Slot<C>| match slot.part {
            _ if !slot.is_kept => '0',
            part if part == slot.drawn => '1',
            Part::Branch(branch) => BRANCHES[branch],
            Part::Prefix | Part::Suffix => 'P',
        };
        let kept: String = self.slots.iter().map(character).collect();
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
        let part = |slot: usize, character| match character {
            '0' | '1' => Some(drawn.slots[slot].part),
            'P' => Some(Part::Prefix),
            _ => BRANCHES[..drawn.branches].iter().position(|letter| *letter == character).map(Part::Branch),
        };
        let is_fitting = kept.chars().count() == drawn.len();
        let parts: Option<Vec<Part>> =
            kept.chars().enumerate().filter(|_| is_fitting).map(|(slot, character)| part(slot, character)).collect();
        let Some(parts) = parts.filter(|_| is_fitting) else {
            return Err(error(&format!("expected {} times 0, 1, P or the letter of a branch", drawn.len())));
        };
        for (slot, (character, part)) in kept.chars().zip(parts).enumerate() {
            drawn.keep(slot, character != '0');
            drawn.put_in(slot, part);
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
