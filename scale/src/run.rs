//! Runs workers: threads of this process, alone or together with those of other processes.

use crate::job::{Job, Judged};
use crate::judge::Session;
use crate::meeting::{self, Invitation, Meeting};
use crate::peers::{Cluster, Fault, Peers, WORKER};
use crate::txns::passes;
use std::any::Any;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, ScopedJoinHandle};
use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::{AllocatorBuilder, Hooks};

/// Checks all histories with this number of workers in this process. The results are the same as those of one machine.
/// If the job has a limit on memory ([`Job::spill`]), one worker checks transactions.
///
/// # Panics
///
/// If the system does not permit starting a thread.
pub fn judge(job: &Job<'_>, workers: NonZeroUsize) -> Vec<Judged> {
    if let Some(spill) = job.spill.as_ref().filter(|_| job.is_of_transactions()) {
        return job.histories.iter().map(|history| passes::judge(job, history, spill)).collect();
    }
    let hooks = Hooks::default();
    let builders = ProcessBuilder::new_typed_vector(workers.get(), hooks.refill, hooks.spill);
    let _fault = Fault::of_process();
    let builders = builders.into_iter().map(AllocatorBuilder::Process).collect();
    work(builders, Box::new(()), job).unwrap_or_default()
}

/// Checks all histories together with other processes, each of which calls this with the same job, with this number of
/// workers in each. Only the first process gets the results, once all others are done; the others get none.
///
/// There is no result without all processes: if one cannot be reached, stops, ends early or has another job, this
/// process prints which one it is and exits with 255.
///
/// # Panics
///
/// If the system does not permit starting a thread.
pub fn judge_with_others(job: &Job<'_>, workers: NonZeroUsize, cluster: &Cluster) -> Option<Vec<Judged>> {
    let fault = Arc::new(Fault::of_cluster(cluster));
    let mut peers = Peers::connect(cluster, &fault);
    let hooks = Hooks::default();
    let inner = ProcessBuilder::new_typed_vector(workers.get(), hooks.refill.clone(), hooks.spill.clone());
    let sockets = peers.take_sockets();
    let network = initialize_networking_from_sockets(inner, sockets, cluster.process, workers.get(), hooks);
    let (builders, guard) = network.unwrap_or_else(|error| fault.end(&format!("cannot set up the network: {error}")));
    let judged = work(builders.into_iter().map(AllocatorBuilder::Tcp).collect(), Box::new(guard), job);
    peers.finish();
    judged.filter(|_| cluster.process == 0)
}

/// Runs the workers of this process, over connections that `others` keeps open. Returns the results if the first worker
/// is here.
fn work(builders: Vec<AllocatorBuilder>, others: Box<dyn Any + Send>, job: &Job<'_>) -> Option<Vec<Judged>> {
    let (invitations, seats): (Vec<_>, Vec<_>) = builders.iter().map(|_| meeting::seat()).unzip();
    let seats = Mutex::new(seats);
    let serve = move |worker: &mut timely::worker::Worker| {
        let seat = seats.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(seat) = seat {
            seat.serve(worker);
        }
    };
    let config = timely::WorkerConfig::default();
    let timely = timely::execute::execute_from(builders, others, config, serve).expect("a thread for each worker");
    let judged = std::thread::scope(|scope| {
        let spawn = |(number, invitation): (usize, Invitation)| {
            let thread = Builder::new().name(format!("{WORKER}{number}"));
            thread.spawn_scoped(scope, move || one(invitation.accept(), job)).expect("a thread for each worker")
        };
        let threads: Vec<ScopedJoinHandle<'_, _>> = invitations.into_iter().enumerate().map(spawn).collect();
        let ended = threads.into_iter().map(|thread| thread.join().expect("a worker that does not panic"));
        ended.collect::<Vec<_>>().into_iter().flatten().next()
    });
    // Waits until the others have sent everything.
    drop(timely);
    judged
}

/// Runs one worker. The first one returns the results.
fn one(mut meeting: Meeting, job: &Job<'_>) -> Option<Vec<Judged>> {
    let mut all = Vec::new();
    for history in &job.histories {
        all.extend(Session { meeting: &mut meeting, job, history }.judge());
    }
    meeting.is_first().then_some(all)
}
