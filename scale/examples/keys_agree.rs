//! Creates histories of keys from recorded histories of one object each, and compares the reports of many workers with
//! those of one machine: `keys_agree CHECKER DIRECTORY`.
//!
//! Each five histories are combined into one, in which each is a key and their ops are interleaved. It is checked with
//! 1, 2, 4 and 7 workers, in ranges of different lengths, as EDN and as JSON Lines.

use histcheck_scale::histcheck_front::history_core::{
    Datum, Format, History as Ops, HistoryBuilder, NewOp, Op, OpKind, Options, Process, Reader, Writer,
};
use histcheck_scale::histcheck_front::setup::WhetherKeyed;
use histcheck_scale::histcheck_front::{ReadAs, Registry, Setup, result};
use histcheck_scale::{History, Job};
use std::error::Error;
use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The number of histories that are combined.
const KEYS: usize = 5;
/// Processes of a history have numbers below this.
const PROCESSES: i64 = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [checker, directory] = &words[..] else { return Err("usage: keys_agree CHECKER DIRECTORY".into()) };
    let registry = Registry::built_in();
    let mut setup = Setup::new(registry.find(checker)?.checker, Options::new());
    setup.keyed = WhetherKeyed::Yes;
    let is_history = |path: &PathBuf| path.extension().is_some_and(|it| it == "edn" || it == "json");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    paths.retain(is_history);
    paths.sort();
    let (mut compared, mut verdicts) = (0, [0; 3]);
    for (at, group) in paths.chunks(KEYS).enumerate() {
        let histories = group.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
        for format in [Format::Edn, Format::Json] {
            let path = std::env::temp_dir().join(format!("histcheck-agree-{}-{at}.{format}", std::process::id()));
            fs::write(&path, joined(&histories, format)?)?;
            let one = setup.check_file(&path);
            if let Ok(report) = &one {
                verdicts[report.verdict as usize] += 1;
            }
            let expected = result::json("h", one.as_ref())?;
            for (workers, range_bytes) in [(1, 1 << 20), (2, 4096), (4, 1000), (7, 3000)] {
                let mut job = Job::new(&setup, vec![History::new(&path, ReadAs::default())]);
                job.range_bytes = range_bytes;
                let judged = histcheck_scale::judge(&job, NonZeroUsize::new(workers).ok_or("no workers")?);
                let many = result::json("h", judged[0].outcome.as_ref())?;
                if many != expected {
                    return Err(format!("{}: {workers} workers say\n{many}\nnot\n{expected}", path.display()).into());
                }
                compared += 1;
            }
            fs::remove_file(&path)?;
        }
    }
    let [valid, unknown, invalid] = verdicts;
    println!("{checker}: {compared} comparisons; {valid} valid, {unknown} unknown, {invalid} invalid");
    if compared == 0 { Err("no histories there".into()) } else { Ok(()) }
}

fn read(path: &PathBuf) -> Result<Ops, Box<dyn Error>> {
    Ok(Ops::read(&mut Reader::new(fs::File::open(path)?))?)
}

/// One history, in which each of the given ones is a key.
fn joined(histories: &[Ops], format: Format) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut ops: Vec<Vec<Op<'_>>> = histories.iter().map(|history| history.ops().collect()).collect();
    for ops in &mut ops {
        ops.reverse();
    }
    let (mut builder, mut key) = (HistoryBuilder::new(), 0_i64);
    while ops.iter().any(|ops| !ops.is_empty()) {
        let at = usize::try_from(key)? % ops.len();
        // The keys progress at different speeds.
        for _ in 0..=at {
            let Some(op) = ops[at].pop() else { break };
            push(&mut builder, &op, i64::try_from(at)?)?;
        }
        key += 1;
    }
    let mut writer = Writer::new(Vec::new(), format);
    for op in builder.build().ops() {
        writer.write(&op)?;
    }
    Ok(writer.finish()?)
}

fn push(builder: &mut HistoryBuilder, op: &Op<'_>, key: i64) -> Result<(), Box<dyn Error>> {
    let mut new = match op.process {
        Process::Client(number) => NewOp::new(op.kind, key * PROCESSES + number),
        Process::Other(name) => NewOp::new(op.kind, name),
        Process::Unknown => return Err("an op without a process".into()),
    };
    new.f = op.f;
    new.time_ns = op.time;
    let is_client = matches!(op.process, Process::Client(_));
    let failed = matches!(op.kind, OpKind::Fail | OpKind::Info);
    new.value = match op.value.to_datum() {
        value if !is_client || failed && value == Datum::Nil => value,
        value => Datum::Vector(vec![Datum::keyword(format!("k{key}")), value]),
    };
    new.extra = op.extra.iter().filter_map(|(name, value)| Some((name.as_name()?, value.to_datum()))).collect();
    builder.push_op(&new)?;
    Ok(())
}
