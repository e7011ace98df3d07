//! Identifies the caller of a proxy: a client of the run by its address, a server by the process that has the
//! connection.

use super::{CLIENTS, HUB};
use crate::world::machine::Machine;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// A caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Who {
    /// Its node; `None` if it is outside of the cluster.
    pub(super) node: Option<u32>,
    /// Whether it is a client of the run.
    pub(super) is_client: bool,
}

/// The nodes that may call.
pub(super) struct Callers {
    /// The third part of the run's addresses.
    pub(super) run: u8,
    /// The machines of the nodes.
    pub(super) machines: Vec<Arc<Machine>>,
}

impl Callers {
    /// The caller at the other end of a connection between these addresses.
    pub(super) fn who(&self, from: SocketAddr, to: SocketAddr) -> Who {
        if let IpAddr::V4(address) = from.ip()
            && let [127, CLIENTS, run, last] = address.octets()
            && run == self.run
        {
            let node = (last != HUB).then(|| u32::from(last).wrapping_sub(1));
            return Who { node, is_client: true };
        }
        let is_caller = holders(from, to);
        let node = (0..).zip(&self.machines).find(|(_, machine)| machine.processes().into_iter().any(&is_caller));
        Who { node: node.map(|(number, _)| number), is_client: false }
    }
}

/// Returns whether a process has the connection between these addresses.
#[cfg(target_os = "linux")]
fn holders(from: SocketAddr, to: SocketAddr) -> impl Fn(u32) -> bool {
    let inode = ["/proc/net/tcp", "/proc/net/tcp6"].iter().find_map(|path| {
        let text = std::fs::read_to_string(path).ok()?;
        text.lines().find_map(|line| inode(line, from, to))
    });
    let name = inode.map(|inode| format!("socket:[{inode}]"));
    move |process| {
        let Some(name) = &name else { return false };
        let Ok(files) = std::fs::read_dir(format!("/proc/{process}/fd")) else { return false };
        files.flatten().any(|file| std::fs::read_link(file.path()).is_ok_and(|link| link.as_os_str() == name.as_str()))
    }
}

/// The inode of this connection, if this line of the kernel's table describes it.
#[cfg(target_os = "linux")]
fn inode(line: &str, from: SocketAddr, to: SocketAddr) -> Option<u64> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let is = |field: &str, address: SocketAddr| {
        let IpAddr::V4(ip) = address.ip() else { return false };
        // An address of version 6 ends with the corresponding one of version 4.
        let written = format!("{:08X}:{:04X}", u32::from_ne_bytes(ip.octets()), address.port());
        field.ends_with(&written)
    };
    (is(fields.get(1)?, from) && is(fields.get(2)?, to)).then(|| fields.get(9)?.parse().ok())?
}

/// Returns whether a process has the connection between these addresses.
#[cfg(not(target_os = "linux"))]
fn holders(from: SocketAddr, _: SocketAddr) -> impl Fn(u32) -> bool {
    let filter = format!("TCP@{}:{}", from.ip(), from.port());
    let listed = std::process::Command::new("lsof").args(["-nP", "-t", "-i", &filter]).output();
    let text = listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let processes: Vec<u32> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
    move |process| processes.contains(&process)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_is_found_with_the_process_that_holds_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let stream = TcpStream::connect(to).unwrap();
        let from = stream.local_addr().unwrap();
        let holds = holders(from, to);
        assert!(holds(std::process::id()) && !holds(1));
        assert!(!holders(to, to)(std::process::id()));
    }

    #[test]
    fn lines_of_both_versions_are_read() {
        let (from, to) = ("127.77.0.1:4660".parse().unwrap(), "127.78.0.2:6379".parse().unwrap());
        let v4 = "  1: 01004D7F:1234 02004E7F:18EB 01 00000000:00000000 00:00000000 00000000  0 0 4711 1";
        let v6 =
            "  1: 0000000000000000FFFF000001004D7F:1234 0000000000000000FFFF000002004E7F:18EB 01 0:0 0:0 0 0 0 4712 1";
        assert_eq!((inode(v4, from, to), inode(v6, from, to)), (Some(4711), Some(4712)));
        assert_eq!((inode(v4, to, from), inode("sl local_address", from, to)), (None, None));
    }

    #[test]
    fn clients_are_known_by_their_address() {
        let callers = Callers { run: 3, machines: Vec::new() };
        let who = |from: &str| callers.who(from.parse().unwrap(), "127.78.3.1:1".parse().unwrap());
        assert_eq!(who("127.79.3.2:99"), Who { node: Some(1), is_client: true });
        assert_eq!(who("127.79.3.254:99"), Who { node: None, is_client: true });
        assert_eq!(who("127.79.4.2:99"), Who { node: None, is_client: false });
    }
}
