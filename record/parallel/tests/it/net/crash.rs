//! Hosts that crash: their tasks end between any two operations, their connections are reset, and state outside of the
//! tasks, such as a disk, remains.

use super::{connect, echo, only};
use crate::noting::{all, complete, reduced, settings};
use record_parallel::net::{Fault, Network};
use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
use record_parallel::thread;
use record_parallel::tokio::io::{AsyncReadExt, AsyncWriteExt};
use record_parallel::tokio::net::{TcpListener, TcpStream};
use record_parallel::tokio::spawn;
use record_parallel::tokio::task::yield_now;
use record_parallel::tokio::time::{Duration, sleep};
use std::future::pending;
use std::io::ErrorKind;
use std::sync::Arc;

#[test]
fn connections_are_reset_and_ports_closed() {
    let (_, seen) = all(0, || {
        let network = only(&[]);
        let (server, client) = (network.host("server"), network.host("client"));
        let listener = server.block_on(TcpListener::bind("0.0.0.0:7")).unwrap();
        let mut near = client.block_on(TcpStream::connect("server:7")).unwrap();
        let mut far = server.block_on(listener.accept()).unwrap().0;
        server.block_on(far.write_all(&[1])).unwrap();
        network.crash("server");
        let own = server.block_on(far.write_all(&[1])).unwrap_err().kind();
        client.block_on(async {
            let data = near.read_u8().await.unwrap();
            let read = near.read_u8().await.unwrap_err().kind();
            let write = near.write_all(&[1]).await.unwrap_err().kind();
            let again = TcpStream::connect("server:7").await.unwrap_err().kind();
            (data, [own, read, write, again].map(|kind| format!("{kind:?}")), server.is_up())
        })
    });
    let kinds = ["NetworkDown", "ConnectionReset", "BrokenPipe", "ConnectionRefused"].map(str::to_owned);
    assert_eq!(seen, [(1, kinds, false)]);
}

#[test]
fn what_was_sent_before_a_crash_may_be_lost_with_the_host() {
    let (_, seen) = all(1, || {
        let network = only(&[Fault::Late]);
        let (server, client) = (network.host("server"), network.host("client"));
        let listener = server.block_on(TcpListener::bind("0.0.0.0:7")).unwrap();
        let mut near = client.block_on(TcpStream::connect("server:7")).unwrap();
        let mut far = server.block_on(listener.accept()).unwrap().0;
        server.block_on(far.write_all(&[1])).unwrap();
        network.crash("server");
        client.block_on(async {
            let data = near.read_u8().await.map_err(|error| error.kind() == ErrorKind::ConnectionReset);
            (data, near.read_u8().await.is_err())
        })
    });
    assert_eq!(seen, [(Ok(1), true), (Err(true), true)]);
}

#[test]
fn connections_that_nobody_accepted_are_reset() {
    let (_, seen) = all(0, || {
        let network = only(&[]);
        network.host("host").block_on(async {
            let listener = TcpListener::bind("127.0.0.1:7").await.unwrap();
            let mut near = TcpStream::connect("127.0.0.1:7").await.unwrap();
            drop(listener);
            near.read_u8().await.unwrap_err().kind() == ErrorKind::ConnectionReset
        })
    });
    assert_eq!(seen, [true]);
}

/// A host writes twice to a connection that another host has not accepted. The other host connects to the first one and
/// then drops its listener. The writer's port and the end of the other host are different objects.
fn not_accepted() -> [Result<usize, ErrorKind>; 3] {
    let network = only(&[]);
    let (writer, other) = (network.host("a"), network.host("b"));
    let listener = other.block_on(TcpListener::bind("0.0.0.0:80")).unwrap();
    let mut near = writer.block_on(TcpStream::connect("b:80")).unwrap();
    let writes = thread::spawn(move || {
        writer.block_on(async {
            let own = TcpListener::bind("0.0.0.0:80").await.unwrap();
            let first = near.write(&[1]).await.map_err(|error| error.kind());
            let second = near.write(&[1]).await.map_err(|error| error.kind());
            (own, near, [first, second])
        })
    });
    let connects = thread::spawn(move || {
        let stream = other.block_on(TcpStream::connect("a:80"));
        drop(listener);
        stream
    });
    let stream = connects.join().unwrap();
    let connected = stream.as_ref().map(|_| 0).map_err(std::io::Error::kind);
    let (own, near, [first, second]) = writes.join().unwrap();
    drop((own, near, stream));
    [connected, first, second]
}

#[test]
fn a_listener_that_goes_between_two_writes_is_seen() {
    let seen = complete(&settings(0), not_accepted).seen;
    assert!(seen.contains(&[Err(ErrorKind::ConnectionRefused), Ok(1), Err(ErrorKind::ConnectionReset)]), "{seen:?}");
    assert_eq!(seen.len(), 6, "{seen:?}");
}

#[test]
fn what_is_left_unread_resets_the_connection() {
    let (_, seen) = all(0, || {
        let network = only(&[]);
        network.host("host").block_on(async {
            let listener = TcpListener::bind("127.0.0.1:7").await.unwrap();
            let mut near = TcpStream::connect("127.0.0.1:7").await.unwrap();
            let (mut far, _) = listener.accept().await.unwrap();
            near.write_all(&[1, 2]).await.unwrap();
            far.write_all(&[3]).await.unwrap();
            far.read_u8().await.unwrap();
            drop(far);
            (near.read_u8().await.unwrap(), near.read_u8().await.unwrap_err().kind() == ErrorKind::ConnectionReset)
        })
    });
    assert_eq!(seen, [(3, true)]);
}

#[test]
fn nothing_is_read_after_the_connection_was_reset() {
    let (_, seen) = all(1, || {
        let network = only(&[Fault::Late]);
        let (server, client) = (network.host("server"), network.host("client"));
        let listener = server.block_on(TcpListener::bind("0.0.0.0:7")).unwrap();
        let mut near = client.block_on(TcpStream::connect("server:7")).unwrap();
        let mut far = server.block_on(listener.accept()).unwrap().0;
        server.block_on(far.write_all(&[1])).unwrap();
        client.block_on(near.write_all(&[2])).unwrap();
        // The unread data resets the connection.
        drop(far);
        client.block_on(async {
            let first = near.read_u8().await.map_err(|error| error.kind());
            sleep(Duration::from_secs(1)).await;
            (first, near.read_u8().await.map_err(|error| error.kind()))
        })
    });
    let reset = Err(ErrorKind::ConnectionReset);
    assert_eq!(seen, [(Ok(1), reset), (reset, reset)], "the byte comes before the reset, or never");
}

#[test]
fn other_hosts_go_on() {
    let (_, seen) = all(0, || {
        let network = only(&[]);
        let (server, client) = (network.host("server"), network.host("client"));
        _ = network.host("other").spawn(pending::<()>());
        let listener = server.block_on(TcpListener::bind("0.0.0.0:7")).unwrap();
        let mut near = client.block_on(TcpStream::connect("server:7")).unwrap();
        let mut far = server.block_on(listener.accept()).unwrap().0;
        network.crash("other");
        client.block_on(near.write_all(&[1])).unwrap();
        server.block_on(far.read_u8()).unwrap()
    });
    assert_eq!(seen, [1]);
}

#[test]
fn a_task_ends_between_any_two_operations() {
    let (_, seen) = all(0, || {
        let network = only(&[]);
        let disk = Arc::new([const { AtomicU32::new(0) }; 2]);
        let own = Arc::clone(&disk);
        network.host("server").run(move || {
            let disk = Arc::clone(&own);
            async move {
                disk[0].store(1, SeqCst);
                disk[1].store(1, SeqCst);
            }
        });
        network.crash("server");
        [disk[0].load(SeqCst), disk[1].load(SeqCst)]
    });
    assert_eq!(seen, [[0, 0], [1, 0], [1, 1]], "no pause was awaited between the two");
}

#[test]
fn a_task_that_waits_for_a_thread_ends_with_its_host() {
    fn cancelled(wait: impl FnOnce() + Send + 'static) -> bool {
        let network = only(&[]);
        let task = network.host("server").spawn(async move { wait() });
        network.crash("server");
        network.host("client").block_on(async { task.await.is_err_and(|error| error.is_cancelled()) })
    }
    // The thread keeps the object that the task waits for until the task has ended.
    let (_, seen) = all(0, || {
        let lock = Arc::new(record_parallel::sync::Mutex::new(()));
        let held = lock.lock().unwrap();
        let own = Arc::clone(&lock);
        let is_cancelled = cancelled(move || drop(own.lock().unwrap()));
        drop(held);
        is_cancelled
    });
    assert_eq!(seen, [true], "a lock");
    let (_, seen) = all(0, || {
        let (sender, receiver) = record_parallel::sync::mpsc::channel::<()>();
        let is_cancelled = cancelled(move || _ = receiver.recv());
        drop(sender);
        is_cancelled
    });
    assert_eq!(seen, [true], "a channel");
}

#[test]
fn a_lock_is_not_poisoned() {
    let (_, seen) = all(0, || {
        let network = only(&[]);
        let disk = Arc::new(record_parallel::sync::Mutex::new((0, 0)));
        let own = Arc::clone(&disk);
        network.host("server").run(move || {
            let disk = Arc::clone(&own);
            async move {
                let mut both = disk.lock().unwrap();
                both.0 = 1;
                yield_here();
                both.1 = 1;
            }
        });
        network.crash("server");
        *disk.lock().unwrap()
    });
    assert_eq!(seen, [(0, 0), (1, 1)]);
}

/// A pause point.
fn yield_here() {
    record_parallel::thread::yield_now();
}

#[test]
fn a_host_starts_again_with_its_disk() {
    let (_, seen) = reduced(0, || {
        let network = only(&[]);
        let starts = Arc::new(AtomicU32::new(0));
        let own = Arc::clone(&starts);
        network.host("server").run(move || {
            let starts = Arc::clone(&own);
            async move {
                starts.fetch_add(1, SeqCst);
                echo().await;
            }
        });
        network.restart("server");
        network.host("client").block_on(async {
            let mut stream = connect("server:7").await;
            stream.write_all(&[5]).await.unwrap();
            assert_eq!(stream.read_u8().await.unwrap(), 5);
        });
        starts.load(SeqCst)
    });
    assert_eq!(seen, [1, 2], "it may crash before it has begun");
}

#[test]
fn two_threads_can_restart_a_host() {
    let (_, seen) = reduced(0, || {
        let network = Arc::new(only(&[]));
        let starts = Arc::new(AtomicU32::new(0));
        let own = Arc::clone(&starts);
        network.host("server").run(move || {
            // The closure itself reaches a pause point, at which the other thread may restart the host.
            own.fetch_add(1, SeqCst);
            async {}
        });
        let restarts = Arc::clone(&network);
        let thread = thread::spawn(move || restarts.restart("server"));
        network.restart("server");
        thread.join().unwrap();
        starts.load(SeqCst)
    });
    assert_eq!(seen, [3]);
}

#[test]
fn a_crash_by_a_thread_comes_before_or_after_an_answer() {
    let (_, seen) = reduced(0, || {
        let network = Arc::new(only(&[]));
        network.host("server").run(echo);
        let client = network.host("client");
        let mut stream = client.block_on(connect("server:7"));
        let breaks = Arc::clone(&network);
        let thread = record_parallel::thread::spawn(move || breaks.crash("server"));
        let answer = client.block_on(async {
            if let Err(error) = stream.write_all(&[1]).await {
                return format!("{:?}", error.kind());
            }
            match stream.read_u8().await {
                Ok(byte) => byte.to_string(),
                Err(error) => format!("{:?}", error.kind()),
            }
        });
        thread.join().unwrap();
        drop(stream);
        answer
    });
    assert_eq!(seen, ["1", "ConnectionReset"]);
}

#[test]
fn what_a_partition_stops_is_lost_with_the_host() {
    let (_, seen) = all(0, || {
        let network = only(&[]);
        let (server, client) = (network.host("server"), network.host("client"));
        let listener = server.block_on(TcpListener::bind("0.0.0.0:7")).unwrap();
        let mut near = client.block_on(TcpStream::connect("server:7")).unwrap();
        let mut far = server.block_on(listener.accept()).unwrap().0;
        network.partition("server", "client");
        server.block_on(far.write_all(&[1])).unwrap();
        network.crash("server");
        network.restart("server");
        network.repair("server", "client");
        client.block_on(async { near.read_u8().await.unwrap_err().kind() == ErrorKind::ConnectionReset })
    });
    assert_eq!(seen, [true]);
}

#[test]
fn a_connection_that_is_reset_by_chance_is_so_for_both_sides() {
    let (_, seen) = all(1, || {
        let network = only(&[Fault::Reset]);
        network.host("host").block_on(async {
            let listener = TcpListener::bind("127.0.0.1:7").await.unwrap();
            let mut near = TcpStream::connect("127.0.0.1:7").await.unwrap();
            let mut far = listener.accept().await.unwrap().0;
            let near = near.write_all(&[1]).await.is_ok();
            (near, far.read_u8().await.is_ok())
        })
    });
    assert_eq!(seen, [(false, false), (true, false), (true, true)]);
}

#[test]
fn a_host_can_crash_itself() {
    let (_, seen) = all(0, || {
        let network = Arc::new(only(&[]));
        let reached = Arc::new(AtomicU32::new(0));
        let (own, crashes) = (Arc::clone(&reached), Arc::downgrade(&network));
        let host = network.host("server");
        host.run(move || {
            let (reached, crashes) = (Arc::clone(&own), crashes.clone());
            async move {
                drop(spawn(pending::<()>()));
                if let Some(network) = crashes.upgrade() {
                    network.crash("server");
                    drop(network);
                }
                reached.store(1, SeqCst);
            }
        });
        while host.is_up() {
            record_parallel::thread::yield_now();
        }
        reached.load(SeqCst)
    });
    assert_eq!(seen, [0]);
}

#[test]
fn a_join_handle_says_that_the_task_was_cancelled() {
    let (_, seen) = all(0, || {
        let network = Network::new();
        let task = network.host("server").spawn(async {
            yield_now().await;
            1
        });
        network.crash("server");
        network.host("client").block_on(async { task.await.map_err(|error| error.is_cancelled()) })
    });
    assert_eq!(seen, [Ok(1), Err(true)]);
}
