//! Connections under partitions: they wait, and break after they have waited too long.

use super::{connect, echo, only};
use crate::noting::{all, reduced};
use record_parallel::net::{Fault, Network, NetworkSettings};
use record_parallel::tokio::io::{AsyncReadExt, AsyncWriteExt};
use record_parallel::tokio::net::{TcpListener, TcpStream};
use record_parallel::tokio::time::{Duration, Instant, sleep, timeout};
use std::io::ErrorKind;

const SECOND: Duration = Duration::from_secs(1);

/// The client's side of a connection to a server, and the server's side.
fn pair(network: &Network) -> (TcpStream, TcpStream) {
    let (server, client) = (network.host("server"), network.host("client"));
    let listener = server.block_on(TcpListener::bind("0.0.0.0:7")).unwrap();
    let near = client.block_on(TcpStream::connect("server:7")).unwrap();
    let far = server.block_on(listener.accept()).unwrap().0;
    (near, far)
}

#[test]
fn what_is_written_arrives_when_the_partition_ends() {
    fn through(break_it: fn(&Network), mend_it: fn(&Network)) -> (Vec<u8>, Vec<u8>) {
        let network = only(&[]);
        let (mut near, mut far) = pair(&network);
        network.host("client").block_on(async {
            near.write_all(&[1]).await.unwrap();
            break_it(&network);
            near.write_all(&[2]).await.unwrap();
            let mut buffer = [0; 8];
            let mut before = Vec::new();
            while let Ok(count) = timeout(SECOND, far.read(&mut buffer)).await {
                before.extend(&buffer[..count.unwrap()]);
            }
            mend_it(&network);
            near.write_all(&[3]).await.unwrap();
            drop(near);
            let mut after = Vec::new();
            far.read_to_end(&mut after).await.unwrap();
            (before, after)
        })
    }
    let expected = [(vec![1], vec![2, 3])];
    assert_eq!(all(0, || through(|n| n.partition("client", "server"), Network::repair_all)).1, expected);
    assert_eq!(all(0, || through(|n| n.hold("client", "server"), |n| n.release("client", "server"))).1, expected);
    assert_eq!(all(0, || through(|n| n.partition_one_way("client", "server"), Network::repair_all)).1, expected);
    let other_way = all(0, || through(|n| n.partition_one_way("server", "client"), Network::repair_all)).1;
    assert_eq!(other_way, [(vec![1, 2], vec![3])]);
    let elsewhere = all(0, || {
        through(
            |n| {
                _ = n.host("other");
                n.partition("client", "other");
            },
            Network::repair_all,
        )
    });
    assert_eq!(elsewhere.1, [(vec![1, 2], vec![3])]);
}

#[test]
fn what_was_sent_before_may_still_be_on_its_way() {
    let (_, seen) = all(1, || {
        let network = only(&[Fault::Late]);
        let (mut near, mut far) = pair(&network);
        network.host("client").block_on(async {
            near.write_all(&[1]).await.unwrap();
            network.partition("client", "server");
            let before = timeout(SECOND, far.read_u8()).await.is_ok();
            network.repair_all();
            (before, before || far.read_u8().await.is_ok())
        })
    });
    assert_eq!(seen, [(false, true), (true, true)]);
}

#[test]
fn who_writes_gives_up_and_who_reads_does_not() {
    let (_, seen) = all(0, || {
        let network = Network::with(NetworkSettings {
            write_timeout: SECOND * 10,
            faults: Vec::new(),
            ..NetworkSettings::default()
        });
        let (mut near, mut far) = pair(&network);
        network.host("client").block_on(async {
            network.partition("client", "server");
            let start = Instant::now();
            near.write_all(&[1]).await.unwrap();
            let read = near.read_u8().await.unwrap_err().kind();
            let gave_up = start.elapsed().as_secs();
            let write = near.write_all(&[1]).await.unwrap_err().kind();
            let waits = timeout(SECOND * 1000, far.read_u8()).await.is_err();
            // The other side gets the reset after its next write.
            network.repair_all();
            drop(near);
            far.write_all(&[1]).await.unwrap();
            let told = far.read_u8().await.unwrap_err().kind();
            (gave_up, [read, write, told].map(|kind| format!("{kind:?}")), waits)
        })
    });
    let kinds = ["TimedOut", "TimedOut", "ConnectionReset"].map(str::to_owned);
    assert_eq!(seen, [(10, kinds, true)]);
}

#[test]
fn who_is_gone_says_so_as_soon_as_it_can() {
    let (_, seen) = all(0, || {
        let network = only(&[]);
        let (mut near, far) = pair(&network);
        network.host("client").block_on(async {
            network.partition_one_way("client", "server");
            near.write_all(&[1]).await.unwrap();
            drop(far);
            let end = near.read(&mut [0]).await.unwrap();
            network.repair_all();
            (end, near.write_all(&[2]).await.unwrap_err().kind() == ErrorKind::ConnectionReset)
        })
    });
    assert_eq!(seen, [(0, true)]);
}

#[test]
fn a_partition_that_ends_in_time_breaks_nothing() {
    let (_, seen) = all(0, || {
        let network = Network::with(NetworkSettings {
            write_timeout: SECOND * 10,
            faults: Vec::new(),
            ..NetworkSettings::default()
        });
        let (mut near, mut far) = pair(&network);
        network.host("client").block_on(async {
            network.partition("client", "server");
            near.write_all(&[1]).await.unwrap();
            sleep(SECOND * 9).await;
            network.repair_all();
            sleep(SECOND * 9).await;
            near.write_all(&[2]).await.unwrap();
            (far.read_u8().await.unwrap(), far.read_u8().await.unwrap())
        })
    });
    assert_eq!(seen, [(1, 2)]);
}

#[test]
fn a_connection_is_opened_when_the_partition_ends_or_never() {
    let (_, seen) = all(0, || {
        let network = only(&[]);
        let _listener = network.host("server").block_on(TcpListener::bind("0.0.0.0:7")).unwrap();
        network.host("client").block_on(async {
            network.partition_one_way("server", "client");
            let start = Instant::now();
            let error = TcpStream::connect("server:7").await.unwrap_err();
            let waited = start.elapsed().as_secs();
            network.repair("server", "client");
            (error.kind() == ErrorKind::TimedOut, waited, TcpStream::connect("server:7").await.is_ok())
        })
    });
    assert_eq!(seen, [(true, 127, true)]);
}

#[test]
fn a_partition_by_a_thread_comes_at_any_moment() {
    let (explored, seen) = reduced(0, || {
        let network = std::sync::Arc::new(only(&[]));
        network.host("server").run(echo);
        let client = network.host("client");
        let mut stream = client.block_on(connect("server:7"));
        let breaks = std::sync::Arc::clone(&network);
        let thread = record_parallel::thread::spawn(move || breaks.partition("client", "server"));
        let answer = client.block_on(async {
            stream.write_all(&[1]).await.unwrap();
            timeout(SECOND, stream.read_u8()).await.is_ok()
        });
        thread.join().unwrap();
        drop(stream);
        answer
    });
    assert_eq!(seen, [false, true]);
    assert!(explored.executions < 10_000, "{explored:?}");
}
