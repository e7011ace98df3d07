//! Checkers of recorded histories that report results op by op: for any model of [`check_register::models`].

use crate::explanation::Explainer;
use crate::{Call, Events, OnlineModel, Outcome, Reason, Settings, Violation};
use check_register::engine::ids;
use check_register::models::{self, Spec, Visitor};
use check_register::{DecodedEvent, Decoder, Linearizable};
use history_core::{
    Anomaly, Budget, Checker, Datum, HistoryError, NextStep, Op, OpKind, OptionError, OptionKind, OptionSpec, Options,
    Participants, Process, Report, Run, Verdict, Witness, WitnessOp,
};
use std::fmt;
use std::ops::ControlFlow;

/// The linearizability checker of one type of object. At each completion, it decides whether the history so far is
/// linearizable. Its run ends at the op that proves a violation.
///
/// Its verdict is that of [`Linearizable`]. It stores the operations in flight, and not the history. Its verdict may be
/// `unknown` where `Linearizable` decides, because later events are unknown: if there are many crashed operations
/// that no other operation observes, or if very many operations are in flight at the same time.
///
/// ```
/// use check_online::OnlineLinearizable;
/// use check_register::models::CasRegister;
/// use history_core::{Budget, Checker, History, Options, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :write, :value 1}
///     {:process 0, :type :ok,     :f :write, :value 1}
///     {:process 1, :type :invoke, :f :read}
///     {:process 1, :type :ok,     :f :read, :value 2}
/// ")?;
/// let mut run = OnlineLinearizable::<CasRegister>::default().start(&Options::new()).unwrap();
/// let broke_at = history.ops().position(|op| run.observe(&op).unwrap().is_break());
/// assert_eq!(broke_at, Some(3));
/// assert_eq!(run.finish(&Budget::default())?.verdict, Verdict::Invalid);
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct OnlineLinearizable<S> {
    /// The object in its initial state.
    pub model: S,
    /// The limits.
    pub settings: Settings,
}

const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new("initial", OptionKind::Text, "Initial state, as EDN or JSON, such as 0, [1 2] or {:x 1}.")
        .with_value_name("VALUE")
        .with_default("nil, empty, 0 or free"),
    OptionSpec::new(
        "max-configurations",
        OptionKind::Integer,
        "Maximum number of configurations to keep per part of the object (about 20 bytes each). At the limit the \
         verdict is unknown.",
    )
    .with_value_name("N")
    .with_default("1000000"),
    OptionSpec::new(
        "max-lag",
        OptionKind::Integer,
        "Maximum number of ops to keep while an earlier one is in flight, and of crashed ops that may still take \
         effect. An op that is in flight for longer may make the verdict unknown when it completes.",
    )
    .with_value_name("N")
    .with_default("1000000"),
];

impl<S: Spec + OnlineModel<State: 'static> + Clone + Default + 'static> Checker for OnlineLinearizable<S> {
    fn name(&self) -> &str {
        S::NAME
    }

    fn summary(&self) -> &str {
        S::SUMMARY
    }

    fn options(&self) -> &[OptionSpec] {
        OPTIONS
    }

    fn about(&self) -> history_core::About {
        check_register::about::<S>()
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let mut given = Options::new();
        if let Some(initial) = options.text("initial") {
            given.set("initial", initial);
        }
        let model = Linearizable { model: self.model.clone(), ..Linearizable::default() }.with_options(&given)?.model;
        let settings = Settings {
            configurations_max: options.size("max-configurations")?.unwrap_or(self.settings.configurations_max),
            lag_max: options.size("max-lag")?.unwrap_or(self.settings.lag_max),
        };
        Ok(Box::new(OnlineRun::new(model, settings)))
    }
}

/// All checkers, in the order of [`check_register::checkers`].
pub fn checkers() -> Vec<Box<dyn Checker>> {
    struct Checkers(Vec<Box<dyn Checker>>);
    impl Visitor for Checkers {
        fn visit<S: Spec<State: Send + Sync + 'static> + Clone + Default + 'static>(&mut self) {
            self.0.push(Box::new(OnlineLinearizable::<S>::default()));
        }
    }
    let mut all = Checkers(Vec::new());
    models::visit_all(&mut all);
    all.0
}

/// The number of ops of each kind.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    called: u64,
    ok: u64,
    fail: u64,
    info: u64,
}

/// The check of one history. In addition to [`Run`], it returns the outcome so far.
pub struct OnlineRun<S: Spec + OnlineModel> {
    events: Events<S>,
    decoder: Decoder<S::Op>,
    /// Operations in flight, by slot.
    calls: Vec<Option<Call>>,
    counts: Counts,
    participants: Participants,
    /// The first op that cannot be read, and the reason.
    malformed: Option<String>,
}

impl<S: Spec + OnlineModel> fmt::Debug for OnlineRun<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnlineRun").field("malformed", &self.malformed).finish_non_exhaustive()
    }
}

impl<S: Spec + OnlineModel> OnlineRun<S> {
    /// Starts the check of a history of an object.
    pub fn new(model: S, settings: Settings) -> OnlineRun<S> {
        OnlineRun {
            events: Events::with_settings(model, settings),
            decoder: Decoder::default(),
            calls: Vec::new(),
            counts: Counts::default(),
            participants: Participants::new(),
            malformed: None,
        }
    }

    /// The outcome so far. It has no meaning for a history that cannot be checked: [`Run::finish`] returns the reason.
    pub fn outcome(&self) -> Outcome<S::Op> {
        self.events.outcome()
    }

    /// The current number of configurations, for status lines.
    pub fn configurations(&self) -> usize {
        self.events.configurations()
    }

    fn take(&mut self, op: &Op<'_>) -> Result<(), String> {
        let OnlineRun { events, decoder, calls, counts, .. } = self;
        let was_violated = !events.violations().is_empty();
        let happening = decoder.decode(events.model_mut(), op)?;
        let mut call = |slot: usize| calls[slot].take().expect("what ends was called");
        match happening {
            DecodedEvent::Called { slot, op: does } => {
                let client = match op.process {
                    Process::Client(client) => client,
                    Process::Other(_) | Process::Unknown => -1,
                };
                counts.called += 1;
                let called = events.invoke(client, op.index, does);
                if slot >= calls.len() {
                    calls.resize_with(slot + 1, || None);
                }
                calls[slot] = Some(called);
            }
            DecodedEvent::Returned { slot, op: did } => {
                counts.ok += 1;
                events.complete(call(slot), op.index, did.as_ref());
            }
            DecodedEvent::Failed { slot } => {
                counts.fail += 1;
                events.fail(call(slot));
            }
            DecodedEvent::Crashed { slot, op: may_do } => {
                counts.info += 1;
                events.crash(call(slot), may_do.as_ref());
            }
        }
        if let Some(invoked) = decoder.recorded_late().filter(|_| was_violated) {
            decoder.doubt_since(invoked);
        }
        Ok(())
    }

    /// Returns true if a violation is certain, whatever an operation did whose effect is not recorded: it took effect
    /// after its invocation, so it explains no earlier return.
    fn is_certain(&self, violation: &Violation<S::Op>) -> bool {
        let part = || self.events.model().shortcuts().part(&violation.refused.op);
        let part = violation.part.as_ref().and_then(|_| part());
        let first = part.map_or_else(|| self.decoder.first_hidden(), |part| self.decoder.first_hidden_of(part));
        let Some(first) = first else { return true };
        violation.refused.finish.is_some_and(|finish| finish < first)
    }

    fn certain(&self) -> impl Iterator<Item = &Violation<S::Op>> {
        self.events.violations().iter().map(AsRef::as_ref).filter(|violation| self.is_certain(violation))
    }

    /// The outcome so far, as a report.
    fn report(&self) -> Report {
        let outcome = self.events.outcome();
        let mut report = Report::new(S::NAME, outcome.verdict());
        let is_violated = self.is_violated();
        let hidden = self.decoder.first_hidden();
        match self.decoder.undecoded().or(self.malformed.as_deref()) {
            Some(place) if !is_violated => {
                report.verdict = Verdict::Unknown;
                report.notes.push(format!("No verdict, because of {place}"));
                report.add_next(NextStep::correct_op(place));
                return report;
            }
            _ if is_violated && hidden.is_some() => {
                report.notes.extend(self.decoder.note_on_earlier(self.events.model()));
            }
            Some(place) => report.notes.push(format!("The verdict covers only the ops before {place}")),
            None => {}
        }
        report.is_partial = !report.notes.is_empty();
        match outcome {
            Outcome::Ok => {}
            Outcome::Unknown(reason) => {
                report.notes.push(format!("No verdict, because {}.", reason.because()));
                report.add_next(reason.next());
            }
            Outcome::Violation(_) => {
                let witnesses: Vec<Witness> = self.certain().map(|violation| self.witness(violation)).collect();
                let count = hidden.map_or(self.events.violations_count(), |_| ids::count(witnesses.len()));
                report.anomalies.push(Anomaly { name: check_register::NONLINEARIZABLE.into(), count, witnesses });
            }
        }
        report.notes.extend(self.participants.note());
        report.counts = vec![
            ("ok-count".into(), self.counts.ok),
            ("fail-count".into(), self.counts.fail),
            ("info-count".into(), self.counts.info),
            ("nonclient-op-count".into(), self.participants.others()),
        ];
        self.decoder.conclude::<S>(&mut report);
        if report.verdict == Verdict::Invalid && !is_violated {
            self.decoder.doubt(&mut report);
        }
        report
    }

    fn witness(&self, violation: &Violation<S::Op>) -> Witness {
        let mut explainer = Explainer::new(violation, "index ").of(&self.participants);
        let explanation = explainer.explain();
        let op = |(at, step): (usize, &&crate::Step<S::Op>)| WitnessOp {
            name: format!("T{}", at + 1),
            index: step.finish.unwrap_or(step.start),
            process: Some(explainer.client(step.client)),
            kind: if step.finish.is_some() { OpKind::Ok } else { OpKind::Info },
            time_ns: None,
            value: self.events.model().datum(&step.op),
        };
        let ops = explainer.named.iter().enumerate().map(op).collect();
        let mut facts = Vec::new();
        facts.extend(violation.part.as_ref().map(|part| ("part".into(), Datum::from(part.as_str()))));
        facts.push(("invoked".into(), Datum::from(violation.refused.start)));
        let states: Vec<String> = violation.configurations.iter().map(|end| end.state.clone()).collect();
        facts.push(("states".into(), Datum::from(states)));
        Witness::new(ops, explanation).with_facts(facts)
    }
}

impl<S: Spec + OnlineModel> Run for OnlineRun<S> {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        if !self.participants.see(op) {
            return Ok(ControlFlow::Continue(()));
        }
        if self.malformed.is_some() {
            return Ok(ControlFlow::Break(()));
        }
        if let Err(reason) = self.take(op) {
            self.malformed = Some(format!("the op at {}: {reason}.", op.place()));
            return Ok(ControlFlow::Break(()));
        }
        Ok(match self.events.outcome() {
            // An operation whose effect is not recorded may still fail, or turn out to have changed nothing.
            Outcome::Violation(_) if !self.is_violated() => ControlFlow::Continue(()),
            Outcome::Violation(_) | Outcome::Unknown(Reason::Whole) => ControlFlow::Break(()),
            Outcome::Ok | Outcome::Unknown(_) => ControlFlow::Continue(()),
        })
    }

    fn limit(&mut self, budget: &Budget) {
        self.events.limit(budget);
    }

    fn is_violated(&self) -> bool {
        matches!(self.events.outcome(), Outcome::Violation(_)) && self.certain().next().is_some()
    }

    fn violation(&self) -> Option<Report> {
        self.is_violated().then(|| self.report())
    }

    fn configurations(&self) -> Option<u64> {
        Some(ids::count(OnlineRun::configurations(self)))
    }

    fn finish(mut self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        self.events.conclude_within(budget);
        // Operations in flight never complete.
        self.decoder.take_in_flight().for_each(drop);
        Ok(self.report())
    }
}
