//! `histcheck live` with clusters of real stores, which must be installed: .ci/run does that. Runs as this user, and if
//! that is root, also as a user without rights.

use crate::live_process::{Id, Started, until};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// The command prefix for a user without rights.
const NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/// Calls `what` with a command for this user, and with one for a user without rights, if this user may run such a
/// command. Both may write to the directory.
fn as_each_user(what: impl Fn(&dyn Fn() -> Command, &Path)) {
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
    // The user without rights may not be able to read the directory of the build.
    let program = place.path().join("histcheck");
    fs::copy(snapbox::cmd::cargo_bin!("histcheck"), &program).unwrap();
    let users: &[&[&str]] = if is_root() { &[&[], &NOBODY] } else { &[&[]] };
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

fn is_root() -> bool {
    Command::new("id").arg("-u").output().unwrap().stdout == b"0\n"
}

/// Runs it to its end. Returns the exit code, and standard output.
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

/// If namespaces are not permitted, the nodes are plain processes with proxies between them, which cut the same links.
#[test]
#[ignore = "needs redis-server and redis-sentinel; .ci/run installs them"]
fn proxies_take_the_place_of_namespaces() {
    let place = tempfile::tempdir().unwrap();
    let refuses = place.path().join("unshare");
    fs::write(&refuses, "#!/bin/sh\necho 'unshare: not here' >&2\nexit 1\n").unwrap();
    fs::set_permissions(&refuses, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", place.path().display(), std::env::var("PATH").unwrap());
    let start = || {
        let mut command = Command::new(snapbox::cmd::cargo_bin!("histcheck"));
        command.arg("live").env("PATH", &path);
        command
    };
    let scratch = place.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    let (code, said) = run(&start, &scratch, "--store redis-sentinel --every 500ms");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("(unshare: not here)") && said.contains("using proxies between the nodes"), "{said}");
    assert!(said.contains("redis-sentinel\tfalse\n") && said.contains("during isolate n"), "{said}");
    let (code, said) = run(&start, &scratch, "--store redis-sentinel --world namespaces");
    assert!(code == Some(255) && said.contains("new namespaces are not allowed here"), "{said}");
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0, "no directory is left");
}

/// Three machines, each with its own `sshd`: namespaces within those in which the test runs.
const MACHINES: &str = r#"
set -e
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mkdir -p /run/netns /run/sshd /run/keys
ip link set lo up
ip link add br0 type bridge
ip link set br0 up
ip addr add 10.78.0.254/24 dev br0
ssh-keygen -q -t ed25519 -N '' -f /run/keys/user
ssh-keygen -q -t ed25519 -N '' -f /run/keys/host
printf 'HostKey /run/keys/host\nAuthorizedKeysFile /run/keys/user.pub\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nPidFile none\n' > /run/keys/sshd
printf 'User root\nIdentityFile /run/keys/user\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n' > /run/keys/ssh
for i in 1 2 3; do
    ip netns add m$i
    ip link add v$i type veth peer name eth0 netns m$i
    ip link set v$i master br0 up
    ip -n m$i addr add 10.78.0.$i/24 dev eth0
    ip -n m$i link set eth0 up
    ip -n m$i link set lo up
    ip netns exec m$i /usr/sbin/sshd -D -f /run/keys/sshd -o ListenAddress=10.78.0.$i &
    printf 'Host m%s\nHostName 10.78.0.%s\n' $i $i >> /run/keys/ssh
done
for i in 1 2 3; do
    until bash -c "exec 3<>/dev/tcp/10.78.0.$i/22" 2> /dev/null; do sleep 0.05; done
done
code=0
"$1" live --store redis-sentinel --nodes m1,m2,m3 "--ssh=ssh -F /run/keys/ssh" --every 500ms || code=$?
echo "exit $code"
until [ -z "$(pgrep -x redis-server)" ]; do sleep 0.05; done
echo "left: $(ls -d /tmp/histcheck-live-* 2> /dev/null)$(for i in 1 2 3; do ip netns exec m$i nft list tables; done)."
"#;

#[test]
#[ignore = "needs redis-server, redis-sentinel, iproute2, nftables, openssh-server and root; .ci/run installs them"]
fn machines_are_reached_with_ssh() {
    if !is_root() || !Path::new("/usr/sbin/sshd").exists() {
        return eprintln!(
            "skipped: machines_are_reached_with_ssh: only root may run sshd for root, and it must be installed"
        );
    }
    let mut command = Command::new("unshare");
    command.args(["--net", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "sh", "-c", MACHINES, "sh"]);
    let output = command.arg(snapbox::cmd::cargo_bin!("histcheck")).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("redis-sentinel\tfalse\n") && said.contains("\nexit 1\n"), "{said}");
    // Clients run where their nodes are, and all changes on the machines are undone.
    assert!(said.contains("through m") && said.contains("during isolate m"), "{said}");
    assert!(said.contains("\nleft: .\n"), "{said}");
}

#[test]
#[ignore = "needs etcd-server, iproute2 and nftables; .ci/run installs them"]
fn etcd_is_valid_but_for_serializable_reads() {
    as_each_user(|start, scratch| {
        let (code, said) = run(start, scratch, "--store etcd --minutes 0.12 --every 300ms --longer 500ms");
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("fault isolate n"), "{said}");
        let (code, said) = run(start, scratch, "--store etcd --reads serializable");
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("stale-read"), "{said}");
    });
}

/// SQLite acknowledges transactions before it flushes them, unless `synchronous=extra` is set: `full` can lose the last
/// transaction.
#[test]
#[ignore = "needs iproute2, nftables, loop devices and root; .ci/run installs the packages"]
fn a_power_cut_takes_what_sqlite_has_not_flushed() {
    if !Path::new("/dev/loop-control").exists() {
        return eprintln!("skipped: a_power_cut_takes_what_sqlite_has_not_flushed: there are no loop devices");
    }
    as_each_user(|start, scratch| {
        let words = "--store sqlite --workload versioned-register --every 300ms --longer 300ms";
        let cuts = format!("{words} --faults power-cut");
        if is_root() && scratch.ends_with("scratch-0") {
            for lax in ["--synchronous off", "--synchronous normal --journal wal"] {
                let (code, said) = run(start, scratch, &format!("{cuts} {lax}"));
                assert_eq!(code, Some(1), "{said}");
                assert!(said.contains("fault power-cut n1 begins") && said.contains("stale-read"), "{said}");
            }
            let (code, said) = run(start, scratch, &format!("{cuts} --synchronous extra --minutes 0.08"));
            assert_eq!(code, Some(0), "{said}");
            assert!(said.contains("fault power-cut n1 begins"), "{said}");
        } else {
            let (code, said) = run(start, scratch, &cuts);
            assert!(code == Some(255) && said.contains("the fault power-cut needs root"), "{said}");
            // A process that is killed loses nothing, because the system has its writes.
            let (code, said) = run(start, scratch, &format!("{words} --faults kill --synchronous off --minutes 0.05"));
            assert_eq!(code, Some(0), "{said}");
            assert!(said.contains("fault kill n1 begins"), "{said}");
        }
    });
}

#[test]
#[ignore = "needs redis-server, redis-sentinel, iproute2 and nftables; .ci/run installs them"]
fn nothing_is_left_behind_by_a_cluster() {
    as_each_user(|start, scratch| {
        // The first user tests all signals.
        let signals: &[&str] = if scratch.ends_with("scratch-0") { &["KILL", "TERM", "INT"] } else { &["KILL"] };
        for signal in signals {
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
            if *signal != "KILL" {
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
