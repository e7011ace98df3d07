//! Wrong usage that the grammar cannot detect.

use clap::error::ErrorKind;

/// A placeholder in a tip for the name of the command.
pub(crate) const COMMAND_LINE: &str = "{command}";

/// Wrong usage that clap cannot detect.
pub(crate) struct UsageError {
    kind: ErrorKind,
    message: String,
    tip: Option<String>,
}

impl UsageError {
    pub(crate) fn new(message: impl Into<String>) -> UsageError {
        UsageError { kind: ErrorKind::ValueValidation, message: message.into(), tip: None }
    }

    pub(crate) fn missing(message: &str) -> UsageError {
        UsageError { kind: ErrorKind::MissingRequiredArgument, message: message.into(), tip: None }
    }

    /// Adds the next step. The placeholder [`COMMAND_LINE`] in it becomes the command's name: `histcheck watch`.
    pub(crate) fn tip(mut self, tip: impl Into<String>) -> UsageError {
        self.tip = Some(tip.into());
        self
    }

    pub(crate) fn into_clap(self, grammar: &mut clap::Command) -> clap::Error {
        let mut message = self.message;
        if let Some(tip) = self.tip {
            message += "\n\n  tip: ";
            let called = grammar.get_bin_name().unwrap_or_else(|| grammar.get_name());
            message += &tip.replace(COMMAND_LINE, called);
        }
        grammar.error(self.kind, message)
    }
}
