//! Simulated networks: what gets through, what does not, and that each fault has its effect and no other.

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

/// A network on which only these faults happen.
fn only(faults: &[Fault]) -> Network {
    Network::with(NetworkSettings { faults: faults.to_vec(), ..NetworkSettings::default() })
}

/// What a program returns under many random schedules.
fn sampled<T: Ord + Send + 'static>(surprises_max: u32, program: fn() -> T) -> Vec<T> {
    under(&Settings { surprises_max, ..Settings::default() }, Random::new(0, 2000), program).1
}

/// A server that answers each connection's bytes with the same ones.
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

/// Connects when the server is up.
async fn connect(address: &str) -> TcpStream {
    loop {
        match TcpStream::connect(address).await {
            Ok(stream) => return stream,
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused, "{error}"),
        }
        record_parallel::tokio::task::yield_now().await;
    }
}
