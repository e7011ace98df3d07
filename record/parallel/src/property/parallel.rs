//! Runs property tests: draws cases, runs their schedules, and replays failures.

use super::consistency::{Consistency, judge_sequential};
use super::counterexample::{Counterexample, Origin};
use super::draw::{Drawn, Sizes};
use super::passed::Passed;
use super::program::{Program, nonsense};
use super::run::{Found, Runner};
use super::shrink::Shrinking;
use super::{ParallelModel, persist};
use crate::explore::{Explored, seed_from_environment};
use crate::scheduler::rng::Rng;
use crate::scheduler::{Pct, Random, Replay, Scheduler};
use crate::{REPLAY_VARIABLE, Schedule, Settings};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The maximum number of branches of a program.
const BRANCHES_MAX: u32 = 8;

/// The maximum number of commands in the prefix, in each branch, and in the suffix.
const COMMANDS_MAX: u32 = 1000;

/// A parallel property test of a model.
///
/// By default: 100 programs of up to 3 commands one after another and 2 or 3 branches of up to 3 commands, each under
/// 40 schedules; the seed is fixed, so that a test that passes once always passes.
pub struct Parallel<M: ParallelModel> {
    model: Arc<M>,
    cases: u64,
    schedules: u64,
    sizes: Sizes,
    seed: u64,
    settings: Settings,
    consistency: Consistency,
    source: Option<&'static str>,
}

/// The result of a test: a value, or a counterexample.
pub type Tested<T, M> = Result<T, Box<Counterexample<<M as ParallelModel>::Command, <M as ParallelModel>::Response>>>;

/// A shrunk program and its failure.
type Shrunk<M> = (Drawn<<M as ParallelModel>::Command>, Box<Found<<M as ParallelModel>::Response>>);

/// Does not show the model, which need not implement `Debug`.
impl<M: ParallelModel> fmt::Debug for Parallel<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parallel")
            .field("cases", &self.cases)
            .field("schedules", &self.schedules)
            .field("sizes", &self.sizes)
            .field("seed", &self.seed)
            .field("settings", &self.settings)
            .field("consistency", &self.consistency)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

impl<M: ParallelModel> Parallel<M> {
    /// Creates a test with the defaults.
    pub fn new(model: M) -> Parallel<M> {
        Parallel {
            model: Arc::new(model),
            cases: 100,
            schedules: 40,
            sizes: Sizes { prefix_max: 3, branches: 2..=3, commands_max: 3, suffix_max: 0 },
            seed: 0,
            settings: Settings { repeated: 1, ..Settings::default() },
            consistency: Consistency::default(),
            source: None,
        }
    }

    /// Sets the number of programs. 0 is only for a test that [persists](Parallel::persist) seeds, which then runs
    /// those alone.
    #[must_use]
    pub fn cases(mut self, cases: u64) -> Parallel<M> {
        self.cases = cases;
        self
    }

    /// Sets the number of schedules for each program: half of them random, the others by PCT for bugs of depth 2
    /// and 3.
    ///
    /// # Panics
    ///
    /// If the number is 0: a test that runs nothing does not pass.
    #[must_use]
    #[track_caller]
    pub fn schedules(mut self, schedules: u64) -> Parallel<M> {
        assert!(schedules > 0, "a test needs at least one schedule for each program");
        self.schedules = schedules;
        self
    }

    /// Sets the maximum number of commands before the branches; a number above 1000 is treated as 1000.
    #[must_use]
    pub fn prefix_max(mut self, commands: u32) -> Parallel<M> {
        self.sizes.prefix_max = commands.min(COMMANDS_MAX);
        self
    }

    /// Sets the number of branches, up to 8.
    #[must_use]
    pub fn branches(mut self, branches: RangeInclusive<u32>) -> Parallel<M> {
        let high = (*branches.end()).min(BRANCHES_MAX);
        self.sizes.branches = (*branches.start()).min(high)..=high;
        self
    }

    /// Sets the maximum number of commands in a branch; a number above 1000 is treated as 1000, and 0 as 1.
    #[must_use]
    pub fn commands_max(mut self, commands: u32) -> Parallel<M> {
        self.sizes.commands_max = commands.clamp(1, COMMANDS_MAX);
        self
    }

    /// Sets the maximum number of commands after all branches have ended; 0 by default. A number above 1000 is treated
    /// as 1000. These commands observe the effects of the branches, such as that of a lost update.
    #[must_use]
    pub fn suffix_max(mut self, commands: u32) -> Parallel<M> {
        self.sizes.suffix_max = commands.min(COMMANDS_MAX);
        self
    }

    /// Sets the seed of programs and schedules.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Parallel<M> {
        self.seed = seed;
        self
    }

    /// Sets the limits of executions.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Parallel<M> {
        self.settings = settings;
        self
    }

    /// Sets the requirement on histories. By default they must be linearizable.
    ///
    /// Sequential consistency is weaker: it permits a read to return an old value after a write has returned in another
    /// branch, like a cache that is not notified of writes. Its search takes time proportional to the product of the
    /// numbers of commands of all branches, so use small programs.
    #[must_use]
    pub fn consistency(mut self, consistency: Consistency) -> Parallel<M> {
        self.consistency = consistency;
        self
    }

    /// Stores the seeds of failures in proptest's file of regressions for a source file, and tries those first. Pass
    /// `file!()`: for a file in `src` they are in the folder `proptest-regressions`, for any other next to the file.
    #[must_use]
    pub fn persist(mut self, source: &'static str) -> Parallel<M> {
        self.source = Some(source);
        self
    }

    /// Searches for a program that fails, and shrinks it.
    ///
    /// # Errors
    ///
    /// The counterexample.
    ///
    /// # Panics
    ///
    /// If there are to be no programs, and no seeds are [persisted](Parallel::persist): the file is missing, empty or
    /// cannot be read. If no program has a command, because the model's strategy or precondition rejected all.
    #[track_caller]
    pub fn run(&self) -> Tested<Passed, M> {
        let kept = self.source.map(persist::load).unwrap_or_default();
        // A file that is missing, empty or unreadable contains no seeds.
        assert!(
            self.cases > 0 || !kept.is_empty(),
            "a test needs at least one case, or a file of seeds that failed, which has one"
        );
        let mut runner = self.runner();
        let (mut passed, mut is_nothing) = (Passed::default(), true);
        for seed in kept.iter().copied().chain(self.seeds()) {
            passed.cases += 1;
            let drawn = Drawn::new(&*self.model, &self.sizes, seed);
            passed.rejected.add_all(drawn.rejected());
            is_nothing &= drawn.len() == 0;
            runner.set_program(drawn.program(&*self.model));
            for scheduler in self.schedulers(seed) {
                match runner.explore(scheduler) {
                    Ok(explored) => passed.executions += explored.executions,
                    Err(found) => {
                        passed.executions += found.failure.executions;
                        let commands = drawn.len();
                        let (drawn, found) = self.shrunk(&mut runner, drawn, found);
                        let counterexample = self.counterexample(&drawn, &found, Some((passed, commands)));
                        if let Some(source) = self.source.filter(|_| !kept.contains(&seed)) {
                            persist::save(source, seed, &counterexample.program);
                        }
                        return Err(Box::new(counterexample));
                    }
                }
            }
        }
        assert!(!is_nothing, "a test needs at least one command, and no program has any: {}", passed.rejected);
        Ok(passed)
    }

    /// Shrinks a failure. If the same schedule does not reproduce it, results with other programs would prove nothing.
    fn shrunk(
        &self,
        runner: &mut Runner<M>,
        drawn: Drawn<M::Command>,
        mut found: Box<Found<M::Response>>,
    ) -> Shrunk<M> {
        if !runner.fails_again(&found.failure) {
            found.failure.is_unstable = true;
            return (drawn, found);
        }
        Shrinking { runner, drawn, found, executions_max: self.settings.simplify_max }.shrink()
    }

    /// Does the same as a test: panics with a report if a program fails.
    ///
    /// If the variable `HISTCHECK_REPLAY` is set, runs only the program and the schedule in it. If `HISTCHECK_SEED` is
    /// set, draws programs from that seed.
    ///
    /// # Panics
    ///
    /// If a program fails, if a history could not be checked, if the value of one of the variables is not valid, or if
    /// there is nothing to run, as in [`Parallel::run`].
    #[track_caller]
    pub fn check(mut self) {
        if let Ok(text) = std::env::var(REPLAY_VARIABLE) {
            match self.replay(&text) {
                Ok(()) => eprintln!("{REPLAY_VARIABLE}={text}: the program does not fail under this schedule"),
                Err(counterexample) => panic!("{counterexample}"),
            }
            return;
        }
        if std::env::var_os(crate::SEED_VARIABLE).is_some() {
            self.seed = seed_from_environment();
        }
        if let Err(counterexample) = self.run() {
            panic!("{counterexample}");
        }
    }

    /// Tests the object without concurrency: `cases` programs of up to `commands` commands, one after another.
    ///
    /// # Panics
    ///
    /// The same as [`Parallel::check`], or if `commands` is 0.
    #[track_caller]
    pub fn check_sequentially(mut self, commands: u32) {
        assert!(commands > 0, "a test needs at least one command");
        self.sizes = Sizes { prefix_max: commands.min(COMMANDS_MAX), branches: 0..=0, commands_max: 1, suffix_max: 0 };
        // If no commands run concurrently, there is only one schedule.
        self.schedules = 1;
        self.check();
    }

    /// Runs the program and the schedule of a report's replay string.
    ///
    /// # Errors
    ///
    /// The counterexample, if it still is one.
    ///
    /// # Panics
    ///
    /// If the string cannot be understood, or is of a test of other sizes.
    pub fn replay(&self, text: &str) -> Tested<(), M> {
        let parts = text.rsplit_once('/');
        let (drawn, schedule) = parts.unwrap_or_else(|| panic!("expected SEED/KEPT/MOVES/SCHEDULE, not {text:?}"));
        let schedule: Schedule = schedule.parse().unwrap_or_else(|error| panic!("{error}"));
        let drawn = Drawn::from_description(&*self.model, &self.sizes, drawn).unwrap_or_else(|error| panic!("{error}"));
        let mut runner = self.runner();
        runner.set_program(drawn.program(&*self.model));
        match runner.explore(Box::new(Replay::new(&schedule))) {
            Ok(_) => Ok(()),
            Err(found) => Err(Box::new(self.counterexample(&drawn, &found, None))),
        }
    }

    /// Runs one program under the schedules of a scheduler: under all of them, if it is
    /// [`Exhaustive`](crate::scheduler::Exhaustive) or [`Reduced`](crate::scheduler::Reduced).
    ///
    /// # Errors
    ///
    /// The program, with the first failure as it was found. Its replay string contains only the schedule.
    ///
    /// # Panics
    ///
    /// If the program has a command that might run where its precondition does not hold, or that refers to a command
    /// that does not always run before it, or if it may lead the model to too many states.
    pub fn verify<S: Scheduler + 'static>(&self, program: &Program<M::Command>, scheduler: S) -> Tested<Explored, M> {
        if let Err(why) = nonsense(&*self.model, program) {
            panic!("{why}");
        }
        let mut runner = self.runner();
        runner.set_program(program.clone());
        runner
            .explore(Box::new(scheduler))
            .map_err(|found| Box::new(Counterexample::new(&*self.model, program.clone(), &found, &Origin::default())))
    }

    pub(super) fn model(&self) -> &M {
        &self.model
    }

    pub(super) fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// The seeds of the programs.
    pub(super) fn seeds(&self) -> impl Iterator<Item = u64> {
        (0..self.cases).map(|case| Rng::fork(self.seed, case).next())
    }

    pub(super) fn runner(&self) -> Runner<M> {
        let mut runner = Runner::new(Arc::clone(&self.model), self.settings);
        if self.consistency == Consistency::Sequential {
            runner.judge = judge_sequential;
        }
        runner
    }

    fn schedulers(&self, seed: u64) -> [Box<dyn Scheduler>; 3] {
        let quarter = self.schedules / 4;
        [
            Box::new(Random::new(seed, self.schedules - 2 * quarter)),
            Box::new(Pct::new(seed, 2, quarter)),
            Box::new(Pct::new(seed, 3, quarter)),
        ]
    }

    fn counterexample(
        &self,
        drawn: &Drawn<M::Command>,
        found: &Found<M::Response>,
        search: Option<(Passed, usize)>,
    ) -> Counterexample<M::Command, M::Response> {
        let origin = Origin { described: Some(drawn.describe()), search };
        Counterexample::new(&*self.model, drawn.program(&*self.model), found, &origin)
    }
}
