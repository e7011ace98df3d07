//! Options of a checker, from text or from typed values.
//!
//! A checker reads all its options as text. The given options are first compared with the checker's declarations, so
//! that a misspelled name or a wrong type is an error and not ignored.

use history_core::{Checker, OptionError, OptionKind, OptionSpec, Options};
use std::path::Path;

/// The option of every checker of transactions that names consistency levels, as [`OptionSpec::name`] has it.
pub const CONSISTENCY_LEVELS: &str = "consistency-models";

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// For a flag.
    Flag(bool),
    /// For an integer.
    Integer(i64),
    /// For text, for one or more names with commas between them, or the content of a file.
    Text(String),
    /// For names.
    Names(Vec<String>),
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Flag(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Integer(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Text(value.to_owned())
    }
}

impl From<Vec<String>> for Value {
    fn from(value: Vec<String>) -> Value {
        Value::Names(value)
    }
}

/// The options given as `name=value`, or as `name` alone for a flag. The value of an option that takes a file is its
/// path.
///
/// ```
/// use histcheck_front::{Registry, options};
///
/// let registry = Registry::built_in();
/// let checker = registry.find("bank")?.checker;
/// let options = options::parse(checker, ["total-amount=100", "allow-negative-balances"])?;
/// assert_eq!(options.integer("total-amount"), Ok(Some(100)));
/// let error = options::parse(checker, ["total-amount=all"]).unwrap_err();
/// assert_eq!(error.to_string(), "--total-amount: expected an integer, found all");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the checker has no such option, or it takes another type of value, or a file cannot be read.
pub fn parse<'t>(checker: &dyn Checker, pairs: impl IntoIterator<Item = &'t str>) -> Result<Options, OptionError> {
    let mut options = Options::new();
    for pair in pairs {
        let (name, text) = pair.split_once('=').map_or((pair, None), |(name, text)| (name, Some(text)));
        let spec = spec(checker, name)?;
        let value = match (spec.kind, text) {
            (OptionKind::Flag, None | Some("true")) => Value::Flag(true),
            (OptionKind::Flag, Some("false")) => Value::Flag(false),
            (_, None) => return Err(OptionError::new(name, format!("expected {}: {name}=value", spec.kind.phrase()))),
            (OptionKind::Integer, Some(text)) => {
                Value::Integer(text.parse().map_err(|_| mismatch(spec, &format!("found {text}")))?)
            }
            (OptionKind::File, Some(path)) => Value::Text(read_file(name, Path::new(path))?),
            (_, Some(text)) => Value::from(text),
        };
        set(&mut options, checker, name, value)?;
    }
    Ok(options)
}

/// Sets an option to a typed value. An option that takes a file gets the content of the file as text.
///
/// # Errors
///
/// If the checker has no such option, or it takes another type of value.
pub fn set(
    options: &mut Options,
    checker: &dyn Checker,
    name: &str,
    value: impl Into<Value>,
) -> Result<(), OptionError> {
    let spec = spec(checker, name)?;
    let text = match (spec.kind, value.into()) {
        (OptionKind::Flag, Value::Flag(value)) => value.to_string(),
        (OptionKind::Integer, Value::Integer(value)) => value.to_string(),
        (OptionKind::Text | OptionKind::Names | OptionKind::File, Value::Text(value)) => value,
        (OptionKind::Names, Value::Names(values)) => values.join(","),
        (_, value) => return Err(mismatch(spec, &format!("found {value:?}"))),
    };
    options.set(name, text);
    Ok(())
}

/// The content of the file that an option names.
///
/// # Errors
///
/// If it cannot be read as text.
pub fn read_file(name: &str, path: &Path) -> Result<String, OptionError> {
    std::fs::read_to_string(path)
        .map_err(|error| OptionError::new(name, format!("cannot read {}: {error}", path.display())))
}

fn spec<'c>(checker: &'c dyn Checker, name: &str) -> Result<&'c OptionSpec, OptionError> {
    checker.options().iter().find(|spec| spec.name == name).ok_or_else(|| {
        let names: Vec<&str> = checker.options().iter().map(|spec| spec.name).collect();
        let message = if names.is_empty() {
            format!("unknown option: {} has no options", checker.name())
        } else {
            format!("unknown option of {}; expected one of {}", checker.name(), names.join(", "))
        };
        OptionError::new(name, message)
    })
}

fn mismatch(spec: &OptionSpec, found: &str) -> OptionError {
    let expected = if spec.kind == OptionKind::Flag { "true or false" } else { spec.kind.phrase() };
    OptionError::new(spec.name, format!("expected {expected}, {found}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::Run;

    struct Five;

    const SPECS: &[OptionSpec] = &[
        of("f", OptionKind::Flag),
        of("i", OptionKind::Integer),
        of("t", OptionKind::Text),
        of("n", OptionKind::Names),
        of("p", OptionKind::File),
    ];

    const fn of(name: &'static str, kind: OptionKind) -> OptionSpec {
        OptionSpec::new(name, kind, "").with_value_name("V")
    }

    impl Checker for Five {
        fn name(&self) -> &'static str {
            "five"
        }

        fn summary(&self) -> &'static str {
            "Has an option of each kind."
        }

        fn options(&self) -> &[OptionSpec] {
            SPECS
        }

        fn start(&self, _: &Options) -> Result<Box<dyn Run>, OptionError> {
            unreachable!("nothing is checked here")
        }
    }

    fn error(pair: &str) -> String {
        parse(&Five, [pair]).unwrap_err().to_string()
    }

    #[test]
    fn text_is_read_by_the_kind_of_the_option() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("spec");
        std::fs::write(&path, "content").unwrap();
        let path = format!("p={}", path.display());
        let options = parse(&Five, ["f", "i=-7", "t=a=b", "n=x,y", &path]).unwrap();
        let all: Vec<(&str, &str)> = options.iter().collect();
        assert_eq!(all, [("f", "true"), ("i", "-7"), ("n", "x,y"), ("p", "content"), ("t", "a=b")]);
        assert!(!parse(&Five, ["f=false"]).unwrap().flag("f"));
    }

    #[test]
    fn what_the_checker_does_not_take_is_an_error() {
        assert_eq!(error("x=1"), "--x: unknown option of five; expected one of f, i, t, n, p");
        assert_eq!(error("i=one"), "--i: expected an integer, found one");
        assert_eq!(error("f=1"), "--f: expected true or false, found Text(\"1\")");
        assert_eq!(error("t"), "--t: expected text: t=value");
        assert!(
            error("p=/nowhere/at/all").starts_with("--p: cannot read /nowhere/at/all: "),
            "{}",
            error("p=/nowhere/at/all")
        );
    }

    #[test]
    fn typed_values_have_to_fit() {
        let mut options = Options::new();
        set(&mut options, &Five, "i", 3).unwrap();
        set(&mut options, &Five, "f", false).unwrap();
        set(&mut options, &Five, "n", vec!["a".to_owned(), "b".to_owned()]).unwrap();
        let all: Vec<(&str, &str)> = options.iter().collect();
        assert_eq!(all, [("f", "false"), ("i", "3"), ("n", "a,b")]);
        let error = set(&mut options, &Five, "i", true).unwrap_err();
        assert_eq!(error.to_string(), "--i: expected an integer, found Flag(true)");
    }
}
