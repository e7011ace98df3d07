//! Every history of registers of small worlds, judged by the checker, by the oracle, and by what the levels mean, with every
//! combination of the sources of version orders.

mod oracle;

use oracle::Question;
use oracle::enumeration::{checker_errs, judge_each, oracle_errs};
use oracle::laws;
use oracle::register_cases::CASES;
use oracle::registers::Sources;
use oracle::worlds::{CLOCKS, FATES, Fate, Kind, Seen, Size};

#[test]
fn the_oracle_knows_the_cases() {
    assert_eq!(oracle_errs(CASES), [""; 0]);
}
