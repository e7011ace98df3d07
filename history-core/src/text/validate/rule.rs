//! The rules of a history, as a table.

/// The severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Severity {
    /// Information.
    Note,
    /// Doubtful: checkers accept it, but may interpret it otherwise than its author.
    Warning,
    /// No checker accepts this history.
    Error,
}

impl Severity {
    /// `"note"`, `"warning"`, `"error"`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// Defines [`Rule`] from the table of rules.
macro_rules! rules {
    ($($rule:ident $name:literal $severity:ident $summary:literal;)*) => {
        /// A rule that [`validate`](crate::validate) checks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = $summary] #[cfg_attr(feature = "serde", serde(rename = $name))] $rule,)*
        }

        impl Rule {
            /// All rules.
            pub const ALL: &'static [Rule] = &[$(Rule::$rule),*];

            /// Its name: `"unpaired-completion"`.
            pub fn name(self) -> &'static str {
                match self { $(Rule::$rule => $name),* }
            }

            /// The severity of a violation.
            pub fn severity(self) -> Severity {
                match self { $(Rule::$rule => Severity::$severity),* }
            }

            /// The rule in a sentence.
            pub fn summary(self) -> &'static str {
                match self { $(Rule::$rule => $summary),* }
            }
        }
    };
}

rules! {
    Unreadable "unreadable" Error "The history can be read and decompressed to its end.";
    Syntax "syntax" Error "The text is EDN, JSON or Jepsen's table.";
    NotAnOp "not-an-op" Error "The history contains only ops.";
    Limit "limit" Error "No op is too long or nested too deeply.";
    Index "index" Error "All ops have an index, or none; indices increase.";
    UnpairedCompletion "unpaired-completion" Error "Every completion has an invocation before it.";
    DoubleInvocation "double-invocation" Error "A process has at most one op in flight.";
    ProcessAfterInfo "process-after-info" Error "A process is not used again after an info.";
    UnclearClient "unclear-client" Error "It is known which processes are clients.";
    DuplicateField "duplicate-field" Warning "Every field occurs once in an op.";
    FMismatch "f-mismatch" Warning "A completion has the same function as its invocation.";
    KeyMismatch "key-mismatch" Warning "A completion has the same key as its invocation, in a separate field.";
    MopMismatch "mop-mismatch" Warning "A completion has the micro-ops of its invocation, with the values read.";
    DuplicateWrite "duplicate-write" Warning "No value is written twice to the same key.";
    MixedKeys "mixed-keys" Warning "All keys of micro-ops have the same type.";
    MixedValues "mixed-values" Warning "All numbers of a key have the same type: 1, 1.0 and \"1\" are different \
        values.";
    MixedProcesses "mixed-processes" Warning "The number of a process is always an integer, or always text.";
    MissingTime "missing-time" Warning "All ops have a time, or none.";
    TimeGoesBack "time-goes-back" Warning "Times do not decrease.";
    OddFunction "odd-function" Warning "The function of an op is a name.";
    Stopped "stopped" Note "The whole text can be checked.";
    OpenOps "open-ops" Note "Every op completes before the history ends.";
    OtherProcesses "other-processes" Note "Ops of processes that are not clients are ignored.";
    UnknownProcesses "unknown-processes" Note "Every op has a process.";
    CompletionsOnly "completions-only" Note "The history contains invocations.";
}
