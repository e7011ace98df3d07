//! UDP: datagrams are lost, arrive twice, or overtake each other, each only if its fault is enabled.

use super::only;
use crate::noting::all;
use record_parallel::net::{Fault, Network};
use record_parallel::tokio::net::UdpSocket;
use record_parallel::tokio::time::{Duration, sleep, timeout};
use std::io::ErrorKind;

/// The datagrams that a host receives, of two that another host sends, until nothing arrives for a second.
fn received(network: &Network) -> Vec<u8> {
    let (sender, receiver) = (network.host("sender"), network.host("receiver"));
    let to = receiver.block_on(UdpSocket::bind("0.0.0.0:9")).unwrap();
    sender.block_on(async {
        let from = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        from.send_to(&[1], "receiver:9").await.unwrap();
        from.send_to(&[2], "receiver:9").await.unwrap();
    });
    drain(&receiver, &to)
}

fn drain(receiver: &record_parallel::net::Host, to: &UdpSocket) -> Vec<u8> {
    receiver.block_on(async {
        let mut seen = Vec::new();
        let mut buffer = [0; 4];
        while let Ok(Ok((1, _))) = timeout(Duration::from_secs(1), to.recv_from(&mut buffer)).await {
            seen.push(buffer[0]);
        }
        seen
    })
}

#[test]
fn each_fault_has_its_effect_and_no_other() {
    assert_eq!(all(1, || received(&only(&[]))).1, [[1, 2]]);
    assert_eq!(all(1, || received(&only(&[Fault::Part, Fault::Reset]))).1, [[1, 2]], "those are for streams");
    assert_eq!(all(0, || received(&Network::new())).1, [[1, 2]], "without surprises there are none");
    assert_eq!(all(1, || received(&only(&[Fault::Loss]))).1, [vec![1], vec![1, 2], vec![2]]);
    assert_eq!(all(1, || received(&only(&[Fault::Repeat]))).1, [vec![1, 1, 2], vec![1, 2], vec![1, 2, 2]]);
    assert_eq!(all(1, || received(&only(&[Fault::Late]))).1, [[1, 2], [2, 1]]);
    assert_eq!(all(2, || received(&only(&[Fault::Loss]))).1, [vec![], vec![1], vec![1, 2], vec![2]]);
}

#[test]
fn a_partition_loses_datagrams_and_a_hold_keeps_them() {
    fn through(break_it: fn(&Network), mend_it: fn(&Network)) -> Vec<u8> {
        let network = only(&[]);
        let (sender, receiver) = (network.host("sender"), network.host("receiver"));
        let to = receiver.block_on(UdpSocket::bind("0.0.0.0:9")).unwrap();
        let from = sender.block_on(UdpSocket::bind("0.0.0.0:0")).unwrap();
        let send = |byte: u8| sender.block_on(async { _ = from.send_to(&[byte], "receiver:9").await.unwrap() });
        send(1);
        break_it(&network);
        send(2);
        let before = drain(&receiver, &to);
        mend_it(&network);
        send(3);
        [before, drain(&receiver, &to)].join(&0)
    }
    let cut = all(0, || through(|n| n.partition("sender", "receiver"), |n| n.repair("receiver", "sender")));
    assert_eq!(cut.1, [[1, 0, 3]]);
    let one_way = all(0, || through(|n| n.partition_one_way("sender", "receiver"), Network::repair_all));
    assert_eq!(one_way.1, [[1, 0, 3]]);
    let other_way = all(0, || through(|n| n.partition_one_way("receiver", "sender"), Network::repair_all));
    assert_eq!(other_way.1, [[1, 2, 0, 3]]);
    let isolated = all(0, || through(|n| n.isolate("receiver"), Network::repair_all));
    assert_eq!(isolated.1, [[1, 0, 3]]);
    let held = all(0, || through(|n| n.hold("sender", "receiver"), |n| n.release("sender", "receiver")));
    assert_eq!(held.1, [[1, 0, 2, 3]]);
}

#[test]
fn what_is_late_when_a_partition_begins_is_lost() {
    let (_, seen) = all(1, || {
        let network = only(&[Fault::Late]);
        let (sender, receiver) = (network.host("sender"), network.host("receiver"));
        let to = receiver.block_on(UdpSocket::bind("0.0.0.0:9")).unwrap();
        sender.block_on(async {
            let from = UdpSocket::bind("0.0.0.0:0").await.unwrap();
            from.send_to(&[1], "receiver:9").await.unwrap();
        });
        receiver.block_on(async {
            let first = to.try_recv(&mut [0]).is_ok();
            network.partition("sender", "receiver");
            sleep(Duration::from_secs(1)).await;
            (first, to.try_recv(&mut [0]).is_ok())
        })
    });
    assert_eq!(seen, [(false, false), (true, false)]);
}

#[test]
fn a_socket_that_is_connected_hears_its_peer_only() {
    let (_, seen) = all(0, || {
        let network = only(&[]);
        network.host("host").block_on(async {
            let own = UdpSocket::bind("127.0.0.1:1").await.unwrap();
            let peer = UdpSocket::bind("127.0.0.1:2").await.unwrap();
            let other = UdpSocket::bind("127.0.0.1:3").await.unwrap();
            own.connect("127.0.0.1:2").await.unwrap();
            other.send_to(&[3], "127.0.0.1:1").await.unwrap();
            peer.send_to(&[2], "127.0.0.1:1").await.unwrap();
            own.send(&[9]).await.unwrap();
            let mut buffer = [0];
            own.recv(&mut buffer).await.unwrap();
            let mut back = [0];
            let (_, from) = peer.recv_from(&mut back).await.unwrap();
            (buffer[0], back[0], from.port(), own.try_recv(&mut [0]).unwrap_err().kind() == ErrorKind::WouldBlock)
        })
    });
    assert_eq!(seen, [(2, 9, 1, true)]);
}

#[test]
fn nobody_hears_of_a_datagram_that_goes_nowhere() {
    let (_, seen) = all(0, || {
        let network = only(&[]);
        network.host("host").block_on(async {
            let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
            let nowhere = socket.send_to(&[1], "10.0.0.1:1").await.unwrap();
            let closed = socket.send_to(&[1], "host:1").await.unwrap();
            let large = socket.send_to(&vec![0; 70_000], "host:1").await.unwrap_err().kind();
            (nowhere, closed, large == ErrorKind::InvalidInput)
        })
    });
    assert_eq!(seen, [(1, 1, true)]);
}

#[test]
fn a_late_datagram_that_a_partition_stops_is_lost() {
    let (_, seen) = all(1, || {
        let network = only(&[Fault::Late]);
        let (sender, receiver) = (network.host("sender"), network.host("receiver"));
        let to = receiver.block_on(UdpSocket::bind("0.0.0.0:9")).unwrap();
        sender.block_on(async {
            let from = UdpSocket::bind("0.0.0.0:0").await.unwrap();
            from.send_to(&[1], "receiver:9").await.unwrap();
        });
        network.partition("sender", "receiver");
        let before = drain(&receiver, &to);
        network.repair("sender", "receiver");
        (before, drain(&receiver, &to))
    });
    assert_eq!(seen, [(vec![], vec![]), (vec![1], vec![])], "late, in time");
}
