//! The settings of a check: the checker, its options, and how the history is read.

use crate::convert::datum;
use histcheck_front::setup::WhetherKeyed;
use histcheck_front::{ReadAs, Registry, Setup, options};
use histcheck_plugin::host::Trust;
use history_core::{Budget, Cancel, Checker, ClientRule, Compose, OptionKind, Options};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyString};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The settings of a check.
#[pyclass(frozen)]
pub(crate) struct Settings {
    checker: String,
    options: Vec<(String, Given)>,
    keyed: WhetherKeyed,
    pub(crate) read_as: ReadAs,
    plugins: Vec<PathBuf>,
    timeout: Option<Duration>,
    figures: bool,
}

/// An option's value before its type is known from its checker.
enum Given {
    Flag(bool),
    Integer(i64),
    Text(String),
    Names(Vec<String>),
    /// Any other value, as EDN.
    Value(String),
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
        let options = options.iter().map(|(name, value)| Ok((name.extract::<String>()?, given(&value)?)));
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
        for (name, given) in &self.options {
            set(&mut options, &*checker, &name.replace('_', "-"), given)?;
        }
        // Invalid options are reported before the first op.
        checker.start(&options).map_err(|error| PyValueError::new_err(error.to_string()))?;
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

fn given(value: &Bound<'_, PyAny>) -> PyResult<Given> {
    if value.is_instance_of::<PyBool>() {
        return value.extract().map(Given::Flag);
    }
    if value.is_instance_of::<PyInt>() {
        if let Ok(number) = value.extract() {
            return Ok(Given::Integer(number));
        }
        // An integer of more than 64 bits may be a value of an object.
        return datum(value, 0).map_err(|refused| refused.in_argument("option")).map(|value| Given::Value(value.to_string()));
    }
    if value.is_instance_of::<PyString>() {
        return value.extract().map(Given::Text);
    }
    if let Ok(names) = value.extract::<Vec<String>>() {
        return Ok(Given::Names(names));
    }
    datum(value, 0).map_err(|refused| refused.in_argument("option")).map(|value| Given::Value(value.to_string()))
}

fn set(options: &mut Options, checker: &dyn Checker, name: &str, given: &Given) -> PyResult<()> {
    let kind = checker.options().iter().find(|spec| spec.name == name).map(|spec| spec.kind);
    let value: options::Value = match (kind, given) {
        (Some(OptionKind::File), Given::Text(path)) => {
            let content = options::read_file(name, Path::new(path));
            content.map_err(|error| PyValueError::new_err(error.to_string()))?.as_str().into()
        }
        // A text option may be a value of the object: 0, [1 2], {:x 1}. A str represents itself, as in an op: "1" is
        // not 1.
        (Some(OptionKind::Text), Given::Text(text)) if is_value(name) => {
            history_core::Datum::from(text.as_str()).to_string().as_str().into()
        }
        (Some(OptionKind::Text), Given::Integer(number)) => number.to_string().as_str().into(),
        (Some(OptionKind::Text), Given::Flag(flag)) => flag.to_string().as_str().into(),
        (Some(OptionKind::Text), Given::Names(items)) => {
            let items: Vec<String> =
                items.iter().map(|item| history_core::Datum::from(item.as_str()).to_string()).collect();
            format!("[{}]", items.join(" ")).as_str().into()
        }
        (_, Given::Flag(flag)) => (*flag).into(),
        (_, Given::Integer(number)) => (*number).into(),
        (_, Given::Text(text)) | (Some(OptionKind::Text), Given::Value(text)) => text.as_str().into(),
        (_, Given::Names(names)) => names.clone().into(),
        (_, Given::Value(text)) => {
            return Err(PyTypeError::new_err(format!("{name}: invalid value {text}")));
        }
    };
    options::set(options, checker, name, value)
        .map_err(|error| PyValueError::new_err(in_python(&error.to_string(), name)))
}

/// Returns true if an option is a value as in an op. Other texts are names, such as that of a search.
fn is_value(option: &str) -> bool {
    matches!(option, "initial" | "initial-value" | "initial-write-id")
}

/// Adapts an error message to Python, where options are arguments.
fn in_python(message: &str, name: &str) -> String {
    message.replacen(&format!("--{name}"), &name.replace('-', "_"), 1)
}
