//! The rules of a history, as a table.

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Severity {
    /// Good to know.
    Note,
    /// Doubtful: checkers take it, but may not mean what its author meant.
    Warning,
    /// No checker will take this history.
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
        /// What [`validate`](crate::validate) looks at.
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

            /// How bad an offence is.
            pub fn severity(self) -> Severity {
                match self { $(Rule::$rule => Severity::$severity),* }
            }

            /// What it says, in a sentence.
            pub fn summary(self) -> &'static str {
                match self { $(Rule::$rule => $summary),* }
            }
        }
    };
}

rules! {
    Unreadable "unreadable" Error "The bytes of a history can be read, and decompressed, to their end.";
    Syntax "syntax" Error "The text of a history is EDN, JSON or Jepsen's table.";
    NotAnOp "not-an-op" Error "A history holds ops and nothing else.";
    Limit "limit" Error "No op is too long, or nested too deeply.";
    Index "index" Error "Indices stand in all ops or in none, and increase.";
    UnpairedCompletion "unpaired-completion" Error "A completion has an invocation before it.";
    DoubleInvocation "double-invocation" Error "A process invokes nothing while its last op is in flight.";
    ProcessAfterInfo "process-after-info" Error "A process that got info does not come back under its number.";
    UnclearClient "unclear-client" Error "Which processes are clients can be said.";
    DuplicateField "duplicate-field" Warning "An op has no two fields of one name.";
    FMismatch "f-mismatch" Warning "A completion has the function of its invocation.";
    KeyMismatch "key-mismatch" Warning "A completion has the key of its invocation, in a field of its own.";
    MopMismatch "mop-mismatch" Warning "A completion's micro-ops are those of its invocation, with the values read.";
    DuplicateWrite "duplicate-write" Warning "No value is written twice to one key.";
    MixedKeys "mixed-keys" Warning "Keys of micro-ops are all of one type.";
    MixedValues "mixed-values" Warning "A key's numbers are written in one way: 1, 1.0 and \"1\" are three values.";
    MixedProcesses "mixed-processes" Warning "A process's number is written in one way, as an integer or as text.";
    MissingTime "missing-time" Warning "Times stand in all ops or in none.";
    TimeGoesBack "time-goes-back" Warning "Times do not decrease.";
    OddFunction "odd-function" Warning "An op's function is a name.";
    Stopped "stopped" Note "The whole text of a history can be looked at.";
    OpenOps "open-ops" Note "Every op is completed before the history ends.";
    OtherProcesses "other-processes" Note "Ops of processes that are no clients are passed over.";
    UnknownProcesses "unknown-processes" Note "Ops say who did them.";
    CompletionsOnly "completions-only" Note "A history holds invocations too.";
}
