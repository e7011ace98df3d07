//! `histcheck live` with clusters of real stores, which must be installed: .ci/run does that. As this user, and if that is root, as
//! one without rights, too.

use crate::live_process::{Id, Started, until};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// Somebody without any rights.
const NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/// Calls it with a command for this user, and one for somebody without rights if this user may run it; and a directory that both
/// may write to.
fn as_each_user(what: impl Fn(&dyn Fn() -> Command, &Path)) {
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
    // The place of the tests may be nobody else's business.
    let program = place.path().join("histcheck");
    fs::copy(snapbox::cmd::cargo_bin!("histcheck"), &program).unwrap();
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let users: &[&[&str]] = if is_root { &[&[], &NOBODY] } else { &[&[]] };
    for user in users {
        let scratch = place.path().join(format!("scratch-{}", user.len()));
        fs::create_dir(&scratch).unwrap();
        fs::set_permissions(&scratch, fs::Permissions::from_mode(0o777)).unwrap();
        let start = || {
            let mut words = user.iter().map(AsRef::as_ref).chain([program.as_os_str(), "live".as_ref()]);
            let mut command = Command::new(words.next().unwrap());
            command.args(words);
            command
        };
        what(&start, &scratch);
        until("no directory is left", || fs::read_dir(&scratch).unwrap().count() == 0);
    }
}

/// Runs it to its end: the exit code, and what was written to standard output.
fn run(start: &dyn Fn() -> Command, scratch: &Path, words: &str) -> (Option<i32>, String) {
    let output = start().args(words.split_whitespace()).env("TMPDIR", scratch).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    (output.status.code(), format!("{}{error}", String::from_utf8_lossy(&output.stdout)))
}

#[test]
#[ignore = "needs redis-server, redis-sentinel, iproute2 and nftables; .ci/run installs them"]
fn the_isolated_primary_of_redis_is_refused() {
    as_each_user(|start, scratch| {
        let (code, said) = run(start, scratch, "--store redis-sentinel --every 500ms");
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("redis-sentinel\tfalse\n") && said.contains("during isolate n"), "{said}");
        assert!(said.contains("stale-read") || said.contains("lost-update"), "{said}");
    });
}

#[test]
#[ignore = "needs etcd-server, iproute2 and nftables; .ci/run installs them"]
fn etcd_is_valid_but_for_serializable_reads() {
    as_each_user(|start, scratch| {
        let (code, said) = run(start, scratch, "--store etcd --minutes 0.2 --every 500ms");
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("fault isolate n"), "{said}");
        let (code, said) = run(start, scratch, "--store etcd --reads serializable");
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("stale-read"), "{said}");
    });
}

#[test]
#[ignore = "needs redis-server, redis-sentinel, iproute2 and nftables; .ci/run installs them"]
fn nothing_is_left_behind_by_a_cluster() {
    as_each_user(|start, scratch| {
        for signal in ["KILL", "TERM", "INT"] {
            let mut command = start();
            command.args([
                "--store",
                "redis-sentinel",
                "--faults",
                "pause,isolate,kill",
                "--every",
                "100ms",
                "--keep-going",
            ]);
            let mut started = Started::spawn(command, scratch);
            started.until("begins");
            let all = started.descendants();
            assert!(all.len() > 8, "{all:?}");
            started.signal(signal);
            if signal != "KILL" {
                let (code, out, error) = started.end();
                assert!(
                    matches!(code, Some(0 | 1)) && out.contains("interrupted."),
                    "{signal}: {code:?} {out} {error}"
                );
            }
            all.iter().for_each(Id::until_gone);
        }
    });
}
