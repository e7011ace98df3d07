//! The options of the checkers of objects.

use super::Linearizable;
use crate::Engine;
use crate::models::Spec;
use history_core::{Datum, OptionError, OptionKind, OptionSpec, Options};

pub(super) const SPEC: OptionSpec = OptionSpec::new(
    "spec",
    OptionKind::Text,
    "Type of the object: register, cas-register, multi-register, kv, mutex, owner-mutex, reentrant-mutex, semaphore, \
           fifo-queue, unordered-queue, stack, deque, priority-queue, set or counter.",
)
.with_value_name("NAME");

const INITIAL: OptionSpec =
    OptionSpec::new("initial", OptionKind::Text, "Initial state, as EDN or JSON, such as 0, [1 2] or {:x 1}.")
        .with_value_name("VALUE")
        .with_default("nil, empty, 0 or free");

const ENGINE: OptionSpec = OptionSpec::new(
    "engine",
    OptionKind::Text,
    "Search algorithm: just-in-time (breadth first), wing-gong (depth first), beam (keeps few configurations, finds no \
           violations), monitor (no search: collections of distinct values only), or portfolio (monitor, else searches in \
           turn until one finishes). All give the same verdicts, except that beam and monitor may give unknown.",
)
.with_value_name("NAME")
.with_default("portfolio");

const MAX_CONFIGURATIONS: OptionSpec = OptionSpec::new(
    "max-configurations",
    OptionKind::Integer,
    "Maximum number of configurations to keep during a search (about 100 bytes each). When all engines reach it, the \
           verdict is unknown.",
)
.with_value_name("N")
.with_default("10000000");

pub(super) const OPTIONS: &[OptionSpec] = &[INITIAL, ENGINE, MAX_CONFIGURATIONS];

pub(super) const WITH_SPEC: &[OptionSpec] = &[SPEC, INITIAL, ENGINE, MAX_CONFIGURATIONS];

/// Applies the options to a checker.
pub(super) fn apply<S: Spec>(to: &mut Linearizable<S>, options: &Options) -> Result<(), OptionError> {
    if let Some(text) = options.text(INITIAL.name) {
        let wrong =
            |message: String| OptionError::new(INITIAL.name, format!("{message} (initial state: {})", S::INITIAL));
        let no_value = || format!("expected an EDN or JSON value, found {text}");
        let value = Datum::parse(text).ok_or_else(|| wrong(no_value()))?;
        // The value was read from text, so it is not too large for a history.
        let set = value.with_value(|value| to.model.set_initial(value)).unwrap_or_else(|_| Err(no_value()));
        set.map_err(wrong)?;
    }
    if let Some(name) = options.text(ENGINE.name) {
        to.settings.engine = match name {
            "portfolio" => Engine::Portfolio,
            "just-in-time" => Engine::JustInTime,
            "wing-gong" => Engine::WingGong,
            "monitor" => Engine::Monitor,
            "beam" => Engine::Beam,
            _ => {
                let message =
                    format!("unknown engine {name}: expected just-in-time, wing-gong, monitor, beam or portfolio");
                return Err(OptionError::new(ENGINE.name, message));
            }
        };
    }
    if let Some(max) = options.size(MAX_CONFIGURATIONS.name)? {
        to.settings.configurations_max = max;
    }
    Ok(())
}
