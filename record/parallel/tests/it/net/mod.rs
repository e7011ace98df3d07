//! Simulated networks: which messages arrive, and that each fault has its effect and no other.

mod crash;
mod datagrams;
mod partition;
mod store;
mod streams;

use crate::noting::under;
use record_parallel::Settings;
use record_parallel::net::{Fault, Network, NetworkSettings};
use record_parallel::scheduler::Random;
use record_parallel::tokio::io::{AsyncReadExt, AsyncWriteExt};
use record_parallel::tokio::net::{TcpListener, TcpStream};

/// A network with only these faults.
fn only(faults: &[Fault]) -> Network {
    Network::with(NetworkSettings { faults: faults.to_vec(), ..NetworkSettings::default() })
}

/// The values that a program returns under many random schedules.
fn sampled<T: Ord + Send + 'static>(surprises_max: u32, program: fn() -> T) -> Vec<T> {
    under(&Settings { surprises_max, ..Settings::default() }, Random::new(0, 2000), program).1
}

/// A server that sends the received bytes back on each connection.
async fn echo() {
    let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
    while let Ok((mut stream, _)) = listener.accept().await {
        let mut buffer = [0; 8];
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            if stream.write_all(&buffer[..count]).await.is_err() {
                break;
            }
        }
    }
}

/// Connects, and retries until the server is up.
async fn connect(address: &str) -> TcpStream {
    loop {
        match TcpStream::connect(address).await {
            Ok(stream) => return stream,
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused, "{error}"),
        }
        record_parallel::tokio::task::yield_now().await;
    }
}
