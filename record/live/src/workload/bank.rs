//! Transfers between accounts, and reads of all balances.

use super::Plan;
use crate::chance::Chance;
use crate::request::Request;

/// How many accounts there are, numbered from 0.
pub const ACCOUNTS: u32 = 8;
/// The initial balance of each account.
pub const INITIAL_BALANCE: i64 = 100;
/// The sum of all balances, which never changes.
pub const TOTAL: i64 = ACCOUNTS as i64 * INITIAL_BALANCE;

pub(super) struct Bank;

impl Plan for Bank {
    fn next(&mut self, chance: &mut Chance) -> Request {
        if chance.percent(30) {
            return Request::ReadBalances;
        }
        let account = |chance: &mut Chance, of: u32| u32::try_from(chance.below(u64::from(of))).unwrap_or(0);
        let from = account(chance, ACCOUNTS);
        let to = (from + 1 + account(chance, ACCOUNTS - 1)) % ACCOUNTS;
        Request::Transfer { from, to, amount: 1 + i64::try_from(chance.below(5)).unwrap_or(0) }
    }
}
