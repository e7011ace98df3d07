//! Outside of the world that a cluster needs: what is needed is here, and this program runs again inside.

use super::Live;
use super::place;
use crate::judge::signals;
use crate::output::diagnose;
use crate::output::exit::Exit;
use record_live::{Kind, Need, Place};

/// How many interrupts end everything at once.
#[cfg(target_os = "linux")]
const PATIENCE: u32 = 3;

/// Whether this process is still outside of the world that the store needs.
pub(super) fn is_needed(kind: &Kind) -> bool {
    #[cfg(target_os = "linux")]
    let is_inside = record_live::world::is_inside();
    #[cfg(not(target_os = "linux"))]
    let is_inside = false;
    kind.place == Place::World && !is_inside
}

/// Whether what the store needs is installed; says what is not, and how to get it.
pub(super) fn has_needs(kind: &Kind) -> bool {
    let missing = Need::missing(kind.needs);
    if missing.is_empty() {
        return true;
    }
    let mut packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    packages.dedup();
    let programs: Vec<&str> = missing.iter().map(|need| need.program).collect();
    let (name, programs, packages) = (kind.name, programs.join(", "), packages.join(" "));
    diagnose::error(&format!("{name} needs {programs}: not found in the path\non Debian: apt-get install {packages}"));
    false
}

/// Runs this program again inside of a world, and passes interrupts on to it.
#[cfg(target_os = "linux")]
pub(super) fn run(job: &Live<'_>) -> Exit {
    if !has_needs(job.kind) {
        return Exit::FAILED;
    }
    if let Err(error) = record_live::world::try_to_enter() {
        diagnose::error(&error.to_string());
        return Exit::FAILED;
    }
    let scratch = match place::Scratch::create() {
        Ok(scratch) => scratch,
        Err(message) => {
            diagnose::error(&message);
            return Exit::FAILED;
        }
    };
    let (interrupt, interrupts) = std::sync::mpsc::channel();
    let mut count = 0;
    let caught = signals::on_each(move || {
        count += 1;
        if count == PATIENCE {
            // With its end of the pipe the world ends, too.
            std::process::exit(130);
        }
        let _ = interrupt.send(());
    });
    if let Err(error) = caught {
        diagnose::warning(&format!("cannot catch signals, so an interrupt ends histcheck without a verdict: {error}"));
    }
    match record_live::world::enter(interrupts, &[(place::SCRATCH, scratch.path().as_os_str())]) {
        Ok(status) if status.code() == Some(0) || status.code().is_some_and(|code| code == 1 || code == 2) => {
            Exit::from_code(status.code())
        }
        Ok(status) => {
            if status.code().is_none() {
                diagnose::error(&format!("the run was killed: {status}"));
            }
            Exit::FAILED
        }
        Err(error) => {
            diagnose::error(&error.to_string());
            Exit::FAILED
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn run(job: &Live<'_>) -> Exit {
    diagnose::error(&format!("{} needs namespaces, which only Linux has", job.kind.name));
    Exit::FAILED
}
