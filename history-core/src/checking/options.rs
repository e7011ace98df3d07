//! Options of checkers, by name: settings from a command line, a plugin's host or a configuration file.

use std::collections::BTreeMap;
use std::fmt;

/// One option of a checker, for help texts and to verify the given values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptionSpec {
    /// The name on the command line, without dashes: `"consistency-models"`.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: OptionKind,
    /// The placeholder for its value in help texts: `"MODELS"`.
    pub value_name: &'static str,
    /// The default, in words; empty if there is none.
    pub default: &'static str,
    /// One or two sentences.
    pub help: &'static str,
}

impl OptionSpec {
    /// An option without default.
    ///
    /// ```
    /// use history_core::{OptionKind, OptionSpec};
    ///
    /// const MAX_WITNESSES: OptionSpec =
    ///     OptionSpec::new("max-witnesses", OptionKind::Integer, "Number of witnesses to report.")
    ///         .with_value_name("N")
    ///         .with_default("8");
    /// ```
    #[must_use]
    pub const fn new(name: &'static str, kind: OptionKind, help: &'static str) -> OptionSpec {
        OptionSpec { name, kind, value_name: "", default: "", help }
    }

    /// The same option with another placeholder for its value.
    #[must_use]
    pub const fn with_value_name(self, value_name: &'static str) -> OptionSpec {
        OptionSpec { value_name, ..self }
    }

    /// The same option with a default, in words.
    #[must_use]
    pub const fn with_default(self, default: &'static str) -> OptionSpec {
        OptionSpec { default, ..self }
    }
}

/// The kind of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OptionKind {
    /// No value; the option is on if it is given.
    Flag,
    /// An integer.
    Integer,
    /// Text.
    Text,
    /// Names separated by commas.
    Names,
    /// The text of a file: a command line takes its path.
    File,
}

impl OptionKind {
    /// The kind in words: `"an integer"`.
    pub fn phrase(self) -> &'static str {
        match self {
            OptionKind::Flag => "nothing",
            OptionKind::Integer => "an integer",
            OptionKind::Text => "text",
            OptionKind::Names => "names",
            OptionKind::File => "a file",
        }
    }
}

/// The options given to a checker.
///
/// ```
/// use history_core::Options;
///
/// let options = Options::new().with("consistency-models", "serializable,read-committed").with("max", "3");
/// assert_eq!(options.names("consistency-models"), ["serializable", "read-committed"]);
/// assert_eq!(options.integer("max"), Ok(Some(3)));
/// assert_eq!(options.size("max"), Ok(Some(3)));
/// assert!(options.integer("consistency-models").is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(BTreeMap<String, String>);

/// An error about an option whose value is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError {
    /// The option's name, without dashes.
    pub option: String,
    /// What is wrong with the option, and what was expected.
    pub message: String,
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--{}: {}", self.option, self.message)
    }
}

impl std::error::Error for OptionError {}

impl OptionError {
    /// An error about an option.
    pub fn new(option: impl Into<String>, message: impl Into<String>) -> OptionError {
        OptionError { option: option.into(), message: message.into() }
    }
}

impl Options {
    /// No options.
    pub fn new() -> Options {
        Options::default()
    }

    /// The same options and one more. A flag's value is `"true"`.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Options {
        self.set(name, value);
        self
    }

    /// Sets an option.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }

    /// The text given for an option.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Whether a flag was given, with a value other than `"false"`.
    pub fn flag(&self, name: &str) -> bool {
        self.text(name).is_some_and(|value| value != "false")
    }

    /// The value of an option that is an integer.
    ///
    /// # Errors
    ///
    /// If the value is not an integer.
    pub fn integer(&self, name: &str) -> Result<Option<i64>, OptionError> {
        let parse = |text: &str| {
            text.parse().map_err(|_| {
                OptionError::new(
                    name,
                    format!(
                        "expected an integer of at most 64 bits, found \
                {text}"
                    ),
                )
            })
        };
        self.text(name).map(parse).transpose()
    }

    /// The value of an option that is an integer of 0 or more: a count or a maximum size.
    ///
    /// # Errors
    ///
    /// If the value is not such an integer.
    pub fn size(&self, name: &str) -> Result<Option<usize>, OptionError> {
        let Some(size) = self.integer(name)? else { return Ok(None) };
        let wrong = |_| OptionError::new(name, format!("expected a number from 0 on, found {size}"));
        usize::try_from(size).map(Some).map_err(wrong)
    }

    /// Names separated by commas. Empty names are omitted; a colon before a name comes from EDN and is ignored.
    pub fn names(&self, name: &str) -> Vec<&str> {
        let text = self.text(name).unwrap_or_default();
        text.split(',').map(|name| name.trim().trim_start_matches(':')).filter(|name| !name.is_empty()).collect()
    }

    /// All options, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}
