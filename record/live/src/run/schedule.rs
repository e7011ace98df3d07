//! The schedule: the steps of the nemesis, as data that is written to a file and can be replayed.
//!
//! Each line of `schedule.jsonl` is a step with the time at which it ended, in nanoseconds since the run began:
//!
//! ```json
//! {"time":2041000000,"step":"wait","ns":2040000000}
//! {"time":2060000000,"step":"begin","fault":"isolate","nodes":["n1"]}
//! {"time":2900000000,"happened":true,"step":"until-primary-changes","ns":10000000000}
//! {"time":4900000000,"step":"heal"}
//! {"time":5400000000,"happened":true,"step":"until-settled","ns":20000000000}
//! ```
//!
//! The nodes are those that were affected; `ns` is how long the step waits, or the maximum.

use crate::error::LiveError;
use crate::fault::Fault;
use history_core::cast::Cast as _;
use serde_json::{Value as Json, json};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// One thing that the nemesis does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Waits for this long.
    Wait(Duration),
    /// Begins a fault at these nodes.
    Begin(Fault, Vec<u32>),
    /// Waits until another node is the primary, at most for this long.
    UntilPrimaryChanges(Duration),
    /// Ends all faults.
    Heal,
    /// Waits until the store works as it would without a fault, at most for this long.
    UntilSettled(Duration),
}

impl Step {
    /// The JSON form, without the time.
    fn to_json(&self, names: &[String]) -> Json {
        let ns = |duration: &Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        match self {
            Step::Wait(pause) => json!({"step": "wait", "ns": ns(pause)}),
            Step::Begin(fault, nodes) => {
                let nodes: Vec<&String> = nodes.iter().map(|node| &names[node.to_usize()]).collect();
                json!({"step": "begin", "fault": fault.to_string(), "nodes": nodes})
            }
            Step::UntilPrimaryChanges(most) => json!({"step": "until-primary-changes", "ns": ns(most)}),
            Step::Heal => json!({"step": "heal"}),
            Step::UntilSettled(most) => json!({"step": "until-settled", "ns": ns(most)}),
        }
    }

    /// Reads a step of a store with these nodes.
    fn from_json(json: &Json, names: &[String]) -> Result<Step, String> {
        let duration = || {
            let ns = json["ns"].as_u64().ok_or("expected nanoseconds as \"ns\"")?;
            Ok::<Duration, String>(Duration::from_nanos(ns))
        };
        match json["step"].as_str() {
            Some("wait") => Ok(Step::Wait(duration()?)),
            Some("until-primary-changes") => Ok(Step::UntilPrimaryChanges(duration()?)),
            Some("until-settled") => Ok(Step::UntilSettled(duration()?)),
            Some("heal") => Ok(Step::Heal),
            Some("begin") => {
                let fault = json["fault"].as_str().ok_or("expected the name of a fault as \"fault\"")?.parse()?;
                let nodes = json["nodes"].as_array().ok_or("expected names of nodes as \"nodes\"")?;
                let number = |name: &Json| {
                    let at = names.iter().position(|known| Some(known.as_str()) == name.as_str());
                    at.and_then(|at| u32::try_from(at).ok())
                        .ok_or_else(|| format!("unknown node {name}: expected one of {}", names.join(", ")))
                };
                Ok(Step::Begin(fault, nodes.iter().map(number).collect::<Result<_, _>>()?))
            }
            _ => Err("expected a \"step\": wait, begin, until-primary-changes, heal, until-settled".to_owned()),
        }
    }

    /// Reads a schedule of a store with these nodes.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or a line is not a step; with the line.
    pub fn read_all(path: &Path, names: &[String]) -> Result<Vec<Step>, LiveError> {
        let wrong = |line: usize, why: &str| LiveError::Unsupported(format!("{}:{line}: {why}", path.display()));
        let text = fs::read_to_string(path)
            .map_err(|error| LiveError::Unsupported(format!("cannot read {}: {error}", path.display())))?;
        let step = |(number, line): (usize, &str)| {
            let json: Json = serde_json::from_str(line).map_err(|error| wrong(number, &error.to_string()))?;
            Step::from_json(&json, names).map_err(|why| wrong(number, &why))
        };
        (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).map(step).collect()
    }
}

/// The file to which steps are written as they are executed.
pub(crate) struct Schedule {
    path: PathBuf,
    file: File,
    started: Instant,
}

impl Schedule {
    /// Writes to a new file.
    pub(crate) fn create(path: PathBuf) -> Result<Schedule, LiveError> {
        match File::create(&path) {
            Ok(file) => Ok(Schedule { path, file, started: Instant::now() }),
            Err(source) => Err(LiveError::Write { path, source }),
        }
    }

    /// Writes a step that was executed. For a wait for an event, it records whether the event happened.
    pub(crate) fn played(&mut self, step: &Step, names: &[String], happened: Option<bool>) -> Result<(), LiveError> {
        let time = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let happened = happened.map_or_else(String::new, |happened| format!("\"happened\":{happened},"));
        let fields = step.to_json(names).to_string();
        let line = format!("{{\"time\":{time},{happened}{}\n", fields.trim_start_matches('{'));
        self.file.write_all(line.as_bytes()).map_err(|source| LiveError::Write { path: self.path.clone(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        vec!["n1".to_owned(), "n2".to_owned()]
    }

    #[test]
    fn steps_are_read_as_they_were_written() {
        let steps = [
            Step::Wait(Duration::from_millis(3)),
            Step::Begin(Fault::Isolate, vec![1, 0]),
            Step::UntilPrimaryChanges(Duration::from_secs(10)),
            Step::Heal,
            Step::UntilSettled(Duration::from_secs(20)),
        ];
        let directory = std::env::temp_dir().join(format!("schedule-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("schedule.jsonl");
        let mut schedule = Schedule::create(path.clone()).unwrap();
        for step in &steps {
            schedule.played(step, &names(), Some(true)).unwrap();
        }
        assert_eq!(Step::read_all(&path, &names()).unwrap(), steps);
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_step_that_is_none_is_named() {
        for (json, expected) in [
            (json!({"step": "begin", "fault": "fire", "nodes": []}), "unknown fault \"fire\""),
            (json!({"step": "begin", "fault": "kill", "nodes": ["n9"]}), "unknown node \"n9\""),
            (json!({"step": "wait"}), "expected nanoseconds"),
            (json!({"step": "sing"}), "expected a \"step\""),
        ] {
            let error = Step::from_json(&json, &names()).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
