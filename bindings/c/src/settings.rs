//! The settings of a check: a checker's name, and a JSON object.

use histcheck_front::setup::WhetherKeyed;
use histcheck_front::{ReadAs, Registry, Setup, options};
use history_core::{Budget, Checker, Compose, Datum, OptionKind, Options};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A checker, how histories are read for it, and its time limit.
pub(crate) struct Settings {
    pub(crate) setup: Setup<'static>,
    pub(crate) read_as: ReadAs,
    timeout: Option<Duration>,
}

const KNOWN: &str = "options, keyed, format, time_unit or timeout_seconds";

impl Settings {
    /// Parses the settings for this checker, or for several, comma-separated. If `is_online`, the history is still
    /// being written.
    pub(crate) fn parse(checker: &str, settings: &str, is_online: bool) -> Result<Settings, String> {
        let texts = settings;
        let given = match serde_json::from_str(if settings.trim().is_empty() { "{}" } else { settings }) {
            Ok(Value::Object(given)) => given,
            Ok(other) => return Err(format!("the settings are {other}; expected a JSON object")),
            Err(error) => return Err(format!("the settings are not JSON: {error}")),
        };
        let mut settings = Settings {
            setup: Setup { checker: find(checker, is_online)?, options: Options::new(), keyed: WhetherKeyed::No },
            read_as: ReadAs::default(),
            timeout: None,
        };
        for (name, value) in &given {
            settings.set(name, value, texts)?;
        }
        // Invalid options are reported before the first op.
        settings.setup.checker.start(&settings.setup.options).map_err(|error| error.to_string())?;
        Ok(settings)
    }

    /// Sets the value of a name in the settings.
    fn set(&mut self, name: &str, value: &Value, text: &str) -> Result<(), String> {
        let wrong = |expected: &str| Err(format!("{name} is {value}; expected {expected}"));
        match (name, value) {
            ("options", Value::Object(given)) => self.set_options(given, &option_texts(text))?,
            ("options", _) => return wrong("an object"),
            ("keyed", Value::Bool(true)) => self.setup.keyed = WhetherKeyed::Yes,
            ("keyed", Value::Bool(false)) => self.setup.keyed = WhetherKeyed::No,
            ("keyed", Value::String(auto)) if auto == "auto" => self.setup.keyed = WhetherKeyed::Auto,
            ("keyed", _) => return wrong("true, false or \"auto\""),
            ("format", Value::String(format)) => match format.parse() {
                Ok(format) => self.read_as.format = Some(format),
                Err(_) => return wrong("the name of a format"),
            },
            ("format", _) => return wrong("the name of a format"),
            ("time_unit", Value::String(unit)) => match unit.parse() {
                Ok(unit) => self.read_as.time_unit = Some(unit),
                Err(_) => return wrong("\"s\", \"ms\", \"us\" or \"ns\""),
            },
            ("time_unit", _) => return wrong("\"s\", \"ms\", \"us\" or \"ns\""),
            ("timeout_seconds", value) => {
                match value.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
                    Some(timeout) => self.timeout = Some(timeout),
                    None => return wrong("a number that is not negative"),
                }
            }
            _ => return Err(format!("unknown setting {name}; expected {KNOWN}")),
        }
        Ok(())
    }

    fn set_options(&mut self, given: &Map<String, Value>, texts: &Texts) -> Result<(), String> {
        let Setup { checker, options, .. } = &mut self.setup;
        for (name, value) in given {
            let kind = checker.options().iter().find(|spec| spec.name == *name).map(|spec| spec.kind);
            let wrong = || format!("option {name} is {value}; expected true, false, an integer, a string or strings");
            let value: options::Value = match (kind, value) {
                (Some(OptionKind::File), Value::String(path)) => {
                    options::read_file(name, Path::new(path)).map_err(|error| error.to_string())?.as_str().into()
                }
                // The initial value of an object: 0, [1, 2]. A string represents itself, as in a history: "1" is not 1.
                (Some(OptionKind::Text), Value::String(text)) if is_value(name) => {
                    Datum::from(text.as_str()).to_string().as_str().into()
                }
                (Some(OptionKind::Text), value) if !value.is_string() => {
                    exact(value, texts.get(name).map(|text| &**text)).as_str().into()
                }
                (_, Value::Bool(flag)) => (*flag).into(),
                (_, Value::Number(number)) => number.as_i64().ok_or_else(wrong)?.into(),
                (_, Value::String(text)) => text.as_str().into(),
                (_, Value::Array(names)) => {
                    let names = names.iter().map(|name| name.as_str().map(str::to_owned).ok_or_else(wrong));
                    names.collect::<Result<Vec<String>, String>>()?.into()
                }
                _ => return Err(wrong()),
            };
            options::set(options, &**checker, name, value).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// The budget of a check, which starts now.
    pub(crate) fn budget(&self) -> Budget {
        let deadline = self.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        deadline.map_or_else(Budget::default, |deadline| Budget::default().with_deadline(deadline))
    }
}

/// Returns true if an option is a value as in a history. Other texts are names, such as that of a search.
fn is_value(option: &str) -> bool {
    matches!(option, "initial" | "initial-value" | "initial-write-id")
}

/// The options as written in the settings.
type Texts = HashMap<String, Box<RawValue>>;

fn option_texts(settings: &str) -> Texts {
    let texts: Option<Texts> = serde_json::from_str(settings).ok();
    let options = texts.and_then(|texts| serde_json::from_str(texts.get("options")?.get()).ok());
    options.unwrap_or_default()
}

/// A value as text without spaces, with the original digits: parsed values lose digits of integers above 64 bits.
fn exact(value: &Value, written: Option<&RawValue>) -> String {
    let Some(written) = written.map(RawValue::get).filter(|written| !written.contains('\\')) else {
        return value.to_string();
    };
    let mut in_string = false;
    let is_kept = |char: &char| {
        in_string ^= *char == '"';
        in_string || !char.is_ascii_whitespace()
    };
    written.chars().filter(is_kept).collect()
}

fn find(checker: &str, is_online: bool) -> Result<Box<dyn Checker + 'static>, String> {
    static WHOLE: OnceLock<Registry> = OnceLock::new();
    static ONLINE: OnceLock<Registry> = OnceLock::new();
    let registry =
        if is_online { ONLINE.get_or_init(Registry::watchers) } else { WHOLE.get_or_init(Registry::built_in) };
    let mut named: Vec<Box<dyn Checker>> = Vec::new();
    for name in checker.split(',') {
        let found = registry
            .find(name)
            .map_err(|error| format!("{}; expected one of {}", error.message, registry.names().join(", ")))?;
        named.push(Box::new(found.checker));
    }
    match named.len() {
        1 => Ok(named.remove(0)),
        _ => Ok(Box::new(Compose::new(named).map_err(|error| error.to_string())?)),
    }
}
