//! Addresses: hosts by name or number, as `tokio::net::ToSocketAddrs`.

use super::host::{self, Node};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::sync::Arc;

/// The equivalent of `tokio::net::ToSocketAddrs`: names are those of the network's hosts, and `localhost`.
pub trait ToSocketAddrs: sealed::Resolve {}

impl<T: sealed::Resolve + ?Sized> ToSocketAddrs for T {}

pub(super) mod sealed {
    use super::{Arc, Node, SocketAddr, io};

    /// Types that can be converted to addresses.
    pub trait Resolve {
        #[doc(hidden)]
        fn resolve(&self, from: &From<'_>) -> io::Result<Vec<SocketAddr>>;
    }

    /// The host that looks up a name.
    #[expect(missing_debug_implementations, reason = "the type is private to the crate")]
    pub struct From<'a>(pub(in super::super) &'a Arc<Node>);
}

use sealed::{From, Resolve};

/// The addresses of a target, as seen from a host.
pub(super) fn resolve(from: &Arc<Node>, addresses: &(impl ToSocketAddrs + ?Sized)) -> io::Result<Vec<SocketAddr>> {
    addresses.resolve(&From(from))
}

/// The address of a host by its name, as `tokio::net::lookup_host`.
///
/// # Errors
///
/// If there is no such host.
pub async fn lookup_host<T: ToSocketAddrs>(host: T) -> io::Result<impl Iterator<Item = SocketAddr>> {
    Ok(resolve(&host::current(), &host)?.into_iter())
}

/// The address of a host.
fn find(from: &Arc<Node>, name: &str) -> io::Result<IpAddr> {
    if let Ok(ip) = name.parse() {
        return Ok(ip);
    }
    if let Some(host) = from.world().find(name) {
        return Ok(host.ip());
    }
    if name == "localhost" {
        return Ok(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    let text = format!("failed to lookup address information: the network has no host {name:?}");
    Err(io::Error::other(text))
}

impl Resolve for SocketAddr {
    fn resolve(&self, _: &From<'_>) -> io::Result<Vec<SocketAddr>> {
        Ok(vec![*self])
    }
}

impl Resolve for SocketAddrV4 {
    fn resolve(&self, _: &From<'_>) -> io::Result<Vec<SocketAddr>> {
        Ok(vec![(*self).into()])
    }
}

impl Resolve for SocketAddrV6 {
    fn resolve(&self, _: &From<'_>) -> io::Result<Vec<SocketAddr>> {
        Ok(vec![(*self).into()])
    }
}

impl Resolve for (IpAddr, u16) {
    fn resolve(&self, _: &From<'_>) -> io::Result<Vec<SocketAddr>> {
        Ok(vec![(*self).into()])
    }
}

impl Resolve for (Ipv4Addr, u16) {
    fn resolve(&self, _: &From<'_>) -> io::Result<Vec<SocketAddr>> {
        Ok(vec![(*self).into()])
    }
}

impl Resolve for (Ipv6Addr, u16) {
    fn resolve(&self, _: &From<'_>) -> io::Result<Vec<SocketAddr>> {
        Ok(vec![(*self).into()])
    }
}

impl Resolve for [SocketAddr] {
    fn resolve(&self, _: &From<'_>) -> io::Result<Vec<SocketAddr>> {
        Ok(self.to_vec())
    }
}

impl Resolve for (&str, u16) {
    fn resolve(&self, from: &From<'_>) -> io::Result<Vec<SocketAddr>> {
        Ok(vec![SocketAddr::new(find(from.0, self.0)?, self.1)])
    }
}

impl Resolve for (String, u16) {
    fn resolve(&self, from: &From<'_>) -> io::Result<Vec<SocketAddr>> {
        (self.0.as_str(), self.1).resolve(from)
    }
}

impl Resolve for str {
    fn resolve(&self, from: &From<'_>) -> io::Result<Vec<SocketAddr>> {
        if let Ok(address) = self.parse() {
            return Ok(vec![address]);
        }
        let invalid =
            |what: &str| io::Error::new(io::ErrorKind::InvalidInput, format!("invalid {what}: expected HOST:PORT"));
        let (name, port) = self.rsplit_once(':').ok_or_else(|| invalid("socket address"))?;
        let port: u16 = port.parse().map_err(|_| invalid("port value"))?;
        (name, port).resolve(from)
    }
}

impl Resolve for String {
    fn resolve(&self, from: &From<'_>) -> io::Result<Vec<SocketAddr>> {
        self.as_str().resolve(from)
    }
}

impl<T: Resolve + ?Sized> Resolve for &T {
    fn resolve(&self, from: &From<'_>) -> io::Result<Vec<SocketAddr>> {
        (**self).resolve(from)
    }
}
