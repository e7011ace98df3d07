//! Processes of a checker: started, identified, and reused.

use crate::command::Program;
use crate::peer::{Fault, Limits, Peer, Wait};
use crate::protocol::{CHECKERS_HAVE, Hello, Kind, MODELS_HAVE, Said, VERSION};
use serde_json::json;
use std::sync::{Mutex, PoisonError};

/// Starts a process and reads its description.
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
        return Err(peer.fault(&format!("uses protocol {}, but this histcheck uses {VERSION}", hello.protocol)));
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

/// The processes of a checker: each checks one history at a time, and is then reused.
pub(crate) struct Pool {
    pub(crate) program: Program,
    pub(crate) limits: Limits,
    pub(crate) idle: Mutex<Vec<Peer>>,
}

impl Pool {
    /// Returns an idle process, or starts one.
    pub(crate) fn take(&self, wait: &Wait<'_>) -> Result<Peer, Fault> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // An unsolicited line of an idle process must not affect the next history.
        while let Some(mut peer) = idle.pop() {
            if peer.hear_nothing().is_ok() {
                return Ok(peer);
            }
        }
        drop(idle);
        greet(&self.program, self.limits, Kind::Checker, wait).map(|(peer, _)| peer)
    }

    /// Returns a process to the pool.
    pub(crate) fn put(&self, peer: Peer) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(peer);
    }
}

/// The line that starts a history, with the user's settings as JSON.
pub(crate) fn start_line(name: &str, given: &str, limits: Limits) -> Vec<u8> {
    let time = limits.timeout.map(|timeout| timeout.as_secs_f64());
    let limits = json!({"time_seconds": time, "memory_bytes": limits.bytes_max});
    format!("{{\"start\":{{\"{name}\":{given},\"limits\":{limits}}}}}").into()
}
