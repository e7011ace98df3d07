//! Histories in object storage, on a small server that implements the necessary parts of S3's protocol.

use super::{histcheck, stderr, stdout};
use snapbox::cmd::Command;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A history that requires several requests.
fn long(dir: &Path) -> Vec<u8> {
    let path = dir.join("long.jsonl");
    let made =
        format!("gen cas-register --keyed --keys 20 --ops 30000 --bug stale-read --seed 3 -o {}", path.display());
    histcheck(&made).assert().success();
    std::fs::read(path).unwrap()
}

const SHORT: &str = r#"{"process": 0, "type": "invoke", "f": "write", "value": ["x", 1]}
{"process": 0, "type": "ok", "f": "write", "value": ["x", 1]}
{"process": 0, "type": "invoke", "f": "read", "value": ["x", null]}
{"process": 0, "type": "ok", "f": "read", "value": ["x", 1]}
"#;

#[test]
fn an_object_is_read_in_parts_and_judged_as_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let text = long(dir.path());
    let bucket = Bucket::default().with("dir/long.jsonl", &text);
    let many = bucket.judge("--output json s3://runs/dir/long.jsonl").assert().code(1);
    let file = dir.path().join("long.jsonl");
    let one = histcheck(&format!("-m cas-register --keyed --output json {}", file.display())).assert().code(1);
    assert_eq!(stdout(&many).replace("s3://runs/dir/long.jsonl", ""), stdout(&one).replace(file.to_str().unwrap(), ""));
    let asked = bucket.asked();
    let part = |begins: usize| {
        let last = text.len().min(begins + (2 << 20)) - 1;
        format!("GET /runs/dir/long.jsonl {begins}-{last}")
    };
    assert!(text.len() > 2 << 20 && asked.contains(&part(0)) && asked.contains(&part(2 << 20)), "{asked:?}");
}

#[test]
fn patterns_and_directories_stand_for_objects() {
    let bucket = Bucket::default().with("a/1.jsonl", SHORT.as_bytes()).with("a/2.jsonl", SHORT.as_bytes());
    let bucket =
        bucket.with("a/b/3.jsonl", SHORT.as_bytes()).with("a/notes.txt", b"").with("c/4.jsonl", SHORT.as_bytes());
    let names = |said: &str| said.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>();
    let of = |address: &str| names(&stdout(&bucket.judge(address).assert().success()));
    assert_eq!(of("s3://runs/a/*.jsonl"), ["s3://runs/a/1.jsonl", "s3://runs/a/2.jsonl"]);
    assert_eq!(of("s3://runs/a/"), ["s3://runs/a/1.jsonl", "s3://runs/a/2.jsonl", "s3://runs/a/b/3.jsonl"]);
    let said = bucket.judge("s3://runs/d*").assert().code(254);
    assert!(stderr(&said).contains("no object matches s3://runs/d*"), "{}", stderr(&said));
    let said = bucket.judge("s3://runs/d/").assert().code(254);
    assert!(stderr(&said).contains("no object below it is named"), "{}", stderr(&said));
}

#[test]
fn the_root_of_a_bucket_is_a_directory() {
    let bucket = Bucket::default().with("1.jsonl", SHORT.as_bytes()).with("a[2].jsonl", SHORT.as_bytes());
    let of = |address: &str| stdout(&bucket.judge(address).assert().success());
    assert_eq!(of("s3://runs/*.jsonl"), "s3://runs/1.jsonl\ttrue\ns3://runs/a[2].jsonl\ttrue\n");
    assert_eq!(of("s3://runs/?.jsonl"), "s3://runs/1.jsonl\ttrue\n");
    assert_eq!(of("s3://runs/"), of("s3://runs/*.jsonl"));
    assert_eq!(of("s3://runs/a[2].jsonl"), "s3://runs/a[2].jsonl\ttrue\n", "there is such a key");
}

/// Each of these keys would be another object, or none.
#[test]
fn keys_that_cannot_be_asked_for_are_refused() {
    let bucket = Bucket::default().with("a.jsonl", SHORT.as_bytes());
    for (address, why) in [
        ("s3://runs", "expected the address of an object"),
        ("s3://runs//a.jsonl", "not supported"),
        ("s3://runs/b//a.jsonl", "not supported"),
        ("s3://runs/b/../a.jsonl", "not supported"),
    ] {
        let said = bucket.judge(address).assert().code(255);
        assert!(stderr(&said).contains(why) && !stderr(&said).contains("credentials"), "{}", stderr(&said));
    }
}

#[test]
fn a_request_that_failed_is_made_again() {
    let bucket = Bucket::default().with("a.jsonl", SHORT.as_bytes());
    *bucket.failures.lock().unwrap() = 2;
    bucket.judge("s3://runs/a.jsonl").assert().success().stdout_eq("s3://runs/a.jsonl\ttrue\n");
}

/// There is no verdict on a mixture of two histories.
#[test]
fn an_object_that_is_replaced_meanwhile_has_no_verdict() {
    let dir = tempfile::tempdir().unwrap();
    let bucket = Bucket { replaces_after: Some(2), ..Bucket::default() }.with("long.jsonl", &long(dir.path()));
    let said = bucket.judge("s3://runs/long.jsonl").assert().code(255);
    assert!(stderr(&said).contains("changed while it was read"), "{}", stderr(&said));
    assert_eq!(stdout(&said), "");
}

#[test]
fn other_commands_say_which_one_reads_objects() {
    let said = histcheck("-m cas-register --keyed s3://runs/a.jsonl").assert().code(255);
    assert!(stderr(&said).contains("only histcheck scale reads objects in stores"), "{}", stderr(&said));
}

#[test]
fn what_is_not_there_is_an_error_and_the_others_are_judged() {
    let bucket = Bucket::default().with("a.jsonl", SHORT.as_bytes());
    let said = bucket.judge("s3://runs/none.jsonl s3://runs/a.jsonl").assert().code(255);
    assert_eq!(stdout(&said), "s3://runs/a.jsonl\ttrue\n");
    assert!(stderr(&said).contains("opening failed: there is no such object"), "{}", stderr(&said));
}

/// An entity tag and the content.
type Object = (u32, Vec<u8>);

/// A bucket on a server, and the requests to it.
#[derive(Clone, Default)]
struct Bucket {
    objects: Arc<Mutex<BTreeMap<String, Object>>>,
    asked: Arc<Mutex<Vec<String>>>,
    /// The number of requests that the server fails before it answers.
    failures: Arc<Mutex<u32>>,
    /// Replaces an object after this number of requests for a part of it.
    replaces_after: Option<usize>,
}

impl Bucket {
    fn with(self, key: &str, bytes: &[u8]) -> Bucket {
        self.objects.lock().unwrap().insert(key.to_owned(), (1, bytes.to_vec()));
        self
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// `histcheck scale` with these histories, and an environment with the address of this server.
    fn judge(&self, histories: &str) -> Command {
        let words = format!("scale -m cas-register --keyed --workers 2 {histories}");
        let to = [("AWS_ENDPOINT_URL", &*self.serve()), ("AWS_ALLOW_HTTP", "true"), ("AWS_ACCESS_KEY_ID", "me")];
        to.into_iter().fold(histcheck(&words).env("AWS_SECRET_ACCESS_KEY", "secret"), |command, (name, value)| {
            command.env(name, value)
        })
    }

    /// Starts the server. Returns its address.
    fn serve(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let bucket = self.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let bucket = bucket.clone();
                std::thread::spawn(move || while bucket.answer(&stream).is_some() {});
            }
        });
        address
    }

    /// Answers a request. Returns `None` if the connection has no further request.
    fn answer(&self, mut stream: &TcpStream) -> Option<()> {
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
        let request = lines.next()?;
        let headers: BTreeMap<String, String> = lines
            .filter_map(|line| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned())))
            .collect();
        let (method, target) = request.split_once(' ')?;
        let target = target.split(' ').next()?;
        let range = headers.get("range").map(|range| range.trim_start_matches("bytes="));
        self.asked.lock().unwrap().push(format!("{method} {target} {}", range.unwrap_or_default()));
        let answer = |stream: &mut &TcpStream, status: &str, more: &str, body: &[u8], len: usize| {
            let head = format!("HTTP/1.1 {status}\r\ncontent-length: {len}\r\n{more}\r\n");
            stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).ok()
        };
        let mut failures = self.failures.lock().unwrap();
        if *failures > 0 {
            *failures -= 1;
            return answer(&mut stream, "503 Slow Down", "", b"", 0);
        }
        drop(failures);
        assert!(headers["authorization"].contains("Credential=me/"), "{headers:?}");
        let mut objects = self.objects.lock().unwrap();
        if let Some(query) = target.strip_prefix("/runs?") {
            let prefix = query.split('&').find_map(|part| part.strip_prefix("prefix=")).unwrap_or_default();
            let prefix = prefix.replace("%2F", "/");
            let found = objects.iter().filter(|(key, _)| key.starts_with(&prefix)).map(|(key, (tag, bytes))| {
                let date = "2026-01-02T03:04:05.000Z";
                let (key, size) = (key, bytes.len());
                format!("<Contents><Key>{key}</Key><LastModified>{date}</LastModified><ETag>\"{tag}\"</ETag><Size>{size}</Size></Contents>")
            });
            let body = format!("<ListBucketResult>{}</ListBucketResult>", found.collect::<String>());
            return answer(&mut stream, "200 OK", "", body.as_bytes(), body.len());
        }
        let key = target.strip_prefix("/runs/")?.replace("%5B", "[").replace("%5D", "]");
        let Some((tag, bytes)) = objects.get_mut(&key) else {
            return answer(&mut stream, "404 Not Found", "", b"", 0);
        };
        let parts = self.asked.lock().unwrap().iter().filter(|asked| asked.starts_with("GET")).count();
        if self.replaces_after.is_some_and(|after| parts > after) {
            *tag += 1;
        }
        if headers.get("if-match").is_some_and(|wanted| *wanted != format!("\"{tag}\"")) {
            return answer(&mut stream, "412 Precondition Failed", "", b"", 0);
        }
        let more = format!("etag: \"{tag}\"\r\nlast-modified: Fri, 02 Jan 2026 03:04:05 GMT\r\n");
        let Some((begins, last)) = range.and_then(|range| range.split_once('-')) else {
            assert_eq!(method, "HEAD", "an object is read part by part");
            return answer(&mut stream, "200 OK", &more, b"", bytes.len());
        };
        let (begins, last): (usize, usize) = (begins.parse().unwrap(), last.parse().unwrap());
        let more = format!("{more}content-range: bytes {begins}-{last}/{}\r\n", bytes.len());
        let part = &bytes[begins..=last];
        answer(&mut stream, "206 Partial Content", &more, part, part.len())
    }
}
