//! Checkers of recorded histories, for any model that can read ops.

mod by_key;
pub(crate) mod decoder;
mod explanation;
mod hidden;
mod options;
mod recorded;
mod report;
mod run;
mod subject;
mod timelines;

use crate::Settings;
use crate::models::{self, Spec, Visitor};
use crate::versioned_register::VersionedRegister;
pub use by_key::LinearizableRegister;
use history_core::{
    About, AboutAnomaly, Budget, Checker, History, HistoryError, OptionError, OptionSpec, Options, Report, Run, Subject,
};
use options::OPTIONS;
use run::ObjectRun;

/// The anomaly of an object: some operation fits nowhere.
pub const NONLINEARIZABLE: &str = "nonlinearizable";

/// The linearizability checker of one kind of object, and how to search.
///
/// ```
/// use check_register::Linearizable;
/// use check_register::models::CasRegister;
/// use history_core::{History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :write, :value 1}
///     {:process 0, :type :ok,     :f :write, :value 1}
///     {:process 1, :type :invoke, :f :cas,   :value [2 3]}
///     {:process 1, :type :ok,     :f :cas,   :value [2 3]}
/// ")?;
/// let report = Linearizable::<CasRegister>::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// assert!(report.anomalies[0].witnesses[0].explanation.contains("  1, after T2\n"));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Linearizable<S> {
    /// The object, at its start.
    pub model: S,
    /// The settings of the search.
    pub settings: Settings,
}

impl<S: Spec + Clone + 'static> Linearizable<S> {
    /// Checks a history that is in memory.
    ///
    /// # Errors
    ///
    /// If the history is too large to be checked.
    pub fn check(&self, history: &History) -> Result<Report, HistoryError> {
        self.check_within(history, &Budget::default())
    }

    /// The same, within a budget, whose states are steps of the model.
    ///
    /// # Errors
    ///
    /// If the history is too large to be checked.
    pub fn check_within(&self, history: &History, budget: &Budget) -> Result<Report, HistoryError> {
        history_core::check_history(Box::new(ObjectRun::new(self.clone())), history, budget)
    }

    /// The same checker with these options applied.
    ///
    /// # Errors
    ///
    /// If the value of an option is not valid.
    pub fn with_options(&self, options: &Options) -> Result<Linearizable<S>, OptionError> {
        let mut this = self.clone();
        options::apply(&mut this, options)?;
        Ok(this)
    }
}

impl<S: Spec + Clone + 'static> Checker for Linearizable<S> {
    fn name(&self) -> &str {
        S::NAME
    }

    fn summary(&self) -> &str {
        S::SUMMARY
    }

    fn options(&self) -> &[OptionSpec] {
        OPTIONS
    }

    fn about(&self) -> About {
        about::<S>()
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(ObjectRun::new(self.with_options(options)?)))
    }
}

/// Linearizability of the object that the option `spec` names.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnyObject;

impl Checker for AnyObject {
    fn name(&self) -> &'static str {
        "linearizable"
    }

    fn summary(&self) -> &'static str {
        "Linearizability of an object (see --spec)."
    }

    fn options(&self) -> &[OptionSpec] {
        options::WITH_SPEC
    }

    fn about(&self) -> About {
        let mut about = About::new(Subject::Object);
        about.members = objects().iter().map(|object| (object.name().to_owned().into(), object.about())).collect();
        about
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let names = || objects().iter().map(|object| spec_name(object.name())).collect::<Vec<_>>().join(", ");
        let wrong = |message: String| OptionError::new(options::SPEC.name, message);
        let Some(spec) = options.text(options::SPEC.name) else {
            return Err(wrong(format!("expected an object: {}", names())));
        };
        let spec = spec.trim_start_matches(':').replace("owner-aware", "owner");
        let object = objects().into_iter().find(|object| object.name() == spec || spec_name(object.name()) == spec);
        object.ok_or_else(|| wrong(format!("unknown object {spec}: expected one of {}", names())))?.start(options)
    }
}

/// The description of the checkers of an object, here and while it is watched.
pub fn about<S: Spec>() -> About {
    let refused = "Some operation cannot be placed: for every order of the operations before it, the object would \
        have returned something else.";
    About::new(Subject::Object)
        .with_parts(S::PARTS)
        .with_prefix_deciding()
        .with_anomaly(AboutAnomaly::new(NONLINEARIZABLE, refused).with_refused_first())
}

/// The name of a checker's object in `--spec`.
fn spec_name(checker: &str) -> &str {
    checker.trim_start_matches("linearizable-")
}

/// The checkers of single objects.
fn objects() -> Vec<Box<dyn Checker>> {
    struct Checkers(Vec<Box<dyn Checker>>);
    impl Visitor for Checkers {
        fn visit<S: Spec + Clone + Default + 'static>(&mut self) {
            self.0.push(Box::new(Linearizable::<S>::default()));
        }
    }
    let mut all = Checkers(Vec::new());
    models::visit_all(&mut all);
    all.0
}

/// All checkers of this crate, in the order of lists: of versioned registers, one for each object, one for a register
/// of each key, and one whose object is an option.
pub fn checkers() -> Vec<Box<dyn Checker>> {
    let mut all: Vec<Box<dyn Checker>> = vec![Box::new(VersionedRegister::default())];
    all.extend(objects());
    all.push(Box::new(LinearizableRegister::default()));
    all.push(Box::new(AnyObject));
    all
}
