//! `histcheck`: reports which consistency guarantees a recorded history satisfies, or proves which it violates.

mod anonymize;
mod convert;
mod r#gen;
mod job;
mod judge;
mod line;
#[cfg(all(unix, feature = "live"))]
mod live;
mod minimize;
mod new_plugin;
mod output;
mod report;
mod serve;
mod validate;
mod watch;

use histcheck_front::Registry;
use judge::check;
use line::args::{self, Command};
use line::config::Config;
use line::plugins::{self, probe};
use line::{grammar, manual, shells, tables};
use output::exit::{self, Exit};
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(done) = probe::serve(std::env::args_os()) {
        return done.code();
    }
    #[cfg(all(unix, feature = "live"))]
    if let Some(served) = live::serve() {
        return served.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    // For watching, some checkers are replaced by others, which have their own options.
    let watches = std::env::args_os().nth(1).is_some_and(|word| word == "watch" || word == "live");
    let mut checkers = if watches { Registry::watchers() } else { Registry::built_in() };
    let words: Vec<_> = std::env::args_os().collect();
    let config = match Config::read(&words) {
        Ok(config) => config,
        Err(wrong) => return exit::usage(&wrong.into_clap(&mut grammar::command(&Registry::default()))),
    };
    let loaded = plugins::load(&mut checkers, config.with_plugins(&words));
    let done = match args::parse(words, &config, &checkers) {
        // The error may be caused by a plugin that is missing.
        Err(said) if loaded == Exit::FAILED && said.use_stderr() => {
            exit::usage(&said);
            Exit::FAILED
        }
        Err(said) => return exit::usage(&said),
        Ok(Command::Check(job)) => check::run(&job),
        Ok(Command::Watch(job)) => watch::run(&job),
        #[cfg(all(unix, feature = "live"))]
        Ok(Command::Live(asked)) => match *asked {
            args::live::Asked::Run(job) => live::run(&job),
            args::live::Asked::Stores(format) => live::list(format),
            args::live::Asked::Worker(worker) => live::serve_run(&worker),
        },
        #[cfg(feature = "serve")]
        Ok(Command::Serve(job)) => serve::run(job),
        #[cfg(feature = "scale")]
        Ok(Command::Scale(job)) => judge::scale::run(&job),
        Ok(Command::Minimize(job)) => minimize::run(&job),
        Ok(Command::Anonymize(job)) => anonymize::run(&job),
        Ok(Command::Validate(job)) => validate::run(&job),
        Ok(Command::Convert(job)) => convert::run(&job),
        Ok(Command::Gen(job)) => r#gen::run(&job),
        Ok(Command::NewPlugin(new)) => new_plugin::run(&new),
        Ok(Command::Completions(shell)) => shells::run(shell, grammar::command(&Registry::built_in())),
        Ok(Command::Man(directory)) => manual::run(directory.as_deref(), grammar::command(&Registry::built_in())),
        Ok(Command::Models(format)) => tables::models(&checkers, format),
        #[cfg(feature = "elle")]
        Ok(Command::Anomalies(format)) => tables::anomalies(format),
        #[cfg(feature = "elle")]
        Ok(Command::ConsistencyModels(format)) => tables::consistency_levels(format),
    };
    loaded.and(done).code()
}
