//! The native part of histcheck for Python: reads ops from Python objects, checks them without holding Python's lock,
//! and returns reports as JSON. The public interface is in `python/histcheck`.

mod convert;
mod error;
mod judge;
mod op;
mod report;
mod settings;
mod watcher;

use histcheck_front::Registry;
use pyo3::prelude::*;

/// The native module of histcheck, written in Rust.
#[pymodule]
mod _histcheck {
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "this is its name in Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use crate::checkers;
    #[pymodule_export]
    use crate::error::HistoryError;
    #[pymodule_export]
    use crate::judge::{check_bytes, check_ops, check_path};
    #[pymodule_export]
    use crate::report::Judged;
    #[pymodule_export]
    use crate::settings::Settings;
    #[pymodule_export]
    use crate::watcher::Watcher;
}

/// An option of a checker: its name, the type of its value, and its meaning.
type AboutOption = (String, String, String);

/// All built-in checkers: name, meaning, options.
#[pyfunction]
fn checkers() -> Vec<(String, String, Vec<AboutOption>)> {
    let registry = Registry::built_in();
    let about = |checker: &dyn history_core::Checker| {
        let options = checker.options().iter();
        let options = options.map(|spec| (spec.name.to_owned(), spec.kind.phrase().to_owned(), spec.help.to_string()));
        (checker.name().to_owned(), checker.summary().to_owned(), options.collect())
    };
    registry.iter().map(|checker| about(checker.as_ref())).collect()
}
