//! A run in progress, as pages receive it.

use crate::client::{Served, serve};
use histcheck_serve::{Live, LiveAbout, LiveEnd, LiveTick, LiveViolation};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

/// A page that receives updates.
struct Follower(BufReader<TcpStream>);

impl Follower {
    fn new(served: &Served) -> Follower {
        let mut stream = TcpStream::connect(served.address).unwrap();
        write!(stream, "GET /api/live HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n").unwrap();
        Follower(BufReader::new(stream))
    }

    /// The next update; `None` at the end.
    fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        while self.0.read_line(&mut line).unwrap() > 0 {
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).unwrap());
            }
            line.clear();
        }
        None
    }

    /// The first update for which `holds` returns true.
    fn until(&mut self, holds: impl Fn(&Value) -> bool) -> Value {
        loop {
            let piece = self.next().unwrap();
            if holds(&piece) {
                return piece;
            }
        }
    }
}

fn tick(ops: u64) -> LiveTick {
    let mut tick = LiveTick::default();
    (tick.ops, tick.checked, tick.open) = (ops, ops, 3);
    tick
}

fn with_live() -> (Served, Live) {
    let live = Live::new(LiveAbout::new("redis <b>", vec!["bank".to_owned()]));
    let shown = live.clone();
    (serve(|config| config.live = Some(shown)), live)
}

#[test]
fn what_a_run_brings_reaches_all_pages_and_those_that_were_asleep() {
    let (served, live) = with_live();
    let mut pages: Vec<Follower> = (0..20).map(|_| Follower::new(&served)).collect();
    for page in &mut pages {
        assert_eq!(page.next().unwrap()["about"]["name"], "redis <b>", "the first piece is the whole");
    }
    live.tick(&mut tick(70));
    for page in &mut pages {
        let piece = page.until(|piece| piece["ops"] == 70);
        assert_eq!((&piece["open"], &piece["verdict"]), (&3.into(), &"running".into()));
    }
    let mut violation = LiveViolation::new(Some(66), None);
    violation.explanation = "two values at one time".to_owned();
    live.violation(violation);
    for page in &mut pages {
        let piece = page.until(|piece| piece["verdict"] == "false");
        assert_eq!(
            (&piece["violations"][0]["index"], &piece["violations"][0]["explanation"]),
            (&66.into(), &"two values at one time".into())
        );
    }
    let mut late = Follower::new(&served);
    let whole = late.next().unwrap();
    assert_eq!(
        (&whole["ops"], &whole["violations_count"], &whole["columns_from"]),
        (&70.into(), &1.into(), &0.into()),
        "all of it"
    );
    assert_eq!(live.followers(), 21);
    live.end(LiveEnd::new(Some(history_core::Verdict::Invalid), vec!["That is all.".to_owned()]));
    for page in pages.iter_mut().chain([&mut late]) {
        let piece = page.until(|piece| piece.get("end").is_some());
        assert_eq!((&piece["end"]["verdict"], &piece["end"]["notes"][0]), (&"false".into(), &"That is all.".into()));
    }
    while live.followers() > 0 {
        std::thread::yield_now();
    }
    let mut after = Follower::new(&served);
    assert_eq!(after.next().unwrap()["end"]["verdict"], "false", "who comes later sees the end");
}

#[test]
fn a_page_that_takes_nothing_keeps_nobody_waiting() {
    let (served, live) = with_live();
    let _asleep = Follower::new(&served);
    let mut page = Follower::new(&served);
    let mut seen = 0;
    for ops in 1..=3000 {
        live.tick(&mut tick(ops));
        if ops % 1000 == 0 {
            page.until(|piece| piece["ops"] == ops);
            seen += 1;
        }
    }
    assert_eq!(seen, 3);
}

#[test]
fn programs_and_people_see_it_too() {
    let (served, live) = with_live();
    live.tick(&mut tick(5));
    loop {
        let now: Value = serde_json::from_slice(&served.get("/api/live").body).unwrap();
        if now["ops"] == 5 {
            assert_eq!(now["schema"], 1);
            break;
        }
        std::thread::yield_now();
    }
    let page = served.get("/live");
    assert_eq!(page.status, 200);
    assert!(page.text().contains("redis &lt;b&gt;") && !page.text().contains("<b>redis"), "{}", page.text());
    assert!(served.get("/").text().contains("href=\"/live\""));
    let other = serve(|_| {});
    assert_eq!((other.get("/live").status, other.get("/api/live").status), (404, 404));
}
