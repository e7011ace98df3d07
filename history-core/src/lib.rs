//! Histories of concurrent operations: reading and writing them, and the interface of checkers.
//!
//! A **history** is a record of all requests and responses of the clients of a database (or a queue, or a lock), with
//! their order. A **checker** processes its ops in order, and reports whether they obey some model, or proves that they
//! do not. This crate contains what all checkers share:
//!
//! - [`Reader`] streams [`Op`]s out of EDN, JSON and Jepsen's tables, compressed or not; [`History`] contains all ops
//!   of a history; [`Writer`] writes them; [`HistoryBuilder`] builds histories without text; [`validate`] lists all
//!   errors in a text.
//! - [`Checker`] and [`Run`] are the interface of a checker, [`Options`] and [`Budget`] its input, [`Report`] its
//!   result. [`Keyed`] checks each key of a history separately, with any checker, and [`Compose`] runs several checkers
//!   in one pass. With [`Coverage`] a checker returns [`Unknown`](Verdict::Unknown) for a history in which it found
//!   nothing to check.
//! - [`OpFault`], [`id!`](id), [`cast`] and [`explain`] are what checkers share in addition: why an op cannot be
//!   processed, numbers of rows, and explanations of witnesses.
//! - [`HistoryError`] is the error for a text that is not a history: the position, what is wrong, and what was
//!   expected.
//!
//! ```
//! use history_core::{Reader, Verdict};
//! use std::ops::ControlFlow;
//!
//! // The smallest checker: no op may fail.
//! let mut verdict = Verdict::Valid;
//! let text = "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 3}";
//! Reader::new(text.as_bytes()).for_each(|op| {
//!     if op.kind == history_core::OpKind::Fail {
//!         verdict = Verdict::Invalid;
//!     }
//!     Ok(ControlFlow::Continue(()))
//! })?;
//! assert_eq!(verdict, Verdict::Valid);
//! # Ok::<(), history_core::HistoryError>(())
//! ```
//!
//! # Features
//!
//! No feature is on by default.
//!
//! - `files`: `open` and `create`, histories by path.
//! - `gzip`, `zstd`: histories with this compression.
//! - `parallel`: keys are checked on several threads ([`Keyed`]). The results are the same without it.
//! - `serde`: `Serialize` and `Deserialize` for reports and their parts, and `to_edn`, which writes EDN. The README has
//!   the schema of a report.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod checking;
mod common;
mod error;
pub mod hash;
mod ops;
pub mod parallel;
mod text;
mod values;
pub mod visible;

pub use checking::about::{
    About, AboutAnomaly, AboutLevel, KeptReads, Parts, Reduction, Subject, VersionOrder, WhichReads,
};
pub use checking::budget::{Activity, Budget, Cancel, Spent};
pub use checking::checker::{Checker, Evidence, Run, Saved, Searched, check, check_ahead, check_history};
pub use checking::compose::{Compose, ComposeError};
pub use checking::coverage::{Coverage, Expected, NAMELESS, OpUse, SESSIONLESS, UNTIMED};
pub use checking::figure;
#[doc(hidden)]
pub use checking::keyed::parts as keyed_parts;
pub use checking::keyed::{Decision, Keyed, KeyedAuto};
pub use checking::options::{OptionError, OptionKind, OptionSpec, Options};
pub use checking::report::{Anomaly, Artifact, KeyReport, Report, Step, Verdict, Witness, WitnessOp};
#[doc(hidden)]
pub use checking::share;
pub use checking::unread_keys::UnreadKeys;
pub use checking::unread_results::UnreadResults;
pub use common::mops::{MopParts, Mops};
pub use common::{
    FunctionsInFlight, Id, IntMap, Interner, KeySpelling, KeyedIds, NextStep, OpFault, UndecodedOps, UnknownName, cast,
    explain, map_key, state,
};
pub use error::{ErrorKind, HistoryError, Position, Snippet};
pub use ops::batch::Batch;
pub use ops::builder::{BatchBuilder, HistoryBuilder, NewOp};
pub use ops::client_rule::ClientRule;
#[doc(hidden)]
pub use ops::columns;
pub use ops::history::History;
pub use ops::op::{Fields, Op, OpKind, Pair, Process};
pub use ops::pairing::Pairing;
pub use ops::participants::{Client, Participants};
#[cfg(feature = "files")]
pub use text::files::{FileWriter, create, history_in, open, read_sessions, session_logs};
#[doc(hidden)]
pub use text::read::part;
pub use text::read::{FirstValue, Format, Limits, Lines, Merge, Misplaced, Reader};
pub use text::time_unit::TimeUnit;
pub use text::validate::{Problem, Problems, Rule, Severity, validate};
pub use text::write::{ConvertOptions, Converted, Converter, IntervalWriter, WriteError, Writer};
#[cfg(feature = "serde")]
pub use text::write::{EdnError, to_edn};
pub use values::datum::Datum;
pub use values::value::{Entries, Pairs, Seq, Tagged, Value, Values};

/// Includes the README, so that its examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
