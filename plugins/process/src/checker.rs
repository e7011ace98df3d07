//! A checker in another process, as any other one.

use crate::command::Program;
use crate::peer::{Fault, Limits, Peer, Wait};
use crate::protocol::{CHECKERS_HAVE, Hello, Kind, MODELS_HAVE, Said, VERSION};
use crate::run::ProcessRun;
use histcheck_plugin::host::Trust;
use histcheck_plugin::wire::{CheckerForm, Described};
use history_core::{About, AboutAnomaly, Checker, OptionError, OptionKind, OptionSpec, Options, Run};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// Starts the checker of a command (`exec:./my-checker`), and returns what it said of itself. The process stays, and
/// judges the first history.
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

/// Starts a process and hears what it is.
pub(crate) fn greet(program: &Program, limits: Limits, kind: Kind, wait: &Wait<'_>) -> Result<(Peer, Hello), Fault> {
    let mut peer = Peer::start(program, limits)?;
    let has = match kind {
        Kind::Checker => CHECKERS_HAVE,
        Kind::Model => MODELS_HAVE,
    };
    let hello = json!({"hello": {"protocol": VERSION, "has": has}});
    let hello = match peer.ask(hello.to_string().into(), "hello", wait)? {
        Said::Hello(hello) => *hello,
        other => return Err(peer.unexpected(&other, "hello")),
    };
    if hello.protocol != VERSION {
        return Err(peer.fault(&format!("speaks protocol {}, and this histcheck speaks {VERSION}", hello.protocol)));
    }
    match (hello.kind, kind) {
        (Kind::Checker, Kind::Model) => return Err(peer.fault("is a checker, not a model; pass it with --plugin")),
        (Kind::Model, Kind::Checker) => {
            return Err(peer.fault("is a model, not a checker; pass it with -m linearizable --spec"));
        }
        _ => {}
    }
    let missing: Vec<&str> = hello.needs.iter().map(String::as_str).filter(|need| !has.contains(need)).collect();
    if !missing.is_empty() {
        return Err(peer.fault(&format!("needs {}, which this histcheck lacks", missing.join(" and "))));
    }
    Ok((peer, hello))
}

/// The processes of a checker: each judges one history at a time, and the next one after it.
pub(crate) struct Pool {
    pub(crate) program: Program,
    pub(crate) limits: Limits,
    idle: Mutex<Vec<Peer>>,
}

impl Pool {
    /// A process that has nothing to do.
    pub(crate) fn take(&self, wait: &Wait<'_>) -> Result<Peer, Fault> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(peer) => Ok(peer),
            None => greet(&self.program, self.limits, Kind::Checker, wait).map(|(peer, _)| peer),
        }
    }

    /// Takes it back.
    pub(crate) fn put(&self, peer: Peer) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(peer);
    }
}

/// A checker in another process.
struct ProcessChecker {
    pool: Arc<Pool>,
    described: Described,
    /// Options that it has taken once.
    accepted: Mutex<Vec<Options>>,
}

impl ProcessChecker {
    /// The line that begins a history.
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
        start_line("options", &Value::Object(given), self.pool.limits)
    }
}

/// The line that begins a history, with what the user set.
pub(crate) fn start_line(name: &str, given: &Value, limits: Limits) -> Vec<u8> {
    let time = limits.timeout.map(|timeout| timeout.as_secs_f64());
    let limits = json!({"time_seconds": time, "memory_bytes": limits.bytes_max});
    json!({"start": {name: given, "limits": limits}}).to_string().into()
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
                // There is no other way to say so here, and each history says it.
                Err(error) => fault = Some(error),
            }
        }
        Ok(Box::new(ProcessRun::new(Arc::clone(&self.pool), self.described.name.clone(), start, deadline, fault)))
    }
}
