//! The host names of this server. Another site may resolve its own name to this server (DNS rebinding); the request
//! then contains that name.

use crate::config::Config;
use std::net::IpAddr;

/// Returns true if a `Host` header names this server. Ports are not compared, because a tunnel may change them.
pub(crate) fn is_ours(host: &str, config: &Config) -> bool {
    let Some(name) = name(host) else { return false };
    if config.hosts.iter().any(|own| own.eq_ignore_ascii_case(name)) || name.eq_ignore_ascii_case("localhost") {
        return true;
    }
    // An address is safe, because DNS cannot redirect it.
    let listen = config.listen.ip();
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.is_ok_and(|address| address.is_loopback() || address == listen || listen.is_unspecified())
}

/// The part before the port.
fn name(host: &str) -> Option<&str> {
    let (name, port) = match host.rfind(':') {
        // An address in brackets contains colons itself.
        Some(at) if !host.ends_with(']') => (&host[..at], &host[at + 1..]),
        _ => (host, ""),
    };
    let is_name = name.starts_with('[') == name.ends_with(']') && !name.is_empty();
    (is_name && port.bytes().all(|b| b.is_ascii_digit())).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(host: &str, listen: &str) -> bool {
        let config =
            Config { listen: listen.parse().unwrap(), hosts: vec!["ci.example".into()], ..Config::new("/".into()) };
        is_ours(host, &config)
    }

    #[test]
    fn only_names_of_this_server_are_accepted() {
        for host in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:8090",
            "127.3.2.1",
            "[::1]:8090",
            "[::1]",
            "ci.example:80",
            "CI.example",
        ] {
            assert!(is(host, "127.0.0.1:8090"), "{host}");
        }
        for host in [
            "",
            ":",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "localhost:a",
            "[::1",
            "::1]",
            "[::2]",
            "127.0.0.1:80@evil",
        ] {
            assert!(!is(host, "127.0.0.1:8090"), "{host}");
        }
        assert!(is("10.0.0.1:8090", "10.0.0.1:8090") && !is("10.0.0.2", "10.0.0.1:8090"));
        assert!(is("10.0.0.1", "0.0.0.0:1") && is("[fe80::1]", "[::]:1") && !is("evil.example", "0.0.0.0:1"));
    }
}
