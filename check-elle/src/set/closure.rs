//! Transitive closure of the implications of a table's rows, a set of bits for each row, at compile time.

/// For each row, the rows that follow from it directly or indirectly, without itself.
///
/// Row `i` follows directly from the rows in which bit `i` is set. Fails to compile if a row follows from itself.
pub(crate) const fn transitive<const N: usize>(mut follows: [u128; N]) -> [u128; N] {
    assert!(N <= u128::BITS as usize, "a table has more rows than a set has bits");
    let mut middle = 0;
    while middle < N {
        let mut row = 0;
        while row < N {
            if follows[row] >> middle & 1 == 1 {
                follows[row] |= follows[middle];
            }
            row += 1;
        }
        middle += 1;
    }
    let mut row = 0;
    while row < N {
        assert!(follows[row] >> row & 1 == 0, "a row implies itself");
        row += 1;
    }
    follows
}

/// The converse relation.
pub(crate) const fn converse<const N: usize>(relation: &[u128; N]) -> [u128; N] {
    let mut converse = [0; N];
    let mut row = 0;
    while row < N {
        let mut other = 0;
        while other < N {
            converse[other] |= (relation[row] >> other & 1) << row;
            other += 1;
        }
        row += 1;
    }
    converse
}
