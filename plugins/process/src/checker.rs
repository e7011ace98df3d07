//! A checker in another process, with the same interface as any other checker.

use crate::command::Program;
use crate::peer::{Fault, Limits, Wait};
use crate::pool::{Pool, greet, start_line};
use crate::protocol::{Kind, Said};
use crate::run::ProcessRun;
use histcheck_plugin::host::Trust;
use histcheck_plugin::wire::{CheckerForm, Described};
use history_core::{About, AboutAnomaly, Checker, OptionError, OptionKind, OptionSpec, Options, Run};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// Starts the checker of a command (`exec:./my-checker`), and returns its description. The process remains, and checks
/// the first history.
///
/// # Errors
///
/// Why there is no checker, as a sentence that begins with the command.
pub fn load(command: &str, trust: Trust, limits: Limits) -> Result<Box<dyn Checker>, String> {
    let program = Program::new(command, trust).map_err(|error| format!("{command} {error}"))?;
    let began = Wait::until(limits.deadline());
    let said = |fault: Fault| match fault {
        Fault::Peer(message) => message,
        Fault::Spent(spent, what) => format!("{what}, because {}", spent.because()),
    };
    let (peer, hello) = greet(&program, limits, Kind::Checker, &began).map_err(said)?;
    let mut about = About::default();
    for anomaly in &hello.anomalies {
        about = about.with_anomaly(AboutAnomaly::new(anomaly.name.clone(), anomaly.meaning.clone()));
    }
    let form = CheckerForm {
        name: hello.name,
        summary: hello.summary,
        options: hello.options,
        about: serde_json::to_value(about).unwrap_or_default(),
    };
    let described = Described::try_from(form).map_err(|message| format!("{command} {message}"))?;
    let pool = Arc::new(Pool { program, limits, idle: Mutex::new(vec![peer]) });
    Ok(Box::new(ProcessChecker { pool, described, accepted: Mutex::default() }))
}

/// A checker in another process.
struct ProcessChecker {
    pool: Arc<Pool>,
    described: Described,
    /// Options that the process has accepted before.
    accepted: Mutex<Vec<Options>>,
}

impl ProcessChecker {
    /// The line that starts a history.
    fn start_line(&self, options: &Options) -> Vec<u8> {
        let mut given = serde_json::Map::new();
        for (name, value) in options.iter() {
            let kind = self.described.options.iter().find(|spec| spec.name == name).map(|spec| spec.kind);
            let value = match kind {
                Some(OptionKind::Flag) => json!(value != "false"),
                Some(OptionKind::Integer) => value.parse::<i64>().map_or_else(|_| json!(value), |number| json!(number)),
                Some(OptionKind::Names) => json!(options.names(name)),
                _ => json!(value),
            };
            given.insert(name.to_owned(), value);
        }
        start_line("options", &Value::Object(given).to_string(), self.pool.limits)
    }
}

impl Checker for ProcessChecker {
    fn name(&self) -> &str {
        &self.described.name
    }

    fn summary(&self) -> &str {
        &self.described.summary
    }

    fn options(&self) -> &[OptionSpec] {
        &self.described.options
    }

    fn about(&self) -> About {
        self.described.about.clone()
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let start = self.start_line(options);
        let deadline = self.pool.limits.deadline();
        let mut accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        let mut fault = None;
        if !accepted.contains(options) {
            let wait = Wait::until(deadline);
            let asked = self.pool.take(&wait).and_then(|mut peer| {
                let said = peer.ask(start.clone(), "started", &wait)?;
                Ok((peer, said))
            });
            match asked {
                Ok((peer, Said::Started(_))) => {
                    self.pool.put(peer);
                    accepted.push(options.clone());
                }
                Ok((peer, Said::Refused(refused))) => {
                    self.pool.put(peer);
                    return Err(OptionError::new(refused.option, refused.message));
                }
                Ok((peer, other)) => fault = Some(peer.unexpected(&other, "started")),
                // A start cannot report this error, so each history reports it.
                Err(error) => fault = Some(error),
            }
        }
        Ok(Box::new(ProcessRun::new(Arc::clone(&self.pool), self.described.name.clone(), start, deadline, fault)))
    }
}
