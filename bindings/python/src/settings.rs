//! The settings of a check: the checker, its options, and how the history is read.

use crate::convert::{datum, shown};
use histcheck_front::setup::WhetherKeyed;
use histcheck_front::{ReadAs, Registry, Setup, options};
use histcheck_plugin::host::Trust;
use history_core::{Budget, Cancel, Checker, ClientRule, Compose, Datum, OptionKind, Options};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The settings of a check.
#[pyclass(frozen)]
pub(crate) struct Settings {
    checker: String,
    options: Vec<Given>,
    keyed: WhetherKeyed,
    pub(crate) read_as: ReadAs,
    plugins: Vec<PathBuf>,
    timeout: Option<Duration>,
    figures: bool,
}

/// An option, before its type is known from its checker.
struct Given {
    name: String,
    /// The value in Python.
    shown: String,
    value: Datum,
}

#[pymethods]
impl Settings {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "each has a name where it is given")]
    #[pyo3(signature = (checker, options, *, keyed, format, time_unit, clients, others, accept_torn, plugins, timeout, figures))]
    fn new(
        checker: String,
        options: &Bound<'_, PyDict>,
        keyed: &str,
        format: Option<&str>,
        time_unit: Option<&str>,
        clients: Vec<String>,
        others: Vec<String>,
        accept_torn: bool,
        plugins: Vec<PathBuf>,
        timeout: Option<f64>,
        figures: bool,
    ) -> PyResult<Settings> {
        let keyed = match keyed {
            "no" => WhetherKeyed::No,
            "yes" => WhetherKeyed::Yes,
            "auto" => WhetherKeyed::Auto,
            other => {
                return Err(PyValueError::new_err(format!("keyed is {other:?}; expected False, True or \"auto\"")));
            }
        };
        let mut read_as = ReadAs::default();
        let unknown = |what: &str, name: &str| PyValueError::new_err(format!("unknown {what} {name:?}"));
        read_as.format = format.map(|name| name.parse().map_err(|_| unknown("format", name))).transpose()?;
        read_as.time_unit = time_unit.map(|name| name.parse().map_err(|_| unknown("time unit", name))).transpose()?;
        read_as.accepts_torn = accept_torn;
        let rule = clients.into_iter().fold(ClientRule::new(), ClientRule::client);
        read_as.clients = others.into_iter().fold(rule, ClientRule::other);
        let timeout = timeout.map(Duration::try_from_secs_f64).transpose();
        let timeout = timeout.map_err(|error| PyValueError::new_err(format!("timeout: {error}")))?;
        let options = options.iter().map(|(name, value)| given(name.extract()?, &value));
        let options = options.collect::<PyResult<_>>()?;
        Ok(Settings { checker, options, keyed, read_as, plugins, timeout, figures })
    }
}

impl Settings {
    /// All available checkers: built-in ones, or those for histories in progress; and those of the plugins.
    pub(crate) fn registry(&self, mut built_in: Registry) -> PyResult<Registry> {
        for plugin in &self.plugins {
            let added = built_in.load_plugin(plugin, Trust::default());
            added.map_err(|error| PyValueError::new_err(error.to_string()))?;
        }
        Ok(built_in)
    }

    /// The checker with its options.
    pub(crate) fn setup<'c>(&self, registry: &'c Registry) -> PyResult<Setup<'c>> {
        let mut named: Vec<Box<dyn Checker + 'c>> = Vec::new();
        for name in self.checker.split(',') {
            let found = registry.find(name).map_err(|error| unknown_checker(registry, &error.message))?;
            named.push(Box::new(found.checker));
        }
        let checker = match named.len() {
            1 => named.remove(0),
            _ => Box::new(Compose::new(named).map_err(|error| PyValueError::new_err(error.to_string()))?),
        };
        let mut options = Options::new();
        for given in &self.options {
            set(&mut options, &*checker, given)?;
        }
        // Invalid options are reported before the first op.
        checker.start(&options).map_err(|error| in_python(&error.to_string(), &*checker))?;
        Ok(Setup { checker, options, keyed: self.keyed })
    }

    /// When a check ends that starts now.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.timeout.and_then(|timeout| Instant::now().checked_add(timeout))
    }

    /// The budget of a check.
    pub(crate) fn budget(&self, cancel: Cancel, deadline: Option<Instant>) -> Budget {
        let budget = Budget::default().with_cancel(cancel).with_figures(self.figures);
        match deadline {
            Some(deadline) => budget.with_deadline(deadline),
            None => budget,
        }
    }
}

fn unknown_checker(registry: &Registry, message: &str) -> PyErr {
    PyValueError::new_err(format!("{message}; expected one of {}", registry.names().join(", ")))
}

fn given(name: String, value: &Bound<'_, PyAny>) -> PyResult<Given> {
    let shown = shown(value);
    let value = datum(value, 0).map_err(|refused| refused.in_argument(&name))?;
    Ok(Given { name, shown, value })
}

fn set(options: &mut Options, checker: &dyn Checker, given: &Given) -> PyResult<()> {
    let name = given.name.replace('_', "-");
    let specs = checker.options();
    let Some(kind) = specs.iter().find(|spec| spec.name == name).map(|spec| spec.kind) else {
        let names: Vec<String> = specs.iter().map(|spec| spec.name.replace('-', "_")).collect();
        let expected = if names.is_empty() { "no options".to_owned() } else { format!("one of {}", names.join(", ")) };
        let message = format!("{}: unknown option of {}; expected {expected}", given.name, checker.name());
        return Err(PyValueError::new_err(message));
    };
    let value: options::Value = match (kind, &given.value) {
        (OptionKind::Flag, Datum::Bool(flag)) => (*flag).into(),
        (OptionKind::Integer, Datum::Int(number)) => (*number).into(),
        (OptionKind::File, Datum::Str(path)) => {
            let content = options::read_file(&name, Path::new(path));
            content.map_err(|error| in_python(&error.to_string(), checker))?.as_str().into()
        }
        // A text option may be a value of the object: 0, [1 2], {:x 1}. A str represents itself, as in an op: "1" is
        // not 1.
        (OptionKind::Text, value) if is_value(&name) => value.to_string().as_str().into(),
        (OptionKind::Text | OptionKind::Names, Datum::Str(text)) => text.as_str().into(),
        (OptionKind::Text, value) => value.to_string().as_str().into(),
        (OptionKind::Names, Datum::Vector(items) | Datum::Set(items)) => {
            names(items).ok_or_else(|| given.mismatch(kind))?.into()
        }
        _ => return Err(given.mismatch(kind)),
    };
    options::set(options, checker, &name, value).map_err(|error| in_python(&error.to_string(), checker))
}

fn names(items: &[Datum]) -> Option<Vec<String>> {
    items.iter().map(|item| if let Datum::Str(name) = item { Some(name.clone()) } else { None }).collect()
}

impl Given {
    fn mismatch(&self, kind: OptionKind) -> PyErr {
        let expected = match kind {
            OptionKind::Flag => "True or False",
            OptionKind::Integer => "an int of at most 64 bits",
            OptionKind::Names => "a str, or a list of them",
            OptionKind::File => "a path",
            _ => "a str",
        };
        PyTypeError::new_err(format!("{} is {}; expected {expected}", self.name, self.shown))
    }
}

/// Returns true if an option is a value as in an op. Other texts are names, such as that of a search.
fn is_value(option: &str) -> bool {
    matches!(option, "initial" | "initial-value" | "initial-write-id")
}

/// Adapts an error message to Python, where options are arguments.
fn in_python(message: &str, checker: &dyn Checker) -> PyErr {
    let mut names: Vec<&str> = checker.options().iter().map(|spec| spec.name).collect();
    // A name may be the beginning of another.
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let adapted =
        names.iter().fold(message.to_owned(), |text, name| text.replace(&format!("--{name}"), &name.replace('-', "_")));
    PyValueError::new_err(adapted)
}
