//! Predicates: conditions on the content of an object.

use history_core::{Datum, Interner, Value};

/// The condition of a predicate read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Predicate {
    /// Any content.
    True,
    /// Content equal to the value with this code.
    Equals(i64),
    /// Integers with this remainder, which has the sign of the modulus. The modulus is not zero.
    Mod { modulus: i64, remainder: i64 },
}

impl Predicate {
    /// The predicate in a value: `:true`, `[:= v]` or `[:mod m r]`.
    pub(super) fn parse(value: Value<'_>, interner: &mut Interner) -> Option<Predicate> {
        if value.as_name() == Some("true") || matches!(value, Value::Bool(true)) {
            return Some(Predicate::True);
        }
        let parts = value.as_seq()?;
        if let Some([f, value]) = parts.as_array::<2>() {
            return (f.as_name()? == "=" && !value.is_nil()).then(|| Predicate::Equals(interner.code(value)));
        }
        let [f, modulus, remainder] = parts.as_array::<3>()?;
        let (modulus, remainder) = (modulus.as_int()?, remainder.as_int()?);
        (f.as_name()? == "mod" && modulus != 0).then_some(Predicate::Mod { modulus, remainder })
    }

    /// Returns true if the content with this code matches. Nil represents absence, which never matches.
    pub(super) fn matches(self, code: i64) -> bool {
        code != Interner::NIL
            && match self {
                Predicate::True => true,
                Predicate::Equals(value) => value == code,
                // Other values than small integers have no remainder here.
                Predicate::Mod { .. } if code < Interner::NIL => false,
                Predicate::Mod { modulus, remainder } => {
                    let rest = code.wrapping_rem(modulus);
                    // A remainder with the other sign lacks the modulus.
                    let rest = if rest != 0 && (rest < 0) != (modulus < 0) { rest + modulus } else { rest };
                    rest == remainder
                }
            }
    }

    /// Returns true if the predicate requires integers: other contents have no remainder.
    pub(super) fn takes_integers(self) -> bool {
        matches!(self, Predicate::Mod { .. })
    }

    /// The predicate in its recorded form.
    pub(super) fn datum(self, interner: &Interner) -> Datum {
        match self {
            Predicate::True => Datum::keyword("true"),
            Predicate::Equals(value) => Datum::Vector(vec![Datum::keyword("="), interner.datum(value)]),
            Predicate::Mod { modulus, remainder } => {
                Datum::Vector(vec![Datum::keyword("mod"), modulus.into(), remainder.into()])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_have_the_sign_of_the_modulus() {
        let is = |modulus, remainder, code| Predicate::Mod { modulus, remainder }.matches(code);
        assert!(is(3, 2, 5) && !is(3, 2, 4) && is(2, 0, 0));
        assert!(is(3, 2, -1) && !is(3, -1, -1));
        assert!(is(-3, -1, 5) && is(-3, 0, 6) && !is(-3, 2, 5));
        assert!(is(-1, 0, 7) && is(i64::MIN, i64::MIN + 1, 1), "no overflow");
    }

    #[test]
    fn absent_objects_match_nothing() {
        for predicate in
            [Predicate::True, Predicate::Equals(Interner::NIL), Predicate::Mod { modulus: 1, remainder: 0 }]
        {
            assert!(!predicate.matches(Interner::NIL), "{predicate:?}");
        }
        assert!(Predicate::True.matches(0) && Predicate::Equals(4).matches(4) && !Predicate::Equals(4).matches(5));
    }
}
