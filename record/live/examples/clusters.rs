//! A run of any kind of stores in a world of namespaces, until a violation is found or the time is over:
//! `cargo run --example clusters -- postgres DIRECTORY [OPTION=VALUE]...`, where the options are those of the store, `workload`,
//! `consistency-models` and what else the checker has, `faults`, `target`, `seconds`, `seed`, `clients`, `pause-ms`.

use history_core::{Budget, Checker, ErrorKind, HistoryError, Keyed, OptionError, Options};
use record_live::world::{Inside, World, enter, is_inside};
use record_live::{Check, Live, Nemesis, Start, StartStore, Stop, Target, Workload, store};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    if !is_inside() {
        let (_signals, receiver) = std::sync::mpsc::channel();
        let status = enter(receiver)?;
        std::process::exit(status.code().unwrap_or(255));
    }
    let stop = Stop::new();
    let inside = Inside::listen({
        let stop = stop.clone();
        move || stop.set()
    })?;
    let kind = std::env::args().nth(1).and_then(|name| store::kind(&name)).ok_or("expected a store")?;
    let directory = PathBuf::from(std::env::args().nth(2).ok_or("expected a directory")?);
    std::fs::create_dir_all(&directory)?;
    let directory = directory.canonicalize()?;
    let mut given: BTreeMap<String, String> = std::env::args()
        .skip(3)
        .filter_map(|word| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())))
        .collect();
    let faults = match given.remove("faults") {
        Some(names) => names.split(',').filter(|name| !name.is_empty()).map(str::parse).collect::<Result<_, _>>()?,
        None => kind.default_faults.to_vec(),
    };
    let mut number = |name: &str, default: u64| given.remove(name).map_or(Ok(default), |text| text.parse::<u64>());
    let (seed, seconds, clients) = (number("seed", 1)?, number("seconds", 20)?, number("clients", 12)?);
    let pause = Duration::from_millis(number("pause-ms", 0)?);
    let target = if given.remove("target").as_deref() == Some("random") { Target::Random } else { Target::Primary };
    let name = given.remove("workload").unwrap_or_else(|| kind.workloads[0].to_owned());
    let workload = Workload::named(&name).ok_or("no such workload")?;
    let (options, settings): (BTreeMap<_, _>, BTreeMap<_, _>) =
        given.into_iter().partition(|(name, _)| kind.options.iter().any(|option| option.name == name));
    kind.check(&options, &record_live::Nodes::Default)?;

    let began = Instant::now();
    let nodes = u8::try_from(kind.nodes)?;
    let logs = directory.join("logs");
    let world = World::new(&inside, nodes, &logs)?;
    let timeout = Duration::from_secs(1);
    let start = StartStore {
        options,
        faults: faults.clone(),
        world: Some(world),
        logs,
        seed,
        timeout,
        ..StartStore::default()
    };
    let store = (kind.start)(start)?;
    println!("up after {:?}", began.elapsed());

    let all = check_elle::checkers().into_iter().chain(check_online::checkers());
    let mut all = all.chain(check_register::checkers()).chain(check_jepsen::checkers());
    let checker: Box<dyn Checker> = all.find(|checker| checker.name() == name).ok_or("no such checker")?;
    let mut options = Options::default();
    for (name, value) in workload.options {
        options.set(*name, *value);
    }
    for (name, value) in settings {
        options.set(name, value);
    }
    let wrong = |error: OptionError| HistoryError::new(ErrorKind::Unexpected, error.to_string());
    let begin: &Start<'_> = &|| {
        Ok(if workload.keyed {
            Box::new(Keyed::start(&*checker, &options).map_err(wrong)?)
        } else {
            checker.start(&options).map_err(wrong)?
        })
    };
    let live = Live {
        store: &*store,
        workload,
        check: Check {
            start: begin,
            watches: !matches!(&*name, "list-append" | "rw-register" | "set-full"),
            budget: Budget::default(),
        },
        directory,
        clients: u32::try_from(clients)?,
        time_limit: Duration::from_secs(seconds),
        ops_max: None,
        pause,
        timeout,
        seed,
        nemesis: Nemesis { faults, target, ..Nemesis::default() },
        stop,
    };
    let ended = live.run(&mut |_| {})?;
    println!(
        "{:?} after {} ops, {} ok, {} faults, {:?}, {:?}",
        ended.report.verdict, ended.ops, ended.ok, ended.faults, ended.time, ended.violated
    );
    for anomaly in &ended.report.anomalies {
        println!("{}", anomaly.name);
    }
    Ok(())
}
