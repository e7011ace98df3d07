//! The laws: variants of a history for which a checker must return the same result.

use crate::case::{Case, Event, Random, Who};
use crate::judge::{How, Judge};
use crate::rename;
use crate::shrink::smallest;
use crate::world::{WORLDS, World, generate};
use flate2::Compression;
use flate2::write::GzEncoder;
use history_core::{Datum, Format, OpKind, Options, Report, Verdict};
use std::io::Write as _;

/// A text, and how it is checked.
pub(crate) struct Form {
    text: Vec<u8>,
    how: How,
}

/// The parts that must be the same in two reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Same {
    /// The verdict.
    Verdict,
    /// The verdict, the names of anomalies, and the levels that are ruled out.
    Findings,
    /// Every byte.
    Bytes,
}

/// Two variants, and the parts of their reports that must be the same.
type Pair = (Form, Form, Same);

/// A law: its name, and the variants that it generates from a history; none if it does not apply.
pub(crate) struct Law {
    pub(crate) name: &'static str,
    pub(crate) forms: fn(&World, &Case, &mut Random) -> Vec<Pair>,
}

pub(crate) const LAWS: &[Law] = &[
    Law { name: "clients renamed", forms: |_, case, random| renamed(case, Some(rename::clients(case, random))) },
    Law { name: "values renamed", forms: |world, case, random| renamed(case, rename::values(world, case, random)) },
    Law { name: "keys renamed", forms: |world, case, random| renamed(case, rename::keys(world, case, random)) },
    Law { name: "time shifted", forms: shifted },
    Law { name: "nemesis added", forms: disturbed },
    Law { name: "failed ops added", forms: failed },
    Law { name: "formats", forms: formats },
    Law { name: "compression", forms: compressions },
    Law { name: "engines", forms: engines },
    Law { name: "one key", forms: one_key },
    Law { name: "commuting events", forms: commuted },
    Law { name: "watched", forms: watched },
    Law { name: "limits", forms: limited },
    Law { name: "a correct store", forms: |_, _, _| Vec::new() },
];

fn form(case: &Case, how: How) -> Form {
    Form { text: case.edn(), how }
}

fn plain(case: &Case) -> Form {
    form(case, How::default())
}

fn renamed(case: &Case, other: Option<Case>) -> Vec<Pair> {
    other.into_iter().map(|other| (plain(case), plain(&other), Same::Findings)).collect()
}

/// All times shifted by the same amount, and no times.
fn shifted(_: &World, case: &Case, random: &mut Random) -> Vec<Pair> {
    let by = random.number(1 << 50) - (1 << 49);
    let later = case.map(|event| event.time = event.time.map(|time| time + by));
    let never = case.map(|event| event.time = None);
    vec![(plain(case), plain(&later), Same::Findings), (plain(case), plain(&never), Same::Findings)]
}

/// Additional ops of a process that is not a client.
fn disturbed(_: &World, case: &Case, random: &mut Random) -> Vec<Pair> {
    let mut other = case.clone();
    for _ in 0..=random.below(5) {
        let at = random.below(other.0.len() as u64 + 1) as usize;
        let time = at.checked_sub(1).and_then(|before| other.0[before].time);
        let value = Datum::Vector(vec![Datum::keyword("r"), Datum::Int(1), Datum::Nil]);
        let who = Who::Name("nemesis".into());
        other.0.insert(at, Event { kind: OpKind::Info, who, f: "read".into(), value, time, extra: Vec::new() });
    }
    vec![(plain(case), plain(&other), Same::Findings)]
}

/// Additional reads that failed, each by its own client.
fn failed(world: &World, case: &Case, random: &mut Random) -> Vec<Pair> {
    let asks = |event: &&Event| event.kind == OpKind::Invoke && writes_nothing(&event.value);
    let asked: Vec<&Event> = case.0.iter().filter(asks).collect();
    // The purpose of `stats` is to count failures.
    if asked.is_empty() || world.checker == "stats" {
        return Vec::new();
    }
    let mut other = case.clone();
    for client in 0..=random.number(3) {
        let at = random.below(other.0.len() as u64 + 1) as usize;
        let time = at.checked_sub(1).and_then(|before| other.0[before].time);
        let like = asked[random.below(asked.len() as u64) as usize];
        let half = |kind| Event { kind, who: Who::Number(900_000 + client), time, ..like.clone() };
        other.0.splice(at..at, [half(OpKind::Invoke), half(OpKind::Fail)]);
    }
    vec![(plain(case), plain(&other), Same::Findings)]
}

fn writes_nothing(value: &Datum) -> bool {
    let is_read = |mop: &Datum| match mop {
        Datum::Vector(parts) => matches!(&parts[..], [Datum::Keyword(f), _, Datum::Nil] if f == "r" || f == "read"),
        _ => false,
    };
    match value {
        Datum::Nil => true,
        Datum::Vector(mops) => !mops.is_empty() && mops.iter().all(is_read),
        _ => false,
    }
}

/// The same ops in another format. JSON has fewer kinds of values, so texts may differ, but nothing else.
fn formats(_: &World, case: &Case, _: &mut Random) -> Vec<Pair> {
    let json = || Form { text: case.text(Format::Json), how: How::default() };
    let lines = String::from_utf8(json().text).unwrap();
    let lines: Vec<&str> = lines.lines().filter(|line| !line.is_empty()).collect();
    let array = Form { text: format!("[{}]", lines.join(",\n")).into(), how: How::default() };
    let vector = [b"[".to_vec(), case.edn(), b"]".to_vec()].concat();
    let vector = Form { text: vector, how: How::default() };
    vec![(plain(case), json(), Same::Findings), (json(), array, Same::Bytes), (plain(case), vector, Same::Bytes)]
}

/// A text compressed as gzip and as zstd.
pub(crate) fn packed(text: &[u8]) -> [Vec<u8>; 2] {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(text).unwrap();
    [gzip.finish().unwrap(), zstd::encode_all(text, 1).unwrap()]
}

/// The same bytes compressed, and read in small pieces.
fn compressions(_: &World, case: &Case, random: &mut Random) -> Vec<Pair> {
    let [gzip, zstd] = packed(&case.edn()).map(|text| Form { text, how: How::default() });
    let pieces = How { block_bytes: Some(1 + random.below(300) as usize), ..How::default() };
    vec![
        (plain(case), gzip, Same::Bytes),
        (plain(case), zstd, Same::Bytes),
        (plain(case), form(case, pieces), Same::Bytes),
    ]
}

fn engines(world: &World, case: &Case, _: &mut Random) -> Vec<Pair> {
    let with = |engine: &str| form(case, How { options: Options::new().with("engine", engine), ..How::default() });
    let engines = ["just-in-time", "wing-gong"].into_iter().filter(|_| world.has_engines);
    engines.map(|engine| (plain(case), with(engine), Same::Verdict)).collect()
}

/// A history of a single key has the result of the history without the key.
fn one_key(world: &World, case: &Case, _: &mut Random) -> Vec<Pair> {
    let key = || Datum::keyword("the-key");
    // kv has its own keys in the field that this law uses.
    if world.workload == "kv" {
        return Vec::new();
    }
    let other = case.map(|event| match &event.who {
        Who::Name(_) => {}
        Who::Number(_) if world.workload == "versioned-register" => event.extra.push(("key".into(), key())),
        Who::Number(_) => event.value = Datum::Vector(vec![key(), event.value.clone()]),
    });
    vec![(plain(case), form(&other, How { is_keyed: true, ..How::default() }), Same::Verdict)]
}

/// Two adjacent invocations, or two adjacent completions, may be swapped.
fn commuted(world: &World, case: &Case, random: &mut Random) -> Vec<Pair> {
    if !world.is_of_precedence || case.0.len() < 2 {
        return Vec::new();
    }
    let mut other = case.clone();
    for _ in 0..case.0.len() {
        let at = random.below(case.0.len() as u64 - 1) as usize;
        let [a, b] = [&other.0[at], &other.0[at + 1]];
        let are_clients = [a, b].iter().all(|event| matches!(event.who, Who::Number(_)));
        let commute = (a.kind == OpKind::Invoke) == (b.kind == OpKind::Invoke);
        if are_clients && a.who != b.who && commute {
            let times = (a.time, b.time);
            other.0.swap(at, at + 1);
            (other.0[at].time, other.0[at + 1].time) = times;
        }
    }
    vec![(plain(case), plain(&other), Same::Verdict)]
}

/// A watch has the same result as a check at the end. A watch keeps all configurations at once, of which there may be
/// too many.
fn watched(world: &World, case: &Case, _: &mut Random) -> Vec<Pair> {
    vec![(plain(case), form(case, watching(world)), Same::Verdict)]
}

pub(crate) fn watching(world: &World) -> How {
    let options = if world.has_engines { Options::new().with("max-configurations", "1000") } else { Options::new() };
    How { is_watched: true, options, ..How::default() }
}

/// Limits that are not reached have no effect.
fn limited(world: &World, case: &Case, _: &mut Random) -> Vec<Pair> {
    let options =
        if world.has_engines { Options::new().with("max-configurations", "99999999") } else { Options::new() };
    vec![(plain(case), form(case, How { has_limits: true, options, ..How::default() }), Same::Bytes)]
}

/// Returns true if a verdict is unknown because there were too many configurations.
pub(crate) fn has_too_many(report: &Report) -> bool {
    let says_so = |note: &String| note.contains("the search reached its maximum");
    report.verdict == Verdict::Unknown && report.notes.iter().any(says_so)
}

/// The difference between two reports in the parts that must be the same.
fn difference(a: &Report, b: &Report, same: Same) -> Option<String> {
    // How far a search gets within its limit depends on the order of its steps.
    if same != Same::Bytes && [a, b].into_iter().any(has_too_many) {
        return None;
    }
    if a.verdict != b.verdict {
        return Some(format!("{} and {}; {:?} {:?}", a.verdict.name(), b.verdict.name(), a.notes, b.notes));
    }
    let findings = |report: &Report| {
        let mut names: Vec<String> = report.anomaly_types().map(str::to_owned).collect();
        names.sort();
        format!("{names:?}, not {:?} {:?}", report.not, report.also_not)
    };
    if matches!(same, Same::Findings | Same::Bytes) && findings(a) != findings(b) {
        return Some(format!("{} and {}", findings(a), findings(b)));
    }
    let bytes = |report: &Report| serde_json::to_string(report).unwrap();
    (same == Same::Bytes && bytes(a) != bytes(b)).then(|| format!("{}\n{}", bytes(a), bytes(b)))
}

/// Tests a law on a history. Returns the difference if the law is broken.
pub(crate) fn broken(law: &Law, judge: &dyn Judge, world: &World, case: &Case, seed: u64) -> Option<String> {
    let pairs = (law.forms)(world, case, &mut Random::new(seed));
    pairs.iter().find_map(|(a, b, same)| {
        let judged = [a, b].map(|form| judge.judge(world, &form.text, &form.how));
        difference(&judged[0], &judged[1], *same)
    })
}

/// Tests every law on the history of a seed. Returns the checker, whether the store had a bug, and the verdict.
///
/// # Errors
///
/// The seed, the law, and the smallest history for which it is broken.
pub(crate) fn try_one(judge: &dyn Judge, seed: u64) -> Result<(&'static str, bool, &'static str), String> {
    let world = &WORLDS[(seed % WORLDS.len() as u64) as usize];
    let (case, has_bug) = generate(world, seed);
    for law in LAWS {
        if broken(law, judge, world, &case, seed).is_some() {
            return Err(told(law, world, seed, &case, &|case| broken(law, judge, world, case, seed)));
        }
    }
    let verdict = |case: &Case| judge.judge(world, &case.edn(), &How::default()).verdict;
    let of_this = verdict(&case);
    if !has_bug && of_this == Verdict::Invalid {
        let why =
            |case: &Case| (verdict(case) == Verdict::Invalid).then(|| "false, of a store without a bug".to_owned());
        return Err(told(&LAWS[LAWS.len() - 1], world, seed, &case, &why));
    }
    Ok((world.checker, has_bug, of_this.name()))
}

fn told(law: &Law, world: &World, seed: u64, case: &Case, why: &dyn Fn(&Case) -> Option<String>) -> String {
    let small = smallest(case, &|case| why(case).is_some());
    format!(
        "seed {seed}, workload {}, checker {}: the law `{}` is broken: {}\n{}",
        world.workload,
        world.checker,
        law.name,
        why(&small).unwrap_or_default(),
        String::from_utf8_lossy(&small.edn())
    )
}
