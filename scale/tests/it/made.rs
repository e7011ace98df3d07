//! Generated histories, and the results of one machine and of many workers for them.

use histcheck_scale::histcheck_front::history_core::{Checker, HistoryError, Options, Report};
use histcheck_scale::histcheck_front::setup::WhetherKeyed;
use histcheck_scale::histcheck_front::{ReadAs, Setup, result};
use histcheck_scale::{History, Job};
use std::num::NonZeroUsize;

/// Pseudorandom numbers that are the same each time.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// A number below this one.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// The format of a history, and the errors in it.
#[derive(Clone, Copy)]
pub(crate) struct Made {
    pub(crate) seed: u64,
    pub(crate) ops: u64,
    pub(crate) keys: u64,
    pub(crate) is_json: bool,
    pub(crate) has_indices: bool,
    /// One read in this number is wrong; none if 0.
    pub(crate) wrong: u64,
}

/// The number of a client, and its operation in flight: the key, whether it is a write, and the value.
type Client = (u64, Option<(u64, bool, u64)>);

/// A history of registers, one for each key: eight clients, each with at most one operation in flight.
pub(crate) fn registers(made: Made) -> String {
    let mut dice = Dice(made.seed);
    let (mut text, mut lines) = (String::new(), 0);
    let mut values = vec![None; usize::try_from(made.keys).unwrap()];
    let mut clients: Vec<Client> = (0..8).map(|number| (number, None)).collect();
    for _ in 0..made.ops {
        if dice.below(40) == 0 {
            write(&mut text, made, &mut lines, "nemesis", "info", "kill", None);
        }
        let at = usize::try_from(dice.below(8)).unwrap();
        let (number, doing) = clients[at];
        let process = number.to_string();
        let Some((key, is_write, value)) = doing else {
            let (key, is_write, value) = (dice.below(made.keys), dice.below(2) == 0, dice.below(4));
            clients[at].1 = Some((key, is_write, value));
            let f = if is_write { "write" } else { "read" };
            write(&mut text, made, &mut lines, &process, "invoke", f, Some((key, is_write.then_some(value))));
            continue;
        };
        clients[at].1 = None;
        let own = &mut values[usize::try_from(key).unwrap()];
        let happened = dice.below(20);
        if is_write {
            let kind = match happened {
                0 => "info",
                1 => "fail",
                _ => "ok",
            };
            if kind == "ok" || kind == "info" && dice.below(2) == 0 {
                *own = Some(value);
            }
            clients[at].0 += 8 * u64::from(kind == "info");
            // The value of a failed write may be an error, without its key.
            let shown = (kind == "ok").then_some((key, Some(value)));
            write(&mut text, made, &mut lines, &process, kind, "write", shown);
        } else {
            let wrong = made.wrong > 0 && dice.below(made.wrong) == 0;
            let seen = if wrong { Some(9) } else { *own };
            write(&mut text, made, &mut lines, &process, "ok", "read", Some((key, seen)));
        }
    }
    text
}

fn write(
    text: &mut String,
    made: Made,
    lines: &mut u64,
    process: &str,
    kind: &str,
    f: &str,
    value: Option<(u64, Option<u64>)>,
) {
    *lines += 1;
    let index = 3 * *lines;
    let number = |value: Option<u64>, nil: &str| value.map_or(nil.to_owned(), |value| value.to_string());
    let is_client = process.bytes().all(|byte| byte.is_ascii_digit());
    let line = if made.is_json {
        let process = if is_client { process.to_owned() } else { format!("\"{process}\"") };
        let index = if made.has_indices { format!("\"index\": {index}, ") } else { String::new() };
        let value = value.map_or("null".to_owned(), |(key, value)| format!("[\"k{key}\", {}]", number(value, "null")));
        format!("{{{index}\"process\": {process}, \"type\": \"{kind}\", \"f\": \"{f}\", \"value\": {value}}}")
    } else {
        let process = if is_client { process.to_owned() } else { format!(":{process}") };
        let index = if made.has_indices { format!(":index {index}, ") } else { String::new() };
        let value = value.map_or("nil".to_owned(), |(key, value)| format!("[:k{key} {}]", number(value, "nil")));
        format!("{{{index}:process {process}, :type :{kind}, :f :{f}, :value {value}}}")
    };
    text.push_str(&line);
    text.push('\n');
}

/// A setup that runs the checker for each key.
pub(crate) fn setup<'c>(checker: impl Checker + 'c) -> Setup<'c> {
    let mut setup = Setup::new(checker, Options::new());
    setup.keyed = WhetherKeyed::Yes;
    setup
}

/// As a line of JSON.
pub(crate) fn json(outcome: &Result<Report, HistoryError>) -> String {
    result::json("h", outcome.as_ref()).unwrap()
}

/// The verdict on the whole: true, false or "unknown"; null if there is none.
pub(crate) fn valid(said: &str) -> serde_json::Value {
    serde_json::from_str::<serde_json::Value>(said).unwrap()["valid"].clone()
}

/// The result of one machine.
pub(crate) fn one_machine(setup: &Setup<'_>, text: &[u8]) -> String {
    json(&setup.check_bytes(text))
}

/// The result of this number of workers.
pub(crate) fn many(setup: &Setup<'_>, text: &[u8], workers: usize, range_bytes: u64) -> String {
    many_with(setup, text, workers, |job| job.range_bytes = range_bytes)
}

/// The same for a text with these settings for reading.
pub(crate) fn many_read_as(
    setup: &Setup<'_>,
    text: &[u8],
    read_as: &ReadAs,
    workers: usize,
    range_bytes: u64,
) -> String {
    many_with(setup, text, workers, |job| {
        job.range_bytes = range_bytes;
        job.histories[0].read_as = read_as.clone();
    })
}

/// The same for a changed job.
pub(crate) fn many_with(setup: &Setup<'_>, text: &[u8], workers: usize, change: impl FnOnce(&mut Job<'_>)) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history");
    std::fs::write(&path, text).unwrap();
    let mut job = Job::new(setup, vec![History::new(path, ReadAs::default())]);
    change(&mut job);
    let judged = histcheck_scale::judge(&job, NonZeroUsize::new(workers).unwrap());
    assert_eq!(judged.len(), 1);
    json(&judged[0].outcome)
}
