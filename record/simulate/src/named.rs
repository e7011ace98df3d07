//! Names for the variants of an enum, from a table with a row for each.

/// Implements `ALL`, `name` and `summary`, `Display`, and `FromStr` with an error that lists the names, from the
/// `TABLE` of an enum.
///
/// Rows are in the order of the variants. Each has the fields `name` and `summary`, and a field with the name `$field`
/// of the enum's type. `also` returns a further name of a variant.
macro_rules! named {
    ($Type:ident, $Unknown:ident, $field:ident, $what:literal, $doc:literal, also $also:expr) => {
        impl $Type {
            /// All variants, in order.
            pub const ALL: [$Type; TABLE.len()] = {
                let mut all = [TABLE[0].$field; TABLE.len()];
                let mut i = 0;
                while i < all.len() {
                    assert!(TABLE[i].$field as usize == i);
                    all[i] = TABLE[i].$field;
                    i += 1;
                }
                all
            };

            /// The name on command lines: in lower case, with dashes.
            pub fn name(self) -> &'static str {
                self.row().name
            }

            /// A description in one line, without a period.
            pub fn summary(self) -> &'static str {
                self.row().summary
            }

            fn row(self) -> &'static Row {
                &TABLE[self as usize]
            }
        }

        impl std::fmt::Display for $Type {
            /// Writes the name.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        #[doc = $doc]
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $Unknown(String);

        impl std::fmt::Display for $Unknown {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                // An array of names is not joined directly: LLVM 22 would unroll the join and take minutes to analyse
                // it.
                let names: Vec<&str> = $Type::ALL.iter().map(|one| one.name()).collect();
                write!(f, "{} is not a known {}: expected one of {}", self.0, $what, names.join(", "))
            }
        }

        impl std::error::Error for $Unknown {}

        impl std::str::FromStr for $Type {
            type Err = $Unknown;

            /// Returns the variant with this name.
            fn from_str(name: &str) -> Result<$Type, $Unknown> {
                let also: fn($Type) -> Option<&'static str> = $also;
                let is_called = |one: &$Type| one.name() == name || also(*one) == Some(name);
                $Type::ALL.into_iter().find(is_called).ok_or_else(|| $Unknown(name.into()))
            }
        }
    };
}

pub(crate) use named;
