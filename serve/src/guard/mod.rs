//! Access control: only requests to an address of this server ([`host`]), from its own pages, and with the [`token`] if
//! there is one.

pub(crate) mod host;
pub(crate) mod login;
mod refused;
pub(crate) mod token;

use crate::config::Config;
use crate::guard::token::Attempts;
use hyper::Method;
use hyper::header::{self, HeaderMap};
pub(crate) use refused::Refused;
use std::net::IpAddr;

/// The name of the cookie that stores the token.
pub(crate) const COOKIE: &str = "histcheck-token";

/// Verifies that a request names this server, and comes from one of its pages.
///
/// # Errors
///
/// The reason to reject the request.
pub(crate) fn check_origin(config: &Config, method: &Method, headers: &HeaderMap) -> Result<(), Refused> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(Ok(name)), None) = (hosts.next().map(|host| host.to_str()), hosts.next()) else {
        return Err(Refused::Foreign("the request has no valid Host header"));
    };
    if !host::is_ours(name, config) {
        return Err(Refused::Foreign(
            "the Host header is not an address of this server; to serve under another name, start it with --host NAME",
        ));
    }
    if method == Method::GET || method == Method::HEAD {
        return Ok(());
    }
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let is_same = |origin: &str| {
        origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")).is_some_and(|origin| origin == name)
    };
    // Other programs send neither header; browsers send at least one of them.
    if text("origin").is_some_and(|origin| !is_same(origin))
        || text("sec-fetch-site").is_some_and(|site| !["same-origin", "none"].contains(&site))
    {
        return Err(Refused::Foreign("the request comes from a page of another site"));
    }
    Ok(())
}

/// Verifies that a request from an address contains the token, if one is required.
///
/// # Errors
///
/// The reason to reject the request.
pub(crate) fn check_token(
    config: &Config,
    attempts: &Attempts,
    from: IpAddr,
    headers: &HeaderMap,
) -> Result<(), Refused> {
    let Some(token) = &config.token else { return Ok(()) };
    let text = |name| headers.get_all(name).iter().filter_map(|value: &header::HeaderValue| value.to_str().ok());
    let given = text(header::AUTHORIZATION).find_map(bearer);
    if let Some(given) = given {
        return attempts.check(from, token, given);
    }
    let pairs = text(header::COOKIE).flat_map(|cookies| cookies.split(';'));
    let cookie = pairs.filter_map(|pair| pair.trim().split_once('=')).find(|(name, _)| *name == COOKIE);
    match cookie {
        Some((_, value)) => attempts.check_cookie(from, token, value),
        None => Err(Refused::NoToken),
    }
}

/// The token in an `Authorization` header. The scheme is not case-sensitive (RFC 9110, section 11.1).
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_start_matches(' '))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::token::Token;
    use std::net::SocketAddr;

    fn config(listen: &str) -> Config {
        Config { listen: listen.parse::<SocketAddr>().unwrap(), ..Config::new("/".into()) }
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_pages_of_this_server_may_change_something() {
        let config = config("127.0.0.1:8090");
        let check = |method: Method, pairs: &[(&'static str, &str)]| check_origin(&config, &method, &headers(pairs));
        let host = ("host", "127.0.0.1:8090");
        assert_eq!(check(Method::GET, &[host]), Ok(()));
        assert_eq!(check(Method::POST, &[host]), Ok(()), "curl");
        assert_eq!(check(Method::POST, &[host, ("origin", "http://127.0.0.1:8090")]), Ok(()));
        assert_eq!(check(Method::POST, &[("host", "localhost:9"), ("origin", "http://localhost:9")]), Ok(()));
        let foreign = |pairs: &[(&'static str, &str)]| {
            for method in [Method::POST, Method::DELETE, Method::PUT] {
                assert!(matches!(check(method, pairs), Err(Refused::Foreign(_))), "{pairs:?}");
            }
        };
        foreign(&[host, ("origin", "http://evil.example")]);
        foreign(&[host, ("origin", "null")]);
        foreign(&[host, ("origin", "http://127.0.0.1:8091")]);
        foreign(&[host, ("origin", "http://127.0.0.1:8090.evil.example")]);
        foreign(&[host, ("sec-fetch-site", "cross-site")]);
        foreign(&[host, ("sec-fetch-site", "same-site")]);
        // DNS rebinding: the request contains the other site's name.
        foreign(&[("host", "evil.example:8090"), ("origin", "http://evil.example:8090")]);
        assert!(check(Method::GET, &[("host", "evil.example:8090")]).is_err());
        assert!(check(Method::GET, &[]).is_err());
        let mut two = headers(&[host]);
        two.append("host", "evil.example".parse().unwrap());
        assert!(check_origin(&config, &Method::GET, &two).is_err());
    }

    #[test]
    fn requests_without_the_token_are_rejected() {
        let token = "0123456789abcdef";
        let config = Config { token: Some(Token::new(token).unwrap()), ..config("0.0.0.0:8090") };
        let check = |pairs: &[(&'static str, &str)]| {
            check_token(&config, &Attempts::default(), [127, 0, 0, 1].into(), &headers(pairs))
        };
        for right in ["Bearer 0123456789abcdef", "bearer 0123456789abcdef", "BEARER  0123456789abcdef"] {
            assert_eq!(check(&[("authorization", right)]), Ok(()), "{right}");
        }
        let cookie = config.token.as_ref().unwrap().cookie();
        assert_eq!(check(&[("cookie", &format!("a=b; {COOKIE}={cookie}"))]), Ok(()));
        assert_eq!(check(&[]), Err(Refused::NoToken));
        for wrong in [
            "Bearer ",
            "Bearer 0123456789abcdeg",
            "Bearer 0123456789abcde",
            "Basic 0123456789abcdef",
            "0123456789abcdef",
        ] {
            assert_eq!(check(&[("authorization", wrong)]), Err(Refused::NoToken), "{wrong}");
        }
        assert_eq!(
            check(&[("cookie", &format!("{COOKIE}={token}"))]),
            Err(Refused::NoToken),
            "the cookie contains the encoded token"
        );
    }
}
