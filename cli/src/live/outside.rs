//! Chooses where a run takes place: in this process, on other machines, or in namespaces that this program enters
//! first.

use super::{Around, Live, drive};
#[cfg(target_os = "linux")]
use super::{page, place};
#[cfg(target_os = "linux")]
use crate::judge::signals;
use crate::output::diagnose;
use crate::output::exit::Exit;
#[cfg(target_os = "linux")]
use crate::serve::rest::Rest;
use record_live::{Fault, Need, Place};

/// The number of interrupts that end the process at once.
#[cfg(target_os = "linux")]
const PATIENCE: u32 = 3;

/// Executes the run in its environment.
pub(super) fn run(job: &Live<'_>) -> Exit {
    if job.kind.place(&job.faults) != Place::World {
        return drive::run(job, drive::Nodes::OfStore);
    }
    match &job.around {
        Around::Ssh(ssh) => drive::run(job, drive::Nodes::Machines(ssh)),
        Around::Proxies => proxied(job),
        Around::Namespaces | Around::Any => in_namespaces(job),
    }
}

/// Returns true if these programs are installed. If not, reports which are missing, and how to install them.
fn has(name: &str, needs: &[Need]) -> bool {
    let missing = Need::missing(needs);
    if missing.is_empty() {
        return true;
    }
    let mut packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    packages.dedup();
    let programs: Vec<&str> = missing.iter().map(|need| need.program).collect();
    let (programs, packages) = (programs.join(", "), packages.join(" "));
    diagnose::error(&format!("{name} needs {programs}: not found in the path\non Debian: apt-get install {packages}"));
    false
}

/// Runs plain processes with proxies between them.
fn proxied(job: &Live<'_>) -> Exit {
    if !has(job.kind.name, job.kind.needs) {
        return Exit::FAILED;
    }
    drive::run(job, drive::Nodes::Proxied(job.kind.ports().unwrap_or_default()))
}

/// Continues with proxies if possible, and reports the reason.
fn without_namespaces(job: &Live<'_>, why: &str) -> Exit {
    let is_possible = |fault: &Fault| !matches!(fault, Fault::PowerCut | Fault::FullDisk);
    if job.around == Around::Any && job.kind.ports().is_some() && job.faults.iter().all(is_possible) {
        diagnose::note(&format!("{why}: using proxies between the nodes instead (--world proxies)"));
        return proxied(job);
    }
    diagnose::error(why);
    Exit::FAILED
}

#[cfg(not(target_os = "linux"))]
fn in_namespaces(job: &Live<'_>) -> Exit {
    without_namespaces(job, "namespaces exist only on Linux")
}

/// Runs in namespaces. If this process is not inside them, enters them first.
#[cfg(target_os = "linux")]
fn in_namespaces(job: &Live<'_>) -> Exit {
    if record_live::world::is_inside() {
        return drive::run(job, drive::Nodes::Namespaces);
    }
    // If namespaces are not permitted, missing tools for them are not reported.
    if Need::missing(job.kind.needs).is_empty()
        && let Err(error) = record_live::world::try_to_enter()
    {
        return without_namespaces(job, &error.to_string());
    }
    if has(job.kind.name, &job.kind.needs_with_namespaces(&job.faults)) { enter(job) } else { Exit::FAILED }
}

/// Starts this program again inside namespaces, and passes interrupts on to it.
#[cfg(target_os = "linux")]
fn enter(job: &Live<'_>) -> Exit {
    let opened = place::Scratch::create().and_then(|scratch| Ok((page::open_outside(job, &scratch)?, scratch)));
    let (page, scratch) = match opened {
        Ok(opened) => opened,
        Err(message) => {
            diagnose::error(&message);
            return Exit::FAILED;
        }
    };
    let (interrupt, interrupts) = std::sync::mpsc::channel();
    let rest = Rest::default();
    let (mut count, resting) = (0, rest.clone());
    let caught = signals::on_each(move || {
        if resting.interrupt() {
            return;
        }
        count += 1;
        if count == PATIENCE {
            // When this process ends, its end of the pipe closes, and the run inside ends, too.
            std::process::exit(130);
        }
        let _ = interrupt.send(());
    });
    if let Err(error) = caught {
        diagnose::warning(&format!("cannot catch signals, so an interrupt ends histcheck without a verdict: {error}"));
    }
    let exit = match record_live::world::enter(interrupts, &[(place::SCRATCH, scratch.path().as_os_str())]) {
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
    };
    if let Some(page) = page {
        page.close(job.serve.is_some_and(|at| at.stays).then_some(&rest));
    }
    exit
}
