//! Real stores, if their packages are installed and namespaces are permitted; otherwise, each test prints the reason
//! why it is skipped.
//!
//! A test starts itself again inside namespaces. For a skipped part it prints a line with `skipped:`, which the caller
//! of the tests can count; with `HISTCHECK_LIVE=required`, it fails instead.

use crate::setup::Setup;
use history_core::Verdict;
use record_live::world::{Inside, World, is_inside, try_to_enter};
use record_live::{Ended, Fault, Need, Nemesis, StartStore, Store, store};
use std::env;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Runs `inside` in a new process inside new namespaces, if `kind` is available.
fn in_world(test: &str, kind: &str, faults: &[Fault], inside: impl FnOnce()) {
    if is_inside() {
        Inside::listen(|| {}).unwrap();
        return inside();
    }
    let missing = Need::missing(&store::kind(kind).expect("a kind").needs_with_namespaces(faults));
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    let why = if let Some(need) = missing.first() {
        format!("{} is missing: install {}", need.program, need.package)
    } else if let Err(error) = try_to_enter() {
        error.to_string()
    } else if faults.contains(&Fault::PowerCut) && !(is_root && Path::new("/dev/loop-control").exists()) {
        "power cuts need root and loop devices".to_owned()
    } else {
        return run_again(test, is_root);
    };
    assert!(env::var("HISTCHECK_LIVE").as_deref() != Ok("required"), "{test} is required, but {why}");
    eprintln!("skipped: {test}: {why}");
}

/// Starts only this test again, inside namespaces.
fn run_again(test: &str, is_root: bool) {
    let mut command = Command::new("unshare");
    if !is_root {
        command.args(["--user", "--map-current-user", "--keep-caps"]);
    }
    command.args(["--net", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "--"]);
    command.arg(env::current_exe().unwrap()).args([test, "--exact", "--nocapture"]);
    let path = format!("{}:/usr/sbin:/sbin", env::var("PATH").unwrap());
    // The inner process ends when its standard input is closed.
    let inner = command.env("HISTCHECK_LIVE_INSIDE", "1").env("PATH", path).stdin(Stdio::piped());
    let mut child = inner.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let held = child.stdin.take();
    let ended = child.wait_with_output().unwrap();
    drop(held);
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}{}", String::from_utf8_lossy(&ended.stdout));
    assert!(String::from_utf8_lossy(&ended.stdout).contains("1 passed"), "{test} is not the name of a test");
}

/// A store of this kind, with these options.
fn start(kind: &str, options: &[(&str, &str)], faults: &[Fault], logs: &Path) -> Box<dyn Store> {
    let kind = store::kind(kind).unwrap();
    let world = World::new(u8::try_from(kind.nodes).unwrap(), logs).unwrap();
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let start =
        StartStore { options, faults: faults.to_vec(), world: Some(world), logs: logs.into(), ..StartStore::default() };
    kind.start(start).unwrap()
}

fn nemesis(faults: &[Fault]) -> Nemesis {
    let every = Duration::from_millis(300);
    Nemesis { faults: faults.to_vec(), every, longer: every, ..Nemesis::default() }
}

fn names(ended: &Ended) -> Vec<&str> {
    ended.report.anomalies.iter().map(|anomaly| &*anomaly.name).collect()
}

#[test]
fn postgres_is_serializable() {
    in_world("world::postgres_is_serializable", "postgres", &[], || {
        let directory = tempfile::tempdir().unwrap();
        let store = start("postgres", &[("level", "serializable")], &[], directory.path());
        // The shared memory of servers that are killed does not remain, because it belongs to the namespace.
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mut at_shared_memory = mounts.lines().filter(|line| line.split(' ').nth(4) == Some("/dev/shm"));
        assert!(at_shared_memory.next_back().is_some_and(|line| line.contains(" - tmpfs tmpfs ")), "{mounts}");
        let ended = Setup { ops_max: 3_000, ..Setup::new(&*store, "list-append") }.run(directory.path()).unwrap();
        assert_eq!(ended.report.verdict, Verdict::Valid, "{:?}", names(&ended));
        assert!(ended.ok > 300, "{} of {} ops", ended.ok, ended.ops);
    });
}

#[test]
fn postgres_shows_write_skew_at_repeatable_read() {
    in_world("world::postgres_shows_write_skew_at_repeatable_read", "postgres", &[], || {
        let directory = tempfile::tempdir().unwrap();
        let store = start("postgres", &[("level", "repeatable-read")], &[], directory.path());
        let ended = Setup { ops_max: 100_000, ..Setup::new(&*store, "list-append") }.run(directory.path()).unwrap();
        assert_eq!(ended.report.verdict, Verdict::Invalid);
        assert!(names(&ended).contains(&"G2-item"), "{:?}", names(&ended));
    });
}

/// Cuts the power until there is a violation, but at most this often.
fn cut_power(synchronous_commit: &str, cuts: u64) -> Ended {
    let (directory, faults) = (tempfile::tempdir().unwrap(), [Fault::PowerCut]);
    let options = [("synchronous-commit", synchronous_commit)];
    let store = start("postgres", &options, &faults, directory.path());
    let setup = Setup::new(&*store, "versioned-register");
    let setup = Setup { nemesis: nemesis(&faults), ops_max: u64::MAX, faults_max: Some(cuts), ..setup };
    setup.run(directory.path()).unwrap()
}

#[test]
fn postgres_keeps_what_it_acknowledged_when_the_power_is_cut() {
    let test = "world::postgres_keeps_what_it_acknowledged_when_the_power_is_cut";
    in_world(test, "postgres", &[Fault::PowerCut], || {
        let ended = cut_power("on", 2);
        assert_eq!(ended.report.verdict, Verdict::Valid, "{:?}", names(&ended));
        assert!(ended.faults >= 2, "{} faults", ended.faults);
    });
}

#[test]
fn postgres_loses_what_it_acknowledged_before_it_was_flushed() {
    let test = "world::postgres_loses_what_it_acknowledged_before_it_was_flushed";
    in_world(test, "postgres", &[Fault::PowerCut], || {
        assert_eq!(cut_power("off", 20).report.verdict, Verdict::Invalid);
    });
}

#[test]
fn postgres_loses_what_an_isolated_primary_acknowledged() {
    let test = "world::postgres_loses_what_an_isolated_primary_acknowledged";
    in_world(test, "postgres-failover", &[], || {
        let (directory, faults) = (tempfile::tempdir().unwrap(), [Fault::Isolate]);
        let store = start("postgres-failover", &[], &faults, directory.path());
        let setup = Setup::new(&*store, "versioned-register");
        let timeout = Duration::from_secs(1);
        let setup = Setup { nemesis: nemesis(&faults), ops_max: u64::MAX, faults_max: Some(5), timeout, ..setup };
        assert_eq!(setup.run(directory.path()).unwrap().report.verdict, Verdict::Invalid);
    });
}

#[test]
fn mariadb_loses_updates_at_repeatable_read() {
    in_world("world::mariadb_loses_updates_at_repeatable_read", "mariadb", &[], || {
        let directory = tempfile::tempdir().unwrap();
        let store = start("mariadb", &[], &[], directory.path());
        let ended = Setup { ops_max: 100_000, ..Setup::new(&*store, "list-append") }.run(directory.path()).unwrap();
        assert_eq!(ended.report.verdict, Verdict::Invalid);
        assert!(names(&ended).iter().any(|name| !name.starts_with("G2-item")), "{:?}", names(&ended));
    });
}

#[test]
fn mariadb_with_snapshot_isolation_shows_write_skew_only() {
    in_world("world::mariadb_with_snapshot_isolation_shows_write_skew_only", "mariadb", &[], || {
        let directory = tempfile::tempdir().unwrap();
        let store = start("mariadb", &[("snapshot-isolation", "on")], &[], directory.path());
        let ended = Setup { ops_max: 100_000, ..Setup::new(&*store, "list-append") }.run(directory.path()).unwrap();
        assert_eq!(ended.report.verdict, Verdict::Invalid);
        assert!(names(&ended).iter().all(|name| name.starts_with("G2-item")), "{:?}", names(&ended));
    });
}

#[test]
fn galera_answers_reads_from_what_a_node_has() {
    in_world("world::galera_answers_reads_from_what_a_node_has", "galera", &[], || {
        let directory = tempfile::tempdir().unwrap();
        let store = start("galera", &[], &[], directory.path());
        let setup = Setup { ops_max: 100_000, ..Setup::new(&*store, "versioned-register") };
        let ended = setup.run(directory.path()).unwrap();
        assert_eq!((ended.report.verdict, names(&ended)), (Verdict::Invalid, vec!["stale-read"]));
    });
}

#[test]
fn zookeeper_answers_reads_from_what_a_node_has() {
    in_world("world::zookeeper_answers_reads_from_what_a_node_has", "zookeeper", &[], || {
        let directory = tempfile::tempdir().unwrap();
        let store = start("zookeeper", &[], &[], directory.path());
        let setup = Setup { ops_max: 100_000, ..Setup::new(&*store, "versioned-register") };
        let ended = setup.run(directory.path()).unwrap();
        assert_eq!((ended.report.verdict, names(&ended)), (Verdict::Invalid, vec!["stale-read"]));
    });
}

/// This holds while nothing is cut off: an isolated leader responds to `sync` by itself.
#[test]
fn zookeeper_is_linearizable_after_sync() {
    in_world("world::zookeeper_is_linearizable_after_sync", "zookeeper", &[], || {
        let directory = tempfile::tempdir().unwrap();
        let store = start("zookeeper", &[("read-after", "sync")], &[], directory.path());
        let ended =
            Setup { ops_max: 5_000, ..Setup::new(&*store, "versioned-register") }.run(directory.path()).unwrap();
        assert_eq!(ended.report.verdict, Verdict::Valid, "{:?}", names(&ended));
        assert!(ended.ok > 1_000, "{} of {} ops", ended.ok, ended.ops);
    });
}
