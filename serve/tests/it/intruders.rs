//! Tests of unauthorized requests, and of clients that try to block others.

use crate::client::{Served, put, serve};
use histcheck_serve::{Config, Server, Token};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

const TOKEN: &str = "correct-horse-battery";

fn with_token() -> Served {
    serve(|config| config.token = Some(Token::new(TOKEN).unwrap()))
}

#[test]
fn other_addresses_need_a_token() {
    let mut config = Config::new(".".into());
    config.listen = "0.0.0.0:0".parse().unwrap();
    let error = Server::bind(config).unwrap_err();
    assert!(error.to_string().contains("needs a token"), "{error}");
}

#[test]
fn another_name_is_refused() {
    let served = serve(|config| config.hosts.push("ci.example".into()));
    served.runs();
    let status = |host: &str| served.request("GET /", &format!("Host: {host}\r\n"), "").status;
    assert_eq!([status("localhost"), status("127.0.0.1"), status("[::1]:9"), status("ci.example")], [200; 4]);
    // A name of another site that resolves to this machine.
    assert_eq!([status("evil.example"), status("127.0.0.1.evil.example"), status("10.0.0.1")], [403; 3]);
    assert_eq!(served.send(b"GET / HTTP/1.0\r\n\r\n").status, 403, "no name at all");
    assert_eq!(
        served.send(b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n").status,
        403
    );
}

#[test]
fn a_page_of_another_site_changes_nothing() {
    let served = with_token();
    let own = format!("Origin: http://{}\r\n", served.address);
    let post = |headers: &str| served.request("POST /login", headers, &format!("token={TOKEN}")).status;
    assert_eq!([post(""), post(&own)], [303; 2]);
    assert_eq!(
        [post("Origin: http://evil.example\r\n"), post("Origin: null\r\n"), post("Sec-Fetch-Site: cross-site\r\n")],
        [403; 3]
    );
}

#[test]
fn without_the_token_there_is_nothing_to_see() {
    let served = with_token();
    for address in ["/", "/runs/redis", "/files/redis/report.html", "/zip/redis.zip", "/page.js", "/none"] {
        let answer = served.get(address);
        assert_eq!(answer.status, 401, "{address}");
        assert!(answer.text().contains("requires a token") && !answer.text().contains("fine"), "{address}");
    }
    for address in ["/api/runs", "/api/runs/redis", "/api/openapi.json", "/events"] {
        let answer = served.get(address);
        assert_eq!((answer.status, answer.text().contains("etcd")), (401, false), "{address}");
    }
    let with = |headers: &str| served.request("GET /api/runs", headers, "").status;
    assert_eq!(with(&format!("Authorization: Bearer {TOKEN}\r\n")), 200);
    assert_eq!(with("Authorization: Bearer correct-horse-batterY\r\n"), 401);
    assert_eq!(served.get(&format!("/?token={TOKEN}")).status, 401, "an address is no place for it");
}

#[test]
fn the_form_gives_a_cookie_that_scripts_and_other_sites_do_not_get() {
    let served = with_token();
    let wrong = served.request("POST /login", "", "token=wrong&to=/runs/redis");
    assert_eq!((wrong.status, wrong.header("set-cookie")), (401, None));
    let right = served.request("POST /login", "", &format!("to=%2Fruns%2Fredis&token={TOKEN}"));
    assert_eq!((right.status, right.header("location")), (303, Some("/runs/redis")));
    let cookie = right.header("set-cookie").unwrap();
    assert!(cookie.contains("; HttpOnly") && cookie.contains("; SameSite=Strict"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(served.request("GET /", &format!("Cookie: a=b; {pair}\r\n"), "").status, 200);
    assert_eq!(served.request("GET /", &format!("Cookie: {pair}0\r\n"), "").status, 401);
    let elsewhere = served.request("POST /login", "", &format!("to=//evil.example&token={TOKEN}"));
    assert_eq!(elsewhere.header("location"), Some("/"));
}

#[test]
fn guessing_ends() {
    let served = with_token();
    let status = |token: &str| served.request("GET /", &format!("Authorization: Bearer {token}\r\n"), "").status;
    let all: Vec<u16> = (0..30).map(|_| status("wrong")).collect();
    assert_eq!((all[0], all[29], status(TOKEN)), (401, 429, 429));
}

#[test]
fn no_address_leads_out_of_the_directory() {
    let served = serve(|_| {});
    served.runs();
    let outside = tempfile::tempdir().unwrap();
    put(outside.path(), "secret", "secret");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outside.path(), served.directory.path().join("redis/link")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret"), served.directory.path().join("redis/secret"))
            .unwrap();
    }
    for path in [
        "../../../../../../etc/passwd",
        "..%2f..%2f..%2fetc%2fpasswd",
        "%2e%2e/%2e%2e/etc/passwd",
        "/etc/passwd",
        "redis//report.html",
        "redis/link/secret",
        "redis/secret",
        ".hidden.edn",
        "redis/.hidden",
        "redis/./report.html",
        "redis/%00",
        "redis/n/../report.html",
        ".histcheck-serve/index.jsonl",
        "redis",
        "",
        ".",
        "..",
    ] {
        for prefix in ["/files/", "/zip/", "/runs/", "/api/runs/"] {
            if path == "redis" && prefix != "/files/" {
                continue;
            }
            let answer = served.get(&format!("{prefix}{path}"));
            assert_eq!(answer.status, 404, "{prefix}{path}");
            assert!(!answer.text().contains("root:") && !answer.text().contains("hidden\n"), "{prefix}{path}");
        }
    }
    assert_eq!(served.get("/files/redis/report.html").status, 200);
    let zip = String::from_utf8_lossy(&served.get("/zip/redis.zip").body).into_owned();
    assert!(zip.contains("redis/n/cycle.svg") && !zip.contains("hidden") && !zip.contains("secret"));
}

#[test]
fn pages_run_no_script_but_ours() {
    let served = serve(|_| {});
    served.runs();
    // With `no-referrer`, browsers send `Origin: null` with the forms of these pages, which is rejected.
    assert_eq!(served.get("/").header("referrer-policy"), Some("same-origin"));
    let policy = |address: &str| served.get(address).header("content-security-policy").unwrap().to_owned();
    for address in ["/", "/runs/redis", "/api/runs", "/nothing"] {
        let policy = policy(address);
        assert!(policy.starts_with("default-src 'none'") && policy.contains("script-src 'self'"), "{policy}");
        assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "{policy}");
    }
    // Files of a run have no origin, and cannot access the server.
    for address in
        ["/files/redis/report.html", "/files/redis/n/cycle.svg", "/files/etcd/20260107T093012.123Z/results.edn"]
    {
        let policy = policy(address);
        assert!(policy.starts_with("sandbox; default-src 'none'") && !policy.contains("script-src"), "{policy}");
    }
    let timeline = policy("/files/redis/timelines/a.html");
    assert!(
        timeline.starts_with("sandbox allow-scripts; default-src 'none'") && !timeline.contains("same-origin"),
        "{timeline}"
    );
    for address in ["/", "/runs/redis"] {
        let page = served.get(address).text();
        assert!(!page.contains("<script>") && !page.contains(" onclick") && !page.contains("style=\""), "{page}");
    }
}

#[test]
fn names_of_runs_are_only_text() {
    let served = serve(|_| {});
    served.runs();
    for address in ["/", "/runs/%3Cb%3E&%22'%E2%80%AE.jsonl", "/?name=%3Cscript%3E%22"] {
        let page = served.get(address);
        assert_eq!(page.status, 200, "{address}");
        let page = page.text();
        assert!(!page.contains("<b>") && !page.contains('\u{202e}') && !page.contains("<script>"), "{page}");
    }
    assert!(served.get("/").text().contains("&lt;b&gt;&amp;&quot;'\\u{202e}.jsonl"));
    assert!(!served.get("/api/runs").text().contains('\u{202e}'));
}

#[test]
fn what_is_too_long_is_refused() {
    let served = with_token();
    let long = "x".repeat(100_000);
    assert!([400, 414, 431].contains(&served.get(&format!("/{long}")).status));
    let many = "X-Many: 1\r\n".repeat(200);
    assert!([400, 431].contains(&served.request("GET /", &many, "").status));
    assert_eq!(served.request("POST /login", "", &format!("token={}", &long[..20_000])).status, 400);
    assert_eq!(served.get(&format!("/?{}", "a=1&".repeat(101))).status, 400);
}

#[test]
fn hundreds_of_silent_clients_keep_nobody_out() {
    let served = serve(|_| {});
    served.runs();
    let connect = || TcpStream::connect(served.address).ok();
    // Both ends are in this process, which may open a thousand files. Half of the connections have begun a request.
    let mut silent: Vec<TcpStream> = (0..300).map_while(|_| connect()).collect();
    for stream in silent.iter_mut().step_by(2) {
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: local");
    }
    assert_eq!(silent.len(), 300);
    for _ in 0..20 {
        assert_eq!(served.get("/").status, 200);
    }
}

#[test]
fn who_follows_hears_of_changes() {
    let served = serve(|_| {});
    let before = served.runs()["total"].as_u64().unwrap();
    let mut stream = TcpStream::connect(served.address).unwrap();
    write!(stream, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut heard = String::new();
    let mut until = |part: &str| {
        let mut bytes = [0; 1024];
        while !heard.contains(part) {
            let read = stream.read(&mut bytes).unwrap();
            assert!(read > 0, "{heard}");
            heard += &String::from_utf8_lossy(&bytes[..read]);
        }
        heard.clear();
    };
    until("event: runs");
    put(served.directory.path(), "new.edn", "{:index 0}\n");
    // The first search may have sent an event, too.
    while served.runs()["total"] != before + 1 {
        until("event: runs");
    }
}
