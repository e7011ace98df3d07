//! TCP without faults: the order of bytes, ends of data, ports, and addresses.

use super::{connect, echo, only, sampled};
use crate::noting::{all, reduced, settings};
use record_parallel::net::{Fault, Network, NetworkSettings};
use record_parallel::scheduler::Reduced;
use record_parallel::tokio::io::{AsyncReadExt, AsyncWriteExt, split};
use record_parallel::tokio::net::{TcpListener, TcpStream};
use record_parallel::tokio::runtime::block_on;
use record_parallel::tokio::time::{Duration, Instant};
use record_parallel::tokio::{join, spawn};
use record_parallel::{Cause, explore};
use std::io::ErrorKind;

/// A connection between two sockets on one host.
async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (near, far) = join!(TcpStream::connect(address), listener.accept());
    (near.unwrap(), far.unwrap().0)
}

#[test]
fn bytes_come_in_order_and_then_the_end() {
    let (_, seen) = all(0, || {
        block_on(async {
            let (mut near, mut far) = pair().await;
            let writer = spawn(async move {
                near.write_all(b"ab").await.unwrap();
                near.write_all(b"c").await.unwrap();
            });
            let mut text = String::new();
            far.read_to_string(&mut text).await.unwrap();
            writer.await.unwrap();
            text
        })
    });
    assert_eq!(seen, ["abc"]);
}

#[test]
fn a_read_returns_what_is_there_or_one_byte() {
    fn sizes() -> Vec<usize> {
        block_on(async {
            let (mut near, mut far) = pair().await;
            near.write_all(b"abc").await.unwrap();
            drop(near);
            let (mut buffer, mut sizes) = ([0; 8], Vec::new());
            while let count @ 1.. = far.read(&mut buffer).await.unwrap() {
                sizes.push(count);
            }
            sizes
        })
    }
    assert_eq!(all(0, sizes).1, [[3]]);
    let seen = reduced(1, sizes).1;
    assert_eq!(seen, [vec![1, 2], vec![3]], "a part is written or read, and each thread does so once");
}

#[test]
fn only_what_was_asked_for_happens() {
    fn sizes(faults: &[Fault]) -> Vec<usize> {
        let network = only(faults);
        let host = network.host("host");
        host.block_on(async {
            let (mut near, mut far) = pair().await;
            near.write_all(b"abc").await.unwrap();
            drop(near);
            let (mut buffer, mut sizes) = ([0; 8], Vec::new());
            while let count @ 1.. = far.read(&mut buffer).await.unwrap() {
                sizes.push(count);
            }
            sizes
        })
    }
    assert_eq!(all(1, || sizes(&[Fault::Loss, Fault::Repeat, Fault::Late])).1, [[3]], "streams lose nothing");
    assert_eq!(all(1, || sizes(&[Fault::Part])).1, [vec![1, 2], vec![3]]);
}

#[test]
fn a_buffer_that_is_full_makes_the_writer_wait() {
    let (_, seen) = all(0, || {
        let settings = NetworkSettings { buffer_bytes: 2, faults: Vec::new(), ..NetworkSettings::default() };
        let network = Network::with(settings);
        network.host("host").block_on(async {
            let (mut near, mut far) = pair().await;
            assert_eq!(near.write(b"abc").await.unwrap(), 2);
            assert_eq!(near.try_write(b"c").unwrap_err().kind(), ErrorKind::WouldBlock);
            let writer = spawn(async move { near.write_all(b"cde").await.unwrap() });
            let mut text = String::new();
            far.read_to_string(&mut text).await.unwrap();
            writer.await.unwrap();
            text
        })
    });
    assert_eq!(seen, ["abcde"]);
}

#[test]
fn a_reader_that_nobody_writes_to_is_a_deadlock_that_says_where() {
    let failure = explore(&settings(0), Reduced::new(), || {
        block_on(async {
            let (_near, mut far) = pair().await;
            _ = far.read_u8().await;
        });
    })
    .unwrap_err();
    let Cause::Deadlock(waiting) = &failure.cause else { panic!("{failure}") };
    assert_eq!(waiting[0].object.map(|(what, _)| what), Some("connection"), "{failure}");
}

#[test]
fn ports_are_used_once_and_closed_when_dropped() {
    let (_, seen) = all(0, || {
        block_on(async {
            let first = TcpListener::bind("127.0.0.1:80").await.unwrap();
            let second = TcpListener::bind("127.0.0.1:80").await.unwrap_err().kind();
            let elsewhere = TcpListener::bind("10.0.0.1:80").await.unwrap_err().kind();
            drop(first);
            let refused = TcpStream::connect("127.0.0.1:80").await.unwrap_err().kind();
            let nowhere = TcpStream::connect("10.0.0.1:80").await.unwrap_err().kind();
            let unknown = TcpStream::connect("nobody:80").await.unwrap_err().to_string();
            let kinds = [second, elsewhere, refused, nowhere].map(|kind| format!("{kind:?}"));
            (kinds, unknown.contains("no host \"nobody\""))
        })
    });
    let kinds = ["AddrInUse", "AddrNotAvailable", "ConnectionRefused", "HostUnreachable"].map(str::to_owned);
    assert_eq!(seen, [(kinds, true)]);
}

#[test]
fn loopback_is_not_reached_from_elsewhere() {
    let (_, seen) = all(0, || {
        let network = only(&[]);
        let server = network.host("server");
        let _listener = server.block_on(TcpListener::bind("127.0.0.1:80")).unwrap();
        let own = server.block_on(TcpStream::connect("localhost:80")).is_ok();
        let other = network.host("client").block_on(TcpStream::connect("server:80"));
        (own, other.is_ok())
    });
    assert_eq!(seen, [(true, false)]);
}

#[test]
fn each_side_has_the_others_address() {
    let (_, seen) = all(0, || {
        let network = only(&[]);
        let (server, client) = (network.host("server"), network.host("client"));
        let listener = server.block_on(TcpListener::bind("0.0.0.0:80")).unwrap();
        let near = client.block_on(TcpStream::connect("server:80")).unwrap();
        let (far, peer) = server.block_on(listener.accept()).unwrap();
        assert_eq!(near.local_addr().unwrap(), peer);
        assert_eq!(far.peer_addr().unwrap(), peer);
        assert_eq!(near.peer_addr().unwrap(), (server.ip(), 80).into());
        peer.ip() == client.ip()
    });
    assert_eq!(seen, [true]);
}

#[test]
fn halves_work_by_themselves_and_end_when_dropped() {
    for is_split in [false, true] {
        let program = move || {
            block_on(async {
                let (near, mut far) = pair().await;
                let answer = async move {
                    let mut text = String::new();
                    far.read_to_string(&mut text).await.unwrap();
                    far.write_all(text.to_uppercase().as_bytes()).await.unwrap();
                };
                let mut text = String::new();
                if is_split {
                    let (mut reader, mut writer) = split(near);
                    let ask = async move {
                        writer.write_all(b"ab").await.unwrap();
                        writer.shutdown().await.unwrap();
                    };
                    join!(ask, answer, async { reader.read_to_string(&mut text).await.unwrap() });
                } else {
                    let (mut reader, mut writer) = near.into_split();
                    let ask = async move { writer.write_all(b"ab").await.unwrap() };
                    join!(ask, answer, async { reader.read_to_string(&mut text).await.unwrap() });
                }
                assert_eq!(text, "AB");
            });
        };
        assert!(explore(&settings(0), Reduced::new(), program).unwrap().is_complete);
    }
}

#[test]
fn who_tries_again_and_again_sees_what_is_late() {
    let (_, seen) = all(1, || {
        let network = only(&[Fault::Late]);
        network.host("host").block_on(async {
            let (mut near, far) = pair().await;
            near.write_all(b"a").await.unwrap();
            let mut tries = 0;
            while let Err(error) = far.try_read(&mut [0]) {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                tries += 1;
            }
            tries
        })
    });
    assert_eq!(seen, [0, 1]);
}

#[test]
fn latency_passes_on_the_clock() {
    let (_, seen) = all(0, || {
        let latency = Duration::from_millis(10);
        let network = Network::with(NetworkSettings { latency, faults: Vec::new(), ..NetworkSettings::default() });
        network.host("server").run(echo);
        network.host("client").block_on(async {
            let mut stream = connect("server:7").await;
            let start = Instant::now();
            stream.write_all(b"a").await.unwrap();
            stream.read_u8().await.unwrap();
            start.elapsed().as_millis()
        })
    });
    assert_eq!(seen, [20]);
}

#[test]
fn a_client_that_expects_whole_messages_is_found_out() {
    let seen = sampled(1, || {
        let network = Network::new();
        network.host("server").run(echo);
        network.host("client").block_on(async {
            let mut stream = connect("server:7").await;
            stream.write_all(b"ab").await.unwrap();
            let mut buffer = [0; 8];
            stream.read(&mut buffer).await.unwrap()
        })
    });
    assert_eq!(seen, [1, 2]);
}

#[test]
fn outside_of_executions_streams_connect_within_the_process() {
    block_on(async {
        let (mut near, mut far) = pair().await;
        let task = spawn(async move { far.write_u8(7).await.unwrap() });
        assert_eq!(near.read_u8().await.unwrap(), 7);
        task.await.unwrap();
    });
}
