//! Converts a parsed command line into a task.

pub(crate) mod allow;
mod annotations;
mod checker;
mod checkpoints;
mod inputs;
#[cfg(all(unix, feature = "live"))]
pub(crate) mod live;
#[cfg(feature = "objects")]
mod objects;
mod outputs;
#[cfg(feature = "scale")]
pub(crate) mod scale;
mod wrong;

use crate::anonymize::Anonymize;
use crate::convert::{Convert, Target};
use crate::job::{Check, OutputFormat, PageOptions, PlotFormat, Validate};
use crate::judge::child_job::{self, ChildJob};
use crate::judge::input::Input;
use crate::judge::limits::Limits;
use crate::judge::node_logs::NodeLogs;
use crate::line::config::Config;
use crate::line::usage::UsageError;
use crate::line::{common, gen_args, grammar, shells};
use crate::minimize::Minimize;
use crate::new_plugin::{self, NewPlugin};
use crate::output::diagnose;
use crate::output::known::Known;
use crate::output::policy::Policy;
use crate::watch::{Address, Source, Watch};
use checker::{checker, options, summaries};
use clap::ArgMatches;
use histcheck_front::setup::WhetherKeyed;
use histcheck_front::{Registry, Setup};
use history_core::{ConvertOptions, Format};
use inputs::{inputs, is_no_option_value, read_as};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The task of a command line.
pub(crate) enum Command<'c> {
    Check(Check<'c>),
    Watch(Watch<'c>),
    #[cfg(all(unix, feature = "live"))]
    Live(Box<live::Asked<'c>>),
    #[cfg(feature = "serve")]
    Serve(crate::serve::Serve),
    #[cfg(feature = "scale")]
    Scale(Box<crate::judge::scale::Scale<'c>>),
    Minimize(Minimize<'c>),
    Anonymize(Anonymize<'c>),
    Validate(Validate<'c>),
    Convert(Convert),
    Gen(gen_args::Gen),
    /// Generate the crate of a plugin.
    NewPlugin(NewPlugin),
    Completions(clap_complete::Shell),
    /// Manual pages: all into a directory, or the main one to standard output.
    Man(Option<PathBuf>),
    Models(OutputFormat),
    #[cfg(feature = "elle")]
    Anomalies(OutputFormat),
    #[cfg(feature = "elle")]
    ConsistencyModels(OutputFormat),
}

/// Parses a command line, which begins with the program's name.
///
/// # Errors
///
/// Wrong usage, or a request for help.
pub(crate) fn parse<'c>(
    words: impl IntoIterator<Item = OsString>,
    config: &Config,
    checkers: &'c Registry,
) -> Result<Command<'c>, clap::Error> {
    let mut grammar = child_job::add(grammar::command(checkers));
    let better = |error| wrong::better(error, checkers);
    let mut words: Vec<OsString> = words.into_iter().collect();
    let mut matches = grammar.try_get_matches_from_mut(&words).map_err(better)?;
    let mut left_out = None;
    match config.with_all(&words, &grammar, &matches) {
        Ok(None) => {}
        Ok(Some(whole)) => {
            (words, left_out) = (whole.words, whole.warning);
            matches = grammar.try_get_matches_from_mut(&words).map_err(better)?;
        }
        Err(wrong) => return Err(wrong.into_clap(meant(&mut grammar, &matches))),
    }
    #[cfg(all(unix, feature = "live"))]
    while let Some(("live", given)) = matches.subcommand() {
        match live::whole(words.clone(), given) {
            Ok(None) => break,
            Ok(Some(whole)) => words = whole,
            Err(wrong) => return Err(wrong.into_clap(meant(&mut grammar, &matches))),
        }
        matches = grammar.try_get_matches_from_mut(&words).map_err(better)?;
    }
    set_colour(&matches);
    if let Some(warning) = &left_out {
        diagnose::warning(warning);
    }
    let understood = match matches.subcommand() {
        None => inputs(&matches).and_then(|inputs| check(&matches, checkers, inputs)).map(Command::Check),
        Some(("report", matches)) => pages(matches, checkers).map(Command::Check),
        Some(("minimize", matches)) => minimize(matches, checkers).map(Command::Minimize),
        Some(("anonymize", matches)) => anonymize(matches, checkers).map(Command::Anonymize),
        Some(("watch", matches)) => watch(matches, checkers).map(Command::Watch),
        #[cfg(all(unix, feature = "live"))]
        Some(("live", matches)) => {
            live::parse(words.split_off(2), matches, checkers).map(|asked| Command::Live(Box::new(asked)))
        }
        #[cfg(feature = "serve")]
        Some(("serve", matches)) => crate::serve::args::parse(matches, checkers).map(Command::Serve),
        Some(("validate", matches)) => validate(matches, checkers).map(Command::Validate),
        #[cfg(feature = "scale")]
        Some(("scale", matches)) => scale(matches, checkers).map(|job| Command::Scale(Box::new(job))),
        Some(("convert", matches)) => convert(matches).map(Command::Convert),
        Some(("gen", matches)) => gen_args::parse(matches).map(Command::Gen),
        Some(("plugin", matches)) => new_plugin(matches, checkers).map(Command::NewPlugin),
        Some(("completions", matches)) => Ok(Command::Completions(shells::of(matches))),
        Some(("man", matches)) => Ok(Command::Man(matches.get_one::<OsString>("directory").map(PathBuf::from))),
        #[cfg(feature = "elle")]
        Some(("anomalies", matches)) => Ok(Command::Anomalies(output(matches))),
        #[cfg(feature = "elle")]
        Some(("consistency-models", matches)) => Ok(Command::ConsistencyModels(output(matches))),
        Some((_, matches)) => Ok(Command::Models(output(matches))),
    };
    understood.map_err(|wrong| wrong.into_clap(meant(&mut grammar, &matches)))
}

/// Enables or disables colour in all later output.
fn set_colour(matches: &ArgMatches) {
    let of = |matches: &ArgMatches| matches.try_get_one::<String>("color").ok().flatten().cloned();
    let choice = of(matches).or_else(|| matches.subcommand().and_then(|(_, matches)| of(matches)));
    match choice.as_deref() {
        Some("always") => anstream::ColorChoice::Always.write_global(),
        Some("never") => anstream::ColorChoice::Never.write_global(),
        _ => {}
    }
}

/// The innermost subcommand on the command line, whose usage an error shows.
fn meant<'g>(grammar: &'g mut clap::Command, matches: &ArgMatches) -> &'g mut clap::Command {
    match matches.subcommand() {
        Some((name, matches)) if grammar.find_subcommand(name).is_some() => {
            // The subcommand exists, because it was parsed.
            let inner = grammar.find_subcommand_mut(name).expect("a subcommand that was found");
            meant(inner, matches)
        }
        _ => grammar,
    }
}

/// A hint at the checkers that know a requested level that this checker does not know.
fn elsewhere(
    checker: &dyn history_core::Checker,
    options: &history_core::Options,
    checkers: &Registry,
) -> Option<String> {
    let levels = options.names("consistency-models");
    levels.iter().find_map(|level| {
        let knowing = checkers.knowing(level);
        // The name of a composed checker lists the names of all its checkers.
        let is_known = checker.name().split(',').any(|own| knowing.contains(&own));
        (!is_known && !knowing.is_empty()).then(|| format!("the level {level} is one of -m {}", knowing.join(", ")))
    })
}

fn check<'c>(matches: &ArgMatches, checkers: &'c Registry, inputs: Vec<Input>) -> Result<Check<'c>, UsageError> {
    let (checker, is_plugin) = checker(matches, checkers)?;
    let (mut options, mut warnings) = options(matches, &*checker, checkers)?;
    // A checker rejects invalid options when it starts. Starting it here reports them before any history is read.
    checker.start(&options).map_err(|error| {
        let usage = UsageError::new(error.to_string());
        match elsewhere(&*checker, &options, checkers) {
            Some(tip) => usage.tip(tip),
            None => usage,
        }
    })?;
    let directory = matches.try_get_one::<OsString>("directory").ok().flatten().map(PathBuf::from);
    if directory.as_ref().is_some_and(|path| path.as_os_str().is_empty()) {
        return Err(
            UsageError::new("--directory needs a path".to_owned()).tip("-d . writes to this directory".to_owned())
        );
    }
    // Pages contain their own drawings.
    let (directory, pages) = match matches.try_get_one::<u64>("max-report-bytes").ok().flatten() {
        Some(bytes) => (
            None,
            directory
                .map(|directory| PageOptions { directory, bytes_max: usize::try_from(*bytes).unwrap_or(usize::MAX) }),
        ),
        None => (directory, None),
    };
    let plots = plots(matches, directory.is_some(), &mut warnings);
    let drawing = drawing(matches, directory.is_some(), &mut warnings);
    let has_pictures = directory.is_some() || pages.is_some();
    let annotations = annotations::given(matches, has_pictures, inputs.len(), &mut warnings)?;
    for spec in checker.options().iter().filter(|spec| grammar::PASSED_ON[2..].contains(&spec.name)) {
        // A plugin that draws by itself needs a value for this option.
        if directory.is_some() && options.text(spec.name).is_none() {
            options.set(spec.name, spec.default);
        }
    }
    let known = Known::of(matches, &*checker)?;
    let outputs = outputs::outputs(matches, &inputs)?;
    Ok(Check {
        setup: Setup { checker, options, keyed: keyed(matches) },
        inputs,
        outputs,
        policy: Policy::of(matches),
        known,
        quiet: matches.try_get_one("quiet").ok().flatten().copied().unwrap_or(false),
        verbose: matches.try_get_one("verbose").ok().flatten().copied().unwrap_or(false),
        directory,
        plots,
        drawing,
        annotations,
        limits: limits(matches),
        node_logs: node_logs(matches)?,
        pages,
        jobs: jobs(matches),
        child: ChildJob::from_matches(matches),
        is_plugin,
        refused: checkers.refused(),
        is_live: false,
        summaries: summaries(matches, checkers),
        warnings,
    })
}

fn keyed(matches: &ArgMatches) -> WhetherKeyed {
    match matches.try_get_one::<String>("keyed").ok().flatten().map(String::as_str) {
        Some("yes") => WhetherKeyed::Yes,
        Some("auto") => WhetherKeyed::Auto,
        _ => WhetherKeyed::No,
    }
}

/// The number of histories checked in parallel. The default is one: each check uses several threads, and may need much
/// memory.
fn jobs(matches: &ArgMatches) -> usize {
    match matches.try_get_one::<u16>("jobs").ok().flatten() {
        Some(0) => std::thread::available_parallelism().map_or(1, usize::from),
        Some(jobs) => usize::from(*jobs),
        None => 1,
    }
}

/// The task of checking histories and writing a page on each.
fn pages<'c>(matches: &ArgMatches, checkers: &'c Registry) -> Result<Check<'c>, UsageError> {
    child_job::end_with_server(matches);
    let inputs = inputs(matches)?.into_iter().map(Input::kept).collect();
    let job = check(matches, checkers, inputs)?;
    if job.pages.is_none() {
        return Err(UsageError::missing("missing -d: the directory for the reports").tip("-d report"));
    }
    Ok(job)
}

/// The task of checking histories with many workers.
#[cfg(feature = "scale")]
fn scale<'c>(matches: &ArgMatches, checkers: &'c Registry) -> Result<crate::judge::scale::Scale<'c>, UsageError> {
    let files: Vec<OsString> = matches.get_many::<OsString>("files").into_iter().flatten().cloned().collect();
    let files = scale::matching(&files)?;
    let inputs = inputs::inputs_of(matches, &files.iter().collect::<Vec<_>>())?;
    scale::parse(matches, check(matches, checkers, inputs)?)
}

/// The single history of a command that reads it more than once, and the path of the output.
fn one_history(matches: &ArgMatches, command: &str) -> Result<(Vec<Input>, Option<OsString>), UsageError> {
    let inputs: Vec<Input> = inputs(matches)?.into_iter().map(Input::kept).collect();
    if inputs.len() > 1 {
        let message = format!("{command} takes one history, but this directory has {}", inputs.len());
        return Err(UsageError::new(message).tip("pass the path of one of them"));
    }
    let output = matches.get_one::<OsString>("out");
    if let (Some(input), Some(output)) = (inputs.first(), output)
        && input.is_file(Path::new(output))
    {
        let message = format!("-o {} would overwrite the history itself", output.to_string_lossy());
        return Err(UsageError::new(message).tip("choose another output file"));
    }
    Ok((inputs, output.cloned()))
}

/// The task of renaming a history.
fn anonymize<'c>(matches: &ArgMatches, checkers: &'c Registry) -> Result<Anonymize<'c>, UsageError> {
    let (inputs, output) = one_history(matches, "anonymize")?;
    Ok(Anonymize { check: check(matches, checkers, inputs)?, output })
}

/// The task of minimizing a history.
fn minimize<'c>(matches: &ArgMatches, checkers: &'c Registry) -> Result<Minimize<'c>, UsageError> {
    if matches.get_many::<String>("model").is_some_and(|models| models.len() > 1) {
        let tip = "pass only the checker that reported the anomaly";
        return Err(UsageError::new("minimize takes one checker").tip(tip));
    }
    let (inputs, output) = one_history(matches, "minimize")?;
    Ok(Minimize {
        check: check(matches, checkers, inputs)?,
        anomaly: matches.get_one::<String>("anomaly").cloned(),
        output,
        checks_max: matches.get_one("max-checks").copied().unwrap_or(u64::MAX),
    })
}

/// The pattern to search for in the logs of nodes.
fn node_logs(matches: &ArgMatches) -> Result<Option<NodeLogs>, UsageError> {
    let pattern = matches.try_get_one::<String>("log-file-pattern").ok().flatten();
    let file = matches.try_get_one::<OsString>("log-file").ok().flatten();
    match (pattern, file) {
        (Some(pattern), Some(file)) => NodeLogs::new(pattern, Path::new(file)).map(Some).map_err(UsageError::new),
        _ => Ok(None),
    }
}

/// The limits for a history.
fn limits(matches: &ArgMatches) -> Limits {
    let timeout = matches.try_get_one::<std::time::Duration>("timeout").ok().flatten().copied();
    Limits { timeout, bytes_max: matches.try_get_one::<u64>("max-memory").ok().flatten().copied() }
}

fn new_plugin(matches: &ArgMatches, checkers: &Registry) -> Result<NewPlugin, UsageError> {
    let new = matches.subcommand_matches("new");
    let name = new.and_then(|new| new.get_one::<String>("name")).cloned().unwrap_or_default();
    if checkers.find(&name).is_ok() {
        return Err(UsageError::new(format!("a checker named {name} exists already"))
            .tip(format!("use another name, such as my-{name}")));
    }
    if let Some(why) = new_plugin::why_no_name(&name) {
        return Err(UsageError::new(why));
    }
    let path = new.and_then(|new| new.get_one::<OsString>("path"));
    let from = match path {
        None => new_plugin::built_from(),
        Some(path) => Some(new_plugin::interface_in(Path::new(path)).ok_or_else(|| {
            let message = format!("--path: found no plugins/abi/Cargo.toml in {}", path.to_string_lossy());
            UsageError::new(message).tip("pass the directory of a clone of histcheck")
        })?),
    };
    Ok(NewPlugin { name, from })
}

/// The maximum size of pictures, and a warning if no pictures will be written.
fn drawing(matches: &ArgMatches, has_directory: bool, warnings: &mut Vec<String>) -> histcheck_draw::Limits {
    let mut limits = histcheck_draw::Limits::default();
    let all = [
        (grammar::MAX_PLOT_BYTES, &mut limits.plot_bytes_max),
        (grammar::MAX_TIMELINE_BYTES, &mut limits.timeline_bytes_max),
    ];
    for (name, limit) in all {
        let Some(bytes) = matches.try_get_one::<u64>(name).ok().flatten() else { continue };
        *limit = usize::try_from(*bytes).unwrap_or(usize::MAX);
        if !has_directory {
            warnings.push(format!("--{name} has no effect without --directory: pictures are written there"));
        }
    }
    limits
}

/// The format of pictures, and a warning if no pictures will be written.
fn plots(matches: &ArgMatches, has_directory: bool, warnings: &mut Vec<String>) -> PlotFormat {
    let given = matches.try_get_one::<String>("plot-format").ok().flatten();
    let Some(format) = given else { return PlotFormat::Svg };
    if !has_directory {
        warnings.push("--plot-format has no effect without --directory: pictures are written there".to_owned());
    }
    match format.as_str() {
        #[cfg(feature = "png")]
        "png" => PlotFormat::Png,
        #[cfg(not(feature = "png"))]
        "png" => {
            warnings.push(
                "this build of histcheck cannot write PNG, so pictures are written as SVG: build it with --features png"
                    .to_owned(),
            );
            PlotFormat::Svg
        }
        _ => PlotFormat::Svg,
    }
}

fn watch<'c>(matches: &ArgMatches, checkers: &'c Registry) -> Result<Watch<'c>, UsageError> {
    let file = matches.get_one::<OsString>("files");
    is_no_option_value(matches, file.as_slice())?;
    let listen = matches.get_one::<String>("listen");
    let source = match (file, listen) {
        (_, Some(address)) => Source::Listen {
            address: Address::parse(address).map_err(|why| UsageError::new(format!("--listen: {why}")))?,
            until_closed: matches.get_flag("until-closed"),
        },
        (Some(file), None) if file.is_empty() => {
            return Err(UsageError::new("the path of the history is empty").tip("pass a file, or - for standard input"));
        }
        (Some(file), None) if file != "-" => Source::File(file.into()),
        _ => Source::Stdin,
    };
    if listen.is_none() && matches.get_flag("until-closed") {
        return Err(
            UsageError::new("--until-closed needs --listen").tip("to end the history of a file, interrupt histcheck")
        );
    }
    if let Source::Listen { address, until_closed } = &source {
        if *until_closed && !address.has_connections() {
            return Err(UsageError::new(format!(
                "--until-closed: {address} has no connections that a client can close"
            ))
            .tip("to end the history, interrupt histcheck"));
        }
        if let Some(format) = format(matches).filter(|format| !matches!(format, Format::Edn | Format::Json)) {
            return Err(UsageError::new(format!(
                "--listen: expected ops in JSON or EDN, one per line, found format {}",
                format.name()
            )));
        }
    }
    let name = listen.map(OsString::from).or(file.cloned()).unwrap_or_else(|| "-".into());
    let mut check = check(matches, checkers, vec![Input::new(name).read_as(read_as(matches))])?;
    // A watch prints the violation that it finds, and its ops are in order, independently of clocks.
    check.verbose = true;
    check.is_live = true;
    let setup = &mut check.setup;
    for (name, value) in &setup.checker.about().watching {
        if setup.options.text(name).is_none() {
            setup.options.set(name.clone(), value.clone());
        }
    }
    let keep_going = matches.get_flag("keep-going");
    let checkpoints = checkpoints::given(matches, &source)?;
    Ok(Watch { check, source, keep_going, serve: common::served(matches), checkpoints })
}

fn format(matches: &ArgMatches) -> Option<Format> {
    matches.get_one::<String>("format").and_then(|name| name.parse::<Format>().ok())
}

fn validate<'c>(matches: &ArgMatches, checkers: &'c Registry) -> Result<Validate<'c>, UsageError> {
    let each_max = matches.get_one("max-each").copied().unwrap_or(usize::MAX);
    Ok(Validate { inputs: inputs(matches)?, each_max, output: output(matches), checkers })
}

fn convert(matches: &ArgMatches) -> Result<Convert, UsageError> {
    let mut inputs = inputs(matches)?;
    let (Some(input), true) = (inputs.pop(), inputs.is_empty()) else {
        let message = "convert takes one history, but this directory has several";
        return Err(UsageError::new(message).tip("pass the path of one of them"));
    };
    let out = matches.get_one::<OsString>("out").filter(|out| *out != "-").map(PathBuf::from);
    if out.as_ref().is_some_and(|out| input.is_file(out)) {
        return Err(UsageError::new("the output file is the history itself").tip("pass another name with -o"));
    }
    let named = || out.as_deref().and_then(gen_args::extension_of).and_then(Target::from_name);
    let target = matches.get_one::<String>("to").and_then(|name| Target::from_name(name)).or_else(named);
    let Some(target) = target else {
        let names = Target::ALL.map(Target::name).join(", ");
        return Err(UsageError::new("no output format given").tip(format!("pass --to with one of {names}")));
    };
    let renumber = matches.get_flag("renumber");
    if renumber && target.of_sessions().is_none() {
        let message = format!("--renumber needs a format of another checker, found {}", target.name());
        return Err(UsageError::new(message).tip("remove the option"));
    }
    let lossy = matches.get_flag("lossy");
    if lossy && target.of_sessions().is_none() {
        let message = format!("--lossy needs a format of another checker, found {}", target.name());
        return Err(UsageError::new(message).tip("remove the option"));
    }
    let index_times = matches.get_flag("index-times");
    if index_times && target != Target::Intervals {
        return Err(UsageError::new("--index-times needs the output format intervals")
            .tip("remove the option, or pass --to intervals"));
    }
    let options = ConvertOptions::new().with_renumber(renumber).with_lossy(lossy);
    Ok(Convert { input, target, out, options, index_times })
}

fn output(matches: &ArgMatches) -> OutputFormat {
    match matches.try_get_one::<String>("output").ok().flatten().map(String::as_str) {
        Some("json") => OutputFormat::Json,
        Some("edn") => OutputFormat::Edn,
        _ => OutputFormat::Text,
    }
}

#[cfg(test)]
mod tests;
