//! The stable interface between histcheck and checkers that live in other libraries.
//!
//! A plugin is a `cdylib` crate that depends on this one. It implements [`Checker`] and [`Run`], the same traits as the
//! checkers that histcheck brings along, and ends with one line:
//!
//! ```
//! use histcheck_plugin::{
//!     export_checkers, Budget, Checker, HistoryError, Op, OptionError, OptionSpec, Options, Report, Run, Verdict,
//! };
//! use std::ops::ControlFlow;
//!
//! struct Rising;
//! struct Seen(i64, Verdict);
//!
//! impl Checker for Rising {
//!     fn name(&self) -> &str { "rising" }
//!     fn summary(&self) -> &str { "Values never fall." }
//!     fn options(&self) -> &[OptionSpec] { &[] }
//!     fn start(&self, _: &Options) -> Result<Box<dyn Run>, OptionError> {
//!         Ok(Box::new(Seen(i64::MIN, Verdict::Valid)))
//!     }
//! }
//!
//! impl Run for Seen {
//!     fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
//!         if let Some(value) = op.value.as_int() {
//!             if value < self.0 {
//!                 self.1 = Verdict::Invalid;
//!             }
//!             self.0 = value;
//!         }
//!         Ok(ControlFlow::Continue(()))
//!     }
//!     fn finish(self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
//!         Ok(Report::new("rising", self.1))
//!     }
//! }
//!
//! export_checkers![Rising];
//! # fn main() {}
//! ```
//!
//! Built with `cargo build --release`, it is loaded with `histcheck --plugin target/release/librising.so -m rising
//! FILE`. A complete crate to begin with is written by `histcheck plugin new NAME`.
//!
//! # The promise
//!
//! A plugin that was built with version 1.x of this crate loads in every later histcheck of interface 1, independently
//! of the compilers of the two. A newer plugin loads in an older histcheck as long as it needs nothing that the older
//! one lacks; otherwise it is rejected with a sentence about what it needs.
//!
//! Only a small part is frozen for that: a table of six functions, the columns in which ops are passed, and the rule
//! that everything else is passed as JSON whose unknown fields are ignored. The README of this crate explains why, and
//! the tests load plugins that were built with a frozen copy of it.
//!
//! # What a plugin may rely on
//!
//! - Ops come in order, in batches that are borrowed: nothing is copied, and [`Op`]s are good for one call.
//! - A panic is caught, and ends the history with an error that names the plugin. An abort, a stack overflow or
//!   `process::exit` ends histcheck itself, unless it was given `--timeout` or `--max-memory`: then each file is
//!   checked in a separate process.
//! - Libraries are never unloaded.
//!
//! # Features
//!
//! - `host`: the module of that name, which finds and loads plugins. For programs that run them, not for plugins.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub use history_core::*;

#[doc(hidden)]
pub mod guest;
#[cfg(feature = "host")]
pub mod host;
#[doc(hidden)]
pub mod interface;
#[doc(hidden)]
pub mod wire;

#[doc(hidden)]
pub use abi_stable;

/// Makes a library a plugin: exports these checkers, each an expression.
///
/// Once in a crate, which must be a `cdylib`. A list that comes from elsewhere is exported with `export_checkers!(all:
/// LIST)`, where `LIST` is a `Vec<Box<dyn Checker>>`.
#[macro_export]
macro_rules! export_checkers {
    (all: $checkers:expr $(,)?) => {
        const _: () = {
            struct Exported;

            impl $crate::guest::Plugin for Exported {
                fn checkers() -> ::std::vec::Vec<::std::boxed::Box<dyn $crate::Checker>> {
                    $checkers
                }

                fn loaded() -> &'static $crate::guest::Loaded {
                    static LOADED: $crate::guest::Loaded = $crate::guest::Loaded::new();
                    &LOADED
                }
            }

            // abi_stable looks for this name, `_as.lib_header.root_module_loader` without the dots.
            #[unsafe(export_name = "_1as_0lib_1header_0root_bmodule_bloader")]
            pub static HEADER: $crate::abi_stable::library::LibHeader = $crate::guest::header::<Exported>();
        };
    };
    ($($checker:expr),+ $(,)?) => {
        $crate::export_checkers!(all: ::std::vec![
            $(::std::boxed::Box::new($checker) as ::std::boxed::Box<dyn $crate::Checker>),+
        ]);
    };
}
