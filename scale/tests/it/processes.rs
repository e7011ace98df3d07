//! Several processes over loopback: the report of one machine, or exit code 255 with the name of the lost process.
//!
//! Each process is this test program, which runs the test `a_process` with a task. A process is lost at a point that
//! the task determines, not after a time: a checker kills or stops its own process.

use crate::made::{Made, json, one_machine, registers, setup, valid};
use check_register::Linearizable;
use check_register::models::CasRegister;
use histcheck_scale::histcheck_front::ReadAs;
use histcheck_scale::histcheck_front::history_core::{
    Budget, Checker, HistoryError, Op, OptionError, OptionSpec, Options, Report, Run, Searched,
};
use histcheck_scale::{Cluster, History, Job};
use rustix::process::{Signal, getpid, kill_process};
use serde::{Deserialize, Serialize};
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const TASK: &str = "HISTCHECK_SCALE_TASK";
/// The text before a report.
const SAYS: &str = "REPORT ";

/// The point at which a process is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Moment {
    Never,
    /// Before it has connected.
    AtOnce,
    /// When the checker starts a run for the first time.
    Start,
    /// At this op of its workers.
    Op(u64),
    /// In the first slice of a search.
    Search,
    /// At the end of its first key.
    Finish,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Task {
    path: PathBuf,
    hosts: Vec<String>,
    process: usize,
    moment: Moment,
    /// Whether it is stopped instead of killed.
    is_stopped: bool,
    fact: String,
    connect_secs: u64,
    peer_secs: u64,
}

/// A checker of registers whose process is lost at a given point.
struct Lossy {
    inner: Linearizable<CasRegister>,
    moment: Moment,
    is_stopped: bool,
    ops: Arc<AtomicU64>,
}

struct LossyRun {
    inner: Box<dyn Run>,
    moment: Moment,
    is_stopped: bool,
    ops: Arc<AtomicU64>,
}

fn lose(is_stopped: bool) {
    let signal = if is_stopped { Signal::STOP } else { Signal::KILL };
    kill_process(getpid(), signal).unwrap();
    // The signal may be delayed, and nothing may happen meanwhile.
    loop {
        std::thread::park();
    }
}

impl Checker for Lossy {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn summary(&self) -> &str {
        self.inner.summary()
    }

    fn options(&self) -> &[OptionSpec] {
        self.inner.options()
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        if self.moment == Moment::Start {
            lose(self.is_stopped);
        }
        let (inner, ops) = (self.inner.start(options)?, Arc::clone(&self.ops));
        Ok(Box::new(LossyRun { inner, moment: self.moment, is_stopped: self.is_stopped, ops }))
    }
}

impl Run for LossyRun {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        let at = self.ops.fetch_add(1, Ordering::SeqCst);
        if self.moment == Moment::Op(at) {
            lose(self.is_stopped);
        }
        self.inner.observe(op)
    }

    fn search(&mut self, budget: &Budget, slice: u32) -> Searched {
        if self.moment == Moment::Search {
            lose(self.is_stopped);
        }
        self.inner.search(budget, slice)
    }

    fn finish(self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        if self.moment == Moment::Finish {
            lose(self.is_stopped);
        }
        self.inner.finish(budget)
    }
}

/// Executes the task of a process; does nothing when it is run as a test.
#[test]
fn a_process() {
    let Ok(task) = std::env::var(TASK) else { return };
    let task: Task = serde_json::from_str(&task).unwrap();
    if task.moment == Moment::AtOnce {
        lose(task.is_stopped);
    }
    let Task { moment, is_stopped, .. } = task;
    let setup = setup(Lossy { inner: Linearizable::default(), moment, is_stopped, ops: Arc::default() });
    let mut job = Job::new(&setup, vec![History::new(task.path, ReadAs::default())]);
    job.range_bytes = 700;
    let mut cluster = Cluster::new(task.hosts, task.process);
    cluster.facts = vec![("version".to_owned(), "1".to_owned()), ("options".to_owned(), task.fact)];
    cluster.connect_timeout = Duration::from_secs(task.connect_secs);
    cluster.peer_timeout = Duration::from_secs(task.peer_secs);
    let judged = histcheck_scale::judge_with_others(&job, NonZeroUsize::new(2).unwrap(), &cluster);
    for judged in judged.into_iter().flatten() {
        println!("{SAYS}{}", json(&judged.outcome));
    }
}

/// Processes that are killed when the test ends.
struct Processes(Vec<Child>);

impl Drop for Processes {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Processes {
    fn start(tasks: impl IntoIterator<Item = Task>) -> Processes {
        let start = |task: Task| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "processes::a_process", "--nocapture"])
                .env(TASK, serde_json::to_string(&task).unwrap())
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        Processes(tasks.into_iter().map(start).collect())
    }

    /// The exit code of a process, the report that it printed, and its standard error.
    fn end(&mut self, process: usize) -> (Option<i32>, Option<String>, String) {
        let child = &mut self.0[process];
        // A process that hangs is a bug, and must be reported as one.
        let patience = Instant::now() + Duration::from_mins(2);
        while child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < patience, "process {process} hangs");
            std::thread::sleep(Duration::from_millis(20));
        }
        let (mut stdout, mut stderr) = (String::new(), String::new());
        child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        // The test harness may have printed text before it on the same line.
        let report = stdout.lines().find_map(|line| line.split_once(SAYS)).map(|(_, report)| report.to_owned());
        (child.wait().unwrap().code(), report, stderr)
    }
}

/// A unique address in the loopback network, from the number of this process.
fn host() -> String {
    static HOSTS: AtomicU64 = AtomicU64::new(0);
    let number = HOSTS.fetch_add(1, Ordering::SeqCst);
    let [_, a, b, c] = std::process::id().to_be_bytes();
    format!("127.{}.{b}.{c}:{}", a | 0x80, 20_000 + number)
}

struct Scene {
    _dir: tempfile::TempDir,
    text: String,
    tasks: Vec<Task>,
}

fn scene(processes: usize) -> Scene {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.edn");
    let made = Made { seed: 3, ops: 500, keys: 12, is_json: false, has_indices: false, wrong: 90 };
    let text = registers(made);
    std::fs::write(&path, &text).unwrap();
    let hosts: Vec<String> = (0..processes).map(|_| host()).collect();
    let task = |process| Task {
        path: path.clone(),
        hosts: hosts.clone(),
        process,
        moment: Moment::Never,
        is_stopped: false,
        fact: "the same".to_owned(),
        connect_secs: 100,
        peer_secs: 100,
    };
    let tasks = (0..processes).map(task).collect();
    Scene { _dir: dir, text, tasks }
}

#[test]
fn several_processes_say_what_one_machine_says() {
    for processes in [1, 2, 3] {
        let scene = scene(processes);
        let expected = one_machine(&setup(Linearizable::<CasRegister>::default()), scene.text.as_bytes());
        assert_eq!(valid(&expected), false);
        // The last process is started first.
        let mut all = Processes::start(scene.tasks.iter().rev().cloned());
        for at in 0..processes {
            let (code, report, stderr) = all.end(processes - 1 - at);
            assert_eq!(code, Some(0), "process {at}: {stderr}");
            assert_eq!(report, (at == 0).then(|| expected.clone()), "process {at}");
        }
    }
}

/// Loses a process at a point, and asserts that the other one ends without a report and names it.
fn assert_lost(lost: usize, moment: Moment, is_stopped: bool) {
    let mut scene = scene(2);
    scene.tasks[lost].moment = moment;
    scene.tasks[lost].is_stopped = is_stopped;
    if is_stopped || moment == Moment::AtOnce {
        scene.tasks.iter_mut().for_each(|task| task.peer_secs = 2);
    }
    if moment == Moment::AtOnce {
        scene.tasks.iter_mut().for_each(|task| task.connect_secs = 1);
    }
    let mut all = Processes::start(scene.tasks);
    let (code, report, stderr) = all.end(1 - lost);
    assert_eq!(report, None, "a report after process {lost} was lost: {moment:?}");
    assert_eq!(code, Some(255), "{lost} {moment:?}: {stderr}");
    assert!(stderr.contains(&format!("process {lost} (127.")), "{lost} {moment:?}: {stderr}");
    assert!(stderr.contains("there is no verdict"), "{stderr}");
    if !is_stopped {
        let (code, report, _) = all.end(lost);
        assert_eq!((code, report), (None, None), "it was killed");
    }
}

#[test]
fn a_killed_process_ends_the_others() {
    let moments = [Moment::AtOnce, Moment::Start, Moment::Op(0), Moment::Op(1), Moment::Op(17), Moment::Op(100)];
    for moment in moments.into_iter().chain([Moment::Search, Moment::Finish]) {
        for lost in [0, 1] {
            assert_lost(lost, moment, false);
        }
    }
}

#[test]
fn a_stopped_process_ends_the_others() {
    for moment in [Moment::AtOnce, Moment::Op(17), Moment::Finish] {
        for lost in [0, 1] {
            assert_lost(lost, moment, true);
        }
    }
}

#[test]
fn a_process_that_was_never_started_ends_the_others() {
    for lost in [0, 1] {
        let mut scene = scene(2);
        scene.tasks.iter_mut().for_each(|task| task.connect_secs = 1);
        let mut all = Processes::start([scene.tasks.swap_remove(1 - lost)]);
        let (code, report, stderr) = all.end(0);
        assert_eq!((code, report), (Some(255), None), "{stderr}");
        assert!(stderr.contains(&format!("process {lost} (127.")) && stderr.contains("no verdict"), "{stderr}");
    }
}

#[test]
fn processes_that_were_asked_for_different_things_refuse_each_other() {
    let mut scene = scene(2);
    scene.tasks[1].fact = "another".to_owned();
    let mut all = Processes::start(scene.tasks);
    for process in [0, 1] {
        let (code, report, stderr) = all.end(process);
        assert_eq!((code, report), (Some(255), None), "{stderr}");
        assert!(stderr.contains("have different options"), "{process}: {stderr}");
    }
}

/// Connects as soon as a process listens.
fn connect(host: &str) -> TcpStream {
    loop {
        match TcpStream::connect(host) {
            Ok(stream) => break stream,
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// Connections of other programs are not accepted, and cause no wait.
#[test]
fn strangers_are_passed_over() {
    use std::io::Write as _;
    let scene = scene(2);
    let expected = one_machine(&setup(Linearizable::<CasRegister>::default()), scene.text.as_bytes());
    let first = scene.tasks[0].hosts[0].clone();
    let mut all = Processes::start([scene.tasks[0].clone()]);
    let mut stranger = connect(&first);
    stranger.write_all(b"GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n and more").unwrap();
    let mut second = Processes::start([scene.tasks[1].clone()]);
    let (code, report, stderr) = all.end(0);
    assert_eq!((code, report), (Some(0), Some(expected)), "{stderr}");
    assert_eq!(second.end(0).0, Some(0));
}

/// Another program that sends its greeting slowly does not delay the deadline.
#[test]
fn a_stranger_who_says_little_by_little_who_it_is_does_not_stop_the_clock() {
    use std::io::Write as _;
    let mut scene = scene(2);
    scene.tasks[0].connect_secs = 1;
    let first = scene.tasks[0].hosts[0].clone();
    let mut all = Processes::start([scene.tasks[0].clone()]);
    std::thread::spawn(move || {
        let mut stream = connect(&first);
        // The greeting of process 1, with an endless description of its job.
        let mut greeting = b"histcheck scale1b".to_vec();
        greeting.extend_from_slice(&[1, 0, 0, 0, 0, 0, 0, 1]);
        let bytes = greeting.into_iter().chain(std::iter::repeat(b' '));
        for byte in bytes {
            // Fails once the process has ended.
            if stream.write_all(&[byte]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let (code, report, stderr) = all.end(0);
    assert_eq!((code, report), (Some(255), None), "{stderr}");
    assert!(stderr.contains("process 1 (127.") && stderr.contains("could not be reached within 1s"), "{stderr}");
}

/// If another program uses the address, there is an error at once.
#[test]
fn an_address_in_use_is_an_error() {
    let scene = scene(2);
    let _taken = TcpListener::bind(&scene.tasks[0].hosts[0]).unwrap();
    let mut all = Processes::start([scene.tasks[0].clone()]);
    let (code, report, stderr) = all.end(0);
    assert_eq!((code, report), (Some(255), None));
    assert!(stderr.contains("cannot listen at 127."), "{stderr}");
}
