//! A bank: transfers between accounts, and reads of all balances.

use super::{Model, Outcome, Want};
use crate::ids::{index, small};
use crate::objects::flight::{Ask, Flight};
use crate::rng::{Chance, Rng};

/// The initial balance of every account.
const OPENING: i64 = 100;
/// The largest amount of a transfer.
const AMOUNT_MAX: u64 = 50;

/// A bank whose accounts all have the same initial balance.
pub(in crate::objects) struct Bank {
    pub(in crate::objects) reads: Chance,
    /// The number of accounts, at least two.
    pub(in crate::objects) accounts: u32,
}

impl Model for Bank {
    /// The balance of each account.
    type State = Vec<i64>;

    fn fresh(&self) -> Vec<i64> {
        vec![OPENING; index(self.accounts)]
    }

    fn draw(&mut self, _: &Vec<i64>, flight: &mut Flight, want: Want, rng: &mut Rng) {
        if want == Want::Read || rng.happens(self.reads) {
            flight.ask = Ask::Read;
            return;
        }
        let from = rng.below(self.accounts.into());
        let to = (from + rng.between(1, u64::from(self.accounts) - 1)) % u64::from(self.accounts);
        flight.ask =
            Ask::Transfer { from: small(from), to: small(to), amount: rng.between(1, AMOUNT_MAX).cast_signed() };
    }

    fn apply(&mut self, state: &mut Vec<i64>, flight: &mut Flight) -> Outcome {
        let Ask::Transfer { from, to, amount } = flight.ask else {
            flight.items.clone_from(state);
            return Outcome::Done;
        };
        if state[index(from)] < amount {
            return Outcome::Refused;
        }
        state[index(from)] -= amount;
        state[index(to)] += amount;
        Outcome::Done
    }

    fn distort(&self, flight: &mut Flight) {
        flight.items[0] += 1;
    }

    fn skew(&self, past: &Vec<i64>, flight: &mut Flight, rng: &mut Rng) {
        for (shown, then) in flight.items.iter_mut().zip(past) {
            if rng.happens(Chance::HALF) {
                *shown = *then;
            }
        }
    }

    fn halve(&self, state: &mut Vec<i64>, flight: &Flight) {
        if let Ask::Transfer { to, amount, .. } = flight.ask {
            state[index(to)] -= amount;
        }
    }
}
